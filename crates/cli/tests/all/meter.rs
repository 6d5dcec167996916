//! What `meter` says of captures as they are: copies, clocks that step back, long silences, ECN.

use crate::command::Folder;
use serde_json::Value;
use std::path::Path;

/// A packet of a capture: its time in ns, and its bytes with the link header.
type Sent = (u64, Vec<u8>);

/// A nanosecond pcap of Ethernet, with packets of which only the first bytes were captured.
fn pcap(packets: &[Sent]) -> Vec<u8> {
    let mut out = [0xa1b2_3c4d_u32, 0x0004_0002, 0, 0, 65_535, 1].map(u32::to_le_bytes).concat();
    for (ns, data) in packets {
        let stated = u32::from(u16::from_be_bytes([data[16], data[17]])) + 14;
        let length = data.len() as u32;
        let header = [(ns / 1_000_000_000) as u32, (ns % 1_000_000_000) as u32, length, length.max(stated)];
        out.extend(header.map(u32::to_le_bytes).concat());
        out.extend(data);
    }
    out
}

/// The packets of a capture of the tests.
fn packets(name: &str) -> Vec<Sent> {
    let bytes = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures").join(name)).unwrap();
    let unit = if bytes[..4] == [0x4d, 0x3c, 0xb2, 0xa1] { 1 } else { 1000 };
    let (mut at, mut out) = (24, Vec::new());
    while at < bytes.len() {
        let field = |n: usize| u32::from_le_bytes(bytes[at + 4 * n..][..4].try_into().unwrap());
        let data = bytes[at + 16..][..field(2) as usize].to_vec();
        out.push((u64::from(field(0)) * 1_000_000_000 + u64::from(field(1)) * unit, data));
        at += 16 + field(2) as usize;
    }
    out
}

/// IPv4 and UDP or TCP, with an identification.
fn ip(octet: u8, id: u16, transport: &[u8]) -> Vec<u8> {
    let (protocol, length) = (if transport.len() < 20 { 17 } else { 6 }, 20 + transport.len() as u16);
    let mut header = vec![0x45, octet, 0, 0, 0, 0, 0x40, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    header[2..4].copy_from_slice(&length.to_be_bytes());
    header[4..6].copy_from_slice(&id.to_be_bytes());
    [&[2; 12][..], &[8, 0], &header, transport].concat()
}

const UDP: [u8; 8] = [0, 1, 0, 2, 0, 8, 0, 0];

/// Without payload: bytes 0 to 12 of a header, then the flags.
fn tcp(source: u8, seq: u8, ack: u8, flags: u8) -> Vec<u8> {
    let ports = if source == 1 { [0, 1, 0, 2] } else { [0, 2, 0, 1] };
    [&ports[..], &[0, 0, 0, seq, 0, 0, 0, ack, 0x50, flags, 0, 9, 0, 0, 0, 0]].concat()
}

/// What came back, with both addresses turned round.
fn back(id: u16, transport: &[u8]) -> Vec<u8> {
    let mut data = ip(0, id, transport);
    (data[29], data[33]) = (2, 1);
    data
}

fn report(folder: &Folder, args: &[&str]) -> Value {
    let out = folder.perhop(&[&["meter", "in.pcap", "--json"], args].concat());
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).unwrap()
}

fn warned(report: &Value, words: &str) -> bool {
    report["warnings"].as_array().unwrap().iter().any(|it| it.as_str().unwrap().contains(words))
}

/// Every packet twice, 1 us apart: said, and with --once all is as without them.
#[test]
fn copies_are_said_and_taken_once() {
    let each = packets("tcp.pcap");
    let mut twice: Vec<_> =
        each.iter().flat_map(|(ns, data)| [(*ns, data.clone()), (ns + 1000, data.clone())]).collect();
    // the capture is as long as before
    twice.pop();
    let [plain, twice] = [&each, &twice].map(|it| Folder::with(&[("in.pcap", &pcap(it))]));
    let (right, found) = (report(&plain, &["--rtt"]), report(&twice, &["--rtt"]));
    assert_eq!((&right["copies"], &found["copies"]), (&0.into(), &239.into()));
    assert!(
        warned(&found, "239 of 479 packets compared are a copy") && warned(&found, "--once") && !warned(&right, "copy")
    );
    let once = report(&twice, &["--rtt", "--once"]);
    assert!(!warned(&once, "a copy of one"));
    for key in ["forward", "reverse", "flows", "round_trips", "code_points", "ecn"] {
        let same = |it: &Value| serde_json::to_string(&it[key]).unwrap();
        assert!(same(&once) == same(&right), "{key}");
        assert!(same(&found) != same(&right) || key == "reverse", "{key}");
    }
    let marked = |folder: &Folder, once: &[&str]| {
        let policy = "[conditioner.all]\nkind = \"token-bucket\"\ncir = \"9Mbit/s\"\ncbs = \"900kB\"\nred = \"drop\"\n";
        std::fs::write(folder.path("policy.toml"), policy).unwrap();
        let out = folder.perhop(&[&["mark", "in.pcap", "-o", "out.pcap", "--policy=policy.toml"], once].concat());
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        let said = String::from_utf8_lossy(&out.stdout).into_owned();
        (said.contains("written: out.pcap, 244 packets"), std::fs::read(folder.path("out.pcap")).unwrap())
    };
    let (said, out) = marked(&twice, &["--once"]);
    assert!(said, "the two ARP packets pass twice");
    assert_eq!(out.len(), marked(&plain, &[]).1.len() + 2 * (16 + 42));
}

/// Of a long capture a part is looked at; with --once all of it is.
#[test]
fn copies_of_a_long_capture_are_found_in_a_part() {
    let each = (0..20_000_u64).flat_map(|n| [0, 5_000].map(|later| (n * 1_000_000 + later, ip(0, n as u16 + 1, &UDP))));
    let folder = Folder::with(&[("in.pcap", &pcap(&each.collect::<Vec<_>>()))]);
    let found = report(&folder, &[]);
    let [copies, compared] = ["copies", "compared"].map(|key| found[key].as_u64().unwrap());
    assert!((7_000..10_000).contains(&compared) && copies.abs_diff(compared / 2) < 40, "{copies} of {compared}");
    let once = report(&folder, &["--once"]);
    assert_eq!(
        (&once["copies"], &once["compared"], &once["flows"][0]["packets"]),
        (&20_000.into(), &40_000.into(), &20_000.into())
    );
}

/// A SYN, its answer in the same instant, as the clock has stepped back by an hour; then one in order.
#[test]
fn times_across_a_step_of_the_clock_are_void() {
    let (hour, ms) = (3600 * 1_000_000_000_u64, 1_000_000_u64);
    let zero = 1_700_000_000 * 1_000_000_000_u64;
    let sent = [
        (zero, ip(0, 1, &tcp(1, 1, 0, 0x02))),
        (zero + ms - hour, back(1, &tcp(2, 5, 2, 0x12))),
        (zero + 2 * ms - hour, ip(0, 2, &tcp(1, 2, 6, 0x10))),
        (zero + 3 * ms, ip(0, 3, &tcp(1, 2, 6, 0x11))),
        (zero + 8 * ms, back(2, &tcp(2, 6, 3, 0x10))),
    ];
    let folder = Folder::with(&[("in.pcap", &pcap(&sent))]);
    let found = report(&folder, &["--rtt", "--samples"]);
    let trips = &found["round_trips"];
    let samples: Vec<_> =
        trips["samples"].as_array().unwrap().iter().map(|it| it["rtt_ns"].as_u64().unwrap()).collect();
    assert_eq!(samples, [5 * ms]);
    let voided = |rows: &str| {
        let rows = trips[rows].as_array().unwrap().iter();
        rows.map(|row| row["voided_samples"].as_u64().unwrap()).sum::<u64>()
    };
    assert_eq!((voided("flows"), voided("aggregates")), (2, 2));
    assert!(warned(&found, "2 round-trip times are void: the capture's clock stepped back"), "{}", found["warnings"]);
    let said = folder.perhop(&["meter", "in.pcap", "--rtt"]);
    assert!(
        String::from_utf8_lossy(&said.stdout).contains("void, as the clock stepped back: 2 of the round-trip times")
    );
}

/// A capture without TCP: what was asked for besides round trips is there.
#[test]
fn bursts_do_not_need_tcp() {
    let sent = [(0, ip(0, 1, &UDP)), (500_000, ip(0, 2, &UDP))];
    let folder = Folder::with(&[("in.pcap", &pcap(&sent))]);
    let found = report(&folder, &["--rtt", "--bursts"]);
    assert_eq!(found["bursts"][0]["packets"], 2);
    assert!(warned(&found, "no TCP segment with data"));
    assert!(folder.refused(&["meter", "in.pcap", "--rtt"]).contains("no TCP segment"));
}

/// Two bursts ten years apart: a rate over the flow's own time, and a warning.
#[test]
fn a_flow_has_the_rate_of_its_own_time() {
    let years = 315_360_000 * 1_000_000_000_u64;
    let flow = |start: u64, to: u8| {
        let udp = [0, 1, 0, to, 0, 8, 0, 0];
        (0..11).map(move |n: u16| (start + u64::from(n) * 100_000_000, ip(0, n + 1, &udp))).collect::<Vec<_>>()
    };
    let zero = 1_000_000_000 * 1_000_000_000_u64;
    let folder = Folder::with(&[("in.pcap", &pcap(&[flow(zero, 1), flow(zero + years, 2)].concat()))]);
    let found = report(&folder, &[]);
    // 11 packets of 28 B in a second
    let own: Vec<_> = found["flows"].as_array().unwrap().iter().map(|it| it["own_bit_s"].as_f64().unwrap()).collect();
    assert_eq!(own, [11.0 * 28.0 * 8.0; 2]);
    assert!(found["flows"][0]["offered_bit_s"].as_f64().unwrap() < 1e-5);
    let gaps = &found["gaps"];
    assert_eq!(
        (&gaps["count"], &gaps["longest_s"], &gaps["longest_from_s"]),
        (&1.into(), &315_359_999.0.into(), &1.0.into())
    );
    assert!(warned(&found, "1 time of more than a minute is without packets"), "{}", found["warnings"]);
    let text = String::from_utf8(folder.perhop(&["meter", "in.pcap"]).stdout).unwrap();
    assert!(text.contains("0.0025") && !text.contains("  0.0000"), "{text}");
    let short = Folder::with(&[("in.pcap", &pcap(&flow(zero, 1)))]);
    assert!(report(&short, &[])["gaps"].is_null());
}

/// Half of a flow's packets are marked, and some have another code point.
#[test]
fn ecn_and_code_points_are_counted_by_flow() {
    let octets = [2, 3, 3, 3, 0x28 | 2, 0x28 | 1, 0xb8, 0];
    let sent: Vec<_> = (0..).zip(octets).map(|(n, it)| (n * 1_000_000, ip(it, n as u16 + 1, &UDP))).collect();
    let other = (9_000_000, back(9, &UDP));
    let folder = Folder::with(&[("in.pcap", &pcap(&[&sent[..], &[other]].concat()))]);
    let found = report(&folder, &[]);
    let counts = |it: &Value| ["not_ect", "ect0", "ect1", "ce"].map(|key| it[key].as_u64().unwrap());
    assert_eq!(counts(&found["ecn"]), [3, 2, 1, 3]);
    assert_eq!((counts(&found["flows"][0]["ecn"]), counts(&found["flows"][1]["ecn"])), ([2, 2, 1, 3], [1, 0, 0, 0]));
    let codes = found["flows"][0]["code_points"].as_array().unwrap();
    let codes: Vec<_> =
        codes.iter().map(|it| (it["name"].as_str().unwrap(), it["packets"].as_u64().unwrap())).collect();
    assert_eq!(codes, [("BE", 5), ("AF11", 2), ("EF", 1)]);
    let of = |name: &str| {
        let rows = found["code_points"].as_array().unwrap().iter();
        rows.filter(|it| it["name"] == name).map(|it| counts(&it["ecn"])).next().unwrap()
    };
    assert_eq!((of("BE"), of("AF11"), of("EF")), ([2, 1, 0, 3], [0, 1, 1, 0], [1, 0, 0, 0]));
    let text = String::from_utf8(folder.perhop(&["meter", "in.pcap"]).stdout).unwrap();
    let line = text.lines().find(|it| it.contains("BE 5, AF11 2, EF 1")).unwrap();
    assert_eq!(line.split_whitespace().rev().take(4).collect::<Vec<_>>(), ["3", "1", "2", "2"], "{text}");
}
