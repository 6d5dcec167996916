//! What of a list no packet can reach, whatever arrives: entries before it take all of that.

use super::{Filter, Item, Member};
use crate::classify::{Index, Match, Prefix, Relation};
use crate::params::{ParamError, Value};
use std::borrow::Cow;

/// A value of an entry of which entries before it take every packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Covered {
    /// The entry.
    pub entry: usize,
    /// Its key: `for`, or one of its `match`.
    pub key: &'static str,
    /// Which of the key's values.
    pub index: usize,
    /// The value as a file has it.
    pub value: String,
    /// The entry before it that takes its packets.
    pub by: usize,
}

/// An entry with one of the values of a key, in place of all of them.
struct Narrowed {
    key: &'static str,
    index: usize,
    value: String,
    filter: Filter,
}

/// What the entries of a list leave to those behind them.
pub struct Cover<'a> {
    filters: Vec<&'a Filter>,
    index: Index,
}

impl<'a> Cover<'a> {
    /// Of a list.
    pub fn new(filters: impl IntoIterator<Item = &'a Filter>) -> Self {
        let filters: Vec<_> = filters.into_iter().collect();
        let mut index = Index::default();
        filters.iter().for_each(|filter| index.add(&asks(filter)));
        Self { filters, index }
    }

    /// The values of an entry of which entries before it take every packet.
    pub fn covered(&mut self, entry: usize) -> Vec<Covered> {
        self.covered_by(entry, &|_| true)
    }

    /// Whether entries before one leave it no packet, which [`super::Members::new`] refuses.
    pub fn is_unreachable(&mut self, entry: usize) -> bool {
        self.all_before(entry, &|_| true).is_some()
    }

    /// The same of those entries that count.
    pub fn is_unreachable_by(&mut self, entry: usize, counts: &dyn Fn(usize) -> bool) -> bool {
        self.all_before(entry, counts).is_some()
    }

    fn covered_by(&mut self, entry: usize, counts: &dyn Fn(usize) -> bool) -> Vec<Covered> {
        let found = narrowed(self.filters[entry]).into_iter().filter_map(|Narrowed { key, index, value, filter }| {
            let by = self.first(&filter, entry, counts)?;
            Some(Covered { entry, key, index, value, by })
        });
        found.collect()
    }

    /// The first entry before one that takes every packet of a filter.
    fn first(&mut self, of: &Filter, before: usize, counts: &dyn Fn(usize) -> bool) -> Option<usize> {
        let Self { filters, index } = self;
        let takes = |by: usize| counts(by) && covers(filters[by], of);
        index.first(&asks(of), (Relation::Covers, before), takes)
    }

    /// The entries before one that together leave it no packet.
    fn all_before(&mut self, entry: usize, counts: &dyn Fn(usize) -> bool) -> Option<Vec<usize>> {
        if let Some(by) = self.first(self.filters[entry], entry, counts) {
            return Some(vec![by]);
        }
        let (covered, all) = (self.covered_by(entry, counts), narrowed(self.filters[entry]));
        let values = |key| all.iter().filter(|it| it.key == key).count();
        let of = |key| covered.iter().filter(move |it| it.key == key).map(|it| it.by);
        let mut keys: Vec<_> = covered.iter().map(|it| it.key).collect();
        keys.dedup();
        let key = keys.into_iter().find(|&key| of(key).count() == values(key))?;
        let mut by: Vec<_> = of(key).collect();
        by.dedup();
        Some(by)
    }
}

/// What of a filter an index of matches knows.
pub fn asks(filter: &Filter) -> Cow<'_, Match> {
    filter.matches.as_ref().map_or_else(|| Cow::Owned(listed(&filter.members)), Cow::Borrowed)
}

/// Refuses entries that can match no packet.
pub(super) fn each_matches(key: &'static str, items: &[Item<'_>]) -> Result<(), ParamError> {
    let mut cover = Cover::new(items.iter().map(|item| item.filter));
    let filters = cover.filters.clone();
    let by_match = items.iter().any(|item| item.filter.matches.is_some() || item.plan.is_some());
    let mut seen: Vec<Member> = Vec::new();
    for (i, filter) in filters.iter().enumerate() {
        let subject = &items[i].subject;
        let name = subject.mark();
        let fault = |code, message: String, help: &str| {
            Err(ParamError::new(key, code, message).of_class(subject.class()).help(help))
        };
        if !filter.members.is_empty() && filter.matches.is_some() {
            let help = "write one of them: a `match` has code points in `dscp`, and only `for` has colours";
            return fault("E280", format!("{name} has both `for` and `match`"), help);
        }
        if let Some(all) = takes_all(filter, by_match).filter(|_| i + 1 < filters.len()) {
            let help = format!("give it a {}: the packets it takes", if by_match { "`match`" } else { "`for`" });
            return fault("E223", format!("{name} has {all}, and is not the last"), &help);
        }
        for member in &filter.members {
            if seen.contains(member) {
                let listed = member.tree().map(|t| t.to_string()).unwrap_or_default();
                let help = "the first one takes its packets: remove this one";
                return fault("E223", format!("{name}: {listed} is listed in `for` a second time"), help);
            }
            seen.push(*member);
        }
        if by_match && let Some(before) = cover.all_before(i, &|_| true) {
            let before = before.iter().map(|&by| items[by].subject.to_string()).collect::<Vec<_>>().join(" and ");
            let help = format!("move {subject} before {before}, or remove it");
            return fault("E223", format!("no packet can reach {name}: {before} before it takes all of them"), &help);
        }
    }
    Ok(())
}

fn takes_all(filter: &Filter, by_match: bool) -> Option<&'static str> {
    match &filter.matches {
        Some(matches) => (*matches == Match::default()).then_some("an empty `match`"),
        None => filter.members.is_empty().then_some(if by_match { "no `match`" } else { "no `for`" }),
    }
}

/// Whether `a` takes every packet that `b` takes.
fn covers(a: &Filter, b: &Filter) -> bool {
    match (&a.matches, &b.matches) {
        (None, None) => !a.is_empty() && within(&a.members, &b.members, |x, y| x == y),
        (None, Some(b)) => !a.is_empty() && within(&a.members, &b.dscp, |x, y| *x == Member::Dscp(*y)),
        (Some(a), Some(b)) => contains(a, b),
        (Some(a), None) => contains(a, &listed(&b.members)),
    }
}

/// A list of code points as a match; one with colours may be of any code point.
fn listed(members: &[Member]) -> Match {
    let dscp = |member: &Member| if let Member::Dscp(dscp) = member { Some(*dscp) } else { None };
    Match { dscp: members.iter().map(dscp).collect::<Option<_>>().unwrap_or_default(), ..Match::default() }
}

fn contains(a: &Match, b: &Match) -> bool {
    let prefix = |x: &Prefix, y: &Prefix| x.0.contains(&y.0);
    within(&a.source, &b.source, prefix)
        && within(&a.destination, &b.destination, prefix)
        && within(&a.dscp, &b.dscp, |x, y| x == y)
        && within(&a.traffic, &b.traffic, |x, y| x == y)
        && within(&a.protocol, &b.protocol, |x, y| x == y)
        && within(&a.source_port, &b.source_port, |x, y| x == y)
        && within(&a.destination_port, &b.destination_port, |x, y| x == y)
        && within(&a.ecn, &b.ecn, |x, y| x == y)
        && within(&a.conditioner, &b.conditioner, |x, y| x == y)
        && a.rtt.as_ref().is_none_or(|a| b.rtt.as_ref().is_some_and(|b| a.contains(b)))
}

/// Whether all that a key of `b` admits, a key of `a` does.
fn within<A, B>(a: &[A], b: &[B], admits: impl Fn(&A, &B) -> bool) -> bool {
    a.is_empty() || !b.is_empty() && b.iter().all(|y| a.iter().any(|x| admits(x, y)))
}

/// An entry with each of the values of its keys alone.
fn narrowed(filter: &Filter) -> Vec<Narrowed> {
    let mut found = Vec::new();
    alone("for", &filter.members, &mut found, |one| vec![one].into());
    let Some(matches) = &filter.matches else { return found };
    macro_rules! alone {
        ($($key:literal => $field:ident),*) => { $(
            if !matches.$field.is_empty() {
                let others = Match { $field: Vec::new(), ..matches.clone() };
                alone($key, &matches.$field, &mut found, |one| Match { $field: vec![one], ..others.clone() }.into());
            }
        )* };
    }
    alone!(
        "source" => source, "destination" => destination, "dscp" => dscp, "traffic" => traffic, "protocol" => protocol,
        "source-port" => source_port, "destination-port" => destination_port, "ecn" => ecn, "conditioner" => conditioner
    );
    found
}

fn alone<T: Value + Clone>(key: &'static str, list: &[T], into: &mut Vec<Narrowed>, of: impl Fn(T) -> Filter) {
    into.extend(list.iter().enumerate().map(|(index, one)| {
        let value = one.tree().map(|tree| tree.to_string()).unwrap_or_default();
        Narrowed { key, index, value, filter: of(one.clone()) }
    }));
}
