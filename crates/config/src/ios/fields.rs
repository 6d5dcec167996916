//! Classes of packets whose names may stand for fields that no packet has: both, one without the other.

use crate::matches::{codes_but, intersection, outside};
use perhop_core::classify::Match;

/// Packets that both take; `None` if there are none. A name says a field that no packet has, so of two both are said.
pub fn both(a: &Match, b: &Match) -> Option<Match> {
    let known = |it: &Match| Match { traffic: Vec::new(), ..it.clone() };
    Some(Match { traffic: names(&a.traffic, &b.traffic), ..intersection(&known(a), &known(b))? })
}

/// Whether there are packets that both take, as far as fields of a packet other than ECN and passed conditioners say.
pub fn meet(a: &Match, b: &Match) -> bool {
    let passed = |it: &Match| Match { conditioner: it.conditioner.clone(), ..Match::default() };
    plain(a).meets(&plain(b)) && intersection(&passed(a), &passed(b)).is_some()
}

fn names(a: &[String], b: &[String]) -> Vec<String> {
    match (a, b) {
        ([], list) | (list, []) => list.to_vec(),
        (a, b) if a == b => a.to_vec(),
        (a, b) => a.iter().flat_map(|one| b.iter().map(move |other| format!("{one}+{other}"))).collect(),
    }
}

/// What `a` takes and `b` does not: any of these. `None` if no such classes can be written.
pub fn without(a: &Match, b: &Match) -> Option<Vec<Match>> {
    if !meet(a, b) {
        return Some(vec![a.clone()]);
    }
    let mut list = Vec::new();
    let not_dscp: Vec<_> = codes_but(&b.dscp);
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

/// A match without what [`meet`] does not look at.
pub fn plain(of: &Match) -> Match {
    Match { traffic: Vec::new(), ecn: Vec::new(), ..of.clone() }
}
