//! TCP with ECN over a queue that marks.

use crate::common::net::{Net, bulk, red};
use perhop_core::aqm::early::{Beyond, Weight};
use perhop_core::aqm::{AqmParams, red};
use perhop_core::packet::{Ecn, flags};
use perhop_core::port::Limit;
use perhop_core::units::{BitRate, Span};
use perhop_sim::Outcome;
use perhop_sim::plan::TapPoint;
use perhop_sim::record::HopRow;
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
    let mut rows = outcome.ports.hops.iter().filter(|h| h.link == 0);
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

/// What the wire shows (RFC 3168 sections 6.1.1 and 6.1.5): the SYN has ECE and CWR, the SYN-ACK ECE, and of all packets only new
/// data are ECN-capable. A drop-tail queue as well, so that there are repeats.
#[test]
fn the_agreement_shows_on_the_wire() {
    let mut net = Net::new(2, Span::from_s(10));
    net.duplex([0, 1], BitRate::mbps(2), Span::from_ms(10));
    net.plan.links[0].queues[0].limit = Limit::Packets(10);
    net.traffic([0, 1], bulk()).tcp = Config { ecn: true, mss: 960, window: 100, ..Config::default() };
    net.tap_all();
    let outcome = net.run();
    let seen =
        |link, point| outcome.captured.iter().filter(move |c| (c.link, c.point) == (link, point)).map(|c| c.packet);
    let out: Vec<_> = seen(0, TapPoint::Input).collect();
    assert_eq!((out[0].flags, out[0].ecn), (flags::SYN | flags::ECE | flags::CWR, Ecn::NotEct));
    let back: Vec<_> = seen(1, TapPoint::Input).collect();
    assert_eq!((back[0].flags, back[0].ecn), (flags::SYN | flags::ACK | flags::ECE, Ecn::NotEct));
    assert!(back.iter().all(|ack| ack.ecn == Ecn::NotEct), "pure ACKs");
    let (mut sent, mut repeats) = (1, 0);
    for data in &out[1..] {
        let repeat = data.seq_end <= sent;
        assert_eq!(data.ecn == Ecn::NotEct, repeat, "{data:?}");
        (sent, repeats) = (sent.max(data.seq_end), repeats + u32::from(repeat));
    }
    assert!(repeats > 10, "{repeats}");
}

/// With one end that cannot do ECN there is none: the queue drops, and nothing is marked.
#[test]
fn one_end_without_ecn_means_none() {
    let mut net = Net::new(2, Span::from_s(SECONDS));
    net.duplex([0, 1], BitRate::mbps(2), Span::from_ms(10));
    net.plan.links[0].queues[0].aqm = AqmParams::Red(marking(5, 100, 0.1));
    let flow = net.traffic([0, 1], bulk());
    flow.tcp = Config { ecn: true, receiver_ecn: false, mss: 960, window: 100, ..Config::default() };
    let outcome = net.run();
    let fates = &bottleneck(&outcome).fates;
    assert!(fates.marked.packets == 0 && fates.lost().packets > 10, "{fates:?}");
    assert_eq!(outcome.flows[0].tcp.unwrap().echo_cuts, 0);
}

/// 40 flows on a path that holds 5 packets. With a window of one segment each, 35 would always wait; an echo at that
/// window makes the sender wait for its timer instead (RFC 3168 section 6.1.2), so fewer do, and still nothing is lost.
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
