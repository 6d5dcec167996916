//! Strict priority: a class sends only while no class before it has anything to send.
//!
//! Source: the priority queueing of routers; Cobham, "Priority assignment in waiting line problems", Operations Research
//! 2(1), 1954, for its waiting times. RFC 3246 names it as one way to give EF its per-hop behaviour.
//!
//! ```text
//! send from the first class of the list that has a packet waiting
//! ```
//!
//! The scheduler is not pre-emptive: a packet in transmission is sent to its end. A class can starve all classes
//! after it, so police the first ones: at the edge, or here with a limit (low-latency queueing, LLQ):
//!
//! ```text
//! on arrival at a class with `rate`: a token bucket of `burst` at that rate; what finds its tokens takes them and waits
//!     police = "always":      anything else is dropped (unconditional policing)
//!     police = "congested":   anything else is dropped if any packet waits at the port (conditional policing)
//! ```
//!
//! | symbol | field              | unit  | default |
//! |--------|--------------------|-------|---------|
//! |        | `classes[].name`   |       | -       |
//! |        | `classes[].for`    |       | -       |
//! |        | `classes[].match`|       | -       |
//! |        | `classes[].per`  |       | -       |
//! |        | `classes[].slots`|       | -       |
//! |        | `classes[].plans`|       | -       |
//! |        | `classes[].rate`   | bit/s | -       |
//! |        | `classes[].burst`  | B     | -       |
//! |        | `classes[].police` |       | -       |
//! |        | `classes[].same-level` |   | -       |
//! |        | `classes[].queue`  |       | -       |
//!
//! A class with `same-level` has the priority of the class before it: packets of both leave in the order of their arrival, as
//! from one queue. Each has its own limit. So `priority` without `level` in several classes of IOS is.
//!
//! Without `rate` there is no limit. `burst` defaults to 200 ms at `rate`, `police` to `always`. The `priority RATE` of
//! IOS has the same burst, and polices as `congested` does.
//!
//! The order of the list is the order of priority. A packet belongs to the first class whose `for` has its colour or
//! code point, or whose `match` agrees with it, else to the last, the only one that may omit both.
//! An entry with `per` is a template, a class for each address: see [HTB](htb.md).
//!
//! Deviations: none.

use super::policed::Limits;
pub use super::policed::{Police, PriorityLimit};
use super::{Classes, Heads, HostKey, Pick, Scheduler, TemplateKeys, Visit, fault, members, same_members};
use crate::Scope;
use crate::aqm::members::{Filter, Members};
use crate::count::Count;
use crate::counter::{Part, Seen};
use crate::needs::Needs;
use crate::packet::Packet;
use crate::params::{CLASS, ClassName, ParamError, Params as Declared};
use crate::port::turn::Turn;
use crate::rng::Rng;
use crate::units::Time;
use crate::verdict::Verdict;
use std::collections::VecDeque;

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// The classes, the most urgent first; first match, else the last.
    pub classes: Classes<Class>,
}

/// One class: which packets.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Class {
    /// Name of the class, by which results and messages call it.
    pub name: Option<String>,
    /// Which packets it takes.
    #[param(flatten)]
    pub filter: Filter,
    /// Or the keys of a template.
    #[param(flatten)]
    pub template: TemplateKeys,
    /// Its own limit.
    #[param(flatten)]
    pub limit: PriorityLimit,
    /// Whether it has the priority of the class before it: packets of both leave in the order of their arrival.
    pub same_level: Option<bool>,
    /// Its queue: a name of `[queue]`, or a table of the same keys; default: drop-tail.
    pub queue: HostKey,
}

impl Class {
    /// Whether it has the level of the class before it.
    pub fn is_beside(&self) -> bool {
        self.same_level == Some(true)
    }
}

impl super::Class for Class {
    fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    fn filter(&self) -> &Filter {
        &self.filter
    }

    fn filter_mut(&mut self) -> &mut Filter {
        &mut self.filter
    }
}

/// One link's priorities.
#[derive(Clone, Debug)]
pub struct StrictPriority {
    members: Members,
    limits: Limits,
    levels: Levels,
}

/// The order of arrival in levels of several classes.
#[derive(Clone, Debug)]
struct Levels {
    /// For each class the first one of its level; empty where each class is a level.
    first: Vec<usize>,
    /// For the first class of each level, the classes of the packets that wait in it.
    waiting: Vec<VecDeque<u32>>,
}

impl Params {
    /// # Errors
    /// E201 without classes or for a rate of 0; E223 when a class can match no packet; E212 for a burst below the largest
    /// packet; E239 for a burst or `police` without a rate, or for `same-level` of the first class.
    pub fn build(self, scope: &Scope) -> Result<StrictPriority, ParamError> {
        let members = members(&self.classes, |_| true, None, scope)?;
        if self.classes.first().is_some_and(|class| class.is_beside()) {
            let message = format!("{CLASS}: `same-level` has no effect without a class before it");
            let error = fault("E239", ClassName::listed(1), message);
            return Err(error.help("state it of the second class, or remove it"));
        }
        let levels = Levels::new(self.classes.iter().map(|class| class.is_beside()));
        Ok(StrictPriority { members, limits: Limits::new(self.limits(), scope)?, levels })
    }

    fn limits(&self) -> impl Iterator<Item = PriorityLimit> {
        self.classes.iter().map(|class| class.limit)
    }
}

impl Levels {
    /// Of classes that each say whether they have the level of the one before.
    fn new(same: impl Iterator<Item = bool>) -> Self {
        let mut first: Vec<usize> = Vec::new();
        for (i, same) in same.enumerate() {
            first.push(if same { first.last().copied().unwrap_or(i) } else { i });
        }
        if first.iter().enumerate().all(|(i, &first)| i == first) {
            first.clear();
        }
        let waiting = vec![VecDeque::new(); first.len()];
        Self { first, waiting }
    }

    /// Of the level of a class, the class that sends: the first one that is ready, by the order of arrival.
    #[inline]
    fn oldest(&self, class: usize, heads: &Heads) -> usize {
        let Some(&first) = self.first.get(class) else { return class };
        let ready = self.waiting[first].iter().find(|&&of| heads[of as usize].is_ready());
        ready.map_or(class, |&of| of as usize)
    }

    #[inline]
    fn queued(&mut self, class: usize) {
        if let Some(&first) = self.first.get(class) {
            self.waiting[first].push_back(class as u32);
        }
    }

    /// The first packet of a class waits no more.
    #[inline]
    fn gone(&mut self, class: usize) {
        let Some(&first) = self.first.get(class) else { return };
        let waiting = &mut self.waiting[first];
        if let Some(at) = waiting.iter().position(|&of| of as usize == class) {
            waiting.remove(at);
        }
    }
}

impl Scheduler for StrictPriority {
    type Params = Params;

    fn places(&self) -> usize {
        self.members.places()
    }

    #[inline]
    fn place(&mut self, packet: Turn<&Packet>) -> usize {
        self.members.of(*packet)
    }

    fn members(&mut self) -> Option<&mut Members> {
        Some(&mut self.members)
    }

    fn sorted(&self) -> Option<&Members> {
        Some(&self.members)
    }

    fn pick(&mut self, _now: Turn<Time>, heads: &Heads) -> Pick {
        heads.first_ready(0).map_or(Pick::Nothing, |first| Pick::Child(self.levels.oldest(first, heads)))
    }

    #[inline]
    fn queued(&mut self, _now: Turn<Time>, child: usize, _bytes: u32) {
        self.levels.queued(child);
    }

    #[inline]
    fn sent(&mut self, _now: Turn<Time>, child: usize, _bytes: u32, _behind: Count) {
        self.levels.gone(child);
    }

    fn dropped(&mut self, _now: Turn<Time>, child: usize, _bytes: u32, _behind: Count) {
        self.levels.gone(child);
    }

    fn on_arrival(&mut self, at: Turn<&Visit>, packet: &mut Packet, _rng: &mut Rng) -> Verdict {
        self.limits.judge(*at, packet.size)
    }

    fn counters(&self, seen: &Seen<'_>, each: &mut dyn FnMut(Part, &'static str, f64)) {
        seen.classes(self.places(), each);
    }

    fn needs(&self) -> Needs {
        self.limits.needs()
    }

    /// Tokens stay as far as they fit; which classes have a limit is fixed.
    fn retune(&mut self, now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        let new = params.clone().build(scope)?;
        same_members(&self.members, &new.members)?;
        if self.levels.first != new.levels.first {
            let message = "the change would alter which classes have one level".into();
            let error = ParamError::new("classes", "E202", message);
            return Err(error.help("`same-level` is fixed when the run begins: remove it from the change"));
        }
        self.limits.retune(now, params.limits(), scope)
    }
}
