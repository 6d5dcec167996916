//! Timestamps that are wrong: every figure is of the times by which packets are metered.

use crate::common::made::{bucket, made, packet};
use crate::common::marking::{marking, packets, stage};
use perhop_capture::export::SimulatedPacket;
use perhop_capture::mark::{Marking, Part, Report, Total, run};
use perhop_capture::{Capture, Pump};
use perhop_core::port::edge::{Per, StageSpec};
use perhop_results::captures;
use proptest::prelude::*;

const DAY_NS: u64 = 86_400_000_000_000;
const HOUR_NS: u64 = 3_600_000_000_000;
const MS: u64 = 1_000_000;

/// 101 packets of 100 B in a second, some days after 1970; the one of this number is stamped otherwise.
fn load(number: u64, stamp: impl Fn(u64) -> u64) -> Vec<SimulatedPacket> {
    let right = |n: u64| 20_000 * DAY_NS + n * 10 * MS;
    let stamped = |n: u64| if n == number { stamp(right(n)) } else { right(n) };
    (0..=100).map(|n| packet(stamped(n), 1, (100, None))).collect()
}

/// What is found, and the packets that are written.
fn through(load: &[SimulatedPacket], marking: Marking) -> (Report, Vec<u8>) {
    let (input, mut output) = (made(load), Vec::new());
    let report = run(marking, &mut Capture::new(&input[..]).unwrap(), Some(&mut output), &Pump::default());
    (report.unwrap(), output)
}

fn policed() -> Marking {
    Marking { bursts: true, ..marking(vec![stage("c", bucket(50_000, 1600))]) }
}

/// One is stamped an hour too early: the capture lasts a second all the same, and its rate is that of its only flow. The
/// output has the stamps of the input.
#[test]
fn one_that_is_early_does_not_stretch_a_capture() {
    let early = load(50, |at| at - HOUR_NS);
    let (report, output) = through(&early, policed());
    let it = &report.capture;
    assert_eq!((it.first_packet_s, it.duration_s, it.offered_bit_s), (Some(0.0), Some(1.0), Some(80_800.0)));
    let flow = report.flows.iter().next().unwrap();
    assert_eq!((flow.rates.own_bit_s, flow.rates.offered_bit_s), (Some(80_800.0), Some(80_800.0)));
    assert_eq!(report.load.contracts.iter().next().unwrap().offered_bit_s, Some(80_800.0));
    assert!(
        captures::text(&report, 9).starts_with("101 packets, 1.000000 s, forward 80.800 kbit/s"),
        "{}",
        captures::text(&report, 9)
    );
    assert!(
        report.warnings.iter().any(|it| it.starts_with("1 packet has a timestamp earlier")),
        "{:?}",
        report.warnings
    );
    let stamps = |bytes: &[u8]| packets(bytes).iter().map(|it| it.stamp_ns).collect::<Vec<_>>();
    assert_eq!(stamps(&output), early.iter().map(|it| it.time_ns).collect::<Vec<_>>());
    let total = Total::new(&[Part::new(&report, None)], None);
    assert_eq!((total.covered_s, total.offered_bit_s), (Some(1.0), Some(80_800.0)));
}

/// One is stamped an hour too late: the packets after it are metered at its time, which the capture then ends at. Both are
/// said.
#[test]
fn one_that_is_late_holds_the_clock() {
    let (report, _) = through(&load(50, |at| at + HOUR_NS), policed());
    assert_eq!(report.capture.duration_s, Some(3600.5));
    assert_eq!(report.flows.iter().next().unwrap().when.last_s, Some(3600.5));
    assert_eq!(report.flaws.out_of_order, 50);
    let said = |words: &str| report.warnings.iter().any(|it| it.contains(words));
    assert!(said("50 packets have a timestamp earlier") && said("its clock jumped"), "{:?}", report.warnings);
}

/// The first is early, by so much that the rest looks like a separate capture: it is where time begins.
#[test]
fn the_first_begins_the_clock_whatever_its_stamp() {
    let (report, _) = through(&load(0, |at| at - HOUR_NS), policed());
    assert_eq!((report.capture.duration_s, report.flaws.out_of_order), (Some(3601.0), 0));
    assert!(report.warnings.iter().any(|it| it.contains("its clock jumped")), "{:?}", report.warnings);
}

/// A report but for what it says of the stamps themselves.
fn figures(report: &Report) -> (serde_json::Value, String) {
    let mut json = serde_json::to_value(report).unwrap();
    for key in ["out_of_order", "largest_step_back_ns", "warnings"] {
        json.as_object_mut().unwrap().remove(key);
    }
    (json, captures::text(report, 9))
}

fn stages() -> Vec<StageSpec> {
    vec![StageSpec { per: Per::Flow, ..stage("flows", bucket(50_000, 1600)) }, stage("all", bucket(80_000, 3000))]
}

proptest! {
    /// Whatever the stamps are, a report is that of a capture which states the times by which packets are metered.
    #[test]
    fn every_figure_is_of_metered_times(
        stamps in prop::collection::vec(
            (prop_oneof![6 => 0i64..30_000_000, 1 => -4_000_000_000_000i64..0, 1 => 0i64..4_000_000_000_000], 1u8..4, 40u32..1500),
            1..60,
        ),
        first in prop_oneof![Just(5u64), Just(DAY_NS - 1), Just(20_000 * DAY_NS)],
    ) {
        let (mut at, mut largest) = (first, 0);
        let (mut stated, mut metered) = (Vec::new(), Vec::new());
        for (step, host, size) in stamps {
            stated.push(packet(at, host, (size, None)));
            largest = largest.max(at);
            metered.push(packet(largest, host, (size, None)));
            // an early or a late one is alone in that: the next continues at the right time
            let is_wrong = !(0..30_000_000).contains(&step);
            let next = at.saturating_add_signed(step);
            if is_wrong {
                stated.push(packet(next, host, (size, None)));
                largest = largest.max(next);
                metered.push(packet(largest, host, (size, None)));
                at += MS;
            } else {
                at = next;
            }
        }
        let of = |load: &[SimulatedPacket]| figures(&through(load, Marking { bursts: true, ..marking(stages()) }).0);
        prop_assert_eq!(of(&stated), of(&metered));
    }
}
