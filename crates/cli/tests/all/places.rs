//! Outputs: none of the inputs, none that exists where that is not meant, whole or as before.

use crate::command::{Folder, SCENARIO, error, perhop};
use clap::builder::ValueParser;
use clap::{Arg, Command, CommandFactory};
use perhop::args::Cli;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::Stdio;

const POLICY: &str =
    "[conditioner.all]\nkind = \"token-bucket\"\ncir = \"1Mbit/s\"\ncbs = \"15kB\"\ngreen = \"mark AF11\"\n";

/// What a path on the command line is for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Use {
    /// A file, or a directory of runs, that is read.
    Read,
    /// A file that is written.
    Written,
    /// A directory in which a verb makes new files.
    Folder,
    /// A directory in which it makes the file of this name.
    Holds(&'static str),
}

use Use::{Folder as Dir, Holds, Read, Written};

/// Every path of every verb, by the name of its argument.
const PATHS: &[(&str, &str, Use)] = &[
    ("check", "files", Read),
    ("explain", "file", Read),
    ("run", "file", Read),
    ("run", "out", Dir),
    ("run", "csv", Written),
    ("sweep", "file", Read),
    ("sweep", "out", Dir),
    ("sweep", "csv", Written),
    ("lab", "file", Read),
    ("lab", "keep", Holds("scenario.json")),
    ("tune", "file", Read),
    ("tune", "output", Written),
    ("mark", "input", Read),
    ("mark", "policy", Read),
    ("mark", "output", Written),
    ("meter", "inputs", Read),
    ("meter", "policy", Read),
    ("meter", "csv", Written),
    ("reproduce", "out", Dir),
    ("map", "out", Dir),
    ("runs", "dir", Read),
    ("runs", "delete", Dir),
    ("plot", "runs", Read),
    ("plot", "output", Written),
    ("report", "runs", Read),
    ("report", "output", Written),
    ("compare", "a", Read),
    ("compare", "b", Read),
    ("forward", "policy", Read),
    ("forward", "trace", Dir),
    ("import", "file", Read),
    ("import", "load", Read),
    ("import", "output", Written),
    ("predict", "file", Read),
    ("predict", "load", Read),
    ("predict", "output", Written),
    ("predict", "out", Dir),
    ("init", "output", Written),
    ("man", "dir", Dir),
];

/// Every argument of a verb that takes a path.
fn paths(verb: &Command) -> impl Iterator<Item = &Arg> {
    let path = ValueParser::path_buf().type_id();
    verb.get_arguments().filter(move |arg| arg.get_value_parser().type_id() == path)
}

/// A new verb, or a new path of one, is not forgotten.
#[test]
fn every_path_of_every_verb_is_known() {
    let command = Cli::command();
    let verbs = command.get_subcommands();
    let mut found: Vec<_> =
        verbs.flat_map(|verb| paths(verb).map(|arg| (verb.get_name().to_owned(), arg.get_id().to_string()))).collect();
    let mut known: Vec<_> = PATHS.iter().map(|(verb, arg, _)| (verb.to_string(), arg.to_string())).collect();
    found.sort();
    known.sort();
    assert_eq!(found, known, "say in PATHS, and in src/places.rs, what a path is for");
}

/// A verb with one path for what it reads and one for what it writes; other arguments that it must have get any value.
fn line(verb: &Command, [reads, writes]: [(&str, &str); 2]) -> Vec<String> {
    let mut line = vec![verb.get_name().to_owned()];
    for arg in verb.get_arguments().filter(|arg| !arg.is_global_set()) {
        let any = arg.get_possible_values().first().map_or("other".to_owned(), |it| it.get_name().to_owned());
        let value = match arg.get_id().as_str() {
            id if id == reads.0 => reads.1.to_owned(),
            id if id == writes.0 => writes.1.to_owned(),
            _ if arg.is_required_set() => any,
            _ => continue,
        };
        line.push(arg.get_long().map_or(value.clone(), |long| format!("--{long}={value}")));
    }
    line
}

/// Each verb's pairs of an input and an output, and the name by which the output is found.
fn pairs() -> Vec<(Command, &'static str, &'static str, Option<&'static str>)> {
    let mut found = Vec::new();
    for verb in Cli::command().get_subcommands() {
        let of = |wanted: fn(Use) -> bool| {
            PATHS.iter().filter(move |it| it.0 == verb.get_name() && wanted(it.2)).map(|it| (it.1, it.2))
        };
        for (read, _) in of(|it| it == Read) {
            for (write, how) in of(|it| matches!(it, Written | Holds(_))) {
                let name = if let Holds(name) = how { Some(name) } else { None };
                found.push((verb.clone(), read, write, name));
            }
        }
    }
    found
}

/// By the same name, another spelling, a symbolic link, a hard link; a single file, and one of a run's directory.
#[test]
fn an_output_that_is_an_input_is_refused() {
    let folder = Folder::with(&[("in", b"what was there"), ("other", b"")]);
    for name in ["runs/x/rep-000", "held"] {
        fs::create_dir_all(folder.path(name)).unwrap();
    }
    fs::write(folder.path("runs/x/rep-000/manifest.json"), "{}").unwrap();
    symlink("in", folder.path("link")).unwrap();
    fs::hard_link(folder.path("in"), folder.path("hard")).unwrap();
    fs::hard_link(folder.path("runs/x/rep-000/manifest.json"), folder.path("of-run")).unwrap();
    let pairs = pairs();
    assert!(pairs.len() >= 8, "{}", pairs.len());
    for (verb, read, write, held) in pairs {
        let outputs = match held {
            Some(name) => {
                let _ = fs::remove_file(folder.path("held").join(name));
                fs::hard_link(folder.path("in"), folder.path("held").join(name)).unwrap();
                vec!["held"]
            }
            None => vec!["in", "./in", "runs/../in", "link", "hard"],
        };
        let mut cases: Vec<_> = outputs.into_iter().map(|output| ("in", output)).collect();
        if read == "runs" {
            cases.extend([("runs/x", "of-run"), ("runs/x/rep", "of-run"), ("runs/x", "runs/x/rep-000/manifest.json")]);
        }
        for (input, output) in cases {
            let line = line(&verb, [(read, input), (write, output)]);
            let said = folder.refused(&line.iter().map(String::as_str).collect::<Vec<_>>());
            assert!(said.contains("error[E025]") && said.contains("   help: "), "{line:?}: {said}");
        }
    }
}

/// A name that is not UTF-8, in place of every path: it is taken, or refused with a code.
#[test]
fn no_name_ends_a_verb_by_surprise() {
    let folder = Folder::with(&[("ok.toml", SCENARIO.as_bytes())]);
    let name = |placeholder: &str| {
        let bytes = placeholder.as_bytes().strip_suffix(b"NAME").map(|before| [before, b"o\xff"].concat());
        bytes.map_or_else(|| OsString::from(placeholder), OsString::from_vec)
    };
    for is_there in [false, true] {
        for verb in Cli::command().get_subcommands() {
            for arg in paths(verb).map(|arg| arg.get_id().as_str()) {
                if is_there {
                    fs::copy(folder.path("ok.toml"), folder.path("").join(name("NAME"))).unwrap();
                }
                let words = line(verb, [(arg, "NAME"), ("", "")]);
                let mut command = perhop(&[], &folder);
                command.args(words.iter().map(|word| name(word))).stdin(Stdio::null());
                let out = command.output().unwrap();
                let said = String::from_utf8_lossy(&out.stderr).into_owned();
                assert!(matches!(out.status.code(), Some(0..=2)) && !said.contains("panicked"), "{words:?}: {said}");
                let incomplete = said.contains("required arguments were not provided");
                let refused = said.contains("error[") || said.contains("perhop-python") || incomplete;
                let refused = refused || out.status.code() != Some(2);
                assert!(refused, "{words:?}: {said}");
            }
        }
    }
}

/// Where nothing can be written: a link to itself, a full device, a directory, a file in place of a directory, a name that is too
/// long. One error each.
#[test]
fn what_cannot_be_written_is_one_error() {
    let folder = folder();
    fs::write(folder.path("device.cfg"), "policy-map p\n class class-default\n  police 1000000\n").unwrap();
    symlink("loop", folder.path("loop")).unwrap();
    fs::create_dir(folder.path("dir")).unwrap();
    let long = "x".repeat(300);
    let places = ["loop", "/dev/full", "dir", "old/x", "gone/x", &long];
    let meter = ["meter", "in.pcap", "--csv"];
    let import = ["import", "device.cfg", "--from", "ios", "--link", "10Mbit/s", "--force", "-o"];
    let run = ["run", "ok.toml", "--replications", "1", "--csv"];
    for place in places {
        for verb in [&MARK[..], &INIT, &meter, &import, &run] {
            let args = [verb, &[place]].concat();
            let out = folder.perhop(&args);
            let said = error(&out);
            assert_eq!(said.matches("error[").count(), 1, "{args:?}: {said}");
            let help = said.contains("   help: ");
            assert!((said.contains("error[E020] ") || said.contains("error[E026] ")) && help, "{args:?}: {said}");
        }
    }
    for place in ["loop", "old/x", &long] {
        let said = error(&folder.perhop(&["run", "ok.toml", "--replications", "1", "--out", place]));
        assert!(said.contains("error[E020] "), "{place}: {said}");
    }
}

fn folder() -> Folder {
    let capture = fs::read(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures/udp-ns.pcap")).unwrap();
    let files = [("in.pcap", &capture[..]), ("policy.toml", POLICY.as_bytes()), ("ok.toml", SCENARIO.as_bytes())];
    Folder::with(&[&files[..], &[("old", b"old")]].concat())
}

/// What comes from standard input is a file as well; `--force` changes nothing.
#[test]
fn standard_input_is_an_input() {
    let folder = folder();
    let before = folder.contents();
    let mut mark = perhop(&["mark", "-", "-o", "in.pcap", "--policy", "policy.toml", "--force"], &folder);
    mark.stdin(File::open(folder.path("in.pcap")).unwrap());
    let said = error(&mark.output().unwrap());
    assert!(said.contains("error[E025] in.pcap is -, which is read"), "{said}");
    let said = folder.refused(&["mark", "in.pcap", "-o", "in.pcap", "--policy", "policy.toml", "--force"]);
    assert!(said.contains("error[E025]"), "{said}");
    assert!(folder.contents() == before);
}

const MARK: [&str; 4] = ["mark", "in.pcap", "--policy=policy.toml", "-o"];
const INIT: [&str; 2] = ["init", "-o"];

/// `mark` and `init` replace what is meant; a symbolic link stays, and what it points to is replaced.
#[test]
fn what_exists_is_replaced_with_force_alone() {
    let folder = folder();
    symlink("old", folder.path("link")).unwrap();
    for verb in [&MARK[..], &INIT] {
        for name in ["old", "link"] {
            fs::write(folder.path("old"), "old").unwrap();
            fs::set_permissions(folder.path("old"), fs::Permissions::from_mode(0o640)).unwrap();
            let said = folder.refused(&[verb, &[name]].concat());
            assert!(said.contains(&format!("error[E026] {name} exists")) && said.contains("--force"), "{said}");
            let out = folder.perhop(&[verb, &[name, "--force"]].concat());
            assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
            assert_ne!(fs::read(folder.path("old")).unwrap(), b"old");
            assert_eq!(fs::metadata(folder.path("old")).unwrap().permissions().mode() & 0o777, 0o640);
            assert!(fs::symlink_metadata(folder.path("link")).unwrap().is_symlink());
        }
    }
}

/// Standard output by its name, a device, a pipe: they are written to, and are there afterwards.
#[test]
fn what_is_no_file_is_written_to() {
    let folder = folder();
    for name in ["/dev/stdout", "/dev/null", "/dev/fd/1"] {
        for verb in [&MARK[..], &INIT] {
            let out = perhop(&[verb, &[name]].concat(), &folder).stdout(Stdio::piped()).output().unwrap();
            assert!(out.status.success(), "{name}: {}", String::from_utf8_lossy(&out.stderr));
            assert!(name == "/dev/null" || out.stdout.len() > 1000, "{name}");
        }
    }
    // standard output is a file: what is printed comes behind what is written
    let to = folder.path("redirected");
    let run = ["run", "ok.toml", "--csv", "/dev/stdout"];
    assert!(perhop(&run, &folder).stdout(File::create(&to).unwrap()).status().unwrap().success());
    let text = fs::read_to_string(&to).unwrap();
    assert!(text.starts_with("class,") && text.contains("result hash"), "{text}");
    let made = std::process::Command::new("mkfifo").arg(folder.path("pipe")).status().unwrap();
    assert!(made.success());
    let reader = std::thread::spawn({
        let pipe = folder.path("pipe");
        move || fs::read(pipe).unwrap()
    });
    assert!(folder.perhop(&[&MARK[..], &["pipe"]].concat()).status.success());
    assert_eq!(reader.join().unwrap().len(), fs::metadata(folder.path("in.pcap")).unwrap().len() as usize);
}

/// On a full disk each verb leaves what was there, and nothing else.
#[test]
fn a_full_disk_leaves_what_was_there() {
    let folder = folder();
    fs::create_dir(folder.path("man1")).unwrap();
    fs::write(folder.path("man1/perhop-check.1"), "old").unwrap();
    let long = SCENARIO.replace("\"4s\"", "\"4s\"\n") + "[traffic.other]\nmodel = \"ftp\"\nfrom = \"s\"\nto = \"d\"\n";
    fs::write(folder.path("ok.toml"), long).unwrap();
    // results are there: only the rows are left to write
    let show = "--show=flows.goodput_bit_s,flows.delay_mean_ms,flows.delay_p99_ms,arrivals.delay_p999_ms,summary.arrived_bytes";
    let sweep = ["sweep", "ok.toml", "--vary=seed=1,2,3,4,5,6,7,8,9,10,11,12", show];
    let out = folder.perhop(&sweep);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let before = folder.contents();
    let cases = [
        &[&MARK[..], &["old", "--force"]].concat(),
        &[&MARK[..], &["new"]].concat(),
        &vec!["init", "-o", "old", "--force"],
        &vec!["init", "-o", "new"],
        &vec!["man", "man1"],
        &[&sweep[..], &["--csv=old.csv"]].concat(),
        &[&sweep[..], &["--csv=new"]].concat(),
    ];
    for args in cases {
        let said = error(&folder.limited(args));
        assert!(said.contains("error[E020] cannot write") && said.contains("   help: "), "{args:?}: {said}");
        assert!(folder.contents() == before, "{args:?} left {:?}", folder.names());
    }
}

/// A file that may not be written is not replaced either. (The superuser may write all.)
#[test]
fn a_file_that_may_not_be_written_stays() {
    let folder = folder();
    fs::set_permissions(folder.path("old"), fs::Permissions::from_mode(0o440)).unwrap();
    if File::options().append(true).open(folder.path("old")).is_ok_and(|mut it| it.flush().is_ok()) {
        return;
    }
    let said = folder.refused(&[&MARK[..], &["old", "--force"]].concat());
    assert!(said.contains("error[E020] cannot write old: Permission denied"), "{said}");
}
