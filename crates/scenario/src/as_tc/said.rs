//! What has been said, and what cannot be: each thing once, with all that it concerns.

use super::{Command, Device};
use crate::resolve::offered::Flowline;
use crate::scenario::Scenario;
use perhop_core::classify::FlowHeaders;
use perhop_sim::plan::Link;
use std::fmt;

/// How many a message names.
const NAMED: usize = 3;

/// Commands so far, with what is to be said about them.
#[derive(Default)]
pub(super) struct Said {
    pub(super) commands: Vec<Command>,
    refused: Vec<About>,
    notes: Vec<About>,
    /// Of the next command.
    comment: Option<String>,
    /// How many policers several filters share.
    shared: usize,
}

/// Something about one or more.
struct About {
    what: String,
    of: Vec<String>,
}

/// A port, as Linux knows it.
pub(super) struct Port<'a> {
    pub(super) near: Device,
    /// Bytes that queues count beyond the IP length.
    pub(super) overhead: u32,
    pub(super) link: &'a Link,
    /// Of the load that passes it: addresses, and nothing else.
    pub(super) headers: Vec<FlowHeaders>,
    pub(super) line: Line,
}

/// Between which addresses the load passes a link.
pub(super) fn passing(scenario: &Scenario, link: usize) -> Vec<FlowHeaders> {
    let nodes = &scenario.built.plan.nodes;
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
    scenario.built.traffic.iter().flat_map(of).collect()
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

impl Said {
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
        add(&mut self.refused, whose, what);
    }

    /// `what` is otherwise in Linux.
    pub(super) fn note(&mut self, port: &Port<'_>, what: &str) {
        self.note_of(port.named(), what);
    }

    pub(super) fn note_of(&mut self, whose: String, what: &str) {
        add(&mut self.notes, whose, what);
    }

    /// What cannot be said, in lines.
    pub(super) fn refused(&self) -> Vec<String> {
        self.refused.iter().map(About::to_string).collect()
    }

    /// What Linux has otherwise, in lines.
    pub(super) fn notes(&self) -> Vec<String> {
        self.notes.iter().map(About::to_string).collect()
    }
}

fn add(list: &mut Vec<About>, whose: String, what: &str) {
    let place = list.iter().position(|it| it.what == what).unwrap_or(list.len());
    if place == list.len() {
        list.push(About { what: what.to_owned(), of: Vec::new() });
    }
    let of = &mut list[place].of;
    if !of.contains(&whose) {
        of.push(whose);
    }
}

/// `traffic `a`, traffic `b`, traffic `c` and 37 more: no kernel has QUIC`
impl fmt::Display for About {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, of } = self;
        let more = of.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        write!(f, "{}{more}: {what}", of[..of.len().min(NAMED)].join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_concerns_many_is_said_once() {
        let mut said = Said::default();
        (0..40).for_each(|i| said.refuse_of(format!("traffic `{i}`"), "no"));
        said.refuse_of("traffic `3`".into(), "no");
        said.refuse_of("traffic `3`".into(), "never");
        let lines = ["traffic `0`, traffic `1`, traffic `2` and 37 more: no", "traffic `3`: never"];
        assert_eq!(said.refused(), lines);
    }
}
