//! The tree of a port's queues, drawn: a line a node, what is below it indented.

use super::{approximately, one_queue};
use crate::sections::queue::{is_parent, parents};
use crate::text::write;
use perhop_core::params::{Node, Tree, show_table};
use perhop_core::port::{Inside, NodeSpec, ShaperParams, Side};
use perhop_sim::plan;
use std::fmt::Write;

/// Draws the tree of a link's queues.
pub(super) fn draw(link: &plan::Link, overhead: u32, out: &mut String) {
    node(Drawn { link, overhead, index: 0, depth: 1, class: "" }, out);
}

/// A node of a link's tree.
#[derive(Clone, Copy)]
struct Drawn<'a> {
    link: &'a plan::Link,
    overhead: u32,
    index: usize,
    depth: usize,
    /// What its class says.
    class: &'a str,
}

fn node(at: Drawn<'_>, out: &mut String) {
    let it = &at.link.nodes[at.index];
    let _ = write!(out, "{:1$}{2}", "", 2 * at.depth, at.class);
    if let Some(shaper) = &it.shaper {
        let _ = write!(out, "{}, ", shaped(shaper, at.overhead));
    }
    match &it.inside {
        Inside::Queue(queue) => {
            let queue = &at.link.queues[*queue];
            let side = if queue.drop == Side::Head { ", drops from the head" } else { "" };
            let _ = writeln!(out, "{}{side}", one_queue(at.link, queue, at.overhead));
        }
        Inside::Scheduler(params) => {
            let classes = classes(it);
            let _ = writeln!(out, "{}", params.name());
            let children = (0..at.link.nodes.len()).filter(|&child| at.link.nodes[child].parent == Some(at.index));
            for (i, index) in children.enumerate() {
                let class = classes.get(i).map_or_else(|| "each flow: ".into(), |class| format!("{} {class}: ", i + 1));
                node(Drawn { index, depth: at.depth + 1, class: &class, ..at }, out);
            }
        }
    }
}

/// What a scheduler's classes with queues say, one line each.
fn classes(node: &NodeSpec) -> Vec<String> {
    let mut shown = Vec::new();
    node.scheduler().into_iter().for_each(|params| params.show(&mut shown));
    let Some(Tree::List(items)) = shown.into_iter().find(|(key, _)| *key == "classes").map(|(_, tree)| tree) else {
        return Vec::new();
    };
    let parents = parents(&items);
    items.iter().filter(|item| !is_parent(item, &parents)).map(class).collect()
}

fn class(item: &Node) -> String {
    let Tree::Table(table) = &item.tree else { return String::new() };
    let entries = table.entries.iter().filter(|(key, ..)| key != "for");
    let whose = table.get("for").map_or_else(|| "all others".into(), |members| write::inline(&members.tree));
    entries.fold(whose, |text, (key, _, value)| format!("{text}, {key} {}", write::inline(&value.tree)))
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
