//! CoDel as Linux 6.12 behaves, from a description of its integers: the clock counts units of 1024 ns in 32 bits and
//! wraps, differences of times are signed, 1 / sqrt(count) is a fraction of 2^16. Whole packets are taken from the queue one
//! after the other, as the kernel does, where the fast version is asked about one at a time.

use super::codel::{Log, Queue, Settings, Waiting};
use std::collections::VecDeque;

pub struct Linux {
    settings: Settings,
    pub queue: VecDeque<Waiting>,
    /// Bytes in other queues of the same qdisc.
    pub elsewhere: u64,
    log: Log,
    /// 0 while the wait is short.
    first_above: u32,
    drop_next: u32,
    pub count: u32,
    count_at_entry: u32,
    dropping: bool,
    /// 2^16 / sqrt(count), about.
    inverse: u32,
}

/// Units of the clock.
fn clock(ns: u64) -> u32 {
    (ns / 1024 % (1 << 32)) as u32
}

/// How far `a` lies after `b`.
fn after(a: u32, b: u32) -> i32 {
    a.wrapping_sub(b) as i32
}

/// y (3 - count y^2) / 2 with y = inverse / 2^16. The square is rounded down to 32 binary places, the bracket to 30, the
/// product to 32, the result to 16; bracket and product in 64 bits without sign, which a count that leaps makes wrap.
fn better(inverse: u32, count: u32) -> u32 {
    let y = i128::from(inverse) * (1 << 16);
    let square = (y * y).div_euclid(1 << 32);
    let bracket = (3 * (1i128 << 32) - i128::from(count) * square).rem_euclid(1 << 64).div_euclid(4);
    let product = (bracket * y).rem_euclid(1 << 64).div_euclid(1 << 31);
    product.div_euclid(1 << 16).rem_euclid(1 << 16) as u32
}

impl Linux {
    /// interval / sqrt(count) after `from`.
    fn schedule(&mut self, from: u32) {
        let gap = u64::from(clock(self.settings.interval)) * u64::from(self.inverse) / (1 << 16);
        self.drop_next = from.wrapping_add(gap as u32);
    }

    /// The packet at the head, and whether it may be dropped.
    fn take(&mut self, now: u32) -> Option<(Waiting, bool)> {
        let Some(packet) = self.queue.pop_front() else {
            self.first_above = 0;
            return None;
        };
        let behind = self.elsewhere + self.queue.iter().map(|p| p.bytes).sum::<u64>();
        let wait = now.wrapping_sub(clock(packet.arrived));
        if after(wait, clock(self.settings.target)) < 0 || behind <= self.settings.maxpacket {
            self.first_above = 0;
        } else if self.first_above == 0 {
            self.first_above = now.wrapping_add(clock(self.settings.interval));
        } else if after(now, self.first_above) > 0 {
            return Some((packet, true));
        }
        Some((packet, false))
    }

    /// Marks the packet, or returns false.
    fn mark(&mut self, packet: &Waiting) -> bool {
        let marks = self.settings.ecn && packet.ecn;
        if marks {
            self.log.marked.push(packet.id);
        }
        marks
    }

    fn goes_on(&mut self, mut packet: Waiting, now: u32) -> Option<Waiting> {
        while after(now, self.drop_next) >= 0 {
            self.count = self.count.wrapping_add(1);
            self.inverse = better(self.inverse, self.count);
            if self.mark(&packet) {
                self.schedule(self.drop_next);
                return Some(packet);
            }
            self.log.dropped.push(packet.id);
            let next = self.take(now);
            let Some((following, true)) = next else {
                self.dropping = false;
                return next.map(|n| n.0);
            };
            packet = following;
            self.schedule(self.drop_next);
        }
        Some(packet)
    }

    fn begins(&mut self, packet: Waiting, now: u32) -> Option<Waiting> {
        let sent = if self.mark(&packet) {
            Some(packet)
        } else {
            self.log.dropped.push(packet.id);
            self.take(now).map(|next| next.0)
        };
        self.dropping = true;
        let more = self.count.wrapping_sub(self.count_at_entry);
        let since = now.wrapping_sub(self.drop_next);
        if more > 1 && after(since, 16 * clock(self.settings.interval)) < 0 {
            self.count = more;
            self.inverse = better(self.inverse, more);
        } else {
            self.count = 1;
            self.inverse = 65535;
        }
        self.count_at_entry = self.count;
        self.schedule(now);
        sent
    }

    fn next(&mut self, now: u32) -> Option<Waiting> {
        let Some((packet, may_drop)) = self.take(now) else {
            self.dropping = false;
            return None;
        };
        match (self.dropping, may_drop) {
            (true, true) => self.goes_on(packet, now),
            (false, true) => self.begins(packet, now),
            _ => {
                self.dropping = false;
                Some(packet)
            }
        }
    }
}

impl Queue for Linux {
    fn new(settings: Settings) -> Self {
        Self {
            settings,
            queue: VecDeque::new(),
            elsewhere: 0,
            log: Log::default(),
            first_above: 0,
            drop_next: 0,
            count: 0,
            count_at_entry: 0,
            dropping: false,
            inverse: 0,
        }
    }

    fn enqueue(&mut self, packet: Waiting) {
        self.queue.push_back(packet);
    }

    fn dequeue(&mut self, now: u64) -> Option<Waiting> {
        let sent = self.next(clock(now))?;
        let wait = clock(now).wrapping_sub(clock(sent.arrived));
        let late = self.settings.ce_threshold.is_some_and(|threshold| after(wait, clock(threshold)) > 0);
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
