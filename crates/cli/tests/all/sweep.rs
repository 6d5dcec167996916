//! `sweep` answers: the results of every point, new or already there, as a table, as CSV, as JSON.

use crate::command::{Folder, SCENARIO};
use serde_json::Value;
use std::process::Output;

const GRID: [&str; 4] = ["sweep", "ok.toml", "--vary", "traffic.bulk.flows=1,3"];

fn folder() -> Folder {
    Folder::with(&[("ok.toml", SCENARIO.as_bytes())])
}

fn printed(out: &Output) -> String {
    assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout.clone()).unwrap()
}

/// Without the last line, that of the time it took.
fn results(text: &str) -> &str {
    text.trim_end().rsplit_once('\n').unwrap().0
}

#[test]
fn results_are_printed_also_of_points_that_were_there() {
    let folder = folder();
    let first = printed(&folder.perhop(&GRID));
    for words in
        ["flows", "class", "delivered Mbit/s", "goodput Mbit/s", "lost %", "delay p50 ms", "delay p99 ms", " ±"]
    {
        assert!(first.contains(words), "no `{words}` in\n{first}");
    }
    assert!(first.contains("2 points, 4 replications (0 already there)"), "{first}");
    let again = printed(&folder.perhop(&GRID));
    assert!(again.contains("(4 already there)"), "{again}");
    assert_eq!(results(&again), results(&first));
    assert!(first.lines().all(|line| line.chars().count() <= 100), "{first}");
}

/// A table that does not fit a page folds headings, and names between words.
#[test]
fn the_name_of_a_point_is_not_cut() {
    let sweep = r#"
[sweep]
"traffic.bulk.flows" = { as = "setup", values = [1, 3], labels = ["three-syllables", "flows-of-my-own"] }
"#;
    let folder = Folder::with(&[("named.toml", format!("{SCENARIO}{sweep}").as_bytes())]);
    let text = printed(&folder.perhop(&["sweep", "named.toml"]));
    let (head, rest) = results(&text).split_once("\n\n").unwrap();
    assert!(head.contains("mean"), "{text}");
    assert!(rest.contains("delivered  ") && rest.contains("\nthree-syllables  bulk "), "{text}");
    assert!(rest.lines().all(|line| line.chars().count() <= 100), "{text}");
}

/// The values of a point's rows in JSON are those of `run` with the same settings.
#[test]
fn json_has_the_rows() {
    let folder = folder();
    let lines = |args: &[&str]| -> Vec<Value> {
        let text = printed(&folder.perhop(&[args, &["--json"]].concat()));
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let swept = lines(&GRID);
    assert_eq!(swept.len(), 2);
    assert_eq!(swept[0]["labels"]["traffic.bulk.flows"], "1");
    let run = lines(&["run", "ok.toml", "-s", "traffic.bulk.flows=1"]);
    let last = run.last().unwrap();
    assert_eq!((&last["rows"], &last["result_hash"]), (&swept[0]["rows"], &swept[0]["result_hash"]));
    let row = &swept[1]["rows"][0];
    assert_eq!((&row["class"], &row["colour"]), (&"bulk".into(), &"all".into()), "{row}");
    assert!(row["goodput_bit_s"]["mean"].as_f64().unwrap() > 1e6, "{row}");
    assert!(row["goodput_bit_s"]["half_width"].as_f64().is_some(), "{row}");
}

#[test]
fn csv_goes_where_it_is_sent() {
    let folder = folder();
    let alone = printed(&folder.perhop(&[&GRID[..], &["--csv"]].concat()));
    let both = printed(&folder.perhop(&[&GRID[..], &["--csv", "rows.csv"]].concat()));
    assert!(both.contains("goodput Mbit/s"), "the table too: {both}");
    assert_eq!(std::fs::read_to_string(folder.path("rows.csv")).unwrap(), alone);
    let head = "traffic.bulk.flows,class,colour,throughput_bit_s,throughput_bit_s_ci95,throughput_bit_s_low,throughput_bit_s_high,goodput_bit_s,";
    assert!(alone.starts_with(head), "{alone}");
    let said = folder.refused(&[&GRID[..], &["--csv", "none/rows.csv"]].concat());
    assert!(said.contains("error[E020] cannot write none/rows.csv") && said.contains("   help: "), "{said}");
}

#[test]
fn other_columns_can_be_shown() {
    let folder = folder();
    let text = printed(&folder.perhop(&[&GRID[..], &["--show", "traffic.jain,links.utilisation"]].concat()));
    for words in ["Jain", "utilisation", "s -> A", "bulk"] {
        assert!(text.contains(words), "no `{words}` in\n{text}");
    }
    let text = printed(&folder.perhop(&["run", "ok.toml", "--show", "traffic.jain"]));
    assert!(text.contains("Jain") && !text.contains("goodput"), "{text}");
    let said = folder.refused(&["run", "ok.toml", "--show", "traffic.jane"]);
    assert!(said.contains("error[E006]") && said.contains("did you mean `traffic.jain`?"), "{said}");
}

/// Every point runs with its own seed.
#[test]
fn a_swept_seed_is_the_seed() {
    let folder = folder();
    let text = printed(&folder.perhop(&["sweep", "ok.toml", "--vary", "seed=1,2", "--json"]));
    let hashes: Vec<Value> =
        text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["result_hash"].clone()).collect();
    let of = |seed: &str| {
        let text = printed(&folder.perhop(&["run", "ok.toml", "--seed", seed, "--json"]));
        serde_json::from_str::<Value>(text.lines().last().unwrap()).unwrap()["result_hash"].clone()
    };
    assert_ne!(hashes[0], hashes[1]);
    assert_eq!(hashes, [of("1"), of("2")]);
    let shard = printed(&folder.perhop(&["sweep", "ok.toml", "--vary", "seed=1,2", "--shard", "2/2"]));
    assert!(shard.contains("1 point, 2 replications (2 already there)"), "{shard}");
    let none = printed(&folder.perhop(&["sweep", "ok.toml", "--vary", "seed=1,2", "--shard", "3/3"]));
    assert!(none.contains("this shard is empty: the grid has fewer points than shards"), "{none}");
}
