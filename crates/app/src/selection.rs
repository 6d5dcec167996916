//! Which results `run` and `sweep` show: rows of them, as a table, as CSV, as JSON.

use crate::request::run::Request;
use crate::terminal::show::say;
use crate::{Failure, places};
use perhop_capture::Existing;
use perhop_config::tc_stats;
use perhop_results::Replication;
use perhop_results::filter::{Known, Where};
use perhop_results::rows::{self, Rows};
use perhop_results::tables::{classes, declaration};
use perhop_results::{choice, ef_shown, summary};
use perhop_scenario::Point;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Which results a request shows, and where; checked before anything runs.
pub(crate) struct Selection {
    columns: Vec<choice::ColumnChoice>,
    filter: Where,
    /// CSV to a file.
    file: Option<PathBuf>,
    /// The rows are all that is printed.
    pub(crate) only_csv: bool,
    /// Rows are printed, in place of the summary of a run.
    pub(crate) as_rows: bool,
}

impl Selection {
    /// Of a verb that prints these tables where nothing else is asked for.
    ///
    /// # Errors
    /// An unknown column, an unknown key or value of `--where`, and a file in no directory.
    pub(crate) fn new(request: &Request, points: &[Point], usual: &[&str]) -> Result<Self, Failure> {
        let Request { asked, shown, .. } = request;
        let columns = choice::columns(&shown.show)?;
        let only_csv = shown.csv.as_deref() == Some(Path::new("-")) && !asked.output.json;
        let file = shown.csv.clone().filter(|_| !only_csv);
        file.as_deref().map_or(Ok(()), places::in_a_directory)?;
        let named: Vec<_> = columns.iter().map(|column| column.table).collect();
        let tables = match (named.as_slice(), asked.output.json || shown.csv.is_some()) {
            ([], true) => &[classes::NAME],
            ([], false) => usual,
            (named, _) => named,
        };
        let as_rows = tables != summary::TABLES;
        let tables: Vec<_> = tables.iter().filter_map(|table| declaration(table)).collect();
        let filter = Where::read(&shown.filter.texts, &Known::of(points, &tables))?;
        Ok(Self { columns, filter, file, only_csv, as_rows })
    }

    /// The rows that are shown.
    ///
    /// # Errors
    /// No row is left.
    pub(crate) fn rows(&self, points: &[Point], replications: &[Replication]) -> Result<Vec<Rows>, Failure> {
        let made = rows::rows(points, replications, &self.columns);
        let all = self.filter.keep(points, made.clone());
        if self.as_rows && !self.filter.is_empty() && all.iter().all(|rows| rows.rows.is_empty()) {
            return Err(self.filter.refused(&Known::collect(points, &made)).into());
        }
        Ok(all)
    }

    /// Prints or writes rows as CSV, if that is asked for.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn write_csv(&self, points: &[Point], shown: &[Rows], checked: Option<&Rows>) -> Result<(), Failure> {
        let csv = || rows::csv(points, &shown.iter().chain(checked).cloned().collect::<Vec<_>>());
        if self.only_csv {
            say!("{}", csv().trim_end());
        }
        self.file.as_deref().map_or(Ok(()), |file| places::write(file, csv().as_bytes(), Existing::Replaced))
    }

    /// What was found of the aggregates that `--ef` asks for, at the points that are shown.
    pub(crate) fn checked(&self, points: &[Point], replications: &[Replication]) -> Option<Rows> {
        let mut rows = ef_shown::rows(points.len(), replications)?;
        rows.rows.retain(|row| self.shows(&points[row.point]));
        Some(rows)
    }

    /// Whether a point is shown.
    pub(crate) fn shows(&self, point: &Point) -> bool {
        self.filter.keeps_point(point)
    }

    /// The summary of a run.
    ///
    /// # Errors
    /// No row is left.
    pub(crate) fn summary(&self, point: &Point, replications: &[&Replication]) -> Result<String, Failure> {
        let nothing = || Failure::from(self.filter.nothing());
        summary::text(point, replications, &self.filter).ok_or_else(nothing)
    }
}

/// Adds what was found of aggregates at one point, if any were asked for.
pub(crate) fn add_ef(said: &mut Value, replications: &[&Replication]) {
    let found = ef_shown::answer(replications);
    if !found.is_empty() {
        said["ef"] = found.into();
    }
}

/// Adds the counters of ports, if they were asked for.
pub(crate) fn add_counters(said: &mut Value, replications: &[Replication]) {
    let of = |it: &Replication| {
        let rows = tc_stats::find(&it.tables).map(tc_stats::rows).unwrap_or_default();
        let row = |row: tc_stats::Row<'_>| {
            json!({ "replication": it.replication, "hop": row.hop, "object": row.object, "counter": row.counter,
                    "value": row.value })
        };
        rows.into_iter().map(row).collect::<Vec<_>>()
    };
    let found: Vec<_> = replications.iter().flat_map(of).collect();
    if !found.is_empty() {
        said["counters"] = found.into();
    }
}

/// The rows of one point as JSON.
pub(crate) fn json(all: &[Rows], point: usize) -> Vec<Value> {
    all.iter().flat_map(|rows| rows.to_json(point)).collect()
}
