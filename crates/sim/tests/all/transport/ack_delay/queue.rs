//! What waits for a missing segment: in which pieces of memory, and in which blocks it is reported.

use super::space::memory;

/// Segments that a piece of memory has room for.
const PIECE: u32 = 16;
/// Blocks that are remembered, and those that the kernel expects an ACK to have room for.
const BLOCKS: usize = 4;
const EXPECTED: usize = 2;

/// Numbers from the first to before the last of each.
#[derive(Default)]
pub(super) struct Queue {
    pieces: Vec<[u32; 2]>,
    /// The latest first.
    blocks: Vec<[u32; 2]>,
}

fn touch(a: [u32; 2], b: [u32; 2]) -> bool {
    a[0] <= b[1] && b[0] <= a[1]
}

impl Queue {
    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    pub(super) fn memory(&self) -> u64 {
        memory(self.pieces.iter().map(|[from, to]| (to - from) as usize).sum(), self.pieces.len())
    }

    /// Whether it joins the piece that it follows.
    pub(super) fn keep(&mut self, number: u32) -> bool {
        let behind = self.pieces.iter_mut().find(|[from, to]| *to == number && to - from < PIECE);
        let joins = behind.is_some();
        match behind {
            Some(piece) => piece[1] += 1,
            None => self.pieces.push([number, number + 1]),
        }
        joins
    }

    /// All below `next` is in order now: segments in the piece that is read first. It begins with the one that was missing.
    pub(super) fn pass(&mut self, next: u32) -> u64 {
        self.pieces.sort_unstable();
        let passed = self.pieces.iter().take_while(|piece| piece[0] < next).count();
        let mut first = 1;
        for [from, to] in self.pieces.drain(..passed) {
            if first + (to - from) > PIECE {
                // Nor does a later one join it.
                break;
            }
            first += to - from;
        }
        self.blocks.retain(|block| block[0] > next);
        first.into()
    }

    fn place(&self, number: u32) -> usize {
        let of = self.blocks.iter().position(|block| touch(*block, [number, number + 1]));
        of.unwrap_or(self.blocks.len())
    }

    /// Whether it belongs to a block that is not expected to fit in an ACK, or begins one.
    pub(super) fn crowds(&self, number: u32) -> bool {
        self.place(number) >= EXPECTED
    }

    /// Into the first block.
    pub(super) fn report(&mut self, number: u32) {
        let place = self.place(number);
        let mut first = [number, number + 1];
        if place < self.blocks.len() {
            let [from, to] = self.blocks.remove(place);
            first = [from.min(number), to.max(number + 1)];
        }
        for other in std::mem::take(&mut self.blocks) {
            if touch(other, first) {
                first = [other[0].min(first[0]), other[1].max(first[1])];
            } else {
                self.blocks.push(other);
            }
        }
        self.blocks.insert(0, first);
        self.blocks.truncate(BLOCKS);
    }
}
