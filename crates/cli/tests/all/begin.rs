//! What helps to begin: a first scenario, examples in every `--help`, pages of codes, several files, colour, completions,
//! man pages.

use crate::command::{Folder, SCENARIO, perhop};
use clap::{CommandFactory, Parser};
use perhop::args::Cli;
use perhop::args::groups::GROUPS;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const POLICY: &str = "[conditioner.all]\nkind = \"token-bucket\"\ncir = \"1Mbit/s\"\ncbs = \"15kB\"\nred = \"drop\"\n";

const ROUTER: &str = "\
policy-map WAN-OUT
 class class-default
  shape average 8000000
interface GigabitEthernet0/0
 service-policy output WAN-OUT
";
const SHAPER: &str = "tc qdisc add dev eth0 root fq_codel\n";
const LOAD: &str = "[traffic.web]\nmodel = \"ftp\"\ntcp = \"linux\"\nfrom = \"server\"\nto = \"home\"\n";

fn folder() -> Folder {
    let capture = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures/tcp.pcap")).unwrap();
    let texts = [("policy.toml", POLICY), ("router.cfg", ROUTER), ("shaper.sh", SHAPER), ("load.toml", LOAD)];
    let texts = texts.map(|(name, text)| (name, text.as_bytes()));
    Folder::with(&[&texts[..], &[("in.pcap", &capture)]].concat())
}

fn said(out: &Output) -> String {
    String::from_utf8_lossy(&[&out.stdout[..], &out.stderr[..]].concat()).into_owned()
}

/// Examples of a verb's help.
fn examples(verb: &str) -> Vec<String> {
    let command = Cli::command();
    let help = command.find_subcommand(verb).unwrap().get_after_help().map(ToString::to_string).unwrap_or_default();
    help.lines().filter_map(|line| line.strip_prefix("  perhop ")).map(str::to_owned).collect()
}

/// Carried out by Python; its tests run them.
const PYTHONS: [&str; 6] = ["plot", "report", "compare", "reproduce", "map", "lab"];

/// They need interfaces: `forward.rs` has some.
const INTERFACES: [&str; 1] = ["forward"];

/// All examples of all verbs, as a shell runs them, in a folder where `perhop init` has been.
#[test]
fn every_example_of_every_help_runs() {
    let folder = folder();
    let command = Cli::command();
    let verbs: Vec<_> = command.get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
    let elsewhere = |verb: &str| PYTHONS.contains(&verb) || INTERFACES.contains(&verb);
    let rest = verbs.iter().filter(|verb| *verb != "init" && !elsewhere(verb));
    for verb in std::iter::once(&"init".to_owned()).chain(rest) {
        let examples = examples(verb);
        assert!(!examples.is_empty(), "`perhop {verb} --help` has no example");
        for example in examples {
            assert!(example.starts_with(verb), "{example}");
            let mut shell = Command::new("sh");
            shell.args(["-c", &format!("{} {example}", env!("CARGO_BIN_EXE_perhop"))]);
            let out = shell.current_dir(folder.path("")).output().unwrap();
            assert_eq!(out.status.code(), Some(0), "perhop {example}\n{}", said(&out));
        }
    }
    for verb in PYTHONS.into_iter().chain(INTERFACES) {
        assert!(!examples(verb).is_empty(), "`perhop {verb} --help` has no example");
        for example in examples(verb) {
            let words = std::iter::once("perhop").chain(example.split(' '));
            assert!(Cli::try_parse_from(words).is_ok(), "perhop {example}");
        }
    }
}

#[test]
fn a_first_scenario_is_sound_and_overwrites_nothing() {
    let folder = folder();
    let out = folder.perhop(&["init", "-o", "mine.toml"]);
    assert!(out.status.success() && said(&out).contains("perhop run mine.toml"), "{}", said(&out));
    let out = folder.perhop(&["check", "mine.toml"]);
    assert_eq!((out.status.code(), said(&out)), (Some(0), "mine.toml: no errors, no warnings\n".into()));
    let text = std::fs::read_to_string(folder.path("mine.toml")).unwrap();
    let commands = text.lines().filter_map(|line| line.strip_prefix("#   perhop ")).count();
    assert!(commands >= 4 && text.contains("perhop run mine.toml") && !text.contains("scenario.toml"), "{text}");
    let said = folder.refused(&["init", "-o", "mine.toml"]);
    assert!(said.contains("mine.toml exists") && said.contains("   help: "), "{said}");
    assert!(folder.refused(&["init", "-o", "none/mine.toml"]).contains("error[E020] cannot write none/mine.toml"));
}

/// Every template by its name in the help, ready to run without any message from the checks; `-` is standard output.
#[test]
fn every_template_is_sound() {
    let command = Cli::command();
    let of_init = command.find_subcommand("init").unwrap().get_arguments();
    let names = of_init.into_iter().find(|it| it.get_id() == "template").unwrap().get_possible_values();
    assert_eq!(names.len(), 6);
    let folder = folder();
    for name in &names {
        let (template, file) = (name.get_name(), format!("{}.toml", name.get_name()));
        assert!(name.get_help().is_some(), "{template} has a line in the help");
        let out = said(&folder.perhop(&["init", "--template", template, "-o", &file]));
        let verb = if template == "aqm" { "sweep" } else { "run" };
        assert_eq!(out, format!("wrote {file}; next: perhop {verb} {file}\n"));
        let out = folder.perhop(&["check", &file]);
        assert_eq!(said(&out), format!("{file}: no errors, no warnings\n"));
        let (written, printed) = (
            std::fs::read_to_string(folder.path(&file)).unwrap(),
            said(&folder.perhop(&["init", "--template", template, "-o", "-"])),
        );
        assert_eq!(written, printed.replace("scenario.toml", &file));
        let commands: Vec<_> = written.lines().filter_map(|line| line.strip_prefix("#   perhop ")).collect();
        assert!(commands.len() >= 4, "{template}: {commands:?}");
        for command in commands {
            let words = command.split("      ").next().unwrap();
            let mut shell = Command::new("sh");
            shell.args(["-c", &format!("{} {words}", env!("CARGO_BIN_EXE_perhop"))]).current_dir(folder.path(""));
            assert_eq!(shell.output().unwrap().status.code(), Some(0), "perhop {words}");
        }
    }
    let said = folder.refused(&["init", "--template", "isp"]);
    assert!(said.contains("wisp") && said.contains("office"), "{said}");
    let said = folder.refused(&["init", "wisp.toml"]);
    assert!(said.contains("`-o wisp.toml`"), "{said}");
    assert!(folder.refused(&["mark", "in.pcap", "out.pcap", "--policy", "policy.toml"]).contains("`-o out.pcap`"));
    assert!(folder.refused(&["tune", "svb", "first.toml", "--plot"]).contains("'--output'"));
}

#[test]
fn a_code_has_its_page() {
    let folder = folder();
    let page = said(&folder.perhop(&["list", "W301"]));
    assert!(page.starts_with("W301: a policer whose bucket") && !page.contains("```"), "{page}");
    for part in ["\n\nExample\n\n    [links]\n", "    warning[W301] ", "\n\nFix\n\n    -cbs = ", "\n\nSource\n\n"] {
        assert!(page.contains(part), "no {part:?} in\n{page}");
    }
    let said = said(&folder.perhop(&["list", "diagnostics"]));
    for code in perhop_app::codes::all() {
        assert!(said.contains(&format!("  {}  {}\n", code.name, code.meaning())), "{said}");
    }
    assert!(folder.refused(&["list", "w301"]).contains("did you mean `W301`?"));
}

/// A note is no warning: standard output, the exit code and JSON are as without it.
#[test]
fn a_file_that_names_no_stack_gets_a_note() {
    let folder = folder();
    let check = |text: &str, more: &[&str]| {
        std::fs::write(folder.path("file.toml"), text).unwrap();
        let out = folder.perhop(&[&["check", "file.toml"], more].concat());
        (out.status.code(), [out.stdout, out.stderr].map(|bytes| String::from_utf8(bytes).unwrap()))
    };
    let silent = "file.toml: no errors, no warnings\n";
    let noted = |text: &str| {
        let (code, [out, aside]) = check(text, &[]);
        assert_eq!((code, out.as_str()), (Some(0), silent), "{aside}");
        let lines = aside.lines().filter(|line| line.starts_with("file.toml: note: no stack is named")).count();
        assert!(lines <= 1, "{aside}");
        lines == 1
    };
    // A first link that is no bottleneck: W340 says what Linux's hosts do on one.
    let named = SCENARIO.replace("    \"5Mbit/s\"", "    \"50Mbit/s\"");
    let unnamed = named.replace("stack = \"classic\"\n", "");
    let with = |tcp: &str| named.split("tcp = ").next().unwrap().to_owned() + tcp;
    assert!(
        noted(&unnamed) && !noted(&named) && !noted(&unnamed.replace("[tcp.host]", "[tcp.host]\nrecovery = \"rack\""))
    );
    assert!(noted(&(unnamed.clone() + "[sweep]\n\"tcp.host.window\" = [20, 30]\n")));
    assert!(!noted(&(unnamed.clone() + "[sweep]\n\"tcp.host.stack\" = [\"classic\", \"linux\"]\n")));
    let (code, [out, aside]) = check(&unnamed, &["--json"]);
    assert_eq!((code, out.trim(), aside.as_str()), (Some(0), "[]", ""));
    for (tcp, expected) in
        [("", true), ("tcp = { window = 30 }", true), ("tcp = \"newreno\"", false), ("tcp = \"linux\"", false)]
    {
        assert_eq!(noted(&with(tcp)), expected, "{tcp}");
    }
}

#[test]
fn several_files_are_checked_in_one_go() {
    let folder = folder();
    std::fs::write(folder.path("ok.toml"), SCENARIO).unwrap();
    std::fs::write(folder.path("bad.toml"), SCENARIO.replace("window = 30", "windw = 30")).unwrap();
    let out = folder.perhop(&["check", "ok.toml", "policy.toml"]);
    let both = "ok.toml: no errors, no warnings\npolicy.toml: no errors, no warnings\n";
    assert_eq!((out.status.code(), said(&out).as_str()), (Some(0), both));
    let out = folder.perhop(&["check", "ok.toml", "bad.toml", "none.toml"]);
    let text = said(&out);
    assert_eq!(out.status.code(), Some(2), "{text}");
    for words in ["ok.toml: no errors", "bad.toml:31:1", "bad.toml: 1 error", "error[E007]", "3 files: 2 errors"] {
        assert!(text.contains(words), "no `{words}` in\n{text}");
    }
    let out = folder.perhop(&["check", "--json", "ok.toml", "bad.toml"]);
    let list: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!((list.as_array().unwrap().len(), &list[0]["file"]), (1, &"bad.toml".into()));
    assert!(folder.refused(&["check"]).contains("<FILES>..."));
}

#[test]
fn a_file_may_come_from_standard_input() {
    let folder = folder();
    let with = |args: &[&str], text: &str| {
        let mut child =
            perhop(args, &folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    };
    let out = with(&["check", "-"], SCENARIO);
    assert_eq!((out.status.code(), said(&out).as_str()), (Some(0), "stdin: no errors, no warnings\n"));
    let out = with(&["check", "-"], "[scenario]\nnam = 1\n");
    assert!(said(&out).contains("stdin:2:1"), "{}", said(&out));
    let nameless = SCENARIO.replace("name = \"small\"\n", "");
    let out = with(&["run", "-", "--trace", "series"], &nameless);
    assert!(out.status.success() && said(&out).contains("runs/stdin/"), "{}", said(&out));
}

#[test]
fn colour_where_it_is_wanted() {
    let folder = folder();
    std::fs::write(folder.path("bad.toml"), SCENARIO.replace("window = 30", "windw = 30")).unwrap();
    let with = |args: &[&str], set: &[(&str, &str)]| {
        let mut command = perhop(args, &folder);
        command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").env_remove("CLICOLOR").envs(set.iter().copied());
        said(&command.output().unwrap())
    };
    for verb in [&["check", "bad.toml"][..], &["run", "bad.toml"], &["list", "none"], &["explain", "bad.toml"]] {
        let always = [verb, &["--color", "always"]].concat();
        let (plain, coloured) = (with(verb, &[]), with(&always, &[]));
        assert!(!plain.contains('\u{1b}'), "not into a pipe: {plain}");
        if *verb != ["list", "none"] {
            assert!(coloured.contains("\u{1b}[1m\u{1b}[31merror[E004]\u{1b}[0m"), "{coloured:?}");
        }
        assert_eq!(perhop_app::terminal::show::plain(&coloured).to_string(), plain, "the same words");
        assert!(with(verb, &[("CLICOLOR_FORCE", "1")]) == coloured);
        let never = [verb, &["--color", "never"]].concat();
        assert_eq!(with(&never, &[("CLICOLOR_FORCE", "1")]), plain);
    }
}

/// The groups of `perhop --help`, and the verbs in each, as it prints them.
#[test]
fn every_verb_stands_in_a_group_of_the_help() {
    let verbs: Vec<_> = Cli::command().get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
    let grouped: Vec<_> = GROUPS.iter().flat_map(|group| group.1).copied().collect();
    assert_eq!(grouped, verbs, "in the order of the verbs, which is that of the man page");
    let help = said(&folder().perhop(&["--help"]));
    let mut lines = help.lines().skip_while(|line| *line != "Scenarios:");
    for (heading, names) in GROUPS {
        assert_eq!(lines.next(), Some(format!("{heading}:").as_str()), "{help}");
        for name in names {
            let line = lines.next().unwrap();
            assert!(line.starts_with(&format!("  {name} ")) && (20..=80).contains(&line.len()), "{line}");
        }
        assert_eq!(lines.next(), Some(""), "{help}");
    }
}

/// What shells complete: the script names every verb.
#[test]
fn shells_learn_every_verb() {
    let folder = folder();
    for shell in ["bash", "zsh", "fish"] {
        let script = said(&folder.perhop(&["completions", shell]));
        for verb in Cli::command().get_subcommands() {
            assert!(script.contains(verb.get_name()), "{shell}: no {}", verb.get_name());
        }
    }
    let bash = said(&folder.perhop(&["completions", "bash"]));
    std::fs::write(folder.path("perhop.bash"), bash).unwrap();
    let checked = Command::new("bash").args(["-n", "perhop.bash"]).current_dir(folder.path("")).status().unwrap();
    assert!(checked.success(), "bash reads it");
}

#[test]
fn every_verb_has_a_man_page() {
    let folder = folder();
    assert!(folder.perhop(&["man", "share/man1"]).status.success());
    for verb in Cli::command().get_subcommands() {
        let page = folder.path("share/man1").join(format!("perhop-{}.1", verb.get_name()));
        let text = std::fs::read_to_string(&page).unwrap_or_else(|e| panic!("{}: {e}", PathBuf::from(&page).display()));
        assert!(text.contains(".SH SYNOPSIS"), "{text}");
        assert!(text.contains("Examples:"), "{text}");
    }
    assert!(folder.refused(&["man", "policy.toml/man1"]).contains("error[E020] cannot write man pages"));
}
