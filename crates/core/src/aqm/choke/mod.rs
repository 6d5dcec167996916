//! CHOKe: RED that compares each arrival with one waiting packet drawn at random. If both are of the same flow, both are
//! dropped. A flow is hit the more often the more packets of it arrive and wait, so one that does not respond to
//! congestion is held down without a count for each flow.
//!
//! Source: Pan, Prabhakar and Psounis, "CHOKe, a stateless active queue management scheme for approximating fair bandwidth
//! allocation", IEEE INFOCOM 2000, figure 2.
//!
//! ```text
//! on arrival:  avg as in RED
//!   avg <= min:        pass, count = -1
//!   min < avg:         draw one of the waiting packets; if it is of the same flow drop both
//!   min < avg < max:   else as RED: drop or mark with probability p_a
//!   max <= avg:        else drop
//! ```
//!
//! | symbol   | field         | unit       | default       | tc              |
//! |----------|---------------|------------|---------------|-----------------|
//! | min_th   | `min`         | p, B, s, % | -             | `min`           |
//! | max_th   | `max`         | p, B, s, % | -             | `max`           |
//! | max_p    | `max-p`       | -          | 0.1           | `probability`   |
//! | w_q      | `wq`          | -          | 0.002         | from `burst`    |
//! | -log2 wq | `weight`      | -          | -             | shown as `ewma` |
//! |          | `mean-packet` | B          | 500B          | `avpkt`         |
//! | p_a      | `spacing`     |            | `uniformised` | `uniformised`   |
//! |          | `beyond`      |            | `drop`        | `drop`          |
//! |          | `ecn`         |            | false         | `ecn`           |
//! |          | `arithmetic`  |            | `exact`       | `linux`         |
//!
//! The fields are those of [RED](red.md). Both packets of a match count as early drops; the tally `matched` is the number of
//! matches. The one that waited is dropped with the arrival, wherever it waits. `drop = "head"` is refused.
//!
//! `arithmetic = "linux"` computes as RED with the same setting, in packets. It differs from the paper's rules in five points.
//! Linux notes that the queue is empty only if it is asked for a packet then: below a shaper or in a class (of any
//! scheduler but strict priorities right at the line) it never is, and the average stands still until packets arrive. At exactly max a packet is still drawn for, not dropped. From max on ECN-capable packets are marked. A packet that is
//! dropped from the middle leaves a hole in the kernel's table until it comes to the head. A draw that hits holes three
//! times takes the packet at the head, which is therefore hit a little more often.
//!
//! Deviations: at exactly max the packet is dropped, as in RED; the paper drops beyond max. ECN is not in the paper. Its variants
//! that draw several packets are not implemented. Linux compares addresses and ports as it finds them in the headers; here a
//! flow is a 5-tuple, which is the same for TCP and UDP. Linux's table has room for `limit` packets, rounded up to a power
//! of two, holes included; a table that is full of holes is not modelled.
//!
//! Decision: docs/decisions/114-choke-keeps-its-own-order.md

mod table;

use super::early::linux;
use super::early::{self, Average, Common, Level, Precedence, Profile, Unit};
use crate::Scope;
use crate::aqm::{Aqm, Arrival, Backlog, Departure};
use crate::arithmetic::Arithmetic;
use crate::needs::Needs;
use crate::packet::Packet;
use crate::params::{ParamError, Params as Declared};
use crate::port::turn::Turn;
use crate::rng::Rng;
use crate::units::Time;
use crate::verdict::{Fate, Reason, Verdict};
use std::collections::VecDeque;
use table::Table;

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// The thresholds.
    #[param(flatten)]
    pub profile: Profile,
    /// Average, spacing, ECN.
    #[param(flatten)]
    pub common: Common,
    /// Real numbers, or those of Linux.
    #[param(default = "exact")]
    pub arithmetic: Arithmetic,
}

/// One queue's CHOKe.
#[derive(Clone, Debug)]
pub struct Choke {
    numbers: Numbers,
    waiting: Table,
    /// Whether the average of an empty queue falls.
    rests: bool,
    /// The waiting packets of matches that have not gone yet, each by its place once those before it have.
    hits: VecDeque<u32>,
    matched: u64,
}

#[derive(Clone, Debug)]
enum Numbers {
    Exact(Exact),
    Linux(Box<linux::Red>),
}

#[derive(Clone, Debug)]
struct Exact {
    average: Average,
    precedence: Precedence,
    min: f64,
}

impl Params {
    /// # Errors
    /// As RED's.
    pub fn build(self, scope: &Scope) -> Result<Choke, ParamError> {
        let Self { profile, common, arithmetic } = &self;
        Profile::any_in_reach([profile], scope)?;
        let numbers = match arithmetic {
            Arithmetic::Linux => {
                Numbers::Linux(Box::new(linux::Red::new("CHOKe", Unit::Packets, profile, common, scope)?))
            }
            Arithmetic::Exact => {
                let (precedence, unit) = common.precedence(profile, scope)?;
                let min = Level::of("min", profile.min, scope)?.value;
                Numbers::Exact(Exact { average: common.average(unit, scope)?, precedence, min })
            }
        };
        let linux = *arithmetic == Arithmetic::Linux;
        let (waiting, rests) = (Table::new(linux), !linux || scope.asked_when_empty);
        Ok(Choke { numbers, waiting, rests, hits: VecDeque::new(), matched: 0 })
    }
}

impl Numbers {
    /// Takes an arrival; whether it is to be compared.
    fn on_arrival(&mut self, at: &Arrival) -> bool {
        match self {
            Self::Exact(red) => red.average.on_arrival(at) > red.min,
            Self::Linux(red) => red.on_arrival(at, at.backlog.packets.into()) > red.set.min,
        }
    }

    /// The average is `min` or below.
    fn rest(&mut self) {
        match self {
            Self::Exact(red) => _ = red.precedence.spare(),
            Self::Linux(red) => red.rest(),
        }
    }

    /// RED's verdict on a packet that was compared and did not match.
    fn decide(&mut self, at: &Arrival, rng: &mut Rng) -> Verdict {
        match self {
            Self::Exact(red) => red.precedence.decide(red.average.value(), at.backlog.ecn, rng),
            Self::Linux(red) => of_linux(red, at, rng),
        }
    }
}

fn of_linux(red: &mut linux::Red, at: &Arrival, rng: &mut Rng) -> Verdict {
    if red.average() > red.set.max {
        red.rest();
        return if red.set.ecn && at.backlog.ecn { Verdict::Mark } else { Verdict::Drop(Reason::Forced) };
    }
    match red.is_due(rng) {
        false => Verdict::Pass,
        true if red.set.ecn => Verdict::Mark,
        true => Verdict::Drop(Reason::Early),
    }
}

impl Choke {
    /// Draws a waiting packet; whether it is of the same flow.
    fn matches(&mut self, packet: &Packet, rng: &mut Rng) -> bool {
        let drawn = self.waiting.draw(rng).filter(|(_, flow)| *flow == packet.flow);
        let hit = drawn.map(|(place, _)| self.waiting.remove(place));
        self.hits.extend(hit);
        self.matched += u64::from(hit.is_some());
        hit.is_some()
    }
}

impl Aqm for Choke {
    type Params = Params;

    fn on_arrival(&mut self, at: Turn<&Arrival>, packet: &mut Packet, rng: &mut Rng) -> Verdict {
        let idle_since = at.backlog.idle_since.filter(|_| self.rests);
        let at = Arrival { backlog: Backlog { idle_since, ..at.backlog }, ..**at };
        if !self.numbers.on_arrival(&at) {
            self.numbers.rest();
            return Verdict::Pass;
        }
        if self.matches(packet, rng) {
            return Verdict::Drop(Reason::Early);
        }
        self.numbers.decide(&at, rng)
    }

    fn on_fate(&mut self, _at: Turn<&Arrival>, packet: &Packet, fate: Fate) {
        if let Numbers::Exact(red) = &mut self.numbers {
            red.precedence.on_fate(fate);
        }
        if fate.stays() {
            self.waiting.push(packet.flow);
        }
    }

    fn on_departure(&mut self, _at: Turn<&Departure>, _packet: &mut Packet, _rng: &mut Rng) -> Verdict {
        self.waiting.pop();
        Verdict::Pass
    }

    fn evict(&mut self) -> Option<(u32, Reason)> {
        self.hits.pop_front().map(|place| (place, Reason::Early))
    }

    fn needs(&self) -> Needs {
        Needs::DEPARTURES | Needs::ROOM
    }

    fn warnings(&self, scope: &Scope) -> Vec<ParamError> {
        match &self.numbers {
            Numbers::Exact(red) => red.precedence.warnings(red.average.unit(), scope),
            Numbers::Linux(red) => red.warnings(scope),
        }
    }

    fn retune(&mut self, _now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        let mut new = params.clone().build(scope)?;
        match (&mut new.numbers, &self.numbers) {
            (Numbers::Exact(new), Numbers::Exact(old)) => {
                early::same_unit(old.average.unit(), new.average.unit(), "min")?;
                new.average.resume(&old.average);
                new.precedence.resume(&old.precedence);
            }
            (Numbers::Linux(new), Numbers::Linux(old)) => new.resume(old)?,
            _ => return Err(linux::changed()),
        }
        self.numbers = new.numbers;
        Ok(())
    }

    fn gauges(&self, _now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        match &self.numbers {
            Numbers::Exact(red) => {
                each(red.average.gauge(), red.average.value());
                each("drop_p", red.precedence.drop_p(red.average.value()));
            }
            Numbers::Linux(red) => red.gauges(each),
        }
    }

    fn tallies(&self, each: &mut dyn FnMut(&'static str, u64)) {
        each("matched", self.matched);
    }
}
