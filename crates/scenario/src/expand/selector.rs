//! `@tred.n=3`: a key of every section that has an algorithm.
//!
//! `@ALGORITHM.KEY` is KEY in every section whose `kind`, `aqm`, `scheduler` or `model` is ALGORITHM: in
//! `[conditioner]`, `[queue]` and `[traffic]`, in queues written at a link or in a scheduler's class, in `[dumbbell]`,
//! and in the tables of `[sweep]`. `@*.KEY` is KEY in every section whose algorithm has it. A list of tables along the
//! path (`@msvb.classes.alpha`) means each of them. A `?` behind a key lets there be no such section, also behind one
//! that names its section itself: `tcp.host.window?=20`.
//!
//! It acts on the file as written, before series and `[dumbbell]` are expanded, and leaves `[[change]]` alone.

use super::short;
use crate::sections::conditioner::{Actions, Placement};
use crate::sections::queue::QueueCommon;
use crate::sections::traffic::TrafficCommon;
use crate::text::axis;
use crate::text::tree::{self, KeyPath};
use perhop_core::params::{Field, Node, Params, Place, Problems, Table, Tree, suggest};
use perhop_core::registry::{Entry, unregistered};
use perhop_core::{aqm, conditioner, sched};
use perhop_sim::traffic;

/// What every selector begins with.
const SIGN: char = '@';
/// Every algorithm that has the key.
const ANY: &str = "*";
/// At the end: or no section at all.
const IF_ANY: char = '?';

/// Algorithms whose sections are distinguished by the same key.
struct Family {
    /// Names the algorithm: `aqm`.
    chooser: &'static str,
    /// What runs if a section omits the chooser.
    default: Option<&'static str>,
    list: fn() -> Vec<Entry>,
    /// Keys that all its sections have.
    common: &'static [&'static [Field]],
}

const CONDITIONERS: Family = Family {
    chooser: "kind",
    default: None,
    list: conditioner::entries,
    common: &[Placement::FIELDS, Actions::FIELDS],
};
const AQMS: Family =
    Family { chooser: "aqm", default: Some("drop-tail"), list: aqm::entries, common: &[QueueCommon::FIELDS] };
const SCHEDULERS: Family = Family { chooser: "scheduler", default: None, list: sched::entries, common: &[] };
const MODELS: Family =
    Family { chooser: "model", default: None, list: traffic::entries, common: &[TrafficCommon::FIELDS] };

const FAMILIES: [&Family; 4] = [&CONDITIONERS, &AQMS, &SCHEDULERS, &MODELS];

impl Family {
    /// The algorithm of a section.
    fn algorithm<'a>(&self, section: &'a Table) -> Option<&'a str> {
        match section.get(self.chooser).map(|node| &node.tree) {
            Some(Tree::Text(name)) => Some(name),
            Some(_) => None,
            None => self.default,
        }
    }

    /// Keys of an algorithm's sections.
    fn keys(&self, entry: &Entry) -> Vec<&'static str> {
        let fields = self.common.iter().flat_map(|fields| Field::all(fields)).chain(Field::all(entry.fields));
        fields.map(|field| field.name).collect()
    }

    /// Keys of the sections of an algorithm, if it is one of these.
    fn keys_of(&self, algorithm: &str) -> Option<Vec<&'static str>> {
        (self.list)().iter().find(|entry| entry.name == algorithm).map(|entry| self.keys(entry))
    }
}

/// The names of all algorithms.
fn algorithms() -> Vec<&'static str> {
    FAMILIES.iter().flat_map(|family| (family.list)()).map(|entry| entry.name).collect()
}

/// Applies `KEY=VALUE`, whose bytes begin at `base`.
pub fn apply(root: &mut Node, text: &str, base: usize, problems: &mut Problems) {
    let Some((key, at)) = tree::split(text) else {
        let place = Place { start: base, end: base + text.len() };
        problems.error("E010", place, format!("`{text}` has no `=`")).help("write KEY=VALUE");
        return;
    };
    let place = Place { start: base, end: base + key.len() };
    let value = |problems: &mut Problems| tree::parse_value(&text[at..], base + at, problems);
    if is_selector(key) {
        let selector = Selector::parse(key, place, problems);
        if let (Some(selector), Some(value)) = (selector, value(problems)) {
            selector.set(root, &value, problems);
        }
        return;
    }
    let (optional, bare) = (key.trim_end().ends_with(IF_ANY), key.trim_end().trim_end_matches(IF_ANY));
    let path = tree::parse_key(bare, base, problems).map(short::in_full);
    if let (Some(path), Some(value)) = (path, value(problems))
        && (!optional || has_section(root, &path))
    {
        tree::set(root, &path, value, problems);
    }
}

/// Whether a file has the section of a key: `tcp.host` of `tcp.host.window`, `scenario` of `scenario.seed`.
fn has_section(root: &Node, path: &KeyPath) -> bool {
    let section: Vec<_> = path[..path.len() - 1].iter().take(2).map(|part| part.0.as_str()).collect();
    tree::get(root, &section).is_some()
}

/// A key of every section with an algorithm.
#[derive(Clone, Debug)]
pub struct Selector {
    /// `None` is any.
    algorithm: Option<String>,
    key: KeyPath,
    /// Whether there may be no such section.
    optional: bool,
    place: Place,
}

/// Whether a key is a selector.
pub fn is_selector(key: &str) -> bool {
    key.trim_start().starts_with(SIGN)
}

/// A key as results name it: that of a selector without the `?`.
pub fn label(key: &str) -> &str {
    if is_selector(key) { key.trim().trim_end_matches(IF_ANY) } else { key }
}

/// The key inside its section, without the algorithm: what [`tree::parse_key`] can read.
pub fn bare(key: &str) -> &str {
    label(key).trim_start().trim_start_matches([SIGN, '*', '.'])
}

impl Selector {
    /// Reads `@tred.n`, which is at `place`; its algorithm and the algorithm's key are known.
    pub fn parse(text: &str, place: Place, problems: &mut Problems) -> Option<Self> {
        let Some((algorithm, key)) = label(text)[SIGN.len_utf8()..].split_once('.') else {
            return malformed(text, place, problems);
        };
        let mut ignored = Problems::default();
        let Some(path) = tree::parse_key(key, 0, &mut ignored) else { return malformed(text, place, problems) };
        let algorithm = algorithm.trim();
        let selector = Self {
            algorithm: (algorithm != ANY).then(|| algorithm.to_owned()),
            key: path.into_iter().map(|(name, _)| (name, place)).collect(),
            optional: text.trim_end().ends_with(IF_ANY),
            place,
        };
        selector.is_known(problems).then_some(selector)
    }

    /// Reports an unknown algorithm, and a key that it does not have.
    fn is_known(&self, problems: &mut Problems) -> bool {
        let (key, of) = (self.first(), self.algorithm.as_deref());
        let families = FAMILIES.iter().filter(|family| of.is_none_or(|name| family.keys_of(name).is_some()));
        let entries = families.flat_map(|family| (family.list)().into_iter().map(move |entry| (family, entry)));
        let entries: Vec<_> = entries.filter(|(_, entry)| of.is_none_or(|name| name == entry.name)).collect();
        let keys: Vec<_> = entries.iter().flat_map(|(family, entry)| family.keys(entry)).collect();
        match of {
            _ if keys.contains(&key) => return true,
            Some(name) if entries.is_empty() => {
                unregistered::<()>(problems, self.place, ["algorithm", name], &algorithms());
            }
            of => {
                let whose = of.map_or_else(|| "any algorithm".to_owned(), |name| format!("`{name}`"));
                let message = format!("unknown key `{key}` of {whose}");
                problems.error("E004", self.place, message).help(suggest(key, &keys));
            }
        }
        false
    }

    /// The key of the section.
    fn first(&self) -> &str {
        self.key.first().map_or("", |part| &part.0)
    }

    /// Whether it is about this section.
    fn picks(&self, family: &Family, section: &Table) -> bool {
        let Some(name) = family.algorithm(section) else { return false };
        match &self.algorithm {
            Some(wanted) => wanted == name,
            None => family.keys_of(name).is_some_and(|keys| keys.contains(&self.first())),
        }
    }

    /// Sets the key in every such section of a file; reports that there is none, or a value on the path to the key.
    pub fn set(&self, root: &mut Node, value: &Node, problems: &mut Problems) {
        let (mut found, mut present, mut blocked) = (false, Vec::new(), false);
        each_section(root, &mut |family, section| {
            let Tree::Table(table) = &section.tree else { return };
            if self.picks(family, table) {
                (found, blocked) = (true, !lay(section, &self.key, value) || blocked);
            } else if let Some(name) = family.algorithm(table).filter(|name| !present.iter().any(|p| p == name)) {
                present.push(name.to_owned());
            }
        });
        if !found && !self.optional {
            self.nothing_found(&present, problems);
        }
        if blocked {
            let message = format!("`{}` leads into a value that is not a table", self.path());
            problems.error("E010", self.place, message).help("name a key of the section");
        }
    }

    fn nothing_found(&self, present: &[String], problems: &mut Problems) {
        let message = match &self.algorithm {
            Some(name) => format!("no section here has the algorithm `{name}`"),
            None => format!("no section here has an algorithm with a key `{}`", self.first()),
        };
        let here = if present.is_empty() { "none".to_owned() } else { present.join(", ") };
        let help = format!("algorithms here: {here}; with `?` after the key, none need have it");
        problems.error("E012", self.place, message).help(help);
    }

    /// `classes.alpha`
    fn path(&self) -> String {
        self.key.iter().map(|part| part.0.as_str()).collect::<Vec<_>>().join(".")
    }
}

fn malformed<T>(text: &str, place: Place, problems: &mut Problems) -> Option<T> {
    let message = format!("`{text}` is not a selector");
    problems
        .error("E010", place, message)
        .help("write it as in @red.max-p (every RED queue) or @*.limit (every section with the key)")
        .none()
}

/// Puts the value at `path`, making tables on the way and entering every table of a list; `false` if something else is
/// there.
fn lay(node: &mut Node, path: &[(String, Place)], value: &Node) -> bool {
    let Some(((name, place), below)) = path.split_first() else {
        *node = value.clone();
        return true;
    };
    match &mut node.tree {
        Tree::List(items) => items.iter_mut().all(|item| lay(item, path, value)),
        Tree::Table(table) => {
            let index = table.entries.iter().position(|entry| entry.0 == *name).unwrap_or_else(|| {
                table.entries.push((name.clone(), *place, Node { place: *place, tree: Tree::Table(Table::default()) }));
                table.entries.len() - 1
            });
            lay(&mut table.entries[index].2, below, value)
        }
        _ => false,
    }
}

/// Calls `each` with every section of a file that has an algorithm.
fn each_section(root: &mut Node, each: &mut impl FnMut(&Family, &mut Node)) {
    let Tree::Table(table) = &mut root.tree else { return };
    for (name, _, node) in table.entries.iter_mut() {
        if name != "sweep" {
            below(node, &[name], each);
            continue;
        }
        let Tree::Table(axes) = &mut node.tree else { continue };
        axes.entries.iter_mut().for_each(|(key, _, values)| along(key, values, each));
    }
}

/// The sections among the values of an axis.
fn along(key: &str, values: &mut Node, each: &mut impl FnMut(&Family, &mut Node)) {
    let linked = axis::is_linked(key);
    for row in axis::values_mut(values).into_iter().flatten() {
        let values = match &mut row.tree {
            Tree::List(values) if linked => values.as_mut_slice(),
            _ => std::slice::from_mut(row),
        };
        for (key, value) in axis::keys(key).into_iter().zip(values) {
            let Some(path) = tree::parse_key(key, 0, &mut Problems::default()) else { continue };
            let path: Vec<_> = path.iter().map(|part| part.0.as_str()).collect();
            below(value, &path, each);
        }
    }
}

/// The sections at `path` and below it.
fn below(node: &mut Node, path: &[&str], each: &mut impl FnMut(&Family, &mut Node)) {
    match path {
        ["conditioner", _] | ["dumbbell", "marker"] => each(&CONDITIONERS, node),
        ["traffic", _] => each(&MODELS, node),
        ["queue", _] | ["dumbbell", "queue"] | ["links", _, "queue"] => queue(node, each),
        _ => {
            let Tree::Table(table) = &mut node.tree else { return };
            table.entries.iter_mut().for_each(|(name, _, node)| below(node, &[path, &[name]].concat(), each));
        }
    }
}

/// A queue, or a scheduler and the queues written in its classes.
fn queue(node: &mut Node, each: &mut impl FnMut(&Family, &mut Node)) {
    let Tree::Table(table) = &node.tree else { return };
    let has = |key| table.get(key).is_some();
    if !has("scheduler") && (has("aqm") || !has("classes")) {
        return each(&AQMS, node);
    }
    each(&SCHEDULERS, node);
    let classes = match tree::get_mut(node, &["classes"]) {
        Some(Node { tree: Tree::List(classes), .. }) => classes.as_mut_slice(),
        Some(class) => std::slice::from_mut(class),
        None => &mut [],
    };
    classes.iter_mut().filter_map(|class| tree::get_mut(class, &["queue"])).for_each(|inner| queue(inner, each));
}
