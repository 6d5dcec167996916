//! HTB in its plainest form: who may send, who borrows and whose turn it could be are found by looking at all classes again,
//! each time. Written from tc-htb(8), the user guide and what Linux 6.12 was seen to do; nothing is linked, nothing waits in
//! an event queue.

use crate::common::frames::counted;
use perhop_core::framing::Framing;
use std::collections::{BTreeMap, VecDeque};

/// A class as a test states it.
#[derive(Clone, Debug)]
pub(crate) struct Stated {
    pub(crate) parent: Option<usize>,
    /// bit/s
    pub(crate) rate: u64,
    pub(crate) ceil: u64,
    pub(crate) prio: usize,
    pub(crate) quantum: i64,
    /// B
    pub(crate) burst: u64,
    pub(crate) cburst: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Can,
    May,
    Cant,
}

/// A token bucket that may be in debt; tokens in bits x ns, or in ns as Linux counts.
#[derive(Clone, Debug)]
struct Tokens {
    rate: u64,
    depth: i128,
    level: i128,
    linux: bool,
}

impl Tokens {
    fn full(rate: u64, bytes: u64, linux: bool) -> Self {
        // tc: microseconds (in floating point, cut off), then ticks of 64 ns, of which 15.625 are one.
        let microseconds = 1_000_000.0 * (bytes as f64 / (rate / 8) as f64);
        let ticks = (microseconds.trunc() * 15.625) as u64;
        let depth = if linux { i128::from(ticks) * 64 } else { i128::from(bytes) * 8_000_000_000 };
        Self { rate, depth, level: depth, linux }
    }

    fn per_ns(&self) -> i128 {
        if self.linux { 1 } else { self.rate.into() }
    }

    fn price(&self, bytes: u32) -> i128 {
        if !self.linux {
            return i128::from(bytes) * 8_000_000_000;
        }
        let mut shift = 0;
        while (1_000_000_000u128 << shift) / u128::from(self.rate / 8) < 1 << 31 {
            shift += 1;
        }
        let mult = (1_000_000_000u128 << shift) / u128::from(self.rate / 8);
        ((u128::from(bytes) * mult) >> shift) as i128
    }

    fn after(&self, ns: u64) -> i128 {
        self.level + self.per_ns() * i128::from(ns)
    }

    fn pay(&mut self, ns: u64, bytes: u32) {
        let minute = 60_000_000_000 * self.per_ns();
        self.level = (self.after(ns).min(self.depth) - self.price(bytes)).max(1 - minute);
    }

    fn free_after(&self, ns: u64) -> u64 {
        let (owed, per_ns) = (-self.after(ns), self.per_ns());
        if owed <= 0 { 0 } else { ((owed + per_ns - 1) / per_ns) as u64 }
    }
}

#[derive(Clone, Debug)]
struct Class {
    stated: Stated,
    rate: Tokens,
    ceil: Tokens,
    at: u64,
    mode: Mode,
    deficits: BTreeMap<usize, i64>,
    queue: VecDeque<u32>,
}

/// Those of whom one has its turn: the classes of a level, or the children of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Circle {
    Level(usize),
    Below(usize),
}

#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    next: Option<usize>,
    lost: Option<usize>,
}

/// All classes, and whose turn it is in each circle and priority.
#[derive(Clone, Debug)]
pub(crate) struct Plain {
    classes: Vec<Class>,
    leaves: Vec<usize>,
    turns: BTreeMap<(Circle, usize), Turn>,
    /// Which bytes the rates count; quanta count packets as they are.
    framing: Framing,
}

impl Plain {
    /// With rates that count so.
    pub(crate) fn counting(self, framing: Framing) -> Self {
        Self { framing, ..self }
    }

    pub(crate) fn new(stated: &[Stated], linux: bool) -> Self {
        let class = |it: &Stated| Class {
            rate: Tokens::full(it.rate, it.burst, linux),
            ceil: Tokens::full(it.ceil, it.cburst, linux),
            stated: it.clone(),
            at: 0,
            mode: Mode::Can,
            deficits: BTreeMap::new(),
            queue: VecDeque::new(),
        };
        let leaves = (0..stated.len()).filter(|&i| stated.iter().all(|other| other.parent != Some(i))).collect();
        Self {
            classes: stated.iter().map(class).collect(),
            leaves,
            turns: BTreeMap::new(),
            framing: Framing::default(),
        }
    }

    fn is_leaf(&self, i: usize) -> bool {
        self.leaves.contains(&i)
    }

    fn level(&self, i: usize) -> usize {
        let above = std::iter::successors(self.classes[i].stated.parent, |&up| self.classes[up].stated.parent);
        if self.is_leaf(i) { 0 } else { 7 - above.count() }
    }

    /// Whether a packet of this priority would come by this class.
    fn has(&self, i: usize, prio: usize) -> bool {
        if self.is_leaf(i) {
            self.classes[i].stated.prio == prio && !self.classes[i].queue.is_empty()
        } else {
            !self.circle(Circle::Below(i), prio).is_empty()
        }
    }

    /// Who takes turns, in the order of the file.
    fn circle(&self, circle: Circle, prio: usize) -> Vec<usize> {
        let belongs = |&i: &usize| match circle {
            Circle::Level(level) => self.level(i) == level && self.classes[i].mode == Mode::Can,
            Circle::Below(up) => self.classes[i].stated.parent == Some(up) && self.classes[i].mode == Mode::May,
        };
        (0..self.classes.len()).filter(belongs).filter(|&i| self.has(i, prio)).collect()
    }

    /// Something changes; whoever loses its place in a circle while it is its turn hands it on.
    fn change<T>(&mut self, what: impl FnOnce(&mut Self) -> T) -> T {
        let out = what(self);
        let turns: Vec<_> = self.turns.keys().copied().collect();
        for (circle, prio) in turns {
            let (members, turn) = (self.circle(circle, prio), self.turns.entry((circle, prio)).or_default());
            let Some(next) = turn.next.filter(|next| !members.contains(next)) else { continue };
            match circle {
                Circle::Level(_) => turn.next = members.into_iter().find(|&i| i > next),
                Circle::Below(_) => *turn = Turn { next: None, lost: Some(next) },
            }
        }
        out
    }

    fn ns(&self, i: usize, now: u64) -> u64 {
        (now - self.classes[i].at).min(60_000_000_000)
    }

    fn mode(&self, i: usize, now: u64) -> Mode {
        let (class, ns) = (&self.classes[i], self.ns(i, now));
        match (class.ceil.after(ns) < 0, class.rate.after(ns) < 0) {
            (true, _) => Mode::Cant,
            (false, true) => Mode::May,
            (false, false) => Mode::Can,
        }
    }

    fn note_mode(&mut self, i: usize, now: u64) {
        let mode = self.mode(i, now);
        self.change(|it| it.classes[i].mode = mode);
    }

    pub(crate) fn arrive(&mut self, child: usize, size: u32) {
        let leaf = self.leaves[child];
        self.change(|it| it.classes[leaf].queue.push_back(size));
    }

    /// The leaf that sends, and the level that lends.
    fn find(&mut self, now: u64) -> Option<(usize, usize)> {
        for level in 0..8 {
            let of_level: Vec<_> = (0..self.classes.len()).filter(|&i| self.level(i) == level).collect();
            of_level.into_iter().for_each(|i| self.note_mode(i, now));
            for prio in 0..8 {
                if !self.circle(Circle::Level(level), prio).is_empty() {
                    return Some((self.walk(level, prio), level));
                }
            }
        }
        None
    }

    /// From circle to circle downwards; one that has come round sends us up, to the next there.
    fn walk(&mut self, level: usize, prio: usize) -> usize {
        let mut path = vec![Circle::Level(level)];
        loop {
            let circle = path[path.len() - 1];
            let members = self.circle(circle, prio);
            let turn = self.turns.entry((circle, prio)).or_default();
            let from = turn.lost.take().filter(|_| turn.next.is_none());
            turn.next = turn.next.or_else(|| members.iter().copied().find(|&i| from.is_some_and(|from| i >= from)));
            let Some(next) = turn.next else {
                turn.next = members.first().copied();
                if path.len() > 1 {
                    path.pop();
                    self.hand_on(path[path.len() - 1], prio);
                }
                continue;
            };
            if self.is_leaf(next) {
                return next;
            }
            path.push(Circle::Below(next));
        }
    }

    fn hand_on(&mut self, circle: Circle, prio: usize) {
        let members = self.circle(circle, prio);
        let turn = self.turns.entry((circle, prio)).or_default();
        turn.next = turn.next.and_then(|next| members.into_iter().find(|&i| i > next));
    }

    /// Which child sends, by its number.
    pub(crate) fn look(&mut self, now: u64) -> Option<usize> {
        let (leaf, _) = self.find(now)?;
        self.leaves.iter().position(|&i| i == leaf)
    }

    /// The packet at the head of a child is dropped.
    pub(crate) fn lose(&mut self, child: usize) {
        let leaf = self.leaves[child];
        self.change(|it| it.classes[leaf].queue.pop_front());
    }

    /// What is sent: the child and its packet.
    pub(crate) fn send(&mut self, now: u64) -> Option<(usize, u32)> {
        let (leaf, level) = self.find(now)?;
        let (size, prio) = (self.classes[leaf].queue[0], self.classes[leaf].stated.prio);
        let (quantum, deficit) =
            (self.classes[leaf].stated.quantum, self.classes[leaf].deficits.entry(level).or_default());
        *deficit -= i64::from(size);
        if *deficit < 0 {
            *deficit += quantum;
            let up = self.classes[leaf].stated.parent.filter(|_| level > 0);
            self.hand_on(up.map_or(Circle::Level(0), Circle::Below), prio);
        }
        self.change(|it| it.classes[leaf].queue.pop_front());
        let counted = counted(self.framing, size);
        let mut payer = Some(leaf);
        while let Some(i) = payer {
            let (ns, own) = (self.ns(i, now), self.level(i) >= level);
            let class = &mut self.classes[i];
            if own {
                class.rate.pay(ns, counted);
            } else {
                class.rate.level = class.rate.after(ns);
            }
            class.ceil.pay(ns, counted);
            class.at = now;
            payer = class.stated.parent;
            self.note_mode(i, now);
        }
        Some((self.leaves.iter().position(|&i| i == leaf)?, size))
    }

    /// When something may change for those who wait.
    pub(crate) fn wakes(&self, now: u64) -> Option<u64> {
        let wait = |i: usize| {
            let (class, ns) = (&self.classes[i], self.ns(i, now));
            [class.ceil.free_after(ns), class.rate.free_after(ns)].into_iter().filter(|&ns| ns > 0).min()
        };
        (0..self.classes.len()).filter_map(wait).min().map(|ns| now + ns)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.classes.iter().all(|class| class.queue.is_empty())
    }
}
