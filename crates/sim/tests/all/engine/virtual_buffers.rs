//! What SVB, MSVB and SIO leave alone on the simulator's link: the order of packets, the longest wait, and the queue of a
//! load that gives no cause to mark.

use crate::common::net::{Net, bulk, drop_tail, poisson, scope};
use perhop_core::aqm::cap::Cap;
use perhop_core::aqm::members::{Filter, Member};
use perhop_core::aqm::msvb::Redistribute;
use perhop_core::aqm::sio::{self, Halving, Recovery};
use perhop_core::aqm::virtual_buffer::{Common, Counting};
use perhop_core::aqm::{AqmParams, msvb, svb};
use perhop_core::dscp::Dscp;
use perhop_core::port::Limit;
use perhop_core::units::{BitRate, Bytes, Length, Packets, Probability, Span};
use perhop_sim::Outcome;
use perhop_sim::plan::TapPoint;
use perhop_sim::transport::Config;

const RATE: BitRate = BitRate::mbps(10);
const ROOM: u32 = 100;
const AF11: u8 = 10;

fn packets(n: u32) -> Length {
    Length::Packets(Packets::new(n))
}

fn common(v0: u32, floor: u32, ecn: bool) -> Common {
    let (v0, floor) = (packets(v0), packets(floor));
    Common { v0, floor, counting: Counting::Passed, mean_packet: Bytes::new(1000), ecn }
}

fn svb(common: Common) -> AqmParams {
    AqmParams::Svb(svb::Params { alpha: 0.05, cap: Cap::V0, common })
}

fn msvb(common: Common, redistribute: Redistribute) -> AqmParams {
    let share = Probability::new(0.5).unwrap();
    let class = |members| msvb::Class { filter: Filter::from(members), share, alpha: 0.5 };
    let classes = vec![class(vec![Member::Dscp(Dscp::new(AF11).unwrap())]), class(vec![])];
    AqmParams::Msvb(msvb::Params { classes, common, redistribute })
}

fn sio(v0: u32, out: u32) -> AqmParams {
    AqmParams::Sio(sio::Params {
        cap: Cap::V0,
        alpha: 0.2,
        v0: packets(v0),
        counting: Counting::Passed,
        out_threshold: packets(out),
        halving: Halving::Drops,
        recovery: Recovery::None,
        recovery_after: Span::from_s(1),
        overflow_after: Span::from_s(1),
        mean_packet: Bytes::new(1000),
        ecn: false,
    })
}

/// Bulk flows with ECN, coloured green, and datagrams of three sizes, 12 Mbit/s in all, into the queue of link 0.
fn overloaded(aqm: AqmParams) -> Outcome {
    let mut net = Net::new(2, Span::from_s(10));
    net.duplex([0, 1], RATE, Span::from_ms(20));
    let link = &mut net.plan.links[0].queues[0];
    (link.aqm, link.limit, link.scope) = (aqm, Limit::Packets(ROOM), scope(RATE, ROOM));
    let flow = net.traffic([0, 1], bulk());
    (flow.flows, flow.spread, flow.dscp) = (8, Span::from_s(1), Dscp::new(AF11).unwrap());
    flow.tcp = Config { mss: 960, window: 64, ecn: true, ..Config::default() };
    for size in [400, 700, 1000] {
        net.traffic([0, 1], poisson(BitRate::mbps(4), size));
    }
    net.tap_all();
    net.run()
}

/// What left is what arrived, in the same order, less what was dropped; and no packet waited longer than a full queue
/// takes:
/// B/C = 80 ms, as no packet has more than 1000 bytes.
fn check_fifo(name: &str, aqm: AqmParams) {
    let outcome = overloaded(aqm);
    let seen = |point| {
        let at = outcome.captured.iter().filter(move |c| c.link == 0 && c.point == point);
        at.map(|c| (c.packet.flow, c.wire, c.packet.seq_end)).collect::<Vec<_>>()
    };
    let (came, left) = (seen(TapPoint::Input), seen(TapPoint::Output));
    let mut rest = came.iter();
    let out_of_order = left.iter().position(|packet| !rest.any(|other| other == packet));
    assert_eq!(out_of_order, None, "{name}");
    let dropped = came.len() - left.len();
    let longest =
        outcome.ports.hops.iter().filter(|h| h.link == 0).filter_map(|h| h.wait).map(|w| w.max).max().unwrap();
    println!("{name}: {dropped} of {} dropped, longest wait {} us", came.len(), longest / 1000);
    assert!(dropped > 2_000, "{name}: {dropped}");
    assert!(longest > 5_000_000 && longest <= 80_000_000, "{name}: {longest} ns");
}

#[test]
fn fifo_within_the_time_of_a_full_queue() {
    check_fifo("SVB", svb(common(40, 0, false)));
    check_fifo("SVB with ECN", svb(common(300, 260, true)));
    check_fifo("MSVB", msvb(common(40, 0, false), Redistribute::Off));
    check_fifo("MSVB with ECN", msvb(common(300, 260, true), Redistribute::Off));
    check_fifo("SIO", sio(30, 20));
}

/// Poisson packets of one size at 0.8 of the link: M/D/1, see [`super::md1`]. Virtual queue and thresholds follow the real
/// queue, far below where they would act (MSVB's second class once it has the silent one's share); then arrivals and
/// departures are those without an AQM, to the nanosecond.
#[test]
fn far_from_marking_it_is_m_d_1() {
    let times = |aqm| {
        let mut net = Net::new(2, Span::from_s(40));
        net.duplex([0, 1], RATE, Span::from_ms(1));
        let queue = &mut net.plan.links[0].queues[0];
        (queue.aqm, queue.scope) = (aqm, scope(RATE, 1000));
        net.traffic([0, 1], poisson(BitRate::mbps(8), 1000));
        net.tap_all();
        net.run().captured.iter().map(|c| (c.at, c.point)).collect::<Vec<_>>()
    };
    let plain = times(drop_tail());
    assert!(plain.len() > 70_000);
    for aqm in [svb(common(300, 0, false)), sio(300, 200), msvb(common(900, 0, false), Redistribute::Silent)] {
        assert!(times(aqm.clone()) == plain, "{}", aqm.name());
    }
    assert!(times(svb(common(5, 0, false))) != plain, "it can fail");
}
