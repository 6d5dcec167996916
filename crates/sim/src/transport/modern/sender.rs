//! The sending half of a connection as hosts of today have it: SACK, RACK-TLP, PRR, F-RTO.
//!
//! Source: RFC 6675 (SACK), RFC 8985 (RACK-TLP), RFC 9937 (PRR), RFC 5682 (F-RTO), RFC 9406's forerunner in the law; where they
//! leave a choice, Linux 6.12.
//!
//! - A segment is lost when RACK says so, or at a time-out; what is lost goes first.
//! - **PRR**: in recovery the window follows what is delivered, down to the threshold that the law has set.
//! - **TLP**: two round trips after the last transmission, with nothing heard, a new segment or the last one is sent.
//! - **F-RTO**: after a time-out new segments are sent first; if those before it turn out to have arrived, it was spurious.
//! - The window grows only while it is what holds the sender back (RFC 7661's aim).
//! - After an idle time-out the window is halved for each further one, down to the initial window.
//!
//! | state       | meaning                                                          | Linux         |
//! |-------------|------------------------------------------------------------------|---------------|
//! | `Open`      | nothing unusual                                                  | `TCP_CA_Open` |
//! | `Disorder`  | something is out of order                                        | `TCP_CA_Disorder` |
//! | `Reduction` | an ECN echo: the window shrinks                                  | `TCP_CA_CWR`  |
//! | `Recovery`  | fast recovery                                                    | `TCP_CA_Recovery` |
//! | `Loss`      | after a time-out                                                 | `TCP_CA_Loss` |
//!
//! Deviations from Linux: no undo by time stamps, only by D-SACK and F-RTO; no forward acknowledgements of a middlebox's
//! reneging; the receiver's window is constant.

use super::rack::{Conditions, Rack};
use super::rtt::Rtt;
use super::scoreboard::Scoreboard;
use crate::transport::congestion::{CongestionControl, Law, Signal, Window};
use crate::transport::error::ConfigError;
use crate::transport::sender::Extent;
use crate::transport::{Config, Counters, Segment};
use perhop_core::units::{Span, Time};

/// Two ticks of Linux's clock: no timer of a probe or of RACK is shorter.
pub(super) const TIMER_FLOOR: Span = Span::from_ms(2);
pub(super) const UNLIMITED: f64 = u32::MAX as f64;
pub(super) const SYN: u32 = 0;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum State {
    Open,
    Disorder,
    Reduction,
    Recovery,
    Loss,
}

/// What the timer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timer {
    Off,
    Retransmission,
    Probe,
    Reordering,
}

/// The window's way down (RFC 9937), in segments.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reduction {
    /// RecoverFS.
    pub(super) from: u32,
    pub(super) delivered: u32,
    pub(super) out: u32,
}

/// To go back to if the loss was none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Undo {
    /// SND.UNA when the episode began; 0: nothing to undo.
    pub(super) marker: u32,
    /// Repeats that no D-SACK has called needless yet.
    pub(super) repeats: Option<u32>,
    pub(super) cwnd: f64,
    pub(super) ssthresh: f64,
}

/// What an ACK has said.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct News {
    pub(super) acked: u32,
    pub(super) sacked: u32,
    /// Of a segment sent once: the round trip of the first, that of the last.
    pub(super) rtt: Option<(Span, Span)>,
    /// A segment sent once and before the time-out has arrived.
    pub(super) original: bool,
    /// The lowest number that arrived behind a later one.
    pub(super) behind: Option<u32>,
    pub(super) prior_delivered: u64,
    pub(super) dsack: bool,
    pub(super) echo: bool,
}

/// One connection's sender.
#[derive(Clone, Debug)]
pub struct Modern {
    pub(super) board: Scoreboard,
    pub(super) end: u32,
    pub(super) short: u32,
    pub(super) short_payload: u16,
    pub(super) mss: u16,
    pub(super) advertised: u32,
    pub(super) initial_window: u32,
    pub(super) willing: bool,
    pub(super) ecn: bool,
    pub(super) started: bool,
    pub(super) offered: bool,
    pub(super) cwr: bool,
    pub(super) law: Law,
    pub(super) window: Window,
    pub(super) state: State,
    /// One past the highest number sent when the state was entered.
    pub(super) high: u32,
    pub(super) reduction: Reduction,
    pub(super) undo: Undo,
    pub(super) rack: Rack,
    pub(super) rtt: Rtt,
    pub(super) delivered: u64,
    pub(super) timer: Timer,
    pub(super) deadline: Time,
    /// When the last segment was sent.
    pub(super) last_sent: Time,
    /// A probe is out: SND.NXT when it was sent.
    pub(super) probe: Option<u32>,
    pub(super) probe_repeats: bool,
    pub(super) probe_due: bool,
    /// F-RTO is at work.
    pub(super) frto: bool,
    /// New segments go before lost ones, until the next ACK.
    pub(super) new_first: bool,
    pub(super) limited: bool,
    pub(super) most_out: u32,
    pub(super) usage_until: u32,
    pub(super) sent_since: bool,
    pub(super) opened_late: bool,
    pub(super) counters: Counters,
}

impl Modern {
    /// A closed connection; nothing is sent before [`crate::transport::Sender::start`].
    ///
    /// # Errors
    /// Parameters that the law refuses.
    pub(in crate::transport) fn new(config: &Config, extent: Extent) -> Result<Self, ConfigError> {
        let first = if config.syn { SYN } else { SYN + 1 };
        let cwnd = if config.syn { 1.0 } else { f64::from(config.initial_window) };
        Ok(Self {
            board: Scoreboard::new(first),
            end: extent.end,
            short: extent.short,
            short_payload: extent.short_payload,
            mss: config.mss,
            advertised: config.window,
            initial_window: config.initial_window,
            willing: config.ecn,
            ecn: !config.syn && config.ecn && config.receiver_ecn,
            started: false,
            offered: extent.offered,
            cwr: false,
            law: config.law()?,
            window: Window { cwnd, ssthresh: UNLIMITED },
            state: State::Open,
            high: first,
            reduction: Reduction::default(),
            undo: Undo::default(),
            rack: Rack::new(),
            rtt: Rtt::new(config.rto),
            delivered: 0,
            timer: Timer::Off,
            deadline: Time::MAX,
            last_sent: Time::ZERO,
            probe: None,
            probe_repeats: false,
            probe_due: false,
            frto: false,
            new_first: false,
            limited: false,
            most_out: 0,
            usage_until: first,
            sent_since: false,
            opened_late: false,
            counters: Counters::default(),
        })
    }

    /// See [`crate::transport::Sender::start`].
    pub(in crate::transport) fn start(&mut self) {
        self.started = true;
    }

    /// See [`crate::transport::Sender::offer`].
    pub(in crate::transport) fn offer(&mut self, segments: u32) {
        assert!(self.offered, "tcp: offer() on a connection whose supply is not Supply::Offered");
        assert!(segments < u32::MAX - self.end, "tcp: more than 2^32 - 2 segments offered");
        self.end += segments;
    }

    /// See [`crate::transport::Sender::close`].
    pub(in crate::transport) fn close(&mut self) {
        if self.end == u32::MAX {
            self.end = self.board.next().max(SYN + 1);
        }
    }

    /// The next segment to put on the wire.
    pub(in crate::transport) fn next_segment(&mut self, now: Time) -> Option<Segment> {
        if !self.started {
            return None;
        }
        let segment = self.due(now);
        match segment {
            Some(_) => self.sent_since = true,
            None => self.settle(now),
        }
        segment
    }

    fn due(&mut self, now: Time) -> Option<Segment> {
        if std::mem::take(&mut self.probe_due) {
            return self.send_probe(now);
        }
        let room = self.room();
        if room > 0
            && !self.new_first
            && let Some(number) = self.board.first_lost()
        {
            return Some(self.send_again(now, number));
        }
        (room > 0 && self.has_new()).then(|| self.send_new(now))
    }

    /// Segments that the window still allows.
    fn room(&self) -> u32 {
        (self.window.cwnd as u32).saturating_sub(self.board.in_flight())
    }

    /// Whether there is something new that the receiver has room for.
    pub(super) fn has_new(&self) -> bool {
        let next = self.board.next();
        let opening = self.board.una() == SYN;
        next < self.end && next - self.board.una() < self.advertised && !(opening && next > SYN)
    }

    /// Nothing more goes now: was it the window that held it back, and when is a probe due?
    fn settle(&mut self, now: Time) {
        let limited = self.room() == 0;
        let sent = std::mem::take(&mut self.sent_since);
        if sent || limited {
            self.note_usage(limited);
        }
        if sent && self.timer != Timer::Reordering {
            self.arm_probe(now, false);
        }
    }

    fn note_usage(&mut self, limited: bool) {
        let (una, out) = (self.board.una(), self.board.outstanding());
        if una >= self.usage_until || limited || !self.limited && out > self.most_out {
            (self.limited, self.most_out, self.usage_until) = (limited, out, self.board.next());
        }
    }

    /// Whether the window is what holds the sender back; in slow start, half of it may be used.
    pub(super) fn is_limited(&self) -> bool {
        self.limited || self.window.cwnd < self.window.ssthresh && self.window.cwnd < 2.0 * f64::from(self.most_out)
    }

    fn send_new(&mut self, now: Time) -> Segment {
        self.after_idle(now);
        let idle = self.board.outstanding() == 0;
        let number = self.board.send(now, self.delivered);
        if idle || self.timer == Timer::Probe {
            self.arm_retransmission(now);
        }
        self.segment(now, number, false)
    }

    fn send_again(&mut self, now: Time, number: u32) -> Segment {
        self.board.send_again(number, now, self.delivered);
        if let Some(repeats) = &mut self.undo.repeats {
            *repeats += 1;
        }
        if number == self.board.una() && self.timer != Timer::Reordering {
            self.arm(now, Timer::Retransmission, self.rtt.rto());
        }
        self.counters.retransmitted += 1;
        self.segment(now, number, true)
    }

    fn segment(&mut self, now: Time, number: u32, again: bool) -> Segment {
        self.last_sent = now;
        self.counters.segments += 1;
        if matches!(self.state, State::Reduction | State::Recovery) {
            self.reduction.out += 1;
        }
        let data = number != SYN;
        let ect = self.ecn && data && !again;
        let cwr = if data { ect && std::mem::take(&mut self.cwr) } else { self.willing };
        let payload = match number {
            SYN => 0,
            _ if number == self.short => self.short_payload,
            _ => self.mss,
        };
        Segment { number, payload, syn: !data, retransmission: again, ect, cwr }
    }

    /// A window that was not used for a time-out is no longer known to fit.
    fn after_idle(&mut self, now: Time) {
        let idle = now.since(self.last_sent);
        if self.board.outstanding() > 0 || self.last_sent == Time::ZERO || idle <= self.rtt.rto() {
            return;
        }
        let (least, timeouts) = (f64::from(self.initial_window).min(self.window.cwnd), idle.ns() / self.rtt.rto().ns());
        self.window.ssthresh = self.window.ssthresh.max((self.window.cwnd * 0.75).floor());
        self.window.cwnd = (self.window.cwnd / 2f64.powi(timeouts.min(32) as i32)).floor().max(least);
        self.limited = false;
    }

    /// Tail loss probe: a new segment, or the last one again.
    fn send_probe(&mut self, now: Time) -> Option<Segment> {
        self.probe = Some(self.board.next());
        let segment = if self.has_new() {
            self.probe_repeats = false;
            self.send_new(now)
        } else {
            let last = self.board.next() - 1;
            if self.board.get(last).sacked {
                self.probe = None;
                self.arm(now, Timer::Retransmission, self.left(now));
                return None;
            }
            self.probe_repeats = true;
            self.board.send_again(last, now, self.delivered);
            self.counters.retransmitted += 1;
            self.segment(now, last, true)
        };
        self.probe = Some(self.board.next());
        self.arm(now, Timer::Retransmission, self.rtt.rto());
        self.sent_since = false;
        Some(segment)
    }

    pub(super) fn arm(&mut self, now: Time, timer: Timer, after: Span) {
        (self.timer, self.deadline) = (timer, now + after);
    }

    /// The time-out counts from when the first segment was sent last.
    fn arm_retransmission(&mut self, now: Time) {
        if self.board.outstanding() == 0 {
            (self.timer, self.deadline) = (Timer::Off, Time::MAX);
            return;
        }
        let mut after = self.rtt.rto();
        if matches!(self.timer, Timer::Probe | Timer::Reordering) {
            after = self.left(now);
        }
        self.arm(now, Timer::Retransmission, after);
    }

    /// Until the time-out of the first segment.
    fn left(&self, now: Time) -> Span {
        let due = self.board.get(self.board.una()).at + self.rtt.rto();
        if due > now { due.since(now) } else { Span::from_us(1) }
    }

    /// A probe two round trips from now, unless the time-out comes first.
    pub(super) fn arm_probe(&mut self, now: Time, advanced: bool) -> bool {
        let out = self.board.outstanding();
        let calm = matches!(self.state, State::Open | State::Reduction);
        if out == 0 || !calm || self.probe.is_some() || self.board.una() == SYN {
            return false;
        }
        let wait = match self.rtt.srtt() {
            Some(srtt) => srtt * 2 + if out == 1 { self.rtt.minimum() } else { TIMER_FLOOR },
            None => Span::from_s(1),
        };
        let bound = if advanced { self.rtt.rto() } else { self.left(now) };
        self.arm(now, Timer::Probe, wait.min(bound));
        true
    }

    /// When to call [`crate::transport::Sender::on_timer`].
    pub(in crate::transport) fn timer_at(&self) -> Option<Time> {
        (self.deadline != Time::MAX).then_some(self.deadline)
    }

    /// The timer may have expired; harmless when early.
    pub(in crate::transport) fn on_timer(&mut self, now: Time) {
        if now < self.deadline {
            return;
        }
        let timer = std::mem::replace(&mut self.timer, Timer::Off);
        self.deadline = Time::MAX;
        if self.board.outstanding() == 0 {
            return;
        }
        match timer {
            Timer::Off => {}
            Timer::Probe => self.probe_due = true,
            Timer::Reordering => self.on_reordering_timer(now),
            Timer::Retransmission => self.time_out(now),
        }
    }

    fn on_reordering_timer(&mut self, now: Time) {
        let before = self.board.in_flight();
        let conditions = self.conditions(now);
        _ = self.rack.detect(&mut self.board, &conditions);
        if self.board.in_flight() != before {
            if self.state != State::Recovery {
                self.enter_recovery(now);
                self.reduce(1, false, 1);
            }
        }
        self.arm_retransmission(now);
    }

    fn time_out(&mut self, now: Time) {
        self.counters.timeouts += 1;
        let first = self.state < State::Recovery;
        self.board.lose_all();
        if self.state <= State::Disorder || self.high <= self.board.una() {
            self.begin_undo();
            let signal = self.signal(now, 0, None);
            let mut window = self.window;
            self.law.on_timeout(&signal, &mut window);
            self.window.ssthresh = window.ssthresh;
            self.counters.cuts += 1;
        } else if self.state != State::Loss {
            let signal = self.signal(now, 0, None);
            self.law.on_timeout(&signal, &mut self.window.clone());
        }
        self.window.cwnd = f64::from(self.board.in_flight() + 1);
        self.opened_late |= self.board.una() == SYN;
        (self.state, self.high, self.probe, self.new_first) = (State::Loss, self.board.next(), None, false);
        self.frto = first && self.board.una() > SYN;
        self.rtt.back_off();
        self.arm(now, Timer::Retransmission, self.rtt.rto());
    }

    pub(super) fn begin_undo(&mut self) {
        let repeats = self.board.again();
        self.undo = Undo {
            marker: self.board.una(),
            repeats: Some(repeats),
            cwnd: self.window.cwnd,
            ssthresh: self.window.ssthresh,
        };
    }

    pub(super) fn conditions(&self, now: Time) -> Conditions {
        Conditions {
            now,
            recovering: self.state >= State::Recovery,
            min_rtt: self.rtt.least().unwrap_or_default(),
            srtt: self.rtt.srtt().unwrap_or_default(),
        }
    }

    pub(super) fn signal(&self, now: Time, acked: u32, sample: Option<Span>) -> Signal {
        Signal {
            now,
            acked,
            usable: self.window.cwnd,
            srtt: self.rtt.srtt(),
            min_rtt: self.rtt.least(),
            sample,
            una: self.board.una(),
            next: self.board.next(),
        }
    }

    /// See [`crate::transport::Sender::with_estimate`].
    pub(in crate::transport) fn with_estimate(mut self, mut rtt: Rtt) -> Self {
        rtt.end_back_off();
        self.rtt = rtt;
        self
    }

    pub(in crate::transport) fn estimate(&self) -> Rtt {
        self.rtt
    }

    pub(in crate::transport) fn finished(&self) -> bool {
        self.board.una() >= self.end
    }

    pub(in crate::transport) fn cwnd(&self) -> f64 {
        self.window.cwnd
    }

    pub(in crate::transport) fn ssthresh(&self) -> f64 {
        self.window.ssthresh
    }

    pub(in crate::transport) fn srtt(&self) -> Option<Span> {
        self.rtt.srtt()
    }

    pub(in crate::transport) fn min_rtt(&self) -> Option<Span> {
        self.rtt.least()
    }

    pub(in crate::transport) fn rto(&self) -> Span {
        self.rtt.rto()
    }

    pub(in crate::transport) fn in_flight(&self) -> u32 {
        self.board.outstanding()
    }

    pub(in crate::transport) fn first_unacknowledged(&self) -> u32 {
        self.board.una()
    }

    pub(in crate::transport) fn recovering(&self) -> bool {
        self.state == State::Recovery
    }

    pub(in crate::transport) fn counters(&self) -> &Counters {
        &self.counters
    }
}
