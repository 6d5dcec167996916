//! Enhanced transmission selection: strict priority among the first classes, deficit round robin among the others.
//!
//! Source: IEEE 802.1Q-2018 (802.1Qaz), clause 37, enhanced transmission selection; the shape of most routers' ports.
//! `arithmetic = "linux"`: the behaviour of Linux 6.12, tc-ets(8).
//!
//! ```text
//! send from the first class without `quantum` that has a packet waiting
//! if there is none: the classes with `quantum` share what is left, as in `drr`
//! ```
//!
//! Classes without `quantum` are strict; the first is the most urgent. A strict class can starve all classes after
//! it, so police it at the edge or give it a limit here: its `rate`, `burst` and `police` work as in
//! `strict-priority`. Classes with `quantum` share the bytes that the strict ones leave, in the ratio of their
//! quanta. The scheduler is not pre-emptive.
//!
//! | symbol | field               | unit | default |
//! |--------|---------------------|------|---------|
//! |        | `classes[].name`    |      | -       |
//! |        | `classes[].for`     |      | -       |
//! |        | `classes[].match` |      | -       |
//! |        | `classes[].per`   |      | -       |
//! |        | `classes[].slots` |      | -       |
//! |        | `classes[].plans` |      | -       |
//! | Q_i    | `classes[].quantum` | B    | -       |
//! |        | `classes[].rate`    | bit/s | -      |
//! |        | `classes[].burst`   | B    | -       |
//! |        | `classes[].police`  |      | -       |
//! |        | `classes[].queue`   |      | -       |
//! |        | `arithmetic`        |      | exact   |
//!
//! A packet belongs to the first class whose `for` has its colour or code point, or whose `match` agrees with it, else to the
//! last, the only one that may omit both. A quantum must be at least the largest packet. All that the page of `drr` says about quanta and
//! `arithmetic` holds here too.
//! An entry with `per` is a template, a class for each address: see [HTB](htb.md).
//!
//! Deviations: 802.1Qaz gives shares in percent and does not say how to enforce them; here they are quanta, as in
//! Linux. Linux's default quantum (the MTU) and its silent bounds of 256 B and 1 MiB are not adopted.

use super::policed::Limits;
pub use super::policed::{Police, PriorityLimit};
use super::rounds::Rounds;
use super::{
    Classes, Heads, HostKey, Pick, Scheduler, TemplateKeys, Visit, drr, fault, members, same_arithmetic, same_members,
};
use crate::Scope;
use crate::aqm::members::{Filter, Members};
use crate::arithmetic::Arithmetic;
use crate::count::Count;
use crate::counter::{Part, Seen};
use crate::needs::Needs;
use crate::packet::Packet;
use crate::params::{CLASS, ParamError, Params as Declared};
use crate::port::turn::Turn;
use crate::rng::Rng;
use crate::units::{BitRate, Bytes, Time};
use crate::verdict::Verdict;

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// The classes: the strict ones in the order of their urgency, then those that share; first match, else the last.
    pub classes: Classes<Class>,
    /// Which sharing class is next: by the order of the file, or as in Linux the one that has waited longest for its turn.
    #[param(default = "exact")]
    pub arithmetic: Arithmetic,
}

/// One class: which packets, and its quantum.
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
    /// Bytes it may send in each round, at least the largest packet; a class without it is strict.
    pub quantum: Option<Bytes>,
    /// Its own limit; for strict classes only.
    #[param(flatten)]
    pub limit: PriorityLimit,
    /// Its queue: a name of `[queue]`, or a table of the same keys; default: drop-tail.
    pub queue: HostKey,
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

/// One link's ETS.
#[derive(Clone, Debug)]
pub struct Ets {
    members: Members,
    limits: Limits,
    /// How many classes are strict: the first ones.
    strict: usize,
    rounds: Rounds,
    takes: bool,
    advice: Vec<ParamError>,
}

impl Params {
    /// # Errors
    /// E201 without classes or for a quantum or rate of 0; E223 when a class can match no packet; E225 for a quantum below the
    /// largest packet unless Linux takes it; E227 for a strict class after one with a quantum; E212
    /// for a burst below the largest packet; E239 for a limit without a rate, or of a class that shares.
    pub fn build(self, scope: &Scope) -> Result<Ets, ParamError> {
        let members = members(&self.classes, |_| true, None, scope)?;
        let strict = self.classes.iter().take_while(|class| class.quantum.is_none()).count();
        if let Some(i) = (strict..self.classes.len()).find(|&i| self.classes[i].quantum.is_none()) {
            return Err(late(&self.classes, i, strict));
        }
        if let Some(i) = (strict..self.classes.len()).find(|&i| self.classes[i].limit != PriorityLimit::default()) {
            let message = format!("{CLASS} has a `quantum` and keys of a limit");
            let error = fault("E239", self.classes.called(i), message);
            return Err(
                error.help("only strict classes have a limit: remove `rate`, `burst` and `police`, or shape its queue")
            );
        }
        let limits = Limits::new(self.limits(), scope)?;
        let quanta: Vec<_> = self.classes.iter().filter_map(|class| class.quantum).collect();
        let advice = drr::sound(&self.classes, strict..self.classes.len(), &quanta, (scope, self.arithmetic))?;
        let rounds = Rounds::new(strict, quanta.into_iter(), self.arithmetic);
        Ok(Ets { members, limits, strict, rounds, takes: self.arithmetic == Arithmetic::Linux, advice })
    }

    fn limits(&self) -> impl Iterator<Item = PriorityLimit> {
        self.classes.iter().map(|class| class.limit)
    }
}

fn late(classes: &Classes<Class>, i: usize, first_shared: usize) -> ParamError {
    let [strict, shared] = [i, first_shared].map(|class| classes.called(class));
    let message = format!("{CLASS} has no `quantum`, and {shared} before it has one");
    let help = format!("give {strict} a quantum, or move it before {shared}");
    fault("E227", strict, message)
        .label("a class without `quantum` is strict: it goes before all that share")
        .help(help)
}

impl Ets {
    /// The place of a child among those that share.
    fn shared(&self, child: usize) -> Option<usize> {
        child.checked_sub(self.strict)
    }
}

impl Scheduler for Ets {
    type Params = Params;

    fn places(&self) -> usize {
        self.members.places()
    }

    fn share(&self, child: usize, whole: BitRate) -> BitRate {
        self.shared(child).map_or(whole, |place| self.rounds.share(place, whole))
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

    #[inline]
    fn queued(&mut self, _now: Turn<Time>, child: usize, _bytes: u32) {
        if let Some(shared) = self.shared(child) {
            self.rounds.queued(shared);
        }
    }

    fn pick(&mut self, _now: Turn<Time>, heads: &Heads) -> Pick {
        match heads.first_ready(0).filter(|&first| first < self.strict) {
            Some(first) => Pick::Child(first),
            None => self.rounds.pick(heads),
        }
    }

    fn sent(&mut self, _now: Turn<Time>, child: usize, bytes: u32, behind: Count) {
        if let Some(shared) = self.shared(child) {
            self.rounds.sent(shared, bytes, behind);
        }
    }

    fn dropped(&mut self, _now: Turn<Time>, child: usize, _bytes: u32, behind: Count) {
        if let Some(shared) = self.shared(child) {
            self.rounds.dropped(shared, behind);
        }
    }

    fn on_arrival(&mut self, at: Turn<&Visit>, packet: &mut Packet, _rng: &mut Rng) -> Verdict {
        self.limits.judge(*at, packet.size)
    }

    fn counters(&self, seen: &Seen<'_>, each: &mut dyn FnMut(Part, &'static str, f64)) {
        seen.classes(self.places(), each);
    }

    fn needs(&self) -> Needs {
        self.limits.needs() | Needs::LENGTHS | Needs::TAKING.only_if(self.takes)
    }

    fn warnings(&self) -> Vec<ParamError> {
        self.advice.clone()
    }

    /// As DRR; which classes are strict is fixed.
    fn retune(&mut self, now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        let new = params.clone().build(scope)?;
        same_members(&self.members, &new.members)?;
        same_arithmetic(self.takes, new.takes)?;
        if self.strict != new.strict {
            let message = format!("{} classes would be strict in place of {}", new.strict, self.strict);
            let error = ParamError::new("classes", "E202", message);
            return Err(error.help("a change may alter the size of a quantum, but neither add nor remove one"));
        }
        self.limits.retune(now, params.limits(), scope)?;
        self.rounds.take_quanta(&new.rounds);
        Ok(())
    }
}
