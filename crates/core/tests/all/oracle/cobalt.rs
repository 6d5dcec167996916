//! COBALT as Linux 6.12 behaves, decision by decision, in integers that hold everything.

use super::codel::Waiting;
use perhop_core::Rng;

/// COBALT's numbers, ns.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    pub target: i128,
    pub interval: i128,
    pub spared: i128,
}

/// COBALT's variables.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cobalt {
    pub count: u64,
    /// 1 / sqrt(count) in 2^-32.
    root: u128,
    pub drop_next: i128,
    dropping: bool,
    /// BLUE's probability in 2^-32, and when it last changed.
    pub p: u64,
    blue: Option<i128>,
}

/// (x / 2) (3 - count x^2), every product cut to what 64 bits hold.
fn step(root: u128, count: u64) -> u128 {
    let square = root * root / (1 << 32);
    let rest = (3u128 << 32) - u128::from(count) * square;
    (rest / 4) * root / (1 << 31) % (1 << 32)
}

impl Cobalt {
    fn apart(&self, times: Times) -> i128 {
        ((times.interval as u128 * self.root) >> 32) as i128
    }

    /// The count changes: below 16 the root is what eight steps from the last count's make of it.
    fn recount(&mut self, count: u64, times: Times) {
        self.count = count;
        self.root = if count >= 16 { step(self.root, count) } else { few(count) };
        self.drop_next += self.apart(times);
    }

    /// Whether the packet is marked, and whether it is to be dropped.
    pub fn judge(&mut self, times: Times, now: i128, packet: Waiting, rng: &mut Rng) -> (bool, bool) {
        let sojourn = now - i128::from(packet.arrived);
        let mut schedule = now - self.drop_next;
        let mut due = self.count > 0 && schedule >= 0;
        let (mut mark, mut drop) = (false, false);
        if sojourn > times.target && sojourn > times.spared {
            if !self.dropping {
                self.dropping = true;
                self.drop_next = now + self.apart(times);
            }
            if self.count == 0 {
                self.count = 1;
            }
        } else {
            self.dropping = false;
        }
        if due && self.dropping {
            (mark, drop) = (packet.ecn, !packet.ecn);
            self.recount(self.count + 1, times);
            schedule = now - self.drop_next;
        } else {
            while due {
                self.recount(self.count - 1, times);
                schedule = now - self.drop_next;
                due = self.count > 0 && schedule >= 0;
            }
        }
        if self.p > 0 && rng.uniform() * ((1u64 << 32) as f64) < self.p as f64 {
            drop = true;
        }
        if self.count == 0 {
            self.drop_next = now + times.interval;
        } else if schedule > 0 && !drop {
            self.drop_next = now;
        }
        (mark, drop)
    }

    pub fn full(&mut self, times: Times, now: i128) {
        if self.blue.is_none_or(|at| now - at > times.target) {
            self.p = (self.p + (1 << 24)).min((1 << 32) - 1);
            self.blue = Some(now);
        }
        self.dropping = true;
        self.drop_next = now;
        if self.count == 0 {
            self.count = 1;
        }
    }

    pub fn empty(&mut self, times: Times, now: i128) {
        if self.p > 0 && self.blue.is_none_or(|at| now - at > times.target) {
            self.p = self.p.saturating_sub(1 << 20);
            self.blue = Some(now);
        }
        self.dropping = false;
        if self.count > 0 && now >= self.drop_next {
            self.recount(self.count - 1, times);
        }
    }
}

/// 1 / sqrt(count) for counts below 16.
fn few(count: u64) -> u128 {
    if count < 2 {
        return (1 << 32) - 1;
    }
    (0..8).fold(few(count - 1), |root, _| step(root, count))
}
