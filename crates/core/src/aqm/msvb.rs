//! MSVB: SVB of several classes. One virtual queue for all, a threshold for each: a class above its share of the link
//! lowers its own, whatever its round-trip times, its flows, its transport.
//!
//! Source: the paper of MSVB and SIO, section 3.2.
//!
//! ```text
//! dVq/dt    = lambda - C while Vq > F                     lambda: all classes
//! dVth_i/dt = alpha_i (phi_i C - lambda_i),  0 <= Vth_i <= V0
//! p_i       = max(0, (Vq - Vth_i)/Vq)                     with this packet counted in Vq and Vth_i
//! ```
//!
//! and what counts is counted as in SVB. Where 0 < p_i < 1 in the long run, class i gets phi_i C.
//!
//! | symbol  | field              | unit       | default |
//! |---------|--------------------|------------|---------|
//! |         | `classes[].for`    |            | -       |
//! | phi_i   | `classes[].share`  | -          | -       |
//! | alpha_i | `classes[].alpha`  | -          | 0.5     |
//! | V0      | `v0`               | p, B, s, % | 40p     |
//! | F       | `floor`            | p, B, s, % | 0p      |
//! | lambda  | `counting`         | -          | passed  |
//! |         | `mean-packet`      | B          | 1000B   |
//! |         | `ecn`              | -          | false   |
//! |         | `redistribute`     | -          | false   |
//!
//! A packet is of the first class whose `for` has its colour or code point, else of the last, which alone may leave `for`
//! out: the default class, with its own share. `v0`, `floor`, `counting` as in SVB: 40p and 0p for drops, 300p and 260p
//! with `ecn`. Shares are at most 1 in sum; a share of 0 blocks a class while there is any queue, an alpha of 0 holds
//! its threshold at V0.
//!
//! As written the link does not hand on what a silent class leaves: the others' thresholds fall to 0 while they get more
//! than their shares, and the link idles. With `redistribute` the shares of classes that sent nothing for 1 s go to the
//! others in proportion; all count as sending during the first second. Not in the paper.
//!
//! Deviations: those of SVB. A threshold is brought up to date when a packet of its class comes; between two packets it
//! is a line up to its cap, so nothing is lost.

use std::sync::LazyLock;

use super::virtual_buffer::{Common, Counting, Threshold, VirtualQueue, chance, verdict};
use crate::Scope;
use crate::aqm::early::{inside, same_unit};
use crate::aqm::members::{MOST, Member, Members};
use crate::aqm::{Aqm, Arrival};
use crate::packet::Packet;
use crate::params::{ParamError, Params as Declared};
use crate::rng::Rng;
use crate::units::{Probability, Span, Time};
use crate::verdict::{Fate, Verdict};

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// The classes; first match, else the last.
    pub classes: Vec<Class>,
    /// Bounds, what counts, ECN.
    #[param(flatten)]
    pub common: Common,
    /// Whether the shares of silent classes go to the others.
    #[param(default = false)]
    pub redistribute: bool,
}

/// One class: whose packets, and its share.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Class {
    /// Colours and code points of its packets; may be left out in the last class.
    #[param(name = "for")]
    pub members: Vec<Member>,
    /// Its share of the link.
    pub share: Probability,
    /// How far a packet lowers its threshold, in packets.
    #[param(default = 0.5)]
    pub alpha: f64,
}

/// A class is silent that sent nothing for so long.
const SILENCE: Span = Span::from_s(1);
/// Shares summed in floating point may exceed 1 by this.
const ROUNDING: f64 = 1e-9;

/// Names of series, by class.
static NAMES: LazyLock<Vec<[String; 2]>> =
    LazyLock::new(|| (1..=MOST).map(|i| [format!("threshold_{i}"), format!("drop_p_{i}")]).collect());

/// One class at work.
#[derive(Clone, Debug)]
struct Running {
    threshold: Threshold,
    share: f64,
    last: Time,
    active: bool,
}

/// One queue's MSVB.
#[derive(Clone, Debug)]
pub struct Msvb {
    queue: VirtualQueue,
    members: Members,
    classes: Vec<Running>,
    counting: Counting,
    ecn: bool,
    redistribute: bool,
    /// No class falls silent before.
    check_at: Time,
}

impl Params {
    /// # Errors
    /// E201 without classes, for a negative `alpha`, or when the shares are above 1 in sum; E223 when a class can match
    /// no packet; as [`Common::queue`].
    pub fn build(self, scope: &Scope) -> Result<Msvb, ParamError> {
        self.shares()?;
        let members = Members::new(["classes", "class"], self.classes.iter().map(|class| &*class.members))?;
        let (queue, cap) = self.common.queue(scope)?;
        let running = |class: &Class| {
            let share = class.share.get();
            let threshold = Threshold::new(class.alpha, share * queue.capacity(), cap);
            Running { threshold, share, last: Time::ZERO, active: true }
        };
        let classes = self.classes.iter().map(running).collect();
        let Common { counting, ecn, .. } = self.common;
        let redistribute = self.redistribute;
        Ok(Msvb { queue, members, classes, counting, ecn, redistribute, check_at: Time::ZERO + SILENCE })
    }

    fn shares(&self) -> Result<(), ParamError> {
        if self.classes.is_empty() {
            return Err(ParamError::new("classes", "E201", "`classes` is empty".into())
                .help("at least one: { for = [\"AF11\"], share = 0.1 }"));
        }
        for (i, class) in self.classes.iter().enumerate() {
            let name = format!("class {}", i + 1);
            ParamError::at_least("alpha", class.alpha, 0.0).map_err(inside("classes", &name))?;
        }
        let sum: f64 = self.classes.iter().map(|class| class.share.get()).sum();
        if sum <= 1.0 + ROUNDING {
            return Ok(());
        }
        let message = format!("the shares of `classes` are {sum} in sum");
        Err(ParamError::new("classes", "E201", message).help("at most 1: they are shares of one link"))
    }
}

impl Msvb {
    /// Classes that have been silent long enough, in the order in which they became so.
    fn fall_silent(&mut self, now: Time) {
        let next = |classes: &[Running]| classes.iter().filter(|c| c.active).map(|c| c.last + SILENCE).min();
        while let Some(at) = next(&self.classes).filter(|at| *at <= now) {
            for class in self.classes.iter_mut().filter(|c| c.active && c.last + SILENCE == at) {
                class.active = false;
            }
            self.share_out(at);
        }
        self.check_at = next(&self.classes).unwrap_or(now + SILENCE);
    }

    /// Gives each class its share of the link from `now` on.
    fn share_out(&mut self, now: Time) {
        let all: f64 = self.classes.iter().map(|c| c.share).sum();
        let active: f64 = self.classes.iter().map(|c| if c.active { c.share } else { 0.0 }).sum();
        let factor = if self.redistribute && active > 0.0 { all / active } else { 1.0 };
        for class in &mut self.classes {
            class.threshold.set_fair(class.share * factor * self.queue.capacity(), now);
        }
    }

    /// Goes on with who sends as `other` knows it; where it did not look, all have just sent.
    fn hear_as(&mut self, other: &Self, now: Time) {
        if !self.redistribute {
            return;
        }
        self.check_at = now + SILENCE;
        self.classes.iter_mut().for_each(|class| class.last = now);
        if other.redistribute {
            self.check_at = other.check_at;
            for (class, old) in self.classes.iter_mut().zip(&other.classes) {
                (class.last, class.active) = (old.last, old.active);
            }
        }
    }

    /// Counts a class as sending.
    fn heard(&mut self, class: usize, now: Time) {
        if now >= self.check_at {
            self.fall_silent(now);
        }
        self.classes[class].last = now;
        if !self.classes[class].active {
            self.classes[class].active = true;
            self.check_at = self.check_at.min(now + SILENCE);
            self.share_out(now);
        }
    }
}

impl Aqm for Msvb {
    type Params = Params;

    #[inline]
    fn on_arrival(&mut self, at: &Arrival, packet: &mut Packet, rng: &mut Rng) -> Verdict {
        let i = self.members.of(packet);
        if self.redistribute {
            self.heard(i, at.now);
        }
        let units = self.queue.units(packet);
        let threshold = &mut self.classes[i].threshold;
        threshold.advance(at.now);
        let p = chance(self.queue.advance(at.now) + units, threshold.after(units));
        verdict(p, self.ecn, at, rng)
    }

    #[inline]
    fn on_fate(&mut self, _at: &Arrival, packet: &Packet, fate: Fate) {
        if self.counting.counts(fate) {
            let units = self.queue.units(packet);
            self.queue.add(units);
            self.classes[self.members.of(packet)].threshold.take(units);
        }
    }

    fn warnings(&self, scope: &Scope) -> Vec<ParamError> {
        let still = self.classes.iter().enumerate().filter(|(_, class)| class.threshold.is_still());
        let late = still.filter_map(|(i, class)| {
            let late = self.queue.late(&class.threshold, scope)?;
            Some(inside("classes", &format!("class {} with an `alpha` of 0", i + 1))(late))
        });
        late.collect()
    }

    /// Thresholds go on by the class's place in the list; a new class starts at V0.
    fn retune(&mut self, now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        let mut new = params.clone().build(scope)?;
        same_unit(self.queue.unit(), new.queue.unit(), "v0")?;
        new.queue.resume(&self.queue, now);
        new.hear_as(self, now);
        new.share_out(now);
        for (class, old) in new.classes.iter_mut().zip(&self.classes) {
            class.threshold.resume(&old.threshold, now);
        }
        *self = new;
        Ok(())
    }

    fn gauges(&self, now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        let queue = self.queue.at(now);
        each(self.queue.gauges()[0], queue);
        for ([threshold, p], class) in NAMES.iter().zip(&self.classes) {
            let value = class.threshold.at(now);
            each(threshold, value);
            each(p, chance(queue, value));
        }
    }
}
