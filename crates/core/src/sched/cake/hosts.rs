//! Hosts: whose packets share a queue, and how many flows of a host have a backlog.

use super::sets::{Sets, Slot};
use crate::classify::FlowHeaders;
use crate::packet::FlowId;
use crate::params::Choice;
use crate::sched::flows::{Hash, Hashing};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Which packets have a separate queue, and between which hosts and flows a tin is fair.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// One queue.
    Flowblind,
    /// A queue for each source address.
    Srchost,
    /// A queue for each destination address.
    Dsthost,
    /// A queue for each pair of addresses.
    Hosts,
    /// A queue for each flow.
    Flows,
    /// A queue for each flow, sources share alike.
    DualSrchost,
    /// A queue for each flow, destinations share alike.
    DualDsthost,
    /// A queue for each flow, sources and destinations share alike.
    TripleIsolate,
}

/// Both ends.
const SOURCE: usize = 0;
const DESTINATION: usize = 1;

impl Isolation {
    /// Of source and destination, those that share alike.
    pub(super) fn shares(self) -> [bool; 2] {
        let both = self == Self::TripleIsolate;
        [both || self == Self::DualSrchost, both || self == Self::DualDsthost]
    }
}

/// What a flow is known by.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Identity {
    /// Whose queue.
    pub(super) queue: u32,
    /// Source and destination.
    pub(super) hosts: [u32; 2],
}

/// The numbers of flows, addresses and pairs of them, in order of appearance. Addresses that are not known are one host.
#[derive(Clone, Debug)]
pub(super) struct Identities {
    pub(super) isolation: Isolation,
    pub(super) hashing: Hashing,
    addresses: BTreeMap<IpAddr, u32>,
    pairs: BTreeMap<[u32; 2], u32>,
    hosts: Vec<[u32; 2]>,
}

fn number<K: Ord>(known: &mut BTreeMap<K, u32>, key: K) -> u32 {
    let next = known.len() as u32 + 1;
    *known.entry(key).or_insert(next)
}

impl Identities {
    pub(super) fn new(isolation: Isolation, hashing: Hashing) -> Self {
        Self { isolation, hashing, addresses: BTreeMap::new(), pairs: BTreeMap::new(), hosts: Vec::new() }
    }

    pub(super) fn register(&mut self, flow: FlowId, headers: &FlowHeaders) {
        let i = flow.0 as usize;
        if i >= self.hosts.len() {
            self.hosts.resize(i + 1, [0; 2]);
        }
        self.hosts[i] = [headers.source, headers.destination].map(|address| number(&mut self.addresses, address));
    }

    /// Hashed unless every flow has its own queue.
    pub(super) fn of(&mut self, flow: FlowId) -> Identity {
        let hosts = self.hosts.get(flow.0 as usize).copied().unwrap_or_default();
        let queue = match self.isolation {
            Isolation::Flowblind => 0,
            Isolation::Srchost => hosts[SOURCE],
            Isolation::Dsthost => hosts[DESTINATION],
            Isolation::Hosts => number(&mut self.pairs, hosts),
            _ => flow.0,
        };
        match self.hashing.hash {
            Hash::Exact => Identity { queue, hosts },
            Hash::Salted => {
                let mixed = |number| (self.hashing.mixed(number) >> 32) as u32;
                Identity { queue: mixed(queue), hosts: hosts.map(mixed) }
            }
        }
    }
}

/// Sources, or destinations, of one tin: how many of their flows have a backlog.
#[derive(Clone, Debug)]
pub(super) struct Hosts {
    sets: Sets,
    bulk: Vec<u32>,
}

impl Hosts {
    pub(super) fn new(sets: Sets) -> Self {
        Self { bulk: vec![0; sets.places()], sets }
    }

    /// The place of a host.
    pub(super) fn claim(&mut self, host: u32) -> usize {
        let Self { sets, bulk } = self;
        let found = sets.claim(host, |place| bulk[place] > 0);
        let (Slot::Own(place) | Slot::Beside(place) | Slot::Free(place) | Slot::Shared(place)) = found;
        place
    }

    pub(super) fn load(&self, place: usize) -> u32 {
        self.bulk[place]
    }

    pub(super) fn add(&mut self, place: usize) {
        self.bulk[place] += 1;
    }

    pub(super) fn remove(&mut self, place: usize) {
        self.bulk[place] = self.bulk[place].saturating_sub(1);
    }
}
