//! Warnings: settings that run, but probably not as intended.

use super::bursts;
use super::ecn;
use super::load::marks;
use super::starving;
use crate::resolve::indexed::{Indexed, indexed};
use crate::resolve::offered::Flowline;
use crate::resolve::ports::{File, Resolved, Stage};
use crate::resolve::topology::Direction;
use crate::sections::named::Named;
use crate::sections::tcp::TcpRef;
use perhop_core::conditioner::Writes;
use perhop_core::dscp::Dscp;
use perhop_core::needs::Needs;
use perhop_core::params::Problems;
use perhop_core::port::edge::Action;
use perhop_core::sched::SchedulerParams;
use perhop_sim::plan;
use std::cell::OnceCell;
use std::collections::BTreeSet;

const EF: Dscp = Dscp::new(46).expect("46 is below 64");

/// All advice on a scenario.
pub fn check(all: Resolved<'_>, problems: &mut Problems) {
    let Resolved { file, stages, arrivals, links } = all;
    bursts::check(all, problems);
    if file.is_whole() {
        stages.iter().for_each(|stage| unanswered(file, stage, problems));
        if arrivals.complete {
            unpoliced_ef(all, problems);
        }
        unused(file, problems);
        indexed(links).for_each(|link| unmarkable(file, link, problems));
        ecn::check(all, problems);
    }
}

/// W320: a conditioner that measures round trips has to see the ACKs of its packets; datagrams have none.
fn unanswered(file: File<'_>, stage: &Stage, problems: &mut Problems) {
    if !stage.needs(Needs::REVERSE) || stage.writes != Some(Writes::Colour) {
        return;
    }
    let ends = |link: usize| (file.topology.links[link].from, file.topology.links[link].to);
    let (from, to) = ends(stage.link);
    let answered = |flow: &Flowline| flow.tcp && flow.backward.iter().any(|&link| ends(link as usize) == (to, from));
    let mut silent = stage.takes.iter().map(|&i| &file.traffic[i]).filter(|flow| !answered(flow));
    let Some(first) = silent.next() else { return };
    let others = silent.count();
    let more = if others > 0 { format!(" and {others} more") } else { String::new() };
    let traffic = &first.offered.name;
    let message = format!("`{}` at {} sees no ACKs of traffic `{traffic}`{more}", stage.name, stage.port);
    let label = if first.tcp {
        let name = |node: usize| file.topology.nodes[node].name.as_str();
        let last = first.backward.last().map(|&link| name(ends(link as usize).1));
        let way: Vec<_> = first.backward.iter().map(|&link| name(ends(link as usize).0)).chain(last).collect();
        format!("the ACKs return over {}", way.join(" - "))
    } else if first.backward.is_empty() {
        "datagrams are not acknowledged".into()
    } else {
        "QUIC's acknowledgements are encrypted".into()
    };
    let help = "their round-trip time stays unknown and their windows never count as small: put it on a link that \
        both directions use, or leave that traffic to another kind";
    problems.warn("W320", stage.keys.kind, message).label(label).help(help);
}

/// W302: EF (RFC 3246) promises low delay only if its rate is enforced: something on its path must drop the excess, or
/// give it another code point.
fn unpoliced_ef(all: Resolved<'_>, problems: &mut Problems) {
    let Resolved { file, stages, .. } = all;
    if file.traffic.iter().all(|flow| flow.offered.dscp != EF) {
        return;
    }
    let polices = stages.iter().filter(|stage| stage.spec.actions.iter().any(limits));
    let mut policed = starving::policed(all);
    policed.extend(polices.flat_map(|stage| stage.takes.iter().copied()));
    let shaped = OnceCell::new();
    for (i, flow) in file.traffic.iter().enumerate().filter(|(_, f)| f.offered.dscp == EF) {
        if !policed.contains(&i) {
            let Some(stated) = file.model.traffic.get(&flow.offered.name) else { continue };
            let message = format!("nothing polices the EF traffic `{}`", flow.offered.name);
            problems.warn("W302", stated.common.dscp.place, message).help(
                if shaped.get_or_init(|| starving::shaped(all)).contains(&i) {
                    "packets beyond the rate of their class wait: put a token bucket with red = \"drop\" on their path"
                } else {
                    "put a token bucket with red = \"drop\" on its path, or give its priority class a `rate`"
                },
            );
        }
    }
}

/// Whether an action keeps packets from going on as EF.
fn limits(action: &Action) -> bool {
    match action {
        Action::Drop => true,
        Action::Pass(rewrite) => rewrite.dscp.is_some_and(|dscp| dscp != EF),
    }
}

/// W318: if no arriving packet is ECN-capable, an AQM with `ecn = true` drops all that it would mark.
fn unmarkable(file: File<'_>, at: Indexed<'_, plan::Link>, problems: &mut Problems) {
    let over = || file.data_over(at.index);
    if over().next().is_none() || over().any(Flowline::ecn_capable) {
        return;
    }
    let queues = at.it.queues.iter().zip(&file.topology.links[at.index].queues);
    for (_, stated) in queues.filter(|(queue, _)| marks(&queue.aqm)) {
        let message = format!("no traffic over `{}` is ECN-capable", at.it.name);
        let help = "set `ecn = true` in a `[traffic]` or `[tcp]`, or remove `ecn` here";
        problems
            .warn("W318", stated.place("ecn"), message)
            .label("packets that would be marked are dropped")
            .help(help);
    }
    coupled_for_nothing(at.it, &file.topology.links[at.index], problems);
}

/// W318 of DualPI2, whose L queue then stays empty.
fn coupled_for_nothing(link: &plan::Link, direction: &Direction, problems: &mut Problems) {
    let schedulers = link.nodes.iter().zip(&direction.nodes).filter_map(|(node, stated)| {
        matches!(node.scheduler(), Some(SchedulerParams::DualPi2(_))).then_some(stated.scheduler.as_ref()?)
    });
    for stated in schedulers {
        let message = format!("no traffic over `{}` is ECN-capable", link.name);
        let help = "set `ecn = true`, and `l4s = true` for the L queue, in a `[traffic]`; or write `aqm = \"pi\"` here";
        problems.warn("W318", stated.place("scheduler"), message).label("the L queue stays empty").help(help);
    }
}

/// W307: a `[queue]` or `[tcp]` that is not named anywhere.
fn unused(file: File<'_>, problems: &mut Problems) {
    let links = file.topology.links.iter();
    let names = links.flat_map(|l| l.queues.iter().map(|q| &q.name).chain(l.nodes.iter().map(|n| &n.name)));
    let queues = names.flatten().map(|name| &**name).collect();
    let tcp = file.model.traffic.sound().filter_map(|(_, t)| match &t.common.tcp.as_ref()?.value {
        TcpRef::Named(name) => Some(name.as_str()),
        TcpRef::Inline(_) => None,
    });
    warn_unused("queue", &file.model.queues, &queues, problems);
    warn_unused("tcp", &file.model.tcp, &tcp.collect(), problems);
}

fn warn_unused<T>(kind: &str, sections: &Named<T>, used: &BTreeSet<&str>, problems: &mut Problems) {
    let sound = sections.declared().iter().filter(|it| it.section.is_some());
    for section in sound.filter(|it| !used.contains(&*it.name)) {
        let message = format!("[{kind}.{}] is not used", section.name);
        problems.warn("W307", section.key, message).help("name the table where it should be used, or remove it");
    }
}
