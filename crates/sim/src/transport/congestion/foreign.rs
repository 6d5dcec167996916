//! A congestion law from outside: see [`perhop_core::foreign`].

use super::{CongestionControl, CongestionLaw, Signal, Window};
use perhop_core::foreign::{self, Register};
use std::fmt::Debug;

/// The laws that are registered.
pub static REGISTER: Register<dyn Hooks, ()> = Register::new();

/// Their parameters.
pub type Params = foreign::Params<dyn Hooks, ()>;

/// The hooks of [`CongestionControl`] that a law which is not in control has, for what is no variant of the list.
pub trait Hooks: Debug + Send + Sync {
    /// As [`CongestionControl::on_ack`].
    fn on_ack(&mut self, signal: &Signal, window: &mut Window);
    /// As [`CongestionControl::on_loss`].
    fn on_loss(&mut self, signal: &Signal, window: &mut Window);
    /// As [`CongestionControl::on_timeout`].
    fn on_timeout(&mut self, signal: &Signal, window: &mut Window);
    /// As [`CongestionControl::on_ecn`].
    fn on_ecn(&mut self, signal: &Signal, window: &mut Window);
    /// As [`CongestionControl::pacing_rate`].
    fn pacing_rate(&self, _mss: u16) -> Option<u64> {
        None
    }
    /// The same, with a separate state.
    fn boxed(&self) -> Box<dyn Hooks>;
}

/// A running law from outside.
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

impl CongestionLaw for Params {
    /// Its pace, if it has one, is the answer of a hook.
    fn paces(&self) -> bool {
        false
    }
}

impl CongestionControl for Foreign {
    fn on_ack(&mut self, signal: &Signal, window: &mut Window) {
        self.0.on_ack(signal, window);
    }

    fn on_loss(&mut self, signal: &Signal, window: &mut Window) {
        self.0.on_loss(signal, window);
    }

    fn on_timeout(&mut self, signal: &Signal, window: &mut Window) {
        self.0.on_timeout(signal, window);
    }

    fn on_ecn(&mut self, signal: &Signal, window: &mut Window) {
        self.0.on_ecn(signal, window);
    }

    fn pacing_rate(&self, mss: u16) -> Option<u64> {
        self.0.pacing_rate(mss)
    }
}
