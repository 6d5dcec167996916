//! What the command line hands over to Python.

use super::{Settings, Verb};
use crate::Failure;
use serde::{Serialize, Serializer};
use serde_json::{Value, json, to_value};

/// A verb that Python carries out, with its arguments as JSON.
#[derive(Clone, Debug, PartialEq)]
pub struct ForPython {
    /// The verb.
    pub verb: &'static str,
    /// Its arguments by name.
    pub arguments: Value,
}

impl ForPython {
    /// What is handed over of a verb, if Python carries it out.
    ///
    /// # Errors
    /// A path that is not UTF-8.
    pub(crate) fn of(verb: &Verb) -> Result<Option<Self>, Failure> {
        let (verb, arguments) = match verb {
            Verb::Reproduce(a) => ("reproduce", to_value(a)),
            Verb::Map(a) => ("map", to_value(a)),
            Verb::Plot(a) => ("plot", to_value(a)),
            Verb::Report(a) => ("report", to_value(a)),
            Verb::Compare(a) => ("compare", to_value(a)),
            Verb::Lab(a) if a.source.settings.replications.as_ref().is_some_and(|n| n != "1") => {
                let help = "remove --replications, or choose it by --seed";
                return Err(Failure::Error(format!("`perhop lab` runs one replication: {help}")));
            }
            Verb::Lab(a) => ("lab", to_value(a)),
            Verb::List(a) if a.what.as_deref() == Some("studies") => ("studies", Ok(json!({ "json": a.json }))),
            _ => return Ok(None),
        };
        Ok(Some(Self { verb, arguments: arguments.map_err(|error| Failure::Error(error.to_string()))? }))
    }
}

/// What the command line changes, as assignments of keys.
pub(super) fn assignments<S: Serializer>(settings: &Settings, serializer: S) -> Result<S::Ok, S::Error> {
    let own = [("seed", &settings.seed), ("duration", &settings.duration), ("warmup", &settings.warmup)];
    let own = own.into_iter().filter_map(|(key, value)| value.as_ref().map(|value| format!("{key}={value}")));
    settings.set.iter().cloned().chain(own).collect::<Vec<_>>().serialize(serializer)
}
