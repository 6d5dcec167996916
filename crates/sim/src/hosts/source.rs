//! Traffic sources.

use crate::traffic::{AnyTraffic, Step};
use perhop_core::Rng;
use perhop_core::units::Time;

/// A traffic source with its random stream.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) traffic: AnyTraffic,
    pub(super) rng: Rng,
    /// Index of its `[traffic]` table.
    pub(super) table: u32,
    /// Its long-lived flow; for transfers, the one it uses first; for responses, none.
    pub(super) flow: u32,
    pub(super) stop: Time,
    /// Datagrams that leave together, and those that wait for others.
    pub(super) burst: u32,
    pub(super) gathered: u32,
}

/// A source that has been woken.
#[derive(Clone, Copy, Debug)]
pub struct Woken {
    /// What it offers, and when to wake it again.
    pub step: Step,
    /// Its standing flow.
    pub flow: usize,
    /// When it stops.
    pub stop: Time,
}

/// A transfer is to begin: which source's, on which of its table's ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Index of the source.
    pub source: usize,
    /// Which way.
    pub way: usize,
}
