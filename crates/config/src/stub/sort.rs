//! How filters become what a scenario has: a list of classes, of which the first that agrees takes the packet.
//!
//! A device asks its filters in their order, whatever the order of the classes that they lead to. Where these two orders
//! differ, code points are taken out of the later filter; what cannot be said that way becomes a chain of markers, or a note.

use super::stolen::{OwnedFilter, Stolen};
use crate::matches::{code_points, is_of_code_points, is_of_conditioners};
use crate::model::Filter;
use crate::unions::Unions;
use perhop_core::aqm::members::{self, Cover, Member};
use perhop_core::classify::Match;
use perhop_core::dscp::Dscp;
use perhop_core::params::Place;

/// Something that takes packets.
#[derive(Clone, Debug)]
pub struct Taker<'a> {
    /// As messages call it.
    pub name: &'a str,
    /// Which.
    pub takes: Vec<&'a Filter>,
    /// Whether it takes what no other does.
    pub rest: bool,
}

/// What one takes, as a scenario says it.
#[derive(Clone, Debug, PartialEq)]
pub enum Taken {
    /// What is left.
    Rest,
    /// These code points.
    For(Vec<Dscp>),
    /// What agrees with any of these.
    Any(Vec<Match>),
    /// What has passed one of these markers.
    Passed(Vec<String>),
    /// No packet: filters before its own take all, or there is none.
    Nothing,
}

/// What each takes.
#[derive(Clone, Debug, Default)]
pub struct Sorted {
    /// One for each taker.
    pub taken: Vec<Taken>,
    /// What differs from the device, and where.
    pub notes: Vec<(Option<Place>, String)>,
}

/// Sorts the takers of one list.
pub fn sort(takers: &[Taker<'_>]) -> Sorted {
    let (asked, rest) = asked(takers);
    if asked.iter().all(|filter| is_of_code_points(&filter.matches)) {
        return by_code_point(&asked, rest, takers.len());
    }
    if asked.iter().all(|filter| is_of_conditioners(&filter.matches)) {
        return by_passage(asked, rest, takers.len());
    }
    in_order(asked, rest, takers)
}

/// Packets have passed one conditioner each of those that are asked for: the order does not matter.
fn by_passage(asked: Vec<OwnedFilter>, rest: Option<usize>, takers: usize) -> Sorted {
    let mut left = vec![Vec::new(); takers];
    asked.into_iter().for_each(|filter| left[filter.of].push(filter.matches));
    let mut taken: Vec<_> = left.into_iter().map(any).collect();
    rest.into_iter().for_each(|rest| taken[rest] = Taken::Rest);
    Sorted { taken, notes: Vec::new() }
}

/// The filters in their order, up to one that takes all, and who takes what is left.
pub(super) fn asked(takers: &[Taker<'_>]) -> (Vec<OwnedFilter>, Option<usize>) {
    let of = |(of, taker): (usize, &Taker<'_>)| {
        let owned = |filter: &&Filter| OwnedFilter {
            order: filter.order,
            of,
            matches: filter.matches.is.clone(),
            place: filter.matches.origin.place(),
            dead: false,
        };
        taker.takes.iter().map(owned).collect::<Vec<_>>()
    };
    let mut all: Vec<_> = takers.iter().enumerate().flat_map(of).collect();
    all.sort_by_key(|filter| filter.order);
    let rest = takers.iter().rposition(|taker| taker.rest);
    match all.iter().position(|filter| filter.matches == Match::default()) {
        None => (all, rest),
        Some(end) => {
            let rest = all[end].of;
            all.truncate(end);
            (all, Some(rest))
        }
    }
}

fn by_code_point(asked: &[OwnedFilter], rest: Option<usize>, takers: usize) -> Sorted {
    let mut owner = [rest; 64];
    for (code, owner) in (0..64).filter_map(Dscp::new).zip(&mut owner) {
        let first = asked.iter().find(|filter| code_points(&filter.matches).contains(&code));
        *owner = first.map_or(*owner, |filter| Some(filter.of));
    }
    let of = |taker: usize| {
        let all = (0..64).filter_map(Dscp::new).zip(&owner).filter(|(_, owner)| **owner == Some(taker));
        let all: Vec<_> = all.map(|(code, _)| code).collect();
        // Without filters the load says which class its packets are for: what is left comes after all of these.
        let is_last = taker + 1 == takers || asked.is_empty();
        match (rest == Some(taker) && is_last, all.is_empty()) {
            (true, false) => Taken::Rest,
            (_, true) => Taken::Nothing,
            _ => Taken::For(all),
        }
    };
    Sorted { taken: (0..takers).map(of).collect(), notes: Vec::new() }
}

fn in_order(asked: Vec<OwnedFilter>, rest: Option<usize>, takers: &[Taker<'_>]) -> Sorted {
    let mut asked = living(asked);
    // The one that takes what is left is the last of its list.
    let place = |of: usize| if rest == Some(of) { takers.len() } else { of };
    let found = Stolen::of(&mut asked, &place);
    let note = |it: (usize, usize)| {
        let [first, second] = [it.0, it.1].map(|filter| &asked[filter]);
        (second.place, stolen(takers[first.of].name, takers[second.of].name))
    };
    let notes = found.into_iter().map(note).collect();
    let mut left = vec![Vec::new(); takers.len()];
    asked.into_iter().filter(|filter| !filter.dead).for_each(|filter| left[filter.of].push(filter.matches));
    let mut taken: Vec<_> = left.into_iter().map(any).collect();
    rest.into_iter().for_each(|rest| taken[rest] = Taken::Rest);
    unreachable(&mut taken);
    Sorted { taken, notes }
}

/// Takes its packets from what those before it leave none.
fn unreachable(taken: &mut [Taken]) {
    let filter = |taken: &Taken| match taken {
        Taken::For(codes) => Some(codes.iter().copied().map(Member::Dscp).collect::<Vec<_>>().into()),
        Taken::Any(all) if all.len() == 1 => Some(all[0].clone().into()),
        _ => None,
    };
    let filters: Vec<(usize, members::Filter)> =
        taken.iter().enumerate().filter_map(|(i, taken)| Some((i, filter(taken)?))).collect();
    let mut cover = Cover::new(filters.iter().map(|it| &it.1));
    let mut counts = vec![true; filters.len()];
    for (entry, (i, _)) in filters.iter().enumerate() {
        if cover.is_unreachable_by(entry, &|before| counts[before]) {
            counts[entry] = false;
            taken[*i] = Taken::Nothing;
        }
    }
}

/// Those to which the filters before them leave a packet.
pub(super) fn living(asked: Vec<OwnedFilter>) -> Vec<OwnedFilter> {
    let filters: Vec<members::Filter> = asked.iter().map(|filter| filter.matches.clone().into()).collect();
    let mut cover = Cover::new(&filters);
    asked.into_iter().enumerate().filter(|(i, _)| !cover.is_unreachable(*i)).map(|(_, filter)| filter).collect()
}

/// A note about two filters whose order is not that of their classes.
fn stolen(first: &str, second: &str) -> String {
    format!(
        "packets that filters of `{first}` and of `{second}` both match go to `{second}` here, to `{first}` in the device"
    )
}

/// What is left for one, with as few matches as can say it.
fn any(left: Vec<Match>) -> Taken {
    let all = Unions::of(left);
    match all.as_slice() {
        [] => Taken::Nothing,
        [one] if is_of_code_points(one) => Taken::For(one.dscp.clone()),
        _ => Taken::Any(all),
    }
}
