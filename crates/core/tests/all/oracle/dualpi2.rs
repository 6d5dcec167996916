//! DualPI2, line by line from the pseudo-code of RFC 9332 appendix A, with its two queues. The scheduler, which the RFC leaves
//! open, is either a time-shifted FIFO or shares bytes; times are seconds.

use super::codel::{Log, Waiting};

/// A packet, and the two bits of its ECN field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Marked {
    pub packet: Waiting,
    pub ecn: u8,
}

/// dualpi2_params_init.
#[derive(Clone, Copy, Debug)]
pub struct Init {
    pub limit: usize,
    pub k: f64,
    pub target: f64,
    pub alpha: f64,
    pub beta: f64,
    pub min_th: f64,
    pub max_th: f64,
    pub th_len: usize,
    /// `Some`: time-shifted FIFO.
    pub tshift: Option<f64>,
    /// C's share of the bytes.
    pub share: f64,
}

#[derive(Default)]
struct Queue {
    packets: Vec<Marked>,
    count: f64,
}

impl Queue {
    fn time(&self, now: u64) -> f64 {
        self.packets.first().map_or(0.0, |p| (now - p.packet.arrived) as f64 / 1e9)
    }

    fn recur(&mut self, likelihood: f64) -> bool {
        self.count += likelihood;
        if self.count > 1.0 {
            self.count -= 1.0;
            return true;
        }
        false
    }
}

pub struct DualPi2 {
    init: Init,
    lq: Queue,
    cq: Queue,
    pub p_prime: f64,
    prevq: f64,
    /// Bytes since both queues were last empty together: of L and of C, sent while the other had packets.
    sent: [f64; 2],
    pub log: Log,
}

impl DualPi2 {
    pub fn new(init: Init) -> Self {
        let (lq, cq) = (Queue::default(), Queue::default());
        Self { init, lq, cq, p_prime: 0.0, prevq: 0.0, sent: [0.0; 2], log: Log::default() }
    }

    pub fn packets(&self) -> usize {
        self.lq.packets.len() + self.cq.packets.len()
    }

    pub fn enqueue(&mut self, pkt: Marked) {
        if self.packets() + 1 > self.init.limit {
            self.log.dropped.push(pkt.packet.id);
        } else if pkt.ecn % 2 == 1 {
            self.lq.packets.push(pkt);
        } else {
            self.cq.packets.push(pkt);
        }
    }

    /// Whether the scheduler chooses lq.
    fn scheduler(&self) -> bool {
        if self.lq.packets.is_empty() || self.cq.packets.is_empty() {
            return self.cq.packets.is_empty();
        }
        match self.init.tshift {
            Some(tshift) => {
                let [l, c] = [&self.lq, &self.cq].map(|q| q.packets[0].packet.arrived);
                l <= c + (tshift * 1e9) as u64
            }
            None => self.sent[0] * self.init.share <= self.sent[1] * (1.0 - self.init.share),
        }
    }

    fn laqm(&self, qdelay: f64) -> f64 {
        if qdelay >= self.init.max_th {
            1.0
        } else if qdelay > self.init.min_th {
            (qdelay - self.init.min_th) / (self.init.max_th - self.init.min_th)
        } else {
            0.0
        }
    }

    pub fn dequeue(&mut self, now: u64) -> Option<Waiting> {
        let p_cl = self.init.k * self.p_prime;
        let p_c = self.p_prime * self.p_prime;
        let p_cmax = (1.0 / (self.init.k * self.init.k)).min(1.0);
        while self.packets() > 0 {
            if self.scheduler() {
                let qdelay = self.lq.time(now);
                let pkt = self.lq.packets.remove(0);
                if p_cl < 1.0 {
                    let native = if self.lq.packets.len() > self.init.th_len { self.laqm(qdelay) } else { 0.0 };
                    if self.lq.recur(native.max(p_cl)) {
                        self.log.marked.push(pkt.packet.id);
                    }
                } else {
                    if self.lq.recur(p_c) {
                        self.log.dropped.push(pkt.packet.id);
                        continue;
                    }
                    if self.lq.recur(p_cl) {
                        self.log.marked.push(pkt.packet.id);
                    }
                }
                if !self.cq.packets.is_empty() {
                    self.sent[0] += pkt.packet.bytes as f64;
                }
                return Some(pkt.packet);
            }
            let pkt = self.cq.packets.remove(0);
            if self.cq.recur(p_c) {
                if pkt.ecn == 0 || p_c >= p_cmax {
                    self.log.dropped.push(pkt.packet.id);
                    continue;
                }
                self.log.marked.push(pkt.packet.id);
            }
            if !self.lq.packets.is_empty() {
                self.sent[1] += pkt.packet.bytes as f64;
            }
            return Some(pkt.packet);
        }
        self.sent = [0.0; 2];
        None
    }

    /// Every Tupdate.
    pub fn update(&mut self, now: u64) {
        let curq = self.cq.time(now).max(self.lq.time(now));
        let change = self.init.alpha * (curq - self.init.target) + self.init.beta * (curq - self.prevq);
        self.p_prime = (self.p_prime + change).clamp(0.0, 1.0);
        self.prevq = curq;
    }
}
