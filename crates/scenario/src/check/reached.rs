//! W321 and W322: profiles and classes that no packet reaches, code points never sent, and traffic that falls to
//! a last profile or class which names other packets.
//!
//! A queue or a conditioner may stand at several ports, also as copies of a series: what arrives at any of them counts.
//! Whoever names a code point of an AF class that is in use may name the others of that class too.
//!
//! Decision: docs/decisions/015-check-walks-each-route.md

use crate::resolve::arriving::{Arriving, Ends, Look, Takes, packet};
use crate::resolve::ports::{File, Resolved, Stage, names, of_each};
use crate::resolve::reaching::{self, Lists};
use crate::resolve::topology::Direction;
use perhop_core::aqm::members::{Cover, Covered, Member, asks};
use perhop_core::classify::{FlowHeaders, Index, Match, Relation};
use perhop_core::dscp::Dscp;
use perhop_core::packet::Colour;
use perhop_core::params::{CLASS, ClassName, Located, Part, Place, Places, Problems};
use perhop_core::units::Span;
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

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
        Lists::of_scheduler(scheduler, &direction.conditioners)
            .into_iter()
            .for_each(|it| add(it, &scheduler.places, direction, arriving, groups));
    }
    for (queue, arriving) in direction.queues.iter().zip(&queues) {
        let mut shown = Vec::new();
        queue.queue.aqm.show(&mut shown);
        Lists::find(shown, &direction.conditioners)
            .into_iter()
            .for_each(|it| add(it, &queue.queue.aqm.places, direction, arriving, groups));
    }
}

fn add<'a>(lists: Lists, places: &'a Places, direction: &'a Direction, arriving: &[Arriving], groups: &mut Groups<'a>) {
    let place = places.at(lists.key);
    let port = &direction.name;
    let group = groups.entry((place.start, place.end));
    let group = group.or_insert_with(|| Group {
        lists,
        packets: RefCell::default(),
        named: OnceCell::new(),
        places,
        port,
        arriving: Vec::new(),
        refused: BTreeMap::new(),
    });
    for (template, addresses) in group.lists.shares(arriving).1 {
        let known = group.refused.entry(template).or_default();
        *known = (*known).max(addresses);
    }
    group.arriving.extend(arriving.iter().cloned());
}

/// What arrives, packet by packet as far as they differ.
struct Packets {
    all: Vec<(Arc<Ends>, Look)>,
    index: Index,
    times: BTreeSet<Span>,
}

impl Packets {
    fn of(arriving: &[Arriving]) -> Self {
        let all = arriving.iter().flat_map(|it| it.looks.iter().map(move |look| (it.ends.clone(), *look)));
        let all: Vec<_> = all.collect();
        let mut index = Index::default();
        all.iter().for_each(|(ends, look)| index.add(&packet(ends, Some(*look))));
        let times = all.iter().filter_map(|it| it.0.headers.rtt).collect();
        Self { all, index, times }
    }
}

/// Lists of one place in the file, with what arrives at all ports that have them.
struct Group<'a> {
    lists: Lists,
    packets: RefCell<Option<Packets>>,
    /// Code points that entries name.
    named: OnceCell<BTreeSet<Dscp>>,
    places: &'a Places,
    /// The first port.
    port: &'a str,
    arriving: Vec<Arriving>,
    /// Addresses that find no class, by the table of their template: at the port where they are most.
    refused: BTreeMap<usize, u64>,
}

impl Group<'_> {
    fn warn(&self, file: File<'_>, problems: &mut Problems) {
        let looks: BTreeSet<_> = self.arriving.iter().flat_map(|it| it.looks.iter().copied()).collect();
        if !self.arriving.iter().any(|it| !it.acks && !it.looks.is_empty()) {
            return;
        }
        let filters = &self.lists.filters;
        let by_match = filters.iter().any(|filter| filter.matches.is_some());
        let reached = self.reached();
        let mut cover = Cover::new(filters);
        for (i, filter) in filters.iter().enumerate() {
            let Some(key) = filter.key() else { continue };
            if by_match && cover.is_unreachable(i) {
                continue;
            }
            let listed = filter.matches.as_ref().map_or_else(|| filter.members.clone(), code_points);
            match reached.contains(&i) {
                true => self.unsent(&listed, self.place(i, key), &looks, problems),
                false if key == "for" => self.unreached(i, &looks, problems),
                false => self.unmatched(i, problems),
            }
            self.covered((&mut cover, i), problems);
        }
        self.falls(file, problems);
        self.refused.iter().for_each(|(&table, &addresses)| self.crowded(table, addresses, problems));
    }

    /// W352
    fn crowded(&self, table: usize, addresses: u64, problems: &mut Problems) {
        let Some(template) = self.lists.template(table) else { return };
        let slots = u64::from(template.slots);
        let message = format!("{CLASS} has {slots} `slots`, and the load has {} addresses", slots + addresses);
        let label = format!("{addresses} addresses share one class, with the parameters of the last plan");
        let place = self.places.at(&format!("{}.{table}.slots", self.lists.key));
        let report = problems.warn("W352", place, message).of_class(ClassName::listed(table + 1));
        report.label(label).help(format!("raise `slots` to {}", slots + addresses));
    }

    /// The place of a key of the `i`-th.
    fn place(&self, i: usize, key: &str) -> Place {
        let (table, list) = (self.lists.numbers[i], self.lists.key);
        let plan = self.lists.plan(i).map(|(_, plan)| format!("plans.{plan}.")).unwrap_or_default();
        self.places.at(&format!("{list}.{table}.{plan}{key}"))
    }

    /// Those that some packet goes to.
    fn reached(&self) -> BTreeSet<usize> {
        let goes =
            |it: &Arriving| it.looks.iter().flat_map(|look| self.lists.goes(&it.ends, *look)).collect::<Vec<_>>();
        self.arriving.iter().flat_map(goes).collect()
    }

    /// The `i`-th, if it is a class.
    fn class(&self, i: usize) -> Option<ClassName> {
        let part = self.lists.plan(i).map(|(_, plan)| Part::Plan(plan + 1));
        let class = ClassName::Listed { number: self.lists.numbers[i] + 1, name: None, part };
        (self.lists.key != "profiles").then_some(class)
    }

    /// `profile 2`
    fn name(&self, i: usize) -> String {
        self.class(i).map_or_else(|| format!("profile {}", i + 1), |class| class.to_string())
    }

    /// What stands for it in a message about it.
    fn mark(&self, i: usize) -> String {
        if self.class(i).is_some() { CLASS.to_owned() } else { self.name(i) }
    }

    fn unreached(&self, i: usize, looks: &BTreeSet<Look>, problems: &mut Problems) {
        let (members, place) = (&self.lists.filters[i].members, self.place(i, "for"));
        let (name, at) = (self.mark(i), self.port);
        let message = match self.taken_before(i) {
            None => format!("no packet reaches {name} at `{at}`: none arrives as {}", either(members)),
            Some(first) => {
                let first = self.name(first);
                format!("no packet reaches {name} at `{at}`: {first} takes those that arrive as {}", either(members))
            }
        };
        let help =
            self.meant(members, looks).unwrap_or_else(|| "remove the entry, or give packets that mark upstream".into());
        problems.warn("W321", place, message).of_class(self.class(i)).label(arrive(members, looks)).help(help);
    }

    /// The entry that takes packets which the `i`-th would take.
    fn taken_before(&self, i: usize) -> Option<usize> {
        let mut packets = self.packets.borrow_mut();
        let Packets { all, index, times } = packets.get_or_insert_with(|| Packets::of(&self.arriving));
        let asked = asks(&self.lists.filters[i]);
        if asked.rtt.as_ref().is_some_and(|class| !times.iter().any(|rtt| class.holds(*rtt))) {
            return None;
        }
        let takes = |place: usize| self.lists.takes(i, &all[place].0, all[place].1) != Takes::None;
        let (ends, look) = &all[index.first(&asked, (Relation::Meets, all.len()), takes)?];
        self.lists.goes(ends, *look).first().copied()
    }

    /// W321 for a `match`.
    fn unmatched(&self, i: usize, problems: &mut Problems) {
        let (name, at) = (self.name(i), self.port);
        let (why, help) = match self.taken_before(i) {
            Some(first) => {
                let first = self.name(first);
                (format!("{first} takes all that its match agrees with"), format!("move {name} before {first}"))
            }
            None => {
                ("its match agrees with nothing that arrives".into(), "change its match, or remove the entry".into())
            }
        };
        let message = format!("no packet reaches {} at `{at}`: {why}", self.mark(i));
        let report = problems.warn("W321", self.place(i, "match"), message).of_class(self.class(i));
        report.label(arriving(&self.arriving)).help(help);
    }

    /// W350
    fn covered(&self, (cover, i): (&mut Cover<'_>, usize), problems: &mut Problems) {
        for Covered { key, index, value, by, .. } in cover.covered(i) {
            let (name, first) = (self.name(i), self.name(by));
            let path = if key == "for" { key.to_owned() } else { format!("match.{key}.{index}") };
            let whose = self.mark(i);
            let message = format!("{value} in `{key}` of {whose} has no effect: {first} takes all of its packets");
            let help = format!("remove it, or move {name} before {first}");
            problems.warn("W350", self.place(i, &path), message).of_class(self.class(i)).help(help);
        }
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
        let named = |dscp: Dscp| self.named.get_or_init(|| self.lists.codes()).contains(&dscp);
        let like = |dscp: Dscp| members.iter().any(|m| matches!(m, Member::Dscp(own) if own.colour() == dscp.colour()));
        let free = |dscp: &Dscp| *dscp != Dscp::BE && !named(*dscp) && like(*dscp);
        let free: BTreeSet<_> = looks.iter().map(|look| look.dscp).filter(free).collect();
        let free: Vec<_> = free.iter().map(|dscp| format!("`{dscp}`")).collect();
        (!free.is_empty()).then(|| format!("did you mean {}, which no other entry names?", free.join(" or ")))
    }

    /// W322: data that only the last takes, by default, though the last names other packets. An unmarked packet in a
    /// list by colours counts as the last drop precedence.
    fn falls(&self, file: File<'_>, problems: &mut Problems) {
        let Some((last, others)) = self.lists.filters.split_last() else { return };
        let Some(key) = last.key() else { return };
        let by_colour = last.members.iter().any(|member| matches!(member, Member::Colour(_)));
        let named = |ends: &Ends, look| {
            self.lists.likely(ends, look).into_iter().any(|i| self.lists.takes(i, ends, look) != Takes::None)
        };
        let meant = |ends: &Ends, look: &Look| named(ends, *look) || by_colour && look.colour == Colour::Unmarked;
        let mut found = BTreeMap::<&str, BTreeSet<Look>>::new();
        for it in self.arriving.iter().filter(|it| !it.acks) {
            let fallen: BTreeSet<_> = it.looks.iter().copied().filter(|look| !meant(&it.ends, look)).collect();
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
        let message = format!("traffic `{traffic}` {falls} to {} at `{}`", self.mark(i), self.port);
        let (label, help) = match key {
            "for" => {
                let label =
                    format!("the entry is for {}, and the traffic arrives as {}", either(&last.members), list(looks));
                (label, "add its mark to the `for` of the right entry, or end the list with an entry without `for`")
            }
            _ => {
                let fallen = self.arriving.iter().filter(|it| file.traffic[it.traffic].offered.name == **traffic);
                let label = format!("no `match` agrees with it; {}", arriving(&fallen.cloned().collect::<Vec<_>>()));
                (label, "match it in the right entry, or end the list with an entry without `match`")
            }
        };
        problems.warn("W322", self.place(i, key), message).of_class(self.class(i)).label(label).help(help);
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

/// The code points of a match.
fn code_points(matches: &Match) -> Vec<Member> {
    matches.dscp.iter().copied().map(Member::Dscp).collect()
}

/// Most arrivals that a message lists.
const SHOWN: usize = 3;

/// `what arrives: 10.0.1.1 > 10.0.2.1 as BE, and 3 more`
fn arriving(all: &[Arriving]) -> String {
    let name = |it: &Arriving| {
        let FlowHeaders { source, destination, .. } = &it.ends.headers;
        format!("{source} > {destination} as {}", list(&it.looks))
    };
    let all: BTreeSet<_> = all.iter().map(name).collect();
    let shown = all.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    let more = all.len().checked_sub(SHOWN + 1).map_or(String::new(), |n| format!(", and {} more", n + 1));
    format!("what arrives: {shown}{more}")
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
