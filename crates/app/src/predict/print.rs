//! The answer of `predict` on a terminal; with `-o`, Python draws the picture.

use super::{FilterCount, LinePrediction, NotModelled, PortFacts, Reading, Step, answer, kept_in};
use crate::request::{Plot, Predict};
use crate::terminal::show;
use crate::terminal::show::say;
use crate::{Exit, Failure, ForPython, Outcome};
use perhop_core::units::counted;
use perhop_results::prediction;
use perhop_results::summary::{grid, titled};
use perhop_runs::disk;
use perhop_scenario::text::printable;
use serde_json::{Value, json};
use std::path::Path;

/// The plot of the delays of each class.
const PICTURE: &str = "box";
/// Of the filters of a port, the most that are printed, and of the line of each so many letters.
const MOST_FILTERS: usize = 24;
const MOST_LETTERS: usize = 100;

pub(crate) fn predict(args: &Predict) -> Result<Outcome, Failure> {
    let mut gap = "";
    let (reading, lines) = answer(args, |step| match step {
        _ if args.json => {}
        Step::Read(reading) => head(reading),
        Step::Line(reading, line) => {
            let rows = prediction::text(&line.rows, &line.point);
            say!("{gap}{}\n\n{rows}{}", heading(args, reading, line), filter_table(line));
            gap = "\n";
        }
    })?;
    if args.json {
        say!("{}", to_json(args.all, &reading, &lines));
    }
    let last = lines.last().filter(|_| !args.all && (!args.json || args.output.is_some()));
    match last.zip(kept_in(args)) {
        Some((line, out)) => finish(args, &disk::point_dir(out, &line.point)),
        None => Ok(Outcome::Done(Exit::Fine)),
    }
}

/// What is known before anything runs.
fn head(reading: &Reading) {
    if !reading.findings.list.is_empty() {
        let findings = reading.findings.clone().by_cause();
        show::coloured(format_args!("{findings:#}\n{}\n", findings.summary()));
    }
    if !reading.not_modelled.is_empty() {
        say!("{}", table_of(&reading.not_modelled, &reading.file));
    }
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

/// What was read, what was left out, what was sent.
fn heading(args: &Predict, reading: &Reading, line: &LinePrediction) -> String {
    let Reading { file, dialect: [_, title], not_taken, .. } = reading;
    let port = |it: &PortFacts| format!("{} {}, {}", it.interface, it.direction, it.link);
    let ports: Vec<_> = line.ports.iter().map(port).collect();
    let settings = line.point.scenario.settings();
    let others =
        if not_taken.is_empty() { String::new() } else { format!(" {not_taken}: `perhop import {file}` says how.") };
    let load = match &args.load {
        Some(file) => format!("The load is that of {}.", file.display()),
        None => line.load.clone(),
    };
    let times = counted(line.replications, ["replication", "replications"]);
    let run = format!("{times} of {}, the first {} not counted.", *settings.duration, *settings.warmup);
    format!("{file}: {title}, {}.{others} {load} {run}", ports.join("; "))
}

/// Lines that no prediction knows, as far as they fit on a page.
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

/// The filters, those that took no packet among the first, and what becomes of packets that no filter takes.
fn filter_table(line: &LinePrediction) -> String {
    let mut filters: Vec<_> = line.filters.iter().collect();
    let more = filters.len().saturating_sub(MOST_FILTERS);
    if more > 0 {
        filters.sort_by_key(|count| (count.packets > 0.0, count.line));
        filters.truncate(MOST_FILTERS);
    }
    let mut table = grid(&["line", "filter", "packets"]);
    for FilterCount { line, text, packets } in &filters {
        let text: String = text.chars().take(MOST_LETTERS).collect();
        table.add_row([line.to_string(), text, packets.to_string()]);
    }
    let title = "Filters, and the packets of this load that each took in a replication";
    let table = (!filters.is_empty()).then(|| titled(title, table, 2));
    let more = (more > 0).then(|| format!("{more} more took packets or none: --json has all"));
    let others = line.others.join("\n");
    let parts = [table.into_iter().chain(more).collect::<Vec<_>>().join("\n"), others];
    parts.into_iter().filter(|part| !part.is_empty()).map(|part| format!("\n\n{part}")).collect()
}

/// What is said of one line, or of all.
fn to_json(all: bool, reading: &Reading, lines: &[LinePrediction]) -> Value {
    let not_modelled =
        reading.not_modelled.iter().map(|it| json!({ "line": it.line, "text": it.text, "notes": it.notes }));
    let mut whole = serde_json::Map::from_iter([
        ("dialect".to_owned(), json!(reading.dialect[0])),
        ("findings".to_owned(), reading.findings.to_json()),
        ("not_modelled".to_owned(), not_modelled.collect()),
    ]);
    let mut lines: Vec<_> = lines.iter().map(of_line).collect();
    match lines.pop() {
        Some(Value::Object(line)) if !all => whole.extend(line),
        last => _ = whole.insert("predictions".to_owned(), lines.into_iter().chain(last).collect()),
    }
    whole.into()
}

fn of_line(line: &LinePrediction) -> Value {
    let port = |it: &PortFacts| json!({ "interface": it.interface, "direction": it.way, "behind": it.behind, "link_bit_s": it.link.bit_s() });
    let filter = |count: &FilterCount| json!({ "line": count.line, "packets": count.packets });
    let mut ports = line.ports.iter().map(port);
    json!({
        "port": ports.next(),
        "back": ports.next(),
        "load": line.load,
        "scenario": line.scenario,
        "result_hash": line.result_hash,
        "rows": line.rows.to_json(0),
        "filters": line.filters.iter().map(filter).collect::<Vec<_>>(),
        "others": line.others,
    })
}
