//! How a failure ends a process: what the terminal shows, and the exit code.

use crate::terminal::show::complain;
use crate::terminal::watch;
use crate::{Exit, Failure};
use perhop_runs::run::RunError;

impl Failure {
    /// Says why; the exit code.
    pub fn say(&self) -> Exit {
        complain!("{self:#}");
        match self {
            Self::Interrupted(_) => watch::signalled(),
            Self::Refused { .. } => Exit::Error,
        }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Interrupted { .. } => Self::Interrupted(error.to_string()),
            RunError::Algorithm { .. } if watch::has_interrupted() => Self::Interrupted(watch::NOTHING.to_owned()),
            error => error.diagnostic("--out").into(),
        }
    }
}
