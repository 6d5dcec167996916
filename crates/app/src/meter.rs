//! `meter`: captures, each on its own, and their total.

use crate::mark::{Asker, Verb, flow_timeout, input_name, json, marking};
use crate::places::{self, in_a_directory};
use crate::reading::options_of_policy;
use crate::request::Meter;
use crate::terminal::show::{complain, say};
use crate::{Exit, Failure};
use perhop_capture::Existing;
use perhop_capture::mark::{self, By, Group, Groups, Marking, Part, Report, RoundTripsOf, Total};
use perhop_results::captures::{self, Tables};
use perhop_results::rows::record;
use perhop_scenario::Diagnostic;
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;

/// Rows of CSV that are made at a time: of a million flows not all at once.
const ROWS: usize = 4096;

pub(crate) fn meter(args: &Meter) -> Result<Exit, Failure> {
    args.csv.as_deref().map_or(Ok(()), in_a_directory)?;
    let metering = Metering::new(args, Asker::terminal())?;
    let mut show = |answer: CaptureAnswer| {
        if !metering.only_csv() {
            say!("{}", answer.text);
        }
    };
    let mut exit = Exit::Fine;
    let mut skip = |failure: Failure| {
        exit = failure.say();
        Ok(())
    };
    let parts = metering.all(&mut show, &mut skip)?;
    if let Some(file) = &args.csv {
        let csv = metering.csv(&parts);
        match metering.only_csv() {
            true => say!("{}", csv.trim_end()),
            false => places::write(file, csv.as_bytes(), Existing::Replaced)?,
        }
    }
    Ok(exit)
}

/// The answer of each capture, then that of all.
///
/// # Errors
/// What is wrong with the request, the policy or a capture; it was interrupted.
pub fn reports(args: &Meter, asker: Asker<'_>) -> Result<Vec<CaptureAnswer>, Failure> {
    let mut answers = Vec::new();
    Metering::new(args, asker)?.all(&mut |answer| answers.push(answer), &mut Err)?;
    Ok(answers)
}

/// What is said of a capture, or of all.
pub struct CaptureAnswer {
    /// As it is printed: JSON, if that is asked for.
    pub text: String,
    /// The tables of a capture.
    pub tables: Option<Tables>,
}

/// A capture that has been read.
pub(crate) struct Read<'a> {
    input: &'a Path,
    part: Part,
}

/// Captures on their way through the same conditioners.
pub(crate) struct Metering<'a> {
    args: &'a Meter,
    asker: Asker<'a>,
    marking: Marking,
    by: Option<By>,
}

/// The report of a capture.
#[derive(Serialize)]
struct Whole<'a> {
    file: &'a str,
    #[serde(flatten)]
    report: &'a Report,
}

/// The same with packets in groups in place of conditioners and flows.
#[derive(Serialize)]
struct Grouped<'a> {
    file: &'a str,
    #[serde(flatten)]
    capture: &'a mark::CaptureReport,
    #[serde(flatten)]
    directions: mark::Directions,
    by: &'static str,
    rows: &'a Groups,
    warnings: &'a [String],
}

#[derive(Serialize)]
struct Together<'a> {
    total: &'a Total,
}

impl<'a> Metering<'a> {
    pub(crate) fn new(args: &'a Meter, asker: Asker<'a>) -> Result<Self, Failure> {
        unsuited(args).map_or(Ok(()), |what| Err(Failure::from(what.at(args.through.door))))?;
        let by = args.by.or(args.csv.is_some().then_some(By::Flow));
        Ok(Self { args, asker, marking: metering(args, asker)?, by })
    }

    fn only_csv(&self) -> bool {
        self.args.csv.as_deref() == Some(Path::new("-"))
    }

    /// Reads all of them and shows each, then the total of several. `skip` may pass over one of several that cannot be read.
    pub(crate) fn all(
        &self,
        show: &mut dyn FnMut(CaptureAnswer),
        skip: &mut dyn FnMut(Failure) -> Result<(), Failure>,
    ) -> Result<Vec<Read<'a>>, Failure> {
        let several = self.args.inputs.len() > 1;
        let mut parts = Vec::new();
        for input in &self.args.inputs {
            match self.one(input, show) {
                Ok(part) => parts.push(Read { input, part }),
                Err(failure @ Failure::Refused { .. }) if several => skip(failure)?,
                Err(failure) => return Err(failure),
            }
            if self.asker.has_interrupted() {
                break;
            }
        }
        if several {
            let each: Vec<_> = parts.iter().map(|read| read.part.clone()).collect();
            let total = Total::new(&each, self.by);
            let (is_json, top) = (self.args.through.json, self.args.top);
            let text = if is_json { json(&Together { total: &total })? } else { captures::total(&total, top) };
            show(CaptureAnswer { text, tables: None });
        }
        Ok(parts)
    }

    fn one(&self, input: &'a Path, show: &mut dyn FnMut(CaptureAnswer)) -> Result<Part, Failure> {
        let (verb, through) = (self.verb(input), &self.args.through);
        let report = verb.read(mark::meter(input, self.marking.clone(), &verb.pump(through)))?;
        let (groups, file) = (self.by.map(|by| Arc::new(report.groups(by))), input_name(input));
        if !through.json {
            let place = if self.args.inputs.len() > 1 { format!("{file}: ") } else { String::new() };
            report.warnings.iter().for_each(|warning| complain!("warning: {place}{warning}"));
        }
        let text = match (&groups, through.json) {
            (None, true) => json(&Whole { file: &file, report: &report })?,
            (Some(rows), true) => {
                let (capture, warnings, by) = (&report.capture, &report.warnings, rows.by.name());
                json(&Grouped { file: &file, capture, directions: report.directions, by, rows, warnings })?
            }
            (None, false) => self.headed(&file, captures::text(&report, through.flows)),
            (Some(rows), false) => self.headed(&file, captures::text_of_groups(&report, rows, self.args.top)),
        };
        let part = Part::new(&report, groups.clone());
        show(CaptureAnswer {
            text,
            tables: Some(groups.map_or_else(|| Tables::Whole(Box::new(report)), Tables::Groups)),
        });
        Ok(part)
    }

    fn verb(&self, input: &'a Path) -> Verb<'a> {
        Verb { name: "meter", not_done: "metered", input, asker: self.asker, door: self.args.through.door }
    }

    /// The text of one capture, with its name above it and a line below it if there are several.
    fn headed(&self, file: &str, text: String) -> String {
        if self.args.inputs.len() > 1 { format!("{file}\n{text}\n") } else { text }
    }

    /// The groups of all captures, with the name of each.
    fn csv(&self, parts: &[Read<'_>]) -> String {
        let mut csv = String::new();
        for read in parts {
            let (file, Some(groups)) = (input_name(read.input), read.part.groups()) else { continue };
            let table = |rows| captures::groups::table::<Group>(groups, rows).table;
            if csv.is_empty() {
                let names = table(&[]).columns.into_iter().map(|column| column.0);
                csv += &record(["file".to_owned()].into_iter().chain(names));
            }
            for table in groups.rows.chunks(ROWS).map(table) {
                for row in 0..table.rows() {
                    let values = table.columns.iter().map(|column| column.1.text(row));
                    csv += &record([file.clone().into_owned()].into_iter().chain(values));
                }
            }
        }
        csv
    }
}

/// What does not go together: a command line has been refused before.
fn unsuited(args: &Meter) -> Option<Diagnostic> {
    let of_line = [("queue", &args.queue), ("link", &args.link), ("framing", &args.framing)];
    let stated = of_line.into_iter().find(|(_, value)| value.is_some()).map(|it| it.0);
    let whole = [("rtt", args.rtt), ("bursts", args.bursts), ("queue", args.queue.is_some())];
    let beside = whole.into_iter().find(|it| it.1).map(|it| it.0);
    let (message, help) = match (args.by, args.policy.is_some(), stated, beside) {
        (Some(_), _, _, Some(name)) => (format!("⟨by=⟩ together with ⟨{name}=⟩"), "give one of the two"),
        (_, false, Some(name), _) => (format!("⟨{name}=⟩ without ⟨policy=⟩"), "name the file that has the queue"),
        _ if args.samples && !args.rtt => ("⟨samples!⟩ without ⟨rtt!⟩".to_owned(), "give both"),
        _ => return None,
    };
    Some(Diagnostic::error("E239", message, help))
}

/// What a capture is sent through.
fn metering(args: &Meter, asker: Asker<'_>) -> Result<Marking, Failure> {
    let round_trips = match (args.rtt, args.samples) {
        (false, _) => RoundTripsOf::Nothing,
        (true, false) => RoundTripsOf::Flows,
        (true, true) => RoundTripsOf::Samples,
    };
    let through = &args.through;
    let marking = match &args.policy {
        Some(policy) => {
            let stated = [("queue", &args.queue), ("link", &args.link), ("framing", &args.framing)];
            marking(policy, &options_of_policy(policy, stated), through, asker)?
        }
        None => {
            let flow_timeout = flow_timeout(through)?;
            Marking { seed: through.seed, once: through.once, flow_timeout, ..Marking::default() }
        }
    };
    Ok(Marking { round_trips, bursts: args.bursts, ..marking })
}
