//! Names that a key of a sweep cannot have: those of the columns of results, which stand beside it.
//!
//! `columns.txt` lists them; `make renew WHAT=columns` writes it from the tables' own declarations.

use std::collections::BTreeMap;
use std::sync::OnceLock;

/// A line for each name: where it is, as `summary.class`.
const COLUMNS: &str = include_str!("columns.txt");
/// What `--csv` appends to the name of a measure.
pub const IN_CSV: [&str; 3] = ["_ci95", "_low", "_high"];

/// The columns of results that have a name, as `summary.class`; none if it is free.
pub fn columns(name: &str) -> &'static [&'static str] {
    static KNOWN: OnceLock<BTreeMap<&str, Vec<&str>>> = OnceLock::new();
    let known = KNOWN.get_or_init(|| COLUMNS.lines().filter_map(of_line).collect());
    let measure = IN_CSV.iter().find_map(|ending| name.strip_suffix(ending));
    known.get(name).or_else(|| known.get(measure?)).map_or(&[], Vec::as_slice)
}

fn of_line(line: &'static str) -> Option<(&'static str, Vec<&'static str>)> {
    let (name, places) = line.split_once(' ')?;
    Some((name, places.split(' ').collect()))
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
