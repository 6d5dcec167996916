//! W317: V0 of SVB and MSVB below what Lemma 3.1 requires for the scenario's flows.
//!
//! Reported only if the lemma's conditions hold (long-lived TCP whose packets are marked, not dropped), and only if the
//! mildest reading of the scenario is unstable: the most flows, the shortest propagation, no packet waiting, a
//! threshold in
//! equilibrium of V0 itself.
//!
//! Decision: docs/decisions/054-thresholds-that-cannot-act.md

use super::load::{self, Crossing, Group, Kind, marks};
use crate::resolve::indexed::{Indexed, indexed};
use crate::resolve::ports::Resolved;
use crate::resolve::topology::Direction;
use perhop_core::design::lemma31::Loop;
use perhop_core::design::msvb::{Load, Plant, Setting};
use perhop_core::params::Problems;
use perhop_sim::plan;

/// Looks at every queue.
pub fn check(all: Resolved<'_>, problems: &mut Problems) {
    let Resolved { file, arrivals, links, .. } = all;
    for Indexed { index, it: link } in indexed(links) {
        let kind = match load::only_queue(link).filter(|queue| marks(&queue.aqm)).map(|queue| queue.aqm.name()) {
            Some("svb") => Kind::Svb,
            Some("msvb") => Kind::Msvb,
            _ => continue,
        };
        if let Ok(groups) =
            load::groups(kind, link, Crossing { traffic: file.traffic, arriving: &arrivals.queues[index] })
            && let Some(found) = WorstLoop::new(&groups, link, links)
        {
            found.warn(&file.topology.links[index], kind, problems);
        }
    }
}

/// The loop with the largest shortfall.
#[derive(Clone, Copy, Debug)]
struct WorstLoop {
    it: Loop,
    alpha: f64,
    v0: f64,
    critical: f64,
    /// Bytes that count as a packet.
    packet: u64,
}

impl WorstLoop {
    fn new(groups: &[Group<'_>], link: &plan::Link, links: &[plan::Link]) -> Option<Self> {
        let tcp = |group: &&Group<'_>| {
            !group.tcp.is_empty() && group.others.is_empty() && group.tcp.iter().all(|flow| flow.ecn_capable())
        };
        let packet = groups.iter().flat_map(|group| &group.tcp).map(|flow| u64::from(flow.data)).max()?;
        let bottleneck = load::bottleneck(link, packet, 0.0);
        let stated = load::in_force(link, bottleneck.capacity)?;
        let pairs = groups.iter().zip(&stated.alpha).filter(|(group, _)| tcp(group) && group.share > 0.0);
        let (loads, alpha): (Vec<_>, Vec<_>) =
            pairs.filter_map(|(group, alpha)| Some((mildest(group, links)?, *alpha))).unzip();
        let others = loads.len() < groups.len();
        let plant = Plant { link: bottleneck, others, loads };
        let mut judged = plant.judge(&Setting { alpha, ..stated.clone() })?;
        judged.truncate(if others { plant.loads.len() } else { judged.len() });
        let lacking = plant.loops().into_iter().zip(judged).filter(|(_, one)| one.critical > stated.v0);
        let (it, worst) = lacking.max_by(|a, b| a.1.critical.total_cmp(&b.1.critical))?;
        Some(Self { it, alpha: worst.alpha, v0: stated.v0, critical: worst.critical, packet })
    }

    fn warn(&self, direction: &Direction, kind: Kind, problems: &mut Problems) {
        let Loop { flows, rtt, .. } = self.it;
        let message = format!("the queue of `{}` will swing: `v0` is below what Lemma 3.1 requires", direction.name);
        let label = format!(
            "{:.0} packets of {}B; {flows:.0} TCP flows, an RTT of {:.0} ms or more and alpha {:.2} require {:.0}",
            self.v0,
            self.packet,
            1e3 * rtt,
            self.alpha,
            self.critical
        );
        let queue = load::queue_name(direction).unwrap_or(&direction.name);
        let help = format!("`perhop tune {} FILE --queue \"{queue}\"` gives v0, floor and alpha", kind.name());
        problems.warn("W317", direction.queues[0].place("v0"), message).label(label).help(help);
    }
}

/// The most flows and the shortest propagation.
fn mildest(group: &Group<'_>, links: &[plan::Link]) -> Option<Load> {
    let [_, most] = load::range(&group.tcp)?;
    let rtt = group.tcp.iter().filter_map(|flow| flow.base_rtt(links)).min()?.seconds();
    (rtt > 0.0).then_some(Load { flows: [most, most], rtt, share: group.share })
}
