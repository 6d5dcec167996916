//! `model = "capture"`: what a file holds is what is sent, and what cannot be sent is an error.

use perhop_capture::export::{Exporter, SimulatedPacket};
use perhop_core::classify::FlowHeaders;
use perhop_core::dscp::Dscp;
use perhop_core::packet::{Ecn, Packet};
use perhop_core::units::Time;
use perhop_scenario::{Options, Scenario};
use perhop_sim::plan::{Tap, TapPoint};
use perhop_sim::{EngineOptions, Simulation};
use std::path::Path;

/// Packets of a capture: ns, IP length, code point, ECN field, source port.
type Row = (u64, u32, u8, u8, u16);

const ROWS: [Row; 5] = [
    (7_000, 1500, 46, 0, 1),
    (7_001, 60, 0, 2, 2),
    (7_001, 60, 10, 3, 1),
    (900_007, 576, 46, 0, 3),
    (2_000_007, 40, 8, 1, 2),
];

fn write(path: &Path, rows: &[Row]) {
    let mut exporter = Exporter::new(Vec::new()).unwrap();
    for &(ns, wire, dscp, ecn, source_port) in rows {
        let (dscp, ecn) = (Dscp::new(dscp).unwrap(), Ecn::from_bits(ecn));
        let packet = Packet { dscp, ecn, payload: wire as u16 - 28, ..Packet::default() };
        let headers = FlowHeaders {
            protocol: 17,
            source: [10, 0, 0, 1].into(),
            destination: [10, 0, 0, 2].into(),
            source_port,
            destination_port: 5001,
            traffic: String::new(),
            class: String::new(),
            rtt: None,
        };
        exporter.write(&SimulatedPacket::new(Time::from_ns(ns), wire, &packet, &headers).unwrap()).unwrap();
    }
    std::fs::write(path, exporter.into_inner()).unwrap();
}

/// A scenario that replays `rows`, with more keys of its traffic.
fn scenario(folder: &Path, more: &str) -> String {
    let file = folder.join("in.pcap");
    format!(
        "[scenario]\nduration = \"2s\"\nwarmup = \"0s\"\n[links]\n\"a - b\" = {{ rate = \"100Mbit/s\" }}\n\
         [traffic.it]\nmodel = \"capture\"\nfile = {file:?}\nfrom = \"a\"\nto = \"b\"\n{more}\n"
    )
}

/// What comes to the first port: ns after `start`, IP length, code point, ECN field, flow.
fn sent(text: &str, start: u64) -> Vec<(u64, u32, u8, u8, u32)> {
    let (scenario, warnings) = Scenario::parse(text, &Options::new("x.toml").captures(&perhop_capture::replay::Files))
        .unwrap_or_else(|e| panic!("{e}"));
    assert!(warnings.list.is_empty(), "{warnings}");
    let mut plan = scenario.plan(1, 0);
    plan.probes.taps = vec![Tap { link: 0, point: TapPoint::Input }];
    let outcome = Simulation::new(plan, EngineOptions::default()).unwrap().run(|_| true).unwrap();
    let row = |it: &perhop_sim::record::Captured| {
        let Packet { dscp, ecn, flow, .. } = it.packet;
        (it.at.ns() - start, it.wire, dscp.get(), ecn as u8, flow.0 / 2)
    };
    outcome.captured.iter().map(row).collect()
}

#[test]
fn what_a_file_holds_is_what_is_sent() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("in.pcap"), &ROWS);
    let all =
        [(0, 1500, 46, 0, 0), (1, 60, 0, 2, 0), (2, 60, 10, 3, 0), (893_007, 576, 46, 0, 0), (1_993_007, 40, 8, 1, 0)];
    assert_eq!(sent(&scenario(folder.path(), ""), 0), all, "the third waits for the nanosecond of the second");
    let own = sent(
        &scenario(folder.path(), "start = \"1ms\"\ncode-points = \"traffic\"\ndscp = \"AF11\"\necn = true"),
        1_000_000,
    );
    assert_eq!(own, all.map(|(at, wire, ..)| (at, wire, 10, 2, 0)));
    let two = sent(&scenario(folder.path(), "flows = 2"), 0);
    assert_eq!(
        two,
        [(0, 1500, 46, 0, 0), (1, 60, 10, 3, 0), (1, 60, 0, 2, 1), (893_007, 576, 46, 0, 0), (1_993_007, 40, 8, 1, 1)]
    );
    let ef = sent(&scenario(folder.path(), "match = { dscp = \"EF\", source-port = [1, 2, 3] }"), 0);
    assert_eq!(ef, [(0, 1500, 46, 0, 0), (893_007, 576, 46, 0, 0)]);
}

/// The hash is part of the effective values, so that results are those of one content; a file that changed is an error.
#[test]
fn results_belong_to_a_content() {
    let folder = tempfile::tempdir().unwrap();
    let (path, options) =
        (folder.path().join("in.pcap"), Options::new("x.toml").captures(&perhop_capture::replay::Files));
    write(&path, &ROWS);
    let (first, _) = Scenario::parse(&scenario(folder.path(), ""), &options).unwrap();
    let effective = first.effective();
    assert!(effective.contains("hash = \""), "{effective}");
    assert_eq!(Scenario::parse(&effective, &options).unwrap().0.effective(), effective);
    write(&path, &ROWS[1..]);
    let said = Scenario::parse(&effective, &options).unwrap_err().to_string();
    assert!(said.contains("E264") && said.contains("`hash` is"), "{said}");
    assert_ne!(Scenario::parse(&scenario(folder.path(), ""), &options).unwrap().0.effective(), effective);
}

#[test]
fn what_cannot_be_sent_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.pcap");
    let messages = |more: &str| match Scenario::parse(
        &scenario(folder.path(), more),
        &Options::new("x.toml").captures(&perhop_capture::replay::Files),
    ) {
        Ok((_, warnings)) => warnings.to_string(),
        Err(errors) => errors.to_string(),
    };
    assert!(messages("").contains("E264"), "no file: {}", messages(""));
    std::fs::write(&path, "no capture").unwrap();
    assert!(messages("").contains("E264"), "no capture: {}", messages(""));
    write(&path, &ROWS);
    for (more, words) in [
        ("match = { dscp = \"AF41\" }", &["E264", "no packet to replay among 5 packets"][..]),
        ("hash = \"0123456789abcdef\"", &["E264", "`hash` is \"0123456789abcdef\""]),
        ("dscp = \"EF\"", &["E239", "`dscp` has no effect", "code-points = \"traffic\""]),
        ("ecn = true", &["E239", "`ecn` has no effect"]),
        ("spread = \"1s\"", &["E239", "`spread` has no effect"]),
        ("tcp = \"reno\"", &["E239", "`tcp` has no effect"]),
        ("start = \"1999ms\"", &["W330", "1 packet is of 5 not sent"]),
    ] {
        words.iter().for_each(|word| assert!(messages(more).contains(word), "{more}: {}", messages(more)));
    }
    write(&path, &[ROWS[3], ROWS[0]]);
    assert!(
        messages("").contains("packet 2 has an earlier timestamp") && messages("").contains("reordercap"),
        "{}",
        messages("")
    );
}
