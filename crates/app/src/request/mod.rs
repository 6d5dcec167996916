//! What a verb is asked: clap reads a request from a command line, serde from JSON.
//!
//! Decision: docs/decisions/093-one-request.md

mod capture;
mod cluster;
mod configuration;
mod files;
mod forward;
mod list;
mod results;
mod retired;
/// What is asked of a run.
pub mod run;
mod runs;
mod scenario;
/// Quantities in JSON.
mod text;
mod tune;

use perhop_core::units::UnitError;
use serde::{Deserialize, Serialize};
use std::str::FromStr;

pub use capture::{Mark, Meter, Through};
pub use cluster::Cluster;
pub(crate) use configuration::platform;
pub use configuration::{Configuration, Direction, Form, Import, Predict};
pub use files::Files;
pub use forward::Forward;
pub use list::{Init, List};
pub use results::{Compare, Look, Map, Plot, Report, Reproduce, Seeds, Variants};
pub use runs::Runs;
pub use scenario::{Check, Explain, Lab, Run, Settings, Source, Sweep, System};
pub use tune::{ByHand, Tunable, Tune};

/// A verb and what it is asked. JSON has it as `{"verb": "check", "request": {..}}`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "verb", content = "request", rename_all = "lowercase")]
pub enum Request {
    /// `check`
    Check(Check),
    /// `explain`
    Explain(Explain),
    /// `run`
    Run(Run),
    /// `sweep`
    Sweep(Sweep),
    /// `tune`
    Tune(Tune),
    /// `import`
    Import(Import),
    /// `predict`
    Predict(Predict),
    /// `mark`
    Mark(Mark),
    /// `meter`
    Meter(Meter),
    /// `forward`
    Forward(Forward),
    /// `runs`
    Runs(Runs),
    /// `list`
    List(List),
    /// `init`
    Init(Init),
}

impl Request {
    /// Its files.
    pub fn files(&self) -> &dyn Files {
        match self {
            Self::Check(request) => request,
            Self::Explain(request) => request,
            Self::Run(request) => request,
            Self::Sweep(request) => request,
            Self::Tune(request) => request,
            Self::Import(request) => request,
            Self::Predict(request) => request,
            Self::Mark(request) => request,
            Self::Meter(request) => request,
            Self::Forward(request) => request,
            Self::Runs(request) => request,
            Self::List(request) => request,
            Self::Init(request) => request,
        }
    }
}

/// A quantity with its unit.
fn quantity<T: FromStr<Err = UnitError>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: UnitError| format!("{}; {}", error.message, error.help))
}
