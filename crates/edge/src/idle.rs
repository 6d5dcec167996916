//! Flows that are silent for too long: they are forgotten, and begin afresh when they return.

use perhop_core::estimate::FlowTable;
use perhop_core::packet::FlowId;
use perhop_core::units::{Span, Time};

/// Silence after which a flow of round trips is forgotten: its counts stay, its open sample and its window do not.
pub(crate) const EXPIRY: Span = Span::from_s(60);

/// When each flow was seen last. Memory: 28 bytes for a flow.
#[derive(Clone, Debug)]
pub(crate) struct Idle {
    seen: FlowTable<()>,
    /// Flows in the table, and the most that may be.
    flows: u32,
    most: u32,
    expired: u64,
}

impl Idle {
    /// Flows expire after more than this without a packet; beyond `most` flows the one silent longest expires.
    pub(crate) const fn new(timeout: Span, most: u32) -> Self {
        Self { seen: FlowTable::new(u32::MAX, timeout), flows: 0, most, expired: 0 }
    }

    /// Other bounds from now on.
    pub(crate) fn rebound(&mut self, timeout: Span, most: u32) {
        self.seen.rebound(u32::MAX, timeout);
        self.most = most;
    }

    /// How often a flow has expired.
    pub(crate) const fn expired(&self) -> u64 {
        self.expired
    }

    /// The next flow that has expired by `now`; it is not in the table any longer.
    pub(crate) fn expire(&mut self, now: Time) -> Option<FlowId> {
        let expired = if self.flows > self.most { self.seen.forget_oldest() } else { self.seen.expire(now) };
        self.expired += u64::from(expired.is_some());
        self.flows -= u32::from(expired.is_some());
        expired
    }

    /// A packet of a flow, after those that expired were taken out.
    pub(crate) fn see(&mut self, now: Time, flow: FlowId) {
        if self.seen.seen(now, flow).is_none() {
            self.seen.remember(now, flow, ());
            self.flows += 1;
        }
    }
}
