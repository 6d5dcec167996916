//! The list of all columns that `scenario` keeps keys of sweeps away from.

use super::{declared, ef};
use std::collections::BTreeMap;
use std::fs;

/// Columns that rows get wherever they are put together: whose they are, and means over replications.
const AROUND: [&str; 8] = ["point", "replication", "run", "mean", "half_width", "low", "high", "n"];

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../scenario/src/expand/columns.txt");

/// A line for each name: `class summary.class arrivals.class`.
fn list() -> String {
    let mut known = BTreeMap::<_, Vec<_>>::new();
    let mut add = |table: &str, column: &str| {
        let shown = if table.is_empty() { column.to_owned() } else { format!("{table}.{column}") };
        known.entry(column.to_owned()).or_default().push(shown);
    };
    for table in declared() {
        table.columns.iter().for_each(|column| add(table.name, &column.name));
    }
    AROUND.iter().chain(&ef::MEASURES).for_each(|column| add("", column));
    known.into_iter().map(|(name, places)| format!("{name} {}\n", places.join(" "))).collect()
}

#[test]
fn scenarios_know_the_names_of_all_columns() {
    let list = list();
    if std::env::var_os("PERHOP_RENEW").is_some() {
        fs::write(FILE, &list).unwrap();
    }
    assert_eq!(fs::read_to_string(FILE).unwrap(), list, "make renew WHAT=columns");
}
