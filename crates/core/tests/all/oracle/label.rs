//! The ingress labeller, line by line from the specification's section 1.3 (a).

use super::Oracle;
use perhop_core::conditioner::rate_labeller::{FirstLabel, Params};
use perhop_core::math::exp;
use perhop_core::packet::Packet;

pub struct Labeller {
    p: Params,
    r: f64,
    t_r: u64,
    acc: f64,
    seen: Option<u64>,
}

impl Labeller {
    pub fn new(p: &Params) -> Self {
        Self { p: p.clone(), r: 0.0, t_r: 0, acc: 0.0, seen: None }
    }

    fn rate(&mut self, now: u64, size: f64) -> f64 {
        let k = self.p.k.ns() as f64 / 1e9;
        let known = self.seen.is_some_and(|last| now - last <= self.p.expire.ns());
        self.seen = Some(now);
        if !known {
            (self.t_r, self.acc) = (now, 0.0);
            self.r = match self.p.first_label {
                FirstLabel::Zero => 0.0,
                FirstLabel::LOverK => size / k,
                FirstLabel::HalfLink => self.p.link.expect("stated").bit_s() as f64 / 16.0,
                FirstLabel::SinceStart => {
                    self.t_r = 0;
                    0.0
                }
            };
            if self.p.first_label != FirstLabel::SinceStart {
                return self.r;
            }
        }
        let t = (now - self.t_r) as f64 / 1e9;
        if t == 0.0 {
            self.acc += size;
            return self.r;
        }
        self.r = (1.0 - exp(-t / k)) * (self.acc + size) / t + exp(-t / k) * self.r;
        (self.acc, self.t_r) = (0.0, now);
        self.r
    }
}

impl Oracle for Labeller {
    fn mark(&mut self, now: u64, packet: &mut Packet, _u: f64) {
        let rate = self.rate(now, f64::from(packet.size));
        packet.set_label((rate.max(1.0) / self.p.weight) as f32);
    }
}
