//! Why a verb gives no answer.

use perhop_scenario::{Diagnostic, Diagnostics};
use std::fmt;

/// Why a verb could not be carried out. Plain with `{}`, in colour with `{:#}`.
#[derive(Debug)]
pub enum Failure {
    /// Something is wrong.
    Refused {
        /// Everything that is.
        found: Diagnostics,
        /// What did not happen because of it, if that is said.
        therefore: &'static str,
    },
    /// A signal: Ctrl-C and its kind.
    Interrupted(String),
}

impl Failure {
    /// One error, of no place in a file.
    pub fn error(code: &'static str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Diagnostic::error(code, message, help).into()
    }

    /// An error of how perhop was called, which has no page.
    pub fn of_call(message: impl Into<String>, help: impl Into<String>) -> Self {
        Diagnostic::of_call(message, help).into()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (found, therefore) = match self {
            Self::Refused { found, therefore } => (found, *therefore),
            Self::Interrupted(message) => return f.write_str(message),
        };
        let text = if f.alternate() { format!("{found:#}") } else { found.to_string() };
        match therefore {
            "" => f.write_str(text.trim_end()),
            therefore => write!(f, "{text}\n{}, {therefore}", found.summary()),
        }
    }
}

impl From<Diagnostics> for Failure {
    fn from(found: Diagnostics) -> Self {
        Self::Refused { found, therefore: "" }
    }
}

impl From<Diagnostic> for Failure {
    fn from(found: Diagnostic) -> Self {
        Diagnostics::from(found).into()
    }
}
