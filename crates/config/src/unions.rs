//! Matches that differ in one list become one with both lists: as few matches as say what several filters take.
//!
//! A match keeps a hash of each of its lists, so that those which differ from it in one are found without asking all.

use perhop_core::classify::Match;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Lists of a match.
const LISTS: usize = 9;
/// A list of more values is looked up in a set.
const FEW: usize = 16;

/// A match that grows.
#[derive(Clone, Debug)]
pub(crate) struct Union {
    /// What it takes.
    pub(crate) matches: Match,
    /// Of each list, up to its last value.
    hashes: [u64; LISTS],
    /// Hashes of the values of long lists.
    known: [HashSet<u64>; LISTS],
}

/// Does the same with each list; the number is that of the list.
macro_rules! with_list {
    ($number:expr, $($it:ident = $of:expr),+ => $then:expr) => {
        match $number {
            0 => { $(let $it = &mut $of.dscp;)+ $then }
            1 => { $(let $it = &mut $of.traffic;)+ $then }
            2 => { $(let $it = &mut $of.protocol;)+ $then }
            3 => { $(let $it = &mut $of.source;)+ $then }
            4 => { $(let $it = &mut $of.destination;)+ $then }
            5 => { $(let $it = &mut $of.source_port;)+ $then }
            6 => { $(let $it = &mut $of.destination_port;)+ $then }
            7 => { $(let $it = &mut $of.ecn;)+ $then }
            _ => { $(let $it = &mut $of.conditioner;)+ $then }
        }
    };
}

impl From<Match> for Union {
    fn from(matches: Match) -> Self {
        let mut it = Self { matches, hashes: [0; LISTS], known: Default::default() };
        for list in 0..LISTS {
            it.hashes[list] = with_list!(list, own = it.matches => own.iter().map(hash).fold(0, rolled));
        }
        it
    }
}

impl Union {
    /// The only list in which another differs, if there is one.
    pub(crate) fn differs(&self, other: &Self) -> Option<usize> {
        let mut lists = (0..LISTS).filter(|list| self.hashes[*list] != other.hashes[*list]);
        let first = lists.next()?;
        (lists.next().is_none() && self.matches.rtt == other.matches.rtt).then_some(first)
    }

    /// Whether a list is empty, so that any value agrees.
    pub(crate) const fn is_open(&self, list: usize) -> bool {
        self.hashes[list] == 0
    }

    /// Adds the values of a list of another one, those that are new.
    pub(crate) fn extend(&mut self, list: usize, mut other: Match) {
        let known = &mut self.known[list];
        with_list!(list, own = self.matches, others = other => {
            if own.len() > FEW && known.is_empty() {
                known.extend(own.iter().map(hash));
            }
            let is_known = |one: &_| if own.len() > FEW { known.contains(&hash(one)) } else { own.contains(one) };
            others.retain(|one| !is_known(one));
            for one in others.drain(..) {
                let value = hash(&one);
                self.hashes[list] = rolled(self.hashes[list], value);
                if !known.is_empty() {
                    known.insert(value);
                }
                own.push(one);
            }
        });
    }

    /// Takes any value of a list.
    fn open(&mut self, list: usize) {
        with_list!(list, own = self.matches => own.clear());
        self.hashes[list] = 0;
        self.known[list].clear();
    }

    /// What is the same in all that differ from this in one list.
    fn others(&self, list: usize) -> (usize, u64) {
        let rtt = self.matches.rtt.as_ref().map_or(0, |rtt| hash(&rtt));
        let others = self.hashes.iter().enumerate().filter(|it| it.0 != list).map(|it| *it.1);
        (list, others.fold(rtt, rolled))
    }
}

/// Matches, each pair of which differs in more than one list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unions {
    /// In their order; one that has become part of a later one is gone.
    list: Vec<Option<Union>>,
    /// Their places, by each list and what the others are.
    by_others: HashMap<(usize, u64), usize>,
}

impl Unions {
    /// Adds one; as long as it differs in one list from another, both become one with the values of both.
    pub(crate) fn add(&mut self, new: Match) {
        let mut new = Union::from(new);
        let of = |it: &Self, new: &Union| {
            let found = (0..LISTS).filter_map(|list| Some((*it.by_others.get(&new.others(list))?, list)));
            found.min()
        };
        while let Some((place, list)) = of(self, &new) {
            let Some(mut known) = self.take(place) else { break };
            match known.is_open(list) || new.is_open(list) {
                true => known.open(list),
                false => known.extend(list, new.matches),
            }
            new = known;
        }
        let place = self.list.len();
        (0..LISTS).for_each(|list| _ = self.by_others.insert(new.others(list), place));
        self.list.push(Some(new));
    }

    fn take(&mut self, place: usize) -> Option<Union> {
        let known = self.list[place].take()?;
        for list in 0..LISTS {
            self.by_others.remove(&known.others(list));
        }
        Some(known)
    }

    /// Of some, in their order.
    pub(crate) fn of(all: impl IntoIterator<Item = Match>) -> Vec<Match> {
        let mut unions = Self::default();
        all.into_iter().for_each(|one| unions.add(one));
        unions.into_list()
    }

    /// All of them.
    fn into_list(self) -> Vec<Match> {
        self.list.into_iter().flatten().map(|it| it.matches).collect()
    }
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The hash of a list with one more value; that of an empty one is 0.
fn rolled(list: u64, value: u64) -> u64 {
    hash(&(list, value)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use perhop_core::dscp::Dscp;
    use proptest::prelude::*;

    /// One match that takes what either takes, if there is one.
    fn union(a: &Match, b: &Match) -> Option<Match> {
        fn both<T: Clone + PartialEq>(a: &[T], b: &[T]) -> Vec<T> {
            match a.is_empty() || b.is_empty() {
                true => Vec::new(),
                false => a.iter().chain(b.iter().filter(|x| !a.contains(x))).cloned().collect(),
            }
        }
        macro_rules! but_one {
            ($($field:ident),*) => { $(
                if (Match { $field: Vec::new(), ..a.clone() }) == (Match { $field: Vec::new(), ..b.clone() }) {
                    return Some(Match { $field: both(&a.$field, &b.$field), ..a.clone() });
                }
            )* };
        }
        but_one!(dscp, traffic, protocol, source, destination, source_port, destination_port, ecn, conditioner);
        None
    }

    /// Each is held against all.
    fn add(all: &mut Vec<Match>, new: Match) {
        match all.iter().enumerate().find_map(|(i, known)| Some((i, union(known, &new)?))) {
            Some((i, both)) => {
                all.remove(i);
                add(all, both);
            }
            None => all.push(new),
        }
    }

    fn matches() -> impl Strategy<Value = Match> {
        let codes = prop::collection::vec(0u8..4, 0..3);
        let ports = prop::collection::vec(0u16..3, 0..3);
        let nets = prop::collection::vec(prop::sample::select(vec!["10.0.0.0/8", "10.1.0.0/16", "::/0"]), 0..2);
        let names = prop::collection::vec(prop::sample::select(vec!["a", "b"]), 0..2);
        (codes, ports, nets, names).prop_map(|(codes, ports, nets, names)| {
            let mut it = Match {
                dscp: codes.into_iter().filter_map(Dscp::new).collect(),
                destination_port: ports,
                source: nets.iter().filter_map(|net| net.parse().ok().map(perhop_core::classify::Prefix)).collect(),
                traffic: names.into_iter().map(str::to_owned).collect(),
                ..Match::default()
            };
            it.dscp.dedup();
            it.destination_port.dedup();
            it
        })
    }

    proptest! {
        #[test]
        fn they_are_those_of_all_pairs(list in prop::collection::vec(matches(), 0..24)) {
            let (mut slow, mut fast) = (Vec::new(), Unions::default());
            for one in list {
                add(&mut slow, one.clone());
                fast.add(one);
            }
            prop_assert_eq!(fast.into_list(), slow);
        }
    }

    #[test]
    fn long_lists_have_each_value_once() {
        let one = |port: u16| Match { source_port: vec![port], ..Match::default() };
        let mut unions = Unions::default();
        (0..100).chain(0..100).for_each(|port| unions.add(one(port)));
        let [all] = &unions.into_list()[..] else { panic!() };
        assert_eq!(all.source_port, (0..100).collect::<Vec<_>>());
    }
}
