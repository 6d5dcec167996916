//! Classes of packets, combined: both, one without the other, and whether two have no packet in common.

use perhop_core::classify::{Match, Prefix};
use perhop_core::dscp::Dscp;
use perhop_core::params::{Node, Place, Problems, Tree, Value};

/// An address prefix, or an address.
pub fn prefix(text: &str) -> Option<Prefix> {
    let node = Node { place: Place::default(), tree: Tree::Text(text.to_owned()) };
    Prefix::read(&node, &mut Problems::default())
}

/// Packets that both take; `None` if there are none.
pub fn both(a: &Match, b: &Match) -> Option<Match> {
    Some(Match {
        traffic: names(&a.traffic, &b.traffic),
        dscp: common(&a.dscp, &b.dscp)?,
        protocol: common(&a.protocol, &b.protocol)?,
        source: nested(&a.source, &b.source)?,
        destination: nested(&a.destination, &b.destination)?,
        source_port: common(&a.source_port, &b.source_port)?,
        destination_port: common(&a.destination_port, &b.destination_port)?,
        rtt: a.rtt.clone().or_else(|| b.rtt.clone()),
        ecn: common(&a.ecn, &b.ecn)?,
        conditioner: common(&a.conditioner, &b.conditioner)?,
    })
}

/// Whether there are packets that both take.
pub fn meet(a: &Match, b: &Match) -> bool {
    let inner = |one: &Prefix, other: &Prefix| one.0.contains(&other.0) || other.0.contains(&one.0);
    some(&a.dscp, &b.dscp, |one, other| one == other)
        && some(&a.protocol, &b.protocol, |one, other| one == other)
        && some(&a.source, &b.source, inner)
        && some(&a.destination, &b.destination, inner)
        && some(&a.source_port, &b.source_port, |one, other| one == other)
        && some(&a.destination_port, &b.destination_port, |one, other| one == other)
        && some(&a.conditioner, &b.conditioner, |one, other| one == other)
}

/// Whether a pair agrees; an empty list is all.
fn some<T>(a: &[T], b: &[T], agree: impl Fn(&T, &T) -> bool) -> bool {
    a.is_empty() || b.is_empty() || a.iter().any(|one| b.iter().any(|other| agree(one, other)))
}

/// A name says a field that no packet has, so of two both are said.
fn names(a: &[String], b: &[String]) -> Vec<String> {
    match (a, b) {
        ([], list) | (list, []) => list.to_vec(),
        (a, b) if a == b => a.to_vec(),
        (a, b) => a.iter().flat_map(|one| b.iter().map(move |other| format!("{one}+{other}"))).collect(),
    }
}

/// An empty list is all.
fn common<T: PartialEq + Clone>(a: &[T], b: &[T]) -> Option<Vec<T>> {
    match (a, b) {
        ([], list) | (list, []) => Some(list.to_vec()),
        (a, b) => {
            let list: Vec<_> = a.iter().filter(|item| b.contains(item)).cloned().collect();
            (!list.is_empty()).then_some(list)
        }
    }
}

fn nested(a: &[Prefix], b: &[Prefix]) -> Option<Vec<Prefix>> {
    if a.is_empty() || b.is_empty() {
        return Some([a, b].concat());
    }
    let inner = |one: &Prefix, other: &Prefix| match () {
        () if one.0.contains(&other.0) => Some(*other),
        () if other.0.contains(&one.0) => Some(*one),
        () => None,
    };
    let list: Vec<_> = a.iter().flat_map(|one| b.iter().filter_map(move |other| inner(one, other))).collect();
    (!list.is_empty()).then_some(list)
}

/// What `a` takes and `b` does not: any of these. `None` if no such classes can be written.
pub fn without(a: &Match, b: &Match) -> Option<Vec<Match>> {
    if !meet(a, b) {
        return Some(vec![a.clone()]);
    }
    let mut list = Vec::new();
    let not_dscp: Vec<_> = rest_of(&b.dscp);
    if !b.dscp.is_empty() && !not_dscp.is_empty() {
        list.extend(both(a, &Match { dscp: not_dscp, ..Match::default() }));
    }
    if !b.source.is_empty() {
        let source = outside(&b.source);
        list.extend(both(a, &Match { source, ..Match::default() }));
    }
    if !b.destination.is_empty() {
        let destination = outside(&b.destination);
        list.extend(both(a, &Match { destination, ..Match::default() }));
    }
    let rest = |missing: bool, same: bool| missing || same;
    let writable = rest(b.traffic.is_empty(), false)
        && rest(b.protocol.is_empty(), a.protocol == b.protocol)
        && rest(b.source_port.is_empty(), a.source_port == b.source_port)
        && rest(b.destination_port.is_empty(), a.destination_port == b.destination_port);
    writable.then_some(list)
}

/// All code points but these.
fn rest_of(list: &[Dscp]) -> Vec<Dscp> {
    (0..64).filter_map(Dscp::new).filter(|dscp| !list.contains(dscp)).collect()
}

/// The prefixes that hold all addresses of IPv4 but these, or of IPv6.
fn outside(list: &[Prefix]) -> Vec<Prefix> {
    let Some(whole) = prefix(if list.iter().any(|p| p.0.to_string().contains(':')) { "::/0" } else { "0.0.0.0/0" })
    else {
        return Vec::new();
    };
    let mut all = vec![whole];
    for hole in list {
        all = all.into_iter().flat_map(|one| around(one, *hole)).collect();
    }
    all
}

/// A prefix without another.
fn around(whole: Prefix, hole: Prefix) -> Vec<Prefix> {
    if hole.0.contains(&whole.0) {
        return Vec::new();
    }
    if !whole.0.contains(&hole.0) {
        return vec![whole];
    }
    let mut list = Vec::new();
    let mut inner = hole.0;
    while inner != whole.0 {
        let Some(outer) = inner.supernet() else { break };
        let halves = outer.subnets(inner.prefix_len()).into_iter().flatten();
        list.extend(halves.filter(|half| *half != inner).map(Prefix));
        inner = outer;
    }
    list
}

/// A match without what [`meet`] does not look at.
pub fn plain(of: &Match) -> Match {
    Match { traffic: Vec::new(), ecn: Vec::new(), ..of.clone() }
}
