//! What a script may make of its text: a few lines of loops and variables stand for any number of lines.
//!
//! What stands in the text is read whatever its length. What loops run again and variables put in is bounded, so that time and memory
//! grow as the text does. Beyond a bound W448 says once what is not read.

use std::cell::Cell;

/// A bound that a text may meet.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::tc) struct Bound {
    /// What is read at most.
    pub(in crate::tc) most: usize,
    /// What is not read, and why, with `#` for the bound.
    message: &'static str,
    /// What to do.
    pub(in crate::tc) instead: &'static str,
}

/// Bytes of the value of a variable, of an expansion and of a word that has one.
pub(in crate::tc) const VALUE: Bound = Bound {
    most: 64 << 10,
    message: "a value is not read: it has more than # bytes, and counts as one that the text does not set",
    instead: "write a shorter value",
};

/// Bytes that all expansions may add: this many for each of the text, and those of all lines that loops run.
const VALUES: Bound = Bound {
    most: 8,
    message: "no variable is read from here on: all values together have more than # times the bytes of the text",
    instead: "write the lines with their values",
};

/// Lines that loops run beyond those that stand in the text.
pub(in crate::tc) const LINES: Bound = Bound {
    most: 20_000,
    message: "loops are read once from here on: together they run more than # lines",
    instead: "read the print of `tc -s class show` and the like, which has no loops",
};

/// Loops within each other.
pub(in crate::tc) const LOOPS: Bound = Bound {
    most: 64,
    message: "this loop is read as if it had no values: it is within # others",
    instead: "write it without so many loops",
};

/// Brackets of JSON within each other: deeper than what tc prints.
pub(in crate::tc) const JSON: Bound = Bound {
    most: 64,
    message: "a value of this JSON is not read: more than # brackets are open around it",
    instead: "paste what `tc -j` prints",
};

/// A longer line counts once for each stretch of this many bytes.
pub(in crate::tc) const LINE: usize = 200;

impl Bound {
    /// What is not read, and why.
    pub(in crate::tc) fn message(&self) -> String {
        self.message.replace('#', &self.most.to_string())
    }
}

/// What expansions may still add to a text.
#[derive(Debug, Default)]
pub(in crate::tc) struct Room {
    left: Cell<usize>,
    met: Cell<Option<&'static Bound>>,
}

impl Room {
    /// Of a text of this many bytes.
    pub(in crate::tc) const fn of(text: usize) -> Self {
        Self {
            left: Cell::new(text.saturating_mul(VALUES.most).saturating_add(LINES.most * LINE)),
            met: Cell::new(None),
        }
    }

    /// Whether a value of this many bytes is short enough.
    pub(in crate::tc) fn holds(&self, length: usize) -> bool {
        if length > VALUE.most {
            self.met.set(Some(&VALUE));
        }
        length <= VALUE.most
    }

    /// Whether a value may be put into a word that has this many bytes already.
    pub(in crate::tc) fn takes(&self, before: usize, length: usize) -> bool {
        if !self.holds(before + length) {
            return false;
        }
        let left = self.left.get().checked_sub(length);
        self.left.set(left.unwrap_or(0));
        if left.is_none() {
            self.met.set(Some(&VALUES));
        }
        left.is_some()
    }

    /// The bound that was met since this was asked last.
    pub(in crate::tc) fn met(&self) -> Option<&'static Bound> {
        self.met.take()
    }
}

/// The lines that loops run beyond those that stand in the text.
#[derive(Debug, Default)]
pub(in crate::tc) struct Runs {
    /// So far.
    lines: usize,
    /// A line that stands in the text is run a second time.
    pub(in crate::tc) again: bool,
    /// Loops that are run within each other.
    pub(in crate::tc) within: usize,
}

impl Runs {
    /// Whether some may still be run.
    pub(in crate::tc) const fn are_open(&self) -> bool {
        self.lines < LINES.most
    }

    /// How many values of a loop may still be needed: one more than can be run, so that the bound is met.
    pub(in crate::tc) const fn values(&self) -> usize {
        LINES.most.saturating_sub(self.lines) + 2
    }

    /// Counts lines that are run again; false: they are too many.
    pub(in crate::tc) fn count(&mut self, lines: usize) -> bool {
        self.lines += if self.again { lines } else { 0 };
        !self.again || self.lines <= LINES.most
    }
}
