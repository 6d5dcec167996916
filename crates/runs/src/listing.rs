//! Rows of a sweep for a terminal: in groups by point, as wide as a page, with as many digits as the interval leaves.

use super::rows::{Row, Rows};
use super::stats::Estimate;
use super::summary::{NONE, grid, titled};
use super::unit::Unit;
use comfy_table::ContentArrangement;
use perhop_scenario::sweep::{self, Point};

/// Characters of a line; what is longer is folded within its column.
const WIDTH: u16 = 100;

/// One table for each kind of rows.
pub fn text(points: &[Point], all: &[Rows]) -> String {
    all.iter().map(|rows| table(points, rows)).collect::<Vec<_>>().join("\n\n")
}

fn table(points: &[Point], rows: &Rows) -> String {
    let axes = points.first().map_or_else(Vec::new, |point| sweep::short_keys(&point.labels));
    let unit = Unit::of(points.iter().map(|point| &point.scenario));
    let kept: Vec<_> = rows.measures.iter().map(|name| Measure::new(name, unit)).collect();
    let heads = axes.iter().cloned().chain(rows.keys.iter().cloned()).chain(kept.iter().map(|m| m.head.clone()));
    let heads: Vec<_> = heads.collect();
    let mut grid = grid(&heads.iter().map(String::as_str).collect::<Vec<_>>());
    grid.set_content_arrangement(ContentArrangement::Dynamic).set_width(WIDTH);
    let mut last: Option<&Row> = None;
    for row in &rows.rows {
        let above = last.replace(row).filter(|above| above.point == row.point);
        let label = |label: &(String, String)| if above.is_some() { String::new() } else { label.1.clone() };
        let labels = points[row.point].labels.iter().map(label);
        let names = (0..row.names.len()).map(|i| name(row, above, i));
        let values = kept.iter().zip(&row.values).map(|(measure, value)| measure.show(*value));
        grid.add_row(labels.chain(names).chain(values));
    }
    let text = titled("", grid, axes.len() + rows.keys.len());
    text.trim_start_matches('\n').to_owned()
}

/// A name, unless it and those before it stand in the row above.
fn name(row: &Row, above: Option<&Row>, i: usize) -> String {
    let last = i + 1 == row.names.len();
    let repeated = above.is_some_and(|above| above.names[..=i] == row.names[..=i]);
    if repeated && !last { String::new() } else { row.names[i].clone().unwrap_or_else(|| NONE.into()) }
}

/// How a measure is shown.
struct Measure {
    head: String,
    scale: f64,
    /// A total, not a mean.
    whole: bool,
}

impl Measure {
    /// `goodput_bit_s` in Mbit/s; what else has a unit keeps it.
    fn new(name: &str, counted: Unit) -> Self {
        let (stem, unit, scale) = match name {
            _ if name.ends_with("_bit_s") => (name.trim_end_matches("_bit_s"), "Mbit/s", 1e-6),
            _ if name.ends_with("_percent") => (name.trim_end_matches("_percent"), "%", 1.0),
            _ if name.ends_with("_ms") => (name.trim_end_matches("_ms"), "ms", 1.0),
            _ => (name, "", 1.0),
        };
        let words = match stem.split_once('.').map_or(stem, |parts| parts.1) {
            "e_a" => "E_a".to_owned(),
            "e_p" => "E_p".to_owned(),
            other => other.replace('_', " "),
        };
        let whole = matches!(name, "packets" | "dropped_packets");
        let head = format!("{words} {unit}").trim_end().to_owned();
        Self { head: counted.head_of(name, &head).into_owned(), scale, whole }
    }

    fn show(&self, value: Option<Estimate>) -> String {
        match value.map(|it| it.scaled(self.scale)) {
            None => NONE.into(),
            Some(total) if self.whole => format!("{:.0}", total.mean),
            Some(mean) => digits(mean),
        }
    }
}

/// Most decimals of a value of 0.1 or more, and of any value.
const DECIMALS: (i32, i32) = (3, 6);

/// `4.97 ±0.03`: the half-width has one digit, two if the first is 1, and the mean ends where it does, but after three
/// decimals at the latest; below 0.1 after three digits. Without an interval, or one of width 0, a mean has four digits.
pub fn digits(estimate: Estimate) -> String {
    let half = estimate.half_width().filter(|&half| half > 0.0);
    let size = rounded(estimate.mean.abs()).1;
    let decimals = match half {
        Some(half) => {
            let (first, exponent) = rounded(half);
            (i32::from(first == '1') - exponent).min(DECIMALS.0.max(2 - size))
        }
        None => 3 - size,
    };
    let decimals = decimals.clamp(0, DECIMALS.1) as usize;
    estimate.text(decimals)
}

/// A number's first digit after rounding to it, and its power of ten.
fn rounded(x: f64) -> (char, i32) {
    let text = format!("{x:.0e}");
    let exponent = text.split_once('e').and_then(|parts| parts.1.parse().ok()).unwrap_or(0);
    (text.chars().next().unwrap_or('0'), exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_decides_on_the_digits() {
        let cases = [
            (4.96789, Some(0.0345), "4.97 ±0.03"),
            (4.96789, Some(0.0145), "4.968 ±0.015"),
            (4.96789, Some(0.0995), "4.97 ±0.10"),
            (12345.6, Some(321.0), "12346 ±321"),
            (10.00001, Some(0.00007), "10.000 ±0.000"),
            (4.7361, Some(0.0009), "4.736 ±0.001"),
            (0.01234, Some(0.00003), "0.0123 ±0.0000"),
            (0.0000001, Some(0.0000002), "0.000000 ±0.000000"),
            (2.0, Some(0.0), "2.000 ±0.000"),
            (31.4159, None, "31.42"),
            (0.0, None, "0.000"),
            (123456.0, None, "123456"),
        ];
        for (mean, half_width, expected) in cases {
            assert_eq!(digits(Estimate::new(mean, half_width)), expected);
        }
    }

    #[test]
    fn measures_carry_their_unit() {
        let head = |name| Measure::new(name, Unit::of([])).head;
        assert_eq!(head("goodput_bit_s"), "goodput Mbit/s");
        assert_eq!(head("arrivals.delay_p99_ms"), "delay p99 ms");
        assert_eq!(head("summary.dropped_early_packets"), "dropped early packets");
        assert_eq!(head("loss_percent"), "loss %");
        assert_eq!(head("e_a_ms"), "E_a ms");
    }

    #[test]
    fn totals_are_whole_numbers() {
        let shown = |name, mean| Measure::new(name, Unit::of([])).show(Some(Estimate::new(mean, None)));
        assert_eq!([shown("packets", 3.0), shown("summary.dropped_packets", 3.0)], ["3", "3.000"]);
    }
}
