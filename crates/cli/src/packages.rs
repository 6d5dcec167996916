//! Algorithms of installed Python packages, by name: what their metadata says, so that no Python is started to know them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The group of entry points under which a package offers algorithms.
const GROUP: &str = "[perhop.algorithms]";

/// The first name of an algorithm that one of these texts mentions and an installed package offers. Without such packages no text
/// is looked at.
pub fn mentioned(mut texts: impl Iterator<Item = String>) -> Option<String> {
    let offered = offered();
    if offered.is_empty() {
        return None;
    }
    texts.find_map(|text| offered.iter().find(|name| mentions(&text, name)).cloned())
}

/// The names that packages offer, of the Python that this program is installed with.
fn offered() -> BTreeSet<String> {
    let metadata = folders().into_iter().flat_map(|folder| paths(&folder)).filter(|path| has_ending(path, "dist-info"));
    metadata.flat_map(|of| fs::read_to_string(of.join("entry_points.txt")).ok()).flat_map(|text| names(&text)).collect()
}

/// Where Python looks for packages: those of `PYTHONPATH`, and beside the program.
fn folders() -> Vec<PathBuf> {
    let program = std::env::current_exe().ok().and_then(|it| it.canonicalize().ok());
    let libraries = program.and_then(|it| Some(it.parent()?.parent()?.join("lib"))).into_iter();
    let versions = libraries.flat_map(|lib| paths(&lib)).filter(|path| begins(path, "python3"));
    let installed = versions.flat_map(|it| ["site-packages", "dist-packages"].map(|folder| it.join(folder)));
    let stated = std::env::var_os("PYTHONPATH").unwrap_or_default();
    std::env::split_paths(&stated).filter(|path| !path.as_os_str().is_empty()).chain(installed).collect()
}

fn paths(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|it| it == ending)
}

fn begins(path: &Path, start: &str) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(start))
}

/// The names of a group in `entry_points.txt`: lines `NAME = MODULE:CLASS`.
fn names(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim).skip_while(|line| *line != GROUP).skip(1);
    let lines = lines.take_while(|line| !line.starts_with('['));
    lines.filter_map(|line| Some(line.split_once('=')?.0.trim().to_owned())).collect()
}

/// Whether a text has a name as a whole word; names have hyphens.
fn mentions(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    text.match_indices(name).any(|(at, _)| {
        let (before, behind) = (text[..at].chars().next_back(), text[at + name.len()..].chars().next());
        !before.is_some_and(is_part) && !behind.is_some_and(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_group_alone() {
        let text = "[console_scripts]\nhalf = a:b\n\n[perhop.algorithms]\nhalf = half:Half\nby-name=own:ByName\n[other]\nx = y:z\n";
        assert_eq!(names(text), ["half", "by-name"]);
        assert!(names("[other]\nx = y:z").is_empty());
    }

    #[test]
    fn a_mention_is_a_whole_word() {
        assert!(mentions("aqm = \"half\"", "half") && mentions("half", "half") && mentions("xhalf half", "half"));
        assert!(!mentions("half-open", "half") && !mentions("behalf", "half") && !mentions("half_2", "half"));
    }
}
