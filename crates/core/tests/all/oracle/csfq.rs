//! CSFQ as the paper writes it: its pseudo-code line by line, with the two amendments on buffers and relabelling.
//!
//! Stoica, Shenker and Zhang, SIGCOMM 1998, sections 2.2 and 2.3. What the paper leaves open is as the head of `csfq.rs`
//! says. Nothing is carried from packet to packet that can be worked out again: the rates A and F are summed over all
//! arrivals so far, the queue is counted packet by packet.

use perhop_core::Rng;
use perhop_core::math::exp;
use perhop_core::packet::Packet;
use perhop_core::verdict::{Fate, Reason};

/// What is asked of the queue at an arrival.
#[derive(Clone, Copy)]
pub(crate) struct Seen<'a> {
    /// ns
    pub(crate) now: u64,
    pub(crate) waiting: &'a [Packet],
    pub(crate) room: bool,
}

/// An arrival that has been judged.
#[derive(Clone, Copy)]
struct Past {
    now: u64,
    size: f64,
    dropped: bool,
}

/// The router, its constants in the paper's letters, its state.
#[derive(Clone)]
pub(crate) struct Csfq {
    /// Capacity, bytes/s.
    pub(crate) c: f64,
    /// s
    pub(crate) k_alpha: f64,
    /// ns
    pub(crate) k_c: u64,
    /// Occupancy below which an uncongested link stays so; in bytes or packets.
    pub(crate) threshold: f64,
    pub(crate) in_bytes: bool,
    pub(crate) kdec: u32,
    pub(crate) ecn: bool,
    pub(crate) rng: Rng,
    pub(crate) state: State,
}

/// What the pseudo-code carries on.
#[derive(Clone)]
pub(crate) struct State {
    past: Vec<Past>,
    /// Not known: nothing is dropped.
    pub(crate) alpha: Option<f64>,
    tmp_alpha: f64,
    max_label: f64,
    congested: bool,
    start_time: u64,
    decreases: u32,
}

impl State {
    pub(crate) fn new() -> Self {
        Self { past: vec![], alpha: None, tmp_alpha: 0.0, max_label: 0.0, congested: true, start_time: 0, decreases: 0 }
    }
}

impl Csfq {
    /// Equation (5) unrolled: each gap T between instants with arrivals gives its bytes/T the weight (1 - e^(-T/K)),
    /// which decays by e^(-t/K) in the time t since. The first instant begins the first gap.
    fn rate(&self, counts: impl Fn(&Past) -> bool) -> f64 {
        let past = &self.state.past;
        let now = past[past.len() - 1].now;
        let mut instants: Vec<u64> = past.iter().map(|p| p.now).collect();
        instants.dedup();
        // Bytes of an instant's later packets belong to the next gap: only its first closes one.
        let closes: Vec<usize> = instants.iter().map(|t| past.iter().position(|p| p.now == *t).unwrap()).collect();
        let mut sum = 0.0;
        for n in 1..instants.len() {
            let from = if n == 1 { 0 } else { closes[n - 1] + 1 };
            let bytes: f64 = past[from..=closes[n]].iter().filter(|p| counts(p)).map(|p| p.size).sum();
            let t = (instants[n] - instants[n - 1]) as f64 / 1e9;
            let since = (now - instants[n]) as f64 / 1e9;
            sum += (1.0 - exp(-t / self.k_alpha)) * bytes / t * exp(-since / self.k_alpha);
        }
        sum
    }

    fn almost_empty(&self, seen: Seen<'_>) -> bool {
        let each = |p: &Packet| if self.in_bytes { f64::from(p.size) } else { 1.0 };
        seen.waiting.iter().map(each).sum::<f64>() < self.threshold
    }

    /// A first fair rate.
    fn first(&self, alpha: f64) -> f64 {
        self.within(alpha.max(1.0f64.min(self.c)))
    }

    fn within(&self, alpha: f64) -> f64 {
        alpha.min(self.c.max(self.state.max_label)).max(f64::MIN_POSITIVE)
    }

    fn estimate_alpha(&mut self, seen: Seen<'_>, size: u32, label: f64, dropped: bool) {
        let now = seen.now;
        self.state.max_label = self.state.max_label.max(label);
        let same_instant = self.state.past.last().is_none_or(|p| p.now == now);
        self.state.past.push(Past { now, size: size.into(), dropped });
        if same_instant {
            return;
        }
        let (a, f) = (self.rate(|_| true), self.rate(|p| !p.dropped));
        if self.state.alpha.is_none() {
            if self.almost_empty(seen) {
                self.state.tmp_alpha = self.state.tmp_alpha.max(label);
                return;
            }
            let first = if self.state.tmp_alpha > 0.0 { self.state.tmp_alpha } else { self.c / 2.0 };
            (self.state.alpha, self.state.tmp_alpha) = (Some(self.first(first)), 0.0);
        }
        let alpha = self.state.alpha.unwrap();
        let window_over = now >= self.state.start_time + self.k_c;
        if a >= self.c {
            if !self.state.congested {
                (self.state.congested, self.state.start_time, self.state.decreases) = (true, now, 0);
            } else if window_over {
                if f > 0.0 {
                    self.state.alpha = Some(self.within(alpha * self.c / f));
                }
                (self.state.start_time, self.state.decreases) = (now, 0);
            }
        } else if self.state.congested {
            (self.state.congested, self.state.start_time, self.state.tmp_alpha) = (false, now, 0.0);
        } else if !window_over {
            self.state.tmp_alpha = self.state.tmp_alpha.max(label);
        } else if self.almost_empty(seen) {
            (self.state.alpha, self.state.start_time) = (None, now);
        } else {
            let largest = Some(self.state.tmp_alpha).filter(|l| *l > 0.0);
            self.state.alpha = largest.map(|l| self.first(l));
            (self.state.start_time, self.state.tmp_alpha) = (now, 0.0);
        }
    }

    /// The fate of `packet`, and its new label.
    pub(crate) fn arrive(&mut self, seen: Seen<'_>, packet: &mut Packet) -> Fate {
        let label = f64::from(packet.label().unwrap_or(0.0));
        let label = if label > 0.0 && label < f64::INFINITY { label } else { 0.0 };
        let prob = match self.state.alpha {
            Some(alpha) if label > 0.0 => (1.0 - alpha / label).max(0.0),
            _ => 0.0,
        };
        let drop = prob > 0.0 && prob > self.rng.uniform();
        self.estimate_alpha(seen, packet.size, label, drop);
        let marks = self.ecn && packet.ecn.capable();
        if let Some(alpha) = self.state.alpha.filter(|_| prob > 0.0 && !marks) {
            packet.set_label(label.min(alpha) as f32);
        }
        match (drop, seen.room) {
            (true, _) if !marks => return Fate::Dropped(Reason::Early),
            (true, true) => return Fate::Marked,
            (false, true) => return Fate::Queued,
            (_, false) => {}
        }
        if let Some(alpha) = self.state.alpha.filter(|_| self.state.decreases < self.kdec) {
            self.state.alpha = Some(self.within(0.99 * alpha));
        }
        self.state.decreases += 1;
        Fate::Dropped(Reason::Overflow)
    }
}
