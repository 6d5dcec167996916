//! Which filters come first to a packet.

use crate::tc::filters::{Protocol, Sorter};
use perhop_core::classify::{Match, Prefix};

/// Whether all packets of `inner` are packets of `outer`.
pub(super) fn covers(outer: &Match, inner: &Match) -> bool {
    let within = |outer: &[Prefix], inner: &[Prefix]| {
        let one = |it: &Prefix| outer.iter().any(|net| net.0.contains(&it.0));
        outer.is_empty() || (!inner.is_empty() && inner.iter().all(one))
    };
    all(&outer.traffic, &inner.traffic)
        && all(&outer.dscp, &inner.dscp)
        && all(&outer.protocol, &inner.protocol)
        && within(&outer.source, &inner.source)
        && within(&outer.destination, &inner.destination)
        && all(&outer.source_port, &inner.source_port)
        && all(&outer.destination_port, &inner.destination_port)
        && all(&outer.ecn, &inner.ecn)
        && all(&outer.conditioner, &inner.conditioner)
        && outer.rtt.is_none()
}

fn all<T: PartialEq>(outer: &[T], inner: &[T]) -> bool {
    outer.is_empty() || (!inner.is_empty() && inner.iter().all(|it| outer.contains(it)))
}

/// Whether a packet may be one of both.
pub(super) fn meets(a: &Match, b: &Match) -> bool {
    let nets = |a: &[Prefix], b: &[Prefix]| {
        let near = |(a, b): (&Prefix, &Prefix)| a.0.contains(&b.0) || b.0.contains(&a.0);
        a.is_empty() || b.is_empty() || a.iter().any(|a| b.iter().any(|b| near((a, b))))
    };
    any(&a.dscp, &b.dscp)
        && any(&a.protocol, &b.protocol)
        && nets(&a.source, &b.source)
        && nets(&a.destination, &b.destination)
        && any(&a.source_port, &b.source_port)
        && any(&a.destination_port, &b.destination_port)
        && any(&a.ecn, &b.ecn)
        && any(&a.traffic, &b.traffic)
}

fn any<T: PartialEq>(a: &[T], b: &[T]) -> bool {
    a.is_empty() || b.is_empty() || a.iter().any(|it| b.contains(it))
}

/// Whether a filter before another one is asked about all of its packets, and takes them.
pub(super) fn hides(before: &Sorter<'_>, it: &Sorter<'_>) -> bool {
    let asked = before.asked == Protocol::All || before.asked == it.asked;
    let sees = !before.protocol.is_other() && (before.protocol == it.protocol || before.protocol == Protocol::All);
    let own = |matches: &Match| before.rule.any.iter().any(|outer| covers(outer, matches));
    let known = before.rule.lost.is_empty() && it.rule.lost.is_empty() && !it.rule.any.is_empty();
    let marked = before.rule.mark.is_none_or(|mark| it.rule.mark == Some(mark));
    asked && sees && known && marked && it.rule.any.iter().all(own)
}

/// A match of packets of one version alone.
pub(super) fn version(protocol: Protocol, of: &Match) -> Match {
    let net = match protocol {
        Protocol::Ip => "0.0.0.0/0",
        Protocol::Ip6 => "::/0",
        _ => return of.clone(),
    };
    let all: Vec<_> = net.parse().ok().map(Prefix).into_iter().collect();
    match (of.source.is_empty(), of.destination.is_empty()) {
        (true, true) => Match { source: all, ..of.clone() },
        _ => of.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use perhop_core::dscp::Dscp;

    fn of(net: &str, dscp: &[u8]) -> Match {
        let source = net.parse().ok().map(Prefix).into_iter().collect();
        Match { source, dscp: dscp.iter().filter_map(|it| Dscp::new(*it)).collect(), ..Match::default() }
    }

    #[test]
    fn a_wider_match_covers_a_narrower_one() {
        assert!(covers(&Match::default(), &of("10.0.0.0/8", &[46])));
        assert!(covers(&of("10.0.0.0/8", &[]), &of("10.1.0.0/16", &[46])));
        assert!(!covers(&of("10.1.0.0/16", &[]), &of("10.0.0.0/8", &[])));
        assert!(!covers(&of("", &[46]), &of("", &[])));
        assert!(meets(&of("10.1.0.0/16", &[]), &of("10.0.0.0/8", &[46])));
        assert!(!meets(&of("", &[46]), &of("", &[10])));
    }
}
