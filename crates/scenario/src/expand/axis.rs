//! An axis of a sweep: keys that change together, and their values.

use super::selector::{self, Selector};
use super::short;
use crate::text::axis::{self, VALUES};
use crate::text::tree::{self, KeyPath};
use crate::text::write;
use perhop_core::params::{Node, Place, Problems, Table, Tree, suggest};
use perhop_core::units::counted;
use std::collections::{BTreeMap, BTreeSet};

/// One axis.
#[derive(Clone, Debug)]
pub struct Axis {
    targets: Vec<Target>,
    /// What results call it: its keys, or one name for all of them.
    columns: Vec<String>,
    steps: Vec<Step>,
    place: Place,
}

/// What one step along an axis sets.
#[derive(Clone, Debug)]
struct Step {
    /// One for each column.
    labels: Vec<String>,
    /// One for each target.
    values: Vec<Node>,
}

/// What an axis sets.
#[derive(Clone, Debug)]
enum Target {
    Key(KeyPath),
    Sections(Selector),
}

impl Target {
    fn set(&self, root: &mut Node, value: &Node, problems: &mut Problems) {
        match self {
            Self::Key(path) => tree::set(root, path, value.clone(), problems),
            Self::Sections(selector) => selector.set(root, value, problems),
        }
    }

    /// The parts of a key that names its section itself.
    fn parts(&self) -> Option<Vec<&str>> {
        match self {
            Self::Key(path) => Some(path.iter().map(|part| part.0.as_str()).collect()),
            Self::Sections(_) => None,
        }
    }
}

impl Axis {
    /// Reads an entry of `[sweep]`.
    pub fn read((text, place, node): &(String, Place, Node), problems: &mut Problems) -> Option<Self> {
        let names = axis::keys(text);
        let targets: Vec<_> = names.iter().filter_map(|name| target(name, *place, problems)).collect();
        let written = Written::read(text, node, problems);
        let (keys, targets): (Vec<_>, Vec<_>) = targets.into_iter().unzip();
        if targets.len() < names.len() {
            return None;
        }
        let written = written?;
        let rows = written.rows(axis::is_linked(text).then_some(&keys), problems)?;
        let (columns, labels) = written.labels(keys, &rows, problems)?;
        let steps = rows.into_iter().zip(labels).map(|(values, labels)| Step { labels, values }).collect();
        Some(Self { targets, columns, steps, place: *place })
    }

    /// Number of its values.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether it has no values; such an axis is not read.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// What results call its keys.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Where it is written.
    pub fn place(&self) -> Place {
        self.place
    }

    /// Sets the values of a step, counted from 0.
    pub fn set(&self, root: &mut Node, step: usize, problems: &mut Problems) {
        self.targets.iter().zip(&self.steps[step].values).for_each(|(target, value)| target.set(root, value, problems));
    }

    /// Sets one value at every key.
    pub fn set_all(&self, root: &mut Node, value: &Node, problems: &mut Problems) {
        self.targets.iter().for_each(|target| target.set(root, value, problems));
    }

    /// What a step, counted from 0, is called: column and label.
    pub fn labels(&self, step: usize) -> impl Iterator<Item = (String, String)> {
        self.columns.iter().cloned().zip(self.steps[step].labels.iter().cloned())
    }
}

/// Reports axes of one name, and keys that a later axis sets again.
pub fn check_together(axes: &[Axis], problems: &mut Problems) {
    let mut columns: Vec<&str> = Vec::new();
    let mut set: Vec<Vec<&str>> = Vec::new();
    for axis in axes {
        for column in &axis.columns {
            if columns.contains(&column.as_str()) {
                let message = format!("two axes are called `{column}`");
                problems.error("E240", axis.place, message).help("remove one, or name one of them with `as`");
                return;
            }
            columns.push(column);
        }
        for parts in axis.targets.iter().filter_map(Target::parts) {
            if let Some(before) = set.iter().find(|before| before.starts_with(&parts)) {
                let [earlier, later] = [before, &parts].map(|key| write::dotted(key));
                let message = match earlier == later {
                    true => format!("`{later}` is in two axes"),
                    false => format!("`{later}` is set after `{earlier}` and would undo it"),
                };
                let help = "remove one of them, or write the axis of a table before those of keys in it";
                problems.error("E240", axis.place, message).help(help);
                return;
            }
            set.push(parts);
        }
    }
}

/// Two keys of `[sweep]` that name the same: `[a,b]` and `[a, b]`, `x."y"` and `x.y`.
pub fn same(one: &str, other: &str) -> bool {
    let keys = |text| {
        let names = axis::keys(text).into_iter();
        names
            .map(|name| target(name, Place::default(), &mut Problems::default()).map(|it| it.0))
            .collect::<Option<Vec<_>>>()
    };
    one == other || keys(one).is_some_and(|keys_of_one| Some(keys_of_one) == keys(other))
}

/// A key of an axis, as results call it, and what it sets.
fn target(name: &str, place: Place, problems: &mut Problems) -> Option<(String, Target)> {
    if selector::is_selector(name) {
        let selector = Selector::parse(name, place, problems)?;
        return Some((selector::label(name).to_owned(), Target::Sections(selector)));
    }
    let Some(path) = tree::parse_key(name, 0, &mut Problems::default()) else {
        let help = "write a key as in \"traffic.bulk.flows\" or \"links.'C -> E2'.rate\", linked keys as in \"[a, b]\"";
        return problems.error("E240", place, format!("`{name}` is not a key")).help(help).none();
    };
    let path = short::in_full(path.into_iter().map(|part| (part.0, place)).collect());
    let parts: Vec<_> = path.iter().map(|part| part.0.as_str()).collect();
    let help = match parts.as_slice() {
        ["sweep", ..] | ["change", ..] | ["scenario", "name"] => "sweep a key of another section",
        ["scenario", "replications"] => "set `scenario.replications` instead: all points have the same number",
        _ => return Some((write::dotted(&parts), Target::Key(path))),
    };
    problems.error("E240", place, format!("`{name}` cannot be swept")).help(help).none()
}

/// What an axis says.
struct Written<'a> {
    key: &'a str,
    place: Place,
    values: &'a [Node],
    labels: Option<&'a Node>,
    name: Option<&'a Node>,
}

impl<'a> Written<'a> {
    fn read(key: &'a str, node: &'a Node, problems: &mut Problems) -> Option<Self> {
        let (values, labels, name) = match &node.tree {
            Tree::Table(table) => {
                known_keys(table, problems)?;
                (table.get(VALUES), table.get(LABELS), table.get(NAME))
            }
            _ => (Some(node), None, None),
        };
        match values.map(|node| &node.tree) {
            Some(Tree::List(values)) if !values.is_empty() => {
                Some(Self { key, place: node.place, values, labels, name })
            }
            _ => {
                let message = format!("axis `{key}` is not a list of values");
                let help = "write \"key\" = [a, b], with the key in quotes, or { values = [a, b], labels = [..], as = \"..\" }";
                problems.error("E240", node.place, message).help(help).none()
            }
        }
    }

    /// The values that each step sets: a row of them if keys are linked.
    fn rows(&self, linked: Option<&Vec<String>>, problems: &mut Problems) -> Option<Vec<Vec<Node>>> {
        let Some(keys) = linked else { return Some(self.values.iter().map(|value| vec![value.clone()]).collect()) };
        let row = |(i, node): (usize, &Node)| match &node.tree {
            Tree::List(values) if values.len() == keys.len() => Some(values.clone()),
            other => {
                let has = match other {
                    Tree::List(values) => counted(values.len(), ["value", "values"]),
                    other => other.noun().to_owned(),
                };
                let message = format!("row {} of axis `{}` has {has} for {} keys", i + 1, self.key, keys.len());
                let help = "give a value for each key, as in \"[a, b]\" = [[1, 2], [3, 4]]";
                problems.error("E240", node.place, message).help(help).none()
            }
        };
        self.values.iter().enumerate().map(row).collect()
    }

    /// What the axis is called, and each of its steps; no two steps alike.
    fn labels(
        &self,
        keys: Vec<String>,
        rows: &[Vec<Node>],
        problems: &mut Problems,
    ) -> Option<(Vec<String>, Vec<Vec<String>>)> {
        let from_values: Vec<_> = (0..keys.len()).map(|key| labelled(rows.iter().map(|row| &row[key]))).collect();
        let of_row = |row: usize| from_values.iter().map(|column| column[row].clone()).collect::<Vec<_>>();
        let mut labels: Vec<_> = (0..rows.len()).map(of_row).collect();
        if let Some((first, row)) = alike(&labels) {
            let (place, value) = (self.values[row].place, labels[row].join(", "));
            let message = format!("values {} and {} of axis `{}` are both {value}", first + 1, row + 1, self.key);
            return problems.error("E240", place, message).help("remove one of them").none();
        }
        let columns = match self.name {
            Some(name) => vec![word(name, problems)?],
            None if self.labels.is_some() && keys.len() > 1 => {
                let message = format!("axis `{}` has labels of linked keys, but no name", self.key);
                return problems.error("E240", self.place, message).help("add as = \"NAME\"").none();
            }
            None => keys,
        };
        if let Some(stated) = self.labels {
            labels = self.stated(stated, problems)?.into_iter().map(|label| vec![label]).collect();
        } else if columns.len() == 1 {
            labels = labels.into_iter().map(|row| vec![row.join(" ")]).collect();
        }
        Some((columns, labels))
    }

    /// The labels that the file states: one for each step, no two alike.
    fn stated(&self, node: &Node, problems: &mut Problems) -> Option<Vec<String>> {
        let items = match &node.tree {
            Tree::List(items) if items.len() == self.values.len() => items,
            other => {
                let has = if let Tree::List(items) = other { items.len().to_string() } else { other.noun().to_owned() };
                let message = format!("`labels` of axis `{}`: {has} for {} values", self.key, self.values.len());
                return problems.error("E240", node.place, message).help("give a text for each value").none();
            }
        };
        let labels: Vec<_> = items.iter().filter_map(|item| word(item, problems)).collect();
        if let Some((_, second)) = alike(&labels) {
            let message = format!("label {:?} is twice in axis `{}`", labels[second], self.key);
            return problems
                .error("E240", items[second].place, message)
                .help("give each value a label of its own")
                .none();
        }
        (labels.len() == items.len()).then_some(labels)
    }
}

/// Keys of an axis that is a table.
const LABELS: &str = "labels";
const NAME: &str = "as";

fn known_keys(table: &Table, problems: &mut Problems) -> Option<()> {
    let known = [VALUES, LABELS, NAME];
    let unknown: Vec<_> = table.entries.iter().filter(|entry| !known.contains(&entry.0.as_str())).collect();
    for (name, place, _) in &unknown {
        problems.error("E004", *place, format!("unknown key `{name}` of an axis")).help(suggest(name, &known));
    }
    unknown.is_empty().then_some(())
}

/// A text that can head or name something in a table.
fn word(node: &Node, problems: &mut Problems) -> Option<String> {
    match &node.tree {
        Tree::Text(text) if !text.trim().is_empty() && !text.chars().any(char::is_control) => Some(text.clone()),
        Tree::Text(text) => {
            let message = format!("{text:?} is not a label");
            problems
                .error("E240", node.place, message)
                .help("write a text that is not empty and has no control characters")
                .none()
        }
        other => {
            let message = format!("expected a label, found {}", other.noun());
            problems.error("E240", node.place, message).help("write a text in quotes, as in \"low\"").none()
        }
    }
}

/// The first that equals one before it: where both are.
fn alike<T: Ord>(of: &[T]) -> Option<(usize, usize)> {
    let mut seen = BTreeMap::new();
    of.iter().enumerate().find_map(|(second, it)| seen.insert(it, second).map(|first| (first, second)))
}

/// Labels of values; where two would be the same, the whole value is the label.
fn labelled<'a>(values: impl Iterator<Item = &'a Node> + Clone) -> Vec<String> {
    let short: Vec<_> = values.clone().map(label).collect();
    let (mut named, mut ambiguous) = (BTreeMap::new(), BTreeSet::new());
    for (node, name) in values.clone().zip(&short) {
        if named.entry(name).or_insert(node).tree != node.tree {
            ambiguous.insert(name);
        }
    }
    let long = |(node, name): (&Node, &String)| match ambiguous.contains(name) {
        true => write::inline(&node.tree),
        false => name.clone(),
    };
    values.zip(&short).map(long).collect()
}

fn label(node: &Node) -> String {
    let name = |table: &Table| ["kind", "aqm", "model"].into_iter().find_map(|key| table.get(key).cloned());
    match &node.tree {
        Tree::Text(text) => text.clone(),
        Tree::Table(table) => name(table).map_or_else(|| write::inline(&node.tree), |named| label(&named)),
        other => write::inline(other),
    }
}
