//! A ring of classes in the order of the file, one of which is next: the classes of a level that may send, or the
//! children that borrow from a class.

use crate::sched::places::Places;

/// A set of places, and whose turn it is.
#[derive(Clone, Debug, Default)]
pub(super) struct Ring {
    members: Places,
    next: Option<u32>,
    /// Whose turn it was when it left: the turn is then of the first at or after it.
    gone: Option<u32>,
}

impl Ring {
    /// Empty, with room for so many places.
    pub(super) fn new(places: usize) -> Self {
        Self { members: Places::new(places), ..Self::default() }
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    #[inline]
    fn first_from(&self, place: u32) -> Option<u32> {
        self.members.first_from(place as usize).map(|place| place as u32)
    }

    pub(super) fn insert(&mut self, place: u32) {
        self.members.insert(place as usize);
    }

    /// It leaves; if it was its turn, the turn is of the one after it.
    pub(super) fn leave(&mut self, place: u32) {
        if self.next == Some(place) {
            self.advance();
        }
        self.members.remove(place as usize);
    }

    /// It leaves; if it was its turn and it is back when the next is looked for, it still is.
    pub(super) fn leave_for_a_while(&mut self, place: u32) {
        if self.next == Some(place) {
            (self.next, self.gone) = (None, Some(place));
        }
        self.members.remove(place as usize);
    }

    /// The turn is of the one after, or of no member at the end.
    pub(super) fn advance(&mut self) {
        self.next = self.next.and_then(|place| self.first_from(place + 1));
    }

    /// Whose turn it is; `None` at the end of a round.
    pub(super) fn turn(&mut self) -> Option<u32> {
        if let (None, Some(gone)) = (self.next, self.gone) {
            self.next = self.first_from(gone);
        }
        self.gone = None;
        self.next
    }

    /// Begins a round.
    pub(super) fn rewind(&mut self) {
        self.next = self.first_from(0);
    }
}
