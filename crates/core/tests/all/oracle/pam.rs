//! PAM, line by line from the specification's section 1.2.

use super::Oracle;
use super::buckets::Bucket;
use perhop_core::conditioner::pam::{Idle, Params};
use perhop_core::math::{exp, pow};
use perhop_core::packet::{Colour, Packet};
use perhop_core::units::Length;

pub struct Pam {
    p: Params,
    b: Bucket,
    x: f64,
    min_th: f64,
    max_th: f64,
    count: f64,
    last: Option<u64>,
    s: Option<f64>,
}

/// A threshold in bytes.
pub fn bytes_of(threshold: Length, cbs: f64) -> f64 {
    match threshold {
        Length::Percent(p) => p / 100.0 * cbs,
        Length::Bytes(b) => b.get() as f64,
        other => panic!("{other} is not a bucket's threshold"),
    }
}

impl Pam {
    pub fn new(p: &Params) -> Self {
        let cbs = p.cbs.get() as f64;
        Self {
            b: Bucket::new(p.cir, p.cbs),
            x: cbs,
            min_th: bytes_of(p.min_th, cbs),
            max_th: bytes_of(p.max_th, cbs),
            count: -1.0,
            last: None,
            s: None,
            p: p.clone(),
        }
    }

    fn average(&mut self, now: u64) {
        let (w, b) = (self.p.weight.get(), self.b.level());
        let gap = self.last.map(|last| (now - last) as f64 / 1e9);
        self.last = Some(now);
        if self.p.idle == Idle::Time {
            let tau = self.p.tau.expect("stated with idle = time").seconds();
            self.x = b + (self.x - b) * exp(-gap.unwrap_or(0.0) / tau);
            return;
        }
        if let (Idle::VirtualSamples, Some(gap)) = (self.p.idle, gap) {
            // gap > CBS/CIR without a division: both sides are whole numbers.
            let idle = (gap * 1e9).round() as u128 * u128::from(self.p.cir.bit_s())
                > u128::from(self.p.cbs.get()) * 8_000_000_000;
            match self.s {
                None if idle => self.x = b,
                Some(s) if idle => self.x = b + (self.x - b) * pow(1.0 - w, gap / s),
                None => self.s = Some(gap),
                Some(s) => self.s = Some(s + w * (gap - s)),
            }
        }
        self.x += w * (b - self.x);
    }

    fn p_out(&self) -> f64 {
        if self.min_th == self.max_th {
            return if self.x >= self.max_th { 0.0 } else { 1.0 };
        }
        let (p_min, p_max) = (self.p.p_min.get(), self.p.p_max.get());
        if self.x > self.max_th {
            0.0
        } else if self.x < self.min_th {
            1.0
        } else {
            p_max - (p_max - p_min) * (self.x - self.min_th) / (self.max_th - self.min_th)
        }
    }
}

impl Oracle for Pam {
    fn mark(&mut self, now: u64, packet: &mut Packet, u: f64) {
        self.b.refill(now);
        self.average(now);
        let mut p = self.p_out();
        if self.p.uniformise && 0.0 < p && p < 1.0 {
            self.count += 1.0;
            p = if self.count * p < 1.0 { p / (1.0 - self.count * p) } else { 1.0 };
        }
        let chosen_in = p < 1.0 && u >= p;
        if chosen_in && self.b.take(packet.size) {
            packet.colour = Colour::Green;
            return;
        }
        self.count = 0.0;
        packet.colour = Colour::Red;
    }
}
