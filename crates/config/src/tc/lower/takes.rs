//! Which packets go to which class: filters, then priorities.

use super::Making;
use crate::model::{Class, Filter};
use crate::tc::filters::{Protocol, Sorter};
use crate::tc::kernel::{Qdisc, own};
use crate::tc::units::shown;
use crate::value::Said;
use perhop_core::classify::{Match, Prefix, Protocol as Number};
use perhop_core::dscp::Dscp;
use perhop_core::params::Place;

/// Some filters in a row with the same end.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) any: Vec<Match>,
    pub(super) place: Place,
}

impl<'k, 'a> Making<'k, 'a> {
    /// Gives the filters of a queueing discipline to its classes; true: one takes all that is left.
    pub(super) fn takes(&mut self, it: &'k Qdisc<'a>, ids: &[u32], classes: &mut [Class]) -> bool {
        let interface = self.interface;
        let at = interface.filters.range(own(it.handle));
        let filters: Vec<_> = at.flat_map(|(_, list)| list).collect();
        let mut caught = false;
        let mut i = 0;
        while i < filters.len() {
            let filter = filters[i];
            let alike = |other: &&&Sorter<'_>| {
                other.target.map(|it| it.0) == filter.target.map(|it| it.0) && self.same_end(filter, other)
            };
            let many = 1 + filters[i + 1..].iter().take_while(alike).count();
            let run = &filters[i..i + many];
            i += many;
            if caught {
                let lines: Vec<_> = run.iter().flat_map(|it| &it.lines).copied().collect();
                self.log.nearly(&lines, "it is never asked: a filter before it takes all packets");
                continue;
            }
            caught = self.lead(it, run, ids, classes);
        }
        caught
    }

    fn lead(&mut self, it: &Qdisc<'a>, run: &[&'k Sorter<'a>], ids: &[u32], classes: &mut [Class]) -> bool {
        let first = run[0];
        let Some(found) = self.run(run) else { return false };
        let lines: Vec<_> = run.iter().flat_map(|it| &it.lines).copied().collect();
        let target = first.target.map(|(id, place)| (if id >> 16 == 0 { it.handle | id } else { id }, place));
        let Some((id, place)) = target else {
            self.meters(first, &found, "");
            if first.actions.is_empty() {
                self.log.lost(&lines, "it names no class");
            }
            return false;
        };
        let leaf = |place: &usize| !classes.iter().any(|class| class.parent == Some(*place));
        let Some(place_of) = ids.iter().position(|it| *it == id).filter(leaf) else {
            return self.astray(it, id, place, &lines);
        };
        let name = shown(id);
        let class = &mut classes[place_of];
        let limit = self.limited(it, first, class);
        if !limit {
            self.meters(first, &found, &name);
        }
        let all = found.any.iter().any(|it| *it == Match::default());
        if all {
            class.rest = true;
        }
        for matches in found.any.into_iter().filter(|_| !all) {
            self.order += 1;
            class.takes.push(Filter { order: self.order, matches: Said::at(found.place, matches) });
        }
        all
    }

    /// A filter to a class that is not there, or has classes below it.
    fn astray(&mut self, it: &Qdisc<'a>, id: u32, place: Place, lines: &[usize]) -> bool {
        let message = format!(
            "the filter sends packets to {}, which is no class without children of {}",
            shown(id),
            shown(it.handle)
        );
        self.log.lost(lines, &message);
        self.log.found("W401", place, message, "");
        false
    }

    /// What filters in a row take; `None`: nothing that perhop has, or nothing that it can say.
    pub(super) fn run(&mut self, filters: &[&'k Sorter<'a>]) -> Option<Run> {
        let mut any: Vec<(Match, Protocol)> = Vec::new();
        for it in filters {
            it.rule.nearly.iter().for_each(|how| self.log.nearly(&it.lines, how));
            it.rule.lost.iter().for_each(|why| self.log.lost(&it.lines, why));
            if it.protocol == Protocol::Other {
                self.log.nearly(&it.lines, "perhop has only IP packets");
            } else if it.rule.lost.is_empty() {
                any.extend(it.rule.any.iter().map(|matches| (self.tagged(matches), it.protocol)));
            }
        }
        let place = Place { start: filters[0].place.start, end: filters[0].place.end };
        let any = merged(versions(any));
        (!any.is_empty()).then_some(Run { any, place })
    }

    /// A mark that a conditioner of the port has set is that conditioner.
    fn tagged(&self, matches: &Match) -> Match {
        let [name] = &matches.traffic[..] else { return matches.clone() };
        let mut words = name.split('-').filter_map(|word| word.parse::<u64>().ok());
        let (Some(mark), mask) = (words.next(), words.next().unwrap_or(0xffff_ffff)) else { return matches.clone() };
        let sets = |tag: &&(u64, u64, String)| tag.1 & mask == mask && tag.0 & mask == mark;
        let conditioner: Vec<_> = self.tags.iter().filter(sets).map(|tag| tag.2.clone()).collect();
        if conditioner.is_empty() {
            matches.clone()
        } else {
            Match { conditioner, traffic: Vec::new(), ..matches.clone() }
        }
    }

    /// By the priority that code points give a packet, where no filter names it.
    pub(super) fn by_priority(
        &mut self,
        it: &Qdisc<'a>,
        members: Vec<Vec<Dscp>>,
        rest: Option<usize>,
        classes: &mut [Class],
    ) {
        if let Some(class) = rest.and_then(|rest| classes.get_mut(rest)) {
            class.rest = true;
            return;
        }
        let place = it.options.get("priomap").map(|option| option.place);
        for (dscp, class) in members.into_iter().zip(classes).filter(|it| !it.0.is_empty()) {
            self.order += 1;
            let matches = Match { dscp, ..Match::default() };
            let matches = match place {
                Some(place) => Said::at(place, matches),
                None => Said::assumed("tc-prio(8): the priomap, and the priority of a code point", matches),
            };
            class.takes.push(Filter { order: self.order, matches });
        }
    }
}

/// A filter of IPv6 alone asks for that, unless one of IPv4 asks the same.
fn versions(any: Vec<(Match, Protocol)>) -> Vec<Match> {
    let four: Vec<_> = any.iter().filter(|it| it.1 != Protocol::Ip6).map(|it| it.0.clone()).collect();
    let mut out: Vec<Match> = Vec::new();
    for (mut matches, protocol) in any {
        let addressed =
            !matches.source.is_empty() || !matches.destination.is_empty() || matches.protocol == [Number(58)];
        if protocol == Protocol::Ip6 && !addressed {
            if four.contains(&matches) {
                continue;
            }
            matches.source.extend("::/0".parse().ok().map(Prefix));
        }
        if !out.contains(&matches) {
            out.push(matches);
        }
    }
    out
}

/// Matches that differ in one list are one match with both lists.
fn merged(any: Vec<Match>) -> Vec<Match> {
    let mut out: Vec<Match> = Vec::new();
    for matches in any {
        let mut matches = matches;
        while let Some(place) = out.iter().rposition(|other| joined(other, &matches).is_some()) {
            if let Some(both) = joined(&out[place], &matches) {
                out.remove(place);
                matches = both;
            }
        }
        out.push(matches);
    }
    out.iter_mut().for_each(ported);
    out
}

/// Ports of TCP and UDP are those of any protocol that has ports.
fn ported(matches: &mut Match) {
    let asks = !matches.source_port.is_empty() || !matches.destination_port.is_empty();
    if asks && matches.protocol.len() == 2 && [6, 17].iter().all(|it| matches.protocol.contains(&Number(*it))) {
        matches.protocol.clear();
    }
}

/// Both in one, if they differ in one list that neither leaves open.
fn joined(a: &Match, b: &Match) -> Option<Match> {
    let mut out = a.clone();
    let mut differ = 0;
    join(&mut out.dscp, &b.dscp, &mut differ)?;
    join(&mut out.protocol, &b.protocol, &mut differ)?;
    join(&mut out.source, &b.source, &mut differ)?;
    join(&mut out.destination, &b.destination, &mut differ)?;
    join(&mut out.source_port, &b.source_port, &mut differ)?;
    join(&mut out.destination_port, &b.destination_port, &mut differ)?;
    join(&mut out.ecn, &b.ecn, &mut differ)?;
    join(&mut out.conditioner, &b.conditioner, &mut differ)?;
    join(&mut out.traffic, &b.traffic, &mut differ)?;
    (differ == 1 && a.rtt == b.rtt).then_some(out)
}

fn join<T: Clone + PartialEq>(a: &mut Vec<T>, b: &[T], differ: &mut u32) -> Option<()> {
    if a == b {
        return Some(());
    }
    *differ += 1;
    let fits = !a.is_empty() && !b.is_empty() && *differ == 1;
    a.extend(b.iter().filter(|it| !a.contains(it)).cloned().collect::<Vec<_>>());
    fits.then_some(())
}
