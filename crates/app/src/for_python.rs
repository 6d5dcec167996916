//! What Python carries out: results, pictures, papers, the lab.

use crate::{Exit, Failure};
use serde::Serialize;
use serde_json::{Value, to_value};

/// The outcome of a verb.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It is done.
    Done(Exit),
    /// Python has to carry out what is left.
    Python(ForPython),
}

/// A verb that Python carries out, with its arguments as JSON.
#[derive(Clone, Debug, PartialEq)]
pub struct ForPython {
    /// The verb.
    pub verb: &'static str,
    /// Its arguments by name.
    pub arguments: Value,
}

impl ForPython {
    /// A request for a verb.
    ///
    /// # Errors
    /// A path in it is not UTF-8.
    pub fn new(verb: &'static str, request: &impl Serialize) -> Result<Self, Failure> {
        let arguments = to_value(request).map_err(|error| Failure::of_call(error.to_string(), ""))?;
        Ok(Self { verb, arguments })
    }
}
