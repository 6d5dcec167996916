//! The laws by name, and dispatch over them.

use super::congestion::{CongestionControl, Signal, Window};
use super::reno::Reno;

/// The laws by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LawKind {
    /// Slow start, additive increase, halving (RFC 5681).
    #[default]
    Reno,
}

/// One connection's law: dispatch over the list.
#[derive(Clone, Copy, Debug)]
pub enum Law {
    /// See [`Reno`].
    Reno(Reno),
}

impl Law {
    /// A new connection's law.
    pub fn new(kind: LawKind) -> Self {
        match kind {
            LawKind::Reno => Law::Reno(Reno),
        }
    }
}

impl CongestionControl for Law {
    #[inline]
    fn on_ack(&mut self, signal: &Signal, window: &mut Window) {
        match self {
            Law::Reno(law) => law.on_ack(signal, window),
        }
    }

    fn on_loss(&mut self, signal: &Signal, window: &mut Window) {
        match self {
            Law::Reno(law) => law.on_loss(signal, window),
        }
    }

    fn on_timeout(&mut self, signal: &Signal, window: &mut Window) {
        match self {
            Law::Reno(law) => law.on_timeout(signal, window),
        }
    }

    fn on_ecn(&mut self, signal: &Signal, window: &mut Window) {
        match self {
            Law::Reno(law) => law.on_ecn(signal, window),
        }
    }
}
