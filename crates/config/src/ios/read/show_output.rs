//! What devices print of policies: `show policy-map`, `show policy-map interface`, `show policy-map type queueing`,
//! `show class-map`. One row of a table for each kind of line; counters are kept as evidence.
//!
//! A class belongs to the last policy that is not deeper than it is. Within a class the words say what a line is about.

use super::show_pattern as pattern;
use super::show_wred as wred;
use super::words::{Outcome, Words};
use super::{Here, Reader, action, is_foreign, matches, police};
use crate::evidence::Counters;
use crate::ios::plan::{At, Attached, Child, Class, ClassMap, Interface, WithPlace};
use crate::ios::tree::Row;
use crate::model::Way;
use perhop_core::units::Length;

/// What was read last.
#[derive(Debug, Default)]
pub struct ShowOutput {
    /// The last line that names an interface.
    pub(super) interface: Option<Named>,
    /// The direction of the last policy of an interface.
    pub(super) way: Option<Way>,
    /// Policies within policies: the indentation of each, and its place.
    pub(super) policies: Vec<(usize, usize)>,
    /// Names of the classes above each of them.
    pub(super) paths: Vec<String>,
    /// What the lines are about.
    pub(super) about: About,
    /// Whose actions come next.
    pub(super) colour: Option<usize>,
    /// The table of WRED that comes next.
    pub(super) table: wred::Columns,
    /// The thresholds of the table are percentages of the limit.
    pub(super) percent: bool,
    /// The virtual class of approximate fair drop that was named last.
    pub(super) afd: u64,
    /// Limits of the queues of priority classes: policy, level (0: all), limit.
    pub(super) limits: Vec<(usize, u64, WithPlace<Length>)>,
    /// The name of the field that `QoS Set` set last.
    pub(super) set: String,
    /// What the next lines may belong to.
    pub(super) open: Open,
}

/// An interface as devices print it.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub(super) name: String,
    /// Its place; without a line where that is not to be shown.
    pub(super) at: At,
    /// The address of the far end.
    pub(super) peer: Option<String>,
}

/// What was begun and may be continued.
#[derive(Clone, Debug, Default)]
pub(super) struct Open {
    /// `match` lines of the class.
    pub(super) tests: usize,
    /// The last line was a `match` by code point, which may have more.
    pub(super) goes_on: bool,
    /// The last line ended before its number of drops.
    pub(super) drops_next: bool,
}

/// What lines of a class are about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum About {
    /// The class, or its queue.
    #[default]
    Class,
    /// `queue stats for all priority classes`, with the level, 0 before it is said.
    Priority(u64),
}

/// What interfaces are called.
const INTERFACES: &[&str] = &[
    "ethernet",
    "fastethernet",
    "gigabitethernet",
    "twogigabitethernet",
    "fivegigabitethernet",
    "tengigabitethernet",
    "tengige",
    "twentyfivegige",
    "twentyfivegigabitethernet",
    "fortygigabitethernet",
    "fortygige",
    "fiftygige",
    "hundredgige",
    "hundredgigabitethernet",
    "fourhundredgige",
    "appgigabitethernet",
    "serial",
    "port-channel",
    "tunnel",
    "vlan",
    "virtual-template",
    "virtual-access",
    "atm",
    "pos",
    "multilink",
    "mfr",
    "dialer",
    "bdi",
    "bvi",
    "bundle-ether",
    "cellular",
    "loopback",
    "async",
    "pseudowire",
    "nve",
    "efp",
    "dot11radio",
];

impl Reader {
    /// Reads a line as devices print it; whether it is one.
    pub fn show_line(&mut self, row: &Row<'_>) -> bool {
        if matches!(row.word(0), "policy-map" | "class-map" | "interface" | "description") {
            return false;
        }
        let plain = pattern::plain(row);
        if plain.words.is_empty() {
            return self.continued(row);
        }
        let known = self.drops_continued(&plain) || self.shown_head(&plain) || self.shown_body(&plain);
        self.shown.open.drops_next = known && plain.words.last().is_some_and(|word| word.text == "drops:");
        if known {
            self.shown.open.goes_on = plain.word(0) == "Match:";
        } else if (matches!(self.here, Here::Shown(..) | Here::Nowhere | Here::Foreign) || plain.words.len() == 1)
            && let Some(found) = interface(&plain)
        {
            (self.shown.interface, self.shown.way) = (Some(found), None);
            self.here = Here::Nowhere;
        }
        known
    }

    /// A line of code points that the terminal broke.
    fn continued(&mut self, row: &Row<'_>) -> bool {
        let belongs = self.shown.open.goes_on && matches!(self.here, Here::Shown(..));
        if belongs {
            self.account.taken(row.number);
        }
        belongs
    }

    /// The number of drops of a class, which the terminal put into the next line.
    fn drops_continued(&mut self, row: &Row<'_>) -> bool {
        let Some(drops) = row.word(0).parse().ok().filter(|_| self.shown.open.drops_next && row.words.len() == 1)
        else {
            return false;
        };
        self.count("priority", row.at(), &[("exceed_drops", drops)]);
        self.account.taken(row.number);
        true
    }

    fn shown_head(&mut self, row: &Row<'_>) -> bool {
        match (row.word(0), row.word(1)) {
            ("Policy", "Map") => self.shown_policy_map(row, 2),
            ("Policy-map", _) => self.shown_policy_map(row, 1),
            ("Class", "Map") => self.shown_class_map(row),
            ("Service-policy", _) => self.shown_policy(row),
            ("Class-map:", name) if !name.is_empty() => self.shown_class(row),
            ("Class", name) if !name.is_empty() => match self.here {
                Here::Policy(policy) | Here::Class(policy, _) => self.class_of_map(policy, row),
                Here::Nowhere if self.plan.policies.is_empty() && row.words.len() == 2 => {
                    self.loose_classes(row);
                    self.class_of_map(0, row)
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// `Policy Map WAN`, `Policy Map type queueing WAN`
    fn shown_policy_map(&mut self, row: &Row<'_>, word: usize) -> bool {
        let mut words = Words::new(row, word);
        if is_foreign(&mut words, &[]) {
            (self.here, self.indent) = (Here::Foreign, row.indent);
            return true;
        }
        let name = words.take().to_owned();
        let place = match self.plan.policy.get(&name) {
            Some(known) => *known,
            None => self.new_policy(name, row.at(), false),
        };
        // Shown again, it is whole again.
        self.plan.policies[place].shown = true;
        self.plan.policies[place].classes.clear();
        (self.here, self.indent) = (Here::Policy(place), row.indent);
        self.settle(row, words.end().map(|()| None));
        true
    }

    /// `Class VOICE` of `show policy-map`.
    fn class_of_map(&mut self, policy: usize, row: &Row<'_>) -> bool {
        let mut words = Words::new(row, 1);
        self.class_called(policy, row, words.take().to_owned());
        self.settle(row, words.end().map(|()| None));
        (self.shown.table, self.shown.percent) = (wred::Columns::default(), false);
        true
    }

    /// `Class Map match-any VOICE (id 5)`
    fn shown_class_map(&mut self, row: &Row<'_>) -> bool {
        let mut words = Words::new(row, 2);
        if is_foreign(&mut words, &[]) {
            (self.here, self.indent) = (Here::Foreign, row.indent);
            return true;
        }
        let all = !words.has("match-any");
        words.has("match-all");
        let place = self.new_class_map(words.take().to_owned(), row.at(), all);
        (self.here, self.indent) = (Here::ClassMap(place), row.indent);
        self.account.taken(row.number);
        true
    }

    /// `Service-policy output: WAN`, `Service-policy : CHILD`
    fn shown_policy(&mut self, row: &Row<'_>) -> bool {
        let mut words = Words::new(row, 1);
        words.has_any(&["queueing", "queuing", "qos", "type"]);
        words.has_any(&["queueing", "queuing", "qos"]);
        let way = match words.take() {
            "input:" => Some(Way::Input),
            "output:" => Some(Way::Output),
            ":" => None,
            _ => {
                (self.here, self.indent) = (Here::Foreign, row.indent);
                return true;
            }
        };
        let (name, at) = (words.take().to_owned(), row.at());
        self.account.taken(row.number);
        let place = self.new_policy(name.clone(), at, true);
        self.shown.about = About::Class;
        match way {
            Some(way) => self.shown_at_interface(place, (name, at), way),
            None => self.shown_within(place, row.indent),
        }
        self.shown.policies.push((row.indent, place));
        let class = self.plan.policies[place].classes.len();
        (self.here, self.indent) = (Here::Shown(place, class), row.indent);
        true
    }

    /// A policy of the interface that was named last; without one the port has the policy's name.
    fn shown_at_interface(&mut self, place: usize, (name, at): (String, At), way: Way) {
        self.shown.way = Some(way);
        self.shown.policies.clear();
        self.shown.paths.clear();
        self.shown.paths.push(String::new());
        let (way_at, named) = (at, self.shown.interface.clone());
        let Named { name: interface, at, peer } = named.unwrap_or(Named { name, at, peer: None });
        self.account_interface(at);
        let same = |known: &Interface| known.name == interface && known.peer == peer;
        let known = self.plan.interfaces.iter().rposition(same);
        let interface = known.unwrap_or_else(|| self.add_interface(interface, at));
        self.plan.interfaces[interface].peer = peer;
        self.plan.attached.push(Attached { interface, way, policy: Child::Shown(place), at: way_at });
    }

    fn account_interface(&mut self, at: At) {
        if at.line > 0 {
            self.account.taken(at.line);
        }
    }

    /// A policy within the last class that is not deeper.
    fn shown_within(&mut self, place: usize, indent: usize) {
        self.up_to(indent);
        let Some((_, above)) = self.shown.policies.last().copied() else { return };
        let path = self.shown.paths.last().cloned().unwrap_or_default();
        let Some(class) = self.plan.policies[above].classes.last_mut() else { return };
        class.child = Some(Child::Shown(place));
        self.shown.paths.push(format!("{path}{}/", class.name));
    }

    /// Leaves policies that are deeper than a line.
    fn up_to(&mut self, indent: usize) {
        while self.shown.policies.len() > 1 && self.shown.policies.last().is_some_and(|(deep, _)| *deep > indent) {
            self.shown.policies.pop();
            self.shown.paths.pop();
        }
    }

    /// `Class-map: VOICE (match-any)`
    fn shown_class(&mut self, row: &Row<'_>) -> bool {
        if self.here == Here::Foreign && row.indent > self.indent {
            return true;
        }
        if self.shown.policies.is_empty() || !matches!(self.here, Here::Shown(..)) {
            self.loose_classes(row);
        }
        self.up_to(row.indent);
        let Some((_, policy)) = self.shown.policies.last().copied() else { return false };
        let name = row.word(1).to_owned();
        let all = row.word(2) == "(match-all)";
        let map = ClassMap { name: name.clone(), at: row.at(), all, tests: Vec::new() };
        let classes = &mut self.plan.policies[policy].classes;
        classes.push(Class { name, at: row.at(), map: Some(map), ..Class::default() });
        (self.here, self.indent) = (Here::Shown(policy, classes.len() - 1), row.indent);
        self.account.taken(row.number);
        (self.shown.about, self.shown.colour, self.shown.open.tests) = (About::Class, None, 0);
        (self.shown.table, self.shown.percent) = (wred::Columns::default(), false);
        true
    }

    /// Classes without the policy that they are of.
    fn loose_classes(&mut self, row: &Row<'_>) {
        let place = self.new_policy("classes without a policy".to_owned(), row.at(), false);
        self.plan.policies[place].shown = true;
        self.shown.policies = vec![(0, place)];
        self.shown.paths = vec![String::new()];
    }

    /// A line of a class.
    fn shown_body(&mut self, row: &Row<'_>) -> bool {
        match self.here {
            Here::Shown(policy, class) => self.shown_line((policy, class), row),
            Here::Class(policy, class) if self.plan.policies[policy].shown => self.line_of_map((policy, class), row),
            Here::ClassMap(map) if row.word(0) == "Match" && !row.word(1).starts_with(char::is_uppercase) => {
                self.test_at(map, row, 1);
                true
            }
            _ => false,
        }
    }

    fn shown_line(&mut self, (policy, class): (usize, usize), row: &Row<'_>) -> bool {
        if row.word(0) == "Match:" {
            return self.shown_test((policy, class), row);
        }
        if let Some(outcome) = self.counters(row).or_else(|| self.line((policy, class), row)) {
            self.settle(row, outcome);
            return true;
        }
        false
    }

    /// The class that lines are about; counters of a policy may come before its first class.
    pub(super) fn shown_class_at(&mut self, (policy, class): (usize, usize)) -> Option<&mut Class> {
        self.plan.policies.get_mut(policy)?.classes.get_mut(class)
    }

    fn shown_test(&mut self, class: (usize, usize), row: &Row<'_>) -> bool {
        self.shown.open.tests += 1;
        if row.word(1) == "none" {
            self.account.approximated(row.number, "the class has no tests: the traffic called after it");
            return true;
        }
        let mut words = Words::new(row, 1);
        let outcome = matches::test(&mut words).and_then(|(is, nearly)| {
            if let Some(map) = self.shown_class_at(class).and_then(|class| class.map.as_mut()) {
                map.tests.push(WithPlace { is, at: row.at() });
            }
            words.end().map(|()| nearly)
        });
        self.settle(row, outcome);
        true
    }

    /// The path of the class that lines are about.
    fn path(&self) -> String {
        let Here::Shown(policy, class) = self.here else { return String::new() };
        if let About::Priority(level) = self.shown.about {
            let above = self.shown.paths.last().map_or("", String::as_str);
            return if level == 0 { format!("{above}priority") } else { format!("{above}priority level {level}") };
        }
        let above = self.shown.paths.last().map_or("", String::as_str);
        let class = self.plan.policies[policy].classes.get(class).map_or("", |class| class.name.as_str());
        format!("{above}{class}")
    }

    /// Adds counters of one kind of the class that lines are about.
    pub(super) fn count(&mut self, kind: &str, at: At, counts: &[(&'static str, u64)]) {
        let of = self.path();
        let interface = self.shown.interface.as_ref().map_or("", |it| &it.name).to_owned();
        let way = self.shown.way;
        let last = self.evidence.iter_mut().rev().take(12);
        let mut same = last.filter(|known| {
            (known.way, known.kind.as_str(), &known.of, &known.interface) == (way, kind, &of, &interface)
        });
        let known = match same.find(|known| counts.iter().all(|(name, _)| !known.counts.contains_key(name))) {
            Some(known) => known,
            None => {
                let counts = Default::default();
                self.evidence.push(Counters { of, kind: kind.to_owned(), interface, way, place: at.place, counts });
                let Some(last) = self.evidence.last_mut() else { return };
                last
            }
        };
        for (name, count) in counts {
            known.counts.insert(name, i64::try_from(*count).unwrap_or(i64::MAX));
        }
    }

    /// An action of a policer, below `conformed .. actions:`.
    pub(super) fn shown_action(&mut self, class: (usize, usize), row: &Row<'_>, word: usize) -> Option<Outcome> {
        let colour = self.shown.colour?;
        let mut words = Words::new(row, word);
        if !action::ACTIONS.iter().any(|known| known.word == words.peek()) {
            return None;
        }
        let outcome = action::action(&mut words).and_then(|done| {
            let police = self.shown_class_at(class).and_then(|class| class.police.as_mut());
            police::add(police.ok_or("no policer comes before it")?, colour, done);
            words.end().map(|()| None)
        });
        Some(outcome)
    }
}

/// The interface that a line names.
fn interface(row: &Row<'_>) -> Option<Named> {
    if row.starts(&["Control", "Plane"]) && row.words.len() == 2 {
        return Some(Named { name: "Control Plane".to_owned(), at: row.at(), peer: None });
    }
    let peer = row.word(0) == "Interface";
    let word = row.words.get(usize::from(peer))?;
    let name = word.text.trim_end_matches(':');
    let kind = name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '/' | '.' | ':'));
    let known = kind.len() >= 2 && INTERFACES.iter().any(|known| known.starts_with(&kind.to_ascii_lowercase()));
    if !known || kind.len() == name.len() {
        return None;
    }
    // The address of a peer is not shown, nor its line.
    let line = if peer { 0 } else { row.number };
    let peer = peer.then(|| row.words.last().map_or("", |word| word.text).to_owned());
    Some(Named { name: name.to_owned(), at: At { line, place: word.place }, peer })
}
