//! Bad input: each gets its code, its place and a suggested fix, exit code 2, and nothing is half-written.

use crate::command::{Folder, SCENARIO, error, perhop};
use std::path::{Path, PathBuf};

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

fn capture() -> Vec<u8> {
    std::fs::read(repository("tests/captures/tcp.pcap")).unwrap()
}

/// `SCENARIO` with one text put in place of another.
fn changed(from: &str, to: &str) -> String {
    assert_eq!(SCENARIO.matches(from).count(), 1, "`{from}` appears once in the scenario");
    SCENARIO.replace(from, to)
}

/// Every fault of a scenario file: what is changed, the code, the place, and words of message and fix.
#[test]
fn faults_of_a_scenario() {
    let cases: &[(&str, &str, &str, &str, &[&str])] = &[
        ("window = 30", "windw = 30", "E004", "bad.toml:31:1", &["unknown key `windw`", "did you mean `window`?"]),
        ("model = \"ftp\"", "modle = \"ftp\"", "E004", "bad.toml:23:1", &["`modle`", "did you mean `model`?"]),
        ("\"5Mbit/s\"", "\"5\"", "E103", "bad.toml:8:24", &["rate without unit", "as in \"5Mbit/s\""]),
        ("\"5Mbit/s\"", "5000000", "E103", "bad.toml:8:24", &["rate without unit", "as in \"5Mbit/s\""]),
        ("\"5Mbit/s\"", "\"5MB\"", "E105", "bad.toml:8:24", &["`MB` is not a unit of rate", "bit/s"]),
        ("\"5Mbit/s\"", "\"-5Mbit/s\"", "E108", "bad.toml:8:24", &["out of range", "at least 0"]),
        ("\"5Mbit/s\"", "\"0bit/s\"", "E201", "bad.toml:8:24", &["`rate` is 0bit/s", "above 0"]),
        ("\"50000B\"", "\"500B\"", "E212", "bad.toml:20:7", &["smaller than one packet", "at least 1040B"]),
        ("min = \"5p\"", "min = \"15p\"", "E214", "bad.toml:13:7", &["not below `max`", "min < max"]),
        ("max-p = 0.1", "max-p = 1.5", "E216", "bad.toml:15:9", &["outside [0, 1]", "between 0 and 1"]),
        ("to = \"d\"", "to = \"e\"", "E232", "bad.toml:26:6", &["unknown node `e`"]),
        ("\"A - d\"", "\"B - d\"", "E233", "bad.toml:26:6", &["no route from `s` to `d`", "links"]),
        ("\"4s\"", "\"1e30s\"", "E108", "bad.toml:3:12", &["`1e30s` is out of range", "below 2^63 ns"]),
        ("warmup = \"1s\"", "warmup = \"4s\"", "E203", "bad.toml:4:10", &["not below the duration", "lower `warmup`"]),
        ("\"small\"", "\"a\\u0000b\"", "E011", "bad.toml:2:8", &["holds '\\0'", "that of a directory"]),
        ("\"small\"", "\"../up\"", "E011", "bad.toml:2:8", &["holds '/'", "that of a directory"]),
        ("\"token-bucket\"", "\"f-sam\"", "E236", "bad.toml:18:8", &["reads rates", "rate-labeller"]),
        ("replications = 2", "replications = 0", "E201", "bad.toml:5:16", &["`replications` is 0", "1 to 100000"]),
        ("[tcp.host]", "[traffic.bulk]", "E002", "bad.toml:29:10", &["bulk", "another name"]),
    ];
    for (from, to, code, place, words) in cases {
        let folder = Folder::with(&[("bad.toml", changed(from, to).as_bytes())]);
        let said = folder.refused(&["run", "bad.toml"]);
        assert!(said.contains(&format!("error[{code}]")) && said.contains(place), "{from} -> {to}: {said}");
        words.iter().for_each(|word| assert!(said.contains(word), "{from} -> {to}: no `{word}` in\n{said}"));
        assert!(said.contains("   help: ") && said.contains("nothing was run"), "{said}");
        // `check` says the same and ends the same way
        let check = folder.perhop(&["check", "bad.toml"]);
        assert_eq!(check.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&check.stdout).contains(&format!("error[{code}]")), "{from} -> {to}");
    }
}

#[test]
fn files_that_hold_no_scenario() {
    let traffic = SCENARIO.find("[traffic.bulk]").unwrap();
    let none = SCENARIO[..traffic].to_owned();
    let cases: [(&str, &[u8], &[&str]); 5] = [
        ("empty.toml", b"", &["error[E009]", "the file is empty", "help: "]),
        ("blank.toml", b"\n  \n", &["error[E009]", "help: "]),
        ("text.toml", b"this is not TOML", &["error[E001]", "text.toml:1:"]),
        ("bytes.toml", b"[scenario]\nname = \"\xff\"\n", &["error[E008]", "line 2", "UTF-8"]),
        ("quiet.toml", none.as_bytes(), &["error[E238]", "traffic", "help: "]),
    ];
    for (name, bytes, words) in cases {
        let said = Folder::with(&[(name, bytes)]).refused(&["run", name]);
        words.iter().for_each(|word| assert!(said.contains(word), "{name}: no `{word}` in\n{said}"));
    }
    let said = Folder::with(&[]).refused(&["run", "none.toml"]);
    assert!(said.contains("error[E007]") && said.contains("none.toml") && said.contains("help: "), "{said}");
}

/// All faults of a file in one pass.
#[test]
fn all_faults_at_once() {
    let text = changed("\"4s\"", "4").replace("flows = 3", "flow = 3").replace("\"50000B\"", "\"10B\"");
    let said = Folder::with(&[("bad.toml", text.as_bytes())]).refused(&["run", "bad.toml"]);
    for code in ["E103", "E004"] {
        assert!(said.contains(code), "{said}");
    }
    assert!(said.contains("errors, nothing was run"), "{said}");
}

#[test]
fn arguments_that_make_no_sense() {
    let cases: [(&[&str], &[&str]); 10] = [
        (&["run", "ok.toml", "--duration", "1e30s"], &["E108", "--duration:1:"]),
        (&["run", "ok.toml", "--seed", "x"], &["E003", "--seed:1:"]),
        (&["run", "ok.toml", "-s", "traffic.bulk.flow=3"], &["E004", "-s:1:", "did you mean `flows`?"]),
        (&["run", "ok.toml", "-s", "flows"], &["E010", "-s:1:1"]),
        (&["run", "ok.toml", "--pcap", "A -> e"], &["E006", "did you mean `A -> d`?"]),
        (&["run", "ok.toml", "-j", "99999999999"], &["--jobs", "0..=1024"]),
        (&["sweep", "ok.toml", "--vary", "flows"], &["E010", "--vary:1:1", "key=a,b,c"]),
        (&["sweep", "ok.toml", "--shard", "3/2"], &["3/2", "1 <= I <= N"]),
        (&["list", "pamm"], &["`pamm`", "did you mean `pam`?"]),
        (&["runn", "ok.toml"], &["unrecognized subcommand", "run"]),
    ];
    for (args, words) in cases {
        let said = Folder::with(&[("ok.toml", SCENARIO.as_bytes())]).refused(args);
        words.iter().for_each(|word| assert!(said.contains(word), "{args:?}: no `{word}` in\n{said}"));
    }
}

#[test]
fn directories_that_cannot_be_written() {
    let folder = Folder::with(&[("ok.toml", SCENARIO.as_bytes()), ("file", b"no directory")]);
    for out in ["file", "/proc/runs"] {
        let said = folder.refused(&["run", "ok.toml", "--out", out]);
        assert!(said.contains("error[E020]") && said.contains(out) && said.contains("--out"), "{said}");
        let said = folder.refused(&["sweep", "ok.toml", "--out", out]);
        assert!(said.contains("error[E020]") && said.contains(out), "{said}");
    }
}

/// A limit on the size of the process's files simulates a full disk.
#[test]
fn a_full_disk_leaves_old_results_as_they_were() {
    let folder = Folder::with(&[("ok.toml", SCENARIO.as_bytes())]);
    assert!(folder.perhop(&["run", "ok.toml"]).status.success());
    let (names, contents) = (folder.names(), folder.contents());
    let said = error(&folder.limited(&["run", "ok.toml", "--seed", "2"]));
    assert!(said.contains("error[E020] cannot write runs/small/") && said.contains("free some space"), "{said}");
    assert_eq!(folder.names(), names, "of the attempt nothing is left");
    // the same point under the same seed: its directory would have been replaced
    assert!(error(&folder.limited(&["run", "ok.toml"])).contains("error[E020]"));
    assert!(folder.contents() == contents, "old results are byte for byte there");
}

const POLICY: &str =
    "[conditioner.all]\nkind = \"token-bucket\"\ncir = \"1Mbit/s\"\ncbs = \"15kB\"\ngreen = \"mark AF11\"\n";

/// Ethernet, one ARP packet.
fn arp() -> Vec<u8> {
    let frame = [&[0xff; 6][..], &[2; 6], &[0x08, 0x06], &[0; 28]].concat();
    let length = (frame.len() as u32).to_le_bytes();
    [&capture()[..24], &1u32.to_le_bytes(), &0u32.to_le_bytes(), &length, &length, &frame].concat()
}

/// The first record claims a length of 2 GB.
fn corrupt() -> Vec<u8> {
    let mut bytes = capture();
    bytes[32..36].copy_from_slice(&0x7fff_ffffu32.to_le_bytes());
    bytes
}

#[test]
fn captures_that_cannot_be_marked() {
    let cut = capture()[..20_000].to_vec();
    let cases: [(&str, Vec<u8>, &[&str]); 5] = [
        ("cut.pcap", cut, &["error[E021] cut.pcap", "cut off", "byte 19922", "--partial keeps"]),
        ("corrupt.pcap", corrupt(), &["error[E021] corrupt.pcap", "byte 24", "corrupt", "editcap"]),
        ("arp.pcap", arp(), &["error[E021] arp.pcap", "no IP packet", "ARP: 1", "check what was captured"]),
        ("empty.pcap", Vec::new(), &["error[E021] empty.pcap", "the capture is empty", "check that"]),
        ("text.pcap", POLICY.into(), &["error[E021] text.pcap", "looks like text", "tcpdump"]),
    ];
    for (name, bytes, words) in cases {
        let folder =
            Folder::with(&[(name, &bytes), ("policy.toml", POLICY.as_bytes()), ("old.pcap", b"what was there")]);
        for args in
            [&["meter", name][..], &["mark", name, "-o", "new.pcap"], &["mark", name, "-o", "old.pcap", "--force"]]
        {
            let said = folder.refused(&[args, &["--policy", "policy.toml"]].concat());
            words.iter().for_each(|word| assert!(said.contains(word), "{args:?}: no `{word}` in\n{said}"));
        }
        assert_eq!(std::fs::read(folder.path("old.pcap")).unwrap(), b"what was there");
    }
}

/// One datagram, of no link type that is known.
fn unknown_link() -> Vec<u8> {
    let mut bytes = arp();
    bytes[20..24].copy_from_slice(&147u32.to_le_bytes());
    bytes
}

/// A UDP datagram from port 1 to port 2.
fn datagram() -> Vec<u8> {
    let ip =
        [&[0x45, 0, 0, 28, 0, 1, 0, 0, 64, 17, 0, 0][..], &[10, 0, 0, 1, 10, 0, 0, 2, 0, 1, 0, 2, 0, 8, 0, 0]].concat();
    let frame = [&[2; 12][..], &[8, 0], &ip].concat();
    let length = (frame.len() as u32).to_le_bytes();
    [&capture()[..24], &1u32.to_le_bytes(), &0u32.to_le_bytes(), &length, &length, &frame].concat()
}

#[test]
fn captures_without_round_trips() {
    let cases: [(&str, Vec<u8>, &[&str]); 4] = [
        ("arp.pcap", arp(), &["error[E021] arp.pcap", "no IP packet", "ARP: 1"]),
        ("link.pcap", unknown_link(), &["error[E021] link.pcap", "link type 147: 1", "check what was captured"]),
        (
            "udp.pcap",
            datagram(),
            &["error[E021] udp.pcap", "no TCP segment among the capture's 1 IP packets", "in both directions"],
        ),
        ("text.pcap", POLICY.into(), &["error[E021] text.pcap", "looks like text"]),
    ];
    for (name, bytes, words) in cases {
        let said = Folder::with(&[(name, &bytes)]).refused(&["meter", name, "--rtt"]);
        words.iter().for_each(|word| assert!(said.contains(word), "{name}: no `{word}` in\n{said}"));
    }
    let folder = Folder::with(&[("in.pcap", &capture())]);
    assert!(folder.refused(&["meter", "in.pcap", "--samples"]).contains("--rtt"), "samples of what");
    assert!(folder.refused(&["meter", "in.pcap", "--rtt", "--samples"]).contains("--json"), "no table of samples");
}

#[test]
fn partial_keeps_the_whole_packets() {
    let cut = capture()[..20_000].to_vec();
    let folder = Folder::with(&[("cut.pcap", &cut), ("policy.toml", POLICY.as_bytes())]);
    let out = folder.perhop(&["mark", "cut.pcap", "-o", "new.pcap", "--partial", "--policy", "policy.toml"]);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    assert_eq!(std::fs::read(folder.path("new.pcap")).unwrap().len(), 19_922, "up to the record that is cut");
}

#[test]
fn outputs_and_policies_that_will_not_do() {
    let files = [("in.pcap", capture()), ("policy.toml", POLICY.into()), ("empty.toml", Vec::new())];
    let folder = Folder::with(&files.each_ref().map(|(name, bytes)| (*name, &bytes[..])));
    let said = folder.refused(&["mark", "in.pcap", "-o", "none/out.pcap", "--policy", "policy.toml"]);
    assert!(said.contains("error[E020] cannot write none/out.pcap") && said.contains("help: "), "{said}");
    let said = folder.refused(&["mark", "none.pcap", "-o", "out.pcap", "--policy", "policy.toml"]);
    assert!(said.contains("error[E021]") && said.contains("cannot open none.pcap"), "{said}");
    let said = folder.refused(&["mark", "in.pcap", "-o", "out.pcap", "--policy", "empty.toml"]);
    assert!(said.contains("error[E009]") && said.contains("nothing was read"), "{said}");
    let before = folder.contents();
    let said = error(&folder.limited(&["mark", "in.pcap", "-o", "empty.toml", "--policy", "policy.toml", "--force"]));
    assert!(said.contains("error[E020]"), "{said}");
    assert!(folder.contents() == before, "what was there is unchanged");
}

/// `perhop ... | head -0`: the reader may go away.
#[test]
fn a_broken_pipe_is_no_panic() {
    let folder = Folder::with(&[("ok.toml", SCENARIO.as_bytes()), ("bad.toml", b"[scenario]\nname = 1\n")]);
    let verbs: [&[&str]; 7] = [
        &["list"],
        &["list", "pam"],
        &["--help"],
        &["explain", "ok.toml"],
        &["check", "bad.toml"],
        &["run", "ok.toml", "--json"],
        &["run", "ok.toml"],
    ];
    for args in verbs {
        let mut command = perhop(args, &folder);
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let out = command.stdout(writer).stderr(std::process::Stdio::piped()).output().unwrap();
        let said = String::from_utf8_lossy(&out.stderr);
        assert!(!said.contains("panicked"), "{args:?}: {said}");
        assert!(matches!(out.status.code(), Some(0 | 2)), "{args:?}: {:?} {said}", out.status);
    }
}
