//! W301: a policer whose bucket holds long-lived TCP below its contract, by the table of its stack.
//!
//! Only a policer, which drops what finds no token, does so whatever comes after it. What is only marked is dropped
//! where a queue is congested, if at all: then the contract may be delivered with any bucket. A shaper or a link before the policer
//! that lets out no more than the rate makes any bucket large enough. One behind it does not: its ACKs slow TCP down to its rate, but
//! bunches still come to the bucket.

use crate::resolve::offered::Flowline;
use crate::resolve::ports::{File, Resolved, Stage, parameter};
use perhop_core::conditioner::ConditionerParams;
use perhop_core::design::policer::{ENOUGH, ERROR, Policed, Sender};
use perhop_core::math::{decade, power_of_ten};
use perhop_core::packet::Colour;
use perhop_core::params::Problems;
use perhop_core::port::edge::{Action, Per};
use perhop_core::sched::SchedulerParams;
use perhop_core::units::{BitRate, Bytes, Span};
use perhop_sim::plan;
use perhop_sim::traffic::TrafficModel as _;
use perhop_sim::transport::{Config, CongestionLaw as _, Recovery};

/// Warns of every policer whose bucket is surely too small.
pub fn check(all: Resolved<'_>, problems: &mut Problems) {
    for stage in all.stages {
        let Some(contract) = contract(all.file, stage, all.links) else { continue };
        if contract.burst.get() < u64::from(stage.largest()) || contract.share() + ERROR >= ENOUGH {
            continue;
        }
        let message = format!("`{}` will hold TCP below its contract", stage.name);
        let label = format!("{}: {}", flows(&contract.policed), contract.expected());
        let help = format!(
            "{}; or let several flows share the bucket, or mark red packets and let a queue drop them",
            contract.remedy()
        );
        problems.warn("W301", stage.places.at("cbs"), message).label(label).help(help);
    }
}

/// A rate that TCP is held to, and what the bucket holds.
#[derive(Clone, Copy, Debug)]
pub struct Contract {
    /// The flows that share a bucket, and their contract.
    pub policed: Policed,
    /// All that may pass at once.
    pub burst: Bytes,
    /// Bytes of data in a packet.
    data: f64,
}

impl Contract {
    /// The share of the contract that arrives.
    pub fn share(&self) -> f64 {
        self.policed.share(self.burst)
    }

    /// `goodput about 2.4Mbit/s, 26 % of cir`
    pub fn expected(&self) -> String {
        let share = self.share();
        let goodput = share * self.policed.rate.bytes_s() * 8.0 * self.data / self.policed.packet;
        format!("goodput about {}, {:.0} % of cir", rate(goodput), 100.0 * share)
    }

    /// `nine tenths need about 52kB with stack "linux"`
    pub fn remedy(&self) -> String {
        let stack = self.policed.sender.stack();
        match self.policed.need() {
            Some(need) => {
                format!("for nine tenths of cir the bucket needs about {} with stack \"{stack}\"", round(need))
            }
            None => format!("no bucket of 32 round trips at cir gives nine tenths of it with stack \"{stack}\""),
        }
    }
}

/// To two digits.
fn rate(bit_s: f64) -> BitRate {
    let unit = power_of_ten((decade(bit_s) - 1).max(0));
    BitRate::bps(((bit_s / unit).round() * unit) as u64)
}

/// The row of the table for a sender, if there is one.
fn sender(tcp: &Config) -> Option<Sender> {
    match tcp.recovery {
        Recovery::Rack => tcp.congestion.policed(),
        Recovery::Reno | Recovery::NewReno(_) => Some(Sender::Classic),
    }
}

/// The contract of a policer of long-lived TCP, of the bucket that delivers least of it; `None` if it is another
/// conditioner, if it takes anything else or a sender that the table lacks, or if a shaper before it or the windows of the
/// hosts keep the flows below it.
pub fn contract(file: File<'_>, stage: &Stage, links: &[plan::Link]) -> Option<Contract> {
    let burst = burst(stage)?;
    let rate = parameter::<BitRate>(stage, "cir")?;
    let taken: Vec<_> = stage.takes.iter().map(|&i| &file.traffic[i]).collect();
    let long_lived = |flow: &&Flowline| flow.offered.model.is_bulk_tcp();
    let (accounting, largest) =
        (stage.spec.scope.accounting, taken.iter().map(|flow| flow.data).max().unwrap_or_default());
    let passes = |link: &plan::Link| link.carries(largest, accounting) <= rate || shaped(link, rate, burst);
    if taken.is_empty() || !taken.iter().all(long_lived) || before(stage, &taken).any(|link| passes(&links[link])) {
        return None;
    }
    let of = |bucket: Vec<&Flowline>| Bucket { stage, flows: bucket, links }.contract(rate, burst);
    buckets(stage, taken).into_iter().filter_map(of).min_by(|a, b| a.share().total_cmp(&b.share()))
}

/// Flows that share a bucket.
struct Bucket<'a> {
    stage: &'a Stage,
    flows: Vec<&'a Flowline>,
    links: &'a [plan::Link],
}

impl Bucket<'_> {
    /// Of several kinds of sender, that of the kind that would get most: no less is delivered, because it takes what the
    /// others leave.
    fn contract(&self, rate: BitRate, burst: Bytes) -> Option<Contract> {
        let rtt = self.mean(|flow| flow.base_rtt(self.links).unwrap_or_default().seconds());
        let overhead = self.stage.spec.scope.accounting.overhead();
        let packet = self.mean(|flow| f64::from(self.stage.tokens.of(flow.data + overhead)));
        let data = self.mean(|flow| f64::from(flow.offered.tcp.mss));
        let window = self.mean(|flow| f64::from(flow.offered.tcp.window));
        let flows = if self.stage.spec.per == Per::Flow { 1.0 } else { self.count() };
        let senders: Option<Vec<_>> = self.flows.iter().map(|flow| sender(&flow.offered.tcp)).collect();
        let one = |sender| Contract { policed: Policed { sender, rate, flows, rtt, packet }, burst, data };
        let most = senders?.into_iter().map(one).max_by(|a, b| a.share().total_cmp(&b.share()))?;
        (rtt > 0.0 && window > most.policed.window()).then_some(most)
    }

    /// How many they are.
    fn count(&self) -> f64 {
        self.flows.iter().map(|flow| f64::from(flow.offered.flows)).sum()
    }

    /// The mean over all.
    fn mean(&self, value: impl Fn(&Flowline) -> f64) -> f64 {
        self.flows.iter().map(|flow| value(flow) * f64::from(flow.offered.flows)).sum::<f64>() / self.count()
    }
}

/// Whether all that leaves a link is within a rate and a burst, as a shaper or a CAKE with a rate makes it. CAKE lets one packet out
/// at a time.
fn shaped(link: &plan::Link, rate: BitRate, burst: Bytes) -> bool {
    let Some(root) = link.nodes.first() else { return false };
    let shaper = root.shaper.as_ref().is_some_and(|shaper| shaper.rate <= rate && shaper.burst <= burst);
    shaper
        || matches!(root.scheduler(), Some(SchedulerParams::Cake(cake)) if cake.rate.is_some_and(|cake| cake <= rate))
}

/// The links that all these flows take on their way to a policer.
fn before<'a>(stage: &'a Stage, taken: &'a [&Flowline]) -> impl Iterator<Item = usize> + 'a {
    let way =
        |flow: &'a Flowline| flow.forward.iter().map(|&link| link as usize).take_while(|&link| link != stage.link);
    way(taken[0]).filter(move |link| taken.iter().all(|flow| way(flow).any(|it| it == *link)))
}

/// Flows by the bucket that they share.
fn buckets<'a>(stage: &Stage, taken: Vec<&'a Flowline>) -> Vec<Vec<&'a Flowline>> {
    let ends = |flow: &Flowline| (flow.offered.from[flow.sender], flow.offered.to);
    let same = |a: &Flowline, b: &Flowline| match stage.spec.per {
        Per::Aggregate => true,
        Per::Flow => false,
        Per::Pair => ends(a) == ends(b),
        Per::Source => ends(a).0 == ends(b).0,
        Per::Destination => ends(a).1 == ends(b).1,
        Per::Class => a.offered.class == b.offered.class,
    };
    let mut buckets: Vec<Vec<&Flowline>> = Vec::new();
    for flow in taken {
        match buckets.iter_mut().find(|bucket| same(bucket[0], flow)) {
            Some(bucket) => bucket.push(flow),
            None => buckets.push(vec![flow]),
        }
    }
    buckets
}

/// What a policer lets pass at once beyond its rate `cir`; `None` if it is no policer of that rate.
fn burst(stage: &Stage) -> Option<Bytes> {
    let drops = |colour: Colour| stage.spec.actions[colour.index()] == Action::Drop;
    let above = [Colour::Yellow, Colour::Red].map(drops);
    match (&stage.spec.params, above) {
        _ if drops(Colour::Green) => None,
        (ConditionerParams::TokenBucketMarker(params), [_, true]) => params.cbs.tokens(params.cir),
        (ConditionerParams::SrTcm(params), [false, true]) => {
            Some(params.cbs.tokens(params.cir)? + params.ebs.tokens(params.cir)?)
        }
        (ConditionerParams::SrTcm(params), [true, true]) => params.cbs.tokens(params.cir),
        (ConditionerParams::TrTcm(params), [true, true]) => params.cbs.tokens(params.cir),
        (ConditionerParams::TrTcm4115(params), [true, true]) => params.cbs.tokens(params.cir),
        _ => None,
    }
}

/// `5 flows at a base RTT of 40 ms`
pub fn flows(policed: &Policed) -> String {
    let rtt = Span::from_ns((policed.rtt * 1e3).round() as u64 * 1_000_000);
    match policed.flows {
        1.0 => format!("1 flow at a base RTT of {rtt}"),
        n => format!("{n:.0} flows at a base RTT of {rtt}"),
    }
}

/// To two digits.
pub fn round(size: Bytes) -> Bytes {
    let digits = size.get().max(1).ilog10();
    let unit = 10u64.pow(digits.saturating_sub(1));
    Bytes::new(size.get().div_ceil(unit) * unit)
}
