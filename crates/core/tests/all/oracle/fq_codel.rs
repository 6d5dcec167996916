//! FQ-CoDel, written from RFC 8290 section 4 sentence by sentence, and as Linux 6.12 behaves: queues, two lists, a CoDel in
//! each queue. Queues own their packets; who is fattest is found by counting.

use super::codel::{CoDel, Log, Queue, Waiting};
use super::codel_linux::Linux;

/// A CoDel that shares a qdisc with others.
pub trait Shared: Queue {
    /// Bytes that wait with it for the same link and count as what is behind a packet.
    fn elsewhere(&mut self, bytes: u64);
    /// The packet at the head is dropped because the queue is full.
    fn cut(&mut self) -> Waiting;
    /// Bytes waiting.
    fn bytes(&self) -> u64;
}

/// RFC 8290 hands a queue to CoDel: what is behind a packet is what its queue has.
impl Shared for CoDel {
    fn elsewhere(&mut self, _bytes: u64) {}
    fn cut(&mut self) -> Waiting {
        self.queue.pop_front().expect("a packet")
    }
    fn bytes(&self) -> u64 {
        self.queue.iter().map(|p| p.bytes).sum()
    }
}

/// Linux hands CoDel the backlog of the whole qdisc, and counts what it cuts.
impl Shared for Linux {
    fn elsewhere(&mut self, bytes: u64) {
        self.elsewhere = bytes;
    }
    fn cut(&mut self) -> Waiting {
        self.count = self.count.wrapping_add(1);
        self.queue.pop_front().expect("a packet")
    }
    fn bytes(&self) -> u64 {
        self.queue.iter().map(|p| p.bytes).sum()
    }
}

struct Flow<C> {
    codel: C,
    credits: i64,
    /// Drops and marks seen in its log.
    seen: [usize; 2],
}

/// What both versions are told.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub quantum: i64,
    pub packets: usize,
    pub memory: u64,
    pub drop_batch: usize,
    pub linux: bool,
}

/// Queues and lists.
pub struct FqCoDel<C> {
    flows: Vec<Flow<C>>,
    new: Vec<usize>,
    old: Vec<usize>,
    limits: Limits,
    pub log: Log,
}

impl<C: Shared> FqCoDel<C> {
    pub fn new(limits: Limits, codels: Vec<C>) -> Self {
        let flows = codels.into_iter().map(|codel| Flow { codel, credits: 0, seen: [0; 2] }).collect();
        Self { flows, new: Vec::new(), old: Vec::new(), limits, log: Log::default() }
    }

    pub fn packets(&self) -> usize {
        self.flows.iter().map(|flow| flow.codel.waiting()).sum()
    }

    fn bytes(&self) -> u64 {
        self.flows.iter().map(|flow| flow.codel.bytes()).sum()
    }

    /// Section 4.1; `handed` packets have been taken out and are not sent yet.
    pub fn enqueue(&mut self, i: usize, packet: Waiting, handed: usize) {
        self.flows[i].codel.enqueue(packet);
        // "if the queue is not currently active [...] it is added to the end of the list of new queues, and its number
        // of credits is initiated to the configured quantum".
        if !self.new.contains(&i) && !self.old.contains(&i) {
            self.new.push(i);
            self.flows[i].credits = self.limits.quantum;
        }
        while self.packets() > 0 && (self.packets() + handed > self.limits.packets || self.bytes() > self.limits.memory)
        {
            self.cut();
            if self.limits.linux {
                break;
            }
        }
    }

    /// "dropped from the head of the queue with the largest current byte count", half of it or a batch at a time.
    fn cut(&mut self) {
        let mut fattest = 0;
        for i in 1..self.flows.len() {
            if self.flows[i].codel.bytes() > self.flows[fattest].codel.bytes() {
                fattest = i;
            }
        }
        let codel = &mut self.flows[fattest].codel;
        let half = codel.bytes() / 2;
        let (mut packets, mut bytes) = (0, 0);
        loop {
            let cut = codel.cut();
            self.log.dropped.push(cut.id);
            packets += 1;
            bytes += cut.bytes;
            if packets == self.limits.drop_batch || bytes >= half {
                break;
            }
        }
    }

    /// Section 4.2.
    pub fn dequeue(&mut self, now: u64) -> Option<Waiting> {
        loop {
            // "The scheduler first looks at the list of new queues"; "if the list of new queues is empty, the scheduler
            // proceeds down the list of old queues in the same fashion".
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let i = *list.first()?;
            // "it is given an additional quantum of credits, the queue is put onto the end of the list of old queues".
            if self.flows[i].credits <= 0 {
                list.remove(0);
                self.flows[i].credits += self.limits.quantum;
                self.old.push(i);
                continue;
            }
            let others = self.bytes() - self.flows[i].codel.bytes();
            self.flows[i].codel.elsewhere(others);
            let sent = self.flows[i].codel.dequeue(now);
            self.note(i);
            // "it subtracts the size of the packet from the byte credits for the selected queue".
            if let Some(packet) = sent {
                self.flows[i].credits -= packet.bytes as i64;
                return Some(packet);
            }
            // "If the queue selected for dequeue came from the list of new queues, it is moved to the end of the list of
            // old queues. If instead it came from the list of old queues, that queue is removed from the list". Linux
            // does the former only if there are old queues.
            if is_new {
                self.new.remove(0);
                if !(self.limits.linux && self.old.is_empty()) {
                    self.old.push(i);
                }
            } else {
                self.old.remove(0);
            }
        }
    }

    /// What a queue's CoDel has just dropped and marked.
    fn note(&mut self, i: usize) {
        let flow = &mut self.flows[i];
        let log = flow.codel.log();
        self.log.dropped.extend(&log.dropped[flow.seen[0]..]);
        self.log.marked.extend(&log.marked[flow.seen[1]..]);
        flow.seen = [log.dropped.len(), log.marked.len()];
    }
}
