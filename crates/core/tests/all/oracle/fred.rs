//! FRED from the paper's pseudo-code. Nothing is carried that can be counted again: what each flow holds is counted
//! packet by packet in the queue, strikes live in a map.

use perhop_core::Rng;
use perhop_core::packet::Packet;
use perhop_core::verdict::{Fate, Reason};
use std::collections::BTreeMap;

/// The router in the paper's letters; lengths in packets.
pub(crate) struct Fred {
    pub(crate) minth: f64,
    pub(crate) maxth: f64,
    pub(crate) maxp: f64,
    pub(crate) minq: f64,
    pub(crate) wq: f64,
    pub(crate) ecn: bool,
    /// The flow of a packet, or its class.
    pub(crate) of: fn(&Packet) -> u32,
    pub(crate) avg: f64,
    pub(crate) count: f64,
    pub(crate) strike: BTreeMap<u32, u32>,
    pub(crate) rng: Rng,
}

impl Fred {
    /// A packet left and `q` wait behind it.
    pub(crate) fn depart(&mut self, left: &Packet, behind: &[Packet]) {
        self.avg = (1.0 - self.wq) * self.avg + self.wq * behind.len() as f64;
        if behind.iter().all(|p| (self.of)(p) != (self.of)(left)) {
            self.strike.remove(&(self.of)(left));
        }
    }

    /// The fate of a packet that finds `queue`, after `missed` packet times of idleness.
    pub(crate) fn arrive(&mut self, packet: &Packet, (queue, missed, room): (&[Packet], f64, bool)) -> Fate {
        self.avg *= perhop_core::math::pow(1.0 - self.wq, missed);
        self.avg = (1.0 - self.wq) * self.avg + self.wq * queue.len() as f64;
        let mut flows: Vec<u32> = queue.iter().map(self.of).collect();
        flows.sort_unstable();
        flows.dedup();
        let avgcq = f64::max(1.0, self.avg / f64::max(1.0, flows.len() as f64));
        let qlen = queue.iter().filter(|p| (self.of)(p) == (self.of)(packet)).count() as f64;
        let maxq = if self.avg >= self.maxth { 2.0 } else { self.minth };
        let strike = self.strike.get(&(self.of)(packet)).copied().unwrap_or(0);
        if qlen >= maxq || (self.avg >= self.maxth && qlen > 2.0 * avgcq) || (qlen >= avgcq && strike > 1) {
            // A flow that holds nothing has no entry to strike.
            *self.strike.entry((self.of)(packet)).or_default() += 1;
            return Fate::Dropped(Reason::Early);
        }
        if self.avg < self.minth {
            self.count = -1.0;
        } else if self.avg < self.maxth {
            self.count += 1.0;
            if qlen >= f64::max(self.minq, avgcq) {
                let pb = self.maxp * (self.avg - self.minth) / (self.maxth - self.minth);
                let pa = if self.count * pb >= 1.0 { 1.0 } else { pb / (1.0 - self.count * pb) };
                if self.rng.uniform() < pa {
                    self.count = 0.0;
                    match (self.ecn && packet.ecn.capable(), room) {
                        (true, true) => return Fate::Marked,
                        (true, false) => return Fate::Dropped(Reason::Overflow),
                        (false, _) => return Fate::Dropped(Reason::Early),
                    }
                }
            }
        } else {
            self.count = 0.0;
            return Fate::Dropped(Reason::Forced);
        }
        if room {
            return Fate::Queued;
        }
        self.count = 0.0;
        Fate::Dropped(Reason::Overflow)
    }
}
