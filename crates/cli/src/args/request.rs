//! What the command line hands over to Python.

use super::Verb;
use serde_json::{Value, json};

/// A verb that Python carries out, with its arguments as JSON.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The verb.
    pub verb: &'static str,
    /// Its arguments by name.
    pub arguments: Value,
}

impl Request {
    /// The request that a verb makes, if Python carries it out.
    pub fn of(verb: &Verb) -> Option<Self> {
        let (verb, arguments) = match verb {
            Verb::Reproduce(a) => (
                "reproduce",
                json!({
                    "what": a.what, "quick": a.quick, "seeds": a.seeds, "seed": a.seed, "jobs": a.jobs, "out": a.out,
                    "strict": a.strict, "list": a.list, "readings": a.readings,
                }),
            ),
            Verb::Plot(a) => ("plot", json!({ "runs": a.runs, "kind": a.kind, "output": a.output, "list": a.list })),
            Verb::Report(a) => ("report", json!({ "runs": a.runs, "output": a.output })),
            Verb::Compare(a) => ("compare", json!({ "a": a.a, "b": a.b, "metric": a.metric, "json": a.json })),
            Verb::List(a) if a.what.as_deref() == Some("studies") => ("studies", json!({})),
            _ => return None,
        };
        Some(Self { verb, arguments })
    }
}
