//! A file as it is stated: its tree, with the overrides of the command line.

use super::selector::{self, Selector};
use crate::text::options::Options;
use crate::text::source::Sources;
use crate::text::{toml, tree};
use perhop_core::params::{Node, Place, Problems, Severity};

/// The tree of a file with its overrides.
pub fn read(text: &str, options: &Options, out: (&mut Sources, &mut Problems)) -> Option<Node> {
    let (sources, problems) = out;
    let base = sources.add(&options.file_name, text);
    if text.trim().is_empty() {
        let what = ["the file is empty", "", "`perhop list` and examples/ show what a file holds"];
        return problems.push(Severity::Error, "E009", None, what);
    }
    let mut root = toml::parse(text, base, &mut problems.list)?;
    for over in &options.overrides {
        let base = sources.add(&over.flag, &over.text);
        set(&mut root, &over.text, base, problems);
    }
    Some(root)
}

/// Applies `KEY=VALUE`, whose bytes begin at `base`; the key may be a selector.
fn set(root: &mut Node, text: &str, base: usize, problems: &mut Problems) {
    let Some((key, at)) = tree::split(text).filter(|(key, _)| selector::is_selector(key)) else {
        return tree::apply(root, text, base, problems);
    };
    let place = Place { start: base, end: base + key.len() };
    let found = Selector::parse(key, place, problems);
    let value = tree::parse_value(&text[at..], base + at, problems);
    if let (Some(selector), Some(value)) = (found, value) {
        selector.set(root, &value, problems);
    }
}
