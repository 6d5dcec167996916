//! The load of a queue, from a scenario: the rate of its link, round-trip times, flows, classes.

use super::{Class, Kind, Stated, Task};
use crate::check::load::{Crossing, Group, bottleneck, groups, in_force, longest, only_queue, queue_name, range};
use crate::scenario::Scenario;
use crate::text::diagnostics::Diagnostics;
use perhop_core::design::msvb::{Load, Setting};
use perhop_core::params::suggest;
use perhop_sim::plan;

/// What is looked for in a scenario.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// Which algorithm.
    pub kind: Kind,
    /// A `[queue]` or a link; default: the only queue of that kind, else the only named one.
    pub queue: Option<&'a str>,
    /// Target queue, packets.
    pub reference: f64,
    /// The file, for messages.
    pub file: &'a str,
}

/// Everything needed about a scenario's queue.
///
/// # Errors
/// E260 when there is no such queue, or nothing in it that the rule applies to.
pub fn task(scenario: &Scenario, wanted: Wanted<'_>) -> Result<Task, Diagnostics> {
    read(scenario, wanted).map_err(|what| Diagnostics::of_file(wanted.file, "E260", what))
}

fn read(scenario: &Scenario, wanted: Wanted<'_>) -> Result<Task, [String; 2]> {
    let built = &scenario.built;
    let index = link(scenario, wanted)?;
    let (link, direction) = (&built.plan.links[index], &built.topology.links[index]);
    if only_queue(link).is_none() {
        let message = format!("`{}` has a scheduler: the rate of each of its queues depends on the others", link.name);
        return Err([message, "state the rate and load of one queue by ⟨rate⟩ and ⟨class⟩".into()]);
    }
    let groups =
        groups(wanted.kind, link, Crossing { traffic: &built.traffic, arriving: &built.arrivals.queues[index] })?;
    let packet = groups.iter().flat_map(|g| &g.tcp).map(|flow| u64::from(flow.data)).max();
    let packet = packet.ok_or_else(|| {
        [
            format!("no long-lived TCP crosses `{}`", link.name),
            "add TCP flows that always have data (model = \"ftp\"): the rule is about those".to_owned(),
        ]
    })?;
    let bottleneck = bottleneck(link, packet, wanted.reference);
    let waiting = wanted.reference / bottleneck.capacity;
    let class = |(i, group): (usize, &Group<'_>)| {
        let rtt = longest(&group.tcp, &built.plan.links) + waiting;
        let load = range(&group.tcp).map(|flows| Load { flows, rtt, share: group.share });
        let name = if wanted.kind == Kind::Svb { "all".into() } else { format!("class {}", i + 1) };
        Class { name, filter: group.filter.clone(), share: group.share, load: load.filter(|_| group.share > 0.0) }
    };
    let classes = groups.iter().enumerate().map(class).collect();
    Ok(Task {
        kind: wanted.kind,
        link: bottleneck,
        packet,
        classes,
        stated: (stated(wanted.kind, link, bottleneck.capacity), "in the file"),
        queue: queue_name(direction).unwrap_or("bottleneck").to_owned(),
        source: wanted.file.to_owned(),
        notes: notes(&groups, &link.name, waiting),
    })
}

/// The link in question.
fn link(scenario: &Scenario, wanted: Wanted<'_>) -> Result<usize, [String; 2]> {
    let built = &scenario.built;
    let carries = |i: usize| built.crossing.data(i).next().is_some();
    let names = |i: usize| (queue_name(&built.topology.links[i]), built.plan.links[i].name.as_str());
    let of_kind = |i: usize| only_queue(&built.plan.links[i]).is_some_and(|q| q.aqm.name() == wanted.kind.name());
    let used: Vec<_> = (0..built.plan.links.len()).filter(|&i| carries(i)).collect();
    let named = |i: &usize| match wanted.queue {
        Some(name) => names(*i).0 == Some(name) || names(*i).1 == name,
        None => of_kind(*i),
    };
    let mut found: Vec<_> = used.iter().copied().filter(named).collect();
    if found.is_empty() && wanted.queue.is_none() {
        found = used.iter().copied().filter(|&i| names(i).0.is_some()).collect();
    }
    match (found.as_slice(), wanted.queue) {
        ([one], _) => Ok(*one),
        ([], Some(name)) => {
            let all: Vec<_> = used.iter().flat_map(|&i| [names(i).0, Some(names(i).1)]).flatten().collect();
            Err([format!("no queue `{name}` that traffic passes"), suggest(name, &all)])
        }
        ([], None) => Err(["no queue has a name".into(), "choose one by its link: ⟨queue⟩ \"A -> B\"".into()]),
        (several, _) => {
            let links: Vec<_> = several.iter().map(|&i| format!("\"{}\"", names(i).1)).collect();
            Err([
                format!("{} queues are possible", several.len()),
                format!("choose one by ⟨queue⟩: {}", links.join(", ")),
            ])
        }
    }
}

fn stated(kind: Kind, link: &plan::Link, capacity: f64) -> Stated {
    let of_kind = only_queue(link).is_some_and(|queue| queue.aqm.name() == kind.name());
    match in_force(link, capacity).filter(|_| of_kind) {
        Some(Setting { v0, floor, alpha }) => Stated { v0: Some(v0), floor: Some(floor), alpha },
        None => Stated::default(),
    }
}

fn notes(groups: &[Group<'_>], link: &str, waiting: f64) -> Vec<String> {
    let mut out = vec![format!(
        "RTT: longest propagation there and back, and {:.1} ms for the target queue at `{link}`",
        1e3 * waiting
    )];
    let mut others: Vec<_> = groups.iter().flat_map(|g| &g.others).map(|f| format!("`{}`", f.offered.name)).collect();
    others.dedup();
    if !others.is_empty() {
        out.push(format!("ignored, as the lemma is about TCP that always has data: {}", others.join(", ")));
    }
    out
}
