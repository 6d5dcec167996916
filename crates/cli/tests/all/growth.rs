//! The instructions of `check` grow as the text of a configuration does: at n, 4 n and 16 n.
//!
//! They are counted by cachegrind, so that no other process alters them. What the check of next to no text costs is taken off.
//! `make growth` tries all kinds.

#[path = "../../../config/tests/all/growth/texts.rs"]
mod texts;

use std::path::Path;
use std::process::Command;

/// Kinds that are tried each time.
const SOME: [&str; 6] = [
    "access list",
    "classes of htb",
    "filters with a policer",
    "a variable that doubles",
    "findings of a loop",
    "loops within loops",
];

/// The instructions of `check` of a file.
fn instructions(file: &Path) -> f64 {
    let out = Command::new("valgrind")
        .args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"])
        .args([env!("CARGO_BIN_EXE_perhop"), "check", "--link", "1Gbit/s"])
        .arg(file)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(matches!(out.status.code(), Some(0..=2)), "{}: {said}", file.display());
    let counted = said.lines().find_map(|line| line.split_once(" refs:")).unwrap_or_else(|| panic!("{said}")).1;
    counted.trim().replace(',', "").parse().unwrap()
}

#[test]
fn instructions_of_check() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        return eprintln!("skipped: valgrind is not installed");
    }
    let folder = tempfile::tempdir().unwrap();
    let cost = |text: &str| {
        let file = tempfile::Builder::new().suffix(".cfg").tempfile_in(&folder).unwrap();
        std::fs::write(&file, text).unwrap();
        instructions(file.path())
    };
    let none = cost("tc qdisc add dev eth0 root fq_codel\n");
    texts::refuse_growth("instructions", &SOME, |text| cost(text) - none);
}
