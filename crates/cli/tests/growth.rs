//! The instructions of `check` grow as the text of a configuration does: at n, 4 n and 16 n.
//!
//! They are counted by cachegrind, so that no other process alters them. What the check of next to no text costs is taken off.
//! `make growth` runs it with the release build, which is four times as fast; `PERHOP_KIND=htb` tries the kinds with this in
//! their names.

#[path = "../../config/tests/growth/texts.rs"]
mod texts;

use std::path::Path;
use std::process::Command;

fn program() -> String {
    std::env::var("PERHOP_PROGRAM").unwrap_or_else(|_| env!("CARGO_BIN_EXE_perhop").to_owned())
}

/// The instructions of `check` of a file.
fn instructions(file: &Path) -> f64 {
    let out = Command::new("valgrind")
        .args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"])
        .args([&program(), "check", "--link", "1Gbit/s"])
        .arg(file)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(matches!(out.status.code(), Some(0..=2)), "{}: {said}", file.display());
    let counted = said.lines().find_map(|line| line.split_once(" refs:")).unwrap_or_else(|| panic!("{said}")).1;
    counted.trim().replace(',', "").parse().unwrap()
}

#[test]
#[ignore = "make growth runs it, with the release build"]
fn instructions_of_check() {
    let folder = tempfile::tempdir().unwrap();
    let cost = |text: &str| {
        let file = tempfile::Builder::new().suffix(".cfg").tempfile_in(&folder).unwrap();
        std::fs::write(&file, text).unwrap();
        instructions(file.path())
    };
    let none = cost("tc qdisc add dev eth0 root fq_codel\n");
    texts::refuse_growth("instructions", |text| cost(text) - none);
}
