//! What `run` and `sweep` answer: rows of results, as a table, as CSV, as JSON.

use crate::{Failure, places, say};
use perhop_capture::Existing;
use perhop_runs::ef_shown;
use perhop_runs::request::Request;
use perhop_runs::rows::{self, Rows};
use perhop_runs::run::Replication;
use perhop_runs::shown;
use perhop_scenario::Point;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// How a request is answered, checked before anything runs.
pub(crate) struct Answer {
    columns: Vec<shown::Shown>,
    /// CSV to a file.
    file: Option<PathBuf>,
    /// The rows are all that is printed.
    pub(crate) only_csv: bool,
    /// Columns were named.
    pub(crate) named: bool,
}

impl Answer {
    /// # Errors
    /// An unknown column, and a file in no directory.
    pub(crate) fn new(request: &Request) -> Result<Self, Failure> {
        let Request { asked, shown, .. } = request;
        let columns = shown::columns(&shown.show).map_err(Failure::Error)?;
        let only_csv = shown.csv.as_deref() == Some(Path::new("-")) && !asked.output.json;
        let file = shown.csv.clone().filter(|_| !only_csv);
        if let Some(folder) = file.as_deref().and_then(Path::parent).filter(|p| !p.as_os_str().is_empty())
            && !folder.is_dir()
        {
            let help = "name a directory that exists";
            let file = file.as_deref().unwrap_or(folder).display();
            return Err(Failure::Error(format!("error[E020] cannot write {file}: no such directory\n   help: {help}")));
        }
        Ok(Self { named: !columns.is_empty(), columns, file, only_csv })
    }

    /// The rows; CSV is printed or written.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn rows(&self, points: &[Point], replications: &[Replication]) -> Result<Vec<Rows>, Failure> {
        let all = rows::rows(points, replications, &self.columns);
        let csv = || {
            let checked = ef_shown::rows(points.len(), replications);
            rows::csv(points, &all.iter().cloned().chain(checked).collect::<Vec<_>>())
        };
        if self.only_csv {
            say!("{}", csv().trim_end());
        }
        if let Some(file) = &self.file {
            places::write(file, csv().as_bytes(), Existing::Replaced)?;
        }
        Ok(all)
    }
}

/// Adds what was found of aggregates at one point, if any were asked for.
pub(crate) fn add_ef(said: &mut Value, replications: &[&Replication]) {
    let found = ef_shown::answer(replications);
    if !found.is_empty() {
        said["ef"] = found.into();
    }
}

/// The rows of one point as JSON.
pub(crate) fn json(all: &[Rows], point: usize) -> Vec<Value> {
    all.iter().flat_map(|rows| rows.to_json(point)).collect()
}
