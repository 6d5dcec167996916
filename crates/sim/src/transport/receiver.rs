//! The receiving half of a connection: reassembly, cumulative ACKs, delayed ACKs, ECN echo.
//!
//! Source: RFC 5681 section 4.2 (generating ACKs), RFC 3168 sections 6.1.1 and 6.1.3 (negotiation, echo), ns-2's `Agent/TCPSink` and
//! `Agent/TCPSink/DelAck` with `RFC2581_immediate_ack_` and `SYN_immediate_ack_` true (defaults of 2.35).
//!
//! - Every segment is acknowledged at once with the next number expected. With delayed ACKs a segment that arrives
//!   in order with none missing behind it may wait: for the next segment, whatever that is, or for the timer. Which one
//!   does, and how long, `ack_delay.rs` says.
//! - Out of order, duplicate, filling a hole, or a SYN: acknowledged at once, with what was waiting.
//! - ECN-setup SYN (ECE and CWR): answered by an ECN-setup SYN-ACK (ECE alone) if the receiver is willing (section
//!   6.1.1).
//! - With ECN agreed, each ACK carries ECE from the first marked segment until one with CWR; a mark since the last ACK
//!   survives a CWR. Other ways to tell of marks are in `echo.rs`; there a segment may lead to two ACKs.
//! - With SACK each ACK carries what is held out of order and what has arrived twice (`reported.rs`).
//! - Out-of-order segments are kept as their payload in a ring that grows to the advertised window and stays.
//!
//! | symbol      | field       | unit   | default                |
//! |-------------|-------------|--------|------------------------|
//! | RCV.NXT     | `next`      | number | 0, or 1 without a SYN  |
//! | ACK delay   | `delayer`   | time   | none; ns-2 100 ms      |
//! | ECN agreed  | `ecn`       | -      | off until the SYN      |
//!
//! Deviations: the advertised window is constant (the application reads at once). A segment beyond it is not kept, is
//! counted in `beyond_window` and acknowledged; a sender with the same configuration never sends one.

use super::ack_delay::{Arrival, Delayer, Place};
use super::config::Config;
use super::echo::{Echo, Heard};
use super::error::ConfigError;
use super::reported::Reported;
use super::{AckInfo, Received, Sacks};
use perhop_core::units::{Span, Time};

/// One connection's receiver.
#[derive(Clone, Debug)]
pub struct Receiver {
    next: u32,
    window: u32,
    /// Payload of out-of-order segment `n` at `n` modulo its length, a power of two; 0 where there is none.
    ring: Vec<u16>,
    /// Segments in the ring.
    held: u32,
    /// Agrees to ECN if asked.
    willing: bool,
    /// ECN is agreed.
    ecn: bool,
    echo: Echo,
    /// What an ACK that goes before the last one expects; 0 if there is none.
    earlier: u32,
    delayer: Delayer,
    /// When the delayed ACK is due; `Time::MAX` when none waits.
    due: Time,
    delivered_bytes: u64,
    delivered_segments: u64,
    duplicates: u64,
    beyond_window: u64,
    /// What ACKs tell beside the next number, if they tell it.
    reported: Option<Box<Reported>>,
}

impl Receiver {
    /// A receiver that waits for the SYN, or without one for the first data segment.
    ///
    /// # Errors
    /// What [`Config::validate`] refuses.
    pub fn new(config: &Config) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self {
            next: u32::from(!config.syn),
            window: config.window,
            ring: Vec::new(),
            held: 0,
            willing: config.receiver_ecn,
            ecn: !config.syn && config.ecn && config.receiver_ecn,
            echo: Echo::new(config.reaction.feedback),
            earlier: 0,
            delayer: Delayer::new(config),
            due: Time::MAX,
            delivered_bytes: 0,
            delivered_segments: 0,
            duplicates: 0,
            beyond_window: 0,
            reported: config.reaction.sack.then(Box::default),
        })
    }

    /// A receiver of a connection without its own SYN, whose two hosts are this far from one another.
    #[must_use]
    pub fn with_round_trip(mut self, round_trip: Span) -> Self {
        self.delayer.measured(round_trip);
        self
    }

    /// The segment that arrives next echoes the time stamp of an ACK sent at `stamp` (RFC 7323).
    #[inline]
    pub fn echoed(&mut self, now: Time, stamp: Time) {
        self.delayer.echoed(now, stamp);
    }

    /// A segment has arrived; the ACK to send now, or `None` while it is delayed.
    #[inline]
    pub fn on_segment(&mut self, now: Time, segment: &Received) -> Option<AckInfo> {
        let Heard { begins, at_once, apart } = self.note_ecn(segment);
        if apart && self.due != Time::MAX && !self.delayer.compresses() {
            self.earlier = self.next;
        }
        let held = self.held;
        let place = self.take_in(segment);
        let complete = place == Place::InOrder && self.next == segment.number + 1 && self.held == 0;
        let may_wait = complete && !segment.syn && !at_once && self.due == Time::MAX;
        let (missing, read) = (self.held > 0, self.delivered_bytes);
        let marked = begins;
        match self.delayer.delay(Arrival { now, segment, place, may_wait, at_once, marked, held, missing, read }) {
            Some(delay) => {
                self.due = now + delay;
                None
            }
            None => Some(self.acknowledge(segment.syn)),
        }
    }

    /// An ACK to send before the one that [`Receiver::on_segment`] has just returned: of what waited, and was marked
    /// otherwise.
    #[inline]
    pub fn take_earlier(&mut self) -> Option<AckInfo> {
        match std::mem::take(&mut self.earlier) {
            0 => None,
            next_expected => Some(AckInfo { next_expected, ece: !self.echo.ece(), ..AckInfo::default() }),
        }
    }

    /// Whether it counts its marks (AccECN).
    #[inline]
    pub fn is_accurate(&self) -> bool {
        self.echo.counts().is_some()
    }

    /// Whether its ACKs are ECN-capable.
    #[inline]
    pub fn sends_ect(&self) -> bool {
        self.ecn && self.echo.sends_ect()
    }

    /// When to call [`Receiver::on_timer`].
    pub fn timer_at(&self) -> Option<Time> {
        (self.due != Time::MAX).then_some(self.due)
    }

    /// The delayed ACK, if it is due; harmless when early.
    pub fn on_timer(&mut self, now: Time) -> Option<AckInfo> {
        if now < self.due || self.due == Time::MAX {
            return None;
        }
        self.delayer.expired(self.delivered_bytes);
        Some(self.acknowledge(false))
    }

    /// The lowest number not yet received.
    pub fn next_expected(&self) -> u32 {
        self.next
    }

    /// Bytes delivered in order, each once: the goodput.
    pub fn delivered_bytes(&self) -> u64 {
        self.delivered_bytes
    }

    /// Data segments delivered in order, each once.
    pub fn delivered_segments(&self) -> u64 {
        self.delivered_segments
    }

    /// Segments that had arrived before.
    pub fn duplicates(&self) -> u64 {
        self.duplicates
    }

    /// Segments beyond the advertised window, not kept.
    pub fn beyond_window(&self) -> u64 {
        self.beyond_window
    }

    /// The handshake, or a mark or its absence.
    #[inline]
    fn note_ecn(&mut self, segment: &Received) -> Heard {
        if segment.syn {
            self.ecn = self.willing && segment.cwr;
            self.echo.open(segment.ce);
        }
        if segment.syn || !self.ecn {
            return Heard::default();
        }
        let inside = segment.number.wrapping_sub(self.next) < self.window;
        self.echo.hear(segment, inside)
    }

    /// Delivers a segment and what it was missing for, or keeps it, or counts it.
    #[inline]
    fn take_in(&mut self, segment: &Received) -> Place {
        if segment.number != self.next {
            return self.hold(segment);
        }
        self.deliver(segment.payload);
        if self.held > 0 {
            self.drain();
        }
        Place::InOrder
    }

    #[inline]
    fn acknowledge(&mut self, syn: bool) -> AckInfo {
        self.due = Time::MAX;
        self.echo.told();
        let mut sacks = self.reported.as_mut().map_or_else(Sacks::default, |it| it.take(self.next));
        let ece = if syn { self.ecn } else { self.echo.ece() };
        let Some(counts) = self.echo.counts().filter(|_| self.ecn) else {
            return AckInfo { next_expected: self.next, ece, ace: 0, syn, sacks };
        };
        if !syn {
            sacks = sacks.with_marked_bytes(counts.bytes());
        }
        let ace = counts.ace(syn);
        AckInfo { next_expected: self.next, ece: ace & 1 > 0, ace, syn, sacks }
    }

    #[inline]
    fn deliver(&mut self, payload: u16) {
        self.next += 1;
        self.delivered_bytes += u64::from(payload);
        self.delivered_segments += u64::from(payload > 0);
    }

    fn slot(&self, number: u32) -> usize {
        number as usize & (self.ring.len() - 1)
    }

    /// Delivers what the ring holds from `next` on.
    #[inline]
    fn drain(&mut self) {
        loop {
            let slot = self.slot(self.next);
            let payload = std::mem::take(&mut self.ring[slot]);
            if payload == 0 {
                break;
            }
            self.held -= 1;
            self.deliver(payload);
        }
        if let Some(reported) = &mut self.reported {
            reported.pass(self.next);
        }
    }

    /// Keeps an out-of-order segment, or counts it.
    fn hold(&mut self, segment: &Received) -> Place {
        if segment.number < self.next {
            self.count_duplicate(segment);
            return Place::Outside;
        }
        let ahead = segment.number - self.next;
        if ahead >= self.window {
            self.beyond_window += 1;
            return Place::Outside;
        }
        self.make_room(ahead);
        let slot = self.slot(segment.number);
        match self.ring[slot] {
            0 => {
                self.ring[slot] = segment.payload;
                self.held += 1;
            }
            _ => self.count_duplicate(segment),
        }
        if let Some(reported) = &mut self.reported {
            reported.arrived(segment.number);
        }
        Place::Ahead
    }

    fn count_duplicate(&mut self, segment: &Received) {
        self.duplicates += 1;
        if let Some(reported) = &mut self.reported
            && !segment.syn
        {
            reported.duplicate(segment.number);
        }
    }

    /// Grows the ring until a segment so far ahead fits.
    fn make_room(&mut self, ahead: u32) {
        if (ahead as usize) < self.ring.len() {
            return;
        }
        let old = std::mem::take(&mut self.ring);
        self.ring = vec![0; (ahead as usize + 1).next_power_of_two().max(16)];
        for offset in 0..old.len() as u32 {
            let number = self.next + offset;
            let slot = self.slot(number);
            self.ring[slot] = old[number as usize & (old.len() - 1)];
        }
    }
}
