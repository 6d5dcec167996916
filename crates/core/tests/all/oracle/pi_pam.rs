//! PI-PAM from Hollot et al.'s digital controller, on the queue of missing tokens.

use super::Oracle;
use super::buckets::Bucket;
use super::pam::bytes_of;
use perhop_core::Scope;
use perhop_core::conditioner::pi_pam::Params;
use perhop_core::packet::{Colour, Packet};

pub struct PiPam {
    tokens: Bucket,
    depth: f64,
    q_ref: f64,
    /// The controller K (1 + s/z)/s.
    k: f64,
    z: f64,
    integral: f64,
    last: u64,
}

impl PiPam {
    pub fn new(params: &Params, scope: &Scope) -> Self {
        let (depth, c) = (params.cbs.get() as f64, params.cir.bit_s() as f64 / 8.0);
        // Rounded down to whole nanoseconds, as times are.
        let takes = |bytes: u64| u128::from(bytes) * 8_000_000_000 / u128::from(params.cir.bit_s());
        let default = (takes(params.cbs.get()) / 4).max(takes(2 * scope.largest_packet.get()));
        let tau = params.response.map_or(default as f64, |response| response.ns() as f64) / 1e9;
        Self {
            tokens: Bucket::new(params.cir, params.cbs),
            depth,
            q_ref: depth - bytes_of(params.reference, depth),
            k: 1.0 / (tau * tau * c),
            z: 1.0 / (2.0 * tau),
            integral: 0.0,
            last: 0,
        }
    }
}

impl Oracle for PiPam {
    fn mark(&mut self, now: u64, packet: &mut Packet, u: f64) {
        self.tokens.refill(now);
        let missing = self.depth - self.tokens.level();
        let e = missing - self.q_ref;
        self.integral = (self.integral + self.k * e * (now - self.last) as f64 / 1e9).clamp(0.0, 1.0);
        self.last = now;
        let is_in = u >= self.integral + self.k / self.z * e && self.tokens.take(packet.size);
        packet.colour = if is_in { Colour::Green } else { Colour::Red };
    }
}
