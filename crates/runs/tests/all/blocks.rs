//! Small replications of a point are kept in one directory, a block: the same results as in separate directories.

use perhop_results::Replication;
use perhop_results::tables::columns::Table;
use perhop_runs::disk::{self, Entry, Identity, Manifest};
use perhop_runs::inventory;
use perhop_runs::run::{Probes, RunError, RunOptions, Watch, run};
use perhop_scenario::{Options, Point, Sweep};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

const SCENARIO: &str = r#"
[scenario]
name = "small"
duration = "1s"
warmup = "0s"

[dumbbell]
flows = 2
bottleneck = "2Mbit/s"
rtt = "40ms"
"#;

/// A clock that moves on whenever it is read: a replication takes one step if there is one thread.
struct Steps {
    step: Duration,
    read: AtomicU64,
    /// Stops the run before this replication.
    stop_at: usize,
    complete: AtomicUsize,
}

impl Steps {
    fn of(step_ms: u64) -> Self {
        let (read, complete) = (AtomicU64::new(0), AtomicUsize::new(0));
        Self { step: Duration::from_millis(step_ms), read, stop_at: usize::MAX, complete }
    }
}

impl Watch for Steps {
    fn progress(&self, progress: perhop_runs::run::Progress) {
        self.complete.fetch_max(progress.done, Ordering::Relaxed);
    }

    fn stop(&self) -> bool {
        self.complete.load(Ordering::Relaxed) >= self.stop_at
    }

    fn clock(&self) -> Duration {
        self.step * u32::try_from(self.read.fetch_add(1, Ordering::Relaxed)).unwrap()
    }
}

/// A directory of runs of the scenario.
struct Place {
    folder: tempfile::TempDir,
    points: Vec<Point>,
    identity: Identity,
}

impl Place {
    fn new() -> Self {
        Self::of(&[])
    }

    fn of(vary: &[&str]) -> Self {
        let options = vary.iter().fold(Options::new("small.toml"), |options, text| options.vary(text));
        let sweep = Sweep::parse(SCENARIO, &options).unwrap().0;
        let identity = Identity::of(&sweep, &options, SystemTime::UNIX_EPOCH);
        Self { folder: tempfile::tempdir().unwrap(), points: sweep.points(), identity }
    }

    fn options(&self, replications: Range<u32>) -> RunOptions {
        RunOptions {
            replications,
            jobs: 1,
            out: Some(self.folder.path().to_owned()),
            resume: true,
            identity: self.identity.clone(),
            taps: Vec::new(),
            probes: Probes::default(),
        }
    }

    fn run(&self, replications: Range<u32>, step_ms: u64) -> Vec<Replication> {
        run(&self.points, &self.options(replications), &Steps::of(step_ms)).unwrap()
    }

    /// One by one, so that each has its own directory.
    fn separately(&self, replications: Range<u32>) -> Vec<Replication> {
        replications.flat_map(|one| self.run(one..one + 1, 1)).collect()
    }

    fn point(&self) -> PathBuf {
        disk::point_dir(self.folder.path(), &self.points[0])
    }

    /// Names in the directory of the first point.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.point()).unwrap();
        let mut names: Vec<_> = entries.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn hashes(replications: &[Replication]) -> Vec<String> {
    replications.iter().map(|it| it.hash.clone()).collect()
}

fn all_tables(replications: &[Replication]) -> Vec<&Vec<Table>> {
    replications.iter().map(|it| &it.tables).collect()
}

fn reused(replications: &[Replication]) -> Vec<bool> {
    replications.iter().map(|it| it.reused).collect()
}

#[test]
fn a_block_has_what_directories_have() {
    let (blocks, directories) = (Place::new(), Place::new());
    let (a, b) = (blocks.run(0..5, 1), directories.separately(0..5));
    assert_eq!(blocks.names(), ["reps-000-004"]);
    assert_eq!(directories.names(), ["rep-000", "rep-001", "rep-002", "rep-003", "rep-004"]);
    assert_eq!(fs::read_dir(blocks.point().join("reps-000-004")).unwrap().count(), 12);
    let (read_a, read_b) = (blocks.run(0..5, 1), directories.run(0..5, 1));
    assert_eq!((reused(&read_a), reused(&read_b)), (vec![true; 5], vec![true; 5]));
    for other in [&b, &read_a, &read_b] {
        assert_eq!((hashes(other), all_tables(other)), (hashes(&a), all_tables(&a)));
    }
    assert!(a.iter().zip(&read_a).all(|(it, read)| it.packet_hops == read.packet_hops));
    for (one, place) in [(&a, &blocks), (&b, &directories)] {
        let dirs: Vec<_> = one.iter().map(|it| it.dir.clone().unwrap()).collect();
        assert!(dirs.iter().all(|dir| dir.starts_with(place.point()) && dir.is_dir()), "{dirs:?}");
    }
}

/// Threads work on different parts; whatever comes together, each replication has its own hash.
#[test]
fn the_number_of_threads_and_the_groups_change_no_hash() {
    let place = Place::of(&["dumbbell.flows=1,3"]);
    let alone = place.run(0..40, 1);
    for (jobs, step_ms) in [(1, 30), (2, 1), (4, 20), (3, 90)] {
        let other = Place::of(&["dumbbell.flows=1,3"]);
        let options = RunOptions { jobs, ..other.options(0..40) };
        let made = run(&other.points, &options, &Steps::of(step_ms)).unwrap();
        assert_eq!((hashes(&made), all_tables(&made)), (hashes(&alone), all_tables(&alone)));
        let again = run(&other.points, &options, &Steps::of(1)).unwrap();
        assert_eq!((hashes(&again), all_tables(&again)), (hashes(&alone), all_tables(&alone)));
        assert!(again.iter().all(|it| it.reused) && other.names().len() < 40);
        assert_eq!(inventory::list(other.folder.path()).unwrap().runs[0].points[1].replications, 40);
    }
}

#[test]
fn what_is_gathered_is_written_once_a_second() {
    let place = Place::new();
    place.run(0..100, 10);
    // The clock is read when a replication begins, when it ends and when it is gathered: 30 ms.
    assert_eq!(place.names(), ["reps-000-033", "reps-034-067", "reps-068-099"]);
}

#[test]
fn who_has_no_company_or_is_large_has_its_own_directory() {
    let alone = Place::of(&["dumbbell.flows=1,3"]);
    assert_eq!((alone.run(0..1, 1).len(), alone.names()), (2, vec!["rep-000".to_owned()]));
    // At least three hops a packet, 8,000 packets/s, for 60 s: over a million.
    let large = Place::of(&["scenario.duration=60s", "dumbbell.bottleneck=64Mbit/s", "dumbbell.flows=20"]);
    large.run(0..2, 1);
    assert_eq!(large.names(), ["rep-000", "rep-001"]);
    let events = Place::new();
    let probes = Probes { events: true, ..Probes::default() };
    run(&events.points, &RunOptions { probes, ..events.options(0..2) }, &Steps::of(1)).unwrap();
    assert_eq!(events.names(), ["rep-000", "rep-001"]);
    let series = SCENARIO.replace("warmup", "sample = \"100ms\"\nwarmup");
    let sweep = Sweep::parse(&series, &Options::new("small.toml")).unwrap().0;
    let sampled = Place { points: sweep.points(), ..Place::new() };
    sampled.run(0..2, 1);
    assert_eq!(sampled.names(), ["rep-000", "rep-001"]);
}

#[test]
fn what_comes_later_is_beside_what_is_there() {
    let place = Place::new();
    let first = place.run(0..1, 1);
    assert_eq!(reused(&place.run(0..4, 1)), [true, false, false, false]);
    assert_eq!(place.names(), ["rep-000", "reps-001-003"]);
    let manifest = || fs::read(place.point().join("reps-001-003/manifest.json")).unwrap();
    let before = manifest();
    let all = place.run(0..9, 1);
    assert_eq!(reused(&all), [[true; 4].as_slice(), &[false; 5]].concat());
    assert_eq!(place.names(), ["rep-000", "reps-001-003", "reps-004-008"]);
    assert_eq!((manifest(), &all[0].hash), (before, &first[0].hash));
    // A part of a block is enough.
    assert_eq!(reused(&place.run(0..6, 1)), [true; 6]);
}

#[test]
fn an_interruption_loses_nothing() {
    let place = Place::new();
    let watch = Steps { stop_at: 7, ..Steps::of(1) };
    let stopped = run(&place.points, &place.options(0..20), &watch);
    assert!(matches!(stopped, Err(RunError::Interrupted { done: 7, total: 20 })), "{stopped:?}");
    assert_eq!(place.names(), ["reps-000-006"]);
    let rest = place.run(0..20, 1);
    assert_eq!(rest.iter().filter(|it| it.reused).count(), 7);
    assert_eq!(place.names(), ["reps-000-006", "reps-007-019"]);
}

/// A way to damage a directory.
type Damage = (fn(&Path), &'static str);

const DAMAGE: [Damage; 6] = [
    (|dir| fs::remove_file(dir.join("flows.parquet")).unwrap(), "flows.parquet is missing"),
    (
        |dir| change(&dir.join("links.parquet"), |bytes| bytes.truncate(bytes.len() - 40)),
        "links.parquet cannot be read",
    ),
    (|dir| change(&dir.join("links.parquet"), |bytes| bytes[9] ^= 1), "a table was altered"),
    (
        |dir| change(&dir.join("manifest.json"), |bytes| bytes.truncate(bytes.len() - 40)),
        "manifest.json cannot be read",
    ),
    (|dir| entries(dir, |all| _ = all.pop()), "does not have the replications that its manifest lists"),
    (|dir| entries(dir, |all| all[1].result_hash = "0123456789abcdef".into()), "the hash of replication 1 is"),
];

fn change(path: &Path, change: impl Fn(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    change(&mut bytes);
    fs::write(path, bytes).unwrap();
}

fn entries(dir: &Path, change: impl Fn(&mut Vec<Entry>)) {
    let path = dir.join("manifest.json");
    let mut manifest = Manifest::from_json(&fs::read_to_string(&path).unwrap()).unwrap();
    change(&mut manifest.replications);
    fs::write(path, manifest.to_json().unwrap()).unwrap();
}

#[test]
fn a_damaged_block_is_made_again() {
    for (damage, said) in DAMAGE {
        let place = Place::new();
        let whole = place.run(0..6, 1);
        let dir = place.point().join("reps-000-005");
        damage(&dir);
        let damaged = disk::load(&dir).unwrap_err();
        assert_eq!(damaged.dir, dir);
        assert!(damaged.what.contains(said), "{damaged} has no `{said}`");
        // Fewer than there were: a smaller block, and the damaged one is gone.
        let again = place.run(0..4, 1);
        assert_eq!((reused(&again), hashes(&again)), (vec![false; 4], hashes(&whole[..4])));
        let notes: Vec<_> = again.iter().filter_map(|it| it.note.as_deref()).collect();
        assert!(matches!(notes[..], [note] if note.contains(said) && note.contains("reps-000-005")), "{notes:?}");
        assert_eq!(place.names(), ["reps-000-003"]);
        assert_eq!((hashes(&place.run(0..6, 1)), place.names().len()), (hashes(&whole), 2));
    }
}

/// Damaged directories of single replications go when they are made again in a block: readers would stumble over them.
#[test]
fn a_block_takes_the_place_of_damaged_directories() {
    let place = Place::new();
    let whole = place.separately(0..3);
    for number in ["rep-000", "rep-001"] {
        fs::remove_file(place.point().join(number).join("summary.parquet")).unwrap();
    }
    assert_eq!(hashes(&place.run(0..3, 1)), hashes(&whole));
    assert_eq!(place.names(), ["rep-002", "reps-000-001"]);
}

/// `perhop run` and `--fresh`: what is made again and is the same stays where it is, as the newest run's.
#[test]
fn what_is_made_again_is_not_written_twice() {
    let place = Place::new();
    place.separately(0..10);
    fs::rename(place.point().join("rep-007"), place.folder.path().join("elsewhere")).unwrap();
    let identity = Identity { name: None, started_s: Some(77), ..place.identity.clone() };
    let fresh = RunOptions { resume: false, identity, ..place.options(0..12) };
    let made = run(&place.points, &fresh, &Steps::of(1)).unwrap();
    assert_eq!(reused(&made), [false; 12]);
    assert_eq!(place.names().iter().filter(|name| name.starts_with("rep-")).count(), 10, "{:?}", place.names());
    assert_eq!(place.names()[10..], ["reps-010-011"]);
    for it in &made {
        let stored = disk::load(it.dir.as_ref().unwrap()).unwrap();
        assert_eq!(stored.manifest.common.identity.started_s, Some(77));
        assert!(stored.manifest.replications.iter().any(|entry| entry.result_hash == it.hash));
    }
}

/// Results of another build under the same version: a mixture of both is never read.
#[test]
fn other_results_of_the_same_replications_go() {
    let (place, other) = (Place::new(), Place::of(&["dumbbell.flows=5"]));
    let whole = place.run(0..6, 1);
    other.run(0..9, 1);
    // As if it had once been of this point.
    let dir = place.point().join("reps-000-008");
    fs::rename(other.point().join("reps-000-008"), &dir).unwrap();
    let mut manifest = disk::load(&dir).unwrap().manifest;
    manifest.common.point_hash.clone_from(&place.points[0].hash);
    disk::write::rewrite(&dir, &manifest).unwrap();
    fs::remove_dir_all(place.point().join("reps-000-005")).unwrap();
    let fresh = RunOptions { resume: false, ..place.options(0..6) };
    assert_eq!(hashes(&run(&place.points, &fresh, &Steps::of(1)).unwrap()), hashes(&whole));
    assert_eq!(place.names(), ["reps-000-005"]);
}

/// Several writers at once, with other groups: nothing is lost, and what is there is whole.
#[test]
fn writers_may_share_a_point() {
    let place = Place::new();
    let alone = Place::new().run(0..60, 1);
    for resume in [false, true, false] {
        std::thread::scope(|scope| {
            let writers = [(1, 5), (2, 20), (1, 40), (2, 1)].map(|(jobs, step_ms)| {
                let options = RunOptions { jobs, resume, ..place.options(0..60) };
                let points = &place.points;
                scope.spawn(move || run(points, &options, &Steps::of(step_ms)).unwrap())
            });
            writers.into_iter().for_each(|writer| assert_eq!(hashes(&writer.join().unwrap()), hashes(&alone)));
        });
        assert!(place.names().iter().all(|name| disk::load(&place.point().join(name)).is_ok()), "{:?}", place.names());
        assert_eq!(reused(&place.run(0..60, 1)), [true; 60]);
    }
}

/// Each field of a manifest: without it results are damaged, and the message says which it is.
#[test]
fn a_manifest_without_a_field_is_damaged() {
    let place = Place::new();
    place.run(0..1, 1);
    place.run(1..4, 1);
    for name in ["rep-000", "reps-001-003"] {
        let dir = place.point().join(name);
        let written = fs::read_to_string(dir.join("manifest.json")).unwrap();
        let whole: serde_json::Map<_, _> = serde_json::from_str(&written).unwrap();
        for key in whole.keys() {
            let less: serde_json::Map<_, _> = whole.clone().into_iter().filter(|(it, _)| it != key).collect();
            fs::write(dir.join("manifest.json"), serde_json::Value::Object(less).to_string()).unwrap();
            let said = disk::load(&dir).unwrap_err().to_string();
            // One replication has no list of them, but what it would say of it.
            let named = if key == "replications" { "replication" } else { key };
            assert!(said.contains(&format!("manifest.json cannot be read: missing field `{named}`")), "{key}: {said}");
            assert!(said.contains("error[E023]") && said.contains("help: run it again"), "{said}");
        }
        fs::write(dir.join("manifest.json"), written).unwrap();
    }
}

/// A block that another sweep made belongs to the one that uses it, and the manifest says so.
#[test]
fn a_block_belongs_to_the_sweep_that_used_it_last() {
    let place = Place::of(&["dumbbell.flows=2,3"]);
    place.run(0..4, 1);
    let base = |place: &Place| {
        let dir = disk::point_dir(place.folder.path(), &place.points[place.points.len() - 1]).join("reps-000-003");
        let common = disk::load(&dir).unwrap().manifest.common;
        (common.index, common.identity.vary)
    };
    assert_eq!(base(&place), (1, vec!["dumbbell.flows=2,3".to_owned()]));
    let three = Place { folder: place.folder, ..Place::of(&["dumbbell.flows=3"]) };
    assert_eq!(reused(&three.run(0..3, 1)), [true; 3]);
    assert_eq!(base(&three), (0, vec!["dumbbell.flows=3".to_owned()]));
    assert_eq!(reused(&three.run(0..4, 1)), [true; 4]);
}
