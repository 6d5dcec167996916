//! CoDel as RFC 8289 section 5 writes it, line by line, with its queue. Times are ns, which doubles hold exactly for
//! 104 days; a packet is its arrival and its bytes.

use std::collections::VecDeque;

/// Queue and state; the defaults of RFC 8289 sections 4.3 and 4.4 are its caller's.
pub struct CoDel {
    pub target: f64,
    pub interval: f64,
    pub maxpacket: u64,
    queue: VecDeque<(f64, u64)>,
    first_above_time: f64,
    drop_next: f64,
    count: u32,
    lastcount: u32,
    dropping: bool,
    /// Packets dropped, counted.
    pub drops: u64,
}

struct Dodequeue {
    p: Option<(f64, u64)>,
    ok_to_drop: bool,
}

impl CoDel {
    pub fn new(target: f64, interval: f64, maxpacket: u64) -> Self {
        Self {
            target,
            interval,
            maxpacket,
            queue: VecDeque::new(),
            first_above_time: 0.0,
            drop_next: 0.0,
            count: 0,
            lastcount: 0,
            dropping: false,
            drops: 0,
        }
    }

    pub fn enqueue(&mut self, now: f64, bytes: u64) {
        self.queue.push_back((now, bytes));
    }

    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    fn bytes(&self) -> u64 {
        self.queue.iter().map(|p| p.1).sum()
    }

    /// RFC 8289 section 5.6, control law; times here are whole ns.
    fn control_law(&self, t: f64, count: u32) -> f64 {
        t + (self.interval / f64::from(count).sqrt()).floor()
    }

    /// RFC 8289 section 5.6, dodequeue.
    fn dodequeue(&mut self, now: f64) -> Dodequeue {
        let mut r = Dodequeue { p: self.queue.pop_front(), ok_to_drop: false };
        let Some((tstamp, _)) = r.p else {
            self.first_above_time = 0.0;
            return r;
        };
        if now - tstamp < self.target || self.bytes() <= self.maxpacket {
            self.first_above_time = 0.0;
        } else if self.first_above_time == 0.0 {
            self.first_above_time = now + self.interval;
        } else if now >= self.first_above_time {
            r.ok_to_drop = true;
        }
        r
    }

    /// RFC 8289 section 5.5: the packet that is sent.
    pub fn dequeue(&mut self, now: f64) -> Option<(f64, u64)> {
        let mut r = self.dodequeue(now);
        if self.dropping {
            if !r.ok_to_drop {
                self.dropping = false;
            }
            while now >= self.drop_next && self.dropping {
                self.drops += 1;
                self.count += 1;
                r = self.dodequeue(now);
                if r.ok_to_drop {
                    self.drop_next = self.control_law(self.drop_next, self.count);
                } else {
                    self.dropping = false;
                }
            }
        } else if r.ok_to_drop {
            self.drops += 1;
            r = self.dodequeue(now);
            self.dropping = true;
            let delta = self.count - self.lastcount;
            self.count = 1;
            if delta > 1 && now - self.drop_next < 16.0 * self.interval {
                self.count = delta;
            }
            self.drop_next = self.control_law(now, self.count);
            self.lastcount = self.count;
        }
        r.p
    }
}
