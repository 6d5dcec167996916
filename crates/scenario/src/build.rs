//! Model -> plan of a run, with every check that needs more than one section.

use crate::check::{advice, labels, memory, mtu, phases, queues, reached, settings, stability, starving};
use crate::resolve::arriving::Arrivals;
use crate::resolve::crossing::Crossing;
use crate::resolve::indexed::Indexed;
use crate::resolve::offered::{self, Flowline};
use crate::resolve::ports::{self, File, Resolved, Stage};
use crate::resolve::topology::{self, Topology};
use crate::sections::model::Model;
use crate::sections::settings::Settings;
use perhop_core::params::Problems;
use perhop_core::port::{Inside, Limit, NodeSpec, QueueSpec};
use perhop_core::scope::Scope;
use perhop_core::units::{Bytes, Length, Packets};
use perhop_sim::plan::{self, Plan, Probes};
use std::collections::BTreeSet;

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
    let topology = topology::read(model, problems);
    let mut links: Vec<_> = topology.links.iter().map(draft).collect();
    let traffic = offered::read(model, &topology, &links, problems);
    let crossing = Crossing::new(links.len(), &traffic);
    let file = File::new(model, &topology, &traffic, &crossing);
    let (stages, arrivals) = ports::stages(file, problems);
    advice::check(Resolved { file, stages: &stages, arrivals: &arrivals, links: &links }, problems);
    let at = ports::at_links(&stages, links.len());
    for (index, link) in links.iter_mut().enumerate() {
        link.edge = at[index].iter().map(|stage| stage.spec.clone()).collect();
        let surroundings = scope(file, Indexed { index, it: link });
        finish(file, index, link, &surroundings, problems);
    }
    let resolved = Resolved { file, stages: &stages, arrivals: &arrivals, links: &links };
    if file.knows_traffic() {
        stability::check(resolved, problems);
        reached::check(resolved, problems);
        starving::check(resolved, problems);
        phases::check(resolved, problems);
    }
    mtu::check(file, problems);
    labels::check(resolved, problems);
    settings::check_sampled(file, problems);
    settings::check_size(file, &links, problems);
    memory::check(resolved, problems);
    if !file.knows_traffic() {
        return None;
    }
    let plan = plan(model, &topology, &traffic, links);
    Some(Built { plan, traffic, crossing, stages, arrivals, topology })
}

/// A link alone, the model's first, whatever arrives there.
pub(crate) fn alone(model: &Model, around: &Scope, problems: &mut Problems) -> Option<Plan> {
    let topology = topology::read(model, problems);
    let mut link = topology.links.first().map(draft)?;
    let crossing = Crossing::new(topology.links.len(), &[]);
    let file = File::new(model, &topology, &[], &crossing);
    let around = Scope { link_rate: Some(link.rate), ..around.clone() };
    finish(file, 0, &mut link, &around, problems);
    Some(Plan { classes: vec![String::new()].into(), ..plan(model, &topology, &[], vec![link]) })
}

/// Tells a link's queues, schedulers and shapers their surroundings, and checks them.
fn finish(file: File<'_>, index: usize, link: &mut plan::Link, around: &Scope, problems: &mut Problems) {
    let direction = &file.topology.links[index];
    for (queue, stated) in link.queues.iter_mut().zip(&direction.queues) {
        let limit = Some(length(queue.limit));
        queue.scope = Scope { limit, link_rate: Some(stated.rate), ..around.clone() };
    }
    link.nodes.iter_mut().for_each(|node| node.scope = around.clone());
    queues::check_queues(file, Indexed { index, it: link }, problems);
    queues::check_nodes(file, Indexed { index, it: link }, problems);
}

fn draft(link: &topology::Direction) -> plan::Link {
    plan::Link {
        name: link.name.clone(),
        from: link.from,
        to: link.to,
        rate: *link.rate,
        delay: link.delay,
        loss: link.loss,
        transit: link.transit,
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
        overhead: settings.accounting.overhead(),
        nodes: topology.nodes.clone(),
        links: links.into(),
        classes: offered::classes(model).into_iter().map(str::to_owned).collect(),
        traffic: offered::tables(traffic).map(|f| f.offered.clone()).collect(),
        sampling: settings.sample.map(|every| plan::Sampling { every: *every, links: sampled(settings, topology) }),
        changes: Vec::new(),
        probes: Probes::default(),
    }
}

/// Links of the ports named in `sample-ports`; `None` for all.
fn sampled(settings: &Settings, topology: &Topology) -> Option<Vec<usize>> {
    let links: BTreeSet<_> = settings.sample_ports.iter().filter_map(|port| topology.link(port)).collect();
    (!settings.sample_ports.is_empty()).then(|| links.into_iter().collect())
}

/// The surroundings of a link's AQMs except their limits: its rate, the largest packet that crosses it.
fn scope(file: File<'_>, at: Indexed<'_, plan::Link>) -> Scope {
    let sizes = file.largest_over(at.index).map(|(size, flow)| (size, flow.offered.name.as_str()));
    let scope = file.scope_of(sizes.max_by_key(|s| s.0));
    Scope { link_rate: Some(at.it.rate), ..scope }
}

fn length(limit: Limit) -> Length {
    match limit {
        Limit::Packets(n) => Length::Packets(Packets::new(n)),
        Limit::Bytes(n) => Length::Bytes(Bytes::new(n)),
    }
}
