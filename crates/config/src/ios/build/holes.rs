//! What lines of an access list that permit leave, once lines before them have denied some of it.

use crate::ios::fields::{meet, plain, without};
use perhop_core::classify::{Index, Match, Relation};

/// Classes of packets in one class map at most: lists within lists multiply.
pub(super) const MOST: usize = 4_096;

/// What is denied.
pub(super) struct Holes<'a> {
    denied: &'a [(&'a Match, usize)],
    index: Index,
    /// Lines that deny what cannot be taken out of a later one.
    pub(super) lost: Vec<usize>,
}

/// Packets that are left of a line, in parts.
struct Parts {
    /// Those in which a hole was made are gone; they have others in their place.
    all: Vec<(Match, Option<Vec<usize>>)>,
    index: Index,
    count: usize,
}

impl<'a> Holes<'a> {
    /// Of lines, with their numbers.
    pub(super) fn of(denied: &'a [(&'a Match, usize)]) -> Self {
        let mut index = Index::default();
        denied.iter().for_each(|it| index.add(&plain(it.0)));
        Self { denied, index, lost: Vec::new() }
    }

    /// Packets without those that so many of the first lines deny.
    pub(super) fn left(&mut self, packets: &Match, lines: usize) -> Vec<Match> {
        let mut met: Vec<usize> = Vec::new();
        let denied = self.denied;
        self.index.candidates(&plain(packets), (Relation::Meets, lines), |places| {
            met.extend(places.iter().filter(|place| meet(packets, denied[**place].0)));
        });
        met.sort_unstable();
        met.dedup();
        if met.is_empty() {
            return vec![packets.clone()];
        }
        let mut parts = Parts { all: Vec::new(), index: Index::default(), count: 1 };
        parts.add(packets.clone());
        for place in met {
            if !parts.without(denied[place].0) {
                self.lost.push(denied[place].1);
            }
        }
        parts.list()
    }
}

impl Parts {
    fn add(&mut self, part: Match) -> usize {
        self.index.add(&plain(&part));
        self.all.push((part, None));
        self.all.len() - 1
    }

    /// Takes the packets of a hole out of all parts; false: no list of parts can say what is left.
    fn without(&mut self, hole: &Match) -> bool {
        let mut met: Vec<usize> = Vec::new();
        let all = &self.all;
        self.index.candidates(&plain(hole), (Relation::Meets, all.len()), |places| {
            met.extend(places.iter().filter(|place| all[**place].1.is_none() && meet(&all[**place].0, hole)));
        });
        met.sort_unstable();
        met.dedup();
        let Some(left) = met.iter().map(|place| without(&self.all[*place].0, hole)).collect::<Option<Vec<_>>>() else {
            return false;
        };
        let count = self.count - met.len() + left.iter().map(Vec::len).sum::<usize>();
        if count > MOST {
            return false;
        }
        self.count = count;
        for (place, parts) in met.into_iter().zip(left) {
            let parts = parts.into_iter().map(|part| self.add(part)).collect();
            self.all[place].1 = Some(parts);
        }
        true
    }

    /// Those that are left, each in the place of what it is a part of.
    fn list(self) -> Vec<Match> {
        let (mut list, mut open) = (Vec::new(), vec![0]);
        while let Some(place) = open.pop() {
            match &self.all[place] {
                (part, None) => list.push(part.clone()),
                (_, Some(parts)) => open.extend(parts.iter().rev()),
            }
        }
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use perhop_core::classify::Prefix;
    use perhop_core::dscp::Dscp;
    use proptest::prelude::*;

    /// Each hole is taken out of all that is left before it.
    fn by_all(packets: &Match, denied: &[(&Match, usize)]) -> (Vec<Match>, Vec<usize>) {
        let (mut rest, mut lost) = (vec![packets.clone()], Vec::new());
        for (hole, line) in denied {
            if !rest.iter().any(|one| meet(one, hole)) {
                continue;
            }
            let parts: Option<Vec<_>> = rest.iter().map(|one| without(one, hole)).collect();
            match parts.map(|parts| parts.concat()) {
                Some(parts) if parts.len() <= MOST => rest = parts,
                _ => lost.push(*line),
            }
        }
        (rest, lost)
    }

    fn matches() -> impl Strategy<Value = Match> {
        let nets = ["10.0.0.0/8", "10.1.0.0/16", "10.1.2.0/24", "10.1.2.3/32", "2001:db8::/32"];
        let nets = || prop::collection::btree_set(prop::sample::select(nets.to_vec()), 0..2);
        let names = prop::collection::btree_set(prop::sample::select(vec!["a", "b"]), 0..2);
        let few = || prop::collection::btree_set(0u8..4, 0..2);
        (few(), few(), (nets(), nets()), names).prop_map(|(dscp, ports, (source, destination), traffic)| {
            let nets = |list: std::collections::BTreeSet<&str>| {
                list.iter().filter_map(|net| net.parse().ok().map(Prefix)).collect()
            };
            Match {
                dscp: dscp.into_iter().filter_map(Dscp::new).collect(),
                destination_port: ports.into_iter().map(u16::from).collect(),
                source: nets(source),
                destination: nets(destination),
                traffic: traffic.into_iter().map(str::to_owned).collect(),
                ..Match::default()
            }
        })
    }

    proptest! {
        #[test]
        fn as_all_that_is_left(packets in matches(), denied in prop::collection::vec(matches(), 0..12)) {
            let denied: Vec<_> = denied.iter().enumerate().map(|(line, it)| (it, line)).collect();
            let mut holes = Holes::of(&denied);
            let left = holes.left(&packets, denied.len());
            prop_assert_eq!((left, holes.lost), by_all(&packets, &denied));
        }
    }
}
