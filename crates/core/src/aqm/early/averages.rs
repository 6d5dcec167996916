//! The averages of a queue with several drop precedences: one for all, or one for each.
//!
//! Sources: Clark and Fang 1998, section III-C (two precedences); for any number, the behaviour of ns-2's dsRED, which
//! calls the three WRED, RIO-C and RIO-D.
//!
//! ```text
//! queue idle before this arrival:  every average x (1 - wq)^m, m as in `average`
//! then, at an arrival of precedence j of n (1 is dropped last), q_i of precedence i waiting before it:
//!   common    one average of the whole queue
//!   coupled   avg_i = avg_i + wq (q_1 + .. + q_i - avg_i) for each i >= j
//!   separate  avg_j = avg_j + wq (q_j - avg_j)
//! ```
//!
//! A packet is judged by the average of its precedence.
//!
//! Deviations: idle time is that of the whole queue, whichever precedence arrives first; dsRED keeps an idle time for each
//! average and decays it at the full link rate even while packets of others are sent.
//!
//! Decision: docs/decisions/061-wred-covers-rio.md

use super::average::WHOLE;
use super::{Idle, Unit, found};
use crate::aqm::Arrival;
use crate::count::Count;
use crate::estimate::Ewma;
use crate::needs::Needs;
use crate::params::Choice;
use crate::verdict::Fate;

/// What the average of a drop precedence counts.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// Every packet: one average for all (ns-2 `WRED`).
    Common,
    /// Packets of its precedence and of those before it in the list (ns-2 `RIO-C`).
    Coupled,
    /// Packets of its precedence (ns-2 `RIO-D`).
    Separate,
}

/// The averages of one queue.
#[derive(Clone, Debug)]
pub struct Averages {
    counted: Counted,
    unit: Unit,
    idle: Idle,
    /// One, or one for each precedence.
    each: Vec<Own>,
}

/// An average, and what waits of its precedence; stays zero where one average counts all.
#[derive(Clone, Debug)]
struct Own {
    average: Ewma,
    waiting: Count,
}

impl Averages {
    /// Averages at zero for `places` precedences of a queue measured in `unit`.
    pub fn new(counted: Counted, places: usize, unit: Unit, weight: f64, idle: Idle) -> Self {
        let averages = if counted == Counted::Common { 1 } else { places };
        let own = Own { average: Ewma::new(weight, 0.0), waiting: Count::default() };
        Self { counted, unit, idle, each: vec![own; averages] }
    }

    /// Takes an arrival of the precedence at `place`; returns the average that judges it.
    #[inline]
    pub fn on_arrival(&mut self, at: &Arrival, place: usize) -> f64 {
        let missed = self.idle.missed(at);
        if missed > 0.0 {
            self.each.iter_mut().for_each(|own| _ = own.average.decay(0.0, missed));
        }
        match self.counted {
            Counted::Common => self.each[0].average.update(found(at, self.unit)),
            Counted::Coupled => self.couple(at, place),
            Counted::Separate => {
                let own = &mut self.each[place];
                own.average.update(length(self.unit, own.waiting))
            }
        }
    }

    /// Moves the averages from `place` on; the last one counts the whole queue.
    #[inline]
    fn couple(&mut self, at: &Arrival, place: usize) -> f64 {
        let (less, own) = self.each.split_at_mut(place);
        let mut upto: Count = less.iter().map(|own| own.waiting).sum();
        let (last, between) = own.split_last_mut().expect("a place of the list");
        for own in between {
            upto += own.waiting;
            own.average.update(length(self.unit, upto));
        }
        last.average.update(found(at, self.unit));
        own[0].average.value()
    }

    /// What became of an arrival.
    #[inline]
    pub fn on_fate(&mut self, fate: Fate, place: usize, size: u32) {
        if self.tells_apart() && fate.stays() {
            self.each[place].waiting.add(size);
        }
    }

    /// A packet is about to be sent.
    #[inline]
    pub fn on_departure(&mut self, place: usize, size: u32) {
        if self.tells_apart() {
            let waiting = &mut self.each[place].waiting;
            waiting.packets -= 1;
            waiting.bytes -= u64::from(size);
        }
    }

    /// Departures, where it counts what waits of each precedence.
    pub fn needs(&self) -> Needs {
        if self.tells_apart() { Needs::DEPARTURES } else { Needs::NOTHING }
    }

    /// What the precedence at `place` is judged by.
    pub fn value(&self, place: usize) -> f64 {
        self.each[if self.tells_apart() { place } else { 0 }].average.value()
    }

    /// Whether it counts waiting packets by precedence, so that none may change precedence while it waits.
    pub fn tells_apart(&self) -> bool {
        self.counted != Counted::Common
    }

    /// What they are measured in.
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// Continues from the state of `other`, place by place. Waiting packets stay counted as they were on arrival.
    pub fn resume(&mut self, other: &Self) {
        for (own, old) in self.each.iter_mut().zip(&other.each) {
            own.average = Ewma::new(own.average.weight(), old.average.value());
            own.waiting = old.waiting;
        }
        self.idle.resume(&other.idle);
    }

    /// Values for series. `names` gives the name of the average of a place, in packets and in bytes; the one that counts the whole queue
    /// is named so.
    pub fn gauges(&self, names: impl Fn(usize) -> [&'static str; 2], each: &mut dyn FnMut(&'static str, f64)) {
        for (i, own) in self.each.iter().enumerate() {
            let whole = self.counted != Counted::Separate && i + 1 == self.each.len();
            let [packets, bytes] = if whole { WHOLE } else { names(i) };
            each(if self.unit == Unit::Packets { packets } else { bytes }, own.average.value());
        }
    }
}

#[inline]
fn length(unit: Unit, count: Count) -> f64 {
    unit.of(count.packets as u32, count.bytes)
}
