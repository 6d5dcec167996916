//! What a file is follows from its parsed sections, for every verb alike; one that is something else is refused in one
//! line that says just that.

use crate::command::{Folder, error};

/// Scenarios whose sections no search of lines finds.
const DOTTED: &str = r#"
scenario.duration = "3s"
scenario.warmup = "1s"
traffic.bulk = { model = "ftp", from = "a", to = "c" }
[links]
"a - b" = { rate = "10Mbit/s", delay = "1ms" }
"b - c" = { rate = "5Mbit/s", delay = "5ms", queue = "red" }
[conditioner.gold]
at = "b -> c"
kind = "token-bucket"
cir = "1Mbit/s"
cbs = "20kB"
[queue.red]
aqm = "red"
limit = "50p"
min = "5p"
max = "15p"
max-p = 0.1
"#;
const SPACED: &str = r#"
[ scenario ]
duration = "3s"
warmup = "1s"
[ links ]
"a - b" = { rate = "10Mbit/s", delay = "1ms" }
"b - c" = { rate = "5Mbit/s", delay = "5ms" }
[conditioner.gold]
at = "b -> c"
kind = "token-bucket"
cir = "1Mbit/s"
cbs = "20kB"
[ traffic . "bulk" ]
model = "ftp"
from = "a"
to = "c"
"#;
/// Policies.
const QUEUE: &str = "[queue.q]\naqm = \"red\"\nlimit = \"50p\"\nmin = \"5p\"\nmax = \"15p\"\nmax-p = 0.1\n";
const INLINE: &str = "conditioner = { all = { kind = \"token-bucket\", cir = \"1Mbit/s\", cbs = \"15kB\" } }\n";
const NAMED: &str = "policy.name = \"edge\"\n[queue.q]\nlimit = \"50p\"\n";
/// TOML of something else.
const DEVICE: &str = "hostname = \"r1\"\n[interface.ge0]\nservice-policy = \"gold\"\n";
/// The head of a pcap file.
const CAPTURE: &[u8] = b"\xd4\xc3\xb2\xa1\x02\0\x04\0\0\0\0\0\0\0\0\0\0\0\x04\0\x01\0\0\0";
const NG: &[u8] = b"\x0a\x0d\x0d\x0a\x1c\0\0\0\x4d\x3c\x2b\x1a\x01\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\x1c\0\0\0";

fn folder() -> Folder {
    Folder::with(&[
        ("dotted.toml", DOTTED.as_bytes()),
        ("spaced.toml", SPACED.as_bytes()),
        ("queue.toml", QUEUE.as_bytes()),
        ("inline.toml", INLINE.as_bytes()),
        ("named.toml", NAMED.as_bytes()),
        ("device.toml", DEVICE.as_bytes()),
        ("c.pcap", CAPTURE),
        ("c.pcapng", NG),
    ])
}

const SCENARIOS: [&str; 2] = ["dotted.toml", "spaced.toml"];
const POLICIES: [&str; 3] = ["queue.toml", "inline.toml", "named.toml"];
const OTHERS: [(&str, &str); 3] = [
    ("device.toml", "error[E248] neither a scenario nor a policy: the file has [hostname] and no section of either"),
    ("c.pcap", "error[E027] a capture where a scenario or a policy is needed"),
    ("c.pcapng", "error[E027] a capture where a scenario or a policy is needed"),
];

/// The verbs that need a scenario, before its file.
const OF_SCENARIOS: [&[&str]; 5] =
    [&["run"], &["sweep"], &["sweep", "--missing"], &["explain", "--as", "tc"], &["tune", "msvb"]];

fn run(folder: &Folder, verb: &[&str], file: &str) -> std::process::Output {
    folder.perhop(&[verb, &[file]].concat())
}

/// One error, in the first line; below it are at most its place and its help.
#[track_caller]
fn refused(out: &std::process::Output, first: &str, help: &str) {
    let said = error(out);
    assert!(said.starts_with(first), "{said}");
    assert_eq!(said.matches("error[").count(), 1, "{said}");
    assert!(said.contains(help), "{said}");
    assert!(said.contains("\n1 error, nothing was "), "{said}");
    assert!(said.lines().count() <= 7, "{said}");
}

#[test]
fn sections_make_a_scenario_however_they_are_written() {
    let folder = folder();
    for file in SCENARIOS {
        for verb in [&["check"][..], &["explain"], &["run"], &["sweep"], &["explain", "--as", "tc"]] {
            let out = run(&folder, verb, file);
            let said = String::from_utf8_lossy(&out.stderr).into_owned() + &String::from_utf8_lossy(&out.stdout);
            assert!(!said.contains("error["), "{verb:?} {file}: {said}");
        }
    }
}

#[test]
fn sections_make_a_policy_however_they_are_written() {
    let folder = folder();
    for file in POLICIES {
        let out = run(&folder, &["check"], file);
        let said = String::from_utf8_lossy(&out.stdout);
        assert!(!said.contains("error["), "{file}: {said}");
        let out = run(&folder, &["explain"], file);
        assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
        assert!(String::from_utf8_lossy(&out.stdout).contains("[policy]"));
    }
}

#[test]
fn a_policy_is_no_scenario() {
    let folder = folder();
    for file in POLICIES {
        for verb in OF_SCENARIOS {
            let out = run(&folder, verb, file);
            refused(
                &out,
                "error[E027] a policy where a scenario is needed: the file has [",
                "`perhop meter` take a policy by --policy",
            );
        }
    }
}

#[test]
fn a_scenario_is_no_policy() {
    let folder = folder();
    for file in SCENARIOS {
        for verb in [&["meter", "c.pcap", "--policy"][..], &["mark", "c.pcap", "-o", "out.pcap", "--policy"]] {
            let out = run(&folder, verb, file);
            refused(
                &out,
                "error[E027] a scenario where a policy is needed: the file has [",
                "use `perhop run` for a scenario",
            );
        }
        let out = folder.perhop(&["meter", "c.pcap", "--policy", file, "--queue", "red", "--link", "1Mbit/s"]);
        refused(&out, "error[E027] a scenario where a policy is needed", "");
    }
}

#[test]
fn what_is_neither_is_said_to_be_neither() {
    let folder = folder();
    for (file, first) in OTHERS {
        let policies = [&["meter", "c.pcap", "--policy"][..], &["mark", "c.pcap", "-o", "out.pcap", "--policy"]];
        for verb in OF_SCENARIOS.iter().chain(&policies).chain(&[&["explain"][..]]) {
            refused(&run(&folder, verb, file), first, "help: ");
        }
        let out = run(&folder, &["check"], file);
        let said = String::from_utf8_lossy(&out.stdout);
        assert_eq!((out.status.code(), said.matches("error[").count()), (Some(2), 1), "{said}");
        assert!(said.starts_with(first), "{said}");
    }
}

/// What is missing or misspelt in a file is still said of it.
#[test]
fn a_file_of_both_or_of_nothing_is_what_is_wanted() {
    let both = format!("{DOTTED}\n[policy]\nname = \"x\"\n");
    let files: [(&str, &[u8]); 3] =
        [("both.toml", both.as_bytes()), ("nothing.toml", b"# nothing\n"), ("misspelt.toml", b"[trafic.bulk]\n")];
    let folder = Folder::with(&files);
    let said = |verb: &[&str], file| error(&run(&folder, verb, file));
    assert!(said(&["run"], "both.toml").starts_with("error[E004] unknown key `policy`"));
    assert!(said(&["meter", "c.pcap", "--policy"], "both.toml").contains("unknown key `traffic`"));
    assert!(said(&["run"], "nothing.toml").contains("error[E244]"));
    assert!(said(&["meter", "c.pcap", "--policy"], "nothing.toml").starts_with("error[E245]"));
    assert!(said(&["run"], "misspelt.toml").contains("did you mean `traffic`?"));
}
