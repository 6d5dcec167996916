//! Conditioners that know round-trip times: the common parts of RTT-aware, RTT-RTO and RTT-SW.
//!
//! Source: Habib, Bhargava and Fahmy, "A Round Trip Time and Time-out Aware Traffic Conditioner for Differentiated
//! Services Networks" (2001), Figure 1.
//!
//! ```text
//! r = TSW(aggregate)
//! r <= CIR:  green;  else p = (r - CIR)/r
//! window of the flow < k:  green                       RTT-SW
//! out of profile with probability p, else green
//! out of profile:  red with probability q, else yellow
//! ```
//!
//! An instance is an aggregate: the flows of one edge to another under one contract. It measures the round-trip time
//! of its flows ([`Measure`]), reports it to the other aggregates ([`Exchange`]), and computes q from its own time
//! and the least.

mod exchange;
mod measure;
mod small_window;

pub use exchange::{Exchange, Exchanging};
pub use measure::{Estimate, Measure, Measured, Measuring, Part, Sampled};
pub use small_window::{Protection, SmallWindow};

use crate::Scope;
use crate::conditioner::{Conditioner, Outbox, Passage, Publisher, Report};
use crate::estimate::Tsw;
use crate::needs::Needs;
use crate::packet::{Colour, FlowId, Packet};
use crate::params::{Choice, ParamError, Params as Declared};
use crate::port::turn::Turn;
use crate::rng::Rng;
use crate::units::{BitRate, Span, Time};
use crate::verdict::Verdict;

/// How much of the excess over the contract is out of profile.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excess {
    /// p, as in the text.
    Linear,
    /// p squared, as printed in the figure.
    Squared,
}

/// What an aggregate is promised.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Contract {
    /// Committed information rate of the aggregate (the paper's target rate).
    pub cir: BitRate,
    /// Window of the rate estimate.
    #[param(default = "1s")]
    pub window: Span,
    /// How much of the excess over `cir` is out of profile.
    #[param(default = "linear")]
    pub excess: Excess,
}

/// An aggregate's rate against its contract.
#[derive(Clone, Debug)]
struct Meter {
    cir: f64,
    excess: Excess,
    rate: Tsw,
}

impl Meter {
    fn new(contract: &Contract) -> Result<Self, ParamError> {
        ParamError::above_zero("cir", contract.cir)?;
        ParamError::above_zero("window", contract.window)?;
        let cir = contract.cir.bytes_s();
        Ok(Self { cir, excess: contract.excess, rate: Tsw::new(contract.window, cir) })
    }

    /// Probability that this packet is out of profile; `None` while the contract is kept.
    fn excess(&mut self, now: Time, size: u32) -> Option<f64> {
        let rate = self.rate.update(now, f64::from(size));
        let p = (rate > self.cir).then(|| (rate - self.cir) / rate)?;
        Some(match self.excess {
            Excess::Linear => p,
            Excess::Squared => p * p,
        })
    }

    fn resume(&mut self, old: &Self, window: Span) {
        self.rate = old.rate;
        self.rate.rewindow(window);
    }
}

/// What a conditioner is made of.
#[derive(Debug)]
pub struct Parts<'a> {
    /// The contract.
    pub contract: &'a Contract,
    /// How times are measured.
    pub measuring: &'a Measuring,
    /// How they are exchanged.
    pub exchanging: &'a Exchanging,
    /// Least time-out.
    pub min_rto: Span,
    /// Which windows are protected.
    pub small_window: Option<&'a SmallWindow>,
}

/// How q follows from round-trip times and time-outs.
pub trait Law: Sized + Clone + std::fmt::Debug {
    /// What a scenario states.
    type Params: Clone;

    /// What the conditioner is made of.
    fn parts(params: &Self::Params) -> Parts<'_>;

    /// The law itself.
    ///
    /// # Errors
    /// The offending parameter.
    fn of(params: &Self::Params) -> Result<Self, ParamError>;

    /// Probability that a packet out of profile is red rather than yellow, from the aggregate's own times and the least
    /// ones; `None`: nothing has been measured yet.
    fn q(&self, times: Option<(Report, Report)>) -> f64;
}

/// Packets by what became of them.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    metered: u64,
    above: u64,
    protected: u64,
    red: u64,
    yellow: u64,
    q_sum: f64,
}

/// A conditioner that knows round-trip times, by its law.
#[derive(Clone, Debug)]
pub struct Marker<L> {
    law: L,
    meter: Meter,
    measure: Measure,
    exchange: Exchange,
    protection: Protection,
    counts: Counts,
}

impl<L: Law> Marker<L> {
    /// The conditioner of an aggregate.
    ///
    /// # Errors
    /// The offending parameter.
    pub fn new(params: &L::Params) -> Result<Self, ParamError> {
        let Parts { contract, measuring, exchanging, min_rto, small_window } = L::parts(params);
        Ok(Self {
            law: L::of(params)?,
            meter: Meter::new(contract)?,
            measure: Measure::new(measuring, min_rto)?,
            exchange: Exchange::new(exchanging)?,
            protection: small_window.map_or_else(|| Ok(Protection::default()), Protection::new)?,
            counts: Counts::default(),
        })
    }

    /// q at `now`.
    fn q(&self, now: Time) -> f64 {
        let own = self.measure.report();
        self.law.q(own.map(|own| (own, self.exchange.least(now, own)))).clamp(0.0, 1.0)
    }

    /// The colour that chance gives to a packet above the contract.
    fn draw(&mut self, now: Time, p: f64, rng: &mut Rng) -> Colour {
        if rng.uniform() >= p {
            return Colour::Green;
        }
        let q = self.q(now);
        self.counts.q_sum += q;
        if rng.uniform() < q {
            self.counts.red += 1;
            return Colour::Red;
        }
        self.counts.yellow += 1;
        Colour::Yellow
    }
}

impl<L: Law> Conditioner for Marker<L> {
    type Params = L::Params;

    fn forward(&mut self, at: Turn<&Passage<'_>>, packet: &mut Packet, rng: &mut Rng) -> Verdict {
        let window = self.measure.on_forward(*at, packet);
        self.counts.metered += 1;
        packet.colour = Colour::Green;
        let Some(p) = self.meter.excess(at.now, packet.size) else { return Verdict::Pass };
        self.counts.above += 1;
        let protected = self.protection.protects(window);
        if protected {
            self.counts.protected += 1;
        }
        if !protected || self.protection.owes() {
            let drawn = self.draw(at.now, p, rng);
            packet.colour = self.protection.settle(protected, drawn, packet.size);
        }
        Verdict::Pass
    }

    fn reverse(&mut self, at: Turn<&Passage<'_>>, packet: &mut Packet, _rng: &mut Rng) {
        self.measure.on_reverse(*at, packet);
    }

    fn on_timer(&mut self, now: Turn<Time>, outbox: &mut Outbox) {
        self.exchange.on_timer(*now, self.measure.report(), outbox);
    }

    fn skip_timers(&mut self, now: Turn<Time>) {
        self.exchange.skip(*now);
    }

    fn on_report(&mut self, now: Turn<Time>, from: Publisher, report: &Report) {
        self.exchange.on_report(*now, from, *report);
    }

    fn needs(&self) -> Needs {
        self.measure.needs() | Needs::TIMER
    }

    fn poll_at(&self) -> Option<Time> {
        Some(self.exchange.next_at())
    }

    fn retune(&mut self, _now: Time, params: &L::Params, _scope: &Scope) -> Result<(), ParamError> {
        let mut next = Self::new(params)?;
        let Parts { contract, measuring, exchanging, min_rto, .. } = L::parts(params);
        next.meter.resume(&self.meter, contract.window);
        self.measure.retune(measuring, min_rto);
        self.exchange.retune(exchanging);
        self.protection.retune(next.protection);
        (self.law, self.meter) = (next.law, next.meter);
        Ok(())
    }

    fn forget(&mut self, flow: Turn<FlowId>) {
        self.measure.forget(*flow);
    }

    fn gauges(&self, now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        each("average_rate_bytes_s", self.meter.rate.rate());
        each("q", self.q(now));
        if let Some(own) = self.measure.report() {
            let least = self.exchange.least(now, own);
            let all = [("rtt_s", own.rtt), ("rto_s", own.rto), ("least_rtt_s", least.rtt), ("least_rto_s", least.rto)];
            all.into_iter().for_each(|(name, value)| each(name, value));
        }
    }

    fn tallies(&self, each: &mut dyn FnMut(&'static str, u64)) {
        let counts = &self.counts;
        each("metered", counts.metered);
        each("above_target", counts.above);
        each("protected", counts.protected);
        each("drawn_yellow", counts.yellow);
        each("drawn_red", counts.red);
        each("q_sum_millionths", (counts.q_sum * 1e6) as u64);
        each("rtt_samples", self.measure.samples());
        each("flows_without_room", self.measure.refused());
    }
}
