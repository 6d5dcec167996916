//! What a script may make of its text: a few lines of loops and variables stand for any number of lines.
//!
//! What stands in the text is read whatever its length. What loops run again and variables put in is bounded, so that time and memory
//! grow as the text does. Beyond a bound W448 says once what is not read.

use std::cell::Cell;

/// The longest value of a variable, of an expansion and of a word that has one, in bytes.
pub(super) const VALUE: usize = 64 << 10;
/// Lines that loops run beyond those that stand in the text.
pub(super) const LINES: usize = 20_000;
/// A longer line counts once for each stretch of this many bytes.
pub(super) const LINE: usize = 200;
/// Loops within each other.
pub(super) const LOOPS: usize = 64;
/// Brackets of JSON within each other.
pub(super) const JSON: usize = 64;
/// Bytes that all expansions may add: this many for each of the text, and those of all lines that loops run.
const TIMES: usize = 8;

/// A bound that a text has met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Bound {
    /// A value is longer than [`VALUE`].
    Value,
    /// All values together are too long.
    Values,
    /// Loops run more lines than [`LINES`].
    Lines,
    /// More loops than [`LOOPS`] are within each other.
    Loops,
    /// JSON is deeper than what tc prints.
    Json,
}

impl Bound {
    /// What is not read, and why; and what to do.
    pub(super) fn words(self) -> [String; 2] {
        match self {
            Self::Value => [
                format!(
                    "a value is not read: it has more than {VALUE} bytes, and counts as one that the text does not set"
                ),
                "write a shorter value".into(),
            ],
            Self::Values => [
                format!(
                    "no variable is read from here on: all values together have more than {TIMES} times the bytes of the text"
                ),
                "write the lines with their values".into(),
            ],
            Self::Lines => [
                format!("loops are read once from here on: together they run more than {LINES} lines"),
                "read the print of `tc -s class show` and the like, which has no loops".into(),
            ],
            Self::Loops => [
                format!("this loop is read as if it had no values: it is within {LOOPS} others"),
                "write it without so many loops".into(),
            ],
            Self::Json => [
                format!("a value of this JSON is not read: more than {JSON} brackets are open around it"),
                "paste what `tc -j` prints".into(),
            ],
        }
    }
}

/// What expansions may still add to a text.
#[derive(Debug)]
pub(super) struct Room {
    left: Cell<usize>,
    met: Cell<Option<Bound>>,
}

impl Default for Room {
    fn default() -> Self {
        Self::of(0)
    }
}

impl Room {
    /// Of a text of this many bytes.
    pub(super) const fn of(text: usize) -> Self {
        Self { left: Cell::new(text.saturating_mul(TIMES).saturating_add(LINES * LINE)), met: Cell::new(None) }
    }

    /// Whether a value of this many bytes is short enough.
    pub(super) fn holds(&self, length: usize) -> bool {
        if length > VALUE {
            self.met.set(Some(Bound::Value));
        }
        length <= VALUE
    }

    /// Whether a value may be put into a word that has this many bytes already.
    pub(super) fn takes(&self, before: usize, length: usize) -> bool {
        if !self.holds(before + length) {
            return false;
        }
        let left = self.left.get().checked_sub(length);
        self.left.set(left.unwrap_or(0));
        if left.is_none() {
            self.met.set(Some(Bound::Values));
        }
        left.is_some()
    }

    /// The bound that was met since this was asked last.
    pub(super) fn met(&self) -> Option<Bound> {
        self.met.take()
    }
}

/// The lines that loops run beyond those that stand in the text.
#[derive(Debug, Default)]
pub(super) struct Runs {
    /// So far.
    lines: usize,
    /// A line that stands in the text is run a second time.
    pub(super) again: bool,
    /// Loops that are run within each other.
    pub(super) within: usize,
}

impl Runs {
    /// Whether some may still be run.
    pub(super) const fn are_open(&self) -> bool {
        self.lines < LINES
    }

    /// How many values of a loop may still be needed: one more than can be run, so that the bound is met.
    pub(super) const fn values(&self) -> usize {
        LINES.saturating_sub(self.lines) + 2
    }

    /// Counts lines that are run again; false: they are too many.
    pub(super) fn count(&mut self, lines: usize) -> bool {
        self.lines += if self.again { lines } else { 0 };
        !self.again || self.lines <= LINES
    }
}
