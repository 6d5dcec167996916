//! Configurations that this repository has: scripts and prints of the lab, examples of pages, texts of tests.

use perhop_config::import::{is_configuration, read};
use perhop_config::import_options::ImportOptions;
use perhop_config::text::Text;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Lines of a text, at most: longer ones say the same again.
const LONGEST: usize = 60;

/// All of them, each once.
pub fn texts() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut all = BTreeSet::new();
    for folder in ["lab/cells/typed", "crates/config/tests/tc", "examples"] {
        files(&root.join(folder), &["tc", "sh", "cfg", "txt"]).iter().for_each(|path| add(&mut all, &text(path)));
    }
    for folder in ["crates/config/src", "docs/guides"] {
        let fenced = |page: &str| page.split("```").skip(1).step_by(2).map(without_language).collect::<Vec<_>>();
        files(&root.join(folder), &["md"])
            .iter()
            .flat_map(|path| fenced(&text(path)))
            .for_each(|it| add(&mut all, &it));
    }
    for folder in ["crates/config/tests", "crates/config/src", "crates/cli/tests", "crates/scenario/tests"] {
        files(&root.join(folder), &["rs"])
            .iter()
            .flat_map(|path| literals(&text(path)))
            .for_each(|it| add(&mut all, &it));
    }
    all.into_iter().collect()
}

fn text(path: &Path) -> String {
    String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned()
}

fn files(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    let mut out = Vec::new();
    for path in entries {
        if path.is_dir() {
            out.extend(files(&path, endings));
        } else if path.extension().is_some_and(|it| endings.iter().any(|ending| it == *ending)) {
            out.push(path);
        }
    }
    out
}

/// What is read as a configuration.
fn add(all: &mut BTreeSet<String>, text: &str) {
    let text: Vec<_> = text.lines().take(LONGEST).collect();
    let text = text.join("\n");
    let is_read = || read(text.as_bytes(), None, &ImportOptions::default()).is_ok();
    if text.len() > 20 && !text.contains("{}") && is_configuration(&Text::new(text.as_bytes())) && is_read() {
        all.insert(text);
    }
}

fn without_language(block: &str) -> String {
    block.split_once('\n').map_or("", |(_, rest)| rest).to_owned()
}

/// The texts between quotes in a source.
fn literals(source: &str) -> Vec<String> {
    let (mut out, mut chars) = (Vec::new(), source.chars().peekable());
    while let Some(c) = chars.next() {
        match c {
            '/' if chars.peek() == Some(&'/') => _ = chars.find(|c| *c == '\n'),
            '\'' if chars.peek() == Some(&'"') => _ = chars.next(),
            '"' => out.push(literal(&mut chars)),
            _ => {}
        }
    }
    out
}

fn literal(chars: &mut impl Iterator<Item = char>) -> String {
    let mut text = String::new();
    while let Some(c) = chars.next() {
        match c {
            '"' => break,
            '\\' => match chars.next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some('\n') | None => {}
                Some(other) => text.push(other),
            },
            c => text.push(c),
        }
    }
    text
}
