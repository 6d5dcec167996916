//! The load that a stub has unless another is stated: in each class datagrams of two thirds of its rate, in each without
//! priority one TCP that always has data, and in each a call that feels what these make of the class.
//!
//! A class's packets look as its filters want them: its code point, an address in its prefix, its port. Whether they do is
//! asked of the filters of the whole port in their order, so that no filter before takes them.

mod buckets;
mod leaves;
mod look;
mod shares;
mod sorts;
mod stated;

use crate::model::{Filter, Port, Way};
use crate::stub::draft::Section;
use crate::stub::names::Names;
use leaves::{Leaf, Leaves, leaves};
use look::{Goal, PortFilters, each_filter};
use perhop_core::classify::{Match, Protocol};
use perhop_core::math::{decade, power_of_ten};
use perhop_core::params::Place;
use perhop_core::units::{BitRate, Bytes};
use shares::bounded;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::Ipv4Addr;
use std::sync::OnceLock;

pub use look::Look;

/// The node on the near side of the port's link.
pub(crate) const SENDER: &str = "sender";
/// The node at the other end of the port's link.
pub const RECEIVER: &str = "receiver";
/// What the name of a class's TCP ends with.
const TCP: &str = " TCP";
/// What the name of its call ends with.
const CALL: &str = " call";
/// Packets a second of a call, the fewest that say something of its delay, and the size of one.
const CALL_PACKETS: f64 = 50.0;
const FEWEST: f64 = 5.0;
const CALL_SIZE: u64 = 100;
/// The most of its class's rate that a call takes.
const CALL_SHARE: f64 = 0.01;
/// Size of its datagrams: where much is sent, larger ones, so that a run stays short.
const DATAGRAM: u64 = 500;
const LARGE: u64 = 1200;
/// From this rate on, bit/s.
const FAST: f64 = 200e6;
/// Flows of its datagrams: where flows share, each gets less than its share.
pub const FLOWS: u64 = 4;
/// An IP packet of its TCP, and what is no data of it.
const SEGMENT: u64 = 1500;
const HEADER: u64 = 52;
/// The smallest bucket that a TCP is sent through.
const SMALLEST: Bytes = Bytes::new(200);

/// A node at an end of the load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Its address, if filters look at addresses.
    pub address: Option<Ipv4Addr>,
}

/// What one traffic sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sends {
    /// [`FLOWS`] of datagrams of this many bytes, each at this rate.
    Datagrams(BitRate, Bytes),
    /// A TCP that always has data; with segments of so many bytes where a bucket holds no larger ones.
    Tcp(Option<Bytes>),
    /// One thin flow of datagrams of this many bytes at this rate.
    Call(BitRate, Bytes),
}

/// A `[traffic]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Its name.
    pub name: String,
    /// The mark that its packets have.
    pub mark: Option<String>,
    /// The class that it is counted in: the device's.
    pub class: String,
    /// The places of the classes that lead to that.
    pub path: Vec<usize>,
    /// What it sends.
    pub sends: Sends,
    /// What its packets look like.
    pub look: Look,
    /// The node that sends.
    pub from: String,
    /// The node that receives.
    pub to: String,
    /// Where the text says the filters that take its packets.
    pub takers: Vec<Place>,
}

/// A class that is sent in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassRow {
    /// The port, where a scenario has several.
    pub port: Option<String>,
    /// As the configuration calls it.
    pub name: String,
    /// As the scenario does.
    pub class: String,
    /// The traffic that is its call.
    pub call: Option<String>,
}

/// A filter of a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterRow {
    /// Where the text says it.
    pub place: Place,
    /// The traffic whose packets it takes.
    pub traffic: Vec<String>,
}

/// The load of a port.
#[derive(Clone, Debug, Default)]
pub struct Load {
    /// What sends.
    pub senders: Vec<Node>,
    /// What receives; the first is at the other end of the port's link.
    pub receivers: Vec<Node>,
    /// In the order of the classes.
    pub flows: Vec<Flow>,
    /// Classes that nothing is sent in, and why.
    pub without: Vec<(String, &'static str)>,
    /// Whether datagrams are sent beside a TCP.
    datagrams: bool,
    /// Whether there are classes with priority, without a TCP.
    pub has_priority: bool,
    /// The most that leaves the port, bit/s; 0 where that is unknown.
    whole: f64,
    /// What a file states, with the places in that file.
    stated: Option<Vec<Section>>,
    names: Names,
    /// Places of nodes on both sides.
    by_address: [HashMap<Ipv4Addr, usize>; 2],
    by_name: OnceLock<ByName>,
}

/// The places of flows.
#[derive(Clone, Debug, Default)]
struct ByName {
    classes: HashMap<String, Vec<usize>>,
    paths: BTreeMap<Vec<usize>, Vec<usize>>,
    marks: HashMap<String, Vec<usize>>,
}

impl Load {
    /// The load of a port whose link has this rate.
    pub fn of(port: &Port, link: BitRate) -> Self {
        Self::made(port, link, true)
    }

    /// The same without datagrams where a TCP is sent: what a policer does to TCP alone.
    pub fn of_tcp(port: &Port, link: BitRate) -> Self {
        Self::made(port, link, false)
    }

    fn made(port: &Port, link: BitRate, datagrams: bool) -> Self {
        let ground = PortFilters::of(port, None);
        Self::between(&ground, datagrams).at(port, link, &ground)
    }

    /// The loads of both directions of a line, the second from the receivers of the first to its senders.
    pub fn of_both([one, other]: [(&Port, BitRate); 2]) -> [Self; 2] {
        let (ground, mut facing) = (PortFilters::of(one.0, Some(other.0)), PortFilters::of(other.0, Some(one.0)));
        (facing.source, facing.destination) = (ground.destination, ground.source);
        let first = Self::between(&ground, true).at(one.0, one.1, &ground);
        let [senders, receivers] = first.by_address.clone();
        let second = Self {
            datagrams: true,
            senders: first.receivers.clone(),
            receivers: first.senders.clone(),
            by_address: [receivers, senders],
            names: first.names.clone(),
            ..Self::default()
        };
        let second = second.at(other.0, other.1, &facing);
        [first, second]
    }

    /// Nothing, from a sender to a receiver.
    fn between(ground: &PortFilters<'_>, datagrams: bool) -> Self {
        let by_address =
            [ground.source, ground.destination].map(|address| address.into_iter().map(|it| (it, 0)).collect());
        Self {
            datagrams,
            senders: vec![ground.node(SENDER, ground.source)],
            receivers: vec![ground.node(RECEIVER, ground.destination)],
            by_address,
            ..Self::default()
        }
    }

    /// With what is sent to a port whose link has this rate.
    fn at(mut self, port: &Port, link: BitRate, ground: &PortFilters<'_>) -> Self {
        let link_rate = link.bit_s() as f64;
        self.whole = port.queue.as_ref().map_or(link_rate, |queue| bounded(queue, link_rate));
        let Leaves { reached, unreached } = leaves(port, link);
        self.has_priority = reached.iter().any(|leaf| leaf.has_priority);
        self.without.extend(unreached.into_iter().map(|class| (class, "no filter leads to it")));
        reached.iter().for_each(|leaf| self.add(leaf, ground));
        if self.flows.is_empty() {
            let datagrams = Sends::Datagrams(two_thirds(link_rate), Bytes::new(DATAGRAM));
            self.flow(&Leaf::anyone(link), ground, ("other", None), datagrams);
        }
        self
    }

    fn add(&mut self, leaf: &Leaf<'_>, ground: &PortFilters<'_>) {
        let before = self.flows.len();
        let marks = ground.marks(leaf);
        let rate = two_thirds(leaf.rate / marks.len().max(1) as f64);
        for mark in marks {
            let called = mark.as_deref().unwrap_or(&leaf.name);
            let size = if self.whole < FAST { DATAGRAM } else { LARGE };
            if self.datagrams || leaf.has_priority {
                let datagrams = Sends::Datagrams(rate, Bytes::new(size));
                self.flow(leaf, ground, (called, mark.as_deref()), datagrams);
            }
            if !leaf.has_priority {
                self.flow(leaf, ground, (&format!("{called}{TCP}"), mark.as_deref()), Sends::Tcp(None));
            }
        }
        self.call(leaf, ground);
        if self.flows.len() == before {
            self.without.push((leaf.name.clone(), "no packet of the load can look as its filters want it"));
        }
    }

    /// A flow beside the load of a class that is too thin to change it, if it has room for one.
    fn call(&mut self, leaf: &Leaf<'_>, ground: &PortFilters<'_>) {
        let packets = (leaf.rate * CALL_SHARE / (8.0 * CALL_SIZE as f64)).min(CALL_PACKETS).floor();
        if !self.datagrams || packets < FEWEST {
            return;
        }
        let mark = ground.marks(leaf).into_iter().next().flatten();
        let called = format!("{}{CALL}", mark.as_deref().unwrap_or(&leaf.name));
        let rate = BitRate::bps((packets * 8.0) as u64 * CALL_SIZE);
        self.flow(leaf, ground, (&called, mark.as_deref()), Sends::Call(rate, Bytes::new(CALL_SIZE)));
    }

    /// One traffic of a class, called so and with such a mark.
    fn flow(&mut self, leaf: &Leaf<'_>, ground: &PortFilters<'_>, (called, mark): (&str, Option<&str>), sends: Sends) {
        let protocol = if matches!(sends, Sends::Tcp(_)) { Protocol::TCP } else { Protocol::UDP };
        let asked = Goal { leaf, protocol, mark };
        let Some(look) = ground.look(&asked, |look| self.has_room(look)) else { return };
        let largest = ground.largest(&asked, &look);
        let sends = match (sends, largest) {
            (Sends::Tcp(_), Some(largest)) if largest < SMALLEST => return,
            (Sends::Tcp(_), Some(largest)) => Sends::Tcp(Some(Bytes::new(largest.get() - HEADER))),
            (Sends::Datagrams(rate, size), Some(largest)) => Sends::Datagrams(rate, size.min(largest)),
            (Sends::Call(rate, size), Some(largest)) => Sends::Call(rate, size.min(largest)),
            (sends, None) => sends,
        };
        let [senders, receivers] = &mut self.by_address;
        let from = node(&mut self.senders, senders, look.source);
        let to = node(&mut self.receivers, receivers, look.destination);
        let (name, class, path) = (self.names.unique(called), leaf.name.clone(), leaf.path.clone());
        let mark = mark.map(str::to_owned);
        let takers = ground.takers(&asked, &look);
        self.flows.push(Flow { name, mark, class, path, sends, look, from, to, takers });
    }

    /// Whether the ends of a look are two nodes, each on its side.
    fn has_room(&self, look: &Look) -> bool {
        let [senders, receivers] = &self.by_address;
        let other =
            |nodes: &HashMap<_, _>, address: Option<Ipv4Addr>| address.is_some_and(|it| nodes.contains_key(&it));
        !other(receivers, look.source)
            && !other(senders, look.destination)
            && (look.source.is_none() || look.source != look.destination)
    }

    /// How long it is simulated, and how much of that is not counted: less of a faster port, so that a prediction takes seconds.
    pub fn times(loads: &[&Self]) -> [&'static str; 2] {
        match loads.iter().map(|load| load.whole).fold(0.0, f64::max) {
            ..FAST => ["20s", "5s"],
            FAST..2e9 => ["6s", "2s"],
            _ => ["2s", "500ms"],
        }
    }

    /// Whether a flow beside the load feels what that makes of a class.
    pub(crate) fn has_calls(&self) -> bool {
        self.flows.iter().any(|flow| matches!(flow.sends, Sends::Call(..)))
    }

    /// Gives its classes other names in the scenario where another load has the same; the classes.
    pub(crate) fn tell_apart(&mut self, other: &Self, way: Way) -> Vec<ClassRow> {
        let taken: BTreeSet<&str> = other.flows.iter().map(|flow| flow.class.as_str()).collect();
        let other_name = |class: &str| taken.contains(class).then(|| format!("{class} {}", way.name()));
        let mut rows = self.classes();
        rows.iter_mut().for_each(|row| row.class = other_name(&row.class).unwrap_or_else(|| row.class.clone()));
        self.flows.iter_mut().for_each(|it| it.class = other_name(&it.class).unwrap_or_else(|| it.class.clone()));
        rows
    }

    /// The classes of its flows, in their order, each with the name of its call.
    pub(crate) fn classes(&self) -> Vec<ClassRow> {
        let mut rows: Vec<ClassRow> = Vec::new();
        let mut places: HashMap<&str, usize> = HashMap::new();
        for flow in &self.flows {
            let place = *places.entry(&flow.class).or_insert(rows.len());
            if place == rows.len() {
                rows.push(ClassRow { port: None, name: flow.class.clone(), class: flow.class.clone(), call: None });
            }
            if let Sends::Call(..) = flow.sends {
                rows[place].call = Some(flow.name.clone());
            }
        }
        rows
    }

    /// The filters of its port, in the order of the text, each with the traffic that it takes; none of a load that is stated.
    pub(crate) fn filters(&self, port: &Port) -> Vec<FilterRow> {
        if self.stated.is_some() {
            return Vec::new();
        }
        let mut rows: BTreeMap<usize, FilterRow> = BTreeMap::new();
        let mut add = |filter: &Filter| {
            let place = filter.matches.origin.place();
            place
                .into_iter()
                .for_each(|place| _ = rows.entry(place.start).or_insert(FilterRow { place, traffic: Vec::new() }));
        };
        port.conditioners.iter().flat_map(|it| &it.takes).for_each(&mut add);
        port.queue.iter().for_each(|queue| each_filter(queue, &mut add));
        for flow in &self.flows {
            let met: BTreeSet<_> = flow.takers.iter().map(|place| place.start).collect();
            for at in met {
                rows.entry(at).and_modify(|row| row.traffic.push(flow.name.clone()));
            }
        }
        rows.into_values().collect()
    }

    /// What a file states of it, with its places in that file; `None`: it was made for the port.
    pub fn sections(&self) -> Option<&[Section]> {
        self.stated.as_deref()
    }

    /// The names of the traffic of the class at a path, and of those below it; of a stated load that with the class's name.
    pub fn named(&self, path: &[usize], class: &str) -> Vec<String> {
        let by_name = self.by_name();
        let mut places: Vec<_> = match self.stated {
            Some(_) => by_name.classes.get(class).into_iter().flatten().copied().collect(),
            None => {
                let below = by_name.paths.range(path.to_vec()..).take_while(|it| it.0.starts_with(path));
                below.flat_map(|it| it.1).copied().collect()
            }
        };
        places.sort_unstable();
        places.into_iter().map(|place| self.flows[place].name.clone()).collect()
    }

    fn by_name(&self) -> &ByName {
        self.by_name.get_or_init(|| {
            let mut by_name = ByName::default();
            for (place, flow) in self.flows.iter().enumerate() {
                by_name.classes.entry(flow.class.clone()).or_default().push(place);
                by_name.paths.entry(flow.path.clone()).or_default().push(place);
                flow.mark.iter().for_each(|mark| by_name.marks.entry(mark.clone()).or_default().push(place));
            }
            by_name
        })
    }

    /// A match with the names of the traffic that has its marks; `None` if no traffic has.
    pub fn known(&self, matches: &Match) -> Option<Match> {
        let by_name = self.by_name();
        let places = matches.traffic.iter().filter_map(|mark| by_name.marks.get(mark)).flatten();
        let places: BTreeSet<_> = places.copied().collect();
        let traffic: Vec<_> = places.into_iter().map(|place| self.flows[place].name.clone()).collect();
        (matches.traffic.is_empty() || !traffic.is_empty()).then(|| Match { traffic, ..matches.clone() })
    }
}

/// The node with an address, made if there is none.
fn node(nodes: &mut Vec<Node>, by_address: &mut HashMap<Ipv4Addr, usize>, address: Option<Ipv4Addr>) -> String {
    let Some(known) = address else { return nodes.first().map(|node| node.name.clone()).unwrap_or_default() };
    let place = *by_address.entry(known).or_insert(nodes.len());
    if place == nodes.len() {
        nodes.push(Node { name: known.to_string(), address });
    }
    nodes[place].name.clone()
}

/// A flow's part of two thirds of a rate, to three digits.
fn two_thirds(rate: f64) -> BitRate {
    let exact = (rate * 2.0 / 3.0 / FLOWS as f64).max(8.0);
    let unit = power_of_ten((decade(exact) - 2).max(0));
    BitRate::bps(((exact / unit).floor() * unit) as u64)
}
