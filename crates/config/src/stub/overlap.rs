//! What two matches have in common, and how they become one.

use perhop_core::classify::{Match, Prefix};
use perhop_core::dscp::Dscp;

/// Whether a match looks at the code point alone, or at nothing.
pub fn is_of_code_points(of: &Match) -> bool {
    Match { dscp: Vec::new(), ..of.clone() } == Match::default()
}

/// The code points that a match takes.
pub fn code_points(of: &Match) -> Vec<Dscp> {
    if of.dscp.is_empty() { (0..64).filter_map(Dscp::new).collect() } else { of.dscp.clone() }
}

/// One match that takes what both take; `None` if that is nothing.
pub fn intersection(a: &Match, b: &Match) -> Option<Match> {
    fn both<T: Clone + PartialEq>(a: &[T], b: &[T]) -> Option<Vec<T>> {
        match (a, b) {
            ([], one) | (one, []) => Some(one.to_vec()),
            _ => Some(a.iter().filter(|x| b.contains(x)).cloned().collect()).filter(|all: &Vec<T>| !all.is_empty()),
        }
    }
    fn narrower(a: &[Prefix], b: &[Prefix]) -> Option<Vec<Prefix>> {
        if a.is_empty() || b.is_empty() {
            return both(a, b);
        }
        let inner = |x: &Prefix, y: &Prefix| match (x.0.contains(&y.0), y.0.contains(&x.0)) {
            (true, _) => Some(*y),
            (_, true) => Some(*x),
            _ => None,
        };
        let all: Vec<_> = a.iter().flat_map(|x| b.iter().filter_map(move |y| inner(x, y))).collect();
        (!all.is_empty()).then_some(all)
    }
    Some(Match {
        traffic: both(&a.traffic, &b.traffic)?,
        dscp: both(&a.dscp, &b.dscp)?,
        protocol: both(&a.protocol, &b.protocol)?,
        source: narrower(&a.source, &b.source)?,
        destination: narrower(&a.destination, &b.destination)?,
        source_port: both(&a.source_port, &b.source_port)?,
        destination_port: both(&a.destination_port, &b.destination_port)?,
        rtt: a.rtt.clone().or_else(|| b.rtt.clone()),
        ecn: both(&a.ecn, &b.ecn)?,
        conditioner: both(&a.conditioner, &b.conditioner)?,
    })
}

/// Whether a match asks for conditioners and nothing else.
pub(super) fn is_of_conditioners(matches: &Match) -> bool {
    let others = Match { conditioner: Vec::new(), ..matches.clone() };
    !matches.conditioner.is_empty() && others == Match::default()
}
