//! Rows of a sweep for a terminal: in groups by point, as wide as a page. No number is folded, and no word of usual length.

use crate::rows::{Measure, Row, Rows};
use crate::stats::Estimate;
use crate::summary::{NONE, grid, titled};
use crate::tables::column::Role;
use crate::unit::Unit;
use comfy_table::{ColumnConstraint, ContentArrangement, Table as Grid, Width};
use perhop_scenario::sweep::{self, Point};

/// Characters of a line; what is longer is folded within its column.
const WIDTH: u16 = 100;

/// Characters of the longest word of a name that stays whole.
const WORD: u16 = 24;

/// One table for each kind of rows.
pub fn text(points: &[Point], all: &[Rows]) -> String {
    all.iter().map(|rows| table(points, rows)).collect::<Vec<_>>().join("\n\n")
}

fn table(points: &[Point], rows: &Rows) -> String {
    let axes = points.first().map_or_else(Vec::new, |point| sweep::short_keys(&point.labels));
    let unit = Unit::of(points.iter().map(|point| &point.scenario));
    let measured = rows.measures.iter().map(|measure| unit.heading(&measure.column));
    let heads = axes.iter().cloned().chain(rows.keys.iter().cloned()).chain(measured);
    let heads: Vec<_> = heads.collect();
    let mut grid = grid(&heads.iter().map(String::as_str).collect::<Vec<_>>());
    let mut last: Option<&Row> = None;
    for row in &rows.rows {
        let above = last.replace(row).filter(|above| above.point == row.point);
        let label = |label: &(String, String)| if above.is_some() { String::new() } else { label.1.clone() };
        let labels = points[row.point].labels.iter().map(label);
        let names = (0..row.names.len()).map(|i| name(row, above, i));
        let values = rows.measures.iter().zip(&row.values).map(|(measure, value)| show(measure, *value));
        grid.add_row(labels.chain(names).chain(values));
    }
    let texts = axes.len() + rows.keys.len();
    fit(&mut grid, texts);
    let text = titled("", grid, texts);
    text.trim_start_matches('\n').to_owned()
}

/// A name, unless it and those before it stand in the row above.
fn name(row: &Row, above: Option<&Row>, i: usize) -> String {
    let last = i + 1 == row.names.len();
    let repeated = above.is_some_and(|above| above.names[..=i] == row.names[..=i]);
    if repeated && !last { String::new() } else { row.names[i].as_deref().unwrap_or(NONE).to_owned() }
}

/// A value in the unit of its column's heading. A count of which there is but one value is a whole number.
pub fn show(measure: &Measure, value: Option<Estimate>) -> String {
    let (column, factor) = (&measure.column, measure.column.usual().1);
    match value {
        None => NONE.into(),
        Some(one) if column.role == Role::Count && one.half_width().is_none() => format!("{:.0}", one.mean * factor),
        Some(value) => value.scaled(factor).text(),
    }
}

/// Folds what does not fit a page: headings, and names between words. Numbers and words stay whole, if the table is then wider.
fn fit(grid: &mut Grid, texts: usize) {
    let lines = grid.lines().map(|line| line.trim_end().chars().count());
    if lines.max().unwrap_or(0) <= usize::from(WIDTH) {
        return;
    }
    let least = |grid: &Grid, i| if i < texts { longest_word(grid, i).min(WORD) } else { widest(grid, i) };
    let widths: Vec<_> = (0..grid.column_count()).map(|i| least(grid, i) + padding(grid, i)).collect();
    grid.set_content_arrangement(ContentArrangement::Dynamic).set_width(WIDTH.max(widths.iter().sum()));
    for (i, width) in widths.into_iter().enumerate() {
        let column = grid.column_mut(i).expect("it is counted");
        column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(width)));
    }
}

fn padding(grid: &Grid, column: usize) -> u16 {
    grid.column(column).expect("it is counted").padding_width()
}

fn longest_word(grid: &Grid, column: usize) -> u16 {
    let cells = grid.header().into_iter().chain(grid.row_iter()).filter_map(|row| row.cell_iter().nth(column));
    let words = cells.flat_map(|cell| cell.content().split(' ').map(|word| word.chars().count() as u16).max());
    words.max().unwrap_or(0)
}

fn widest(grid: &Grid, column: usize) -> u16 {
    let cells = grid.row_iter().filter_map(|row| row.cell_iter().nth(column));
    cells.map(|cell| cell.content().chars().count() as u16).max().unwrap_or(0)
}
