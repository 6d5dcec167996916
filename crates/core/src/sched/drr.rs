//! Deficit round robin: each class in turn sends a quantum of bytes, whatever the size of its packets.
//!
//! Source: Shreedhar, Varghese, "Efficient fair queuing using deficit round robin", SIGCOMM 1995; IEEE/ACM Transactions
//! on Networking 4(3), 1996, section III. `arithmetic = "linux"`: the behaviour of Linux 6.12, tc-drr(8).
//!
//! ```text
//! visit class i, if anything waits:
//!     DC_i = DC_i + Q_i
//!     while the packet at the head is not larger than DC_i: send it, DC_i = DC_i - its size
//!     if nothing waits any longer: DC_i = 0
//! ```
//!
//! While classes i and j both have packets waiting, the bytes that each has sent, divided by its quantum, differ by
//! less than 1 + Max/Q_i + Max/Q_j, where Max is the largest packet. So the shares of bytes are exact in the long
//! run. A class with nothing to send is skipped, so the link never idles while a packet waits.
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
//! |        | `classes[].queue`   |      | -       |
//! |        | `arithmetic`        |      | exact   |
//!
//! A packet belongs to the first class whose `for` has its colour or code point, or whose `match` agrees with it, else to the
//! last, the only one that may omit both. A quantum must be at least the largest packet (a smaller one gets only a warning with `arithmetic
//! = "linux"`). Every visit then sends a packet, which is the paper's condition for bounded work per packet. Only the
//! ratios of the quanta decide the shares, so you can multiply all of them by the same number. The `bandwidth percent`
//! of routers is such a ratio.
//! An entry with `per` is a template, a class for each address: see [HTB](htb.md).
//!
//! `arithmetic = "linux"` keeps a list of the classes with packets waiting, and looks only at the first:
//!
//! ```text
//! a class begins to wait:  DC_i = Q_i, to the end of the list
//! to send:                 while the packet of the first class is larger than DC_i: DC_i = DC_i + Q_i, to the end of the list
//!                          send it, DC_i = DC_i - its size; a class with nothing left leaves the list
//! ```
//!
//! So a class that becomes active is served at the end of the round, whatever its place in the file. It gets its next
//! quantum when it has used up the last one, not when its turn comes. Shares and bound are the same. A packet that
//! the scheduler has offered to a shaper above it is committed: no later packet can overtake it. A class that its own
//! shaper holds back blocks all others once it is at the head of the list. Linux does the same and logs a warning;
//! put the shaper above the scheduler instead.
//!
//! Deviations: with `arithmetic = "exact"` classes are visited in the order of the file. The paper keeps a list of
//! active queues to save visits to empty ones, and puts a queue that becomes active at the end of the round. The
//! bound holds for both.
//!
//! Decision: docs/decisions/059-schedulers-own-nothing.md

use super::rounds::Rounds;
use super::{Classes, Heads, HostKey, Pick, Scheduler, TemplateKeys, fault, members, same_arithmetic, same_members};
use crate::Scope;
use crate::aqm::members::{Filter, Members};
use crate::arithmetic::Arithmetic;
use crate::count::Count;
use crate::counter::{Part, Seen};
use crate::needs::Needs;
use crate::packet::Packet;
use crate::params::{CLASS, ParamError, Params as Declared};
use crate::port::turn::Turn;
use crate::units::{BitRate, Bytes, Time};
use std::ops::Range;

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// The classes in the order of their visits; first match, else the last.
    pub classes: Classes<Class>,
    /// Which class is next: by the order of the file, or as in Linux the one that has waited longest for its turn.
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
    /// Bytes it may send in each round, at least the largest packet.
    pub quantum: Bytes,
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

/// One link's DRR.
#[derive(Clone, Debug)]
pub struct Drr {
    members: Members,
    rounds: Rounds,
    takes: bool,
    advice: Vec<ParamError>,
}

impl Params {
    /// # Errors
    /// E201 without classes or for a quantum of 0; E223 when a class can match no packet; E225 for a quantum below the
    /// largest packet.
    pub fn build(self, scope: &Scope) -> Result<Drr, ParamError> {
        let members = members(&self.classes, |_| true, None, scope)?;
        let quanta: Vec<_> = self.classes.iter().map(|class| class.quantum).collect();
        let advice = sound(&self.classes, 0..quanta.len(), &quanta, (scope, self.arithmetic))?;
        let rounds = Rounds::new(0, quanta.into_iter(), self.arithmetic);
        Ok(Drr { members, rounds, takes: self.arithmetic == Arithmetic::Linux, advice })
    }
}

/// Refuses quanta of 0, and those below the largest packet unless Linux takes them: then warnings. `quanta` are of these
/// classes.
pub(super) fn sound(
    all: &Classes<impl super::Class>,
    classes: Range<usize>,
    quanta: &[Bytes],
    (scope, arithmetic): (&Scope, Arithmetic),
) -> Result<Vec<ParamError>, ParamError> {
    let (mut advice, layout) = (Vec::new(), all.layout());
    for (class, &quantum) in classes.zip(quanta).filter(|&(class, _)| layout.is_first(class)) {
        let scope = scope.of_classes(layout.alike(class));
        let least = scope.largest_packet;
        // Where nothing passes, no packet is known.
        if quantum >= least.max(Bytes::new(1)) {
            continue;
        }
        let found = |code| fault(code, all.called(class), format!("{CLASS}: `quantum` is {quantum}"));
        if quantum == Bytes::new(0) {
            let error = found("E201");
            return Err(error.help("must be at least the largest packet: otherwise the class never sends"));
        }
        let help = format!("must be at least {least}: multiply all quanta by one number, only their ratios matter");
        let label = format!("the largest packet of {} is {least}", scope.largest_of);
        match arithmetic {
            Arithmetic::Exact => return Err(found("E225").label(label).help(help)),
            Arithmetic::Linux => advice.push(found("W327").label(label).help(help)),
        }
    }
    Ok(advice)
}

impl Scheduler for Drr {
    type Params = Params;

    fn places(&self) -> usize {
        self.members.places()
    }

    fn share(&self, child: usize, whole: BitRate) -> BitRate {
        self.rounds.share(child, whole)
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
        self.rounds.queued(child);
    }

    fn pick(&mut self, _now: Turn<Time>, heads: &Heads) -> Pick {
        self.rounds.pick(heads)
    }

    fn sent(&mut self, _now: Turn<Time>, child: usize, bytes: u32, behind: Count) {
        self.rounds.sent(child, bytes, behind);
    }

    fn dropped(&mut self, _now: Turn<Time>, child: usize, _bytes: u32, behind: Count) {
        self.rounds.dropped(child, behind);
    }

    fn counters(&self, seen: &Seen<'_>, each: &mut dyn FnMut(Part, &'static str, f64)) {
        for place in 0..self.places() {
            let (child, mut each) = ((seen.child)(place), |name, value| each(Part::Class(place), name, value));
            child.show(child.left(), child.dropped(), &mut each);
            each("deficit", self.rounds.deficit(place) as f64);
        }
    }

    fn needs(&self) -> Needs {
        Needs::LENGTHS | Needs::TAKING.only_if(self.takes)
    }

    fn warnings(&self) -> Vec<ParamError> {
        self.advice.clone()
    }

    /// Deficits stay; a class gets its new quantum from its next visit on. `arithmetic` is fixed.
    fn retune(&mut self, _now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        let new = params.clone().build(scope)?;
        same_members(&self.members, &new.members)?;
        same_arithmetic(self.takes, new.takes)?;
        self.rounds.take_quanta(&new.rounds);
        Ok(())
    }
}
