//! Prague: DCTCP for the Internet. It sends ECT(1), paces, keeps growing while marks cut it, and its rate does not
//! depend on round trips below 25 ms.
//!
//! Source: draft-briscoe-iccrg-prague-congestion-control, version 01, sections 2.2.2 to 2.4.
//!
//! ```text
//! ACK:       acked = acked + N;  marked = marked + C
//!   a round is over:   frac = marked / acked;  alpha = alpha + g (frac - alpha);  acked = marked = 0
//!   C > 0, not in CWR: cwnd = ssthresh = max((1 - alpha / 2) cwnd, 2);  CWR for a round
//!   cwnd < ssthresh:   cwnd = cwnd + N - C
//!   else:              cwnd = cwnd + (N - C) / (M^2 cwnd)
//! loss:      cwnd = ssthresh = max(cwnd / 2, 2)
//! time-out:  cwnd = 1, ssthresh = max(cwnd / 2, 2)
//! pace:      max(cwnd, in flight) / SRTT, twice that where cwnd < ssthresh / 2
//! ```
//!
//! A round ends with the ACK of a segment that was sent after the round began. After D rounds, each round lasts at
//! least RTT_ref = max(SRTT, `rtt-ref`), and M = RTT_ref / SRTT; before that M = 1. So flows with 5 ms and with 25 ms
//! eventually get the same rate.
//!
//! | symbol  | field            | unit     | default | Linux's prague         |
//! |---------|------------------|----------|---------|------------------------|
//! | g       | `g`              | -        | 0.0625  | `prague_shift_g` = 4   |
//! | alpha   |                  | -        | 1       | the same               |
//! | rtt-ref | `rtt-ref`        | s        | 25ms    | `prague_rtt_target`    |
//! | D       | `rtt-ref-rounds` | rounds   | 500     | `prague_rtt_transition` |
//! | N       | `Signal::acked`  | segments | -       | -                      |
//! | C       | `Signal::marked` | segments | -       | -                      |
//!
//! Prague needs SACK and a receiver that counts marks: `ecn-feedback = "accurate"` (AccECN, RFC 9768), which is its
//! default. It negotiates ECN unless `ecn = false`; without ECN it behaves as paced Reno. All packets are
//! ECN-capable, including retransmissions and the SYN.
//!
//! If a fraction p of the segments is marked at random, the window is cut by p W / 2. The next cut comes after a
//! round and the time to the next mark, 1 / (p W) of a round. The window grows by 1 - p a round. So p W / 2 = (1 - p)
//! (1 + 1 / (p W)), and p W is close to 1 + sqrt(3), between the 2 of marks in every round and the 3 of the steady
//! saw-tooth.
//!
//! No kernel at hand implements Prague. Tests compare it with a slow version of the draft's text and with the law
//! above.
//!
//! Deviations: numbers are real, not of 20 bits. Fractions are of segments, not bytes. Segments are paced one by one,
//! not in bursts of 250 us. A loss halves the window even if a mark has already cut it. The window does not grow
//! while the application limits the sender. The draft's future work is not implemented: the fall-back where a classic
//! queue marks, other slow starts, EWMA per ACK, windows below 2.
//!
//! Decision: docs/decisions/047-pragues-window.md

use super::{CongestionControl, CongestionLaw, EcnFeedback, Event, Report, Signal, Window};
use perhop_core::design::policer::Sender;
use perhop_core::params::{ParamError, Params as Declared};
use perhop_core::units::{Span, Time};

/// What a scenario states.
#[derive(Declared, Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Weight of the newest window of data in the fraction of marks; above 0, at most 1.
    #[param(default = 0.0625)]
    pub g: f64,
    /// Round trip below which flows get the rate of a flow with this round trip.
    #[param(default = "25ms")]
    pub rtt_ref: Span,
    /// Rounds before `rtt-ref` applies; until then a flow keeps the rate of its own round trip.
    #[param(default = 500)]
    pub rtt_ref_rounds: u32,
}

impl Params {
    /// # Errors
    /// E201 for `g` out of bounds.
    pub fn build(self, (): &()) -> Result<Prague, ParamError> {
        if !(self.g > 0.0 && self.g <= 1.0) {
            let error = ParamError::new("g", "E201", format!("`g` is {}", self.g));
            return Err(error.help("must be above 0 and at most 1; the draft has 0.0625"));
        }
        Ok(Prague { params: self, marks: Marks::default(), rounds: 0, cut: None, loss: Loss::default(), pace: None })
    }
}

/// A round trip's beginning: it is over once all that had been sent is acknowledged, and so long has passed.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    end: u32,
    began: Time,
}

impl Round {
    fn is_over(self, signal: &Signal, least: Span) -> bool {
        signal.una > self.end && signal.now.since(self.began) >= least
    }

    fn from(signal: &Signal) -> Self {
        Self { end: signal.next, began: signal.now }
    }
}

/// The moving average, and what counts for its next value.
#[derive(Clone, Copy, Debug)]
struct Marks {
    alpha: f64,
    acked: u32,
    marked: u32,
    /// Of the newest ACK.
    newest: u32,
    round: Round,
}

impl Default for Marks {
    fn default() -> Self {
        Self { alpha: 1.0, acked: 0, marked: 0, newest: 0, round: Round::default() }
    }
}

/// A loss that has not cut the window yet, and the window before the last one that has.
#[derive(Clone, Copy, Debug, Default)]
struct Loss {
    pending: bool,
    before: f64,
}

/// What segments are paced by.
#[derive(Clone, Copy, Debug)]
struct Pace {
    /// Segments.
    window: f64,
    srtt: Span,
}

/// A connection's Prague.
#[derive(Clone, Debug)]
pub struct Prague {
    params: Params,
    marks: Marks,
    rounds: u32,
    /// The window was cut for a mark, less than a round ago.
    cut: Option<Round>,
    loss: Loss,
    pace: Option<Pace>,
}

impl Prague {
    /// How long a round lasts at least, and M.
    fn reference(&self, signal: &Signal) -> (Span, f64) {
        let Some(srtt) = signal.srtt.filter(|_| self.rounds >= self.params.rtt_ref_rounds) else {
            return (Span::ZERO, 1.0);
        };
        let reference = srtt.max(self.params.rtt_ref);
        (reference, reference.seconds() / srtt.seconds())
    }

    fn cut(window: &mut Window, left: f64) {
        let left = left.max(2.0);
        *window = Window { cwnd: left, ssthresh: left };
    }

    fn grow(&self, signal: &Signal, unmarked: u32, window: &mut Window) {
        let (_, m) = self.reference(signal);
        let unmarked = f64::from(unmarked);
        window.cwnd += if window.cwnd < window.ssthresh { unmarked } else { unmarked / (m * m * window.cwnd) };
    }

    fn set_pace(&mut self, report: &Report, window: &Window) {
        let Some(srtt) = report.signal.srtt.filter(|srtt| *srtt > Span::ZERO) else { return };
        let factor = if window.cwnd < window.ssthresh / 2.0 { 2.0 } else { 1.0 };
        self.pace = Some(Pace { window: factor * window.cwnd.max(f64::from(report.in_flight.now)), srtt });
    }
}

impl CongestionLaw for Params {
    fn paces(&self) -> bool {
        true
    }

    fn is_scalable(&self) -> bool {
        true
    }

    fn is_l4s(&self) -> bool {
        true
    }

    fn feedback(&self) -> EcnFeedback {
        EcnFeedback::Accurate
    }

    fn stack(&self) -> Option<&'static str> {
        Some("prague")
    }

    fn policed(&self) -> Option<Sender> {
        Some(Sender::Prague)
    }
}

impl CongestionControl for Prague {
    fn on_feedback(&mut self, signal: &Signal) {
        let least = self.reference(signal).0;
        let marks = &mut self.marks;
        marks.newest = signal.marked.min(signal.acked);
        (marks.acked, marks.marked) = (marks.acked + signal.acked, marks.marked + marks.newest);
        if !marks.round.is_over(signal, least) || marks.acked == 0 {
            return;
        }
        let fraction = f64::from(marks.marked) / f64::from(marks.acked);
        marks.alpha += self.params.g * (fraction - marks.alpha);
        (marks.acked, marks.marked, marks.round) = (0, 0, Round::from(signal));
        self.rounds += 1;
    }

    fn is_in_control(&self) -> bool {
        true
    }

    fn on_report(&mut self, report: &Report, window: &mut Window) {
        let signal = &report.signal;
        let marked = std::mem::take(&mut self.marks.newest);
        self.cut = self.cut.filter(|round| !round.is_over(signal, self.reference(signal).0));
        if std::mem::take(&mut self.loss.pending) {
            self.loss.before = window.cwnd;
            Self::cut(window, window.cwnd / 2.0);
        } else if marked > 0 && self.cut.is_none() {
            Self::cut(window, window.cwnd * (1.0 - self.marks.alpha / 2.0));
            self.cut = Some(Round::from(signal));
        }
        if !report.rate.is_some_and(|rate| rate.app_limited) {
            self.grow(signal, signal.acked - marked.min(signal.acked), window);
        }
        self.set_pace(report, window);
    }

    fn on_event(&mut self, event: Event, report: &Report, window: &mut Window) {
        match event {
            Event::TimeOut => {
                self.loss = Loss { pending: false, before: window.cwnd };
                window.cwnd = f64::from(report.in_flight.now + 1);
            }
            Event::Undo => window.cwnd = window.cwnd.max(self.loss.before),
            Event::Open | Event::Restart => {}
        }
        self.set_pace(report, window);
    }

    fn on_ack(&mut self, _signal: &Signal, _window: &mut Window) {}

    fn on_loss(&mut self, signal: &Signal, window: &mut Window) {
        self.loss.pending = true;
        window.ssthresh = (signal.usable / 2.0).max(2.0);
    }

    fn on_loss_after_echo(&mut self, signal: &Signal, window: &mut Window) {
        self.on_loss(signal, window);
    }

    fn on_timeout(&mut self, signal: &Signal, window: &mut Window) {
        window.ssthresh = (signal.usable / 2.0).max(2.0);
    }

    /// The report of the same ACK cuts the window.
    fn on_ecn(&mut self, _signal: &Signal, _window: &mut Window) {}

    fn pacing_rate(&self, mss: u16) -> Option<u64> {
        self.pace.map(|pace| (pace.window * f64::from(mss) / pace.srtt.seconds()) as u64)
    }
}
