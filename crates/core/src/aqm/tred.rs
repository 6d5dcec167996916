//! TRED: RED with a higher drop probability for packets that carry fewer tickets.
//!
//! Source: Zhang et al., "Probabilistic Packet Scheduling" (INFOCOM 2002), section II-C.
//!
//! ```text
//! on arrival of a packet with g tickets:
//!   avg: as RED;  InTktRate = TSW(g), InPktRate = TSW(1)
//!   MinTkt: the least g of some interval
//!   g < K MinTkt:     ExpectTktRate = TSW(g), ExpectPktRate = TSW(1)
//!   avg <= min:       enqueue
//!   min < avg < max:  p as in RED;  E = ExpectTktRate/ExpectPktRate
//!                     drop or mark with probability min(1, p (E/g)^n)
//!   max <= avg:       drop
//! ```
//!
//! The packets of a flow above its share carry fewer tickets than E, and the flow loses more of them. Packets of a
//! flow far below its share (K MinTkt or more) do not enter E.
//!
//! | symbol    | field          | unit       | default          |
//! |-----------|----------------|------------|------------------|
//! | min       | `min`          | p, B, s, % | -                |
//! | max       | `max`          | p, B, s, % | -                |
//! | MaxP      | `max-p`        | -          | 0.1              |
//! | n         | `n`            | -          | 3                |
//! | K         | `k`            | -          | 2                |
//! | WinLength | `window`       | s          | 5s               |
//! | interval  | `min-interval` | s          | 5s               |
//! | MinTkt    | `minimum`      | -          | interval         |
//! | wq        | `wq`           | -          | 0.002            |
//! | -         | `weight`       | -          | -                |
//! | -         | `mean-packet`  | B          | 500B             |
//! | -         | `spacing`      | -          | bernoulli        |
//! | -         | `scaling`      | -          | before-spacing   |
//! | -         | `unit`         | -          | packets          |
//! | -         | `beyond`       | -          | drop             |
//! | -         | `ecn`          | -          | false            |
//! | -         | `untagged`     | -          | red              |
//!
//! The paper's queues have `min` 5p, `max` 55p and `max-p` 0.2. `spacing = "bernoulli"` takes the pseudo-code
//! literally. The other two space drops as RED does: `before-spacing` spaces by the scaled p, `after-spacing` by
//! RED's p and scales the result. `minimum = "quantile"` uses the 5 % quantile instead of the minimum, so that a
//! single packet of 1 ticket does not keep all others out of E. `unit = "bytes"` compares tickets per byte. A tag of
//! 0 (`least-tag` of the taggers) makes E/g infinite: such a packet is dropped as soon as packets are dropped at all.
//!
//! Packets without tickets count neither in a rate nor in MinTkt. `untagged` says what happens to them. `red` gives
//! them RED's p; `least` the p of one ticket, or of MinTkt if that is less; `drop` drops all of them (`forced` in
//! tables), whatever the queue. Pure ACKs, which no tagger tags, always get RED's p.
//!
//! Deviations: the paper gives neither the interval of MinTkt nor the spacing of early drops. Here the minimum is
//! that of the present interval and the one before. An interval without packets does not end, and a tag of 0 does not
//! move the quantile. `quantile`, `bytes`, `ecn` and `untagged` are ours. Where the probability reaches 1 a packet is
//! dropped, not marked.

use super::early::{Average, Beyond, Common, Order, Precedence, Profile, Scaled, Spacing, Weight, same_unit};
use crate::Scope;
use crate::aqm::{Aqm, Arrival};
use crate::conditioner::Writes;
use crate::conditioner::pps::{is_untagged, tickets};
use crate::conditioner::pps_tagger::Unit;
use crate::packet::Packet;
use crate::params::{Choice, ParamError, Params as Declared};
use crate::port::turn::Turn;
use crate::rng::Rng;
use crate::units::{Bytes, Span, Time};
use crate::verdict::{Fate, Reason, Verdict};

/// How the least number of tickets is determined.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Minimum {
    /// The least of the present interval and the one before.
    Interval,
    /// The 5 % quantile.
    Quantile,
}

/// What happens to a packet without tickets.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Untagged {
    /// RED's probability.
    Red,
    /// That of one ticket, or of the least seen.
    Least,
    /// It is dropped.
    Drop,
}

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// The thresholds.
    #[param(flatten)]
    pub profile: Profile,
    /// Exponent of E/g.
    #[param(default = 3.0)]
    pub n: f64,
    /// The ticket level that packets are compared with.
    #[param(flatten)]
    pub expected: Expected,
    /// Weight of one arrival in the average.
    #[param(flatten)]
    pub weight: Weight,
    /// Packet size used to count what an idle link could have sent.
    #[param(default = "500B")]
    pub mean_packet: Bytes,
    /// How early drops are spread over the arrivals.
    #[param(default = "bernoulli")]
    pub spacing: Spacing,
    /// Whether the spacing takes the scaled probability or RED's own.
    #[param(default = "before-spacing")]
    pub scaling: Order,
    /// What happens when the average is at its maximum or above.
    #[param(default = "drop")]
    pub beyond: Beyond,
    /// Whether ECN-capable packets are marked where others are dropped early.
    #[param(default = false)]
    pub ecn: bool,
    /// What happens to a packet without tickets, unless it is a pure ACK.
    #[param(default = "red")]
    pub untagged: Untagged,
}

/// How E is found.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Expected {
    /// Packets with at least this many times the least tickets do not count towards E.
    #[param(default = 2.0)]
    pub k: f64,
    /// Window of the rates.
    #[param(default = "5s")]
    pub window: Span,
    /// Interval over which the least tickets are found.
    #[param(default = "5s")]
    pub min_interval: Span,
    /// How the least number of tickets is determined.
    #[param(default = "interval")]
    pub minimum: Minimum,
    /// Whether tickets are compared by packet or by byte.
    #[param(default = "packets")]
    pub unit: Unit,
}

/// One queue's TRED.
#[derive(Clone, Debug)]
pub struct Tred {
    average: Average,
    precedence: Precedence,
    expectation: Expectation,
    scaling: Order,
    n: f64,
    untagged: Untagged,
    /// Packets that `untagged` made something of.
    met: u64,
}

/// What the link expects of a packet.
#[derive(Clone, Debug)]
struct Expectation {
    k: f64,
    unit: Unit,
    least: Least,
    /// Tickets and packets (or bytes) per second: all, and those below K MinTkt.
    all: Pair,
    expected: Pair,
}

/// Two rates over the same events, so that their ratio is a mean.
#[derive(Clone, Debug)]
struct Pair {
    window: f64,
    /// Tickets, packets (or bytes), each as [`crate::estimate::EventRate`] has it.
    rates: [f64; 2],
    last: Option<Time>,
}

impl Pair {
    fn new(window: Span) -> Self {
        Self { window: window.seconds(), rates: [0.0; 2], last: None }
    }

    #[inline]
    fn update(&mut self, now: Time, tickets: f64, units: f64) {
        let last = self.last.unwrap_or(now);
        let span = now.since(last).seconds() + self.window;
        let [in_tickets, in_units] = self.rates.map(|rate| rate * self.window);
        self.rates = [(in_tickets + tickets) / span, (in_units + units) / span];
        self.last = Some(last.max(now));
    }

    /// Tickets per packet (or byte); `None` before the first.
    fn mean(&self) -> Option<f64> {
        let [tickets, units] = self.rates;
        (units > 0.0).then(|| tickets / units)
    }

    fn rewindow(&mut self, window: Span) {
        self.window = window.seconds();
    }
}

impl Expectation {
    fn new(params: &Expected) -> Self {
        let (all, expected) = (Pair::new(params.window), Pair::new(params.window));
        let least = Least {
            minimum: params.minimum,
            interval: params.min_interval,
            since: Time::ZERO,
            least: [f64::INFINITY; 2],
        };
        Self { k: params.k, unit: params.unit, least, all, expected }
    }

    /// Takes a packet's tickets; E/g.
    #[inline]
    fn take(&mut self, now: Time, tickets: f64, size: u32) -> f64 {
        let units = self.unit.of(size);
        let density = tickets / units;
        self.all.update(now, tickets, units);
        if density < self.k * self.least.update(now, density) {
            self.expected.update(now, tickets, units);
        }
        self.ratio(density)
    }

    /// E/g of a packet that is not taken and has one ticket, or as many as the least that was seen.
    fn ratio_of_least(&self, size: u32) -> f64 {
        self.ratio(self.least.value().min(1.0 / self.unit.of(size)))
    }

    /// E/g of a packet with so many tickets.
    #[inline]
    fn ratio(&self, density: f64) -> f64 {
        let expected = self.expected.mean().unwrap_or(density);
        if density > 0.0 { expected / density } else { f64::INFINITY }
    }

    fn retune(&mut self, params: &Expected) {
        (self.k, self.unit, self.least.minimum, self.least.interval) =
            (params.k, params.unit, params.minimum, params.min_interval);
        self.all.rewindow(params.window);
        self.expected.rewindow(params.window);
    }
}

/// Share of packets below the quantile, and by how much one packet moves it.
const QUANTILE: f64 = 0.05;
const STEP: f64 = 0.05;

/// The least number of tickets seen: of the present interval, and of the one before.
#[derive(Clone, Debug)]
struct Least {
    minimum: Minimum,
    interval: Span,
    since: Time,
    least: [f64; 2],
}

impl Least {
    /// Takes a packet's tickets; the least so far, of this packet too.
    #[inline]
    fn update(&mut self, now: Time, tickets: f64) -> f64 {
        match self.minimum {
            Minimum::Interval => self.tumble(now, tickets),
            Minimum::Quantile if tickets > 0.0 => self.track(tickets),
            Minimum::Quantile => {}
        }
        self.value()
    }

    /// The least so far; infinite before the first.
    #[inline]
    fn value(&self) -> f64 {
        self.least[0].min(self.least[1])
    }

    fn tumble(&mut self, now: Time, tickets: f64) {
        if now.since(self.since) >= self.interval {
            self.since = now;
            self.least = [f64::INFINITY, self.least[0]];
        }
        self.least[0] = self.least[0].min(tickets);
    }

    /// Up a little for values above, down a lot for values below: at rest when 5 % are below.
    fn track(&mut self, tickets: f64) {
        let [quantile, _] = self.least;
        let moved = if tickets < quantile { 1.0 - STEP * (1.0 - QUANTILE) } else { 1.0 + STEP * QUANTILE };
        self.least = [if quantile.is_finite() { quantile * moved } else { tickets }, f64::INFINITY];
    }
}

impl Expected {
    fn check(&self) -> Result<(), ParamError> {
        if self.k <= 1.0 {
            return Err(ParamError::new("k", "E201", format!("`k` is {}", self.k)).help("must be above 1"));
        }
        ParamError::above_zero("window", self.window)?;
        ParamError::above_zero("min-interval", self.min_interval)
    }
}

impl Params {
    /// # Errors
    /// As RED's; E201 for `n` below 0, `k` not above 1, `window` or `min-interval` of 0.
    pub fn build(self, scope: &Scope) -> Result<Tred, ParamError> {
        ParamError::at_least("n", self.n, 0.0)?;
        self.expected.check()?;
        let common = self.common();
        Profile::any_in_reach([&self.profile], scope)?;
        let (precedence, unit) = common.precedence(&self.profile, scope)?;
        let average = common.average(unit, scope)?;
        let expectation = Expectation::new(&self.expected);
        let (scaling, n, untagged) = (self.scaling, self.n, self.untagged);
        Ok(Tred { average, precedence, expectation, scaling, n, untagged, met: 0 })
    }

    fn common(&self) -> Common {
        let Self { mean_packet, spacing, beyond, ecn, .. } = *self;
        Common { weight: self.weight, mean_packet, spacing, beyond, ecn }
    }
}

impl Tred {
    /// Where E/g is infinite p is 1, unless n is 0; the factor is finite, so that a p of 0 stays one.
    #[inline]
    fn scaled(&self, ratio: f64) -> Scaled {
        let exponent = if ratio.is_finite() { self.n } else { f64::from(u8::from(self.n > 0.0)) };
        Scaled { ratio: ratio.min(f64::MAX), exponent, order: self.scaling }
    }

    fn untagged(&mut self, average: f64, packet: &Packet, rng: &mut Rng) -> Option<Verdict> {
        if self.untagged == Untagged::Red || !is_untagged(packet) {
            return None;
        }
        self.met += 1;
        if self.untagged == Untagged::Drop {
            return Some(Verdict::Drop(Reason::Forced));
        }
        let scaled = self.scaled(self.expectation.ratio_of_least(packet.size));
        Some(self.precedence.decide_scaled(average, scaled, rng))
    }
}

impl Aqm for Tred {
    type Params = Params;

    #[inline]
    fn on_arrival(&mut self, at: Turn<&Arrival>, packet: &mut Packet, rng: &mut Rng) -> Verdict {
        let average = self.average.on_arrival(*at);
        let Some(tickets) = tickets(packet) else {
            let special = self.untagged(average, packet, rng);
            return special.unwrap_or_else(|| self.precedence.decide(average, at.backlog.ecn, rng));
        };
        let ratio = self.expectation.take(at.now, tickets, packet.size);
        let scaled = self.scaled(ratio);
        self.precedence.decide_scaled(average, scaled, rng)
    }

    fn on_fate(&mut self, _at: Turn<&Arrival>, _packet: &Packet, fate: Fate) {
        self.precedence.on_fate(fate);
    }

    fn reads(&self) -> Option<Writes> {
        Some(Writes::Tickets)
    }

    fn warnings(&self, scope: &Scope) -> Vec<ParamError> {
        self.precedence.warnings(self.average.unit(), scope)
    }

    fn retune(&mut self, _now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        let mut new = params.clone().build(scope)?;
        same_unit(self.average.unit(), new.average.unit(), "min")?;
        new.average.resume(&self.average);
        new.precedence.resume(&self.precedence);
        self.expectation.retune(&params.expected);
        *self = Self { expectation: self.expectation.clone(), met: self.met, ..new };
        Ok(())
    }

    fn gauges(&self, _now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        each(self.average.gauge(), self.average.value());
        each("drop_p", self.precedence.drop_p(self.average.value()));
        each("incoming_tickets_s", self.expectation.all.rates[0]);
        each("average_tickets", self.expectation.all.mean().unwrap_or_default());
        each("expected_tickets", self.expectation.expected.mean().unwrap_or_default());
    }

    fn tallies(&self, each: &mut dyn FnMut(&'static str, u64)) {
        if self.untagged != Untagged::Red {
            each("untagged_packets", self.met);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::EventRate;
    use proptest::prelude::*;

    proptest! {
        /// Bit for bit.
        #[test]
        fn a_pair_is_two_rates(steps in prop::collection::vec((0u64..10_000_000, 0.0f64..1e6, 1.0f64..1500.0), 1..50)) {
            let window = Span::from_ms(7);
            let (mut pair, mut apart) = (Pair::new(window), [EventRate::new(window); 2]);
            let mut now = 5;
            for (gap, tickets, units) in steps {
                now += gap;
                let at = Time::from_ns(now);
                pair.update(at, tickets, units);
                apart[0].update(at, tickets);
                apart[1].update(at, units);
                prop_assert_eq!(pair.rates, apart.map(|rate| rate.rate()));
            }
        }
    }
}
