//! Filters: what a class or conditioner takes.

use super::with_origin;
use crate::model::Filter;
use perhop_core::classify::{Match, Prefix, Protocol};
use perhop_core::dscp::Dscp;
use perhop_core::packet::Ecn;
use proptest::prelude::*;

/// Up to three filters, each with a number of its own in `taken`.
pub fn filters() -> impl Strategy<Value = Vec<Filter>> {
    let filter = (0u32..1000, with_origin(matches())).prop_map(|(order, matches)| Filter { order, matches });
    prop::collection::vec(filter, 0..4)
}

fn matches() -> impl Strategy<Value = Match> {
    let codes = prop::collection::btree_set((0u8..64).prop_filter_map("six bits", Dscp::new), 1..4);
    let codes = codes.prop_map(|codes| Match { dscp: codes.into_iter().collect(), ..Match::default() });
    let mark = (1u8..4).prop_map(|n| Match { traffic: vec![format!("mark-{n}")], ..Match::default() });
    prop_oneof![4 => codes, 3 => by_header(), 1 => mark]
}

fn by_header() -> impl Strategy<Value = Match> {
    let prefix =
        || prop::option::of(prop::sample::select(vec!["10.0.0.0/8", "10.1.0.0/16", "10.2.3.4/32", "2001:db8::/32"]));
    let port = || prop::option::of(prop::sample::select(vec![22u16, 53, 443, 5060]));
    let protocol = prop::option::of(prop::sample::select(vec![Protocol::TCP, Protocol::UDP, Protocol(1)]));
    let ecn = prop::option::weighted(0.1, prop::sample::select(Ecn::ALL.to_vec()));
    let code = prop::option::weighted(0.3, (0u8..64).prop_filter_map("six bits", Dscp::new));
    (prefix(), prefix(), port(), port(), protocol, ecn, code).prop_map(
        |(source, destination, from, to, protocol, ecn, code)| {
            let prefix = |text: Option<&str>| text.and_then(|text| text.parse().ok()).map(Prefix).into_iter().collect();
            let protocol = protocol.or((from.is_some() || to.is_some()).then_some(Protocol::UDP));
            Match {
                source: prefix(source),
                destination: prefix(destination),
                source_port: from.into_iter().collect(),
                destination_port: to.into_iter().collect(),
                protocol: protocol.into_iter().collect(),
                ecn: ecn.into_iter().collect(),
                dscp: code.into_iter().collect(),
                ..Match::default()
            }
        },
    )
}
