//! The AF queue of three precedences (RFC 2597 section 2) against ns-2.35, all 15 cases of `af_queue` (`tests/reference/ns2`):
//! `averages` coupled, common and separate against dsRED's RIO-C, WRED and RIO-D, with the thresholds of the RTT-RTO paper.
//!
//! Two pairs: n - 10 Mbit/s - e = TSW3CM, 10 Mbit/s, 0.25 ms = c1 = the queue, 10 Mbit/s, 0.5 ms = c2 - 0.25 ms - f - 0.25 ms -
//! d; round trips of 20 and 100 ms; 10 or 100 NewReno flows each, or Poisson UDP. 100 s, statistics from 20 s on. How they are
//! compared: [`super::ns2`]; the margins: [`Metric::margin`].

use super::ns2::{self, Case, Comparison, SEEDS};
use crate::common::net::{Net, bulk, poisson, scope, stage};
use perhop_core::aqm::early::{Beyond, Common, Counted, Profile, Spacing, Weight};
use perhop_core::aqm::members::Member;
use perhop_core::aqm::{AqmParams, wred};
use perhop_core::conditioner::{ConditionerParams, tsw3cm};
use perhop_core::packet::Colour;
use perhop_core::port::Limit;
use perhop_core::port::edge::StageSpec;
use perhop_core::units::{BitRate, Bytes, Length, Packets, Probability, Span};
use perhop_sim::Outcome;
use perhop_sim::transport::{Config, PartialAckTimer, Recovery};

const ROOM: u32 = 100;
const SIZE: u64 = 1024;
const RATE: BitRate = BitRate::mbps(10);
/// Indices of the bottleneck and of the markers' links.
const CORE: usize = 0;
const EDGES: [usize; 2] = [4, 12];
/// What is measured: from 20 s to 100 s.
const WARMUP: Span = Span::from_s(20);
const MEASURED: f64 = 80.0;
const AF: [Colour; 3] = [Colour::Green, Colour::Yellow, Colour::Red];

/// What is compared.
#[derive(Clone, Copy, Debug)]
enum Metric {
    /// Throughput of an aggregate.
    Mbps(usize),
    /// Share of what an edge marked so.
    Marked(usize, usize),
    /// Packets of a precedence at the core.
    Came(usize),
    /// Share of them that was dropped.
    Loss(usize),
    /// Packets waiting at the core.
    Queue,
}

impl Metric {
    fn all() -> Vec<Self> {
        let marked = [0, 1].into_iter().flat_map(|edge| (0..3).map(move |colour| Self::Marked(edge, colour)));
        let core = (0..3).flat_map(|p| [Self::Came(p), Self::Loss(p)]);
        [Self::Mbps(0), Self::Mbps(1)].into_iter().chain(marked).chain(core).chain([Self::Queue]).collect()
    }

    /// Largest relative difference.
    fn margin(self) -> f64 {
        match self {
            Self::Mbps(_) | Self::Marked(..) | Self::Came(_) | Self::Queue => 0.02,
            Self::Loss(_) => 0.05,
        }
    }

    fn theirs(self, case: &Case) -> Vec<f64> {
        match self {
            Self::Mbps(pair) => case.theirs("aggregate_mbps", Some(pair)),
            Self::Marked(edge, colour) => case.theirs(&format!("marked_share_{}", edge + 1), Some(colour)),
            Self::Came(p) => case.theirs(&format!("prec{p}_pkts"), None),
            Self::Loss(p) => case.theirs(&format!("prec{p}_drop_ratio"), None),
            Self::Queue => case.theirs("mean_queue_pkts", None),
        }
    }

    fn ours(self, outcome: &Outcome, case: &Case) -> f64 {
        let core = |p: usize| ns2::coloured(outcome, CORE, AF[p]);
        match self {
            Self::Mbps(pair) => mbps(outcome, pair, case),
            Self::Marked(edge, colour) => {
                let came = AF.map(|c| ns2::coloured(outcome, EDGES[edge], c).0);
                came[colour] / came.iter().sum::<f64>()
            }
            Self::Came(p) => core(p).0,
            Self::Loss(p) => core(p).1 / core(p).0,
            Self::Queue => ns2::waited(outcome, CORE) / MEASURED,
        }
    }
}

fn is_udp(case: &Case) -> bool {
    case.name.contains("udp")
}

/// ns-2's sinks count whole packets.
fn mbps(outcome: &Outcome, pair: usize, case: &Case) -> f64 {
    let payload = if is_udp(case) { SIZE - 28 } else { u64::from(tcp().mss) };
    let bytes: u64 = outcome.flows.iter().filter(|flow| flow.table == pair).map(|flow| flow.goodput_bytes).sum();
    bytes as f64 * SIZE as f64 / payload as f64 * 8e-6 / MEASURED
}

fn tcp() -> Config {
    let recovery = Recovery::NewReno(PartialAckTimer::First);
    Config { recovery, window: 64, mss: SIZE as u16 - 40, ..Config::default() }
}

fn averages(case: &Case) -> Counted {
    match case.text("mode") {
        "RIO-C" => Counted::Coupled,
        "RIO-D" => Counted::Separate,
        _ => Counted::Common,
    }
}

fn queue(averages: Counted) -> AqmParams {
    let thresholds = [(40, 55, 0.02), (25, 40, 0.05), (10, 25, 0.1)];
    let packets = |n| Length::Packets(Packets::new(n));
    let class = |(colour, (min, max, p))| wred::Class {
        filter: vec![Member::Colour(colour)].into(),
        profile: Profile { min: packets(min), max: packets(max), max_p: Probability::new(p).unwrap() }.into(),
    };
    let common = Common {
        weight: Weight(0.002),
        mean_packet: Bytes::new(SIZE),
        spacing: Spacing::DsRed,
        beyond: Beyond::Drop,
        ecn: false,
    };
    AqmParams::Wred(wred::Params { profiles: AF.into_iter().zip(thresholds).map(class).collect(), averages, common })
}

fn contract(case: &Case) -> StageSpec {
    let rate = |name, default| BitRate::bps(case.number(name, default) as u64);
    let marker = tsw3cm::Params { cir: rate("cir", 2e6), pir: rate("pir", 3e6), window: Span::from_s(1) };
    stage("contract", ConditionerParams::Tsw3Cm(marker))
}

fn net(case: &Case, averages: Counted) -> Net {
    let mut net = Net::new(10, Span::from_s(100));
    net.plan.warmup = WARMUP;
    let (c1, c2) = (8, 9);
    net.duplex([c1, c2], RATE, Span::from_us(500));
    let bottleneck = &mut net.plan.links[CORE].queues[0];
    bottleneck.aqm = queue(averages);
    (bottleneck.limit, bottleneck.scope) = (Limit::Packets(ROOM), scope(RATE, ROOM));
    for (pair, host_us) in [8_750, 48_750].into_iter().enumerate() {
        let [n, e, f, d] = [0, 1, 2, 3].map(|i| 4 * pair + i);
        net.duplex([n, e], RATE, Span::from_us(host_us));
        for ends in [[e, c1], [c2, f], [f, d]] {
            net.duplex(ends, RATE, Span::from_us(250));
        }
        net.plan.links[EDGES[pair]].edge = vec![contract(case)];
        let model = if is_udp(case) { poisson(BitRate::bps(case.number("rate", 0.0) as u64), SIZE) } else { bulk() };
        let flow = net.traffic([n, d], model);
        (flow.flows, flow.spread, flow.tcp) = (case.number("n", 1.0) as u32, Span::from_s(1), tcp());
    }
    for link in net.plan.links.iter_mut().skip(1) {
        link.queues[0].limit = Limit::Packets(5000);
    }
    net
}

fn compare(case: &Case, averages: Counted) -> Vec<Comparison> {
    let mut net = net(case, averages);
    let outcomes: Vec<_> = (0..SEEDS).map(|replication| net.replicate(replication)).collect();
    let one = |metric: Metric| {
        let ours: Vec<f64> = outcomes.iter().map(|outcome| metric.ours(outcome, case)).collect();
        Comparison::new(&format!("{} {metric:?}", case.name), [&ours, &metric.theirs(case)], metric.margin())
    };
    Metric::all().into_iter().map(one).collect()
}

/// A hundred flows in each aggregate leave the link idle now and then, and dsRED decays its averages more than RED: a virtual
/// queue counts as idle from the start of its last packet's transmission on, and with WRED the one average does as soon as
/// nothing of the leaving packet's precedence waits, whatever else does. A lower average is a longer queue: coupled 23.57
/// packets, ours 23.28; WRED 23.86, ours 23.31, and with it 1.5 % in the near aggregate's rate. With dsRED's idle time in ours
/// all of these but the queues agree, and the queues are 0.8 and 0.6 % above ns-2's; 0.3 and 0.4 % where access links of 12.3
/// Mbit/s, in both, keep arrivals from the times of departures, whose order differs. That remainder, three standard errors,
/// is not explained. (Tried once; no setting.)
///
/// A queue that is full: see [`a_full_queue_is_not_that_of_ns2`].
const KNOWN: [&str; 8] = [
    "RIO-C/tcp100 Queue",
    "WRED/tcp100 Mbps(0)",
    "WRED/tcp100 Marked(0, 1)",
    "WRED/tcp100 Marked(0, 2)",
    "WRED/tcp100 Came(2)",
    "WRED/tcp100 Queue",
    "RIO-D/udp_yellow Loss(0)",
    "RIO-D/udp_yellow Loss(2)",
];

/// Beyond their margins: described at the second test.
const FULL: [&str; 2] = ["RIO-D/udp_green Loss(1)", "RIO-D/udp_green Loss(2)"];

fn is_one_of(list: &[&str], c: &Comparison) -> bool {
    list.iter().any(|begins| c.what.starts_with(begins))
}

#[test]
fn the_af_queue_is_that_of_ns2() {
    let cases = Case::all("af_queue.json");
    assert_eq!(cases.len(), 15);
    let mut compared: Vec<Comparison> = cases.iter().flat_map(|case| compare(case, averages(case))).collect();
    compared.retain(|c| !is_one_of(&FULL, c));
    assert_eq!(compared.len(), 15 * 15 - FULL.len());
    ns2::judge_but(&compared, &KNOWN);
}

/// Under overload no precedence yields to another with separate averages, and the queue is full time and again. dsRED drops a
/// packet that finds it full before it moves an average, and leaves the count between drops alone. So its averages stand
/// still, the queue stays full for longer, and more of the few yellow and red packets are lost to it: 1.2 and 1.4 %, ours 0.9
/// and 1.1 %. Floyd and Jacobson's average moves at every arrival. With dsRED's rule in ours all 45 comparisons of
/// separate averages under UDP pass (tried once; no setting).
#[test]
fn a_full_queue_is_not_that_of_ns2() {
    let case = Case::all("af_queue.json").into_iter().find(|case| case.name == "RIO-D/udp_green").unwrap();
    let compared = compare(&case, Counted::Separate);
    let full: Vec<_> = compared.iter().filter(|c| is_one_of(&FULL, c)).collect();
    assert_eq!(full.len(), FULL.len());
    for loss in full {
        assert!((0.65..0.9).contains(&loss.ratio), "{}", loss.what);
    }
}

/// The comparison is sharp enough to see what the averages count: where the link has no room for yellow, each of the other two
/// is rejected at the strictest bound that Holm's procedure uses, in what green or yellow loses.
#[test]
fn other_averages_are_told_apart_from_those_of_ns2() {
    let strictest = 0.01 / (15 * 15) as f64;
    let all = [Counted::Common, Counted::Coupled, Counted::Separate];
    let cases = Case::all("af_queue.json").into_iter().filter(|case| case.name.ends_with("udp_yellow"));
    for case in cases {
        for wrong in all.into_iter().filter(|counted| *counted != averages(&case)) {
            let compared = compare(&case, wrong);
            let losses = compared.iter().filter(|c| c.what.contains("Loss(0)") || c.what.contains("Loss(1)"));
            let least = losses.map(|c| c.p).fold(1.0, f64::min);
            assert!(least < strictest, "{} {wrong:?}: {least}", case.name);
        }
    }
}
