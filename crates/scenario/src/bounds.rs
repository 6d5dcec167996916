//! Bounds of what is asked of a run, the same for the command line and for Python.

use crate::text::diagnostics::Diagnostic;
use std::fmt::Display;
use std::ops::RangeInclusive;

/// The least and the most of a whole number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// What Python and the file call it.
    pub name: &'static str,
    /// The least.
    pub least: u64,
    /// The most.
    pub most: u64,
    /// Why, or what it means.
    pub why: &'static str,
}

/// Threads.
pub const JOBS: Bound = Bound {
    name: "jobs",
    least: 0,
    most: 1024,
    why: "threads, and 0 is one for each core; results do not depend on it",
};
/// Replications of each point; a directory each.
pub const REPLICATIONS: Bound =
    Bound { name: "replications", least: 1, most: 100_000, why: "an interval shrinks with the root of their number" };
/// Seeds of `reproduce` and `map`: replications of each of their points.
pub const SEEDS: Bound = Bound { name: "seeds", ..REPLICATIONS };
/// Seed.
pub const SEED: Bound =
    Bound { name: "seed", least: 0, most: i64::MAX as u64, why: "the largest integer of a TOML file" };
/// Runs of all points of one call: what is kept of each, its tables left aside, is a few hundred bytes.
pub const RUNS: Bound = Bound {
    name: "points x replications",
    least: 0,
    most: 10_000_000,
    why: "run fewer replications, or the sweep in parts",
};

/// All of them.
pub const ALL: [Bound; 5] = [JOBS, REPLICATIONS, SEEDS, SEED, RUNS];

impl Bound {
    /// As a range.
    pub const fn range(&self) -> RangeInclusive<u64> {
        self.least..=self.most
    }

    /// What is allowed, and why.
    pub fn help(&self) -> String {
        format!("{} to {}: {}", self.least, self.most, self.why)
    }

    /// E269 with what was given.
    pub fn refused(&self, given: impl Display) -> Diagnostic {
        Diagnostic::error("E269", format!("`{}` is {given}", self.name), self.help())
    }

    /// # Errors
    /// E269: the number is out of bounds.
    pub fn check(&self, given: u64) -> Result<(), Diagnostic> {
        if self.range().contains(&given) { Ok(()) } else { Err(self.refused(given)) }
    }
}
