//! DualPI2: two queues for one link. The L queue takes L4S traffic and marks it early and often; the C queue takes
//! classic traffic. Their probabilities are coupled so that flows of both kinds get the same rate.
//!
//! Source: RFC 9332, appendix A (pseudo-code of DualPI2).
//!
//! ```text
//! arrival:     ECT(1) or CE: to the L queue; not-ECT or ECT(0): to the C queue
//! every T:     q = the longer wait of the two heads;  p' = p' + alpha (q - target) + beta (q - q before),  0 <= p' <= 1
//!              p_C = p'^2;  p_CL = k p'
//! departure:   the scheduler chooses a queue
//!   C:         with p_C: drop, or mark if ECT(0) and p_C < p_Cmax
//!   L:         p_CL < 1: mark with p_L = max(p'_L, p_CL), where p'_L, by the packet's own wait, rises from 0 at `l4s-min`
//!                        to 1 at `l4s-max`, and is 0 unless more than `l4s-length` packets wait behind it
//!              p_CL >= 1 (overload): drop with p_C, else mark with p_CL
//! "with p":    a sum for each queue: sum = sum + p; if it is above 1: sum = sum - 1, and yes
//! ```
//!
//! The rate of a classic flow is proportional to 1 / sqrt(p_C), that of a scalable one to 1 / p_L. The coupling p_L =
//! k sqrt(p_C) with k about 2 therefore gives both the same rate at the same round-trip time.
//!
//! `schedule = "wrr"` sends from L first, and gives C at least `c-share` of the bytes while both have packets
//! waiting. `schedule = "time-shift"` sends the packet that has waited longest, where those of L count as having
//! waited `shift` longer.
//!
//! | symbol   | field        | unit | default | tc               |
//! |----------|--------------|------|---------|------------------|
//! | limit    | `limit`      | p    | 10000p  | `limit`          |
//! | target   | `target`     | s    | 15ms    | `target`         |
//! | T        | `update`     | s    | 16ms    | `tupdate`        |
//! | alpha    | `alpha`      | 1/s  | 0.16    | `alpha`          |
//! | beta     | `beta`       | 1/s  | 3.2     | `beta`           |
//! | k        | `coupling`   |      | 2       | `coupling_factor`|
//! | minTh    | `l4s-min`    | s    | 800us   | `step_thresh`    |
//! | minTh + range | `l4s-max` | s  | 1200us  | `step_thresh`    |
//! | Th_len   | `l4s-length` | p    | 1p      | `min_qlen_step`  |
//! |          | `schedule`   |      | `wrr`   | wrr              |
//! |          | `c-share`    |      | 0.1     | `classic_protection` |
//! |          | `shift`      | s    | 50ms    | -                |
//!
//! alpha and beta are the RFC's values for round trips of up to 100 ms. p_Cmax is 1 / k^2, at which p_CL reaches 1.
//! If `l4s-min` equals `l4s-max` the ramp is a step; Linux has a step at 1 ms. Packets that are not ECN-capable are
//! dropped from the C queue with probability p_C.
//!
//! Deviations: `limit` is in packets, as in Linux; the RFC's limit is in bytes, 250 ms at the link's rate. The RFC
//! leaves the scheduler open; `wrr` counts credit as Linux does, but starts at 0. p'_L uses the wait of the packet
//! itself.

use super::{Heads, Pick, Scheduler, Visit};
use crate::Scope;
use crate::count::Count;
use crate::needs::Needs;
use crate::packet::{Ecn, Packet};
use crate::params::{Choice, ParamError, Params as Declared};
use crate::port::turn::Turn;
use crate::rng::Rng;
use crate::units::{Packets, Probability, Span, Time};
use crate::verdict::{Reason, Verdict};
use std::collections::VecDeque;

/// The children.
const L: usize = 0;
const C: usize = 1;

/// How the scheduler chooses between the two queues.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// L first, C at least its share of the bytes.
    Wrr,
    /// By waiting time, L ahead by a constant.
    TimeShift,
}

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// Most packets that may wait in both queues together.
    #[param(default = "10000p")]
    pub limit: Packets,
    /// Target wait in the C queue.
    #[param(default = "15ms")]
    pub target: Span,
    /// Time between two changes of the probability.
    #[param(default = "16ms")]
    pub update: Span,
    /// Integral gain: probability by second of wait above `target`, at each change.
    #[param(default = 0.16)]
    pub alpha: f64,
    /// Proportional gain: probability by second that the wait has grown since the last change.
    #[param(default = 3.2)]
    pub beta: f64,
    /// Ratio k of the L queue's probability to the square root of the C queue's.
    #[param(default = 2.0)]
    pub coupling: f64,
    /// Wait in the L queue up to which its own ramp marks nothing.
    #[param(default = "800us")]
    pub l4s_min: Span,
    /// Wait in the L queue from which its own ramp marks every packet.
    #[param(default = "1200us")]
    pub l4s_max: Span,
    /// The L queue marks by its own ramp only if more packets than this wait behind the packet.
    #[param(default = "1p")]
    pub l4s_length: Packets,
    /// How the scheduler chooses between the two queues.
    #[param(default = "wrr")]
    pub schedule: Schedule,
    /// Share of the bytes that the C queue gets at least, with `schedule = "wrr"`.
    #[param(default = 0.1)]
    pub c_share: Probability,
    /// How much longer L's packets count as having waited, with `schedule = "time-shift"`.
    #[param(default = "50ms")]
    pub shift: Span,
}

/// One of the queues.
#[derive(Clone, Debug, Default)]
struct Queue {
    /// When what waits arrived.
    arrivals: VecDeque<Time>,
    /// Of probabilities, since the last packet dropped or marked.
    sum: f64,
}

/// One link's DualPI2.
#[derive(Clone, Debug)]
pub struct DualPi2 {
    params: Params,
    queues: [Queue; 2],
    /// p'
    base: f64,
    /// The wait at the last change.
    before: Span,
    next: Time,
    /// Bytes sent of L by C's share less those of C by L's, while both wait: C's turn when above 0.
    credit: f64,
}

impl Params {
    /// # Errors
    /// E201 for a `limit`, `target` or `update` of 0, gains below 0, a `coupling` below 1, a `c-share` of 0 or 1; E214 for an
    /// `l4s-min` above `l4s-max`.
    pub fn build(self, _scope: &Scope) -> Result<DualPi2, ParamError> {
        ParamError::above_zero("limit", self.limit)?;
        ParamError::above_zero("target", self.target)?;
        ParamError::above_zero("update", self.update)?;
        ParamError::above_zero("alpha", self.alpha)?;
        ParamError::at_least("beta", self.beta, 0.0)?;
        ParamError::at_least("coupling", self.coupling, 1.0)?;
        if !(self.c_share.get() > 0.0 && self.c_share.get() < 1.0) {
            let error = ParamError::new("c-share", "E201", format!("`c-share` is {}", self.c_share));
            return Err(error.help("must be above 0 and below 1: otherwise one of the queues starves"));
        }
        if self.l4s_min > self.l4s_max {
            let message = format!("`l4s-min` {} is above `l4s-max` {}", self.l4s_min, self.l4s_max);
            return Err(ParamError::new("l4s-min", "E214", message)
                .help("must be at most `l4s-max`; for a step make the two equal"));
        }
        let (queues, next) = (Default::default(), Time::ZERO + self.update);
        Ok(DualPi2 { params: self, queues, base: 0.0, before: Span::ZERO, next, credit: 0.0 })
    }
}

impl Queue {
    fn wait(&self, now: Time) -> Option<Span> {
        self.arrivals.front().map(|arrived| now.since(*arrived))
    }

    /// Appendix A, recur: true with a frequency of `p`.
    fn hits(&mut self, p: f64) -> bool {
        self.sum += p;
        let hits = self.sum > 1.0;
        if hits {
            self.sum -= 1.0;
        }
        hits
    }
}

impl DualPi2 {
    fn p_c(&self) -> f64 {
        self.base * self.base
    }

    fn p_cl(&self) -> f64 {
        self.params.coupling * self.base
    }

    /// Appendix A, laqm: of a packet that has waited for `wait` with `behind` packets behind it.
    fn native(&self, wait: Span, behind: u32) -> f64 {
        let [min, max] = [self.params.l4s_min, self.params.l4s_max];
        if behind <= self.params.l4s_length.get() || wait < min {
            return 0.0;
        }
        if wait >= max { 1.0 } else { (wait - min).seconds() / (max - min).seconds() }
    }

    fn classic(&mut self, ecn: bool) -> Verdict {
        let p = self.p_c();
        let overload = p >= (1.0 / (self.params.coupling * self.params.coupling)).min(1.0);
        match self.queues[C].hits(p) {
            false => Verdict::Pass,
            true if ecn && !overload => Verdict::Mark,
            true => Verdict::Drop(Reason::Early),
        }
    }

    fn scalable(&mut self, wait: Span, behind: u32) -> Verdict {
        let (p_c, p_cl) = (self.p_c(), self.p_cl());
        let marks = if p_cl < 1.0 {
            let p = self.native(wait, behind).max(p_cl);
            self.queues[L].hits(p)
        } else if self.queues[L].hits(p_c) {
            return Verdict::Drop(Reason::Early);
        } else {
            self.queues[L].hits(p_cl)
        };
        if marks { Verdict::Mark } else { Verdict::Pass }
    }

    /// Whether L goes before C, both having packets.
    fn l_first(&self, [l, c]: [Span; 2]) -> bool {
        match self.params.schedule {
            Schedule::Wrr => self.credit <= 0.0,
            Schedule::TimeShift => l + self.params.shift >= c,
        }
    }
}

impl Scheduler for DualPi2 {
    type Params = Params;

    fn places(&self) -> usize {
        2
    }

    #[inline]
    fn place(&mut self, packet: Turn<&Packet>) -> usize {
        if matches!(packet.ecn, Ecn::Ect1 | Ecn::Ce) { L } else { C }
    }

    fn on_arrival(&mut self, at: Turn<&Visit>, _packet: &mut Packet, _rng: &mut Rng) -> Verdict {
        let full = at.all.packets >= u64::from(self.params.limit.get());
        if full { Verdict::Drop(Reason::Overflow) } else { Verdict::Pass }
    }

    fn queued(&mut self, now: Turn<Time>, child: usize, _bytes: u32) {
        self.queues[child].arrivals.push_back(*now);
    }

    fn pick(&mut self, now: Turn<Time>, _heads: &Heads) -> Pick {
        match (self.queues[L].wait(*now), self.queues[C].wait(*now)) {
            (None, None) => {
                self.credit = 0.0;
                Pick::Nothing
            }
            (Some(_), None) => Pick::Child(L),
            (None, Some(_)) => Pick::Child(C),
            (Some(l), Some(c)) => Pick::Child(if self.l_first([l, c]) { L } else { C }),
        }
    }

    fn on_departure(&mut self, at: Turn<&Visit>, _packet: &mut Packet, _rng: &mut Rng) -> Verdict {
        let backlog = at.at.backlog;
        match at.child {
            C => self.classic(backlog.ecn),
            _ => self.scalable(at.at.now.since(at.at.arrived), backlog.packets),
        }
    }

    fn sent(&mut self, _now: Turn<Time>, child: usize, bytes: u32, _behind: Count) {
        self.queues[child].arrivals.pop_front();
        let share = self.params.c_share.get();
        let earned = if child == L { share } else { share - 1.0 };
        if !self.queues[1 - child].arrivals.is_empty() {
            self.credit += earned * f64::from(bytes);
        }
    }

    fn dropped(&mut self, _now: Turn<Time>, child: usize, _bytes: u32, _behind: Count) {
        self.queues[child].arrivals.pop_front();
    }

    fn needs(&self) -> Needs {
        Needs::ARRIVALS | Needs::DEPARTURES | Needs::TIMER | Needs::FLOWS
    }

    fn poll_at(&self) -> Option<Time> {
        Some(self.next)
    }

    /// Appendix A, dualpi2_update.
    fn on_timer(&mut self, now: Turn<Time>, oldest: &dyn Fn(usize) -> Option<Time>) {
        let wait = |child| oldest(child).map_or(Span::ZERO, |arrived| now.since(arrived));
        let wait = wait(L).max(wait(C));
        let Params { alpha, beta, target, update, .. } = self.params;
        let change = alpha * (wait.seconds() - target.seconds()) + beta * (wait.seconds() - self.before.seconds());
        self.base = (self.base + change).clamp(0.0, 1.0);
        (self.before, self.next) = (wait, *now + update);
    }

    /// The probability stays; a new `update` begins with the next change.
    fn retune(&mut self, _now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        self.params = params.clone().build(scope)?.params;
        Ok(())
    }

    fn gauges(&self, _now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        each("base_p", self.base);
        each("classic_p", self.p_c());
        each("l4s_p", self.p_cl().min(1.0));
    }
}
