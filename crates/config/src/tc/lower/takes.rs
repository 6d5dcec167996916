//! Which packets go to which class: filters, then priorities.

use super::overlap::{hides, version};
use super::{Ends, Making, wrong_class};
use crate::model::{Class, Filter};
use crate::tc::actions::{Act, Action, Control};
use crate::tc::bands;
use crate::tc::filters::{Protocol, Sorter};
use crate::tc::htb;
use crate::tc::kernel::Qdisc;
use crate::tc::units::shown;
use crate::unions::Union;
use crate::value::WithOrigin;
use perhop_core::classify::{Match, Prefix, Protocol as Number};
use perhop_core::dscp::Dscp;
use perhop_core::params::Place;
use std::collections::{HashMap, HashSet};

/// The most filters of which each is held against all before it.
const COMPARED: usize = 128;

/// Some filters in a row with the same end.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) any: Vec<Match>,
    pub(super) place: Place,
}

/// The filters of a queueing discipline while they are given to its classes.
struct Giving<'k, 'a> {
    of: &'k Qdisc<'a>,
    /// The places of its classes, by their numbers and whether they are leaves.
    places: HashMap<(u32, bool), usize>,
    /// Some that a filter may lead to.
    some: String,
    /// Those that come before, with the names of their classes, and whether something meters their packets.
    before: Vec<(&'k Sorter<'a>, String, bool)>,
}

impl<'k, 'a> Making<'_, 'k, 'a> {
    /// Gives the filters of a queueing discipline to its classes; true: one takes all that is left.
    pub(super) fn takes(&mut self, it: &'k Qdisc<'a>, ids: &[u32], classes: &mut [Class]) -> bool {
        if let Some(Ends { names, .. }) = &self.course {
            for (id, class) in ids.iter().zip(classes) {
                let Some(names) = names.get(id).filter(|it| !it.is_empty()) else { continue };
                self.order += 1;
                let matches = Match { conditioner: names.clone(), ..Match::default() };
                let matches = WithOrigin::assumed("the course of packets through all filters", matches);
                class.takes = vec![Filter { order: self.order, matches }];
            }
            return false;
        }
        let interface = self.interface;
        let filters: Vec<_> = match interface.led.get(&it.handle) {
            Some(led) => led.iter().collect(),
            None => interface.filters.get(&it.handle).into_iter().flat_map(|list| list.iter()).collect(),
        };
        let parents: HashSet<_> = classes.iter().filter_map(|class| class.parent).collect();
        let ids: Vec<_> = ids.iter().enumerate().map(|(i, id)| (*id, !parents.contains(&i))).collect();
        let places = ids.iter().enumerate().map(|(i, it)| (*it, i)).collect();
        let some: Vec<_> = ids.iter().filter(|it| it.1).map(|it| format!("flowid {}", shown(it.0))).take(3).collect();
        let mut giving = Giving { of: it, places, some: some.join(", or "), before: Vec::new() };
        self.chosen(&giving, classes);
        let filters = self.asked(filters, true);
        let mut rest = &filters[..];
        while let Some(filter) = rest.first() {
            let alike = |other: &&&Sorter<'_>| {
                other.target.map(|it| it.0) == filter.target.map(|it| it.0) && self.same_end(filter, other)
            };
            let many = 1 + rest[1..].iter().take_while(alike).count();
            let (run, left) = rest.split_at(many);
            rest = left;
            if self.lead(&mut giving, run, classes) {
                return true;
            }
        }
        false
    }

    /// Packets whose class an action said before.
    fn chosen(&mut self, giving: &Giving<'k, 'a>, classes: &mut [Class]) {
        let all = std::mem::take(&mut self.chosen);
        for (id, run, lines) in all {
            let Some(place) = giving.places.get(&(id, true)) else {
                self.chosen.push((id, run, lines));
                continue;
            };
            for matches in run.any {
                self.order += 1;
                classes[*place].takes.push(Filter { order: self.order, matches: WithOrigin::at(run.place, matches) });
            }
        }
    }

    /// Those that packets ever come to.
    pub(super) fn asked(&mut self, filters: Vec<&'k Sorter<'a>>, by_class: bool) -> Vec<&'k Sorter<'a>> {
        let mut kept: Vec<&Sorter<'a>> = Vec::new();
        for it in filters {
            let ends = |other: &&&Sorter<'_>| by_class || other.actions.iter().all(Action::ends);
            match kept.iter().take(COMPARED).filter(ends).find(|other| hides(other, it)) {
                None => kept.push(it),
                Some(other) if other.target == it.target && self.same_end(other, it) => {}
                Some(other) => self.hidden(other, it),
            }
        }
        kept
    }

    fn hidden(&mut self, before: &Sorter<'a>, it: &Sorter<'a>) {
        let message =
            format!("this filter is never asked: the filter of prio {} before it takes all its packets", before.prio);
        self.log.nearly(&it.lines, "it is never asked: a filter before it takes all its packets");
        self.log.found("W404", it.place, message, "remove one of the two, or give this one the lower prio");
    }

    /// Gives some filters in a row to their class; true: it takes all that is left.
    fn lead(&mut self, giving: &mut Giving<'k, 'a>, run: &[&'k Sorter<'a>], classes: &mut [Class]) -> bool {
        for it in run {
            it.rule.code_points().iter().for_each(|what| self.log.noted(&it.lines, what));
        }
        let first = run[0];
        let Some(found) = self.run(run) else { return false };
        self.sorts |= first.target.is_some();
        let lines: Vec<_> = run.iter().flat_map(|it| &it.lines).copied().collect();
        let named = first.target.map(|(id, place)| (self.numbered(giving.of, (id, place), &lines), place));
        let target = named.or_else(|| Some((unaimed(giving.of, first)?, first.place)));
        let Some((id, place)) = target else {
            self.meters(first, &found, "");
            if first.actions.is_empty() {
                self.log.lost(&lines, "it names no class");
            }
            return false;
        };
        let Some(place_of) = self.place_of((id, place), giving, &lines) else { return false };
        let name = if named.is_some() { shown(id) } else { String::new() };
        let class = &mut classes[place_of];
        let limited = named.is_some() && self.limited(giving.of, first, class);
        let metered = !limited && self.metered(first, &found, &name, giving);
        giving.before.extend(run.iter().map(|it| (*it, name.clone(), metered)));
        let all = found.any.contains(&Match::default());
        class.rest |= all;
        for matches in found.any.into_iter().filter(|_| !all) {
            if !is_known(&matches, class) {
                self.order += 1;
                class.takes.push(Filter { order: self.order, matches: WithOrigin::at(found.place, matches) });
            }
        }
        all
    }

    /// What meters the packets of a class, behind what lets pass those that a filter before it takes; whether there is anything.
    fn metered(&mut self, it: &Sorter<'a>, found: &Run, name: &str, giving: &mut Giving<'k, 'a>) -> bool {
        if !it.actions.iter().any(Action::alters) {
            self.meters(it, found, name);
            return false;
        }
        if giving.before.len() > COMPARED {
            self.log.nearly(
                &it.lines,
                "what filters before it take may meet this policer too: there are too many to compare",
            );
        }
        for i in 0..giving.before.len().min(COMPARED) {
            let (before, name, done) = &mut giving.before[i];
            let meets = before.rule.any.iter().any(|own| found.any.iter().any(|other| own.meets(other)));
            if !*done && meets {
                *done = true;
                let (before, name) = (*before, name.clone());
                if let Some(run) = self.run(&[before]) {
                    self.passes(&run, &name);
                }
            }
        }
        self.meters(it, found, name);
        true
    }

    /// The number of the class that a filter names. `prio_classify` and `ets_classify` look at the minor number alone; where there is no
    /// such band, the packet is in that of priority 0.
    fn numbered(&mut self, of: &Qdisc<'a>, (id, place): (u32, Place), lines: &[usize]) -> u32 {
        if !matches!(&*of.name.text, "prio" | "ets") {
            return id;
        }
        let band = id & 0xffff;
        if (1..=bands::many(of)).contains(&band) {
            return of.handle | band;
        }
        let taken = of.handle | bands::of_priority_0(of);
        let message =
            format!("`{}` has no band {}: the filter's packets go to {}", of.name.text, shown(id), shown(taken));
        self.log.noted(lines, &message);
        self.log.found("W401", place, message, &format!("flowid {}", shown(taken)));
        taken
    }

    /// The place of the class that a filter leads to. One that is not there, or has classes below it, stands for the `default`.
    fn place_of(&mut self, (id, place): (u32, Place), giving: &Giving<'k, 'a>, lines: &[usize]) -> Option<usize> {
        if let Some(found) = giving.places.get(&(id, true)) {
            return Some(*found);
        }
        let is_own = id == giving.of.handle && giving.of.name.text == "htb";
        let wrong = match is_own {
            true => "is HTB itself: they pass all classes unshaped",
            false => wrong_class(giving.places.contains_key(&(id, false))),
        };
        let message = format!("the filter sends packets to {}, which {wrong}", shown(id));
        let default = htb::default_class(giving.of).filter(|_| !is_own);
        let default = default.and_then(|it| giving.places.get(&(it.0, true)).copied());
        match default {
            Some(_) => self.log.noted(lines, &format!("{message}: they go to the default")),
            None => self.log.lost(lines, &message),
        }
        self.log.found("W401", place, message, &giving.some);
        default
    }

    /// What filters in a row take; `None`: nothing that perhop has, or nothing that it can say.
    pub(super) fn run(&mut self, filters: &[&'k Sorter<'a>]) -> Option<Run> {
        let mut any: Vec<(Match, Protocol)> = Vec::new();
        for it in filters {
            it.rule.nearly.iter().for_each(|how| self.log.nearly(&it.lines, how));
            it.rule.lost.iter().for_each(|why| self.log.lost(&it.lines, why));
            if it.protocol.is_other() {
                self.log.nearly(&it.lines, "perhop has only IP packets");
            } else if it.rule.lost.is_empty() {
                for matches in &it.rule.any {
                    if is_of_bytes(it, matches) {
                        self.log.nearly(&it.lines, OF_BYTES);
                    }
                    any.push((self.tagged(it, matches), of_protocol(it, matches)));
                }
            }
        }
        let place = Place { start: filters[0].place.start, end: filters[0].place.end };
        let any = match self.versions {
            true => any.iter().map(|(matches, protocol)| version(*protocol, matches)).collect(),
            false => versions(any),
        };
        let any = merged(any);
        (!any.is_empty()).then_some(Run { any, place })
    }

    /// What a filter by a mark takes: a mark that a conditioner of the port has set is that conditioner.
    fn tagged(&mut self, it: &Sorter<'a>, matches: &Match) -> Match {
        let Some((mark, mask)) = it.rule.mark else { return matches.clone() };
        let conditioner = self.tags.names(mark, mask);
        match conditioner.is_empty() {
            true => Match { traffic: vec![marked(mark, mask)], ..matches.clone() },
            false => Match { conditioner, ..matches.clone() },
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
                Some(place) => WithOrigin::at(place, matches),
                None => WithOrigin::assumed("tc-prio(8): the priomap, and the priority of a code point", matches),
            };
            class.takes.push(Filter { order: self.order, matches });
        }
    }
}

/// The class of what a filter takes that has actions and names no class: it is not asked for again, and the priority of a packet does
/// not count. `prio_classify` and `ets_classify` take the band of priority 0, `htb_classify` and `hfsc_classify` the default class.
fn unaimed(of: &Qdisc<'_>, filter: &Sorter<'_>) -> Option<u32> {
    let passes = |action: &Action<'_>| action.ends() && matches!(action.then, Control::Ok | Control::Pipe);
    let chooses = |action: &Action<'_>| matches!(action.act, Act::Priority(_) | Act::Redirect(_));
    let actions = &filter.actions;
    if actions.is_empty() || !actions.iter().all(passes) || actions.iter().any(chooses) {
        return None;
    }
    match &*of.name.text {
        "prio" | "ets" => Some(of.handle | bands::of_priority_0(of)),
        _ => htb::default_class(of).map(|it| it.0),
    }
}

/// What is said of a filter that looks at other bytes of other packets.
pub(super) const OF_BYTES: &str = "`protocol all` with fields of one protocol: which packets of others have such bytes at their places is not modelled";

/// Whether a filter compares bytes at places where packets of other protocols have other fields.
pub(super) fn is_of_bytes(it: &Sorter<'_>, matches: &Match) -> bool {
    it.asked == Protocol::All && matches!(&*it.kind, "u32" | "basic") && *matches != Match::default()
}

/// The packets that a match is of.
pub(super) fn of_protocol(it: &Sorter<'_>, matches: &Match) -> Protocol {
    if is_of_bytes(it, matches) && it.protocol == Protocol::All { Protocol::Ip } else { it.protocol }
}

/// Whether a class takes some packets already; what IPv6 adds to all packets is nothing.
fn is_known(matches: &Match, class: &Class) -> bool {
    let six = matches.source.len() == 1 && matches.source[0].0.prefix_len() == 0;
    let any = Match { source: Vec::new(), ..matches.clone() };
    class.takes.iter().take(COMPARED).any(|it| it.matches.is == *matches || (six && it.matches.is == any))
}

/// The traffic with a mark, which no header has. A mask of the lowest bits alone leaves the mark as it is.
pub(super) fn marked(mark: u64, mask: u64) -> String {
    if (mask + 1).is_power_of_two() { format!("mark-{mark}") } else { format!("mark-{mark}-of-{mask}") }
}

/// A filter of IPv6 alone asks for that, unless one of IPv4 asks the same.
fn versions(any: Vec<(Match, Protocol)>) -> Vec<Match> {
    let four: Vec<_> = any.iter().filter(|it| it.1 != Protocol::Ip6).map(|it| it.0.clone()).collect();
    let mut out: Vec<Match> = Vec::new();
    for (mut matches, protocol) in any {
        let addressed =
            !matches.source.is_empty() || !matches.destination.is_empty() || matches.protocol == [Number(58)];
        if protocol == Protocol::Ip6 && !addressed {
            if four.iter().take(COMPARED).any(|it| *it == matches) {
                continue;
            }
            matches.source.extend("::/0".parse().ok().map(Prefix));
        }
        if out.len() > COMPARED || !out.contains(&matches) {
            out.push(matches);
        }
    }
    out
}

/// Matches that differ in one list are one match with both lists.
fn merged(any: Vec<Match>) -> Vec<Match> {
    let mut out: Vec<Union> = Vec::new();
    for matches in any {
        let mut one = Union::from(matches);
        while let Some((place, list)) = near(&out, &one) {
            let mut known = out.remove(place);
            known.extend(list, one.matches);
            one = known;
        }
        out.push(one);
    }
    let mut out: Vec<_> = out.into_iter().map(|it| it.matches).collect();
    out.iter_mut().for_each(ported);
    both_versions(out)
}

/// Addresses of IPv4 and of IPv6 of what is else the same are one match: no packet has one of each.
fn both_versions(all: Vec<Match>) -> Vec<Match> {
    let mut out: Vec<Match> = Vec::new();
    for matches in all {
        let from = out.len().saturating_sub(NEAR);
        match out[from..].iter_mut().find(|other| is_other_version(other, &matches)) {
            Some(other) => {
                other.source.extend(matches.source);
                other.destination.extend(matches.destination);
            }
            None => out.push(matches),
        }
    }
    out
}

fn is_other_version(a: &Match, b: &Match) -> bool {
    let is_six = |it: &Match| {
        let mut all = it.source.iter().chain(&it.destination).map(|prefix| prefix.0.addr().is_ipv6());
        let first = all.next()?;
        (all.all(|it| it == first) && !it.source.is_empty() && !it.destination.is_empty()).then_some(first)
    };
    let bare = |it: &Match| Match { source: Vec::new(), destination: Vec::new(), ..it.clone() };
    is_six(a).zip(is_six(b)).is_some_and(|(a, b)| a != b) && bare(a) == bare(b)
}

/// The place of one that can be joined with another, among the last, and the only list in which they differ; neither leaves it open.
fn near(out: &[Union], one: &Union) -> Option<(usize, usize)> {
    let from = out.len().saturating_sub(NEAR);
    let list = |other: &Union| other.differs(one).filter(|list| !other.is_open(*list) && !one.is_open(*list));
    out[from..].iter().enumerate().rev().find_map(|(at, other)| Some((at + from, list(other)?)))
}

/// How many matches are held against a new one.
const NEAR: usize = 64;

/// Ports of TCP and UDP are those of any protocol that has ports.
fn ported(matches: &mut Match) {
    let asks = !matches.source_port.is_empty() || !matches.destination_port.is_empty();
    if asks && matches.protocol.len() == 2 && [6, 17].iter().all(|it| matches.protocol.contains(&Number(*it))) {
        matches.protocol.clear();
    }
}
