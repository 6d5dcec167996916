//! Names that a key of a sweep cannot have: those of the columns that stand beside it. They are the tables' own.

use super::{declared, ef};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Columns that rows get wherever they are put together: whose they are, and means over replications.
const AROUND: [&str; 8] = ["point", "replication", "run", "mean", "half_width", "low", "high", "n"];
/// What `--csv` appends to the name of a measure.
pub const IN_CSV: [&str; 3] = ["_ci95", "_low", "_high"];

/// The columns of results that have a name, as `summary.class`; none if it is free.
pub fn columns(name: &str) -> &'static [String] {
    let known = KNOWN.get_or_init(known);
    let measure = IN_CSV.iter().find_map(|ending| name.strip_suffix(ending));
    known.get(name).or_else(|| known.get(measure?)).map_or(&[], Vec::as_slice)
}

static KNOWN: OnceLock<BTreeMap<String, Vec<String>>> = OnceLock::new();

fn known() -> BTreeMap<String, Vec<String>> {
    let mut known = BTreeMap::<_, Vec<_>>::new();
    let mut add = |table: &str, column: &str| {
        let shown = if table.is_empty() { column.to_owned() } else { format!("{table}.{column}") };
        known.entry(column.to_owned()).or_default().push(shown);
    };
    for table in declared() {
        table.columns.iter().for_each(|column| add(table.name, &column.name));
    }
    AROUND.iter().chain(&ef::MEASURES).for_each(|column| add("", column));
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_is_taken() {
        for name in ["class", "colour", "point", "mean", "n", "dropped_ns", "worst_at_s", "loss_percent", "e_a_ms_low"]
        {
            assert!(!columns(name).is_empty(), "{name}");
        }
        assert_eq!(columns("colour")[..2], ["summary.colour", "arrivals.colour"]);
        assert!(["load", "traffic.u.rate", "marker", "classes", "_low"].iter().all(|name| columns(name).is_empty()));
    }
}
