//! Model -> plan of a run, with every check that needs more than one section.

use crate::check::{
    ack_filter, advice, framing, idle, labels, memory, mtu, names, pace, paced, phases, queues, reached, sends,
    settings, stability, starving,
};
use crate::resolve::arriving::{Arrivals, Arriving};
use crate::resolve::crossing::Crossing;
use crate::resolve::indexed::Indexed;
use crate::resolve::offered::{self, Flowline};
use crate::resolve::ports::{self, File, Resolved, Stage};
use crate::resolve::reaching;
use crate::resolve::topology::{self, Conditioners, Direction, Topology};
use crate::sections::model::Model;
use crate::sections::settings::Settings;
use perhop_core::params::Problems;
use perhop_core::port::{Inside, Limit, NodeSpec, QueueSpec};
use perhop_core::scope::{Largest, Scope};
use perhop_core::units::{Bytes, Length, Packets};
use perhop_sim::plan::{self, Plan, Probes};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A plan and what it was made from, for `explain`.
#[derive(Clone, Debug)]
pub struct Built {
    /// Seed and replication are filled in for each run.
    pub plan: Plan,
    /// Traffic with its routes.
    pub traffic: Vec<Flowline>,
    /// Which of it crosses each link.
    pub crossing: Crossing,
    /// Conditioners at their ports.
    pub stages: Vec<Stage>,
    /// What arrives at each conditioner and queue.
    pub arrivals: Arrivals,
    /// Links with the names of their queues.
    pub topology: Topology,
}

impl Built {
    /// What it was made from, of `model`.
    pub fn file<'a>(&'a self, model: &'a Model) -> File<'a> {
        File::new(model, &self.topology, &self.traffic, &self.crossing)
    }
}

/// Checks all of it; `None` (with the reasons in `problems`) if it cannot run.
pub fn build(model: &Model, problems: &mut Problems) -> Option<Built> {
    settings::check_settings(&model.settings, problems);
    offered::check_tcp(model, problems);
    let topology = topology::read(model, &Conditioners::of(model), problems);
    let mut links: Vec<_> = topology.links.iter().map(draft).collect();
    let traffic = offered::read(model, &topology, &links, problems);
    if !memory::check_routes(&traffic, problems) {
        return None;
    }
    let crossing = Crossing::new(links.len(), &traffic);
    let file = File::new(model, &topology, &traffic, &crossing);
    if !memory::check_counters(file, problems) {
        return None;
    }
    let (stages, arrivals) = ports::stages(file, problems);
    let resolved = Resolved { file, stages: &stages, arrivals: &arrivals, links: &links };
    if file.is_whole() {
        idle::check(resolved, problems);
    }
    advice::check(resolved, problems);
    let at = ports::at_links(&stages, links.len());
    for (index, link) in links.iter_mut().enumerate() {
        link.edge = at[index].iter().map(|stage| stage.spec.clone()).collect();
        finish(file, Around { link: index, scope: scope(file, index), arrivals: Some(&arrivals) }, link, problems);
    }
    let resolved = Resolved { file, stages: &stages, arrivals: &arrivals, links: &links };
    names::check(file, problems);
    if file.is_whole() {
        stability::check(resolved, problems);
        reached::check(resolved, problems);
        starving::check(resolved, problems);
        phases::check(resolved, problems);
        sends::check(resolved, problems);
        paced::check(resolved, problems);
        framing::check(resolved, problems);
    }
    mtu::check(file, problems);
    labels::check(resolved, problems);
    settings::check_sampled(file, problems);
    settings::check_size(file, &links, problems);
    memory::check(resolved, problems);
    if !file.is_whole() {
        return None;
    }
    let plan = plan(model, &topology, &traffic, links);
    Some(Built { plan, traffic, crossing, stages, arrivals, topology })
}

/// A link alone, the model's first, whatever arrives there.
pub(crate) fn alone(model: &Model, around: &Scope, problems: &mut Problems) -> Option<Plan> {
    let topology = topology::read(model, &Conditioners::everywhere(&around.conditioners), problems);
    let mut link = topology.links.first().map(draft)?;
    let crossing = Crossing::new(topology.links.len(), &[]);
    let file = File::new(model, &topology, &[], &crossing);
    finish(file, Around { link: 0, scope: around.clone(), arrivals: None }, &mut link, problems);
    Some(Plan { classes: vec![String::new()].into(), ..plan(model, &topology, &[], vec![link]) })
}

/// The surroundings of a link's AQMs, schedulers and shapers except limits and rates.
struct Around<'a> {
    link: usize,
    /// With the largest packet that crosses it.
    scope: Scope,
    /// What arrives at all links, if that is known.
    arrivals: Option<&'a Arrivals>,
}

/// Tells a link's queues, schedulers and shapers their surroundings, and checks them.
fn finish(file: File<'_>, around: Around<'_>, link: &mut plan::Link, problems: &mut Problems) {
    let (index, direction) = (around.link, &file.topology.links[around.link]);
    let sizes = Sizes::new(file, &around, direction);
    for (i, (queue, stated)) in link.queues.iter_mut().zip(&direction.queues).enumerate() {
        let (limit, scope) = (Some(length(queue.limit)), sizes.of(sizes.queues.get(i)));
        queue.scope = Scope { limit, link_rate: Some(stated.rate), framing: link.framing, ..scope };
    }
    for (i, (node, stated)) in link.nodes.iter_mut().zip(&direction.nodes).enumerate() {
        let (link_rate, classes) = (Some(stated.bound), sizes.classes(i));
        node.scope = Scope { link_rate, framing: link.framing, classes, ..sizes.of(sizes.nodes.get(i)) };
    }
    queues::check_queues(file, Indexed { index, it: link }, problems);
    queues::check_nodes(file, Indexed { index, it: link }, problems);
    ack_filter::check(file, Indexed { index, it: link }, problems);
    if queues::carries_data(file, index) {
        pace::check(file, Indexed { index, it: link }, problems);
    }
}

/// The largest packets that come to the nodes and queues of a link: that of all, where it is not known which come.
struct Sizes<'a> {
    file: File<'a>,
    direction: &'a Direction,
    /// The nodes right below each.
    children: Vec<Vec<usize>>,
    /// Of all that cross it.
    whole: &'a Scope,
    /// What comes to each node, and to each queue.
    nodes: Vec<Cow<'a, [Arriving]>>,
    queues: Vec<Cow<'a, [Arriving]>>,
}

impl<'a> Sizes<'a> {
    fn new(file: File<'a>, around: &'a Around<'a>, direction: &'a Direction) -> Self {
        let known =
            around.arrivals.filter(|arrivals| arrivals.sure && file.knows_traffic() && !direction.nodes.is_empty());
        let arriving = known.map(|arrivals| &*arrivals.queues[around.link]);
        let nodes = arriving.map(|arriving| reaching::at_nodes(direction, arriving)).unwrap_or_default();
        let queues = arriving.map(|arriving| reaching::at_queues(direction, &nodes, arriving)).unwrap_or_default();
        let children = reaching::children(direction);
        Self { file, direction, children, whole: &around.scope, nodes, queues }
    }

    /// The surroundings where these packets come; where none come, those of the link.
    fn of(&self, arriving: Option<&Cow<'_, [Arriving]>>) -> Scope {
        let largest = arriving.and_then(|arriving| self.file.largest_of(arriving));
        let scope = largest.map(|largest| self.file.scope_of(Some(largest)));
        let found = scope.unwrap_or_else(|| self.whole.clone());
        Scope { largest_packet: found.largest_packet, largest_of: found.largest_of, ..self.whole.clone() }
    }

    /// The largest packet of each class of a node: none is too large for a class that no packet reaches.
    fn classes(&self, node: usize) -> Arc<[Largest]> {
        let class = |child: usize| {
            let found = self.file.largest_of(&self.nodes[child]).map(|largest| self.file.scope_of(Some(largest)));
            found.map_or(Largest::default(), |scope| Largest { packet: scope.largest_packet, of: scope.largest_of })
        };
        let known = !self.nodes.is_empty() && self.direction.nodes[node].scheduler.is_some();
        if known { self.children[node].iter().copied().map(class).collect() } else { Arc::default() }
    }
}

fn draft(link: &topology::Direction) -> plan::Link {
    plan::Link {
        name: link.name.clone(),
        from: link.from,
        to: link.to,
        rate: *link.rate,
        framing: link.framing.unwrap_or_default(),
        delay: link.delay,
        loss: link.wire.loss,
        transit: link.wire.transit,
        queues: link.queues.iter().map(draft_queue).collect(),
        nodes: link.nodes.iter().map(draft_node).collect(),
        edge: Vec::new(),
    }
}

fn draft_queue(queue: &topology::PortQueue) -> QueueSpec {
    QueueSpec {
        aqm: queue.queue.aqm.value.clone(),
        limit: queue.limit,
        drop: queue.queue.common.drop.unwrap_or_default(),
        scope: Scope::default(),
    }
}

fn draft_node(node: &topology::PortNode) -> NodeSpec {
    let inside = match (&node.scheduler, node.queue) {
        (Some(scheduler), _) => Inside::Scheduler(scheduler.value.clone()),
        (None, queue) => Inside::Queue(queue.unwrap_or(0)),
    };
    let shaper = node.shaper.as_ref().map(|shaper| shaper.value.clone());
    NodeSpec { parent: node.parent, shaper, inside, scope: Scope::default() }
}

fn plan(model: &Model, topology: &Topology, traffic: &[Flowline], links: Vec<plan::Link>) -> Plan {
    let settings = &model.settings;
    Plan {
        seed: settings.seed,
        replication: 0,
        duration: *settings.duration,
        warmup: *settings.warmup,
        accounting: settings.accounting,
        nodes: topology.nodes.clone(),
        links: links.into(),
        classes: offered::classes(model).into_iter().map(str::to_owned).collect(),
        traffic: offered::tables(traffic).map(|f| f.offered.clone()).collect(),
        sampling: settings.sample.map(|every| plan::Sampling { every: *every, links: sampled(settings, topology) }),
        changes: Vec::new(),
        probes: Probes { delays: settings.delay_histogram == Some(true), ..Probes::default() },
    }
}

/// Links of the ports named in `sample-ports`; `None` for all.
fn sampled(settings: &Settings, topology: &Topology) -> Option<Vec<usize>> {
    let links: BTreeSet<_> = settings.sample_ports.iter().filter_map(|port| topology.link(port)).collect();
    (!settings.sample_ports.is_empty()).then(|| links.into_iter().collect())
}

/// The surroundings of a link: the largest packet that crosses it, and the conditioners of its port.
fn scope(file: File<'_>, link: usize) -> Scope {
    let sizes = file.largest_over(link).map(|(size, flow)| (size, flow.offered.name.as_str()));
    let direction = &file.topology.links[link];
    let (port, conditioners) = (Some(direction.name.as_str().into()), direction.conditioners.clone());
    Scope { port, conditioners, ..file.scope_of(sizes.max_by_key(|s| s.0)) }
}

fn length(limit: Limit) -> Length {
    match limit {
        Limit::Packets(n) => Length::Packets(Packets::new(n)),
        Limit::Bytes(n) => Length::Bytes(Bytes::new(n)),
    }
}
