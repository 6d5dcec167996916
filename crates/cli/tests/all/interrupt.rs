//! Ctrl-C: exit code 130, finished replications kept and whole, and the next sweep continues from there. A killed process
//! may lose small replications of the last second.

use crate::command::process::{self, meanwhile, signal};
use crate::command::{Folder, SCENARIO, perhop};
use perhop_runs::disk::{load, numbers};
use std::process::{Command, Output, Stdio};

/// How many replications are on disk.
fn complete(folder: &Folder) -> usize {
    let manifests = folder.names().into_iter().filter(|p| p.ends_with("manifest.json"));
    manifests.filter_map(|p| Some(numbers(p.parent()?)?.count())).sum()
}

/// Starts a sweep, and sends it a signal when so many replications are on disk.
fn ended(folder: &Folder, sweep: &[&str], which: &str, after: usize) -> Output {
    signalled(folder, perhop(sweep, folder), which, after)
}

fn signalled(folder: &Folder, mut sweep: Command, which: &str, after: usize) -> Output {
    let mut sweep = sweep.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    meanwhile(&mut sweep, "it was interrupted", || complete(folder) >= after);
    signal(&sweep, which);
    process::ended(sweep)
}

/// How many replications a sweep says were there already.
fn reused(out: &Output) -> usize {
    let text = String::from_utf8_lossy(&out.stdout);
    text.split('(').skip(1).filter_map(|t| t.split(' ').next()?.parse::<usize>().ok()).sum()
}

const SWEEP: [&str; 8] =
    ["sweep", "long.toml", "--vary", "traffic.bulk.flows=1,2,3,4", "--replications", "5", "-j", "2"];

#[test]
fn finished_replications_are_kept() {
    let folder = Folder::with(&[("long.toml", SCENARIO.replace("\"4s\"", "\"600s\"").as_bytes())]);
    let out = ended(&folder, &SWEEP, "INT", 2);
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(130), "{said}");
    let kept = complete(&folder);
    assert!(said.contains(&format!("interrupted: {kept} of 20 replications are complete")), "{said}");
    assert!((2..20).contains(&kept), "{kept} were kept");
    assert!(!folder.names().iter().any(|p| p.to_string_lossy().contains(".partial")), "nothing is half-written");

    let before = folder.contents();
    let again = folder.perhop(&SWEEP);
    assert_eq!((again.status.code(), reused(&again), complete(&folder)), (Some(0), kept, 20), "{again:?}");
    let after = folder.contents();
    assert!(before.iter().all(|(path, bytes)| after[path] == *bytes), "what was kept is unchanged");
}

/// The exit code says which signal cut it short: 128 and its number.
#[test]
fn other_signals_end_it_as_ctrl_c_does() {
    for (signal, code) in [("TERM", 143), ("HUP", 129)] {
        let folder = Folder::with(&[("long.toml", SCENARIO.replace("\"4s\"", "\"600s\"").as_bytes())]);
        let out = ended(&folder, &SWEEP, signal, 1);
        let said = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(code), "{signal}: {said}");
        assert!(said.contains("interrupted: "), "{said}");
        assert!(!folder.names().iter().any(|p| p.to_string_lossy().contains(".partial")), "nothing is half-written");
    }
}

/// `nohup` has a program ignore that its terminal goes away.
#[test]
fn a_hang_up_that_is_ignored_ends_nothing() {
    let folder = Folder::with(&[("long.toml", SCENARIO.replace("\"4s\"", "\"600s\"").as_bytes())]);
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' HUP; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_perhop")]).args(SWEEP);
    shell.current_dir(folder.path(""));
    let out = signalled(&folder, shell, "HUP", 1);
    assert_eq!((out.status.code(), complete(&folder)), (Some(0), 20), "{}", String::from_utf8_lossy(&out.stderr));
}

/// What was written when it was killed is whole, and used by the next; what was gathered is made again.
#[test]
fn a_killed_process_loses_what_it_had_gathered_at_most() {
    let folder = Folder::with(&[("short.toml", SCENARIO.as_bytes())]);
    let sweep = ["sweep", "short.toml", "--replications", "5000", "-j", "1"];
    let out = ended(&folder, &sweep, "KILL", 1);
    assert_eq!(out.status.code(), None);
    let kept = complete(&folder);
    let written = folder.names().into_iter().filter(|p| p.ends_with("manifest.json"));
    let whole = written.filter(|p| !p.to_string_lossy().contains(".partial"));
    whole.for_each(|p| assert!(load(p.parent().unwrap()).is_ok(), "{p:?}"));
    let again = folder.perhop(&["sweep", "short.toml", "--replications", &(kept + 10).to_string(), "-j", "1"]);
    assert_eq!((again.status.code(), reused(&again), complete(&folder)), (Some(0), kept, kept + 10), "{again:?}");
    assert!(!folder.names().iter().any(|p| p.to_string_lossy().contains(".partial")), "nothing is left");
}
