//! Which results of a sweep are shown.

use crate::tables::column::Column;
use crate::tables::columns::Declared;
use crate::tables::{declared, ef};
use perhop_core::params::suggest;
use perhop_scenario::Diagnostic;

/// A column of results.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColumnChoice {
    /// Its table.
    pub table: &'static str,
    /// What it is.
    pub column: &'static Column,
}

impl ColumnChoice {
    /// `arrivals.delay_p99_ms`
    pub fn name(&self) -> String {
        format!("{}.{}", self.table, self.column.name)
    }
}

/// Reads `table.column`, one or several with commas; all of them have to be columns that results have.
///
/// # Errors
/// The first that is none, with the nearest.
pub fn columns(texts: &[String]) -> Result<Vec<ColumnChoice>, Diagnostic> {
    let known: Vec<_> = declared().iter().filter(|of| of.name != ef::NAME).flat_map(measures).collect();
    let names: Vec<_> = known.iter().map(ColumnChoice::name).collect();
    let find = |text: &str| {
        let text = text.trim();
        let found = names.iter().position(|name| name == text);
        found.map(|i| known[i]).ok_or_else(|| {
            let all: Vec<_> = names.iter().map(String::as_str).collect();
            let near = suggest(text, &nearest(text, &all));
            let help = format!("{near}; docs/reference/results.md has all, written as in traffic.jain");
            Diagnostic::error("E006", format!("`{text}` is no column of results"), help)
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

/// Those that have a value for each row that has a name.
fn measures(of: &'static Declared) -> impl Iterator<Item = ColumnChoice> {
    let measures = of.columns.iter().filter(|column| !of.by.is_empty() && !column.role.names());
    measures.map(|column| ColumnChoice { table: of.name, column })
}
