//! What the entries of a list leave to those behind them, and the index of matches, beside every entry held against all.

use perhop_core::aqm::members::{Cover, Filter, Member};
use perhop_core::classify::{Index, Match, Prefix, Protocol, Relation, RttClass};
use perhop_core::dscp::Dscp;
use perhop_core::packet::Ecn;
use perhop_core::units::Span;
use proptest::prelude::*;
use std::collections::BTreeSet;

const NETS: [&str; 8] = [
    "0.0.0.0/0",
    "10.0.0.0/8",
    "10.1.0.0/16",
    "10.1.2.0/23",
    "10.1.2.3/32",
    "2001:db8::/32",
    "2001:db8:1::/48",
    "2001:db8:1::7/128",
];

fn some<T: Clone + Ord + std::fmt::Debug + 'static>(all: Vec<T>, most: usize) -> impl Strategy<Value = Vec<T>> {
    prop::collection::btree_set(prop::sample::select(all), 0..=most).prop_map(|it| it.into_iter().collect())
}

fn nets() -> impl Strategy<Value = Vec<Prefix>> {
    some(NETS.to_vec(), 2).prop_map(|list| list.iter().filter_map(|net| net.parse().ok().map(Prefix)).collect())
}

fn matches() -> impl Strategy<Value = Match> {
    let ports = || some(vec![80u16, 443, 5060], 2);
    let names = || some(vec!["a".to_owned(), "b".to_owned()], 1);
    let rtt = prop::option::of((0u64..3, prop::option::of(3u64..5)));
    let numbers = (some(vec![0u8, 10, 46], 2), some(vec![6u8, 17], 1), some(vec![0usize, 1, 2], 1));
    (nets(), nets(), (ports(), ports()), numbers, (names(), names(), rtt)).prop_map(|it| {
        let (source, destination, (source_port, destination_port), (dscp, protocol, ecn), (traffic, conditioner, rtt)) =
            it;
        let ms = Span::from_ms;
        Match {
            source,
            destination,
            source_port,
            destination_port,
            dscp: dscp.into_iter().filter_map(Dscp::new).collect(),
            protocol: protocol.into_iter().map(Protocol).collect(),
            ecn: ecn.into_iter().map(|it| Ecn::ALL[it]).collect(),
            traffic,
            conditioner,
            rtt: rtt.and_then(|(from, to)| RttClass::new(ms(from), to.map(ms))),
        }
    })
}

/// Few fields, so that many cover others.
fn plain() -> impl Strategy<Value = Match> {
    (nets(), some(vec![80u16, 443], 2), some(vec![0u8, 10, 46], 2)).prop_map(|(source, destination_port, dscp)| Match {
        source,
        destination_port,
        dscp: dscp.into_iter().filter_map(Dscp::new).collect(),
        ..Match::default()
    })
}

/// With each of the values of its keys alone, in the order of the keys.
fn narrowed(of: &Match) -> Vec<(&'static str, usize, Match)> {
    let mut all = Vec::new();
    macro_rules! alone {
        ($($key:literal => $field:ident),*) => { $(
            all.extend(of.$field.iter().enumerate().map(|(i, one)| {
                ($key, i, Match { $field: vec![one.clone()], ..of.clone() })
            }));
        )* };
    }
    alone!("source" => source, "dscp" => dscp, "destination-port" => destination_port);
    all
}

fn covered(list: &[Match], entry: usize) -> Vec<(&'static str, usize, usize)> {
    let by = |one: &Match| list[..entry].iter().position(|before| before.covers(one));
    narrowed(&list[entry]).iter().filter_map(|(key, i, one)| Some((*key, *i, by(one)?))).collect()
}

fn is_unreachable(list: &[Match], entry: usize) -> bool {
    let (all, covered) = (narrowed(&list[entry]), covered(list, entry));
    let many = |key: &str| all.iter().filter(|it| it.0 == key).count();
    list[..entry].iter().any(|before| before.covers(&list[entry]))
        || covered.iter().any(|it| covered.iter().filter(|other| other.0 == it.0).count() == many(it.0))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    #[test]
    fn entries_before_one_take_what_they_take_in_pairs(list in prop::collection::vec(plain(), 1..16)) {
        let filters: Vec<Filter> = list.iter().cloned().map(Filter::from).collect();
        let mut cover = Cover::new(&filters);
        for entry in 0..list.len() {
            let found: Vec<_> = cover.covered(entry).into_iter().map(|it| (it.key, it.index, it.by)).collect();
            prop_assert_eq!(found, covered(&list, entry));
            prop_assert_eq!(cover.is_unreachable(entry), is_unreachable(&list, entry), "{:?}", list);
        }
    }

    #[test]
    fn nothing_is_missing_in_an_index(list in prop::collection::vec(matches(), 1..16), of in matches(), below in 0usize..17) {
        let mut index: Index = list.iter().collect();
        for (relation, has) in [
            (Relation::Covers, Match::covers as fn(&Match, &Match) -> bool),
            (Relation::Meets, Match::meets as fn(&Match, &Match) -> bool),
        ] {
            let mut found = BTreeSet::new();
            index.candidates(&of, (relation, below), |places| found.extend(places.iter().copied()));
            for (place, one) in list.iter().enumerate() {
                prop_assert!(place >= below || !has(one, &of) || found.contains(&place), "{relation:?} {one:?}\n{of:?}");
            }
            prop_assert!(found.iter().all(|place| *place < below));
            let first = list.iter().take(below).position(|one| has(one, &of));
            prop_assert_eq!(index.first(&of, (relation, below.min(list.len())), |place| has(&list[place], &of)), first);
        }
    }
}

#[test]
fn colours_cover_only_themselves() {
    use perhop_core::packet::Colour;
    let [green, af11] = [Member::Colour(Colour::Green), Member::Dscp(Dscp::new(10).unwrap())];
    let of_dscp = Match { dscp: vec![Dscp::new(10).unwrap()], ..Match::default() };
    let filters: Vec<Filter> = vec![vec![green, af11].into(), vec![green].into(), of_dscp.into()];
    let mut cover = Cover::new(&filters);
    assert_eq!([0, 1, 2].map(|entry| cover.is_unreachable(entry)), [false, true, true]);
}
