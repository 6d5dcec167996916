//! RTT-RTO conditioner: the chance that a packet out of profile is red depends on round-trip time and time-out.
//!
//! Source: Habib, Bhargava and Fahmy, "A Round Trip Time and Time-out Aware Traffic Conditioner for Differentiated
//! Services Networks" (2001), equation (9) and Figure 1. The parts common to this family are in `rtt/mod.rs`.
//!
//! ```text
//! above CIR:  out of profile with p = (r - CIR)/r;  then red with q, else yellow
//! q = (minRTT/RTT_a)^2 (minRTO/RTO_a)      product;  root: its square root
//! q = RTT_a/RTO_a                          for the aggregate that has the least times
//! q = 0.5                                  before the first sample
//! ```
//!
//! With many flows most losses lead to time-outs, and TCP's rate also varies as 1/RTO (Padhye et al. 1998). The
//! second rule corrects a flaw of the basic conditioner, in which the q of the aggregate with the least times is
//! always 1.
//!
//! | symbol    | field           | unit  | default  |
//! |-----------|-----------------|-------|----------|
//! | target    | `cir`           | bit/s | -        |
//! | win       | `window`        | s     | 1s       |
//! | p         | `excess`        | -     | linear   |
//! | minRTO    | `min-rto`       | s     | 200ms    |
//! | q         | `law`           | -     | product  |
//! | minimum   | `least`         | -     | both     |
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
//! Deviations: the paper approximates the time-out "from RTT using the RTT variance"; here RTO_a = max(minRTO, SRTT +
//! 4 RTTVAR), without back-off. The paper does not say which aggregate has the least times; `least` offers the
//! readings, with ties within 1 %.

use crate::Scope;
use crate::conditioner::Report;
use crate::conditioner::rtt::{Contract, Exchanging, Law, Marker, Measuring, Parts};
use crate::params::{Choice, ParamError, Params as Declared};
use crate::units::Span;

/// How q combines the two ratios.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combined {
    /// Their product, as in the figure.
    Product,
    /// Its square root, as equation (9) can be read.
    Root,
}

/// Which aggregate has q = RTT/RTO.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Least {
    /// The one whose round-trip time and time-out are both least.
    Both,
    /// The one whose round-trip time is least.
    Rtt,
    /// Those whose q would be 0.99 at least.
    Q,
    /// None: its q is 1.
    None,
}

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// The contract.
    #[param(flatten)]
    pub contract: Contract,
    /// Least retransmission time-out of the senders; above zero.
    #[param(default = "200ms")]
    pub min_rto: Span,
    /// How q combines the two ratios.
    #[param(default = "product")]
    pub law: Combined,
    /// Which aggregate has q = RTT/RTO.
    #[param(default = "both")]
    pub least: Least,
    /// How round-trip times are measured.
    #[param(flatten)]
    pub measuring: Measuring,
    /// How edges exchange times.
    #[param(flatten)]
    pub exchanging: Exchanging,
}

/// One aggregate's conditioner.
pub type RttRto = Marker<TimeoutAware>;

/// q by round-trip time and time-out.
#[derive(Clone, Copy, Debug)]
pub struct TimeoutAware {
    law: Combined,
    least: Least,
}

/// Times within this factor of the least are least.
const TIE: f64 = 1.01;
/// q before the first sample.
const UNKNOWN: f64 = 0.5;

impl Params {
    /// # Errors
    /// As `rtt-aware`; `min-rto` of 0.
    pub fn build(self, _scope: &Scope) -> Result<RttRto, ParamError> {
        Marker::new(&self)
    }
}

impl TimeoutAware {
    fn is_least(&self, q: f64, own: Report, least: Report) -> bool {
        let rtt = own.rtt <= least.rtt * TIE;
        match self.least {
            Least::Both => rtt && own.rto <= least.rto * TIE,
            Least::Rtt => rtt,
            Least::Q => q * TIE >= 1.0,
            Least::None => false,
        }
    }
}

impl Law for TimeoutAware {
    type Params = Params;

    fn parts(params: &Params) -> Parts<'_> {
        let Params { contract, min_rto, measuring, exchanging, .. } = params;
        Parts { contract, measuring, exchanging, min_rto: *min_rto, small_window: None }
    }

    fn of(params: &Params) -> Result<Self, ParamError> {
        if params.min_rto == Span::ZERO {
            let error = ParamError::new("min-rto", "E201", "`min-rto` is 0".into());
            return Err(
                error.help("must be above 0, as no time-out is shorter than a tick of the sender's clock: write 200ms (Linux) or 1s (RFC 6298)")
            );
        }
        Ok(Self { law: params.law, least: params.least })
    }

    fn q(&self, times: Option<(Report, Report)>) -> f64 {
        let Some((own, least)) = times else { return UNKNOWN };
        let product = (least.rtt / own.rtt) * (least.rtt / own.rtt) * (least.rto / own.rto);
        let q = match self.law {
            Combined::Product => product,
            Combined::Root => product.sqrt(),
        };
        if self.is_least(q, own, least) { own.rtt / own.rto } else { q }
    }
}
