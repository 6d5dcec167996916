//! The swept keys and the number of a replication are columns of every file, and no part of results.

use perhop_results::Replication;
use perhop_results::tables::NAMES;
use perhop_results::tables::columns::Table;
use perhop_runs::disk::{self, Identity};
use perhop_runs::parquet;
use perhop_runs::run::{Probes, RunOptions, Unwatched, run};
use perhop_scenario::{Options, Point, Sweep};
use std::fs;
use std::path::Path;

const SCENARIO: &str = r#"
[scenario]
name = "small"
duration = "2s"
warmup = "1s"

[dumbbell]
flows = 2
bottleneck = "2Mbit/s"
rtt = "40ms"
"#;

fn points() -> Vec<Point> {
    let options = ["dumbbell.flows=1,2", "dumbbell.rtt=40ms"];
    let options = options.iter().fold(Options::new("small.toml"), |options, text| options.vary(text));
    Sweep::parse(SCENARIO, &options).unwrap().0.points()
}

fn made(points: &[Point], replications: u32, out: Option<&Path>) -> Vec<Replication> {
    traced(points, replications, out, Probes::default())
}

fn traced(points: &[Point], replications: u32, out: Option<&Path>, probes: Probes) -> Vec<Replication> {
    let options = RunOptions {
        replications: 0..replications,
        jobs: 1,
        out: out.map(Path::to_owned),
        resume: true,
        identity: Identity::default(),
        taps: Vec::new(),
        probes,
    };
    run(points, &options, &Unwatched).unwrap()
}

/// A file as any reader of Parquet sees it.
fn whole(dir: &Path, name: &'static str) -> Table {
    let bytes = fs::read(dir.join(format!("{name}.parquet"))).unwrap();
    parquet::read(name, bytes, |_| true).unwrap()
}

/// Of one replication in its own directory, and of three in a block.
#[test]
fn every_file_says_of_which_point_and_replication_it_is() {
    for replications in [1, 3] {
        let (folder, points) = (tempfile::tempdir().unwrap(), points());
        let all = made(&points, replications, Some(folder.path()));
        for it in &all {
            let dir = it.dir.as_ref().unwrap();
            let here: Vec<_> = NAMES.into_iter().filter(|name| dir.join(format!("{name}.parquet")).exists()).collect();
            assert!(here.len() > 8, "{here:?}");
            for name in here {
                let (table, own) = (whole(dir, name), it.tables.iter().find(|table| table.name == name).unwrap());
                let names: Vec<_> = table.columns.iter().map(|column| column.0.as_str()).collect();
                assert_eq!(names[..3], ["dumbbell.flows", "dumbbell.rtt", "replication"], "{name}");
                assert_eq!(table.columns.len(), own.columns.len() + 3);
                let flows = points[it.point].labels[0].1.as_str();
                assert!(table.texts("dumbbell.flows").iter().all(|label| label.as_deref() == Some(flows)));
                let numbers: Vec<_> = table.integers("replication").iter().flatten().collect();
                assert_eq!(numbers.iter().filter(|n| ***n == i64::from(it.replication)).count(), own.rows(), "{name}");
            }
        }
    }
}

/// Read back, results are what they were, and so is their hash.
#[test]
fn results_do_not_hold_them() {
    let (folder, points) = (tempfile::tempdir().unwrap(), points());
    let (unwritten, written) = (made(&points, 2, None), made(&points, 2, Some(folder.path())));
    for again in [written, made(&points, 2, Some(folder.path()))] {
        for (a, b) in unwritten.iter().zip(&again) {
            assert_eq!((&a.hash, &a.tables), (&b.hash, &b.tables));
        }
    }
}

/// A directory that another sweep of the same point takes over gets that one's labels, and keeps its results.
#[test]
fn labels_are_those_of_the_run_that_has_it() {
    let (folder, ours) = (tempfile::tempdir().unwrap(), points());
    let mut theirs = ours.clone();
    theirs.iter_mut().for_each(|point| point.labels[0].0 = "other.flows".to_owned());
    for replications in [1, 3] {
        let first = made(&ours, replications, Some(folder.path()));
        let second = made(&theirs, replications, Some(folder.path()));
        for (a, b) in first.iter().zip(&second) {
            assert!(b.reused && a.hash == b.hash && a.tables == b.tables);
            let dir = b.dir.as_ref().unwrap();
            assert_eq!(whole(dir, "summary").columns[0].0, "other.flows");
            assert_eq!(disk::load(dir).unwrap().manifest.common.point.0[0].0, "other.flows");
        }
    }
}

/// So it is with packets at ports, of which a file has several groups: only the labels are other ones.
#[test]
fn packets_at_ports_have_them_too() {
    let (folder, ours) = (tempfile::tempdir().unwrap(), points());
    let mut theirs = ours.clone();
    theirs.iter_mut().for_each(|point| point.labels[0].0 = "other.flows".to_owned());
    let events = |points: &[Point]| {
        let asked = Probes { events: true, ..Probes::default() };
        let all = traced(points, 1, Some(folder.path()), asked);
        all.iter().map(|it| whole(it.dir.as_ref().unwrap(), "events")).collect::<Vec<_>>()
    };
    let (first, second) = (events(&ours), events(&theirs));
    for (point, (a, b)) in first.iter().zip(&second).enumerate() {
        assert_eq!([&a.columns[0].0, &b.columns[0].0], ["dumbbell.flows", "other.flows"]);
        assert_eq!(
            [&a.columns[1..3], &b.columns[1..3]].map(|two| [&two[0].0, &two[1].0]),
            [["dumbbell.rtt", "replication"]; 2]
        );
        assert!(a.rows() > 1000 && a.columns[1..] == b.columns[1..], "{} rows", a.rows());
        assert!(b.texts("other.flows").iter().all(|label| label.as_deref() == Some(&*ours[point].labels[0].1)));
    }
}
