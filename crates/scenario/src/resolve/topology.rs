//! `[links]` and `[nodes]` -> nodes with addresses, and one direction after another.

use crate::sections::link::LinkSection;
use crate::sections::model::{Model, Named, find};
use crate::sections::queue::{Queue, QueueRef, QueueSection, Scheduled, default_queue};
use crate::text::tree;
use perhop_core::params::{Node, Place, Problems, Severity, Tree, suggest};
use perhop_core::queue::Limit;
use perhop_core::sched::SchedulerParams;
use perhop_core::units::{BitRate, Length, Probability, Span};
use perhop_sim::plan;
use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct Direction {
    /// `"C -> E2"`
    pub name: String,
    /// Index of the node it leaves.
    pub from: usize,
    /// Index of the node it reaches.
    pub to: usize,
    /// The keys of `[links]` it comes from, the one that overrides first.
    pub entries: Vec<String>,
    /// Rate.
    pub rate: BitRate,
    /// Propagation delay.
    pub delay: Span,
    /// Share lost on the wire.
    pub loss: Probability,
    /// Its queues: one, or one for each class of the scheduler.
    pub queues: Vec<PortQueue>,
    /// Which of them sends next.
    pub scheduler: Option<SchedulerParams>,
    /// Where its `queue` stands: a `[queue.X]` or in the link.
    pub path: Vec<String>,
}

/// A queue of a direction.
#[derive(Clone, Debug)]
pub struct PortQueue {
    /// AQM and stated limit.
    pub queue: Queue,
    /// How much may wait.
    pub limit: Limit,
    /// Where it stands.
    pub path: Vec<String>,
}

/// Nodes and directions.
#[derive(Clone, Debug, Default)]
pub struct Topology {
    /// In the order of appearance: `[nodes]`, then `[links]`.
    pub nodes: Vec<plan::Node>,
    /// In the file's order; of a duplex link the direction as written comes first.
    pub links: Vec<Direction>,
    /// Names of the directions that have an error.
    pub faulty: Vec<String>,
    /// Whether every link and node is sound.
    pub complete: bool,
}

impl Topology {
    /// Index of a node.
    pub fn node(&self, name: &str) -> Option<usize> {
        self.nodes.iter().position(|n| n.name == name)
    }

    /// Index of a sound direction, however its arrow is spaced.
    pub fn link(&self, text: &str) -> Option<usize> {
        let name = direction_name(text)?;
        self.links.iter().position(|l| l.name == name)
    }

    /// Whether a direction is known to have an error of its own.
    pub fn is_faulty(&self, text: &str) -> bool {
        direction_name(text).is_some_and(|name| self.faulty.contains(&name))
    }
}

fn direction_name(text: &str) -> Option<String> {
    ends(text).filter(|e| !e.both).map(|e| arrow(e.from, e.to))
}

/// What a key of `[links]` names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ends<'a> {
    from: &'a str,
    to: &'a str,
    both: bool,
}

fn ends(key: &str) -> Option<Ends<'_>> {
    let (from, to, both) = match key.split_once("->") {
        Some((from, to)) => (from, to, false),
        None => key.split_once(" - ").map(|(from, to)| (from, to, true))?,
    };
    let (from, to) = (from.trim(), to.trim());
    (!from.is_empty() && !to.is_empty() && !to.contains("->") && !to.contains(" - ")).then_some(Ends { from, to, both })
}

fn arrow(from: &str, to: &str) -> String {
    format!("{from} -> {to}")
}

/// Fills in what links leave out, so that the model holds every effective value.
pub fn fill_defaults(links: &mut Named<LinkSection>, root: &Node) {
    let keys = Keys::new(root);
    for (name, link) in links {
        if !keys.overrides(name) {
            link.delay.get_or_insert(Span::ZERO);
            link.loss.get_or_insert(Probability::ZERO);
            link.queue.get_or_insert_with(default_queue);
        }
    }
}

/// The keys of `[links]` by the ends they name.
pub struct Keys<'a> {
    all: Vec<&'a str>,
    /// Two-way links, each both ways round.
    duplex: BTreeSet<(&'a str, &'a str)>,
    /// One-way keys; of those that name the same ends the first.
    one_way: BTreeMap<(&'a str, &'a str), &'a str>,
}

impl<'a> Keys<'a> {
    /// Those of a file.
    pub fn new(root: &'a Node) -> Self {
        let mut keys = Self { all: tree::names(root, "links"), duplex: BTreeSet::new(), one_way: BTreeMap::new() };
        for key in &keys.all {
            match ends(key) {
                Some(Ends { from, to, both: true }) => keys.duplex.extend([(from, to), (to, from)]),
                Some(Ends { from, to, both: false }) => _ = keys.one_way.entry((from, to)).or_insert(key),
                None => {}
            }
        }
        keys
    }

    /// Whether a key states what differs in one direction of a two-way link.
    pub fn overrides(&self, key: &str) -> bool {
        ends(key).is_some_and(|e| !e.both && self.duplex.contains(&(e.from, e.to)))
    }
}

/// Reads the topology; links with an error are left out.
pub fn read(model: &Model, root: &Node, problems: &mut Problems) -> Topology {
    let keys = Keys::new(root);
    let from = problems.list.len();
    let topology = Topology { complete: true, ..Topology::default() };
    let mut builder = Builder { model, root, problems, keys, topology };
    tree::names(root, "nodes").iter().for_each(|name| _ = builder.node(name));
    builder.keys.all.clone().iter().for_each(|key| _ = builder.entry(key));
    builder.addresses();
    if builder.keys.all.is_empty() && tree::get(root, &["links"]).is_none_or(|n| matches!(n.tree, Tree::Table(_))) {
        let what =
            ["no links", "", "add [links] with lines such as \"A - B\" = { rate = \"10Mbit/s\", delay = \"5ms\" }"];
        builder.problems.push::<()>(Severity::Error, "E244", None, what);
    }
    let read = model.links.len() == builder.keys.all.len() && model.nodes.len() == tree::names(root, "nodes").len();
    let queues = model.queues.len() == tree::names(root, "queue").len();
    let mut topology = builder.topology;
    topology.complete = read && queues && !topology.links.is_empty() && problems.list.len() == from;
    topology
}

struct Builder<'a> {
    model: &'a Model,
    root: &'a Node,
    problems: &'a mut Problems,
    keys: Keys<'a>,
    topology: Topology,
}

impl Builder<'_> {
    fn node(&mut self, name: &str) -> usize {
        self.topology.node(name).unwrap_or_else(|| {
            let address = Ipv4Addr::UNSPECIFIED;
            self.topology.nodes.push(plan::Node { name: name.to_owned(), address });
            self.topology.nodes.len() - 1
        })
    }

    /// One key of `[links]`: its two directions, its one, or nothing of its own where it overrides.
    fn entry(&mut self, key: &str) -> Option<()> {
        let place = tree::key_place(self.root, &["links", key]);
        let Some(Ends { from, to, both }) = ends(key) else {
            let message = format!("`{key}` is not a link");
            return self.problems.error(
                "E230",
                place,
                [&message, "", "write \"A - B\" (both ways) or \"A -> B\" (one way)"],
            );
        };
        if from == to {
            let help = "a link joins two nodes";
            return self.problems.error("E230", place, [&format!("`{key}` leads from a node to itself"), "", help]);
        }
        if self.keys.overrides(key) {
            return Some(());
        }
        let (from, to) = (self.node(from), self.node(to));
        for (from, to) in [(from, to), (to, from)].into_iter().take(if both { 2 } else { 1 }) {
            if self.direction(key, (from, to)).is_none() {
                let name = arrow(&self.topology.nodes[from].name, &self.topology.nodes[to].name);
                self.topology.faulty.push(name);
            }
        }
        Some(())
    }

    fn direction(&mut self, key: &str, (from, to): (usize, usize)) -> Option<()> {
        let name = arrow(&self.topology.nodes[from].name, &self.topology.nodes[to].name);
        if self.topology.links.iter().any(|l| l.name == name) {
            let place = tree::key_place(self.root, &["links", key]);
            return self.problems.error("E002", place, [&format!("duplicate link `{name}`"), "", "keep one of them"]);
        }
        find(&self.model.links, key)?;
        let way = [from, to].map(|node| self.topology.nodes[node].name.as_str());
        let overriding = self.keys.one_way.get(&way.into()).filter(|other| **other != key);
        let entries: Vec<_> = overriding.copied().into_iter().chain([key]).map(str::to_owned).collect();
        let link = Direction {
            rate: self.rate(&entries)?,
            delay: self.value(&entries, |l| l.delay)?,
            loss: self.value(&entries, |l| l.loss)?,
            queues: Vec::new(),
            scheduler: None,
            path: Vec::new(),
            name,
            from,
            to,
            entries,
        };
        let link = self.queues(link)?;
        self.topology.links.push(link);
        Some(())
    }

    /// What the first of the entries that says something says.
    fn value<T>(&self, entries: &[String], get: impl Fn(&LinkSection) -> Option<T>) -> Option<T> {
        entries.iter().filter_map(|key| find(&self.model.links, key)).find_map(get)
    }

    fn rate(&mut self, entries: &[String]) -> Option<BitRate> {
        let key = entries.last()?;
        let Some(rate) = self.value(entries, |l| l.rate) else {
            let place = tree::place(self.root, &["links", key]);
            let help = "rate of the link, as in rate = \"10Mbit/s\"";
            return self.problems.error("E005", place, [&format!("missing key `rate` in link `{key}`"), "", help]);
        };
        if rate > BitRate::bps(0) {
            return Some(rate);
        }
        let place = tree::place(self.root, &["links", place_key(self.root, entries, "rate"), "rate"]);
        self.problems.error("E201", place, ["`rate` is 0bit/s", "", "above 0"])
    }

    fn queues(&mut self, mut link: Direction) -> Option<Direction> {
        let stated = self.value(&link.entries, |l| l.queue.clone())?;
        let key = place_key(self.root, &link.entries, "queue");
        let path = ["links", key, "queue"].map(str::to_owned).to_vec();
        let (section, path) = self.section(&stated, path)?;
        link.path.clone_from(&path);
        match section {
            QueueSection::One(queue) => link.queues.push(self.queue((queue, path), link.rate)?),
            QueueSection::Several(Scheduled { params, queues }) => {
                link.scheduler = Some(params);
                let own = queues.iter().enumerate().map(|(i, queue)| self.class_queue((i, queue), &link));
                link.queues = own.collect::<Vec<_>>().into_iter().collect::<Option<_>>()?;
            }
        }
        Some(link)
    }

    /// The queue of a scheduler's class, which has no scheduler of its own.
    fn class_queue(&mut self, (i, stated): (usize, &QueueRef), link: &Direction) -> Option<PortQueue> {
        let class = [&link.path[..], &["classes", &i.to_string(), "queue"].map(str::to_owned)].concat();
        let place = place(self.root, &class);
        match self.section(stated, class)? {
            (QueueSection::One(queue), path) => self.queue((queue, path), link.rate),
            (QueueSection::Several(_), _) => {
                let message =
                    format!("class {} of the scheduler of link `{}` has a scheduler itself", i + 1, link.name);
                let help = "a class has one queue: `aqm` with its parameters, and `limit`";
                self.problems.error("E226", place, [&message, "", help])
            }
        }
    }

    /// What is stated at `path`, or what it names, with where that stands.
    fn section(&mut self, stated: &QueueRef, path: Vec<String>) -> Option<(QueueSection, Vec<String>)> {
        match stated {
            QueueRef::Inline(section) => Some((section.clone(), path)),
            QueueRef::Named(name) => match find(&self.model.queues, name) {
                Some(section) => Some((section.clone(), vec!["queue".into(), name.clone()])),
                None => self.unknown_queue(name, &path),
            },
        }
    }

    fn queue(&mut self, (queue, path): (Queue, Vec<String>), rate: BitRate) -> Option<PortQueue> {
        let stated = queue.common.limit;
        let Some(limit) = limit(stated, rate) else {
            let place = place(self.root, &[&path[..], &["limit".to_owned()]].concat());
            let help =
                "at least one packet: packets (\"50p\"), bytes (\"62500B\") or time at the link's rate (\"20ms\")";
            return self.problems.error("E217", place, [&format!("`limit` is {stated}"), "", help]);
        };
        Some(PortQueue { queue, limit, path })
    }

    fn unknown_queue<T>(&mut self, name: &str, path: &[String]) -> Option<T> {
        let names = tree::names(self.root, "queue");
        if names.contains(&name) {
            return None;
        }
        let help = match names.is_empty() {
            true => format!("add [queue.{name}]"),
            false => suggest(name, &names),
        };
        self.problems.error("E006", place(self.root, path), [&format!("unknown queue `{name}`"), "", &help])
    }

    /// Stated addresses first; the rest are 10.0.n.1, n the number of the node, where that is free.
    fn addresses(&mut self) {
        let mut taken: Vec<(Ipv4Addr, &str)> = Vec::new();
        for (name, section) in &self.model.nodes {
            let Some(address) = section.address else { continue };
            if let Some((_, other)) = taken.iter().find(|t| t.0 == address.0) {
                let place = tree::place(self.root, &["nodes", name, "address"]);
                let message = format!("address {} is also that of `{other}`", address.0);
                self.problems.error::<()>("E243", place, [&message, "", "an address belongs to one node"]);
            }
            taken.push((address.0, name));
        }
        let free = |a: &Ipv4Addr| taken.iter().all(|t| t.0 != *a);
        let mut automatic = (1u32..).map(|n| Ipv4Addr::from_bits((10 << 24) + (n << 8) + 1)).filter(free);
        for node in &mut self.topology.nodes {
            let stated = find(&self.model.nodes, &node.name).and_then(|section| section.address);
            node.address = stated.map_or_else(|| automatic.next().unwrap_or(Ipv4Addr::UNSPECIFIED), |a| a.0);
        }
    }
}

/// The entry that states `field`, the last (which covers both directions) if none does.
pub fn place_key<'a>(root: &Node, entries: &'a [String], field: &str) -> &'a str {
    let states = |key: &&String| tree::get(root, &["links", key, field]).is_some();
    entries.iter().find(states).or(entries.last()).map_or("", |key| key)
}

/// The place of what stands at `path`.
pub fn place(root: &Node, path: &[String]) -> Place {
    tree::place(root, &path.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The place of a parameter of what stands at `path`: `in.min`, for one.
pub fn place_of(root: &Node, path: &[String], field: &str) -> Place {
    place(root, &[path, &field.split('.').map(str::to_owned).collect::<Vec<_>>()].concat())
}

/// `None` for a share of itself, or without room for a single packet.
fn limit(length: Length, rate: BitRate) -> Option<Limit> {
    match length {
        Length::Packets(n) => (n.get() > 0).then_some(Limit::Packets(n.get())),
        Length::Bytes(n) => (n.get() > 0).then_some(Limit::Bytes(n.get())),
        Length::Time(span) => limit(Length::Bytes(rate * span), rate),
        Length::Percent(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_links() {
        assert_eq!(ends("s-1 - E1"), Some(Ends { from: "s-1", to: "E1", both: true }));
        assert_eq!(ends("C->E2"), Some(Ends { from: "C", to: "E2", both: false }));
        for bad in ["C", "C-E2", " -> E2", "A - B - C", "A -> B -> C", ""] {
            assert_eq!(ends(bad), None, "{bad}");
        }
        let root = crate::text::toml::parse("[links]\n'A - B' = 1\n'C -> B' = 1", 0, &mut Vec::new()).unwrap();
        let keys = Keys::new(&root);
        assert!(keys.overrides("B -> A") && keys.overrides("A->B"));
        assert!(!keys.overrides("B -> C") && !keys.overrides("A -> C") && !keys.overrides("A - B"));
    }

    #[test]
    fn limits() {
        let rate = BitRate::mbps(8);
        assert_eq!(limit(Length::Time(Span::from_ms(5)), rate), Some(Limit::Bytes(5000)));
        assert_eq!(limit(Length::Percent(50.0), rate), None);
        assert_eq!(limit("0p".parse().unwrap(), rate), None);
    }
}
