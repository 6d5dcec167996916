//! Traffic sources.

use crate::traffic::AnyTraffic;
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
    /// Until when it is woken with nothing else to look at: until it stops; never if its datagrams leave together.
    pub(super) plain_until: Time,
    /// Datagrams that leave together, and those that wait for others.
    pub(super) burst: u32,
    pub(super) gathered: u32,
}

/// A source that has been woken.
#[derive(Clone, Copy, Debug)]
pub struct Woken {
    /// Its standing flow.
    pub flow: usize,
    /// When it stops.
    pub stop: Time,
    /// Whether its datagrams wait for others: [`super::Hosts::gather`].
    pub gathers: bool,
}

/// A transfer is to begin: which source's, on which of its table's ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferStart {
    /// Index of the source.
    pub source: usize,
    /// Which way.
    pub way: usize,
}
