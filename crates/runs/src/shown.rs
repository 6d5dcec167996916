//! Which results of a sweep are shown.

use super::columns::{Table, Values};
use super::tables;
use perhop_core::params::suggest;

/// Tables without one row for each of some names: theirs are events, or times.
const NO_ROWS: [&str; 4] = ["transfers", "sessions", "series", "flow_series"];
/// Whole numbers that name a row.
const NUMBERS: [&str; 2] = ["flow", "queue"];

/// A column of results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its table.
    pub table: String,
    /// Its name there.
    pub name: String,
}

/// Reads `table.column`, one or several with commas; all of them have to be columns that results have.
///
/// # Errors
/// The first that is none, with the nearest.
pub fn columns(texts: &[String]) -> Result<Vec<Column>, String> {
    let known: Vec<_> = tables::empty().iter().flat_map(measures).collect();
    let names: Vec<_> = known.iter().map(|column| format!("{}.{}", column.table, column.name)).collect();
    let find = |text: &str| {
        let text = text.trim();
        let found = names.iter().position(|name| name == text);
        found.map(|i| known[i].clone()).ok_or_else(|| {
            let all: Vec<_> = names.iter().map(String::as_str).collect();
            let near = suggest(text, &nearest(text, &all));
            format!(
                "error[E006] `{text}` is no column of results\n   help: {near}; docs/results.md has all, written as in \
                 traffic.jain"
            )
        })
    };
    texts.iter().flat_map(|text| text.split(',')).map(find).collect()
}

/// The columns of the table that is named, or all.
fn nearest<'a>(text: &str, all: &[&'a str]) -> Vec<&'a str> {
    let table = text.split_once('.').map_or(text, |parts| parts.0);
    let of: Vec<_> = all.iter().filter(|name| name.split('.').next() == Some(table)).copied().collect();
    if of.is_empty() { all.to_vec() } else { of }
}

fn measures(table: &Table) -> Vec<Column> {
    let is_measure = |(name, values): &&(String, Values)| !is_key(name, values) && !NO_ROWS.contains(&table.name);
    let column = |(name, _): &(String, Values)| Column { table: table.name.to_owned(), name: name.clone() };
    table.columns.iter().filter(is_measure).map(column).collect()
}

/// Whether a column names rows.
pub(super) fn is_key(name: &str, values: &Values) -> bool {
    matches!(values, Values::Texts(_)) || NUMBERS.contains(&name)
}
