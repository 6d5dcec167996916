//! Ports, nodes, queues and traffic that sections with another error name: these names are right or wrong all the same, and all
//! errors of a file are reported in one pass. Sections without an error are checked where they are resolved.

use crate::resolve::ports::{File, find_port};
use crate::sections::stack;
use crate::text::tree::get;
use perhop_core::params::{Node, Problems, Spanned, Tree, suggest};

/// Looks at every section that is left out of all other checks.
pub fn check(file: File<'_>, problems: &mut Problems) {
    let model = file.model;
    for (_, node) in model.conditioners.faulty().filter(|(it, _)| it.section.is_none()) {
        named(node, &["at"]).iter().for_each(|port| _ = find_port(file, port, problems));
        unknown(named(node, &["match", "traffic"]), "E006", "traffic", &model.traffic.names(), problems);
    }
    let nodes: Vec<_> = file.topology.nodes.iter().map(|node| node.name.as_str()).collect();
    let stacks: Vec<_> = stack::NAMES.iter().copied().chain(model.tcp.names()).collect();
    for (_, node) in model.traffic.faulty().filter(|(it, _)| it.section.is_none()) {
        let ends = [named(node, &["from"]), named(node, &["to"])].concat();
        if !nodes.is_empty() {
            unknown(ends, "E232", "node", &nodes, problems);
        }
        unknown(named(node, &["tcp"]), "E006", "tcp", &stacks, problems);
    }
    for (_, node) in model.links.faulty().filter(|(it, _)| it.section.is_none()) {
        unknown(named(node, &["queue"]), "E006", "queue", &model.queues.names(), problems);
    }
}

fn unknown(names: Vec<Spanned<String>>, code: &'static str, noun: &str, known: &[&str], problems: &mut Problems) {
    for name in names.iter().filter(|name| !known.contains(&name.as_str())) {
        problems.error(code, name.place, format!("unknown {noun} `{}`", **name)).help(suggest(name, known));
    }
}

/// The names that a key has: one, those of a list, or the keys of a table.
fn named(node: &Node, path: &[&str]) -> Vec<Spanned<String>> {
    let one = |node: &Node| match &node.tree {
        Tree::Text(name) => Some(Spanned::new(node.place, name.clone())),
        _ => None,
    };
    match get(node, path).map(|found| (found, &found.tree)) {
        Some((_, Tree::List(items))) => items.iter().filter_map(one).collect(),
        Some((_, Tree::Table(table))) if path == ["at"] => {
            table.entries.iter().map(|(name, place, _)| Spanned::new(*place, name.clone())).collect()
        }
        Some((found, _)) => one(found).into_iter().collect(),
        None => Vec::new(),
    }
}
