//! The sending half of a connection as hosts of today have it: SACK, RACK-TLP, PRR, F-RTO.
//!
//! Source: RFC 6675 (SACK), RFC 8985 (RACK-TLP), RFC 9937 (PRR), RFC 5682 (F-RTO); where they leave a
//! choice, Linux 6.12.
//!
//! - A segment is lost when RACK says so, or at a time-out; what is lost goes first.
//! - **PRR**: in recovery the window follows what is delivered, down to the threshold that the law has set.
//! - **TLP**: two round trips after the last transmission, with nothing heard, a new segment or the last one is sent.
//! - **F-RTO**: after a time-out new segments are sent first; if those before it turn out to have arrived, it was spurious.
//! - The window grows only while it is what holds the sender back (as RFC 7661 wants it).
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
//! Deviations from Linux: a cut is undone by D-SACK and F-RTO, not by time stamps; a receiver never reneges; its window is
//! constant; the sender notices no drop in its own host. The granularity of `rto` and `limited_transmit` have no meaning here.

mod acks;

use super::rack::{Conditions, Rack};
use super::rtt::Rtt;
use super::scoreboard::Scoreboard;
use crate::transport::congestion::{CongestionControl, Law, Signal, Window};
use crate::transport::error::ConfigError;
use crate::transport::supply::Extent;
use crate::transport::{Config, Counters, Segment};
use perhop_core::units::{Span, Time};

/// Two ticks of Linux's clock: no timer of a probe or of RACK is shorter.
const TIMER_FLOOR: Span = Span::from_ms(2);
const UNLIMITED: f64 = u32::MAX as f64;
const SYN: u32 = 0;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    Open,
    Disorder,
    Reduction,
    Recovery,
    Loss,
}

/// What the timer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Timer {
    Off,
    Retransmission,
    Probe,
    Reordering,
}

/// The window's way down (RFC 9937), in segments.
#[derive(Clone, Copy, Debug, Default)]
struct Reduction {
    /// RecoverFS.
    from: u32,
    delivered: u32,
    out: u32,
}

/// To go back to if the loss was none.
#[derive(Clone, Copy, Debug, Default)]
struct Undo {
    /// SND.UNA when the episode began; 0: nothing to undo.
    marker: u32,
    /// Repeats that no D-SACK has called needless yet.
    repeats: Option<u32>,
    cwnd: f64,
    ssthresh: f64,
}

/// What an ACK has said.
#[derive(Clone, Copy, Debug, Default)]
struct News {
    acked: u32,
    sacked: u32,
    /// Of a segment sent once: the round trip of the first, that of the last.
    rtt: Option<(Span, Span)>,
    /// A segment sent once and before the time-out has arrived.
    original: bool,
    /// The lowest number that arrived behind a later one.
    behind: Option<u32>,
    prior_delivered: u64,
    dsack: bool,
    echo: bool,
}

/// The data to be sent, and how much of it at once.
#[derive(Clone, Debug)]
struct Data {
    end: u32,
    short: u32,
    short_payload: u16,
    offered: bool,
    mss: u16,
    started: bool,
    advertised: u32,
    initial_window: u32,
}

/// Explicit congestion notification.
#[derive(Clone, Debug)]
struct Ecn {
    willing: bool,
    agreed: bool,
    /// The next new segment carries CWR.
    cwr: bool,
}

/// What is going on, and what was before.
#[derive(Clone, Debug)]
struct Episode {
    state: State,
    /// One past the highest number sent when the state was entered.
    high: u32,
    reduction: Reduction,
    undo: Undo,
    /// F-RTO is at work.
    frto: bool,
    /// New segments go before lost ones, until the next ACK.
    new_first: bool,
    /// The SYN had to be repeated.
    opened_late: bool,
}

/// The one timer.
#[derive(Clone, Debug)]
struct Clock {
    timer: Timer,
    deadline: Time,
    /// When the last segment was sent.
    last_sent: Time,
}

/// Whether the window is what holds the sender back.
#[derive(Clone, Debug, Default)]
struct Usage {
    limited: bool,
    most_out: u32,
    usage_until: u32,
    sent_since: bool,
}

/// Tail loss probe.
#[derive(Clone, Debug, Default)]
struct Tail {
    /// A probe is out: SND.NXT when it was sent.
    probe: Option<u32>,
    probe_repeats: bool,
    probe_due: bool,
}

/// What has happened so far.
#[derive(Clone, Debug, Default)]
struct Counts {
    delivered: u64,
    counters: Counters,
}

/// One connection's sender.
#[derive(Clone, Debug)]
pub struct Modern {
    board: Scoreboard,
    data: Data,
    ecn: Ecn,
    law: Law,
    window: Window,
    episode: Episode,
    rack: Rack,
    rtt: Rtt,
    clock: Clock,
    usage: Usage,
    tail: Tail,
    counts: Counts,
}

impl Modern {
    /// A closed connection; nothing is sent before [`crate::transport::Sender::start`].
    ///
    /// # Errors
    /// Parameters that the law refuses.
    pub(in crate::transport) fn new(config: &Config, extent: Extent) -> Result<Self, ConfigError> {
        let first = if config.syn { SYN } else { SYN + 1 };
        let cwnd = if config.syn { 1.0 } else { f64::from(config.initial_window) };
        let Extent { end, short, short_payload, offered } = extent;
        let Config { mss, window: advertised, initial_window, .. } = *config;
        let (state, reduction, undo) = (State::Open, Reduction::default(), Undo::default());
        Ok(Self {
            board: Scoreboard::new(first),
            data: Data { end, short, short_payload, offered, mss, started: false, advertised, initial_window },
            ecn: Ecn { willing: config.ecn, agreed: !config.syn && config.ecn && config.receiver_ecn, cwr: false },
            law: config.law()?,
            window: Window { cwnd, ssthresh: UNLIMITED },
            episode: Episode { state, high: first, reduction, undo, frto: false, new_first: false, opened_late: false },
            rack: Rack::new(),
            rtt: Rtt::new(config.rto),
            clock: Clock { timer: Timer::Off, deadline: Time::MAX, last_sent: Time::ZERO },
            usage: Usage { usage_until: first, ..Usage::default() },
            tail: Tail::default(),
            counts: Counts::default(),
        })
    }

    /// See [`crate::transport::Sender::start`].
    pub(in crate::transport) fn start(&mut self) {
        self.data.started = true;
    }

    /// See [`crate::transport::Sender::offer`].
    pub(in crate::transport) fn offer(&mut self, segments: u32) {
        assert!(self.data.offered, "tcp: offer() on a connection whose supply is not Supply::Offered");
        assert!(segments < u32::MAX - self.data.end, "tcp: more than 2^32 - 2 segments offered");
        self.data.end += segments;
    }

    /// See [`crate::transport::Sender::close`].
    pub(in crate::transport) fn close(&mut self) {
        if self.data.end == u32::MAX {
            self.data.end = self.board.next().max(SYN + 1);
        }
    }

    /// The next segment to put on the wire.
    pub(in crate::transport) fn next_segment(&mut self, now: Time) -> Option<Segment> {
        if !self.data.started {
            return None;
        }
        let segment = self.due(now);
        match segment {
            Some(_) => self.usage.sent_since = true,
            None => self.settle(now),
        }
        segment
    }

    fn due(&mut self, now: Time) -> Option<Segment> {
        if std::mem::take(&mut self.tail.probe_due) {
            return self.send_probe(now);
        }
        let room = self.room();
        if room > 0
            && !self.episode.new_first
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
    fn has_new(&self) -> bool {
        let next = self.board.next();
        let opening = self.board.una() == SYN;
        next < self.data.end && next - self.board.una() < self.data.advertised && !(opening && next > SYN)
    }

    /// Nothing more goes now: was it the window that held it back, and when is a probe due?
    fn settle(&mut self, now: Time) {
        let limited = self.room() == 0;
        let sent = std::mem::take(&mut self.usage.sent_since);
        if sent || limited {
            self.note_usage(limited);
        }
        if sent && self.clock.timer != Timer::Reordering {
            self.arm_probe(now, false);
        }
    }

    fn note_usage(&mut self, limited: bool) {
        let (una, out) = (self.board.una(), self.board.outstanding());
        if una >= self.usage.usage_until || limited || !self.usage.limited && out > self.usage.most_out {
            (self.usage.limited, self.usage.most_out, self.usage.usage_until) = (limited, out, self.board.next());
        }
    }

    /// Whether the window is what holds the sender back; in slow start, half of it may be used.
    fn is_limited(&self) -> bool {
        self.usage.limited
            || self.window.cwnd < self.window.ssthresh && self.window.cwnd < 2.0 * f64::from(self.usage.most_out)
    }

    fn send_new(&mut self, now: Time) -> Segment {
        self.after_idle(now);
        let idle = self.board.outstanding() == 0;
        let number = self.board.send(now, self.counts.delivered);
        if idle || self.clock.timer == Timer::Probe {
            self.arm_retransmission(now);
        }
        self.segment(now, number, false)
    }

    fn send_again(&mut self, now: Time, number: u32) -> Segment {
        self.board.send_again(number, now, self.counts.delivered);
        if let Some(repeats) = &mut self.episode.undo.repeats {
            *repeats += 1;
        }
        if number == self.board.una() && self.clock.timer != Timer::Reordering {
            self.arm(now, Timer::Retransmission, self.rtt.rto());
        }
        self.counts.counters.retransmitted += 1;
        self.segment(now, number, true)
    }

    fn segment(&mut self, now: Time, number: u32, again: bool) -> Segment {
        self.clock.last_sent = now;
        self.counts.counters.segments += 1;
        if matches!(self.episode.state, State::Reduction | State::Recovery) {
            self.episode.reduction.out += 1;
        }
        let data = number != SYN;
        let ect = self.ecn.agreed && data && !again;
        let cwr = if data { ect && std::mem::take(&mut self.ecn.cwr) } else { self.ecn.willing };
        let payload = match number {
            SYN => 0,
            _ if number == self.data.short => self.data.short_payload,
            _ => self.data.mss,
        };
        Segment { number, payload, syn: !data, retransmission: again, ect, cwr }
    }

    /// A window that was not used for a time-out is no longer known to fit.
    fn after_idle(&mut self, now: Time) {
        let idle = now.since(self.clock.last_sent);
        if self.board.outstanding() > 0 || self.clock.last_sent == Time::ZERO || idle <= self.rtt.rto() {
            return;
        }
        let (least, timeouts) =
            (f64::from(self.data.initial_window).min(self.window.cwnd), idle.ns() / self.rtt.rto().ns());
        self.window.ssthresh = self.window.ssthresh.max((self.window.cwnd * 0.75).floor());
        self.window.cwnd = (self.window.cwnd / 2f64.powi(timeouts.min(32) as i32)).floor().max(least);
        self.usage.limited = false;
    }

    /// Tail loss probe: a new segment, or the last one again.
    fn send_probe(&mut self, now: Time) -> Option<Segment> {
        let segment = if self.has_new() {
            self.tail.probe_repeats = false;
            self.send_new(now)
        } else {
            let last = self.board.next() - 1;
            if self.board.get(last).sacked {
                self.tail.probe = None;
                self.arm(now, Timer::Retransmission, self.left(now));
                return None;
            }
            self.tail.probe_repeats = true;
            self.board.send_again(last, now, self.counts.delivered);
            self.counts.counters.retransmitted += 1;
            self.segment(now, last, true)
        };
        self.tail.probe = Some(self.board.next());
        self.arm(now, Timer::Retransmission, self.rtt.rto());
        self.usage.sent_since = false;
        Some(segment)
    }

    fn arm(&mut self, now: Time, timer: Timer, after: Span) {
        (self.clock.timer, self.clock.deadline) = (timer, now + after);
    }

    /// The time-out counts from when the first segment was sent last.
    fn arm_retransmission(&mut self, now: Time) {
        if self.board.outstanding() == 0 {
            (self.clock.timer, self.clock.deadline) = (Timer::Off, Time::MAX);
            return;
        }
        let mut after = self.rtt.rto();
        if matches!(self.clock.timer, Timer::Probe | Timer::Reordering) {
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
    fn arm_probe(&mut self, now: Time, advanced: bool) -> bool {
        let out = self.board.outstanding();
        let calm = matches!(self.episode.state, State::Open | State::Reduction);
        if out == 0 || !calm || self.tail.probe.is_some() || self.board.una() == SYN {
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
        (self.clock.deadline != Time::MAX).then_some(self.clock.deadline)
    }

    /// The timer may have expired; harmless when early.
    pub(in crate::transport) fn on_timer(&mut self, now: Time) {
        if now < self.clock.deadline {
            return;
        }
        let timer = std::mem::replace(&mut self.clock.timer, Timer::Off);
        self.clock.deadline = Time::MAX;
        if self.board.outstanding() == 0 {
            return;
        }
        match timer {
            Timer::Off => {}
            Timer::Probe => self.tail.probe_due = true,
            Timer::Reordering => self.on_reordering_timer(now),
            Timer::Retransmission => self.time_out(now),
        }
    }

    fn on_reordering_timer(&mut self, now: Time) {
        let before = self.board.in_flight();
        let conditions = self.conditions(now);
        _ = self.rack.detect(&mut self.board, &conditions);
        if self.board.in_flight() != before && self.episode.state != State::Recovery {
            self.enter_recovery(now);
            self.reduce(1, false, 1);
        }
        self.arm_retransmission(now);
    }

    fn time_out(&mut self, now: Time) {
        self.counts.counters.timeouts += 1;
        let first = self.episode.state < State::Recovery;
        self.board.lose_all();
        if self.episode.state <= State::Disorder || self.episode.high <= self.board.una() {
            self.begin_undo();
            let signal = self.signal(now, 0, None);
            let mut window = self.window;
            self.law.on_timeout(&signal, &mut window);
            self.window.ssthresh = window.ssthresh;
            self.counts.counters.cuts += 1;
        } else if self.episode.state != State::Loss {
            let signal = self.signal(now, 0, None);
            let mut cut_already = self.window;
            self.law.on_timeout(&signal, &mut cut_already);
        }
        self.window.cwnd = f64::from(self.board.in_flight() + 1);
        self.episode.opened_late |= self.board.una() == SYN;
        (self.episode.state, self.episode.high, self.tail.probe, self.episode.new_first) =
            (State::Loss, self.board.next(), None, false);
        self.episode.frto = first && self.board.una() > SYN;
        self.rtt.back_off();
        self.arm(now, Timer::Retransmission, self.rtt.rto());
    }

    fn begin_undo(&mut self) {
        let repeats = self.board.again();
        self.episode.undo = Undo {
            marker: self.board.una(),
            repeats: Some(repeats),
            cwnd: self.window.cwnd,
            ssthresh: self.window.ssthresh,
        };
    }

    fn conditions(&self, now: Time) -> Conditions {
        Conditions {
            now,
            recovering: self.episode.state >= State::Recovery,
            min_rtt: self.rtt.least().unwrap_or_default(),
            srtt: self.rtt.srtt().unwrap_or_default(),
        }
    }

    fn signal(&self, now: Time, acked: u32, sample: Option<Span>) -> Signal {
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
        self.board.una() >= self.data.end
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
        self.episode.state == State::Recovery
    }

    pub(in crate::transport) fn counters(&self) -> &Counters {
        &self.counts.counters
    }
}
