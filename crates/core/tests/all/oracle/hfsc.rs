//! HFSC as its paper has it, with the upper limits of Linux: every curve is a list of all moments at which its class began to
//! have packets, a time is found by halving, and who sends by looking at all classes. Service in bits x 1e-9.

use std::collections::VecDeque;

/// Of a byte.
const BYTE: i128 = 8_000_000_000;

/// `m1` (bit/s) for `d` (ns), then `m2`.
#[derive(Clone, Copy, Debug)]
pub struct Curve {
    pub m1: u64,
    pub d: u64,
    pub m2: u64,
}

/// A class as a test states it.
#[derive(Clone, Debug, Default)]
pub struct Stated {
    pub parent: Option<usize>,
    pub rt: Option<Curve>,
    pub ls: Option<Curve>,
    pub ul: Option<Curve>,
}

impl Curve {
    pub fn at(self, ns: i128) -> i128 {
        let (d, ns) = (i128::from(self.d), ns.max(0));
        i128::from(self.m1) * ns.min(d) + i128::from(self.m2) * (ns - d).max(0)
    }
}

/// The least of a curve moved to each `(t0, w)`: ns, B. Like the kernel's it has begun once, at 0.
#[derive(Clone, Debug)]
pub struct Least {
    curve: Curve,
    starts: Vec<(i128, i128)>,
    /// Of the last start that lowered it: no time before counts.
    from: i128,
}

impl Least {
    pub fn new(curve: Curve) -> Self {
        Self { curve, starts: vec![(0, 0)], from: 0 }
    }

    pub fn at(&self, t: i128) -> i128 {
        self.starts.iter().map(|&(from, w)| w * BYTE + self.curve.at(t - from)).min().unwrap()
    }

    /// A backlog begins. Convex curves are kept whole: the one that is lower here.
    pub fn begin(&mut self, t: i128, w: i128) {
        let (convex, here) = (self.curve.m1 <= self.curve.m2, self.at(t));
        if convex && here >= w * BYTE {
            self.starts.clear();
        }
        if here > w * BYTE || convex && here == w * BYTE {
            self.from = t;
            self.starts.push((t, w));
        }
    }

    /// The first moment at which `w` bytes are reached; of a curve that stays at its start, the last.
    fn when(&self, w: i128) -> i128 {
        let stays = self.curve.m1 == 0 && self.starts.last().is_some_and(|start| start.1 == w);
        let reached = |t: i128| if stays { self.at(t) > w * BYTE } else { self.at(t) >= w * BYTE };
        let (mut before, mut after) = (self.from - 1, 1 << 62);
        while after - before > 1 {
            let middle = (before + after) / 2;
            if reached(middle) { after = middle } else { before = middle }
        }
        if stays { before } else { after }
    }

    /// As a line of the lasting rate, if it is convex.
    fn eligible(&self) -> Self {
        let Curve { m1, m2, .. } = self.curve;
        let curve = if m1 <= m2 { Curve { m1: m2, d: 0, m2 } } else { self.curve };
        Self { curve, ..self.clone() }
    }
}

#[derive(Clone, Debug)]
struct Class {
    stated: Stated,
    queue: VecDeque<u32>,
    deadline: Option<Least>,
    shared: Option<Least>,
    limit: Option<Least>,
    /// Bytes sent: by the real-time criterion, and by either.
    real_time: i128,
    total: i128,
    time: i128,
    added: i128,
    is_active: bool,
    /// The parent's backlog in which it last began.
    of_backlog: u64,
    /// When its eligible time, and its virtual time, were last set.
    waits_since: u64,
    shares_since: u64,
}

/// What a class, or the root, knows of its children.
#[derive(Clone, Copy, Debug, Default)]
struct Above {
    served: i128,
    idle_at: i128,
    backlogs: u64,
}

#[derive(Clone, Debug)]
pub struct Slow {
    classes: Vec<Class>,
    leaves: Vec<usize>,
    /// Of each class, and of the root at the end.
    above: Vec<Above>,
    clock: u64,
}

impl Slow {
    pub fn new(stated: &[Stated]) -> Self {
        let class = |it: &Stated| Class {
            stated: it.clone(),
            queue: VecDeque::new(),
            deadline: it.rt.map(Least::new),
            shared: it.ls.map(Least::new),
            limit: it.ul.map(Least::new),
            real_time: 0,
            total: 0,
            time: 0,
            added: 0,
            is_active: false,
            of_backlog: 0,
            waits_since: 0,
            shares_since: 0,
        };
        let leaves = (0..stated.len()).filter(|&i| stated.iter().all(|other| other.parent != Some(i))).collect();
        let above = vec![Above::default(); stated.len() + 1];
        Self { classes: stated.iter().map(class).collect(), leaves, above, clock: 0 }
    }

    fn up(&self, i: usize) -> usize {
        self.classes[i].stated.parent.unwrap_or(self.classes.len())
    }

    fn children(&self, up: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.classes.len()).filter(move |&i| self.up(i) == up && self.classes[i].is_active)
    }

    fn path(&self, leaf: usize) -> Vec<usize> {
        std::iter::successors(Some(leaf), |&i| self.classes[i].stated.parent).collect()
    }

    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    pub fn arrive(&mut self, now: u64, child: usize, size: u32) {
        let leaf = self.leaves[child];
        self.classes[leaf].queue.push_back(size);
        if self.classes[leaf].queue.len() > 1 {
            return;
        }
        let tick = self.tick();
        let class = &mut self.classes[leaf];
        if let Some(deadline) = &mut class.deadline {
            deadline.begin(now.into(), class.real_time);
            class.waits_since = tick;
        }
        if class.shared.is_some() {
            self.activate(leaf, now);
        }
    }

    /// A leaf, and those above it that were idle, join their siblings.
    fn activate(&mut self, leaf: usize, now: u64) {
        for i in self.path(leaf) {
            if self.classes[i].is_active {
                return;
            }
            let (up, tick) = (self.up(i), self.tick());
            let latest = self.children(up).map(|sibling| self.classes[sibling].time).max();
            let goes_on = self.classes[i].of_backlog == self.above[up].backlogs;
            // The parent's backlog that is, or that this one begins.
            self.classes[i].of_backlog = self.above[up].backlogs + u64::from(latest.is_none());
            let Above { served, idle_at, .. } = self.above[up];
            let mean = latest.map(|latest| if served == 0 { latest } else { (served + latest) / 2 });
            let class = &mut self.classes[i];
            class.time = match mean {
                Some(mean) if goes_on => mean.max(class.time),
                Some(mean) => mean,
                None => idle_at,
            };
            class.shared.as_mut().unwrap().begin(class.time, class.total);
            class.limit.iter_mut().for_each(|limit| limit.begin(now.into(), class.total));
            (class.added, class.is_active, class.shares_since) = (0, true, tick);
            self.above[i].backlogs += 1;
            if latest.is_none() {
                self.above[up].served = 0;
                if up == self.classes.len() {
                    self.above[up].backlogs += 1;
                }
            }
        }
    }

    /// Bytes of a leaf have gone, or it is empty.
    fn serve(&mut self, leaf: usize, size: u32) {
        let mut ends = self.classes[leaf].queue.is_empty();
        for i in self.path(leaf) {
            self.classes[i].total += i128::from(size);
            if !self.classes[i].is_active {
                continue;
            }
            let (up, tick) = (self.up(i), self.tick());
            ends = ends && self.children(i).next().is_none();
            let served = self.above[up].served;
            let class = &mut self.classes[i];
            let time = class.shared.as_ref().unwrap().when(class.total) + class.added;
            class.added += (served - time).max(0);
            (class.time, class.shares_since) = (time.max(served), tick);
            if ends {
                class.is_active = false;
                self.above[up].idle_at = self.above[up].idle_at.max(class.time);
            }
        }
    }

    fn fits(&self, i: usize) -> i128 {
        let own = self.classes[i].limit.as_ref().map_or(0, |limit| limit.when(self.classes[i].total));
        self.children(i).map(|child| self.fits(child)).min().unwrap_or(0).max(own)
    }

    fn eligible(&self, i: usize) -> Option<i128> {
        let class = &self.classes[i];
        let deadline = class.deadline.as_ref().filter(|_| !class.queue.is_empty())?;
        Some(deadline.eligible().when(class.real_time))
    }

    /// The leaf that sends, and whether by the real-time criterion.
    fn find(&self, now: u64) -> Option<(usize, bool)> {
        let urgent = |&&i: &&usize| self.eligible(i).is_some_and(|at| at <= i128::from(now));
        let key = |&&i: &&usize| {
            let class = &self.classes[i];
            let end = class.real_time + i128::from(class.queue[0]);
            (class.deadline.as_ref().unwrap().when(end), self.eligible(i), class.waits_since)
        };
        if let Some(&leaf) = self.leaves.iter().filter(urgent).min_by_key(key) {
            return Some((leaf, true));
        }
        let mut at = self.classes.len();
        while !self.leaves.contains(&at) {
            let fit = self.children(at).filter(|&i| self.fits(i) <= i128::from(now));
            at = fit.min_by_key(|&i| (self.classes[i].time, self.classes[i].shares_since))?;
        }
        Some((at, false))
    }

    pub fn look(&self, now: u64) -> Option<usize> {
        let (leaf, _) = self.find(now)?;
        self.leaves.iter().position(|&i| i == leaf)
    }

    pub fn lose(&mut self, child: usize) {
        let leaf = self.leaves[child];
        self.classes[leaf].queue.pop_front();
        if self.classes[leaf].queue.is_empty() && self.classes[leaf].is_active {
            self.serve(leaf, 0);
        }
    }

    pub fn send(&mut self, now: u64) -> Option<(usize, u32)> {
        let (leaf, real_time) = self.find(now)?;
        let size = self.classes[leaf].queue.pop_front().unwrap();
        if real_time {
            self.classes[leaf].real_time += i128::from(size);
            self.classes[leaf].waits_since = self.tick();
        } else {
            for i in self.path(leaf) {
                let up = self.up(i);
                self.above[up].served = self.above[up].served.max(self.classes[i].time);
            }
        }
        self.serve(leaf, size);
        Some((self.leaves.iter().position(|&i| i == leaf)?, size))
    }

    /// When something may change for those that wait.
    pub fn wakes(&self, now: u64) -> Option<u64> {
        let fit = (0..self.classes.len()).filter(|&i| self.classes[i].is_active).map(|i| self.fits(i));
        let eligible = self.leaves.iter().filter_map(|&i| self.eligible(i));
        fit.chain(eligible).filter(|&at| at > i128::from(now)).min().map(|at| at as u64)
    }
}
