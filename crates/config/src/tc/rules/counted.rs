//! Counters with what they are of.

use crate::evidence::Counters;
use crate::rules::case::{At, Case};
use std::collections::{BTreeMap, HashMap};

/// Counters of a class, or of a queue without classes.
#[derive(Clone, Copy)]
pub(super) struct Counted<'a> {
    /// As printed.
    pub counters: &'a Counters,
    /// The queue of the class, or itself.
    pub at: At<'a>,
    /// The number of this queue among those of the text.
    queue: usize,
    /// The place of the class; `None`: the queue itself.
    pub class: Option<usize>,
    /// Whether packets wait there: parents count those of their classes again.
    pub leaf: bool,
}

impl Counted<'_> {
    /// `class 1:10`, `qdisc 10:`
    pub(super) fn name(&self) -> String {
        format!("{} {}", if self.class.is_some() { "class" } else { "qdisc" }, self.counters.of)
    }
}

/// All that are of something in the text's queues, in the order of the text.
pub(super) fn counted<'a>(case: &Case<'a>) -> impl Iterator<Item = Counted<'a>> {
    let mut places = HashMap::new();
    for (queue, at) in case.queues().into_iter().enumerate() {
        let mut enter = |name: &'a str, class: Option<usize>, leaf: bool| {
            // Where counters do not say the interface, the first one is meant.
            for interface in [at.port.interface.is.as_str(), ""] {
                places.entry((interface, name)).or_insert((at, queue, class, leaf));
            }
        };
        for (i, (class, is_parent)) in at.queue.classes.iter().zip(at.queue.parents()).enumerate() {
            enter(&class.name.is, Some(i), !is_parent);
        }
        // The counters of a class's queue are those of the class.
        if at.queue.classes.is_empty() && at.root {
            enter(&at.queue.name.is, None, true);
        }
    }
    let of = move |counters: &'a Counters| {
        let (at, queue, class, leaf) = *places.get(&(counters.interface.as_str(), counters.of.as_str()))?;
        Some(Counted { counters, at, queue, class, leaf })
    };
    case.read.evidence.iter().filter_map(of)
}

/// Those of leaves, by the queue whose rate they share.
pub(super) fn siblings<'a>(case: &Case<'a>) -> impl Iterator<Item = Vec<Counted<'a>>> {
    let mut queues: BTreeMap<usize, Vec<Counted<'a>>> = BTreeMap::new();
    for it in counted(case).filter(|it| it.leaf) {
        queues.entry(it.queue).or_default().push(it);
    }
    queues.into_values()
}
