//! The engine: events in the order of (time, component), packets from hop to hop.
//!
//! Components are numbered: ends of transmission of each link, deliveries of each link, timers of each
//! link's AQM, sources, then the engine's own clock (end of warm-up, samples). So at equal times
//! departures come before arrivals. TCP's timers have a heap of their own; at equal times they come last.

use crate::delays::Delays;
use crate::heap::{Heap, Key};
use crate::host::{self, Connection, End, Flow};
use crate::link::{Link, Parts, Wakes};
use crate::outcome::Retired;
use crate::plan::{Plan, TapPoint};
use crate::pool::{Pool, Record, RecordId};
use crate::route::route;
use crate::series::Sample;
use crate::tap::Captured;
use crate::traffic::{AnyTraffic, Carrier, Offer, TrafficScope};
use crate::transport::{Receiver, Sender, Supply};
use perhop_core::Rng;
use perhop_core::aqm::Aqm as _;
use perhop_core::classify::{FlowHeaders, Protocol};
use perhop_core::conditioner::Passage;
use perhop_core::edge::Edge;
use perhop_core::needs::Needs;
use perhop_core::packet::{Ecn, FlowId};
use perhop_core::params::ParamError;
use perhop_core::queue::Gate;
use perhop_core::units::{Bytes, Span, Time};
use perhop_core::verdict::Verdict;
use std::net::IpAddr;

pub use crate::heap::{MAX_COMPONENTS, MAX_DURATION};

/// In the table of hops: the packet has arrived.
const HERE: u32 = u32::MAX;

/// Largest packet (IP length) that a source may make.
pub const LARGEST_PACKET: Bytes = Bytes::new(65_535);

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
    /// A parameter that its algorithm refuses.
    Param {
        /// The table it stands in.
        table: String,
        /// What is wrong.
        error: ParamError,
    },
    /// A TCP parameter out of its bounds, or more components than keys can name.
    Other(String),
}

impl std::fmt::Display for PlanError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unreachable { traffic, node } => write!(f, "traffic `{traffic}` has no way to `{node}`"),
            Self::Param { table, error } => write!(f, "{table}: {error}"),
            Self::Other(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for PlanError {}

/// A traffic source with its random stream.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) traffic: AnyTraffic,
    rng: Rng,
    /// Index of its `[traffic]` table.
    pub(crate) table: u16,
    /// Its standing flow; for transfers, the flow it used last.
    flow: u32,
    stop: Time,
}

/// A transfer that is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Index of its `[traffic]` table.
    pub table: u16,
    /// Number of its source within the table.
    pub source: u32,
    /// When its connection was opened.
    pub opened: Time,
    /// When its last byte arrived.
    pub complete: Time,
    /// Its payload.
    pub bytes: u64,
}

/// Delay and jitter of one class and colour, at the destination.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arrivals {
    pub(crate) delivered: perhop_core::count::Count,
    pub(crate) delays: Delays,
    pub(crate) jitters: Delays,
}

/// One replication, running.
#[derive(Clone, Debug)]
pub struct Simulation {
    pub(crate) plan: Plan,
    now: Time,
    events: Heap,
    timers: Heap,
    pub(crate) pool: Pool,
    pub(crate) links: Vec<Link>,
    hops: Vec<u32>,
    pub(crate) flows: Vec<Flow>,
    pub(crate) sources: Vec<Source>,
    /// Flows of finished transfers, by table, to be used again.
    idle_flows: Vec<Vec<u32>>,
    /// Finished transfers whose last packets are still under way.
    ending: Vec<u32>,
    /// Link whose conditioners want to see what a link delivers.
    mates: Vec<Option<u32>>,
    taps: Vec<[bool; 2]>,
    pub(crate) arrivals: Vec<[Arrivals; 4]>,
    pub(crate) transfers: Vec<Transfer>,
    pub(crate) open_transfers: Vec<u32>,
    /// What the connections of finished transfers did, by table.
    pub(crate) retired: Vec<Retired>,
    pub(crate) samples: Vec<Sample>,
    pub(crate) captured: Vec<Captured>,
    pub(crate) packet_hops: u64,
    pub(crate) event_count: u64,
    pub(crate) warm: Option<crate::outcome::Totals>,
    overhead: u32,
    next_sample: Time,
}

/// Numbers of the components, from the number of links and sources.
#[derive(Clone, Copy)]
struct Numbering {
    links: usize,
    sources: usize,
}

enum Component {
    TransmitDone(usize),
    Delivery(usize),
    AqmTimer(usize),
    Source(usize),
    Clock,
}

impl Numbering {
    fn component(self, index: usize) -> Component {
        let n = self.links;
        match index {
            i if i < n => Component::TransmitDone(i),
            i if i < 2 * n => Component::Delivery(i - n),
            i if i < 3 * n => Component::AqmTimer(i - 2 * n),
            i if i < 3 * n + self.sources => Component::Source(i - 3 * n),
            _ => Component::Clock,
        }
    }

    fn clock(self) -> usize {
        3 * self.links + self.sources
    }
}

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
            idle_flows: vec![Vec::new(); plan.traffic.len()],
            ending: Vec::new(),
            mates: Vec::new(),
            taps: taps(&plan),
            arrivals: vec![Default::default(); plan.classes.len()],
            transfers: Vec::new(),
            open_transfers: vec![0; plan.traffic.len()],
            retired: vec![Retired::default(); plan.traffic.len()],
            samples: Vec::new(),
            captured: Vec::new(),
            packet_hops: 0,
            event_count: 0,
            warm: None,
            overhead: plan.overhead,
            next_sample: Time::ZERO,
            plan,
        };
        it.mates = it.find_mates();
        it.add_sources()?;
        it.start();
        Ok(it)
    }

    fn numbering(&self) -> Numbering {
        Numbering { links: self.links.len(), sources: self.sources.len() }
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
        for table in 0..self.plan.traffic.len() {
            let offered = self.plan.traffic[table].clone();
            let routes = self.routes(&offered)?;
            let scope = TrafficScope { largest: LARGEST_PACKET, segment: Bytes::new(offered.tcp.mss.into()) };
            for i in 0..offered.flows {
                let built = offered.model.build(&scope);
                let traffic =
                    built.map_err(|error| PlanError::Param { table: format!("[traffic.{}]", offered.name), error })?;
                let name = format!("traffic.{}.{i}", offered.name);
                let rng = Rng::stream(self.plan.seed, self.plan.replication, &name);
                let flow = self.flows.len() as u32;
                let source = self.sources.len() as u32;
                let stop = offered.stop.unwrap_or(Time::MAX);
                self.sources.push(Source { traffic, rng, table: table as u16, flow, stop });
                self.add_flow(source, routes)?;
            }
        }
        if self.numbering().clock() >= MAX_COMPONENTS {
            return Err(PlanError::Other(format!("more than {MAX_COMPONENTS} links and sources")));
        }
        Ok(())
    }

    /// The table's routes out and back, as places in the table of hops.
    fn routes(&mut self, offered: &crate::plan::Offered) -> Result<[u32; 2], PlanError> {
        let ways = [(offered.from, offered.to), (offered.to, offered.from)];
        let mut starts = [0; 2];
        for (start, (from, to)) in starts.iter_mut().zip(ways) {
            let unreachable =
                || PlanError::Unreachable { traffic: offered.name.clone(), node: self.plan.nodes[to].name.clone() };
            let links = route(&self.plan.links, self.plan.nodes.len(), from, to).ok_or_else(unreachable)?;
            *start = self.hops.len() as u32;
            self.hops.extend(links.into_iter().chain([HERE]));
        }
        Ok(starts)
    }

    fn add_flow(&mut self, source: u32, routes: [u32; 2]) -> Result<usize, PlanError> {
        let slot = self.flows.len();
        if slot * 2 + 1 >= MAX_COMPONENTS {
            return Err(PlanError::Other(format!("more than {} flows at a time", MAX_COMPONENTS / 2)));
        }
        let table = self.sources[source as usize].table;
        let offered = &self.plan.traffic[usize::from(table)];
        let mut flow = Flow::new(table, source, routes);
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
        let address = |node: usize| IpAddr::V4(self.plan.nodes[node].address);
        FlowHeaders {
            protocol: if tcp { Protocol::TCP.0 } else { Protocol::UDP.0 },
            source: address(offered.from),
            destination: address(offered.to),
            source_port: 1024 + (slot % 60_000) as u16,
            destination_port: 5001 + flow.table,
            traffic: offered.name.clone(),
        }
    }

    /// Tells every conditioner on the way of a flow, out and back, who it is.
    fn announce(&mut self, slot: usize) {
        let headers = self.headers(slot);
        let reversed = FlowHeaders {
            source: headers.destination,
            destination: headers.source,
            source_port: headers.destination_port,
            destination_port: headers.source_port,
            ..headers.clone()
        };
        for link in self.links.iter_mut().filter(|l| !l.edge.is_empty()) {
            link.edge.register(host::out(slot), &headers);
            link.edge.register(host::back(slot), &reversed);
        }
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
            self.events.push(Key::new(first, 3 * numbering.links + i));
        }
        for i in 0..self.links.len() {
            if self.links[i].gate.aqm().needs().contains(Needs::TIMER)
                && let Some(at) = self.links[i].gate.aqm().poll_at()
            {
                self.events.push(Key::new(at, 2 * numbering.links + i));
            }
        }
        self.wake_clock();
    }

    /// Asks for the next event of the engine's own clock: a sample or the end of the warm-up.
    fn wake_clock(&mut self) {
        let warm = Time::ZERO + self.plan.warmup;
        let warm = if self.warm.is_none() { warm } else { Time::MAX };
        let sample = if self.plan.sample_every.is_some() { self.next_sample } else { Time::MAX };
        let at = warm.min(sample);
        if at < Time::MAX {
            self.events.push(Key::new(at, self.numbering().clock()));
        }
    }

    fn on_clock(&mut self, now: Time) {
        if self.warm.is_none() && now >= Time::ZERO + self.plan.warmup {
            self.end_warmup();
        }
        if let Some(interval) = self.plan.sample_every
            && now >= self.next_sample
        {
            self.sample(now);
            self.next_sample = now + interval;
        }
        self.wake_clock();
    }

    /// Runs until `until` or the end of the plan, whichever is first; `true` when the plan's end is reached.
    pub fn run_until(&mut self, until: Time) -> bool {
        let end = Time::ZERO + self.plan.duration;
        let stop = until.min(end);
        let numbering = self.numbering();
        loop {
            let event = self.events.peek();
            let timer = self.timers.peek();
            let next = event.time().min(timer.time());
            if next > stop || (event == Key::NEVER && timer == Key::NEVER) {
                break;
            }
            self.now = next;
            self.event_count += 1;
            if timer.time() < event.time() {
                self.timers.take();
                self.on_timer(next, timer.index());
                continue;
            }
            self.events.take();
            match numbering.component(event.index()) {
                Component::Delivery(link) => self.deliver(next, link),
                Component::TransmitDone(link) => self.begin(next, link),
                Component::Source(source) => self.wake_source(next, source),
                Component::AqmTimer(link) => self.on_aqm_timer(next, link),
                Component::Clock => self.on_clock(next),
            }
        }
        self.now = stop;
        stop == end
    }

    /// A packet reaches the end of a link.
    #[inline]
    fn deliver(&mut self, now: Time, link: usize) {
        self.packet_hops += 1;
        let (id, next) = self.links[link].deliver(&self.pool);
        if let Some(at) = next {
            self.events.push(Key::new(at, self.links.len() + link));
        }
        let record = self.pool.get_mut(id);
        if self.links[link].wire_loss.is_some() && self.links[link].loses(&record.packet) {
            return self.drop(id);
        }
        if let Some(mate) = self.mates[link] {
            let flow = host::mate(record.packet.flow);
            self.links[mate as usize].edge.reverse(&Passage { now, truth: None }, flow, &mut record.packet);
        }
        if self.taps[link][TapPoint::Output as usize] {
            self.captured.push(Captured::new(now, link, TapPoint::Output, record));
        }
        let next = self.hops[record.hop as usize];
        if next == HERE {
            self.arrive(now, id);
        } else {
            record.hop += 1;
            self.forward(now, next as usize, id);
        }
    }

    /// A packet comes to a port.
    #[inline]
    fn forward(&mut self, now: Time, link: usize, id: RecordId) {
        let port = &mut self.links[link];
        let record = self.pool.get_mut(id);
        if self.taps[link][TapPoint::Input as usize] {
            self.captured.push(Captured::new(now, link, TapPoint::Input, record));
        }
        if !port.edge.is_empty() {
            let flow = &self.flows[(record.packet.flow.0 / 2) as usize];
            let truth = if port.edge_needs.contains(Needs::TRUTH) { flow.truth() } else { None };
            let class = usize::from(record.packet.class);
            port.offered[class].offered.add(record.packet.size);
            let verdict = port.edge.forward(&Passage { now, truth: truth.as_ref() }, &mut record.packet);
            let ce = verdict == Verdict::Mark && record.packet.ecn.capable();
            if ce {
                record.packet.ecn = Ecn::Ce;
            } else if verdict != Verdict::Pass {
                port.offered[class].policed[record.packet.colour.index()].add(record.packet.size);
                return self.drop(id);
            }
        }
        match port.arrive(now, id, &mut self.pool) {
            Err(_reason) => self.drop(id),
            Ok(wakes) if wakes.begin => self.begin(now, link),
            Ok(wakes) => self.wake_link(link, wakes),
        }
    }

    #[inline]
    fn wake_link(&mut self, link: usize, wakes: Wakes) {
        if let Some(at) = wakes.delivery {
            self.events.push(Key::new(at, self.links.len() + link));
        }
        if let Some(at) = wakes.transmit_done {
            self.events.push(Key::new(at, link));
        }
    }

    /// A link's next transmission begins.
    fn begin(&mut self, now: Time, link: usize) {
        if self.links[link].has_departure_hooks() {
            while let Some((id, _reason)) = self.links[link].departing(now, &mut self.pool) {
                self.drop(id);
            }
        }
        let wakes = self.links[link].begin(now, &self.pool);
        self.wake_link(link, wakes);
    }

    fn on_aqm_timer(&mut self, now: Time, link: usize) {
        let backlog = self.links[link].backlog(now);
        let aqm = self.links[link].gate.aqm_mut();
        aqm.on_timer(now, &backlog);
        if let Some(at) = aqm.poll_at() {
            self.events.push(Key::new(at, 2 * self.links.len() + link));
        }
    }

    /// A packet ends before its destination.
    #[cold]
    fn drop(&mut self, id: RecordId) {
        let record = self.pool.remove(id);
        let FlowId(number) = record.packet.flow;
        let slot = (number / 2) as usize;
        let flow = &mut self.flows[slot];
        flow.in_network -= 1;
        if number.is_multiple_of(2) {
            flow.counts.dropped.add(record.wire);
        } else {
            flow.counts.acks[2].add(record.wire);
        }
        if flow.in_network == 0 && !self.ending.is_empty() {
            self.recycle(slot);
        }
    }

    /// A packet arrives at its host.
    #[inline]
    fn arrive(&mut self, now: Time, id: RecordId) {
        let record = self.pool.remove(id);
        let FlowId(number) = record.packet.flow;
        let slot = (number / 2) as usize;
        self.flows[slot].in_network -= 1;
        if number.is_multiple_of(2) {
            self.arrive_data(now, slot, &record);
        } else {
            self.arrive_ack(now, slot, &record);
        }
        if !self.ending.is_empty() && self.flows[slot].in_network == 0 {
            self.recycle(slot);
        }
    }

    #[inline]
    fn arrive_data(&mut self, now: Time, slot: usize, record: &Record) {
        let flow = &mut self.flows[slot];
        let (delay, jitter) = flow.arrived(now, record);
        let arrivals = &mut self.arrivals[usize::from(record.packet.class)][record.packet.colour.index()];
        arrivals.delivered.add(record.wire);
        arrivals.delays.observe(delay.ns());
        if let Some(jitter) = jitter {
            arrivals.jitters.observe(jitter.ns());
        }
        let Some(tcp) = &mut flow.tcp else { return };
        let ack = tcp.receiver.on_segment(now, &host::received(record));
        if tcp.transfer.is_some_and(|bytes| tcp.receiver.delivered_bytes() >= bytes) {
            self.complete(now, slot);
        }
        let flow = &self.flows[slot];
        if let Some(ack) = ack {
            let record = flow.ack(now, &ack);
            self.send(now, slot, End::Receiver, record);
        }
        self.arm(slot, End::Receiver);
    }

    #[inline]
    fn arrive_ack(&mut self, now: Time, slot: usize, record: &Record) {
        let flow = &mut self.flows[slot];
        flow.counts.acks[1].add(record.wire);
        let Some(tcp) = &mut flow.tcp else { return };
        tcp.sender.on_ack(now, host::acknowledged(record));
        self.pump(now, slot);
    }

    /// Sends what the sender may send now.
    #[inline]
    fn pump(&mut self, now: Time, slot: usize) {
        loop {
            let flow = &mut self.flows[slot];
            let Some(tcp) = &mut flow.tcp else { return };
            let Some(segment) = tcp.sender.next_segment(now) else { break };
            let record = flow.segment(now, &segment);
            self.send(now, slot, End::Sender, record);
        }
        self.arm(slot, End::Sender);
    }

    /// Puts a packet into the first port of its way.
    #[inline]
    fn send(&mut self, now: Time, slot: usize, end: End, mut record: Record) {
        let flow = &mut self.flows[slot];
        flow.in_network += 1;
        match end {
            End::Sender => flow.counts.sent.add(record.wire),
            End::Receiver => flow.counts.acks[0].add(record.wire),
        }
        record.packet.flow = FlowId(slot as u32 * 2 + end as u32);
        record.packet.size = record.wire + self.overhead;
        let first = self.hops[record.hop as usize];
        record.hop += 1;
        let id = self.pool.insert(record);
        if first == HERE { self.arrive(now, id) } else { self.forward(now, first as usize, id) }
    }

    /// Sees to it that an event waits for the timer of one end, at its time or before.
    #[inline]
    fn arm(&mut self, slot: usize, end: End) {
        let Some(tcp) = &mut self.flows[slot].tcp else { return };
        let at = match end {
            End::Sender => tcp.sender.timer_at(),
            End::Receiver => tcp.receiver.timer_at(),
        };
        let armed = &mut tcp.armed[end as usize];
        if let Some(at) = at.filter(|at| at < armed) {
            *armed = at;
            self.timers.push(Key::new(at, slot * 2 + end as usize));
        }
    }

    fn on_timer(&mut self, now: Time, index: usize) {
        let slot = index / 2;
        let Some(tcp) = &mut self.flows[slot].tcp else { return };
        let end = if index.is_multiple_of(2) { End::Sender } else { End::Receiver };
        if tcp.armed[end as usize] != now {
            return;
        }
        tcp.armed[end as usize] = Time::MAX;
        match end {
            End::Sender => {
                if tcp.sender.timer_at().is_some_and(|at| at <= now) {
                    tcp.sender.on_timer(now);
                }
                self.pump(now, slot);
            }
            End::Receiver => {
                let due = tcp.receiver.timer_at().is_some_and(|at| at <= now);
                if let Some(ack) = if due { tcp.receiver.on_timer(now) } else { None } {
                    let record = self.flows[slot].ack(now, &ack);
                    self.send(now, slot, End::Receiver, record);
                }
                self.arm(slot, End::Receiver);
            }
        }
    }

    fn wake_source(&mut self, now: Time, index: usize) {
        let source = &mut self.sources[index];
        if now >= source.stop {
            return;
        }
        let step = source.traffic.wake(now, &mut source.rng);
        let (slot, table) = (source.flow as usize, usize::from(source.table));
        if let Some(next) = step.next {
            self.events.push(Key::new(next, 3 * self.links.len() + index));
        }
        match step.offer {
            Offer::Nothing => {}
            Offer::Datagram(wire) => {
                let record = self.flows[slot].datagram(now, wire);
                self.send(now, slot, End::Sender, record);
            }
            Offer::Endless => self.open(now, slot, Supply::Unlimited),
            Offer::Segments(n) => {
                if self.flows[slot].tcp.is_none() {
                    self.open(now, slot, Supply::Offered);
                }
                if let Some(tcp) = &mut self.flows[slot].tcp {
                    tcp.sender.offer(n);
                }
                self.pump(now, slot);
            }
            Offer::Transfer(bytes) => {
                let slot = self.free_flow(table, index);
                self.open_transfers[table] += 1;
                self.open(now, slot, Supply::Bytes(bytes));
            }
        }
    }

    /// A flow for one more transfer of a source: one that was used and is free, or a new one.
    fn free_flow(&mut self, table: usize, source: usize) -> usize {
        let slot = match self.idle_flows[table].pop() {
            Some(slot) => slot as usize,
            None => {
                let first = self.sources[source].flow as usize;
                let fresh = self.flows[first].tcp.is_none() && self.flows[first].counts.sent.packets == 0;
                if fresh {
                    return first;
                }
                let routes = self.flows[first].routes;
                self.add_flow(source as u32, routes).expect("transfers at a time are bounded by the keys' room")
            }
        };
        self.flows[slot].source = source as u32;
        self.flows[slot].renew();
        self.announce(slot);
        slot
    }

    /// Opens a connection on a flow.
    fn open(&mut self, now: Time, slot: usize, supply: Supply) {
        let config = self.plan.traffic[usize::from(self.flows[slot].table)].tcp;
        // A tick of the sender's clock does not begin with the run: each connection has a phase of its own.
        let source = &mut self.sources[self.flows[slot].source as usize];
        let phase = source.rng.uniform() * config.rto.granularity.ns() as f64;
        let sender = Sender::new(&config, supply).expect("validated");
        let mut sender = sender.with_clock_phase(Span::from_ns(phase as u64));
        let receiver = Receiver::new(&config).expect("validated");
        sender.start();
        let transfer = if let Supply::Bytes(bytes) = supply { Some(bytes) } else { None };
        self.flows[slot].tcp = Some(Connection {
            sender,
            receiver,
            armed: [Time::MAX; 2],
            mss: config.mss,
            header: config.header,
            opened: now,
            transfer,
        });
        self.pump(now, slot);
    }

    /// The last byte of a transfer has arrived.
    fn complete(&mut self, now: Time, slot: usize) {
        let flow = &mut self.flows[slot];
        let Some(tcp) = &mut flow.tcp else { return };
        let Some(bytes) = tcp.transfer.take() else { return };
        let (table, source) = (flow.table, flow.source);
        self.transfers.push(Transfer { table, source, opened: tcp.opened, complete: now, bytes });
        self.open_transfers[usize::from(table)] -= 1;
        self.ending.push(slot as u32);
        let source = &mut self.sources[source as usize];
        if let Some(next) = source.traffic.on_complete(now, &mut source.rng) {
            let index = 3 * self.links.len() + self.flows[slot].source as usize;
            self.events.push(Key::new(next, index));
        }
    }

    /// Gives a finished transfer's flow back once its sender knows that it is over and none of its packets is left.
    fn recycle(&mut self, slot: usize) {
        let Some(at) = self.ending.iter().position(|&s| s as usize == slot) else { return };
        let flow = &mut self.flows[slot];
        let over = flow.tcp.as_ref().is_some_and(|tcp| tcp.sender.finished());
        if over && flow.in_network == 0 {
            self.ending.swap_remove(at);
            if let Some(tcp) = flow.tcp.take() {
                self.retired[usize::from(flow.table)].add(&tcp);
            }
            self.idle_flows[usize::from(flow.table)].push(slot as u32);
        }
    }
}

fn taps(plan: &Plan) -> Vec<[bool; 2]> {
    let mut taps = vec![[false; 2]; plan.links.len()];
    for tap in &plan.taps {
        taps[tap.link][tap.point as usize] = true;
    }
    taps
}

fn build_links(plan: &Plan, options: EngineOptions) -> Result<Vec<Link>, PlanError> {
    plan.links.iter().map(|link| build_link(plan, link, options)).collect()
}

fn build_link(plan: &Plan, link: &crate::plan::Link, options: EngineOptions) -> Result<Link, PlanError> {
    let stream = |what: &str| Rng::stream(plan.seed, plan.replication, &format!("{what}.{}", link.name));
    let aqm = link.aqm.build(&link.scope);
    let aqm = aqm.map_err(|error| PlanError::Param { table: format!("queue of {}", link.name), error })?;
    let edge = Edge::new(link.edge.clone(), plan.seed, plan.replication).map_err(|fault| {
        let (name, error) = *fault;
        PlanError::Param { table: format!("[conditioner.{name}]"), error }
    })?;
    let loss = link.loss.get();
    Ok(Link::new(Parts {
        edge,
        gate: Gate::new(aqm, link.limit, stream("queue")),
        rate: link.rate,
        delay: link.delay,
        wire_loss: (loss > 0.0).then(|| (loss, stream("wire"))),
        classes: plan.classes.len(),
        force_transmit_done: options.transmit_done,
    }))
}
