//! Every file of examples/ is run, and so is every template of `init`; what is printed is compared with what is recorded in
//! the `expected` of its folder.
//!
//! After a change that alters results on purpose: `make renew WHAT=examples`, then read
//! `git diff examples/expected` before committing it.

use perhop_core::{aqm, conditioner, sched};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Policies, each with the capture it is shown on.
const POLICIES: [(&str, &str); 2] =
    [("mark-af", "tests/captures/udp-ns.pcap"), ("mark-labels", "tests/captures/tcp6-ns.pcap")];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Names of the files in a folder, without their endings.
fn names(folder: &str, ending: &str) -> Vec<String> {
    let entries = std::fs::read_dir(root().join(folder)).unwrap().map(|e| e.unwrap().path());
    let stem = |p: PathBuf| p.file_stem().unwrap().to_str().unwrap().to_owned();
    let mut names: Vec<_> = entries.filter(|p| p.extension().is_some_and(|e| e == ending)).map(stem).collect();
    names.sort();
    names
}

fn perhop(args: &[&str]) -> Output {
    let out = Command::new(env!("CARGO_BIN_EXE_perhop")).args(args).current_dir(root()).output().unwrap();
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "perhop {}: {}\n{said}", args.join(" "), out.status);
    out
}

/// Folders of files, each with its `expected`.
const FOLDERS: [&str; 2] = ["examples", "crates/app/templates"];

/// What an example prints, without the last line of a run: its directory and wall time. Nothing is said beside it, but
/// of a capture what has to be known of it.
fn printed(folder: &str, name: &str, out: &Path) -> String {
    let file = format!("{folder}/{name}.toml");
    let text = |args: &[&str]| {
        let Output { stdout, stderr, .. } = perhop(args);
        [stdout, stderr].map(|bytes| String::from_utf8(bytes).unwrap())
    };
    match POLICIES.iter().find(|p| p.0 == name) {
        Some((_, capture)) => text(&["meter", capture, "--policy", &file]).concat(),
        None => {
            let sweeps =
                folder != "examples" && std::fs::read_to_string(root().join(&file)).unwrap().contains("\n[sweep]");
            let verb = if sweeps { "sweep" } else { "run" };
            let [all, said] = text(&[verb, &file, "--out", out.to_str().unwrap()]);
            assert_eq!(said, "", "{name}");
            let kept = all.trim_end().rsplit_once('\n').expect("several lines").0;
            format!("{kept}\n")
        }
    }
}

#[test]
fn every_example_prints_what_stands_beside_it() {
    let out = tempfile::tempdir().unwrap();
    let mut differing = Vec::new();
    let all = FOLDERS.iter().flat_map(|folder| names(folder, "toml").into_iter().map(move |name| (folder, name)));
    for (folder, name) in all {
        let (now, path) = (printed(folder, &name, out.path()), root().join(format!("{folder}/expected/{name}.txt")));
        if std::env::var_os("PERHOP_RENEW").is_some() {
            std::fs::write(&path, &now).unwrap();
        }
        let expected = std::fs::read_to_string(&path).unwrap_or_default();
        if expected != now {
            differing.push(format!("{folder}/{name}.toml: expected\n{expected}\nprinted\n{now}"));
        }
    }
    let help = "if that is intended: make renew WHAT=examples";
    assert!(differing.is_empty(), "{}\n{help}", differing.join("\n"));
}

#[test]
fn nothing_is_expected_of_an_example_that_is_gone() {
    for folder in FOLDERS {
        assert_eq!(names(folder, "toml"), names(&format!("{folder}/expected"), "txt"));
    }
}

#[test]
fn every_conditioner_aqm_and_scheduler_has_its_example() {
    for (key, list) in [("kind", conditioner::LIST), ("aqm", aqm::LIST), ("scheduler", sched::LIST)] {
        for entry in list {
            let path = root().join(format!("examples/{}.toml", entry.name));
            let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            let used = text.lines().any(|line| line.trim_start().starts_with(&format!("{key} = \"{}\"", entry.name)));
            assert!(used, "{} shows no {key} = \"{}\"", path.display(), entry.name);
        }
    }
}
