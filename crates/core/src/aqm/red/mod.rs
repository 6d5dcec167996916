//! RED: random early detection. Drops packets before the queue is full, more often the longer the average queue.
//!
//! Source: Floyd and Jacobson, "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM Transactions on
//! Networking 1(4), 1993. RFC 2309 and RFC 7567 put it in context; the gentle variant is Floyd's note of 2000.
//!
//! ```text
//! on arrival:  idle:  avg = avg (1 - wq)^m,  m = idle time x link rate / mean packet
//!              avg = avg + wq (q - avg)                  q: waiting before this packet
//!   avg < min:         pass, count = -1
//!   min <= avg < max:  count = count + 1
//!                      p_b = maxp (avg - min) / (max - min)
//!                      p_a = p_b / (1 - count p_b), 1 where count p_b >= 1
//!                      drop or mark with probability p_a, then count = 0
//!   max <= avg:        drop, count = 0
//!                      gentle: up to 2 max as above with p_b = maxp + (1 - maxp) (avg - max) / max
//! ```
//!
//! | symbol   | field         | unit       | default       | ns-2            | tc              |
//! |----------|---------------|------------|---------------|-----------------|-----------------|
//! | min      | `min`         | p, B, s, % | -             | `thresh_`       | `min`           |
//! | max      | `max`         | p, B, s, % | -             | `maxthresh_`    | `max`           |
//! | maxp     | `max-p`       | -          | 0.1           | 1 / `linterm_`  | `probability`   |
//! |          | `curve`       |            | -             |                 |                 |
//! |          | `interpolate` |            | -             |                 |                 |
//! |          | `ecn-min`     | p, B, s, % | -             |                 |                 |
//! |          | `ecn-max`     | p, B, s, % | -             |                 |                 |
//! |          | `ecn-p`       | -          | -             |                 |                 |
//! | wq       | `wq`          | -          | 0.002         | `q_weight_`     | from `burst`    |
//! | -log2 wq | `weight`      | -          | -             |                 | shown as `ewma` |
//! |          | `mean-packet` | B          | 500B          | `mean_pktsize_` | `avpkt`         |
//! |          | `adaptive`    |            | false         | `adaptive_`     | `adaptive`      |
//! | p_a      | `spacing`     |            | `uniformised` | `wait_`         | `uniformised`   |
//! |          | `beyond`      |            | `drop`        | `gentle_`       | `drop`          |
//! |          | `ecn`         |            | false         | `setbit_`       | `ecn`           |
//! |          | `min-waiting` | p          | 0p            | 2, fixed        | 0               |
//! |          | `arithmetic`  |            | `exact`       |                 | `linux`         |
//!
//! With thresholds in packets the average counts packets; with thresholds in bytes or time it counts bytes (ns-2
//! `bytes_`, `queue_in_bytes_`). `spacing` is `uniformised`, `bernoulli`, `wait` (ns-2's `wait_ true`) or `ds-red`.
//! While fewer than `min-waiting` packets wait, the average counts as below min. ns-2's RED requires 2, which matters
//! when the link is not always busy. With `ecn`, an ECN-capable packet is marked where any other would be dropped
//! early; beyond the ramp all are dropped.
//!
//! `curve = [["20%", 0.0], ["50%", 0.05], ["80%", 1.0]]` replaces `min`, `max` and `max-p`. p_b follows straight
//! lines between the points, or with `interpolate = "step"` keeps the value of the last point passed. Before the
//! first point it is 0, after the last it stays, and where it is 1 all packets are dropped. `wq = 1` (`weight = 0`)
//! makes avg the instantaneous queue. `ecn-min`, `ecn-max` and `ecn-p` (0.1) are separate thresholds for ECN-capable
//! packets. These are marked by a separate ramp and count, all of them from `ecn-max` on, and dropped only
//! where all packets are. With `wq = 1` and `ecn-min` = `ecn-max` that is the step of DCTCP (RFC 8257).
//!
//! `arithmetic = "linux"` computes as Linux 6.12 does, in bytes. avg is a fixed-point number. After idle time it is
//! lowered by a table of 256 entries that tc makes. tc counts the steps of the table in ticks of 64 ns and the kernel
//! reads them as microseconds, so the average falls 15.6 times more slowly than intended. One random number is drawn
//! for each gap, not for each packet. tc passes maxp times 2^32 in 32 bits, so 1 arrives as 0; the kernel then takes
//! (max - min) / 2^i for it, between 1/2 and 1. From max on ECN-capable packets are marked, not dropped. For a
//! `burst` tc chooses wq = 2^-n with the least n for which burst + 1 - min / avpkt <= (1 - (1 - wq)^burst) / wq, and
//! shows n as `ewma`.
//!
//! `adaptive` is Adaptive RED (Floyd, Gummadi and Shenker, "Adaptive RED: An Algorithm for Increasing the Robustness of
//! RED's Active Queue Management", 2001). `max-p` is where it starts:
//!
//! ```text
//! every 500 ms:  avg > min + 0.6 (max - min) and maxp <= 0.5:   maxp = maxp + min(0.01, maxp / 4)
//!                avg < min + 0.4 (max - min) and maxp >= 0.01:  maxp = 0.9 maxp
//! ```
//!
//! A queue that is idle at a step has the average that an arrival would find. Linux does the same in fractions of 2^32, and
//! its timer wheel makes the interval 504 ms at 1000 Hz. (iproute2 6.1 does not start that timer: it hands the flag over in
//! an attribute, and Linux 6.12 looks at an older field. With that tc nothing adapts.) The paper also sets the other parameters from the link:
//! max = 3 min, wq = 1 - e^(-1/C) for C packets/s, and min half of what C sends in the target delay, at least 5 packets,
//! with the gentle variant. Those are not computed: write `min = "5ms"`, `max = "15ms"`, `wq` and `beyond = "gentle"` for
//! a target of 10 ms.
//!
//! Deviations: a packet's drop probability does not depend on its size, even in byte mode, as RFC 7141 advises. (The
//! paper offers p_b x size / largest size, and ns-2 does so with `bytes_`.) Idle time counts once and m is a real
//! number (see `early/average.rs`). A drop by the queue's limit also sets count = 0, like any other drop. Two rules
//! of ns-2 are not adopted: that the first packet above the minimum always passes, and that nothing is
//! marked where p >= `mark_p_`.

mod adaptive;
mod linux;

use super::early::{self, Average, Common, Precedence, Ramp, Shape};
use crate::Scope;
use crate::aqm::{Aqm, Arrival, Backlog};
use crate::arithmetic::Arithmetic;
use crate::counter::{Below, Each};
use crate::needs::Needs;
use crate::packet::Packet;
use crate::params::{ParamError, Params as Declared};
use crate::port::turn::Turn;
use crate::rng::Rng;
use crate::units::{Packets, Time};
use crate::verdict::{Fate, Reason, Verdict};
use adaptive::Steps;

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// The thresholds.
    #[param(flatten)]
    pub profile: Shape,
    /// Average, spacing, ECN.
    #[param(flatten)]
    pub common: Common,
    /// Fewest waiting packets at which any is dropped or marked (ns-2: 2).
    #[param(default = "0p")]
    pub min_waiting: Packets,
    /// Real numbers, or those of Linux.
    #[param(default = "exact")]
    pub arithmetic: Arithmetic,
    /// Whether `max-p` follows the average queue.
    #[param(default = false)]
    pub adaptive: bool,
}

/// One queue's RED.
#[derive(Clone, Debug)]
pub struct Red {
    numbers: Numbers,
    /// With `adaptive`.
    steps: Option<Steps>,
}

#[derive(Clone, Debug)]
enum Numbers {
    Exact(Exact),
    Linux(Box<early::linux::Red>),
}

#[derive(Clone, Debug)]
struct Exact {
    average: Average,
    precedence: Precedence,
    min_waiting: u32,
}

impl Params {
    /// # Errors
    /// E214 unless min < max, or the points of the curve rise; E215 min not below the limit, E219 mixed units, E201 wq
    /// or mean packet out of range, E218 link rate or limit not known, E239 for what has no effect.
    pub fn build(self, scope: &Scope) -> Result<Red, ParamError> {
        Shape::any_in_reach([&self.profile], scope)?;
        let steps = Steps::of(&self)?;
        if self.arithmetic == Arithmetic::Linux {
            return Ok(Red { numbers: Numbers::Linux(Box::new(linux::build(&self, scope)?)), steps });
        }
        let (precedence, unit) = self.common.shaped(&self.profile, scope)?;
        let average = self.common.average(unit, scope)?;
        let exact = Exact { average, precedence, min_waiting: self.min_waiting.get() };
        Ok(Red { numbers: Numbers::Exact(exact), steps })
    }
}

impl Numbers {
    fn max_p(&self) -> f64 {
        match self {
            Self::Exact(red) => red.max_p(),
            Self::Linux(red) => red.max_p(),
        }
    }
}

impl Exact {
    /// p_b at `max`; 1 of a curve.
    fn max_p(&self) -> f64 {
        self.precedence.ramp().map_or(1.0, Ramp::max_p)
    }

    #[inline(always)]
    fn on_arrival(&mut self, at: &Arrival, rng: &mut Rng) -> Verdict {
        let average = self.average.on_arrival(at);
        if at.backlog.packets < self.min_waiting {
            return self.precedence.spare();
        }
        self.precedence.decide(average, at.backlog.ecn, rng)
    }

    fn resume(&mut self, old: &Self) -> Result<(), ParamError> {
        early::same_unit(old.average.unit(), self.average.unit(), "min")?;
        self.average.resume(&old.average);
        self.precedence.resume(&old.precedence);
        Ok(())
    }
}

impl Aqm for Red {
    type Params = Params;

    #[inline(always)]
    fn on_arrival(&mut self, at: Turn<&Arrival>, _packet: &mut Packet, rng: &mut Rng) -> Verdict {
        match &mut self.numbers {
            Numbers::Exact(red) => red.on_arrival(*at, rng),
            Numbers::Linux(red) => {
                // Copies: what is lent to a function cannot stay in registers above.
                let (at, mut copy) = (**at, rng.clone());
                let verdict = linux::on_arrival(red, &at, &mut copy);
                *rng = copy;
                verdict
            }
        }
    }

    #[inline]
    fn on_fate(&mut self, _at: Turn<&Arrival>, _packet: &Packet, fate: Fate) {
        if let Numbers::Exact(red) = &mut self.numbers {
            red.precedence.on_fate(fate);
        }
    }

    fn warnings(&self, scope: &Scope) -> Vec<ParamError> {
        match &self.numbers {
            Numbers::Exact(red) => red.precedence.warnings(red.average.unit(), scope),
            Numbers::Linux(red) => red.warnings(scope),
        }
    }

    fn on_timer(&mut self, now: Turn<Time>, backlog: &Backlog) {
        self.steps.iter_mut().for_each(|steps| steps.take(&mut self.numbers, *now, backlog));
    }

    fn needs(&self) -> Needs {
        Needs::TIMER.only_if(self.steps.is_some())
    }

    fn poll_at(&self) -> Option<Time> {
        self.steps.map(|steps| steps.next)
    }

    fn retune(&mut self, _now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        let mut new = params.clone().build(scope)?;
        match (&mut new.numbers, &self.numbers) {
            (Numbers::Exact(new), Numbers::Exact(old)) => new.resume(old)?,
            (Numbers::Linux(new), Numbers::Linux(old)) => new.resume(old)?,
            _ => return Err(early::linux::changed()),
        }
        if let (Some(steps), Some(old)) = (&mut new.steps, &self.steps) {
            steps.resume(old, &mut new.numbers, &self.numbers);
        }
        *self = new;
        Ok(())
    }

    fn gauges(&self, _now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        match &self.numbers {
            Numbers::Exact(red) => {
                each(red.average.gauge(), red.average.value());
                each("drop_p", red.precedence.drop_p(red.average.value()));
            }
            Numbers::Linux(red) => red.gauges(each),
        }
        if self.steps.is_some() {
            each("max_p", self.numbers.max_p());
        }
    }

    fn counters(&self, _now: Time, below: &Below, each: &mut Each<'_>) {
        each("marked", below.fates.marked.packets as f64);
        each("early", early::dropped(below) as f64);
        each("pdrop", below.dropped_for(Reason::Overflow) as f64);
    }

    /// Marks and early drops.
    fn overlimits(&self, below: &Below) -> u64 {
        below.fates.marked.packets + early::dropped(below)
    }
}
