//! What has been said, and what cannot be.

use super::{Command, Device};
use crate::device::notes::Notes;
use perhop_core::accounting::Accounting;
use perhop_core::classify::FlowHeaders;
use perhop_scenario::resolve::offered::Flowline;
use perhop_scenario::scenario::Scenario;
use perhop_sim::plan::Link;

/// Commands so far, with what is to be said about them.
#[derive(Default)]
pub(super) struct Script {
    pub(super) commands: Vec<Command>,
    told: Notes,
    /// Of the next command.
    comment: Option<String>,
    /// How many policers several filters share.
    shared: usize,
}

/// A port, as Linux knows it.
pub(super) struct Port<'a> {
    pub(super) near: Device,
    /// Which bytes queues count.
    pub(super) accounting: Accounting,
    pub(super) link: &'a Link,
    /// Of the load that passes it: addresses, and nothing else.
    pub(super) headers: Vec<FlowHeaders>,
    pub(super) line: Line,
}

/// Between which addresses the load passes a link.
pub(super) fn passing(scenario: &Scenario, link: usize) -> Vec<FlowHeaders> {
    let nodes = &scenario.built().plan.nodes;
    let between = |from: usize, to: usize| FlowHeaders {
        protocol: 0,
        source: nodes[from].address.into(),
        destination: nodes[to].address.into(),
        source_port: 0,
        destination_port: 0,
        traffic: String::new(),
        class: String::new(),
        rtt: None,
    };
    let of = |flow: &Flowline| {
        let (from, to) = (flow.offered.from[flow.sender], flow.offered.to);
        let ways = [(&flow.forward, from, to), (&flow.backward, to, from)];
        let passes = ways.into_iter().filter(|(way, ..)| way.contains(&(link as u32)));
        passes.map(|(_, from, to)| between(from, to)).collect::<Vec<_>>()
    };
    scenario.built().traffic.iter().flat_map(of).collect()
}

impl Port<'_> {
    /// In messages.
    pub(super) fn named(&self) -> String {
        format!("port `{}`", self.link.name)
    }

    /// The bit of a packet's mark that says that it has passed a conditioner; `None` for one beyond the bits.
    pub(super) fn bit(&self, conditioner: &str) -> Option<u32> {
        let place = self.link.edge.iter().position(|stage| stage.name == conditioner)?;
        1u32.checked_shl(u32::try_from(place).ok()?)
    }
}

/// What a port's packets leave on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Line {
    /// A virtual interface of a network that is all the scenario's: it has no rate, and only packets of the scenario pass.
    Virtual,
    /// An interface that there is, at least as fast as the link: any packet may pass.
    Real,
}

impl Script {
    pub(super) fn say(&mut self, command: Command) {
        let comment = self.comment.take();
        self.commands.push(Command { comment, ..command });
    }

    /// What the next commands are for.
    pub(super) fn comment(&mut self, text: String) {
        self.comment = Some(text);
    }

    /// A policer of that many filters: with a number, by which the second finds the bucket of the first.
    pub(super) fn shared(&mut self, police: &str, filters: usize) -> String {
        if filters <= 1 {
            return police.to_owned();
        }
        self.shared += 1;
        format!("{police} index {}", self.shared)
    }

    /// `what` of a port is not among what tc knows.
    pub(super) fn refuse(&mut self, port: &Port<'_>, what: &str) {
        self.refuse_of(port.named(), &format!("tc cannot express {what}"));
    }

    pub(super) fn refuse_of(&mut self, whose: String, what: &str) {
        self.told.refuse(whose, what);
    }

    /// `what` is otherwise in Linux.
    pub(super) fn note(&mut self, port: &Port<'_>, what: &str) {
        self.note_of(port.named(), what);
    }

    pub(super) fn note_of(&mut self, whose: String, what: &str) {
        self.told.note(whose, what);
    }

    /// What cannot be said, in lines.
    pub(super) fn refused(&self) -> Vec<String> {
        self.told.refused()
    }

    /// What Linux has otherwise, in lines.
    pub(super) fn notes(&self) -> Vec<String> {
        self.told.notes()
    }
}
