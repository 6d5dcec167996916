//! `predict`: what a configuration does to traffic, by a run of the scenario that is made of it.

use crate::ForPython;
use crate::configured::{self, File, Stated};
use crate::request::run::{Output, Request, Source, Terms, View};
use crate::request::{Plot, Predict};
use crate::run::{hash_of, options};
use crate::terminal::show;
use crate::terminal::show::say;
use crate::terminal::watch::Terminal;
use crate::{Exit, Failure, Outcome, reading};
use perhop_config::account::Verdict;
use perhop_config::finding::Fault;
use perhop_config::import::{Imported, Wire};
use perhop_config::load::ClassRow;
use perhop_config::model::Port;
use perhop_config::stub::Stub;
use perhop_core::params::Severity;
use perhop_core::units::{BitRate, Span, counted};
use perhop_results::Replication;
use perhop_results::prediction::{self, PortClass};
use perhop_results::rows::Rows;
use perhop_results::summary::{grid, titled};
use perhop_runs::disk;
use perhop_runs::run::run as run_points;
use perhop_scenario::text::printable;
use perhop_scenario::{Diagnostics, Point, Sweep};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

pub(crate) fn predict(args: &Predict) -> Result<Outcome, Failure> {
    let name = reading::name(&args.file);
    let bytes = reading::bytes(&args.file)?;
    let file = File::new(&name, &bytes, args.configuration.door);
    let mut imported = file.read_all(&args.configuration)?;
    let wires = wires(args, &imported).map_err(|fault| file.refused(fault))?;
    let mut findings =
        configured::findings(&file, &args.configuration, &reading::options(&args.file, &args.settings)).list;
    // Errors are why it is refused below.
    findings.retain(|it| it.severity == Severity::Warning);
    let findings = Diagnostics { list: findings };
    if !args.json && !findings.list.is_empty() {
        let findings = findings.clone().by_cause();
        show::coloured(format_args!("{findings:#}\n{}\n", findings.summary()));
    }
    let not_modelled = not_modelled(&imported);
    if !args.json && !not_modelled.is_empty() {
        say!("{}", table_of(&not_modelled, &name));
    }
    let mut answers = Vec::new();
    let mut kept = None;
    for (at, wire) in wires.iter().enumerate() {
        let predicted = Predicted::of(args, (&file, &mut imported), *wire)?;
        match args.json {
            true => answers.push(predicted.json(&imported)),
            false => {
                let gap = if at > 0 { "\n" } else { "" };
                let rows = prediction::text(&predicted.rows, &predicted.point);
                say!("{gap}{}\n\n{rows}{}", predicted.heading(&name, &imported), predicted.filter_table(&imported));
            }
        }
        kept = kept_in(args).map(|out| disk::point_dir(out, &predicted.point));
    }
    if args.json {
        let line = |it: &NotModelled| json!({ "line": it.line, "text": it.text, "notes": it.notes });
        let lines = not_modelled.iter().map(line).collect();
        say!("{}", whole(args.all, &imported, (&findings, lines), answers));
    }
    if let Some(dir) = kept.filter(|_| !args.all && (!args.json || args.output.is_some())) {
        return finish(args, &dir);
    }
    Ok(Outcome::Done(Exit::Fine))
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

/// What is said of one line, or of all.
fn whole(
    all: bool,
    imported: &Imported,
    (findings, not_modelled): (&Diagnostics, Vec<Value>),
    mut answers: Vec<Value>,
) -> Value {
    let dialect = imported.dialect.name;
    let said = json!({ "dialect": dialect, "findings": findings.to_json(), "not_modelled": not_modelled });
    let Value::Object(mut said) = said else { unreachable!("an object was made") };
    match (all, answers.pop()) {
        (false, Some(Value::Object(answer))) => said.extend(answer),
        (_, last) => _ = said.insert("predictions".to_owned(), answers.into_iter().chain(last).collect()),
    }
    said.into()
}

/// A line that no prediction knows.
struct NotModelled {
    line: usize,
    text: String,
    /// Why.
    notes: Vec<String>,
}

fn not_modelled(imported: &Imported) -> Vec<NotModelled> {
    let lines = imported.lines().filter(|it| it.2.verdict == Verdict::NotModelled);
    lines.map(|(line, text, entry)| NotModelled { line, text, notes: entry.notes.clone() }).collect()
}

/// These lines, as far as they fit on a page.
fn table_of(lines: &[NotModelled], name: &str) -> String {
    const SHOWN: usize = 12;
    let mut text = String::from("Not modelled, so nothing of these lines is predicted:\n");
    for NotModelled { line, text: words, notes } in lines.iter().take(SHOWN) {
        text += &format!("{line:>5}  {}\n{:7}{}\n", printable::cut(words), "", notes.join("; "));
    }
    match lines.len().saturating_sub(SHOWN) {
        0 => text,
        more => text + &format!("{:7}and {more} more: `perhop import {name}` has all\n", ""),
    }
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
    let (runs, kind, output) = (vec![dir.to_owned()], Some(PICTURE.to_owned()), Some(picture.clone()));
    ForPython::new("plot", &Plot { runs, kind, output, ..Plot::default() }).map(Outcome::Python)
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
    let (sweep, _) = source.read().map_err(|found| {
        let list = configured::in_its_words(file, imported, (stub, stated), found);
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

/// The plot of the delays of each class.
const PICTURE: &str = "box";
/// Of the filters of a port, the most that are printed, and of the line of each so many letters.
const MOST_FILTERS: usize = 24;
const MOST_LETTERS: usize = 100;

/// A line with filters, and the packets that they took.
struct FilterCount {
    line: usize,
    text: String,
    packets: f64,
}

/// What came of it.
struct Predicted<'a> {
    args: &'a Predict,
    wire: Wire,
    stub: Stub,
    point: Point,
    replications: Vec<Replication>,
    /// What each class got.
    rows: Rows,
}

impl<'a> Predicted<'a> {
    /// Runs the ports of a line.
    fn of(args: &'a Predict, (file, imported): (&File<'_>, &mut Imported), wire: Wire) -> Result<Self, Failure> {
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
        Ok(Self { args, wire, stub, point, replications, rows })
    }

    /// The ports with the rates of their links.
    fn ports<'i>(&self, imported: &'i Imported) -> Vec<(&'i Port, BitRate)> {
        let ports = &imported.read.device.ports;
        let back = self.wire.back.zip(self.stub.back).map(|(back, link)| (&ports[back], link));
        [Some((&ports[self.wire.port], self.stub.link)), back].into_iter().flatten().collect()
    }

    /// What was read, what was left out, what was sent.
    fn heading(&self, name: &str, imported: &Imported) -> String {
        let port = |(port, link): (&Port, BitRate)| format!("{} {}, {link}", port.interface.is, port.direction());
        let ports: Vec<_> = self.ports(imported).into_iter().map(port).collect();
        let settings = self.point.scenario.settings();
        let others = configured::not_taken(imported);
        let others =
            if others.is_empty() { String::new() } else { format!(" {others}: `perhop import {name}` says how.") };
        let load = match &self.args.load {
            Some(file) => format!("The load is that of {}.", file.display()),
            None => self.stub.load.clone(),
        };
        let times = counted(self.replications.len(), ["replication", "replications"]);
        let run = format!("{times} of {}, the first {} not counted.", *settings.duration, *settings.warmup);
        format!("{name}: {}, {}.{others} {load} {run}", imported.dialect.title, ports.join("; "))
    }

    /// The filters with the lines that say them and the packets that they took.
    fn filters(&self, imported: &Imported) -> Vec<FilterCount> {
        let sent = prediction::sent(&self.replications.iter().collect::<Vec<_>>());
        let texts: HashMap<_, _> = imported.lines().map(|(line, text, _)| (line, text)).collect();
        let mut by_line: BTreeMap<usize, f64> = BTreeMap::new();
        for row in &self.stub.filters {
            let packets: f64 = row.traffic.iter().filter_map(|traffic| sent.get(traffic)).sum();
            *by_line.entry(imported.text.line_of(row.place)).or_default() += packets;
        }
        let met = |(line, packets): (usize, f64)| FilterCount {
            line,
            text: texts.get(&line).cloned().unwrap_or_default(),
            packets: packets.round(),
        };
        by_line.into_iter().map(met).collect()
    }

    /// The same as a table, those that took none among the first, and what becomes of packets that no filter takes.
    fn filter_table(&self, imported: &Imported) -> String {
        let mut filters = self.filters(imported);
        let more = filters.len().saturating_sub(MOST_FILTERS);
        if more > 0 {
            filters.sort_by_key(|met| (met.packets > 0.0, met.line));
            filters.truncate(MOST_FILTERS);
        }
        let mut table = grid(&["line", "filter", "packets"]);
        for FilterCount { line, text, packets } in &filters {
            let text: String = text.chars().take(MOST_LETTERS).collect();
            table.add_row([line.to_string(), text, packets.to_string()]);
        }
        let title = "Filters, and the packets of this load that each took in a replication";
        let table = (!filters.is_empty()).then(|| titled(title, table, 2));
        let more = (more > 0).then(|| format!("{} more took packets or none: --json has all", more));
        let others = self.stub.others.join("\n");
        let parts = [table.into_iter().chain(more).collect::<Vec<_>>().join("\n"), others];
        parts.into_iter().filter(|part| !part.is_empty()).map(|part| format!("\n\n{part}")).collect()
    }

    fn json(&self, imported: &Imported) -> Value {
        let port = |(port, link): (&Port, BitRate)| {
            let behind = port.behind.as_ref().map(|name| name.is.as_str());
            json!({ "interface": port.interface.is, "direction": port.way.name(), "behind": behind, "link_bit_s": link.bit_s() })
        };
        let filter = |met: &FilterCount| json!({ "line": met.line, "packets": met.packets });
        let mut ports = self.ports(imported).into_iter().map(port);
        json!({
            "port": ports.next(),
            "back": ports.next(),
            "load": self.stub.load,
            "scenario": self.stub.text,
            "result_hash": hash_of(&self.replications),
            "rows": self.rows.to_json(0),
            "filters": self.filters(imported).iter().map(filter).collect::<Vec<_>>(),
            "others": self.stub.others,
        })
    }
}
