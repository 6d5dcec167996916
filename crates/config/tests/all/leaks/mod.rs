//! What of a foreign text is printed: of a word that stands anywhere in it nothing, unless it is the first word of its line or a
//! name that statements of QoS use; of characters that steer a terminal nothing at all.

mod positions;
mod texts;

use perhop_config::import::{Imported, read};
use perhop_config::import_options::ImportOptions;
use perhop_core::params::steers;
use perhop_core::units::BitRate;
use perhop_scenario::{Document, Options};
use positions::{Case, MARKER, Shows, cases, put};
use std::fmt::Write as _;
use std::thread;
use texts::texts;

/// What is printed of a text.
#[derive(Debug, Default)]
struct Printed {
    /// Lines that are shown.
    lines: String,
    /// All else.
    words: String,
}

fn printed(text: &str) -> Printed {
    let given = ImportOptions { link: Some(BitRate::mbps(100)), ..ImportOptions::default() };
    let mut out = Printed::default();
    match read(text.as_bytes(), None, &given) {
        Ok(imported) => of_configuration(imported, &given, &mut out),
        Err(refused) => {
            out.lines += &refused.text.text;
            out.words += &format!("{}\n{}\n", refused.fault.message, refused.fault.help);
        }
    }
    out
}

fn of_configuration(mut imported: Imported, given: &ImportOptions, out: &mut Printed) {
    out.lines = format!("{}\n", imported.text.text);
    for finding in imported.findings(given) {
        out.words += &format!("{} {}\n{}\n", finding.code, finding.message, finding.instead);
    }
    let ports = imported.read.device.ports.len();
    for port in 0..ports {
        imported.port = port;
        let told = format!("{:?}", imported.port());
        // A scenario is made of a port alone.
        if told.contains(MARKER) || told.chars().any(steers) {
            of_port(&mut imported, given, &mut out.words);
        }
    }
    for (number, text, entry) in imported.lines() {
        let _ = writeln!(out.lines, "{text}");
        let _ = writeln!(out.words, "{number} {}", entry.notes.join("\n"));
    }
}

fn of_port(imported: &mut Imported, given: &ImportOptions, out: &mut String) {
    for stub in [imported.stub(given, None), imported.policy()] {
        match stub {
            Ok(stub) => {
                *out += &format!("{}\n{}\n", stub.text, stub.load);
                let found = Document::check(&stub.draft.made(<_>::default()), &Options::new("port.toml"));
                let found = found.map_or_else(|errors| errors, |(found, _)| found);
                found.list.iter().for_each(|it| *out += &format!("{}\n{}\n{}\n", it.sentence(), it.label, it.help));
            }
            Err(fault) => *out += &format!("{}\n{}\n", fault.message, fault.help),
        }
    }
}

/// Carries out `look` for each text, on all cores; what it finds.
fn each_text(look: impl Fn(&str) -> Vec<String> + Sync) -> Vec<String> {
    let texts = texts();
    assert!(texts.len() >= 200, "{} texts", texts.len());
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let (texts, look) = (&texts, &look);
    thread::scope(|scope| {
        let of = |core: usize| {
            move || texts.iter().skip(core).step_by(cores).flat_map(|text| look(text)).collect::<Vec<_>>()
        };
        let threads: Vec<_> = (0..cores).map(|core| scope.spawn(of(core))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    })
}

fn fail_if_any(found: &[String]) {
    let shown = found.iter().take(40).map(String::as_str).collect::<Vec<_>>().join("\n");
    assert!(found.is_empty(), "{} cases\n{shown}", found.len());
}

/// Positions of a text that are tried; all of them with `PERHOP_EVERY_POSITION=1`, which takes minutes.
const MOST: usize = 40;

#[test]
fn a_word_is_shown_as_a_first_word_or_as_a_name() {
    let every = std::env::var_os("PERHOP_EVERY_POSITION").is_some();
    let leaks = |text: &str| {
        let cases = cases(text);
        let step = if every { 1 } else { cases.len().div_ceil(MOST).max(1) };
        cases.into_iter().skip(text.len() % step).step_by(step).filter_map(|case| leak(&case)).collect()
    };
    fail_if_any(&each_text(leaks));
}

/// Where a marker is printed that should not be.
fn leak(case: &Case) -> Option<String> {
    let printed = printed(&case.text);
    let begins = |line: &str| !line.split_whitespace().skip(1).any(|word| word.contains(MARKER));
    let lines = |line: &&str| line.contains(MARKER) && !(case.shows == Shows::First && begins(line));
    let found = match case.shows {
        Shows::Name => None,
        _ => printed.lines.lines().find(lines).or_else(|| printed.words.lines().find(|line| line.contains(MARKER))),
    };
    found.map(|line| format!("{}: {}\n  of: {}", case.how, line.trim(), case.line))
}

#[test]
fn no_character_steers_a_terminal() {
    const SIGNS: [&str; 12] = [
        "\u{9b}31m",
        "\u{7f}",
        "\u{202e}",
        "\u{2066}",
        "\u{200f}",
        "\u{61c}",
        "\u{85}",
        "\u{1b}]0;x\u{7}",
        "\u{1}",
        "\u{2029}",
        "\u{2028}",
        "\u{feff}",
    ];
    let steering_lines = |text: &str| {
        let signs = SIGNS.iter().cycle();
        let of = |(at, sign): (usize, &&str)| {
            let odd = put(text, at, sign);
            let printed = printed(&odd);
            let steering = |c: char| steers(c) && !matches!(c, '\n' | '\t');
            let found = [&printed.lines, &printed.words]
                .into_iter()
                .flat_map(|it| it.lines())
                .find(|line| line.contains(steering));
            found.map(|line| format!("{sign:?}: {line:?}"))
        };
        (0..text.len()).filter(|at| text.is_char_boundary(*at)).step_by(7).zip(signs).filter_map(of).collect()
    };
    fail_if_any(&each_text(steering_lines));
}
