//! What the command line hands over to Python.

use super::{Cluster, Compare, Lab, Map, Plot, Report, Reproduce, Settings, Verb};
use crate::{Failure, show::text};
use serde_json::{Value, json};
use std::path::PathBuf;

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
    ///
    /// # Errors
    /// A path that is not UTF-8.
    pub(crate) fn of(verb: &Verb) -> Result<Option<Self>, Failure> {
        let (verb, arguments) = match verb {
            Verb::Reproduce(a) => ("reproduce", reproduce(a)?),
            Verb::Map(a) => ("map", map(a)?),
            Verb::Plot(a) => ("plot", plot(a)?),
            Verb::Report(a) => ("report", report(a)?),
            Verb::Compare(a) => ("compare", compare(a)?),
            Verb::Lab(a) => ("lab", lab(a)?),
            Verb::List(a) if a.what.as_deref() == Some("studies") => ("studies", json!({})),
            _ => return Ok(None),
        };
        Ok(Some(Self { verb, arguments }))
    }
}

fn reproduce(a: &Reproduce) -> Result<Value, Failure> {
    Ok(json!({
        "what": a.what, "quick": a.seeds.quick, "seeds": a.seeds.seeds, "seed": a.seeds.seed, "jobs": a.jobs,
        "out": text(&a.out)?,
        "strict": a.strict, "list": a.list, "readings": a.readings, "setting": a.setting, "rivals": a.rivals,
        "cluster": cluster(&a.cluster),
    }))
}

fn map(a: &Map) -> Result<Value, Failure> {
    Ok(json!({
        "what": a.what, "seeds": a.seeds, "seed": a.seed, "jobs": a.jobs, "out": text(&a.out)?, "list": a.list,
        "cluster": cluster(&a.cluster),
    }))
}

/// `null` for this machine alone.
pub(crate) fn cluster(a: &Cluster) -> Value {
    a.cluster.as_ref().map_or(Value::Null, |address| json!({ "address": address, "chunk_s": a.chunk.seconds() }))
}

fn plot(a: &Plot) -> Result<Value, Failure> {
    let output = a.output.as_deref().map(text).transpose()?;
    Ok(json!({
        "runs": texts(&a.runs)?, "kind": a.kind, "y": a.y, "x": a.x, "by": a.by, "output": output, "list": a.list,
    }))
}

fn report(a: &Report) -> Result<Value, Failure> {
    Ok(json!({ "runs": texts(&a.runs)?, "output": text(&a.output)? }))
}

fn lab(a: &Lab) -> Result<Value, Failure> {
    if a.source.settings.replications.as_ref().is_some_and(|n| n != "1") {
        return Err(Failure::Error(
            "`perhop lab` runs one replication: remove --replications, or choose it by --seed".into(),
        ));
    }
    let keep = a.keep.as_deref().map(text).transpose()?;
    Ok(json!({ "file": text(&a.source.file)?, "settings": stated(&a.source.settings), "keep": keep }))
}

/// What the command line changes, as assignments of keys.
fn stated(settings: &Settings) -> Vec<String> {
    let own = [("seed", &settings.seed), ("duration", &settings.duration), ("warmup", &settings.warmup)];
    let own = own.into_iter().filter_map(|(key, value)| value.as_ref().map(|value| format!("{key}={value}")));
    settings.set.iter().cloned().chain(own).collect()
}

fn compare(a: &Compare) -> Result<Value, Failure> {
    Ok(json!({ "a": text(&a.a)?, "b": text(&a.b)?, "metric": a.metric, "json": a.json }))
}

fn texts(paths: &[PathBuf]) -> Result<Vec<&str>, Failure> {
    paths.iter().map(|path| text(path)).collect()
}
