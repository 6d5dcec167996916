//! How the tables of a terminal are laid out.

use super::volume::Volume;
use comfy_table::{CellAlignment, Table, presets};

/// A table under `header`; columns from `first_number` on are numbers.
pub(super) fn new_table(header: &[&str], first_number: usize) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header.to_vec());
    for column in table.column_iter_mut().skip(first_number) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// Without rows, nothing.
pub(super) fn shown(table: &Table) -> String {
    if table.row_count() == 0 {
        return String::new();
    }
    table.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>().join("\n")
}

/// Share of bytes in per cent; `-` for nothing.
pub(super) fn share(part: Volume, total: u64) -> String {
    match part.bytes {
        0 => "-".into(),
        bytes => format!("{:.1}", bytes as f64 * 100.0 / total as f64),
    }
}

/// How many rows there are, and how many of them a table shows at most.
pub(super) struct Rows {
    pub(super) all: usize,
    pub(super) most: usize,
}

/// The table, with how many of its rows are not in it.
pub(super) fn limited(table: &Table, Rows { all, most }: Rows, what: &str, title: &str) -> String {
    let more = all.saturating_sub(most);
    let lines =
        [title.to_owned(), shown(table), if more > 0 { format!("and {more} more {what}") } else { String::new() }];
    if all == 0 { String::new() } else { lines.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join("\n") }
}

/// A rate with its unit.
pub(super) fn bit_rate(rate: f64) -> String {
    let units = [(1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")];
    match units.into_iter().find(|(scale, _)| rate >= *scale) {
        Some((scale, unit)) => format!("{:.3} {unit}", rate / scale),
        None if rate > 0.0 && rate < 1.0 => format!("{rate:.1e} bit/s"),
        None => format!("{rate:.0} bit/s"),
    }
}

/// Mbit/s with four digits, a power of ten where all of them were zeros; `-` where there is no duration.
pub(super) fn mbps(bit_s: Option<f64>) -> String {
    let Some(rate) = bit_s.map(|rate| rate / 1e6) else { return "-".into() };
    if rate > 0.0 && rate < 0.00005 {
        return format!("{rate:.1e}");
    }
    let decimals = [1000.0, 100.0, 10.0, 1.0].iter().filter(|bound| rate < **bound).count();
    format!("{rate:.decimals$}")
}
