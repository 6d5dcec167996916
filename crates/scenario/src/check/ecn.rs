//! W331: what a sender makes of marks does not fit the queues on its way.

use super::load::marks;
use crate::resolve::offered::{self, Flowline};
use crate::resolve::ports::Resolved;
use perhop_core::params::{Place, Problems, Tree};
use perhop_core::sched::SchedulerParams;
use perhop_sim::plan;
use perhop_sim::transport::CongestionLaw as _;

/// How a link marks.
#[derive(Clone, Copy, Debug, Default)]
struct Marking {
    /// As RFC 3168 wants it: seldom, for senders that halve.
    classic: bool,
    /// All beyond a step, for senders that answer to the fraction.
    step: bool,
    /// In a queue of its own for ECT(1).
    l4s: bool,
}

impl Marking {
    fn note(&mut self, ecn: bool, step: bool) {
        self.step |= step;
        self.classic |= ecn && !step;
    }

    fn any(self) -> bool {
        self.classic || self.step || self.l4s
    }
}

/// Warns of each traffic over TCP that is ECN-capable and meets the wrong queues.
pub fn check(all: Resolved<'_>, problems: &mut Problems) {
    for flow in offered::tables(all.file.traffic).filter(|flow| flow.tcp && flow.ecn_capable()) {
        let Some(place) = stated(all, flow) else { continue };
        let links = || flow.forward.iter().map(|&link| &all.links[link as usize]);
        if !links().any(|link| marking(link).any()) {
            unmarked(flow, place, problems);
        } else if let Some(link) = links().find(|link| misleads(flow, marking(link))) {
            misled(flow, link, place, problems);
        }
    }
}

/// Where the file says that it is ECN-capable.
fn stated(all: Resolved<'_>, flow: &Flowline) -> Option<Place> {
    let common = &all.file.model.traffic.get(&flow.offered.name)?.common;
    common.ecn.map(|ecn| ecn.place).or(common.tcp.as_ref().map(|tcp| tcp.place))
}

fn marking(link: &plan::Link) -> Marking {
    let mut found = Marking::default();
    for queue in &link.queues {
        let mut shown = Vec::new();
        queue.aqm.show(&mut shown);
        found.note(marks(&queue.aqm), has_step(&shown));
    }
    for scheduler in link.nodes.iter().filter_map(|node| node.scheduler()) {
        let mut shown = Vec::new();
        scheduler.show(&mut shown);
        let ecn = shown.contains(&("ecn", Tree::Bool(true))) || matches!(scheduler, SchedulerParams::Cake(_));
        found.note(ecn, has_step(&shown));
        if matches!(scheduler, SchedulerParams::DualPi2(_)) {
            (found.l4s, found.classic) = (true, true);
        }
    }
    found
}

/// `ce-threshold`, or RED by the queue as it is with one threshold for marks.
fn has_step(shown: &[(&'static str, Tree)]) -> bool {
    let value = |key: &str| shown.iter().find(|(name, _)| *name == key).map(|(_, value)| value);
    let now = value("wq") == Some(&Tree::Float(1.0)) || value("weight") == Some(&Tree::Integer(0));
    value("ce-threshold").is_some() || now && value("ecn-min").is_some() && value("ecn-min") == value("ecn-max")
}

fn misleads(flow: &Flowline, at: Marking) -> bool {
    let (scalable, l4s) = (flow.offered.tcp.congestion.is_scalable(), flow.offered.sockets.ecn.l4s);
    match (scalable, l4s) {
        (_, true) => at.classic && !at.l4s && !at.step,
        (true, false) => at.classic && !at.step,
        (false, false) => false,
    }
}

fn unmarked(flow: &Flowline, place: Place, problems: &mut Problems) {
    let message = format!("traffic `{}` asks for ECN, and no queue on its way marks", flow.offered.name);
    let help = match flow.offered.tcp.congestion.is_scalable() {
        false => "set `ecn = true` in a [queue] on its way, or leave ECN off",
        true => {
            "use a [queue] with `ce-threshold`, or scheduler = \"dualpi2\" for `l4s`; without marks the sender behaves as Reno"
        }
    };
    problems.warn("W331", place, message).help(help);
}

fn misled(flow: &Flowline, link: &plan::Link, place: Place, problems: &mut Problems) {
    let law = flow.offered.tcp.congestion.name();
    let (name, link) = (&flow.offered.name, &link.name);
    let (what, label, fix) = match flow.offered.sockets.ecn.l4s {
        true => ("ECT(1)", "the sender reduces less at a mark than others do", "use scheduler = \"dualpi2\""),
        false => (
            law,
            "the sender reduces less at a mark than the queue expects",
            "mark by a step: `ce-threshold` of \"codel\" or \"fq-codel\"",
        ),
    };
    let message = format!("traffic `{name}` sends {what}, and `{link}` marks as RFC 3168 has it");
    let help = format!(
        "{fix}, or for \"red\" `wq = 1` and `ecn-min` equal to `ecn-max`; else choose a sender that reduces fully, \"cubic\" or \"reno\""
    );
    problems.warn("W331", place, message).label(label).help(help);
}
