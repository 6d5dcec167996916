//! MSVB: SVB with several classes. All share one virtual queue, and each has a threshold. A class above its share of
//! the link lowers its own threshold, whatever its round-trip times, number of flows or transport.
//!
//! Source: the paper of MSVB and SIO, section 3.2.
//!
//! ```text
//! dVq/dt    = lambda - C while Vq > F                     lambda: all classes
//! dVth_i/dt = alpha_i (phi_i C - lambda_i),  0 <= Vth_i <= V0
//! p_i       = max(0, (Vq - Vth_i)/Vq)                     with this packet counted in Vq and Vth_i
//! ```
//!
//! `counting` works as in SVB. If 0 < p_i < 1 in the long run, class i gets phi_i C.
//!
//! | symbol  | field              | unit       | default |
//! |---------|--------------------|------------|---------|
//! |         | `classes[].for`    |            | -       |
//! |         | `classes[].match`|            | -       |
//! | phi_i   | `classes[].share`  | -          | -       |
//! | alpha_i | `classes[].alpha`  | -          | 0.5     |
//! | V0      | `v0`               | p, B, s, % | 40p     |
//! | F       | `floor`            | p, B, s, % | 0p      |
//! | lambda  | `counting`         | -          | passed  |
//! |         | `mean-packet`      | B          | 1000B   |
//! |         | `ecn`              | -          | false   |
//! |         | `redistribute`     | -          | off     |
//!
//! A packet belongs to the first class whose `for` has its colour or code point, or whose `match` agrees with it, else to the
//! last, the only one that may omit both: the default class, with its own share. `v0`, `floor` and `counting` work as in SVB: use 40p and 0p
//! for drops, 300p and 260p with `ecn`. Shares sum to at most 1. A share of 0 blocks a class while there is any
//! queue; an alpha of 0 holds its threshold at V0.
//!
//! As published, MSVB does not redistribute the share that a class leaves unused: the thresholds of the other classes
//! fall to 0 while they exceed their shares, and the link idles. `redistribute`, which is not in the paper, changes
//! that. `silent` gives the shares of classes that sent nothing for 1 s to the others in proportion (in the first
//! second all count as sending). `unused` redistributes whatever a class leaves, whether it sends or not, while Vq is
//! at most V0, so that a class within its share does not suffer. A class with an alpha of 0 leaves nothing.
//!
//! Deviations: those of SVB. A threshold is updated when a packet of its class arrives. Between two packets it is a
//! straight line up to its cap, so the update is exact.

use std::sync::LazyLock;

pub use super::redistribution::Redistribute;
use super::redistribution::Shares;
use super::virtual_buffer::{Common, Counting, VirtualQueue, chance, verdict_at};
use crate::Scope;
use crate::aqm::early::{inside, same_unit};
use crate::aqm::members::{Filter, MOST, Members, Profiles};
use crate::aqm::{Aqm, Arrival, Departure};
use crate::needs::Needs;
use crate::packet::Packet;
use crate::params::{CLASS, ClassName, ParamError, Params as Declared};
use crate::port::turn::Turn;
use crate::rng::Rng;
use crate::units::{Probability, Time};
use crate::verdict::{Fate, Verdict};

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// The classes; first match, else the last.
    pub classes: Vec<Class>,
    /// Bounds, what counts, ECN.
    #[param(flatten)]
    pub common: Common,
    /// Which unused share is redistributed to the other classes.
    #[param(default = "off")]
    pub redistribute: Redistribute,
}

/// One class: which packets, and its share.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Class {
    /// Which packets it takes.
    #[param(flatten)]
    pub filter: Filter,
    /// Its share of the link.
    pub share: Probability,
    /// How far a packet lowers its threshold, in packets.
    #[param(default = 0.5)]
    pub alpha: f64,
}

/// Shares summed in floating point may exceed 1 by this.
const ROUNDING: f64 = 1e-9;

/// Names of series, by class.
static NAMES: LazyLock<Vec<[String; 2]>> =
    LazyLock::new(|| (1..=MOST).map(|i| [format!("threshold_{i}"), format!("drop_p_{i}")]).collect());

/// One queue's MSVB.
#[derive(Clone, Debug)]
pub struct Msvb {
    queue: VirtualQueue,
    classes: Profiles,
    shares: Shares,
    counting: Counting,
    ecn: bool,
}

impl Params {
    /// # Errors
    /// E201 without classes, for a negative `alpha`, or shares that sum to more than 1; E223 when a class can match
    /// no packet; as [`Common::queue`].
    pub fn build(self, scope: &Scope) -> Result<Msvb, ParamError> {
        self.shares()?;
        let filters = Profiles::new(["classes", "class"], self.classes.iter().map(|class| &class.filter), scope)?;
        let (queue, cap) = self.common.queue(scope)?;
        let classes = self.classes.iter().map(|class| (class.alpha, class.share.get()));
        let shares = Shares::new(self.redistribute, classes, &queue, cap);
        let Common { counting, ecn, .. } = self.common;
        Ok(Msvb { queue, classes: filters, shares, counting, ecn })
    }

    fn shares(&self) -> Result<(), ParamError> {
        if self.classes.is_empty() {
            return Err(ParamError::new("classes", "E201", "`classes` is empty".into())
                .help("write at least one: { for = [\"AF11\"], share = 0.1 }"));
        }
        for (i, class) in self.classes.iter().enumerate() {
            let refused = ParamError::at_least("alpha", class.alpha, 0.0).map_err(inside("classes", CLASS));
            refused.map_err(|error| error.of_class(ClassName::listed(i + 1)))?;
        }
        let sum: f64 = self.classes.iter().map(|class| class.share.get()).sum();
        if sum <= 1.0 + ROUNDING {
            return Ok(());
        }
        let message = format!("the shares of `classes` sum to {sum}");
        Err(ParamError::new("classes", "E201", message).help("must be at most 1: they are shares of one link"))
    }
}

impl Aqm for Msvb {
    type Params = Params;

    #[inline]
    fn on_arrival(&mut self, at: Turn<&Arrival>, packet: &mut Packet, rng: &mut Rng) -> Verdict {
        let units = self.queue.units(packet);
        let threshold = self.shares.heard(self.classes.arrives(packet), at.now, &self.queue);
        let lengths = [self.queue.advance(at.now) + units, threshold.after(units)];
        verdict_at(lengths, self.ecn, *at, rng)
    }

    #[inline]
    fn on_fate(&mut self, _at: Turn<&Arrival>, packet: &Packet, fate: Fate) {
        // No branch: what is dropped is random, and 0 units change nothing.
        let units = self.queue.units(packet) * f64::from(self.counting.counts(fate));
        self.queue.add(units);
        self.shares.take(self.classes.fate(packet, fate), units);
    }

    fn on_departure(&mut self, _at: Turn<&Departure>, packet: &mut Packet, _rng: &mut Rng) -> Verdict {
        self.classes.leaves(packet);
        Verdict::Pass
    }

    fn needs(&self) -> Needs {
        self.classes.needs()
    }

    fn members(&mut self) -> Option<&mut Members> {
        Some(&mut self.classes.members)
    }

    fn warnings(&self, scope: &Scope) -> Vec<ParamError> {
        let still = self.shares.thresholds().enumerate().filter(|(_, threshold)| threshold.is_still());
        let late = still.filter_map(|(i, threshold)| {
            let late = self.queue.late(threshold, scope)?;
            let late = inside("classes", &format!("{CLASS} with an `alpha` of 0"))(late);
            Some(late.of_class(ClassName::listed(i + 1)))
        });
        late.collect()
    }

    /// Thresholds are kept by the class's place in the list; a new class starts at V0.
    fn retune(&mut self, now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        let mut new = params.clone().build(scope)?;
        same_unit(self.queue.unit(), new.queue.unit(), "v0")?;
        new.classes.resume(&self.classes, "classes")?;
        new.shares.resume(&mut self.shares, now, [&mut new.queue, &mut self.queue]);
        *self = new;
        Ok(())
    }

    fn gauges(&self, now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        let queue = self.queue.at(now);
        each(self.queue.gauges()[0], queue);
        for ([threshold, p], value) in NAMES.iter().zip(self.shares.at(now, &self.queue)) {
            each(threshold, value);
            each(p, chance(queue, value));
        }
    }

    fn tallies(&self, each: &mut dyn FnMut(&'static str, u64)) {
        if let Some(n) = self.shares.silences() {
            each("silences", n);
        }
    }
}
