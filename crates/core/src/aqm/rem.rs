//! REM: random exponential marking. A price grows while queue or load exceed their target. The probability is
//! exponential in the price, so the prices along a path add up.
//!
//! Source: Athuraliya, Low, Li and Yin, "REM: Active Queue Management", IEEE Network 15(3), 2001: the price with the
//! rate mismatch, not the variant that uses the change of the queue instead.
//!
//! ```text
//! every T:     price = max(0, price + gamma (alpha (q - qref) + x - c))
//! on arrival:  mark or drop with probability 1 - phi^(-price)
//! ```
//!
//! x is the number of packets that arrived in the interval, c the number that the link can send in one.
//!
//! | symbol | field         | unit       | default |
//! |--------|---------------|------------|---------|
//! | qref   | `reference`   | p, B, s, % | 20p     |
//! | gamma  | `gamma`       | 1/p        | 0.001   |
//! | alpha  | `alpha`       | -          | 0.1     |
//! | phi    | `phi`         | -          | 1.001   |
//! | T      | `interval`    | s          | 2ms     |
//! |        | `mean-packet` | B          | 1000B   |
//! |        | `ecn`         | -          | false   |
//!
//! x and c are counted in bytes on the link, where `mean-packet` bytes are one packet. With `reference` in bytes or
//! time, so is the queue.
//!
//! gamma, alpha, phi and qref are those of the paper's simulations and of ns-2 2.35 (`Queue/REM`, where alpha is
//! fixed). T is ns-2's `pupdtime_`. T is not merely an integration step: halving T doubles the weight of the queue in
//! the price.
//!
//! Deviations: none. (ns-2 can average x over intervals; by default (`inw_` 1) it does not.)

use super::early::level::link_rate;
use super::early::{Level, Unit, same_unit};
use crate::Scope;
use crate::accounting::Recount;
use crate::aqm::{Aqm, Arrival, Backlog};
use crate::math;
use crate::needs::Needs;
use crate::packet::Packet;
use crate::params::{ParamError, Params as Declared};
use crate::port::turn::Turn;
use crate::rng::Rng;
use crate::units::{Bytes, Length, Span, Time};
use crate::verdict::{Reason, Verdict};

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// Target queue length.
    #[param(default = "20p")]
    pub reference: Length,
    /// How much one excess packet raises the price.
    #[param(default = 0.001)]
    pub gamma: f64,
    /// Weight of the queue relative to the load.
    #[param(default = 0.1)]
    pub alpha: f64,
    /// Base of the probability; above 1.
    #[param(default = 1.001)]
    pub phi: f64,
    /// Time between two changes of the price.
    #[param(default = "2ms")]
    pub interval: Span,
    /// Bytes that count as a packet.
    #[param(default = "1000B")]
    pub mean_packet: Bytes,
    /// Whether ECN-capable packets are marked where others are dropped.
    #[param(default = false)]
    pub ecn: bool,
}

/// One queue's REM.
#[derive(Clone, Debug)]
pub struct Rem {
    gamma: f64,
    alpha: f64,
    phi: f64,
    interval: Span,
    unit: Unit,
    /// Of a packet, in the unit.
    one: f64,
    on_link: Recount,
    reference: f64,
    /// c, packets in an interval.
    sent: f64,
    early: Verdict,
    price: f64,
    p: f64,
    /// Bytes of a packet.
    mean: f64,
    /// x, packets since the last change.
    came: f64,
    next: Time,
}

impl Params {
    /// # Errors
    /// E201 for a negative `gamma` or `alpha`, `phi` not above 1, an `interval` or `mean-packet` of 0; E215 when
    /// `reference` is not below the queue's limit; E218 without a link rate, or a limit that `reference` is a share of.
    pub fn build(self, scope: &Scope) -> Result<Rem, ParamError> {
        self.bounds()?;
        let level = Level::of("reference", self.reference, scope)?;
        level.below_limit(("reference", self.reference), scope)?;
        let one = level.unit.of(1, self.mean_packet.get());
        let early = if self.ecn { Verdict::Mark } else { Verdict::Drop(Reason::Early) };
        let mean = self.mean_packet.get() as f64;
        let sent = link_rate("aqm", scope)?.bytes_s() / mean * self.interval.seconds();
        let Self { gamma, alpha, phi, interval, .. } = self;
        Ok(Rem {
            gamma,
            alpha,
            phi,
            interval,
            unit: level.unit,
            one,
            on_link: scope.on_link(),
            reference: level.value / one,
            sent,
            early,
            price: 0.0,
            p: 0.0,
            mean,
            came: 0.0,
            next: Time::ZERO + interval,
        })
    }

    fn bounds(&self) -> Result<(), ParamError> {
        ParamError::at_least("gamma", self.gamma, 0.0)?;
        ParamError::at_least("alpha", self.alpha, 0.0)?;
        if self.phi <= 1.0 {
            return Err(ParamError::new("phi", "E201", format!("`phi` is {}", self.phi)).help("must be above 1"));
        }
        ParamError::above_zero("interval", self.interval)?;
        ParamError::above_zero("mean-packet", self.mean_packet)
    }
}

impl Rem {
    fn set_price(&mut self, price: f64) {
        self.price = price.max(0.0);
        self.p = 1.0 - math::pow(self.phi, -self.price);
    }
}

impl Aqm for Rem {
    type Params = Params;

    #[inline]
    fn on_arrival(&mut self, _at: Turn<&Arrival>, packet: &mut Packet, rng: &mut Rng) -> Verdict {
        self.came += f64::from(self.on_link.bytes(packet.size)) / self.mean;
        if rng.uniform() < self.p { self.early } else { Verdict::Pass }
    }

    fn on_timer(&mut self, now: Turn<Time>, backlog: &Backlog) {
        let queue = self.unit.of(backlog.packets, backlog.bytes) / self.one;
        let excess = self.alpha * (queue - self.reference) + self.came - self.sent;
        self.set_price(self.price + self.gamma * excess);
        self.came = 0.0;
        self.next = *now + self.interval;
    }

    fn needs(&self) -> Needs {
        Needs::TIMER
    }

    fn poll_at(&self) -> Option<Time> {
        Some(self.next)
    }

    fn warnings(&self, scope: &Scope) -> Vec<ParamError> {
        let reference = Level { unit: self.unit, value: self.reference * self.one };
        reference.out_of_reach("reference", scope).into_iter().collect()
    }

    /// The price stays; a new interval begins with the next change.
    fn retune(&mut self, _now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        let mut new = params.clone().build(scope)?;
        same_unit(self.unit, new.unit, "reference")?;
        (new.came, new.next) = (self.came, self.next);
        new.set_price(self.price);
        *self = new;
        Ok(())
    }

    fn gauges(&self, _now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        each("price", self.price);
        each("drop_p", self.p);
    }
}
