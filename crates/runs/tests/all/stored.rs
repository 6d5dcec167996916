//! Tables on disk are the tables that were written.

use perhop_results::tables;
use perhop_results::tables::columns::{Table, Values};
use perhop_runs::disk::{self, Identity, hash_files};
use perhop_runs::parquet::{self, Constant, One};
use perhop_runs::run::{Probes, RunOptions, Unwatched, run};
use perhop_scenario::{Options, Point, Sweep};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use std::path::PathBuf;
use std::time::SystemTime;

fn column(rows: usize) -> impl Strategy<Value = Values> {
    let reals = prop_oneof![any::<f64>().prop_filter("finite", |x| x.is_finite()), Just(0.1), Just(-0.0)];
    prop_oneof![
        vec(option::of(any::<i64>()), rows).prop_map(Values::Integers),
        vec(option::of(reals), rows).prop_map(Values::Reals),
        vec(option::of("[\\PC\u{e9}\u{4e2d}]{0,20}"), rows).prop_map(texts),
        vec(Just(None), rows).prop_map(Values::Texts),
    ]
}

fn texts(of: Vec<Option<String>>) -> Values {
    Values::Texts(of.into_iter().map(|text| text.map(Into::into)).collect())
}

fn any_table() -> impl Strategy<Value = Table> {
    let columns = (0usize..300).prop_flat_map(|rows| vec(column(rows), 1..8));
    columns.prop_map(|columns| {
        let named = columns.into_iter().enumerate().map(|(i, values)| (format!("column {i}"), values));
        Table::new("flows", named.collect())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_table_comes_back(table in any_table(), label in option::of("[\\PC]{0,20}"), number in option::of(any::<i64>())) {
        let label = label.map(|text| Constant { name: "queue.red.limit".into(), value: One::Text(text.into()) });
        let number = number.map(|n| Constant { name: "replication".into(), value: One::Integer(n) });
        let constants: Vec<_> = label.into_iter().chain(number).collect();
        let mut bytes = Vec::new();
        parquet::write(&table, &constants, &mut bytes).unwrap();
        let read = parquet::read("flows", bytes, |name| name.starts_with("column")).unwrap();
        prop_assert!(bits(&read) == bits(&table), "{read:?}\n{table:?}");
    }

    /// Any damage is another hash, and such bytes are not parsed: the library panics on some.
    #[test]
    fn damage_is_noticed(table in any_table(), at in any::<prop::sample::Index>(), flip in 1u8..=255, cut in any::<bool>()) {
        let mut bytes = Vec::new();
        parquet::write(&table, &[], &mut bytes).unwrap();
        let stated = hash_files(&[("flows", bytes.clone())]);
        let at = at.index(bytes.len());
        if cut { bytes.truncate(at) } else { bytes[at] ^= flip }
        prop_assert!(hash_files(&[("flows", bytes)]) != stated);
    }
}

/// Reals by their bits: -0.0 is not 0.0.
fn bits(table: &Table) -> Vec<(String, Vec<Option<String>>)> {
    let texts = |values: &Values| match values {
        Values::Integers(v) => v.iter().map(|x| x.map(|x| x.to_string())).collect(),
        Values::Reals(v) => v.iter().map(|x| x.map(|x| format!("{:x}", x.to_bits()))).collect(),
        Values::Texts(v) => v.iter().map(|text| text.as_deref().map(str::to_owned)).collect(),
    };
    table.columns.iter().map(|(name, values)| (name.clone(), texts(values))).collect()
}

const SCENARIO: &str = r#"
[scenario]
name = "small"
duration = "3s"
warmup = "1s"
replications = 2

[dumbbell]
flows = 2
bottleneck = "2Mbit/s"
rtt = "40ms"
"#;

fn points(extra: &str, vary: &[&str]) -> (Sweep, Identity) {
    let options = vary.iter().fold(Options::new("small.toml"), |options, text| options.vary(text));
    let sweep = Sweep::parse(&SCENARIO.replace("[dumbbell]", &format!("{extra}\n[dumbbell]")), &options).unwrap().0;
    let identity = Identity::of(&sweep, &options, SystemTime::UNIX_EPOCH);
    (sweep, identity)
}

fn options(out: Option<PathBuf>, identity: Identity) -> RunOptions {
    RunOptions { replications: 0..2, jobs: 1, out, resume: true, identity, taps: Vec::new(), probes: Probes::default() }
}

#[test]
fn a_replication_comes_back_with_all_its_tables() {
    for extra in ["", "sample = \"500ms\""] {
        let (folder, (sweep, identity)) = (tempfile::tempdir().unwrap(), points(extra, &[]));
        let (points, options) = (sweep.points(), options(Some(folder.path().to_owned()), identity));
        let first = run(&points, &options, &Unwatched).unwrap();
        let again = run(&points, &options, &Unwatched).unwrap();
        for (a, b) in first.iter().zip(&again) {
            assert!(!a.reused && b.reused && a.tables == b.tables && a.hash == b.hash);
            assert_eq!(a.tables.iter().map(|t| t.name).collect::<Vec<_>>(), tables::NAMES);
            let stored = disk::load(a.dir.as_ref().unwrap()).unwrap();
            let at = stored.manifest.replications.iter().position(|entry| entry.replication == a.replication);
            assert_eq!(stored.tables[at.unwrap()], a.tables);
        }
    }
}

/// The name of the only point of a sweep, without the hash.
fn called(vary: &[&str]) -> String {
    let point: Point = points("", vary).0.points().remove(0);
    let directory = point.directory();
    let (name, hash) = directory.rsplit_once('-').unwrap();
    assert!(point.hash.starts_with(hash) && !directory.contains(['=', '/']), "{directory}");
    name.to_owned()
}

#[test]
fn directories_have_readable_names() {
    assert_eq!(called(&[]), "base");
    assert_eq!(called(&["dumbbell.flows=5"]), "flows_5");
    assert_eq!(called(&["dumbbell.flows=5", "dumbbell.bottleneck=3Mbit/s"]), "flows_5,bottleneck_3Mbit-s");
}

#[test]
fn a_named_run_has_its_own_directories() {
    let name = |run: &str, vary: &[&str]| points("", vary).0.named(run).map(|sweep| sweep.points()[0].directory());
    assert!(name("first try", &[]).unwrap().starts_with("first try-"));
    assert!(name("b", &["dumbbell.flows=5"]).unwrap().starts_with("b,flows_5-"));
    assert!(name("a/b", &[]).unwrap_err().to_string().contains("E011"));
}

#[test]
fn the_base_of_a_sweep_is_the_same_whatever_is_swept_over() {
    let base = |extra: &str, vary: &[&str]| points(extra, vary).1.base_hash;
    assert_eq!(base("", &["dumbbell.flows=5"]), base("", &["dumbbell.flows=6,7"]));
    assert_ne!(base("", &["dumbbell.flows=5"]), base("seed = 2", &["dumbbell.flows=5"]));
    assert_eq!(base("", &["scenario.seed=1"]), base("seed = 2", &["scenario.seed=5"]));
    let (asked, _) = points("", &["dumbbell.flows=5"]);
    let before = asked.base_hash().to_owned();
    assert_ne!(asked.seeded(7).unwrap().base_hash(), before, "a hash that was asked for before goes with its seed");
}
