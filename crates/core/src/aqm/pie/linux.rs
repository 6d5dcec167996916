//! PIE in the whole numbers of Linux 6.12: probabilities are fractions of 2^56, times units of 64 ns.

use super::{DelayFrom, Params};
use crate::aqm::{Backlog, Departure};
use crate::params::ParamError;
use crate::rng::Rng;
use crate::units::Span;
use crate::verdict::{Reason, Verdict};

/// A probability of 1, and units of time in a second.
const ONE: u64 = u64::MAX >> 8;
const SECOND: u64 = 1_000_000_000 >> 6;
/// What a burst may last.
const BURST: u64 = ticks(150_000_000);
/// The delay beyond which the probability rises by a further 1/50.
const HIGH: u64 = ticks(250_000_000);
/// Bytes whose departure is timed.
const CYCLE: u64 = 16384;
/// Largest weight, 1/16 of 1/s.
const MOST: f64 = 32.0;

/// One queue's state.
#[derive(Clone, Debug)]
pub struct State {
    p: u64,
    /// Of the probabilities since the last drop.
    sum: u64,
    delay: u64,
    old: u64,
    leaving: Leaving,
}

/// What PIE is asked to do.
#[derive(Clone, Copy, Debug)]
pub struct Law {
    target: u64,
    /// Steps of the probability for one unit of time.
    alpha: u64,
    beta: u64,
    mtu: u64,
    byte_mode: bool,
    /// Up to this probability ECN-capable packets are marked, if at all.
    marks: Option<u64>,
    timestamps: bool,
}

/// What departures tell; it starts again when the queue has been short.
#[derive(Clone, Copy, Debug)]
struct Leaving {
    burst: u64,
    /// Of the last departure, or the start of the cycle.
    stamp: Option<u64>,
    /// Bytes that have left in the cycle.
    count: Option<u64>,
    /// 256 times bytes in a unit of time; 0 while unknown.
    rate: u32,
}

const START: Leaving = Leaving { burst: BURST, stamp: None, count: None, rate: 0 };

const fn ticks(ns: u64) -> u64 {
    ns >> 6
}

/// A time between departures is counted in 32 bits: modulo 275 s.
const fn since(stamp: u64, now: u64) -> u64 {
    (now - stamp) & 0xffff_ffff
}

/// A weight in sixteenths.
fn sixteenths(field: &'static str, weight: f64) -> Result<u64, ParamError> {
    let scaled = weight * 16.0;
    if scaled.fract() == 0.0 && scaled <= MOST {
        return Ok(scaled as u64);
    }
    let nearest = scaled.round().min(MOST) / 16.0;
    Err(ParamError::new(field, "E201", format!("`{field}` is {weight}")).help(format!(
        "with `arithmetic = \"linux\"` a multiple of 1/16 up to 2: {nearest}, which tc writes {}",
        nearest * 16.0
    )))
}

impl Law {
    /// The only queue of an interface.
    ///
    /// # Errors
    /// E239 for what Linux does not have; as [`Law::of_flow`].
    pub(super) fn new(params: &Params) -> Result<Self, ParamError> {
        as_fixed(params)?;
        Self::marking(params, ONE / 10)
    }

    /// A queue of one flow among others, which marks up to so many per cent.
    ///
    /// # Errors
    /// E201 for weights that Linux cannot state.
    pub(crate) fn of_flow(params: &Params, percent: u64) -> Result<Self, ParamError> {
        Self::marking(params, ONE / 100 * percent)
    }

    fn marking(params: &Params, most: u64) -> Result<Self, ParamError> {
        let weight = |field, weight| sixteenths(field, weight).map(|n| (n * (ONE / SECOND)) >> 4);
        Ok(Self {
            target: ticks(params.target.ns()),
            alpha: weight("alpha", params.alpha)?,
            beta: weight("beta", params.beta)?,
            mtu: params.mtu.get(),
            byte_mode: params.drops.byte_mode,
            marks: params.ecn.then_some(most),
            timestamps: params.delay == DelayFrom::Timestamps,
        })
    }
}

/// # Errors
/// E239 for what Linux does not have, if it differs from what is fixed there.
fn as_fixed(params: &Params) -> Result<(), ParamError> {
    let fixed = [
        ("max-burst", params.max_burst == Span::from_ms(150), "150ms"),
        ("derandomise", params.drops.derandomise, "true"),
        ("cap", params.drops.cap, "true"),
        ("active-above", params.active_above.is_none(), "absent"),
        ("ecn-below", params.ecn_below.get() == 0.1, "0.1"),
    ];
    let Some((field, _, value)) = fixed.into_iter().find(|it| !it.1) else { return Ok(()) };
    Err(ParamError::new(field, "E239", format!("Linux's PIE has no `{field}`: there it is {value}"))
        .help(format!("remove `{field}`, or choose `arithmetic = \"rfc\"`")))
}

impl State {
    /// That of an empty queue.
    pub(crate) const START: Self = Self { p: 0, sum: 0, delay: 0, old: 0, leaving: START };

    pub(crate) fn p(&self) -> f64 {
        self.p as f64 / ONE as f64
    }

    pub(crate) fn delay(&self) -> f64 {
        self.delay as f64 / SECOND as f64
    }

    /// Bytes that leave in a second, where that is measured.
    pub(super) fn rate(&self, law: &Law) -> Option<f64> {
        (!law.timestamps).then(|| ((u64::from(self.leaving.rate) * SECOND) >> 8) as f64)
    }

    pub(crate) fn on_arrival(&mut self, law: &Law, backlog: &Backlog, size: u32, rng: &mut Rng) -> Verdict {
        if !backlog.room {
            self.sum = 0;
            return Verdict::Pass;
        }
        if !self.is_drawn(law, backlog.bytes, u64::from(size), rng) {
            return Verdict::Pass;
        }
        if backlog.ecn && law.marks.is_some_and(|most| self.p <= most) {
            return Verdict::Mark;
        }
        self.sum = 0;
        Verdict::Drop(Reason::Early)
    }

    fn is_drawn(&mut self, law: &Law, waiting: u64, size: u64, rng: &mut Rng) -> bool {
        let Law { target, mtu, .. } = *law;
        let calm = self.delay < target / 2 && self.p < ONE / 5;
        if self.leaving.burst > 0 || calm || waiting < 2 * mtu {
            return false;
        }
        let by_size = law.byte_mode && size <= mtu;
        let p = if by_size { size.wrapping_mul(self.p / mtu) } else { self.p };
        self.sum = if p == 0 { 0 } else { self.sum.wrapping_add(p) };
        if self.sum < ONE / 100 * 85 {
            return false;
        }
        if self.sum >= ONE / 2 * 17 {
            return true;
        }
        let hit = ((rng.uniform() * (1u64 << 56) as f64) as u64) < p;
        if hit {
            self.sum = 0;
        }
        hit
    }

    pub(crate) fn on_departure(&mut self, law: &Law, at: &Departure, size: u32) {
        let (now, waiting) = (ticks(at.now.ns()), at.backlog.bytes);
        if law.timestamps {
            self.delay = if waiting > 0 { now - ticks(at.arrived.ns()) } else { 0 };
            let took = self.leaving.stamp.map_or(0, |stamp| since(stamp, now));
            self.leaving.stamp = Some(now);
            self.leaving.burst = self.leaving.burst.saturating_sub(took);
        } else {
            self.leaving.time(now, u64::from(size), waiting);
        }
    }

    pub(crate) fn update(&mut self, law: &Law, waiting: u64) {
        if !law.timestamps {
            self.old = self.delay;
            // Products of 32 bits: the queue counts modulo 16 MiB.
            let scaled = (waiting as u32) << 8;
            self.delay = scaled.checked_div(self.leaving.rate).unwrap_or(0).into();
        }
        let overflows = self.change(law);
        let idle = self.delay == 0 && self.old == 0 && waiting == 0;
        if idle && !overflows {
            self.p -= self.p / 64;
        }
        self.rest(law);
        if law.timestamps {
            self.old = self.delay;
        }
    }

    /// One step; whether it left the range of 64 bits.
    fn change(&mut self, law: &Law) -> bool {
        let by_delay = (law.alpha >> self.shift()).wrapping_mul(self.delay.wrapping_sub(law.target));
        let by_trend = (law.beta >> self.shift()).wrapping_mul(self.delay.wrapping_sub(self.old));
        let mut step = by_delay.wrapping_add(by_trend).cast_signed();
        if step > (ONE / 50).cast_signed() && self.p >= ONE / 10 {
            step = (ONE / 100 * 2).cast_signed();
        }
        if self.delay > HIGH {
            step = step.wrapping_add((ONE / 50).cast_signed());
        }
        let (old, new) = (self.p, self.p.wrapping_add_signed(step));
        let (above, below) = (step > 0 && new < old, step <= 0 && new > old);
        self.p = if above {
            ONE
        } else if below {
            0
        } else {
            new
        };
        above
    }

    /// 1 where p is below 0.1, and 2 more for each further power of ten down to 1e-6.
    fn shift(&self) -> u32 {
        let powers = [100, 1000, 10_000, 100_000, 1_000_000];
        let below = powers.iter().take_while(|power| self.p < ONE / *power).count() as u32;
        if self.p < ONE / 10 { 1 + 2 * below } else { 0 }
    }

    /// The queue has been short for two intervals: the burst allowance returns.
    fn rest(&mut self, law: &Law) {
        let half = law.target / 2;
        let known = law.timestamps || self.leaving.rate > 0;
        if self.delay < half && self.old < half && self.p == 0 && known {
            (self.leaving, self.sum) = (START, 0);
        }
    }
}

impl Leaving {
    /// A departure; `waiting` bytes still wait.
    fn time(&mut self, now: u64, size: u64, waiting: u64) {
        if waiting >= CYCLE && self.count.is_none() {
            (self.stamp, self.count) = (Some(now), Some(0));
        }
        let (Some(stamp), Some(count)) = (self.stamp, self.count) else { return };
        let count = count + size;
        self.count = Some(count);
        let took = since(stamp, now);
        if count < CYCLE || took == 0 {
            return;
        }
        let rate = u64::from((count as u32) << 8) / took;
        self.rate = if self.rate == 0 { rate as u32 } else { self.rate - (self.rate >> 3) + (rate as u32 >> 3) };
        self.count = (waiting >= CYCLE).then_some(0);
        if self.count.is_some() {
            self.stamp = Some(now);
        }
        self.burst = self.burst.saturating_sub(took);
    }
}
