//! `meter --rtt`: what is reported of flows and aggregates, with a policy and without.

use std::path::{Path, PathBuf};

use crate::common::marking::{by_name, marking, stage};
use perhop_capture::mark::{MarkError, Marking, Report, RoundTripReport, RoundTripsOf, run};
use perhop_capture::{Capture, Pump};
use perhop_core::classify::{Match, Prefix};
use perhop_core::params::Tree;
use perhop_core::port::edge::{Per, StageSpec};
use perhop_results::captures;

fn capture(name: &str) -> Vec<u8> {
    let folder: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/reference/tshark");
    std::fs::read(folder.join(name)).unwrap()
}

fn report(bytes: &[u8], marking: Marking) -> Result<Report, MarkError> {
    let marking = Marking { round_trips: RoundTripsOf::Flows, ..marking };
    run(marking, &mut Capture::new(bytes)?, None, &Pump::default())
}

fn alone(bytes: &[u8]) -> RoundTripReport {
    report(bytes, Marking::default()).unwrap().round_trips.unwrap()
}

/// The records of a little-endian pcap with microseconds: header, time in us, and the whole record.
fn records(bytes: &[u8]) -> (Vec<u8>, Vec<(u64, Vec<u8>)>) {
    let number = |at: usize| u64::from(u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()));
    let (mut at, mut records) = (24, Vec::new());
    while at < bytes.len() {
        let end = at + 16 + number(at + 8) as usize;
        records.push((number(at) * 1_000_000 + number(at + 4), bytes[at..end].to_vec()));
        at = end;
    }
    (bytes[..24].to_vec(), records)
}

/// The same capture with what came later by `us` behind it.
fn twice(bytes: &[u8], us: u64) -> Vec<u8> {
    let (header, records) = records(bytes);
    let later = records.iter().map(|(at, record)| {
        let at = at + us;
        let times = [at / 1_000_000, at % 1_000_000].map(|it| (it as u32).to_le_bytes()).concat();
        [&times[..], &record[8..]].concat()
    });
    let first = records.iter().map(|(_, record)| record.clone());
    first.chain(later).fold(header, |all, record| [all, record].concat())
}

/// What comes from the client, 10.79.0.1, alone.
fn from_client(bytes: &[u8]) -> Vec<u8> {
    const SOURCE: std::ops::Range<usize> = 16 + 14 + 12..16 + 14 + 16;
    let (header, records) = records(bytes);
    let own = records.into_iter().filter(|(_, record)| record[SOURCE] == [10, 79, 0, 1]);
    own.fold(header, |all, (_, record)| [all, record].concat())
}

fn prefix(text: &str) -> Prefix {
    Prefix(text.parse().unwrap())
}

fn rtt_rto(name: &str, per: Per, source: &str) -> StageSpec {
    let params = by_name("rtt-rto", vec![("cir", Tree::Text("1Mbit/s".into()))]);
    let matches = Match { source: vec![prefix(source)], ..Match::default() };
    StageSpec { per, matches, ..stage(name, params) }
}

/// Samples that a conditioner took, and those that are reported of its aggregates.
fn samples(bytes: &[u8], (inside, per): (&str, Per)) -> (u64, Vec<u64>) {
    let marking = Marking { inside: vec![prefix(inside)], ..marking(vec![rtt_rto("edge", per, inside)]) };
    let report = report(bytes, marking).unwrap();
    let taken = report.conditioners[0].tallies.iter().find(|it| it.quantity == "rtt_samples").unwrap().total;
    (taken, report.round_trips.unwrap().aggregates.iter().map(|it| it.measured.samples).collect())
}

/// The conditioner takes the samples that are reported, of the same flows, at either end of the path.
#[test]
fn a_conditioner_takes_the_samples_that_are_reported() {
    let bytes = capture("two-servers.pcap");
    for (per, aggregates) in [(Per::Aggregate, 1), (Per::Pair, 2), (Per::Class, 1), (Per::Flow, 4)] {
        let (taken, reported) = samples(&bytes, ("10.79.0.1/32", per));
        assert_eq!((reported.iter().sum(), reported.len()), (taken, aggregates), "{per:?}");
    }
    // with timestamps: by sequence numbers alone one side has a sample more
    let bytes = capture("losses-before.pcap");
    let sides = ["fd79::1/128", "fd79::2/128"].map(|inside| samples(&bytes, (inside, Per::Aggregate)));
    assert_eq!(sides, [(5, vec![5]), (16, vec![16])]);
}

#[test]
fn aggregates_have_names() {
    let bytes = capture("two-servers.pcap");
    let names = |marking: Marking| {
        let it = report(&bytes, marking).unwrap().round_trips.unwrap();
        it.aggregates.into_iter().map(|it| (it.name, it.flows)).collect::<Vec<_>>()
    };
    let none = names(Marking::default());
    let pair = |source: u8, destination: u8| (format!("10.79.0.{source} > 10.79.0.{destination}"), 2);
    assert_eq!(none, [pair(1, 2), pair(1, 3), pair(2, 1), pair(3, 1)]);
    let inside = || vec![prefix("10.79.0.1/32")];
    let of = |per| names(Marking { inside: inside(), ..marking(vec![rtt_rto("gold", per, "10.79.0.1/32")]) });
    assert_eq!(of(Per::Aggregate), [("gold".into(), 4)]);
    assert_eq!(of(Per::Class), [("gold: protocol 6 to port 5001".into(), 4)]);
    assert_eq!(of(Per::Pair)[1], ("gold: 10.79.0.1 > 10.79.0.3".into(), 2));
    assert!(of(Per::Flow)[0].0.starts_with("gold: tcp 10.79.0.1:"));
    // what no conditioner takes belongs to no aggregate, and is measured
    let other = Marking { inside: inside(), ..marking(vec![rtt_rto("gold", Per::Aggregate, "10.79.0.9/32")]) };
    let it = report(&bytes, other).unwrap().round_trips.unwrap();
    assert_eq!((it.aggregates.len(), it.flows.len()), (0, 8));
    assert!(it.flows.iter().all(|it| it.aggregate.is_none()));
}

/// One direction: windows grow, times are unknown, and the report says so.
#[test]
fn without_acks_there_are_no_times() {
    let report = report(&from_client(&capture("no-timestamps.pcap")), Marking::default()).unwrap();
    let it = report.round_trips.as_ref().unwrap();
    assert_eq!((it.unanswered_flows, it.flows.len()), (3, 3));
    for flow in &it.flows {
        let times = [flow.measured.min_rtt_s, flow.measured.smoothed.smoothed_rtt_s, flow.measured.smoothed.rto_s];
        assert_eq!((flow.answered, flow.measured.samples, times), (false, 0, [None; 3]));
    }
    let warning = report.warnings.iter().find(|it| it.contains("the capture has no ACKs of 3 of 3 TCP flows"));
    assert!(warning.is_some_and(|it| it.contains("capture both directions at one place")), "{:?}", report.warnings);
}

/// A connection on the ports of an older one starts afresh: nothing of it counts as a repeat.
#[test]
fn a_new_connection_on_old_ports_starts_afresh() {
    let bytes = capture("no-timestamps.pcap");
    let [once, both] = [alone(&bytes), alone(&twice(&bytes, 10_000_000))];
    for (once, both) in once.flows.iter().zip(&both.flows) {
        let counts = |it: &perhop_capture::mark::MeasuredRow| [it.segments, it.repeats, it.timeouts, it.samples];
        assert_eq!(counts(&once.measured).map(|n| 2 * n), counts(&both.measured), "{both:?}");
        assert_eq!(once.measured.largest_window_segments, both.measured.largest_window_segments);
    }
}

#[test]
fn samples_are_listed_where_they_are_asked_for() {
    let bytes = capture("losses-before.pcap");
    assert_eq!(alone(&bytes).samples, None);
    let marking = Marking { round_trips: RoundTripsOf::Samples, ..Marking::default() };
    let it = run(marking, &mut Capture::new(&bytes[..]).unwrap(), None, &Pump::default()).unwrap().round_trips.unwrap();
    let listed = it.samples.unwrap();
    for (place, flow) in it.flows.iter().enumerate() {
        let own: Vec<f64> = listed.iter().filter(|it| it.flow == place).map(|it| it.rtt_ns as f64 / 1e9).collect();
        assert_eq!(own.len() as u64, flow.measured.samples);
        let mean = own.iter().sum::<f64>() / own.len() as f64;
        assert!((flow.measured.mean_rtt_s.unwrap() - mean).abs() < 1e-12);
        let [least, most] = [f64::min, f64::max].map(|of| own.iter().copied().reduce(of));
        assert_eq!((flow.measured.min_rtt_s, flow.measured.max_rtt_s), (least, most));
    }
}

#[test]
fn nothing_to_measure_is_an_error_without_a_policy_and_a_warning_with_one() {
    let udp = std::fs::read(crate::common::marking::file("udp-fragments.pcap")).unwrap();
    let (header, records) = records(&udp);
    // protocol 17 behind an Ethernet header
    let datagrams = records.into_iter().filter(|(_, record)| record[16 + 14 + 9] == 17);
    let udp = datagrams.fold(header, |all, (_, record)| [all, record].concat());
    let error = report(&udp, Marking::default()).unwrap_err().to_string();
    assert!(error.contains("no TCP segment among the capture's") && error.contains("give a policy"), "{error}");
    let with = report(&udp, marking(vec![rtt_rto("edge", Per::Aggregate, "10.77.0.1/32")])).unwrap();
    assert!(with.warnings.iter().any(|it| it.contains("no TCP segment with data")), "{:?}", with.warnings);
}

#[test]
fn the_tables() {
    let bytes = capture("two-servers.pcap");
    let text = captures::text(&report(&bytes, Marking::default()).unwrap(), 3);
    let line =
        |start: &str| text.lines().find(|it| it.starts_with(start)).unwrap_or_else(|| panic!("`{start}` in\n{text}"));
    assert!(text.contains("from the capture point to the receiver of the data and back"));
    let words: Vec<&str> = line("10.79.0.1 > 10.79.0.3").split_whitespace().collect();
    assert_eq!(words[3..], ["2", "5", "4", "78.604", "80.405", "78.882", "14.001", "200.000", "55", "115", "6", "2"]);
    assert!(line("tcp 10.79.0.3:5001 > 10.79.0.1:").contains("2.180"));
    assert!(text.contains("and 1 more aggregates") && text.contains("and 5 more flows"), "{text}");
    assert!(!text.contains("DSCP") && !text.contains("colour"), "colours were not asked for:\n{text}");
    let both = marking(vec![rtt_rto("gold", Per::Aggregate, "10.79.0.1/32")]);
    let text = captures::text(&report(&bytes, both).unwrap(), 3);
    assert!(text.contains("DSCP") && text.contains("\ngold  "), "{text}");
}
