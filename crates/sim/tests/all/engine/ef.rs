//! Aggregates held against their rates: what a run says is what RFC 3246's equations say of its own arrivals and
//! departures, and asking changes no result.

use crate::common::net::Net;
use crate::common::random::any_net;
use crate::ef_oracle::{Served, errors};
use perhop_core::accounting::Accounting;
use perhop_core::dscp::Dscp;
use perhop_core::estimate::ef_bound::Worst;
use perhop_core::framing::Frame;
use perhop_core::units::{BitRate, Probability, Span};
use perhop_core::verdict::Reason;
use perhop_sim::plan::{Aggregate, EfCheck, TapPoint, Transit};
use perhop_sim::record::{EfRow, EventSink, PortEvent, PortFate, PortRows};
use perhop_sim::{EngineOptions, Outcome};
use proptest::prelude::*;
use std::sync::{Arc, Mutex};

/// The outcome, and all rows of packets at ports.
fn traced(net: &Net, transmit_done: bool) -> (Outcome, Vec<PortEvent>) {
    let rows = Arc::new(Mutex::new(Vec::new()));
    let taken = rows.clone();
    let mut simulation = net.simulation(EngineOptions { transmit_done });
    simulation.record_events(EventSink::new(move |batch| taken.lock().unwrap().extend_from_slice(batch)));
    let outcome = simulation.run(|_| true).unwrap();
    let rows = rows.lock().unwrap().clone();
    (outcome, rows)
}

/// A check of each link, each class and a few code points, at rates below and above the link's.
fn checks(net: &Net) -> Vec<EfCheck> {
    let code_points = Aggregate::CodePoints(["BE", "EF", "AF11"].map(|name| name.parse().unwrap()).to_vec());
    let classes = (0..net.plan.classes.len()).map(|class| Aggregate::Class(class as u16));
    let aggregates: Vec<_> = classes.chain([code_points]).collect();
    let of = |link: usize| {
        let rate = BitRate::bps(net.plan.links[link].rate.bit_s() * [1, 2, 5][link % 3] / 3);
        aggregates.iter().map(move |of| EfCheck { link, of: of.clone(), rate, frame: Frame::default() })
    };
    (0..net.plan.links.len()).flat_map(of).collect()
}

/// The served packets of a check in the order of their departures. The output tap has them in the same order as the rows,
/// and their times at the other end.
fn served(net: &Net, check: &EfCheck, outcome: &Outcome, rows: &[PortEvent]) -> Vec<Served> {
    let link = &net.plan.links[check.link];
    let here = |row: &&PortEvent| row.link as usize == check.link;
    let rows = rows.iter().filter(here).filter(|row| matches!(row.fate, PortFate::Sent | PortFate::Marked));
    let taps = outcome.captured.iter().filter(|it| it.point == TapPoint::Output && it.link as usize == check.link);
    let both = rows.zip(taps).filter(|(row, _)| check.of.takes(&row.packet));
    let one = |(row, tap): (&PortEvent, &perhop_sim::record::Captured)| Served {
        arrival: row.came.ns(),
        departure: tap.at.ns() - link.delay.ns(),
        length: u64::from(row.packet.size) * 8,
    };
    both.map(one).collect()
}

fn error(worst: Option<Worst>) -> Option<i128> {
    worst.map(|it| i128::from(it.error_ns))
}

fn check_row(net: &Net, row: &EfRow, outcome: &Outcome, rows: &[PortEvent]) {
    let served = served(net, &row.check, outcome, rows);
    let mut by_arrival: Vec<_> = served.iter().copied().enumerate().collect();
    by_arrival.sort_by_key(|(_, it)| it.arrival);
    let mut order = vec![0; served.len()];
    by_arrival.iter().enumerate().for_each(|(i, (departed, _))| order[*departed] = i);
    let by_arrival: Vec<_> = by_arrival.into_iter().map(|(_, it)| it).collect();
    let [aggregate, each] = errors(&by_arrival, &order, row.check.rate.bit_s());
    assert_eq!((error(row.aggregate), row.packets), (aggregate, served.len() as u64), "{row:?}");
    // Which of two that came in the same nanosecond was first is not in the rows.
    if by_arrival.windows(2).all(|pair| pair[0].arrival < pair[1].arrival) {
        assert_eq!(error(row.each), each, "{row:?}");
    }
    let dropped = |it: &&PortEvent| matches!(it.fate, PortFate::Dropped(reason) if reason != Reason::Wire);
    let here = rows.iter().filter(|it| it.link as usize == row.check.link && row.check.of.takes(&it.packet));
    assert_eq!(row.dropped, here.filter(dropped).count() as u64, "{row:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 50, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_run_says_what_the_equations_say(mut net in any_net(), accounting in prop::sample::select(vec![Accounting::L3, Accounting::L2, Accounting::L1])) {
        (net.plan.warmup, net.plan.accounting) = (Span::ZERO, accounting);
        net.plan.links.iter_mut().for_each(|link| (link.loss, link.transit) = (Probability::ZERO, Transit::default()));
        net.plan.changes.clear();
        net.tap_all();
        let plain = net.run();
        net.plan.probes.ef = checks(&net);
        let (outcome, rows) = traced(&net, false);
        prop_assert_eq!(outcome.ports.ef.len(), net.plan.probes.ef.len());
        outcome.ports.ef.iter().for_each(|row| check_row(&net, row, &outcome, &rows));
        prop_assert_eq!(&net.run().ports.ef, &outcome.ports.ef, "without rows");
        prop_assert_eq!(&net.run_with(EngineOptions { transmit_done: true }).ports.ef, &outcome.ports.ef, "on either kind of link");
        let without = Outcome { ports: PortRows { ef: Vec::new(), ..outcome.ports }, ..outcome };
        prop_assert_eq!(format!("{plain:?}"), format!("{without:?}"));
    }
}

/// A link that loses packets has sent them: they count as served.
#[test]
fn what_the_wire_loses_has_left() {
    let mut net = crate::common::net::Net::new(2, Span::from_s(2));
    let rate = BitRate::bps(1_000_000);
    net.duplex([0, 1], rate, Span::from_ms(1));
    net.plan.links[0].loss = Probability::new(0.5).unwrap();
    net.traffic([0, 1], crate::common::net::cbr(BitRate::bps(500_000), 500));
    net.plan.probes.ef =
        vec![EfCheck { link: 0, of: Aggregate::CodePoints(vec![Dscp::BE]), rate, frame: Frame::default() }];
    let outcome = net.run();
    let lost: u64 = outcome.ports.hops.iter().filter(|hop| hop.link == 0).map(|hop| hop.lost.packets).sum();
    assert!(
        lost > 50 && outcome.ports.ef[0].packets > 240 && outcome.ports.ef[0].dropped == 0,
        "{:?}",
        outcome.ports.ef
    );
    // Alone on a link of the rate, every packet leaves at its target.
    assert_eq!([outcome.ports.ef[0].aggregate, outcome.ports.ef[0].each].map(|it| it.unwrap().error_ns), [0, 0]);
}
