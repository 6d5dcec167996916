//! Every verb once with every option of it. `perhop-python` is a stub here that says what it was handed.

use crate::command::{Folder, SCENARIO, error};
use clap::{Command as Verb, CommandFactory};
use perhop::args::Cli;
use std::collections::BTreeSet;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

/// A verb, what it has on every line, and for each argument what stands behind that.
struct Line {
    verb: &'static str,
    always: &'static str,
    own: Vec<(&'static str, &'static str)>,
}

fn table() -> Vec<Line> {
    let mut table: Vec<Line> = Vec::new();
    for text in include_str!("../options.txt").lines().filter(|text| !text.is_empty() && !text.starts_with('#')) {
        let (word, more) = text.trim_start().split_once(' ').unwrap_or((text.trim_start(), ""));
        match text.starts_with(' ') {
            true => table.last_mut().unwrap().own.push((word, more.trim_start())),
            false => table.push(Line { verb: word, always: more, own: Vec::new() }),
        }
    }
    table
}

/// Of every verb.
const EVERYWHERE: &[(&str, &str)] = &[("color", "--color always"), ("help", "--help")];

/// They ask for what is done anyhow: one replication.
const ANYHOW: &[(&str, &str)] = &[("lab", "replications")];

/// Python carries them out.
const PYTHONS: &[&str] = &["lab", "reproduce", "map", "plot", "report", "compare"];

const POLICY: &str = "\
[conditioner.all]
kind = \"token-bucket\"
cir = \"1Mbit/s\"
cbs = \"15kB\"
green = \"mark AF11\"

[queue.port]
limit = \"20p\"
";

/// A configuration of Linux that says how fast its port is.
const CONFIGURATION: &str = "tc qdisc add dev eth0 root tbf rate 10mbit burst 15k limit 150k\n";

const LOAD: &str = "\
[traffic.web]
model = \"ftp\"
tcp = \"linux\"
from = \"server\"
to = \"home\"
";

/// The verbs with all their arguments; clap's own `help` is run with each of them, and `forward.rs` has interfaces for
/// `forward`.
fn verbs() -> Vec<Verb> {
    let mut command = Cli::command();
    command.build();
    let apart = ["help", "forward"];
    command.get_subcommands().filter(|verb| !apart.contains(&verb.get_name())).cloned().collect()
}

/// A new verb, or a new argument of one, is not forgotten.
#[test]
fn every_argument_of_every_verb_has_its_line() {
    let all = |verb: &Verb| -> BTreeSet<_> {
        let shown = verb.get_arguments().filter(|it| !it.is_hide_set());
        shown.map(|it| (verb.get_name().to_owned(), it.get_id().to_string())).collect()
    };
    let found: BTreeSet<_> = verbs().iter().flat_map(all).collect();
    let own = table().into_iter().flat_map(|Line { verb, own, .. }| {
        own.into_iter().chain(EVERYWHERE.iter().copied()).map(|(id, _)| (verb.to_owned(), id.to_owned()))
    });
    let known: BTreeSet<_> = own.collect();
    assert_eq!(found, known, "say in options.txt how an argument is used");
}

/// A folder with the program beside a stub.
fn installed() -> Folder {
    let folder = Folder::with(&[("perhop-python", b"#!/bin/sh\nprintf '%s' \"$@\"\n")]);
    std::fs::set_permissions(folder.path("perhop-python"), Permissions::from_mode(0o755)).unwrap();
    std::fs::copy(env!("CARGO_BIN_EXE_perhop"), folder.path("perhop")).unwrap();
    folder
}

/// A scenario that takes milliseconds, a policy, a capture.
fn folder() -> Folder {
    let capture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures/udp-ns.pcap");
    let scenario = SCENARIO.replace("\"4s\"", "\"20ms\"").replace("\"1s\"", "\"0s\"");
    let capture = std::fs::read(capture).unwrap();
    let texts = [("ok.toml", &scenario), ("other.toml", &scenario)].map(|(name, text)| (name, text.as_bytes()));
    Folder::with(
        &[
            &texts[..],
            &[
                ("port.txt", CONFIGURATION.as_bytes()),
                ("load.toml", LOAD.as_bytes()),
                ("policy.toml", POLICY.as_bytes()),
                ("in.pcap", &capture),
                ("other.pcap", &capture),
            ],
        ]
        .concat(),
    )
}

fn ran(program: &Folder, folder: &Folder, line: &str) -> Output {
    let line = format!("{} {line}", program.path("perhop").display());
    Command::new("sh").args(["-c", &line]).current_dir(folder.path("")).output().unwrap()
}

/// Each line ends well. What Python carries out is handed to it, other than without the argument.
#[test]
fn every_verb_runs_with_every_argument() {
    let program = installed();
    for Line { verb, always, own } in table() {
        let first = format!("{verb} {always} {}", own[0].1);
        for (id, more) in own.iter() {
            let line = format!("{verb} {always} {more}");
            let out = fine(&program, &line);
            let changes = PYTHONS.contains(&verb) && !more.is_empty() && !ANYHOW.contains(&(verb, *id));
            let is_handed = || out != fine(&program, &format!("{verb} {always}"));
            assert!(!changes || is_handed(), "`{id}` is not handed over: {line}");
        }
        EVERYWHERE.iter().for_each(|(_, more)| drop(fine(&program, &format!("{first} {more}"))));
    }
}

/// What it prints.
fn fine(program: &Folder, line: &str) -> String {
    let folder = folder();
    assert!(!line.starts_with("runs") || folder.perhop(&["run", "ok.toml"]).status.success());
    let out = ran(program, &folder, line);
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(0), "{line}: {said}");
    assert!(!said.contains("panicked"), "{line}: {said}");
    String::from_utf8(out.stdout).unwrap()
}

/// It is a separate program, which no wheel has.
#[test]
fn there_is_no_verb_that_measures_the_machine() {
    let said = error(&Folder::with(&[]).perhop(&["bench"]));
    assert!(said.contains("unrecognized subcommand 'bench'"), "{said}");
}
