//! RTT-SW conditioner: RTT-aware, with flows of small windows protected from loss.
//!
//! Source: Habib, Bhargava and Fahmy, "A Round Trip Time and Time-out Aware Traffic Conditioner for Differentiated
//! Services Networks" (2001); the protection is that of Feroz et al. (IWQoS 2000). The parts common to this family
//! are in `rtt/mod.rs`, the protection in `rtt/small_window.rs`.
//!
//! ```text
//! above CIR:  window of the flow < k:  green
//!             else out of profile with p = (r - CIR)/r;  then red with q = (minRTT/RTT_a)^2, else yellow
//! ```
//!
//! | symbol    | field           | unit     | default  |
//! |-----------|-----------------|----------|----------|
//! | target    | `cir`           | bit/s    | -        |
//! | win       | `window`        | s        | 1s       |
//! | p         | `excess`        | -        | linear   |
//! | k         | `small-window`  | segments | 3        |
//! | sw_debt   | `max-debt`      | B        | 0B       |
//! | RTT_a     | `measured`      | -        | edge     |
//! |           | `sampled`       | -        | all      |
//! |           | `rtt`           | -        | smoothed |
//! |           | `part`          | -        | whole    |
//! |           | `max-flows`     | -        | 4096     |
//! |           | `flow-expiry`   | s        | 60s      |
//! | T_x       | `report-every`  | s        | 1s       |
//! |           | `report-delay`  | s        | 0s       |
//! |           | `report-expiry` | s        | 10s      |
//!
//! Deviations: those of `rtt-aware`. `max-debt` keeps the aggregate within its profile, which the paper only
//! proposes.

use crate::Scope;
use crate::conditioner::Report;
use crate::conditioner::rtt::{Contract, Exchanging, Law, Marker, Measuring, Parts, SmallWindow};
use crate::conditioner::rtt_aware::Basic;
use crate::params::{ParamError, Params as Declared};
use crate::units::Span;

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// The contract.
    #[param(flatten)]
    pub contract: Contract,
    /// Which flows are protected.
    #[param(flatten)]
    pub protection: SmallWindow,
    /// How round-trip times and windows are measured.
    #[param(flatten)]
    pub measuring: Measuring,
    /// How edges exchange round-trip times.
    #[param(flatten)]
    pub exchanging: Exchanging,
}

/// One aggregate's conditioner.
pub type RttSw = Marker<Sparing>;

/// The basic law; small windows are protected in addition.
#[derive(Clone, Copy, Debug)]
pub struct Sparing;

impl Params {
    /// # Errors
    /// As `rtt-aware`; `small-window` below 2.
    pub fn build(self, _scope: &Scope) -> Result<RttSw, ParamError> {
        Marker::new(&self)
    }
}

impl Law for Sparing {
    type Params = Params;

    fn parts(params: &Params) -> Parts<'_> {
        let Params { contract, protection, measuring, exchanging } = params;
        Parts { contract, measuring, exchanging, min_rto: Span::ZERO, small_window: Some(protection) }
    }

    fn of(_params: &Params) -> Result<Self, ParamError> {
        Ok(Self)
    }

    fn q(&self, times: Option<(Report, Report)>) -> f64 {
        Basic::q(times)
    }
}
