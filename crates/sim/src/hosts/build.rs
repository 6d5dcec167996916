//! Sources, flows and tables at time zero; and who a flow is.

use super::Hosts;
use super::flow::{Flow, Place};
use super::peers::{Pairs, Payloads};
use super::source::{Source, TransferStart};
use super::table::Table;
use crate::agenda::most_components;
use crate::net::{Net, Router, Way};
use crate::plan::{Alteration, FIRST_PORT, Offered, Plan, PlanError, Protocols};
use crate::traffic::{Carrier, Traffic as _, TrafficModel as _, TrafficScope, Transport};
use crate::transport;
use perhop_core::Rng;
use perhop_core::classify::{FlowHeaders, Protocol};
use perhop_core::params::ParamError;
use perhop_core::sched::Socket;
use perhop_core::units::{Span, Time};
use std::net::IpAddr;
use std::sync::Arc;

/// Ports that flows and tables have in their headers; beyond that many they repeat.
const PORTS: u32 = 60_000;

impl Hosts {
    /// The hosts that `plan` describes, nothing sent, their routes in `net` and their flows known to its conditioners.
    ///
    /// # Errors
    /// A destination that cannot be reached, a parameter that its model refuses, or too many flows.
    pub fn new(plan: &Plan, protocols: Protocols<'_>, net: &mut Net) -> Result<Self, PlanError> {
        let tables = tables(plan, protocols, net)?;
        let (sources, flows, ending) = (Vec::new(), Vec::new(), Vec::new());
        let (pairs, payloads) = (Pairs::default(), Payloads::default());
        let mut it =
            Self { sources, flows, pairs, payloads, tables, ending, refused: 0, overhead: plan.accounting.overhead() };
        for table in 0..plan.traffic.len() {
            it.add_sources(table, plan, net)?;
        }
        it.sources.shrink_to_fit();
        it.flows.shrink_to_fit();
        Ok(it)
    }

    fn add_sources(&mut self, table: usize, plan: &Plan, net: &mut Net) -> Result<(), PlanError> {
        let offered = &plan.traffic[table];
        let refused = |error| PlanError::Param(format!("[traffic.{}]", offered.name), Box::new(error));
        for i in 0..offered.flows {
            let scope = TrafficScope { source: i, ..plan.traffic_scope(table) };
            let traffic = offered.model.build(&scope).map_err(refused)?;
            self.fits(table, offered)?;
            let rng = Rng::stream(plan.seed, plan.replication, &format!("traffic.{}.{i}", offered.name));
            let asked = self.tables[table].carrier == Carrier::Responses;
            if i == 0 {
                self.tables[table].watch(offered, net);
            }
            let flow = if asked { u32::MAX } else { self.flows.len() as u32 };
            let source = self.sources.len();
            let (burst, gathered) = (offered.sockets.gso, 0);
            let plain_until = if burst > 1 { Time::ZERO } else { self.tables[table].stop };
            self.sources.push(Source { traffic, rng, table: table as u32, flow, plain_until, burst, gathered });
            if !asked {
                self.add_flow(TransferStart { source, way: 0 }, plan, net)?;
            }
        }
        Ok(())
    }

    /// What a transport over datagrams can carry: bulk and transfers. QUIC needs one.
    fn fits(&self, table: usize, offered: &Offered) -> Result<(), PlanError> {
        let carriable = match self.tables[table].carrier {
            Carrier::Transfers => true,
            Carrier::Connection => offered.model.is_endless(),
            Carrier::Responses | Carrier::Datagrams => false,
        };
        let what = match (&self.tables[table].protocol, offered.model.transport()) {
            (Some(_), _) if carriable => return Ok(()),
            (Some(_), _) => "is not carried by a transport over datagrams",
            (None, Transport::Tcp | Transport::Udp) => return Ok(()),
            (None, Transport::Quic(_)) => "needs a transport over datagrams, and the simulation has none for it",
        };
        Err(PlanError::Other(format!("traffic `{}`: model \"{}\" {what}", offered.name, offered.model.name())))
    }

    /// Another flow; its place.
    ///
    /// # Errors
    /// Keys cannot name more.
    pub(super) fn add_flow(&mut self, asked: TransferStart, plan: &Plan, net: &mut Net) -> Result<usize, PlanError> {
        let slot = self.flows.len();
        let most = most_components(plan.duration) / 2;
        if slot as u64 >= most {
            return Err(PlanError::Other(format!("more than {most} flows at a time")));
        }
        let (source, way) = (asked.source as u32, asked.way as u32);
        let table = self.sources[asked.source].table;
        let routes = self.tables[table as usize].ways[asked.way].routes;
        self.flows.push(Flow::new(&plan.traffic[table as usize], Place { table, source, way, routes }));
        self.announce(slot, plan, net);
        Ok(slot)
    }

    /// Registers a flow with the conditioners that will see its packets.
    pub(super) fn announce(&self, slot: usize, plan: &Plan, net: &mut Net) {
        let (headers, flow) = (self.headers(slot, plan, net), &self.flows[slot]);
        net.announce(slot, flow.routes, &headers);
        let rate = plan.traffic[flow.table as usize].sockets.max_pacing_rate;
        let tcp = headers.protocol == Protocol::TCP.0;
        net.open(
            slot,
            flow.routes,
            [rate, None].map(|rate| if tcp { Socket::Tcp } else { Socket::Datagrams { rate } }),
        );
    }

    /// The headers of a flow's forward direction.
    fn headers(&self, slot: usize, plan: &Plan, net: &Net) -> FlowHeaders {
        let flow = &self.flows[slot];
        let offered = &plan.traffic[flow.table as usize];
        let table = &self.tables[flow.table as usize];
        let tcp = offered.model.transport() == Transport::Tcp && table.protocol.is_none();
        let sockets = &offered.sockets;
        let way = &table.ways[flow.way as usize];
        let address = |node: u32| IpAddr::V4(plan.nodes[node as usize].address);
        FlowHeaders {
            protocol: if tcp { Protocol::TCP.0 } else { Protocol::UDP.0 },
            source: address(way.from),
            destination: address(way.to),
            source_port: sockets.source_port.unwrap_or(FIRST_PORT + (slot as u32 % PORTS) as u16),
            destination_port: sockets.destination_port.unwrap_or(5001 + (flow.table % PORTS) as u16),
            traffic: offered.name.clone(),
            class: plan.classes[usize::from(offered.class)].clone(),
            rtt: Some(flow.routes.iter().flat_map(|&start| net.route(start)).map(|i| plan.links[i].delay).sum()),
        }
    }

    /// The headers of every flow's forward direction, in the order of their places.
    pub fn all_headers(&self, plan: &Plan, net: &Net) -> Vec<FlowHeaders> {
        (0..self.flows.len()).map(|slot| self.headers(slot, plan, net)).collect()
    }

    /// Number of sources.
    pub fn sources(&self) -> usize {
        self.sources.len()
    }

    /// When each source is to be woken first.
    pub fn first_wakes(&mut self, plan: &Plan) -> Vec<Time> {
        let first = |source: &mut Source| {
            let offered = &plan.traffic[source.table as usize];
            let late = source.rng.uniform() * offered.spread.ns() as f64;
            let start = offered.start + Span::from_ns(late as u64);
            source.traffic.first(start, &mut source.rng)
        };
        self.sources.iter_mut().map(first).collect()
    }

    /// Makes an alteration of traffic, for all sources of its table; all others are not its business.
    ///
    /// # Errors
    /// The offending parameter.
    pub fn alter(&mut self, now: Time, alteration: &Alteration, plan: &Plan) -> Result<(), ParamError> {
        let Alteration::Traffic { table, params } = alteration else { return Ok(()) };
        let scope = plan.traffic_scope(*table);
        let mut sources = self.sources.iter_mut().filter(|s| s.table as usize == *table);
        sources.try_for_each(|source| source.traffic.retune(now, params, &scope))
    }
}

/// Each table with its ways.
fn tables(plan: &Plan, protocols: Protocols<'_>, net: &mut Net) -> Result<Vec<Table>, PlanError> {
    let router = Router::new(&plan.links, plan.nodes.len());
    let unreachable = |offered: &Offered, node: usize| PlanError::Unreachable {
        traffic: offered.name.clone(),
        node: plan.nodes[node].name.clone(),
    };
    let mut tcp = Arc::new(transport::Config::default());
    let table = |offered: &Offered| {
        let way = |&from: &usize| net.way(&router, [from, offered.to]).map_err(|node| unreachable(offered, node));
        let ways = offered.from.iter().map(way).collect::<Result<Vec<Way>, _>>()?;
        if *tcp != offered.tcp {
            tcp = Arc::new(offered.tcp);
        }
        Ok(Table::new(offered, tcp.clone(), ways, protocols))
    };
    plan.traffic.iter().map(table).collect()
}
