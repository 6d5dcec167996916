//! A ring of classes in the order of the file, one of which is next: the classes of a level that may send, or the
//! children that borrow from a class.

/// A set of places, and whose turn it is. 128 are enough: each has a leaf of its own below it, and leaves differ in colour or
/// code point.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ring {
    members: u128,
    next: Option<u8>,
    /// Whose turn it was when it left: the turn is then of the first at or after it.
    gone: Option<u8>,
}

/// The first of `members` at or after a place.
fn first_from(members: u128, place: u32) -> Option<u8> {
    let left = members.checked_shr(place).map_or(0, |shifted| shifted << place);
    (left != 0).then(|| left.trailing_zeros() as u8)
}

impl Ring {
    pub(super) fn is_empty(&self) -> bool {
        self.members == 0
    }

    pub(super) fn insert(&mut self, place: u8) {
        self.members |= 1 << place;
    }

    /// It leaves; if it was its turn, the turn is of the one after it.
    pub(super) fn leave(&mut self, place: u8) {
        if self.next == Some(place) {
            self.advance();
        }
        self.members &= !(1 << place);
    }

    /// It leaves; if it was its turn and it is back when the next is looked for, it still is.
    pub(super) fn leave_for_a_while(&mut self, place: u8) {
        if self.next == Some(place) {
            (self.next, self.gone) = (None, Some(place));
        }
        self.members &= !(1 << place);
    }

    /// The turn is of the one after, or of no member at the end.
    pub(super) fn advance(&mut self) {
        self.next = self.next.and_then(|place| first_from(self.members, u32::from(place) + 1));
    }

    /// Whose turn it is; `None` at the end of a round.
    pub(super) fn turn(&mut self) -> Option<u8> {
        if let (None, Some(gone)) = (self.next, self.gone) {
            self.next = first_from(self.members, gone.into());
        }
        self.gone = None;
        self.next
    }

    /// Begins a round.
    pub(super) fn rewind(&mut self) {
        self.next = first_from(self.members, 0);
    }
}
