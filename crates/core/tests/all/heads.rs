//! The head of an algorithm's file is its page: it names its source, every declared field with its default, and its
//! deviations.

use perhop_core::params::{Field, Kind, Literal};
use perhop_core::registry::{Entry, Text};
use perhop_core::{aqm, conditioner, sched};

/// The cells of the head's table rows.
fn rows(page: &str) -> Vec<Vec<&str>> {
    let lines = page.lines().filter(|line| line.starts_with('|'));
    let cells = lines.map(|line| line.trim_matches('|').split('|').map(str::trim).collect());
    cells.filter(|row: &Vec<_>| row.len() >= 4).collect()
}

/// A default as a head writes it: without quotes, whole numbers without a point, `-` for none.
fn text(default: Option<Literal>) -> String {
    match default {
        None => "-".into(),
        Some(Literal::Text(text)) => text.into(),
        Some(Literal::Integer(n)) => n.to_string(),
        Some(Literal::Float(x)) => x.to_string(),
        Some(Literal::Bool(b)) => b.to_string(),
    }
}

fn check(entry: &Entry) -> Result<(), String> {
    let page = entry.page();
    let rows = rows(&page);
    let fields = entry.parameters();
    if !page.contains("Deviations: ") {
        return Err("no line `Deviations: `".into());
    }
    if !fields.is_empty() && !page.contains("Source: ") {
        return Err("no line `Source: `".into());
    }
    if !fields.is_empty() && rows.first().is_none_or(|r| !r.starts_with(&["symbol", "field", "unit", "default"])) {
        return Err("no table | symbol | field | unit | default |".into());
    }
    for (name, field) in &fields {
        let row = rows.iter().find(|r| r[1].trim_matches('`') == name).ok_or(format!("no row of `{name}`"))?;
        let (want, says) = (text(field.default), row[3].trim_matches('`'));
        if says != want {
            return Err(format!("`{name}`: the head says {says}, the declaration {want}"));
        }
    }
    let known = |row: &&Vec<&str>| fields.iter().any(|f| row[1].trim_matches('`') == f.0);
    match rows.iter().skip(2).find(|row| !known(row)) {
        Some(row) => Err(format!("row of {}, which is not a field", row[1])),
        None => Ok(()),
    }
}

#[test]
fn every_head_names_its_fields_and_defaults() {
    let faults: Vec<String> = conditioner::LIST
        .iter()
        .chain(aqm::LIST)
        .chain(sched::LIST)
        .filter_map(|entry| check(entry).err().map(|fault| format!("{}: {fault}", entry.name)))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The check sees a missing row, a wrong default, a row too many.
#[test]
fn the_check_can_fail() {
    const FIELDS: &[Field] =
        &[Field { name: "k", doc: "", kind: Kind::Time, default: Some(Literal::Text("1s")), optional: false }];
    let head = "//! Source: here.\n//!\n//! | symbol | field | unit | default |\n//! |--|--|--|--|\n";
    let end = "//!\n//! Deviations: none.\n";
    let verdict = |rows: &str| {
        check(&Entry::new("x", "", FIELDS, Text { file: "x.rs", source: format!("{head}{rows}{end}").leak() }))
    };
    assert_eq!(verdict("//! | K | `k` | s | 1s |\n"), Ok(()));
    assert!(verdict("").is_err());
    assert!(verdict("//! | K | `k` | s | 2s |\n").is_err());
    assert!(verdict("//! | K | `k` | s | 1s |\n//! | L | `l` | s | 1s |\n").is_err());
}
