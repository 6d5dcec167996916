//! RED: random early detection. Drops before the queue is full, more often the longer the average queue.
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
//! | symbol   | field         | unit       | default       | ns-2            |
//! |----------|---------------|------------|---------------|-----------------|
//! | min      | `min`         | p, B, s, % | -             | `thresh_`       |
//! | max      | `max`         | p, B, s, % | -             | `maxthresh_`    |
//! | maxp     | `max-p`       | -          | 0.1           | 1 / `linterm_`  |
//! | wq       | `wq`          | -          | 0.002         | `q_weight_`     |
//! | -log2 wq | `weight`      | -          | -             |                 |
//! |          | `mean-packet` | B          | 500B          | `mean_pktsize_` |
//! | p_a      | `spacing`     |            | `uniformised` | `wait_`         |
//! |          | `beyond`      |            | `drop`        | `gentle_`       |
//! |          | `ecn`         |            | false         | `setbit_`       |
//! |          | `min-waiting` | p          | 0p            | 2, fixed        |
//!
//! Thresholds in packets make the average one of packets, in bytes or time one of bytes (ns-2 `bytes_`,
//! `queue_in_bytes_`). `spacing` is `uniformised`, `bernoulli`, `wait` (ns-2's `wait_ true`) or `ds-red`.
//! With fewer than `min-waiting` packets waiting the average counts as below min: ns-2's RED requires 2, which makes a
//! difference when the link is not always busy.
//! With `ecn`, an ECN-capable packet is marked where another is dropped early; beyond the ramp all are dropped.
//!
//! Deviations: a packet's drop probability does not depend on its size, even in byte mode (RFC 7141; the paper offers
//! p_b x size / largest size, ns-2 does so with `bytes_`). Idle time counts once and m is real (see `early/average.rs`).
//! A drop by the queue's own limit also sets count = 0, like any other drop. Not taken from ns-2: the first packet above the
//! minimum always passes; no marks where p >= `mark_p_`.

use super::early::{self, Average, Common, Precedence, Profile};
use crate::Scope;
use crate::aqm::{Aqm, Arrival};
use crate::packet::Packet;
use crate::params::{ParamError, Params as Declared};
use crate::rng::Rng;
use crate::units::{Packets, Time};
use crate::verdict::{Fate, Verdict};

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// The thresholds.
    #[param(flatten)]
    pub profile: Profile,
    /// Average, spacing, ECN.
    #[param(flatten)]
    pub common: Common,
    /// Fewest waiting packets at which any is dropped or marked (ns-2: 2).
    #[param(default = "0p")]
    pub min_waiting: Packets,
}

/// One queue's RED.
#[derive(Clone, Debug)]
pub struct Red {
    average: Average,
    precedence: Precedence,
    min_waiting: u32,
}

impl Params {
    /// # Errors
    /// E214 unless min < max, E215 min not below the limit, E219 mixed units, E201 wq or mean packet out of range,
    /// E218 link rate or limit not known.
    pub fn build(self, scope: &Scope) -> Result<Red, ParamError> {
        Profile::any_in_reach([&self.profile], scope)?;
        let (precedence, unit) = self.common.precedence(&self.profile, scope)?;
        let average = self.common.average(unit, scope)?;
        Ok(Red { average, precedence, min_waiting: self.min_waiting.get() })
    }
}

impl Aqm for Red {
    type Params = Params;

    #[inline]
    fn on_arrival(&mut self, at: &Arrival, _packet: &mut Packet, rng: &mut Rng) -> Verdict {
        let average = self.average.on_arrival(at);
        if at.backlog.packets < self.min_waiting {
            return self.precedence.spare();
        }
        self.precedence.decide(average, rng)
    }

    fn on_fate(&mut self, _at: &Arrival, _packet: &Packet, fate: Fate) {
        self.precedence.on_fate(fate);
    }

    fn warnings(&self, scope: &Scope) -> Vec<ParamError> {
        self.precedence.warnings(self.average.unit(), scope)
    }

    fn retune(&mut self, _now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        let mut new = params.clone().build(scope)?;
        early::same_unit(self.average.unit(), new.average.unit(), "min")?;
        new.average.resume(&self.average);
        new.precedence.resume(&self.precedence);
        *self = new;
        Ok(())
    }

    fn gauges(&self, _now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        each(self.average.gauge(), self.average.value());
        each("drop_p", self.precedence.drop_p(self.average.value()));
    }
}
