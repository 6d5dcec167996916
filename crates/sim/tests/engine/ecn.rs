//! TCP with ECN over a queue that marks.

use crate::common::net::{Net, bulk, red};
use perhop_core::aqm::early::{Beyond, Weight};
use perhop_core::aqm::{AqmParams, red};
use perhop_core::units::{BitRate, Span};
use perhop_sim::Outcome;
use perhop_sim::outcome::HopRow;
use perhop_sim::transport::Config;

const SECONDS: u64 = 60;
/// A segment of 1000 bytes at 2 Mbit/s.
const SEGMENT: Span = Span::from_ms(4);

/// Bulk flows over a RED link of 2 Mbit/s, 20 ms without queueing.
fn run(flows: u32, red: red::Params, ecn: bool) -> Outcome {
    let mut net = Net::new(2, Span::from_s(SECONDS));
    net.duplex([0, 1], BitRate::mbps(2), (Span::from_ms(20) - SEGMENT) / 2);
    net.plan.links[0].queues[0].aqm = AqmParams::Red(red);
    let traffic = net.traffic([0, 1], bulk());
    (traffic.flows, traffic.spread) = (flows, Span::from_s(1));
    // A SYN is not ECN-capable, so it could be dropped.
    traffic.tcp = Config { ecn, syn: false, mss: 960, window: 100, ..Config::default() };
    net.run()
}

fn marking(min: u32, max: u32, max_p: f64) -> red::Params {
    let mut red = red(min, max, max_p);
    red.common.ecn = true;
    red
}

/// The row of the bottleneck.
fn bottleneck(outcome: &Outcome) -> &HopRow {
    let mut rows = outcome.hops.iter().filter(|h| h.link == 0);
    let (row, none) = (rows.next().unwrap(), rows.next());
    assert!(none.is_none());
    row
}

/// As long as the average stays on the ramp: marks, cuts, and nothing lost.
#[test]
fn marks_take_the_place_of_drops() {
    let outcome = run(5, marking(5, 100, 0.1), true);
    let fates = &bottleneck(&outcome).fates;
    assert!(fates.marked.packets > 100 && fates.lost().packets == 0, "{fates:?}");
    for flow in &outcome.flows {
        let tcp = flow.tcp.unwrap();
        assert!(tcp.echo_cuts > 20 && tcp.cuts == tcp.echo_cuts, "{tcp:?}");
        assert_eq!((tcp.retransmitted, tcp.timeouts), (0, 0));
    }
    // The same queue and flows without ECN: drops instead.
    let outcome = run(5, marking(5, 100, 0.1), false);
    let fates = &bottleneck(&outcome).fates;
    assert!(fates.marked.packets == 0 && fates.lost().packets > 100, "{fates:?}");
    assert!(outcome.flows.iter().all(|f| f.tcp.unwrap().echo_cuts == 0));
}

/// 40 flows on a path that holds 5 packets. With a window of one segment each, 35 would always wait; an echo at that
/// window makes the sender wait for its timer instead (RFC 3168 6.1.2), so fewer do, and still nothing is lost.
#[test]
fn at_a_window_of_one_flows_send_less_than_one_segment_a_round_trip() {
    const FLOWS: u32 = 40;
    let mut steep = marking(2, 20, 1.0);
    (steep.common.beyond, steep.common.weight) = (Beyond::Gentle, Weight(0.02));
    let outcome = run(FLOWS, steep, true);
    let row = bottleneck(&outcome);
    let waiting = row.wait.unwrap().mean / SEGMENT.ns() as f64;
    println!("{waiting:.1} of {FLOWS} segments wait");
    assert!(waiting < f64::from(FLOWS - 5) * 0.7, "{waiting} wait");
    assert_eq!(row.fates.lost().packets, 0);
    let tcp = outcome.flows.iter().map(|f| f.tcp.unwrap());
    assert_eq!(tcp.map(|t| u64::from(t.timeouts) + t.retransmitted).sum::<u64>(), 0);
    let utilisation = row.delivered.packets as f64 * SEGMENT.seconds() / SECONDS as f64;
    assert!(utilisation > 0.9, "{utilisation}");
}
