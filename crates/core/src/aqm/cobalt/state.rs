//! COBALT's state machine for one queue: CoDel's time of the next signal, and BLUE's probability.
//!
//! ```text
//! 1 / sqrt(count)   32 bits; below 16 the limit of the Newton steps from the last count, else one step
//!                   x + x (1 - count x^2) / 2 from the last value; 0 before the first count
//! interval x that   rounded down to ns
//! p                 32 bits
//! ```

use crate::rng::Rng;
use crate::units::{Span, Time};
use crate::verdict::{Reason, Verdict};

/// By how much BLUE's probability rises when the queue overflows, and falls when it is found empty, times 2^-32.
const RISE: u32 = 1 << 24;
const FALL: u32 = 1 << 20;

/// The parameters as times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Law {
    /// The wait that is acceptable as a standing delay; least time between two steps of BLUE.
    pub target: Span,
    /// How long the wait may stay above `target`.
    pub interval: Span,
    /// A packet that has waited for no longer than this is spared.
    pub spared: Span,
}

/// A packet at the head.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    /// Now; never decreases.
    pub now: Time,
    /// How long it has waited.
    pub wait: Span,
    /// Whether it is ECN-capable.
    pub ecn: bool,
    /// Whether nothing waits behind it.
    pub last: bool,
}

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// It is sent.
    None,
    /// It is marked and sent.
    Mark,
    /// It is dropped.
    Drop,
}

impl Signal {
    /// What a port is told.
    pub fn verdict(self) -> Verdict {
        match self {
            Self::None => Verdict::Pass,
            Self::Mark => Verdict::Mark,
            Self::Drop => Verdict::Drop(Reason::Early),
        }
    }
}

/// One queue's state; the default is that of a new queue.
#[derive(Clone, Copy, Debug, Default)]
pub struct State {
    /// Signals, by which they follow sooner and sooner.
    count: u32,
    /// 2^32 / sqrt(count).
    root: u32,
    /// When the next signal is due; while there is none, until when the queue counts as active.
    next: Time,
    dropping: bool,
    /// When BLUE's probability last changed.
    stepped: Option<Time>,
    /// BLUE's probability, times 2^32.
    p: u32,
}

/// x (3 - count x^2) / 2 for x = root / 2^32: products of 64 bits, rounded down, x^2 first.
const fn newton(root: u32, count: u32) -> u32 {
    let x = root as u64;
    let rest = (3u64 << 32).wrapping_sub(count as u64 * ((x * x) >> 32));
    ((rest >> 2).wrapping_mul(x) >> 31) as u32
}

/// Counts for which one Newton step is not near enough.
const FEW: usize = 16;

const ROOTS: [u32; FEW] = {
    let mut roots = [u32::MAX; FEW];
    let mut count = 2;
    while count < FEW {
        let (mut root, mut steps) = (roots[count - 1], 0);
        while steps < 8 {
            root = newton(root, count as u32);
            steps += 1;
        }
        roots[count] = root;
        count += 1;
    }
    roots
};

impl State {
    /// The packet at the head is about to be sent.
    pub fn judge(&mut self, law: &Law, head: &Head, rng: &mut Rng) -> Signal {
        let due = self.is_due(head.now);
        let before = self.next;
        self.watch(law, head);
        let signals = due && self.dropping;
        let next = match signals {
            true => self.count_up(law),
            false if due => self.catch_up(law, head.now),
            false => before,
        };
        let drops = self.blue(rng) || signals && !head.ecn;
        if self.count == 0 {
            self.next = head.now + law.interval;
        } else if head.now > next && !drops {
            self.next = head.now;
        }
        match drops && !head.last {
            true => Signal::Drop,
            false if signals && head.ecn => Signal::Mark,
            false => Signal::None,
        }
    }

    fn is_due(&self, now: Time) -> bool {
        self.count > 0 && now >= self.next
    }

    /// Whether the wait is too long.
    fn watch(&mut self, law: &Law, head: &Head) {
        let late = head.wait > law.target && head.wait > law.spared;
        if late && !self.dropping {
            self.next = head.now + self.apart(law);
        }
        if late {
            self.count = self.count.max(1);
        }
        self.dropping = late;
    }

    /// Time between two signals.
    fn apart(&self, law: &Law) -> Span {
        Span::from_ns(((u128::from(law.interval.ns()) * u128::from(self.root)) >> 32) as u64)
    }

    fn counted(&mut self, law: &Law, count: u32) -> Time {
        self.count = count;
        self.root = ROOTS.get(count as usize).copied().unwrap_or_else(|| newton(self.root, count));
        self.next += self.apart(law);
        self.next
    }

    fn count_up(&mut self, law: &Law) -> Time {
        self.counted(law, self.count.saturating_add(1))
    }

    /// Forgets signals whose time has passed without need.
    fn catch_up(&mut self, law: &Law, now: Time) -> Time {
        while self.is_due(now) {
            self.counted(law, self.count - 1);
        }
        self.next
    }

    fn blue(&self, rng: &mut Rng) -> bool {
        self.p > 0 && rng.uniform() * 4_294_967_296.0 < f64::from(self.p)
    }

    fn may_step(&mut self, law: &Law, now: Time) -> bool {
        let may = self.stepped.is_none_or(|at| now.since(at) > law.target);
        if may {
            self.stepped = Some(now);
        }
        may
    }

    /// A packet of the queue was dropped because there was no room.
    pub fn overflowed(&mut self, law: &Law, now: Time) {
        if self.may_step(law, now) {
            self.p = self.p.saturating_add(RISE);
        }
        (self.dropping, self.next, self.count) = (true, now, self.count.max(1));
    }

    /// The queue's turn came and it was empty.
    pub fn emptied(&mut self, law: &Law, now: Time) {
        if self.p > 0 && self.may_step(law, now) {
            self.p = self.p.saturating_sub(FALL);
        }
        self.dropping = false;
        if self.is_due(now) {
            self.counted(law, self.count - 1);
        }
    }

    /// Whether anything is left of what an empty queue went through.
    pub fn is_active(&self, now: Time) -> bool {
        self.p > 0 || self.count > 0 || now < self.next
    }

    /// Signals counted.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// BLUE's probability.
    pub fn probability(&self) -> f64 {
        f64::from(self.p) / 4_294_967_296.0
    }
}
