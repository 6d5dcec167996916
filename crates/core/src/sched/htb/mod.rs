//! Hierarchical token bucket: each class is guaranteed its rate, and may borrow bandwidth that others leave, up to
//! its ceil.
//!
//! Source: the behaviour of HTB in Linux 6.12, tc-htb(8); Devera, "HTB Linux queuing discipline manual, user guide" and
//! "theory", 2002-2003; link sharing after Floyd, Jacobson, "Link-sharing and resource management models for packet
//! networks", IEEE/ACM Transactions on Networking 3(4), 1995.
//!
//! ```text
//! each class has two buckets: tokens at `rate`, at most `burst`; ctokens at `ceil`, at most `cburst`. Both may go below 0
//! mode:  cant-send if ctokens < 0;  else may-borrow if tokens < 0;  else can-send
//! to send, find the first level (0 are the leaves, then 1, ...), and in it the first prio (0, 1, ...), at which a class
//!     can send and has packets. Such classes take turns. A leaf sends itself; a parent lends to one of its children that
//!     may borrow, and so on down to a leaf, which sends
//! the leaf pays:  the packet comes off its deficit at that level; below 0, it gets a quantum and its turn is over
//! all pay:        the packet comes off the ctokens of the leaf and of all classes above it, and off the tokens of the
//!                 lender (at level 0 the leaf itself) and of all classes above that
//! ```
//!
//! A class may send while its tokens are not negative, and the packet may leave a debt. So rates hold exactly, and a
//! burst may exceed `burst` by one packet. A class within its rate needs nothing from the classes above it. The
//! bandwidth that a class does not use goes to the classes that may borrow from its parent: first to the most urgent
//! `prio`, and among equals by turns of `quantum`. A parent that exceeds its own rate borrows from its parent in turn.
//! If every class with packets is held back, the link waits until the first of them may send.
//!
//! So `rate` is a minimum and `ceil` a maximum, also where it is below `rate` (W342), and siblings share the excess in the
//! ratio of their quanta. Routers call the rate "bandwidth", the ceil "shape" and that ratio "bandwidth remaining ratio".
//!
//! | symbol | field               | unit  | default |
//! |--------|---------------------|-------|---------|
//! |        | `classes[].name`    |       | -       |
//! |        | `classes[].parent`  |       | -       |
//! |        | `classes[].for`     |       | -       |
//! |        | `classes[].match` |       | -       |
//! |        | `classes[].per`   |       | -       |
//! |        | `classes[].slots` |       | -       |
//! |        | `classes[].plans` |       | -       |
//! | R      | `classes[].rate`    | bit/s | -       |
//! |        | `classes[].ceil`    | bit/s | -       |
//! |        | `classes[].prio`    |       | -       |
//! | Q      | `classes[].quantum` | B     | -       |
//! |        | `classes[].burst`   | B     | -       |
//! |        | `classes[].cburst`  | B     | -       |
//! |        | `classes[].queue`   |       | -       |
//! |        | `r2q`               |       | 10      |
//! |        | `overhead`          | B     | -       |
//! |        | `mpu`               | B     | -       |
//! |        | `link-layer`        |       | -       |
//! |        | `unclassified`      |       | -       |
//! |        | `arithmetic`        |       | exact   |
//!
//! `classes` is a flat list in which each class names its parent. A parent has no `for`, `match` or `queue`. A packet
//! belongs to the first leaf whose `for` has its colour or code point, or whose `match` agrees with it, else to the last leaf,
//! the only one that may omit both. With `unclassified = "direct"` no leaf omits both. Packets that match none then pass as in Linux
//! without a `default` class: through a drop-tail queue of 1000 packets, before all classes, unshaped and charged to no
//! class. Linux counts them as `direct_packets_stat`. Classes take turns in the order of the list, in Linux in that of
//! the class numbers.
//!
//! An entry with `per` is a template: a class for each `source`, `destination` or `pair` of both. It has no children. Its
//! `match` says which packets it takes of all addresses. Each of `plans` is a table of the class's keys with a `match` by
//! the addresses themselves; the first that agrees counts, and what it omits, the template states. Without `plans` all
//! addresses have the template's keys. Classes are made before the run: `slots` for each plan, or one for each address
//! of its prefixes if these are fewer. At most `slots` addresses have a class at a time, first come, first served. A
//! class that is idle, because nothing waits in it and no flow of its address is left, is given to the next address.
//! Addresses beyond share one class with the keys of the last plan. Each class is named after its address, as in
//! `customers/10.0.1.7`, and that of all others `customers/others`; `customers` is the template's `name`, else that of
//! the queue or port. In the sum of the rates below a parent (W324), the classes of a template count that the load
//! reaches.
//!
//! Defaults: `unclassified` = `last`, `ceil` = `rate`, `prio` = 0. `quantum` = rate in B/s / `r2q`, but at least 1000 B
//! and at most 200000 B, with a warning where one of these bounds applies. `burst` and `cburst` are what tc sets on a
//! kernel with timers of 1 ns: 1600 B plus what the rate (for `cburst` the ceil) sends in a nanosecond. A debt never
//! exceeds what the rate sends in a minute.
//!
//! `arithmetic = "linux"` counts a packet as the time that it takes at the rate, in whole nanoseconds, so a packet
//! costs up to 1 ns less than it should. Bursts are what tc hands to the kernel: the time that the burst takes at the
//! rate, in whole microseconds and then in ticks of 64 ns, both in 32 bits. A burst of more than 274 s of its rate
//! wraps around to 0, with a warning. Once a packet was offered to a shaper above, it leaves next: no later one
//! overtakes it.
//!
//! Deviations: `overhead`, `mpu` and `link-layer` are given once for all classes. Packets that match no class pass
//! unshaped only with `unclassified = "direct"`. Hysteresis is always off, as it is by default in Linux.

mod advice;
mod bucket;
mod form;
mod ring;
mod tree;
mod wakes;

use super::form::{Form, Listed};
use super::{Classes, Heads, HostKey, Outline, Pick, Scheduler, TemplateKeys, members, same_arithmetic, same_members};
use crate::Scope;
use crate::aqm::members::{Filter, Members};
use crate::arithmetic::Arithmetic;
use crate::count::Count;
use crate::counter::{Below, Part, Seen};
use crate::framing::Framing;
use crate::needs::Needs;
use crate::packet::Packet;
use crate::params::{Choice, ParamError, Params as Declared};
use crate::port::turn::Turn;
use crate::units::{BitRate, Bytes, NS_PER_S, Time};
use bucket::Bucket;
use form::Bounds as _;
use tree::{LEVELS, Plan, Tree};

/// What the child is called whose packets no class names.
const DIRECT: &str = "direct";
/// Deepest bucket.
const DEEPEST: Bytes = Bytes::new(1 << 30);
/// Bounds of an unspecified quantum.
const SMALLEST_QUANTUM: u64 = 1000;
const LARGEST_QUANTUM: u64 = 200_000;
/// What tc adds to the burst of a timer's tick: its idea of a packet.
const TC_PACKET: u64 = 1600;

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// The classes: leaves take packets, the first that matches, else the last; the others are their parents.
    pub classes: Classes<Class>,
    /// Divisor that makes the default quantum from a class's rate in B/s.
    #[param(default = 10)]
    pub r2q: u32,
    /// Which bytes the rates count.
    #[param(flatten)]
    pub framing: Framing,
    /// How tokens are counted.
    #[param(default = "exact")]
    pub arithmetic: Arithmetic,
    /// Where packets that no `for` names go; default: `last`.
    pub unclassified: Option<Unclassified>,
}

/// Where packets go that no class names.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unclassified {
    /// To the last leaf.
    #[default]
    Last,
    /// Past all classes, unshaped, as in Linux without a `default` class.
    Direct,
}

/// One class of the tree.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Class {
    /// Name of the class, to which its children and messages refer.
    pub name: Option<String>,
    /// Name of the class from which it borrows; a class without a parent does not borrow.
    pub parent: Option<String>,
    /// Which packets it takes; for leaves only.
    #[param(flatten)]
    pub filter: Filter,
    /// Or the keys of a template.
    #[param(flatten)]
    pub template: TemplateKeys,
    /// Guaranteed rate.
    pub rate: BitRate,
    /// Rate that it may reach by borrowing; default: `rate`.
    pub ceil: Option<BitRate>,
    /// Priority for borrowed and spare bandwidth, from 0 (first) to 7; default: 0; for leaves only.
    pub prio: Option<u32>,
    /// Bytes that it sends in its turn; default: by `r2q`; for leaves only.
    pub quantum: Option<Bytes>,
    /// Bytes that may leave at once at the ceil; default: 1600B plus a nanosecond of the rate.
    pub burst: Option<Bytes>,
    /// Bytes that may leave at once at the link's rate; default: 1600B plus a nanosecond of the ceil.
    pub cburst: Option<Bytes>,
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

impl Class {
    /// What it never exceeds.
    fn ceil(&self) -> BitRate {
        self.ceil.unwrap_or(self.rate)
    }

    /// What it has without borrowing: nothing lifts a class above its ceil.
    fn guaranteed(&self) -> BitRate {
        self.rate.min(self.ceil())
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

/// One link's HTB.
#[derive(Clone, Debug)]
pub struct Htb {
    members: Members,
    form: Form,
    tree: Tree,
    names: Vec<Option<String>>,
    /// What each class has without borrowing.
    rates: Vec<BitRate>,
    /// The rate beyond which each class is never served.
    bounds: Vec<BitRate>,
    takes: bool,
    /// The child of those that no class names, after the leaves.
    direct: Option<usize>,
    advice: Vec<ParamError>,
}

impl Params {
    /// Whether what no class names passes them all by: then it is one more child.
    pub fn is_direct(&self) -> bool {
        self.unclassified == Some(Unclassified::Direct)
    }

    /// # Errors
    /// E201 without classes, for numbers out of bounds or too many levels; E002, E006, E228, E229, E223 for a list that is no
    /// tree of classes with their own packets; E239 for `unclassified = "direct"` where a class takes
    /// all; as [`Framing::build`].
    pub fn build(self, scope: &Scope) -> Result<Htb, ParamError> {
        let form = Form::of(&self.classes, LEVELS)?;
        if self.is_direct() {
            form.leaves_some(&self.classes, Unclassified::Direct.name())?;
        }
        let direct = self.is_direct().then_some(form.leaves.len());
        let rest = Filter::default();
        let members = members(&self.classes, |class| form.is_leaf(class), direct.map(|_| &rest), scope)?;
        (0..self.classes.len()).try_for_each(|i| form::numbers(&self, i))?;
        ParamError::above_zero("r2q", self.r2q)?;
        let (frame, levels) = (self.framing.build(scope)?, form.levels());
        let plans = (0..self.classes.len()).map(|i| self.plan(i, form.parents[i], levels[i])).collect();
        let tree = Tree::new(plans, form.leaves.clone(), frame);
        let advice = advice::all(&self, &form, scope, frame);
        let bounds = form.bounds(&self.classes, scope);
        let (names, rates) = self.classes.iter().map(|class| (class.name.clone(), class.guaranteed())).unzip();
        let takes = self.arithmetic == Arithmetic::Linux;
        Ok(Htb { members, form, tree, names, rates, bounds, takes, direct, advice })
    }

    fn plan(&self, i: usize, parent: Option<usize>, level: usize) -> Plan {
        let (class, arithmetic) = (&self.classes[i], self.arithmetic);
        let rate = Bucket::full(class.rate, self.burst(i), arithmetic);
        let ceil = Bucket::full(class.ceil(), self.cburst(i), arithmetic);
        let (prio, quantum) = (class.prio.unwrap_or(0) as usize, self.quantum(i).get() as i64);
        Plan { parent, level, rate, ceil, prio, quantum }
    }

    fn burst(&self, i: usize) -> Bytes {
        self.classes[i].burst.unwrap_or_else(|| default_burst(self.classes[i].rate))
    }

    fn cburst(&self, i: usize) -> Bytes {
        let class = &self.classes[i];
        class.cburst.unwrap_or_else(|| default_burst(class.ceil()))
    }

    fn rate_by_r2q(&self, i: usize) -> u64 {
        self.classes[i].rate.bit_s() / 8 / u64::from(self.r2q)
    }

    fn quantum(&self, i: usize) -> Bytes {
        let bounded = || Bytes::new(self.rate_by_r2q(i).clamp(SMALLEST_QUANTUM, LARGEST_QUANTUM));
        self.classes[i].quantum.unwrap_or_else(bounded)
    }
}

fn default_burst(rate: BitRate) -> Bytes {
    Bytes::new(TC_PACKET + rate.bit_s() / 8 / NS_PER_S)
}

impl Scheduler for Htb {
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

    #[inline]
    fn queued(&mut self, _now: Turn<Time>, child: usize, _bytes: u32) {
        if self.direct != Some(child) {
            self.tree.queued(child);
        }
    }

    fn pick(&mut self, now: Turn<Time>, heads: &Heads) -> Pick {
        match self.direct {
            Some(direct) if heads[direct].is_ready() => Pick::Child(direct),
            _ => self.tree.pick(*now, heads),
        }
    }

    fn sent(&mut self, now: Turn<Time>, child: usize, bytes: u32, behind: Count) {
        if self.direct != Some(child) {
            self.tree.sent(*now, child, bytes, behind);
        }
    }

    fn dropped(&mut self, _now: Turn<Time>, child: usize, _bytes: u32, behind: Count) {
        if self.direct != Some(child) {
            self.tree.dropped(child, behind);
        }
    }

    fn outline(&self) -> Vec<Outline> {
        let direct =
            self.direct.map(|child| Outline { name: Some(DIRECT.into()), children: vec![child], ..Outline::default() });
        self.form.outline(&self.names, |class| Some(self.bounds[class])).chain(direct).collect()
    }

    fn counters(&self, seen: &Seen<'_>, each: &mut dyn FnMut(Part, &'static str, f64)) {
        if let Some(direct) = self.direct {
            each(Part::Whole, "direct_packets_stat", (seen.child)(direct).fates.queued.packets as f64);
        }
        for class in 0..self.rates.len() {
            let places = self.form.places_below(class);
            let all = places.iter().fold(Below::default(), |sum, &place| sum.plus(&(seen.child)(place)));
            // What is dropped and what waits is shown of leaves alone.
            let shown = match self.form.leaves.contains(&class) {
                true => all,
                false => Below { waiting: Count::default(), refused: 0, ..all },
            };
            let mut each = |name, value| each(Part::Class(class), name, value);
            shown.show(all.left(), shown.refused, &mut each);
            self.tree.counters(class, &mut each);
        }
    }

    fn overlimits(&self, _seen: &Seen<'_>) -> Option<u64> {
        Some(self.tree.overlimits())
    }

    fn share(&self, child: usize, whole: BitRate) -> BitRate {
        self.form.leaves.get(child).map_or(whole, |&leaf| self.rates[leaf].min(whole))
    }

    fn bound(&self, child: usize) -> Option<BitRate> {
        self.form.leaves.get(child).map(|&leaf| self.bounds[leaf])
    }

    fn needs(&self) -> Needs {
        Needs::LATER | Needs::TAKING.only_if(self.takes)
    }

    fn warnings(&self) -> Vec<ParamError> {
        self.advice.clone()
    }

    /// Tokens stay as far as they fit, and so do deficits. The form of the tree and `arithmetic` are fixed.
    fn retune(&mut self, now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        let new = params.clone().build(scope)?;
        same_members(&self.members, &new.members)?;
        same_arithmetic(self.takes, new.takes)?;
        self.form.same(&new.form)?;
        self.tree.retune(now, &new.tree);
        (self.rates, self.bounds, self.advice) = (new.rates, new.bounds, new.advice);
        Ok(())
    }
}
