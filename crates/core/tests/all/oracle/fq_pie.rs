//! FQ-PIE as its paper and Linux 6.12 describe it: a PIE for each flow, and two lists of flows. The PIEs own the packets.

use super::codel::{Log, Waiting};
use super::pie::{self, Outcome, Queue as _, Settings};
use super::pie_linux::Linux;
use perhop_core::Rng;
use std::collections::VecDeque;

struct Flow {
    pie: Linux,
    ids: VecDeque<Waiting>,
    credits: i64,
}

/// Flows and lists.
pub struct FqPie {
    flows: Vec<Flow>,
    new: Vec<usize>,
    old: Vec<usize>,
    quantum: i64,
    limit: usize,
    rng: Rng,
    pub log: Log,
}

impl FqPie {
    pub fn new(flows: usize, [quantum, limit, percent]: [usize; 3], settings: Settings, rng: Rng) -> Self {
        let pie = || Linux::new(settings, rng.clone()).marking(percent as i128);
        let flows = (0..flows).map(|_| Flow { pie: pie(), ids: VecDeque::new(), credits: 0 }).collect();
        Self { flows, new: vec![], old: vec![], quantum: quantum as i64, limit, rng, log: Log::default() }
    }

    pub fn packets(&self) -> usize {
        self.flows.iter().map(|flow| flow.ids.len()).sum()
    }

    /// `handed` packets have been taken out and are not sent yet.
    pub fn enqueue(&mut self, i: usize, packet: Waiting, handed: usize) {
        let full = self.packets() + handed >= self.limit;
        let flow = &mut self.flows[i];
        if full {
            flow.pie.full();
            return self.log.dropped.push(packet.id);
        }
        let Waiting { arrived, bytes, ecn, .. } = packet;
        // All draw from one stream.
        flow.pie.rng = self.rng.clone();
        let outcome = flow.pie.enque(arrived, pie::Waiting { arrived, bytes, ecn });
        self.rng = flow.pie.rng.clone();
        match outcome {
            Outcome::Queued => {}
            Outcome::Marked => self.log.marked.push(packet.id),
            Outcome::Early | Outcome::Full => return self.log.dropped.push(packet.id),
        }
        flow.ids.push_back(packet);
        if !self.new.contains(&i) && !self.old.contains(&i) {
            self.new.push(i);
            self.flows[i].credits = self.quantum;
        }
    }

    pub fn dequeue(&mut self, now: u64) -> Option<Waiting> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let i = *list.first()?;
            if self.flows[i].credits <= 0 {
                list.remove(0);
                self.flows[i].credits += self.quantum;
                self.old.push(i);
            } else if let Some(packet) = self.flows[i].ids.pop_front() {
                _ = self.flows[i].pie.deque(now);
                self.flows[i].credits -= packet.bytes as i64;
                return Some(packet);
            } else {
                list.remove(0);
                if is_new && !self.old.is_empty() {
                    self.old.push(i);
                }
            }
        }
    }

    /// Every T_UPDATE.
    pub fn update(&mut self, now: u64) {
        self.flows.iter_mut().for_each(|flow| flow.pie.calculate_drop_prob(now));
    }
}
