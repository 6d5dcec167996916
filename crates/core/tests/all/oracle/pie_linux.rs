//! PIE as Linux 6.12 behaves, from a description of its integers, in integers wide enough for all of them: what is kept
//! in 32 or 64 bits is reduced where it is stored.

use super::pie::{Outcome, Queue, Settings, Waiting};
use perhop_core::Rng;
use std::collections::VecDeque;

/// 2^56 - 1.
const CERTAIN: i128 = (1 << 56) - 1;
const WORD: i128 = 1 << 64;
const HALF_WORD: i128 = 1 << 32;

pub struct Linux {
    set: Settings,
    pub rng: Rng,
    /// Up to this probability packets are marked.
    marks: i128,
    queue: VecDeque<Waiting>,
    prob: i128,
    accumulated: i128,
    delay: i128,
    delay_before: i128,
    burst: i128,
    stamp: Option<i128>,
    /// Bytes of a measurement; -1 between two.
    counted: i128,
    drain: i128,
}

/// Units of 64 ns.
fn clock(ns: u64) -> i128 {
    i128::from(ns).div_euclid(64)
}

/// A number of 64 bits read as signed.
fn signed(word: i128) -> i128 {
    let word = word.rem_euclid(WORD);
    if word >= WORD / 2 { word - WORD } else { word }
}

impl Linux {
    fn backlog(&self) -> i128 {
        self.queue.iter().map(|p| i128::from(p.bytes)).sum()
    }

    /// One queue of several: marks up to so many per cent.
    pub fn marking(self, percent: i128) -> Self {
        Self { marks: CERTAIN / 100 * percent, ..self }
    }

    /// A packet for it has found no room among all.
    pub fn full(&mut self) {
        self.accumulated = 0;
    }

    fn starts_again(&mut self) {
        self.burst = clock(150_000_000);
        self.stamp = None;
        self.accumulated = 0;
        self.counted = -1;
        self.drain = 0;
    }

    fn early(&mut self, bytes: u64) -> bool {
        let (target, mtu) = (clock(self.set.qdelay_ref), i128::from(self.set.mean_pktsize));
        if self.burst > 0 {
            return false;
        }
        if self.delay < target / 2 && self.prob < CERTAIN / 5 {
            return false;
        }
        if self.backlog() < 2 * mtu {
            return false;
        }
        let mut chance = self.prob;
        if self.set.byte_mode && i128::from(bytes) <= mtu {
            chance = i128::from(bytes) * (self.prob / mtu);
        }
        self.accumulated = if chance == 0 { 0 } else { (self.accumulated + chance).rem_euclid(WORD) };
        if self.accumulated < CERTAIN / 100 * 85 {
            return false;
        }
        if self.accumulated >= CERTAIN / 2 * 17 {
            return true;
        }
        let draw = (self.rng.uniform() * 72_057_594_037_927_936.0).floor() as i128;
        if draw < chance {
            self.accumulated = 0;
            return true;
        }
        false
    }

    fn departs_by_stamp(&mut self, now: i128, arrived: i128) {
        self.delay = if self.queue.is_empty() { 0 } else { now - arrived };
        let passed = self.stamp.map_or(0, |stamp| (now - stamp).rem_euclid(HALF_WORD));
        self.stamp = Some(now);
        self.burst = (self.burst - passed).max(0);
    }

    fn departs_by_rate(&mut self, now: i128, bytes: u64) {
        if self.backlog() >= 16384 && self.counted == -1 {
            self.stamp = Some(now);
            self.counted = 0;
        }
        if self.counted == -1 {
            return;
        }
        self.counted += i128::from(bytes);
        if self.counted < 16384 {
            return;
        }
        let passed = (now - self.stamp.unwrap()).rem_euclid(HALF_WORD);
        if passed == 0 {
            return;
        }
        let sample = (self.counted * 256).rem_euclid(HALF_WORD) / passed;
        self.drain = if self.drain == 0 { sample } else { self.drain - self.drain / 8 + sample / 8 };
        if self.backlog() < 16384 {
            self.counted = -1;
        } else {
            self.counted = 0;
            self.stamp = Some(now);
        }
        self.burst = (self.burst - passed).max(0);
    }

    /// A weight in steps of the probability by unit of time, at the present probability.
    fn weight(&self, per_second: f64) -> i128 {
        let mut weight = (per_second * 16.0) as i128 * (CERTAIN / 15_625_000) / 16;
        if self.prob < CERTAIN / 10 {
            weight /= 2;
        }
        for exponent in 2..=6 {
            if self.prob < CERTAIN / 10i128.pow(exponent) {
                weight /= 4;
            }
        }
        weight
    }
}

impl Queue for Linux {
    fn new(set: Settings, rng: Rng) -> Self {
        let mut new = Self {
            set,
            rng,
            marks: CERTAIN / 10,
            queue: VecDeque::new(),
            prob: 0,
            accumulated: 0,
            delay: 0,
            delay_before: 0,
            burst: 0,
            stamp: None,
            counted: -1,
            drain: 0,
        };
        new.starts_again();
        new
    }

    fn enque(&mut self, _now: u64, packet: Waiting) -> Outcome {
        if self.queue.len() >= self.set.limit {
            self.accumulated = 0;
            return Outcome::Full;
        }
        let outcome = if !self.early(packet.bytes) {
            Outcome::Queued
        } else if self.set.ecn && packet.ecn && self.prob <= self.marks {
            Outcome::Marked
        } else {
            self.accumulated = 0;
            return Outcome::Early;
        };
        self.queue.push_back(packet);
        outcome
    }

    fn deque(&mut self, now: u64) -> Option<Waiting> {
        let packet = self.queue.pop_front()?;
        if self.set.rate {
            self.departs_by_rate(clock(now), packet.bytes);
        } else {
            self.departs_by_stamp(clock(now), clock(packet.arrived));
        }
        Some(packet)
    }

    fn calculate_drop_prob(&mut self, _now: u64) {
        let target = clock(self.set.qdelay_ref);
        let (mut delay, mut before) = (self.delay, self.delay_before);
        if self.set.rate {
            before = self.delay;
            self.delay_before = self.delay;
            let scaled = (self.backlog() * 256).rem_euclid(HALF_WORD);
            delay = if self.drain > 0 { scaled / self.drain } else { 0 };
        }
        let mut decays = delay != 0 || self.queue.is_empty();
        let (alpha, beta) = (self.weight(self.set.alpha), self.weight(self.set.beta));
        let mut step = signed(alpha * (delay - target) + beta * (delay - before));
        if step > CERTAIN / 50 && self.prob >= CERTAIN / 10 {
            step = CERTAIN / 100 * 2;
        }
        if delay > clock(250_000_000) {
            step = signed(step + CERTAIN / 50);
        }
        let unbound = self.prob + step;
        if step > 0 && unbound >= WORD {
            self.prob = CERTAIN;
            decays = false;
        } else {
            self.prob = unbound.max(0);
        }
        if delay == 0 && before == 0 && decays {
            self.prob -= self.prob / 64;
        }
        self.delay = delay;
        let low = |delay| delay < target / 2;
        if low(self.delay) && low(self.delay_before) && self.prob == 0 && (!self.set.rate || self.drain > 0) {
            self.starts_again();
        }
        if !self.set.rate {
            self.delay_before = delay;
        }
    }

    fn waiting(&self) -> usize {
        self.queue.len()
    }

    fn drop_prob(&self) -> f64 {
        self.prob as f64 / CERTAIN as f64
    }
}
