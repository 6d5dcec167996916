//! W301: a policer whose bucket holds long-lived TCP below its contract.
//!
//! Only a policer, which drops what finds no token, does so whatever comes after it. What is only marked is dropped
//! where a queue is congested, if at all: then the contract may be delivered with any bucket.

use crate::resolve::offered::Flowline;
use crate::resolve::ports::{File, Resolved, Stage, parameter};
use perhop_core::conditioner::ConditionerParams;
use perhop_core::design::policer::Policed;
use perhop_core::packet::Colour;
use perhop_core::params::Problems;
use perhop_core::port::edge::{Action, Per};
use perhop_core::units::{BitRate, Bytes, Span};
use perhop_sim::plan;
use perhop_sim::traffic::TrafficParams;

/// Below this share of what the contract needs TCP surely stays below it: the need is known to a factor of two.
const SURE: f64 = 0.5;

/// Warns of every policer whose bucket is too small.
pub fn check(all: Resolved<'_>, problems: &mut Problems) {
    for stage in all.stages {
        let Some(Contract { policed, burst }) = contract(all.file, stage, all.links) else { continue };
        let need = policed.need();
        if burst.get() < u64::from(stage.largest()) || burst.get() as f64 >= SURE * need.get() as f64 {
            continue;
        }
        let message = format!("`{}` will hold TCP below its contract", stage.name);
        let label = format!("{}: nine tenths of it need about {}", flows(&policed), round(need));
        let help = "raise it, let several flows share the bucket, or mark what is red and let a queue drop it";
        problems.warn("W301", stage.places.at("cbs"), message).label(label).help(help);
    }
}

/// A rate that TCP is held to, and what the bucket holds.
#[derive(Clone, Copy, Debug)]
pub struct Contract {
    /// The fewest flows that share a bucket, and their contract.
    pub policed: Policed,
    /// All that may pass at once.
    pub burst: Bytes,
}

/// The contract of a policer of long-lived TCP; `None` if it is another conditioner, if it takes anything else, or if
/// the windows of the hosts keep the flows below it.
pub fn contract(file: File<'_>, stage: &Stage, links: &[plan::Link]) -> Option<Contract> {
    let burst = burst(stage)?;
    let rate = parameter::<BitRate>(stage, "cir")?;
    let taken: Vec<_> = stage.takes.iter().map(|&i| &file.traffic[i]).collect();
    let long_lived = |flow: &&Flowline| flow.tcp && matches!(flow.offered.model, TrafficParams::Ftp(_));
    if taken.is_empty() || !taken.iter().all(long_lived) {
        return None;
    }
    let flows = shared(stage, &taken);
    let all: f64 = taken.iter().map(|flow| f64::from(flow.offered.flows)).sum();
    let mean = |value: &dyn Fn(&Flowline) -> f64| {
        taken.iter().map(|flow| value(flow) * f64::from(flow.offered.flows)).sum::<f64>() / all
    };
    let rtt = mean(&|flow| flow.base_rtt(links).unwrap_or_default().seconds());
    let overhead = stage.spec.scope.overhead;
    let packet = mean(&|flow| f64::from(stage.tokens.of(flow.data + overhead)));
    let policed = Policed { rate, flows, rtt, packet };
    let window = mean(&|flow| f64::from(flow.offered.tcp.window));
    (rtt > 0.0 && window > policed.window()).then_some(Contract { policed, burst })
}

/// The fewest flows that share a bucket.
fn shared(stage: &Stage, taken: &[&Flowline]) -> f64 {
    let sum = |same: &dyn Fn(&Flowline) -> bool| {
        taken.iter().filter(|flow| same(flow)).map(|flow| f64::from(flow.offered.flows)).sum::<f64>()
    };
    let ends = |flow: &Flowline| (flow.offered.from[flow.sender], flow.offered.to);
    let of = |flow: &&Flowline| match stage.spec.per {
        Per::Aggregate => sum(&|_| true),
        Per::Flow => 1.0,
        Per::Pair => sum(&|other| ends(other) == ends(flow)),
        Per::Class => sum(&|other| other.offered.class == flow.offered.class),
    };
    taken.iter().map(of).fold(f64::INFINITY, f64::min)
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
