//! How much came when: of flows, and of conditioners' instances against their contracts.
//!
//! Seconds are those from time zero on: [0, 1), [1, 2), ... A second that the capture only touches counts as a whole one.
//! What exceeds a contract finds no tokens in a bucket of depth CBS that fills at CIR and is full at time zero; where the
//! conditioner has no CBS the bucket holds one second at CIR. Memory: one record for each flow and each instance.

use std::collections::BTreeMap;

use perhop_core::conditioner::meter::Tokens;
use perhop_core::count::Count;
use perhop_core::estimate::TokenBucket;
use perhop_core::packet::FlowId;
use perhop_core::units::{BitRate, Bytes, NS_PER_S, Time};

use super::demand::Demand;
use super::round_trips::Aggregate;

/// The bytes of one second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Second {
    /// Its number; it begins so many seconds after time zero.
    pub(crate) number: u64,
    pub(crate) bytes: u64,
}

/// The first and the last of some packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) first: Time,
    pub(crate) last: Time,
}

/// Packets over time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Load {
    pub(crate) count: Count,
    pub(crate) extent: Option<Extent>,
    second: Second,
    /// The one with the most bytes; of equals the first.
    pub(crate) worst: Second,
}

impl Load {
    pub(crate) fn add(&mut self, now: Time, size: u32) {
        self.count.add(size);
        self.extent = Some(Extent { first: self.extent.map_or(now, |it| it.first), last: now });
        let number = now.ns() / NS_PER_S;
        if number != self.second.number {
            self.second = Second { number, bytes: 0 };
        }
        self.second.bytes += u64::from(size);
        if self.second.bytes > self.worst.bytes {
            self.worst = self.second;
        }
    }
}

/// What a conditioner's instance is promised and gets.
#[derive(Clone, Debug)]
pub(crate) struct Contract {
    pub(crate) depth: Bytes,
    pub(crate) offered: Load,
    pub(crate) excess: Load,
    bucket: TokenBucket,
}

impl Contract {
    fn new(cir: BitRate, cbs: Option<Bytes>) -> Self {
        let depth = cbs.unwrap_or(Bytes::new(cir.bit_s() / 8)).min(TokenBucket::DEEPEST);
        let bucket = TokenBucket::full(cir, depth, "cbs").expect("no deeper than the deepest");
        Self { depth, offered: Load::default(), excess: Load::default(), bucket }
    }

    /// Whether a packet exceeds it.
    fn exceeds(&mut self, now: Time, size: u32, tokens: Tokens) -> bool {
        self.offered.add(now, size);
        let beyond = !self.bucket.take(now, tokens.of(size));
        if beyond {
            self.excess.add(now, size);
        }
        beyond
    }
}

/// A flow.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FlowLoad {
    pub(crate) offered: Load,
    /// What of it exceeded the contract of the instance that took it.
    pub(crate) excess: Load,
}

/// All of a capture.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rates {
    /// By flow number.
    pub(crate) flows: Vec<FlowLoad>,
    /// Of conditioners that have a CIR.
    pub(crate) contracts: BTreeMap<Aggregate, Contract>,
}

impl Rates {
    /// A packet of either direction.
    pub(crate) fn see(&mut self, now: Time, flow: FlowId, size: u32) {
        self.flow(flow).offered.add(now, size);
    }

    /// A packet that a conditioner of this demand takes.
    pub(crate) fn charge(&mut self, by: (Aggregate, &Demand), now: Time, flow: FlowId, size: u32) {
        let (aggregate, demand) = by;
        let Some(cir) = demand.cir else { return };
        let contract = self.contracts.entry(aggregate).or_insert_with(|| Contract::new(cir, demand.cbs));
        if contract.exceeds(now, size, demand.tokens) {
            self.flow(flow).excess.add(now, size);
        }
    }

    fn flow(&mut self, flow: FlowId) -> &mut FlowLoad {
        let slot = flow.0 as usize;
        if self.flows.len() <= slot {
            self.flows.resize(slot + 1, FlowLoad::default());
        }
        &mut self.flows[slot]
    }
}
