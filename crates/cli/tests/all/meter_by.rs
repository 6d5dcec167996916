//! `meter` of several captures, and by host, pair, flow, code point and ECN.

use crate::command::Folder;
use serde_json::Value;
use std::path::Path;

/// A capture of UDP, the same again, one of TCP.
fn folder() -> Folder {
    let capture = |name| std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures").join(name));
    let [udp, tcp] = ["udp-ns.pcap", "tcp.pcap"].map(|name| capture(name).unwrap());
    Folder::with(&[("a.pcap", &udp), ("b.pcap", &udp), ("c.pcap", &tcp)])
}

fn printed(folder: &Folder, args: &[&str]) -> String {
    let out = folder.perhop(args);
    assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

fn objects(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn each_capture_is_reported_and_then_their_total() {
    let folder = folder();
    let text = printed(&folder, &["meter", "a.pcap", "b.pcap", "c.pcap"]);
    let heads: Vec<_> = text.lines().filter(|line| line.ends_with(".pcap")).collect();
    assert_eq!(heads, ["a.pcap", "b.pcap", "c.pcap"]);
    assert!(text.lines().last().unwrap().starts_with("total of 3 captures: "), "{text}");
    let alone = printed(&folder, &["meter", "a.pcap"]);
    assert!(text.contains(alone.trim_end()) && !alone.contains("total"), "{alone}");
    let found = objects(&printed(&folder, &["meter", "a.pcap", "b.pcap", "c.pcap", "--json"]));
    let files: Vec<_> = found.iter().map(|it| it["file"].as_str()).collect();
    assert_eq!(files, [Some("a.pcap"), Some("b.pcap"), Some("c.pcap"), None]);
    let packets = |it: &Value| it["packets"].as_u64().unwrap();
    assert_eq!(packets(&found[3]["total"]), found[..3].iter().map(packets).sum::<u64>());
    // the same time twice counts once
    let seconds = |it: &Value, key: &str| it[key].as_f64().unwrap();
    let covered = seconds(&found[0], "duration_s") + seconds(&found[2], "duration_s");
    assert!((seconds(&found[3]["total"], "covered_s") - covered).abs() < 1e-6);
}

#[test]
fn one_that_cannot_be_read_does_not_hide_the_others() {
    let folder = folder();
    let out = folder.perhop(&["meter", "a.pcap", "missing.pcap", "c.pcap", "--json"]);
    let said = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(2));
    assert!(said.contains("error[E021] cannot open missing.pcap: "), "{said}");
    let found = objects(&String::from_utf8(out.stdout).unwrap());
    assert_eq!((found.len(), &found[2]["total"]["captures"]), (3, &2.into()));
    assert!(folder.refused(&["meter", "missing.pcap"]).contains("error[E021] cannot open missing.pcap: "));
}

#[test]
fn packets_are_shown_in_groups() {
    let folder = folder();
    for by in ["host", "pair", "flow", "dscp", "ecn"] {
        let found = objects(&printed(&folder, &["meter", "c.pcap", "--by", by, "--json"])).remove(0);
        let rows = found["rows"].as_array().unwrap();
        let sum = rows.iter().map(|row| row["bytes"].as_u64().unwrap()).sum::<u64>();
        let each = if by == "host" { 2 } else { 1 };
        assert_eq!(sum, each * found["forward"]["bytes"].as_u64().unwrap(), "{by}");
        assert!(rows.iter().all(|row| row[by].is_string()) && found["by"] == by && found["flows"].is_null());
        let text = printed(&folder, &["meter", "c.pcap", "--by", by, "--top", "1"]);
        assert!(text.contains(&format!("\n{by} ")) && text.contains(" others ") == (rows.len() > 1), "{text}");
    }
    let said = folder.refused(&["meter", "a.pcap", "--by", "hosts"]);
    assert!(said.contains("'hosts'") && said.contains("tip: a similar value exists: 'host'"), "{said}");
    assert!(folder.refused(&["meter", "a.pcap", "--by", "host", "--rtt"]).contains("cannot be used with"));
}

/// All rows of each capture, by flow unless something else is asked for.
#[test]
fn rows_are_written_as_csv() {
    let folder = folder();
    let text = printed(&folder, &["meter", "a.pcap", "c.pcap", "--csv"]);
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[0], "file,flow,packets,bytes,bit_s,share_percent");
    assert!(lines[1..].iter().all(|line| line.starts_with("a.pcap,") || line.starts_with("c.pcap,")), "{text}");
    let host = printed(&folder, &["meter", "c.pcap", "--by", "host", "--csv", "rows.csv"]);
    assert!(host.contains("host "), "the table is printed too");
    let csv = std::fs::read_to_string(folder.path("rows.csv")).unwrap();
    let rows: Vec<Vec<_>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0], ["file", "host", "packets", "bytes", "bit_s", "share_percent", "sent_packets", "sent_bytes"]);
    assert_eq!((rows.len(), rows[1][3]), (3, "274881"));
    assert!(folder.refused(&["meter", "a.pcap", "--csv", "a.pcap"]).contains("error[E025]"));
}

/// `--csv` takes the next word, here a capture: that is no file of rows, and stays.
#[test]
fn rows_replace_no_capture() {
    let folder = folder();
    let before = folder.contents();
    let said = folder.refused(&["meter", "--by", "host", "--csv", "a.pcap", "c.pcap"]);
    assert!(said.contains("error[E026] a.pcap exists") && said.contains("put --csv last"), "{said}");
    assert!(folder.contents() == before);
    for _ in 0..2 {
        printed(&folder, &["meter", "c.pcap", "--csv", "rows.csv"]);
    }
}
