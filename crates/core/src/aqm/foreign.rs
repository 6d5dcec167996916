//! An AQM from outside: see [`crate::foreign`].

use crate::Scope;
use crate::aqm::{Aqm, Arrival, Backlog, Departure};
use crate::foreign::{self, Argument, Register};
use crate::needs::Needs;
use crate::packet::Packet;
use crate::params::ParamError;
use crate::port::turn::Turn;
use crate::rng::Rng;
use crate::units::Time;
use crate::verdict::{Fate, Verdict};
use std::fmt::Debug;

/// The AQMs that are registered.
pub static REGISTER: Register<dyn Hooks, Scope> = Register::new();

/// Their parameters.
pub type Params = foreign::Params<dyn Hooks, Scope>;

/// The hooks of [`Aqm`], for what is no variant of the list.
pub trait Hooks: Debug + Send + Sync {
    /// As [`Aqm::on_arrival`].
    fn on_arrival(&mut self, at: &Arrival, packet: &mut Packet, rng: &mut Rng) -> Verdict;
    /// As [`Aqm::on_fate`].
    fn on_fate(&mut self, _at: &Arrival, _packet: &Packet, _fate: Fate) {}
    /// As [`Aqm::on_departure`].
    fn on_departure(&mut self, _at: &Departure, _packet: &mut Packet, _rng: &mut Rng) -> Verdict {
        Verdict::Pass
    }
    /// As [`Aqm::on_timer`].
    fn on_timer(&mut self, _now: Time, _backlog: &Backlog) {}
    /// As [`Aqm::needs`].
    fn needs(&self) -> Needs {
        Needs::NOTHING
    }
    /// As [`Aqm::poll_at`].
    fn poll_at(&self) -> Option<Time> {
        None
    }
    /// As [`Aqm::retune`].
    ///
    /// # Errors
    /// What it refuses.
    fn retune(&mut self, now: Time, values: &[Argument]) -> Result<(), ParamError>;
    /// As [`Aqm::gauges`].
    fn gauges(&self, _now: Time, _each: &mut dyn FnMut(&'static str, f64)) {}
    /// The same, with a separate state.
    fn boxed(&self) -> Box<dyn Hooks>;
}

/// A running AQM from outside.
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

impl Aqm for Foreign {
    type Params = Params;

    fn on_arrival(&mut self, at: Turn<&Arrival>, packet: &mut Packet, rng: &mut Rng) -> Verdict {
        self.0.on_arrival(&at, packet, rng)
    }

    fn on_fate(&mut self, at: Turn<&Arrival>, packet: &Packet, fate: Fate) {
        self.0.on_fate(&at, packet, fate);
    }

    fn on_departure(&mut self, at: Turn<&Departure>, packet: &mut Packet, rng: &mut Rng) -> Verdict {
        self.0.on_departure(&at, packet, rng)
    }

    fn on_timer(&mut self, now: Turn<Time>, backlog: &Backlog) {
        self.0.on_timer(*now, backlog);
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

    fn gauges(&self, now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        self.0.gauges(now, each);
    }
}
