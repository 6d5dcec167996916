//! The classes of HTB while they run: who may send, who borrows from whom, whose turn it is, who pays.
//!
//! A class is active if it or a class below it has a packet to send. An active class is in the row of its level if it
//! may send, among the borrowers of its parent if it may borrow, and in neither otherwise. Leaves are on level 0,
//! classes without a parent on the highest. Each priority has its own rows and borrowers.

use super::bucket::{Bucket, LONGEST_NS};
use super::ring::Ring;
use super::wakes::Wakes;
use crate::count::Count;
use crate::counter::Each;
use crate::framing::Frame;
use crate::sched::{Head, Heads, Pick};
use crate::units::{Span, Time};

/// Levels, and the longest path from a class without parent to a leaf.
pub(super) const LEVELS: usize = 8;
/// Priorities.
pub(super) const PRIOS: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Beyond its ceil.
    CantSend,
    /// Beyond its rate.
    MayBorrow,
    /// Within its rate.
    CanSend,
}

/// What a class is made of.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) parent: Option<usize>,
    pub(super) level: usize,
    pub(super) rate: Bucket,
    pub(super) ceil: Bucket,
    pub(super) prio: usize,
    pub(super) quantum: i64,
}

/// What `tc -s` counts of a class.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    /// Packets that it paid for at its own level, and those for which it borrowed.
    lended: u64,
    borrowed: u64,
    /// How often it came to its ceil.
    overlimits: u64,
}

#[derive(Clone, Debug)]
struct Class {
    plan: Plan,
    /// Its places among the children of its parent and among the classes of its level.
    among: u32,
    beside: u32,
    /// When its tokens were counted.
    counted: Time,
    mode: Mode,
    counts: Counts,
    /// Priorities, a bit each, at which it has something to send.
    active: u8,
    children: Vec<usize>,
    /// The children that borrow, by priority; of a leaf none.
    borrowers: Vec<Ring>,
    /// Bytes it may still send in its turn, by the level it borrows from.
    deficits: [i64; LEVELS],
    /// Of a leaf: its number among the children of the scheduler.
    child: usize,
}

#[derive(Clone, Debug)]
struct Level {
    classes: Vec<usize>,
    /// Classes that may send, by priority.
    rows: Vec<Ring>,
    /// Rows, a bit each, that are not empty.
    busy: u8,
    /// When the mode of a class, by its place among these, may change without a packet.
    wakes: Wakes,
    /// No mode of this level changes by itself before.
    next_event: Time,
}

impl Level {
    fn new(classes: Vec<usize>) -> Self {
        let n = classes.len();
        Self { classes, rows: vec![Ring::new(n); PRIOS], busy: 0, wakes: Wakes::new(n), next_event: Time::MAX }
    }

    fn insert(&mut self, prio: usize, place: u32) {
        self.rows[prio].insert(place);
        self.busy |= 1 << prio;
    }

    fn leave(&mut self, prio: usize, place: u32) {
        self.rows[prio].leave(place);
        if self.rows[prio].is_empty() {
            self.busy &= !(1 << prio);
        }
    }
}

/// All classes.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    classes: Vec<Class>,
    /// By their number among the children of the scheduler.
    leaves: Vec<usize>,
    levels: [Level; LEVELS],
    frame: Frame,
    /// The level that pays for the packet picked last.
    lender: usize,
    events: u64,
}

fn bits(mut mask: u8) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let first = mask.trailing_zeros() as usize;
        mask &= mask.wrapping_sub(1);
        (first < PRIOS).then_some(first)
    })
}

impl Tree {
    /// Of classes in the order of the file; `leaves` are those that hold packets.
    pub(super) fn new(plans: Vec<Plan>, leaves: Vec<usize>, frame: Frame) -> Self {
        let of_level = |level| (0..plans.len()).filter(|&i| plans[i].level == level).collect();
        let levels: [Level; LEVELS] = std::array::from_fn(|level| Level::new(of_level(level)));
        let mut children = vec![Vec::new(); plans.len()];
        let among: Vec<_> = plans
            .iter()
            .enumerate()
            .map(|(i, plan)| {
                plan.parent.map_or(0, |up| {
                    children[up].push(i);
                    children[up].len() as u32 - 1
                })
            })
            .collect();
        let mut beside = [0; LEVELS];
        let class = |((plan, among), children): ((Plan, u32), Vec<usize>)| {
            let next = &mut beside[plan.level];
            let borrowers = if children.is_empty() { 0 } else { PRIOS };
            Class {
                among,
                beside: std::mem::replace(next, *next + 1),
                counted: Time::ZERO,
                mode: Mode::CanSend,
                counts: Counts::default(),
                active: 0,
                borrowers: vec![Ring::new(children.len()); borrowers],
                children,
                deficits: Default::default(),
                child: 0,
                plan,
            }
        };
        let mut classes: Vec<_> = plans.into_iter().zip(among).zip(children).map(class).collect();
        leaves.iter().enumerate().for_each(|(child, &leaf)| classes[leaf].child = child);
        Self { classes, leaves, levels, frame, lender: 0, events: 0 }
    }

    /// A packet waits in a child.
    pub(super) fn queued(&mut self, child: usize) {
        let leaf = self.leaves[child];
        let class = &mut self.classes[leaf];
        if class.active == 0 {
            class.active = 1 << class.plan.prio;
            self.join(leaf);
        }
    }

    /// Nothing waits in a leaf any more.
    fn emptied(&mut self, leaf: usize) {
        if self.classes[leaf].active != 0 {
            self.part(leaf);
            self.classes[leaf].active = 0;
        }
    }

    /// A child lost a packet.
    pub(super) fn dropped(&mut self, child: usize, behind: Count) {
        if behind.packets == 0 {
            self.emptied(self.leaves[child]);
        }
    }

    /// Puts an active class where its mode wants it, and those above it that begin to lend by that.
    fn join(&mut self, mut at: usize) {
        let mut prios = self.classes[at].active;
        while let (Mode::MayBorrow, Some(up)) = (self.classes[at].mode, self.classes[at].plan.parent) {
            let (place, parent) = (self.classes[at].among, &mut self.classes[up]);
            for prio in bits(prios) {
                if !parent.borrowers[prio].is_empty() {
                    prios &= !(1 << prio);
                }
                parent.borrowers[prio].insert(place);
            }
            parent.active |= prios;
            at = up;
        }
        let Class { mode: Mode::CanSend, plan, beside, .. } = &self.classes[at] else { return };
        bits(prios).for_each(|prio| self.levels[plan.level].insert(prio, *beside));
    }

    /// The inverse of [`Tree::join`], while the mode is still the old one.
    fn part(&mut self, mut at: usize) {
        let mut prios = self.classes[at].active;
        while let (Mode::MayBorrow, Some(up)) = (self.classes[at].mode, self.classes[at].plan.parent) {
            let (place, parent) = (self.classes[at].among, &mut self.classes[up]);
            for prio in bits(prios) {
                parent.borrowers[prio].leave_for_a_while(place);
                if !parent.borrowers[prio].is_empty() {
                    prios &= !(1 << prio);
                }
            }
            parent.active &= !prios;
            at = up;
        }
        let Class { mode: Mode::CanSend, plan, beside, .. } = &self.classes[at] else { return };
        bits(prios).for_each(|prio| self.levels[plan.level].leave(prio, *beside));
    }

    /// How long the mode of a class lasts without a packet, `ns` after its tokens were counted.
    fn lasts(&self, at: usize, ns: u64) -> u64 {
        let Class { plan, mode, .. } = &self.classes[at];
        match mode {
            Mode::CanSend => 0,
            Mode::MayBorrow => plan.rate.owes_for(ns),
            Mode::CantSend => plan.ceil.owes_for(ns),
        }
    }

    /// Brings the mode of a class up to date, `ns` after its tokens were counted.
    fn change_mode(&mut self, at: usize, ns: u64) {
        let class = &mut self.classes[at];
        let mode = match () {
            () if class.plan.ceil.owes(ns) => Mode::CantSend,
            () if class.plan.rate.owes(ns) => Mode::MayBorrow,
            () => Mode::CanSend,
        };
        if mode != class.mode {
            class.counts.overlimits += u64::from(mode == Mode::CantSend);
            if class.active != 0 && class.mode != Mode::CantSend {
                self.part(at);
            }
            self.classes[at].mode = mode;
            if self.classes[at].active != 0 && mode != Mode::CantSend {
                self.join(at);
            }
        }
    }

    fn wake_after(&mut self, at: usize, now: Time, ns: u64) {
        let wakes = now + Span::from_ns(ns.max(1));
        self.events += 1;
        let Class { plan, beside, .. } = &self.classes[at];
        let level = &mut self.levels[plan.level];
        level.wakes.set(*beside, (wakes, self.events));
        level.next_event = level.next_event.min(wakes);
    }

    /// The mode of a class changes only with a packet.
    fn sleep(&mut self, at: usize) {
        let Class { plan, beside, .. } = &self.classes[at];
        self.levels[plan.level].wakes.clear(*beside);
    }

    /// Time since the tokens of a class were counted, as far as it is counted at once.
    fn elapsed(&self, at: usize, now: Time) -> u64 {
        now.since(self.classes[at].counted).ns().min(LONGEST_NS)
    }

    /// The modes of a level that change by themselves until `now`; when the next one does.
    fn events_of(&mut self, level: usize, now: Time) -> Time {
        loop {
            let Some(((at, _), place)) = self.levels[level].wakes.first() else { return Time::MAX };
            if at > now {
                return at;
            }
            self.levels[level].wakes.clear(place);
            let class = self.levels[level].classes[place as usize];
            let ns = self.elapsed(class, now);
            self.change_mode(class, ns);
            if self.classes[class].mode != Mode::CanSend {
                self.wake_after(class, now, self.lasts(class, ns));
            }
        }
    }

    /// Who sends next.
    pub(super) fn pick(&mut self, now: Time, heads: &Heads) -> Pick {
        if !heads.any_ready() {
            return Pick::Nothing;
        }
        let mut next = Time::MAX;
        for level in 0..LEVELS {
            if self.levels[level].next_event <= now {
                self.levels[level].next_event = self.events_of(level, now);
            }
            next = next.min(self.levels[level].next_event);
            for prio in bits(self.levels[level].busy) {
                if let Some(leaf) = self.first_ready(level, prio, heads) {
                    self.lender = level;
                    return Pick::Child(self.classes[leaf].child);
                }
            }
        }
        if next == Time::MAX { Pick::Nothing } else { Pick::Later(next) }
    }

    /// The leaf whose turn it is in a row, of those that could send.
    fn first_ready(&mut self, level: usize, prio: usize, heads: &Heads) -> Option<usize> {
        let mut first = None;
        loop {
            if self.levels[level].rows[prio].is_empty() {
                return None;
            }
            let leaf = self.turn(level, prio);
            match heads[self.classes[leaf].child] {
                Head::Bytes(_) => return Some(leaf),
                Head::Nothing => self.emptied(leaf),
                Head::Held if first == Some(leaf) => return None,
                Head::Held => {
                    first = first.or(Some(leaf));
                    self.pass(level, prio, leaf);
                }
            }
        }
    }

    /// The leaf whose turn it is in a row, which is not empty: each ring on the way down has its own turn, and one that has come round gives
    /// the turn to the next of the ring above.
    fn turn(&mut self, level: usize, prio: usize) -> usize {
        let mut lender = None;
        loop {
            let Some(place) = self.ring(lender, level, prio).turn() else {
                self.ring(lender, level, prio).rewind();
                if let Some(at) = lender {
                    lender = self.classes[at].plan.parent.filter(|_| self.classes[at].plan.level != level);
                    self.ring(lender, level, prio).advance();
                }
                continue;
            };
            let members = lender.map_or(&self.levels[level].classes, |at| &self.classes[at].children);
            let at = members[place as usize];
            if self.classes[at].children.is_empty() {
                return at;
            }
            lender = Some(at);
        }
    }

    /// The borrowers of a class, or the row of the level.
    fn ring(&mut self, lender: Option<usize>, level: usize, prio: usize) -> &mut Ring {
        match lender {
            Some(at) => &mut self.classes[at].borrowers[prio],
            None => &mut self.levels[level].rows[prio],
        }
    }

    /// The turn of a leaf is over.
    fn pass(&mut self, level: usize, prio: usize, leaf: usize) {
        let lender = self.classes[leaf].plan.parent.filter(|_| level > 0);
        self.ring(lender, level, prio).advance();
    }

    /// The packet of the child picked last has gone.
    pub(super) fn sent(&mut self, now: Time, child: usize, bytes: u32, behind: Count) {
        let (leaf, lender) = (self.leaves[child], self.lender);
        let class = &mut self.classes[leaf];
        class.deficits[lender] -= i64::from(bytes);
        if class.deficits[lender] < 0 {
            class.deficits[lender] += class.plan.quantum;
            self.pass(lender, self.classes[leaf].plan.prio, leaf);
        }
        if behind.packets == 0 {
            self.emptied(leaf);
        }
        self.charge(leaf, lender, now, bytes);
    }

    /// A leaf and all above it pay for a packet: each at its ceil, and at its rate from the level that lends.
    fn charge(&mut self, leaf: usize, lender: usize, now: Time, bytes: u32) {
        let (bytes, mut at) = (self.frame.bytes(bytes), Some(leaf));
        while let Some(class) = at {
            let (ns, old) = (self.elapsed(class, now), self.classes[class].mode);
            let Class { plan: Plan { rate, ceil, level, .. }, counts, .. } = &mut self.classes[class];
            if *level >= lender {
                counts.lended += u64::from(*level == lender);
                rate.spend(ns, bytes)
            } else {
                counts.borrowed += 1;
                rate.earn(ns)
            }
            ceil.spend(ns, bytes);
            self.classes[class].counted = now;
            self.change_mode(class, 0);
            let mode = self.classes[class].mode;
            if mode == Mode::CanSend {
                self.sleep(class);
            } else if mode != old {
                self.wake_after(class, now, self.lasts(class, 0));
            }
            at = self.classes[class].plan.parent;
        }
    }

    /// What `tc -s` shows of a class alone.
    pub(super) fn counters(&self, class: usize, each: &mut Each<'_>) {
        let Class { counts, plan, .. } = &self.classes[class];
        each("overlimits", counts.overlimits as f64);
        each("lended", counts.lended as f64);
        each("borrowed", counts.borrowed as f64);
        // Linux 6.12 shows it and never counts it.
        each("giants", 0.0);
        each("tokens", plan.rate.ticks());
        each("ctokens", plan.ceil.ticks());
    }

    /// How often any class came to its ceil.
    pub(super) fn overlimits(&self) -> u64 {
        self.classes.iter().map(|class| class.counts.overlimits).sum()
    }

    /// Takes rates, ceils, bursts, quanta and priorities of `new`, a tree of the same form.
    pub(super) fn retune(&mut self, now: Time, new: &Self) {
        self.frame = new.frame;
        for at in 0..self.classes.len() {
            let ns = self.elapsed(at, now);
            let class = &mut self.classes[at];
            for (bucket, new) in
                [(&mut class.plan.rate, &new.classes[at].plan.rate), (&mut class.plan.ceil, &new.classes[at].plan.ceil)]
            {
                bucket.earn(ns);
                bucket.retune(new);
            }
            (class.counted, class.plan.quantum) = (now, new.classes[at].plan.quantum);
            self.move_to(at, new.classes[at].plan.prio);
            self.change_mode(at, 0);
            self.sleep(at);
            if self.classes[at].mode != Mode::CanSend {
                self.wake_after(at, now, self.lasts(at, 0));
            }
        }
    }

    /// A leaf has another priority.
    fn move_to(&mut self, at: usize, prio: usize) {
        let active = self.classes[at].active;
        let changes = self.classes[at].plan.prio != prio && self.classes[at].children.is_empty();
        if changes && active != 0 {
            self.emptied(at);
        }
        self.classes[at].plan.prio = prio;
        if changes && active != 0 {
            self.classes[at].active = 1 << prio;
            self.join(at);
        }
    }
}
