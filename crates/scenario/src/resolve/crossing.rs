//! Which traffic crosses each link.

use super::offered::Flowline;

/// For each link the traffic whose route leads over it, by its index.
#[derive(Clone, Debug, Default)]
pub struct Crossing {
    /// With its data.
    data: Vec<Vec<u32>>,
    /// With its ACKs.
    acks: Vec<Vec<u32>>,
}

impl Crossing {
    /// Of a network of `links` links.
    pub fn new(links: usize, traffic: &[Flowline]) -> Self {
        let by_link = |route: fn(&Flowline) -> &[u32]| {
            let mut over = vec![Vec::new(); links];
            for (i, flow) in traffic.iter().enumerate() {
                route(flow).iter().for_each(|&link| over[link as usize].push(i as u32));
            }
            over
        };
        Self { data: by_link(|flow| &flow.forward), acks: by_link(|flow| &flow.backward) }
    }

    /// The traffic whose data crosses a link, in the order of the file.
    pub fn data(&self, link: usize) -> impl Iterator<Item = usize> {
        self.data[link].iter().map(|&i| i as usize)
    }

    /// The traffic whose ACKs cross a link, in the order of the file.
    pub fn acks(&self, link: usize) -> impl Iterator<Item = usize> {
        self.acks[link].iter().map(|&i| i as usize)
    }

    /// The traffic whose data or ACKs cross a link, in the order of the file, and whether data does.
    pub fn either(&self, link: usize) -> impl Iterator<Item = (usize, bool)> {
        let (mut data, mut acks) = (self.data[link].as_slice(), self.acks[link].as_slice());
        std::iter::from_fn(move || {
            let next = *data.first().into_iter().chain(acks.first()).min()?;
            let [is_data, is_ack] = [data, acks].map(|of| of.first() == Some(&next));
            data = &data[usize::from(is_data)..];
            acks = &acks[usize::from(is_ack)..];
            Some((next as usize, is_data))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traffic_comes_once_in_its_order() {
        let crossing = Crossing { data: vec![vec![1, 4], vec![]], acks: vec![vec![0, 4, 5], vec![2]] };
        let either = |link| crossing.either(link).collect::<Vec<_>>();
        assert_eq!(either(0), [(0, false), (1, true), (4, true), (5, false)]);
        assert_eq!(either(1), [(2, false)]);
        assert_eq!((crossing.data(0).collect::<Vec<_>>(), crossing.data(1).count()), (vec![1, 4], 0));
    }
}
