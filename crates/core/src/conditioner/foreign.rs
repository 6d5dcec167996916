//! A conditioner from outside: see [`crate::foreign`].

use crate::Scope;
use crate::conditioner::{Conditioner, Outbox, Passage};
use crate::foreign::{self, Argument, Register};
use crate::needs::Needs;
use crate::packet::{FlowId, Packet};
use crate::params::ParamError;
use crate::port::turn::Turn;
use crate::rng::Rng;
use crate::units::Time;
use crate::verdict::Verdict;
use std::fmt::Debug;

/// The conditioners that are registered.
pub static REGISTER: Register<dyn Hooks, Scope> = Register::new();

/// Their parameters.
pub type Params = foreign::Params<dyn Hooks, Scope>;

/// The hooks of [`Conditioner`], for what is no variant of the list.
pub trait Hooks: Debug + Send + Sync {
    /// As [`Conditioner::forward`].
    fn forward(&mut self, at: &Passage<'_>, packet: &mut Packet, rng: &mut Rng) -> Verdict;
    /// As [`Conditioner::reverse`].
    fn reverse(&mut self, _at: &Passage<'_>, _packet: &mut Packet, _rng: &mut Rng) {}
    /// As [`Conditioner::departing`].
    fn departing(&mut self, _at: &Passage<'_>, _packet: &mut Packet, _rng: &mut Rng) {}
    /// As [`Conditioner::on_timer`], without reports.
    fn on_timer(&mut self, _now: Time) {}
    /// As [`Conditioner::needs`].
    fn needs(&self) -> Needs {
        Needs::NOTHING
    }
    /// As [`Conditioner::poll_at`].
    fn poll_at(&self) -> Option<Time> {
        None
    }
    /// As [`Conditioner::retune`].
    ///
    /// # Errors
    /// What it refuses.
    fn retune(&mut self, now: Time, values: &[Argument]) -> Result<(), ParamError>;
    /// As [`Conditioner::forget`].
    fn forget(&mut self, _flow: FlowId) {}
    /// As [`Conditioner::gauges`].
    fn gauges(&self, _now: Time, _each: &mut dyn FnMut(&'static str, f64)) {}
    /// The same, with a separate state.
    fn boxed(&self) -> Box<dyn Hooks>;
}

/// A running conditioner from outside.
#[derive(Debug)]
pub struct Foreign(Box<dyn Hooks>);

impl From<Box<dyn Hooks>> for Foreign {
    fn from(hooks: Box<dyn Hooks>) -> Self {
        Self(hooks)
    }
}

impl Clone for Foreign {
    fn clone(&self) -> Self {
        Self(self.0.boxed())
    }
}

impl Conditioner for Foreign {
    type Params = Params;

    fn forward(&mut self, at: Turn<&Passage<'_>>, packet: &mut Packet, rng: &mut Rng) -> Verdict {
        self.0.forward(&at, packet, rng)
    }

    fn reverse(&mut self, at: Turn<&Passage<'_>>, packet: &mut Packet, rng: &mut Rng) {
        self.0.reverse(&at, packet, rng);
    }

    fn departing(&mut self, at: Turn<&Passage<'_>>, packet: &mut Packet, rng: &mut Rng) {
        self.0.departing(&at, packet, rng);
    }

    fn on_timer(&mut self, now: Turn<Time>, _outbox: &mut Outbox) {
        self.0.on_timer(*now);
    }

    fn needs(&self) -> Needs {
        let needs = self.0.needs();
        needs | Needs::MOVES.only_if(needs.contains(Needs::TIMER))
    }

    fn poll_at(&self) -> Option<Time> {
        self.0.poll_at()
    }

    fn retune(&mut self, now: Time, params: &Params, _scope: &Scope) -> Result<(), ParamError> {
        self.0.retune(now, params.values())
    }

    fn forget(&mut self, flow: Turn<FlowId>) {
        self.0.forget(*flow);
    }

    fn gauges(&self, now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        self.0.gauges(now, each);
    }
}
