//! Algorithms of installed packages: their names are known without Python, and a request that needs one goes there.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

const SCENARIO: &str = r#"
[scenario]
duration = "1s"
[links]
"a - b" = { rate = "1Mbit/s", delay = "1ms", queue = "only" }
[queue.only]
aqm = "AQM"
limit = "10p"
[traffic.one]
model = "cbr"
rate = "1kbit/s"
from = "a"
to = "b"
"#;

/// The program in an environment with a package that offers `third`, and a `perhop-python` that keeps what it is handed.
fn environment(folder: &Path) {
    let package = folder.join("lib/python3.99/site-packages/queues-1.0.dist-info");
    [folder.join("bin"), package.clone()].iter().for_each(|dir| fs::create_dir_all(dir).unwrap());
    // A copy would be open for writing when another test starts a process.
    fs::hard_link(env!("CARGO_BIN_EXE_perhop"), folder.join("bin/perhop")).unwrap();
    let python = folder.join("bin/perhop-python");
    fs::write(&python, "#!/bin/sh\necho \"$@\" > handed\necho \"$NO_COLOR,$CLICOLOR_FORCE\" > colour\n").unwrap();
    fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(package.join("entry_points.txt"), "[other]\nthrid = a:B\n[perhop.algorithms]\nthird = queues:Third\n")
        .unwrap();
}

fn check(folder: &Path, aqm: &str, words: &[&str]) -> Output {
    fs::write(folder.join("x.toml"), SCENARIO.replace("AQM", aqm)).unwrap();
    let mut program = Command::new(folder.join("bin/perhop"));
    program.args(["check", "x.toml"]).args(words).env_remove("PYTHONPATH").current_dir(folder).output().unwrap()
}

#[test]
fn a_name_of_a_package_is_pythons() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    environment(folder.path());
    for (aqm, words) in [("third", &[][..]), ("red", &["-s", "queue.only.aqm=\"third\""])] {
        let done = check(folder.path(), aqm, words);
        assert!(String::from_utf8_lossy(&done.stderr).starts_with("note: `third` is a Python class"), "{done:?}");
        let handed = fs::read_to_string(folder.path().join("handed")).unwrap();
        assert!(handed.starts_with("carry_out {\"request\":{") && handed.contains("\"verb\":\"check\""), "{handed}");
        fs::remove_file(folder.path().join("handed")).unwrap();
    }
}

#[test]
fn python_uses_colour_as_the_option_says() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    environment(folder.path());
    for (choice, variables) in [("always", ",1"), ("never", "1,")] {
        check(folder.path(), "third", &["--color", choice]);
        assert_eq!(fs::read_to_string(folder.path().join("colour")).unwrap().trim(), variables, "{choice}");
    }
}

#[test]
fn a_typo_starts_no_python() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    environment(folder.path());
    let done = check(folder.path(), "thrid", &[]);
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(said.contains("error[E006]") && said.contains("thrid"), "{done:?}");
    assert!(!folder.path().join("handed").exists());
}

#[test]
fn standard_input_is_not_read_twice() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    environment(folder.path());
    let text = SCENARIO.replace("AQM", "third");
    fs::write(folder.path().join("x.toml"), &text).unwrap();
    let mut program = Command::new(folder.path().join("bin/perhop"));
    let file = fs::File::open(folder.path().join("x.toml")).unwrap();
    let done = program.args(["check", "-"]).stdin(file).env_remove("PYTHONPATH").output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(said.trim(), "error: `third` is a Python class, and standard input is read already: give a file");
    assert_eq!(done.status.code(), Some(2));
}
