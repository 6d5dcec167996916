//! TSW2CM as in the specification's section 1.1; TSW3CM with the two probabilities of RFC 2859 section 4,
//! not its short form.

use super::Oracle;
use perhop_core::conditioner::{tsw2cm, tsw3cm};
use perhop_core::packet::{Colour, Packet};
use perhop_core::units::{BitRate, Span};

/// RFC 2859 section 3, Figure 2.
pub struct Rate {
    avg_rate: f64,
    avg_interval: f64,
    t_front: f64,
}

impl Rate {
    pub fn new(initial: BitRate, window: Span) -> Self {
        Self { avg_rate: initial.bit_s() as f64 / 8.0, avg_interval: window.ns() as f64 / 1e9, t_front: 0.0 }
    }

    pub fn update(&mut self, now: u64, size: u32) -> f64 {
        let now = now as f64;
        let bytes_in_window = self.avg_rate * self.avg_interval;
        let new_bytes = bytes_in_window + f64::from(size);
        self.avg_rate = new_bytes / ((now - self.t_front) / 1e9 + self.avg_interval);
        self.t_front = now;
        self.avg_rate
    }
}

pub struct TwoColour {
    rate: Rate,
    cir: f64,
}

impl TwoColour {
    pub fn new(p: &tsw2cm::Params) -> Self {
        Self { rate: Rate::new(p.cir, p.window), cir: p.cir.bytes_s() }
    }
}

impl Oracle for TwoColour {
    fn mark(&mut self, now: u64, packet: &mut Packet, u: f64) {
        let avg = self.rate.update(now, packet.size);
        packet.colour = if avg > self.cir && u <= 1.0 - self.cir / avg { Colour::Red } else { Colour::Green };
    }
}

pub struct Rfc2859 {
    rate: Rate,
    ctr: f64,
    ptr: f64,
}

impl Rfc2859 {
    pub fn new(p: &tsw3cm::Params) -> Self {
        Self { rate: Rate::new(p.cir, p.window), ctr: p.cir.bytes_s(), ptr: p.pir.bytes_s() }
    }

    /// Whether the last packet found more than CTR.
    pub fn exceeds(&self) -> bool {
        self.rate.avg_rate > self.ctr
    }
}

impl Oracle for Rfc2859 {
    /// The interval [0, 1) is cut at P1 and P1 + P2.
    fn mark(&mut self, now: u64, packet: &mut Packet, u: f64) {
        let avg = self.rate.update(now, packet.size);
        packet.colour = if avg <= self.ctr {
            Colour::Green
        } else if avg <= self.ptr {
            let p0 = (avg - self.ctr) / avg;
            if u < p0 { Colour::Yellow } else { Colour::Green }
        } else {
            let (p1, p2) = ((avg - self.ptr) / avg, (self.ptr - self.ctr) / avg);
            match u {
                u if u < p1 => Colour::Red,
                u if u < p1 + p2 => Colour::Yellow,
                _ => Colour::Green,
            }
        };
    }
}
