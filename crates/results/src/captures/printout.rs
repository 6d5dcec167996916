//! Tables of reports as a terminal has them: columns of declared tables, and what is put together from several.

use crate::summary::NONE;
use crate::tables::column::{Column, Role, Unit};
use crate::tables::columns::{Made, Values};
use comfy_table::{CellAlignment, Table as Grid, presets};

/// A table while it is laid out: its columns from left to right.
pub(super) struct Printout<'a> {
    of: &'a Made,
    /// Heading and cells of each.
    columns: Vec<(String, Vec<String>)>,
}

impl<'a> Printout<'a> {
    /// Of the rows of a declared table. No columns yet.
    pub(super) fn of(of: &'a Made) -> Self {
        Self { of, columns: Vec::new() }
    }

    /// Columns under their headings, with the usual form of values in their units.
    pub(super) fn columns(self, names: &[&str]) -> Self {
        names.iter().fold(self, |all, name| {
            let cells = usual(all.of.table.column(name), all.column(name).unit);
            all.under(name, cells)
        })
    }

    /// A column's heading over other cells.
    pub(super) fn under(self, name: &str, cells: impl IntoIterator<Item = String>) -> Self {
        let heading = heading(self.column(name));
        self.cells(heading, cells)
    }

    /// A column of numbers under what its quantity is called, in a form that states or implies the unit.
    pub(super) fn form(self, name: &str, form: impl Fn(f64) -> String) -> Self {
        let (words, values) = (self.column(name).words().into_owned(), numbers(self.of.table.column(name)));
        self.cells(words, values.into_iter().map(|value| value.map_or_else(|| NONE.into(), &form)))
    }

    /// A column in per cent of another's, under this heading.
    pub(super) fn share(self, heading: impl Into<String>, part: &str, whole: &str) -> Self {
        let [part, whole] = [part, whole].map(|name| self.of.table.integers(name));
        let cells =
            part.iter().zip(whole).map(|(part, whole)| share(part.unwrap_or(0) as u64, whole.unwrap_or(0) as u64));
        self.cells(heading, cells)
    }

    /// These cells.
    pub(super) fn cells(mut self, heading: impl Into<String>, cells: impl IntoIterator<Item = String>) -> Self {
        self.columns.push((heading.into(), cells.into_iter().collect()));
        self
    }

    /// Columns from `first_number` on are numbers. Without rows, nothing.
    pub(super) fn text(self, first_number: usize) -> String {
        self.detached(first_number).text()
    }

    /// The same without the declared table, which a million rows need not have while they are laid out.
    pub(super) fn detached(self, first_number: usize) -> Cells {
        Cells { rows: self.of.table.rows(), columns: self.columns, first_number }
    }

    fn column(&self, name: &str) -> &'a Column {
        self.of.declared.column(name).unwrap_or_else(|| panic!("{} has no column {name}", self.of.table.name))
    }
}

/// What a table consists of.
pub(super) struct Cells {
    rows: usize,
    /// Heading and cells of each.
    columns: Vec<(String, Vec<String>)>,
    first_number: usize,
}

impl Cells {
    /// Without rows, nothing.
    pub(super) fn text(self) -> String {
        if self.rows == 0 {
            return String::new();
        }
        let (headings, columns): (Vec<_>, Vec<_>) = self.columns.into_iter().unzip();
        let mut columns: Vec<_> = columns.into_iter().map(Vec::into_iter).collect();
        let mut grid = Grid::new();
        grid.load_style(presets::NOTHING).set_header(headings);
        for column in grid.column_iter_mut().skip(self.first_number) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        for _ in 0..self.rows {
            grid.add_row(columns.iter_mut().filter_map(Iterator::next));
        }
        grid.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>().join("\n")
    }
}

/// Counts have no unit but what they are called.
fn heading(column: &Column) -> String {
    if column.role == Role::Count { column.words().into_owned() } else { column.heading() }
}

fn usual(values: &Values, unit: Unit) -> Vec<String> {
    let form = |x: f64| match unit {
        Unit::BitS => mbps(x),
        Unit::Percent => format!("{x:.1}"),
        _ => format!("{x:.3}"),
    };
    let none = || NONE.to_owned();
    match values {
        Values::Integers(v) => v.iter().map(|n| n.map_or_else(none, |n| n.to_string())).collect(),
        Values::Reals(v) => v.iter().map(|x| x.map_or_else(none, form)).collect(),
        Values::Texts(v) => v.iter().map(|text| text.as_deref().map_or_else(none, str::to_owned)).collect(),
    }
}

fn numbers(values: &Values) -> Vec<Option<f64>> {
    match values {
        Values::Integers(v) => v.iter().map(|n| n.map(|n| n as f64)).collect(),
        Values::Reals(v) => v.clone(),
        Values::Texts(_) => panic!("names are no numbers"),
    }
}

/// How many rows there are, and how many of them a table has at most.
#[derive(Clone, Copy)]
pub(super) struct Rows {
    pub(super) all: usize,
    pub(super) most: usize,
}

impl Rows {
    /// The table below its title, with how many of its rows are not in it.
    pub(super) fn limited(self, table: String, what: &str, title: &str) -> String {
        let more = self.all.saturating_sub(self.most);
        let more = if more > 0 { format!("and {more} more {what}") } else { String::new() };
        if self.all == 0 { String::new() } else { joined([title.to_owned(), table, more], "\n") }
    }
}

/// The parts that are not empty.
pub(super) fn joined(parts: impl IntoIterator<Item = String>, between: &str) -> String {
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(between)
}

/// Share in per cent; `-` for nothing.
pub(super) fn share(part: u64, whole: u64) -> String {
    if part == 0 { NONE.into() } else { format!("{:.1}", part as f64 * 100.0 / whole as f64) }
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

/// Bytes with their unit.
pub(super) fn bytes(bytes: f64) -> String {
    format!("{bytes} B")
}

/// Seconds in ms.
pub(super) fn ms(seconds: f64) -> String {
    format!("{:.3}", seconds * 1e3)
}

/// Mbit/s with four digits, a power of ten where all of them were zeros.
pub(super) fn mbps(bit_s: f64) -> String {
    let rate = bit_s / 1e6;
    if rate > 0.0 && rate < 0.00005 {
        return format!("{rate:.1e}");
    }
    let decimals = [1000.0, 100.0, 10.0, 1.0].iter().filter(|bound| rate < **bound).count();
    format!("{rate:.decimals$}")
}
