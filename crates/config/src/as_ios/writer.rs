//! The port that is written, and the classes of its policy maps.

use super::queues::below;
use super::spread::Spread;
use super::stages::Stages;
use super::text::{Config, Shelf};
use super::written::Written;
use crate::device::notes::Notes;
use perhop_core::units::Span;
use perhop_scenario::resolve::topology::Direction;
use perhop_sim::plan::{Link, Plan};

/// A class of a policy map.
pub(super) struct Entry {
    /// Its class map.
    pub(super) class: String,
    pub(super) lines: Vec<String>,
    /// Whether its packets meet a conditioner.
    pub(super) conditioned: bool,
}

impl Entry {
    /// What takes all that others leave.
    pub(super) fn default(lines: Vec<String>) -> Self {
        Self { class: DEFAULT.into(), lines, conditioned: false }
    }

    pub(super) fn is_default(&self) -> bool {
        self.class == DEFAULT
    }
}

/// What takes all that others leave.
pub(super) const DEFAULT: &str = "class-default";

/// Writes a port.
pub(super) struct Writer<'a> {
    pub(super) link: &'a Link,
    pub(super) direction: &'a Direction,
    pub(super) plan: &'a Plan,
    pub(super) config: &'a mut Config,
    pub(super) told: &'a mut Notes,
    pub(super) stages: Stages<'a>,
    pub(super) spread: Spread,
    /// Whether the interface is faster than the link.
    pub(super) shapes: bool,
    /// Bc / CIR of a shaper that the scenario does not state.
    pub(super) interval: Span,
}

impl Writer<'_> {
    pub(super) fn refuse(&mut self, what: &str) {
        self.told.refuse(format!("port `{}`", self.link.name), &format!("IOS cannot express {what}"));
    }

    pub(super) fn note(&mut self, what: &str) {
        self.told.note(format!("port `{}`", self.link.name), what);
    }

    /// Lines, and what is told about them.
    pub(super) fn report(&mut self, written: Written) -> Vec<String> {
        written.refused.iter().for_each(|what| self.refuse(what));
        written.notes.iter().for_each(|what| self.note(what));
        written.lines
    }

    /// A policy map of these classes.
    pub(super) fn policy(&mut self, wanted: &str, entries: Vec<Entry>) -> String {
        let class = |it: Entry| [format!("class {}", it.class)].into_iter().chain(below(it.lines));
        let lines = entries.into_iter().flat_map(class).collect();
        self.config.add(Shelf::Policy, "policy-map", wanted, lines)
    }
}
