//! What a receiver holds out of order.
//!
//! Source: Linux 6.12 (`tcp_data_queue_ofo`, `tcp_ofo_queue`) for the pieces of memory.
//!
//! A ring of payloads that grows to the window and stays. A segment that follows one that is held joins its piece of memory,
//! which has room for 16; else it begins one.

/// Segments in a row that are kept as one piece of memory: it has 17 fragments, and one segment in 23 takes two.
const PIECE: u32 = 16;

/// A segment that is held; without payload: none is.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    payload: u16,
    /// Which one of its piece it is, from 1.
    place: u16,
}

/// Segments that wait for one that is missing.
#[derive(Clone, Debug, Default)]
pub(super) struct Held {
    /// Segment `n` is at `n` modulo the length, a power of two.
    ring: Vec<Slot>,
    kept: Occupancy,
}

/// How much is held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Occupancy {
    pub(super) segments: u32,
    /// Of memory.
    pub(super) pieces: u32,
}

/// What is passed on when the missing segment comes: the application reads a piece of memory after the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passed {
    /// Segments in the first piece so far, the one that was missing included.
    pub(super) first: u32,
    open: bool,
    piece: u32,
}

impl Held {
    /// How much is held.
    #[inline]
    pub(super) fn kept(&self) -> Occupancy {
        self.kept
    }

    /// Keeps a segment beyond `next`; `false` if it is here already.
    pub(super) fn keep(&mut self, next: u32, number: u32, payload: u16) -> bool {
        self.make_room(next, number - next);
        if self.at(number).payload > 0 {
            return false;
        }
        let before = if number - 1 > next { self.at(number - 1) } else { Slot::default() };
        let joins = before.payload > 0 && u32::from(before.place) < PIECE;
        let slot = self.slot(number);
        self.ring[slot] = Slot { payload, place: if joins { before.place + 1 } else { 1 } };
        self.kept.segments += 1;
        self.kept.pieces += u32::from(!joins);
        true
    }

    /// Takes a segment out.
    #[inline]
    pub(super) fn take(&mut self, number: u32, passed: &mut Passed) -> Option<u16> {
        let slot = self.slot(number);
        let it = std::mem::take(&mut self.ring[slot]);
        if it.payload == 0 {
            passed.end_piece();
            return None;
        }
        self.kept.segments -= 1;
        if it.place == 1 {
            passed.end_piece();
            self.kept.pieces -= 1;
        }
        passed.piece += 1;
        Some(it.payload)
    }

    fn at(&self, number: u32) -> Slot {
        self.ring[self.slot(number)]
    }

    fn slot(&self, number: u32) -> usize {
        number as usize & (self.ring.len() - 1)
    }

    /// Grows the ring until a segment so far ahead fits.
    fn make_room(&mut self, next: u32, ahead: u32) {
        if (ahead as usize) < self.ring.len() {
            return;
        }
        let old = std::mem::take(&mut self.ring);
        self.ring = vec![Slot::default(); (ahead as usize + 1).next_power_of_two().max(16)];
        for offset in 0..old.len() as u32 {
            let number = next + offset;
            let slot = self.slot(number);
            self.ring[slot] = old[number as usize & (old.len() - 1)];
        }
    }
}

impl Passed {
    /// The missing segment alone.
    pub(super) const ONE: Self = Self { first: 1, open: true, piece: 0 };

    fn end_piece(&mut self) {
        let piece = std::mem::take(&mut self.piece);
        self.open &= self.first + piece <= PIECE;
        if self.open {
            self.first += piece;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(numbers: impl IntoIterator<Item = u32>) -> Held {
        let mut held = Held::default();
        numbers.into_iter().for_each(|number| assert!(held.keep(1, number, 1000), "{number}"));
        held
    }

    fn passed(held: &mut Held, first: u32) -> (u32, u32) {
        let (mut passed, mut number) = (Passed::ONE, first);
        while held.take(number, &mut passed).is_some() {
            number += 1;
        }
        (number - first, passed.first)
    }

    #[test]
    fn runs_join_pieces_of_sixteen() {
        assert_eq!(held([3, 4, 5]).kept(), Occupancy { segments: 3, pieces: 1 });
        assert_eq!(held([3, 5, 4]).kept(), Occupancy { segments: 3, pieces: 2 });
        assert_eq!(held(2..36).kept(), Occupancy { segments: 34, pieces: 3 });
        assert!(!held([3]).keep(1, 3, 1000));
    }

    /// The segment that was missing and as many whole pieces as fit in one.
    #[test]
    fn the_first_piece_is_read_first() {
        for (last, first) in [(2, 2), (16, 16), (17, 1), (40, 1)] {
            let mut it = held(2..=last);
            assert_eq!(passed(&mut it, 2), (last - 1, first), "{last}");
            assert_eq!(it.kept(), Occupancy::default());
        }
        let mut it = held([5, 6, 7, 8, 2, 3, 4]);
        assert_eq!((it.kept().pieces, passed(&mut it, 2)), (2, (7, 8)));
    }
}
