//! What packets have to look like to end in a class.

use super::Node;
use super::buckets::{bucket, limit, shaped};
use super::leaves::{DEEPEST, Leaf, of_name};
use crate::model::{Class, Conditioner, Filter, Port, Queue};
use crate::value::Origin;
use perhop_core::classify::{Index, Match, Prefix, Protocol, Relation};
use perhop_core::dscp::Dscp;
use perhop_core::packet::Ecn;
use perhop_core::params::Place;
use perhop_core::units::Bytes;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, Ipv4Addr};

/// The simulator gives ports from this one on.
const GIVEN: u16 = 1024;

/// What packets of a traffic look like.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// Their code point.
    pub dscp: Dscp,
    /// The address they come from, if it matters.
    pub source: Option<Ipv4Addr>,
    /// The address they go to.
    pub destination: Option<Ipv4Addr>,
    /// Their ports.
    pub source_port: Option<u16>,
    /// The port they go to.
    pub destination_port: Option<u16>,
    /// Whether they are ECN-capable, and by which of the two code points.
    pub ecn: Option<Ecn>,
}

/// Packets that are to end in a class.
#[derive(Clone, Copy)]
pub(super) struct Goal<'a> {
    pub(super) leaf: &'a Leaf<'a>,
    pub(super) protocol: Protocol,
    pub(super) mark: Option<&'a str>,
}

/// A look with a mark and a protocol: all that filters ask.
struct Packet<'p, 'a> {
    look: &'p Look,
    mark: Option<&'p str>,
    protocol: Protocol,
    ground: &'p PortFilters<'a>,
}

/// What the filters of a port make of packets.
pub(super) struct PortFilters<'a> {
    port: &'a Port,
    filters: RefCell<Filters<'a>>,
    /// Its conditioners.
    by_name: HashMap<&'a str, Vec<usize>>,
    /// The address of who has no other, if filters look at addresses: in none of their prefixes.
    pub(super) source: Option<Ipv4Addr>,
    pub(super) destination: Option<Ipv4Addr>,
    /// The port of who has no other, if filters look at ports that the simulator gives: none of these.
    other: Option<u16>,
}

/// The filters of a port by what they ask.
struct Filters<'a> {
    /// Of each queue with classes, and the class that takes what they leave.
    queues: HashMap<*const Queue, (List<'a>, Option<usize>)>,
    /// Of all conditioners.
    conditioners: List<'a>,
    /// Conditioners that take all packets, and the largest packet that their buckets hold.
    open: Vec<usize>,
    open_bucket: Option<Bytes>,
}

/// Filters in the order in which they are asked, each with its class or its conditioner.
#[derive(Default)]
struct List<'a> {
    filters: Vec<(&'a Filter, usize)>,
    index: Index,
}

impl<'a> List<'a> {
    fn of(filters: Vec<(&'a Filter, usize)>) -> Self {
        let mut index = Index::default();
        // What a packet has passed is asked of the conditioners.
        let alone = |it: &Filter| Match { conditioner: Vec::new(), ..it.matches.is.clone() };
        filters.iter().for_each(|it| index.add(&alone(it.0)));
        Self { filters, index }
    }
}

impl<'a> Filters<'a> {
    fn of(port: &'a Port) -> Self {
        let filters = |(i, it): (usize, &'a Conditioner)| it.takes.iter().map(move |filter| (filter, i));
        let open: Vec<_> = (0..port.conditioners.len()).filter(|i| port.conditioners[*i].takes.is_empty()).collect();
        let open_bucket = open.iter().filter_map(|i| bucket(&port.conditioners[*i])).min();
        let conditioners = List::of(port.conditioners.iter().enumerate().flat_map(filters).collect());
        let mut it = Self { queues: HashMap::new(), conditioners, open, open_bucket };
        port.queue.iter().for_each(|queue| it.queue(queue));
        it
    }

    fn queue(&mut self, queue: &'a Queue) {
        let orders = |(i, class): (usize, &'a Class)| class.takes.iter().map(move |filter| ((filter.order, i), filter));
        let mut filters: Vec<_> = queue.classes.iter().enumerate().flat_map(orders).collect();
        filters.sort_by_key(|it| it.0);
        let filters = filters.into_iter().map(|((_, class), filter)| (filter, class)).collect();
        let rest = queue.classes.iter().rposition(|class| class.rest);
        self.queues.insert(std::ptr::from_ref(queue), (List::of(filters), rest));
        queue.classes.iter().filter_map(|class| class.queue.as_ref()).for_each(|below| self.queue(below));
    }
}

impl<'a> PortFilters<'a> {
    /// Of a port, with addresses and ports of packets that are in no filter of it and of another.
    pub(super) fn of(port: &'a Port, other: Option<&Port>) -> Self {
        let (mut prefixes, mut ports) = (Vec::new(), Vec::new());
        let mut add = |filter: &Filter| {
            let matches = &filter.matches.is;
            ports.extend(matches.source_port.iter().chain(&matches.destination_port).copied());
            prefixes.extend(matches.source.iter().chain(&matches.destination).copied());
        };
        for port in [Some(port), other].into_iter().flatten() {
            port.conditioners.iter().flat_map(|it| &it.takes).for_each(&mut add);
            port.queue.iter().for_each(|queue| each_filter(queue, &mut add));
        }
        let mut free = outside(&prefixes);
        let mut next = || if prefixes.is_empty() { None } else { free.next() };
        let given = ports.iter().any(|port| *port >= GIVEN);
        let ports: HashSet<_> = ports.into_iter().collect();
        let other = (GIVEN..u16::MAX).find(|port| given && !ports.contains(port));
        let (source, destination) = (next(), next());
        let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
        port.conditioners.iter().enumerate().for_each(|(i, it)| by_name.entry(&it.name.is).or_default().push(i));
        Self { port, filters: RefCell::new(Filters::of(port)), by_name, source, destination, other }
    }

    pub(super) fn node(&self, name: &str, address: Option<Ipv4Addr>) -> Node {
        Node { name: name.to_owned(), address }
    }

    /// The marks that a class's packets have, each alone; none where it asks for no mark.
    pub(super) fn marks(&self, leaf: &Leaf<'_>) -> Vec<Option<String>> {
        let mut marks: Vec<_> = leaf.wants.iter().flat_map(|wants| wants.traffic.iter().cloned().map(Some)).collect();
        if leaf.wants.iter().any(|wants| wants.traffic.is_empty()) {
            marks.insert(0, None);
        }
        marks.sort();
        marks.dedup();
        marks
    }

    /// A look of packets that end in a class, one for which there is room.
    pub(super) fn look(&self, asked: &Goal<'_>, has_room: impl Fn(&Look) -> bool) -> Option<Look> {
        let Goal { leaf, protocol, mark } = *asked;
        if leaf.wants.is_empty() && leaf.path.is_empty() {
            return Some(Look::default());
        }
        let fits = |wants: &&Match| {
            marked(&wants.traffic, mark)
                && wants.traffic.is_empty() == mark.is_none()
                && (wants.protocol.is_empty() || wants.protocol.contains(&protocol))
                && wants.rtt.is_none()
        };
        leaf.wants.iter().filter(fits).find_map(|wants| {
            looks(wants, self.other).find(|look| has_room(look) && self.ends_in(leaf, &self.packet(asked, look)))
        })
    }

    /// The largest IP packet that buckets on the way to a class hold, if that is less than any.
    pub(super) fn largest(&self, asked: &Goal<'_>, look: &Look) -> Option<Bytes> {
        let packet = self.packet(asked, look);
        let (mut buckets, mut depth): (Vec<_>, _) = (packet.buckets(), 0);
        let mut queue = self.port.queue.as_ref();
        while let Some(here) = queue {
            buckets.extend(shaped(here));
            let led = asked.leaf.path.get(depth).copied();
            let class = led.or_else(|| packet.class(here)).map(|i| &here.classes[i]);
            buckets.extend(class.and_then(limit));
            (queue, depth) = (class.and_then(|class| class.queue.as_ref()), depth + 1);
        }
        buckets.into_iter().min()
    }

    /// Where the text says the filters that take such packets: of the conditioners, then of each queue on the way to the class.
    pub(super) fn takers(&self, asked: &Goal<'_>, look: &Look) -> Vec<Place> {
        let packet = self.packet(asked, look);
        let first = packet.first(&mut self.filters.borrow_mut().conditioners).map(|it| it.0.matches.origin);
        let mut met: Vec<_> = first.into_iter().collect();
        let (mut queue, mut depth) = (self.port.queue.as_ref(), 0);
        while let Some(here) = queue {
            let found = packet.filter(here);
            met.extend(found.map(|it| it.0.matches.origin));
            let led = asked.leaf.path.get(depth).copied().or(found.map(|it| it.1));
            queue = led.and_then(|i| here.classes[i].queue.as_ref());
            depth += 1;
        }
        met.into_iter().filter_map(Origin::place).collect()
    }

    /// The class of a queue that takes what no filter does.
    fn rest(&self, queue: &Queue) -> Option<usize> {
        self.filters.borrow().queues.get(&std::ptr::from_ref(queue))?.1
    }

    fn packet<'b>(&'b self, asked: &Goal<'b>, look: &'b Look) -> Packet<'b, 'a> {
        Packet { look, mark: asked.mark, protocol: asked.protocol, ground: self }
    }

    fn ends_in(&self, leaf: &Leaf<'_>, packet: &Packet<'_, '_>) -> bool {
        if let Some(own) = leaf.conditioner {
            return packet.met().is_some_and(|it| std::ptr::eq(&self.port.conditioners[it], own));
        }
        if leaf.is_unclassified {
            return self.port.queue.as_ref().is_some_and(|queue| packet.class(queue).is_none());
        }
        let Some(queue) = self.port.queue.as_ref().filter(|_| !leaf.path.is_empty()) else {
            return packet.policed().is_none();
        };
        let mut queue = queue;
        for (depth, &place) in leaf.path.iter().enumerate() {
            let last = depth + 1 == leaf.path.len();
            let ends = match packet.filtered(queue) {
                Some(found) => found == place,
                None => queue.classes[place].is_unnamed() || self.rest(queue) == Some(place),
            };
            if !ends {
                return false;
            }
            match queue.classes[place].queue.as_ref() {
                Some(below) if !last => queue = below,
                _ => break,
            }
        }
        true
    }
}

impl Packet<'_, '_> {
    /// It as a match that only it agrees with.
    fn alone(&self) -> Match {
        let (look, ground) = (self.look, self.ground);
        let host = |address: Option<Ipv4Addr>| address.map(|it| Prefix(IpAddr::V4(it).into())).into_iter().collect();
        Match {
            traffic: self.mark.map(str::to_owned).into_iter().collect(),
            dscp: vec![look.dscp],
            protocol: vec![self.protocol],
            source: host(look.source.or(ground.source)),
            destination: host(look.destination.or(ground.destination)),
            source_port: look.source_port.into_iter().collect(),
            destination_port: look.destination_port.into_iter().collect(),
            ecn: vec![look.ecn.unwrap_or(Ecn::NotEct)],
            ..Match::default()
        }
    }

    /// The first filter of a list that takes it, with its class or conditioner.
    fn first<'l>(&self, of: &mut List<'l>) -> Option<(&'l Filter, usize)> {
        let List { index, filters } = of;
        let filters = &*filters;
        index
            .first(&self.alone(), (Relation::Covers, filters.len()), |i| self.agrees(&filters[i].0.matches.is))
            .map(|i| filters[i])
    }

    /// The first conditioner of whose filters one takes it.
    fn policed(&self) -> Option<usize> {
        self.first(&mut self.ground.filters.borrow_mut().conditioners).map(|it| it.1)
    }

    /// The first conditioner that takes it; without filters one takes all.
    fn met(&self) -> Option<usize> {
        let all = self.ground.filters.borrow().open.first().copied();
        self.policed().into_iter().chain(all).min()
    }

    /// The largest IP packets that the buckets of all conditioners that take it hold.
    fn buckets(&self) -> Vec<Bytes> {
        let mut all = self.ground.filters.borrow_mut();
        let Filters { conditioners: List { index, filters }, open_bucket, .. } = &mut *all;
        let mut met: Vec<usize> = Vec::new();
        index.candidates(&self.alone(), (Relation::Covers, filters.len()), |places| {
            met.extend(places.iter().filter(|i| self.agrees(&filters[**i].0.matches.is)).map(|i| filters[*i].1));
        });
        met.sort_unstable();
        met.dedup();
        let own = met.into_iter().filter_map(|it| bucket(&self.ground.port.conditioners[it]));
        own.chain(*open_bucket).collect()
    }

    /// The class of a queue whose filter takes it.
    fn filtered(&self, queue: &Queue) -> Option<usize> {
        self.filter(queue).map(|it| it.1)
    }

    /// The filter of a queue that takes it, with its class.
    fn filter(&self, queue: &Queue) -> Option<(&Filter, usize)> {
        let mut filters = self.ground.filters.borrow_mut();
        self.first(&mut filters.queues.get_mut(&std::ptr::from_ref(queue))?.0)
    }

    /// The class of a queue that takes it.
    fn class(&self, queue: &Queue) -> Option<usize> {
        self.filtered(queue).or_else(|| self.ground.rest(queue))
    }

    fn agrees(&self, matches: &Match) -> bool {
        self.agrees_within(matches, DEEPEST)
    }

    /// Whether it has passed one of these conditioners of the port.
    fn passed(&self, names: &[String], depth: usize) -> bool {
        let takes = |filter: &Filter| self.agrees_within(&filter.matches.is, depth - 1);
        let conditioners = &self.ground.port.conditioners;
        let named = names.iter().filter_map(|name| of_name(&self.ground.by_name, name)).flatten();
        depth > 0 && named.map(|it| &conditioners[*it]).any(|it| it.takes.is_empty() || it.takes.iter().any(takes))
    }

    fn agrees_within(&self, matches: &Match, depth: usize) -> bool {
        fn any<T>(list: &[T], agrees: impl Fn(&T) -> bool) -> bool {
            list.is_empty() || list.iter().any(agrees)
        }
        let within = |address: Option<Ipv4Addr>, list: &[Prefix]| {
            any(list, |prefix| address.is_some_and(|it| prefix.0.contains(&IpAddr::V4(it))))
        };
        let (look, ground) = (self.look, self.ground);
        any(&matches.dscp, |it| *it == look.dscp)
            && marked(&matches.traffic, self.mark)
            && any(&matches.protocol, |it| *it == self.protocol)
            && within(look.source.or(ground.source), &matches.source)
            && within(look.destination.or(ground.destination), &matches.destination)
            && any(&matches.source_port, |it| Some(*it) == look.source_port)
            && any(&matches.destination_port, |it| Some(*it) == look.destination_port)
            && any(&matches.ecn, |it| *it == look.ecn.unwrap_or(Ecn::NotEct))
            && matches.rtt.is_none()
            && (matches.conditioner.is_empty() || self.passed(&matches.conditioner, depth))
    }
}

/// Whether packets with a mark, or without, agree with a list of marks.
fn marked(listed: &[String], mark: Option<&str>) -> bool {
    listed.is_empty() || mark.is_some_and(|mark| listed.iter().any(|it| it == mark))
}

/// Looks that agree with a match, the plainest first.
fn looks(wants: &Match, other: Option<u16>) -> impl Iterator<Item = Look> + '_ {
    let codes: Vec<_> = match wants.dscp.as_slice() {
        [] => (0..64).filter_map(Dscp::new).collect(),
        listed => listed.to_vec(),
    };
    let (sources, mut destinations) = (hosts(&wants.source), hosts(&wants.destination));
    destinations.reverse();
    let ecn = wants.ecn.iter().copied().find(|it| matches!(it, Ecn::Ect0 | Ecn::Ect1));
    let base = Look {
        source_port: wants.source_port.first().copied().or(other),
        destination_port: wants.destination_port.first().copied().or(other),
        ecn,
        ..Look::default()
    };
    let pairs: Vec<_> = sources.iter().flat_map(|s| destinations.iter().map(move |d| (*s, *d))).collect();
    let of = move |dscp: Dscp| {
        let base = base.clone();
        let pairs = pairs.clone();
        pairs.into_iter().map(move |(source, destination)| Look { dscp, source, destination, ..base.clone() })
    };
    codes.into_iter().flat_map(of)
}

/// Addresses of hosts in prefixes: the first and the last of each; one of no prefix where there is none.
fn hosts(prefixes: &[Prefix]) -> Vec<Option<Ipv4Addr>> {
    if prefixes.is_empty() {
        return vec![None];
    }
    let ends = |prefix: &Prefix| {
        let (first, last) = (prefix.0.network(), prefix.0.broadcast());
        let (IpAddr::V4(first), IpAddr::V4(last)) = (first, last) else { return Vec::new() };
        let (first, last) = (u32::from(first), u32::from(last));
        let inner = if last - first > 2 { [first + 1, last - 1] } else { [first, last] };
        inner.map(|it| Some(Ipv4Addr::from(it))).to_vec()
    };
    prefixes.iter().flat_map(ends).collect()
}

/// Addresses for documentation (RFC 5737), and others, in none of these prefixes.
fn outside(prefixes: &[Prefix]) -> impl Iterator<Item = Ipv4Addr> + '_ {
    let nets = [[192, 0, 2, 0], [198, 51, 100, 0], [203, 0, 113, 0]].into_iter().chain((1..224).map(|a| [a, 7, 7, 0]));
    let hosts = nets.flat_map(|[a, b, c, _]| [1, 2].map(|d| Ipv4Addr::new(a, b, c, d)));
    hosts.filter(move |it| prefixes.iter().all(|prefix| !prefix.0.contains(&IpAddr::V4(*it))))
}

/// All filters of the classes of a queue, and of those below it.
pub(super) fn each_filter<'q>(queue: &'q Queue, add: &mut impl FnMut(&'q Filter)) {
    for class in &queue.classes {
        class.takes.iter().for_each(&mut *add);
        class.queue.iter().for_each(|queue| each_filter(queue, add));
    }
}
