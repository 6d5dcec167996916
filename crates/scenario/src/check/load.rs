//! The load of a queue: which traffic reaches it, in which class, how many flows over which round-trip times.

use crate::resolve::arriving::Arriving;
use crate::resolve::offered::Flowline;
use crate::resolve::reaching::Lists;
use crate::resolve::topology::Direction;
use perhop_core::aqm::AqmParams;
use perhop_core::aqm::members::Filter;
use perhop_core::aqm::virtual_buffer::Common;
use perhop_core::design::msvb::{Bottleneck, Setting};
use perhop_core::params::{Params, Tree};
use perhop_core::port::{Limit, QueueSpec};
use perhop_core::units::Time;
use perhop_sim::plan;
use perhop_sim::traffic::TrafficModel as _;
use std::collections::BTreeSet;

/// Which algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One loop.
    Svb,
    /// A class each.
    Msvb,
}

impl Kind {
    /// Its name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Svb => "svb",
            Self::Msvb => "msvb",
        }
    }

    /// The default alpha.
    pub const fn alpha(self) -> f64 {
        match self {
            Self::Svb => 0.05,
            Self::Msvb => 0.5,
        }
    }
}

/// A class of a queue and the traffic in it.
#[derive(Clone, Debug)]
pub(crate) struct Group<'a> {
    /// Its packets.
    pub filter: Filter,
    /// Share of the link.
    pub share: f64,
    /// Long-lived TCP.
    pub tcp: Vec<&'a Flowline>,
    /// All other data.
    pub others: Vec<&'a Flowline>,
}

/// The name of a link's `[queue]`, if it has one.
pub(crate) fn queue_name(direction: &Direction) -> Option<&str> {
    direction.queue.as_deref()
}

/// A link's queue; `None` if a scheduler has several.
pub(crate) fn only_queue(link: &plan::Link) -> Option<&QueueSpec> {
    link.scheduler().is_none().then(|| &link.queues[0])
}

/// The link, or what bounds its queue, in packets of this many bytes of IP.
pub(crate) fn bottleneck(link: &plan::Link, packet: u64, reference: f64) -> Bottleneck {
    let held = |queue: &QueueSpec| match queue.limit {
        Limit::Packets(n) => f64::from(n),
        Limit::Bytes(n) => n as f64 / packet as f64,
    };
    let limit = link.queues.iter().map(held).sum();
    let rate = only_queue(link).and_then(|queue| queue.scope.link_rate).unwrap_or(link.rate);
    let of_link = rate == link.rate;
    let on_link = packet + if of_link { u64::from(link.framing.overhead()) } else { 0 };
    Bottleneck { capacity: rate.bytes_s() / on_link as f64, limit, reference }
}

/// What the queue has, in packets of `capacity` a second: its own unit is that of its virtual queue.
pub(crate) fn in_force(link: &plan::Link, capacity: f64) -> Option<Setting> {
    let queue = only_queue(link)?;
    let (common, alpha): (&Common, Vec<f64>) = match &queue.aqm {
        AqmParams::Svb(params) => (&params.common, vec![params.alpha]),
        AqmParams::Msvb(params) => (&params.common, params.classes.iter().map(|class| class.alpha).collect()),
        _ => return None,
    };
    let (virtual_queue, v0) = common.queue(&queue.scope).ok()?;
    let scale = capacity / virtual_queue.capacity();
    Some(Setting { v0: v0 * scale, floor: virtual_queue.at(Time::ZERO) * scale, alpha })
}

/// What arrives at a link's queue.
#[derive(Clone, Copy)]
pub(crate) struct Crossing<'a> {
    /// All traffic.
    pub traffic: &'a [Flowline],
    /// What of it arrives.
    pub arriving: &'a [Arriving],
}

/// The classes of a link's queue, with who is in them.
pub(crate) fn groups<'a>(kind: Kind, link: &plan::Link, crossing: Crossing<'a>) -> Result<Vec<Group<'a>>, [String; 2]> {
    let group = |filter: &Filter, share| Group { filter: filter.clone(), share, tcp: vec![], others: vec![] };
    let (mut groups, lists) = match (kind, only_queue(link).map(|queue| &queue.aqm)) {
        (Kind::Svb, _) => (vec![group(&Filter::default(), 1.0)], None),
        (Kind::Msvb, Some(AqmParams::Msvb(params))) => {
            let mut shown = Vec::new();
            Params::show(params, &mut shown);
            let scope = only_queue(link).map(|queue| &*queue.scope.conditioners).unwrap_or_default();
            let lists = Lists::find(shown, scope);
            (params.classes.iter().map(|class| group(&class.filter, class.share.get())).collect(), lists)
        }
        (Kind::Msvb, aqm) => {
            let what = aqm.map_or("a scheduler's", AqmParams::name);
            let message = format!("the queue of `{}` is {what}: it has no classes of MSVB", link.name);
            return Err([message, "state them by ⟨class⟩, or use `perhop tune svb`".into()]);
        }
    };
    for arriving in crossing.arriving.iter().filter(|arriving| !arriving.acks) {
        let flow = &crossing.traffic[arriving.traffic];
        let class = match &lists {
            Some(lists) => class_of(lists, flow, arriving)?,
            None => 0,
        };
        if flow.offered.model.is_bulk_tcp() { &mut groups[class].tcp } else { &mut groups[class].others }.push(flow);
    }
    Ok(groups)
}

fn class_of(lists: &Lists, flow: &Flowline, arriving: &Arriving) -> Result<usize, [String; 2]> {
    let classes: BTreeSet<_> = arriving.looks.iter().flat_map(|look| lists.goes(&arriving.ends, *look)).collect();
    match classes.first() {
        Some(one) if classes.len() == 1 => Ok(*one),
        _ => Err([
            format!(
                "traffic `{}` may come in more than one class: a conditioner, a mark or a port decides",
                flow.offered.name
            ),
            "state the load of each class by ⟨class⟩".into(),
        ]),
    }
}

/// Fewest and most flows that are active at once, while any is.
pub(crate) fn range(flows: &[&Flowline]) -> Option<[f64; 2]> {
    let begin = |flow: &Flowline| flow.offered.start + flow.offered.spread;
    let end = |flow: &Flowline| flow.offered.stop.unwrap_or(Time::MAX);
    let instants = flows.iter().flat_map(|flow| [begin(flow), end(flow)]).filter(|at| *at < Time::MAX);
    let there = |at: Time| flows.iter().filter(move |flow| begin(flow) <= at && at < end(flow));
    let counts: Vec<_> = instants.map(|at| there(at).map(|flow| flow.offered.flows).sum::<u32>()).collect();
    let some = counts.iter().copied().filter(|n| *n > 0);
    Some([f64::from(some.clone().min()?), f64::from(some.max()?)])
}

/// The longest base RTT, s; 0 without any.
pub(crate) fn longest(flows: &[&Flowline], links: &[plan::Link]) -> f64 {
    flows.iter().filter_map(|flow| flow.base_rtt(links)).max().unwrap_or_default().seconds()
}

/// Whether an AQM has `ecn = true`.
pub(crate) fn marks(aqm: &AqmParams) -> bool {
    let mut shown = Vec::new();
    aqm.show(&mut shown);
    shown.iter().any(|(name, value)| *name == "ecn" && *value == Tree::Bool(true))
}
