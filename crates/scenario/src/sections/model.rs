//! A scenario as its file states it: every section read, every fault reported, and the way back.

use super::chosen::table;
use super::conditioner::ConditionerSection;
use super::link::{LinkSection, NodeSection};
use super::queue::QueueSection;
use super::settings::{self, Settings};
use super::tcp::TcpSection;
use super::traffic::TrafficSection;
use crate::text::tree;
use perhop_core::params::{Node, Place, Problems, Reader, Table, Tree, Value, read_table, show_table};
use perhop_core::units::Span;

/// The sections of a scenario file.
pub const SECTIONS: [&str; 10] =
    ["scenario", "nodes", "links", "queue", "conditioner", "traffic", "tcp", "dumbbell", "sweep", "change"];

/// Sections of one kind by name, in the file's order.
pub type Named<T> = Vec<(String, T)>;

/// All sections; `[dumbbell]` is already expanded into them.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// `[scenario]`
    pub settings: Settings,
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
    pub tcp: Named<TcpSection>,
    /// `[[change]]`, in order of time.
    pub changes: Vec<Change>,
}

/// What differs from a time on.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// When.
    pub at: Span,
    /// The effective values that differ from those in force before.
    pub what: Tree,
}

/// The section called `name`.
pub fn find<'a, T>(sections: &'a Named<T>, name: &str) -> Option<&'a T> {
    sections.iter().find(|s| s.0 == name).map(|s| &s.1)
}

impl Model {
    /// Reads all sections. Those with an error are left out, so that the others can still be checked together.
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
            settings: settings::read(table, problems),
            nodes: sections(table, "nodes", problems, read_table::<NodeSection>),
            links: sections(table, "links", problems, read_table::<LinkSection>),
            queues: sections(table, "queue", problems, QueueSection::read),
            conditioners: sections(table, "conditioner", problems, |node, problems| {
                ConditionerSection::read(node, true, problems)
            }),
            traffic: sections(table, "traffic", problems, TrafficSection::read),
            tcp: sections(table, "tcp", problems, read_table),
            changes: Vec::new(),
        }
    }

    /// The whole model with every effective value.
    pub fn tree(&self) -> Tree {
        let mut root = vec![("scenario", show_table(&self.settings))];
        let mut add = |name, tree: Tree| {
            if matches!(&tree, Tree::Table(table) if !table.entries.is_empty()) {
                root.push((name, tree));
            }
        };
        add("nodes", named(&self.nodes, show_table));
        add("links", named(&self.links, show_table));
        add("queue", named(&self.queues, QueueSection::tree));
        add("conditioner", named(&self.conditioners, ConditionerSection::tree));
        add("traffic", named(&self.traffic, TrafficSection::tree));
        add("tcp", named(&self.tcp, show_table));
        if !self.changes.is_empty() {
            root.push(("change", Tree::List(self.changes.iter().map(|it| change(it).into()).collect())));
        }
        Tree::table(root)
    }

    /// Every effective value at the path by which a change states it.
    pub fn effective(&self) -> Node {
        let mut out = Node::from(self.tree());
        if let Some(conditioners) = tree::get_mut(&mut out, &["conditioner"]) {
            conditioners.tree = named(&self.conditioners, ConditionerSection::tree_by_port);
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

/// Sections of one kind.
pub fn named<T>(sections: &Named<T>, show: impl Fn(&T) -> Tree) -> Tree {
    Tree::table(sections.iter().map(|(name, section)| (name.as_str(), show(section))).collect())
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
