//! Bursts: one packet at the port of their host, as many as segments on the wire.

use crate::common::net::{self, Net, cbr};
use crate::common::random::scheduler;
use perhop_core::conditioner::{ConditionerParams, token_bucket};
use perhop_core::count::Count;
use perhop_core::packet::Colour;
use perhop_core::port::edge::Action;
use perhop_core::port::{Limit, NodeSpec, QueueSpec, Side};
use perhop_core::units::{BitRate, Bytes, Span, Time};
use perhop_sim::Outcome;
use perhop_sim::plan::TapPoint;
use perhop_sim::record::Captured;

/// A megabit a second: a packet of 1000 bytes takes 8 ms.
const RATE: BitRate = BitRate::mbps(1);

/// A host that sends bursts of `gso` datagrams of 1000 B over a link that holds `limit` packets.
fn host(gso: u32, limit: u32, rate: BitRate) -> Net {
    let mut net = Net::new(2, Span::from_s(2));
    net.duplex([0, 1], RATE, Span::from_ms(1));
    net.plan.links[0].queues[0].limit = Limit::Packets(limit);
    net.traffic([0, 1], cbr(rate, 1000)).sockets.gso = gso;
    net.tap_all();
    net
}

fn seen(outcome: &Outcome, point: TapPoint) -> Vec<Captured> {
    outcome.captured.iter().filter(|it| it.link == 0 && it.point == point).copied().collect()
}

/// Four datagrams of 1000 B arrive together, have their own bytes in a capture, and leave 8 ms apart.
#[test]
fn segments_leave_one_behind_the_other() {
    let outcome = host(4, 1000, BitRate::kbps(500)).run();
    let (came, left) = (seen(&outcome, TapPoint::Input), seen(&outcome, TapPoint::Output));
    assert!(came.len() > 100 && came.len().is_multiple_of(4));
    assert!(came.iter().chain(&left).all(|it| (it.packet.size, it.wire) == (1000, 1000)));
    for (burst, gone) in came.chunks(4).zip(left.chunks_exact(4)) {
        assert!(burst.iter().all(|it| it.at == burst[0].at));
        for (i, it) in (1..).zip(gone) {
            assert_eq!(it.at, burst[0].at + Span::from_ms(8 * i + 1));
        }
    }
}

/// At twice the rate of the link two packets wait, one is sent, and one may be on the wire: with bursts of four 12 datagrams and
/// the one on the wire. What has no room
/// is lost whole, and link and flow count its segments.
#[test]
fn a_limit_in_packets_counts_a_burst_once() {
    for gso in [1u64, 4] {
        let mut net = host(gso as u32, 2, BitRate::mbps(2));
        net.plan.links[0].queues[0].drop = Side::Head;
        let outcome = net.run();
        let (came, left) =
            (seen(&outcome, TapPoint::Input).len() as u64, seen(&outcome, TapPoint::Output).len() as u64);
        let (flow, hop) = (&outcome.flows[0].counts, &outcome.ports.hops[0]);
        assert_eq!(flow.sent.packets, came);
        assert_eq!((hop.fates.arrived.packets, hop.fates.arrived.bytes), (came, 1000 * came));
        assert_eq!(hop.fates.lost(), flow.dropped);
        assert!(flow.dropped.packets > 50 && flow.dropped.packets.is_multiple_of(gso), "{flow:?}");
        let inside = came - left - flow.dropped.packets;
        assert!((2 * gso..=3 * gso + 1).contains(&inside), "{inside} of bursts of {gso}");
    }
}

/// Four datagrams, one each 16 ms, are together every 64 ms: 15 times in the second after which their source stops.
#[test]
fn a_source_of_bursts_stops() {
    let mut net = host(4, 1000, BitRate::kbps(500));
    let stop = Time::ZERO + Span::from_s(1);
    net.plan.traffic[0].stop = Some(stop);
    let came = seen(&net.run(), TapPoint::Input);
    assert_eq!(came.len(), 4 * 15);
    assert!(came.iter().all(|it| it.at < stop));
}

/// A conditioner meets segments: a bucket of three packets passes three of the first four.
#[test]
fn a_conditioner_of_its_host_meets_segments() {
    let mut net = host(4, 1000, BitRate::kbps(500));
    let bucket = token_bucket::Params::new(BitRate::kbps(400), Bytes::new(3000));
    let mut police = net::stage("police", ConditionerParams::TokenBucketMarker(bucket));
    police.actions[Colour::Red as usize] = Action::Drop;
    net.plan.links[0].edge = vec![police];
    let outcome = net.run();
    let left = seen(&outcome, TapPoint::Output);
    assert!(left[3].at > left[2].at + Span::from_ms(9), "the fourth is dropped");
    let policed = outcome.ports.hops.iter().map(|hop| hop.policed).sum::<Count>();
    assert_eq!(policed, outcome.flows[0].counts.dropped);
}

/// Deficit round robin of equal quanta below a burst: the class of bursts of four and that of single packets get the same rate,
/// and no packet comes between the segments of a burst.
#[test]
fn a_turn_sends_a_whole_burst() {
    let mut net = host(4, 1000, BitRate::mbps(1));
    net.traffic([0, 1], cbr(BitRate::mbps(1), 1000)).dscp = "AF12".parse().unwrap();
    net.plan.traffic[0].dscp = "AF11".parse().unwrap();
    let link = &mut net.plan.links[0];
    let limit = Limit::Packets(1000);
    let queue = QueueSpec { aqm: net::drop_tail(), limit, drop: Side::Tail, scope: net::scope(RATE, 1000) };
    link.queues = vec![queue; 2];
    link.nodes = NodeSpec::flat(scheduler("drr", &[1, 1]), &link.queues);
    let outcome = net.run();
    let left = seen(&outcome, TapPoint::Output);
    let runs: Vec<_> = left.chunk_by(|a, b| a.packet.colour == b.packet.colour).collect();
    let whole = |run: &&[Captured]| run[0].packet.colour != Colour::Green || run.len().is_multiple_of(4);
    assert!(runs.len() > 20 && runs[..runs.len() - 1].iter().all(whole));
    let shares = [0, 1].map(|flow: usize| outcome.flows[flow].counts.delivered.packets as f64);
    assert!((shares[0] / shares[1] - 1.0).abs() < 0.1, "{shares:?}");
    let queue = &outcome.ports.queues[0];
    assert!(queue.sent.packets * 4000 == queue.sent.bytes && queue.sent.packets > 20, "{queue:?}");
}
