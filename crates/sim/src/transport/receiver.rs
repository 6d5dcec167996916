//! The receiving half of a connection: reassembly, cumulative ACKs, delayed ACKs, ECN echo.
//!
//! Source: RFC 5681 section 4.2 (generating ACKs), RFC 3168 sections 6.1.1 and 6.1.3 (negotiation, echo), ns-2's `Agent/TCPSink`
//! and `Agent/TCPSink/DelAck` with `RFC2581_immediate_ack_` and `SYN_immediate_ack_` true (defaults of 2.35).
//!
//! - Every segment is acknowledged at once with the next number expected. With delayed ACKs a segment that arrives
//!   in order with none missing behind it may wait: for the next segment, whatever that is, or for the timer. Which one
//!   does, and how long, `ack_delay` says.
//! - Out of order, duplicate, filling a hole, or a SYN: acknowledged at once, with what was waiting.
//! - ECN-setup SYN (ECE and CWR): answered by an ECN-setup SYN-ACK (ECE alone) if the receiver is willing (section
//!   6.1.1).
//! - With ECN agreed, each ACK carries ECE from the first marked segment until one with CWR; a mark since the last ACK
//!   survives a CWR. Other ways to tell of marks are in `echo.rs`; there a segment may lead to two ACKs.
//! - With SACK each ACK carries what is held out of order and what has arrived twice (`reported.rs`).
//! - What is out of order is held (`held.rs`).
//!
//! | symbol      | field       | unit   | default                |
//! |-------------|-------------|--------|------------------------|
//! | RCV.NXT     | `next`      | number | 0, or 1 without a SYN  |
//! | ACK delay   | `delayer`   | time   | none; ns-2 100 ms      |
//! | ECN agreed  | `ecn`       | -      | off until the SYN      |
//!
//! - Each ACK echoes the time stamp of the latest segment that began at or before what the last ACK expected, and did not end
//!   below it (RFC 7323 sections 4.3 and 5.3).
//!
//! Deviations: the advertised window is constant, except with Linux's delayed ACKs, where it is what the receive buffer has room
//! for (`receive_buffer.rs`); the application reads at once. A segment beyond `window` is counted in `beyond_window` and
//! acknowledged, but not kept; a sender with the same configuration never sends one.
//!
//! Decision: docs/decisions/046-feedback-of-marks.md

use super::ack_delay::{Answer, Arrival, Delayer, Place, Reached};
use super::config::Config;
use super::echo::{Echo, Heard};
use super::error::ConfigError;
use super::held::{Held, Passed};
use super::reported::Reported;
use super::{AckInfo, Received, Sacks};
use perhop_core::units::{Span, Time};

/// One connection's receiver.
#[derive(Clone, Debug)]
pub struct Receiver {
    next: u32,
    window: u32,
    /// What the last ACK expected, and the time stamp that it echoed or the next one will.
    answered: u32,
    stamp: u32,
    held: Held,
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
    duplicates: u32,
    beyond_window: u32,
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
            answered: u32::from(!config.syn),
            stamp: 0,
            held: Held::default(),
            willing: config.receiver_ecn,
            ecn: !config.syn && config.ecn && config.receiver_ecn,
            echo: Echo::new(config.reaction.feedback),
            earlier: 0,
            delayer: Delayer::new(config),
            due: Time::MAX,
            delivered_bytes: 0,
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

    /// The segment that arrives next echoes the time stamp of an ACK (RFC 7323), [`super::stamp`]; 0: of none.
    #[inline]
    pub fn echoed(&mut self, now: Time, stamp: u32) {
        self.delayer.echoed(now, stamp);
    }

    /// A segment has arrived; the ACK to send now, or `None` while it is delayed. The ACK that ends the handshake has none.
    #[inline]
    pub fn on_segment(&mut self, now: Time, segment: &Received) -> Option<AckInfo> {
        if segment.payload == 0 && !segment.syn {
            self.delayer.opened(now);
            return None;
        }
        let Heard { begins, at_once, apart } = self.note_ecn(segment);
        if apart && self.due != Time::MAX && !self.delayer.compresses() {
            self.earlier = self.next;
        }
        if segment.number <= self.answered && !self.is_old(segment.number) {
            self.stamp = self.stamp.max(segment.stamp);
        }
        if self.delayer.compresses()
            && let Some(ack) = self.on_timer(now)
        {
            self.send_before(ack);
        }
        let before = self.held.kept();
        let (place, told) = self.take_in(segment);
        let after = self.held.kept();
        let complete = place.is_in_order() && self.next == segment.number + 1 && after.segments == 0;
        let waits = self.due != Time::MAX;
        let may_wait = complete && !segment.syn && !at_once && !waits;
        let (reached, marked) = (self.reached(), begins);
        let arrival = Arrival { now, segment, place, waits, may_wait, at_once, marked, before, after, told, reached };
        match self.delayer.answer(arrival) {
            Answer::Now | Answer::Read => Some(self.acknowledge(segment.syn)),
            Answer::After(delay) => {
                self.due = now + delay;
                None
            }
            Answer::Later => None,
        }
    }

    /// Whether there is one to take with [`Receiver::take_earlier`].
    #[inline]
    pub fn has_earlier(&self) -> bool {
        self.earlier != 0 || self.reported.as_ref().is_some_and(|it| it.before.is_some())
    }

    /// An ACK to send before the one that [`Receiver::on_segment`] has just returned: of what waited, and was marked
    /// otherwise or reports other blocks.
    pub fn take_earlier(&mut self) -> Option<AckInfo> {
        match std::mem::take(&mut self.earlier) {
            0 => self.reported.as_mut()?.before.take(),
            next_expected => {
                Some(AckInfo { next_expected, ece: !self.echo.ece(), echo: self.stamp, ..AckInfo::default() })
            }
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
        let stamp = self.delayer.stamp();
        self.delayer.expired(self.reached());
        Some(AckInfo { stamp, ..self.acknowledge(false) })
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
        self.next.saturating_sub(1).into()
    }

    /// Segments that had arrived before.
    pub fn duplicates(&self) -> u64 {
        self.duplicates.into()
    }

    /// Segments beyond the advertised window, not kept.
    pub fn beyond_window(&self) -> u64 {
        self.beyond_window.into()
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

    /// Delivers a segment and what it was missing for, or keeps it, or counts it; whether an ACK that waited goes before it.
    #[inline]
    fn take_in(&mut self, segment: &Received) -> (Place, bool) {
        if segment.number != self.next {
            return self.hold(segment);
        }
        self.deliver(segment.payload);
        let first = if self.held.kept().segments > 0 { self.drain() } else { 1 };
        (Place::InOrder { first }, false)
    }

    #[inline]
    fn acknowledge(&mut self, syn: bool) -> AckInfo {
        self.due = Time::MAX;
        self.echo.told();
        self.answered = self.next;
        let (echo, window) = (self.stamp, self.delayer.window());
        let mut sacks = self.reported.as_mut().map_or_else(Sacks::default, |it| it.take(self.next));
        let ece = if syn { self.ecn } else { self.echo.ece() };
        let Some(counts) = self.echo.counts().filter(|_| self.ecn) else {
            return AckInfo { next_expected: self.next, ece, ace: 0, syn, sacks, echo, stamp: 0, window };
        };
        if !syn {
            sacks = sacks.with_marked_bytes(counts.bytes());
        }
        let ace = counts.ace(syn);
        AckInfo { next_expected: self.next, ece: ace & 1 > 0, ace, syn, sacks, echo, stamp: 0, window }
    }

    #[inline]
    fn deliver(&mut self, payload: u16) {
        self.next += 1;
        self.delivered_bytes += u64::from(payload);
    }

    #[inline]
    fn reached(&self) -> Reached {
        Reached { next: self.next, bytes: self.delivered_bytes }
    }

    /// It ends below what the last ACK expected, and is not acceptable (RFC 9293 section 3.10.7.4).
    #[inline]
    fn is_old(&self, number: u32) -> bool {
        number + 1 < self.answered
    }

    /// Delivers what was missing `next` only; segments that are read first.
    #[inline]
    fn drain(&mut self) -> u32 {
        let mut passed = Passed::ONE;
        while let Some(payload) = self.held.take(self.next, &mut passed) {
            self.deliver(payload);
        }
        if let Some(reported) = &mut self.reported {
            reported.pass(self.next);
        }
        passed.first
    }

    /// Keeps an out-of-order segment, or counts it.
    fn hold(&mut self, segment: &Received) -> (Place, bool) {
        if segment.number < self.next {
            self.count_duplicate(segment);
            return (if self.is_old(segment.number) { Place::Old } else { Place::Outside }, false);
        }
        let ahead = segment.number - self.next;
        if ahead >= self.window {
            self.beyond_window += 1;
            return (Place::Outside, false);
        }
        if !self.held.keep(self.next, segment.number, segment.payload) {
            self.count_duplicate(segment);
        }
        (Place::Ahead, self.report(segment.number))
    }

    /// Notes a segment for the next ACK. If ACKs wait to be sent as one, and this one's block would be beyond those that every
    /// ACK has room for, what waits goes first: whether it does.
    fn report(&mut self, number: u32) -> bool {
        let crowds = self.delayer.compresses() && self.reported.as_ref().is_some_and(|it| it.crowds(number));
        if crowds {
            self.delayer.sent_early(self.reached());
            let ack = self.acknowledge(false);
            self.send_before(ack);
        }
        if let Some(reported) = &mut self.reported {
            reported.arrived(number);
        }
        crowds
    }

    fn send_before(&mut self, ack: AckInfo) {
        if let Some(reported) = &mut self.reported {
            reported.before = Some(ack);
        }
    }

    fn count_duplicate(&mut self, segment: &Received) {
        self.duplicates += 1;
        if let Some(reported) = &mut self.reported
            && !segment.syn
        {
            reported.duplicate(segment.number);
        }
    }
}
