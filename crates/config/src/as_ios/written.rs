//! What is written of a class, and in which unit its queue counts.

use perhop_core::units::Span;

/// Lines of a class, with what is to be told about them.
#[derive(Default)]
pub(super) struct Written {
    pub(super) lines: Vec<String>,
    pub(super) notes: Vec<String>,
    pub(super) refused: Vec<String>,
}

impl Written {
    pub(super) fn say(&mut self, line: impl Into<String>) {
        self.lines.push(line.into());
    }

    pub(super) fn note(&mut self, what: impl Into<String>) {
        self.notes.push(what.into());
    }

    pub(super) fn refuse(&mut self, what: impl Into<String>) {
        self.refused.push(what.into());
    }

    /// What another has, too.
    pub(super) fn take(&mut self, other: Self) {
        self.lines.extend(other.lines);
        self.notes.extend(other.notes);
        self.refused.extend(other.refused);
    }
}

/// What IOS counts in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counts {
    /// Packets.
    Packets,
    /// Bytes.
    Bytes,
    /// Time at the rate of the class, of such a limit.
    Time(Span),
}
