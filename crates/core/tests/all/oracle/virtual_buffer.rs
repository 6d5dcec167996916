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

/// What goes to the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Gives {
    Nothing,
    Silent,
    Unused,
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
    /// Of the thresholds; V0 with `Gives::Unused`.
    pub(crate) cap: f64,
    pub(crate) floor: f64,
    pub(crate) in_bytes: bool,
    pub(crate) counts: Counts,
    pub(crate) ecn: bool,
    pub(crate) gives: Gives,
    pub(crate) classes: Vec<Class>,
    pub(crate) vq: f64,
    /// s
    pub(crate) now: f64,
    pub(crate) rng: Rng,
}

impl Router {
    fn integrate(&mut self, until: f64) {
        while self.now < until {
            let (rates, end) = if self.gives == Gives::Unused { self.served(until) } else { self.shared(until) };
            for (class, rate) in self.classes.iter_mut().zip(rates) {
                class.vth = self.cap.min(class.vth + class.alpha * rate * (end - self.now));
                // What should fill up to the bound by now does, rounding aside.
                if self.cap.is_finite() && self.cap - class.vth <= 1e-12 * self.cap {
                    class.vth = self.cap;
                }
            }
            self.vq = self.floor.max(self.vq - self.c * (end - self.now));
            self.now = end;
        }
    }

    /// What each threshold rises by, in units a second per alpha, and until when: equal shares of silent classes.
    fn shared(&self, until: f64) -> (Vec<f64>, f64) {
        let ends = self.classes.iter().map(|c| c.sent + 1.0);
        let end = ends.filter(|end| self.gives == Gives::Silent && *end > self.now).fold(until, f64::min);
        let middle = 0.5 * (self.now + end);
        let all: f64 = self.classes.iter().map(|c| c.phi).sum();
        let sending: f64 = self.classes.iter().filter(|c| middle < c.sent + 1.0).map(|c| c.phi).sum();
        let factor = if self.gives == Gives::Silent && sending > 0.0 { all / sending } else { 1.0 };
        (self.classes.iter().map(|c| c.phi * factor * self.c).collect(), end)
    }

    /// The same where each class is a virtual queue (V0 - Vth)/alpha, served as in generalised processor sharing; above
    /// V0 only what silent classes leave is handed on.
    fn served(&self, until: f64) -> (Vec<f64>, f64) {
        let backlog = |c: &Class| if c.alpha > 0.0 { (self.v0 - c.vth) / c.alpha } else { f64::INFINITY };
        let above = self.vq - self.v0;
        let silent_in = |c: &Class| c.sent + 1.0 - self.now;
        let gives = |c: &Class| backlog(c) <= 0.0 && (above <= 1e-9 || silent_in(c) <= 1e-9);
        let given: f64 = self.classes.iter().filter(|c| gives(c)).map(|c| c.phi).sum();
        let backlogged: f64 = self.classes.iter().filter(|c| backlog(c) > 0.0).map(|c| c.phi).sum();
        let spread = if backlogged > 0.0 { 1.0 + given / backlogged } else { 0.0 };
        let rates: Vec<f64> =
            self.classes.iter().map(|c| if backlog(c) > 0.0 { c.phi * spread * self.c } else { 0.0 }).collect();
        let mut lasts = vec![until - self.now];
        lasts.extend(self.classes.iter().zip(&rates).filter(|(_, rate)| **rate > 0.0).map(|(c, r)| backlog(c) / r));
        lasts.extend([above / self.c].into_iter().filter(|t| above > 1e-9 && *t > 0.0));
        lasts.extend(self.classes.iter().map(silent_in).filter(|t| above > 1e-9 && *t > 1e-9));
        let least = lasts.into_iter().fold(f64::INFINITY, f64::min);
        (rates, if self.now + least >= until { until } else { self.now + least })
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
