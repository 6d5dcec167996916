//! RTT-aware conditioner: the longer the round trip, the less likely a packet out of profile is to be red.
//!
//! Source: Nandy, Seddigh, Pieda and Ethridge, "Intelligent Traffic Conditioners for Assured Forwarding Based Differentiated
//! Services Networks" (HPN 2000); as described by Habib, Bhargava and Fahmy (2001) ("basic"). The parts common to
//! this family are in `rtt/mod.rs`.
//!
//! ```text
//! above CIR:  out of profile with p = (r - CIR)/r;  then red with q, else yellow
//! q = (minRTT/RTT_a)^2         1 before the first sample
//! ```
//!
//! TCP's rate varies as 1/RTT (Mathis et al. 1997), so equal rates need a loss rate that varies as the squared ratio
//! of the round-trip times. This assumes that senders do not time out. With many flows on a link, q favours long
//! round trips instead.
//!
//! | symbol    | field           | unit  | default  |
//! |-----------|-----------------|-------|----------|
//! | target    | `cir`           | bit/s | -        |
//! | win       | `window`        | s     | 1s       |
//! | p         | `excess`        | -     | linear   |
//! | RTT_a     | `measured`      | -     | edge     |
//! |           | `sampled`       | -     | all      |
//! |           | `rtt`           | -     | smoothed |
//! |           | `part`          | -     | whole    |
//! |           | `max-flows`     | -     | 4096     |
//! |           | `flow-expiry`   | s     | 60s      |
//! | T_x       | `report-every`  | s     | 1s       |
//! |           | `report-delay`  | s     | 0s       |
//! |           | `report-expiry` | s     | 10s      |
//!
//! Deviations: the paper's figure prints p squared; its text and the published rates imply p. `excess` has both.

use crate::Scope;
use crate::conditioner::Report;
use crate::conditioner::rtt::{Contract, Exchanging, Law, Marker, Measuring, Parts};
use crate::params::{ParamError, Params as Declared};
use crate::units::Span;

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// The contract.
    #[param(flatten)]
    pub contract: Contract,
    /// How round-trip times are measured.
    #[param(flatten)]
    pub measuring: Measuring,
    /// How edges exchange them.
    #[param(flatten)]
    pub exchanging: Exchanging,
}

/// One aggregate's conditioner.
pub type RttAware = Marker<Basic>;

/// q by the square of the round-trip times' ratio.
#[derive(Clone, Copy, Debug)]
pub struct Basic;

impl Basic {
    /// q, from an aggregate's own times and the least ones.
    pub fn q(times: Option<(Report, Report)>) -> f64 {
        times.map_or(1.0, |(own, least)| (least.rtt / own.rtt) * (least.rtt / own.rtt))
    }
}

impl Params {
    /// # Errors
    /// A value of 0 where there is none; `report-expiry` not longer than `report-every`.
    pub fn build(self, _scope: &Scope) -> Result<RttAware, ParamError> {
        Marker::new(&self)
    }
}

impl Law for Basic {
    type Params = Params;

    fn parts(params: &Params) -> Parts<'_> {
        let Params { contract, measuring, exchanging } = params;
        Parts { contract, measuring, exchanging, min_rto: Span::ZERO, small_window: None }
    }

    fn of(_params: &Params) -> Result<Self, ParamError> {
        Ok(Self)
    }

    fn q(&self, times: Option<(Report, Report)>) -> f64 {
        Self::q(times)
    }
}
