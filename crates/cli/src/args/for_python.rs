//! Which verbs Python carries out.

use super::Verb;
use perhop_app::places;
use perhop_app::request::Files;
use perhop_app::{Failure, ForPython};
use serde::Serialize;
use serde_json::json;

/// What is handed over of a verb, if Python carries it out.
///
/// # Errors
/// A path that is not UTF-8; it would write what it reads.
pub(crate) fn for_python(verb: &Verb) -> Result<Option<ForPython>, Failure> {
    let request = match verb {
        Verb::Reproduce(a) => checked("reproduce", a),
        Verb::Map(a) => checked("map", a),
        Verb::Plot(a) => checked("plot", a),
        Verb::Report(a) => checked("report", a),
        Verb::Compare(a) => checked("compare", a),
        Verb::Lab(a) if a.source.settings.replications.as_ref().is_some_and(|n| n != "1") => {
            let help = "remove --replications, or choose it by --seed";
            Err(Failure::of_call(format!("`perhop lab` runs one replication: {help}"), ""))
        }
        Verb::Lab(a) => checked("lab", a),
        Verb::List(a) if a.what.as_deref() == Some("studies") => ForPython::new("studies", &json!({ "json": a.json })),
        _ => return Ok(None),
    };
    request.map(Some)
}

fn checked(verb: &'static str, request: &(impl Files + Serialize)) -> Result<ForPython, Failure> {
    places::check(request)?;
    ForPython::new(verb, request)
}
