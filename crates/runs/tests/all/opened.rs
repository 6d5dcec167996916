//! What a reader takes of a directory is one of the runs that are listed there.

use perhop_runs::disk::{Identity, MANIFEST, Manifest};
use perhop_runs::inventory;
use perhop_runs::opened::{self, Opened, Refused};
use perhop_runs::run::{Probes, RunOptions, Unwatched, run};
use perhop_scenario::{Options, Sweep};
use std::fs;
use std::path::{Path, PathBuf};
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

/// Runs a replication of each value of the axis into a directory.
fn open(dir: &Path) -> Result<Opened, Refused> {
    opened::open(dir, &|_| {})
}

fn swept(out: &Path, axis: &str) {
    let options = Options::new("small.toml").axis("vary", axis);
    let (sweep, _) = Sweep::parse(SCENARIO, &options).unwrap();
    let identity = Identity::of(&sweep, &options, SystemTime::UNIX_EPOCH);
    let out = Some(out.to_owned());
    let (taps, probes) = (Vec::new(), Probes::default());
    let options = RunOptions { replications: 0..1, jobs: 1, out, resume: true, identity, taps, probes };
    run(&sweep.points(), &options, &Unwatched).unwrap();
}

/// The manifests there, in the order of their paths.
fn manifests(out: &Path) -> Vec<PathBuf> {
    let points = fs::read_dir(out.join("small")).unwrap();
    let mut found: Vec<_> = points.map(|point| point.unwrap().path().join("rep-000").join(MANIFEST)).collect();
    found.sort();
    found
}

/// Writes a manifest again, as of another time.
fn alter(path: &Path, later_s: u64, change: impl FnOnce(&mut Manifest)) {
    let mut manifest = Manifest::from_json(&fs::read_to_string(path).unwrap()).unwrap();
    change(&mut manifest);
    fs::write(path, manifest.to_json().unwrap()).unwrap();
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(later_s)).unwrap();
}

fn labels(opened: &Opened) -> Vec<&str> {
    opened.points.iter().map(|point| point.common.point.0[0].1.as_str()).collect()
}

#[test]
fn versions_are_not_put_together() {
    let folder = tempfile::tempdir().unwrap();
    swept(folder.path(), "dumbbell.flows=2,4");
    let [of_two, of_four] = manifests(folder.path()).try_into().unwrap();
    alter(&of_two, 1, |_| ());
    alter(&of_four, 2, |manifest| manifest.common.perhop = "9.9.9".to_owned());
    let (listed, opened) = (inventory::list(folder.path()).unwrap().runs, open(folder.path()).unwrap());
    assert_eq!(
        listed.iter().map(|run| (run.perhop.as_str(), run.points.len())).collect::<Vec<_>>(),
        [(env!("CARGO_PKG_VERSION"), 1), ("9.9.9", 1)]
    );
    assert_eq!(labels(&opened), ["4"]);
    assert!(opened.note.unwrap().contains("without flows_2-"));
}

#[test]
fn results_of_another_version_with_other_keys_are_named() {
    let folder = tempfile::tempdir().unwrap();
    swept(folder.path(), "dumbbell.flows=2");
    alter(&manifests(folder.path())[0], 1, |manifest| {
        (manifest.common.perhop, manifest.common.effective) = ("9.9.9".to_owned(), "[future]\n".to_owned());
    });
    let Refused::Unfit(said) = open(folder.path()).unwrap_err() else { panic!() };
    let ours = env!("CARGO_PKG_VERSION");
    assert!(
        said.contains(&format!("rep-000 was written by perhop 9.9.9, and this is perhop {ours}:\nerror")),
        "{said}"
    );
}

#[test]
fn points_of_several_sweeps_are_in_natural_order() {
    let folder = tempfile::tempdir().unwrap();
    swept(folder.path(), "dumbbell.bottleneck=10Mbit/s,1.5Mbit/s");
    swept(folder.path(), "dumbbell.bottleneck=900kbit/s,2Mbit/s,10Gbit/s");
    let expected = ["1.5Mbit/s", "2Mbit/s", "10Gbit/s", "10Mbit/s", "900kbit/s"];
    assert_eq!(labels(&open(folder.path()).unwrap()), expected);
    let listed = inventory::list(folder.path()).unwrap().runs;
    assert_eq!(listed[0].points.iter().map(|point| point.labels.0[0].1.as_str()).collect::<Vec<_>>(), expected);
}

#[test]
fn the_newest_is_taken_within_a_second() {
    let folder = tempfile::tempdir().unwrap();
    for flows in [2, 3, 4] {
        swept(folder.path(), &format!("dumbbell.flows={flows}"));
        let last = inventory::list(folder.path()).unwrap().runs.pop().unwrap();
        assert_eq!(last.points.last().unwrap().labels.0[0].1, flows.to_string());
    }
}

#[test]
fn nothing_there_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let refusal = |path: PathBuf| match open(&path).unwrap_err() {
        Refused::Missing(what) => what.replace(&folder.path().display().to_string(), "DIR"),
        Refused::Unfit(what) => panic!("{what}"),
    };
    assert_eq!(refusal(folder.path().to_owned()), "no finished replication below DIR: `perhop run` writes runs/NAME");
    assert_eq!(
        refusal(folder.path().join("a")),
        "DIR/a is not a directory, and no run there has this name: `perhop runs` lists all runs"
    );
}
