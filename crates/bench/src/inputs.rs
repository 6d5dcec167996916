//! The packets of which decisions are asked: random, and the same for a peer's program.

use perhop_core::packet::Colour;
use std::io;
use std::path::Path;

/// Packets before they repeat.
pub(super) const N: usize = 1 << 16;

/// Instances named before they repeat.
pub(super) const NAMED: usize = 1 << 20;

/// Bytes a second that are offered; meters are set to [`RATE`].
pub(super) const OFFERED: f64 = 1.6 * RATE;
/// Bytes a second, of meters and links.
pub(super) const RATE: f64 = 100e6;

/// Labelled flows; flow i of 1 to this offers a part in proportion to i.
const FLOWS: u64 = 10;

/// What packet `i % N` is like.
pub(super) struct Inputs {
    /// Bytes, 64 to 1500.
    pub(super) sizes: Box<[u16; N]>,
    /// ns since the one before: what the size takes at the rate offered, times 0.5 to 1.5.
    pub(super) gaps: Box<[u32; N]>,
    /// Green, yellow or red.
    pub(super) colours: Box<[Colour; N]>,
    /// Packets waiting: a random walk from 150 to 500.
    pub(super) queues: Box<[u16; N]>,
    /// Rate of its flow, bytes/s.
    pub(super) labels: Box<[f32; N]>,
    /// Which of many instances it meets, as a number of 32 bits.
    pub(super) instances: Vec<u32>,
}

/// Marsaglia's xorshift with 64 bits.
struct XorShift(u64);

impl XorShift {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

/// `N` values.
fn array<T: std::fmt::Debug>(value: impl FnMut(usize) -> T) -> Box<[T; N]> {
    let all: Vec<T> = (0..N).map(value).collect();
    all.try_into().expect("N values")
}

impl Inputs {
    /// The same in every run.
    pub(super) fn new() -> Self {
        let mut random = XorShift(88_172_645_463_325_252);
        let sizes = array(|_| 64 + random.below(1437) as u16);
        let gaps = array(|i| {
            let stretch = 0.5 + random.below(1000) as f64 / 1000.0;
            (f64::from(sizes[i]) / OFFERED * stretch * 1e9) as u32 + 1
        });
        let colours = array(|_| Colour::METERED[random.below(3) as usize]);
        let mut waiting = 300;
        let queues = array(|_| {
            waiting = (waiting + random.below(9) - 4).clamp(150, 500);
            waiting as u16
        });
        let labels = array(|_| label(random.below(FLOWS * (FLOWS + 1) / 2)));
        let instances = (0..NAMED).map(|_| random.below(1 << 32) as u32).collect();
        Self { sizes, gaps, colours, queues, labels, instances }
    }

    /// Writes what a peer needs to `path`, little-endian: sizes and queues in 16 bits, gaps and instances in 32, colours in 8.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn write(&self, path: &Path) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(16 * N + 4 * NAMED);
        bytes.extend(self.sizes.iter().flat_map(|size| size.to_le_bytes()));
        bytes.extend(self.queues.iter().flat_map(|queue| queue.to_le_bytes()));
        bytes.extend(self.gaps.iter().flat_map(|gap| gap.to_le_bytes()));
        bytes.extend(self.colours.iter().map(|colour| colour.index() as u8));
        bytes.extend(self.instances.iter().flat_map(|instance| instance.to_le_bytes()));
        std::fs::write(path, bytes)
    }
}

/// The rate of the flow that has a packet: flow i has i of them.
fn label(mut packet: u64) -> f32 {
    let mut flow = 1;
    while packet >= flow {
        packet -= flow;
        flow += 1;
    }
    (OFFERED * flow as f64 / (FLOWS * (FLOWS + 1) / 2) as f64) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 65,536 packets of 782 B with a gap of 4.9 us and half a ns of rounding: within 1 % of 160 MB/s.
    #[test]
    fn they_offer_what_they_should() {
        let inputs = Inputs::new();
        let bytes: f64 = inputs.sizes.iter().map(|size| f64::from(*size)).sum();
        let seconds: f64 = inputs.gaps.iter().map(|gap| f64::from(*gap) * 1e-9).sum();
        assert!((bytes / seconds / OFFERED - 1.0).abs() < 0.01, "{}", bytes / seconds);
        assert!(inputs.queues.iter().all(|queue| (150..=500).contains(queue)));
        let mean = inputs.labels.iter().map(|label| f64::from(*label)).sum::<f64>() / N as f64;
        // Sum of i^2 by sum of i, 7, parts of 55.
        assert!((mean / (OFFERED * 7.0 / 55.0) - 1.0).abs() < 0.01, "{mean}");
    }
}
