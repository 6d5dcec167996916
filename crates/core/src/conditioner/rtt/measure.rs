//! An aggregate's round-trip time and time-out, as its edge measures them.
//!
//! `edge` measures from passing data and returning ACKs, see [`crate::estimate::micro_flows`]. `sender` takes the
//! simulator's knowledge of each sender, to test `edge` against it; captures and interfaces do not have it.
//!
//! Data and ACKs cover the path from the edge to the receiver and back. If hosts are far from their edge, the path to
//! the sender matters too. Handshakes reveal it (`part = "whole"`) as a mean over the aggregate's connections.

use crate::conditioner::{Passage, Report, SenderTruth};
use crate::estimate::rtt::{GAIN_OF_ALL, GAIN_OF_ONE};
use crate::estimate::{MicroFlows, RoundTrip};
use crate::needs::Needs;
use crate::packet::{FlowId, Packet};
use crate::params::{Choice, ParamError, Params as Declared};
use crate::units::Span;

/// Who measures round-trip times.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measured {
    /// The edge, from what passes it.
    Edge,
    /// The simulator, which knows every sender's.
    Sender,
}

/// Whose samples make the aggregate's time.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampled {
    /// All flows', with gain 0.02.
    All,
    /// One representative flow's, with gain 1/8.
    One,
}

/// Which of its times an aggregate uses.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Estimate {
    /// The smoothed one, which includes waiting in queues.
    Smoothed,
    /// The shortest sample: propagation, more or less.
    Least,
}

/// Which part of the round trip counts.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All of it: to the receiver and back, and what handshakes reveal of the path to the host.
    Whole,
    /// From the edge to the receiver and back.
    Beyond,
}

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Measuring {
    /// Who measures round-trip times.
    #[param(default = "edge")]
    pub measured: Measured,
    /// Which samples count.
    #[param(default = "all")]
    pub sampled: Sampled,
    /// Which round-trip time is used.
    #[param(default = "smoothed")]
    pub rtt: Estimate,
    /// Which part of the round trip counts.
    #[param(default = "whole")]
    pub part: Part,
    /// Most flows remembered at any one time; above zero.
    #[param(default = 4096)]
    pub max_flows: u32,
    /// Silence after which a flow is forgotten.
    #[param(default = "60s")]
    pub flow_expiry: Span,
}

/// What is known of an aggregate.
#[derive(Clone, Debug)]
pub struct Measure {
    rules: Measuring,
    min_rto: Span,
    flows: MicroFlows,
    /// The flow whose samples count, where only one's do.
    representative: Option<FlowId>,
    trip: RoundTrip,
    /// Senders' time-outs, where they are known.
    sender_rto: Option<f64>,
    samples: u64,
}

impl Measure {
    /// Nothing measured yet.
    ///
    /// # Errors
    /// `max-flows` or `flow-expiry` of 0.
    pub fn new(rules: &Measuring, min_rto: Span) -> Result<Self, ParamError> {
        ParamError::above_zero("max-flows", rules.max_flows)?;
        ParamError::above_zero("flow-expiry", rules.flow_expiry)?;
        let flows = MicroFlows::new(rules.max_flows, rules.flow_expiry);
        let (representative, trip, sender_rto) = (None, RoundTrip::default(), None);
        Ok(Self { rules: rules.clone(), min_rto, flows, representative, trip, sender_rto, samples: 0 })
    }

    /// A packet on its way to the receiver: the window of its flow in segments, if it is known.
    pub fn on_forward(&mut self, at: &Passage<'_>, packet: &Packet) -> Option<f64> {
        match self.rules.measured {
            Measured::Edge => {
                let flow = self.flows.on_forward(at.now, packet, at.stamps)?;
                Some(f64::from(flow.window().segments()))
            }
            Measured::Sender => {
                let truth = at.truth?;
                self.take_truth(at.flow, truth);
                Some(truth.cwnd)
            }
        }
    }

    /// A packet that comes back.
    pub fn on_reverse(&mut self, at: &Passage<'_>, packet: &Packet) {
        if self.rules.measured == Measured::Edge
            && let Some((rtt, _)) = self.flows.on_reverse(at.now, at.flow, packet, at.stamps)
        {
            let known = |&it: &FlowId| self.flows.get(at.now, it).is_some();
            self.representative = self.representative.filter(known);
            self.take(at.flow, rtt);
        }
    }

    fn take(&mut self, flow: FlowId, rtt: Span) {
        let gain = match self.rules.sampled {
            Sampled::All => GAIN_OF_ALL,
            Sampled::One if *self.representative.get_or_insert(flow) == flow => GAIN_OF_ONE,
            Sampled::One => return,
        };
        self.samples += 1;
        self.trip.sample(rtt, gain);
    }

    fn take_truth(&mut self, flow: FlowId, truth: &SenderTruth) {
        let before = self.samples;
        self.take(flow, truth.srtt);
        if self.samples > before {
            let rto = truth.rto.seconds();
            self.sender_rto = Some(self.sender_rto.map_or(rto, |mean| (1.0 - GAIN_OF_ALL) * mean + GAIN_OF_ALL * rto));
        }
    }

    /// The aggregate's times, s; `None` before the first sample, and while all took no time (a capture with a coarse clock).
    pub fn report(&self) -> Option<Report> {
        let rtt = match self.rules.rtt {
            Estimate::Smoothed => self.trip.smoothed()?,
            Estimate::Least => self.trip.least()?,
        };
        let near = if self.rules.part == Part::Whole { self.flows.near().unwrap_or(0.0) } else { 0.0 };
        let timeout = self.trip.smoothed()? + near + 4.0 * self.trip.variation()?;
        let rto = self.sender_rto.unwrap_or_else(|| timeout.max(self.min_rto.seconds()));
        let rtt = rtt + near;
        (rtt > 0.0).then_some(Report { rtt, rto })
    }

    /// Samples taken.
    pub const fn samples(&self) -> u64 {
        self.samples
    }

    /// Packets of flows that found no room in the table.
    pub const fn refused(&self) -> u64 {
        self.flows.refused()
    }

    /// Forgets a flow; another may then represent the aggregate.
    pub fn forget(&mut self, flow: FlowId) {
        self.flows.forget(flow);
        self.representative = self.representative.filter(|&it| it != flow);
    }

    /// Other rules from now on; what was measured stays.
    pub fn retune(&mut self, rules: &Measuring, min_rto: Span) {
        self.flows.rebound(rules.max_flows, rules.flow_expiry);
        (self.rules, self.min_rto) = (rules.clone(), min_rto);
    }

    /// What it asks of the host.
    pub const fn needs(&self) -> Needs {
        match self.rules.measured {
            Measured::Edge => Needs::REVERSE,
            Measured::Sender => Needs::TRUTH,
        }
    }
}
