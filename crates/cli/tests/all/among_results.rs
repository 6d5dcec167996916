//! What else lies among results: the user's own files, links, pipes and devices, names that are not UTF-8, and runs that
//! are called as others are.

use crate::command::process::ended;
use crate::command::{Folder, SCENARIO, error, perhop};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// With results of the scenario in `runs/small`.
fn ran(more: &[&str]) -> Folder {
    let folder = Folder::with(&[("ok.toml", SCENARIO.as_bytes())]);
    run(&folder, more);
    folder
}

fn run(folder: &Folder, more: &[&str]) {
    let out = folder.perhop(&[&["run", "ok.toml"], more].concat());
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
}

fn printed(out: &Output) -> String {
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout.clone()).unwrap()
}

/// The directory of a point whose name begins so.
fn point(folder: &Folder, begins: &str) -> PathBuf {
    let dirs = fs::read_dir(folder.path("runs/small")).unwrap().map(|entry| entry.unwrap().path());
    dirs.into_iter().find(|dir| dir.file_name().unwrap().to_string_lossy().starts_with(begins)).unwrap()
}

fn files(folder: &Folder, below: &Path) -> BTreeSet<PathBuf> {
    folder.names().into_iter().filter(|path| path.starts_with(below) && !path.is_dir()).collect()
}

/// Only what perhop wrote is deleted, each file of it named before; what stays is named, and the directories it is in.
#[test]
fn what_perhop_did_not_write_stays() {
    let folder = ran(&["--name", "a", "--trace", "events", "--pcap", "s -> A", "--pcap-in", "A -> d"]);
    let point = point(&folder, "a-");
    let rep = point.join("rep-000");
    let ours = files(&folder, &point);
    assert!(ours.contains(&rep.join("events.parquet")) && ours.contains(&point.join("s-A.pcap")), "{ours:?}");
    // half-written by a process that was killed
    let leftovers = [".rep-001.1-0.partial/summary.parquet", ".rep-001.1-1.partial", ".s-A.pcap.perhop-1-0"];
    fs::create_dir(point.join(".rep-001.1-0.partial")).unwrap();
    leftovers.iter().for_each(|name| fs::write(point.join(name), "half").unwrap());
    // the user's
    for name in ["rep-000/sub/deep", ".rep-001.1-0.partial/z"] {
        fs::create_dir_all(point.join(name).parent().unwrap()).unwrap();
        fs::write(point.join(name), "mine").unwrap();
    }
    for name in ["rep-000/mine.parquet", "rep-000/summary.parquet.bak", "x.pcap", "s-A.pcap.txt", "notes"] {
        fs::write(point.join(name), "mine").unwrap();
    }
    symlink("../notes", rep.join("series.parquet")).unwrap();
    fs::create_dir(rep.join("delays.parquet")).unwrap();
    let mine = [
        "rep-000/sub",
        "rep-000/mine.parquet",
        "rep-000/summary.parquet.bak",
        "rep-000/series.parquet",
        "rep-000/delays.parquet",
        ".rep-001.1-0.partial/z",
        "x.pcap",
        "s-A.pcap.txt",
        "notes",
    ];
    let doomed: BTreeSet<_> = ours.into_iter().chain(leftovers.map(|name| point.join(name))).collect();
    let before = folder.contents();
    let out = folder.perhop(&["runs", "--delete", "runs/small/a", "--dry-run"]);
    assert!(folder.contents() == before);
    let text = printed(&out);
    let (first, rest) = text.split_once('\n').unwrap();
    assert!(first.ends_with(&format!(" in {} files", doomed.len())), "{first}");
    let named: BTreeSet<_> = rest.lines().map(|line| folder.path(line.strip_prefix("  ").unwrap())).collect();
    assert_eq!(named, doomed);
    let stays = |out: &Output| {
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        let lines = said.lines().map(|line| line.strip_prefix("note: ").unwrap().to_owned());
        let of =
            |line: String| line.strip_suffix(" stays: perhop did not write it").map(|name| folder.path(name)).unwrap();
        lines.map(of).collect::<BTreeSet<_>>()
    };
    let mine: BTreeSet<_> = mine.iter().map(|name| point.join(name)).collect();
    assert_eq!(stays(&out), mine);
    let out = folder.perhop(&["runs", "--delete", "runs/small/a"]);
    assert_eq!((printed(&out).lines().count(), stays(&out)), (1, mine));
    // A folder in which nothing is left goes, too.
    let gone = |path: &PathBuf| doomed.contains(path) || *path == point.join("rep-001");
    let left: BTreeMap<_, _> = before.into_iter().filter(|(path, _)| !gone(path)).collect();
    let after = folder.contents();
    assert_eq!(after.keys().collect::<Vec<_>>(), left.keys().collect::<Vec<_>>());
    assert!(after == left);
}

/// A point that keeps replications of which others know keeps its captures; what is damaged is of no run.
#[test]
fn results_of_others_stay() {
    let folder = ran(&["--name", "a", "--replications", "1", "--pcap", "s -> A"]);
    let point = point(&folder, "a-");
    fs::create_dir(point.join("rep-007")).unwrap();
    fs::write(point.join("rep-007/manifest.json"), "{}").unwrap();
    let out = folder.perhop(&["runs", "--delete", "runs/small/a"]);
    printed(&out);
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    for name in ["rep-007", "s-A.pcap"] {
        assert!(said.contains(&format!("{name} stays: it is of results that are not deleted")), "{said}");
    }
    assert_eq!(files(&folder, &point), BTreeSet::from(["rep-007/manifest.json", "s-A.pcap"].map(|it| point.join(it))));
}

/// As a run that is at work would.
#[test]
fn a_directory_in_use_is_refused_before() {
    let folder = ran(&["--name", "a"]);
    let held = File::open(folder.path("runs/small")).unwrap();
    held.lock_shared().unwrap();
    for more in [&["--dry-run"][..], &[]] {
        let said = folder.refused(&[&["runs", "--delete", "runs/small/a"], more].concat());
        assert!(said.contains("error[E020] cannot delete runs/small/a: a run is writing in runs/small"), "{said}");
    }
}

fn listed(folder: &Folder) -> Vec<Value> {
    let text = printed(&folder.perhop(&["runs", "--json"]));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Each address leads to its own run, also where a run is called as the directory of another, or as its number.
#[test]
fn an_address_leads_to_no_other_run() {
    let folder = ran(&["--name", "a"]);
    let first = point(&folder, "a-");
    let name = first.file_name().unwrap().to_str().unwrap().to_owned();
    run(&folder, &["--name", &name, "-s", "traffic.bulk.flows=7"]);
    let sweep = ["sweep", "ok.toml", "--vary", "traffic.bulk.flows=1,2"];
    printed(&folder.perhop(&sweep));
    let number = listed(&folder).into_iter().find(|run| run["points"].as_array().unwrap().len() == 2).unwrap();
    run(&folder, &["--name", number["id"].as_str().unwrap(), "-s", "traffic.bulk.flows=8"]);
    // a directory of the user's that is called as a run
    run(&folder, &["--name", "mine", "-s", "traffic.bulk.flows=9"]);
    fs::create_dir(folder.path("runs/small/mine")).unwrap();
    let runs = listed(&folder);
    assert_eq!(runs.len(), 5);
    for run in &runs {
        let address = run["address"].as_str().unwrap();
        let text = printed(&folder.perhop(&["runs", "--delete", address, "--dry-run", "--json"]));
        let found: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(found["run"]["run"]["points"], run["points"], "{address}");
    }
    let addresses: BTreeSet<_> = runs.iter().map(|run| run["address"].as_str().unwrap()).collect();
    assert!(addresses.len() == 5 && addresses.contains("runs/small/a"), "{addresses:?}");
    printed(&folder.perhop(&["runs", "--delete", runs[1]["address"].as_str().unwrap()]));
    assert!(first.exists(), "the other was deleted");
}

/// A copy of results further down is not deleted with them.
#[test]
fn a_copy_below_is_another_run() {
    let folder = ran(&["--name", "a"]);
    let copied = Command::new("cp").args(["-r", "runs/small", "copy"]).current_dir(folder.path("")).status().unwrap();
    fs::rename(folder.path("copy"), folder.path("runs/small/copy")).unwrap();
    assert!(copied.success());
    let text = printed(&folder.perhop(&["runs", "--delete", "runs/small/a"]));
    assert!(text.starts_with("deleted: runs/small/a: 1 point, 2 replications"), "{text}");
    assert!(!files(&folder, &folder.path("runs/small/copy")).is_empty());
}

/// A program that need not wait for anything: one that waits for a pipe would never end.
fn at_once(mut command: Command) -> Output {
    ended(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
}

/// Links that lead nowhere, in circles and up are passed over by all that looks below a directory.
#[test]
fn links_are_followed_once() {
    let folder = ran(&["--name", "a"]);
    for (to, name) in
        [("/nowhere", "old.parquet"), ("/nowhere", "manifest.json"), ("..", "a"), ("..", "b"), ("c", "c"), (".", "d")]
    {
        symlink(to, folder.path("runs/small").join(name)).unwrap();
    }
    fs::write(folder.path("x.html"), "").unwrap();
    let (runs, deleted) = (["runs"], ["runs", "--delete", "runs/small/a", "--dry-run"]);
    for args in [&runs[..], &deleted] {
        let text = printed(&at_once(perhop(args, &folder)));
        assert!(text.contains("runs/small/a"), "{text}");
    }
    // what Python carries out is looked at before it is handed over: there is no Python here
    for args in
        [["report", "runs/small", "-o", "x.html"], ["plot", "runs", "-o", "x.html"], ["report", "none", "-o", "x.html"]]
    {
        let out = at_once(perhop(&args, &folder));
        let said = error(&out);
        assert!(said.contains("perhop-python"), "{args:?}: {said}");
    }
    let manifest = point(&folder, "a-").join("reps-000-001/manifest.json");
    fs::hard_link(&manifest, folder.path("y.html")).unwrap();
    let said = folder.refused(&["report", "runs/small/a/small/b", "-o", "y.html"]);
    assert!(said.contains("error[E025] y.html is "), "{said}");
}

/// In place of a manifest or a table: a pipe, a socket, a device, a directory, a file of a petabyte, a link to itself.
#[test]
fn what_is_no_file_is_damaged_and_not_waited_for() {
    type Make = fn(&Path);
    let kinds: [(&str, Make); 6] = [
        ("a pipe", |path| assert!(Command::new("mkfifo").arg(path).status().unwrap().success())),
        ("a socket", |path| drop(UnixListener::bind(path).unwrap())),
        ("a device", |path| symlink("/dev/zero", path).unwrap()),
        ("a directory", |path| fs::create_dir(path).unwrap()),
        ("a large file", |path| File::create(path).unwrap().set_len(1 << 42).unwrap()),
        ("a link to itself", |path| symlink(path.file_name().unwrap(), path).unwrap()),
    ];
    let sweep = ["sweep", "ok.toml", "--vary", "traffic.bulk.flows=1,2", "--replications", "1"];
    let folder = Folder::with(&[("ok.toml", SCENARIO.as_bytes())]);
    printed(&folder.perhop(&sweep));
    for name in ["manifest.json", "summary.parquet"] {
        for (kind, make) in kinds {
            let dir = point(&folder, "flows_1-").join("rep-000");
            fs::remove_file(dir.join(name)).unwrap();
            // a path of a socket is short
            let short = folder.path("it");
            make(&short);
            if kind == "a link to itself" {
                symlink(name, dir.join(name)).unwrap()
            } else {
                fs::rename(&short, dir.join(name)).unwrap()
            }
            let _ = fs::remove_file(&short);
            if name == "manifest.json" {
                let out = at_once(perhop(&["runs"], &folder));
                let said = error(&out);
                assert!(said.contains("error[E023] damaged results in runs/small/flows_1-"), "{kind}: {said}");
                assert!(said.contains("manifest.json cannot be read: "), "{kind}: {said}");
                assert!(String::from_utf8(out.stdout).unwrap().contains("1 point"), "{kind}: the others are listed");
            }
            let out = at_once(perhop(&sweep, &folder));
            let said = String::from_utf8_lossy(&out.stderr).into_owned();
            assert!(said.contains("was made again: "), "{kind}: {said}");
            assert!(printed(&out).contains("(1 already there)"), "{kind} as {name}: it is made again");
        }
    }
}

/// A pipe is a scenario as good as a file; what has no end is refused.
#[test]
fn a_scenario_from_a_pipe_and_one_without_end() {
    let folder = Folder::with(&[
        ("ok.toml", SCENARIO.as_bytes()),
        ("device.cfg", b"policy-map p\n class class-default\n  police 1000000\n"),
    ]);
    let piped = |script: &str| {
        let mut shell = Command::new("bash");
        shell.args(["-c", script, "bash", env!("CARGO_BIN_EXE_perhop")]).current_dir(folder.path(""));
        at_once(shell)
    };
    printed(&piped("\"$1\" check <(cat ok.toml)"));
    printed(&piped("mkfifo p; cat ok.toml >p & \"$1\" run p --replications 1"));
    let verbs = [
        "check /dev/zero",
        "run /dev/zero",
        "sweep /dev/zero",
        "explain /dev/zero",
        "meter ok.toml --policy /dev/zero",
        "import /dev/zero --from ios",
        "predict /dev/zero",
        "predict device.cfg --from ios --link 1Mbit/s --load /dev/zero",
        "check - </dev/zero",
    ];
    for verb in verbs {
        let out = piped(&format!("\"$1\" {verb}"));
        let said = format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
        assert_eq!(out.status.code(), Some(2), "{verb}: {said}");
        assert!(said.contains("error[E007] cannot read the file: it has more than 64 MiB"), "{verb}: {said}");
    }
}

/// A name that is not UTF-8, wherever a verb takes one: it is taken, or refused with a code, and JSON has U+FFFD for it.
#[test]
fn names_that_are_not_utf_8() {
    let name = OsStr::from_bytes(b"o\xff");
    let folder = Folder::with(&[("ok.toml", SCENARIO.as_bytes())]);
    let with = |args: &[&str]| {
        let mut command = perhop(args, &folder);
        command.arg(name);
        at_once(command)
    };
    printed(&with(&["run", "ok.toml", "--name", "a", "--out"]));
    let text = printed(&with(&["runs"]));
    assert!(text.contains("o\u{fffd}/small/a"), "{text}");
    let json: Value = serde_json::from_str(&printed(&with(&["runs", "--json"]))).unwrap();
    assert_eq!(json["address"], "o\u{fffd}/small/a");
    let dir = json["points"][0]["dir"].as_str().unwrap();
    assert!(dir.starts_with("o\u{fffd}/small/a-"), "{dir}");
    let mut delete = perhop(&["runs", "--json", "--dry-run", "--delete"], &folder);
    delete.arg(Path::new(name).join("small/a"));
    let json: Value = serde_json::from_str(&printed(&at_once(delete))).unwrap();
    assert!(json["run"]["files"][0].as_str().unwrap().starts_with("o\u{fffd}/small/a-"), "{json}");
    for args in
        [&["report", "-o", "x.html"][..], &["plot"], &["compare"], &["report", "runs", "-o"], &["plot", "runs", "-o"]]
    {
        let said = error(&with(args));
        assert!(said.contains("error[E022] the path `o\u{fffd}` is not UTF-8 text"), "{args:?}: {said}");
    }
}
