//! W355 and W360: a pacing queue where nothing is known of sockets, and datagrams whose rate nothing keeps.

use crate::resolve::offered::{Flowline, tables};
use crate::resolve::ports::Resolved;
use perhop_core::params::Problems;
use perhop_core::sched::SchedulerParams;
use std::collections::BTreeSet;

/// Looks at all ports and traffic.
pub fn check(all: Resolved<'_>, problems: &mut Problems) {
    forwarded(all, problems);
    tables(all.file.traffic).for_each(|flow| unpaced(all, flow, problems));
}

/// W355: `fq` at ports where no host sends, only packets of others pass.
fn forwarded(all: Resolved<'_>, problems: &mut Problems) {
    let ways = || all.file.traffic.iter().flat_map(|flow| [&flow.forward, &flow.backward]);
    let own: BTreeSet<_> = ways().filter_map(|way| way.first().copied()).collect();
    let passed: BTreeSet<_> = ways().flatten().copied().filter(|link| !own.contains(link)).collect();
    for link in passed {
        let (port, stated) = (&all.links[link as usize], &all.file.topology.links[link as usize]);
        let expects =
            |params: &SchedulerParams| matches!(params, SchedulerParams::Fq(fq) if fq.pacing && fq.maxrate.is_none());
        let nodes = port.nodes.iter().zip(&stated.nodes);
        let mut found = nodes.filter(|(node, _)| node.scheduler().is_some_and(expects));
        let Some(place) = found.next().and_then(|(_, node)| Some(node.scheduler.as_ref()?.place("pacing"))) else {
            continue;
        };
        let message = format!("`fq` paces nothing at port `{}`: all packets there come from other hosts", port.name);
        let help = "write `pacing = false` if it is there for fairness, or `maxrate`; pacing is done by `fq` at the sender's port";
        problems.warn("W355", place, message).label("what a socket may send is known at its own host only").help(help);
    }
}

/// W360: a rate of datagrams without `fq` at their own port.
fn unpaced(all: Resolved<'_>, flow: &Flowline, problems: &mut Problems) {
    let Some(&own) = flow.forward.first().filter(|_| !flow.tcp) else { return };
    let section = all.file.model.traffic.get(&flow.offered.name);
    let Some(rate) = section.and_then(|section| section.common.sockets.max_pacing_rate) else { return };
    let port = &all.links[own as usize];
    if !port.paces() {
        let message = format!("nothing keeps `max-pacing-rate` {} of traffic `{}`", *rate, flow.offered.name);
        let help = format!("put scheduler = \"fq\" at port `{}`: only this queue paces datagrams", port.name);
        problems.warn("W360", rate.place, message).help(help);
    }
}
