//! Tree -> model: every section read by its declaration, every fault reported.

use crate::model::{Model, Named};
use crate::sections::{
    Actions, ConditionerSection, LinkSection, NodeSection, Placement, Queue, QueueCommon, QueueSection, Settings,
    TrafficCommon, TrafficSection,
};
use crate::{at, classes};
use perhop_core::aqm::{self, AqmParams};
use perhop_core::conditioner;
use perhop_core::params::{Node, Params, Place, Problems, Reader, Table, Tree, Value, read_table, suggest};
use perhop_core::units::Span;
use perhop_sim::traffic::{self, TrafficParams};

/// The sections of a scenario file.
pub const SECTIONS: [&str; 10] =
    ["scenario", "nodes", "links", "queue", "conditioner", "traffic", "tcp", "dumbbell", "sweep", "change"];

/// Reads all sections. Those with an error are left out, so that the others can still be checked together.
/// The tree has no `[dumbbell]` and no `[[change]]` any more.
pub fn model(root: &Node, problems: &mut Problems) -> Model {
    let nothing = Table::default();
    let table = table(root, problems).unwrap_or(&nothing);
    let mut reader = Reader::new(table, root.place, problems);
    for name in SECTIONS {
        reader.take(name);
    }
    reader.finish();
    Model {
        settings: settings(table, problems),
        nodes: sections(table, "nodes", problems, read_table::<NodeSection>),
        links: sections(table, "links", problems, read_table::<LinkSection>),
        queues: sections(table, "queue", problems, queue),
        conditioners: sections(table, "conditioner", problems, |node, problems| conditioner(node, true, problems)),
        traffic: sections(table, "traffic", problems, traffic_section),
        tcp: sections(table, "tcp", problems, read_table),
        changes: Vec::new(),
    }
}

/// A node that has to be a table.
pub fn table<'a>(node: &'a Node, problems: &mut Problems) -> Option<&'a Table> {
    match &node.tree {
        Tree::Table(table) => Some(table),
        other => {
            let message = format!("expected a table, found {}", other.noun());
            problems.error("E003", node.place, [&message, "", "write a heading in brackets and key = value below it"])
        }
    }
}

/// `[scenario]`; keys with errors are taken as left out, and no time is then too short or too long.
fn settings(root: &Table, problems: &mut Problems) -> Settings {
    let empty = Tree::table(vec![]).into();
    let node = root.get("scenario").unwrap_or(&empty);
    let from = problems.list.len();
    if let Some(settings) = problems.within("scenario", |problems| read_table(node, problems)) {
        return settings;
    }
    let faults: Vec<_> = problems.list[from..].iter().filter_map(|p| p.place).collect();
    let entries = if let Tree::Table(table) = &node.tree { table.entries.as_slice() } else { &[] };
    let sound = entries.iter().filter(|e| !faults.contains(&e.2.place)).cloned().collect();
    let rest = Node { place: node.place, tree: Tree::Table(Table { entries: sound }) };
    let mut settings: Settings = read_table(&rest, &mut Problems::default()).expect("all keys have defaults");
    if entries.iter().any(|e| faults.contains(&e.2.place) && ["duration", "warmup"].contains(&e.0.as_str())) {
        (settings.duration, settings.warmup) = (perhop_sim::engine::MAX_DURATION, Span::ZERO);
    }
    settings
}

/// All sound sections `[kind.X]`, each read by `read`.
pub fn sections<T>(
    root: &Table,
    kind: &'static str,
    problems: &mut Problems,
    read: impl Fn(&Node, &mut Problems) -> Option<T>,
) -> Named<T> {
    let Some(node) = root.get(kind) else { return Vec::new() };
    problems.within(kind, |problems| {
        let Some(table) = table(node, problems) else { return Vec::new() };
        let one = |(name, place, node): &(String, Place, Node)| {
            let section = problems.within(name, |problems| read(node, problems));
            let named = if printable(name) { Some(name.clone()) } else { unprintable(*place, problems) };
            Some((named?, section?))
        };
        table.entries.iter().filter_map(one).collect()
    })
}

fn printable(name: &str) -> bool {
    !name.trim().is_empty() && !name.chars().any(char::is_control)
}

fn unprintable<T>(place: Place, problems: &mut Problems) -> Option<T> {
    problems.error("E011", place, ["a name is empty or holds control characters", "", "name it with plain text"])
}

/// Reads a table that names its algorithm by `key`: the common part, the algorithm's own, nothing else.
/// Unknown keys are reported only once it is known whose they would be.
pub fn chosen<T>(
    node: &Node,
    problems: &mut Problems,
    read: impl FnOnce(&mut Reader<'_>) -> (bool, Option<T>),
) -> Option<T> {
    let table = table(node, problems)?;
    let mut reader = Reader::new(table, node.place, problems);
    let (known, out) = read(&mut reader);
    if known {
        reader.finish();
    }
    out
}

/// The name of the algorithm: what stands at `key`, or `default`.
pub fn name_of(reader: &mut Reader<'_>, what: (&'static str, Option<&'static str>), names: &[&str]) -> (String, Place) {
    let (key, default) = what;
    let place = reader.place_of(key);
    match (reader.take(key), default) {
        (Some(node), _) => (String::read(node, reader.problems).unwrap_or_default(), place),
        (None, Some(default)) => (default.to_owned(), place),
        (None, None) => {
            let (section, entries) = (reader.problems.section(), reader.entries());
            let mut say = |code, place, message: String, help: &str| {
                reader.problems.error::<()>(code, place, [&message, "", help]);
            };
            let help = format!("one of {}", names.join(", "));
            match misspelt(entries, key) {
                Some((name, at)) => {
                    say("E004", at, format!("unknown key `{name}` in {section}"), &suggest(name, &[key]))
                }
                None => say("E005", place, format!("missing key `{key}` in {section}"), &help),
            }
            (String::new(), place)
        }
    }
}

/// The key that was meant to be `key`, which is missing.
fn misspelt<'a>(entries: &'a [(String, Place, Node)], key: &str) -> Option<(&'a str, Place)> {
    let meant = entries.iter().find(|e| suggest(&e.0, &[key]).starts_with("did you mean"));
    meant.map(|e| (e.0.as_str(), e.1))
}

/// `[queue.X]` or a link's inline queue.
pub fn queue(node: &Node, problems: &mut Problems) -> Option<QueueSection> {
    let has = |key| matches!(&node.tree, Tree::Table(table) if table.get(key).is_some());
    match has("scheduler") || has("classes") && !has("aqm") {
        true => classes::read(node, problems).map(QueueSection::Several),
        false => one_queue(node, problems).map(QueueSection::One),
    }
}

fn one_queue(node: &Node, problems: &mut Problems) -> Option<Queue> {
    chosen(node, problems, |reader| {
        let common = <QueueCommon as Params>::read(reader);
        let (name, place) = name_of(reader, ("aqm", Some("drop-tail")), aqm::NAMES);
        let aqm = if name.is_empty() { None } else { AqmParams::read(&name, place, reader) };
        (aqm::NAMES.contains(&name.as_str()), common.zip(aqm).map(|(common, aqm)| Queue { common, aqm }))
    })
}

/// `[conditioner.X]`, with `at` in a scenario, without in a policy.
pub fn conditioner(node: &Node, has_at: bool, problems: &mut Problems) -> Option<ConditionerSection> {
    chosen(node, problems, |reader| {
        let stated = if has_at { at::stated(reader) } else { Some(vec![at::NOWHERE]) };
        let placement = <Placement as Params>::read(reader);
        let (name, place) = name_of(reader, ("kind", None), conditioner::NAMES);
        let at = stated.as_deref().unwrap_or(&[at::NOWHERE]);
        let ports = if name.is_empty() { None } else { at::read(reader, (&name, place), at) };
        let actions = <Actions as Params>::read(reader);
        let read = || Some(ConditionerSection { placement: placement?, ports: ports?, actions: actions? });
        (conditioner::NAMES.contains(&name.as_str()), read().filter(|_| stated.is_some()))
    })
}

fn traffic_section(node: &Node, problems: &mut Problems) -> Option<TrafficSection> {
    chosen(node, problems, |reader| {
        let (name, place) = name_of(reader, ("model", None), traffic::NAMES);
        let model = if name.is_empty() { None } else { TrafficParams::read(&name, place, reader) };
        let common = <TrafficCommon as Params>::read(reader);
        let known = traffic::NAMES.contains(&name.as_str());
        (known, common.zip(model).map(|(common, model)| TrafficSection { common, model }))
    })
}
