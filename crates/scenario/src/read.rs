//! Tree -> model: every section read by its declaration, every fault reported.

use crate::model::{Model, Named};
use crate::sections::{
    Actions, ConditionerSection, LinkSection, NodeSection, Placement, Queue, QueueCommon, Settings, TrafficCommon,
    TrafficSection,
};
use perhop_core::aqm::{self, AqmParams};
use perhop_core::conditioner::{self, ConditionerParams};
use perhop_core::params::{Kind, Node, Params, Place, Problems, Reader, Table, Tree, Value, read_table};
use perhop_sim::traffic::{self, TrafficParams};

/// The sections of a scenario file.
pub const SECTIONS: [&str; 9] =
    ["scenario", "nodes", "links", "queue", "conditioner", "traffic", "tcp", "dumbbell", "sweep"];

/// Reads all sections; `None` if any has an error. The tree has no `[dumbbell]` any more.
pub fn model(root: &Node, problems: &mut Problems) -> Option<Model> {
    let table = table(root, problems)?;
    let mut reader = Reader::new(table, root.place, problems);
    for name in SECTIONS {
        reader.take(name);
    }
    reader.finish();
    let settings = settings(table, problems);
    let nodes = sections(table, "nodes", problems, read_table::<NodeSection>);
    let links = sections(table, "links", problems, read_table::<LinkSection>);
    let queues = sections(table, "queue", problems, queue);
    let conditioners = sections(table, "conditioner", problems, |node, problems| conditioner(node, true, problems));
    let traffic = sections(table, "traffic", problems, traffic_section);
    let tcp = sections(table, "tcp", problems, read_table);
    Some(Model {
        settings: settings?,
        nodes: nodes?,
        links: links?,
        queues: queues?,
        conditioners: conditioners?,
        traffic: traffic?,
        tcp: tcp?,
    })
}

/// A node that has to be a table.
fn table<'a>(node: &'a Node, problems: &mut Problems) -> Option<&'a Table> {
    match &node.tree {
        Tree::Table(table) => Some(table),
        _ => problems.wrong_type(node, &Kind::Table(&[])),
    }
}

fn settings(root: &Table, problems: &mut Problems) -> Option<Settings> {
    let empty = Tree::table(vec![]).into();
    problems.within("scenario", |problems| read_table(root.get("scenario").unwrap_or(&empty), problems))
}

/// All sections `[kind.X]`, each read by `read`; all are read even if one has an error.
pub fn sections<T>(
    root: &Table,
    kind: &'static str,
    problems: &mut Problems,
    read: impl Fn(&Node, &mut Problems) -> Option<T>,
) -> Option<Named<T>> {
    let Some(node) = root.get(kind) else { return Some(Vec::new()) };
    problems.within(kind, |problems| {
        let table = table(node, problems)?;
        let one = |(name, place, node): &(String, Place, Node)| {
            let section = problems.within(name, |problems| read(node, problems));
            let named = if printable(name) { Some(name.clone()) } else { unprintable(*place, problems) };
            Some((named?, section?))
        };
        let read: Vec<_> = table.entries.iter().map(one).collect();
        read.into_iter().collect()
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
fn chosen<T>(node: &Node, problems: &mut Problems, read: impl FnOnce(&mut Reader<'_>) -> (bool, Option<T>)) -> Option<T> {
    let table = table(node, problems)?;
    let mut reader = Reader::new(table, node.place, problems);
    let (known, out) = read(&mut reader);
    if known {
        reader.finish();
    }
    out
}

/// The name of the algorithm: what stands at `key`, or `default`.
fn name_of(reader: &mut Reader<'_>, what: (&'static str, Option<&'static str>), names: &[&str]) -> (String, Place) {
    let (key, default) = what;
    let place = reader.place_of(key);
    match (reader.take(key), default) {
        (Some(node), _) => (String::read(node, reader.problems).unwrap_or_default(), place),
        (None, Some(default)) => (default.to_owned(), place),
        (None, None) => {
            let message = format!("missing key `{key}` in {}", reader.problems.section());
            let help = format!("one of {}", names.join(", "));
            reader.problems.error::<()>("E005", place, [&message, "", &help]);
            (String::new(), place)
        }
    }
}

/// `[queue.X]` or a link's inline queue.
pub fn queue(node: &Node, problems: &mut Problems) -> Option<Queue> {
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
        let at = if has_at { ports(reader) } else { Some(Vec::new()) };
        let placement = <Placement as Params>::read(reader);
        let (name, place) = name_of(reader, ("kind", None), conditioner::NAMES);
        let params = if name.is_empty() { None } else { ConditionerParams::read(&name, place, reader) };
        let actions = <Actions as Params>::read(reader);
        let read = || Some(ConditionerSection { at: at?, placement: placement?, params: params?, actions: actions? });
        (conditioner::NAMES.contains(&name.as_str()), read())
    })
}

/// `at`: one port or a list, at least one.
fn ports(reader: &mut Reader<'_>) -> Option<Vec<String>> {
    let place = reader.place_of("at");
    let ports = reader.take("at").map_or_else(|| Some(Vec::new()), |node| Vec::<String>::read(node, reader.problems))?;
    if ports.is_empty() {
        let message = format!("missing key `at` in {}", reader.problems.section());
        return reader.problems.error("E005", place, [&message, "", "the port it sits at, as in \"E1 -> C\", or a list"]);
    }
    Some(ports)
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
