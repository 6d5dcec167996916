//! SVB and MSVB as the paper's equations have them, integrated from arrival to arrival: every threshold at every
//! arrival, the shares of each stretch of time on their own.

use perhop_core::Rng;
use perhop_core::packet::Packet;
use perhop_core::verdict::{Fate, Reason};

/// Which packets lambda counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Counts {
    Passed,
    Queued,
    Offered,
}

/// One class: alpha, phi, and what it is at.
#[derive(Clone, Debug)]
pub(crate) struct Class {
    pub(crate) alpha: f64,
    pub(crate) phi: f64,
    pub(crate) vth: f64,
    /// s
    pub(crate) sent: f64,
}

/// The router; SVB is one class with phi = 1.
#[derive(Clone, Debug)]
pub(crate) struct Router {
    /// Units a second.
    pub(crate) c: f64,
    pub(crate) v0: f64,
    pub(crate) floor: f64,
    pub(crate) in_bytes: bool,
    pub(crate) counts: Counts,
    pub(crate) ecn: bool,
    pub(crate) redistribute: bool,
    pub(crate) classes: Vec<Class>,
    pub(crate) vq: f64,
    /// s
    pub(crate) now: f64,
    pub(crate) rng: Rng,
}

impl Router {
    fn integrate(&mut self, until: f64) {
        let mut ends: Vec<f64> = self.classes.iter().map(|c| c.sent + 1.0).collect();
        ends.retain(|end| self.redistribute && *end > self.now && *end < until);
        ends.push(until);
        ends.sort_by(f64::total_cmp);
        for end in ends {
            let middle = 0.5 * (self.now + end);
            let active = |c: &Class| middle < c.sent + 1.0;
            let all: f64 = self.classes.iter().map(|c| c.phi).sum();
            let sending: f64 = self.classes.iter().filter(|c| active(c)).map(|c| c.phi).sum();
            let factor = if self.redistribute && sending > 0.0 { all / sending } else { 1.0 };
            let work = self.c * (end - self.now);
            for class in &mut self.classes {
                class.vth = self.v0.min(class.vth + class.alpha * class.phi * factor * work);
            }
            self.vq = self.floor.max(self.vq - work);
            self.now = end;
        }
    }

    /// The fate of a packet of class `i`.
    pub(crate) fn arrive(&mut self, ns: u64, (i, packet): (usize, &Packet), room: bool) -> Fate {
        self.integrate(ns as f64 / 1e9);
        self.classes[i].sent = self.now;
        let s = if self.in_bytes { f64::from(packet.size) } else { f64::from(packet.size) / 1000.0 };
        let (v, h) = (self.vq + s, self.classes[i].vth - self.classes[i].alpha * s);
        let p = if v > 0.0 { ((v - h) / v).clamp(0.0, 1.0) } else { 0.0 };
        let hit = self.rng.uniform() < p;
        let fate = match (hit, room) {
            (true, true) if self.ecn && packet.ecn.capable() => Fate::Marked,
            (true, _) => Fate::Dropped(Reason::Early),
            (false, false) => Fate::Dropped(Reason::Overflow),
            (false, true) => Fate::Queued,
        };
        let counted = match self.counts {
            Counts::Passed => fate != Fate::Dropped(Reason::Early),
            Counts::Queued => matches!(fate, Fate::Queued | Fate::Marked),
            Counts::Offered => true,
        };
        if counted {
            (self.vq, self.classes[i].vth) = (v, h.max(0.0));
        }
        fate
    }
}
