//! W305 and W306: conditioners that have nothing to do.
//!
//! Why one takes nothing: all data goes the other way, conditioners before it at its port take what it would, or its match means
//! nothing that passes.

use crate::resolve::arriving::{Arriving, AtGate, Takes, takes};
use crate::resolve::ports::{File, Resolved, Stage, names, of_each};
use perhop_core::params::{Problems, key};
use std::collections::BTreeSet;

/// So many names are listed.
const MOST: usize = 3;

/// Looks at every conditioner.
pub fn check(all: Resolved<'_>, problems: &mut Problems) {
    for (stages, arriving) in of_each(all.stages, all.arrivals) {
        match stages.first() {
            None => {}
            Some(first) if !stages.iter().any(|it| all.file.crossing.either(it.link).next().is_some()) => {
                unpassed(all.file, first, problems);
            }
            Some(first) if all.arrivals.complete && stages.iter().all(Stage::is_idle) => {
                Idle { all, first, stages, arriving }.warn(problems);
            }
            Some(_) => {}
        }
    }
}

/// W306
fn unpassed(file: File<'_>, stage: &Stage, problems: &mut Problems) {
    let message = format!("no traffic passes the port of conditioner `{}`", stage.name);
    let help = match opposite(file, stage.link, false) {
        Some(port) => format!("the data goes the other way: at = {port:?}"),
        None => "put the conditioner on a link that traffic uses".to_owned(),
    };
    problems.warn("W306", stage.keys.at, message).help(help);
}

/// The other direction of a link, if data passes it, or ACKs.
fn opposite(file: File<'_>, link: usize, acks: bool) -> Option<&str> {
    let links = &file.topology.links;
    let ends = (links[link].to, links[link].from);
    let other = links.iter().position(|it| (it.from, it.to) == ends)?;
    let passes = if acks { file.crossing.acks(other).next() } else { file.crossing.data(other).next() };
    passes.map(|_| links[other].name.as_str())
}

/// A conditioner that takes nothing of what it is for.
struct Idle<'a> {
    all: Resolved<'a>,
    first: &'a Stage,
    /// At all its ports.
    stages: &'a [Stage],
    arriving: &'a [AtGate],
}

impl<'a> Idle<'a> {
    fn warn(&self, problems: &mut Problems) {
        let (first, Words { noun, s }) = (self.first, self.serves());
        let message = format!("conditioner `{}` takes no traffic's {noun}", first.name);
        let section = self.all.file.model.conditioners.get(&first.name);
        let at_match = section.map_or(first.keys.kind, |section| section.places.at("match"));
        let before = self.before();
        let (place, [label, help]) = if self.comes().next().is_none() {
            (first.keys.at, self.reverse())
        } else if before.is_empty() {
            let what = self.listed(self.comes().map(|it| it.traffic));
            let label = format!("the {noun} of {what} pass{s} `{}`{}", self.port(), self.codes());
            (at_match, [label, "change `match` or `at`: the match means none of what passes the port".to_owned()])
        } else {
            let earlier = list(before.iter().map(|stage| stage.name.as_str()));
            let take = if before.len() == 1 { "takes" } else { "take" };
            let label = format!("at `{}`, {earlier} {take} these packets before it{}", self.port(), self.codes());
            let move_up = format!("move [conditioner.{}] above {earlier}", key(&first.name));
            (at_match, [label, format!("{move_up}: conditioners of a port act in the order of the file")])
        };
        problems.warn("W305", place, message).label(label).help(help);
    }

    /// What it is for.
    fn serves(&self) -> Words {
        if self.first.serves_acks() { Words::ACKS } else { Words::DATA }
    }

    /// What passes where it is for passes the other way.
    fn reverse(&self) -> [String; 2] {
        let Words { noun, s } = self.serves();
        let others = if self.first.serves_acks() { Words::DATA } else { Words::ACKS };
        let what = self.listed(self.passing());
        let label = format!("only the {} of {what} pass{} `{}`", others.noun, others.s, self.port());
        let help = match opposite(self.all.file, self.first.link, self.first.serves_acks()) {
            Some(port) => format!("the {noun} go{s} the other way: at = {port:?}"),
            None => format!("put the conditioner at a port that the {noun} pass{s}"),
        };
        [label, help]
    }

    /// The port, or the first of several.
    fn port(&self) -> &str {
        &self.all.file.topology.links[self.first.link].name
    }

    /// What it is for of all that comes to its ports, before any conditioner there.
    fn comes(&self) -> impl Iterator<Item = &'a Arriving> {
        let (acks, arrivals) = (self.first.serves_acks(), self.all.arrivals);
        let at = |stage: &'a Stage| arrivals.ports[stage.link].iter();
        self.stages.iter().flat_map(at).filter(move |it| it.acks == acks)
    }

    /// All traffic that comes to its ports.
    fn passing(&self) -> impl Iterator<Item = usize> {
        let arrivals = self.all.arrivals;
        self.stages.iter().flat_map(|stage| &arrivals.ports[stage.link]).map(|it| it.traffic)
    }

    /// The conditioners before it that take what its match means by itself.
    fn before(&self) -> Vec<&'a Stage> {
        let earlier = |own: &'a Stage| {
            let here = self.all.stages.iter().filter(|stage| stage.link == own.link);
            here.take_while(|stage| !std::ptr::eq(*stage, own))
        };
        // What has passed a conditioner that the match names is behind it in any case.
        let meant = |own: &Stage, it: &Arriving| {
            own.spec.matches.conditioner.is_empty()
                && it.looks.iter().any(|look| takes(&own.spec.matches, &it.ends, *look) != Takes::None)
        };
        let acks = self.first.serves_acks();
        let mut found = Vec::new();
        for own in self.stages {
            let here = self.all.arrivals.ports[own.link].iter().filter(|it| it.acks == acks);
            for it in here.filter(|it| meant(own, it)) {
                let takes = |stage: &&Stage| {
                    if acks { stage.takes_acks_of(it.traffic) } else { stage.takes_data(it.traffic) }
                };
                found.extend(earlier(own).filter(takes));
            }
        }
        found.sort_by_key(|stage| stage.number());
        found.dedup_by_key(|stage| &stage.name);
        found
    }

    /// The code points that pass, where its match asks for some.
    fn codes(&self) -> String {
        let passing: BTreeSet<_> = self.arriving.iter().flat_map(|it| it.passing.iter().copied()).collect();
        let asks = !self.first.spec.matches.dscp.is_empty() && !passing.is_empty();
        if asks { format!(", as {}", names(&passing)) } else { String::new() }
    }

    fn listed(&self, traffic: impl Iterator<Item = usize>) -> String {
        let names: BTreeSet<_> = traffic.collect();
        let mut names: Vec<_> = names.into_iter().map(|i| self.all.file.traffic[i].offered.name.as_str()).collect();
        names.dedup();
        list(names.into_iter())
    }
}

/// Packets in sentences.
struct Words {
    noun: &'static str,
    /// The ending of a verb behind the noun.
    s: &'static str,
}

impl Words {
    const DATA: Self = Self { noun: "data", s: "es" };
    const ACKS: Self = Self { noun: "ACKs", s: "" };
}

/// `` `a`, `b` and 3 more ``
fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<_> = names.map(|name| format!("`{name}`")).collect();
    match names.split_at_checked(MOST) {
        Some((first, rest)) if !rest.is_empty() => format!("{} and {} more", first.join(", "), rest.len()),
        _ => match names.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
            None => String::new(),
        },
    }
}
