//! F-SAM's edge marker, line by line from the specification's section 1.3 (b).

use super::Oracle;
use super::buckets::Bucket;
use super::pam::bytes_of;
use perhop_core::Scope;
use perhop_core::conditioner::fsam::Params;
use perhop_core::math::exp;
use perhop_core::packet::{Colour, Packet};

pub struct FSam {
    p: Params,
    b: Bucket,
    cir: f64,
    cbs: f64,
    thr: f64,
    mtu: f64,
    a: f64,
    f: f64,
    s_a: f64,
    s_f: f64,
    t_e: Option<u64>,
    pub alpha: f64,
    tmp_alpha: f64,
    congested: bool,
    t_w: u64,
    kdec: u32,
}

impl FSam {
    pub fn new(p: &Params, scope: &Scope) -> Self {
        let cbs = p.cbs.get() as f64;
        Self {
            b: Bucket::new(p.cir, p.cbs),
            cir: p.cir.bit_s() as f64 / 8.0,
            cbs,
            thr: bytes_of(p.thr, cbs),
            mtu: scope.largest_packet.get() as f64,
            a: 0.0,
            f: 0.0,
            s_a: 0.0,
            s_f: 0.0,
            t_e: None,
            alpha: 0.0,
            tmp_alpha: 0.0,
            congested: true,
            t_w: 0,
            kdec: p.kdec,
            p: p.clone(),
        }
    }

    /// A first fair rate: floor of one MTU a second (not above CIR), cap CIR.
    fn first(&self, alpha: f64) -> f64 {
        alpha.max(self.mtu.min(self.cir)).min(self.cir)
    }

    /// Cap CIR, and never 0.
    fn bounded(&self, alpha: f64) -> f64 {
        alpha.min(self.cir).max(f64::MIN_POSITIVE)
    }

    fn label(&self, packet: &Packet) -> f64 {
        let label = f64::from(packet.label().unwrap_or(0.0));
        if label > 0.0 && label < f64::INFINITY {
            label
        } else if self.p.trusted {
            1.0
        } else {
            self.a
        }
    }

    fn nearly_full(&self) -> bool {
        self.cbs - self.b.level() < self.thr
    }

    fn estimate(&mut self, now: u64, packet: (u32, f64), accepted: bool) {
        let (size, l) = packet;
        self.s_a += f64::from(size);
        if accepted {
            self.s_f += f64::from(size);
        }
        let Some(t_e) = self.t_e else {
            self.t_e = Some(now);
            return;
        };
        if now == t_e {
            return;
        }
        let t = (now - t_e) as f64 / 1e9;
        let w = exp(-t / self.p.k_alpha.seconds());
        self.a = (1.0 - w) * self.s_a / t + w * self.a;
        self.f = (1.0 - w) * self.s_f / t + w * self.f;
        (self.s_a, self.s_f, self.t_e) = (0.0, 0.0, Some(now));
        if self.alpha == 0.0 {
            if self.nearly_full() {
                self.tmp_alpha = self.tmp_alpha.max(l);
                return;
            }
            self.alpha = self.first(if self.tmp_alpha > 0.0 { self.tmp_alpha } else { self.cir / 2.0 });
            self.tmp_alpha = 0.0;
        }
        let window_over = now >= self.t_w + self.p.k_c.ns();
        if self.a >= self.cir {
            if !self.congested {
                (self.congested, self.t_w, self.kdec) = (true, now, self.p.kdec);
            } else if window_over {
                (self.t_w, self.kdec) = (now, self.p.kdec);
                if self.f > 0.0 {
                    self.alpha = self.bounded(self.alpha * self.cir / self.f);
                }
            }
        } else if self.congested {
            (self.congested, self.t_w, self.tmp_alpha) = (false, now, 0.0);
        } else if !window_over {
            self.tmp_alpha = self.tmp_alpha.max(l);
        } else {
            self.alpha = if self.tmp_alpha > 0.0 { self.first(self.tmp_alpha) } else { 0.0 };
            self.t_w = now;
            if self.nearly_full() {
                self.alpha = 0.0;
            } else {
                self.tmp_alpha = 0.0;
            }
        }
    }
}

impl Oracle for FSam {
    fn mark(&mut self, now: u64, packet: &mut Packet, u: f64) {
        self.b.refill(now);
        let l = self.label(packet);
        let alpha = self.alpha;
        let p_out = if alpha == 0.0 || l <= alpha { 0.0 } else { 1.0 - alpha / l };
        let item = (packet.size, l);
        packet.colour = Colour::Red;
        if u < p_out {
            self.estimate(now, item, false);
            return;
        }
        if self.b.take(packet.size) {
            self.estimate(now, item, true);
            packet.colour = Colour::Green;
            if self.p.relabel_in && alpha > 0.0 && l > alpha {
                packet.set_label(alpha as f32);
            }
            return;
        }
        self.estimate(now, item, self.p.a_rule);
        if self.p.overflow && self.kdec > 0 {
            self.kdec -= 1;
            if self.alpha > 0.0 {
                self.alpha = self.bounded(self.alpha * 0.99);
            }
        }
    }
}
