//! Counts of values by size, with two significant digits: buckets as those of HdrHistogram, of which memory has those from
//! the least that was ever needed to the greatest. While values are few it has their buckets alone, one by one: those of a
//! short flow's jitter lie far apart.
//!
//! Decision: docs/decisions/022-delay-histograms.md

use std::mem;

/// Two significant digits: each power of two has this many buckets.
const PER_OCTAVE: u32 = 128;
/// The finest bucket: 512 ns, which has two digits from 51.2 us on.
const UNIT_BITS: u32 = 9;
/// The window grows by this many buckets, half an octave.
const STEP: u32 = PER_OCTAVE / 2;
/// So many values are kept one by one: in the room of half an octave.
const FEW: usize = 128;
/// Room for them is taken by so many.
const FEW_AT_ONCE: usize = FEW / 8;

/// How often each size of value was seen.
#[derive(Clone, Debug, Default)]
pub(super) struct Histogram {
    /// The number of `counts[0]`, a multiple of [`STEP`].
    first: u32,
    counts: Vec<u32>,
    /// The buckets of the values so far, while there is no window.
    few: Vec<u16>,
}

/// The bucket of a value.
#[inline]
const fn bucket(value: u64) -> u32 {
    const FINEST: u64 = (2 * PER_OCTAVE as u64) << (UNIT_BITS - 1);
    let coarser = (value | FINEST).ilog2() - FINEST.ilog2();
    coarser * PER_OCTAVE + (value >> (UNIT_BITS + coarser)) as u32
}

const _: () = assert!(bucket(u64::MAX) <= u16::MAX as u32);

/// The largest value of a bucket.
fn largest(bucket: u32) -> u64 {
    let coarser = (bucket / PER_OCTAVE).saturating_sub(1);
    let next = u128::from(bucket - coarser * PER_OCTAVE + 1);
    ((next << (UNIT_BITS + coarser)) - 1) as u64
}

/// The width of the bucket of a value, ns: how far below it the others of its bucket may lie.
pub fn bucket_width(value: u64) -> u64 {
    let last = bucket(value);
    largest(last) - last.checked_sub(1).map_or(0, largest)
}

impl Histogram {
    /// Counts a value.
    #[inline]
    pub fn record(&mut self, value: u64) {
        let bucket = bucket(value);
        match self.counts.get_mut(bucket.wrapping_sub(self.first) as usize) {
            Some(count) => *count = count.saturating_add(1),
            None => self.note(bucket),
        }
    }

    /// The largest value of each bucket that has values, and how many it has, from the smallest up.
    pub fn buckets(&self) -> Vec<(u64, u64)> {
        let mut few = self.few.clone();
        few.sort_unstable();
        let few = few.chunk_by(|a, b| a == b).map(|alike| (largest(alike[0].into()), alike.len() as u64));
        let of_window = (self.first..).zip(&self.counts).filter(|(_, count)| **count > 0);
        few.chain(of_window.map(|(bucket, &count)| (largest(bucket), count.into()))).collect()
    }

    /// Counts a value of a bucket that is outside the window: among the few, or in a window that then has it.
    #[cold]
    #[inline(never)]
    fn note(&mut self, bucket: u32) {
        if self.counts.is_empty() && self.few.len() < FEW {
            return self.keep(bucket as u16);
        }
        self.open();
        self.reach(bucket);
        self.counts[(bucket - self.first) as usize] += 1;
    }

    fn keep(&mut self, bucket: u16) {
        if self.few.len() == self.few.capacity() {
            self.few.reserve_exact(FEW_AT_ONCE);
        }
        self.few.push(bucket);
    }

    /// Opens a window for the few.
    fn open(&mut self) {
        let few = mem::take(&mut self.few);
        few.iter().min().into_iter().chain(few.iter().max()).for_each(|&bucket| self.reach(bucket.into()));
        few.into_iter().for_each(|bucket| self.counts[(u32::from(bucket) - self.first) as usize] += 1);
    }

    /// Makes the window reach the half octave of a bucket.
    fn reach(&mut self, bucket: u32) {
        let floor = bucket / STEP * STEP;
        self.cover(floor, floor + STEP);
    }

    /// Makes the window reach from `from` to below `to` at least.
    fn cover(&mut self, from: u32, to: u32) {
        if self.counts.is_empty() {
            self.first = from;
        }
        let below = self.first.saturating_sub(from);
        let above = to.saturating_sub(self.first + self.counts.len() as u32);
        let length = self.counts.len() + (below + above) as usize;
        self.counts.reserve_exact(length - self.counts.len());
        self.counts.resize(length, 0);
        self.counts.rotate_right(below as usize);
        self.first -= below;
    }

    /// Adds the counts of another.
    pub fn add(&mut self, other: &Self) {
        other.few.iter().for_each(|&bucket| self.record(largest(bucket.into())));
        if other.counts.is_empty() {
            return;
        }
        self.open();
        self.cover(other.first, other.first + other.counts.len() as u32);
        let here = &mut self.counts[(other.first - self.first) as usize..];
        here.iter_mut().zip(&other.counts).for_each(|(count, more)| *count = count.saturating_add(*more));
    }

    /// Forgets the counts and keeps the memory, with room for values twice as large as those seen and a sixteenth of them.
    pub fn clear(&mut self) {
        self.open();
        self.counts.fill(0);
        if !self.counts.is_empty() {
            let below = self.first.min(4 * PER_OCTAVE);
            self.counts.reserve_exact((below + PER_OCTAVE) as usize);
        }
    }

    /// Number of values.
    pub fn len(&self) -> u64 {
        self.few.len() as u64 + self.counts.iter().map(|&count| u64::from(count)).sum::<u64>()
    }

    /// For each of these ranks, from 1 on and in ascending order, the largest value of the bucket in which the value of this
    /// rank is, the smallest value having rank 1. None where there are not as many.
    pub fn ranked<const N: usize>(&self, ranks: [u64; N]) -> [Option<u64>; N] {
        if self.counts.is_empty() {
            let mut few = self.few.clone();
            few.sort_unstable();
            return ranks.map(|rank| few.get(rank.saturating_sub(1) as usize).map(|&bucket| largest(bucket.into())));
        }
        let (mut buckets, mut reached) = ((self.first..).zip(&self.counts), (0, 0));
        ranks.map(|rank| {
            while reached.1 < rank {
                let (bucket, &count) = buckets.next()?;
                reached = (bucket, reached.1 + u64::from(count));
            }
            Some(largest(reached.0))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Of every size up to an hour.
    fn value() -> impl Strategy<Value = u64> {
        (0u32..42, any::<u64>()).prop_map(|(bits, v)| (v % (1 << bits)).min(3_600_000_000_000))
    }

    fn theirs() -> hdrhistogram::Histogram<u32> {
        hdrhistogram::Histogram::new_with_bounds(1_000, 3_600_000_000_000, 2).unwrap()
    }

    proptest! {
        /// Ranks and number are HdrHistogram's, whatever the order in which the window grew, what was cleared, and
        /// whether there are few values or many.
        #[test]
        fn is_that_of_hdrhistogram(
            before in prop::collection::vec(value(), 0..20),
            values in prop::collection::vec(value(), 1..2 * FEW),
            more in prop::collection::vec(value(), 0..2 * FEW),
        ) {
            let (mut ours, mut theirs, mut added) = (Histogram::default(), theirs(), Histogram::default());
            before.iter().for_each(|&v| ours.record(v));
            ours.clear();
            values.iter().for_each(|&v| ours.record(v));
            more.iter().for_each(|&v| added.record(v));
            ours.add(&added);
            values.iter().chain(&more).for_each(|&v| theirs.record(v).unwrap());
            prop_assert_eq!(ours.len(), theirs.len());
            for rank in 1..=ours.len() {
                let last = ours.len();
                // the middle of what rounds up to this rank
                let quantile = (rank as f64 - 0.5) / ours.len() as f64;
                let found = ours.ranked([rank, rank, last, last + 1]);
                let expected = Some(theirs.value_at_quantile(quantile));
                prop_assert_eq!(found, [expected, expected, Some(theirs.max()), None], "rank {}", rank);
            }
            let recorded: Vec<_> = theirs.iter_recorded().map(|it| it.value_iterated_to()).collect();
            prop_assert_eq!(ours.buckets().iter().map(|it| it.0).collect::<Vec<_>>(), recorded);
            prop_assert_eq!(ours.buckets().iter().map(|it| it.1).sum::<u64>(), ours.len());
        }

        /// Buckets follow one another: the value after the largest of one is in the next.
        #[test]
        fn buckets_leave_no_gap(number in 0u32..6_000) {
            prop_assert_eq!(bucket(largest(number)), number);
            prop_assert_eq!(bucket(largest(number) + 1), number + 1);
            let width = bucket_width(largest(number));
            prop_assert_eq!(bucket(largest(number) + 1 - width.min(largest(number))), number);
            prop_assert_eq!(bucket_width(largest(number) + 1 - width.min(largest(number))), width);
        }
    }

    /// However far apart they lie: a window for the smallest and the largest number would take 24 kB.
    #[test]
    fn few_values_take_little_memory() {
        let mut ours = Histogram::default();
        let values = [0, u64::MAX].into_iter().cycle().take(FEW);
        let taken = allocation_counter::measure(|| values.for_each(|value| ours.record(value)));
        assert_eq!(taken.bytes_current as usize, FEW * size_of::<u16>());
        ours.record(1);
        assert_eq!((ours.len(), ours.few.capacity()), (FEW as u64 + 1, 0));
    }

    #[test]
    fn the_largest_number_has_a_bucket() {
        let mut ours = Histogram::default();
        [0, u64::MAX].iter().for_each(|&v| ours.record(v));
        assert_eq!(ours.ranked([1, 2]), [Some(511), Some(u64::MAX)]);
    }
}
