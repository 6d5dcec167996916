//! Ten Reno flows over one RED bottleneck against ns-2.35, all 14 cases of `pps_rtt` (`tests/reference/ns2`).
//!
//! Source i - access link - p = RED, 1.1 Mbit/s, 5 ms = q - 1 ms - sink i; round trips of 30 ms, or of 30, 60 ... 300 ms;
//! 200 s from the start on. How they are compared: [`super::ns2`]; the margins: [`Metric::margin`].
//!
//! ns-2's RED drops nothing while fewer than two packets wait: `min-waiting`. It matters where varied round trips and
//! small packets let the queue run empty.

use super::ns2::{self, Comparison, SECONDS, SEEDS};
use crate::common::net::{Net, bulk, drop_tail, red, scope};
use crate::stats;
use perhop_core::aqm::AqmParams;
use perhop_core::aqm::early::{Beyond, Spacing};
use perhop_core::math::pow;
use perhop_core::port::Limit;
use perhop_core::units::{BitRate, Bytes, Packets, Span};
use perhop_sim::Outcome;

const FLOWS: usize = 10;
const ROOM: u32 = 100;
const BOTTLENECK: BitRate = BitRate::kbps(1100);
/// Index of the bottleneck among the links.
const RED: usize = 0;

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Metric {
    /// Throughput of a flow: by number if round trips vary, else by rank.
    Flow(usize),
    Sigma,
    Sum,
    Timeouts,
    /// Segments sent again.
    Repeated,
    /// Packets dropped at the bottleneck.
    Drops,
    /// Packets waiting there.
    Queue,
}

impl Metric {
    fn all() -> Vec<Self> {
        let flows = (0..FLOWS).map(Self::Flow);
        flows.chain([Self::Sigma, Self::Sum, Self::Timeouts, Self::Repeated, Self::Drops, Self::Queue]).collect()
    }

    /// Largest relative difference.
    fn margin(self) -> f64 {
        match self {
            Self::Sum => 0.01,
            Self::Drops | Self::Queue => 0.02,
            Self::Flow(_) | Self::Timeouts | Self::Repeated => 0.05,
            Self::Sigma => 0.10,
        }
    }
}

const COMPARISONS: usize = 14 * (FLOWS + 6);

/// One case of the record.
struct Case {
    record: ns2::Case,
    min_waiting: Packets,
}

impl Case {
    fn number(&self, name: &str, default: u32) -> u32 {
        self.record.number(name, f64::from(default)) as u32
    }

    fn varied(&self) -> bool {
        self.record.text("mode") == "varied"
    }

    fn theirs(&self, metric: Metric) -> Vec<f64> {
        let flows = if self.varied() { "flow_mbps" } else { "flow_mbps_sorted" };
        let (name, place) = match metric {
            Metric::Flow(i) => (flows, Some(i)),
            Metric::Sigma => ("sigma_mbps", None),
            Metric::Sum => ("sum_mbps", None),
            Metric::Timeouts => ("timeouts", None),
            Metric::Repeated => ("rexmit_pkts", None),
            Metric::Drops => ("drops", None),
            Metric::Queue => ("mean_queue_pkts", None),
        };
        self.record.theirs(name, place)
    }

    fn red(&self) -> AqmParams {
        let mut red = red(5, 55, 0.2);
        red.common.mean_packet = Bytes::new(self.record.size());
        red.common.spacing = if self.number("wait", 1) == 1 { Spacing::Wait } else { Spacing::Uniformised };
        red.min_waiting = self.min_waiting;
        red.common.beyond = if self.number("gentle", 0) == 1 { Beyond::Gentle } else { Beyond::Drop };
        AqmParams::Red(red)
    }

    fn net(&self) -> Net {
        let mut net = Net::new(2 * FLOWS + 2, Span::from_s(SECONDS));
        let (p, q) = (2 * FLOWS, 2 * FLOWS + 1);
        net.duplex([p, q], BOTTLENECK, Span::from_ms(5));
        let bottleneck = &mut net.plan.links[RED];
        bottleneck.queues[0].aqm = self.red();
        (bottleneck.queues[0].limit, bottleneck.queues[0].scope) = (Limit::Packets(ROOM), scope(BOTTLENECK, ROOM));
        for i in 0..FLOWS {
            let round_trip = Span::from_ms(if self.varied() { 30 * (i as u64 + 1) } else { 30 });
            net.duplex([i, p], BitRate::mbps(10), round_trip / 2 - Span::from_ms(6));
            net.duplex([q, FLOWS + i], BitRate::mbps(10), Span::from_ms(1));
            let flow = net.traffic([i, FLOWS + i], bulk());
            (flow.tcp, flow.spread) = (self.record.tcp(), Span::from_s(1));
        }
        net
    }
}

/// One replication's values, in the order of [`Metric::all`].
fn sample(outcome: &Outcome, case: &Case) -> Vec<f64> {
    let mut values = case.record.mbps(outcome);
    if !case.varied() {
        values.sort_by(f64::total_cmp);
    }
    let (sum, mean) = (values.iter().sum::<f64>(), stats::mean(&values));
    let sigma = (values.iter().map(|x| pow(x - mean, 2.0)).sum::<f64>() / FLOWS as f64).sqrt();
    let tcp = || outcome.flows.iter().map(|f| f.tcp.unwrap());
    let bottleneck = outcome.ports.hops.iter().find(|h| h.link == RED).unwrap();
    let wait_s = bottleneck.wait.unwrap().mean * 1e-9;
    values.extend([
        sigma,
        sum,
        tcp().map(|c| f64::from(c.timeouts)).sum(),
        tcp().map(|c| c.retransmitted as f64).sum(),
        bottleneck.fates.lost().packets as f64,
        // Little's law.
        bottleneck.delivered.packets as f64 * wait_s / SECONDS as f64,
    ]);
    values
}

/// Our replications of each metric.
fn ours(case: &Case) -> Vec<Vec<f64>> {
    let mut net = case.net();
    assert_eq!(net.plan.links[RED + 1].queues[0].aqm, drop_tail());
    let mut columns = vec![Vec::new(); FLOWS + 6];
    for replication in 0..SEEDS {
        let values = sample(&net.replicate(replication), case);
        columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
    }
    columns
}

fn compare(case: &Case) -> Vec<Comparison> {
    let one = |(metric, ours): (Metric, &Vec<f64>)| {
        let what = format!("{} {metric:?}", case.record.name);
        Comparison::new(&what, [ours, &case.theirs(metric)], metric.margin())
    };
    let columns = ours(case);
    Metric::all().into_iter().zip(&columns).map(one).collect()
}

fn record() -> Vec<Case> {
    let cases = ns2::Case::all("pps_rtt.json");
    cases.into_iter().map(|record| Case { record, min_waiting: Packets::new(2) }).collect()
}

#[test]
fn throughput_by_round_trip_is_that_of_ns2() {
    let cases = record();
    assert_eq!(cases.len(), 14);
    let compared: Vec<Comparison> = cases.iter().flat_map(compare).collect();
    assert_eq!(compared.len(), COMPARISONS);
    ns2::judge(&compared);
}

/// The comparison is sharp enough to see `min-waiting`: without it, drops and queue are rejected at the strictest
/// bound that Holm's procedure uses.
#[test]
fn without_the_rule_for_short_queues_ns2_is_told_apart() {
    let case = record().into_iter().find(|c| c.record.name == "varied/size500_wait_off").unwrap();
    let compared = compare(&Case { min_waiting: Packets::new(0), ..case });
    for metric in [Metric::Drops, Metric::Queue] {
        let place = Metric::all().iter().position(|m| *m == metric).unwrap();
        assert!(compared[place].p < 0.01 / COMPARISONS as f64, "{}", compared[place].what);
    }
}
