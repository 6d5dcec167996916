//! How long an ACK may wait for the next segment.
//!
//! Source: ns-2's `Agent/TCPSink/DelAck` (for a fixed time); Linux's is in `ack_delay/linux.rs`.

mod linux;

use super::Received;
use super::config::{AckDelay, Config};
use super::held::Occupancy;
use linux::Linux;
use perhop_core::units::{Span, Time};

/// What a segment is to its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The next one expected; with so many segments in the piece of memory that is read first.
    InOrder { first: u32 },
    /// Beyond it.
    Ahead,
    /// Below it, or beyond the window.
    Outside,
    /// Wholly below what the last ACK expected.
    Old,
}

impl Place {
    pub(super) fn is_in_order(self) -> bool {
        matches!(self, Self::InOrder { .. })
    }
}

/// A segment, and what is to be known of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival<'a> {
    pub(super) now: Time,
    pub(super) segment: &'a Received,
    pub(super) place: Place,
    /// Another waits for its ACK.
    pub(super) waits: bool,
    /// In order, nothing is missing behind it, and no other waits for its ACK.
    pub(super) may_wait: bool,
    /// Its ACK does not wait whatever else is missing: its mark is told at once.
    pub(super) at_once: bool,
    /// The first with a congestion mark that is not echoed yet.
    pub(super) marked: bool,
    /// What waited for a segment that is missing, and does so now.
    pub(super) before: Occupancy,
    pub(super) after: Occupancy,
    /// What waited was sent because of it.
    pub(super) told: bool,
    /// With this segment.
    pub(super) reached: Reached,
}

/// How far a receiver is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reached {
    /// The next number expected.
    pub(super) next: u32,
    /// In order, and read by the application or about to be.
    pub(super) bytes: u64,
}

/// When the ACK of a segment is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Now,
    /// Once the application has read what has come: at once too.
    Read,
    After(Span),
    /// With that of the next segment.
    Later,
}

/// How ACKs are delayed.
#[derive(Clone, Debug)]
pub(super) enum Delayer {
    Never,
    Fixed(Span),
    Linux(Box<Linux>),
}

impl Delayer {
    pub(super) fn new(config: &Config) -> Self {
        match config.reaction.ack {
            AckDelay::None => Self::Never,
            AckDelay::Fixed(delay) => Self::Fixed(delay),
            AckDelay::Linux => Self::Linux(Box::new(Linux::new(config))),
        }
    }

    /// When the ACK of a segment is sent.
    #[inline]
    pub(super) fn answer(&mut self, arrival: Arrival) -> Answer {
        match self {
            Self::Fixed(delay) if arrival.may_wait => Answer::After(*delay),
            Self::Never | Self::Fixed(_) => Answer::Now,
            Self::Linux(linux) => linux.answer(&arrival),
        }
    }

    /// The segment that comes next echoes the time stamp of an ACK.
    #[inline]
    pub(super) fn echoed(&mut self, now: Time, stamp: u32) {
        if let Self::Linux(linux) = self {
            linux.echoed(now, stamp);
        }
    }

    /// Segments for which there was room when the latest ACK was sent; 0: as many as agreed.
    #[inline]
    pub(super) fn window(&self) -> u16 {
        match self {
            Self::Linux(linux) => linux.offered(),
            _ => 0,
        }
    }

    /// An ACK was sent because it has waited long enough.
    pub(super) fn expired(&mut self, reached: Reached) {
        if let Self::Linux(linux) = self {
            linux.expired(reached);
        }
    }

    /// The ACK that ends the handshake has come.
    pub(super) fn opened(&mut self, now: Time) {
        if let Self::Linux(linux) = self {
            linux.establish(now);
        }
    }

    /// The ACK that waited was sent for another reason.
    pub(super) fn sent_early(&mut self, reached: Reached) {
        if let Self::Linux(linux) = self {
            linux.send(reached, true);
        }
    }

    /// The time stamp of the ACK whose time has come, if that is older; 0: the present one.
    pub(super) fn stamp(&self) -> u32 {
        match self {
            Self::Linux(linux) => linux.stamp(),
            _ => 0,
        }
    }

    /// What waits is an ACK for a missing segment, of several together.
    pub(super) fn compresses(&self) -> bool {
        matches!(self, Self::Linux(linux) if linux.compresses())
    }

    /// A round trip was measured in a handshake that this receiver has not seen.
    pub(super) fn measured(&mut self, round_trip: Span) {
        if let Self::Linux(linux) = self {
            linux.measured(round_trip);
        }
    }
}
