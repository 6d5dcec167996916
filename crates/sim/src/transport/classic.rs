//! The sending half of a connection: numbers, permission to send, the retransmission timer.
//!
//! Source: RFC 9293 (numbers), RFC 5681 (windows), RFC 6298 section 5 (managing the timer), RFC 3168 section 6.1
//! (ECN); where they leave a choice, the classic one-way TCP of ns-2.
//!
//! - What may be outstanding: min(floor(cwnd) + inflation, advertised window) segments from the first unacknowledged one.
//! - First or second duplicate ACK: one new segment within floor(cwnd) + duplicates (RFC 3042
//!   section 2), or none without limited transmit.
//! - Time-out: go back to the first unacknowledged segment and continue from there in slow start, retransmissions
//!   included.
//! - One segment at a time is timed; a loss signal or a time-out stops the measurement (RFC 6298 section 3).
//! - The timer restarts at every ACK of new data (NewReno: see `recovery.rs`), at a loss signal, and when a
//!   segment goes out while nothing is outstanding. It expires on an idle connection too, which then
//!   restarts from a window of 1 (RFC 5681 section 4.1; ns-2 `slow_start_restart_`).
//! - ECN: an ECN-setup SYN (ECE and CWR) asks, an ECN-setup SYN-ACK (ECE) agrees; without it, nothing is ECN-capable. Without
//!   a SYN the ends' settings decide. SYN and repeats are never ECN-capable (RFC 3168 sections 6.1.1 and 6.1.5), unless
//!   `ecn_retransmissions` asks for what ns-2 does: there `ecn_` alone makes a packet ECN-capable (ns-2.35, `tcp/tcp.cc` line 691).
//! - ECN echo: the window is cut once per window of data. At cwnd = 1 it becomes 1/2: nothing is sent until the
//!   timer expires; each further echo there in a row doubles the time-out.
//! - A SYN lost: the initial window is 1 (RFC 5681 section 3.1).
//!
//! | symbol                   | field    | unit   | ns-2              |
//! |--------------------------|----------|--------|-------------------|
//! | SND.UNA                  | `una`    | number | `highest_ack_` + 1|
//! | next to send             | `next`   | number | `t_seqno_`        |
//! | SND.NXT (highest sent +1)| `sent`   | number | `maxseq_` + 1     |
//! | end of supply            | `end`    | number | `curseq_`         |
//!
//! Deviations from RFC 9293: numbers count segments; no FIN, no Nagle, no zero-window probes (the advertised window
//! is constant). From RFC 5681: restart window 1, not min(initial window, cwnd); a lost SYN lowers ssthresh to 2, as in ns-2.
//! From ns-2: without `ecn_retransmissions` a repeated segment is not ECN-capable and carries no CWR (RFC 3168 sections 6.1.5
//! and 6.1.2); with it a repeat carries CWR, as in ns-2 from June 2008 on (`SetCWRonRetransmit_`); an ECN echo
//! halves min(cwnd, advertised window) without the inflation of a recovery that is ending, and is ignored within the
//! window of a time-out; ACKs that repeat the last one while nothing is outstanding are not counted as duplicates.
//!
//! Decision: docs/decisions/037-tcp-is-compared-with-ns2.md

use super::config::Config;
use super::congestion::{CongestionControl, Law, Signal, Window};
use super::counters::Counters;
use super::error::ConfigError;
use super::recovery::{Duplicate, Episode, NewAck};
use super::rto::RtoEstimator;
use super::supply::Extent;
use super::{AckInfo, Segment};
use perhop_core::units::{Span, Time};

/// No number.
const NONE: u32 = u32::MAX;
/// The SYN's number.
const SYN: u32 = 0;

/// Which segments are ECN-capable; both answers in a byte, as a sender must stay small.
#[derive(Clone, Copy, Debug)]
struct Ecn(u8);

impl Ecn {
    const AGREED: u8 = 1;
    const REPEATS: u8 = 2;

    fn new(agreed: bool, repeats: bool) -> Self {
        let mut ecn = Self(if repeats { Self::REPEATS } else { 0 });
        ecn.agree(agreed);
        ecn
    }

    /// Both ends agree to it, or not.
    fn agree(&mut self, agreed: bool) {
        self.0 = self.0 & Self::REPEATS | u8::from(agreed);
    }

    fn is_agreed(self) -> bool {
        self.0 & Self::AGREED != 0
    }

    /// Whether data is ECN-capable, when it is sent first or as a repeat.
    fn covers(self, repeat: bool) -> bool {
        self.is_agreed() && (!repeat || self.0 & Self::REPEATS != 0)
    }
}

/// One connection's sender.
#[derive(Clone, Debug)]
pub struct Classic {
    una: u32,
    next: u32,
    sent: u32,
    end: u32,
    /// New segments may go up to below this number ...
    limit: u32,
    /// ... and this many of them.
    burst: u32,
    /// The number timed, or `NONE`.
    timed: u32,
    /// Least round trip sampled, us, or `NONE`.
    least_us: u32,
    advertised: u32,
    initial_window: u32,
    /// Bytes of the last segment.
    last_payload: u16,
    mss: u16,
    offered: bool,
    /// The first unacknowledged segment is to be repeated.
    repeat: bool,
    ecn: Ecn,
    /// The next new segment carries CWR; of a SYN: it asks for ECN.
    cwr: bool,
    law: Law,
    episode: Episode,
    window: Window,
    timed_at: Time,
    /// Expiry of the timer; `Time::MAX` when it is off.
    deadline: Time,
    rto: RtoEstimator,
    counters: Counters,
}

impl Classic {
    /// A closed connection; nothing is sent before [`Sender::start`].
    ///
    /// # Errors
    /// Parameters that the law refuses.
    pub(super) fn new(config: &Config, extent: Extent) -> Result<Self, ConfigError> {
        let Extent { end, short, short_payload, offered } = extent;
        let first = if config.syn { SYN } else { SYN + 1 };
        let cwnd = if config.syn { 1.0 } else { f64::from(config.initial_window) };
        Ok(Self {
            una: first,
            next: first,
            sent: first,
            end,
            limit: 0,
            burst: 0,
            timed: NONE,
            least_us: NONE,
            advertised: config.window,
            initial_window: config.initial_window,
            last_payload: if short == NONE { config.mss } else { short_payload },
            mss: config.mss,
            ecn: Ecn::new(!config.syn && config.ecn && config.receiver_ecn, config.reaction.ecn_retransmissions),
            offered,
            repeat: false,
            cwr: config.syn && config.ecn,
            law: config.law()?,
            episode: Episode::new(config.recovery, config.limited_transmit),
            window: Window { cwnd, ssthresh: f64::from(config.window) },
            timed_at: Time::ZERO,
            deadline: Time::MAX,
            rto: RtoEstimator::new(config.rto, Span::ZERO),
            counters: Counters::default(),
        })
    }

    /// Sets the phase of the host's clock within its tick at time zero (ns-2 `boot_time_`, drawn per connection). Round
    /// trips are counted in ticks passed, so connections of equal phase would make the same errors.
    pub fn with_clock_phase(mut self, phase: Span) -> Self {
        self.rto.set_phase(phase);
        self
    }

    /// With the clock and the round trip that the connection's handshake has measured.
    pub fn with_estimate(mut self, estimate: RtoEstimator) -> Self {
        self.rto = estimate;
        self.rto.end_back_off();
        self
    }

    /// Its clock and its estimate of the round trip.
    pub fn estimate(&self) -> RtoEstimator {
        self.rto
    }

    /// Opens the connection: the SYN, or the initial window, may now be taken.
    pub fn start(&mut self) {
        self.release(u32::MAX);
    }

    /// The application has `segments` more full segments to send.
    ///
    /// # Panics
    /// Unless the supply is [`Supply::Offered`], or beyond 2^32 - 2 segments in all: the host's mistake.
    pub fn offer(&mut self, segments: u32) {
        assert!(self.offered, "tcp: offer() on a connection whose supply is not Supply::Offered");
        assert!(segments < NONE - self.end, "tcp: more than 2^32 - 2 segments offered");
        self.end += segments;
        if self.limit > 0 {
            self.release(u32::MAX);
        }
    }

    /// The application has nothing more: an unlimited supply ends with what was sent so far. What was offered is sent.
    pub fn close(&mut self) {
        if self.end == NONE {
            self.end = self.sent.max(SYN + 1);
            self.limit = self.limit.min(self.end);
        }
    }

    /// An ACK has arrived.
    ///
    /// # Panics
    /// When it acknowledges what was never sent: ACKs of two connections are mixed up.
    #[inline]
    pub fn on_ack(&mut self, now: Time, ack: AckInfo) {
        let (expects, sent) = (ack.next_expected, self.sent);
        assert!(expects <= sent, "tcp: ACK expects {expects} but the highest number sent is {}", sent.wrapping_sub(1));
        if ack.syn {
            self.ecn.agree(std::mem::take(&mut self.cwr) && ack.ece);
        }
        let echo = ack.ece && self.ecn.is_agreed() && !ack.syn;
        if echo {
            self.on_echo(now, ack.next_expected);
        }
        if ack.next_expected > self.una {
            match self.episode.on_new_ack(ack.next_expected) {
                NewAck::Full => self.on_full_ack(now, ack.next_expected, echo),
                NewAck::Partial { restart_timer } => self.on_partial_ack(now, ack.next_expected, restart_timer),
            }
        } else if ack.next_expected == self.una && self.sent > self.una {
            self.on_duplicate(now);
        }
    }

    /// The next segment to put on the wire; call until `None` after every other call that takes a time or an offer.
    // Called for every ACK, from one place.
    #[inline(always)]
    pub fn next_segment(&mut self, now: Time) -> Option<Segment> {
        if self.repeat {
            self.repeat = false;
            return Some(self.send(now, self.una));
        }
        if self.burst == 0 || self.next >= self.limit {
            return None;
        }
        self.burst -= 1;
        let number = self.next;
        self.next += 1;
        Some(self.send(now, number))
    }

    /// When to call [`Sender::on_timer`]. Most calls move it later, so a host may keep one pending wake-up and re-arm
    /// it on expiry; but the first round-trip sample and the end of a back-off move it earlier: then wake earlier.
    pub fn timer_at(&self) -> Option<Time> {
        (self.deadline != Time::MAX).then_some(self.deadline)
    }

    /// The timer may have expired; harmless when early.
    pub fn on_timer(&mut self, now: Time) {
        if now < self.deadline {
            return;
        }
        self.deadline = Time::MAX;
        let cut_already = self.episode.on_timeout(self.sent);
        if self.una < self.sent {
            self.time_out(now, cut_already);
        } else {
            self.window.cwnd = 1.0;
        }
        self.next = self.una;
        self.timed = NONE;
        self.release(u32::MAX);
    }

    /// Everything supplied so far has been acknowledged (for [`Supply::Offered`]: everything offered so far).
    pub fn finished(&self) -> bool {
        self.una >= self.end
    }

    /// Congestion window, segments, without the inflation of fast recovery.
    pub fn cwnd(&self) -> f64 {
        self.window.cwnd
    }

    /// Slow-start threshold, segments.
    pub fn ssthresh(&self) -> f64 {
        self.window.ssthresh
    }

    /// Smoothed round trip; `None` without an estimate.
    pub fn srtt(&self) -> Option<Span> {
        self.rto.srtt()
    }

    /// Least round trip so far, in whole microseconds; `None` before the first sample.
    pub fn min_rtt(&self) -> Option<Span> {
        (self.least_us != NONE).then(|| Span::from_us(self.least_us.into()))
    }

    /// Retransmission time-out, back-off included.
    pub fn rto(&self) -> Span {
        self.rto.rto()
    }

    /// Segments sent and not acknowledged, the SYN included; after a time-out, counted up to the highest sent.
    pub fn in_flight(&self) -> u32 {
        self.sent - self.una
    }

    /// The lowest number not acknowledged.
    pub fn first_unacknowledged(&self) -> u32 {
        self.una
    }

    /// In fast recovery.
    pub fn recovering(&self) -> bool {
        self.episode.recovering()
    }

    /// What has been done so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    #[inline]
    fn signal(&self, now: Time, acked: u32, sample: Option<Span>) -> Signal {
        let (una, next) = (self.una, self.sent);
        let (usable, srtt, min_rtt) = (self.usable(), self.rto.srtt(), self.min_rtt());
        Signal { now, acked, marked: 0, usable, srtt, min_rtt, sample, una, next, paced: false }
    }

    fn usable(&self) -> f64 {
        self.window.cwnd.min(f64::from(self.advertised))
    }

    /// Opens the window from `una` for at most `burst` new segments.
    #[inline]
    fn release(&mut self, burst: u32) {
        self.release_beyond(burst, self.episode.inflation());
    }

    /// As `release`, with `extra` segments beyond cwnd.
    #[inline]
    fn release_beyond(&mut self, burst: u32, extra: u32) {
        let window = (self.window.cwnd as u32).saturating_add(extra).min(self.advertised);
        self.limit = self.end.min(self.una.saturating_add(window));
        self.burst = burst;
    }

    fn arm(&mut self, now: Time) {
        self.deadline = now + self.rto.rto();
    }

    #[inline]
    fn send(&mut self, now: Time, number: u32) -> Segment {
        if self.una == self.sent || self.deadline == Time::MAX {
            self.arm(now);
        }
        let retransmission = number < self.sent;
        self.counters.segments += 1;
        if retransmission {
            self.counters.retransmitted += 1;
        } else {
            self.sent = number + 1;
            if self.timed == NONE {
                (self.timed, self.timed_at) = (number, now);
            }
        }
        let data = number != SYN;
        let ect = data && self.ecn.covers(retransmission);
        let cwr = if data { ect && std::mem::take(&mut self.cwr) } else { self.cwr };
        Segment {
            number,
            payload: self.payload(number),
            syn: !data,
            retransmission,
            ect,
            cwr,
            push: false,
            more: false,
        }
    }

    #[inline]
    fn payload(&self, number: u32) -> u16 {
        match number {
            SYN => 0,
            _ if number + 1 == self.end => self.last_payload,
            _ => self.mss,
        }
    }

    #[inline]
    fn on_full_ack(&mut self, now: Time, next_expected: u32, echo: bool) {
        let acked = next_expected - self.una;
        let opened = self.una == SYN;
        self.advance(next_expected);
        let timed = self.timed != NONE && next_expected > self.timed;
        if timed {
            self.timed = NONE;
            self.rto.end_back_off_unless(echo);
            self.rto.sample(self.timed_at, now);
            self.least_us = self.least_us.min((now.since(self.timed_at).ns() / 1000).min(NONE.into()) as u32);
        }
        if opened {
            self.open();
        } else if !echo {
            self.rto.echoed(false);
            let signal = self.signal(now, acked, timed.then(|| now.since(self.timed_at)));
            self.law.on_ack(&signal, &mut self.window);
        }
        self.restart_timer(now);
        self.release(u32::MAX);
    }

    fn open(&mut self) {
        let lost = self.counters.retransmitted > 0;
        self.window.cwnd = if lost { 1.0 } else { f64::from(self.initial_window) };
        if lost {
            self.rto.after_lost_syn();
        }
    }

    /// A complete fixed-size transfer needs no timer; an idle connection's expires once, to restart it.
    #[inline]
    fn restart_timer(&mut self, now: Time) {
        match self.finished() && !self.offered {
            true => self.deadline = Time::MAX,
            false => self.arm(now),
        }
    }

    #[inline]
    fn advance(&mut self, next_expected: u32) {
        self.una = next_expected;
        self.next = self.next.max(next_expected);
    }

    fn on_partial_ack(&mut self, now: Time, next_expected: u32, restart_timer: bool) {
        if restart_timer {
            self.arm(now);
        }
        self.episode.deflate(next_expected - self.una, &mut self.window);
        self.advance(next_expected);
        if self.timed != NONE && next_expected > self.timed {
            self.timed = NONE;
            self.rto.end_back_off();
        }
        self.repeat = true;
        self.release(self.episode.burst());
    }

    fn on_duplicate(&mut self, now: Time) {
        match self.episode.on_duplicate(self.una, self.sent) {
            Duplicate::Early { limited_transmit: true } => return self.release_beyond(1, self.episode.duplicates()),
            Duplicate::Early { limited_transmit: false } => return self.release(0),
            Duplicate::Loss => {
                self.cut(now, Law::on_loss);
                self.counters.fast_retransmits += 1;
                self.repeat_first(now);
            }
            Duplicate::LossAfterEcho => {
                self.counters.fast_retransmits += 1;
                self.repeat_first(now);
            }
            Duplicate::Late => {}
        }
        self.release(self.episode.burst());
    }

    fn repeat_first(&mut self, now: Time) {
        self.arm(now);
        self.timed = NONE;
        self.repeat = true;
    }

    fn on_echo(&mut self, now: Time, next_expected: u32) {
        if !self.episode.on_echo(next_expected, self.sent) {
            return;
        }
        let at_one = self.window.cwnd <= 1.0;
        self.rto.echoed(at_one);
        if at_one {
            self.arm(now);
        }
        self.cut(now, Law::on_ecn);
        self.counters.echo_cuts += 1;
    }

    /// Lets the law cut the window, and owes the receiver a CWR.
    fn cut(&mut self, now: Time, how: fn(&mut Law, &Signal, &mut Window)) {
        let signal = self.signal(now, 0, None);
        how(&mut self.law, &signal, &mut self.window);
        self.counters.cuts += 1;
        self.cwr |= self.ecn.is_agreed();
    }

    fn time_out(&mut self, now: Time, cut_already: bool) {
        self.counters.timeouts += 1;
        if cut_already {
            self.window.cwnd = 1.0;
            self.counters.cuts += 1;
            self.cwr |= self.ecn.is_agreed();
        } else {
            self.cut(now, Law::on_timeout);
        }
        self.rto.back_off();
        self.arm(now);
    }
}
