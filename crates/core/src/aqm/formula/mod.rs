//! Formula: marks or drops each packet with the probability that a formula of the scenario file gives.
//!
//! Source: the file that states it. The language is perhop's own; [an idea in two
//! minutes](../../guides/an-idea-in-two-minutes.md) begins with it.
//!
//! ```text
//! when = "arrival" | "departure":  averages sampled, then rules of `state`, then `drop-if`, then p
//!   drop-if holds:         dropped
//!   else with probability p: marked if `ecn` holds and the packet is ECN-capable, else dropped; then the rules `hit`
//! at the other of the two: its rules of `state`; every `interval`: the rules `interval`
//! average:  x = x + weight (of - x); with `mean-packet` first x = x (1 - weight)^m after idle time, as in RED
//! ```
//!
//! | symbol | field                       | unit | default   |
//! |--------|-----------------------------|------|-----------|
//! | p      | `p`                         | -    | -         |
//! |        | `when`                      |      | `arrival` |
//! |        | `drop-if`                   |      | -         |
//! |        | `ecn`                       |      | false     |
//! |        | `interval`                  | s    | -         |
//! |        | `averages.NAME.of`          | any  | -         |
//! |        | `averages.NAME.weight`      | -    | -         |
//! |        | `averages.NAME.mean-packet` | B    | -         |
//! |        | `state.NAME.start`          | any  | -         |
//! |        | `state.NAME.arrival`        | any  | -         |
//! |        | `state.NAME.departure`      | any  | -         |
//! |        | `state.NAME.interval`       | any  | -         |
//! |        | `state.NAME.hit`            | any  | -         |
//!
//! A formula has numbers with units (`15ms`, `30p`, `1500B`, `5Mbit/s`), `+ - * / ^`, comparisons, `and`, `or`, `not`, the
//! functions below, the names of `averages` and `state`, and these variables:
//!
//! | variable          | unit    | what it is                                                                          |
//! |-------------------|---------|-------------------------------------------------------------------------------------|
//! | `backlog.packets` | p       | packets waiting, without this one and without the one in transmission                |
//! | `backlog.bytes`   | B       | bytes waiting                                                                       |
//! | `backlog.time`    | s       | `backlog.bytes / rate`                                                              |
//! | `sojourn`         | s       | at a departure how long this packet has waited; else what the last one that left had waited, 0 while the queue is idle |
//! | `size`            | B       | of the packet, as `accounting` counts                                               |
//! | `colour`          |         | of the packet: compared with `green`, `yellow`, `red`, `unmarked`                   |
//! | `room`, `ecn`     |         | whether the packet fits; whether it is ECN-capable                                  |
//! | `rate`            | bit/s   | of the link, or of what bounds the queue's class                                    |
//! | `now`, `gap`      | s       | since the start of the run; since the last arrival                                  |
//! | `idle`            | s       | since queue and link have been empty; 0 while they are busy                         |
//!
//! | function                     | what it gives                                                        |
//! |------------------------------|----------------------------------------------------------------------|
//! | `if(c, a, b)`                | a where the condition c holds, else b; also `if(c, a, d, b, e)`       |
//! | `min(a, b)`, `max(a, b)`     | of two or more                                                       |
//! | `abs(a)`                     | without sign                                                         |
//! | `exp(a)`, `ln(a)`, `a^b`     | of numbers; whole powers to 8 of any quantity                        |
//!
//! Only what counts is computed: the other side of an `if`, and what stands behind an `and` or `or` that is decided, is not.
//! Units are checked when the file is read: p is a number without unit, both sides of `+` and `<` have the same one. At p = 0
//! and p = 1 no random number is drawn. A division by zero, a logarithm or power that has no value, any value beyond the largest
//! number (1.8e308) and a p that is no probability end the run with the time and all values, whatever stands around them.
//!
//! Deviations: none from what the file states. Arithmetic is in numbers of 64 bits, times in seconds; whole powers are
//! products. `sojourn` at an arrival is that of the last departure, as an AQM sees no packet that waits.
//!
//! Decision: docs/decisions/120-a-formula-is-compiled-once.md

mod law;

use crate::Scope;
use crate::aqm::{Aqm, Arrival, Backlog, Departure};
use crate::formula::{Condition, Formula as Text, Named, Rule, Wrong};
use crate::needs::Needs;
use crate::packet::Packet;
use crate::params::{Choice, Field, Gives, Kind, Node, ParamError, Params as Declared, Problems, Reader, Tree, Value};
use crate::port::turn::Turn;
use crate::rng::Rng;
use crate::units::{Bytes, Span, Time};
use crate::verdict::Verdict;
use law::Law;

pub use law::Formula;

/// When p is computed.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// As a packet arrives.
    Arrival,
    /// As a packet at the head is about to be sent.
    Departure,
}

/// What a formula is said to average.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct AverageOf {
    /// A quantity, sampled each time p is computed, before the rules of `state`.
    pub of: Text,
    /// Weight of one sample, in (0, 1].
    pub weight: f64,
    /// With it the average falls while the queue is idle, as RED's: by as many samples of 0 as packets of this size fit.
    pub mean_packet: Option<Bytes>,
}

/// Whether ECN-capable packets are marked in place of being dropped.
#[derive(Clone, Debug, PartialEq)]
pub enum Marks {
    /// Always or never.
    Fixed(bool),
    /// While this holds.
    If(Condition),
}

impl Value for Marks {
    const KIND: Kind = Kind::Either(&[Kind::Bool, Kind::Formula(Gives::Condition)]);

    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        match node.tree {
            Tree::Bool(fixed) => Some(Self::Fixed(fixed)),
            _ => Condition::read(node, problems).map(Self::If),
        }
    }

    fn tree(&self) -> Option<Tree> {
        match self {
            Self::Fixed(fixed) => Some(Tree::Bool(*fixed)),
            Self::If(condition) => condition.tree(),
        }
    }
}

/// What a scenario states, before its formulas are held against each other.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Stated {
    /// The probability of a mark or drop: a formula that gives a number from 0 to 1.
    pub p: Text,
    /// When it is computed.
    #[param(default = "arrival")]
    pub when: When,
    /// A condition under which packets are dropped in any case.
    pub drop_if: Option<Condition>,
    /// Whether ECN-capable packets are marked where others are dropped: true, false, or a condition.
    #[param(default = false)]
    pub ecn: Marks,
    /// Time between two uses of the rules `interval`.
    pub interval: Option<Span>,
    /// Moving averages, by the names they have in formulas.
    pub averages: Named<AverageOf>,
    /// Numbers that the formula remembers, by their names.
    pub state: Named<Rule>,
}

/// The same, with formulas whose names and units agree.
#[derive(Clone, Debug, PartialEq)]
pub struct Params(Box<Stated>);

impl Declared for Params {
    const FIELDS: &'static [Field] = Stated::FIELDS;

    fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let stated = <Stated as Declared>::read(reader)?;
        Wrong::none_in(Law::assemble(&stated, Some(1.0)), reader.problems).then(|| Self(Box::new(stated)))
    }

    fn show(&self, out: &mut Vec<(&'static str, Tree)>) {
        self.0.show(out);
    }
}

impl Params {
    /// # Errors
    /// E201 for a weight or `mean-packet` out of range or an `interval` of 0, E218 for a rate that is not known, E239 for an
    /// `interval` without rules or rules without one.
    pub fn build(self, scope: &Scope) -> Result<Formula, ParamError> {
        let rate = scope.link_rate.map(|rate| rate.bytes_s());
        Formula::new(&self.0, Law::assemble(&self.0, rate).map_err(Wrong::refused)?, scope)
    }
}

impl Aqm for Formula {
    type Params = Params;

    #[inline(always)]
    fn on_arrival(&mut self, at: Turn<&Arrival>, packet: &mut Packet, rng: &mut Rng) -> Verdict {
        self.arrives(*at, packet, rng)
    }

    fn on_departure(&mut self, at: Turn<&Departure>, packet: &mut Packet, rng: &mut Rng) -> Verdict {
        self.departs(*at, packet, rng)
    }

    fn on_timer(&mut self, now: Turn<Time>, backlog: &Backlog) {
        self.tick(*now, backlog);
    }

    fn needs(&self) -> Needs {
        self.asks()
    }

    fn poll_at(&self) -> Option<Time> {
        self.next()
    }

    /// Numbers and averages stay where name and unit do.
    fn retune(&mut self, now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        let new = params.clone().build(scope)?;
        self.become_at(now, new)
    }

    fn gauges(&self, _now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        self.values(each);
    }
}
