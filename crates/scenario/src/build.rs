//! Model -> plan of a run, with every check that needs more than one section.

use crate::labels;
use crate::model::Model;
use crate::offered::{self, Flowline};
use crate::ports::{self, File, Stage};
use crate::sections::Settings;
use crate::topology::{self, Topology};
use crate::tree;
use perhop_core::aqm::Aqm as _;
use perhop_core::params::{Node, Place, Problems, Severity};
use perhop_core::queue::Limit;
use perhop_core::scope::Scope;
use perhop_core::units::{Bytes, Length, NS_PER_S, Packets};
use perhop_sim::engine::{MAX_COMPONENTS, MAX_DURATION};
use perhop_sim::plan::{self, Plan};

/// A plan and what it was made from, for `explain`.
#[derive(Clone, Debug)]
pub struct Built {
    /// Seed and replication are filled in for each run.
    pub plan: Plan,
    /// Traffic with its ways.
    pub traffic: Vec<Flowline>,
    /// Conditioners at their ports.
    pub stages: Vec<Stage>,
    /// Links with the names of their queues.
    pub topology: Topology,
}

/// Checks all of it; `None` (with the reasons in `problems`) if it cannot run.
pub fn build(model: &Model, root: &Node, problems: &mut Problems) -> Option<Built> {
    check_settings(model, root, problems);
    offered::check_tcp(model, root, problems);
    let topology = topology::read(model, root, problems);
    let mut links: Vec<_> = topology.links.iter().map(draft).collect();
    let traffic = offered::read(model, (&topology, &links), root, problems);
    let file = File { model, root, topology: &topology, traffic: &traffic };
    let stages = ports::stages(file, problems);
    crate::advice::check(file, (&stages, &links), problems);
    for (i, link) in links.iter_mut().enumerate() {
        let surroundings = scope(file, (i, link));
        for queue in &mut link.queues {
            queue.scope = Scope { limit: Some(length(queue.limit)), ..surroundings.clone() };
        }
        link.edge = ports::specs_at(&stages, i);
        check_queues(file, (i, link), problems);
        check_scheduler(file, (i, link, &surroundings), problems);
    }
    if file.knows_traffic() {
        crate::stability::check(file, (&stages, &links), problems);
    }
    labels::check(file, (&stages, &links), problems);
    check_sampled(file, problems);
    check_size(&links, &traffic, problems);
    if !file.knows_traffic() {
        return None;
    }
    let plan = plan(model, &topology, (links, &traffic));
    Some(Built { plan, traffic, stages, topology })
}

fn draft(link: &topology::Direction) -> plan::Link {
    plan::Link {
        name: link.name.clone(),
        from: link.from,
        to: link.to,
        rate: link.rate,
        delay: link.delay,
        loss: link.loss,
        queues: link.queues.iter().map(draft_queue).collect(),
        scheduler: link.scheduler.clone(),
        edge: Vec::new(),
    }
}

fn draft_queue(queue: &topology::PortQueue) -> plan::Queue {
    plan::Queue { aqm: queue.queue.aqm.clone(), limit: queue.limit, scope: Scope::default() }
}

fn plan(model: &Model, topology: &Topology, (links, traffic): (Vec<plan::Link>, &[Flowline])) -> Plan {
    let settings = &model.settings;
    Plan {
        seed: settings.seed,
        replication: 0,
        duration: settings.duration,
        warmup: settings.warmup,
        overhead: settings.accounting.overhead(),
        nodes: topology.nodes.clone(),
        links,
        classes: offered::classes(model).into_iter().map(str::to_owned).collect(),
        traffic: offered::tables(traffic).map(|f| f.offered.clone()).collect(),
        sampling: settings.sample.map(|every| plan::Sampling { every, links: sampled(settings, topology) }),
        changes: Vec::new(),
        taps: Vec::new(),
    }
}

/// Links of the ports that `sample-ports` names; `None` for all.
fn sampled(settings: &Settings, topology: &Topology) -> Option<Vec<usize>> {
    let links = settings.sample_ports.iter().filter_map(|port| topology.link(port));
    (!settings.sample_ports.is_empty()).then(|| links.collect())
}

/// The surroundings of a link's AQMs but for their limits: its rate, the largest packet that crosses it.
fn scope(file: File<'_>, (i, link): (usize, &plan::Link)) -> Scope {
    let index = i as u32;
    let size = |flow: &Flowline| {
        let forward = flow.forward.contains(&index).then_some(flow.data);
        forward.or(flow.backward.contains(&index).then_some(flow.ack))
    };
    let sizes = file.traffic.iter().filter_map(|flow| size(flow).map(|size| (size, flow.offered.name.as_str())));
    let scope = file.scope_of(sizes.max_by_key(|s| s.0));
    Scope { link_rate: Some(link.rate), ..scope }
}

fn length(limit: Limit) -> Length {
    match limit {
        Limit::Packets(n) => Length::Packets(Packets::new(n)),
        Limit::Bytes(n) => Length::Bytes(Bytes::new(n)),
    }
}

fn check_queues(file: File<'_>, (i, link): (usize, &plan::Link), problems: &mut Problems) {
    let direction = &file.topology.links[i];
    let carries_data = file.traffic.iter().any(|flow| flow.forward.contains(&(i as u32)));
    for (queue, stated) in link.queues.iter().zip(&direction.queues) {
        let place = |field: &str| topology::place_of(file.root, &stated.path, field);
        match queue.aqm.build(&queue.scope) {
            Ok(aqm) if carries_data => {
                aqm.warnings(&queue.scope).iter().for_each(|w| problems.advise(w, place(w.field)));
            }
            Ok(_) => {}
            Err(error) => problems.param(&error, place(error.field)).unwrap_or_default(),
        }
        if let Limit::Bytes(limit) = queue.limit
            && limit < queue.scope.largest_packet.get()
        {
            let message = format!("`limit` is {limit}B on link `{}`: smaller than one packet", link.name);
            let label = format!("the largest packet of {} is {}", queue.scope.largest_of, queue.scope.largest_packet);
            let help = format!("such packets could never wait; at least {}", queue.scope.largest_packet);
            problems.error::<()>("E217", place("limit"), [&message, &label, &help]);
        }
    }
}

fn check_scheduler(file: File<'_>, (i, link, scope): (usize, &plan::Link, &Scope), problems: &mut Problems) {
    if let Some(Err(error)) = link.scheduler.as_ref().map(|scheduler| scheduler.build(scope)) {
        let path = &file.topology.links[i].path;
        problems.param::<()>(&error, topology::place_of(file.root, path, error.field));
    }
}

fn check_settings(model: &Model, root: &Node, problems: &mut Problems) {
    let settings = &model.settings;
    let place = |field| tree::place(root, &["scenario", field]);
    if settings.duration > MAX_DURATION {
        let message = format!("`duration` is {}", settings.duration);
        let seconds = MAX_DURATION.ns() / NS_PER_S;
        let help = format!("the simulator's clock holds {seconds}s, about {:.1} h", seconds as f64 / 3600.0);
        problems.error::<()>("E204", place("duration"), [&message, "", &help]);
    }
    if settings.warmup >= settings.duration {
        let message = format!("warm-up of {} is not below the duration of {}", settings.warmup, settings.duration);
        let field = if tree::get(root, &["scenario", "warmup"]).is_some() { "warmup" } else { "duration" };
        let help = "lower `warmup` (10s where left out) or raise `duration`: the rest of the run makes the statistics";
        problems.error::<()>("E203", place(field), [&message, "", help]);
    }
    let positive =
        [("replications", settings.replications == 0), ("sample", settings.sample.is_some_and(|s| s.ns() == 0))];
    for (field, _) in positive.iter().filter(|p| p.1) {
        problems.error::<()>("E201", place(field), [&format!("`{field}` is 0"), "", "above 0"]);
    }
    check_name((settings.name.as_deref().unwrap_or_default(), place("name")), problems);
}

fn check_sampled(file: File<'_>, problems: &mut Problems) {
    let settings = &file.model.settings;
    if settings.sample.is_none() && !settings.sample_ports.is_empty() {
        let message = "`sample-ports` without `sample`: there are no series";
        let place = tree::place(file.root, &["scenario", "sample-ports"]);
        problems.error::<()>("E239", place, [message, "", "state their interval, as in sample = \"100ms\""]);
    }
    for port in settings.sample_ports.iter().filter(|p| file.topology.link(p).is_none() && !file.topology.is_faulty(p))
    {
        let place = tree::item_place(file.root, &["scenario", "sample-ports"], port);
        problems.error::<()>("E235", place, file.unknown_port(port).each_ref().map(String::as_str));
    }
}

/// The name of a scenario or policy has to be fit for a directory.
pub fn check_name((name, place): (&str, Place), problems: &mut Problems) {
    if let Some(fault) = unfit(name) {
        let help = "it becomes the name of a directory: letters, digits, `-`, `_`, `.` and spaces within";
        problems.error::<()>("E011", place, [&format!("name {fault}"), "", help]);
    }
}

/// Longest name of a directory, bytes; file systems hold 255, and points add theirs.
const LONGEST_NAME: usize = 100;

/// Why a name cannot be that of a directory.
pub fn unfit(name: &str) -> Option<String> {
    let bad = |c: char| c.is_control() || matches!(c, '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|');
    if name.is_empty() {
        return Some("is empty".into());
    }
    if let Some(c) = name.chars().find(|&c| bad(c)) {
        return Some(format!("holds {c:?}"));
    }
    if name.starts_with(['.', ' ']) || name.ends_with(['.', ' ']) {
        return Some("begins or ends with a dot or a space".into());
    }
    (name.len() > LONGEST_NAME).then(|| format!("is {} bytes long, {LONGEST_NAME} at most", name.len()))
}

/// The engine numbers three events a link and one a source, and two ends a flow.
fn check_size(links: &[plan::Link], traffic: &[Flowline], problems: &mut Problems) {
    let sources: u64 = offered::tables(traffic).map(|f| u64::from(f.offered.flows)).sum();
    let most = MAX_COMPONENTS as u64;
    if 3 * links.len() as u64 + sources < most && 2 * sources < most {
        return;
    }
    let message = format!("{} links and {sources} sources are too many", links.len());
    let help = format!("fewer than {} sources, and 3 x links + sources below {most}: lower `flows`", most / 2);
    problems.push::<()>(Severity::Error, "E205", None, [&message, "", &help]);
}
