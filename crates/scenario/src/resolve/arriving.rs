//! What arrives where: the code points and colours with which traffic reaches each conditioner and each queue, and which
//! conditioners of the port it has passed.
//!
//! A traffic's packets, and its ACKs, start with its code point and the colour that this implies. On their route each
//! conditioner that takes them gives them one of the colours that its kind can give, and the action of that colour its
//! code point. What depends on more than that (how much is green, ports of TCP, marks) counts as possible.

use super::indexed::indexed;
use super::offered::Flowline;
use super::topology::Topology;
use perhop_core::classify::{FlowHeaders, Index, Match, Passed, Prefix, Protocol, Relation, RttClass};
use perhop_core::dscp::Dscp;
use perhop_core::packet::{Colour, Ecn, Packet};
use perhop_core::port::edge::Action;
use perhop_core::units::Span;
use perhop_sim::plan::FIRST_PORT;
use perhop_sim::traffic::TrafficModel as _;
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;

/// What classifiers, profiles and schedulers look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Look {
    /// Code point.
    pub dscp: Dscp,
    /// Colour.
    pub colour: Colour,
    /// Conditioners of the port that it has passed, of those that a match names.
    pub passed: Passed,
}

impl Look {
    /// A packet that looks so.
    pub fn packet(self) -> Packet {
        Packet { dscp: self.dscp, colour: self.colour, ..Packet::default() }
    }
}

/// One direction of a traffic where it arrives.
#[derive(Clone, Debug)]
pub struct Arriving {
    /// Its index.
    pub traffic: usize,
    /// Whether it is its ACKs.
    pub acks: bool,
    /// Who sends it to whom.
    pub ends: Arc<Ends>,
    /// How its packets may look.
    pub looks: Arc<BTreeSet<Look>>,
}

/// What classifiers know of one direction of a traffic before any packet is seen.
#[derive(Clone, Debug)]
pub struct Ends {
    /// Its headers; a port is 0 where the simulator gives it.
    pub headers: FlowHeaders,
    /// Whether a packet may be marked.
    marked: bool,
}

impl Ends {
    fn reversed(&self) -> Self {
        Self { headers: self.headers.reversed(), ..self.clone() }
    }
}

/// Whether a match takes packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Takes {
    /// None of them.
    None,
    /// Those of some ports, or some that are marked.
    Some,
    /// All.
    All,
}

/// Which packets of one direction of a traffic that look so a match takes, if they have passed the right conditioners.
pub fn takes(matches: &Match, ends: &Ends, look: Look) -> Takes {
    let Match { dscp, ecn, source_port, destination_port, .. } = matches;
    let by_ecn = !ecn.is_empty() && (ends.marked || !ecn.contains(&Ecn::NotEct));
    let looks = dscp.is_empty() || dscp.contains(&look.dscp);
    let headers = &ends.headers;
    let ports = [by_port(source_port, headers.source_port), by_port(destination_port, headers.destination_port)];
    if !looks || !matches.ends(headers) || by_ecn && !ends.marked || ports.contains(&Takes::None) {
        return Takes::None;
    }
    if ports == [Takes::All; 2] && !by_ecn { Takes::All } else { Takes::Some }
}

/// Packets of one direction of a traffic, which may look so, as a match: a port that the simulator gives is not known.
pub fn packet(ends: &Ends, look: Option<Look>) -> Match {
    let FlowHeaders { protocol, source, destination, source_port, destination_port, traffic, rtt, .. } = &ends.headers;
    let port = |port: &u16| Some(*port).filter(|port| *port > 0).into_iter().collect();
    Match {
        traffic: vec![traffic.clone()],
        dscp: look.iter().map(|look| look.dscp).collect(),
        protocol: vec![Protocol(*protocol)],
        source: vec![Prefix((*source).into())],
        destination: vec![Prefix((*destination).into())],
        source_port: port(source_port),
        destination_port: port(destination_port),
        rtt: rtt.map(RttClass::since),
        ..Match::default()
    }
}

/// What the ports of a match take; 0 is a port that the simulator will give.
fn by_port(listed: &[u16], port: u16) -> Takes {
    match port {
        _ if listed.is_empty() || port > 0 && listed.contains(&port) => Takes::All,
        0 if listed.iter().any(|port| *port >= FIRST_PORT) => Takes::Some,
        _ => Takes::None,
    }
}

/// What arrives at a conditioner.
#[derive(Clone, Debug, Default)]
pub struct AtGate {
    /// What it takes.
    pub taken: Vec<Arriving>,
    /// Code points of all that its match means by anything but the code point: those at the port, and those it takes.
    pub passing: BTreeSet<Dscp>,
}

/// What arrives everywhere.
#[derive(Clone, Debug, Default)]
pub struct Arrivals {
    /// At each conditioner.
    pub gates: Vec<AtGate>,
    /// At each link's queue.
    pub queues: Vec<Vec<Arriving>>,
    /// At each port with conditioners, before them.
    pub ports: Vec<Vec<Arriving>>,
    /// Whether all of it is here: false while an error hides a conditioner, a link or traffic.
    pub complete: bool,
    /// Whether every conditioner on the way is known: what is here then arrives as it looks here.
    pub sure: bool,
}

/// A conditioner at a port, as far as it decides what packets look like behind it.
#[derive(Clone, Debug)]
pub struct Gate<'a> {
    /// Its link.
    pub link: usize,
    /// What it takes.
    pub matches: &'a Match,
    /// Itself, and those at its port that its match names.
    pub own: Passed,
    /// See `own`.
    pub named: Passed,
    /// The field that it writes, if only one of its port may write it.
    pub field: Option<usize>,
    /// The colours it may give by the colour that arrives; `None` if it writes none.
    pub gives: Option<[&'static [Colour]; 4]>,
    /// By colour.
    pub actions: &'a [Action; 4],
}

/// A packet's look at a port, and the fields that conditioners of the port have written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    look: Look,
    written: [bool; 3],
}

impl Gate<'_> {
    /// Which packets of a flow it takes.
    fn takes(&self, ends: &Ends, state: &State) -> Takes {
        let free = self.field.is_none_or(|field| !state.written[field]);
        if free && self.named.agrees(&state.look.passed) { takes(self.matches, ends, state.look) } else { Takes::None }
    }

    /// How a packet may look once it has been taken; of a kind that gives no colours, as before.
    fn after(&self, state: &State) -> Vec<State> {
        let mut written = state.written;
        self.field.into_iter().for_each(|field| written[field] = true);
        let passed = state.look.passed.with(self.own);
        let Some(gives) = self.gives else { return vec![State { written, look: Look { passed, ..state.look } }] };
        let given = gives[state.look.colour.index()].iter().filter_map(|&colour| match self.actions[colour.index()] {
            Action::Pass(rewrite) => {
                let dscp = rewrite.dscp.unwrap_or(state.look.dscp);
                let look = Look { dscp, colour: rewrite.colour.unwrap_or(colour), passed };
                Some(State { look, written: if rewrite.next { state.written } else { written } })
            }
            Action::Drop => None,
        });
        given.collect()
    }
}

/// Sends all traffic over its routes.
pub fn walk(topology: &Topology, traffic: &[Flowline], gates: &[Gate<'_>]) -> Arrivals {
    let links = topology.links.len();
    let mut here = vec![(Vec::new(), Index::default()); links];
    for gate in indexed(gates) {
        let (gates, index) = &mut here[gate.it.link];
        gates.push(gate.index);
        index.add(gate.it.matches);
    }
    let found = Arrivals {
        gates: vec![AtGate::default(); gates.len()],
        queues: vec![Vec::new(); links],
        ports: vec![Vec::new(); links],
        ..Arrivals::default()
    };
    let mut walk = Walk { topology, gates, here, known: Known::default(), found };
    for flow in indexed(traffic) {
        let marked = flow.it.ecn_capable() || flow.it.offered.model.code_points().is_some();
        let ends = Ends { headers: headers(topology, flow.it), marked };
        let back = Arc::new(ends.reversed());
        let ends = Arc::new(ends);
        walk.follow(Way { traffic: flow.index, acks: false, links: &flow.it.forward, ends }, flow.it);
        walk.follow(Way { traffic: flow.index, acks: true, links: &flow.it.backward, ends: back }, flow.it);
    }
    walk.found
}

/// What the simulator will tell classifiers about a traffic's data.
fn headers(topology: &Topology, flow: &Flowline) -> FlowHeaders {
    let address = |node: usize| IpAddr::from(topology.nodes[node].address);
    let links = flow.forward.iter().chain(&flow.backward);
    let rtt = links.map(|&link| topology.links[link as usize].delay).fold(Span::ZERO, |sum, delay| sum + delay);
    FlowHeaders {
        protocol: if flow.tcp { Protocol::TCP.0 } else { Protocol::UDP.0 },
        source: address(flow.offered.from[flow.sender]),
        destination: address(flow.offered.to),
        source_port: flow.offered.sockets.source_port.unwrap_or_default(),
        destination_port: flow.offered.sockets.destination_port.unwrap_or_default(),
        traffic: flow.offered.name.clone(),
        class: String::new(),
        rtt: Some(rtt),
    }
}

/// One direction of a traffic.
struct Way<'a> {
    traffic: usize,
    acks: bool,
    links: &'a [u32],
    ends: Arc<Ends>,
}

/// All sets of looks so far: few of them differ, and each traffic has one at each port and each conditioner.
#[derive(Default)]
struct Known(BTreeSet<Arc<BTreeSet<Look>>>);

impl Known {
    /// The set as it is known.
    fn share(&mut self, looks: BTreeSet<Look>) -> Arc<BTreeSet<Look>> {
        if let Some(known) = self.0.get(&looks) {
            return known.clone();
        }
        let new = Arc::new(looks);
        self.0.insert(new.clone());
        new
    }
}

/// How a traffic's packets look where they start.
fn starts(flow: &Flowline) -> BTreeSet<Look> {
    let look = |dscp: Dscp| Look { dscp, colour: dscp.colour(), passed: Passed::default() };
    let own = flow.offered.model.code_points();
    own.unwrap_or_else(|| BTreeSet::from([flow.offered.dscp])).into_iter().map(look).collect()
}

struct Walk<'a> {
    topology: &'a Topology,
    gates: &'a [Gate<'a>],
    /// The gates of each link, and what they take by its values.
    here: Vec<(Vec<usize>, Index)>,
    known: Known,
    found: Arrivals,
}

impl Walk<'_> {
    fn follow(&mut self, way: Way<'_>, flow: &Flowline) {
        debug_assert!(way.links.iter().all(|&link| (link as usize) < self.topology.links.len()));
        let mut looks = self.known.share(starts(flow));
        for &link in way.links {
            if !self.here[link as usize].0.is_empty() {
                let (ends, here) = (way.ends.clone(), looks.clone());
                let comes = Arriving { traffic: way.traffic, acks: way.acks, ends, looks: here };
                let after = self.port(&way, link as usize, &comes.looks);
                self.found.ports[link as usize].push(comes);
                looks = self.known.share(after);
            }
            if looks.is_empty() {
                return;
            }
            let (ends, here) = (way.ends.clone(), looks.clone());
            self.found.queues[link as usize].push(Arriving { traffic: way.traffic, acks: way.acks, ends, looks: here });
            if looks.iter().any(|look| !look.passed.is_empty()) {
                let on = looks.iter().map(|look| Look { passed: Passed::default(), ..*look });
                looks = self.known.share(on.collect());
            }
        }
    }

    /// Past the conditioners of one port.
    fn port(&mut self, way: &Way<'_>, link: usize, looks: &BTreeSet<Look>) -> BTreeSet<Look> {
        let codes: BTreeSet<_> = looks.iter().map(|look| look.dscp).collect();
        let mut states: BTreeSet<_> = looks.iter().map(|&look| State { look, written: [false; 3] }).collect();
        let (gates, known) = &mut self.here[link];
        let mut met: Vec<usize> = Vec::new();
        let all = (Relation::Takes, gates.len());
        // Code points count whatever the ports.
        let ends = Match { source_port: Vec::new(), destination_port: Vec::new(), ..packet(&way.ends, None) };
        known.candidates(&ends, all, |places| met.extend(places.iter().map(|place| gates[*place])));
        met.sort_unstable();
        met.dedup();
        for index in met {
            if self.gates[index].matches.ends(&way.ends.headers) {
                self.found.gates[index].passing.extend(&codes);
                let Self { gates, found, known, .. } = self;
                states = pass(&gates[index], way, states, (&mut found.gates[index], known));
            }
        }
        states.into_iter().map(|state| state.look).collect()
    }
}

/// Past one conditioner whose match agrees with the flow; where ports or marks decide, both happens.
fn pass(gate: &Gate<'_>, way: &Way<'_>, states: BTreeSet<State>, into: (&mut AtGate, &mut Known)) -> BTreeSet<State> {
    let (found, known) = into;
    let takes = |state: &State| gate.takes(&way.ends, state);
    let (taken, mut out): (BTreeSet<_>, BTreeSet<_>) = states.into_iter().partition(|it| takes(it) != Takes::None);
    found.passing.extend(taken.iter().map(|state| state.look.dscp));
    if !taken.is_empty() {
        let looks = known.share(taken.iter().map(|state| state.look).collect());
        found.taken.push(Arriving { traffic: way.traffic, acks: way.acks, ends: way.ends.clone(), looks });
    }
    out.extend(taken.iter().flat_map(|state| gate.after(state)));
    out.extend(taken.into_iter().filter(|it| takes(it) == Takes::Some));
    out
}
