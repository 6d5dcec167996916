//! A replay is what the engine does: what came to a simulated port, replayed into such a port, leaves it as it did, packet
//! for packet, for every AQM and scheduler.

use crate::common::net::{self, Net, drop_tail};
use crate::common::random::any_net;
use perhop_core::aqm::AqmParams;
use perhop_core::count::Count;
use perhop_core::packet::{Ecn, Packet};
use perhop_core::params::{Place, Problems, Reader, Table};
use perhop_core::port::{Limit, Port, QueueSpec, Side, Transmission};
use perhop_core::units::{BitRate, Probability, Span, Time};
use perhop_core::verdict::{Fate, Reason};
use perhop_sim::Outcome;
use perhop_sim::plan::{TapPoint, Transit};
use perhop_sim::record::Captured;
use perhop_sim::replay::{Arrival, Line, replay};
use perhop_sim::transport::Bursts;
use proptest::prelude::*;

fn at_tap(outcome: &Outcome, link: usize, point: TapPoint) -> impl Iterator<Item = &Captured> {
    outcome.captured.iter().filter(move |c| c.link as usize == link && c.point == point)
}

/// What left the link in the engine by its end, and in a replay of what came to it: time at the far end, packet.
fn both(net: &Net, outcome: &Outcome, link: usize) -> [Vec<(Time, Packet)>; 2] {
    let (it, end) = (&net.plan.links[link], Time::ZERO + net.plan.duration);
    let wire = |c: &Captured| c.wire + it.framing.overhead();
    let input = at_tap(outcome, link, TapPoint::Input);
    let arrivals = input.map(|c| Arrival { at: c.at, packet: c.packet, wire: wire(c) });
    let trips = replay(net.plan.port(link).build().unwrap(), Line::Rate(it.rate), arrivals);
    let left = trips.iter().filter_map(|trip| Some((trip.sent?.ends + it.delay, trip.packet)));
    let engine = at_tap(outcome, link, TapPoint::Output).map(|c| (c.at, c.packet));
    [engine.collect(), left.filter(|(at, _)| *at <= end).collect()]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, max_shrink_iters: 50, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn replayed_ports_send_what_simulated_ones_sent(mut net in any_net()) {
        for link in &mut net.plan.links {
            (link.edge, link.loss, link.transit) = (Vec::new(), Probability::ZERO, Transit::default());
        }
        // A replay has the packets of the wire, not what its sender's port takes for one.
        for traffic in &mut net.plan.traffic {
            (traffic.sockets.gso, traffic.tcp.reaction.bursts) = (1, Bursts::NONE);
        }
        net.tap_all();
        let outcome = net.run();
        for link in 0..net.plan.links.len() {
            let [engine, replayed] = both(&net, &outcome, link);
            prop_assert_eq!(engine, replayed, "link {}", link);
        }
    }
}

/// A port on a link of 8 Mbit/s: 1000 bytes last a millisecond.
fn port(aqm: AqmParams, limit: u32) -> Port<u32> {
    let mut net = Net::new(2, Span::from_s(1));
    let scope = net::scope(RATE, limit);
    net.link([0, 1], RATE, Span::ZERO).queues =
        vec![QueueSpec { aqm, limit: Limit::Packets(limit), drop: Side::Tail, scope }];
    net.plan.port(0).build().unwrap()
}

const RATE: BitRate = BitRate::mbps(8);

fn ms(n: u64) -> Time {
    Time::ZERO + Span::from_ms(n)
}

fn arrivals(times: &[u64]) -> Vec<Arrival> {
    let packet = Packet { size: 1014, ecn: Ecn::Ect0, ..Packet::default() };
    times.iter().map(|&at| Arrival { at: ms(at), packet, wire: 1000 }).collect()
}

/// The third finds a packet in transmission and a waiting one that leaves at that instant; the line sends 1000 of 1014 B.
#[test]
fn a_trip_says_all_of_a_packet() {
    let trips = replay(port(drop_tail(), 1), Line::Rate(RATE), arrivals(&[0, 0, 0, 1]));
    let fates: Vec<_> = trips.iter().map(|t| (t.number, t.fate, t.at, t.found.packets)).collect();
    let full = Fate::Dropped(Reason::Overflow);
    let expected = [(0, Fate::Queued, 0, 0), (2, full, 0, 1), (1, Fate::Queued, 1, 0), (3, Fate::Queued, 2, 0)];
    assert_eq!(fates, expected.map(|(number, fate, at, found)| (number, fate, ms(at), found)));
    assert_eq!(trips[1].sent, None);
    assert_eq!(trips[1].found, Count { packets: 1, bytes: 1014 });
    assert_eq!(trips[3].sent, Some(Transmission { starts: ms(2), ends: ms(3) }));
}

#[test]
fn on_an_infinite_line_nothing_waits() {
    let trips = replay(port(drop_tail(), 1), Line::Infinite, arrivals(&[0, 0, 0, 1]));
    assert!(
        trips
            .iter()
            .all(|t| t.found.packets == 0 && t.sent == Some(Transmission { starts: t.arrived, ends: t.arrived }))
    );
    assert_eq!(trips.iter().map(|t| t.number).collect::<Vec<_>>(), [0, 1, 2, 3]);
}

/// CoDel decides at departure: a trip that ends there has the time of the drop, and the fate is not that on arrival.
#[test]
fn drops_at_departure_have_their_time() {
    let (table, mut problems) = (Table::default(), Problems::default());
    let codel = AqmParams::read("codel", Place::default(), &mut Reader::new(&table, Place::default(), &mut problems));
    let twice: Vec<_> = (0..1000).flat_map(|at| [at, at]).collect();
    let came =
        arrivals(&twice).into_iter().map(|it| Arrival { packet: Packet { ecn: Ecn::NotEct, ..it.packet }, ..it });
    let trips = replay(port(codel.expect("all keys have defaults"), 1000), Line::Rate(RATE), came);
    let dropped: Vec<_> = trips.iter().filter(|t| matches!(t.fate, Fate::Dropped(_))).collect();
    assert!(dropped.len() > 10 && dropped.iter().all(|t| t.at > t.arrived && t.sent.is_none()));
    assert!(trips.is_sorted_by_key(|t| t.at));
    let mut numbers: Vec<_> = trips.iter().map(|t| t.number).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..2000).collect::<Vec<_>>());
}
