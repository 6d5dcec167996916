//! Rows of packets at ports say what the counts say: every arrival once, with the port's fate for it, and the outcome is
//! the same with and without them.

use crate::common::net::Net;
use crate::common::random::any_net;
use perhop_core::count::Count;
use perhop_core::port::{Limit, Side};
use perhop_core::units::{BitRate, Probability, Span, Time};
use perhop_core::verdict::Reason;
use perhop_sim::plan::TapPoint;
use perhop_sim::record::{EventSink, HopRow, PortEvent, PortFate};
use perhop_sim::{EngineOptions, Outcome};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// The outcome, and all rows.
fn traced(net: &Net, transmit_done: bool) -> (Outcome, Vec<PortEvent>) {
    let rows = Arc::new(Mutex::new(Vec::new()));
    let taken = rows.clone();
    let mut simulation = net.simulation(EngineOptions { transmit_done });
    simulation.record_events(EventSink::new(move |batch| taken.lock().unwrap().extend_from_slice(batch)));
    let outcome = simulation.run(|_| true).unwrap();
    let rows = rows.lock().unwrap().clone();
    (outcome, rows)
}

fn total<'a>(rows: impl Iterator<Item = &'a PortEvent>) -> Count {
    let mut sum = Count::default();
    rows.for_each(|row| sum.add(row.packet.size));
    sum
}

/// One class and colour at one hop.
fn check_hop(hop: &HopRow, rows: &[PortEvent]) {
    let here = |row: &&PortEvent| {
        row.link as usize == hop.link && usize::from(row.packet.class) == hop.class && row.packet.colour == hop.colour
    };
    let of = |fate: PortFate| total(rows.iter().filter(here).filter(|row| row.fate == fate));
    let sent = of(PortFate::Sent) + of(PortFate::Marked);
    assert_eq!(sent, hop.delivered, "{hop:?}");
    assert_eq!(of(PortFate::Dropped(Reason::Wire)), hop.lost, "{hop:?}");
    let dropped = |reason| of(PortFate::Dropped(reason));
    assert_eq!(dropped(Reason::Policer), hop.policed + hop.fates.dropped[Reason::Policer as usize], "{hop:?}");
    for reason in [Reason::Early, Reason::Forced, Reason::Overflow] {
        assert_eq!(dropped(reason), hop.fates.dropped[reason as usize], "{hop:?} {reason:?}");
    }
}

/// What comes to each port, packet for packet.
fn check_arrivals(outcome: &Outcome, rows: &[PortEvent]) {
    let mut came: Vec<_> = rows.iter().map(|row| (row.link, row.came, row.wire)).collect();
    let taps = outcome.captured.iter().filter(|it| it.point == TapPoint::Input);
    let mut seen: Vec<_> = taps.map(|it| (it.link, it.at, it.wire)).collect();
    came.sort_unstable();
    seen.sort_unstable();
    assert!(came == seen);
}

/// Every fate with its times: what waits has not left, what is in flight has, what was dropped says when.
fn check_times(net: &Net, rows: &[PortEvent]) {
    let end = Time::ZERO + net.plan.duration;
    for row in rows {
        let (dropped, left) = (row.dropped, row.left);
        assert_eq!(dropped.is_some(), matches!(row.fate, PortFate::Dropped(_)), "{row:?}");
        assert!(dropped.is_none_or(|at| at >= left.unwrap_or(row.came) && at <= end), "{row:?}");
        let begun = match row.fate {
            PortFate::Waiting => false,
            PortFate::Dropped(reason) => reason == Reason::Wire,
            _ => true,
        };
        assert_eq!(left.is_some(), begun, "{row:?}");
        assert!(left.is_none_or(|left| left >= row.came && left <= end), "{row:?}");
    }
}

/// A packet comes to its next port when it has crossed the link, and nowhere twice.
fn check_ways(net: &Net, rows: &[PortEvent]) {
    let mut ways = BTreeMap::<u64, Vec<&PortEvent>>::new();
    rows.iter().for_each(|row| ways.entry(row.number).or_default().push(row));
    assert_eq!(ways.keys().copied().collect::<Vec<_>>(), (0..ways.len() as u64).collect::<Vec<_>>());
    for way in ways.values_mut() {
        way.sort_by_key(|row| row.came);
        for pair in way.windows(2) {
            let link = &net.plan.links[pair[0].link as usize];
            let bytes = pair[0].wire + link.framing.overhead();
            let ns = u128::from(bytes) * 8_000_000_000 / u128::from(link.rate.bit_s());
            let arrives = pair[0].left.unwrap() + Span::from_ns(ns as u64) + link.delay;
            // The remainder of the division moves it by a nanosecond; on an uneven link each takes its own time.
            let even = link.transit.jitter == Span::ZERO && link.transit.reorder == Probability::ZERO;
            assert!(!even || pair[1].came.since(arrives) <= Span::from_ns(1), "{pair:?}");
            assert_eq!((pair[0].flow, pair[0].wire), (pair[1].flow, pair[1].wire));
        }
        let last = way.last().unwrap();
        assert!(
            way.iter().all(|row| std::ptr::eq(*row, *last) || matches!(row.fate, PortFate::Sent | PortFate::Marked))
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 50, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rows_add_up_to_the_counts(mut net in any_net()) {
        net.plan.warmup = Span::ZERO;
        net.tap_all();
        let (outcome, rows) = traced(&net, false);
        let same = format!("{outcome:?}") == format!("{:?}", net.run());
        prop_assert!(same);
        outcome.ports.hops.iter().for_each(|hop| check_hop(hop, &rows));
        check_arrivals(&outcome, &rows);
        check_ways(&net, &rows);
        check_times(&net, &rows);
        let (_, other) = traced(&net, true);
        let same = rows == other;
        prop_assert!(same, "either kind of link gives the same rows");
    }
}

/// A port of 1 Mbit/s that gets twice as much: a row of what is dropped at the head of its queue says when, which is not when
/// the packet came; at the end of the run one packet is being sent, and its row says since when.
#[test]
fn rows_say_when_a_head_was_dropped_and_what_is_being_sent() {
    let mut net = Net::new(2, Span::from_ms(198));
    net.plan.warmup = Span::ZERO;
    net.duplex([0, 1], BitRate::bps(1_000_000), Span::from_ms(1));
    let queue = &mut net.plan.links[0].queues[0];
    (queue.drop, queue.limit) = (Side::Head, Limit::Packets(20));
    net.traffic([0, 1], crate::common::net::cbr(BitRate::bps(2_000_000), 500));
    let (_, rows) = traced(&net, false);
    let dropped: Vec<_> = rows.iter().filter_map(|row| Some((row.came, row.dropped?))).collect();
    assert!(dropped.len() > 10 && dropped.iter().all(|(came, at)| at > came), "{dropped:?}");
    let of = |fate: PortFate| rows.iter().filter(move |row| row.fate == fate);
    assert!(of(PortFate::Waiting).count() > 1);
    let in_flight: Vec<_> = of(PortFate::InFlight).map(|row| row.left.unwrap()).collect();
    assert_eq!(in_flight.len(), 1, "{in_flight:?}");
}
