//! `predict`: what a configuration does to traffic, by a run of the scenario that is made of it.

use crate::answer::Answer;
use crate::args::{Cli, ForPython, Predict};
use crate::configured::{self, File};
use crate::run::{hash_of, options};
use crate::watch::Terminal;
use crate::{Exit, Failure, Outcome, answer, reading, say, show};
use clap::Parser;
use perhop_config::import::Imported;
use perhop_config::stub::Stub;
use perhop_core::params::Severity;
use perhop_core::units::{Span, counted};
use perhop_runs::request::{Asked, Output, Request, Shown, Source};
use perhop_runs::run::{Replication, run as run_points};
use perhop_runs::{disk, summary};
use perhop_scenario::{Diagnostics, Point, Sweep};
use serde_json::json;
use std::path::{Path, PathBuf};

pub(crate) fn predict(args: &Predict) -> Result<Outcome, Failure> {
    let name = reading::name(&args.file);
    let bytes = reading::bytes(&args.file).map_err(|found| Failure::Error(format!("{found:#}")))?;
    let file = File::new(&name, &bytes);
    let mut imported = file.read(&args.configuration)?;
    let mut findings =
        configured::found(&file, &args.configuration, &reading::options(&args.file, &args.settings)).list;
    // Errors are why it is refused below.
    findings.retain(|it| it.severity == Severity::Warning);
    let findings = Diagnostics { list: findings };
    if !args.json && !findings.list.is_empty() {
        show::coloured(format_args!("{findings:#}\n{}\n\n", findings.summary()));
    }
    let load = args.load.as_deref().map(configured::load).transpose()?;
    let stub = imported.stub(&args.configuration.given(), load).map_err(|fault| file.refused(fault))?;
    let (request, sweep) = scenario(args, &file, &imported, &stub)?;
    let point = sweep.base_point();
    let points = std::slice::from_ref(&point);
    let answer = Answer::new(&request, points, &summary::TABLES)?;
    let terminal = Terminal::new("replications");
    let replications = run_points(points, &options(&request, &sweep)?, &terminal)?;
    terminal.clear();
    let predicted = Predicted { args, imported: &imported, stub: &stub, point: &point, replications: &replications };
    match args.json {
        true => say!("{}", predicted.json(&answer, &findings)?),
        false => {
            say!("{}\n\n{}", predicted.told(&name), answer.summary(&point, &replications.iter().collect::<Vec<_>>())?)
        }
    }
    let kept = kept_in(args).map(|out| disk::point_dir(out, &point));
    if let Some(dir) = kept.filter(|_| !args.json || args.output.is_some()) {
        return finish(args, &dir);
    }
    Ok(Outcome::Done(Exit::Fine))
}

/// Where results are kept.
fn kept_in(args: &Predict) -> Option<&Path> {
    args.out.as_deref().or_else(|| args.output.as_ref().map(|_| Path::new("runs")))
}

/// Says what to do with what is kept, or draws it.
fn finish(args: &Predict, dir: &Path) -> Result<Outcome, Failure> {
    let Some(picture) = &args.output else {
        say!("{dir}  next: perhop plot {dir}; perhop report {dir} -o report.html", dir = dir.display());
        return Ok(Outcome::Done(Exit::Fine));
    };
    let words: Vec<PathBuf> =
        ["perhop", "plot"].map(PathBuf::from).into_iter().chain([dir.into(), "-o".into(), picture.clone()]).collect();
    let cli = Cli::try_parse_from(words).map_err(|error| Failure::Error(error.to_string()))?;
    Ok(ForPython::of(&cli.verb)?.map_or(Outcome::Done(Exit::Fine), Outcome::Python))
}

/// The scenario of a configuration; what is wrong with it is said of the configuration.
fn scenario(args: &Predict, file: &File<'_>, imported: &Imported, stub: &Stub) -> Result<(Request, Sweep), Failure> {
    let options = reading::options(&args.file, &args.settings);
    let options = match warmup(args) {
        Some(warmup) => options.setting("warmup", &warmup.to_string()),
        None => options,
    };
    let source = Source { text: stub.text.clone(), options };
    let (sweep, _) = source.read().map_err(|found| {
        let list = configured::in_its_words(file, imported, stub, found);
        let found = Diagnostics { list };
        Failure::Error(format!("{found:#}\n{}, nothing was run", found.summary()))
    })?;
    let output = Output { out: kept_in(args).map(Path::to_path_buf), json: args.json, ..Output::default() };
    let asked = Asked { output, fresh: true, ..Asked::default() };
    Ok((Request { source, asked, shown: Shown::default() }, sweep))
}

/// A quarter of a duration that is given without a warm-up.
fn warmup(args: &Predict) -> Option<Span> {
    let given = args.settings.duration.as_ref().filter(|_| args.settings.warmup.is_none())?;
    given.parse::<Span>().ok().map(|duration| duration / 4)
}

/// What came of it.
struct Predicted<'a> {
    args: &'a Predict,
    imported: &'a Imported,
    stub: &'a Stub,
    point: &'a Point,
    replications: &'a [Replication],
}

impl Predicted<'_> {
    /// What was read, what was left out, what was sent.
    fn told(&self, name: &str) -> String {
        let port = self.imported.port();
        let link = self.stub.link;
        let port = format!("{} {}, {link}", port.interface.is, port.way.name());
        let settings = self.point.scenario.settings();
        let others = configured::not_taken(self.imported);
        let others =
            if others.is_empty() { String::new() } else { format!(" {others}: `perhop import {name}` says how.") };
        let load = match &self.args.load {
            Some(file) => format!("The load is that of {}.", file.display()),
            None => self.stub.load.clone(),
        };
        let times = counted(self.replications.len(), ["replication", "replications"]);
        let run = format!("{times} of {}, the first {} not counted.", *settings.duration, *settings.warmup);
        format!("{name}: {}, {port}.{others} {load} {run}", self.imported.dialect.title)
    }

    fn json(&self, answer: &Answer, findings: &Diagnostics) -> Result<serde_json::Value, Failure> {
        let rows = answer.rows(std::slice::from_ref(self.point), self.replications)?;
        let port = self.imported.port();
        Ok(json!({
            "dialect": self.imported.dialect.name,
            "port": { "interface": port.interface.is, "direction": port.way.name(), "link_bit_s": self.stub.link.bit_s() },
            "findings": findings.to_json(),
            "load": self.stub.load,
            "scenario": self.stub.text,
            "result_hash": hash_of(self.replications),
            "rows": answer::json(&rows, 0),
        }))
    }
}
