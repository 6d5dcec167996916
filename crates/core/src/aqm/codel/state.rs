//! CoDel's state machine: decides the fate of the packet at the head of one queue.
//!
//! Source: RFC 8289 sections 5.5 and 5.6; for Linux's arithmetic see [`super::law`].

use super::law::{Drops, Law};
use crate::counter::Each;
use crate::units::Time;
use crate::verdict::{Reason, Verdict};

/// The packet at the head, whose transmission would begin now.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    /// Now; never decreases.
    pub now: Time,
    /// When it arrived.
    pub arrived: Time,
    /// Its bytes.
    pub bytes: u32,
    /// Bytes waiting behind it.
    pub behind: u64,
    /// Whether it is ECN-capable.
    pub ecn: bool,
}

/// What `tc -s` counts of a queue, or of several together.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stats {
    /// Bytes of the largest packet that was at the head.
    pub largest: u32,
    /// Packets marked where others are dropped.
    pub marked: u64,
    /// Packets beyond `ce-threshold`, which are marked.
    pub late: u64,
    /// How long the packet at the head had waited, ticks.
    pub(super) wait: u64,
}

impl Stats {
    /// As `tc -s` shows it.
    pub fn counters(&self, each: &mut Each<'_>) {
        each("maxpacket", self.largest.into());
        each("ecn_mark", self.marked as f64);
        each("ce_mark", self.late as f64);
    }
}

/// One queue's state; the default is that of a new queue.
#[derive(Clone, Copy, Debug, Default)]
pub struct State {
    /// When the wait will have been above `target` for an interval, ticks; `None` while it is below.
    first_above: Option<u64>,
    /// `Some` while dropping.
    dropping: Option<Dropping>,
    /// When the next packet is due to be dropped, or was when dropping ended, ticks.
    drop_next: u64,
    /// Since dropping began.
    drops: Drops,
    /// Drops counted when dropping began.
    last_count: u32,
}

/// What the packet behind a dropped one still decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dropping {
    /// Nothing: `drop_next` is known.
    Scheduled,
    /// Nothing: dropping has just begun, and it is not dropped.
    Begun,
    /// Whether `drop_next` moves on.
    Pending,
}

impl State {
    /// RFC 8289 section 5.5: the dequeue routine, packet by packet. After a drop the next packet at the head is to be
    /// judged at the same time, or the queue has [`emptied`](State::emptied).
    pub fn judge(&mut self, law: &Law, head: &Head, stats: &mut Stats) -> Verdict {
        let (now, wait) = (law.ticks(head.now.ns()), law.ticks(head.now.ns()) - law.ticks(head.arrived.ns()));
        (stats.largest, stats.wait) = (stats.largest.max(head.bytes), wait);
        let late = head.ecn && law.ce_threshold.is_some_and(|threshold| wait > threshold);
        if !self.is_due(law, head, [now, wait]) {
            stats.late += u64::from(late);
            return if late { Verdict::Mark } else { Verdict::Pass };
        }
        let verdict = self.punish(law, head.ecn);
        if verdict == Verdict::Mark {
            (stats.marked, stats.late) = (stats.marked + 1, stats.late + u64::from(late));
        }
        verdict
    }

    /// A packet was asked for and none waits: RFC 8289 section 5.6, the NULL of dodequeue. A queue of its own need not
    /// tell, since a packet with nothing behind it ends the dropping too; one of several that share `behind` must.
    pub fn emptied(&mut self) {
        (self.first_above, self.dropping) = (None, None);
    }

    /// A packet was dropped at its head by another: as Linux's FQ-CoDel counts it, so that its own next drops come sooner.
    pub fn dropped_besides(&mut self) {
        self.drops.count = self.drops.count.wrapping_add(1);
    }

    /// Whether it is dropping.
    pub fn is_dropping(&self) -> bool {
        self.dropping.is_some()
    }

    /// Drops since dropping began.
    pub fn drop_count(&self) -> u32 {
        self.drops.count
    }

    /// As `tc -s` shows it.
    pub(super) fn counters(&self, law: &Law, now: Time, each: &mut Each<'_>) {
        each("count", self.drops.count.into());
        each("lastcount", self.last_count.into());
        each("dropping", f64::from(u8::from(self.is_dropping())));
        if self.is_dropping() {
            let (now, due) = (law.ticks(now.ns()), self.drop_next);
            each("drop_next", if due >= now { law.us(due - now) } else { -law.us(now - due) });
        }
    }

    /// RFC 8289 section 5.6, dodequeue: whether the wait has been long for an interval.
    fn ok_to_drop(&mut self, law: &Law, head: &Head, [now, wait]: [u64; 2]) -> bool {
        if wait < law.target || head.behind <= law.mtu {
            self.first_above = None;
            return false;
        }
        let due = *self.first_above.get_or_insert(now + law.interval);
        // One that has just been set is an interval away.
        law.long_enough(now, due)
    }

    /// Whether the packet is to be dropped or marked; moves the schedule.
    fn is_due(&mut self, law: &Law, head: &Head, [now, wait]: [u64; 2]) -> bool {
        let ok = self.ok_to_drop(law, head, [now, wait]);
        match self.dropping {
            None if ok => self.begin(law, now),
            Some(dropping) if ok => {
                if dropping == Dropping::Pending {
                    self.schedule(law);
                } else if dropping == Dropping::Begun {
                    self.dropping = Some(Dropping::Scheduled);
                    return false;
                }
                if now < self.drop_next {
                    return false;
                }
                self.drops = self.drops.counted(self.drops.count.wrapping_add(1));
                self.dropping = Some(Dropping::Pending);
            }
            _ => self.dropping = None,
        }
        ok
    }

    /// A marked packet is sent: the next drop does not depend on the packet behind it.
    fn punish(&mut self, law: &Law, capable: bool) -> Verdict {
        if !(law.ecn && capable) {
            return Verdict::Drop(Reason::Early);
        }
        match self.dropping {
            Some(Dropping::Pending) => self.schedule(law),
            _ => self.dropping = Some(Dropping::Scheduled),
        }
        Verdict::Mark
    }

    fn schedule(&mut self, law: &Law) {
        self.drop_next = law.next(self.drop_next, self.drops);
        self.dropping = Some(Dropping::Scheduled);
    }

    fn begin(&mut self, law: &Law, now: u64) {
        let delta = self.drops.count.wrapping_sub(self.last_count);
        // One that has never dropped has no last time.
        let recent = self.last_count > 0 && now.saturating_sub(self.drop_next) < 16 * law.interval;
        self.drops = if delta > 1 && recent { self.drops.counted(delta) } else { Drops::FIRST };
        self.last_count = self.drops.count;
        self.drop_next = law.next(now, self.drops);
        self.dropping = Some(Dropping::Begun);
    }
}
