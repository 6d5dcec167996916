//! `mark` and `meter` on real and on made captures: what a user may rely on.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use perhop_capture::export::SimulatedPacket;
use perhop_capture::mark::{CaptureReport, MarkError, Marking, Origin, Output, Report, changes_nothing, mark, meter};
use perhop_capture::{CaptureError, Existing, Pump};
use perhop_core::Scope;
use perhop_core::accounting::Accounting;
use perhop_core::classify::{Match, Prefix};
use perhop_core::conditioner::{ConditionerParams, fsam, rate_labeller};
use perhop_core::flow_label::Encoding;
use perhop_core::params::Tree;
use perhop_core::port::edge::{Action, Per, StageSpec};
use perhop_core::units::Bytes;
use perhop_results::captures;

use crate::common::made::{bucket, dscps, made, packet};
use crate::common::marking::{Seen, af, by_name, file, marked, marking, packets, stage};

const CIR: u64 = 1_000_000;
const CBS: u64 = 15_000;
const NS: u128 = 1_000_000_000;

fn fair(cir: &str) -> Vec<StageSpec> {
    let label = by_name("rate-labeller", vec![]);
    assert!(matches!(label, ConditionerParams::RateLabeller(rate_labeller::Params { .. })));
    let marker = by_name("f-sam", vec![("cir", Tree::Text(cir.into())), ("cbs", Tree::Text("20000B".into()))]);
    assert!(matches!(marker, ConditionerParams::FSam(fsam::Params { .. })));
    vec![StageSpec { per: Per::Flow, ..stage("label", label) }, stage("fair", marker)]
}

const REAL: [&str; 14] = [
    "any-sll.pcap",
    "any-sll2.pcap",
    "merged.pcapng",
    "qinq.pcap",
    "raw.pcap",
    "sections.pcapng",
    "tcp-offload.pcap",
    "tcp.pcap",
    "tcp.pcapng",
    "tcp6-ns.pcap",
    "udp-fragments.pcap",
    "udp-ns.pcap",
    "udp6-fragments.pcap",
    "vlan.pcap",
];

/// A bucket by the book, in 128 bits: credit in bits x ns.
fn oracle(load: &[(u64, u32)]) -> Vec<bool> {
    let depth = u128::from(CBS) * 8 * NS;
    let (mut credit, mut at) = (depth, 0u128);
    let takes = load.iter().map(|(now, size)| {
        credit = depth.min(credit + u128::from(CIR) * (u128::from(*now) - at));
        at = u128::from(*now);
        let cost = u128::from(*size) * 8 * NS;
        let green = credit >= cost;
        credit -= if green { cost } else { 0 };
        green
    });
    takes.collect()
}

/// Time since the first packet, never going back.
fn times(packets: &[Seen]) -> Vec<u64> {
    let zero = packets[0].stamp_ns;
    let mut now = 0;
    let each = packets.iter().map(|packet| {
        now = now.max(packet.stamp_ns.saturating_sub(zero));
        now
    });
    each.collect()
}

/// RFC 2697: in any interval of length t at most CIR t + CBS bytes are green. Exact, all intervals.
fn within_contract(green: &[(u64, u32)]) {
    for from in 0..green.len() {
        let mut bits = 0;
        for (at, size) in &green[from..] {
            bits += u128::from(*size) * 8;
            let allowed = u128::from(CIR) * u128::from(at - green[from].0) + u128::from(CBS) * 8 * NS;
            assert!(bits * NS <= allowed, "{bits} bits are green from {} ns to {at} ns", green[from].0);
        }
    }
}

/// Every real capture through a token bucket: the colours are those of a bucket by the book, the contract holds, and
/// nothing but code points and IPv4 checksums differs from the input.
#[test]
fn a_token_bucket_on_real_traffic() {
    for name in REAL {
        let input = std::fs::read(file(name)).unwrap();
        let (output, report) = marked(&input, marking(vec![stage("tb", bucket(CIR, CBS))])).unwrap();
        assert_eq!(output.len(), input.len(), "{name}");
        let (before, after) = (packets(&input), packets(&output));
        let now = times(&before);
        let ip: Vec<usize> = (0..before.len()).filter(|i| before[*i].ip.is_some()).collect();
        let load: Vec<(u64, u32)> = ip.iter().map(|i| (now[*i], before[*i].ip.unwrap().lengths.l3)).collect();
        let expected = oracle(&load);
        let mut green = Vec::new();
        for (k, i) in ip.iter().enumerate() {
            let dscp = after[*i].ip.unwrap().dscp;
            assert_eq!(dscp, if expected[k] { 10 } else { 14 }, "{name}: packet {i}");
            if expected[k] {
                green.push(load[k]);
            }
        }
        within_contract(&green);
        only_code_points_differ(name, &before, &after);
        conserved(name, &report);
        assert_eq!(report.directions.forward.packets, ip.len() as u64, "{name}");
        assert_eq!(report.conditioners[0].colours.iter().map(|row| row.volume.packets).sum::<u64>(), ip.len() as u64);
        let counted = report.conditioners[0].colours.iter().filter(|row| row.after == "green");
        let sum: u64 = counted.map(|row| row.volume.bytes).sum();
        assert_eq!(sum, green.iter().map(|(_, size)| u64::from(*size)).sum::<u64>(), "{name}");
    }
}

fn only_code_points_differ(name: &str, before: &[Seen], after: &[Seen]) {
    for (i, (old, new)) in before.iter().zip(after).enumerate() {
        let mut restored = new.data.clone();
        if let (Some(old), Some(new)) = (old.ip, new.ip) {
            assert_eq!(old.ecn, new.ecn, "{name}: packet {i}");
            perhop_edge::set_dscp(&mut restored, &new, old.dscp).unwrap();
        }
        // the checksum 0xffff, which no sender writes, is the only one that does not come back
        assert_eq!(restored, old.data, "{name}: packet {i}");
    }
}

/// in = out + dropped, by direction, conditioner, code point and flow.
fn conserved(name: &str, report: &Report) {
    let code_points =
        |of: fn(&perhop_capture::mark::CodePointRow) -> u64| report.codes.code_points.iter().map(of).sum::<u64>();
    assert_eq!(code_points(|row| row.before.bytes), report.directions.forward.bytes, "{name}");
    assert_eq!(
        code_points(|row| row.after.bytes) + report.directions.dropped.bytes,
        report.directions.forward.bytes,
        "{name}"
    );
    let flows = |of: fn(&perhop_capture::mark::FlowRow) -> u64| report.flows.iter().map(|it| of(&it)).sum::<u64>();
    assert_eq!(
        flows(|row| row.total.bytes),
        report.directions.forward.bytes + report.directions.reverse.bytes,
        "{name}"
    );
    assert_eq!(
        flows(|row| row.total.packets),
        report.directions.forward.packets + report.directions.reverse.packets,
        "{name}"
    );
    assert_eq!(flows(|row| row.fates.dropped.bytes), report.directions.dropped.bytes, "{name}");
    let unchanged: u64 = report.flaws.unchanged.iter().map(|it| it.packets).sum();
    assert_eq!(
        report.directions.forward.packets + report.directions.reverse.packets + unchanged,
        report.capture.packets,
        "{name}"
    );
}

/// The captures are snapped to 96 bytes; meters count what was on the wire.
#[test]
fn lengths_are_those_of_the_wire() {
    let ethernet = |name: &str, tags: u32, accounting: Accounting| {
        let input = std::fs::read(file(name)).unwrap();
        let marking = Marking { accounting, ..marking(vec![stage("tb", bucket(CIR, CBS))]) };
        let report = marked(&input, marking).unwrap().1;
        let ip: Vec<Seen> = packets(&input).into_iter().filter(|packet| packet.ip.is_some()).collect();
        assert!(ip.iter().any(|packet| packet.original as usize > packet.data.len() + 500), "{name} is snapped");
        let wire: u64 = ip.iter().map(|packet| u64::from(packet.original)).sum();
        // l3: without the link header; else with it, tags and all, and what surrounds it. raw.pcap was Ethernet once, and
        // its lengths on the wire still show it
        let header = 14 + tags;
        let framing = match accounting.overhead() {
            0 => -i64::from(header),
            more => i64::from(more) + i64::from(tags) - i64::from(header),
        };
        assert_eq!(
            report.directions.forward.bytes as i64,
            wire as i64 + framing * ip.len() as i64,
            "{name} with {accounting:?}"
        );
    };
    for accounting in [Accounting::L3, Accounting::L2, Accounting::L2Fcs, Accounting::L1] {
        ethernet("tcp.pcap", 0, accounting);
        ethernet("vlan.pcap", 4, accounting);
        ethernet("qinq.pcap", 8, accounting);
        ethernet("raw.pcap", 0, accounting);
    }
}

#[test]
fn f_sam_on_real_traffic_is_repeatable_and_conserves() {
    for name in ["tcp.pcap", "tcp6-ns.pcap", "merged.pcapng", "udp-fragments.pcap"] {
        let input = std::fs::read(file(name)).unwrap();
        let once = marked(&input, marking(fair("500kbit/s"))).unwrap();
        assert_eq!(once, marked(&input, marking(fair("500kbit/s"))).unwrap(), "{name}");
        conserved(name, &once.1);
        let green: u64 = once.1.flows.iter().map(|flow| flow.fates.green.bytes).sum();
        assert!(green > 0 && green < once.1.directions.forward.bytes, "{name}: {green}");
    }
}

fn green_share(report: &Report, host: u8) -> f64 {
    let flow = report.flows.iter().find(|flow| flow.source == IpAddr::from([10, 0, 0, host])).expect("it sent");
    flow.fates.green.bytes as f64 / flow.total.bytes as f64
}

/// 8 Mbit/s and 400 kbit/s against 2 Mbit/s for both: the labeller, one instance per flow, distinguishes them. The slow flow
/// is below the fair rate (at least 1 Mbit/s), so F-SAM's filter lets all of it pass; it misses tokens only while alpha
/// settles (windows of 100 ms in 10 s, so 5 %). A token bucket gives it no more than its chance of finding tokens.
#[test]
fn f_sam_measures_each_flow_at_its_own_ingress() {
    let mut load: Vec<SimulatedPacket> = (0..10_000).map(|i| packet(i * 1_000_000 + 1, 1, (1000, None))).collect();
    load.extend((0..500).map(|i| packet(i * 20_000_000 + 500_003, 2, (1000, None))));
    load.sort_by_key(|packet| packet.time_ns);
    let fairly = marked(&made(&load), marking(fair("2Mbit/s"))).unwrap().1;
    let plainly = marked(&made(&load), marking(vec![stage("tb", bucket(2_000_000, 20_000))])).unwrap().1;
    assert!(green_share(&fairly, 2) > 0.95, "{}", captures::text(&fairly, 9));
    assert!(green_share(&fairly, 1) < 0.25, "{}", captures::text(&fairly, 9));
    assert!(green_share(&plainly, 2) < 0.8, "{}", captures::text(&plainly, 9));
}

/// 1 Mbit/s earns 1000 B in 8 ms. The third packet is stamped before the second: it is metered at the second's time,
/// where nothing is left.
#[test]
fn a_clock_never_goes_back() {
    let ms = 1_000_000;
    let stamps = [0, 8 * ms, 4 * ms, 12 * ms, 16 * ms];
    let load: Vec<_> = stamps.map(|at| packet(at, 1, (1000, None))).into();
    let small = StageSpec {
        scope: Scope { largest_packet: Bytes::new(1000), ..Scope::default() },
        ..stage("tb", bucket(CIR, 1000))
    };
    let (output, report) = marked(&made(&load), marking(vec![small])).unwrap();
    assert_eq!(dscps(&output), [10, 10, 14, 14, 10]);
    assert_eq!((report.flaws.out_of_order, report.flaws.largest_step_back_ns), (1, 4 * ms));
    assert!(report.warnings.iter().any(|text| text.contains("1 packet has a timestamp") && text.contains("0.004 s")));
    assert_eq!(report.capture.duration_s, Some(0.016));
    assert_eq!(report.capture.offered_bit_s, Some(40_000.0 / 0.016));
}

/// Per flow: a repeated SYN is not a new connection; a SYN after data is one, and finds a full bucket.
#[test]
fn a_new_connection_on_old_ports_starts_afresh() {
    let (syn, ack) = (Some(0x02), Some(0x10));
    let segments = [(40, syn), (40, syn), (41, ack), (40, syn), (41, ack), (41, ack)];
    let load: Vec<_> = segments.into_iter().zip(0u64..).map(|(it, at)| packet(at, 1, it)).collect();
    let scope = Scope { largest_packet: Bytes::new(41), ..Scope::default() };
    let tb = StageSpec { per: Per::Flow, scope, ..stage("tb", bucket(1, 79)) };
    let (output, _) = marked(&made(&load), marking(vec![tb])).unwrap();
    assert_eq!(dscps(&output), [10, 14, 14, 10, 14, 14]);
}

#[test]
fn dropped_packets_are_left_out_and_counted() {
    let input = std::fs::read(file("tcp.pcapng")).unwrap();
    let tb = |actions| marking(vec![StageSpec { actions, ..stage("tb", bucket(CIR, CBS)) }]);
    let (kept, _) = marked(&input, tb([af("AF11"), af("AF12"), af("AF13"), Action::TRANSMIT])).unwrap();
    let (output, report) = marked(&input, tb([af("AF11"), af("AF12"), Action::Drop, Action::TRANSMIT])).unwrap();
    conserved("tcp.pcapng", &report);
    let green: Vec<_> = packets(&kept).into_iter().filter(|it| it.ip.is_none_or(|ip| ip.dscp != 14)).collect();
    let left = packets(&output);
    assert!(report.directions.dropped.packets > 10);
    assert_eq!(left.len() as u64 + report.directions.dropped.packets, report.capture.packets);
    assert!(left.iter().zip(&green).all(|(a, b)| a.data == b.data && a.stamp_ns == b.stamp_ns));
    assert_eq!(left.len(), green.len());
    let dropped = report.conditioners[0].colours.iter().find(|row| row.after == "dropped").unwrap();
    assert_eq!(dropped.volume, report.directions.dropped);
}

/// What exceeds the first policer goes on to the second, which counts it and what it asks of its bucket.
#[test]
fn policers_in_a_row_share_a_capture() {
    let load: Vec<_> = (0..5).map(|i| packet(i, 1, (1000, None))).collect();
    let largest = |spec| StageSpec { scope: Scope { largest_packet: Bytes::new(1000), ..Scope::default() }, ..spec };
    let [green, red] = ["mark AF11", "colour yellow, next"].map(|text| text.parse().unwrap());
    let first = StageSpec { actions: [green, Action::TRANSMIT, red, Action::TRANSMIT], ..stage("tb", bucket(1, 1000)) };
    let rest = [af("AF12"), Action::TRANSMIT, Action::Drop, Action::TRANSMIT];
    let second = StageSpec { actions: rest, ..stage("excess", bucket(1, 2000)) };
    let (output, report) = marked(&made(&load), marking(vec![largest(first), largest(second)])).unwrap();
    assert_eq!(dscps(&output), [10, 12, 12]);
    assert_eq!(report.directions.dropped.packets, 2);
    let colours =
        |i: usize| report.conditioners[i].colours.iter().map(|row| (row.before, row.after, row.volume.packets));
    assert_eq!(colours(0).collect::<Vec<_>>(), [("unmarked", "green", 1), ("unmarked", "yellow", 4)]);
    assert_eq!(colours(1).collect::<Vec<_>>(), [("yellow", "green", 2), ("yellow", "dropped", 2)]);
    assert_eq!(
        report.conditioners.iter().map(|it| it.conforming_cbs_bytes).collect::<Vec<_>>(),
        [Some(5000), Some(4000)]
    );
}

/// Forward is from inside to outside; what comes back, and what stays inside, is not metered and not changed.
#[test]
fn only_forward_packets_are_metered() {
    let input = std::fs::read(file("tcp.pcap")).unwrap();
    let inside: Vec<Prefix> = vec![Prefix("10.77.0.1/32".parse().unwrap())];
    let both: Vec<Prefix> = vec![Prefix("10.77.0.0/24".parse().unwrap())];
    let tb = || vec![stage("tb", bucket(CIR, CBS))];
    let (output, report) = marked(&input, Marking { inside, ..marking(tb()) }).unwrap();
    conserved("tcp.pcap", &report);
    let sender: IpAddr = "10.77.0.1".parse().unwrap();
    for (old, new) in packets(&input).iter().zip(&packets(&output)) {
        let Some(ip) = old.ip else { continue };
        let allowed: &[u8] = if ip.source == sender { &[10, 14] } else { &[0] };
        assert!(allowed.contains(&new.ip.unwrap().dscp));
    }
    assert!(
        report.directions.forward.packets > 100 && report.directions.reverse.packets > 40,
        "{}",
        captures::text(&report, 9)
    );
    assert!(report.flows.iter().all(|flow| (flow.direction == "forward") == (flow.source == sender)));
    let (output, report) = marked(&input, Marking { inside: both, ..marking(tb()) }).unwrap();
    assert_eq!(output, input);
    assert!(report.warnings.iter().any(|text| text.contains("from inside to outside")), "{:?}", report.warnings);
}

/// The first match takes a packet; what none takes keeps its code point.
#[test]
fn packets_without_a_conditioner_are_counted_apart() {
    let load = [
        packet(0, 1, (100, None)),
        packet(1, 2, (200, None)),
        SimulatedPacket { dscp: 12, ..packet(2, 3, (300, None)) },
    ];
    let source = vec![Prefix("10.0.0.1/32".parse().unwrap())];
    let tb = StageSpec { matches: Match { source, ..Match::default() }, ..stage("tb", bucket(CIR, CBS)) };
    let unused =
        StageSpec { matches: Match { source_port: vec![9], ..Match::default() }, ..stage("unused", bucket(CIR, CBS)) };
    let (output, report) = marked(&made(&load), marking(vec![tb, unused])).unwrap();
    assert_eq!(dscps(&output), [10, 0, 12]);
    let rows: Vec<_> = report.unmatched.iter().map(|row| (row.before, row.volume.bytes)).collect();
    assert_eq!(rows, [("yellow", 300), ("unmarked", 200)]);
    assert_eq!(report.conditioners[0].conforming_cbs_bytes, Some(100));
    assert_eq!(report.conditioners[1].conforming_cbs_bytes, None);
    assert_eq!(report.warnings, ["no packet reached conditioner `unused`: check its `match`, and those before it"]);
    let label = stage("label", by_name("rate-labeller", vec![]));
    let labelled = marked(&made(&load), marking(vec![label])).unwrap().1;
    assert_eq!(labelled.unmatched, [&report.unmatched[..1], &labelled.unmatched[1..]].concat());
    assert_eq!(labelled.unmatched[1].volume.packets, 2, "a label is not a colour");
}

/// A separate file in the temporary directory, removed at the end.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str, bytes: &[u8]) -> Self {
        let path = std::env::temp_dir().join(format!("perhop-mark-{}-{name}", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        Self(path)
    }

    fn bytes(&self) -> Vec<u8> {
        std::fs::read(&self.0).unwrap()
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn a_cut_off_capture_is_an_error_unless_partial() {
    let whole = std::fs::read(file("tcp.pcap")).unwrap();
    let input = Temporary::new("cut.pcap", &whole[..whole.len() - 7]);
    let output = Temporary::new("cut-out.pcap", b"old");
    let tb = || marking(vec![stage("tb", bucket(CIR, CBS))]);
    let error = mark(&input.0, to(&output.0), tb(), &Pump::default()).unwrap_err();
    assert!(matches!(error, MarkError::Capture(CaptureError::Truncated(_))), "{error}");
    assert!(error.to_string().contains("⟨partial!⟩"), "{error}");
    assert_eq!(output.bytes(), b"old");
    let partial = Pump { partial: true, ..Pump::default() };
    let report = mark(&input.0, to(&output.0), tb(), &partial).unwrap();
    let all = packets(&whole);
    assert_eq!(report.capture.packets, all.len() as u64 - 1);
    assert_eq!(packets(&output.bytes()).len(), all.len() - 1);
    assert!(report.flaws.cut_off.as_ref().is_some_and(|text| text.contains("cut off")));
    assert!(report.warnings.contains(report.flaws.cut_off.as_ref().unwrap()));
    assert_eq!(report.capture.output.as_deref(), output.0.to_str());
    assert_eq!(
        meter(&input.0, tb(), &partial).unwrap(),
        Report { capture: CaptureReport { output: None, ..report.capture.clone() }, ..report }
    );
}

/// What is there is replaced.
fn to(path: &Path) -> Output<'_> {
    Output { path, existing: Existing::Replaced }
}

/// The program refuses it; should one still be written over the other, the input is read to its end first.
#[test]
fn an_output_that_is_the_input_is_whole() {
    let input = std::fs::read(file("udp-ns.pcap")).unwrap();
    let target = Temporary::new("itself.pcap", &input);
    let tb = || marking(vec![stage("tb", bucket(CIR, CBS))]);
    mark(&target.0, to(&target.0), tb(), &Pump::default()).unwrap();
    assert_eq!(target.bytes(), marked(&input, tb()).unwrap().0);
    assert_ne!(target.bytes(), input);
}

/// A pcap of Ethernet whose only packet is an ARP request.
fn arp() -> Vec<u8> {
    let mut bytes = vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 1, 0, 0, 0];
    bytes.extend([9, 0, 0, 0, 1, 0, 0, 0, 14, 0, 0, 0, 60, 0, 0, 0]);
    bytes.extend([0xff; 12]);
    bytes.extend([0x08, 0x06]);
    bytes
}

#[test]
fn a_capture_without_ip_is_an_error_and_nothing_is_written() {
    let (input, output) = (Temporary::new("arp.pcap", &arp()), Temporary::new("arp-out.pcap", b"old"));
    let tb = || marking(vec![stage("tb", bucket(CIR, CBS))]);
    let error = mark(&input.0, to(&output.0), tb(), &Pump::default()).unwrap_err();
    assert!(error.to_string().starts_with("no IP packet in the capture (1 packet; ARP: 1)"), "{error}");
    assert_eq!(output.bytes(), b"old");
    let empty = marked(&arp()[..24], tb()).unwrap_err();
    assert!(matches!(empty, MarkError::NoIp { packets: 0, .. }), "{empty}");
}

/// A pcapng section with one raw interface, whose packets are `blocks`.
fn pcapng(blocks: &[Vec<u8>]) -> Vec<u8> {
    let words = |values: &[u32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let section = words(&[0x0a0d_0d0a, 28, 0x1a2b_3c4d, 1, u32::MAX, u32::MAX, 28]);
    [section, words(&[1, 20, 101, 0, 20]), blocks.concat()].concat()
}

fn block(kind: u32, fields: &[u32], data: &[u8]) -> Vec<u8> {
    let length = (12 + 4 * fields.len() + data.len()) as u32;
    let start: Vec<u8> = [kind, length].iter().chain(fields).flat_map(|value| value.to_le_bytes()).collect();
    [start, data.to_vec(), length.to_le_bytes().to_vec()].concat()
}

/// Simple Packet Blocks carry no time: they pass unchanged among others, and alone they are an error.
#[test]
fn packets_without_a_time_pass_unmetered() {
    let udp = &made(&[packet(0, 1, (28, None))])[40..68];
    let (simple, enhanced) = (block(3, &[28], udp), block(6, &[0, 0, 5_000_000, 28, 28], udp));
    let tb = || marking(vec![stage("tb", bucket(CIR, CBS))]);
    let error = marked(&pcapng(std::slice::from_ref(&simple)), tb()).unwrap_err();
    assert!(matches!(error, MarkError::NoTime { packets: 1 }), "{error}");
    let input = pcapng(&[simple.clone(), enhanced.clone(), simple]);
    let (output, report) = marked(&input, tb()).unwrap();
    assert_eq!((report.directions.forward.packets, report.flaws.untimed, report.capture.packets), (1, 2, 3));
    conserved("mixed", &report);
    assert_eq!(report.flaws.unchanged[0].reason, "no timestamp");
    assert!(report.warnings[0].contains("2 IP packets have no timestamp"), "{:?}", report.warnings);
    let differ: Vec<usize> = (0..input.len()).filter(|i| input[*i] != output[*i]).collect();
    let (first, last) = (48 + 44, 48 + 44 + enhanced.len());
    assert!(!differ.is_empty() && differ.iter().all(|i| (first..last).contains(i)), "{differ:?}");
}

#[test]
fn parameters_out_of_bounds_are_named() {
    let error = marked(&arp(), marking(vec![stage("gold", bucket(CIR, 100))])).unwrap_err().to_string();
    assert!(error.starts_with("[conditioner.gold]") && error.contains("`cbs` is smaller than one packet"), "{error}");
}

#[test]
fn a_policy_that_changes_nothing_is_noticed() {
    let idle = StageSpec { actions: [Action::TRANSMIT; 4], ..stage("tb", bucket(CIR, CBS)) };
    let label = stage("label", by_name("rate-labeller", vec![]));
    let nothing = |stages: &[StageSpec]| changes_nothing(&marking(stages.to_vec()));
    assert!(nothing(&[idle.clone(), label.clone()]), "a labeller's actions are never used");
    assert!(nothing(&[]));
    let carried = |stages: &[StageSpec]| Marking { flow_label: Some(Encoding::Rate), ..marking(stages.to_vec()) };
    assert!(!changes_nothing(&carried(&[idle.clone(), label])), "its labels are carried");
    assert!(changes_nothing(&carried(std::slice::from_ref(&idle))));
    for action in [Action::Drop, af("AF13")] {
        let actions = [Action::TRANSMIT, Action::TRANSMIT, action, Action::TRANSMIT];
        assert!(!nothing(&[idle.clone(), StageSpec { actions, ..idle.clone() }]));
    }
}

#[test]
fn a_report_as_json_and_as_text() {
    let load: Vec<_> =
        (1..=5).map(|host| packet(u64::from(host) * 1_000_000, host, (1000 * u32::from(host), None))).collect();
    let (_, report) = marked(&made(&load), marking(vec![stage("tb", bucket(CIR, 6000))])).unwrap();
    let json: serde_json::Value = serde_json::to_value(&report).unwrap();
    assert_eq!(json["forward"], serde_json::json!({"packets": 5, "bytes": 15_000}));
    assert_eq!(json["conditioners"][0]["colours"][0]["after"], "green");
    assert_eq!(json["conditioners"][0]["colours"][0]["packets"], 3);
    assert_eq!(json["flows"][0]["source"], "10.0.0.5");
    assert_eq!(json["flows"][0]["red"]["bytes"], 5000);
    assert_eq!(json["cut_off"], serde_json::Value::Null);
    assert_eq!(json["code_points"][1]["name"], "AF11");
    let text = captures::text(&report, 2);
    assert!(text.contains("and 3 more flows"), "{text}");
    assert!(text.contains("udp 10.0.0.5:1000 > 192.0.2.1:2000") && !text.contains("10.0.0.3"), "{text}");
    assert!(!captures::text(&report, 5).contains("more flows"));
    assert!(text.lines().any(|line| line.starts_with("tb ") && line.ends_with("6000     40.0")), "{text}");
    assert!(text.contains("5 packets, 0.004000 s, forward 30.000 Mbit/s; bytes: IP length\n"), "{text}");
    assert_eq!(Marking::default().origin, Origin::Auto);
}

/// From its first packet, unless that is stamped within the first day of 1970: such a clock has no date, and its own zero
/// stays.
#[test]
fn a_time_zero_other_than_the_first_packet_is_shown() {
    const DAY_NS: u64 = 86_400_000_000_000;
    let metered = |first_ns: u64| {
        let load = [0, 250_000_000].map(|later| packet(first_ns + later, 1, (1000, None)));
        let report = marked(&made(&load), marking(vec![stage("tb", bucket(CIR, CBS))])).unwrap().1;
        let json = serde_json::to_value(&report).unwrap();
        let third = captures::text(&report, 9).lines().nth(2).unwrap().to_owned();
        (json["time_zero_ns"].as_u64(), json["first_packet_s"].as_f64(), json["flows"][0]["first_s"].as_f64(), third)
    };
    let own =
        |before: &str| format!("time zero: 0 on the capture's clock (1970-01-01), {before} s before the first packet");
    assert_eq!(metered(1_500_000_000), (Some(0), Some(1.5), Some(1.5), own("1.5")));
    assert_eq!(metered(DAY_NS - 1000), (Some(0), Some(86_399.999_999), Some(86_399.999_999), own("86399.999999")));
    for (first, zero) in [(0, 0), (DAY_NS, DAY_NS), (20_000 * DAY_NS, 20_000 * DAY_NS)] {
        assert_eq!(metered(first), (Some(zero), Some(0.0), Some(0.0), String::new()), "first packet at {first} ns");
    }
}

/// A capture of 0.53 s: what it sends in its worst second is what it sends, not half of that.
#[test]
fn the_worst_second_of_a_short_capture_is_all_of_it() {
    let report = meter(&file("tcp.pcap"), marking(vec![stage("tb", bucket(CIR, CBS))]), &Pump::default()).unwrap();
    assert!(report.capture.duration_s.is_some_and(|s| s < 1.0));
    assert!(report.flows.iter().all(|flow| flow.when.worst_second_bit_s == flow.rates.offered_bit_s));
    let contracts: Vec<_> = report.load.contracts.iter().collect();
    let [tb] = &contracts[..] else { panic!("one instance") };
    assert_eq!((tb.when.worst_second_bit_s, tb.offered_bit_s), (tb.offered_bit_s, report.capture.offered_bit_s));
    let red: u64 = report.flows.iter().map(|flow| flow.fates.red.bytes).sum();
    assert_eq!(
        (tb.excess.volume.bytes, tb.depth_bytes, tb.cir_bit_s),
        (red, CBS, CIR),
        "a token bucket's red is its excess"
    );
}
