//! A scenario as its file states it: every section read, every fault reported, and written back.

use super::chosen::table;
use super::conditioner::ConditionerSection;
use super::link::{LinkSection, NodeSection};
use super::named::Named;
use super::queue::QueueSection;
use super::settings::{self, Settings};
use super::tcp::TcpSection;
use super::traffic::TrafficSection;
use crate::text::{tree, write};
use perhop_core::params::{Located, Node, Problems, Reader, Spanned, Table, Tree, Value, read_table, show_table};
use perhop_core::units::Span;

/// The sections of a scenario file.
pub const SECTIONS: [&str; 10] =
    ["scenario", "nodes", "links", "queue", "conditioner", "traffic", "tcp", "dumbbell", "sweep", "change"];

/// All sections; `[dumbbell]` is already expanded into them.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// `[scenario]`
    pub settings: Spanned<Settings>,
    /// `[nodes]`: those that are declared.
    pub nodes: Named<NodeSection>,
    /// `[links]`
    pub links: Named<LinkSection>,
    /// `[queue]`
    pub queues: Named<QueueSection>,
    /// `[conditioner]`
    pub conditioners: Named<ConditionerSection>,
    /// `[traffic]`
    pub traffic: Named<TrafficSection>,
    /// `[tcp]`
    pub tcp: Named<Located<TcpSection>>,
    /// `[[change]]`, in order of time.
    pub changes: Vec<Change>,
}

/// What differs from a given time.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// When.
    pub at: Span,
    /// The effective values that differ from those in force before.
    pub what: Tree,
}

impl Model {
    /// Reads all sections. Those with an error are skipped, so that the others can still be checked together.
    /// The tree has no `[dumbbell]` and no `[[change]]` any more.
    pub fn read(root: &Node, problems: &mut Problems) -> Self {
        let nothing = Table::default();
        let table = table(root, problems).unwrap_or(&nothing);
        let mut reader = Reader::new(table, root.place, problems);
        for name in SECTIONS {
            reader.take(name);
        }
        reader.finish();
        Self {
            settings: settings::read(table, root.place, problems),
            nodes: Named::read(table, ("nodes", &["address"]), problems, read_table),
            links: Named::read(table, ("links", &["loss", "mtu", "queue", "reorder"]), problems, read_table),
            queues: Named::read(table, ("queue", &[]), problems, QueueSection::read),
            conditioners: Named::read(table, ("conditioner", ConditionerSection::SPARE), problems, |node, problems| {
                ConditionerSection::read(node, true, problems)
            }),
            traffic: Named::read(table, ("traffic", TrafficSection::SPARE), problems, TrafficSection::read),
            tcp: Named::read(table, ("tcp", &[]), problems, Value::read),
            changes: Vec::new(),
        }
    }

    /// The whole model with every effective value.
    pub fn tree(&self) -> Tree {
        let mut root = vec![("scenario", show_table(&self.settings.value))];
        let mut add = |name, tree: Tree| {
            if matches!(&tree, Tree::Table(table) if !table.entries.is_empty()) {
                root.push((name, tree));
            }
        };
        add("nodes", self.nodes.tree(show_table));
        add("links", self.links.tree(show_table));
        add("queue", self.queues.tree(QueueSection::tree));
        add("conditioner", self.conditioners.tree(ConditionerSection::tree));
        add("traffic", self.traffic.tree(TrafficSection::tree));
        add("tcp", self.tcp.tree(|section| show_table(&section.value)));
        if !self.changes.is_empty() {
            root.push(("change", Tree::List(self.changes.iter().map(|it| change(it).into()).collect())));
        }
        Tree::table(root)
    }

    /// The same as text ([`write::toml`]), with these settings in place of those it has: section by section, so that not
    /// all of it is in memory as a tree.
    pub fn toml(&self, settings: &Settings) -> String {
        let mut out = write::toml(&Tree::table(vec![("scenario", show_table(settings))]));
        self.nodes.write("nodes", &mut out, show_table);
        self.links.write("links", &mut out, show_table);
        self.queues.write("queue", &mut out, QueueSection::tree);
        self.conditioners.write("conditioner", &mut out, ConditionerSection::tree);
        self.traffic.write("traffic", &mut out, TrafficSection::tree);
        self.tcp.write("tcp", &mut out, |section| show_table(&section.value));
        write::changes(&mut out, "change", self.changes.iter().map(|it| Node::from(change(it))));
        out
    }

    /// Every effective value at the path by which a change states it.
    pub fn effective(&self) -> Node {
        let mut out = Node::from(self.tree());
        if let Some(conditioners) = tree::get_mut(&mut out, &["conditioner"]) {
            conditioners.tree = self.conditioners.tree(ConditionerSection::tree_by_port);
        }
        out
    }
}

fn change(change: &Change) -> Tree {
    let mut entries: Vec<(&str, Tree)> = change.at.tree().map(|at| ("at", at)).into_iter().collect();
    if let Tree::Table(what) = &change.what {
        entries.extend(what.entries.iter().map(|(name, _, node)| (name.as_str(), node.tree.clone())));
    }
    Tree::table(entries)
}
