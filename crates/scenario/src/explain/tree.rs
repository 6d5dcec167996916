//! The tree of a port's queues, drawn: a line a node, what is below it indented.

use super::drain::Drain;
use super::{approximately, one_queue, rate, room};
use crate::sections::queue::{is_parent, limits, parents};
use crate::text::tree::get;
use crate::text::write;
use perhop_core::accounting::Accounting;
use perhop_core::params::{Node, Tree, show_table};
use perhop_core::port::{Branch, Inside, NodeSpec, ShaperParams, Side};
use perhop_core::sched::cake::TinOutline;
use perhop_core::sched::flows::Hash;
use perhop_core::sched::hfsc::Promise;
use perhop_core::sched::{Child, Police, SchedulerParams, is_template, plans};
use perhop_core::units::{Bytes, Span};
use perhop_sim::plan::{self, Plan};
use std::collections::HashSet;
use std::fmt::Write;

/// Draws the tree of a link's queues.
pub(super) fn draw(plan: &Plan, link: usize, drain: &Drain<'_>, out: &mut String) {
    let Ok(port) = plan.port(link).build::<()>() else { return };
    let drawn = Drawn { link: &plan.links[link], drain, accounting: plan.accounting };
    for branch in &port.branches() {
        drawn.plans(branch).iter().for_each(|plan| drawn.line(plan, out));
        drawn.line(branch, out);
        let scheduler = branch.node.and_then(|node| drawn.link.nodes[node].scheduler());
        if let Some(SchedulerParams::Cake(cake)) = scheduler {
            cake.outline().iter().for_each(|it| _ = writeln!(out, "{:1$}{2}", "", 2 * (2 + branch.depth), tin(it)));
        }
    }
}

/// A link's tree.
#[derive(Clone, Copy)]
struct Drawn<'a> {
    link: &'a plan::Link,
    drain: &'a Drain<'a>,
    accounting: Accounting,
}

impl Drawn<'_> {
    fn node(self, branch: &Branch, index: usize) -> String {
        let node = &self.link.nodes[index];
        let shaper = node.shaper.as_ref().map(|it| shaped(it, self.accounting.overhead()) + ", ").unwrap_or_default();
        match &node.inside {
            Inside::Queue(queue) => {
                let (index, queue) = (*queue, &self.link.queues[*queue]);
                let side = if queue.drop == Side::Head { ", drops from the head" } else { "" };
                let told = queue.scope.link_rate.filter(|rate| *rate != self.link.rate);
                let told = told.map(|rate| format!(", told a rate of {rate}")).unwrap_or_default();
                format!("{shaper}{}{side}{told}", one_queue(self.drain, index, self.accounting))
            }
            Inside::Scheduler(params) => {
                let first = branch.queues.first().copied().unwrap_or_default();
                shaper + params.name() + &room(self.drain, params, first) + &hashed(params) + &params.remark()
            }
        }
    }

    fn line(self, branch: &Branch, out: &mut String) {
        let class = self.class(branch);
        let name = if branch.depth > 0 { format!("{} {class}", branch.path) } else { class };
        let inside = branch.node.map(|node| self.node(branch, node)).unwrap_or_default();
        let between = if name.is_empty() || inside.is_empty() { "" } else { ": " };
        let _ = writeln!(out, "{:1$}{name}{between}{inside}", "", 2 * (1 + branch.depth));
    }

    /// The children of a scheduler, by its node.
    fn children(self, above: usize) -> Vec<usize> {
        (0..self.link.nodes.len()).filter(|&i| self.link.nodes[i].parent == Some(above)).collect()
    }

    /// Before the class of all addresses without a class: the plans of its template, each as its first class is.
    fn plans(self, branch: &Branch) -> Vec<Branch> {
        let (Some(above), Some(node)) = (branch.above, branch.node) else { return Vec::new() };
        let (nodes, listed) = (self.children(above), self.listed(above));
        let place = nodes.iter().position(|&child| child == node).unwrap_or_default();
        let Some(Child { entry, others: true, .. }) = listed.get(place) else { return Vec::new() };
        let firsts = (0..place).filter(|&i| listed[i].entry == *entry && (i == 0 || listed[i] != listed[i - 1]));
        let plan = |place: usize| {
            let many = listed.iter().filter(|it| **it == listed[place]).count();
            let path = branch.path.replacen("/others", &format!("/ADDRESS ({many} classes)"), 1);
            let queue = self.link.nodes[nodes[place]..].iter().find_map(|node| match node.inside {
                Inside::Queue(queue) => Some(queue),
                Inside::Scheduler(_) => None,
            });
            Branch { path, node: Some(nodes[place]), queues: queue.into_iter().collect(), ..branch.clone() }
        };
        firsts.map(plan).collect()
    }

    /// What each child of a scheduler is of.
    fn listed(self, above: usize) -> Vec<Child> {
        let (node, classes) = (&self.link.nodes[above], classes(&self.link.nodes[above]));
        let (parents, layout) = (parents(&classes), node.scheduler().and_then(|params| params.layout()));
        layout.map_or_else(Vec::new, |layout| layout.children(|entry| is_parent(&classes[entry], &parents)))
    }

    /// What a class says in the scheduler above.
    fn class(self, branch: &Branch) -> String {
        let Some(above) = branch.above else { return String::new() };
        let classes = classes(&self.link.nodes[above]);
        let Some(node) = branch.node else {
            let own = HashSet::from([branch.name.clone()]);
            let named = |class: &&Node| is_parent(class, &own);
            return classes.iter().find(named).map_or_else(String::new, |class| said(class).join(", "));
        };
        let place = self.children(above).iter().position(|&child| child == node).unwrap_or_default();
        match self.listed(above).get(place) {
            Some(child) => {
                let entry = &classes[child.entry];
                let plan = if is_template(entry) { plans(entry).swap_remove(child.plan) } else { entry.clone() };
                let whose = match (is_template(entry), child.others) {
                    (false, _) => whose(entry),
                    (true, false) => for_each(entry, &plan),
                    (true, true) => "all addresses without a class of their own".into(),
                };
                [vec![whose], said(&plan), self.by_default(above, place), self.due(above, place)].concat().join(", ")
            }
            None => {
                let others = self.link.nodes[above].scheduler().and_then(SchedulerParams::others);
                others.map_or_else(String::new, |what| format!("all others, {what}"))
            }
        }
    }

    /// What a class is promised at first, and by when a packet of the largest size has left that finds
    /// the class empty: one largest packet of the link after it is due.
    fn due(self, above: usize, place: usize) -> Vec<String> {
        let node = &self.link.nodes[above];
        let size = node.scope.of_class(place).largest_packet;
        let promise = node.scheduler().and_then(|params| params.promise(place, size));
        let Some(Promise { first, within, due }) = promise else { return Vec::new() };
        let first = (within > Span::ZERO).then(|| format!("rt gives {first} in its first {within}"));
        let largest = u32::try_from(node.scope.largest_packet.get()).unwrap_or(u32::MAX);
        let largest = Bytes::new(node.scope.on_link().bytes(largest).into());
        let left = approximately((due + largest / self.link.rate).seconds());
        let due = format!("a packet of {size} that finds it empty has left after {left} at the latest");
        first.into_iter().chain([due]).collect()
    }

    /// What the limit of a class that goes before others has by default.
    fn by_default(self, above: usize, place: usize) -> Vec<String> {
        let node = &self.link.nodes[above];
        let limit = node.scheduler().and_then(|params| limits(params).get(place).copied()).unwrap_or_default();
        let Some(rate) = limit.rate else { return Vec::new() };
        let burst = limit.burst.is_none().then(|| limit.burst(rate, place, &node.scope));
        let police = limit.police.is_none().then(|| format!("police {:?}", Police::default().name()));
        burst.map(|burst| format!("burst \"{burst}\"")).into_iter().chain(police).collect()
    }
}

/// How flows get their queues.
fn hashed(params: &SchedulerParams) -> String {
    let Some((queues, hash)) = params.hashed() else { return String::new() };
    let each = if matches!(params, SchedulerParams::Cake(_)) { " in each tin" } else { "" };
    let how = if hash == Hash::Exact { "one for each flow while any is free" } else { "by a hash of the flow" };
    format!(", {queues} queues{each}, {how}")
}

/// `tin Voice: CS4, EF; 2Mbit/s, target 9.08ms, interval 104ms, quantum 300B`
fn tin(it: &TinOutline) -> String {
    let codes: Vec<_> = it.codes.iter().map(ToString::to_string).collect();
    let codes = if codes.is_empty() { "all others".to_owned() } else { codes.join(", ") };
    let threshold =
        it.threshold.map_or_else(String::new, |bytes_s| format!("threshold {}, ", rate(bytes_s as f64 * 8.0)));
    let [target, interval] = [it.target, it.interval].map(|time| approximately(time.seconds()));
    format!("tin {}: {codes}; {threshold}target {target}, interval {interval}, quantum {}B", it.name, it.quantum)
}

/// The classes of a scheduler, as stated.
fn classes(node: &NodeSpec) -> Vec<Node> {
    let mut shown = Vec::new();
    node.scheduler().into_iter().for_each(|params| params.show(&mut shown));
    match shown.into_iter().find(|(key, _)| *key == "classes") {
        Some((_, Tree::List(items))) => items,
        _ => Vec::new(),
    }
}

/// `for each destination in { destination = "10.0.1.0/24" }`
fn for_each(template: &Node, plan: &Node) -> String {
    let per = get(template, &["per"]).map(|per| per.tree.to_string().replace('"', "")).unwrap_or_default();
    let matches = [template, plan].into_iter().filter_map(|it| get(it, &["match"])).map(|it| write::inline(&it.tree));
    ["for each ".to_owned() + &per].into_iter().chain(matches).collect::<Vec<_>>().join(" of ")
}

fn whose(class: &Node) -> String {
    let stated = ["for", "match"].into_iter().find_map(|key| get(class, &[key]));
    stated.map_or_else(|| "all others".into(), |filter| write::inline(&filter.tree))
}

/// What a class says beyond its place and its packets.
fn said(class: &Node) -> Vec<String> {
    let Tree::Table(table) = &class.tree else { return Vec::new() };
    let entries = table.entries.iter().filter(|(key, ..)| !["for", "match", "name", "parent"].contains(&key.as_str()));
    entries.map(|(key, _, value)| format!("{key} {}", write::inline(&value.tree))).collect()
}

/// Rate and burst, and which bytes count.
fn shaped(shaper: &ShaperParams, overhead: u32) -> String {
    let time = approximately(shaper.burst.get() as f64 * 8.0 / shaper.rate.bit_s().max(1) as f64);
    let peak = shaper.peak.map(|peak| format!(", peak {peak}")).unwrap_or_default();
    let framing = match write::inline(&show_table(&shaper.framing)) {
        none if none == "{}" || none == "{ }" => String::new(),
        stated => format!(" with {stated}"),
    };
    format!(
        "shaped to {} (burst {}, {time} of it{peak}; counts the IP length + {overhead}B{framing})",
        shaper.rate, shaper.burst
    )
}
