//! TSW3CM, with flows of small windows protected from loss.
//!
//! Source: Habib, Bhargava and Fahmy, "A Round Trip Time and Time-out Aware Traffic Conditioner for Differentiated
//! Services Networks" (2001): the standard conditioner with SW; the protection is that of Feroz et al. (IWQoS 2000), in
//! `rtt/small_window.rs`. The colours are those of `tsw3cm` (RFC 2859).
//!
//! ```text
//! avg > CIR and window of the flow < k:  green;  else as TSW3CM
//! ```
//!
//! | symbol  | field          | unit     | default |
//! |---------|----------------|----------|---------|
//! | CTR     | `cir`          | bit/s    | -       |
//! | PTR     | `pir`          | bit/s    | -       |
//! | W       | `window`       | s        | 1s      |
//! | k       | `small-window` | segments | 3       |
//! | sw_debt | `max-debt`     | B        | 0B      |
//! |         | `measured`     | -        | edge    |
//! |         | `max-flows`    | -        | 4096    |
//! |         | `flow-expiry`  | s        | 60s     |
//!
//! Deviations: those of the two parts.

use crate::Scope;
use crate::conditioner::rtt::{Measured, Protection, SmallWindow};
use crate::conditioner::{Conditioner, Passage, tsw3cm};
use crate::estimate::MicroFlows;
use crate::needs::Needs;
use crate::packet::{Colour, FlowId, Packet};
use crate::params::{ParamError, Params as Declared};
use crate::port::turn::Turn;
use crate::rng::Rng;
use crate::units::{Span, Time};
use crate::verdict::Verdict;

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// The marker.
    #[param(flatten)]
    pub tsw3cm: tsw3cm::Params,
    /// Which flows are protected.
    #[param(flatten)]
    pub protection: SmallWindow,
    /// Who measures windows.
    #[param(default = "edge")]
    pub measured: Measured,
    /// Most flows remembered at any one time; above zero.
    #[param(default = 4096)]
    pub max_flows: u32,
    /// Silence after which a flow is forgotten.
    #[param(default = "60s")]
    pub flow_expiry: Span,
}

/// One aggregate's marker.
#[derive(Clone, Debug)]
pub struct Tsw3CmSw {
    marker: tsw3cm::Tsw3Cm,
    measured: Measured,
    flows: MicroFlows,
    protection: Protection,
    protected: u64,
}

impl Params {
    /// # Errors
    /// As `tsw3cm`; `small-window` below 2; `max-flows` or `flow-expiry` of 0.
    pub fn build(self, scope: &Scope) -> Result<Tsw3CmSw, ParamError> {
        ParamError::above_zero("max-flows", self.max_flows)?;
        ParamError::above_zero("flow-expiry", self.flow_expiry)?;
        let protection = Protection::new(&self.protection)?;
        let flows = MicroFlows::new(self.max_flows, self.flow_expiry);
        Ok(Tsw3CmSw { marker: self.tsw3cm.build(scope)?, measured: self.measured, flows, protection, protected: 0 })
    }
}

impl Tsw3CmSw {
    fn window(&mut self, at: &Passage<'_>, packet: &Packet) -> Option<f64> {
        match self.measured {
            Measured::Edge => {
                self.flows.on_forward(at.now, packet, at.stamps).map(|flow| f64::from(flow.window().segments()))
            }
            Measured::Sender => at.truth.map(|truth| truth.cwnd),
        }
    }
}

impl Conditioner for Tsw3CmSw {
    type Params = Params;

    fn forward(&mut self, at: Turn<&Passage<'_>>, packet: &mut Packet, rng: &mut Rng) -> Verdict {
        let window = self.window(*at, packet);
        let verdict = self.marker.forward(at, packet, rng);
        if !self.marker.above_committed() {
            return verdict;
        }
        let protected = self.protection.protects(window);
        if protected && packet.colour != Colour::Green {
            self.protected += 1;
        }
        packet.colour = self.protection.settle(protected, packet.colour, packet.size);
        verdict
    }

    fn reverse(&mut self, at: Turn<&Passage<'_>>, packet: &mut Packet, _rng: &mut Rng) {
        if self.measured == Measured::Edge {
            self.flows.on_reverse(at.now, at.flow, packet, at.stamps);
        }
    }

    fn needs(&self) -> Needs {
        match self.measured {
            Measured::Edge => Needs::REVERSE,
            Measured::Sender => Needs::TRUTH,
        }
    }

    fn retune(&mut self, now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        let next = params.clone().build(scope)?;
        self.marker.retune(now, &params.tsw3cm, scope)?;
        self.flows.rebound(params.max_flows, params.flow_expiry);
        self.protection.retune(next.protection);
        self.measured = params.measured;
        Ok(())
    }

    fn forget(&mut self, flow: Turn<FlowId>) {
        self.flows.forget(*flow);
    }

    fn gauges(&self, now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        self.marker.gauges(now, each);
    }

    fn tallies(&self, each: &mut dyn FnMut(&'static str, u64)) {
        each("protected", self.protected);
        each("flows_without_room", self.flows.refused());
    }
}
