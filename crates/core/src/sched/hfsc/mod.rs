//! Hierarchical fair service curves: a leaf may be guaranteed a rate and, apart from it, a delay; what is left is shared by
//! a tree of classes.
//!
//! Source: Stoica, Zhang, Ng, "A hierarchical fair service curve algorithm for link-sharing, real-time and priority
//! services", IEEE/ACM Transactions on Networking 8(2), 2000, sections III to V and the theorems 1 and 2; upper limits,
//! and all choices that the paper leaves open, after the behaviour of `sch_hfsc` in Linux 6.12, tc-hfsc(7), tc-hfsc(8).
//!
//! ```text
//! a curve S(t) is what a class is to get within t: m1 t up to d, from there on m2 more
//! it is moved to where a backlog begins, at (t0, w), and the least of this and of the one before counts:
//!     X(t) = min(X(t), w + S(t - t0));    X^-1(w) is when it reaches w
//! real time, leaves with `rt`; w counts the bytes sent by this criterion:
//!     deadline  D^-1(w + length),  X of `rt` by the clock
//!     eligible  D^-1(w); where m1 < m2 by a line of m2
//! link sharing, classes with `ls`; w counts all bytes sent:
//!     virtual time  V^-1(w),  X of `ls` by virtual time
//!     fit time      F^-1(w),  X of `ul` by the clock; at least the earliest of its children
//! to send:  of the leaves whose eligible time has come the one with the least deadline;
//!           else, from the top down, the child with the least virtual time whose fit time has come
//! a class that was idle begins at the mean of the virtual times that were served last and that are largest among its siblings
//! ```
//!
//! So `rt` is a guarantee, `ls` a ratio, `ul` a maximum. `sc` of tc is not a key: it is `rt` and `ls` of the same curve.
//!
//! | symbol | field                 | unit  | default |
//! |--------|-----------------------|-------|---------|
//! |        | `classes[].name`      |       | -       |
//! |        | `classes[].parent`    |       | -       |
//! |        | `classes[].for`       |       | -       |
//! |        | `classes[].match`     |       | -       |
//! |        | `classes[].per`       |       | -       |
//! |        | `classes[].slots`     |       | -       |
//! |        | `classes[].plans`     |       | -       |
//! | S      | `classes[].rt`        | bit/s | -       |
//! | m1     | `classes[].rt.m1`     | bit/s | -       |
//! | d      | `classes[].rt.d`      | s     | -       |
//! | m2     | `classes[].rt.m2`     | bit/s | -       |
//! |        | `classes[].rt.umax`   | B     | -       |
//! |        | `classes[].rt.dmax`   | s     | -       |
//! |        | `classes[].rt.rate`   | bit/s | -       |
//! | S      | `classes[].ls`        | bit/s | -       |
//! | m1     | `classes[].ls.m1`     | bit/s | -       |
//! | d      | `classes[].ls.d`      | s     | -       |
//! | m2     | `classes[].ls.m2`     | bit/s | -       |
//! |        | `classes[].ls.umax`   | B     | -       |
//! |        | `classes[].ls.dmax`   | s     | -       |
//! |        | `classes[].ls.rate`   | bit/s | -       |
//! | S      | `classes[].ul`        | bit/s | -       |
//! | m1     | `classes[].ul.m1`     | bit/s | -       |
//! | d      | `classes[].ul.d`      | s     | -       |
//! | m2     | `classes[].ul.m2`     | bit/s | -       |
//! |        | `classes[].ul.umax`   | B     | -       |
//! |        | `classes[].ul.dmax`   | s     | -       |
//! |        | `classes[].ul.rate`   | bit/s | -       |
//! |        | `classes[].queue`     |       | -       |
//! |        | `unclassified`        |       | -       |
//! |        | `arithmetic`          |       | exact   |
//!
//! A curve is a rate, `ls = "2Mbit/s"`, or a table in one of tc's two forms. `{ m1, d, m2 }` has the rate `m1` for the time
//! `d`, and `m2` for good. `{ umax, dmax, rate }` has `umax` bytes within `dmax`, and `rate` for good: at first `umax` /
//! `dmax` if that is above `rate`, else nothing for `dmax - umax / rate`.
//!
//! `classes` is a flat list in which each class names its parent, as in HTB. A leaf needs `rt` or `ls`, a parent `ls`. A
//! packet belongs to the first leaf whose `for` has its colour or code point, or whose `match` agrees with it, else to the
//! last leaf, the only one that may omit both. With `unclassified = "drop"` no leaf omits both, and packets that match none
//! are dropped, as in Linux without a `default` class.
//!
//! # What its numbers do
//!
//! **Why `rt` is not hierarchical.** The real-time criterion looks at leaves alone, at the clock and at nothing above them.
//! So it can promise times, but a parent's `ls` or `ul` does not limit it: what is sent counts there, and the siblings get
//! less. Guarantees above what a parent shares have a warning (W354), above an `ul` or the link an error (E288).
//!
//! **Why `ul` goes with `ls`.** `ul` says when the link-sharing criterion may serve a class. Without `ls` it never does, so
//! there is nothing to limit (W359). A class with `rt` alone never gets more than its `rt`, even on an idle link.
//!
//! **What `ls` guarantees.** Nothing: siblings with packets share what is left after `rt` in the ratio of their curves. `ls`
//! of 1, 2 and 3 Mbit/s or of 100, 200 and 300 Mbit/s are the same.
//!
//! **What `m1` and `d` do to delay.** A packet of L bytes that finds its class idle is due after L / `m1` (if that is at most
//! `d`), whatever the lasting rate `m2` is; it has left one largest packet of the link later at the latest. With `m1` below
//! `m2` the delay is longer, up to `d`, for the benefit of others. `rt` of one rate has a delay of L / rate, as a fair
//! queue. To halve the delay of a class, double `m1`, not `m2`.
//!
//! The longest delay of a packet of 500 B each 20 ms, beside five classes of 1500 B that always have packets and `rt` and `ls`
//! of 1 Mbit/s each, on a link of 10 Mbit/s (a test runs it; a packet of 1500 B takes 1.2 ms there):
//!
//! | the class has | due after | longest delay |
//! |---|---|---|
//! | `ls = "500kbit/s"` alone | never | 10.8 ms |
//! | `rt = "250kbit/s"` | 16 ms | 6.4 ms |
//! | `rt = "1Mbit/s"` | 4 ms | 1.6 ms |
//! | `rt = { m1 = "1Mbit/s", d = "10ms", m2 = "250kbit/s" }` | 4 ms | 1.6 ms |
//! | `rt = { m1 = "4Mbit/s", d = "10ms", m2 = "250kbit/s" }` | 1 ms | 1.6 ms |
//! | `rt = { m1 = "0bit/s", d = "10ms", m2 = "1Mbit/s" }` | 14 ms | 6.4 ms |
//!
//! A deadline earlier than all others means: next, once the packet that is being sent has gone. More than that no curve
//! gives. Beside classes without `rt` any `rt` goes first.
//!
//! `arithmetic = "linux"` counts time in ticks of 64 ns, service in bytes, and slopes in fixed point, rounded as the kernel
//! does: a rate by up to one part in 2^24 / (bytes a tick), a moment by a tick. Curves are what tc hands over: whole bytes/s
//! and whole microseconds, both rounded down, `umax` / `dmax` up. Classes at the top may go back in virtual time when they
//! come back within a backlog: the kernel's root counts none. Once a packet was offered to a shaper above, it leaves next.
//!
//! Deviations: upper limits are not in the paper. In place of the least virtual time of the siblings, the mean has the one
//! served last: a class that its limit holds back does not count. Of two convex curves the one that is lower where a backlog
//! begins is kept as a whole. Virtual times, deadlines and fit times are rounded up to a nanosecond, and not added up. A
//! queue that judges or chooses at its head (CoDel, FQ-CoDel) is looked at when its leaf's turn may have come; Linux takes
//! the first packet of a leaf with `rt` out as soon as the one before it has gone.
//!
//! Decision: docs/decisions/112-hfsc-has-one-law-and-two-clocks.md

mod advice;
mod curve;
mod exact;
mod form;
mod heap;
mod link_share;
mod linux;
mod moved;
mod promises;
mod real_time;

pub use curve::{Pieces, Stated};

use super::form::{Form, Listed};
use super::{
    Classes, Heads, HostKey, Outline, Pick, Scheduler, TemplateKeys, Visit, members, same_arithmetic, same_members,
};
use crate::Scope;
use crate::aqm::members::{Filter, Members};
use crate::arithmetic::Arithmetic;
use crate::count::Count;
use crate::needs::Needs;
use crate::packet::Packet;
use crate::params::{Choice, ParamError, Params as Declared};
use crate::port::turn::Turn;
use crate::rng::Rng;
use crate::units::{BitRate, Bytes, Span, Time};
use crate::verdict::{Reason, Verdict};
use form::{Curves, Gives as _};
use link_share::{LinkShare, Plan};
use moved::{Clock, Moved};
use real_time::RealTime;

/// What the child is called whose packets no class names.
const UNCLASSIFIED: &str = "unclassified";

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// The classes: leaves take packets, the first that matches, else the last; the others are their parents.
    pub classes: Classes<Class>,
    /// How curves are counted.
    #[param(default = "exact")]
    pub arithmetic: Arithmetic,
    /// What happens to packets that no `for` names; default: `last`.
    pub unclassified: Option<Unclassified>,
}

/// What happens to packets that no class names.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unclassified {
    /// They go to the last leaf.
    #[default]
    Last,
    /// They are dropped, as in Linux without a `default` class.
    Drop,
}

/// One class of the tree.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Class {
    /// Name of the class, to which its children and messages refer.
    pub name: Option<String>,
    /// Name of the class whose bandwidth it shares.
    pub parent: Option<String>,
    /// Which packets it takes; for leaves only.
    #[param(flatten)]
    pub filter: Filter,
    /// Or the keys of a template.
    #[param(flatten)]
    pub template: TemplateKeys,
    /// Real-time curve: what it is guaranteed; for leaves only.
    pub rt: Option<Stated>,
    /// Link-share curve: in what ratio to its siblings it gets what is left.
    pub ls: Option<Stated>,
    /// Upper-limit curve: what link sharing gives it at most; with `ls`.
    pub ul: Option<Stated>,
    /// Its queue: a name of `[queue]`, or a table of the same keys; default: drop-tail; for leaves only.
    pub queue: Option<HostKey>,
}

impl Listed for Class {
    fn parent(&self) -> Option<&str> {
        self.parent.as_deref()
    }
    fn has_queue(&self) -> bool {
        self.queue.is_some()
    }
}

impl super::Class for Class {
    fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    fn filter(&self) -> &Filter {
        &self.filter
    }

    fn filter_mut(&mut self) -> &mut Filter {
        &mut self.filter
    }
}

/// What a leaf's `rt` gives while it is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Promise {
    /// What its first piece gives, and for how long that is; nothing for a straight line.
    pub first: Bytes,
    /// See `first`.
    pub within: Span,
    /// When a packet that finds the leaf empty is due.
    pub due: Span,
}

/// One link's HFSC.
#[derive(Clone, Debug)]
pub struct Hfsc {
    members: Members,
    form: Form,
    names: Vec<Option<String>>,
    curves: Vec<Curves>,
    arithmetic: Arithmetic,
    real_time: RealTime,
    link_share: LinkShare,
    /// Whether anything waits in each leaf.
    waiting: Vec<bool>,
    /// Whether the child picked last has its turn by the real-time criterion.
    by_real_time: bool,
    /// The child of those that no class names, after the leaves.
    unclassified: Option<usize>,
    advice: Vec<ParamError>,
}

impl Params {
    /// Whether what no class names is dropped: then it has one more child.
    pub fn drops_unclassified(&self) -> bool {
        self.unclassified == Some(Unclassified::Drop)
    }

    /// What is promised to a packet of `size` in the leaf at `place` among the leaves; `None` without `rt`.
    pub fn promise(&self, place: usize, size: Bytes) -> Option<Promise> {
        let leaf = *Form::of(&self.classes, usize::MAX).ok()?.leaves.get(place)?;
        let curve = self.classes[leaf].rt?.curve(self.arithmetic).ok()?;
        let due = Span::from_ns(exact::Moved::new(curve).reaches(size.get()));
        Some(Promise { first: curve.m1 * curve.d, within: curve.d, due })
    }

    /// # Errors
    /// E201 without classes, and for rates and times of 0; E002, E005, E006, E228, E229, E223 for a list that is no tree of
    /// classes with their own packets and curves; E289 for a curve that is not whole; E288 for real-time curves that cannot
    /// all be kept; E239 for `unclassified = "drop"` where a class takes all.
    pub fn build(self, scope: &Scope) -> Result<Hfsc, ParamError> {
        let form = Form::of(&self.classes, usize::MAX)?;
        if self.drops_unclassified() {
            form.leaves_some(&self.classes, Unclassified::Drop.name())?;
        }
        let unclassified = self.drops_unclassified().then_some(form.leaves.len());
        let rest = Filter::default();
        let members = members(&self.classes, |class| form.is_leaf(class), unclassified.map(|_| &rest), scope)?;
        let curves = form::curves(&self, &form)?;
        promises::can_be_kept(&self.classes, &form, &curves, scope)?;
        let (arithmetic, advice) = (self.arithmetic, advice::all(&self, &form, &curves, scope));
        let real_time = RealTime::new(form.leaves.iter().map(|&leaf| Some(Moved::new(curves[leaf].rt?, arithmetic))));
        let plans = (0..curves.len()).map(|i| plan(&form, &curves, i, arithmetic)).collect();
        let link_share = LinkShare::new(plans, arithmetic == Arithmetic::Exact);
        let names = self.classes.iter().map(|class| class.name.clone()).collect();
        let (waiting, by_real_time) = (vec![false; form.leaves.len()], false);
        Ok(Hfsc {
            members,
            form,
            names,
            curves,
            arithmetic,
            real_time,
            link_share,
            waiting,
            by_real_time,
            unclassified,
            advice,
        })
    }
}

fn plan(form: &Form, curves: &[Curves], i: usize, arithmetic: Arithmetic) -> Plan {
    let moved = |curve: Option<_>| curve.map(|curve| Moved::new(curve, arithmetic));
    Plan { parent: form.parents[i], is_leaf: form.is_leaf(i), share: moved(curves[i].ls), limit: moved(curves[i].ul) }
}

impl Hfsc {
    fn clock(&self) -> Clock {
        Clock::of(self.arithmetic)
    }

    /// Which curves a change would add or remove.
    fn same_curves(&self, new: &Self) -> Result<(), ParamError> {
        let has = |it: &Curves| [it.rt.is_some(), it.ls.is_some(), it.ul.is_some()];
        if self.curves.iter().map(has).eq(new.curves.iter().map(has)) {
            return Ok(());
        }
        let error = ParamError::new("classes", "E202", "the change would alter which curves the classes have".into());
        Err(error.help("a change may alter an `rt`, `ls` or `ul`, but neither add nor remove one"))
    }

    /// Takes the curves of a class that differ.
    fn take(&mut self, now: u64, class: usize, new: &Curves) {
        let (old, arithmetic) = (self.curves[class], self.arithmetic);
        let moved =
            |old: Option<_>, new: Option<_>| new.filter(|_| old != new).map(|curve| Moved::new(curve, arithmetic));
        if let (Some(rt), Some(child)) = (moved(old.rt, new.rt), self.form.place(class)) {
            self.real_time.retune(now, child, rt);
        }
        if (old.ls, old.ul) != (new.ls, new.ul) {
            self.link_share.retune(now, class, moved(old.ls, new.ls), moved(old.ul, new.ul));
        }
    }
}

impl Scheduler for Hfsc {
    type Params = Params;

    fn places(&self) -> usize {
        self.members.places()
    }

    #[inline]
    fn place(&mut self, packet: Turn<&Packet>) -> usize {
        self.members.of(*packet)
    }

    fn members(&mut self) -> Option<&mut Members> {
        Some(&mut self.members)
    }

    fn sorted(&self) -> Option<&Members> {
        Some(&self.members)
    }

    fn queued(&mut self, now: Turn<Time>, child: usize, _bytes: u32) {
        if std::mem::replace(&mut self.waiting[child], true) {
            return self.real_time.changes(child);
        }
        let now = self.clock().ticks(*now);
        self.real_time.begins(child, now);
        self.link_share.begins(child, now);
    }

    fn pick(&mut self, now: Turn<Time>, heads: &Heads) -> Pick {
        let at = self.clock().ticks(*now);
        let urgent = self.real_time.pick(at, heads);
        self.by_real_time = urgent.is_some();
        if let Some(child) = urgent.or_else(|| self.link_share.pick(at, heads)) {
            return Pick::Child(child);
        }
        let opens = self.real_time.opens().into_iter().chain(self.link_share.opens(at)).min();
        opens.map_or(Pick::Nothing, |at| Pick::Later(self.clock().time(at)))
    }

    fn sent(&mut self, _now: Turn<Time>, child: usize, bytes: u32, behind: Count) {
        self.waiting[child] = behind.packets > 0;
        self.link_share.sent(child, bytes, behind.packets == 0, !self.by_real_time);
        self.real_time.sent(child, bytes, behind, self.by_real_time);
    }

    fn dropped(&mut self, _now: Turn<Time>, child: usize, _bytes: u32, behind: Count) {
        self.waiting[child] = behind.packets > 0;
        if behind.packets == 0 {
            self.link_share.ends(child);
            self.real_time.ends(child);
        } else {
            self.real_time.changes(child);
        }
    }

    fn on_arrival(&mut self, at: Turn<&Visit>, _packet: &mut Packet, _rng: &mut Rng) -> Verdict {
        if self.unclassified == Some(at.child) { Verdict::Drop(Reason::Forced) } else { Verdict::Pass }
    }

    fn outline(&self) -> Vec<Outline> {
        let unclassified = self.unclassified.map(|child| Outline {
            name: Some(UNCLASSIFIED.into()),
            children: vec![child],
            ..Outline::default()
        });
        let bound = |class| self.form.limit(&self.curves, class);
        self.form.outline(&self.names, bound).chain(unclassified).collect()
    }

    fn share(&self, child: usize, whole: BitRate) -> BitRate {
        self.form.leaves.get(child).map_or(whole, |&leaf| self.form.gets(&self.curves, leaf, whole))
    }

    fn bound(&self, child: usize) -> Option<BitRate> {
        self.form.limit(&self.curves, *self.form.leaves.get(child)?)
    }

    fn needs(&self) -> Needs {
        Needs::LATER
            | Needs::LENGTHS.only_if(self.real_time.is_used())
            | Needs::ARRIVALS.only_if(self.unclassified.is_some())
            | Needs::TAKING.only_if(self.arithmetic == Arithmetic::Linux)
    }

    fn warnings(&self) -> Vec<ParamError> {
        self.advice.clone()
    }

    /// A curve that changes begins again at `now`, from what its class has been served. The form of the tree, which curves
    /// there are, and `arithmetic` are fixed.
    fn retune(&mut self, now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        let new = params.clone().build(scope)?;
        same_members(&self.members, &new.members)?;
        same_arithmetic(self.arithmetic == Arithmetic::Linux, new.arithmetic == Arithmetic::Linux)?;
        self.form.same(&new.form)?;
        self.same_curves(&new)?;
        let now = self.clock().ticks(now);
        (0..new.curves.len()).for_each(|class| self.take(now, class, &new.curves[class]));
        (self.curves, self.advice) = (new.curves, new.advice);
        Ok(())
    }
}
