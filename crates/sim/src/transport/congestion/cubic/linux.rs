//! CUBIC in Linux's integer arithmetic.
//!
//! Decision: docs/decisions/045-cube-root-by-table.md

use super::{Params, SlowStart};
use crate::transport::congestion::reno::earned;
use crate::transport::congestion::{CongestionControl, Signal, Window};
use perhop_core::math;

/// While the window stays, `every` is computed once in so many ms.
const STEADY_MS: u64 = 31;
/// Samples of the round trip are left out for so many ms of an epoch.
const SETTLING_MS: u64 = 1000;
/// Bounds of `every`, in segments acknowledged: at any time, and until a first congestion.
const LEAST_EVERY: u32 = 2;
const MOST_EVERY_AT_FIRST: u32 = 20;

/// Parameters, scaled.
#[derive(Clone, Copy, Debug)]
struct Scaled {
    /// beta, beta of an ECN echo, in 1/1024.
    beta: u32,
    beta_ecn: u32,
    /// 8 (1 + beta) / (3 (1 - beta)), by whole divisions.
    reno: u32,
    /// C in 1/1024: ten times a whole number.
    c: u64,
    /// 2^40 / `c`: (1/1024 s)^3 a segment.
    per_segment: u64,
}

impl Scaled {
    fn new(params: &Params) -> Self {
        let beta = (params.beta * 1024.0).round() as u32;
        let c = (params.c * 102.4).round() as u64 * 10;
        let reno = 8 * (1024 + beta) / 3 / (1024 - beta);
        Self { beta, beta_ecn: (params.beta_ecn() * 1024.0).round() as u32, reno, c, per_segment: (1 << 40) / c }
    }
}

/// A stage of congestion avoidance.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    start_ms: u64,
    /// 1/1024 s.
    k: u64,
    origin: u32,
    /// W_est, and what has been acknowledged towards its next segment.
    estimate: u32,
    acked: u32,
}

/// When, and for which window, `every` was computed.
#[derive(Clone, Copy, Debug, Default)]
struct Last {
    ms: u64,
    cwnd: u32,
}

/// What a time-out forgets.
#[derive(Clone, Debug, Default)]
struct Memory {
    /// Window at the last congestion, or 0.
    most: u32,
    /// Least round trip, us, or 0.
    least_us: u64,
    /// Segments acknowledged that earn one.
    every: u32,
    last: Last,
    epoch: Option<Epoch>,
}

/// A connection's numbers.
#[derive(Clone, Debug)]
pub struct State {
    params: Params,
    scaled: Scaled,
    memory: Memory,
    /// Segments acknowledged towards the next one.
    count: u32,
    slow_start: SlowStart,
}

/// Cube root, as Linux's: the first six bits from a table, then a Newton step. For `a` of 64 and more.
fn cube_root(a: u64) -> u64 {
    /// By how much the start for x, from x = 8 on, is above 64 cbrt(x): what one Newton step likes best.
    const ABOVE: [u8; 56] = [
        5, 6, 7, 6, 7, 7, 7, 9, 6, 7, 7, 8, 7, 7, 7, 7, 7, 8, 8, 8, 8, 8, 9, 8, 7, 7, 7, 7, 8, 8, 8, 8, 9, 9, 9, 8, 9,
        8, 8, 9, 9, 8, 9, 9, 9, 9, 9, 9, 10, 9, 9, 9, 10, 10, 9, 10,
    ];
    let places = (((64 - a.leading_zeros()) * 84) >> 8) - 1;
    let x = (a >> (3 * places)) as usize;
    let start = (64.0 * math::cbrt(x as f64) + 1e-9) as u64 + u64::from(ABOVE[x - 8]);
    let near = (start << places) >> 6;
    let next = 2 * near + a / (near * (near - 1));
    (next * 341) >> 10
}

impl State {
    pub(super) fn new(params: &Params) -> Self {
        Self {
            params: *params,
            scaled: Scaled::new(params),
            memory: Memory::default(),
            count: 0,
            slow_start: params.slow_start(),
        }
    }

    fn sample(&mut self, signal: &Signal, now_ms: u64) {
        let settling = self.memory.epoch.is_some_and(|epoch| now_ms - epoch.start_ms < SETTLING_MS);
        let Some(sample) = signal.sample.filter(|_| !settling) else { return };
        let (us, least) = ((sample.ns() / 1000).max(1), &mut self.memory.least_us);
        *least = if *least == 0 { us } else { us.min(*least) };
    }

    /// Slow start up to the threshold; the segments that are left for congestion avoidance.
    fn slow_start(&mut self, signal: &Signal, window: &mut Window) -> u32 {
        if window.cwnd >= window.ssthresh {
            return signal.acked;
        }
        let growth = self.slow_start.on_ack(signal, f64::from(signal.acked), window);
        if window.cwnd >= window.ssthresh {
            return signal.acked;
        }
        let before = window.cwnd;
        window.cwnd = (before + growth).min(window.ssthresh);
        (growth - (window.cwnd - before)) as u32
    }

    fn begin(&self, now_ms: u64, cwnd: u32, acked: u32) -> Epoch {
        let (k, origin) = match self.memory.most.checked_sub(cwnd) {
            None | Some(0) => (0, cwnd),
            Some(below) => (cube_root(self.scaled.per_segment * u64::from(below)), self.memory.most),
        };
        Epoch { start_ms: now_ms, k, origin, estimate: cwnd, acked }
    }

    /// Sets `every`.
    fn look(&mut self, now_ms: u64, cwnd: u32, acked: u32) {
        if let Some(epoch) = &mut self.memory.epoch {
            epoch.acked += acked;
        }
        let Last { ms, cwnd: before } = self.memory.last;
        if before == cwnd && now_ms - ms <= STEADY_MS {
            return;
        }
        if self.memory.epoch.is_none() || now_ms != ms {
            let epoch = self.memory.epoch.unwrap_or_else(|| self.begin(now_ms, cwnd, acked));
            (self.memory.last, self.memory.epoch) = (Last { ms: now_ms, cwnd }, Some(epoch));
            self.memory.every = self.cubic(now_ms, cwnd, &epoch);
        }
        let mut every = self.memory.every;
        if let Some(epoch) = self.memory.epoch.as_mut().filter(|_| self.params.reno_friendly) {
            every = every.min(friendly(epoch, cwnd, self.scaled.reno));
        }
        self.memory.every = every.max(LEAST_EVERY);
    }

    /// `every` by the cubic alone.
    fn cubic(&self, now_ms: u64, cwnd: u32, epoch: &Epoch) -> u32 {
        let least_ms = self.memory.least_us.div_ceil(1000);
        let t = ((now_ms - epoch.start_ms + least_ms) << 10) / 1000;
        let off = t.abs_diff(epoch.k);
        let delta = (self.scaled.c.wrapping_mul(off).wrapping_mul(off).wrapping_mul(off) >> 40) as u32;
        let below = t < epoch.k;
        let target = if below { epoch.origin.wrapping_sub(delta) } else { epoch.origin.wrapping_add(delta) };
        let every = if target > cwnd { cwnd / (target - cwnd) } else { 100 * cwnd };
        if self.memory.most == 0 { every.min(MOST_EVERY_AT_FIRST) } else { every }
    }

    fn congested(&mut self, signal: &Signal, beta: u32) -> f64 {
        let (w, memory) = (signal.usable as u32, &mut self.memory);
        let converges = self.params.fast_convergence && w < memory.most;
        memory.most = if converges { w * (1024 + self.scaled.beta) / 2048 } else { w };
        (memory.epoch, self.count) = (None, 0);
        f64::from((w * beta / 1024).max(2))
    }
}

/// `every` by which the window would keep up with Reno's estimate, after what was acknowledged.
fn friendly(epoch: &mut Epoch, cwnd: u32, scale: u32) -> u32 {
    let each = (cwnd * scale) >> 3;
    let more = epoch.acked.saturating_sub(1) / each;
    epoch.acked -= more * each;
    epoch.estimate += more;
    epoch.estimate.checked_sub(cwnd).filter(|&ahead| ahead > 0).map_or(u32::MAX, |ahead| cwnd / ahead)
}

impl CongestionControl for State {
    fn on_ack(&mut self, signal: &Signal, window: &mut Window) {
        let now_ms = signal.now.ns() / 1_000_000;
        self.sample(signal, now_ms);
        let rest = self.slow_start(signal, window);
        if rest > 0 {
            let cwnd = (window.cwnd as u32).max(1);
            self.look(now_ms, cwnd, rest);
            window.cwnd = f64::from(cwnd + earned(&mut self.count, self.memory.every, rest));
        }
    }

    fn on_loss(&mut self, signal: &Signal, window: &mut Window) {
        let left = self.congested(signal, self.scaled.beta);
        *window = Window { cwnd: left, ssthresh: left };
        self.slow_start.on_congestion();
    }

    fn on_timeout(&mut self, signal: &Signal, window: &mut Window) {
        let left = self.congested(signal, self.scaled.beta);
        *window = Window { cwnd: 1.0, ssthresh: left };
        self.memory = Memory::default();
        self.slow_start.on_timeout(signal);
    }

    fn on_ecn(&mut self, signal: &Signal, window: &mut Window) {
        let left = self.congested(signal, self.scaled.beta_ecn);
        *window = Window { cwnd: left, ssthresh: left };
        self.slow_start.on_congestion();
    }
}
