//! PIE: proportional integral controller, enhanced. The drop probability follows the queueing delay and its trend.
//! While the probability is small, it changes in small steps.
//!
//! Source: RFC 8033, appendix A; with `active-above` appendix B; sections 5.1 to 5.5 for the optional parts.
//!
//! ```text
//! every T:     delay   timestamps: how long the last packet sent had waited, 0 if none waits now
//!                      rate:       bytes waiting x average time that 16384 of them take to leave / 16384
//!              step = (alpha (delay - target) + beta (delay - delay one T ago)) / scale
//!              scale = 2048, 512, 128, 32, 8, 2, 1 where p is below 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, or not
//!              cap: step <= 0.02 where p >= 0.1
//!              p = p + step;  0.98 p where both delays are 0;  0 <= p <= 1;  burst = burst - T
//! on arrival:  p = 0 and both delays below target / 2:  burst = max-burst
//!              passes while burst > 0; where the old delay is below target / 2 and p < 0.2; with 2 mtu waiting or less
//!              derandomise: sum = sum + p (0 where p = 0); passes where sum < 0.85, is dropped where sum >= 8.5
//!              else dropped with probability p;  sum = 0 after a drop
//! ```
//!
//! | symbol       | field          | unit       | default      | tc                          |
//! |--------------|----------------|------------|--------------|-----------------------------|
//! | QDELAY_REF   | `target`       | s          | 15ms         | `target`                    |
//! | T_UPDATE     | `interval`     | s          | 15ms         | `tupdate`                   |
//! | MAX_BURST    | `max-burst`    | s          | 150ms        | 150ms, fixed                |
//! | alpha        | `alpha`        | 1/s        | 0.125        | `alpha` / 16                |
//! | beta         | `beta`         | 1/s        | 1.25         | `beta` / 16                 |
//! |              | `delay`        |            | `timestamps` | `rate`: `dq_rate_estimator` |
//! |              | `derandomise`  |            | true         | true, fixed                 |
//! |              | `cap`          |            | true         | true, fixed                 |
//! |              | `byte-mode`    |            | false        | `bytemode`                  |
//! | QUEUE_SMALL  | `active-above` | p, B, s, % | -            | none                        |
//! | MEAN_PKTSIZE | `mtu`          | B          | 1500B        | the device's                |
//! |              | `ecn`          |            | false        | `ecn`                       |
//! | MAX_ECNTH    | `ecn-below`    | -          | 0.1          | 0.1, fixed                  |
//! |              | `arithmetic`   |            | `rfc`        | `linux`                     |
//!
//! With `byte-mode` the probability of a packet of up to `mtu` is p size / mtu. With `ecn`, ECN-capable packets are
//! marked where others would be dropped, as long as p is below `ecn-below`.
//!
//! With `active-above` (a third of the limit in appendix B) PIE is inactive until the queue is this long. It then
//! starts with `max-burst`, and becomes inactive again once p and both delays are 0 and the queue is empty. In this
//! mode p decays where both delays are below target / 2.
//!
//! `arithmetic = "linux"` computes as Linux 6.12 does. Probabilities are fractions of 2^56, times are in units of 64
//! ns, and the steps of the scale are shifts. p also rises by 0.02 where the delay is above 250 ms, can exceed 1, and
//! decays by 1/64. ECN-capable packets are marked up to and including p = 0.1. Whether the delay is short enough for
//! packets to pass depends on the present delay, not on that of the last update. Packets pass with fewer than two
//! packets of `mtu` waiting, not with exactly two. The burst allowance shrinks by the time between packets sent, and
//! is restored when p is 0 and both delays are below target / 2. A kernel rounds `interval` up to the ticks of its
//! timer: write the rounded value.
//!
//! The effect is negligible in `examples/pie.toml` with 20 replications: 6.30 % dropped and a median wait of 14.6 ms,
//! against 6.31 % and 14.5 ms with Linux's arithmetic. It is large with 100 flows, which need a p of about 0.2: 23.1
//! % and 13.2 ms, against 21.6 % and 7.2 ms (95 % intervals of 0.3 % and 0.5 ms).
//!
//! With `derandomise` drops are rarer than p: one in ceil(0.85 / p) - 1 + 1 / p packets on average, one in five at p
//! = 1/3. The flows need the same number of drops, so p settles higher than without.
//!
//! Deviations: with timestamps and an empty queue the delay is 0 (the pseudo-code keeps the last one). PIE becomes
//! inactive only when the queue is empty; read literally, appendix B would end each active phase at once, because the
//! delay is 0 at its start. No random number is drawn for a packet that does not fit. A kernel updates p for the
//! first time 500 ms after the queue is set up; here the queue counts as set up before, and the first update comes
//! after `interval`.

pub(crate) mod linux;
mod rfc;

use super::early::Level;
use crate::Scope;
use crate::aqm::arithmetic::Arithmetic;
use crate::aqm::{Aqm, Arrival, Backlog, Departure};
use crate::counter::{Below, Each};
use crate::needs::Needs;
use crate::packet::Packet;
use crate::params::{Choice, ParamError, Params as Declared};
use crate::port::turn::Turn;
use crate::rng::Rng;
use crate::units::{Bytes, Length, Probability, Span, Time};
use crate::verdict::{Reason, Verdict};

/// How the queueing delay is measured.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelayFrom {
    /// Each packet's own wait.
    Timestamps,
    /// What waits and how fast it leaves (RFC 8033 section 5.2).
    Rate,
}

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// Target delay.
    #[param(default = "15ms")]
    pub target: Span,
    /// Time between two changes of the probability.
    #[param(default = "15ms")]
    pub interval: Span,
    /// How long a burst after idle time may last without drops.
    #[param(default = "150ms")]
    pub max_burst: Span,
    /// Weight of the delay's distance from the target, 1/s.
    #[param(default = 0.125)]
    pub alpha: f64,
    /// Weight of the delay's change in an interval, 1/s.
    #[param(default = 1.25)]
    pub beta: f64,
    /// How the queueing delay is measured.
    #[param(default = "timestamps")]
    pub delay: DelayFrom,
    /// How drops follow from the probability.
    #[param(flatten)]
    pub drops: Drops,
    /// The queue at which PIE becomes active; without it PIE always is.
    pub active_above: Option<Length>,
    /// A packet is never dropped if at most two packets of this size wait.
    #[param(default = "1500B")]
    pub mtu: Bytes,
    /// Whether ECN-capable packets are marked where others are dropped.
    #[param(default = false)]
    pub ecn: bool,
    /// The probability from which on ECN-capable packets are dropped too.
    #[param(default = 0.1)]
    pub ecn_below: Probability,
    /// Arithmetic: as the RFC writes it, or as Linux computes.
    #[param(default = "rfc")]
    pub arithmetic: Arithmetic,
}

/// How PIE's drops follow from its probability.
#[derive(Declared, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drops {
    /// Whether drops are spread: none before the probabilities add up to 0.85, one at 8.5 at the latest.
    #[param(default = true)]
    pub derandomise: bool,
    /// Whether the probability rises by 0.02 at most at once where it is 0.1 or more.
    #[param(default = true)]
    pub cap: bool,
    /// Whether packets smaller than `mtu` are dropped in proportion to their size.
    #[param(default = false)]
    pub byte_mode: bool,
}

/// One queue's PIE.
#[derive(Clone, Debug)]
pub struct Pie {
    controller: Controller,
    target: Span,
    interval: Span,
    next: Time,
    /// Most packets that one found waiting.
    most: u32,
}

#[derive(Clone, Debug)]
enum Controller {
    Rfc(rfc::Controller),
    Linux(linux::Law, linux::State),
}

impl Params {
    /// # Errors
    /// E201 for a `target`, `interval` or `mtu` of 0, a negative weight, and what Linux's arithmetic cannot state;
    /// E218 when `active-above` needs a link rate or limit that is not known; E215 when the limit keeps it out of
    /// reach; E239 for what Linux does not have.
    pub fn build(self, scope: &Scope) -> Result<Pie, ParamError> {
        ParamError::above_zero("target", self.target)?;
        ParamError::above_zero("interval", self.interval)?;
        ParamError::above_zero("mtu", self.mtu)?;
        ParamError::at_least("alpha", self.alpha, 0.0)?;
        ParamError::at_least("beta", self.beta, 0.0)?;
        let (target, interval) = (self.target, self.interval);
        let controller = match self.arithmetic {
            Arithmetic::Rfc => Controller::Rfc(rfc::Controller::new(self, scope)?),
            Arithmetic::Linux => Controller::Linux(linux::Law::new(&self)?, linux::State::START),
        };
        Ok(Pie { controller, target, interval, next: Time::ZERO + interval, most: 0 })
    }
}

impl Aqm for Pie {
    type Params = Params;

    #[inline]
    fn on_arrival(&mut self, at: Turn<&Arrival>, packet: &mut Packet, rng: &mut Rng) -> Verdict {
        let verdict = match &mut self.controller {
            Controller::Rfc(it) => it.on_arrival(*at, packet.size, rng),
            Controller::Linux(law, it) => it.on_arrival(law, &at.backlog, packet.size, rng),
        };
        if verdict == Verdict::Pass && at.backlog.room {
            self.most = self.most.max(at.backlog.packets);
        }
        verdict
    }

    fn on_departure(&mut self, at: Turn<&Departure>, packet: &mut Packet, _rng: &mut Rng) -> Verdict {
        match &mut self.controller {
            Controller::Rfc(it) => it.on_departure(*at, packet.size),
            Controller::Linux(law, it) => it.on_departure(law, *at, packet.size),
        }
        Verdict::Pass
    }

    fn on_timer(&mut self, now: Turn<Time>, backlog: &Backlog) {
        match &mut self.controller {
            Controller::Rfc(it) => it.update(*now, backlog.bytes),
            Controller::Linux(law, it) => it.update(law, backlog.bytes),
        }
        self.next = *now + self.interval;
    }

    /// Linux's takes the packet out when its parent looks at it.
    fn needs(&self) -> Needs {
        let linux = matches!(self.controller, Controller::Linux(..));
        Needs::DEPARTURES | Needs::TIMER | Needs::TAKING.only_if(linux)
    }

    fn poll_at(&self) -> Option<Time> {
        Some(self.next)
    }

    fn warnings(&self, scope: &Scope) -> Vec<ParamError> {
        let target = Level::of("target", Length::Time(self.target), scope).ok();
        target.and_then(|level| level.out_of_reach("target", scope)).into_iter().collect()
    }

    /// Probability, delays and burst allowance stay; a new interval begins with the next change.
    fn retune(&mut self, _now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        let mut new = params.clone().build(scope)?;
        match (&mut new.controller, &self.controller) {
            (Controller::Rfc(new), Controller::Rfc(old)) => new.resume(old),
            (Controller::Linux(_, new), Controller::Linux(_, old)) => *new = old.clone(),
            (Controller::Rfc(_), _) => Arithmetic::Linux.stays(Arithmetic::Rfc)?,
            (Controller::Linux(..), _) => Arithmetic::Rfc.stays(Arithmetic::Linux)?,
        }
        (new.next, new.most) = (self.next, self.most);
        *self = new;
        Ok(())
    }

    fn gauges(&self, _now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        let (p, delay) = match &self.controller {
            Controller::Rfc(it) => (it.p(), it.delay()),
            Controller::Linux(_, it) => (it.p(), it.delay()),
        };
        each("drop_p", p);
        each("delay_s", delay);
    }

    fn counters(&self, _now: Time, below: &Below, each: &mut Each<'_>) {
        let (p, delay, rate) = match &self.controller {
            Controller::Rfc(it) => (it.p(), it.delay(), it.rate()),
            Controller::Linux(law, it) => (it.p(), it.delay(), it.rate(law)),
        };
        each("prob", p);
        each("delay", (delay * 1e6).floor());
        rate.into_iter().for_each(|bytes_s| each("avg_dq_rate", bytes_s.floor()));
        each("pkts_in", below.fates.queued.packets as f64);
        each("overlimit", below.dropped_for(Reason::Overflow) as f64);
        each("dropped", below.dropped() as f64);
        each("maxq", self.most.into());
        each("ecn_mark", below.fates.marked.packets as f64);
    }
}
