//! The table of equivalents has every word that the writers write.

use perhop_config::{as_ios, as_tc};
use perhop_scenario::{Options, Sweep};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The scenarios of examples and templates that have one point.
fn scenarios() -> Vec<Sweep> {
    let folders = ["examples", "crates/app/templates"].map(|folder| root().join(folder));
    let files = folders.iter().flat_map(|folder| folder.read_dir().unwrap()).map(|entry| entry.unwrap().path());
    let read = |path: PathBuf| Some(Sweep::load(&path, &Options::new("x.toml")).ok()?.0);
    files.filter(|path| path.extension().is_some_and(|it| it == "toml")).filter_map(read).collect()
}

/// The page as words.
fn page() -> BTreeSet<String> {
    let text = std::fs::read_to_string(root().join("docs/reference/dialects.md")).unwrap();
    let part = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    text.split(part).map(str::to_owned).collect()
}

/// A word of a dialect, not a value or a name.
fn is_word(word: &str) -> bool {
    word.len() > 1
        && word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.chars().all(|c| c.is_ascii_lowercase() || matches!(c, '_' | '-'))
}

#[test]
fn every_word_for_ios_is_in_the_table() {
    let (page, mut seen) = (page(), BTreeSet::new());
    for sweep in scenarios() {
        let Ok(ios) = as_ios::of_sweep(&sweep, as_ios::Target::default()) else { continue };
        for line in ios.lines.iter().map(|line| line.trim()) {
            // What follows these is a name.
            let named =
                ["class ", "class-map ", "policy-map ", "service-policy ", "interface ", "remark ", "ip access-list "];
            let end = named.iter().find(|start| line.starts_with(**start)).map_or(line, |start| start.trim());
            let end = end.strip_prefix("match access-group name").map_or(end, |_| "match access-group name");
            seen.extend(end.split(' ').filter(|word| is_word(word)).map(str::to_owned));
        }
    }
    let codes = ["default", "ef"];
    seen.retain(|word| !codes.contains(&word.as_str()));
    let missing: Vec<_> = seen.difference(&page).collect();
    assert!(missing.is_empty() && seen.len() > 30, "{missing:?} of {seen:?}");
}

#[test]
fn every_word_for_tc_is_in_the_table() {
    let (page, mut seen) = (page(), BTreeSet::new());
    for sweep in scenarios() {
        let ports: Vec<_> = sweep.base.common().links.iter().map(|link| link.name.clone()).collect();
        for port in ports {
            let Ok(linux) = as_tc::port_of_sweep(&sweep, &port, Some("eth0")) else { continue };
            let words = linux.commands.iter().flat_map(|it| it.argv.clone()).filter(|word| is_word(word));
            seen.extend(words);
        }
    }
    let missing: Vec<_> = seen.difference(&page).collect();
    assert!(missing.is_empty() && seen.len() > 60, "{missing:?} of {seen:?}");
}
