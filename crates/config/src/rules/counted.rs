//! Counters with what they are of.

use super::case::{At, Case, leaves};
use crate::evidence::Counters;
use std::collections::HashMap;

/// Counters of a class, or of a queue without classes.
#[derive(Clone, Copy)]
pub(super) struct Counted<'a> {
    /// As printed.
    pub counters: &'a Counters,
    /// The queue of the class, or itself.
    pub at: At<'a>,
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

/// All of tc that are of something in the text's queues, in the order of the text.
pub(super) fn counted<'a>(case: &Case<'a>) -> Vec<Counted<'a>> {
    let mut places = HashMap::new();
    for at in case.queues() {
        let mut enter = |name: &'a str, class: Option<usize>, leaf: bool| {
            // Where counters do not say the interface, the first one is meant.
            for interface in [at.port.interface.is.as_str(), ""] {
                places.entry((interface, name)).or_insert((at, class, leaf));
            }
        };
        let mut is_leaf = vec![false; at.queue.classes.len()];
        leaves(at.queue).into_iter().for_each(|i| is_leaf[i] = true);
        for (i, class) in at.queue.classes.iter().enumerate() {
            enter(&class.name.is, Some(i), is_leaf[i]);
        }
        // The counters of a class's queue are those of the class.
        if at.queue.classes.is_empty() && at.port.queue.as_ref().is_some_and(|queue| std::ptr::eq(queue, at.queue)) {
            enter(&at.queue.name.is, None, true);
        }
    }
    let of = |counters: &'a Counters| {
        let (at, class, leaf) = *places.get(&(counters.interface.as_str(), counters.of.as_str()))?;
        Some(Counted { counters, at, class, leaf })
    };
    case.read.evidence.iter().filter_map(of).collect()
}
