//! Reads a text line by line into a [`Plan`], and says what became of each line.

pub mod action;
mod car;
pub mod class;
pub mod matches;
pub mod police;
pub mod wred;
pub mod words;
mod show_finish;
mod show_lines;
mod show_output;
mod show_pattern;
mod show_wred;

use super::letters::Small;
use super::plan::{At, Attached, Child, Class, ClassMap, Interface, List, Plan, Policy, Table, WithPlace};
use super::tree::Row;
use crate::account::Account;
use crate::evidence::Counters;
use crate::foreign::Recognition;
use crate::model::Way;
use perhop_core::params::suggest;
use show_output::ShowOutput;
use std::collections::HashMap;
use words::{Outcome, Words, wanted};

/// What the lines that come next belong to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Here {
    /// Nothing of QoS.
    #[default]
    Nowhere,
    /// A class map.
    ClassMap(usize),
    /// A policy map, before its first class.
    Policy(usize),
    /// A class of a policy map.
    Class(usize, usize),
    /// An interface.
    Interface(usize),
    /// An access list.
    List(usize),
    /// `table-map`
    Table(usize),
    /// A class of a policy that is shown at an interface.
    Shown(usize, usize),
    /// A policy or class map that is not of QoS.
    Foreign,
}

/// Reads line by line.
#[derive(Debug, Default)]
pub struct Reader {
    /// What is said so far.
    pub plan: Plan,
    /// What became of the lines.
    pub account: Account,
    /// What the next lines belong to.
    pub here: Here,
    /// The indentation of the line that began it.
    pub indent: usize,
    /// How the last `class` of a policy map is indented.
    of_class: OfClass,
    /// What is said.
    pub recognition: Recognition,
    /// The line is none that is known here.
    strange: bool,
    /// A policy map or class map was not of QoS.
    pub foreign: bool,
    /// The lines that come next are of the policer of a class.
    in_police: bool,
    /// Counters.
    pub evidence: Vec<Counters>,
    /// What devices print.
    pub shown: ShowOutput,
    /// The classes of each policy map.
    classes: HashMap<usize, Classes>,
}

/// How a class and its actions are indented.
#[derive(Debug, Default)]
struct OfClass {
    /// The line that names it.
    indent: usize,
    /// A line behind that was indented deeper.
    is_followed: bool,
}

/// Classes of a policy map by name.
#[derive(Debug, Default)]
struct Classes {
    /// How many of them are here.
    seen: usize,
    by_name: HashMap<String, usize>,
}

/// Types of class and policy maps that are of QoS, typed and printed.
const QOS_TYPES: [&str; 4] = ["qos", "queueing", "queuing", "network-qos"];
/// The same, typed only.
const CONTROL_TYPES: [&str; 2] = ["control-plane", "copp"];

/// Commands of an interface about QoS that are not in a policy map, by their first words, with the reason why they are not
/// modelled.
const OF_INTERFACES: &[(&str, &str)] = &[
    ("fair-queue", "fair queueing without a policy map is not read"),
    ("random-detect", "WRED without a policy map is not read"),
    ("priority-group", "priority queueing by lists is not read"),
    ("custom-queue-list", "custom queueing is not read"),
    ("tx-ring-limit", "the ring of the interface is not modelled"),
    ("srr-queue", "queues of switches without a policy map are not read"),
    ("wrr-queue", "queues of switches without a policy map are not read"),
    ("priority-queue", "queues of switches without a policy map are not read"),
    ("auto", "what `auto qos` makes is in the policy maps"),
    ("mls", "QoS of switches without a policy map is not read"),
    ("ip rsvp", "reservations are not modelled"),
    ("ip nhrp map group", "policies of groups of NHRP are not read: write `service-policy` at an interface"),
    ("queue-set", "queues of switches without a policy map are not read"),
    ("ppp multilink interleave", "fragments of packets are not modelled"),
    ("ppp multilink fragment", "fragments of packets are not modelled"),
    ("frame-relay traffic-shaping", FRAME_RELAY),
    ("frame-relay cir", FRAME_RELAY),
    ("frame-relay mincir", FRAME_RELAY),
    ("frame-relay bc", FRAME_RELAY),
    ("frame-relay be", FRAME_RELAY),
    ("frame-relay traffic-rate", FRAME_RELAY),
    ("frame-relay adaptive-shaping", FRAME_RELAY),
    ("frame-relay fair-queue", FRAME_RELAY),
    ("frame-relay fragment", "fragments of packets are not modelled"),
];

/// Why the shaping of map classes is not modelled.
const FRAME_RELAY: &str = "shaping of Frame Relay's circuits is not read: write `shape` in a policy map";

impl Reader {
    /// Reads a line.
    pub fn row(&mut self, row: &Row<'_>) {
        if row.word(0) == "show" && self.here != Here::Foreign {
            self.here = Here::Nowhere;
            return;
        }
        self.strange = false;
        let within =
            !matches!(self.here, Here::Nowhere | Here::Foreign) && !matches!(row.word(0), "description" | "remark");
        let before = self.shown.interface.as_ref().map(|it| it.at);
        let is_shown = self.may_be_shown(row) && self.show_line(row);
        let names_interface = self.shown.interface.as_ref().map(|it| it.at) != before;
        let small = if is_shown || names_interface { None } else { Small::of(row) };
        let in_small = small.as_ref().map(|small| small.row(row));
        let typed = in_small.as_ref().unwrap_or(row);
        let known = is_shown || self.head(typed);
        if !known {
            self.body(typed);
        }
        match self.strange {
            false if known || within => self.recognition.statements.push(row.at().place),
            true if self.account.lines.contains_key(&row.number) => self.recognition.unknown.push(row.words[0].place),
            _ => {}
        }
    }

    /// Whether devices may print such a line here; what is typed has no capitals.
    fn may_be_shown(&self, row: &Row<'_>) -> bool {
        let shown = match self.here {
            Here::Shown(..) | Here::Nowhere | Here::Foreign => true,
            Here::Class(policy, _) | Here::Policy(policy) => self.plan.policies[policy].shown,
            Here::ClassMap(_) | Here::Interface(_) | Here::List(_) | Here::Table(_) => false,
        };
        shown || row.word(0).starts_with(char::is_uppercase)
    }

    /// What begins something.
    fn head(&mut self, row: &Row<'_>) -> bool {
        let here = match (row.word(0), row.word(1)) {
            ("class-map" | "class-ma" | "class-m", _) => self.class_map(row),
            ("policy-map" | "policy-ma" | "policy-m" | "policy", _) => self.policy_map(row),
            ("interface" | "int", "") => return false,
            ("interface" | "int", _) => self.interface(row),
            ("control-plane", _) => self.port(row, row.word(0), 0),
            ("ip" | "ipv4" | "ipv6", "access-list") => self.list(row),
            ("access-list", _) => self.numbered(row),
            ("table-map", _) => self.table(row),
            ("qos", "police") => {
                let why = "the policer of a child always comes before that of its parent";
                self.account.not_modelled(row.number, why);
                Here::Nowhere
            }
            ("priority-list" | "queue-list", _) => {
                self.account.not_modelled(row.number, "priority and custom queueing by lists are not read");
                Here::Nowhere
            }
            ("mls", "qos") if !matches!(self.here, Here::Interface(_)) => {
                self.account.not_modelled(row.number, "QoS of switches without a policy map is not read");
                Here::Nowhere
            }
            ("map-class", "frame-relay") => self.port(row, row.word(2), 2),
            ("no", "policy-map" | "class-map") => {
                let why = "what the text says of it is read all the same: paste what `show running-config` prints";
                self.account.not_modelled(row.number, why);
                Here::Nowhere
            }
            ("end", "") => Here::Nowhere,
            ("end-class-map" | "end-policy-map", "") => {
                if !matches!(self.here, Here::Foreign | Here::Nowhere) {
                    self.account.taken(row.number);
                }
                Here::Nowhere
            }
            _ => return false,
        };
        self.foreign |= here == Here::Foreign;
        (self.here, self.indent) = (here, row.indent);
        true
    }

    fn class_map(&mut self, row: &Row<'_>) -> Here {
        let mut words = Words::new(row, 1);
        if is_foreign(&mut words, &CONTROL_TYPES) {
            return Here::Foreign;
        }
        let any = words.has_any(&["match-any"]);
        words.has_any(&["match-all"]);
        let name = words.take().to_owned();
        self.settle(row, words.end().map(|()| None));
        Here::ClassMap(self.new_class_map(name, row.at(), !any))
    }

    /// A class map that begins; one that is named again goes on.
    pub fn new_class_map(&mut self, name: String, at: At, all: bool) -> usize {
        if let Some(known) = self.plan.class_map.get(&name) {
            return *known;
        }
        let place = self.plan.class_maps.len();
        self.plan.class_map.insert(name.clone(), place);
        self.plan.class_maps.push(ClassMap { name, at, all, tests: Vec::new() });
        place
    }

    fn policy_map(&mut self, row: &Row<'_>) -> Here {
        let mut words = Words::new(row, 1);
        if is_foreign(&mut words, &CONTROL_TYPES) {
            return Here::Foreign;
        }
        let name = words.take().to_owned();
        self.settle(row, words.end().map(|()| None));
        if let Some(known) = self.plan.policy.get(&name) {
            return Here::Policy(*known);
        }
        Here::Policy(self.new_policy(name, row.at(), false))
    }

    /// A policy that begins; one that is shown at an interface is not found by its name.
    pub fn new_policy(&mut self, name: String, at: At, inline: bool) -> usize {
        let place = self.plan.policies.len();
        if !inline {
            self.plan.policy.insert(name.clone(), place);
        }
        self.plan.policies.push(Policy { name, at, classes: Vec::new(), inline, shown: inline });
        place
    }

    fn interface(&mut self, row: &Row<'_>) -> Here {
        // `interface preconfigure TenGigE0/0/0/0` of IOS-XR, before the card is there.
        let at = 1 + usize::from(row.word(1) == "preconfigure" && !row.word(2).is_empty());
        // `interface GigabitEthernet 0/1`, `interface Gi0/1 point-to-point`
        let (kind, number) = (row.word(at), row.word(at + 1));
        let apart = kind.chars().all(char::is_alphabetic) && number.starts_with(|c: char| c.is_ascii_digit());
        let name = if apart { format!("{kind}{number}") } else { kind.to_owned() };
        self.port(row, &name, at)
    }

    /// An interface that begins.
    pub fn port(&mut self, row: &Row<'_>, name: &str, word: usize) -> Here {
        let at = At { line: row.number, place: row.words.get(word).map_or(row.at().place, |word| word.place) };
        Here::Interface(self.add_interface(name.to_owned(), at))
    }

    /// An interface that was not named before.
    pub fn add_interface(&mut self, name: String, at: At) -> usize {
        self.plan.interfaces.push(Interface { name, at, ..Interface::default() });
        self.plan.interfaces.len() - 1
    }

    fn list(&mut self, row: &Row<'_>) -> Here {
        let kind = matches!(row.word(2), "extended" | "standard");
        Here::List(self.list_called(row.word(2 + usize::from(kind))))
    }

    fn list_called(&mut self, name: &str) -> usize {
        if let Some(known) = self.plan.list.get(name) {
            return *known;
        }
        let at = self.plan.lists.len();
        self.plan.list.insert(name.to_owned(), at);
        self.plan.lists.push(List { name: name.to_owned(), lines: Vec::new() });
        at
    }

    /// `access-list 101 permit ..`
    fn numbered(&mut self, row: &Row<'_>) -> Here {
        let list = self.list_called(row.word(1));
        self.plan.lists[list].lines.push(row.at_from(2));
        Here::Nowhere
    }

    fn table(&mut self, row: &Row<'_>) -> Here {
        let (name, at) = (row.word(1).to_owned(), self.plan.tables.len());
        self.plan.table.insert(name.clone(), at);
        self.plan.tables.push(Table { name, ..Table::default() });
        self.account.approximated(row.number, TABLES);
        Here::Table(at)
    }

    /// What belongs to what began.
    fn body(&mut self, row: &Row<'_>) {
        match (self.here, row.word(0)) {
            (Here::Class(..), "exit") if self.leaves_police(row) => self.in_police = false,
            (Here::Class(policy, _), "exit") => self.here = Here::Policy(policy),
            (_, "exit") => self.here = Here::Nowhere,
            (Here::Nowhere, _) => {}
            (Here::Shown(..), _) if row.indent <= self.indent => {}
            (Here::ClassMap(map), word) if word.len() > 1 && "match".starts_with(word) => self.test_at(map, row, 1),
            (Here::Policy(_) | Here::Class(..) | Here::ClassMap(_), "description") => {}
            (Here::Policy(policy) | Here::Class(policy, _), word) if word.len() > 1 && "class".starts_with(word) => {
                self.class(policy, row);
            }
            (Here::Class(policy, class), _) if self.is_of_class(policy, row) => self.of_class((policy, class), row),
            (Here::Interface(port), _) => self.of_interface(port, row),
            (Here::List(list), word) if permits(word, row) => self.plan.lists[list].lines.push(row.at()),
            (Here::Table(_), "map" | "default" | "from") => self.account.approximated(row.number, TABLES),
            _ => self.unknown(row),
        }
    }

    /// Whether a line may be an action of the last class: not where that is less deep than the actions before it, as lines are whose
    /// own heads are cut out of the text.
    fn is_of_class(&mut self, policy: usize, row: &Row<'_>) -> bool {
        let deeper = row.indent > self.of_class.indent;
        self.of_class.is_followed |= deeper;
        deeper || !self.of_class.is_followed || row.level.is_some() || self.plan.policies[policy].shown
    }

    /// Whether `exit` is said below `police`: by the prompt, or else by the lines before it.
    fn leaves_police(&self, row: &Row<'_>) -> bool {
        match row.level {
            Some(level) if !level.is_empty() => level.ends_with("police"),
            _ => self.in_police,
        }
    }

    /// A line that is not understood is of QoS if it is below what is.
    fn unknown(&mut self, row: &Row<'_>) {
        self.strange = true;
        let below = row.indent > self.indent || row.level.is_some_and(|level| level.starts_with("config-"));
        match self.here {
            Here::ClassMap(_) | Here::Policy(_) | Here::Class(..) | Here::Shown(..) if below => {
                let known = class::WORDS.iter().any(|known| known.word == row.word(0));
                let why = if known { OUTSIDE.to_owned() } else { not_understood(row.word(0)) };
                self.account.not_modelled(row.number, why);
            }
            Here::Foreign | Here::Interface(_) | Here::List(_) | Here::Table(_) if below => {}
            _ => self.here = Here::Nowhere,
        }
    }

    /// A `match` line of a class map.
    pub fn test_at(&mut self, map: usize, row: &Row<'_>, word: usize) {
        let mut words = Words::new(row, word);
        let mut several = None;
        let outcome = matches::test(&mut words).and_then(|(is, nearly)| {
            words.end()?;
            several = matches::code_points(row, &is);
            self.plan.class_maps[map].tests.push(WithPlace { is, at: row.at() });
            Ok(nearly)
        });
        self.settle(row, outcome);
        several.into_iter().for_each(|what| self.account.noted(row.number, what));
    }

    /// A class of a policy map.
    fn class(&mut self, policy: usize, row: &Row<'_>) {
        let mut words = Words::new(row, 1);
        if words.has("type") {
            words.take();
        }
        let name = words.take().to_owned();
        self.class_called(policy, row, name);
        self.of_class = OfClass { indent: row.indent, is_followed: false };
        self.settle(row, words.end().map(|()| None));
    }

    /// A class of a policy map, by its name.
    pub fn class_called(&mut self, policy: usize, row: &Row<'_>, mut name: String) {
        if name.eq_ignore_ascii_case("class-default") {
            name.make_ascii_lowercase();
        }
        let classes = &mut self.plan.policies[policy].classes;
        // A class that is named again goes on; those that are shown are known by their names, too.
        let known = self.classes.entry(policy).or_default();
        for (place, class) in classes.iter().enumerate().skip(known.seen) {
            known.by_name.entry(class.name.clone()).or_insert(place);
        }
        known.seen = classes.len();
        let place = known.by_name.get(&name).copied().unwrap_or(classes.len());
        if place == classes.len() {
            classes.push(Class { name, at: row.at(), ..Class::default() });
        }
        self.here = Here::Class(policy, place);
    }

    fn of_class(&mut self, (policy, class): (usize, usize), row: &Row<'_>) {
        let shown = self.plan.policies[policy].shown;
        let same = |known: &str| known == row.word(0) || (shown && known.eq_ignore_ascii_case(row.word(0)));
        if row.word(0) == "no" {
            let class = &mut self.plan.policies[policy].classes[class];
            let outcome = class::unsay(class, row.word(1));
            return self.settle(row, outcome);
        }
        let Some(known) = class::WORDS.iter().find(|known| same(known.word)).or_else(|| short(row.word(0))) else {
            return self.unknown(row);
        };
        self.in_police = match known.word {
            "police" => !row.words.iter().any(|word| word.text.ends_with("-action")),
            word => self.in_police && word.ends_with("-action"),
        };
        let class = &mut self.plan.policies[policy].classes[class];
        // What is left of a line may be a unit: nothing of it counts. What a line does to a class without others shows whether
        // anything is left, so that a class with many lines is rarely kept aside.
        let mut tried = Words::new(row, 1);
        let is_read = (known.read)(&mut Class::default(), &mut tried).is_ok() && tried.end().is_ok();
        let before = (!is_read).then(|| class.clone());
        let mut words = Words::new(row, 1);
        let mut outcome = (known.read)(class, &mut words);
        if let (Ok(_), Err(why), Some(before)) = (&outcome, words.end(), before) {
            *class = before;
            outcome = Err(why);
        }
        self.settle(row, outcome);
    }

    fn of_interface(&mut self, port: usize, row: &Row<'_>) {
        match row.word(0) {
            "service-policy" => self.attach(port, row),
            // Typed words are often cut short, as devices take them.
            word if word.len() > 3 && "service-policy".starts_with(word) && row.word(1) != "instance" => {
                self.attach(port, row)
            }
            "no" if row.word(1) == "service-policy" => self.detach(port, row),
            "qos" if row.word(1) == "pre-classify" => {
                self.account.approximated(
                    row.number,
                    "packets here have the header within a tunnel alone: it is always looked at",
                );
            }
            "service" if row.word(1) == "instance" => self.instance(port, row),
            "bandwidth" => self.bandwidth(port, row),
            "max-reserved-bandwidth" => self.reserved(port, row),
            "rate-limit" => self.rate_limit(port, row),
            "traffic-shape" => self.traffic_shape(port, row),
            "hold-queue" => {
                self.account.approximated(row.number, "the limits of the classes count, not that of the interface")
            }
            _ => {
                let known = |known: &&(&str, &str)| known.0.split(' ').enumerate().all(|(i, word)| row.word(i) == word);
                match OF_INTERFACES.iter().find(known) {
                    Some((_, why)) => self.account.not_modelled(row.number, *why),
                    None => self.strange = true,
                }
            }
        }
    }

    /// `service instance 10 ethernet`: a separate port.
    fn instance(&mut self, port: usize, row: &Row<'_>) {
        let interface = &self.plan.interfaces[port];
        let whole = interface.name.split(" service").next().unwrap_or_default();
        let (name, at) = (format!("{whole} service instance {}", row.word(2)), interface.at);
        self.here = Here::Interface(self.add_interface(name, at));
    }

    /// `service-policy [type qos] input|output NAME`
    fn attach(&mut self, port: usize, row: &Row<'_>) {
        let mut words = Words::new(row, 1);
        if is_foreign(&mut words, &CONTROL_TYPES) {
            return;
        }
        let way = match words.take() {
            // Typed words are often cut short, as devices take them.
            word if !word.is_empty() && "input".starts_with(word) => Way::Input,
            word if !word.is_empty() && "output".starts_with(word) => Way::Output,
            word => {
                let why = wanted(word, "`input` or `output`");
                return self.account.not_modelled(row.number, why);
            }
        };
        let policy = Child::Named(WithPlace { is: words.take().to_owned(), at: words.at() });
        self.plan.attached.push(Attached { interface: port, way, policy, at: row.at() });
        self.account.taken(self.plan.interfaces[port].at.line);
        self.settle(row, words.end().map(|()| None));
    }

    /// `no service-policy input|output NAME`
    fn detach(&mut self, port: usize, row: &Row<'_>) {
        let name = self.plan.interfaces[port].name.clone();
        let (interfaces, way) = (&self.plan.interfaces, row.word(2));
        let meant = |it: &Attached| {
            let policy =
                !matches!(&it.policy, Child::Named(known) if !row.word(3).is_empty() && known.is != row.word(3));
            interfaces[it.interface].name == name && !way.is_empty() && it.way.name().starts_with(way) && policy
        };
        self.plan.attached.retain(|it| !meant(it));
        self.account.taken(row.number);
    }

    /// A metric of routing, and the base of percentages.
    fn bandwidth(&mut self, port: usize, row: &Row<'_>) {
        let mut words = Words::new(row, 1);
        if let Ok(kbit) = words.count() {
            self.plan.interfaces[port].bandwidth = Some(WithPlace { is: class::kbit(kbit.is), at: row.at() });
        }
    }

    /// How much of an interface classes may reserve, which is a bound for the text and changes no packet.
    fn reserved(&mut self, port: usize, row: &Row<'_>) {
        let mut words = Words::new(row, 1);
        match words.count() {
            Ok(percent) => {
                self.plan.interfaces[port].reserves = Some(percent.is as f64);
                self.settle(row, words.end().map(|()| None));
            }
            Err(why) => self.account.not_modelled(row.number, why),
        }
    }

    /// Puts a line into the account.
    pub fn settle(&mut self, row: &Row<'_>, outcome: Outcome) {
        match outcome {
            Ok(None) => self.account.taken(row.number),
            Ok(Some(how)) => self.account.approximated(row.number, how),
            Err(why) => self.account.not_modelled(row.number, why),
        }
    }
}

/// The only word of a class that begins so: typed words are often cut short, as devices take them.
fn short(word: &str) -> Option<&'static class::Word> {
    let mut meant = class::WORDS.iter().filter(|known| word.len() > 1 && known.word.starts_with(word));
    meant.next().filter(|_| meant.next().is_none())
}

/// A word that begins no line, and one that is much like it.
fn not_understood(word: &str) -> String {
    let words: Vec<_> = class::WORDS.iter().map(|known| known.word).collect();
    match suggest(word, &words) {
        near if near.starts_with("did you mean") => format!("`{word}` is not understood: {near}"),
        _ => format!("`{word}` is not understood"),
    }
}

/// Why a line with a word of classes is none of the class before it.
const OUTSIDE: &str = "it is not indented as the actions of the class before it are: indent it if it is one of them";

/// What a table does here.
const TABLES: &str = "a packet keeps its code point: tables from one field to another are not modelled";

fn permits(word: &str, row: &Row<'_>) -> bool {
    let numbered = word.bytes().all(|byte| byte.is_ascii_digit());
    matches!(if numbered { row.word(1) } else { word }, "permit" | "deny" | "remark")
}

/// Whether a map has a type that is neither of QoS nor among others.
fn is_foreign(words: &mut Words<'_>, others: &[&str]) -> bool {
    words.has("type") && {
        let word = words.take();
        !QOS_TYPES.contains(&word) && !others.contains(&word)
    }
}
