//! `[links]` and `[nodes]` -> nodes with addresses, and one direction after another.

use super::ends::{Ends, Keys, arrow, direction_name, ends};
use super::wire;
use crate::sections::link::LinkSection;
use crate::sections::model::Model;
use crate::sections::named::{Declared, Named};
use crate::sections::queue::{
    AqmRate, DEFAULT_LIMIT, Queue, QueueRef, QueueSection, Scheduled, default_drop_tail, default_queue, has_classes,
};
use perhop_core::accounting::Accounting;
use perhop_core::params::{Located, Place, Problems, Spanned, suggest};
use perhop_core::port::{Limit, ShaperParams};
use perhop_core::sched::{self, AnyScheduler, Scheduler as _, SchedulerParams};
use perhop_core::scope::{Predecessors, Scope};
use perhop_core::units::{BitRate, Bytes, Length, Probability, Span};
use perhop_sim::plan::{self, Transit};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::Ipv4Addr;
use std::sync::Arc;

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct Direction {
    /// `"C -> E2"`
    pub name: String,
    /// Index of the node it leaves.
    pub from: usize,
    /// Index of the node it reaches.
    pub to: usize,
    /// Rate.
    pub rate: Spanned<BitRate>,
    /// Which bytes of a packet the rate counts; `None`: not stated, the IP packet.
    pub framing: Option<Accounting>,
    /// Propagation delay.
    pub delay: Span,
    /// What happens to packets on the wire beyond the delay.
    pub wire: Wire,
    /// The largest packet it carries.
    pub mtu: Option<Spanned<Bytes>>,
    /// Its queues: one, or those at the leaves of the tree.
    pub queues: Vec<PortQueue>,
    /// The tree of schedulers and shapers above the queues; empty: there is one queue.
    pub nodes: Vec<PortNode>,
    /// The `[queue.X]` that it names.
    pub queue: Option<Arc<str>>,
    /// Names of the conditioners at its port, in order.
    pub conditioners: Predecessors,
}

/// What happens to packets on the wire beyond the delay.
#[derive(Clone, Copy, Debug)]
pub struct Wire {
    /// Share lost.
    pub loss: Probability,
    /// How their times differ.
    pub transit: Transit,
}

impl Direction {
    /// What is at the root of its tree.
    pub fn scheduler(&self) -> Option<&Located<SchedulerParams>> {
        self.nodes.first()?.scheduler.as_ref()
    }
}

/// A node of the tree of a direction's queues; parents come before their children.
#[derive(Clone, Debug)]
pub struct PortNode {
    /// Index of the node above.
    pub parent: Option<usize>,
    /// What holds back all that leaves it.
    pub shaper: Option<Located<ShaperParams>>,
    /// Its scheduler; `None` if it is a queue.
    pub scheduler: Option<Located<SchedulerParams>>,
    /// Index of its queue, if it is one.
    pub queue: Option<usize>,
    /// The `[queue.X]` that it is.
    pub name: Option<Arc<str>>,
    /// Where it is stated.
    pub place: Place,
    /// The rate that bounds what leaves it: the link's, that of a shaper or of a class above it, or its own shaper's.
    pub bound: BitRate,
}

impl PortNode {
    /// What of it stays as it is during a run: its parent, its queue, whether it has a scheduler and a shaper.
    pub fn form(&self) -> (Option<usize>, Option<usize>, bool, bool) {
        (self.parent, self.queue, self.scheduler.is_some(), self.shaper.is_some())
    }
}

/// A queue of a direction.
#[derive(Clone, Debug)]
pub struct PortQueue {
    /// AQM and stated limit.
    pub queue: Arc<Queue>,
    /// How much may wait.
    pub limit: Limit,
    /// The `[queue.X]` that it is.
    pub name: Option<Arc<str>>,
    /// The rate that its AQM is told: the one that bounds it, or its class's share of that (`aqm-rate`).
    pub rate: BitRate,
}

impl PortQueue {
    /// The place of one of its keys: `in.min`, for one.
    pub fn place(&self, key: &str) -> Place {
        self.queue.aqm.place(key)
    }
}

/// Nodes and directions.
#[derive(Clone, Debug, Default)]
pub struct Topology {
    /// In the order of appearance: `[nodes]`, then `[links]`.
    pub nodes: plan::Shared<plan::Node>,
    /// In the file's order; of a duplex link the direction as written comes first.
    pub links: Vec<Direction>,
    /// Indices of the nodes by name.
    node_of: HashMap<String, u32>,
    /// Indices of the links by those of their nodes.
    link_of: HashMap<[u32; 2], u32>,
    /// Names of the directions that have an error.
    faulty: BTreeSet<String>,
    /// Whether every link is here, so that routes can be found; a queue may have an error.
    pub complete: bool,
    /// Whether every link, node and queue is sound.
    pub whole: bool,
}

impl Topology {
    /// Index of a node.
    pub fn node(&self, name: &str) -> Option<usize> {
        self.node_of.get(name).map(|&index| index as usize)
    }

    /// Index of a sound direction, however its arrow is spaced.
    pub fn link(&self, text: &str) -> Option<usize> {
        let Ends { from, to, both: false } = ends(text)? else { return None };
        self.link_of.get(&[*self.node_of.get(from)?, *self.node_of.get(to)?]).map(|&index| index as usize)
    }

    /// Whether a direction itself is known to have an error.
    pub fn is_faulty(&self, text: &str) -> bool {
        direction_name(text).is_some_and(|name| self.faulty.contains(&name))
    }
}

/// Fills in what links omit, so that the model holds every effective value.
pub fn fill_defaults(links: &mut Named<LinkSection>) {
    let keys = Keys::new(links.names());
    let whole: Vec<_> = links.sound().map(|(name, _)| !keys.overrides(name)).collect();
    for ((_, place, link), _) in links.sound_mut().zip(whole).filter(|(_, whole)| *whole) {
        link.delay.get_or_insert(Span::ZERO);
        link.loss.get_or_insert(Probability::ZERO);
        link.queue.get_or_insert_with(|| default_queue(place));
    }
}

/// The conditioners of ports, by name and in order.
#[derive(Clone, Debug, Default)]
pub struct Conditioners {
    /// At each port.
    by_port: BTreeMap<String, Predecessors>,
    /// At all others.
    others: Predecessors,
}

impl Conditioners {
    /// Those of a scenario. One with an error may be at any port.
    pub fn of(model: &Model) -> Self {
        let others: Vec<_> = model.conditioners.faulty().map(|(it, _)| it.name.to_string()).collect();
        let mut by_port = BTreeMap::<_, Vec<_>>::new();
        for (name, section) in model.conditioners.sound() {
            let ports = section.ports.iter().filter_map(|port| direction_name(port.name.as_ref()?));
            ports.for_each(|port| by_port.entry(port).or_insert_with(|| others.clone()).push(name.to_owned()));
        }
        let by_port = by_port.into_iter().map(|(port, names)| (port, names.into())).collect();
        Self { by_port, others: others.into() }
    }

    /// These, at every port.
    pub fn everywhere(names: &Predecessors) -> Self {
        Self { by_port: BTreeMap::new(), others: names.clone() }
    }

    fn at(&self, port: &str) -> Predecessors {
        self.by_port.get(port).unwrap_or(&self.others).clone()
    }
}

/// Reads the topology; links with an error are skipped.
pub fn read(model: &Model, conditioners: &Conditioners, problems: &mut Problems) -> Topology {
    let keys = Keys::new(model.links.names());
    let from = problems.list.len();
    let topology = Topology::default();
    let mut builder = Builder { model, conditioners, problems, keys, topology };
    model.nodes.names().iter().for_each(|name| _ = builder.node(name));
    let entries: Vec<_> = model.links.declared().iter().map(|link| builder.entry(link)).collect();
    builder.addresses();
    if model.links.declared().is_empty() && !model.links.malformed {
        no_links(model, builder.problems);
    }
    let read = model.links.all_sound() && model.nodes.all_sound() && model.queues.all_sound();
    let mut topology = builder.topology;
    topology.complete = !topology.links.is_empty() && topology.faulty.is_empty() && !entries.contains(&None);
    topology.whole = read && topology.complete && problems.list.len() == from;
    topology
}

/// Reports that there are none. What has only traffic may be a load, which a configuration is predicted with.
fn no_links(model: &Model, problems: &mut Problems) {
    const ADD: &str = "add [links] with lines such as \"A - B\" = { rate = \"10Mbit/s\", delay = \"5ms\" }";
    let is_load = model.queues.names().is_empty()
        && model.conditioners.names().is_empty()
        && !model.traffic.declared().is_empty();
    match is_load {
        true => {
            let help = format!(
                "give a load with a device's configuration, as in `perhop predict router.cfg --load FILE`; for a scenario {ADD}"
            );
            problems.error("E244", None, "no links: [traffic] alone is a load and no scenario").help(help)
        }
        false => problems.error("E244", None, "no links").help(ADD),
    };
}

/// Where in a port's tree something is.
#[derive(Clone, Copy)]
struct Branch<'a> {
    /// The node above.
    parent: Option<usize>,
    /// The rate that bounds it.
    bound: BitRate,
    /// What those below it are told: that rate, or a class's share of it.
    told: BitRate,
    /// The named queues above.
    above: &'a [&'a str],
}

struct Builder<'a> {
    model: &'a Model,
    conditioners: &'a Conditioners,
    problems: &'a mut Problems,
    keys: Keys<'a>,
    topology: Topology,
}

impl<'a> Builder<'a> {
    fn node(&mut self, name: &str) -> usize {
        self.topology.node(name).unwrap_or_else(|| {
            let address = Ipv4Addr::UNSPECIFIED;
            let index = self.topology.nodes.len();
            self.topology.nodes.push(plan::Node { name: name.to_owned(), address });
            self.topology.node_of.insert(name.to_owned(), index as u32);
            index
        })
    }

    /// One key of `[links]`: its two directions, its one, or nothing if it only overrides.
    fn entry(&mut self, link: &'a Declared<LinkSection>) -> Option<()> {
        let (key, place) = (&*link.name, link.key);
        let Some(Ends { from, to, both }) = ends(key) else {
            let message = format!("`{key}` is not a link");
            return self
                .problems
                .error("E230", place, message)
                .help("write \"A - B\" (both directions) or \"A -> B\" (one way)")
                .none();
        };
        if from == to {
            let help = "a link joins two nodes";
            return self
                .problems
                .error("E230", place, format!("`{key}` leads from a node to itself"))
                .help(help)
                .none();
        }
        if self.keys.overrides(key) {
            return link.section.as_ref().map(|_| ());
        }
        let (from, to) = (self.node(from), self.node(to));
        for (from, to) in [(from, to), (to, from)].into_iter().take(if both { 2 } else { 1 }) {
            if self.direction(link, from, to).is_none() {
                let name = arrow(&self.topology.nodes[from].name, &self.topology.nodes[to].name);
                self.topology.faulty.insert(name);
            }
        }
        Some(())
    }

    fn direction(&mut self, stated: &'a Declared<LinkSection>, from: usize, to: usize) -> Option<()> {
        let name = arrow(&self.topology.nodes[from].name, &self.topology.nodes[to].name);
        let ends = [from as u32, to as u32];
        if self.topology.link_of.contains_key(&ends) {
            return self
                .problems
                .error("E002", stated.key, format!("duplicate link `{name}`"))
                .help("keep one of them")
                .none();
        }
        let own = stated.section.as_ref()?;
        let way = [from, to].map(|node| self.topology.nodes[node].name.as_str());
        let overriding = self.keys.one_way.get(&way.into()).filter(|other| **other != &*stated.name);
        let overriding = overriding.and_then(|key| self.model.links.get(key));
        let entries: Vec<&'a LinkSection> = overriding.into_iter().chain([own]).collect();
        let link = Direction {
            rate: self.rate(stated, &entries)?,
            framing: entries.iter().find_map(|l| l.framing).map(|stated| *stated),
            delay: entries.iter().find_map(|l| l.delay)?,
            wire: Wire { loss: entries.iter().find_map(|l| l.loss)?, transit: wire::transit(&entries, self.problems)? },
            mtu: entries.iter().find_map(|l| l.mtu),
            queues: Vec::new(),
            nodes: Vec::new(),
            queue: None,
            conditioners: self.conditioners.at(&name),
            name,
            from,
            to,
        };
        let queue = entries.iter().find_map(|l| l.queue.as_ref())?;
        let link = self.queues(link, queue);
        self.topology.link_of.insert(ends, self.topology.links.len() as u32);
        self.topology.links.push(link);
        Some(())
    }

    /// What the first of the entries that states a rate states; above 0.
    fn rate(&mut self, link: &Declared<LinkSection>, entries: &[&LinkSection]) -> Option<Spanned<BitRate>> {
        let Some(rate) = entries.iter().find_map(|l| l.rate) else {
            let message = format!("missing key `rate` in link `{}`", link.name);
            let help = "add the rate of the link, as in rate = \"10Mbit/s\"";
            return self.problems.error("E005", link.place, message).help(help).none();
        };
        if *rate > BitRate::bps(0) {
            return Some(rate);
        }
        self.problems.error("E201", rate.place, "`rate` is 0bit/s").help("must be above 0").none()
    }

    /// A link's queues; in place of those with an error the default one, so that the rest can be checked.
    fn queues(&mut self, mut link: Direction, stated: &'a Spanned<QueueRef>) -> Direction {
        let at = Branch { parent: None, bound: *link.rate, told: *link.rate, above: &[] };
        if self.branch(&mut link, stated, at).is_none() {
            let (queue, rate) = (default_drop_tail(stated.place), *link.rate);
            let limit = Limit::Packets(DEFAULT_LIMIT);
            (link.nodes, link.queues) = (Vec::new(), vec![PortQueue { queue, limit, name: None, rate }]);
        }
        link.queue = link.nodes.first().map_or_else(|| link.queues[0].name.clone(), |root| root.name.clone());
        link
    }

    /// A node of a port's tree with all that is below it. A single queue without a shaper is no tree.
    fn branch(&mut self, link: &mut Direction, stated: &'a Spanned<QueueRef>, at: Branch<'_>) -> Option<()> {
        let (section, name) = self.section(stated)?;
        if let Some(name) = name.as_ref().filter(|name| at.above.contains(&&***name)) {
            let message = format!("[queue.{name}] is its own ancestor");
            let way = at.above.iter().chain([&&**name]).copied().collect::<Vec<_>>().join(" > ");
            let problem = self.problems.error("E228", stated.place, message).label(way);
            return problem.help("a class needs another queue than the one it is in").none();
        }
        let (shaped, index) = (section.shaped().clone(), link.nodes.len());
        let [bound, told] =
            [at.bound, at.told].map(|rate| shaped.shape.as_ref().map_or(rate, |shape| shape.rate.min(rate)));
        let node = PortNode {
            parent: at.parent,
            shaper: shaped.shape,
            scheduler: None,
            queue: None,
            name: name.clone(),
            place: stated.place,
            bound,
        };
        let above: Vec<_> = at.above.iter().copied().chain(name.as_deref()).collect();
        match section {
            QueueSection::One(queue) => {
                if at.parent.is_some() || node.shaper.is_some() {
                    link.nodes.push(PortNode { queue: Some(link.queues.len()), ..node });
                }
                let queue = self.queue(queue.clone(), name, told)?;
                link.queues.reserve_exact(1);
                link.queues.push(queue);
            }
            QueueSection::Several(scheduled) => {
                let Scheduled { params, queues, telling, .. } = scheduled.as_ref();
                let classes = Classes::new(params, &link.conditioners);
                let rates = |place| {
                    let [bound, bounded] = [bound, told].map(|rate| classes.bound(place, rate));
                    let share =
                        telling.aqm_rate.filter(|rate| *rate == AqmRate::Share).map(|_| classes.share(place, told));
                    [bound, share.unwrap_or(bounded)]
                };
                let mut params = params.clone();
                params.value.name_templates(name.as_deref().unwrap_or(&link.name));
                link.nodes.push(PortNode { scheduler: Some(params.clone()), ..node });
                let all = queues.iter().enumerate().map(|(place, queue)| {
                    let [bound, told] = rates(place);
                    self.branch(link, queue, Branch { parent: Some(index), bound, told, above: &above })
                });
                all.collect::<Vec<_>>().into_iter().collect::<Option<()>>()?;
            }
        }
        Some(())
    }

    /// What is stated, or what it names, with that name.
    fn section(&mut self, stated: &'a Spanned<QueueRef>) -> Option<(&'a QueueSection, Option<Arc<str>>)> {
        match &stated.value {
            QueueRef::Inline(section) => Some((section, None)),
            QueueRef::Named(name) => match self.model.queues.find(name) {
                Some(Declared { name, section: Some(section), .. }) => Some((section, Some(name.clone()))),
                _ => self.unknown_queue(name, stated.place),
            },
        }
    }

    fn queue(&mut self, queue: Arc<Queue>, name: Option<Arc<str>>, rate: BitRate) -> Option<PortQueue> {
        let Spanned { place, value: stated } = queue.common.limit;
        let Some(limit) = limit(stated, rate) else {
            let help = "must be at least one packet: write packets (\"50p\"), bytes (\"62500B\") or time at the link's rate (\"20ms\")";
            return self.problems.error("E217", place, format!("`limit` is {stated}")).help(help).none();
        };
        Some(PortQueue { queue, limit, name, rate })
    }

    fn unknown_queue<T>(&mut self, name: &str, place: Place) -> Option<T> {
        let names = self.model.queues.names();
        if names.contains(&name) {
            return None;
        }
        let help = match names.is_empty() {
            true => format!("add [queue.{name}]"),
            false => suggest(name, &names),
        };
        self.problems.error("E006", place, format!("unknown queue `{name}`")).help(help).none()
    }

    /// Stated addresses first; the rest are 10.0.n.1, n the number of the node, if that is free.
    fn addresses(&mut self) {
        let mut taken = BTreeMap::<Ipv4Addr, &str>::new();
        for (name, section) in self.model.nodes.sound() {
            let Some(address) = section.address else { continue };
            if let Some(other) = taken.get(&address.0) {
                let message = format!("address {} is also that of `{other}`", address.0);
                self.problems.error("E243", address.place, message).help("an address belongs to one node");
            }
            taken.entry(address.0).or_insert(name);
        }
        let free = |a: &Ipv4Addr| !taken.contains_key(a);
        let mut automatic = (1u32..).map(|n| Ipv4Addr::from_bits((10 << 24) + (n << 8) + 1)).filter(free);
        for node in &mut self.topology.nodes {
            let stated = self.model.nodes.get(&node.name).and_then(|section| section.address);
            node.address = stated.map_or_else(|| automatic.next().unwrap_or(Ipv4Addr::UNSPECIFIED), |a| a.0);
        }
    }
}

/// The classes of a scheduler, as far as they have rates. One that cannot be built is reported where it is checked; flows
/// have no rates.
struct Classes(Option<AnyScheduler>);

impl Classes {
    fn new(params: &SchedulerParams, conditioners: &Predecessors) -> Self {
        let (largest_packet, conditioners) = (Bytes::new(0), conditioners.clone());
        let any_packet = Scope { largest_packet, conditioners, ..Scope::default() };
        let classful = sched::LIST.iter().any(|entry| entry.name == params.name() && has_classes(entry));
        Self(classful.then(|| params.build(&any_packet).ok()).flatten())
    }

    fn at(&self, place: usize) -> Option<&AnyScheduler> {
        self.0.as_ref().filter(|it| place < it.places())
    }

    /// What one is never served faster than, of `whole` for all.
    fn bound(&self, place: usize, whole: BitRate) -> BitRate {
        self.at(place).and_then(|it| it.bound(place)).map_or(whole, |bound| bound.min(whole))
    }

    /// What one can count on, of `whole` for all.
    fn share(&self, place: usize, whole: BitRate) -> BitRate {
        self.at(place).map_or(whole, |it| it.share(place, whole))
    }
}

/// `None` for a share of itself, or if too small for a single packet.
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
    fn limits() {
        let rate = BitRate::mbps(8);
        assert_eq!(limit(Length::Time(Span::from_ms(5)), rate), Some(Limit::Bytes(5000)));
        assert_eq!(limit(Length::Percent(50.0), rate), None);
        assert_eq!(limit("0p".parse().unwrap(), rate), None);
    }
}
