//! Which filters come first to a packet.

use crate::tc::filters::{Protocol, Sorter};
use perhop_core::classify::{Match, Prefix};

/// Whether a filter before another one is asked about all of its packets, and takes them.
pub(super) fn hides(before: &Sorter<'_>, it: &Sorter<'_>) -> bool {
    let asked = before.asked == Protocol::All || before.asked == it.asked;
    let sees = !before.protocol.is_other() && (before.protocol == it.protocol || before.protocol == Protocol::All);
    let own = |matches: &Match| before.rule.any.iter().any(|outer| outer.covers(matches));
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
