//! Beside every filter held against all before it.

use super::*;
use perhop_core::classify::Prefix;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// What filters lose, and the pairs that are in the wrong order: the taker of the first, the second.
fn by_pairs(asked: &mut [OwnedFilter], place: &dyn Fn(usize) -> usize) -> BTreeSet<(usize, usize)> {
    let mut found = BTreeSet::new();
    for later in 1..asked.len() {
        let (before, from) = asked.split_at_mut(later);
        let second = &mut from[0];
        for first in before.iter().filter(|first| !first.dead && first.of != second.of) {
            let both = is_of_code_points(&first.matches) && is_of_code_points(&second.matches);
            let in_order = place(first.of) < place(second.of);
            if second.dead || !first.matches.meets(&second.matches) || in_order && !both {
                continue;
            }
            if !is_of_code_points(&first.matches) || !second.matches.conditioner.is_empty() {
                found.insert((first.of, later));
                continue;
            }
            let left = code_points(&second.matches).into_iter().filter(|it| !first.matches.dscp.contains(it));
            second.matches.dscp = left.collect();
            second.dead = second.matches.dscp.is_empty();
        }
    }
    found
}

fn matches() -> impl Strategy<Value = Match> {
    let few = |most| prop::collection::btree_set(0u8..6, 0..most);
    let nets = ["10.0.0.0/8", "10.1.0.0/16", "10.1.2.0/24", "10.2.0.0/15", "2001:db8::/32"];
    let nets = || prop::collection::btree_set(prop::sample::select(nets.to_vec()), 0..2);
    let names = prop::collection::btree_set(prop::sample::select(vec!["a", "b"]), 0..2);
    (few(4), few(2), (nets(), nets()), prop_oneof![6 => Just(BTreeSet::new()), 1 => names]).prop_map(|it| {
        let (dscp, ports, (source, destination), conditioner) = it;
        let nets = |list: BTreeSet<&str>| list.iter().filter_map(|net| net.parse().ok().map(Prefix)).collect();
        Match {
            dscp: dscp.into_iter().filter_map(Dscp::new).collect(),
            destination_port: ports.into_iter().map(u16::from).collect(),
            source: nets(source),
            destination: nets(destination),
            conditioner: conditioner.into_iter().map(str::to_owned).collect(),
            ..Match::default()
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn as_all_pairs(list in prop::collection::vec((matches(), 0usize..5), 0..24), last in 0usize..5) {
        let list = list.into_iter().filter(|it| it.0 != Match::default());
        let mut slow: Vec<_> = list.map(|(matches, of)| OwnedFilter::new(of, matches)).collect();
        let mut fast = slow.clone();
        let place = |of: usize| if of == last { 5 } else { of };
        let expected = by_pairs(&mut slow, &place);
        let found: BTreeSet<_> =
            Stolen::of(&mut fast, &place).into_iter().map(|(first, second)| (fast[first].of, second)).collect();
        prop_assert_eq!(found, expected);
        for (fast, slow) in fast.iter().zip(&slow) {
            prop_assert_eq!((&fast.matches, fast.dead), (&slow.matches, slow.dead));
        }
    }
}
