//! Its JSON, and what it says when ns-2 is missing or is something else. Whole processes are those of the `perhop` that
//! `cargo test --workspace` has built beside it; for this package alone: `cargo build -p perhop` first.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// As short as it can be.
const SMALL: &[&str] = &["--seconds", "1", "--pairs", "1", "--json"];

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// The program in a folder.
fn bench(args: &[&str], folder: &TempDir) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_perhop-bench"));
    command.args(args).current_dir(folder.path());
    command
}

/// What a refused call said; its exit code is 2.
fn error(out: &Output) -> String {
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(2), "{said}");
    assert!(!said.contains("panicked"), "{said}");
    said
}

/// With only these programs on the path.
fn with_programs(folder: &TempDir, args: &[&str], programs: &[(&str, &str)]) -> Command {
    let bin = folder.path().join("bin");
    fs::create_dir_all(&bin).unwrap();
    for (name, text) in programs {
        fs::write(bin.join(name), text).unwrap();
        fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = bench(args, folder);
    command.env("PATH", bin);
    command
}

fn answer(out: &Output) -> serde_json::Value {
    assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).unwrap()
}

fn keys(value: &serde_json::Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn parts_are_what_was_asked_for() {
    let folder = folder();
    let said = |only| {
        let args = [SMALL, &["--packets", "10", "--only", only]].concat();
        answer(&bench(&args, &folder).output().unwrap())
    };
    let decisions = said("decisions");
    assert_eq!(keys(&decisions), ["decisions", "ns_per_decision"]);
    let each = decisions["ns_per_decision"].as_object().unwrap().len() as u64;
    assert_eq!(decisions["decisions"], 10 * 5 * each);
    let workloads = said("workloads");
    assert_eq!(keys(&workloads["workloads"]), ["d100", "p10", "p100", "p1000", "u"]);
    assert!(workloads["workloads"]["p100"]["ns_per_packet_hop"].as_f64().unwrap() > 0.0);
    let memory = said("memory");
    assert_eq!(memory["memory"].as_array().unwrap().len(), 2);
    for it in memory["memory"].as_array().unwrap() {
        let per_flow = it["bytes_per_flow"].as_f64().unwrap();
        assert!((500.0..1e5).contains(&per_flow), "{it}");
    }
}

/// A program for `ns`: U is what perhop does, to 3 %; P(10) is not; P(100) is that of another program, and P(1000) fails.
const FAKE: &str = "#!/bin/sh
case \"$5-$7\" in
  10-100) echo 'bottleneck 12122 dropped 0' ;;
  100-100) echo 'usage: ns [space]' ;;
  *) echo 'libtcl.so: cannot open' >&2; exit 127 ;;
esac
";

/// The ratio, or the reason for none, and all keys.
#[test]
fn processes_are_set_beside_ns2_if_it_does_the_same_work() {
    let folder = folder();
    let args = [SMALL, &["--only", "processes"]].concat();
    let said = answer(&with_programs(&folder, &args, &[("ns", FAKE)]).output().unwrap());
    let all = &said["processes"];
    assert_eq!(keys(all), ["d100", "p10", "p100", "p1000", "p10000", "u"]);
    for (name, it) in all.as_object().unwrap() {
        let expected = ["bottleneck", "cpu_s", "cpu_s_each", "no_ratio", "ns2", "ratio", "simulated_s"];
        assert_eq!(keys(it), expected, "{name}");
        assert!(it["cpu_s"].as_f64().unwrap() > 0.0 && it["cpu_s_each"].as_array().unwrap().len() == 1);
        assert_eq!(it["ratio"].is_null(), it["no_ratio"].is_string(), "{name}: {it}");
    }
    assert!(all["u"]["ratio"].as_f64().is_some(), "{}", all["u"]);
    assert_eq!(keys(&all["u"]["ns2"]), ["bottleneck", "cpu_s", "cpu_s_each"]);
    let no_ratio = |name: &str, why: &str| {
        assert!(all[name]["no_ratio"].as_str().unwrap().starts_with(why), "{}", all[name]);
    };
    no_ratio("p10", "not the same work: ");
    no_ratio("p100", "`ns` is not ns-2: it does not say what went over the bottleneck");
    no_ratio("p1000", "`ns` failed (exit status: 127): libtcl.so: cannot open");
    no_ratio("d100", "ns-2 has none of it");
}

#[test]
fn where_ns2_is_missing_it_is_said_how_to_install_it() {
    let folder = folder();
    let args = ["--seconds", "1", "--pairs", "1", "--only", "processes"];
    let out = with_programs(&folder, &args, &[]).output().unwrap();
    let said = String::from_utf8(out.stdout).unwrap();
    let why = "no ratio of u, p10, p100, p1000: no program `ns` on the path; Debian and Ubuntu: apt install ns2";
    assert!(out.status.success() && said.contains(why), "{said}");
}

#[test]
fn growth_has_every_axis() {
    let folder = folder();
    let said = answer(&bench(&["--growth", "--most", "2000", "--json"], &folder).output().unwrap());
    assert_eq!(keys(&said), ["growth"]);
    assert_eq!(said["growth"]["bar"], 1.1);
    let axes = &said["growth"]["axes"];
    assert_eq!(keys(axes), ["conditioners", "flows", "links", "points", "rows", "samples", "tables"]);
    for (name, axis) in axes.as_object().unwrap() {
        assert_eq!(axis["points"].as_array().unwrap().len(), 2, "{name}: {axis}");
        assert!(
            axis["ended"].is_null() && axis["exponent"].is_number() && axis["above"].is_boolean(),
            "{name}: {axis}"
        );
    }
}

#[test]
fn growth_is_nothing_but_growth() {
    let folder = folder();
    let said = error(&bench(&["--growth", "--only", "memory"], &folder).output().unwrap());
    assert!(said.contains("cannot be used with"), "{said}");
    let said = error(&bench(&["--growth", "--most", "1000"], &folder).output().unwrap());
    assert!(said.contains("1000 is not in 2000..=1000000"), "{said}");
}

/// Those that no other test gives.
#[test]
fn every_option_is_taken() {
    let folder = folder();
    for line in ["--only bare --json", "--only bare --large", "--only decisions", "--memory-of 10", "--help"] {
        let line = format!("--packets 100 --seconds 1 --pairs 1 {line}");
        let out = bench(&line.split(' ').collect::<Vec<_>>(), &folder).output().unwrap();
        let said = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.code() == Some(0) && !said.contains("panicked"), "{line}: {said}");
        assert!(!out.stdout.is_empty(), "{line}");
    }
}

#[test]
fn a_full_device_is_an_error() {
    let args = ["--only", "workloads,decisions", "--seconds", "1", "--packets", "1000", "--json"];
    let full = File::options().write(true).open("/dev/full").unwrap();
    let said = error(&bench(&args, &folder()).stdout(full).stderr(Stdio::piped()).output().unwrap());
    assert!(
        said.contains("cannot write to standard output: No space left on device") && said.contains("   help: "),
        "{said}"
    );
}
