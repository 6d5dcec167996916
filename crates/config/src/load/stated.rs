//! A load that a file states: `[traffic]`, and the `[tcp]` and `[nodes]` that it needs.

use super::{Flow, Load, Look, Node, Sends};
use crate::finding::Fault;
use crate::stub::draft::{Cell, Entry, Section};
use perhop_core::params::{Node as Value, Place, Table, Tree};
use perhop_core::units::{BitRate, Bytes};
use std::net::Ipv4Addr;

/// The sections of a load.
const SECTIONS: [&str; 3] = ["traffic", "tcp", "nodes"];
const HELP: &str = "a load has [traffic] tables, and the [tcp] and [nodes] that they need; the port, its links and queues come from the configuration";

impl Load {
    /// The load that a file's tree states.
    ///
    /// # Errors
    /// It has no `[traffic]`, or another section.
    pub fn stated(root: &Value) -> Result<Self, Fault> {
        let nothing = Table::default();
        let table = if let Tree::Table(table) = &root.tree { table } else { &nothing };
        let refused =
            |place: Option<Place>, message: String| Fault { code: "E318", place, message, help: HELP.to_owned() };
        if let Some((name, place, _)) = table.entries.iter().find(|entry| !SECTIONS.contains(&entry.0.as_str())) {
            return Err(refused(Some(*place), format!("[{name}] in a load")));
        }
        let mut load = Self { stated: Some(sections(table)), ..Self::default() };
        for (name, traffic) in tables(table, "traffic") {
            load.flow_of(name, traffic);
        }
        match load.flows.is_empty() {
            true => Err(refused(None, "the load has no [traffic]".to_owned())),
            false => Ok(load.addressed(table)),
        }
    }

    fn flow_of(&mut self, name: &str, traffic: &Table) {
        let [from, to] = ["from", "to"].map(|end| words(traffic.get(end)));
        from.iter().for_each(|name| self.senders.push(Node { name: name.clone(), address: None }));
        to.iter().for_each(|name| self.receivers.push(Node { name: name.clone(), address: None }));
        let class = words(traffic.get("class")).pop().unwrap_or_else(|| name.to_owned());
        self.flows.push(Flow {
            name: name.to_owned(),
            mark: Some(name.to_owned()),
            class,
            path: Vec::new(),
            sends: Sends::Datagrams(BitRate::default(), Bytes::default()),
            look: Look::default(),
            from: from.into_iter().next().unwrap_or_default(),
            to: to.into_iter().next().unwrap_or_default(),
            takers: Vec::new(),
        });
    }

    /// Each node once, with its address.
    fn addressed(mut self, table: &Table) -> Self {
        let nodes: Vec<_> = tables(table, "nodes").collect();
        for list in [&mut self.senders, &mut self.receivers] {
            let mut known = Vec::new();
            list.retain(|node| {
                !known.contains(&node.name) && {
                    known.push(node.name.clone());
                    true
                }
            });
            for node in list.iter_mut() {
                let stated = nodes.iter().find(|(name, _)| *name == node.name);
                let address = stated.and_then(|(_, table)| words(table.get("address")).pop());
                node.address = address.and_then(|text| text.parse::<Ipv4Addr>().ok());
            }
        }
        let senders = &self.senders;
        self.receivers.retain(|node| !senders.contains(node));
        // The one at the other end of the port's link is not the load's.
        self.receivers.retain(|node| node.name != super::RECEIVER);
        self.receivers.insert(0, Node { name: super::RECEIVER.to_owned(), address: None });
        self
    }
}

/// The tables of a section by name.
fn tables<'a>(table: &'a Table, section: &str) -> impl Iterator<Item = (&'a str, &'a Table)> {
    let entries = table.get(section).and_then(table_of).map_or(&[][..], |table| table.entries.as_slice());
    entries.iter().filter_map(|(name, _, node)| Some((name.as_str(), table_of(node)?)))
}

fn table_of(node: &Value) -> Option<&Table> {
    if let Tree::Table(table) = &node.tree { Some(table) } else { None }
}

/// A name, or several.
fn words(node: Option<&Value>) -> Vec<String> {
    match node.map(|node| &node.tree) {
        Some(Tree::Text(name)) => vec![name.clone()],
        Some(Tree::List(items)) => items.iter().flat_map(|item| words(Some(item))).collect(),
        _ => Vec::new(),
    }
}

/// `[tcp]` and `[traffic]` as they are stated; nodes are written with the others.
fn sections(table: &Table) -> Vec<Section> {
    let mut all = Vec::new();
    for kind in ["tcp", "traffic"] {
        let stated = table.get(kind).and_then(table_of).map_or(&[][..], |table| table.entries.as_slice());
        for (name, place, keys) in stated.iter().filter_map(|(name, place, node)| Some((name, place, table_of(node)?)))
        {
            let mut section = Section { of_load: true, ..Section::new(kind, Some(name), Some(*place)) };
            for (key, place, node) in &keys.entries {
                let cell = Cell::from(&node.tree).at(Some(node.place));
                section.entries.push(Entry { key: key.clone(), from: Some(*place), cell });
            }
            all.push(section);
        }
    }
    all
}
