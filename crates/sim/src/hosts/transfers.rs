//! Transfers, and the places in the table of flows that their connections use one after the other.

use super::Hosts;
use super::connection::{Connection, Opening, Transit};
use super::peers::Pair;
use super::source::TransferStart;
use super::table::Table;
use crate::net::Net;
use crate::plan::Plan;
use crate::record::{Retired, Transfer};
use crate::traffic::{Request, Traffic as _};
use crate::transport::datagram::Opened;
use perhop_core::units::{Span, Time};

/// A place for the connection of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The flow.
    pub slot: usize,
    /// Conditioners learn of it only now.
    pub announced: bool,
}

/// The last byte of a transfer or of a request has arrived.
#[derive(Clone, Debug)]
pub enum Completed {
    /// A request: the object that it asked for is to be sent.
    Request(TransferStart, Opening),
    /// A transfer.
    Transfer {
        /// What is recorded of it.
        transfer: Transfer,
        /// Index of its source.
        source: usize,
        /// When that is to be woken.
        next: Option<Time>,
    },
}

impl Hosts {
    /// A source begins a transfer of `bytes` from its only sender.
    pub fn begin_transfer(&mut self, now: Time, source: usize, bytes: u64) -> (TransferStart, Opening) {
        self.tables[self.sources[source].table as usize].open += 1;
        let transit = Transit { bytes, opened: now, first: None, page: None, asks_for: None };
        (TransferStart { source, way: 0 }, Opening::transfer(transit))
    }

    /// A source asks one of its table's senders for an object.
    pub fn begin_request(&mut self, now: Time, source: usize, request: Request) -> (TransferStart, Opening) {
        let Request { server, bytes, object, page } = request;
        let table = &mut self.tables[self.sources[source].table as usize];
        table.open += 1;
        let way = table.senders() + server as usize;
        let transit = Transit { bytes, opened: now, first: None, page: Some(page), asks_for: Some(object) };
        (TransferStart { source, way }, Opening::transfer(transit))
    }

    /// A flow for one more transfer: one that was used and is free, or a new one; `None`, which is counted, when keys
    /// cannot name more.
    pub fn place(&mut self, asked: TransferStart, plan: &Plan, net: &mut Net) -> Option<Place> {
        let slot = match self.free_flow(asked) {
            Some(place) if !place.announced => return Some(place),
            Some(place) => place.slot,
            None => match self.add_flow(asked, plan, net) {
                Ok(slot) => slot,
                Err(_) => {
                    self.refused += 1;
                    return None;
                }
            },
        };
        self.flows[slot].source = asked.source as u32;
        self.flows[slot].renew();
        self.announce(slot, plan, net);
        Some(Place { slot, announced: true })
    }

    fn free_flow(&mut self, TransferStart { source, way }: TransferStart) -> Option<Place> {
        let own = self.sources[source].flow as usize;
        let idle = &mut self.tables[self.sources[source].table as usize].idle;
        if let Some(slot) = idle.get_mut(&(way as u32)).and_then(Vec::pop) {
            return Some(Place { slot: slot as usize, announced: true });
        }
        let flow = self.flows.get(own).filter(|flow| flow.source as usize == source)?;
        (flow.tcp.is_none() && self.pairs.get(own).is_none() && flow.counts.sent.packets == 0)
            .then_some(Place { slot: own, announced: false })
    }

    /// Opens a connection on a flow.
    pub fn open(&mut self, now: Time, slot: usize, opening: Opening) {
        let flow = &mut self.flows[slot];
        let Table { tcp: config, protocol, keeps_bursts, .. } = &self.tables[flow.table as usize];
        if let Some(protocol) = protocol {
            let seed = self.sources[flow.source as usize].rng.bits();
            let opened = Opened { now, seed, supply: opening.supply };
            return self.pairs.open(slot, (&**protocol, &opened), &opening);
        }
        let config = **config;
        // A tick of the sender's clock does not begin with the run: each connection has its own phase.
        let rng = &mut self.sources[flow.source as usize].rng;
        let phase = Span::from_ns((rng.uniform() * config.rto.granularity.ns() as f64) as u64);
        flow.tcp = Some(Connection::open(config, opening, phase, *keeps_bursts));
    }

    /// The last byte of a flow's transfer or request has arrived.
    pub fn complete(&mut self, now: Time, slot: usize) -> Option<Completed> {
        let flow = &mut self.flows[slot];
        let transit = match (&mut flow.tcp, self.pairs.get_mut(slot)) {
            (Some(tcp), _) => tcp.transfer.take(),
            (None, pair) => pair?.transfer.take(),
        }?;
        let (source, way, table) = (flow.source as usize, flow.way as usize, flow.table as usize);
        self.ending.push(slot as u32);
        if let Some(bytes) = transit.asks_for {
            let answers = flow.tcp.as_ref().map(|tcp| tcp.sender.estimate());
            let asked = TransferStart { source, way: way - self.tables[table].senders() };
            let object = Transit { bytes, asks_for: None, first: None, ..transit };
            return Some(Completed::Request(asked, Opening { answers, ..Opening::transfer(object) }));
        }
        let Transit { bytes, opened, first, page, .. } = transit;
        let (table, sender) = (flow.table, flow.way);
        let (number, first) = (self.number_of(source as u32), first.unwrap_or(now));
        let transfer = Transfer { table, source: number, sender, page, opened, first, complete: now, bytes };
        self.tables[table as usize].open -= 1;
        let it = &mut self.sources[source];
        let next = it.traffic.on_complete(now, &mut it.rng);
        Some(Completed::Transfer { transfer, source, next })
    }

    /// Returns a finished transfer's flow once its sender knows that it is over and none of its packets is left.
    #[inline]
    pub fn release(&mut self, slot: usize) {
        if !self.ending.is_empty() && self.flows[slot].in_network == 0 {
            self.retire(slot);
        }
    }

    fn retire(&mut self, slot: usize) {
        let Some(at) = self.ending.iter().position(|&s| s as usize == slot) else { return };
        let over = match (&self.flows[slot].tcp, self.pairs.get(slot)) {
            (Some(tcp), _) => tcp.sender.finished(),
            (None, pair) => pair.is_some_and(Pair::finished),
        };
        if !over {
            return;
        }
        self.ending.swap_remove(at);
        let goodput_bytes = self.goodput_bytes(slot);
        let flow = &mut self.flows[slot];
        let table = &mut self.tables[flow.table as usize];
        if let Some(tcp) = flow.tcp.take() {
            table.retired.add(Retired { goodput_bytes, counters: *tcp.sender.counters() });
        }
        if self.pairs.take(slot).is_some() {
            table.retired.add(Retired { goodput_bytes, ..Retired::default() });
        }
        table.idle.entry(flow.way).or_default().push(slot as u32);
    }
}
