//! Scheduling: several queues wait for one link. Which of them sends next?
//!
//! A scheduler owns no queue. Its children are numbered. Each child is the queue of a class, or another scheduler
//! with its own queues, and may have a shaper. The scheduler says where an arriving packet goes. It is given the
//! [`Head`] of every child, and says which child sends. A scheduler that is also an AQM (its children are flows, or
//! two coupled queues) judges packets too, and may ask for room.
//!
//! The host reads a class's `queue`: a name of `[queue]` or a table of the same keys; the default is drop-tail with
//! 1000 packets. What the other classes leave is unknown, so the AQM of a class uses the rate that bounds the class
//! ([`Scheduler::bound`], or the whole link's without a bound), unless the host is asked to give it a share
//! ([`Scheduler::share`]). RED's average of an idle queue decays as fast as that rate could have sent, as in ns-2.
//! Thresholds in time, capacities and virtual queues (SVB, AVQ) refer to the same rate. Such an AQM acts only when
//! the class comes near it.
//!
//! To add one: write its file, add its line to the list below.
//!
//! Decision: docs/decisions/059-schedulers-own-nothing.md

pub(crate) mod classes;
mod form;
mod heads;
mod newcomers;
mod places;
mod policed;
mod rounds;
pub(crate) mod slots;
mod whole;

pub use classes::{Child, Class, Classes, Entry, Layout, MOST, Plan, Template, TemplateKeys, Whom, is_template, plans};
pub use heads::Heads;
pub use policed::{Police, PriorityLimit};
pub use slots::{Address, Held, Slots};

use crate::Scope;
use crate::aqm::Departure;
use crate::aqm::members::{Filter, Item, Members, Subject};
use crate::classify::FlowHeaders;
use crate::count::Count;
use crate::counter::{Part, Seen};
use crate::needs::Needs;
use crate::packet::{FlowId, Packet};
use crate::params::{CLASS, ClassName, Kind, Node, ParamError, Problems, Tree, Value};
use crate::port::turn::Turn;
use crate::rng::Rng;
use crate::units::{BitRate, Time};
use crate::verdict::{Side, Verdict};
use cake::AckFilter;

crate::algorithms! {
    $ "scheduler", Scheduler over Scope => AnyScheduler, SchedulerParams, dispatch;

    /// Weighted round robin: each class in turn sends as many packets as its weight.
    "wrr" => wrr::{Params, Wrr},
    /// Deficit round robin: each class in turn sends a quantum of bytes, whatever the size of its packets.
    "drr" => drr::{Params, Drr},
    /// Enhanced transmission selection: strict priority among the first classes, deficit round robin among the others.
    "ets" => ets::{Params, Ets},
    /// Hierarchical token bucket: each class is guaranteed its rate and may borrow spare bandwidth up to its ceil.
    "htb" => htb/mod::{Params, Htb},
    /// Hierarchical fair service curves: leaves may be guaranteed rate and delay apart; a tree of classes shares the rest.
    "hfsc" => hfsc/mod::{Params, Hfsc},
    /// Strict priority: a class sends only while no class before it has anything to send.
    "strict-priority" => strict_priority::{Params, StrictPriority},
    /// FQ-CoDel: a queue with CoDel for each flow, served by deficit round robin, new flows first.
    "fq-codel" => fq_codel::{Params, FqCodel},
    /// fq: a queue for each flow, served by deficit round robin, with pacing.
    "fq" => fq/mod::{Params, Fq},
    /// FQ-PIE: a queue with PIE for each flow, served by deficit round robin, new flows first.
    "fq-pie" => fq_pie::{Params, FqPie},
    /// CAKE: a shaper without bursts, tins by code point, fairness among hosts and flows, COBALT in every queue.
    "cake" => cake/mod::{Params, Cake},
    /// SFQ: a queue for each flow, served by deficit round robin; in a full buffer the longest queue loses a packet.
    "sfq" => sfq::{Params, Sfq},
    /// DualPI2: a queue for L4S traffic and one for classic traffic, coupled so that flows of both get the same rate.
    "dualpi2" => dualpi2::{Params, DualPi2},
}

pub mod flows;

/// What a child could send now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Head {
    /// Nothing waits in it.
    #[default]
    Nothing,
    /// Something waits that a shaper holds back.
    Held,
    /// The packet it would send, by its bytes.
    Bytes(u32),
}

impl Head {
    /// Bytes of the packet that it would send.
    #[inline]
    pub const fn bytes(self) -> Option<u32> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            Self::Nothing | Self::Held => None,
        }
    }

    /// Whether it could send.
    #[inline]
    pub const fn is_ready(self) -> bool {
        matches!(self, Self::Bytes(_))
    }
}

/// What a scheduler decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    /// This child sends next.
    Child(usize),
    /// The scheduler itself lets nothing go before this time.
    Later(Time),
    /// No child could send.
    Nothing,
}

/// A packet of a child, for schedulers that judge packets.
#[derive(Clone, Copy, Debug)]
pub struct Visit {
    /// The child.
    pub child: usize,
    /// When it arrived, and what waits in the child besides it.
    pub at: Departure,
    /// What waits in all children besides it.
    pub all: Count,
}

/// What a queue of a host's own port knows of a packet that the host sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Socket {
    /// Of a connection, which says itself when each packet may leave.
    Tcp,
    /// Datagrams, which go no faster than the socket's rate (`SO_MAX_PACING_RATE`) where something paces them.
    Datagrams {
        /// The rate.
        rate: Option<BitRate>,
    },
}

/// Packets of a child to be dropped: at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Eviction {
    /// The child.
    pub child: usize,
    /// At most this many.
    pub packets: u32,
    /// Until at least this many bytes are gone.
    pub bytes: u64,
    /// The first ones, or the last.
    pub side: Side,
}

/// A class as a scheduler's list has it, for results: one with a child, or one with classes below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// The children that its packets wait in.
    pub children: Vec<usize>,
    /// Whether other classes are below it.
    pub has_classes: bool,
    /// How many classes are above it.
    pub depth: usize,
    /// The rate beyond which all that is in it is never served; `None` if that is up to what is behind the scheduler.
    pub bound: Option<BitRate>,
}

/// A key of a class that its host reads: the class's queue. Here it is known, and nothing more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostKey;

impl Value for HostKey {
    const KIND: Kind = Kind::Any;
    const OPTIONAL: bool = true;
    fn read(_: &Node, _: &mut Problems) -> Option<Self> {
        Some(Self)
    }
    fn absent() -> Option<Self> {
        Some(Self)
    }
    fn tree(&self) -> Option<Tree> {
        None
    }
}

/// A scheduler over its children. Defaults do nothing; the port calls only what [`Scheduler::needs`] asks for, and only the port
/// can: [`Turn`].
#[crate::registry::forward(AnyScheduler: dispatch, Params = SchedulerParams)]
pub trait Scheduler {
    /// Its parameters.
    type Params;

    /// How many children it has.
    fn places(&self) -> usize;

    /// The child that an arriving packet goes to.
    #[inline(always)]
    fn place(&mut self, packet: Turn<&Packet>) -> usize;

    /// The list by which it sorts packets, if its children are classes: the port tells it of flows.
    fn members(&mut self) -> Option<&mut Members> {
        None
    }

    /// The same, for results: who has which class of a template.
    fn sorted(&self) -> Option<&Members> {
        None
    }

    /// Announces a flow before its first packet, and again when its number is given to another.
    fn register(&mut self, _flow: Turn<FlowId>, _headers: &FlowHeaders) {}

    /// Announces the socket that a flow leaves, which is of the host that the port belongs to. What only passes the host has
    /// none.
    fn sends(&mut self, _flow: Turn<FlowId>, _socket: Socket) {}

    /// A packet of `bytes` now waits in a child.
    #[inline]
    fn queued(&mut self, _now: Turn<Time>, _child: usize, _bytes: u32) {}

    /// Which child sends next. Asked again with the same heads at the same time, before anything is sent or dropped, it
    /// says the same.
    fn pick(&mut self, now: Turn<Time>, heads: &Heads) -> Pick;

    /// The packet at the head of the child picked last is sent: its bytes, and what waits in the child behind it.
    fn sent(&mut self, _now: Turn<Time>, _child: usize, _bytes: u32, _behind: Count) {}

    /// A packet of a child was dropped, at its head or where [`Scheduler::evict`] said: its
    /// bytes, and what waits in the child behind it.
    fn dropped(&mut self, _now: Turn<Time>, _child: usize, _bytes: u32, _behind: Count) {}

    /// Needs [`Needs::ARRIVALS`]. A packet arrives; asked before the AQM of its child.
    fn on_arrival(&mut self, _at: Turn<&Visit>, _packet: &mut Packet, _rng: &mut Rng) -> Verdict {
        Verdict::Pass
    }

    /// Needs [`Needs::DEPARTURES`]. The packet at the head of the child picked last is about to be sent. If it is dropped,
    /// the scheduler is asked again which child sends.
    fn on_departure(&mut self, _at: Turn<&Visit>, _packet: &mut Packet, _rng: &mut Rng) -> Verdict {
        Verdict::Pass
    }

    /// Whether too much waits in all children together, now that a packet has arrived: what has to go. Asked until it
    /// says `None`.
    fn evict(&mut self, _all: Turn<Count>) -> Option<Eviction> {
        None
    }

    /// The child whose last packet may make an ACK before it redundant; asked once, before [`Scheduler::evict`].
    fn filters(&mut self) -> Option<(usize, AckFilter)> {
        None
    }

    /// Its classes, each before those below it.
    fn outline(&self) -> Vec<Outline> {
        let name = |child| self.sorted()?.name(child).map(str::to_owned);
        let outline = |child| Outline { name: name(child), children: vec![child], ..Outline::default() };
        (0..self.places()).map(outline).collect()
    }

    /// The rate that a child can count on while all have packets, of `whole` for all of them; `whole` if nothing is known.
    fn share(&self, _child: usize, whole: BitRate) -> BitRate {
        whole
    }

    /// The rate beyond which a child is never served, however idle the others are; `None` if that is up to what is behind it.
    fn bound(&self, _child: usize) -> Option<BitRate> {
        None
    }

    /// What it needs. Only with [`Needs::LENGTHS`] the [`Head`]s say how long packets are, and only with [`Needs::LATER`] it
    /// may say [`Pick::Later`].
    fn needs(&self) -> Needs;

    /// When it next needs [`Scheduler::on_timer`].
    fn poll_at(&self) -> Option<Time> {
        None
    }

    /// Time asked for by [`Scheduler::poll_at`] has come. `oldest` is when the packet at the head of each child arrived.
    fn on_timer(&mut self, _now: Turn<Time>, _oldest: &dyn Fn(usize) -> Option<Time>) {}

    /// Settings that run, but probably not as intended.
    fn warnings(&self) -> Vec<ParamError> {
        Vec::new()
    }

    /// Values for series: name, value. Changes nothing.
    fn gauges(&self, _now: Time, _each: &mut dyn FnMut(&'static str, f64)) {}

    /// What `tc -s` shows of its classes and tins, and of itself besides what every queueing discipline has: whose, name, value.
    fn counters(&self, _seen: &Seen<'_>, _each: &mut dyn FnMut(Part, &'static str, f64)) {}

    /// What `tc -s` shows as `overlimits`; `None` where that is not known.
    fn overlimits(&self, _seen: &Seen<'_>) -> Option<u64> {
        Some(0)
    }

    /// Takes new parameters at `now`, keeping its state.
    ///
    /// # Errors
    /// The offending parameter; the old ones stay in force.
    fn retune(&mut self, now: Time, params: &Self::Params, scope: &Scope) -> Result<(), ParamError>;
}

/// A fault of a class.
fn fault(code: &'static str, class: ClassName, message: String) -> ParamError {
    ParamError::new("classes", code, message).of_class(class)
}

/// What a part of a sum gets of a rate.
fn share_of(whole: BitRate, part: u64, sum: u64) -> BitRate {
    BitRate::bps((u128::from(whole.bit_s()) * u128::from(part) / u128::from(sum.max(1))) as u64)
}

/// Which packets belong to which of those `classes` that are children, in their order; `rest` is for what none of them takes.
///
/// # Errors
/// E201 without classes; E002 for a name that two have; as [`Members::new`].
fn members<C: Class>(
    classes: &Classes<C>,
    is_child: impl Fn(usize) -> bool,
    rest: Option<&Filter>,
    scope: &Scope,
) -> Result<Members, ParamError> {
    if classes.is_empty() {
        let error = ParamError::new("classes", "E201", "`classes` is empty".into());
        return Err(error.help("write at least one class; the last takes all other packets"));
    }
    let names: Vec<_> = classes.iter().map(Class::name).collect();
    for (i, name) in names.iter().enumerate().filter_map(|(i, name)| Some((i, (*name)?))) {
        if names[..i].contains(&Some(name)) {
            let message = format!("{CLASS}: the name `{name}` is taken by a class before it");
            let error = fault("E002", classes.layout().called(i), message);
            return Err(error.help("give each class a name of its own"));
        }
    }
    let (mut items, mut templates) = (Vec::new(), Vec::new());
    for entry in &classes.layout().entries {
        match entry {
            Entry::Class(i) if !is_child(*i) => {}
            Entry::Class(i) => {
                items.push(Item {
                    filter: classes[*i].filter(),
                    subject: Subject::Class(classes.called(*i)),
                    plan: None,
                });
            }
            Entry::Template(template) => {
                let plan = |(number, plan): (usize, &'_ Plan)| (plan.classes.start, (templates.len(), number));
                let plans: Vec<_> = template.plans.iter().enumerate().map(plan).collect();
                let item = |(class, plan): (usize, (usize, usize))| {
                    let filter = &template.plans[plan.1].filter;
                    Item { filter, subject: Subject::Class(classes.called(class)), plan: Some(plan) }
                };
                items.extend(plans.into_iter().map(item));
                templates.push(&**template);
            }
        }
    }
    items.extend(rest.map(|filter| Item { filter, subject: Subject::Other("what no class takes".into()), plan: None }));
    let children = (0..names.len()).filter(|&class| is_child(class));
    let names = children.map(|class| names[class].map(str::to_owned)).collect();
    Ok(Members::of_items("classes", &items, &templates, scope)?.called(names))
}

/// Refuses new parameters that send packets to other queues than before: waiting packets would be overtaken.
fn same_members(old: &Members, new: &Members) -> Result<(), ParamError> {
    if old == new {
        return Ok(());
    }
    let error = ParamError::new("classes", "E202", "the change would alter which packets the classes take".into());
    Err(error.help("the packets of a class are fixed when the run begins; a change may alter what the class gets"))
}

/// Refuses a new `arithmetic`: the order of those that wait would be lost.
fn same_arithmetic(old_is_linux: bool, new_is_linux: bool) -> Result<(), ParamError> {
    if old_is_linux == new_is_linux {
        return Ok(());
    }
    let error = ParamError::new("arithmetic", "E202", "`arithmetic` of a running scheduler would change".into());
    Err(error.help("`arithmetic` is fixed when the run begins: remove it from the change"))
}
