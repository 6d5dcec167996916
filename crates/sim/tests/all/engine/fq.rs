//! fq at a host's own port and at a router's: who is paced there.

use crate::common::net::{Net, bulk, cbr};
use perhop_core::params::{Place, Problems, Reader, Tree};
use perhop_core::port::{Limit, NodeSpec};
use perhop_core::sched::SchedulerParams;
use perhop_core::units::{BitRate, Span, Time};
use perhop_sim::plan::TapPoint;
use perhop_sim::record::Outcome;
use perhop_sim::transport::{Config, LawParams, Pacing, Reaction, Recovery, RtoConfig};

fn fq(keys: &[(&'static str, Tree)]) -> SchedulerParams {
    let mut problems = Problems::default();
    let Tree::Table(table) = Tree::table(keys.to_vec()) else { unreachable!("a table") };
    let mut reader = Reader::new(&table, Place::default(), &mut problems);
    SchedulerParams::read("fq", Place::default(), &mut reader).unwrap()
}

fn text(text: &str) -> Tree {
    Tree::Text(text.into())
}

/// Nodes 0 - 1 - 2 at 100 Mbit/s, 10 ms there and back; fq at these links.
fn net(at: &[usize], keys: &[(&'static str, Tree)]) -> Net {
    let mut net = Net::new(3, Span::from_s(4));
    net.duplex([0, 1], BitRate::mbps(100), Span::from_ms(1));
    net.duplex([1, 2], BitRate::mbps(100), Span::from_ms(4));
    for &link in at {
        let link = &mut net.plan.links[link];
        link.queues[0].limit = Limit::Packets(u32::MAX);
        link.nodes = NodeSpec::flat(fq(keys), &link.queues);
    }
    net.tap_all();
    net
}

/// When packets of a flow leave a link, and their bytes.
fn left(outcome: &Outcome, link: usize, flow: u32) -> Vec<(Time, u64)> {
    let of = outcome.captured.iter().filter(|it| it.link as usize == link && it.point == TapPoint::Output);
    of.filter(|it| it.packet.flow.0 / 2 == flow && it.packet.payload > 0)
        .map(|it| (it.at, it.packet.size.into()))
        .collect()
}

/// The most that leaves in any interval beyond what a rate sends in it, bytes.
fn beyond(left: &[(Time, u64)], rate: BitRate) -> f64 {
    let mut most = 0.0f64;
    for (i, (from, _)) in left.iter().enumerate() {
        let mut sum = 0;
        for (to, bytes) in &left[i..] {
            sum += bytes;
            most = most.max(sum as f64 - rate.bytes_s() * to.since(*from).seconds());
        }
    }
    most
}

/// A socket's rate is kept at the port of its own host, whatever else leaves there, and by no other queue. The first quantum is
/// 15,140 B.
#[test]
fn datagrams_are_paced_where_their_socket_is() {
    for (at, paced) in [(&[0][..], true), (&[2], false), (&[], false)] {
        let mut net = net(at, &[]);
        let rate = BitRate::mbps(2);
        net.traffic([0, 2], cbr(BitRate::mbps(4), 1000)).sockets.max_pacing_rate = Some(rate);
        net.traffic([0, 2], cbr(BitRate::mbps(4), 1000));
        let outcome = net.run();
        let [held, free] = [0, 1].map(|flow| left(&outcome, 2, flow));
        assert!(free.len() > 1900, "{at:?}: {}", free.len());
        assert_eq!(beyond(&held, rate) < 15_140.0 + 3028.0, paced, "{at:?}: {}", beyond(&held, rate));
        // Half of what is offered, or all of it.
        let share = held.len() as f64 / free.len() as f64;
        assert!((share - if paced { 0.5 } else { 1.0 }).abs() < 0.02, "{at:?}: {share}");
    }
}

/// What a router's fq keeps to: its own `maxrate`.
#[test]
fn a_router_keeps_its_maxrate() {
    let mut net = net(&[2], &[("maxrate", text("1Mbit/s"))]);
    net.traffic([0, 2], cbr(BitRate::mbps(4), 1000));
    let left = left(&net.run(), 2, 0);
    assert!(beyond(&left, BitRate::mbps(1)) < 15_140.0 + 3028.0);
    assert!((left.len() as i64 - 500).abs() < 20, "{}", left.len());
}

/// Segments of a window, and how many of them leave within 0.2 ms of the one before.
fn together(pacing: Pacing, at: &[usize]) -> f64 {
    let mut net = net(at, &[]);
    let reaction = Reaction { sack: true, pacing, ..Reaction::default() };
    let rack = Recovery::Rack;
    let tcp = Config {
        recovery: rack,
        reaction,
        congestion: LawParams::default(),
        window: 20,
        rto: RtoConfig::MODERN,
        ..Config::default()
    };
    net.traffic([0, 2], bulk()).tcp = tcp;
    let left: Vec<_> = left(&net.run(), 0, 0).into_iter().filter(|it| it.0 > Time::ZERO + Span::from_s(2)).collect();
    assert!(left.len() > 1000, "{}", left.len());
    let near = left.windows(2).filter(|two| two[1].0.since(two[0].0) < Span::from_us(100));
    near.count() as f64 / left.len() as f64
}

/// A window of 20 segments of 1000 B in a round trip of 10 ms: one each 83 us if nothing paces. The congestion window is twice
/// that at most, so twice it by round trip is one each 125 us. A socket's rate paces without fq, too.
#[test]
fn a_host_with_fq_spreads_the_window() {
    let by_host = Pacing { by_host: true, most: None };
    assert!(together(Pacing::default(), &[0]) > 0.5);
    assert!(together(by_host, &[0]) < 0.05);
    let most = Some(BitRate::mbps(30));
    assert!(together(Pacing { by_host: false, most }, &[]) < 0.05);
}
