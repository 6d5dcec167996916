//! RFC 8257 sections 3.3 to 3.5 as they are written, in bytes.

use super::{DEFAULTS, Slow, Then, same};
use perhop_sim::transport::{Signal, Window};

const SMSS: f64 = 1460.0;

#[allow(non_snake_case)]
struct Text {
    g: f64,
    Alpha: f64,
    WindowEnd: f64,
    BytesAcked: f64,
    BytesMarked: f64,
    cwnd: f64,
    ssthresh: f64,
}

impl Text {
    fn new(g: f64, alpha: f64) -> Self {
        let ssthresh = f64::from(u32::MAX) * SMSS;
        Self { g, Alpha: alpha, WindowEnd: 0.0, BytesAcked: 0.0, BytesMarked: 0.0, cwnd: 10.0 * SMSS, ssthresh }
    }

    fn halve(&mut self) {
        self.ssthresh = (self.cwnd / 2.0).max(2.0 * SMSS);
        self.cwnd = self.ssthresh;
    }
}

impl Slow for Text {
    fn feedback(&mut self, signal: &Signal) {
        // 1. and 2.: what the acknowledgement covers
        let bytes = f64::from(signal.acked) * SMSS;
        self.BytesAcked += bytes;
        // 3.: with ECE, it was marked
        if signal.marked > 0 {
            self.BytesMarked += bytes;
        }
        // 4.: up to WindowEnd, stop
        if f64::from(signal.una) * SMSS <= self.WindowEnd {
            return;
        }
        // 5. to 8.
        let m = self.BytesMarked / self.BytesAcked;
        self.Alpha = self.Alpha * (1.0 - self.g) + self.g * m;
        self.WindowEnd = f64::from(signal.next) * SMSS;
        self.BytesAcked = 0.0;
        self.BytesMarked = 0.0;
    }

    fn then(&mut self, then: Then, acked: u32) {
        let bytes = f64::from(acked) * SMSS;
        match then {
            Then::Grows if self.cwnd < self.ssthresh => self.cwnd += bytes,
            Then::Grows => self.cwnd += SMSS * bytes / self.cwnd,
            // 9.: cwnd = cwnd * (1 - DCTCP.Alpha / 2)
            Then::Echo => {
                self.cwnd = (self.cwnd * (1.0 - self.Alpha / 2.0)).max(2.0 * SMSS);
                self.ssthresh = self.cwnd;
            }
            // 3.5: as any TCP
            Then::Loss => self.halve(),
            Then::TimeOut => {
                self.halve();
                self.cwnd = SMSS;
            }
            Then::LossAfterEcho | Then::Nothing => {}
        }
    }

    fn window(&self) -> Window {
        Window { cwnd: self.cwnd / SMSS, ssthresh: self.ssthresh / SMSS }
    }
}

#[test]
fn agrees_with_the_text_ack_by_ack() {
    let mut echoes = 0;
    for seed in 0..60 {
        let (g, initial_alpha) = [(0.0625, 1.0), (0.5, 0.0), (1.0, 0.3), (0.01, 1.0)][seed as usize % 4];
        let params = super::Params { g, initial_alpha, ..DEFAULTS };
        echoes += same(params, Text::new(g, initial_alpha), seed, 1e-9);
    }
    assert!(echoes > 3000, "{echoes} echoes are too few to say anything");
}
