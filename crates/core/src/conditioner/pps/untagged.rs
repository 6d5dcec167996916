//! How `untagged` makes a relabeller treat packets without tickets.
//!
//! Source: none; PPS assumes that every source tags and every router relabels. A packet without tickets that passes
//! unchanged belongs to no currency: no exchange, cap or policing of its link limits it.
//!
//! | untagged | what becomes of it |
//! |----------|--------------------|
//! | pass     | it passes unchanged and counts nowhere |
//! | least    | it counts as a packet with the least tag there is, and is exchanged, policed and thinned out like one |
//! | drop     | it is dropped before the queue, as by a policer |
//!
//! A packet without a label is untagged. In captures, so is a packet whose flow label is 0 or not the code of a tag
//! ("foreign"). A pure TCP ACK does not count as untagged, because no tagger tags it.
//!
//! Deviations: `untagged` is entirely ours.

use super::{Tags, is_untagged, tickets};
use crate::packet::Packet;
use crate::params::Choice;

/// What happens to a packet without tickets.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Untagged {
    /// It passes unchanged.
    Pass,
    /// It counts as one with the least tag there is.
    Least,
    /// It is dropped.
    Drop,
}

/// Where packets come in: keeps the rule, and counts those that it applied to.
#[derive(Clone, Debug)]
pub struct Door {
    rule: Untagged,
    least: f64,
    met: u64,
}

impl Door {
    /// A door to a currency with these tags.
    pub const fn new(rule: Untagged, tags: &Tags) -> Self {
        Self { rule, least: tags.least(), met: 0 }
    }

    /// A packet comes: whether it may come in.
    #[inline]
    pub fn admits(&mut self, packet: &Packet) -> bool {
        if self.rule == Untagged::Pass || !is_untagged(packet) {
            return true;
        }
        self.met += 1;
        self.rule == Untagged::Least
    }

    /// The tickets that a packet comes with; `None`: it passes unchanged.
    #[inline]
    pub fn tickets(&self, packet: &Packet) -> Option<f64> {
        tickets(packet).or_else(|| self.of_untagged(is_untagged(packet)))
    }

    /// What a packet counts as that is `untagged`.
    #[inline]
    pub fn of_untagged(&self, untagged: bool) -> Option<f64> {
        (untagged && self.rule == Untagged::Least).then_some(self.least)
    }

    /// Takes another rule; what was counted stays.
    pub const fn retune(&mut self, rule: Untagged, tags: &Tags) {
        (self.rule, self.least) = (rule, tags.least());
    }

    /// Total: packets that the rule made something of.
    pub fn tallies(&self, each: &mut dyn FnMut(&'static str, u64)) {
        if self.rule != Untagged::Pass {
            each("untagged_packets", self.met);
        }
    }
}
