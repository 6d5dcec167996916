//! The load of the paper on MSVB and SIO against ns-2.35, all 13 cases of `mixed_load` (`tests/reference/ns2`): Table 1's RIO
//! at four contracts and two sets of CBR rates, Fig. 4's RED with and without ns-2's `wait_`.
//!
//! Ten pairs s - 100 Mbit/s, 25 ms - e1 = token bucket for each pair, 100 Mbit/s, 5 ms = c = RIO-C or RED, 10 Mbit/s, 5 ms =
//! e2 - 100 Mbit/s, 25 ms - d; pairs 1 to 5 have five Reno flows each, 6 to 10 one CBR each. 100 s, statistics from 10 s on.
//! How they are compared: [`super::ns2`]; the margins: [`Metric::margin`].

use super::ns2::{self, Case, Comparison, SEEDS};
use crate::common::net::{Net, bulk, red, scope, stage};
use perhop_core::aqm::early::{Beyond, Common, Profile, Spacing, Weight};
use perhop_core::aqm::{AqmParams, rio};
use perhop_core::conditioner::{ConditionerParams, token_bucket};
use perhop_core::packet::Colour;
use perhop_core::port::Limit;
use perhop_core::port::edge::{Per, StageSpec};
use perhop_core::units::{BitRate, Bytes, Length, Packets, Probability, Span};
use perhop_sim::Outcome;
use perhop_sim::traffic::{TrafficParams, cbr};
use perhop_sim::transport::Config;

const PAIRS: usize = 10;
/// Of these, how many use TCP.
const TCP: usize = 5;
const ROOM: u32 = 100;
const BOTTLENECK: BitRate = BitRate::mbps(10);
const ACCESS: BitRate = BitRate::mbps(100);
/// Indices of the markers' link and of the bottleneck.
const EDGE: usize = 0;
const CORE: usize = 2;
/// What is measured: from 10 s to 100 s.
const WARMUP: Span = Span::from_s(10);
const MEASURED: f64 = 90.0;

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Metric {
    /// A pair's share of the link.
    Share(usize),
    /// That of the TCP flows together.
    Tcp,
    /// Packets waiting at the bottleneck.
    Queue,
    /// IN that the queue took, of the link's rate.
    In,
    /// Share of the packets marked so that RIO dropped.
    InLoss,
    OutLoss,
}

impl Metric {
    /// Of RED the first twelve, of RIO all.
    fn of(case: &Case) -> Vec<Self> {
        let rio = [Self::In, Self::InLoss, Self::OutLoss];
        let marked = if is_rio(case) { &rio[..] } else { &[] };
        (0..PAIRS).map(Self::Share).chain([Self::Tcp, Self::Queue]).chain(marked.iter().copied()).collect()
    }

    /// Largest relative difference. IN losses are a few packets in 10^4 but at the largest contract.
    fn margin(self) -> f64 {
        match self {
            Self::In => 0.01,
            Self::Queue | Self::OutLoss => 0.02,
            Self::Share(pair) if pair >= TCP => 0.02,
            Self::Share(_) | Self::Tcp | Self::InLoss => 0.05,
        }
    }

    fn theirs(self, case: &Case) -> Vec<f64> {
        match self {
            Self::Share(pair) => case.theirs("class_share", Some(pair)),
            Self::Tcp => case.theirs("tcp_share", None),
            Self::Queue => case.theirs("mean_queue_pkts", None),
            Self::In => case.theirs("in_share", None),
            Self::InLoss => case.theirs("in_drop_ratio", None),
            Self::OutLoss => case.theirs("out_drop_ratio", None),
        }
    }
}

fn is_rio(case: &Case) -> bool {
    !case.name.starts_with("red")
}

fn profile(min: u32, max: u32, p: f64) -> Profile {
    let packets = |n| Length::Packets(Packets::new(n));
    Profile { min: packets(min), max: packets(max), max_p: Probability::new(p).unwrap() }
}

fn aqm(case: &Case) -> AqmParams {
    if is_rio(case) {
        let common = Common {
            weight: Weight(0.002),
            mean_packet: Bytes::new(1000),
            spacing: Spacing::DsRed,
            beyond: Beyond::Drop,
            ecn: false,
        };
        let (in_profile, out_profile) = (profile(40, 80, 0.02), profile(20, 40, 0.1));
        return AqmParams::Rio(rio::Params { in_profile, out_profile, mode: rio::Mode::RioC, common });
    }
    let mut red = red(20, 80, 0.1);
    red.common.spacing = if case.number("wait", 0.0) == 1.0 { Spacing::Wait } else { Spacing::Uniformised };
    red.min_waiting = Packets::new(2);
    AqmParams::Red(red)
}

fn buckets(case: &Case) -> StageSpec {
    let cir = BitRate::kbps((case.number("cir", 1.0) * 1000.0) as u64);
    let params = token_bucket::Params::new(cir, Bytes::new(8000));
    StageSpec { per: Per::Pair, ..stage("contract", ConditionerParams::TokenBucketMarker(params)) }
}

/// The CBR of a pair: i - 5 Mbit/s, or 2 (i - 5) - 1, i from 6 on.
fn cbr(case: &Case, pair: usize) -> TrafficParams {
    let i = (pair - TCP + 1) as u64;
    let rate = BitRate::mbps(if case.name.contains("odd") { 2 * i - 1 } else { i });
    let jitter = Probability::new(0.5 * case.number("jit", 1.0)).unwrap();
    TrafficParams::Cbr(cbr::Params { rate, size: Bytes::new(1000), jitter, random_phase: false })
}

fn net(case: &Case) -> Net {
    let mut net = Net::new(2 * PAIRS + 3, Span::from_s(100));
    net.plan.warmup = WARMUP;
    let [e1, c, e2] = [0, 1, 2].map(|i| 2 * PAIRS + i);
    net.duplex([e1, c], ACCESS, Span::from_ms(5));
    net.link([c, e2], BOTTLENECK, Span::from_ms(5));
    net.link([e2, c], ACCESS, Span::from_ms(5));
    if is_rio(case) {
        net.plan.links[EDGE].edge = vec![buckets(case)];
    }
    let bottleneck = &mut net.plan.links[CORE].queues[0];
    bottleneck.aqm = aqm(case);
    (bottleneck.limit, bottleneck.scope) = (Limit::Packets(ROOM), scope(BOTTLENECK, ROOM));
    for pair in 0..PAIRS {
        net.duplex([pair, e1], ACCESS, Span::from_ms(25));
        net.duplex([e2, PAIRS + pair], ACCESS, Span::from_ms(25));
        let flow = net.traffic([pair, PAIRS + pair], if pair < TCP { bulk() } else { cbr(case, pair) });
        (flow.flows, flow.spread) = (if pair < TCP { 5 } else { 1 }, Span::from_s(1));
        flow.tcp = Config { window: 100, ..case.tcp() };
    }
    net
}

/// One replication's values, in the order of [`Metric::of`].
fn sample(outcome: &Outcome, case: &Case) -> Vec<f64> {
    let capacity = BOTTLENECK.bit_s() as f64 * MEASURED;
    // ns-2's sinks count whole packets of 1000 bytes
    let whole = |pair: usize| 1000.0 / if pair < TCP { f64::from(case.tcp().mss) } else { 972.0 };
    let mut values = vec![0.0; PAIRS];
    for flow in &outcome.flows {
        values[flow.table] += flow.goodput_bytes as f64 * whole(flow.table) * 8.0 / capacity;
    }
    values.extend([values[..TCP].iter().sum(), ns2::waited(outcome, CORE) / MEASURED]);
    if is_rio(case) {
        let coloured = |colour| ns2::coloured(outcome, CORE, colour);
        let ((green, green_lost), (red, red_lost)) = (coloured(Colour::Green), coloured(Colour::Red));
        values.extend([(green - green_lost) * 8000.0 / capacity, green_lost / green, red_lost / red]);
    }
    values
}

fn compare(case: &Case, net: &mut Net) -> Vec<Comparison> {
    let samples: Vec<_> = (0..SEEDS).map(|replication| sample(&net.replicate(replication), case)).collect();
    let one = |(i, metric): (usize, Metric)| {
        let ours: Vec<f64> = samples.iter().map(|s| s[i]).collect();
        Comparison::new(&format!("{} {metric:?}", case.name), [&ours, &metric.theirs(case)], metric.margin())
    };
    Metric::of(case).into_iter().enumerate().map(one).collect()
}

#[test]
fn rio_and_red_under_the_papers_load_are_those_of_ns2() {
    let cases = Case::all("mixed_load.json");
    assert_eq!(cases.len(), 13);
    let all = |cases: &[Case]| cases.iter().flat_map(|case| compare(case, &mut net(case))).collect::<Vec<_>>();
    // It is the last of the long tests: half of the cases on another thread.
    let (first, second) = cases.split_at(cases.len() / 2);
    let compared = std::thread::scope(|scope| {
        let first = scope.spawn(|| all(first));
        let second = all(second);
        [first.join().unwrap(), second].concat()
    });
    assert_eq!(compared.len(), 9 * (PAIRS + 5) + 4 * (PAIRS + 2));
    ns2::judge(&compared);
}
