//! From a plan to a simulation at time zero: links, sources, routes, first events.

use super::{HERE, Simulation, Source};
use crate::agenda::{Heap, Key, MAX_COMPONENTS};
use crate::hosts::flow::{self as host, Flow};
use crate::net::classes::Classes;
use crate::net::link::Parts;
use crate::net::{Link, Pool, Queues, Router, Way};
use crate::plan::Plan;
use crate::record::Retired;
use crate::traffic::Carrier;
use perhop_core::Rng;
use perhop_core::classify::{FlowHeaders, Protocol};
use perhop_core::edge::{Edge, Mail};
use perhop_core::needs::Needs;
use perhop_core::packet::Ecn;
use perhop_core::params::ParamError;
use perhop_core::queue::Gate;
use perhop_core::sched::Scheduler as _;
use perhop_core::units::{Span, Time};
use std::net::IpAddr;

/// Why a plan cannot be run. A validated scenario gives none of these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanError {
    /// No way from one node to another.
    Unreachable {
        /// The `[traffic]` table.
        traffic: String,
        /// Where it ends.
        node: String,
    },
    /// A parameter that its algorithm refuses: the table it stands in, what is wrong.
    Param(String, Box<ParamError>),
    /// A TCP parameter out of its bounds, or more components than keys can name.
    Other(String),
}

impl std::fmt::Display for PlanError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unreachable { traffic, node } => write!(f, "traffic `{traffic}` has no way to `{node}`"),
            Self::Param(table, error) => write!(f, "{table}: {error}"),
            Self::Other(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for PlanError {}

/// How the engine may be told to work; results do not depend on it (a test).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EngineOptions {
    /// Every link has an event at the end of each transmission.
    pub transmit_done: bool,
}

impl Simulation {
    /// The replication that `plan` describes, at time zero.
    ///
    /// # Errors
    /// A plan that no validated scenario makes.
    pub fn new(plan: Plan, options: EngineOptions) -> Result<Self, PlanError> {
        let mut it = Self {
            now: Time::ZERO,
            events: Heap::default(),
            timers: Heap::default(),
            pool: Pool::default(),
            links: build_links(&plan, options)?,
            hops: Vec::new(),
            flows: Vec::new(),
            sources: Vec::new(),
            ways: Vec::new(),
            idle_flows: Vec::new(),
            ending: Vec::new(),
            mates: Vec::new(),
            taps: taps(&plan),
            arrivals: vec![Default::default(); plan.classes.len()],
            transfers: Vec::new(),
            open_transfers: vec![0; plan.traffic.len()],
            refused: 0,
            retired: vec![Retired::default(); plan.traffic.len()],
            samples: Vec::new(),
            flow_samples: Vec::new(),
            captured: Vec::new(),
            packet_hops: 0,
            event_count: 0,
            warm: None,
            overhead: plan.overhead,
            next_sample: Time::ZERO,
            changes_made: 0,
            clock_at: Time::MAX,
            timed_edges: Vec::new(),
            mail: Mail::default(),
            plan,
        };
        check_changes(&it.plan)?;
        it.mates = it.find_mates();
        it.timed_edges = it.find_timed_edges();
        it.add_sources()?;
        it.start();
        Ok(it)
    }

    /// For each link, the opposite one if its conditioners look at what comes back.
    fn find_mates(&self) -> Vec<Option<u32>> {
        let mut mates = vec![None; self.links.len()];
        for i in (0..self.links.len()).filter(|&i| self.links[i].edge_needs.contains(Needs::REVERSE)) {
            let link = &self.plan.links[i];
            if let Some(back) = self.plan.links.iter().position(|l| l.from == link.to && l.to == link.from) {
                mates[back] = Some(i as u32);
            }
        }
        mates
    }

    fn add_sources(&mut self) -> Result<(), PlanError> {
        self.find_ways()?;
        for table in 0..self.plan.traffic.len() {
            let offered = self.plan.traffic[table].clone();
            let scope = self.plan.traffic_scope(table);
            for i in 0..offered.flows {
                let built = offered.model.build(&scope);
                let traffic =
                    built.map_err(|error| PlanError::Param(format!("[traffic.{}]", offered.name), Box::new(error)))?;
                let name = format!("traffic.{}.{i}", offered.name);
                let rng = Rng::stream(self.plan.seed, self.plan.replication, &name);
                let asked = traffic.carrier() == Carrier::Responses;
                let flow = if asked { u32::MAX } else { self.flows.len() as u32 };
                let source = self.sources.len() as u32;
                let stop = offered.stop.unwrap_or(Time::MAX);
                self.sources.push(Source { traffic, rng, table: table as u16, flow, stop });
                if !asked {
                    self.add_flow(source, 0)?;
                }
            }
        }
        if self.numbering().clock() >= MAX_COMPONENTS {
            return Err(PlanError::Other(format!("more than {MAX_COMPONENTS} links and sources")));
        }
        Ok(())
    }

    /// Each table's ways: from each of its senders, then back to each of them.
    fn find_ways(&mut self) -> Result<(), PlanError> {
        let router = Router::new(&self.plan.links, self.plan.nodes.len());
        for offered in &self.plan.traffic {
            let mut ways = Vec::new();
            for &sender in &offered.from {
                let mut starts = [0; 2];
                for (start, (from, to)) in starts.iter_mut().zip([(sender, offered.to), (offered.to, sender)]) {
                    let node = || self.plan.nodes[to].name.clone();
                    let unreachable = || PlanError::Unreachable { traffic: offered.name.clone(), node: node() };
                    *start = self.hops.len() as u32;
                    self.hops.extend(router.route(from, to).ok_or_else(unreachable)?.into_iter().chain([HERE]));
                }
                ways.push(Way { from: sender, to: offered.to, routes: starts });
            }
            let back: Vec<_> = ways.iter().map(Way::reversed).collect();
            ways.extend(back);
            self.idle_flows.push(vec![Vec::new(); ways.len()]);
            self.ways.push(ways);
        }
        Ok(())
    }

    pub(crate) fn add_flow(&mut self, source: u32, way: usize) -> Result<usize, PlanError> {
        let slot = self.flows.len();
        if slot * 2 + 1 >= MAX_COMPONENTS {
            return Err(PlanError::Other(format!("more than {} flows at a time", MAX_COMPONENTS / 2)));
        }
        let table = self.sources[source as usize].table;
        let offered = &self.plan.traffic[usize::from(table)];
        let routes = self.ways[usize::from(table)][way].routes;
        let mut flow = Flow::new(table, source, routes);
        flow.way = way as u16;
        flow.class = offered.class;
        flow.dscp = offered.dscp;
        flow.ecn = if offered.ect { Ecn::Ect0 } else { Ecn::NotEct };
        self.flows.push(flow);
        self.announce(slot);
        Ok(slot)
    }

    /// The headers of a flow's way out.
    pub(crate) fn headers(&self, slot: usize) -> FlowHeaders {
        let flow = &self.flows[slot];
        let offered = &self.plan.traffic[usize::from(flow.table)];
        let tcp = self.sources[flow.source as usize].traffic.carrier() != Carrier::Datagrams;
        let way = &self.ways[usize::from(flow.table)][usize::from(flow.way)];
        let address = |node: usize| IpAddr::V4(self.plan.nodes[node].address);
        FlowHeaders {
            protocol: if tcp { Protocol::TCP.0 } else { Protocol::UDP.0 },
            source: address(way.from),
            destination: address(way.to),
            source_port: 1024 + (slot % 60_000) as u16,
            destination_port: 5001 + flow.table,
            traffic: offered.name.clone(),
            class: self.plan.classes[usize::from(offered.class)].clone(),
            rtt: Some(self.base_rtt(flow)),
        }
    }

    /// Propagation there and back, without serialisation and queueing.
    fn base_rtt(&self, flow: &Flow) -> Span {
        let way = |start: u32| self.hops[start as usize..].iter().take_while(|&&hop| hop != HERE);
        let links = flow.routes.into_iter().flat_map(way);
        links.map(|&hop| self.plan.links[hop as usize].delay).fold(Span::ZERO, |sum, delay| sum + delay)
    }

    /// Tells the conditioners that will see a flow's packets, out and back, who it is.
    pub(crate) fn announce(&mut self, slot: usize) {
        let headers = self.headers(slot);
        let reversed = headers.reversed();
        for port in self.ports_of(slot, 0) {
            self.links[port].edge.register(host::out(slot), &headers);
        }
        for port in self.ports_of(slot, 1) {
            self.links[port].edge.register(host::back(slot), &reversed);
        }
    }

    /// The ports whose conditioners see one way of a flow: those it passes, and those that look at what comes back over
    /// the links of its other way.
    fn ports_of(&self, slot: usize, way: usize) -> Vec<usize> {
        let links = |way: usize| {
            let hops = &self.hops[self.flows[slot].routes[way] as usize..];
            hops.iter().take_while(|&&hop| hop != HERE).map(|&hop| hop as usize)
        };
        let mut ports: Vec<_> = links(way).collect();
        let looking: Vec<_> = links(1 - way).filter_map(|link| Some(self.mates[link]? as usize)).collect();
        ports.extend(looking.into_iter().filter(|port| !links(way).any(|link| link == *port)));
        ports.retain(|&port| !self.links[port].edge.is_empty());
        ports
    }

    /// Puts the first events into the heap.
    fn start(&mut self) {
        let numbering = self.numbering();
        for i in 0..self.sources.len() {
            let source = &mut self.sources[i];
            let offered = &self.plan.traffic[usize::from(source.table)];
            let late = source.rng.uniform() * offered.spread.ns() as f64;
            let start = offered.start + Span::from_ns(late as u64);
            let first = source.traffic.first(start, &mut source.rng);
            self.events.push(Key::new(first, numbering.source(i)));
        }
        for i in 0..self.links.len() {
            if let Some(at) = self.links[i].poll_at() {
                self.events.push(Key::new(at, numbering.aqm_timer(i)));
            }
        }
        if self.plan.warmup == Span::ZERO {
            self.end_warmup();
        }
        self.wake_clock();
    }
}

/// Whether what runs will take every change when it comes.
fn check_changes(plan: &Plan) -> Result<(), PlanError> {
    if !plan.changes.is_sorted_by_key(|change| change.at) {
        return Err(PlanError::Other("changes are not in order of time".into()));
    }
    let mut altered = plan.clone();
    for change in &plan.changes {
        let refused = |error| PlanError::Param(format!("change at {}", Span::from_ns(change.at.ns())), Box::new(error));
        change.what.iter().try_for_each(|what| altered.alter(what)).map_err(refused)?;
    }
    Ok(())
}

fn taps(plan: &Plan) -> Vec<[bool; 2]> {
    let mut taps = vec![[false; 2]; plan.links.len()];
    for tap in &plan.taps {
        taps[tap.link][tap.point as usize] = true;
    }
    taps
}

fn build_links(plan: &Plan, options: EngineOptions) -> Result<Vec<Link>, PlanError> {
    plan.links.iter().enumerate().map(|(i, link)| build_link(plan, (i, link), options)).collect()
}

fn build_link(plan: &Plan, (i, link): (usize, &crate::plan::Link), options: EngineOptions) -> Result<Link, PlanError> {
    let stream = |what: &str| Rng::stream(plan.seed, plan.replication, &format!("{what}.{}", link.name));
    let edge = Edge::new(link.edge.clone(), plan.seed, plan.replication).map_err(|fault| {
        let (name, error) = *fault;
        PlanError::Param(format!("[conditioner.{name}]"), Box::new(error))
    })?;
    let loss = link.loss.get();
    Ok(Link::new(Parts {
        edge,
        queues: build_queues(plan, link)?,
        rate: link.rate,
        delay: link.delay,
        wire_loss: (loss > 0.0).then(|| (loss, stream("wire"))),
        classes: plan.classes.len(),
        force_transmit_done: options.transmit_done || plan.has_timed_rate(i),
    }))
}

fn build_queues(plan: &Plan, link: &crate::plan::Link) -> Result<Queues, PlanError> {
    let refused = |error| PlanError::Param(format!("queue of {}", link.name), Box::new(error));
    let gate = |(i, queue): (usize, &crate::plan::Queue)| {
        let aqm = queue.aqm.build(&queue.scope).map_err(refused)?;
        let rng = Rng::stream(plan.seed, plan.replication, &queue_stream(&link.name, i));
        Ok(Gate::new(aqm, queue.limit, rng).with_classes(plan.classes.len()))
    };
    let mut gates = link.queues.iter().enumerate().map(gate).collect::<Result<Vec<_>, _>>()?;
    let nothing = || PlanError::Other(format!("{} has no queue", link.name));
    let first = link.queues.first().ok_or_else(nothing)?;
    let Some(params) = &link.scheduler else { return gates.pop().map(Queues::One).ok_or_else(nothing) };
    let scheduler = params.build(&first.scope).map_err(refused)?;
    let (queues, classes) = (gates.len(), scheduler.members().places());
    if queues != classes {
        return Err(PlanError::Other(format!("{}: {queues} queues for {classes} classes", link.name)));
    }
    Ok(Queues::Several(Box::new(Classes::new(scheduler, gates))))
}

/// The random stream of a link's queue. The first has the one that it has without scheduler, so that both kinds draw the
/// same.
fn queue_stream(link: &str, i: usize) -> String {
    if i == 0 { format!("queue.{link}") } else { format!("queue.{link}.{}", i + 1) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{self, Node, Offered};
    use crate::traffic::{TrafficParams, cbr};
    use perhop_core::Scope;
    use perhop_core::aqm::{AqmParams, drop_tail};
    use perhop_core::classify::Match;
    use perhop_core::conditioner::{ConditionerParams, token_bucket};
    use perhop_core::dscp::Dscp;
    use perhop_core::edge::{Action, Per, StageSpec};
    use perhop_core::queue::Limit;
    use perhop_core::units::{BitRate, Bytes, Probability};
    use std::net::Ipv4Addr;

    /// Data go 0 -> 1 over link 0 and come back 1 -> 2 -> 0 over links 1 and 2; links 3 and 4 lead the other way.
    fn triangle() -> Simulation {
        let bucket = token_bucket::Params { cir: BitRate::mbps(1), cbs: Bytes::new(3000) };
        let stage = StageSpec {
            name: "m".into(),
            matches: Match::default(),
            per: Per::Flow,
            params: ConditionerParams::TokenBucketMarker(bucket),
            actions: [Action::Transmit; 4],
            scope: Scope::default(),
        };
        let link = |(from, to): (usize, usize)| plan::Link {
            name: format!("{from} -> {to}"),
            from,
            to,
            rate: BitRate::mbps(1),
            delay: Span::ZERO,
            loss: Probability::ZERO,
            queues: vec![plan::Queue {
                aqm: AqmParams::DropTail(drop_tail::Params {}),
                limit: Limit::Packets(10),
                scope: Scope::default(),
            }],
            scheduler: None,
            edge: vec![stage.clone()],
        };
        let size = Bytes::new(1000);
        let model = cbr::Params { rate: BitRate::mbps(1), size, jitter: Probability::ZERO, random_phase: true };
        let offered = Offered {
            name: "t".into(),
            class: 0,
            from: vec![0],
            to: 1,
            flows: 1,
            start: Time::ZERO,
            spread: Span::ZERO,
            stop: None,
            model: TrafficParams::Cbr(model),
            tcp: Default::default(),
            dscp: Dscp::BE,
            ect: false,
        };
        let plan = Plan {
            seed: 1,
            replication: 0,
            duration: Span::from_s(1),
            warmup: Span::ZERO,
            overhead: 0,
            nodes: (0..3).map(|i| Node { name: i.to_string(), address: Ipv4Addr::LOCALHOST }).collect(),
            links: [(0, 1), (1, 2), (2, 0), (2, 1), (0, 2)].map(link).into(),
            classes: vec!["all".into()],
            traffic: vec![offered],
            changes: vec![],
            sampling: None,
            taps: vec![],
        };
        Simulation::new(plan, EngineOptions::default()).unwrap()
    }

    #[test]
    fn a_flow_is_known_where_it_passes_and_where_its_other_way_is_looked_at() {
        let mut it = triangle();
        assert_eq!((it.ports_of(0, 0), it.ports_of(0, 1)), (vec![0], vec![1, 2]));
        // Link 3 is opposite to link 1, link 4 to link 2: their conditioners look at the ACKs.
        (it.mates[1], it.mates[2]) = (Some(3), Some(4));
        assert_eq!((it.ports_of(0, 0), it.ports_of(0, 1)), (vec![0, 3, 4], vec![1, 2]));
        // And those of link 1, if it were opposite to link 0, at the data.
        it.mates[0] = Some(1);
        assert_eq!(it.ports_of(0, 1), [1, 2], "once, though it passes there as well");
    }
}
