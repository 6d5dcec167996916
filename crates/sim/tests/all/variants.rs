//! What is to be known of an algorithm it says itself: outside the folder of a list, nothing names one of its entries by the
//! variant of an enum or compares its name, so that a new entry is one file and one line. Reads the sources of all crates,
//! without their unit tests.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The lists whose entries are named in one folder alone: the enums, and the folder.
const CLOSED: [([&str; 2], &str); 2] =
    [(["TrafficParams", "AnyTraffic"], "sim/src/traffic/"), (["LawParams", "AnyLaw"], "sim/src/transport/congestion/")];

/// Those that some files name, and the folder.
const OPEN: [([&str; 2], &str); 3] = [
    (["ConditionerParams", "AnyConditioner"], "core/src/conditioner/"),
    (["AqmParams", "AnyAqm"], "core/src/aqm/"),
    (["SchedulerParams", "AnyScheduler"], "core/src/sched/"),
];

/// Who names entries of an open list, and why.
const NAMING: [(&str, &str); 33] = [
    ("config/src/as_ios/mod.rs", "what IOS lacks is lost by name"),
    ("config/src/as_ios/police.rs", "IOS's `police` and `set`, one function each"),
    ("config/src/as_ios/queues.rs", "IOS's queues, one line each"),
    ("config/src/as_ios/shares.rs", "`bandwidth` is a share of a scheduler by quanta or weights"),
    ("config/src/as_ios/spread.rs", "a marker may be in several classes, a bucket in one"),
    ("config/src/as_ios/stages.rs", "which conditioners stand in one class"),
    ("config/src/as_ios/tree.rs", "`priority` and `bandwidth` are strict priority, DRR, WRR or HTB"),
    ("config/src/as_tc/labels.rs", "a marker of one colour is a filter of tc"),
    ("config/src/as_tc/objects.rs", "tc's policer is the token bucket"),
    ("config/src/as_tc/police.rs", "tc's policer is the token bucket"),
    ("config/src/as_tc/ports.rs", "tc's classful disciplines, one function each"),
    ("config/src/as_tc/leaves.rs", "tc's queues, one line each"),
    ("core/src/port/mod.rs", "a policer is counted as tc does: it is the token bucket"),
    ("core/src/port/edge/mod.rs", "a policer is counted as tc does: it is the token bucket"),
    ("core/src/port/gate.rs", "drop-tail is not asked: most queues are spared a call"),
    ("core/src/port/spec.rs", "CHOKe's own table is told whether a shaper above asks"),
    ("runs/src/ef/sure.rs", "the rate that EF's class is sure of, by strict priority or HTB"),
    ("scenario/src/check/ack_filter.rs", "CAKE alone filters ACKs"),
    ("scenario/src/check/advice.rs", "DualPI2's coupling is advised on"),
    ("scenario/src/check/bursts.rs", "which bucket of a meter is a policer's"),
    ("scenario/src/check/ecn.rs", "CAKE marks without a key, DualPI2 in a queue of its own"),
    ("scenario/src/check/load.rs", "SVB and MSVB have a lemma"),
    ("scenario/src/check/pace.rs", "CoDel's target is held against the link"),
    ("scenario/src/check/paced.rs", "fq alone paces"),
    ("scenario/src/check/phases.rs", "phases are a matter of drop-tail"),
    ("scenario/src/check/sends.rs", "which queues of a host's own port take bursts apart"),
    ("scenario/src/check/starving.rs", "which classes go before others"),
    ("scenario/src/explain/mod.rs", "which queues of a host's own port take bursts apart"),
    ("scenario/src/explain/tree.rs", "curves of HFSC, tins of CAKE"),
    (
        "scenario/src/resolve/held.rs",
        "CAKE and HTB have separate rates, which may hold back all that the link would send",
    ),
    ("scenario/src/resolve/ports.rs", "the weight that a rate labeller gives"),
    ("scenario/src/sections/queue.rs", "the default is drop-tail"),
    ("sim/src/plan/mod.rs", "which port is at a host and has fq, for its senders to pace"),
];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = |path: PathBuf| if path.is_dir() { sources(&path) } else { vec![path] };
    entries.flat_map(files).filter(|path| path.extension().is_some_and(|it| it == "rs")).collect()
}

/// Every file of every crate's `src`, by its path from `crates`, with its text before its unit tests; without a file that only
/// these use, and without the benchmarks, which measure what they name.
fn files() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let crates = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path().join("src"));
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        let text = text.split("#[cfg(test)]\nmod ").next().unwrap().to_owned();
        (path.strip_prefix(root).unwrap().to_string_lossy().into_owned(), text)
    };
    let all = crates.filter(|src| src.is_dir()).flat_map(|src| sources(&src)).map(read);
    all.filter(|(path, _)| path != "sim/src/engine/small.rs" && !path.contains("bench/")).collect()
}

/// Whether a text names a variant of one of these enums.
fn names(text: &str, enums: [&str; 2]) -> bool {
    enums.iter().any(|name| {
        let after = format!("{name}::");
        text.match_indices(&after).any(|(at, _)| text[at + after.len()..].starts_with(|c: char| c.is_uppercase()))
    })
}

/// Whether it compares the name of a model or law.
fn compares(text: &str) -> bool {
    ["model.name() ==", "model.value.name() ==", "congestion.name() ==", "match tcp.congestion.name()"]
        .iter()
        .any(|comparison| text.contains(comparison))
}

#[test]
fn models_and_laws_are_named_in_their_folders_alone() {
    let files = files();
    assert!(files.len() > 300, "{} files", files.len());
    for (enums, folder) in CLOSED {
        let naming: Vec<_> =
            files.iter().filter(|(path, text)| !path.starts_with(folder) && names(text, enums)).collect();
        let naming: Vec<_> = naming.iter().map(|(path, _)| path).collect();
        assert!(naming.is_empty(), "{naming:?} name variants of {enums:?}: make it an item of the list's trait");
    }
    let comparing: Vec<_> = files.iter().filter(|(_, text)| compares(text)).map(|(path, _)| path).collect();
    assert!(comparing.is_empty(), "{comparing:?} compare the name of a model or law");
}

#[test]
fn whoever_names_another_algorithm_is_known() {
    let inside = |path: &str| OPEN.iter().any(|(_, folder)| path.starts_with(folder));
    let naming = |text: &str| OPEN.iter().any(|(enums, _)| names(text, *enums));
    let found: BTreeSet<_> =
        files().into_iter().filter(|(path, text)| !inside(path) && naming(text)).map(|(path, _)| path).collect();
    let known: BTreeSet<_> = NAMING.iter().map(|(path, _)| (*path).to_owned()).collect();
    assert_eq!(found, known);
}

#[test]
fn the_reading_finds_variants() {
    assert!(names("matches!(it, TrafficParams::Ftp(_))", CLOSED[0].0));
    assert!(!names("TrafficParams::read(name)", CLOSED[0].0) && !names("use traffic::TrafficParams;", CLOSED[0].0));
}
