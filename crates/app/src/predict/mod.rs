//! `predict`: what a configuration does to traffic, by a run of the scenario that is made of it.

/// The answer on a terminal.
mod print;

use crate::configured::{self, File, Stated};
use crate::request::Predict;
use crate::request::run::{Output, Request, Source, Terms, View};
use crate::run::{hash_of, options};
use crate::terminal::watch::Terminal;
use crate::{Failure, reading};
use perhop_config::account::Verdict;
use perhop_config::finding::Fault;
use perhop_config::import::{Imported, Wire};
use perhop_config::load::ClassRow;
use perhop_config::model::Port;
use perhop_config::stub::Stub;
use perhop_core::params::Severity;
use perhop_core::units::{BitRate, Span};
use perhop_results::Replication;
use perhop_results::prediction::{self, PortClass};
use perhop_results::rows::Rows;
use perhop_runs::run::run as run_points;
use perhop_scenario::{Diagnostics, Point, Sweep};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

pub(crate) use print::predict;

/// What is known of a configuration before anything runs.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The file's name.
    pub file: String,
    /// What it is written in: the dialect's name, and its title.
    pub dialect: [&'static str; 2],
    /// Warnings.
    pub findings: Diagnostics,
    /// Lines that no prediction knows.
    pub not_modelled: Vec<NotModelled>,
    /// How many lines were not taken, in words; empty if all were.
    pub not_taken: String,
}

/// A line that no prediction knows.
#[derive(Clone, Debug)]
pub struct NotModelled {
    /// Its number.
    pub line: usize,
    /// What it says.
    pub text: String,
    /// Why.
    pub notes: Vec<String>,
}

fn not_modelled(imported: &Imported) -> Vec<NotModelled> {
    let lines = imported.lines().filter(|it| it.2.verdict == Verdict::NotModelled);
    lines.map(|(line, text, entry)| NotModelled { line, text, notes: entry.notes.clone() }).collect()
}

/// A port of the configuration.
#[derive(Clone, Debug)]
pub struct PortFacts {
    /// Its interface.
    pub interface: String,
    /// `in` or `out`.
    pub way: &'static str,
    /// The same in words.
    pub direction: String,
    /// The port behind which it stands.
    pub behind: Option<String>,
    /// The rate of its link.
    pub link: BitRate,
}

/// A line with filters, and the packets that they took.
#[derive(Clone, Debug)]
pub struct FilterCount {
    /// Its number.
    pub line: usize,
    /// What it says.
    pub text: String,
    /// Packets of a replication.
    pub packets: f64,
}

/// What came of a line: of one port, or of both its directions.
#[derive(Clone, Debug)]
pub struct LinePrediction {
    /// The port, and that of the other direction where it was predicted, too.
    pub ports: Vec<PortFacts>,
    /// What was sent, in words.
    pub load: String,
    /// The scenario that was run.
    pub scenario: String,
    /// The same as it was read.
    pub point: Point,
    /// How often it was run.
    pub replications: usize,
    /// One hash for all of these.
    pub result_hash: String,
    /// What each class got.
    pub rows: Rows,
    /// Filters, by line.
    pub filters: Vec<FilterCount>,
    /// What becomes of packets that no filter takes.
    pub others: Vec<String>,
}

/// What is told while lines are predicted.
pub(crate) enum Step<'a> {
    /// The configuration is read.
    Read(&'a Reading),
    /// A line is predicted.
    Line(&'a Reading, &'a LinePrediction),
}

/// What a configuration does to traffic; `tell` learns of each step.
///
/// # Errors
/// What is wrong with the request, the configuration or its load; it was interrupted.
pub(crate) fn answer(
    args: &Predict,
    mut tell: impl FnMut(Step<'_>),
) -> Result<(Reading, Vec<LinePrediction>), Failure> {
    let name = reading::name(&args.file);
    let bytes = reading::bytes(&args.file)?;
    let file = File::new(&name, &bytes, args.configuration.door);
    let mut imported = file.read_all(&args.configuration)?;
    let wires = wires(args, &imported).map_err(|fault| file.refused(fault))?;
    let options = reading::options(&args.file, &args.settings);
    let mut findings = configured::findings(&file, &args.configuration, &options).list;
    // Errors are why it is refused below.
    findings.retain(|it| it.severity == Severity::Warning);
    let reading = Reading {
        file: name.clone(),
        dialect: [imported.dialect.name, imported.dialect.title],
        findings: Diagnostics { list: findings },
        not_modelled: not_modelled(&imported),
        not_taken: configured::not_taken(&imported),
    };
    tell(Step::Read(&reading));
    let mut lines = Vec::new();
    for wire in wires {
        let line = line(args, (&file, &mut imported), wire)?;
        tell(Step::Line(&reading, &line));
        lines.push(line);
    }
    Ok((reading, lines))
}

/// The ports that are predicted: one line, unless all are asked for. A load that is stated goes to one port.
fn wires(args: &Predict, imported: &Imported) -> Result<Vec<Wire>, Fault> {
    let given = args.configuration.import_options();
    let wires = imported.wires(&given)?;
    let alone = |wire: &Wire| [Some(wire.port), wire.back].into_iter().flatten().map(|port| Wire { port, back: None });
    let wires: Vec<_> = if args.load.is_some() { wires.iter().flat_map(alone).collect() } else { wires };
    if args.all || wires.len() == 1 {
        return Ok(wires);
    }
    let chosen = imported
        .chosen(&given)
        .map_err(|fault| Fault { help: format!("{}, or take all by --all", fault.help), ..fault });
    Ok(vec![Wire { port: chosen?, back: None }])
}

/// Where results are kept.
fn kept_in(args: &Predict) -> Option<&Path> {
    args.out.as_deref().or_else(|| args.output.as_ref().map(|_| Path::new("runs")))
}

/// Runs the ports of a line.
fn line(args: &Predict, (file, imported): (&File<'_>, &mut Imported), wire: Wire) -> Result<LinePrediction, Failure> {
    let given = args.configuration.import_options();
    let stated = args.load.as_deref().map(configured::load).transpose()?;
    let load = stated.as_ref().map(|it| it.load.clone());
    imported.port = wire.port;
    let stub = match wire.back {
        Some(back) => imported.stub_of_both(&given, back),
        None => imported.stub(&given, load),
    };
    let stub = stub.map_err(|fault| file.refused(fault))?;
    let (request, sweep) = scenario(args, file, imported, (&stub, stated.as_ref()))?;
    let point = sweep.base_point();
    let terminal = Terminal::new("replications");
    let replications = run_points(std::slice::from_ref(&point), &options(&request, &sweep)?, &terminal)?;
    terminal.clear();
    let row = |it: &ClassRow| {
        let ClassRow { port, name, class, call } = it.clone();
        PortClass { port, name, class, call }
    };
    let classes: Vec<_> = stub.rows.iter().map(row).collect();
    let rows = prediction::rows(&point, &replications.iter().collect::<Vec<_>>(), &classes);
    let (ports, filters) = (ports(imported, wire, &stub), filters(imported, &stub, &replications));
    let Stub { text: scenario, load, others, .. } = stub;
    let (result_hash, replications) = (hash_of(&replications), replications.len());
    Ok(LinePrediction { ports, load, scenario, point, replications, result_hash, rows, filters, others })
}

/// The ports with the rates of their links.
fn ports(imported: &Imported, wire: Wire, stub: &Stub) -> Vec<PortFacts> {
    let ports = &imported.read.device.ports;
    let back = wire.back.zip(stub.back).map(|(back, link)| (&ports[back], link));
    let facts = |(port, link): (&Port, BitRate)| PortFacts {
        interface: port.interface.is.clone(),
        way: port.way.name(),
        direction: port.direction(),
        behind: port.behind.as_ref().map(|name| name.is.clone()),
        link,
    };
    [Some((&ports[wire.port], stub.link)), back].into_iter().flatten().map(facts).collect()
}

/// The filters with the lines that say them and the packets that they took.
fn filters(imported: &Imported, stub: &Stub, replications: &[Replication]) -> Vec<FilterCount> {
    let sent = prediction::sent(&replications.iter().collect::<Vec<_>>());
    let texts: HashMap<_, _> = imported.lines().map(|(line, text, _)| (line, text)).collect();
    let mut by_line: BTreeMap<usize, f64> = BTreeMap::new();
    for row in &stub.filters {
        let packets: f64 = row.traffic.iter().filter_map(|traffic| sent.get(traffic)).sum();
        *by_line.entry(imported.text.line_of(row.place)).or_default() += packets;
    }
    let count = |(line, packets): (usize, f64)| FilterCount {
        line,
        text: texts.get(&line).cloned().unwrap_or_default(),
        packets: packets.round(),
    };
    by_line.into_iter().map(count).collect()
}

/// The scenario of a configuration; what is wrong with it is said of the configuration, or of the load.
fn scenario(
    args: &Predict,
    file: &File<'_>,
    imported: &Imported,
    (stub, stated): (&Stub, Option<&Stated>),
) -> Result<(Request, Sweep), Failure> {
    let options = reading::options(&args.file, &args.settings);
    let options = match warmup(args) {
        Some(warmup) => options.setting("warmup", &warmup.to_string()),
        None => options,
    };
    // Quantiles of classes of several colours are made from it.
    let options = options.set("scenario.delay-histogram=true");
    let source = Source { text: stub.text.clone(), options };
    let (sweep, _) = source.read().map_err(|_| {
        let list = configured::check(file, imported, (stub, stated), &source.options());
        Failure::Refused { found: Diagnostics { list }, therefore: "nothing was run" }
    })?;
    let output = Output { out: kept_in(args).map(Path::to_path_buf), json: args.json, ..Output::default() };
    let asked = Terms { output, fresh: true, ..Terms::default() };
    Ok((Request { source, asked, shown: View::default() }, sweep))
}

/// A quarter of a duration that is given without a warm-up.
fn warmup(args: &Predict) -> Option<Span> {
    let given = args.settings.duration.as_ref().filter(|_| args.settings.warmup.is_none())?;
    given.parse::<Span>().ok().map(|duration| duration / 4)
}
