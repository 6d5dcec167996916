//! W321 and W322: profiles and classes that no packet reaches, code points never sent, and traffic that falls to
//! a last profile or class which names other packets.
//!
//! A queue or a conditioner may stand at several ports, also as copies of a series: what arrives at any of them counts.
//! Whoever names a code point of an AF class that is in use may name the others of that class too.
//!
//! Decision: docs/decisions/015-check-walks-each-route.md

use crate::resolve::arriving::{Arriving, Look};
use crate::resolve::ports::{File, Resolved, Stage, names, of_each};
use crate::resolve::reaching::{self, Lists};
use crate::resolve::topology::Direction;
use perhop_core::aqm::members::Member;
use perhop_core::dscp::Dscp;
use perhop_core::packet::Colour;
use perhop_core::params::{Located, Place, Places, Problems};
use std::collections::{BTreeMap, BTreeSet};

/// Looks at every queue, scheduler and match, once it is known what arrives there.
pub fn check(all: Resolved<'_>, problems: &mut Problems) {
    if !all.arrivals.complete {
        return;
    }
    let mut groups = BTreeMap::new();
    for (direction, arriving) in all.file.topology.links.iter().zip(&all.arrivals.queues) {
        port(direction, arriving, &mut groups);
    }
    groups.into_values().for_each(|group| group.warn(all.file, problems));
    for (stages, arriving) in of_each(all.stages, all.arrivals) {
        let passing = arriving.iter().flat_map(|it| it.passing.iter().copied()).collect();
        matches(all.file, stages, &passing, problems);
    }
}

/// Lists of members as a file states them, by place: the same section at several ports is one.
type Groups<'a> = BTreeMap<(usize, usize), Group<'a>>;

/// The schedulers of a port and each of its queues.
fn port<'a>(direction: &'a Direction, arriving: &[Arriving], groups: &mut Groups<'a>) {
    let nodes = reaching::at_nodes(direction, arriving);
    let queues = reaching::at_queues(direction, &nodes, arriving);
    let schedulers = direction.nodes.iter().zip(&nodes);
    let schedulers = schedulers.filter_map(|(node, arriving)| Some((node.scheduler.as_ref()?, arriving)));
    for (scheduler, arriving) in schedulers {
        let mut shown = Vec::new();
        scheduler.show(&mut shown);
        Lists::find(shown).into_iter().for_each(|it| add(it, &scheduler.places, direction, arriving, groups));
    }
    for (queue, arriving) in direction.queues.iter().zip(&queues) {
        let mut shown = Vec::new();
        queue.queue.aqm.show(&mut shown);
        Lists::find(shown).into_iter().for_each(|it| add(it, &queue.queue.aqm.places, direction, arriving, groups));
    }
}

fn add<'a>(lists: Lists, places: &'a Places, direction: &'a Direction, arriving: &[Arriving], groups: &mut Groups<'a>) {
    let place = places.at(lists.key);
    let port = &direction.name;
    let group = groups.entry((place.start, place.end));
    let group = group.or_insert_with(|| Group { lists, places, port, arriving: Vec::new() });
    group.arriving.extend(arriving.iter().cloned());
}

fn is_of(look: Look, member: Member) -> bool {
    match member {
        Member::Colour(colour) => look.colour == colour,
        Member::Dscp(dscp) => look.dscp == dscp,
    }
}

/// Lists of one place in the file, with what arrives at all ports that have them.
struct Group<'a> {
    lists: Lists,
    places: &'a Places,
    /// The first port.
    port: &'a str,
    arriving: Vec<Arriving>,
}

impl Group<'_> {
    fn warn(&self, file: File<'_>, problems: &mut Problems) {
        let looks: BTreeSet<_> = self.arriving.iter().flat_map(|it| it.looks.iter().copied()).collect();
        if !self.arriving.iter().any(|it| !it.acks && !it.looks.is_empty()) {
            return;
        }
        for (i, members) in self.lists.members.iter().enumerate().filter(|(_, members)| !members.is_empty()) {
            let place = self.places.at(&format!("{}.{}.for", self.lists.key, self.lists.numbers[i]));
            if looks.iter().any(|look| self.lists.of(*look) == i) {
                self.unsent(members, place, &looks, problems);
            } else {
                self.unreached(i, place, &looks, problems);
            }
        }
        self.falls(file, problems);
    }

    /// `profile 2`
    fn name(&self, i: usize) -> String {
        let noun = if self.lists.key == "profiles" { "profile" } else { "class" };
        format!("{noun} {}", i + 1)
    }

    fn unreached(&self, i: usize, place: Place, looks: &BTreeSet<Look>, problems: &mut Problems) {
        let members = &self.lists.members[i];
        let (name, at) = (self.name(i), self.port);
        let message = match looks.iter().find(|look| members.iter().any(|member| is_of(**look, *member))) {
            None => format!("no packet reaches {name} at `{at}`: none arrives as {}", either(members)),
            Some(look) => {
                let first = self.name(self.lists.of(*look));
                format!("no packet reaches {name} at `{at}`: {first} takes those that arrive as {}", either(members))
            }
        };
        let help =
            self.meant(members, looks).unwrap_or_else(|| "remove the entry, or give packets that mark upstream".into());
        problems.warn("W321", place, message).label(arrive(members, looks)).help(help);
    }

    /// A code point in a list that packets do reach.
    fn unsent(&self, members: &[Member], place: Place, looks: &BTreeSet<Look>, problems: &mut Problems) {
        let codes: Vec<_> =
            members.iter().filter_map(|m| if let Member::Dscp(dscp) = m { Some(*dscp) } else { None }).collect();
        let sent = looks.iter().map(|look| look.dscp).collect();
        for dscp in unsent(&codes, &sent) {
            let message = format!("no packet arrives as {dscp} at `{}`", self.port);
            let member = [Member::Dscp(dscp)];
            let help = self
                .meant(&member, looks)
                .unwrap_or_else(|| "remove the entry, or give packets that mark upstream".into());
            problems.warn("W321", place, message).label(arrive(&member, looks)).help(help);
        }
    }

    /// What may be meant by a code point never sent: one of its drop precedence that arrives and that no list names.
    fn meant(&self, members: &[Member], looks: &BTreeSet<Look>) -> Option<String> {
        let named = |dscp: Dscp| self.lists.members.iter().flatten().any(|member| *member == Member::Dscp(dscp));
        let like = |dscp: Dscp| members.iter().any(|m| matches!(m, Member::Dscp(own) if own.colour() == dscp.colour()));
        let free = |dscp: &Dscp| *dscp != Dscp::BE && !named(*dscp) && like(*dscp);
        let free: BTreeSet<_> = looks.iter().map(|look| look.dscp).filter(free).collect();
        let free: Vec<_> = free.iter().map(|dscp| format!("`{dscp}`")).collect();
        (!free.is_empty()).then(|| format!("did you mean {}, which no other entry names?", free.join(" or ")))
    }

    /// W322: data that only the last takes, by default, though the last names other packets. An unmarked packet in a
    /// list by colours counts as the last drop precedence.
    fn falls(&self, file: File<'_>, problems: &mut Problems) {
        let Some((last, others)) = self.lists.members.split_last().filter(|(last, _)| !last.is_empty()) else { return };
        let by_colour = last.iter().any(|member| matches!(member, Member::Colour(_)));
        let named = |look: &Look| others.iter().chain([last]).flatten().any(|member| is_of(*look, *member));
        let meant = |look: &Look| named(look) || by_colour && look.colour == Colour::Unmarked;
        let mut found = BTreeMap::<&str, BTreeSet<Look>>::new();
        for it in self.arriving.iter().filter(|it| !it.acks) {
            let fallen: BTreeSet<_> = it.looks.iter().copied().filter(|look| !meant(look)).collect();
            if !fallen.is_empty() {
                found.entry(&file.traffic[it.traffic].offered.name).or_default().extend(fallen);
            }
        }
        let Some((traffic, looks)) = found.first_key_value() else { return };
        let i = others.len();
        let falls = match found.len() {
            1 => "falls".to_owned(),
            n => format!("and {} more fall", n - 1),
        };
        let message = format!("traffic `{traffic}` {falls} to {} at `{}`", self.name(i), self.port);
        let label = format!("the entry is for {}, and the traffic arrives as {}", either(last), list(looks));
        let help = "add its mark to the `for` of the right entry, or end the list with an entry without `for`";
        let place = self.places.at(&format!("{}.{}.for", self.lists.key, self.lists.numbers[i]));
        problems.warn("W322", place, message).label(label).help(help);
    }
}

/// W321 for the code points of a conditioner's match; one that takes nothing has its own warning.
fn matches(file: File<'_>, stages: &[Stage], passing: &BTreeSet<Dscp>, problems: &mut Problems) {
    let Some(section) = stages.first().and_then(|stage| file.model.conditioners.get(&stage.name)) else { return };
    let Some(stated) = section.placement.matches.as_ref() else { return };
    if stages.iter().all(|stage| stage.takes.is_empty()) {
        return;
    }
    for dscp in unsent(&stated.dscp, passing) {
        let i = stated.dscp.iter().position(|known| *known == dscp).unwrap_or_default();
        let message = format!("no packet that `{}` could take arrives as {dscp}", stages[0].name);
        let label = format!("what arrives: {}", names(passing));
        let help = "remove the entry, or give packets that mark upstream";
        problems.warn("W321", place(stated, i), message).label(label).help(help);
    }
}

/// The place of a match's code point.
fn place<P>(stated: &Located<P>, i: usize) -> Place {
    stated.place(&format!("dscp.{i}"))
}

/// Code points never sent, except those of an AF class of which another is sent and named.
fn unsent(named: &[Dscp], sent: &BTreeSet<Dscp>) -> Vec<Dscp> {
    let class = |dscp: Dscp| (dscp.colour() != Colour::Unmarked).then_some(dscp.get() >> 3);
    let used = |dscp: &Dscp| sent.contains(dscp);
    let kin =
        |dscp: Dscp| class(dscp).is_some_and(|own| named.iter().any(|other| used(other) && class(*other) == Some(own)));
    named.iter().copied().filter(|dscp| !used(dscp) && !kin(*dscp)).collect()
}

/// `AF21 or green`
fn either(members: &[Member]) -> String {
    let name = |member: &Member| match member {
        Member::Colour(colour) => colour.name().to_owned(),
        Member::Dscp(dscp) => dscp.to_string(),
    };
    members.iter().map(name).collect::<Vec<_>>().join(" or ")
}

/// `what arrives: AF11, AF12`, with colours if these count.
fn arrive(members: &[Member], looks: &BTreeSet<Look>) -> String {
    let by_colour = members.iter().any(|member| matches!(member, Member::Colour(_)));
    let what = if by_colour { list(looks) } else { names(&looks.iter().map(|look| look.dscp).collect()) };
    format!("what arrives: {what}")
}

/// `AF11, BE (green)`: a colour where the code point does not imply it.
fn list(looks: &BTreeSet<Look>) -> String {
    let name = |look: &Look| match look.colour {
        Colour::Unmarked => look.dscp.to_string(),
        colour if colour == look.dscp.colour() => look.dscp.to_string(),
        colour => format!("{} ({})", look.dscp, colour.name()),
    };
    looks.iter().map(name).collect::<Vec<_>>().join(", ")
}
