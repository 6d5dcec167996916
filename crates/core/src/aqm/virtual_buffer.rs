//! The stabilised virtual buffer: the parts that SVB, MSVB and SIO share.
//!
//! Source: the papers of SVB (GLOBECOM 2002) and of MSVB and SIO, sections 3.1 to 3.3.
//!
//! ```text
//! virtual queue:  dVq/dt = lambda - C while Vq > F
//! threshold:      dVth/dt = alpha (phi C - lambda),  0 <= Vth <= cap     cap: V0, unless SVB or SIO states another
//! probability:    p = max(0, (Vq - Vth)/Vq)
//! ```
//!
//! Each arrival that counts moves both, and so do the bytes that the link could have sent since the last update. A
//! threshold is updated only when a packet of its class arrives; between two updates it is a straight line up to its
//! cap.

use super::early::level::{Level, Unit, link_rate, most_bytes};
use crate::Scope;
use crate::accounting::Recount;
use crate::aqm::Arrival;
use crate::math::{larger, smaller};
use crate::packet::Packet;
use crate::params::{Choice, ParamError, Params};
use crate::rng::Rng;
use crate::units::{Bytes, Length, Time};
use crate::verdict::{Fate, Reason, Verdict};
use std::hint::select_unpredictable;

/// What SVB and MSVB state in the same words.
#[derive(Params, Clone, Debug, PartialEq)]
pub struct Common {
    /// Threshold at the start, and its upper bound.
    #[param(default = "40p")]
    pub v0: Length,
    /// Lower bound of the virtual queue; below `v0`.
    #[param(default = "0p")]
    pub floor: Length,
    /// Which packets count in virtual queue and threshold.
    #[param(default = "passed")]
    pub counting: Counting,
    /// If `v0` is in packets: the bytes that count as one.
    #[param(default = "1000B")]
    pub mean_packet: Bytes,
    /// Whether ECN-capable packets are marked where others are dropped.
    #[param(default = false)]
    pub ecn: bool,
}

/// Which packets count in virtual queue and threshold.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// Those that the AQM itself does not drop, even if they find the queue full.
    Passed,
    /// Those that are queued.
    Queued,
    /// All arrivals.
    Offered,
}

impl Counting {
    /// Whether a packet of this fate counts.
    #[inline]
    pub const fn counts(self, fate: Fate) -> bool {
        match self {
            Self::Passed => !matches!(fate, Fate::Dropped(Reason::Early)),
            Self::Queued => fate.stays(),
            Self::Offered => true,
        }
    }
}

impl Common {
    /// The virtual queue at its floor, and V0.
    ///
    /// # Errors
    /// E201 for `v0` or `mean-packet` of 0, E214 unless `floor` is below `v0`, E218 without a link rate or limit, E219
    /// when they are in different units.
    pub fn queue(&self, scope: &Scope) -> Result<(VirtualQueue, f64), ParamError> {
        let (v0, floor) = (Level::of("v0", self.v0, scope)?, Level::of("floor", self.floor, scope)?);
        ParamError::above_zero("v0", v0.value)?;
        if floor.value > 0.0 {
            super::early::one_unit(v0.unit, floor.unit, "floor")?;
        }
        if floor.value >= v0.value {
            let message = format!("`floor` {} is not below `v0` {}", self.floor, self.v0);
            return Err(ParamError::new("floor", "E214", message)
                .help("lower it or raise `v0`: otherwise packets would suffer even on an idle link"));
        }
        Ok((VirtualQueue::new(Level { value: floor.value, ..v0 }, self.mean_packet, scope)?, v0.value))
    }
}

/// p at a virtual (or real) queue and a threshold.
#[inline]
pub fn chance(queue: f64, threshold: f64) -> f64 {
    if queue > 0.0 { ((queue - threshold) / queue).clamp(0.0, 1.0) } else { 0.0 }
}

/// As [`verdict`] with p = [`chance`]. The draw is compared with a quotient only where it is so close that its rounding matters.
#[inline]
pub fn verdict_at([queue, threshold]: [f64; 2], ecn: bool, at: &Arrival, rng: &mut Rng) -> Verdict {
    let draw = rng.uniform();
    let above = draw * queue - (queue - threshold);
    let suffers =
        if queue > 0.0 && above.abs() > CLOSE * queue { above < 0.0 } else { draw < chance_of([queue, threshold]) };
    suffer(suffers, ecn, at)
}

/// How close, as a part of the queue: far above the rounding of either side, 2^-51.
const CLOSE: f64 = 1.0 / (1u64 << 40) as f64;

#[cold]
#[inline(never)]
fn chance_of([queue, threshold]: [f64; 2]) -> f64 {
    chance(queue, threshold)
}

/// The verdict on a packet that suffers with probability `p`; one to be marked that finds the queue full is the AQM's drop.
/// Always takes one draw.
#[inline]
pub fn verdict(p: f64, ecn: bool, at: &Arrival, rng: &mut Rng) -> Verdict {
    suffer(rng.uniform() < p, ecn, at)
}

#[inline]
fn suffer(suffers: bool, ecn: bool, at: &Arrival) -> Verdict {
    let marks = ecn && at.backlog.ecn && at.backlog.room;
    let hit = if marks { Verdict::Mark } else { Verdict::Drop(Reason::Early) };
    select_unpredictable(suffers, hit, Verdict::Pass)
}

/// The virtual queue.
#[derive(Clone, Debug)]
pub struct VirtualQueue {
    unit: Unit,
    on_link: Recount,
    /// Bytes of a unit.
    one: f64,
    /// Units a second.
    capacity: f64,
    floor: f64,
    length: f64,
    since: Time,
}

impl VirtualQueue {
    /// A virtual queue at `floor`, for the link of `scope`.
    ///
    /// # Errors
    /// E201 for a `mean_packet` of 0, E218 without a link rate.
    pub fn new(floor: Level, mean_packet: Bytes, scope: &Scope) -> Result<Self, ParamError> {
        ParamError::above_zero("mean-packet", mean_packet)?;
        let one = match floor.unit {
            Unit::Packets => mean_packet.get() as f64,
            Unit::Bytes => 1.0,
        };
        let capacity = link_rate("aqm", scope)?.bytes_s() / one;
        let (unit, floor) = (floor.unit, floor.value);
        Ok(Self { unit, on_link: scope.on_link(), one, capacity, floor, length: floor, since: Time::ZERO })
    }

    /// What the link can send, units a second.
    pub const fn capacity(&self) -> f64 {
        self.capacity
    }

    /// What it is measured in.
    pub const fn unit(&self) -> Unit {
        self.unit
    }

    /// What a packet adds: its bytes on the link, or how many packets of the mean size they are.
    #[inline]
    pub fn units(&self, packet: &Packet) -> f64 {
        f64::from(self.on_link.bytes(packet.size)) / self.one
    }

    /// Its length at `now`.
    #[inline]
    pub fn at(&self, now: Time) -> f64 {
        larger(self.length - self.capacity * now.since(self.since).seconds(), self.floor)
    }

    /// Lets the link send until `now`; the length.
    #[inline]
    pub fn advance(&mut self, now: Time) -> f64 {
        (self.length, self.since) = (self.at(now), now);
        self.length
    }

    /// For how long after its last update it is above `level`, s.
    #[inline]
    pub fn seconds_above(&self, level: f64) -> f64 {
        ((self.length - level) / self.capacity).max(0.0)
    }

    /// Takes a packet that counts.
    #[inline]
    pub fn add(&mut self, units: f64) {
        self.length += units;
    }

    /// W316 if marks begin later than losses: `threshold` is reached when (V0 - F)/(1 + alpha) more have arrived than the
    /// link sent, and the queue is full before that.
    pub fn late(&self, threshold: &Threshold, scope: &Scope) -> Option<ParamError> {
        let excess = (threshold.start - self.floor) / (1.0 + threshold.alpha);
        let most = most_bytes(scope)? / self.one;
        let noun = self.unit.noun();
        let message = format!(
            "`v0` is {:.0} {noun} above the virtual queue of an idle link, and the queue holds {most:.0}",
            threshold.start - self.floor
        );
        let error =
            ParamError::new("v0", "W316", message).label("packets overflow before the first is marked or dropped");
        (excess >= most).then(|| error.help("lower it, raise `limit`, or raise `floor` (V0 - 40p: `perhop tune`)"))
    }

    /// Names of its series, and of a threshold's.
    pub const fn gauges(&self) -> [&'static str; 2] {
        match self.unit {
            Unit::Packets => ["virtual_queue_packets", "threshold_packets"],
            Unit::Bytes => ["virtual_queue_bytes", "threshold_bytes"],
        }
    }

    /// Whether it moves as `other` does.
    pub fn is_like(&self, other: &Self) -> bool {
        (self.capacity, self.floor) == (other.capacity, other.floor)
    }

    /// Continues from the state of `other`, at `now`.
    pub fn resume(&mut self, other: &Self, now: Time) {
        let same = self.is_like(other);
        let (length, since) = if same { (other.length, other.since) } else { (other.at(now).max(self.floor), now) };
        (self.length, self.since) = (length, since);
    }
}

/// A class's threshold.
#[derive(Clone, Debug)]
pub struct Threshold {
    alpha: f64,
    /// alpha phi C, units a second.
    rise: f64,
    /// V0.
    start: f64,
    cap: f64,
    value: f64,
    since: Time,
}

impl Threshold {
    /// A threshold at its cap; `fair` is phi C, units per second.
    pub fn new(alpha: f64, fair: f64, cap: f64) -> Self {
        Self { alpha, rise: alpha * fair, start: cap, cap, value: cap, since: Time::ZERO }
    }

    /// The same start, with another upper bound; infinite: none.
    pub fn capped(self, cap: f64) -> Self {
        Self { cap, ..self }
    }

    /// Whether no packet moves it.
    pub fn is_still(&self) -> bool {
        self.alpha == 0.0
    }

    /// Its value at `now`.
    #[inline]
    pub fn at(&self, now: Time) -> f64 {
        smaller(self.value + self.rise * now.since(self.since).seconds(), self.cap)
    }

    /// Lets it rise until `now`.
    #[inline]
    pub fn advance(&mut self, now: Time) {
        (self.value, self.since) = (self.at(now), now);
    }

    /// Whether it is at its cap; one that no packet lowers counts as below.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.alpha > 0.0 && self.value >= self.cap
    }

    /// Seconds of its own rise until it is at its cap; infinite if it is there already, or does not rise.
    #[inline]
    pub fn until_full(&self) -> f64 {
        if self.is_full() || self.rise <= 0.0 { f64::INFINITY } else { (self.cap - self.value) / self.rise }
    }

    /// Lets it rise for this many seconds; exactly to the cap if they are [`Self::until_full`].
    #[inline]
    pub fn rise_for(&mut self, seconds: f64) {
        self.value =
            if seconds >= self.until_full() { self.cap } else { (self.value + self.rise * seconds).min(self.cap) };
    }

    /// It has been brought up to date until `now`.
    #[inline]
    pub fn stand(&mut self, now: Time) {
        self.since = now;
    }

    /// What it would be after a packet; may be 0 or below.
    #[inline]
    pub fn after(&self, units: f64) -> f64 {
        self.value - self.alpha * units
    }

    /// Takes a packet that counts.
    #[inline]
    pub fn take(&mut self, units: f64) {
        self.value = larger(self.after(units), 0.0);
    }

    /// Rises towards another share from `now` on.
    pub fn set_fair(&mut self, fair: f64, now: Time) {
        let rise = self.alpha * fair;
        if rise != self.rise {
            self.advance(now);
            self.rise = rise;
        }
    }

    /// Whether it moves as `other` does.
    pub fn is_like(&self, other: &Self) -> bool {
        (self.alpha, self.rise, self.cap) == (other.alpha, other.rise, other.cap)
    }

    /// Continues from the state of `other`, at `now`.
    pub fn resume(&mut self, other: &Self, now: Time) {
        let same = (self.rise, self.cap) == (other.rise, other.cap);
        let (value, since) = if same { (other.value, other.since) } else { (other.at(now).min(self.cap), now) };
        (self.value, self.since) = (value, since);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aqm::Backlog;
    use crate::rng::Rng;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        /// Also where the draw is the quotient, or a few steps beside it; and at thresholds below 0 and above the queue.
        #[test]
        fn a_verdict_is_drawn_as_if_divided(
            seed in 0u64..1000, queue in 0.0f64..1e4, share in -0.5f64..1.5, steps in -3i64..=3, tied: bool,
        ) {
            let mut rngs = [Rng::stream(seed, 0, "verdict"), Rng::stream(seed, 0, "verdict")];
            let threshold = if tied { queue - rngs[0].clone().uniform() * queue } else { share * queue };
            let threshold = f64::from_bits((threshold.to_bits() as i64 + steps) as u64);
            let at = Arrival { now: Time::ZERO, backlog: Backlog::default() };
            let plain = verdict(chance(queue, threshold), false, &at, &mut rngs[0]);
            prop_assert_eq!(verdict_at([queue, threshold], false, &at, &mut rngs[1]), plain);
            prop_assert_eq!(rngs[0].bits(), rngs[1].bits());
        }
    }

    #[test]
    fn an_empty_queue_spares() {
        let at = Arrival { now: Time::ZERO, backlog: Backlog::default() };
        for threshold in [-1.0, 0.0, 1.0] {
            assert_eq!(verdict_at([0.0, threshold], false, &at, &mut Rng::stream(1, 0, "verdict")), Verdict::Pass);
        }
    }
}
