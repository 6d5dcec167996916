//! What the options of an ACK say: SACK blocks and AccECN's count of marked bytes, in 12 bytes; a segment has the
//! time stamp that it echoes in their place.
//!
//! Source: RFC 2018 section 4 (blocks), RFC 2883 section 4 (a first block that reports a duplicate), Linux 6.12 (at
//! most three blocks; a block takes 8 B, the option 4 B with its padding).
//!
//! With the option of AccECN (RFC 9768 section 3.2.3; 8 B) there is room for two blocks, as in Linux.
//!
//! A block is written relative to the next number expected: windows are at most [`LARGEST_WINDOW`] segments with SACK.

use std::ops::Range;

/// The largest window with SACK, segments: a block's place in it takes 16 bits.
pub const LARGEST_WINDOW: u32 = i16::MAX as u32;
/// Bytes of the option before its blocks, padding included.
const OPTION: u32 = 4;
/// Bytes of a block.
const BLOCK: u32 = 8;
/// Bytes of AccECN's option with the counts of ECT(0) or ECT(1) and of marked bytes.
const COUNTS: u32 = 8;
/// The third place holds marked bytes: no third block lies so far below the next number expected.
const COUNT: u16 = 0x8000;

/// Segments in a row that have arrived. Of no length: no block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// The first one, less the next number expected. Below 0: a duplicate.
    offset: i16,
    /// How many.
    length: u16,
}

impl Block {
    /// The segments `numbers`; `None` if there are none, or they are too far from `next_expected` to be written.
    pub fn new(numbers: Range<u32>, next_expected: u32) -> Option<Self> {
        let offset = i16::try_from(i64::from(numbers.start) - i64::from(next_expected)).ok()?;
        let length = u16::try_from(numbers.end.checked_sub(numbers.start)?).ok()?;
        (length > 0).then_some(Self { offset, length })
    }

    /// The first number and one past the last.
    pub fn numbers(self, next_expected: u32) -> Range<u32> {
        let first = next_expected.wrapping_add_signed(self.offset.into());
        first..first + u32::from(self.length)
    }

    fn within(self, other: Self) -> bool {
        let end = |block: Self| i32::from(block.offset) + i32::from(block.length);
        other.offset <= self.offset && end(self) <= end(other)
    }
}

/// Up to three blocks, the one that the segment behind this ACK belongs to first. Empty by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sacks([Block; Sacks::MOST]);

impl Sacks {
    /// Blocks that an ACK has room for.
    pub const MOST: usize = 3;

    /// The first of these blocks, as many as fit.
    pub fn new(blocks: impl IntoIterator<Item = Block>) -> Self {
        let mut it = Self::default();
        it.0.iter_mut().zip(blocks).for_each(|(place, block)| *place = block);
        it
    }

    /// Of a segment, in the place of blocks: the time stamp that it echoes.
    pub fn echo(stamp: u32) -> Self {
        let first = Block { offset: stamp as u16 as i16, length: (stamp >> 16) as u16 };
        Self([first, Block::default(), Block::default()])
    }

    /// The time stamp that a segment echoes.
    pub fn echoed(&self) -> u32 {
        u32::from(self.0[0].offset as u16) | u32::from(self.0[0].length) << 16
    }

    /// Whether there is no block.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0[0].length == 0
    }

    /// Each block's first number and one past its last, a duplicate's included, in an ACK that expects `next_expected`.
    pub fn iter(&self, next_expected: u32) -> impl Iterator<Item = Range<u32>> {
        self.blocks().map(move |block| block.numbers(next_expected))
    }

    fn blocks(&self) -> impl Iterator<Item = Block> {
        let places = Self::MOST - usize::from(self.marked_bytes().is_some());
        self.0.into_iter().take(places).take_while(|block| block.length > 0)
    }

    /// With AccECN's option: marked bytes modulo 2^24, in place of a third block.
    #[must_use]
    pub fn with_marked_bytes(mut self, bytes: u32) -> Self {
        self.0[2] = Block { offset: (COUNT | (bytes >> 16) as u16 & 0xff) as i16, length: bytes as u16 };
        self
    }

    /// What AccECN's option says, if there is one.
    pub fn marked_bytes(&self) -> Option<u32> {
        let Block { offset, length } = self.0[2];
        (offset as u16 & 0xff00 == COUNT).then(|| u32::from(offset as u16 & 0xff) << 16 | u32::from(length))
    }

    /// The segments that arrived twice, if the first block reports that: it lies below what is expected, or within the second
    /// block (RFC 2883 section 4).
    pub fn dsack(&self, next_expected: u32) -> Option<Range<u32>> {
        let [first, second, _] = self.0;
        let again = first.offset < 0 || second.length > 0 && first.within(second);
        (again && first.length > 0).then(|| first.numbers(next_expected))
    }

    /// Bytes that they add to the header.
    #[inline]
    pub fn wire(&self) -> u32 {
        if self.is_empty() && self.0[2].offset == 0 {
            return 0;
        }
        let counts = if self.marked_bytes().is_some() { COUNTS } else { 0 };
        match self.blocks().count() as u32 {
            0 => counts,
            blocks => counts + OPTION + BLOCK * blocks,
        }
    }
}

const _: () = assert!(size_of::<Sacks>() == 12);

#[cfg(test)]
mod tests {
    use super::*;

    fn sacks(numbers: &[Range<u32>]) -> Sacks {
        Sacks::new(numbers.iter().map(|it| Block::new(it.clone(), 100).unwrap()))
    }

    fn all(sacks: Sacks) -> Vec<Range<u32>> {
        sacks.iter(100).collect()
    }

    #[test]
    fn up_to_three_blocks_come_back_as_they_were() {
        let numbers = [110..111, 105..109, 120..32_866, 200..201];
        for n in 0..=4 {
            let it = sacks(&numbers[..n]);
            assert_eq!(all(it), numbers[..n.min(3)]);
            assert_eq!((it.is_empty(), it.dsack(100)), (n == 0, None));
        }
    }

    /// As Linux aligns the option: 12, 20 and 28 bytes.
    #[test]
    fn a_block_takes_eight_bytes_and_the_option_four() {
        let numbers = [110..111, 105..109, 120..121];
        assert_eq!([0, 1, 2, 3].map(|n| sacks(&numbers[..n]).wire()), [0, 12, 20, 28]);
    }

    /// RFC 2883 section 4: below what is expected, or covered by the second block.
    #[test]
    fn a_first_block_tells_of_a_duplicate() {
        assert_eq!(sacks(&[90..91, 105..109]).dsack(100), Some(90..91));
        assert_eq!(sacks(&[106..107, 105..109, 120..121]).dsack(100), Some(106..107));
        assert_eq!(sacks(&[105..109, 106..107]).dsack(100), None);
        assert_eq!(sacks(&[106..110, 105..109]).dsack(100), None);
    }

    /// RFC 9768 section 3.2.3: a count takes the place of the third block, whatever it is, and 8 bytes.
    #[test]
    fn a_count_goes_with_two_blocks() {
        let numbers = [110..111, 105..109, 120..121];
        for bytes in [0, 1, 0xffff, 0x01_0000, 0xff_ffff] {
            for n in 0..=3 {
                let it = sacks(&numbers[..n]).with_marked_bytes(bytes);
                assert_eq!((all(it), it.marked_bytes()), (numbers[..n.min(2)].to_vec(), Some(bytes)));
                assert_eq!(it.wire(), [8, 20, 28, 28][n]);
            }
        }
        assert_eq!(sacks(&numbers).marked_bytes(), None);
    }

    #[test]
    fn a_block_that_cannot_be_written_is_none() {
        let none = [5..5, 40_000..40_001, 0..70_000];
        assert!(none.into_iter().all(|numbers| Block::new(numbers, 100).is_none()));
        assert!(Block::new(7_232..7_233, 40_000).is_some());
        assert!(Block::new(7_231..7_232, 40_000).is_none());
    }
}
