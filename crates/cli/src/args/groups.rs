//! `perhop --help`: the verbs by what they are for.

use super::Verb;
use clap::builder::{StyledStr, Styles};
use clap::{Command, Subcommand};
use std::fmt::Write;

/// Every verb stands in one group; groups and verbs are in the order of [`Verb`].
pub const GROUPS: [(&str, &[&str]); 7] = [
    ("Scenarios", &["init", "check", "explain", "run", "sweep", "lab", "tune"]),
    ("Configurations", &["import", "predict"]),
    ("Captures", &["mark", "meter"]),
    ("Interfaces", &["forward"]),
    ("Results", &["runs", "plot", "report", "compare"]),
    ("Papers", &["reproduce", "map"]),
    ("Help", &["list", "completions", "man"]),
];

/// What clap's own list of commands is replaced by.
pub(super) fn template() -> StyledStr {
    let verbs = Verb::augment_subcommands(Command::new("perhop"));
    let (styles, mut text) = (Styles::styled(), StyledStr::new());
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let _ = write!(text, "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n");
    for (group, names) in GROUPS {
        let _ = write!(text, "\n{header}{group}:{header:#}\n");
        for verb in names.iter().filter_map(|name| verbs.find_subcommand(name)) {
            let about = verb.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {literal}{:11}{literal:#}  {about}", verb.get_name());
        }
    }
    let _ = write!(text, "\n{header}Options:{header:#}\n{{options}}{{after-help}}");
    text
}
