//! The classes of a scheduler as a file lists them. A *template* among them is one entry that stands for a class for each
//! source, destination or pair: so many slots for each of its plans, and behind them one class for all addresses that find
//! no slot.
//!
//! Classes are made here, once, so that a scheduler sees a plain list; who has which of them, [`Slots`](super::slots) says.
//!
//! Decision: docs/decisions/111-a-class-for-each-address.md

use crate::aqm::members::filter::Filter;
use crate::classify::{FlowHeaders, Match, Prefix};
use crate::params::{
    CLASS, Choice, ClassName, Kind, Node, Params, Part, Place, Problem, Problems, Table, Tree, Value, read_table,
    show_table,
};
use crate::sched::slots::Address;
use ipnet::IpNet;
use std::ops::{Deref, Range};

/// Most classes of one scheduler: Linux numbers them with 16 bits.
pub const MOST: usize = 65_535;

/// Keys of a template that its plans do not have.
const OWN: [&str; 4] = ["per", "slots", "plans", "name"];

/// Whom each class of a template is for.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whom {
    /// Every source address.
    Source,
    /// Every destination address.
    Destination,
    /// Every pair of source and destination address.
    Pair,
}

impl Whom {
    /// The address of a flow.
    pub fn of(self, headers: &FlowHeaders) -> Address {
        match self {
            Self::Source => Address::One(headers.source),
            Self::Destination => Address::One(headers.destination),
            Self::Pair => Address::Pair(headers.source, headers.destination),
        }
    }

    /// A match by the addresses that count, of one by any.
    fn only(self, of: &Match) -> Match {
        let (source, destination) = match self {
            Self::Source => (of.source.clone(), Vec::new()),
            Self::Destination => (Vec::new(), of.destination.clone()),
            Self::Pair => (of.source.clone(), of.destination.clone()),
        };
        Match { source, destination, ..Match::default() }
    }

    /// How many addresses a match by addresses has at most.
    fn many(self, matches: &Match) -> u128 {
        let [source, destination] = [&matches.source, &matches.destination].map(|prefixes| addresses(prefixes));
        match self {
            Self::Source => source,
            Self::Destination => destination,
            Self::Pair => source.saturating_mul(destination),
        }
    }
}

/// Addresses in any of these prefixes; in no prefix are all.
fn addresses(prefixes: &[Prefix]) -> u128 {
    let of = |prefix: &Prefix| match prefix.0.max_prefix_len() - prefix.0.prefix_len() {
        128 => u128::MAX,
        bits => 1 << bits,
    };
    if prefixes.is_empty() { u128::MAX } else { prefixes.iter().map(of).fold(0, u128::saturating_add) }
}

/// Keys of a class that make it a template; a plain class has none of them.
#[derive(Params, Clone, Debug, Default, PartialEq)]
pub struct TemplateKeys {
    /// Makes the entry a template, a class for each: `source`, `destination` or `pair`.
    pub per: Option<Whom>,
    /// Of a template: most addresses that have a class of their own at a time.
    pub slots: Option<u32>,
    /// Of a template: tables of its keys, each with a `match` by addresses. The first match counts; the template has the rest.
    pub plans: Option<Plans>,
}

/// What a plain class cannot have: [`Classes`] reads it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plans;

impl Value for Plans {
    const KIND: Kind = Kind::List(&Kind::Any);
    fn read(_: &Node, _: &mut Problems) -> Option<Self> {
        Some(Self)
    }
    fn tree(&self) -> Option<Tree> {
        None
    }
}

/// A class of some scheduler.
pub trait Class: Params + Clone {
    /// What results, messages and other classes call it.
    fn name(&self) -> Option<&str>;
    /// Which packets it takes.
    fn filter(&self) -> &Filter;
    /// The same, to be altered.
    fn filter_mut(&mut self) -> &mut Filter;
}

/// An entry of the list.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// This class.
    Class(usize),
    /// A class for each address.
    Template(Box<Template>),
}

/// A class for each address.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    /// Its name, which those of its classes begin with.
    pub name: Option<String>,
    /// Whom each class is for.
    pub per: Whom,
    /// Most addresses that have a class at a time.
    pub slots: u32,
    /// What it takes of any plan.
    matches: Option<Match>,
    /// The first whose filter agrees counts.
    pub plans: Vec<Plan>,
    /// The class of all addresses that find no slot.
    pub others: usize,
}

/// Which addresses have which classes.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// As stated.
    own: Option<Match>,
    /// What it takes, with what the template takes.
    pub filter: Filter,
    /// One for each slot, all alike.
    pub classes: Range<usize>,
}

/// The entries of the list, by which its classes are counted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layout {
    /// In the order of the file.
    pub entries: Vec<Entry>,
    /// Of each class, its entry.
    of: Vec<u32>,
}

/// A child of a scheduler: the entry that it is of, and for a template the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Child {
    /// Which of the entries.
    pub entry: usize,
    /// Which of the template's plans.
    pub plan: usize,
    /// Whether it is of all addresses that found no class.
    pub others: bool,
}

impl Layout {
    /// Its templates.
    pub fn templates(&self) -> impl Iterator<Item = &Template> {
        self.entries.iter().filter_map(|entry| if let Entry::Template(it) = entry { Some(&**it) } else { None })
    }

    /// The children, in order: all classes but those of entries that `are_parents`.
    pub fn children(&self, are_parents: impl Fn(usize) -> bool) -> Vec<Child> {
        let mut children = Vec::new();
        for (entry, it) in self.entries.iter().enumerate().filter(|&(entry, _)| !are_parents(entry)) {
            let child = |plan| Child { entry, plan, others: false };
            match it {
                Entry::Class(_) => children.push(child(0)),
                Entry::Template(template) => {
                    let of_plan = |(plan, it): (usize, &Plan)| std::iter::repeat_n(child(plan), it.classes.len());
                    children.extend(template.plans.iter().enumerate().flat_map(of_plan));
                    children.push(Child { others: true, ..child(template.plans.len() - 1) });
                }
            }
        }
        children
    }

    /// The entry of a class.
    pub fn entry(&self, class: usize) -> usize {
        self.of[class] as usize
    }

    /// The template that a class is of.
    pub fn template(&self, class: usize) -> Option<&Template> {
        match &self.entries[self.entry(class)] {
            Entry::Template(template) => Some(template),
            Entry::Class(_) => None,
        }
    }

    /// The classes that have the same parameters as one, because they are of one plan.
    pub fn alike(&self, class: usize) -> Range<usize> {
        let Some(template) = self.template(class) else { return class..class + 1 };
        let of = |plan: &&Plan| plan.classes.contains(&class);
        let plan = template.plans.iter().find(of).or(template.plans.last());
        plan.map_or(class..class + 1, |plan| {
            let end = if plan.classes.end == template.others { template.others + 1 } else { plan.classes.end };
            plan.classes.start..end
        })
    }

    /// Whether a class is the first of those that are alike: what is said of it holds for them.
    pub fn is_first(&self, class: usize) -> bool {
        self.alike(class).start == class
    }

    /// What messages call a class, without its own name.
    pub fn called(&self, class: usize) -> ClassName {
        let part = self.template(class).and_then(|it| {
            if it.others == class {
                return Some(Part::Others);
            }
            let plan = it.plans.iter().position(|plan| plan.classes.contains(&class)).unwrap_or_default();
            (it.plans.len() > 1).then_some(Part::Plan(plan + 1))
        });
        ClassName::Listed { number: self.entry(class) + 1, name: None, part }
    }
}

/// All classes, those of templates one after the other in place of their entry.
#[derive(Clone, Debug, PartialEq)]
pub struct Classes<C> {
    all: Vec<C>,
    layout: Layout,
}

impl<C> Deref for Classes<C> {
    type Target = [C];
    fn deref(&self) -> &[C] {
        &self.all
    }
}

impl<C> From<Vec<C>> for Classes<C> {
    fn from(all: Vec<C>) -> Self {
        let n = all.len();
        Self { all, layout: Layout { entries: (0..n).map(Entry::Class).collect(), of: (0..n as u32).collect() } }
    }
}

impl<C> FromIterator<C> for Classes<C> {
    fn from_iter<I: IntoIterator<Item = C>>(all: I) -> Self {
        Vec::from_iter(all).into()
    }
}

impl<C> Classes<C> {
    /// How they are listed.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    pub(super) fn layout_mut(&mut self) -> &mut Layout {
        &mut self.layout
    }

    fn add(&mut self, classes: impl IntoIterator<Item = C>) -> Range<usize> {
        let (from, entry) = (self.all.len(), self.layout.entries.len() as u32);
        self.all.extend(classes);
        self.layout.of.resize(self.all.len(), entry);
        from..self.all.len()
    }
}

impl<C: Class> Classes<C> {
    /// What messages call a class.
    pub(super) fn called(&self, class: usize) -> ClassName {
        self.layout.called(class).named(self.all[class].name())
    }
}

impl<C: Class> Value for Classes<C> {
    const KIND: Kind = Kind::OneOrMany(&Kind::Table(C::FIELDS));
    const OPTIONAL: bool = true;

    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        let items = match &node.tree {
            Tree::List(items) if items.is_empty() => {
                let help = "write at least one item, or remove the key";
                return problems.error("E201", node.place, "an empty list").help(help).none();
            }
            Tree::List(items) => items.as_slice(),
            _ => std::slice::from_ref(node),
        };
        let (mut classes, mut sound) = (Self::from(Vec::new()), true);
        let parents = parents(items);
        for item in items {
            sound &= match is_template(item) {
                true => template(item, &parents, &mut classes, problems),
                false => read_table(item, problems).map(|class| {
                    let first = classes.add([class]).start;
                    classes.layout.entries.push(Entry::Class(first));
                }),
            }
            .is_some();
        }
        sound.then_some(classes)
    }

    fn absent() -> Option<Self> {
        Some(Vec::new().into())
    }

    fn tree(&self) -> Option<Tree> {
        let shown = |entry: &Entry| match entry {
            Entry::Class(i) => show_table(&self.all[*i]),
            Entry::Template(template) => template.show(&self.all),
        };
        let entries = self.layout.entries.iter().map(|entry| Node::from(shown(entry)));
        (!self.all.is_empty()).then(|| Tree::List(entries.collect()))
    }
}

impl Template {
    /// Each plan with all its keys.
    fn show<C: Class>(&self, all: &[C]) -> Tree {
        let plan = |plan: &Plan| {
            let mut keys = Vec::new();
            all[plan.classes.start].show(&mut keys);
            keys.retain(|(key, _)| *key != "match");
            let own = plan.own.as_ref().map(|own| ("match", show_table(own)));
            Node::from(Tree::table(own.into_iter().chain(keys).collect()))
        };
        let mut keys = Vec::new();
        keys.extend(self.name.clone().map(|name| ("name", Tree::Text(name))));
        keys.push(("per", Tree::Text(self.per.name().into())));
        keys.push(("slots", Tree::Integer(self.slots.into())));
        keys.extend(self.matches.as_ref().map(|matches| ("match", show_table(matches))));
        keys.push(("plans", Tree::List(self.plans.iter().map(plan).collect())));
        Tree::table(keys)
    }
}

fn get<'a>(node: &'a Node, key: &str) -> Option<&'a Node> {
    if let Tree::Table(table) = &node.tree { table.get(key) } else { None }
}

/// Whether an entry has a key of a template.
pub fn is_template(item: &Node) -> bool {
    ["per", "slots", "plans"].iter().any(|key| get(item, key).is_some())
}

/// Names of classes that others name as their `parent`.
fn parents(items: &[Node]) -> Vec<&str> {
    let plans = |item| match get(item, "plans").map(|plans| &plans.tree) {
        Some(Tree::List(plans)) => plans.as_slice(),
        _ => &[],
    };
    let tables = items.iter().flat_map(|item| plans(item).iter().chain([item]));
    let named = |item| if let Tree::Text(name) = &get(item, "parent")?.tree { Some(name.as_str()) } else { None };
    tables.filter_map(named).collect()
}

/// The tables of a template's plans, each with what the template states for all of them; without `plans` there is one.
pub fn plans(item: &Node) -> Vec<Node> {
    let stated = match get(item, "plans") {
        Some(Node { tree: Tree::List(plans), .. }) => plans.clone(),
        Some(plan) => vec![plan.clone()],
        None => vec![Node { place: item.place, tree: Tree::Table(Table::default()) }],
    };
    let Tree::Table(whole) = &item.tree else { return stated };
    let common = |plan: &Table| {
        let states = |key: &str| OWN.contains(&key) || ["for", "match"].contains(&key) || plan.get(key).is_some();
        whole.entries.iter().filter(move |(key, ..)| !states(key)).cloned().collect::<Vec<_>>()
    };
    let completed = |plan: Node| match plan.tree {
        Tree::Table(own) => {
            let entries = [common(&own), own.entries].concat();
            Node { place: plan.place, tree: Tree::Table(Table { entries }) }
        }
        tree => Node { place: plan.place, tree },
    };
    stated.into_iter().map(completed).collect()
}

/// A template that is read.
struct Reading<'a> {
    item: &'a Node,
    /// Its number in the list, from 1.
    number: usize,
    problems: &'a mut Problems,
}

/// A plan that is read.
struct Stated<C> {
    /// Its match, and where that is.
    own: Option<(Match, Place)>,
    class: C,
}

/// Adds the classes of a template.
fn template<C: Class>(item: &Node, parents: &[&str], classes: &mut Classes<C>, problems: &mut Problems) -> Option<()> {
    let mut reading = Reading { item, number: classes.layout.entries.len() + 1, problems };
    let (name, head, matches) = (reading.name(parents), reading.head(), reading.matches());
    let stated = reading.plans::<C>();
    let ((name, (per, slots), matches), stated) = ((name?, head?, matches?), stated?);
    let mut plans = Vec::new();
    for (which, Stated { own, class }) in stated.iter().enumerate() {
        let own = own.clone().map(|own| reading.by_address(own, which, per)).map_or(Some(None), |own| own.map(Some))?;
        let filter = reading.filter(matches.as_ref(), own.as_ref(), which)?;
        let many = filter.matches.as_ref().map_or(u128::MAX, |it| per.many(it)).min(slots.into()) as usize;
        reading.fits(classes.all.len() + many)?;
        plans.push(Plan { own, classes: classes.add(filled(class, &filter, many)), filter });
    }
    let (last, filter) = (&stated.last()?.class, plans.last()?.filter.clone());
    let others = classes.add(filled(last, &filter, 1)).start;
    classes.layout.entries.push(Entry::Template(Box::new(Template { name, per, slots, matches, plans, others })));
    Some(())
}

/// So many alike.
fn filled<C: Class>(class: &C, filter: &Filter, many: usize) -> impl Iterator<Item = C> + use<C> {
    let mut class = class.clone();
    class.filter_mut().clone_from(filter);
    std::iter::repeat_n(class, many)
}

impl Reading<'_> {
    /// Refuses the template; the message goes on after what it is called.
    fn refuse<T>(&mut self, code: &'static str, place: Place, [message, help]: [&str; 2]) -> Option<T> {
        let class = ClassName::listed(self.number);
        self.problems.error(code, place, format!("{CLASS}{message}")).of_class(class).help(help).none()
    }

    /// Refuses one of its plans.
    fn refuse_plan<T>(&mut self, which: usize, code: &'static str, place: Place, words: [&str; 2]) -> Option<T> {
        let ([message, help], part) = (words, Some(Part::Plan(which + 1)));
        let class = ClassName::Listed { number: self.number, name: None, part };
        self.problems.error(code, place, format!("{CLASS}{message}")).of_class(class).help(help).none()
    }

    fn place(&self, key: &str) -> Place {
        get(self.item, key).map_or(self.item.place, |node| node.place)
    }

    /// Its name, to which no other class refers.
    fn name(&mut self, parents: &[&str]) -> Option<Option<String>> {
        let Some(node) = get(self.item, "name") else { return Some(None) };
        let name = String::read(node, self.problems)?;
        if parents.contains(&name.as_str()) {
            let message = format!("{CLASS} has `per`, and other classes name it as their parent");
            let help = "classes of addresses have none below them: give those another parent, or remove `per`";
            let class = ClassName::listed(self.number).named(Some(&name));
            return self.problems.error("E287", node.place, message).of_class(class).help(help).none();
        }
        Some(Some(name))
    }

    /// `per` and `slots`.
    fn head(&mut self) -> Option<(Whom, u32)> {
        let (per, slots) = (get(self.item, "per"), get(self.item, "slots"));
        let stated = ["per", "slots", "plans"].into_iter().find(|key| get(self.item, key).is_some()).unwrap_or("per");
        let lacks = |key| format!(" has `{stated}`, but no `{key}`");
        let Some(per) = per else {
            let help = "add `per`: whom each class is for, \"destination\", \"source\" or \"pair\"";
            return self.refuse("E284", self.place(stated), [&lacks("per"), help]);
        };
        let Some(slots) = slots else {
            let help = "add `slots`: most addresses that have a class of their own at a time, as in slots = 1000";
            return self.refuse("E284", per.place, [&lacks("slots"), help]);
        };
        let (per, place, slots) = (Whom::read(per, self.problems), slots.place, u32::read(slots, self.problems));
        let (per, slots) = per.zip(slots)?;
        match slots as usize {
            1..MOST => Some((per, slots)),
            _ => {
                let help = format!("must be between 1 and {}", MOST - 1);
                self.refuse("E285", place, [&format!(": `slots` is {slots}"), &help])
            }
        }
    }

    /// What it takes of any plan.
    fn matches(&mut self) -> Option<Option<Match>> {
        if let Some(node) = get(self.item, "for") {
            let help = "write `match`, as in match = { dscp = \"AF11\" }: classes of addresses are found by flow";
            return self.refuse("E287", node.place, [" has both `per` and `for`", help]);
        }
        get(self.item, "match").map_or(Some(None), |node| <Match as Value>::read(node, self.problems).map(Some))
    }

    /// Its plans; what it states for all of them may be wrong in each, and is said once.
    fn plans<C: Class>(&mut self) -> Option<Vec<Stated<C>>> {
        let from = self.problems.list.len();
        let read: Vec<_> = plans(self.item).iter().enumerate().map(|(which, plan)| self.plan(plan, which)).collect();
        let mut said: Vec<Problem> = Vec::new();
        for problem in self.problems.list.split_off(from) {
            if !said.contains(&problem) {
                said.push(problem);
            }
        }
        self.problems.list.extend(said);
        if read.is_empty() {
            let help = "write a table for each plan, or remove `plans`: then all addresses have the same";
            return self.refuse("E286", self.place("plans"), [": `plans` is empty", help]);
        }
        read.into_iter().collect()
    }

    fn plan<C: Class>(&mut self, plan: &Node, which: usize) -> Option<Stated<C>> {
        let Tree::Table(table) = &plan.tree else { return self.problems.wrong_type(plan, &Kind::Table(C::FIELDS)) };
        let foreign = |key: &str| OWN.contains(&key) || key == "for";
        if let Some((key, place, _)) = table.entries.iter().find(|(key, ..)| foreign(key)) {
            let help = match key.as_str() {
                "for" => "write `match`: a plan belongs to addresses",
                "name" => "remove it: each class is named after its address",
                _ => "write it beside `plans`: it holds for all of them",
            };
            return self.refuse_plan(which, "E287", *place, [&format!(" has `{key}`"), help]);
        }
        let own =
            table.get("match").map(|node| <Match as Value>::read(node, self.problems).map(|own| (own, node.place)));
        let entries = table.entries.iter().filter(|(key, ..)| key != "match").cloned().collect();
        let class = read_table(&Node { place: plan.place, tree: Tree::Table(Table { entries }) }, self.problems);
        Some(Stated { own: own.map_or(Some(None), |own| own.map(Some))?, class: class? })
    }

    /// Refuses a plan's match by anything but the addresses that its classes are for: an address has one plan.
    fn by_address(&mut self, (own, place): (Match, Place), which: usize, per: Whom) -> Option<Match> {
        if per.only(&own) == own {
            return Some(own);
        }
        let keys = if per == Whom::Pair { "`source` and `destination`".into() } else { format!("`{}`", per.name()) };
        let message = format!(": its match may have {keys} alone, with per = \"{}\"", per.name());
        let help = "an address has one plan: write other keys in the `match` beside `per`, or make two templates";
        self.refuse_plan(which, "E287", place, [&message, help])
    }

    /// What a plan's classes take.
    fn filter(&mut self, whole: Option<&Match>, own: Option<&Match>, which: usize) -> Option<Filter> {
        let matches = match (whole, own) {
            (Some(whole), Some(own)) => {
                let Some(both) = both(whole, own) else {
                    let message = ": no address is in its match and in that of its template";
                    let help = "remove the plan, or widen one of the two";
                    return self.refuse_plan(which, "E286", self.place("plans"), [message, help]);
                };
                Some(both)
            }
            _ => whole.or(own).cloned(),
        };
        Some(Filter { members: Vec::new(), matches })
    }

    /// Whether there are not too many classes.
    fn fits(&mut self, classes: usize) -> Option<()> {
        if classes < MOST {
            return Some(());
        }
        let message = format!(" and those before it have more than {MOST} classes");
        let help = "lower `slots`, which each plan has, or narrow the prefixes of plans";
        self.refuse("E285", self.place("slots"), [&message, help])
    }
}

/// What the match of a template and that of a plan both take; `None` if that is nothing.
fn both(whole: &Match, own: &Match) -> Option<Match> {
    let source = within(&whole.source, &own.source)?;
    let destination = within(&whole.destination, &own.destination)?;
    Some(Match { source, destination, ..whole.clone() })
}

/// The prefixes in both lists, of which an empty one has all; `None` if there are none.
fn within(whole: &[Prefix], own: &[Prefix]) -> Option<Vec<Prefix>> {
    let longer = |a: IpNet, b: IpNet| if a.contains(&b) { Some(b) } else { b.contains(&a).then_some(a) };
    let pairs = own.iter().flat_map(|own| whole.iter().filter_map(|it| longer(it.0, own.0).map(Prefix)));
    match (whole, own) {
        ([], list) | (list, []) => Some(list.to_vec()),
        _ => Some(pairs.collect()).filter(|both: &Vec<_>| !both.is_empty()),
    }
}
