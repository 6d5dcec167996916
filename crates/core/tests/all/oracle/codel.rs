//! CoDel as RFC 8289 section 5 writes it, line by line, with its queue. Times are ns, which doubles hold exactly for
//! 104 days. RFC 8289 only drops; with `ecn`, an ECN-capable packet is marked and sent in the place of a drop.

use std::collections::VecDeque;

/// A packet that waits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Waiting {
    pub id: u32,
    /// ns
    pub arrived: u64,
    pub bytes: u64,
    pub ecn: bool,
}

/// What both versions are told.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// ns
    pub target: u64,
    /// ns
    pub interval: u64,
    pub maxpacket: u64,
    pub ecn: bool,
    /// ns
    pub ce_threshold: Option<u64>,
}

/// What became of packets, in order.
#[derive(Default)]
pub struct Log {
    pub dropped: Vec<u32>,
    pub marked: Vec<u32>,
}

/// A queue with a CoDel at its head.
pub trait Queue {
    fn new(settings: Settings) -> Self;
    fn enqueue(&mut self, packet: Waiting);
    /// The packet that is sent.
    fn dequeue(&mut self, now: u64) -> Option<Waiting>;
    fn waiting(&self) -> usize;
    fn log(&self) -> &Log;
}

/// Queue and state; the defaults of RFC 8289 sections 4.3 and 4.4 are its caller's.
pub struct CoDel {
    settings: Settings,
    pub queue: VecDeque<Waiting>,
    first_above_time: f64,
    drop_next: f64,
    count: u32,
    lastcount: u32,
    dropping: bool,
    log: Log,
}

struct Dodequeue {
    p: Option<Waiting>,
    ok_to_drop: bool,
}

impl CoDel {
    fn bytes(&self) -> u64 {
        self.queue.iter().map(|p| p.bytes).sum()
    }

    /// RFC 8289 section 5.6, control law; times here are whole ns.
    fn control_law(&self, t: f64, count: u32) -> f64 {
        t + (self.settings.interval as f64 / f64::from(count).sqrt()).floor()
    }

    /// RFC 8289 section 5.6, dodequeue.
    fn dodequeue(&mut self, now: f64) -> Dodequeue {
        let mut r = Dodequeue { p: self.queue.pop_front(), ok_to_drop: false };
        let Some(p) = r.p else {
            self.first_above_time = 0.0;
            return r;
        };
        if now - (p.arrived as f64) < self.settings.target as f64 || self.bytes() <= self.settings.maxpacket {
            self.first_above_time = 0.0;
        } else if self.first_above_time == 0.0 {
            self.first_above_time = now + self.settings.interval as f64;
        } else if now >= self.first_above_time {
            r.ok_to_drop = true;
        }
        r
    }

    /// Whether the packet is marked instead.
    fn drop(&mut self, p: Option<Waiting>) -> bool {
        let p = p.expect("only a packet is ok to drop");
        if self.settings.ecn && p.ecn {
            self.log.marked.push(p.id);
            return true;
        }
        self.log.dropped.push(p.id);
        false
    }

    /// RFC 8289 section 5.5.
    fn dequeue(&mut self, now: f64) -> Option<Waiting> {
        let mut r = self.dodequeue(now);
        if self.dropping {
            if !r.ok_to_drop {
                self.dropping = false;
            }
            while now >= self.drop_next && self.dropping {
                self.count += 1;
                if self.drop(r.p) {
                    self.drop_next = self.control_law(self.drop_next, self.count);
                    break;
                }
                r = self.dodequeue(now);
                if r.ok_to_drop {
                    self.drop_next = self.control_law(self.drop_next, self.count);
                } else {
                    self.dropping = false;
                }
            }
        } else if r.ok_to_drop {
            if !self.drop(r.p) {
                r = self.dodequeue(now);
            }
            self.dropping = true;
            let delta = self.count - self.lastcount;
            self.count = 1;
            if delta > 1 && now - self.drop_next < 16.0 * self.settings.interval as f64 {
                self.count = delta;
            }
            self.drop_next = self.control_law(now, self.count);
            self.lastcount = self.count;
        }
        r.p
    }
}

impl Queue for CoDel {
    fn new(settings: Settings) -> Self {
        Self {
            settings,
            queue: VecDeque::new(),
            first_above_time: 0.0,
            drop_next: 0.0,
            count: 0,
            lastcount: 0,
            dropping: false,
            log: Log::default(),
        }
    }

    fn enqueue(&mut self, packet: Waiting) {
        self.queue.push_back(packet);
    }

    fn dequeue(&mut self, now: u64) -> Option<Waiting> {
        let sent = self.dequeue(now as f64)?;
        let late = self.settings.ce_threshold.is_some_and(|threshold| now - sent.arrived > threshold);
        if late && sent.ecn && self.log.marked.last() != Some(&sent.id) {
            self.log.marked.push(sent.id);
        }
        Some(sent)
    }

    fn waiting(&self) -> usize {
        self.queue.len()
    }

    fn log(&self) -> &Log {
        &self.log
    }
}
