//! How a receiver tells its sender of congestion marks.
//!
//! | `ecn-feedback` | source                        | an ACK says                                                        |
//! |----------------|-------------------------------|--------------------------------------------------------------------|
//! | `rfc3168`      | RFC 3168 section 6.1.3        | there was a mark, and the sender has not said since that it slowed down |
//! | `dctcp`        | RFC 8257 section 3.2          | what it acknowledges was marked                                    |
//! | `accurate`     | RFC 9768, see `accurate.rs`   | how many were marked since the beginning                           |
//!
//! With `dctcp` a segment that is marked where the one before was not, or the other way round, is acknowledged at once.
//! What waits for its ACK then gets a separate one before: the RFC allows that, and Linux 6.12 does it (`tcp_dctcp.h`). So an
//! ACK never mixes marked segments with others, but for Linux's ACKs for a missing segment that go together.

use super::Received;
use super::accurate::Counts;

/// How a receiver tells of marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnFeedback {
    /// Once, until the sender has slowed down (RFC 3168).
    #[default]
    Rfc3168,
    /// Each of them (RFC 8257).
    Dctcp,
    /// How many there were, in packets and in bytes (RFC 9768).
    Accurate,
}

/// What a segment is to the echo.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Heard {
    /// An echo begins that asks for a few ACKs at once.
    pub(super) begins: bool,
    /// It is acknowledged at once.
    pub(super) at_once: bool,
    /// And what waits gets an ACK of its own before.
    pub(super) apart: bool,
}

/// A receiver's memory of marks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Echo {
    feedback: EcnFeedback,
    /// ACKs carry ECE.
    ece: bool,
    /// A marked segment arrived since the last ACK.
    marked: bool,
    counts: Counts,
}

impl Echo {
    pub(super) fn new(feedback: EcnFeedback) -> Self {
        Self { feedback, ece: false, marked: false, counts: Counts::default() }
    }

    /// The counts, if they are what is told.
    pub(super) fn counts(&self) -> Option<&Counts> {
        (self.feedback == EcnFeedback::Accurate).then_some(&self.counts)
    }

    /// The SYN has arrived.
    pub(super) fn open(&mut self, marked: bool) {
        self.counts.open(marked);
    }

    /// Whether the next ACK carries ECE.
    pub(super) fn ece(&self) -> bool {
        self.ece
    }

    /// Whether ACKs are ECN-capable themselves, as those of Linux's DCTCP are.
    pub(super) fn sends_ect(&self) -> bool {
        self.feedback == EcnFeedback::Dctcp
    }

    /// An ACK was sent.
    #[inline]
    pub(super) fn told(&mut self) {
        self.marked = false;
        self.counts.told();
    }

    /// A data segment has arrived, `inside` unless it was there before or is beyond the window.
    #[inline]
    pub(super) fn hear(&mut self, segment: &Received, inside: bool) -> Heard {
        match self.feedback {
            EcnFeedback::Rfc3168 => self.until_cwr(segment),
            EcnFeedback::Dctcp if inside => self.of_the_last(segment.ce),
            EcnFeedback::Dctcp => Heard::default(),
            EcnFeedback::Accurate => Heard { at_once: self.counts.hear(segment), ..Heard::default() },
        }
    }

    #[inline]
    fn until_cwr(&mut self, segment: &Received) -> Heard {
        if segment.cwr && !self.marked {
            self.ece = false;
        }
        if !segment.ce {
            return Heard::default();
        }
        self.marked = true;
        Heard { begins: !std::mem::replace(&mut self.ece, true), ..Heard::default() }
    }

    fn of_the_last(&mut self, ce: bool) -> Heard {
        let changes = std::mem::replace(&mut self.ece, ce) != ce;
        Heard { begins: false, at_once: changes, apart: changes }
    }
}
