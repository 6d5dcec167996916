//! Classes of packets, combined: what both take, what none of a list takes, several as one.

use perhop_core::classify::{Match, Prefix};
use perhop_core::dscp::Dscp;
use perhop_core::params::{Node, Place, Problems, Tree, Value};

/// Whether a match looks at the code point alone, or at nothing.
pub fn is_of_code_points(of: &Match) -> bool {
    Match { dscp: Vec::new(), ..of.clone() } == Match::default()
}

/// The code points that a match takes.
pub fn code_points(of: &Match) -> Vec<Dscp> {
    if of.dscp.is_empty() { (0..64).filter_map(Dscp::new).collect() } else { of.dscp.clone() }
}

/// Whether a match asks for conditioners and nothing else.
pub fn is_of_conditioners(matches: &Match) -> bool {
    let others = Match { conditioner: Vec::new(), ..matches.clone() };
    !matches.conditioner.is_empty() && others == Match::default()
}

/// An address prefix, or an address.
pub fn prefix(text: &str) -> Option<Prefix> {
    let node = Node { place: Place::default(), tree: Tree::Text(text.to_owned()) };
    Prefix::read(&node, &mut Problems::default())
}

/// What both take; `None` if that is nothing.
pub fn intersection(a: &Match, b: &Match) -> Option<Match> {
    Some(Match {
        traffic: common(&a.traffic, &b.traffic)?,
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

/// Of prefixes, the inner one of each pair that has one.
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

/// Alternatives that differ in their code points alone as one; each is held against the last `near` of them.
pub fn merged(all: Vec<Match>, near: usize) -> Vec<Match> {
    let mut out: Vec<Match> = Vec::with_capacity(all.len());
    let others = |it: &Match| Match { dscp: Vec::new(), ..it.clone() };
    for one in all {
        let alike = |it: &&mut Match| it.dscp.is_empty() == one.dscp.is_empty() && others(it) == others(&one);
        match out.iter_mut().rev().take(near).find(alike) {
            Some(known) => {
                let new: Vec<_> = one.dscp.into_iter().filter(|code| !known.dscp.contains(code)).collect();
                known.dscp.extend(new);
            }
            None => out.push(one),
        }
    }
    out
}

/// All code points but these.
pub fn codes_but(list: &[Dscp]) -> Vec<Dscp> {
    (0..64).filter_map(Dscp::new).filter(|dscp| !list.contains(dscp)).collect()
}

/// The prefixes that hold all addresses of IPv4 but these, or of IPv6.
pub fn outside(list: &[Prefix]) -> Vec<Prefix> {
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
