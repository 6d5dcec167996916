//! No value of a wrong type in any key panics, and neither an empty name nor an empty list stands for an omitted key.
//!
//! The keys are those of all files of the repository that have an example of each algorithm: every key of every
//! algorithm and section, set once, and every value inside it.

use perhop_core::params::{Field, Node, Problems, Tree};
use perhop_scenario::text::{toml, tree, write};
use perhop_scenario::{Options, Policy, Sweep};
use std::collections::BTreeSet;
use std::path::Path;

/// One value of each type, and those at the edge of each.
const WRONG: [&str; 15] = [
    "5",
    "-1",
    "0",
    "9223372036854775807",
    "0.5",
    "true",
    "\"\"",
    "\"x\"",
    "\"\\u001b[2J\"",
    "\"{1..3}\"",
    "[]",
    "[5]",
    "[[], {}]",
    "{}",
    "{ x = {} }",
];

/// Keys whose names or lists are checked by none: a grid, and changes one by one.
const LISTS: [&str; 2] = ["sweep", "change"];

fn file(path: &Path) -> Option<Node> {
    toml::parse(&std::fs::read_to_string(path).unwrap(), 0, &mut Problems::default())
}

fn files() -> Vec<(String, Node)> {
    let folder = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join(name).read_dir().unwrap();
    let all = ["tests/good", "../../examples"].into_iter().flat_map(folder).map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = all.filter(|path| path.extension().is_some_and(|end| end == "toml")).collect();
    paths.sort();
    paths.iter().filter_map(|path| Some((path.display().to_string(), file(path)?))).collect()
}

/// The algorithm that a section names.
fn algorithm(section: &Node) -> Option<String> {
    ["kind", "aqm", "model", "scheduler"].iter().find_map(|key| Some(tree::get(section, &[key])?.tree.to_string()))
}

/// Paths of every value below `node`, each with what identifies its key: names of sections are left out.
fn values(node: &Node, path: &[String], key: &str, out: &mut Vec<(Vec<String>, String)>) {
    out.push((path.to_vec(), key.to_owned()));
    let mut enter =
        |name: &str, key: String, below: &Node| values(below, &[path, &[name.to_owned()]].concat(), &key, out);
    match &node.tree {
        Tree::Table(table) => table.entries.iter().for_each(|(name, _, below)| {
            let part = if path.len() == 1 { format!("({:?})", algorithm(below)) } else { name.clone() };
            enter(name, format!("{key}.{part}"), below);
        }),
        Tree::List(items) => {
            items.iter().enumerate().take(1).for_each(|(i, item)| enter(&i.to_string(), format!("{key}.#"), item))
        }
        _ => {}
    }
}

/// `root` with `value` at `path`, which may end at a key that it does not have.
fn with(root: &Node, path: &[String], value: &Node) -> Node {
    let Some((first, rest)) = path.split_first() else { return value.clone() };
    let mut root = root.clone();
    match &mut root.tree {
        Tree::Table(table) => match table.entries.iter_mut().find(|e| e.0 == *first) {
            Some(entry) => entry.2 = with(&entry.2, rest, value),
            None => table.entries.push((first.clone(), root.place, value.clone())),
        },
        Tree::List(items) => {
            let i: usize = first.parse().unwrap();
            items[i] = with(&items[i], rest, value);
        }
        _ => unreachable!("{path:?}"),
    }
    root
}

/// What is said of a file: `Err` with its errors.
fn said(policy: bool, text: &str) -> Result<(), String> {
    let options = Options::new("x.toml");
    let found = match policy {
        true => Policy::parse(text, &options).map(|_| ()),
        false => Sweep::parse(text, &options).map(|_| ()),
    };
    found.map_err(|found| {
        assert!(found.errors() > 0, "refused without an error:\n{text}");
        found.to_string()
    })
}

/// Each wrong value at each path that no file had before.
fn try_all(name: &str, root: &Node, seen: &mut BTreeSet<String>) {
    let policy = tree::get(root, &["traffic"]).is_none() && tree::get(root, &["dumbbell"]).is_none();
    let mut all = Vec::new();
    values(root, &[], "", &mut all);
    for (path, section) in sections(root) {
        let more = unset(&section);
        all.extend(
            more.map(|key| ([&path[..], &[key.to_owned()]].concat(), format!("{:?}.{key}", algorithm(&section)))),
        );
    }
    for (path, key) in all.into_iter().filter(|(path, _)| !path.is_empty()) {
        if !seen.insert(key) {
            continue;
        }
        for wrong in WRONG {
            let value = toml::parse(&format!("v = {wrong}"), 0, &mut Problems::default()).unwrap();
            let text = write::toml(&with(root, &path, tree::get(&value, &["v"]).unwrap()).tree);
            let read = said(policy, &text);
            let empty = ["\"\"", "[]"].contains(&wrong) && !LISTS.contains(&path[0].as_str());
            assert!(read.is_err() || !empty, "{name}: {path:?} = {wrong} is accepted\n{text}");
            if let Err(words) = read {
                assert!(!words.chars().any(|c| c.is_control() && c != '\n'), "{name}: {path:?} = {wrong}: {words:?}");
            }
        }
    }
}

/// Every section that names an algorithm.
fn sections(root: &Node) -> Vec<(Vec<String>, Node)> {
    let mut all = Vec::new();
    values(root, &[], "", &mut all);
    let section = |(path, _): (Vec<String>, String)| {
        let names: Vec<_> = path.iter().map(String::as_str).collect();
        let node = tree::get(root, &names)?.clone();
        algorithm(&node).is_some().then_some((path, node))
    };
    all.into_iter().filter_map(section).collect()
}

/// The parameters of its algorithm that a section omits.
fn unset(section: &Node) -> impl Iterator<Item = &'static str> {
    use perhop_core::{aqm, conditioner, sched};
    let lists = [conditioner::LIST, aqm::LIST, sched::LIST, perhop_sim::traffic::LIST];
    let named = algorithm(section).unwrap_or_default();
    let entry = lists.into_iter().flatten().filter(move |entry| format!("{:?}", entry.name) == named);
    let stated: Vec<_> = tree::names(&Node::from(Tree::table(vec![("s", section.tree.clone())])), "s")
        .into_iter()
        .map(str::to_owned)
        .collect();
    let fields = entry.flat_map(|entry| Field::all(entry.fields)).map(|field| field.name);
    fields.filter(move |name| !stated.iter().any(|s| s == name))
}

#[test]
fn no_value_of_a_wrong_type_panics() {
    let mut seen = BTreeSet::new();
    files().iter().for_each(|(name, root)| try_all(name, root, &mut seen));
    assert!(seen.len() > 300, "{} keys", seen.len());
}

/// Every algorithm is among the files: its keys were tried.
#[test]
fn every_algorithm_is_tried() {
    let found: BTreeSet<_> =
        files().iter().flat_map(|(_, root)| sections(root)).filter_map(|(_, node)| algorithm(&node)).collect();
    use perhop_core::{aqm, conditioner, sched};
    for entry in [conditioner::LIST, aqm::LIST, sched::LIST, perhop_sim::traffic::LIST].into_iter().flatten() {
        assert!(found.contains(&format!("{:?}", entry.name)), "{} is in no file", entry.name);
    }
}
