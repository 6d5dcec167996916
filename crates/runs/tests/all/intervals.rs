//! A replication part by part is the replication: what its parts got is together what the results have.

use perhop_core::units::Span;
use perhop_results::filter::{Known, Where};
use perhop_results::rows::{Row, rows};
use perhop_results::tables::declaration;
use perhop_runs::disk::Identity;
use perhop_runs::intervals::{Interval, Intervals};
use perhop_runs::run::{Probes, RunOptions, Unwatched, run};
use perhop_scenario::{Options, Point, Sweep};

const NET: &str = r#"
[scenario]
name = "net"
duration = "4s"
warmup = "WARMUP"

[links]
"a - R" = { rate = "20Mbit/s", delay = "1ms" }
"R - b" = { rate = "2Mbit/s", delay = "10ms" }
"R -> b" = { queue = { aqm = "drop-tail", limit = "12p" } }

[conditioner.gold]
at = "a -> R"
match = { traffic = "bulk" }
kind = "token-bucket"
cir = "500kbit/s"
cbs = "9kB"

[traffic.bulk]
model = "ftp"
flows = 2
from = "a"
to = "b"

[traffic.beacon]
model = "cbr"
rate = "100kbit/s"
size = "500B"
from = "a"
to = "b"
"#;

fn point(warmup: &str) -> Point {
    let (sweep, _) = Sweep::parse(&NET.replace("WARMUP", warmup), &Options::new("net.toml")).unwrap();
    sweep.base_point()
}

/// What the results say of each class.
fn results(point: &Point) -> Vec<Row> {
    let (identity, taps, probes) = (Identity::default(), Vec::new(), Probes::default());
    let options = RunOptions { replications: 0..1, jobs: 1, out: None, resume: false, identity, taps, probes };
    let points = std::slice::from_ref(point);
    let made = run(points, &options, &Unwatched).unwrap();
    rows(points, &made, &[]).remove(0).rows
}

fn parts(point: &Point, every: Span, chosen: &[&str]) -> Vec<Interval> {
    let known = Known::of(std::slice::from_ref(point), &[declaration("classes").unwrap()]);
    let texts: Vec<_> = chosen.iter().map(|text| (*text).to_owned()).collect();
    let filter = Where::read(&texts, &known).unwrap();
    let (intervals, mut parts) = (Intervals::new(point, every, &filter).unwrap(), Vec::new());
    let take = |part: &Interval| {
        parts.push(part.clone());
        true
    };
    intervals.run(take).unwrap();
    parts
}

fn value(rows: &[Row], class: &str, colour: Option<&str>, at: usize) -> f64 {
    let is = |row: &&Row| {
        row.names[0].as_deref() == Some(class) && colour.is_none_or(|it| row.names[1].as_deref() == Some(it))
    };
    rows.iter().find(is).unwrap().values[at].unwrap().mean
}

#[test]
fn parts_add_up_to_the_results() {
    let point = point("1s");
    let (results, parts) = (results(&point), parts(&point, Span::from_ns(500_000_000), &[]));
    assert_eq!(parts.len(), 8);
    assert_eq!(parts.iter().filter(|part| part.warmup).count(), 2);
    let counted: Vec<_> = parts.iter().filter(|part| !part.warmup).collect();
    for class in ["bulk", "beacon"] {
        for at in [0, 1] {
            let mean = counted.iter().map(|part| value(&part.rows, class, None, at)).sum::<f64>() / 6.0;
            let whole = value(&results, class, None, at);
            assert!((mean / whole - 1.0).abs() < 1e-12, "{class} {at}: {mean} {whole}");
        }
    }
    let (_, waits) = counted.iter().filter_map(|part| part.queue.clone()).max_by_key(|queue| queue.1).unwrap();
    assert!((2..=12).contains(&waits), "{waits} of a limit of 12");
    assert!(counted.iter().flat_map(|part| &part.queue).all(|queue| queue.0 == "R -> b"));
}

/// Of all the time, with each colour's delays.
#[test]
fn one_part_is_the_results() {
    let point = point("0s");
    let parts = parts(&point, Span::from_ns(4_000_000_000), &["colour=all,green,red,unmarked"]);
    assert_eq!(parts.len(), 1);
    assert_eq!(parts[0].rows, results(&point));
}

/// The last part ends with the run; a class has one row, with the delays of all its colours.
#[test]
fn the_last_part_may_be_shorter() {
    let point = point("0s");
    let parts = parts(&point, Span::from_ns(3_000_000_000), &["class=bulk"]);
    assert_eq!(parts.iter().map(|part| part.seconds).collect::<Vec<_>>(), [[0.0, 3.0], [3.0, 4.0]]);
    assert!(parts.iter().all(|part| part.rows.len() == 1));
    let results = results(&point);
    let [green, red] = ["green", "red"].map(|colour| value(&results, "bulk", Some(colour), 3));
    let whole = value(&parts[0].rows, "bulk", None, 3);
    assert!(whole > 0.5 * green.min(red) && whole < 2.0 * green.max(red), "{green} {whole} {red}");
}

#[test]
fn times_that_will_not_do() {
    let (point, all) = (point("0s"), Where::default());
    let refused = |ns: u64| Intervals::new(&point, Span::from_ns(ns), &all).map(drop).unwrap_err().to_string();
    assert!(refused(0).contains("error[E201] `--every 0s`\n   help: at least 4us"), "{}", refused(0));
    assert!(refused(3_999).contains("error[E201]"));
    assert!(refused(4_000_000_001).contains("at most the duration of the run, 4s"), "{}", refused(4_000_000_001));
}
