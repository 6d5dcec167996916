//! Which files each request reads and writes.

use super::{
    Check, Compare, Explain, Forward, Import, Init, Lab, List, Map, Mark, Meter, Plot, Predict, Report, Reproduce, Run,
    Runs, Sweep, Tune,
};
use std::path::{Path, PathBuf};

/// The files of a request.
pub trait Files {
    /// Files that it reads; of a directory, the files of its runs.
    fn reads(&self) -> Vec<&Path> {
        Vec::new()
    }

    /// Files that it writes; directories in which it makes new files are not among them.
    fn writes(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// The file of its rows, if it has one.
    fn rows(&self) -> Option<&Path> {
        None
    }

    /// Texts that may name algorithms.
    fn texts(&self) -> Vec<&Path> {
        Vec::new()
    }
}

fn all<'a>(paths: impl IntoIterator<Item = &'a PathBuf>) -> Vec<&'a Path> {
    paths.into_iter().map(PathBuf::as_path).collect()
}

impl Files for Run {
    fn reads(&self) -> Vec<&Path> {
        vec![&self.source.file]
    }
    fn writes(&self) -> Vec<PathBuf> {
        self.shown.csv.iter().cloned().collect()
    }
    fn rows(&self) -> Option<&Path> {
        self.shown.csv.as_deref()
    }
    fn texts(&self) -> Vec<&Path> {
        self.reads()
    }
}

impl Files for Sweep {
    fn reads(&self) -> Vec<&Path> {
        vec![&self.source.file]
    }
    fn writes(&self) -> Vec<PathBuf> {
        self.shown.csv.iter().cloned().collect()
    }
    fn rows(&self) -> Option<&Path> {
        self.shown.csv.as_deref()
    }
    fn texts(&self) -> Vec<&Path> {
        self.reads()
    }
}

impl Files for Lab {
    fn reads(&self) -> Vec<&Path> {
        vec![&self.source.file]
    }
    fn writes(&self) -> Vec<PathBuf> {
        self.keep.iter().map(|dir| dir.join("scenario.json")).collect()
    }
}

impl Files for Tune {
    fn reads(&self) -> Vec<&Path> {
        all(&self.file)
    }
    fn writes(&self) -> Vec<PathBuf> {
        self.output.iter().cloned().collect()
    }
    fn texts(&self) -> Vec<&Path> {
        all(&self.file)
    }
}

impl Files for Meter {
    fn reads(&self) -> Vec<&Path> {
        all(self.inputs.iter().chain(&self.policy))
    }
    fn writes(&self) -> Vec<PathBuf> {
        self.csv.iter().cloned().collect()
    }
    fn rows(&self) -> Option<&Path> {
        self.csv.as_deref()
    }
    fn texts(&self) -> Vec<&Path> {
        all(&self.policy)
    }
}

impl Files for Mark {
    fn reads(&self) -> Vec<&Path> {
        vec![&self.input, &self.policy]
    }
    fn writes(&self) -> Vec<PathBuf> {
        vec![self.output.clone()]
    }
    fn texts(&self) -> Vec<&Path> {
        vec![&self.policy]
    }
}

impl Files for Plot {
    fn reads(&self) -> Vec<&Path> {
        all(&self.runs)
    }
    fn writes(&self) -> Vec<PathBuf> {
        self.output.iter().cloned().collect()
    }
}

impl Files for Report {
    fn reads(&self) -> Vec<&Path> {
        all(&self.runs)
    }
    fn writes(&self) -> Vec<PathBuf> {
        vec![self.output.clone()]
    }
}

impl Files for Import {
    fn reads(&self) -> Vec<&Path> {
        all(self.load.iter().chain([&self.file]))
    }
    fn writes(&self) -> Vec<PathBuf> {
        self.output.iter().cloned().collect()
    }
    fn texts(&self) -> Vec<&Path> {
        all(&self.load)
    }
}

impl Files for Predict {
    fn reads(&self) -> Vec<&Path> {
        all(self.load.iter().chain([&self.file]))
    }
    fn writes(&self) -> Vec<PathBuf> {
        self.output.iter().cloned().collect()
    }
    fn texts(&self) -> Vec<&Path> {
        all(&self.load)
    }
}

impl Files for Init {
    fn writes(&self) -> Vec<PathBuf> {
        vec![self.output.clone()]
    }
}

impl Files for Check {
    fn texts(&self) -> Vec<&Path> {
        all(&self.files)
    }
}

impl Files for Explain {
    fn texts(&self) -> Vec<&Path> {
        vec![&self.source.file]
    }
}

impl Files for Forward {
    fn reads(&self) -> Vec<&Path> {
        vec![&self.policy]
    }
    fn texts(&self) -> Vec<&Path> {
        self.reads()
    }
}

impl Files for Compare {}
impl Files for Runs {}
impl Files for Reproduce {}
impl Files for Map {}
impl Files for List {}
