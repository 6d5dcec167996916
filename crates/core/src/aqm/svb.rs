//! SVB: stabilised virtual buffer. Marks by a virtual queue and a threshold. The threshold falls while the load
//! exceeds the link's rate; the larger alpha, the sooner the queue turns.
//!
//! Source: the paper of MSVB and SIO, section 3.1; SVB itself: GLOBECOM 2002, pp. 1628-1632.
//!
//! ```text
//! dVq/dt  = lambda - C while Vq > F
//! dVth/dt = alpha (C - lambda),  0 <= Vth <= cap
//!
//! on arrival of a packet of s units, d = C x time since the last:
//!   Vq = max(F, Vq - d);  Vth = min(cap, Vth + alpha d)
//!   v = Vq + s;  h = Vth - alpha s
//!   p = max(0, (v - h)/v), at most 1
//!   mark or drop with probability p; if it counts: Vq = v, Vth = max(0, h)
//! ```
//!
//! Away from the bounds alpha Vq + Vth is constant, so p is a function of Vq alone.
//!
//! | symbol | field         | unit       | default |
//! |--------|---------------|------------|---------|
//! | alpha  | `alpha`       | -          | 0.05    |
//! | V0     | `v0`          | p, B, s, % | 40p     |
//! | cap    | `cap`         | p, B, s, % | v0      |
//! | F      | `floor`       | p, B, s, % | 0p      |
//! | lambda | `counting`    | -          | passed  |
//! |        | `mean-packet` | B          | 1000B   |
//! |        | `ecn`         | -          | false   |
//!
//! The defaults are for drops. With `ecn` write `v0 = "300p"` and, if that is more than the queue holds, `floor =
//! "260p"`. With marks, 40p is below the threshold of Lemma 3.1 for any usual load, and the queue oscillates
//! ([`crate::design::lemma31`]; `perhop tune` computes both for a link and its flows). With `v0` in packets, a packet
//! counts by its bytes on the link, where `mean-packet` bytes are one packet, and C is in the same unit. So the
//! virtual queue fills as the real one does, whatever the packet sizes.
//!
//! `counting` says which packets lambda counts: those that the AQM does not drop (`passed`, even if they then find
//! the queue full), those that are queued (`queued`), or all (`offered`, with which unresponsive load above C stops
//! the link entirely).
//!
//! Deviations: the paper gives no cap, floor or initial value. Here V0 is the initial value, and by default also the
//! cap. Without a cap the threshold grows as long as the link idles, and the AQM then does nothing until it has come
//! down. `cap = "none"` is the paper's equation; a length of at least V0 is another bound. A packet to be marked that
//! finds the queue full is dropped like any that the AQM drops, and does not count.
//!
//! Decision: docs/decisions/056-svb-has-one-default.md

use super::cap::Cap;
use super::virtual_buffer::{Common, Counting, Threshold, VirtualQueue, chance, verdict_at};
use crate::Scope;
use crate::aqm::early::{level::Level, same_unit};
use crate::aqm::{Aqm, Arrival};
use crate::packet::Packet;
use crate::params::{ParamError, Params as Declared};
use crate::port::turn::Turn;
use crate::rng::Rng;
use crate::units::Time;
use crate::verdict::{Fate, Verdict};

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// How far a packet lowers the threshold, in packets.
    #[param(default = 0.05)]
    pub alpha: f64,
    /// How far the threshold may rise: no further than its start, without bound, or to a length.
    #[param(default = "v0")]
    pub cap: Cap,
    /// Bounds, what counts, ECN.
    #[param(flatten)]
    pub common: Common,
}

/// One queue's SVB.
#[derive(Clone, Debug)]
pub struct Svb {
    queue: VirtualQueue,
    threshold: Threshold,
    counting: Counting,
    ecn: bool,
}

impl Params {
    /// # Errors
    /// E201 for a negative `alpha`; as [`Common::queue`] and [`Cap::value`]; E215 when with `counting = "queued"` no queue within its limit
    /// ever reaches the threshold.
    pub fn build(self, scope: &Scope) -> Result<Svb, ParamError> {
        ParamError::at_least("alpha", self.alpha, 0.0)?;
        let (queue, v0) = self.common.queue(scope)?;
        if self.common.counting == Counting::Queued {
            self.within_reach(v0 - queue.at(Time::ZERO), queue.unit(), scope)?;
        }
        let threshold = Threshold::new(self.alpha, queue.capacity(), v0).capped(self.cap.value(self.common.v0, scope)?);
        Ok(Svb { queue, threshold, counting: self.common.counting, ecn: self.common.ecn })
    }

    /// With x more packets than the link sent, Vq is F + x and Vth is V0 - alpha x; x is at most the queue.
    fn within_reach(&self, gap: f64, unit: super::early::Unit, scope: &Scope) -> Result<(), ParamError> {
        let Some(length) = scope.limit else { return Ok(()) };
        let limit = Level::of("v0", length, scope)?;
        if limit.unit != unit || limit.value * (1.0 + self.alpha) > gap {
            return Ok(());
        }
        let message = format!("`v0` {} is beyond what a queue of {length} can reach", self.common.v0);
        Err(ParamError::new("v0", "E215", message)
            .label("nothing would ever be dropped early")
            .help("lower `v0`, raise `floor`, or count only the packets that pass: counting = \"passed\""))
    }
}

impl Aqm for Svb {
    type Params = Params;

    #[inline]
    fn on_arrival(&mut self, at: Turn<&Arrival>, packet: &mut Packet, rng: &mut Rng) -> Verdict {
        let units = self.queue.units(packet);
        self.threshold.advance(at.now);
        let lengths = [self.queue.advance(at.now) + units, self.threshold.after(units)];
        verdict_at(lengths, self.ecn, *at, rng)
    }

    #[inline]
    fn on_fate(&mut self, _at: Turn<&Arrival>, packet: &Packet, fate: Fate) {
        // No branch: what is dropped is random, and 0 units change nothing.
        let units = self.queue.units(packet) * f64::from(self.counting.counts(fate));
        self.queue.add(units);
        self.threshold.take(units);
    }

    fn warnings(&self, scope: &Scope) -> Vec<ParamError> {
        self.queue.late(&self.threshold, scope).into_iter().collect()
    }

    fn retune(&mut self, now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        let mut new = params.clone().build(scope)?;
        same_unit(self.queue.unit(), new.queue.unit(), "v0")?;
        new.queue.resume(&self.queue, now);
        new.threshold.resume(&self.threshold, now);
        *self = new;
        Ok(())
    }

    fn gauges(&self, now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        let (queue, threshold) = (self.queue.at(now), self.threshold.at(now));
        let [of_queue, of_threshold] = self.queue.gauges();
        each(of_queue, queue);
        each(of_threshold, threshold);
        each("drop_p", chance(queue, threshold));
    }
}
