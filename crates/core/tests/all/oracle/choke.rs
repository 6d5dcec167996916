//! CHOKe as the paper writes it (Pan, Prabhakar and Psounis 2000, figure 2, on the RED of Floyd and Jacobson 1993), and as Linux
//! 6.12 is described: a table whose places are never moved. Plain and slow.

use super::red_linux::{Linux, Outcome};
use perhop_core::Rng;
use perhop_core::math;
use perhop_core::packet::{FlowId, Packet};
use perhop_core::units::Time;

/// What becomes of an arrival, room or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ruling {
    Pass,
    /// By RED's draw.
    Drawn,
    Forced,
    /// It goes together with the packet that waits at this place.
    Both(usize),
}

/// The paper's, with packets as the unit and uniformised drops.
pub(crate) struct Paper {
    pub(crate) min: f64,
    pub(crate) max: f64,
    pub(crate) max_p: f64,
    pub(crate) wq: f64,
    /// Packets/s that an idle link could have sent.
    pub(crate) idle_rate: f64,
    pub(crate) rng: Rng,
    pub(crate) avg: f64,
    pub(crate) count: i64,
    pub(crate) last: Time,
}

impl Paper {
    pub(crate) fn arrive(&mut self, now: Time, waiting: &[Packet], idle: Option<Time>, packet: &Packet) -> Ruling {
        if let Some(since) = idle {
            let m = (now - since.max(self.last)).seconds() * self.idle_rate;
            self.avg *= math::exp(m * math::ln(1.0 - self.wq));
        }
        self.last = now;
        self.avg = (1.0 - self.wq) * self.avg + self.wq * waiting.len() as f64;
        if self.avg <= self.min {
            self.count = -1;
            return Ruling::Pass;
        }
        if !waiting.is_empty() {
            let place = (self.rng.uniform() * waiting.len() as f64).floor() as usize;
            if waiting[place].flow == packet.flow {
                return Ruling::Both(place);
            }
        }
        if self.avg >= self.max {
            self.count = 0;
            return Ruling::Forced;
        }
        self.count += 1;
        let p_b = self.max_p * (self.avg - self.min) / (self.max - self.min);
        let before = 1.0 - self.count as f64 * p_b;
        let p_a = if before > 0.0 { (p_b / before).min(1.0) } else { 1.0 };
        if self.rng.uniform() < p_a {
            self.count = 0;
            return Ruling::Drawn;
        }
        Ruling::Pass
    }
}

/// Linux's: RED's integers in packets, and all places that any packet ever had.
pub(crate) struct Kernel {
    pub(crate) red: Linux,
    pub(crate) rng: Rng,
    pub(crate) places: Vec<Option<FlowId>>,
    pub(crate) head: usize,
}

impl Kernel {
    pub(crate) fn queued(&mut self, flow: FlowId) {
        self.places.push(Some(flow));
    }

    /// The packet at the head has left.
    pub(crate) fn left(&mut self) {
        self.places[self.head] = None;
        self.move_head();
    }

    fn move_head(&mut self) {
        while self.head < self.places.len() && self.places[self.head].is_none() {
            self.head += 1;
        }
    }

    fn drawn(&mut self) -> Option<usize> {
        let length = self.places.len() - self.head;
        if length == 0 {
            return None;
        }
        for _ in 0..3 {
            let place = self.head + (self.rng.uniform() * length as f64).floor() as usize;
            if self.places[place].is_some() {
                return Some(place);
            }
        }
        Some(self.head)
    }

    pub(crate) fn arrive(&mut self, now: Time, waiting: usize, idle: Option<Time>, packet: &Packet) -> Ruling {
        self.red.measure(now.ns(), waiting as u64, idle.map(Time::ns));
        let [above_min, above_max] = self.red.above();
        if !above_min {
            self.red.rest();
            return Ruling::Pass;
        }
        let drawn = self.drawn();
        if let Some(place) = drawn.filter(|place| self.places[*place] == Some(packet.flow)) {
            let before = self.places[self.head..place].iter().flatten().count();
            self.places[place] = None;
            self.move_head();
            return Ruling::Both(before);
        }
        if above_max {
            self.red.rest();
            return Ruling::Forced;
        }
        // One stream of draws for both.
        *self.red.rng_mut() = self.rng.clone();
        let said = if self.red.gap() == Outcome::Drawn { Ruling::Drawn } else { Ruling::Pass };
        self.rng = self.red.rng_mut().clone();
        said
    }
}
