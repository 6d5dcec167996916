//! The part of a round trip between an edge and the host behind it, from a connection's handshake.
//!
//! Samples at an edge ([`crate::estimate::rtt`]) cover the path to the receiver and back. The missing part passes in the
//! other order: a SYN or SYN-ACK goes to the host, and the first segment that acknowledges it comes from there.
//!
//! ```text
//! SYN (the host is asked) or SYN-ACK (it asked) back at t1, first segment forward with ACK >= its end at t2:  near = t2 - t1
//! the same seen twice before that:  nothing (Karn)
//! ```
//!
//! With the far part of the handshake this is the first sample of RFC 6298 section 2.2.
//!
//! Decision: docs/decisions/011-round-trips-at-an-edge.md

use crate::packet::{Packet, after, flags};
use crate::units::{Span, Time};

/// How far a handshake has come.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum NearSide {
    /// No SYN.
    #[default]
    Idle,
    /// A SYN came back, with an ACK or without; this number acknowledges it.
    Asked(u32, Time),
    /// It came more than once.
    Repeated(u32),
    /// It was acknowledged; if it comes again, that means nothing.
    Over(u32),
}

impl NearSide {
    /// A packet that comes back.
    pub fn on_back(&mut self, now: Time, packet: &Packet) {
        if packet.flags & flags::SYN == 0 {
            return;
        }
        let end = packet.seq_end;
        *self = match *self {
            Self::Asked(known, _) | Self::Repeated(known) if known == end => Self::Repeated(end),
            Self::Over(known) if known == end => Self::Over(end),
            _ => Self::Asked(end, now),
        };
    }

    /// A packet from the host: the time it took, if it completes the handshake.
    pub fn on_forward(&mut self, now: Time, packet: &Packet) -> Option<Span> {
        let (end, since) = match *self {
            Self::Idle | Self::Over(_) => return None,
            Self::Asked(end, since) => (end, Some(since)),
            Self::Repeated(end) => (end, None),
        };
        if packet.flags & flags::ACK == 0 || after(end, packet.ack) {
            return None;
        }
        *self = Self::Over(end);
        since.map(|since| now.since(since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn syn_ack() -> Packet {
        Packet { seq_end: 1, ack: 1, flags: flags::SYN | flags::ACK, ..Packet::default() }
    }

    fn from_host(ack: u32) -> Packet {
        Packet { ack, flags: flags::ACK, ..Packet::default() }
    }

    #[test]
    fn from_syn_ack_to_its_acknowledgement() {
        let mut it = NearSide::default();
        assert_eq!(it.on_forward(at(0), &from_host(1)), None, "no handshake seen");
        it.on_back(at(10), &syn_ack());
        assert_eq!(it.on_forward(at(12), &from_host(0)), None, "it acknowledges something older");
        assert_eq!(it.on_forward(at(13), &Packet { flags: 0, ..from_host(1) }), None, "it acknowledges nothing");
        assert_eq!(it.on_forward(at(15), &from_host(1)), Some(Span::from_ms(5)));
        assert_eq!(it.on_forward(at(16), &from_host(1)), None, "once");
    }

    #[test]
    fn a_repeated_syn_ack_tells_nothing() {
        let mut it = NearSide::default();
        it.on_back(at(10), &syn_ack());
        it.on_back(at(20), &syn_ack());
        assert_eq!(it.on_forward(at(25), &from_host(1)), None);
        it.on_back(at(30), &syn_ack());
        assert_eq!(it.on_forward(at(35), &from_host(1)), None, "nor once it is acknowledged");
        it.on_back(at(40), &Packet { seq_end: 900, ..syn_ack() });
        assert_eq!(it.on_forward(at(47), &from_host(900)), Some(Span::from_ms(7)), "another connection");
    }
}
