//! What is printed arrives, or the command says that it did not; names of files need not be text.

use crate::command::{Folder, SCENARIO, error, perhop};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Stdio;

const POLICY: &str = "[conditioner.all]\nkind = \"token-bucket\"\ncir = \"1Mbit/s\"\ncbs = \"15kB\"\nred = \"drop\"\n";

fn folder() -> Folder {
    let capture = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures/tcp.pcap")).unwrap();
    let bad = SCENARIO.replace("window = 30", "windw = 30");
    Folder::with(&[
        ("ok.toml", SCENARIO.as_bytes()),
        ("bad.toml", bad.as_bytes()),
        ("policy.toml", POLICY.as_bytes()),
        ("in.pcap", &capture),
    ])
}

/// Everything that the core prints, verb by verb.
const PRINTED: &[&[&str]] = &[
    &["check", "ok.toml"],
    &["check", "bad.toml"],
    &["check", "ok.toml", "--json"],
    &["explain", "ok.toml"],
    &["explain", "ok.toml", "--json"],
    &["explain", "policy.toml"],
    &["run", "ok.toml"],
    &["run", "ok.toml", "--json"],
    &["sweep", "ok.toml", "--vary", "traffic.bulk.flows=1,2"],
    &["sweep", "ok.toml", "--vary", "traffic.bulk.flows=1,2", "--json"],
    &["meter", "in.pcap", "--policy", "policy.toml"],
    &["meter", "in.pcap", "--policy", "policy.toml", "--json"],
    &["mark", "in.pcap", "-o", "out.pcap", "--policy", "policy.toml"],
    &["tune", "svb", "--rate", "10Mbit/s", "--class", "rtt=120ms,flows=5..50"],
    &["tune", "svb", "--rate", "10Mbit/s", "--class", "rtt=120ms,flows=5..50", "--json"],
    &["list"],
    &["list", "pam"],
    &["list", "units"],
    &["list", "--json"],
    &["--help"],
    &["run", "--help"],
    &["--version"],
];

/// Answers that went nowhere are an error; only a reader that has gone away is none.
#[test]
fn a_full_device_is_an_error() {
    let folder = folder();
    for args in PRINTED {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let said = error(&perhop(args, &folder).stdout(full).stderr(Stdio::piped()).output().unwrap());
        assert!(said.contains("cannot write to standard output: No space left on device"), "{args:?}: {said}");
        assert!(said.contains("   help: "), "{args:?}: {said}");
    }
}

/// Where errors are shown is full as well: no panic, and the exit code says it.
#[test]
fn errors_that_cannot_be_shown_are_no_panic() {
    let folder = folder();
    for args in [&["run", "bad.toml"][..], &["meter", "none.pcap", "--policy", "policy.toml"], &["list", "pamm"]] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let out = perhop(args, &folder).stdout(Stdio::piped()).stderr(full).output().unwrap();
        assert_eq!(out.status.code(), Some(2), "{args:?}");
    }
}

/// A name that is not UTF-8.
fn odd() -> &'static OsStr {
    OsStr::from_bytes(b"odd-\xff")
}

/// Refused before anything is done: code, reason, fix, and no file more or less.
fn refused(folder: &Folder, args: &[&OsStr]) {
    let before = folder.contents();
    let said = error(&perhop(&[], folder).args(args).output().unwrap());
    for word in ["error[E022]", "odd-", "is not UTF-8", "   help: "] {
        assert!(said.contains(word), "{args:?}: no `{word}` in\n{said}");
    }
    assert!(folder.contents() == before, "{args:?} left {:?}", folder.names());
}

#[test]
fn paths_that_are_no_text_are_refused_where_text_is_due() {
    let folder = folder();
    let word = OsStr::new;
    refused(&folder, &[word("plot"), odd()]);
    refused(&folder, &[word("plot"), word("runs/a"), word("-o"), odd()]);
    refused(&folder, &[word("report"), word("runs/a"), word("-o"), odd()]);
    refused(&folder, &[word("report"), odd()]);
    refused(&folder, &[word("compare"), odd(), word("b")]);
    refused(&folder, &[word("compare"), word("a"), odd()]);
    refused(&folder, &[word("reproduce"), word("--out"), odd()]);
    for verb in ["run", "sweep"] {
        refused(&folder, &[word(verb), word("ok.toml"), word("--json"), word("--out"), odd()]);
    }
    let class = ["tune", "svb", "--rate", "10Mbit/s", "--class", "rtt=120ms,flows=5..50"].map(word);
    let picture = OsString::from_iter([word("--output="), odd()]);
    refused(&folder, &[&class[..], &[&picture]].concat());
}

#[test]
fn paths_that_are_no_text_work_where_they_can() {
    let folder = folder();
    std::fs::copy(folder.path("ok.toml"), folder.path("").join(odd())).unwrap();
    let [runs, marked] = ["-runs", ".pcap"].map(|end| OsString::from_iter([odd(), OsStr::new(end)]));
    let word = OsStr::new;
    let calls: [&[&OsStr]; 5] = [
        &[word("check"), odd()],
        &[word("explain"), odd()],
        &[word("run"), word("ok.toml"), word("--out"), &runs],
        &[word("sweep"), word("ok.toml"), word("--out"), &runs],
        &[word("mark"), word("in.pcap"), word("-o"), &marked, word("--policy"), word("policy.toml")],
    ];
    for args in calls {
        let out = perhop(&[], &folder).args(args).output().unwrap();
        assert_eq!(out.status.code(), Some(0), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    }
    assert!(folder.path("").join(marked).exists() && folder.path("").join(runs).exists());
}
