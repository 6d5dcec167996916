//! Strict priority: a class sends only while no class before it has anything to send.
//!
//! Source: the priority queueing of routers; Cobham, "Priority assignment in waiting line problems", Operations Research
//! 2(1), 1954, for its waiting times. RFC 3246 names it as one way to give EF its per-hop behaviour.
//!
//! ```text
//! send from the first class of the list that has a packet waiting
//! ```
//!
//! Not pre-emptive: a packet in transmission is sent to its end. A class may starve all those after it, so traffic in
//! the first ones should be policed at the edge.
//!
//! | symbol | field             | unit | default |
//! |--------|-------------------|------|---------|
//! |        | `classes[].for`   |      | -       |
//! |        | `classes[].queue` |      | -       |
//!
//! The order of the list is the order of priority. A packet belongs to the first class whose `for` has its colour or
//! code point, else to the last, the only one that may omit `for`.
//!
//! Deviations: none.

use super::{Head, HostKey, Pick, Scheduler, members, same_members};
use crate::Scope;
use crate::aqm::members::{Member, Members};
use crate::packet::Packet;
use crate::params::{ParamError, Params as Declared};
use crate::units::Time;

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// The classes, the most urgent first; first match, else the last.
    pub classes: Vec<Class>,
}

/// One class: which packets.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Class {
    /// Colours and code points of its packets; optional in the last class.
    #[param(name = "for")]
    pub members: Vec<Member>,
    /// Its queue: a name of `[queue]`, or a table of the same keys; default: drop-tail.
    pub queue: HostKey,
}

/// One link's priorities.
#[derive(Clone, Debug)]
pub struct StrictPriority {
    members: Members,
}

impl Params {
    /// # Errors
    /// E201 without classes; E223 when a class can match no packet.
    pub fn build(self, _scope: &Scope) -> Result<StrictPriority, ParamError> {
        Ok(StrictPriority { members: members(self.classes.iter().map(|class| &*class.members))? })
    }
}

impl Scheduler for StrictPriority {
    type Params = Params;

    fn places(&self) -> usize {
        self.members.places()
    }

    #[inline]
    fn place(&mut self, packet: &Packet) -> usize {
        self.members.of(packet)
    }

    fn pick(&mut self, _now: Time, heads: &[Head]) -> Pick {
        heads.iter().position(|head| head.is_ready()).map_or(Pick::Nothing, Pick::Child)
    }

    fn retune(&mut self, _now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        same_members(&self.members, &params.clone().build(scope)?.members)
    }
}
