//! PIE as appendices A (basic) and B (extended) of RFC 8033 write it, line by line, with its queue. Times are seconds.
//! What the appendices leave to the implementer is marked.

use perhop_core::Rng;
use std::collections::VecDeque;

/// A packet that waits.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// ns
    pub arrived: u64,
    pub bytes: u64,
    pub ecn: bool,
}

/// What became of an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Queued,
    Marked,
    Early,
    Full,
}

/// What all versions are told.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// ns
    pub qdelay_ref: u64,
    /// ns
    pub t_update: u64,
    /// ns
    pub max_burst: u64,
    pub alpha: f64,
    pub beta: f64,
    pub rate: bool,
    pub derandomise: bool,
    pub cap: bool,
    pub byte_mode: bool,
    /// Bytes; `None`: appendix A.
    pub queue_small: Option<u64>,
    pub mean_pktsize: u64,
    pub ecn: bool,
    pub max_ecnth: f64,
    /// Packets.
    pub limit: usize,
}

/// A queue with a PIE before it.
pub trait Queue {
    fn new(settings: Settings, rng: Rng) -> Self;
    fn enque(&mut self, now: u64, packet: Waiting) -> Outcome;
    /// The packet that is sent.
    fn deque(&mut self, now: u64) -> Option<Waiting>;
    /// Every T_UPDATE.
    fn calculate_drop_prob(&mut self, now: u64);
    fn waiting(&self) -> usize;
    fn drop_prob(&self) -> f64;
}

pub struct Pie {
    set: Settings,
    rng: Rng,
    queue: VecDeque<Waiting>,
    current_qdelay: f64,
    qdelay_old: f64,
    drop_prob: f64,
    accu_prob: f64,
    burst_allowance: i64,
    active: bool,
    in_measurement: bool,
    measurement_start: u64,
    dq_count: u64,
    avg_dq_time: f64,
    last_timestamp: u64,
}

const DQ_THRESHOLD: u64 = 16384;

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

impl Pie {
    fn byte_length(&self) -> u64 {
        self.queue.iter().map(|p| p.bytes).sum()
    }

    fn half(&self) -> f64 {
        seconds(self.set.qdelay_ref) / 2.0
    }

    /// Whether it is a drop.
    fn drop_early(&mut self, bytes: u64) -> bool {
        if (self.qdelay_old < self.half() && self.drop_prob < 0.2) || self.byte_length() <= 2 * self.set.mean_pktsize {
            return false;
        }
        // "can be further scaled according to packet size".
        let p = if self.set.byte_mode && bytes <= self.set.mean_pktsize {
            self.drop_prob * bytes as f64 / self.set.mean_pktsize as f64
        } else {
            self.drop_prob
        };
        if self.set.derandomise {
            if self.drop_prob == 0.0 {
                self.accu_prob = 0.0;
            }
            self.accu_prob += p;
            if self.accu_prob < 0.85 {
                return false;
            }
            if self.accu_prob >= 8.5 {
                return true;
            }
        }
        if self.rng.uniform() < p {
            self.accu_prob = 0.0;
            return true;
        }
        false
    }

    fn drop_or_mark(&mut self, packet: Waiting) -> Outcome {
        self.accu_prob = 0.0;
        if self.set.ecn && self.drop_prob < self.set.max_ecnth && packet.ecn {
            self.queue.push_back(packet);
            return Outcome::Marked;
        }
        Outcome::Early
    }

    fn basic(&mut self, packet: Waiting) -> Outcome {
        if self.queue.len() >= self.set.limit {
            self.accu_prob = 0.0;
            return Outcome::Full;
        }
        if self.drop_prob == 0.0 && self.current_qdelay < self.half() && self.qdelay_old < self.half() {
            self.burst_allowance = self.set.max_burst as i64;
        }
        if self.burst_allowance == 0 && self.drop_early(packet.bytes) {
            return self.drop_or_mark(packet);
        }
        self.queue.push_back(packet);
        Outcome::Queued
    }

    /// RFC 8033 section 5.3 turns it on and off.
    fn extended(&mut self, now: u64, packet: Waiting, queue_small: u64) -> Outcome {
        // "If the queue has been idle for a while": this arrival finds it empty.
        let idle = self.queue.is_empty();
        let was_active = self.active;
        let outcome = if self.queue.len() >= self.set.limit {
            self.accu_prob = 0.0;
            Outcome::Full
        } else if self.active && self.drop_early(packet.bytes) && self.burst_allowance == 0 {
            self.drop_or_mark(packet)
        } else {
            self.queue.push_back(packet);
            Outcome::Queued
        };
        if !self.active && self.byte_length() >= queue_small {
            self.active = true;
            self.qdelay_old = 0.0;
            self.drop_prob = 0.0;
            self.in_measurement = true;
            self.dq_count = 0;
            self.avg_dq_time = 0.0;
            self.last_timestamp = now;
            self.burst_allowance = self.set.max_burst as i64;
            self.accu_prob = 0.0;
            self.measurement_start = now;
        }
        if was_active && idle && self.drop_prob == 0.0 && self.qdelay_old == 0.0 && self.current_qdelay == 0.0 {
            self.active = false;
            self.in_measurement = false;
        }
        outcome
    }

    /// RFC 8033 section 5.2.
    fn estimate_rate(&mut self, now: u64, packet: Waiting) {
        if self.in_measurement {
            self.dq_count += packet.bytes;
            if self.dq_count >= DQ_THRESHOLD {
                let dq_time = seconds(now - self.measurement_start);
                if self.avg_dq_time == 0.0 {
                    self.avg_dq_time = dq_time;
                } else {
                    let weight = DQ_THRESHOLD as f64 / 65536.0;
                    self.avg_dq_time = dq_time * weight + self.avg_dq_time * (1.0 - weight);
                }
                self.in_measurement = false;
            }
        }
        if !self.in_measurement && self.byte_length() >= DQ_THRESHOLD {
            self.in_measurement = true;
            self.measurement_start = now;
            self.dq_count = 0;
        }
    }

    /// RFC 8033 section 4.2, the table of auto-tuning.
    fn tuned(&self, p: f64) -> f64 {
        if self.drop_prob < 0.000001 {
            p / 2048.0
        } else if self.drop_prob < 0.00001 {
            p / 512.0
        } else if self.drop_prob < 0.0001 {
            p / 128.0
        } else if self.drop_prob < 0.001 {
            p / 32.0
        } else if self.drop_prob < 0.01 {
            p / 8.0
        } else if self.drop_prob < 0.1 {
            p / 2.0
        } else {
            p
        }
    }
}

impl Queue for Pie {
    fn new(set: Settings, rng: Rng) -> Self {
        Self {
            set,
            rng,
            queue: VecDeque::new(),
            current_qdelay: 0.0,
            qdelay_old: 0.0,
            drop_prob: 0.0,
            accu_prob: 0.0,
            burst_allowance: 0,
            active: false,
            in_measurement: false,
            measurement_start: 0,
            dq_count: 0,
            avg_dq_time: 0.0,
            last_timestamp: 0,
        }
    }

    fn enque(&mut self, now: u64, packet: Waiting) -> Outcome {
        match self.set.queue_small {
            None => self.basic(packet),
            Some(small) => self.extended(now, packet, small),
        }
    }

    fn deque(&mut self, now: u64) -> Option<Waiting> {
        let packet = self.queue.pop_front()?;
        if self.set.rate {
            self.estimate_rate(now, packet);
        } else {
            self.current_qdelay = seconds(now - packet.arrived);
        }
        Some(packet)
    }

    fn calculate_drop_prob(&mut self, now: u64) {
        if !self.set.rate && self.queue.is_empty() {
            // The appendices keep the delay of the last packet sent.
            self.current_qdelay = 0.0;
        }
        let extended = self.set.queue_small.is_some();
        if extended && !(now - self.last_timestamp >= self.set.t_update && self.active) {
            return;
        }
        if self.set.rate {
            self.current_qdelay = self.byte_length() as f64 * self.avg_dq_time / DQ_THRESHOLD as f64;
        }
        let p = self.tuned(
            self.set.alpha * (self.current_qdelay - seconds(self.set.qdelay_ref))
                + self.set.beta * (self.current_qdelay - self.qdelay_old),
        );
        let p = if self.set.cap && self.drop_prob >= 0.1 && p > 0.02 { 0.02 } else { p };
        self.drop_prob += p;
        let gone = match extended {
            false => self.current_qdelay == 0.0 && self.qdelay_old == 0.0,
            true => self.current_qdelay < self.half() && self.qdelay_old < self.half(),
        };
        if gone {
            self.drop_prob *= 0.98;
        }
        self.drop_prob = self.drop_prob.clamp(0.0, 1.0);
        self.qdelay_old = self.current_qdelay;
        self.last_timestamp = now;
        self.burst_allowance = (self.burst_allowance - self.set.t_update as i64).max(0);
    }

    fn waiting(&self) -> usize {
        self.queue.len()
    }

    fn drop_prob(&self) -> f64 {
        self.drop_prob
    }
}
