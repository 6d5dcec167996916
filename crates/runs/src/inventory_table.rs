//! The runs of a directory as a table for the terminal.

use super::inventory::{Inventory, Listed};
use chrono::DateTime;
use comfy_table::CellAlignment;
use perhop_core::units::counted;
use perhop_results::summary::grid;
use perhop_scenario::text::printable::printable;

/// Most values of an axis that are shown.
const MOST_VALUES: usize = 5;

/// A row for each run, the newest last.
pub fn text(inventory: &Inventory) -> String {
    let mut grid = grid(&["run", "points", "overrides", "seed", "replications", "written (UTC)", "size"]);
    inventory.runs.iter().for_each(|run| _ = grid.add_row(row(run)));
    for column in [3, 4, 6] {
        grid.column_mut(column).expect("it has seven").set_cell_alignment(CellAlignment::Right);
    }
    grid.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

fn row(run: &Listed) -> [String; 7] {
    let overrides: Vec<_> = run.identity.overrides.iter().map(String::as_str).collect();
    let cells = [
        run.address.display().to_string(),
        points(run),
        overrides.join("\n"),
        seeds(run),
        replications(run),
        when(run),
        size(run.bytes),
    ];
    cells.map(|cell| cell.lines().map(|line| printable(line).to_string()).collect::<Vec<_>>().join("\n"))
}

/// `base`, or the axes with their values, each on a line.
fn points(run: &Listed) -> String {
    let keys: Vec<_> = run.points.first().map(|p| p.labels.0.iter().map(|l| &l.0).collect()).unwrap_or_default();
    if keys.is_empty() {
        return "base".to_owned();
    }
    let axes = keys.into_iter().map(|key| format!("{key} {}", values(run, key)));
    let count = counted(run.points.len(), ["point", "points"]);
    std::iter::once(count).chain(axes).collect::<Vec<_>>().join("\n")
}

fn values(run: &Listed, key: &str) -> String {
    let mut values: Vec<&str> = Vec::new();
    for (_, value) in run.points.iter().flat_map(|p| &p.labels.0).filter(|label| label.0 == key) {
        if !values.contains(&value.as_str()) {
            values.push(value);
        }
    }
    match values.len() {
        n if n > MOST_VALUES => format!("{}, .. {} ({n} values)", values[0], values[n - 1]),
        _ => values.join(", "),
    }
}

fn seeds(run: &Listed) -> String {
    run.seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}

/// `10`, or `3 to 10` where points have different numbers.
fn replications(run: &Listed) -> String {
    let numbers = run.points.iter().map(|point| point.replications);
    match (numbers.clone().min().unwrap_or(0), numbers.max().unwrap_or(0)) {
        (least, most) if least == most => most.to_string(),
        (least, most) => format!("{least} to {most}"),
    }
}

fn when(run: &Listed) -> String {
    let time = i64::try_from(run.written_s).ok().and_then(|s| DateTime::from_timestamp(s, 0));
    time.map_or_else(String::new, |time| time.format("%Y-%m-%d %H:%M").to_string())
}

/// `24 kB`
pub(crate) fn size(bytes: u64) -> String {
    let (mut value, mut unit) = (bytes as f64, "B");
    for larger in ["kB", "MB", "GB", "TB"] {
        if value < 999.5 {
            break;
        }
        (value, unit) = (value / 1000.0, larger);
    }
    format!("{value:.0} {unit}")
}
