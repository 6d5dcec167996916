//! Scenarios, policies and overrides: any text yields a scenario that can be written and read again, or errors with
//! their places, never a panic.

use perhop_scenario::{Diagnostics, Options, Policy, Sweep};

/// The file that overrides are applied to: it has every kind of section.
const BASE: &str = include_str!("../../crates/scenario/tests/good/every-key.toml");

fn options() -> Options {
    Options::new("file.toml")
}

/// Text, read as a scenario file.
pub fn scenario(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match Sweep::parse(text, &options()) {
        Ok((sweep, _)) => comes_back(&sweep),
        Err(found) => sound(&found, text),
    }
}

/// Text, read as a policy.
pub fn policy(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match Policy::parse(text, &options()) {
        Ok((policy, _)) => {
            let again = Policy::parse(&policy.effective(), &options()).map(|read| read.0);
            assert_eq!(again.ok().as_ref(), Some(&policy), "{}", policy.effective());
        }
        Err(found) => sound(&found, text),
    }
}

/// Lines of text, each read as an override, or as an axis of a sweep if it begins with `|`.
pub fn overrides(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let laid = text.lines().fold(options(), |options, line| match line.strip_prefix('|') {
        Some(axis) => options.vary(axis),
        None => options.set(line),
    });
    match Sweep::parse(BASE, &laid) {
        Ok((sweep, _)) => comes_back(&sweep),
        Err(found) => assert!(found.errors() > 0, "{text}"),
    }
}

/// The text written for an accepted scenario reads back as an equal one.
fn comes_back(sweep: &Sweep) {
    let text = sweep.to_toml();
    let again = Sweep::parse(&text, &options()).map(|read| read.0);
    assert_eq!(again.ok().as_ref(), Some(sweep), "{text}");
}

/// There is an error, every place lies within the file, and both forms can be written.
fn sound(found: &Diagnostics, text: &str) {
    assert!(found.errors() > 0, "{text}");
    let lines = text.lines().count().max(1);
    for diagnostic in &found.list {
        assert!(diagnostic.spot.as_ref().is_none_or(|spot| spot.line <= lines + 1 && spot.column >= 1), "{text}");
    }
    assert_eq!(found.to_json().as_array().map(Vec::len), Some(found.list.len()));
    assert!(!found.to_string().is_empty());
}
