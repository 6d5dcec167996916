//! Packets in groups against tshark's sums, and over several captures: `tests/reference/tshark`.

use perhop_capture::mark::{By, Group, Marking, Part, Report, Total, run};
use perhop_capture::{Capture, Pump};
use perhop_results::captures::{self, groups};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// By what, and name: packets and bytes.
type Sums = BTreeMap<(String, String), [u64; 2]>;

fn tests(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(name)
}

fn report(capture: &str) -> Report {
    let mut capture = Capture::open(tests(capture)).unwrap();
    run(Marking::default(), &mut capture, None, &Pump::default()).unwrap()
}

/// What tshark says, with our names of ECN, code points and flows.
fn theirs(name: &str) -> Sums {
    let text = std::fs::read_to_string(tests(&format!("reference/tshark/{name}.groups.tsv"))).unwrap();
    let line = |line: &str| {
        let [by, name, packets, bytes] = line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        let name = match (by, name) {
            ("ecn", "0") => "Not-ECT".to_owned(),
            ("ecn", "2") => "ECT(0)".to_owned(),
            ("dscp", "0") => "BE".to_owned(),
            ("flow", name) => flow(name),
            (_, name) => name.to_owned(),
        };
        ((by.to_owned(), name), [packets, bytes].map(|n| n.parse().unwrap()))
    };
    text.lines().map(line).collect()
}

/// `10.0.0.1 5 > 10.0.0.2 6` as `tcp 10.0.0.1:5 > 10.0.0.2:6`
fn flow(name: &str) -> String {
    let end = |end: &str| match end.split_once(' ').unwrap() {
        (address, port) if address.contains(':') => format!("[{address}]:{port}"),
        (address, port) => format!("{address}:{port}"),
    };
    let (source, destination) = name.split_once(" > ").unwrap();
    format!("tcp {} > {}", end(source), end(destination))
}

fn ours(report: &Report) -> Sums {
    let mut sums = Sums::new();
    for by in By::ALL {
        for Group { name, volume, sent } in report.groups(by).rows {
            let mut add = |by: &str, of: [u64; 2]| sums.insert((by.to_owned(), name.clone()), of);
            add(by.name(), [volume.packets, volume.bytes]);
            if by == By::Host && sent.packets > 0 {
                add("sent", [sent.packets, sent.bytes]);
            }
        }
    }
    sums
}

#[test]
fn as_tshark_counts() {
    let captures = [("two-servers", "reference/tshark/two-servers.pcap"), ("tcp", "captures/tcp.pcap")];
    for (name, capture) in captures.into_iter().chain([("losses-before", "reference/tshark/losses-before.pcap")]) {
        assert_eq!(ours(&report(capture)), theirs(name), "{name}");
    }
}

/// The largest come first, and what the table leaves out is in its last line.
#[test]
fn a_table_has_the_largest_and_the_sum_of_the_others() {
    let report = report("reference/tshark/two-servers.pcap");
    let flows = report.groups(By::Flow);
    assert!(flows.rows.is_sorted_by_key(|row| std::cmp::Reverse(row.volume.bytes)));
    let text = groups::text(&flows, 2);
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 4, "{text}");
    let others: Vec<_> = lines[3].split_whitespace().collect();
    assert_eq!(others[..4], ["6", "others", "459", "206025"], "{text}");
    assert_eq!(groups::text(&flows, 8).lines().count(), 9);
}

/// Of a capture twice everything is double, over the same time.
#[test]
fn a_total_is_the_sum() {
    let report = report("captures/tcp.pcap");
    let one = report.groups(By::Host);
    let parts = [(), ()].map(|()| Part::new(&report, Some(Arc::new(one.clone()))));
    let total = Total::new(&parts, Some(By::Host));
    let rows = total.rows.as_ref().unwrap();
    assert_eq!((total.packets, total.covered_s), (2 * report.capture.packets, report.capture.duration_s));
    assert_eq!(rows.whole.bytes, 2 * one.whole.bytes);
    let doubled = one.rows.iter().zip(&rows.rows).all(|(one, two)| {
        (&one.name, 2 * one.volume.bytes, 2 * one.sent.packets) == (&two.name, two.volume.bytes, two.sent.packets)
    });
    assert!(doubled && rows.rows.len() == 2, "{rows:?}");
    let text = captures::total(&total, 5);
    assert!(text.starts_with("total of 2 captures: 484 packets, 0.529226 s, forward "), "{text}");
}
