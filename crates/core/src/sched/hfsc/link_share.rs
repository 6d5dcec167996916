//! The link-sharing criterion: from the top down, of the children with packets the one with the least virtual time, unless its
//! fit time has not come.
//!
//! A class that begins to have packets takes the mean of the virtual times that were served last and that are largest among
//! its siblings, so it neither catches up on idle time nor pays for it. Within one backlog of its parent it never goes back.

use super::heap::Heap;
use super::moved::Moved;
use crate::sched::Head;
use std::cmp::Reverse;

/// The root, above the classes of the file.
const TOP: usize = 0;

/// What a class is made of.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// Its parent's place in the list; `None` at the top.
    pub(super) parent: Option<usize>,
    /// Whether it is a leaf: leaves are the children of the scheduler, in their order.
    pub(super) is_leaf: bool,
    /// Its virtual curve; `None` for a leaf that does not share.
    pub(super) share: Option<Moved>,
    /// Its fit curve.
    pub(super) limit: Option<Moved>,
}

#[derive(Clone, Debug)]
struct Class {
    up: usize,
    /// Its place among its siblings.
    place: usize,
    child: Option<usize>,
    share: Option<Moved>,
    limit: Option<Moved>,
    /// Bytes sent, by either criterion.
    total: u64,
    virtual_time: u64,
    /// What was added to its virtual time since it was last idle, for the time that its limit held it back.
    added: u64,
    /// When it is fit: by its own limit, and by those of its children as well.
    fits_itself: u64,
    fits: u64,
    /// The backlog of its parent in which it last began.
    of_backlog: u64,
    /// How often its backlog began, and how many children have packets (of a leaf: whether it has).
    backlogs: u64,
    active: usize,
    below: Below,
}

/// The children of a class.
#[derive(Clone, Debug)]
struct Below {
    classes: Vec<usize>,
    /// By virtual time, at equal ones in turn.
    by_time: Heap<(u64, u64)>,
    latest: Heap<Reverse<u64>>,
    by_fit: Heap<u64>,
    /// The virtual time of the child served last, 0 if none was since the class was last idle.
    served: u64,
    /// The largest virtual time of a child that became idle.
    idle_at: u64,
}

impl Below {
    fn new(classes: Vec<usize>) -> Self {
        let n = classes.len();
        let (by_time, latest, by_fit) = (Heap::new(n), Heap::new(n), Heap::new(n));
        Self { classes, by_time, latest, by_fit, served: 0, idle_at: 0 }
    }

    fn set_time(&mut self, place: usize, time: u64, turn: u64) {
        self.by_time.set(place, (time, turn));
        self.latest.set(place, Reverse(time));
    }

    fn remove(&mut self, place: usize) {
        self.by_time.remove(place);
        self.latest.remove(place);
        self.by_fit.remove(place);
    }
}

/// All classes and their virtual times.
#[derive(Clone, Debug)]
pub(super) struct LinkShare {
    /// The root, then those of the file.
    classes: Vec<Class>,
    /// By the number among the children of the scheduler.
    leaves: Vec<usize>,
    /// Whether classes at the top, too, never go back within a backlog; in Linux they do.
    top_has_backlogs: bool,
    turns: u64,
}

impl LinkShare {
    pub(super) fn new(plans: Vec<Plan>, top_has_backlogs: bool) -> Self {
        let mut below = vec![Vec::new(); plans.len() + 1];
        let mut leaves = Vec::new();
        let top = Plan { parent: None, is_leaf: false, share: None, limit: None };
        let mut classes: Vec<Class> = Vec::with_capacity(plans.len() + 1);
        for (at, plan) in std::iter::once(top).chain(plans).enumerate() {
            let up = plan.parent.map_or(TOP, |parent| parent + 1);
            let place = below[up].len();
            if at != TOP {
                below[up].push(at);
            }
            let child = plan.is_leaf.then_some(leaves.len());
            leaves.extend(child.map(|_| at));
            classes.push(Class::new(up, place, child, plan));
        }
        classes.iter_mut().zip(below).for_each(|(class, classes)| class.below = Below::new(classes));
        Self { classes, leaves, top_has_backlogs, turns: 0 }
    }

    fn turn(&mut self) -> u64 {
        self.turns += 1;
        self.turns
    }

    /// Packets begin to wait in a child.
    pub(super) fn begins(&mut self, child: usize, now: u64) {
        let mut at = self.leaves[child];
        if self.classes[at].share.is_none() {
            return;
        }
        let mut begins = true;
        while at != TOP {
            if begins {
                self.classes[at].active += 1;
                begins = self.classes[at].active == 1;
            }
            if begins {
                self.joins(at, now);
            }
            self.refits(at);
            at = self.classes[at].up;
        }
        if begins && self.top_has_backlogs {
            self.classes[TOP].active += 1;
            self.classes[TOP].backlogs += u64::from(self.classes[TOP].active == 1);
        }
    }

    /// A class that was idle joins its siblings.
    fn joins(&mut self, at: usize, now: u64) {
        let turn = self.turn();
        let up = self.classes[at].up;
        let (latest, served) = (self.classes[up].below.latest.first(), self.classes[up].below.served);
        let backlog = self.classes[up].backlogs;
        let goes_on = self.classes[at].of_backlog == backlog;
        self.classes[at].of_backlog = backlog + u64::from(self.classes[up].active == 0);
        let old = self.classes[at].virtual_time;
        let time = match latest {
            Some((Reverse(latest), _)) => {
                let mean = if served == 0 { latest } else { (served + latest) / 2 };
                if goes_on { mean.max(old) } else { mean }
            }
            None => {
                self.classes[up].below.served = 0;
                self.classes[up].below.idle_at
            }
        };
        let class = &mut self.classes[at];
        class.begin(time, now);
        let place = class.place;
        let below = &mut self.classes[up].below;
        below.set_time(place, time, turn);
        below.by_fit.set(place, 0);
    }

    /// When a class is fit, of its own limit and the first of its children.
    fn refits(&mut self, at: usize) {
        let class = &mut self.classes[at];
        let fits = class.below.by_fit.first().map_or(0, |(fits, _)| fits).max(class.fits_itself);
        if fits != class.fits {
            class.fits = fits;
            let (up, place) = (class.up, class.place);
            self.classes[up].below.by_fit.set(place, fits);
        }
    }

    /// A packet of a child has gone, chosen by this criterion or the other; `ends`: nothing waits behind it.
    pub(super) fn sent(&mut self, child: usize, bytes: u32, ends: bool, by_it: bool) {
        if by_it {
            self.note(child);
        }
        self.serves(child, bytes, ends);
    }

    /// Those on the way down to a child that was chosen are the ones served last.
    fn note(&mut self, child: usize) {
        let mut at = self.leaves[child];
        while at != TOP {
            let Class { up, virtual_time, .. } = self.classes[at];
            let served = &mut self.classes[up].below.served;
            *served = virtual_time.max(*served);
            at = up;
        }
    }

    /// Nothing waits in a child any more.
    pub(super) fn ends(&mut self, child: usize) {
        if self.classes[self.leaves[child]].active > 0 {
            self.serves(child, 0, true);
        }
    }

    fn serves(&mut self, child: usize, bytes: u32, ends: bool) {
        let mut at = self.leaves[child];
        let mut ends = ends && self.classes[at].active > 0;
        while at != TOP {
            self.classes[at].total += u64::from(bytes);
            if self.classes[at].active > 0 {
                if ends {
                    self.classes[at].active -= 1;
                    ends = self.classes[at].active == 0;
                }
                self.advances(at, ends);
            }
            at = self.classes[at].up;
        }
        if ends && self.top_has_backlogs {
            self.classes[TOP].active -= 1;
        }
    }

    /// A class takes new curves at `now`, those that are given.
    pub(super) fn retune(&mut self, now: u64, class: usize, share: Option<Moved>, limit: Option<Moved>) {
        let it = &mut self.classes[class + 1];
        if let Some(share) = share {
            it.share.insert(share).start(it.virtual_time, it.total);
        }
        if let Some(limit) = limit {
            it.limit.insert(limit).start(now, it.total);
        }
        if let Some(child) = it.child {
            self.serves(child, 0, false);
        }
    }

    /// Virtual and fit time of a class that has been served; `ends`: it is idle now.
    fn advances(&mut self, at: usize, ends: bool) {
        let turn = self.turn();
        let up = self.classes[at].up;
        let served = self.classes[up].below.served;
        let class = &mut self.classes[at];
        let (place, time) = (class.place, class.advance(served));
        let below = &mut self.classes[up].below;
        if ends {
            below.idle_at = below.idle_at.max(time);
            below.remove(place);
            return;
        }
        below.set_time(place, time, turn);
        self.classes[at].fit_itself();
        self.refits(at);
    }

    /// The child that sends now.
    pub(super) fn pick(&self, now: u64, heads: &[Head]) -> Option<usize> {
        self.least(TOP, now, heads)
    }

    fn least(&self, at: usize, now: u64, heads: &[Head]) -> Option<usize> {
        let Class { fits, child, below, .. } = &self.classes[at];
        match child {
            _ if *fits > now => None,
            Some(child) => heads[*child].is_ready().then_some(*child),
            None => below.by_time.search(|place| self.least(below.classes[place], now, heads)),
        }
    }

    /// When the next class becomes fit, after [`LinkShare::pick`] found none.
    pub(super) fn opens(&self, now: u64) -> Option<u64> {
        self.opens_below(TOP, now)
    }

    fn opens_below(&self, at: usize, now: u64) -> Option<u64> {
        let below = &self.classes[at].below;
        match below.by_fit.first()? {
            (fits, _) if fits > now => Some(fits),
            _ => below.classes.iter().filter_map(|&class| self.opens_of(class, now)).min(),
        }
    }

    fn opens_of(&self, at: usize, now: u64) -> Option<u64> {
        let class = &self.classes[at];
        match class.fits {
            _ if class.active == 0 => None,
            fits if fits > now => Some(fits),
            _ => self.opens_below(at, now),
        }
    }
}

impl Class {
    fn new(up: usize, place: usize, child: Option<usize>, plan: Plan) -> Self {
        let Plan { share, limit, .. } = plan;
        Self {
            up,
            place,
            child,
            share,
            limit,
            total: 0,
            virtual_time: 0,
            added: 0,
            fits_itself: 0,
            fits: 0,
            of_backlog: 0,
            backlogs: 0,
            active: 0,
            below: Below::new(Vec::new()),
        }
    }

    /// A backlog begins at a virtual time.
    fn begin(&mut self, time: u64, now: u64) {
        (self.virtual_time, self.added, self.fits) = (time, 0, 0);
        self.backlogs += 1;
        self.share.iter_mut().for_each(|curve| curve.lower(time, self.total));
        self.limit.iter_mut().for_each(|curve| curve.lower(now, self.total));
        self.fit_itself();
    }

    fn fit_itself(&mut self) {
        self.fits_itself = self.limit.map_or(0, |curve| curve.reaches(self.total));
    }

    /// The virtual time of what has been sent, at least `served`: what it lacked while its limit held it back is forgotten.
    fn advance(&mut self, served: u64) -> u64 {
        let time = self.share.map_or(0, |curve| curve.reaches(self.total)) + self.added;
        self.added += served.saturating_sub(time);
        self.virtual_time = time.max(served);
        self.virtual_time
    }
}
