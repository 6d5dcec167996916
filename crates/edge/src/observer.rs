//! Who watches a host at work, and counts.

use perhop_core::packet::{FlowId, Packet};
use perhop_core::port::edge::{Edge, Per};
use perhop_sim::replay::Trip;

use crate::arriving::Arriving;
use crate::flows::FlowTable;
use crate::shared::Shared;
use crate::steps::Steps;

/// What watches a host. It changes nothing but may number the return flow of a packet ([`FlowTable::mate`]).
pub trait Observer {
    /// A packet of either direction has been through the host.
    fn passed(&mut self, it: &Passed<'_>, flows: &mut FlowTable);

    /// A flow is about to be forgotten. If it returns, it is a new one to everything but the counts.
    fn forget(&mut self, _flow: FlowId, _edge: &Edge) {}

    /// A packet's way through the queue is over; its number is that among the forward packets, from 0. Not without a queue.
    fn trip(&mut self, _trip: &Trip) {}
}

/// The first conditioner that colours a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Its place in the policy.
    pub place: usize,
    /// Which of its instances.
    pub instance: usize,
}

/// A packet that has been through the host.
#[derive(Clone, Copy, Debug)]
pub struct Passed<'a> {
    /// As it came.
    pub arrived: &'a Arriving<'a>,
    /// The same as algorithms see it.
    pub came: &'a Packet,
    /// As it leaves, or goes into the queue; `None`: a conditioner or an action dropped it.
    pub left: Option<&'a Packet>,
    /// What colours it; `None` for reverse packets.
    pub taken: Option<Taken>,
    /// The conditioners.
    pub edge: &'a Edge,
    /// By conditioner, what shares an instance.
    pub per: &'a [Per],
    /// Where the clock stepped back.
    pub steps: &'a Steps,
}

impl Passed<'_> {
    /// What the conditioner's instance that takes its flow is for.
    pub fn shared(&self, place: usize, flows: &FlowTable) -> Shared {
        Shared::of(self.per[place], flows, self.came.flow)
    }
}
