//! PIE in real numbers, as RFC 8033 writes it.

use super::{DelayFrom, Params};
use crate::Scope;
use crate::aqm::early::Level;
use crate::aqm::{Arrival, Departure};
use crate::params::ParamError;
use crate::rng::Rng;
use crate::units::{Span, Time};
use crate::verdict::{Reason, Verdict};

/// Bytes whose departure is timed (DQ_THRESHOLD), and the weight of one such time in the average.
const CYCLE: u64 = 1 << 14;
const WEIGHT: f64 = CYCLE as f64 / 65536.0;

/// RFC 8033 section 4.2: by how much a step is divided where the probability is below a bound.
const SCALE: [(f64, f64); 6] = [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (0.01, 8.0), (0.1, 2.0)];

/// One queue's state.
#[derive(Clone, Debug)]
pub struct Controller {
    set: Params,
    /// Seconds.
    target: f64,
    active_above: Option<Level>,
    /// Whether it is at work; always, without `active_above`.
    active: bool,
    p: f64,
    /// Of the probabilities since the last drop.
    sum: f64,
    /// Seconds; the last one known, and that of the last change.
    delays: [f64; 2],
    burst: Span,
    changed: Time,
    leaving: Leaving,
}

/// The time that [`CYCLE`] bytes take to leave.
#[derive(Clone, Copy, Debug, Default)]
struct Leaving {
    /// Seconds; 0 while unknown.
    average: f64,
    /// Since when, and the bytes that have left.
    cycle: Option<(Time, u64)>,
}

impl Leaving {
    /// RFC 8033 section 5.2; `behind` bytes still wait.
    fn on_departure(&mut self, now: Time, size: u32, behind: u64) {
        if let Some((since, bytes)) = &mut self.cycle {
            *bytes += u64::from(size);
            if *bytes >= CYCLE {
                let took = now.since(*since).seconds();
                let first = self.average == 0.0;
                self.average = if first { took } else { took * WEIGHT + self.average * (1.0 - WEIGHT) };
                self.cycle = None;
            }
        }
        if self.cycle.is_none() && behind >= CYCLE {
            self.cycle = Some((now, 0));
        }
    }
}

impl Controller {
    pub(super) fn new(set: Params, scope: &Scope) -> Result<Self, ParamError> {
        let active_above = set.active_above.map(|length| {
            let level = Level::of("active-above", length, scope)?;
            level.below_limit(("active-above", length), scope).map(|()| level)
        });
        Ok(Self {
            target: set.target.seconds(),
            active_above: active_above.transpose()?,
            active: set.active_above.is_none(),
            p: 0.0,
            sum: 0.0,
            delays: [0.0; 2],
            burst: Span::ZERO,
            changed: Time::ZERO,
            leaving: Leaving::default(),
            set,
        })
    }

    pub(super) fn resume(&mut self, old: &Self) {
        *self = Self {
            set: self.set.clone(),
            target: self.target,
            active_above: self.active_above,
            active: old.active || self.active_above.is_none(),
            ..old.clone()
        };
    }

    pub(super) fn p(&self) -> f64 {
        self.p
    }

    pub(super) fn delay(&self) -> f64 {
        self.delays[0]
    }

    /// Whether both delays are below half of the target.
    fn is_short(&self) -> bool {
        self.delays.iter().all(|delay| *delay < self.target / 2.0)
    }

    /// RFC 8033 appendices A and B, enque.
    pub(super) fn on_arrival(&mut self, at: &Arrival, size: u32, rng: &mut Rng) -> Verdict {
        let hit = at.backlog.room && self.is_due(at, size, rng);
        if hit || !at.backlog.room {
            self.sum = 0.0;
        }
        let marks = hit && self.set.ecn && at.backlog.ecn && self.p < self.set.ecn_below.get();
        let verdict = match hit {
            true if marks => Verdict::Mark,
            true => Verdict::Drop(Reason::Early),
            false => Verdict::Pass,
        };
        if let Some(level) = self.active_above {
            let stays = at.backlog.room && (marks || !hit);
            let backlog = &at.backlog;
            let (more, bytes) = if stays { (1, u64::from(size)) } else { (0, 0) };
            let waiting = level.unit.of(backlog.packets + more, backlog.bytes + bytes);
            self.switch(at.now, waiting >= level.value, backlog.packets == 0);
        }
        verdict
    }

    fn is_due(&mut self, at: &Arrival, size: u32, rng: &mut Rng) -> bool {
        if self.active_above.is_some() {
            // Appendix B draws during a burst, too.
            return self.active && self.is_drawn(at, size, rng) && self.burst == Span::ZERO;
        }
        if self.p == 0.0 && self.is_short() {
            self.burst = self.set.max_burst;
        }
        self.burst == Span::ZERO && self.is_drawn(at, size, rng)
    }

    /// RFC 8033 appendices A and B, drop_early.
    fn is_drawn(&mut self, at: &Arrival, size: u32, rng: &mut Rng) -> bool {
        let calm = self.delays[1] < self.target / 2.0 && self.p < 0.2;
        let mtu = self.set.mtu.get();
        if calm || at.backlog.bytes <= 2 * mtu {
            return false;
        }
        let small = self.set.drops.byte_mode && u64::from(size) < mtu;
        let p = if small { self.p * f64::from(size) / mtu as f64 } else { self.p };
        if self.set.drops.derandomise {
            self.sum = if self.p == 0.0 { 0.0 } else { self.sum + p };
            if self.sum < 0.85 {
                return false;
            }
            if self.sum >= 8.5 {
                return true;
            }
        }
        let hit = rng.uniform() < p;
        if hit {
            self.sum = 0.0;
        }
        hit
    }

    /// RFC 8033 section 5.3.
    fn switch(&mut self, now: Time, much: bool, idle: bool) {
        if !self.active && much {
            let cycle = Some((now, 0));
            self.leaving = Leaving { average: 0.0, cycle };
            (self.active, self.p, self.sum, self.delays[1]) = (true, 0.0, 0.0, 0.0);
            (self.burst, self.changed) = (self.set.max_burst, now);
        } else if self.active && idle && self.p == 0.0 && self.delays == [0.0; 2] {
            self.active = false;
            self.leaving.cycle = None;
        }
    }

    /// Bytes that leave in a second, where that is measured.
    pub(super) fn rate(&self) -> Option<f64> {
        let measured = self.set.delay == DelayFrom::Rate && self.leaving.average > 0.0;
        measured.then(|| CYCLE as f64 / self.leaving.average)
    }

    pub(super) fn on_departure(&mut self, at: &Departure, size: u32) {
        match self.set.delay {
            DelayFrom::Timestamps => self.delays[0] = at.now.since(at.arrived).seconds(),
            DelayFrom::Rate => self.leaving.on_departure(at.now, size, at.backlog.bytes),
        }
    }

    /// RFC 8033 appendices A and B, calculate_drop_prob.
    pub(super) fn update(&mut self, now: Time, waiting: u64) {
        let timed = self.set.delay == DelayFrom::Timestamps;
        if timed && waiting == 0 {
            self.delays[0] = 0.0;
        }
        let switched = self.active_above.is_some();
        if !self.active || switched && now.since(self.changed) < self.set.interval {
            return;
        }
        if !timed {
            self.delays[0] = waiting as f64 * self.leaving.average / CYCLE as f64;
        }
        self.p += self.step();
        let settled = if switched { self.is_short() } else { self.delays == [0.0; 2] };
        if settled {
            self.p *= 0.98;
        }
        self.p = self.p.clamp(0.0, 1.0);
        self.delays[1] = self.delays[0];
        self.changed = now;
        self.burst = Span::from_ns(self.burst.ns().saturating_sub(self.set.interval.ns()));
    }

    fn step(&self) -> f64 {
        let [delay, old] = self.delays;
        let full = self.set.alpha * (delay - self.target) + self.set.beta * (delay - old);
        let scale = SCALE.iter().find(|(bound, _)| self.p < *bound).map_or(1.0, |(_, scale)| *scale);
        let step = full / scale;
        if self.set.drops.cap && self.p >= 0.1 { step.min(0.02) } else { step }
    }
}
