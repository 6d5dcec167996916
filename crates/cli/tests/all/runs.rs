//! `runs`: what has been run, and `--name`.

use crate::command::{Folder, SCENARIO};
use serde_json::Value;

fn printed(folder: &Folder, args: &[&str]) -> String {
    let out = folder.perhop(args);
    assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

/// Three runs: the file, the same with overrides and a name, a sweep.
fn three() -> Folder {
    let folder = Folder::with(&[("ok.toml", SCENARIO.as_bytes())]);
    printed(&folder, &["run", "ok.toml", "--replications", "1"]);
    std::thread::sleep(std::time::Duration::from_millis(1100)); // "newest" is told by whole seconds
    printed(&folder, &["run", "ok.toml", "--name", "many flows", "-s", "traffic.bulk.flows=9", "--seed", "7"]);
    std::thread::sleep(std::time::Duration::from_millis(1100));
    printed(&folder, &["sweep", "ok.toml", "--vary", "traffic.bulk.flows=1,2,3"]);
    folder
}

#[test]
fn what_was_run_is_listed_with_what_made_it() {
    let folder = three();
    for dir in [&["runs"][..], &["runs", "runs/small"]] {
        let text = printed(&folder, dir);
        let lines: Vec<_> = text.lines().collect();
        let has = |line: usize, words: &[&str]| {
            words.iter().for_each(|word| assert!(lines[line].contains(word), "no `{word}` in line {line} of\n{text}"));
        };
        has(0, &["run", "points", "overrides", "seed", "replications", "written (UTC)", "size"]);
        has(1, &["small/base-", "base", " 1", "kB"]);
        has(2, &["small/many flows", "base", "scenario.seed=7", " 7", " 2"]);
        has(3, &["traffic.bulk.flows=9"]);
        has(4, &["runs/small/", "3 points", " 2"]);
        has(5, &["traffic.bulk.flows 1, 2, 3"]);
        assert_eq!(lines.len(), 6, "{text}");
    }
}

/// The addresses in the list, the newest last.
fn addresses(folder: &Folder) -> Vec<String> {
    let text = printed(folder, &["runs", "--json"]);
    let address = |line: &str| serde_json::from_str::<Value>(line).unwrap()["address"].as_str().unwrap().to_owned();
    text.lines().map(address).collect()
}

/// No run hides another: each is found where the list says.
#[test]
fn every_run_has_an_address() {
    let folder = three();
    let two = "traffic.bulk.flows=1,2";
    printed(&folder, &["sweep", "ok.toml", "--name", "many flows", "--seed", "3", "--vary", two]);
    let all = addresses(&folder);
    assert_eq!(all.iter().collect::<std::collections::BTreeSet<_>>().len(), 4, "{all:?}");
    assert!(all[0].starts_with("runs/small/base-") && all[2].len() == "runs/small/".len() + 8, "{all:?}");
    assert!(all.iter().all(|address| !address.ends_with("many flows")), "two have that name: {all:?}");
    let found = all.iter().map(|address| printed(&folder, &["runs", "--delete", address, "--dry-run"]));
    let found: Vec<_> = found.map(|line| line.split(", ").take(2).collect::<Vec<_>>().join(", ")).collect();
    let of = |i: usize, what: &str| format!("would be deleted: {}: {what}", all[i]);
    let expected =
        ["1 point, 1 replication", "1 point, 2 replications", "3 points, 6 replications", "2 points, 4 replications"];
    assert_eq!(found, [0, 1, 2, 3].map(|i| of(i, expected[i])));
    assert_eq!(addresses(&folder), all, "nothing was deleted");
}

#[test]
fn a_run_is_deleted_and_nothing_else() {
    let folder = three();
    let [first, named, swept] = addresses(&folder).try_into().unwrap();
    let of_named =
        |path: &std::path::PathBuf| path.ends_with("manifest.json") && path.to_string_lossy().contains("many");
    let manifest = folder.names().into_iter().find(of_named).unwrap();
    let point = manifest.ancestors().nth(2).unwrap();
    std::fs::write(folder.path("").join(point).join("notes.txt"), "mine").unwrap();
    let out = folder.perhop(&["runs", "--delete", &named]);
    let said = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(
        out.status.success() && said.starts_with("deleted: runs/small/many flows: 1 point, 2 replications, "),
        "{said}"
    );
    assert!(String::from_utf8_lossy(&out.stderr).contains("notes.txt stays: perhop did not write it"));
    assert_eq!(addresses(&folder), [first.clone(), swept.clone()]);
    let left: Vec<_> = folder.names().into_iter().filter(|path| path.starts_with(point) && path.is_file()).collect();
    assert_eq!(left, [point.join("notes.txt")]);
    printed(&folder, &["runs", "--delete", &first, "--delete", &swept]);
    assert_eq!(addresses(&folder).len(), 0);
}

#[test]
fn what_is_not_one_run_is_not_deleted() {
    let folder = three();
    let before = addresses(&folder);
    let refused = |address: &str| folder.refused(&["runs", "--delete", &before[0], "--delete", address]);
    assert!(refused("runs").contains("error[E029] runs holds 3 runs\n   help: name one of them: runs/small/"));
    assert!(refused("runs/small").contains("error[E029] runs/small holds 3 runs"));
    assert!(refused("runs/small/many flow").contains("did you mean `runs/small/many flows`?"));
    assert!(refused("elsewhere/x").contains("error[E029] elsewhere/x is not a directory, and no run there"));
    assert!(folder.refused(&["runs", "--dry-run"]).contains("--delete"));
    assert_eq!(addresses(&folder), before);
}

#[test]
fn as_json_it_has_every_point() {
    let text = printed(&three(), &["runs", "--json"]);
    let runs: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names: Vec<_> = runs.iter().map(|run| run["name"].as_str()).collect();
    assert_eq!(names, [None, Some("many flows"), None]);
    assert_eq!(runs[1]["overrides"], serde_json::json!(["scenario.seed=7", "traffic.bulk.flows=9"]));
    assert_eq!((&runs[1]["file"], &runs[1]["seeds"]), (&"ok.toml".into(), &serde_json::json!([7])));
    assert_eq!(runs[2]["vary"], serde_json::json!(["traffic.bulk.flows=1,2,3"]));
    let points = runs[2]["points"].as_array().unwrap();
    let labels: Vec<_> = points.iter().map(|p| p["labels"]["traffic.bulk.flows"].as_str().unwrap()).collect();
    assert_eq!(labels, ["1", "2", "3"]);
    assert!(points.iter().all(|point| point["replications"] == 2));
    assert!(points[0]["dir"].as_str().unwrap().starts_with("runs/small/flows_1-"));
    let started = runs[2]["started_s"].as_u64().unwrap();
    assert!(started > 1_700_000_000 && runs[2]["written_s"].as_u64().unwrap() >= started);
}

#[test]
fn damaged_results_are_said_beside_the_others() {
    let folder = three();
    let manifest = folder.names().into_iter().find(|p| p.ends_with("reps-000-001/manifest.json")).unwrap();
    std::fs::write(&manifest, "{}").unwrap();
    let out = folder.perhop(&["runs"]);
    let said = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(2));
    assert!(said.contains("error[E023]") && said.contains("reps-000-001") && said.contains("missing field"), "{said}");
    assert!(String::from_utf8(out.stdout).unwrap().contains("2 points"));
}

#[test]
fn names_and_directories_that_will_not_do() {
    let folder = Folder::with(&[("ok.toml", SCENARIO.as_bytes())]);
    assert!(folder.refused(&["runs"]).contains("error[E024] cannot read runs:"));
    assert!(folder.refused(&["run", "ok.toml", "--name", "a/b"]).contains("error[E011] name holds '/'"));
    assert!(printed(&folder, &["runs", "."]).contains("no finished replication below .:"));
}

/// The directories of replications of the one point below `runs`.
fn directories(folder: &Folder) -> Vec<std::path::PathBuf> {
    let names = folder.names().into_iter().filter(|path| path.ends_with("manifest.json"));
    names.map(|path| path.parent().unwrap().to_owned()).collect()
}

fn events(folder: &Folder) -> usize {
    folder.names().iter().filter(|path| path.ends_with("events.parquet")).count()
}

fn hash(text: &str) -> String {
    text.lines().find_map(|line| Some(line.split_once("result hash ")?.1[..16].to_owned())).unwrap()
}

/// Packets at ports come beside the results and are none of them: not in their hash, kept by a run without them, added by
/// one with them.
#[test]
fn events_are_written_beside_the_results() {
    let folder = Folder::with(&[("ok.toml", SCENARIO.as_bytes())]);
    let plain = hash(&printed(&folder, &["run", "ok.toml"]));
    assert_eq!((events(&folder), directories(&folder).len()), (0, 1));
    for (trace, there) in [(&["--trace", "events"][..], 2), (&[], 2), (&["--trace", "series,events"], 4)] {
        let hash = hash(&printed(&folder, &[&["run", "ok.toml"], trace].concat()));
        assert_eq!((events(&folder), hash == plain), (there, trace != ["--trace", "series,events"]), "{trace:?}");
    }
    assert!(folder.names().iter().all(|path| !path.to_string_lossy().contains("partial")));
}

#[test]
fn a_sweep_makes_points_again_that_lack_events() {
    let folder = Folder::with(&[("ok.toml", SCENARIO.as_bytes())]);
    let sweep =
        |more: &[&str]| printed(&folder, &[&["sweep", "ok.toml", "--vary", "traffic.bulk.flows=1,2"], more].concat());
    assert!(sweep(&[]).contains("(0 already there)"));
    assert!(sweep(&["--trace", "events"]).contains("(0 already there)"));
    assert_eq!(events(&folder), 4);
    assert!(sweep(&["--trace", "events"]).contains("(4 already there)"));
    assert!(sweep(&[]).contains("(4 already there)"));
    assert_eq!(events(&folder), 4);
}

/// A full disk: the run ends with the place that could not be written, and nothing half-written stays.
#[test]
fn events_without_room_are_an_error() {
    let folder = Folder::with(&[("ok.toml", SCENARIO.as_bytes())]);
    let out = folder.limited(&["run", "ok.toml", "--duration", "100s", "--replications", "1", "--trace", "events"]);
    let said = crate::command::error(&out);
    assert!(said.contains("error[E020] cannot write") && said.contains("events.parquet"), "{said}");
    assert_eq!(folder.names().iter().filter(|path| path.extension().is_some_and(|it| it == "parquet")).count(), 0);
}

/// The lines of a printed table that begins with these words, up to an empty one.
fn table<'a>(text: &'a str, head: &str) -> Vec<Vec<&'a str>> {
    let lines = text.lines().skip_while(|line| !line.starts_with(head)).take_while(|line| !line.is_empty());
    lines.map(|line| line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect()).collect()
}

/// An aggregate held against its rate: a table below the others, objects in JSON, rows in CSV, for `run` and `sweep`.
#[test]
fn an_aggregate_is_held_against_its_rate() {
    let folder = Folder::with(&[("ok.toml", SCENARIO.as_bytes())]);
    let plain = hash(&printed(&folder, &["run", "ok.toml"]));
    let ef = ["--ef", "s -> A,rate=4Mbit/s,for=BE", "--ef", "A -> d,class=bulk,rate=10Mbit/s"];
    let text = printed(&folder, &[&["run", "ok.toml"], &ef[..]].concat());
    assert_eq!(hash(&text), plain);
    let rows = table(&text, "hop ");
    assert_eq!(
        rows[0],
        ["hop", "aggregate", "rate Mbit/s", "packets", "dropped packets", "E_a ms", "E_p ms", "worst at s"]
    );
    assert_eq!(
        (rows.len(), &rows[1][..3], &rows[2][..3]),
        (3, &["s -> A", "BE", "4.000"][..], &["A -> d", "class bulk", "10.00"][..])
    );
    let text = printed(&folder, &[&["run", "ok.toml", "--json"], &ef[..]].concat());
    let said: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    let packets = |i: usize| said["ef"][i]["packets"].as_u64().unwrap().to_string();
    assert_eq!([packets(0), packets(1)], [rows[1][3], rows[2][3]]);
    assert_eq!((&said["ef"][0]["hop"], &said["ef"][0]["rate_bit_s"]), (&"s -> A".into(), &4_000_000.into()));
    let csv = printed(&folder, &[&["run", "ok.toml", "--csv"], &ef[..]].concat());
    assert!(csv.lines().next().unwrap().contains(",hop,aggregate,") && csv.contains("A -> d,class bulk,"), "{csv}");
    let sweep = |more: &[&str]| {
        printed(&folder, &[&["sweep", "ok.toml", "--vary", "traffic.bulk.flows=1,3", "--ef", ef[1]], more].concat())
    };
    assert_eq!(table(&sweep(&[]), "flows  hop").len(), 3);
    assert!(sweep(&[]).contains("(4 already there)"));
    assert!(sweep(&["--json"]).lines().all(|line| line.contains("\"e_p_ms\"")));
}

#[test]
fn an_aggregate_that_is_not_there_is_said_and_a_port_that_is_not_there_refused() {
    let folder = Folder::with(&[("ok.toml", SCENARIO.as_bytes())]);
    let out = folder.perhop(&["run", "ok.toml", "--ef", "s -> A,rate=1Mbit/s"]);
    let said = String::from_utf8(out.stderr).unwrap();
    assert!(out.status.success() && said.contains("note: no packet of EF left `s -> A`"), "{said}");
    assert!(said.contains("the packets that passed were BE"), "{said}");
    let rows = String::from_utf8(out.stdout).unwrap();
    assert_eq!(table(&rows, "hop ")[1], ["s -> A", "EF", "1.000", "0", "0", "-", "-", "-"]);
    let said = folder.refused(&["run", "ok.toml", "--ef", "s -> B,rate=1Mbit/s"]);
    assert!(said.contains("error[E235] `ef` 's -> B,rate=1Mbit/s': no port `s -> B`"), "{said}");
    assert!(said.contains("help: did you mean `s -> A`?"), "{said}");
}
