//! `run`: one point, all its replications, tables on the terminal and Parquet on disk.

use crate::answer::{self, Answer};
use crate::request::Run;
use crate::request::run::{Request, Terms, Trace, run_options};
use crate::terminal::show::{complain, say};
use crate::terminal::watch::Terminal;
use crate::terminal::{show, watch};
use crate::{Exit, Failure, pcap, places, reading};
use perhop_config::tc_stats;
use perhop_core::units::{Span, counted};
use perhop_results::Replication;
use perhop_results::filter::{Known, Where};
use perhop_results::rows::Rows;
use perhop_results::tables::{classes, declaration};
use perhop_results::{ef_shown, listing, summary};
use perhop_runs::disk;
use perhop_runs::intervals::Intervals;
use perhop_runs::run::{Probes, RunOptions, run as run_points};
use perhop_scenario::{Point, Scenario, Sweep};
use perhop_sim::plan::{Tap, TapPoint};
use serde_json::json;
use std::path::Path;

/// What is asked, its scenario read and under its name; warnings are printed. What is traced is a key of the
/// scenario where that says what is recorded.
///
/// # Errors
/// Everything that is wrong in the scenario; a name that is unfit for a directory.
pub(crate) fn read(mut request: Request) -> Result<(Request, Sweep), Failure> {
    let mut read = request.source.read();
    if let Ok((sweep, _)) = &read {
        let (settings, traced) = (sweep.base.settings(), &request.asked.traced);
        let asked = [
            (settings.sample.is_none() && traced.has(Trace::Series), "scenario.sample=\"100ms\""),
            (traced.has(Trace::Delays), "scenario.delay-histogram=true"),
        ];
        for (_, key) in asked.into_iter().filter(|it| it.0) {
            request.source.options = request.source.options.set(key);
            read = request.source.read();
        }
    }
    let (sweep, warnings) = reading::accepted(read, "nothing was run")?;
    reading::warn(&warnings);
    let sweep = request.asked.named(sweep)?;
    Ok((request, sweep))
}

/// What the engine is told to do.
///
/// # Errors
/// JSON is asked for, and the directory of the runs is not UTF-8; it is no directory.
pub(crate) fn options(request: &Request, sweep: &Sweep) -> Result<RunOptions, Failure> {
    let out = request.asked.output.dir();
    if request.asked.output.json {
        show::text(out)?;
    }
    if out.to_string_lossy().contains("://") {
        let help = "`perhop sweep --cluster tcp://HOST:8786` writes there; else name a directory";
        let what = format!("cannot write {}: it is an address, not a directory", out.display());
        return Err(Failure::error("E020", what, help));
    }
    Ok(run_options(&request.asked, sweep, &request.source.options, watch::now()))
}

pub(crate) fn run(args: &Run) -> Result<Exit, Failure> {
    let asked = Terms { output: args.output.clone(), traced: args.traced.clone(), fresh: true, ..Terms::default() };
    let source = reading::source(&args.source, &[])?;
    let (request, sweep) = read(Request { source, asked, shown: args.shown.clone() })?;
    if sweep.is_grid() {
        complain!(
            "this scenario has a [sweep]: only its base point is run; `perhop sweep` runs {}",
            counted(sweep.points().len(), ["point", "points"])
        );
    }
    let scenario = &sweep.base;
    let point = sweep.base_point();
    let taps = taps(scenario, args)?;
    let dir = disk::point_dir(request.asked.output.dir(), &point);
    pcap::paths(&taps, scenario, &dir).iter().try_for_each(|to| places::refuse(to, &[&args.source.file]))?;
    let answer = Answer::new(&request, std::slice::from_ref(&point), &summary::TABLES)?;
    let options = options(&request, &sweep)?;
    args.every.map_or(Ok(()), |every| part_by_part(&request, &point, every))?;
    let recorded = record(&point, &options, &taps)?;
    let terminal = Terminal::new("replications");
    let replications = run_points(std::slice::from_ref(&point), &options, &terminal)?;
    terminal.clear();
    let captures = pcap::write(&recorded, &taps, scenario, &dir)?;
    ef_shown::missing(1, &replications).iter().for_each(|note| complain!("{note}"));
    let rows = answer.rows(std::slice::from_ref(&point), &replications)?;
    let answer = &answer;
    let printed = Printed { point: &point, terminal: &terminal, captures: &captures, rows: &rows, answer };
    match request.asked.output.json {
        true => printed.json(&dir, &replications),
        false if answer.only_csv => {}
        false => printed.print(&dir, &replications)?,
    }
    Ok(Exit::Fine)
}

/// Prints the first replication at an interval of simulated time.
fn part_by_part(request: &Request, point: &Point, every: Span) -> Result<(), Failure> {
    watch::catch_interrupts();
    let of_classes = Vec::from_iter(declaration(classes::NAME));
    let known = Known::of(std::slice::from_ref(point), &of_classes);
    let filter = Where::read(&request.shown.filter.texts, &known)?;
    let parts = Intervals::new(point, every, &filter)?;
    let as_json = request.asked.output.json;
    if !as_json {
        say!("{}", parts.heads());
    }
    parts.run(|part| {
        match as_json {
            true => parts.json(part).iter().for_each(|row| say!("{row}")),
            false if part.rows.is_empty() => {}
            false => say!("{}", parts.lines(part)),
        }
        !watch::has_interrupted()
    })?;
    if watch::has_interrupted() {
        return Err(Failure::Interrupted(watch::NOTHING.to_owned()));
    }
    if !as_json {
        say!("");
    }
    Ok(())
}

/// The links named by `--pcap` and `--pcap-in`.
fn taps(scenario: &Scenario, args: &Run) -> Result<Vec<Tap>, Failure> {
    let plan = scenario.plan(0, 0);
    let find = |name: &String, point| {
        let link = plan.links.iter().position(|l| l.name == *name);
        link.map(|link| Tap { link, point }).ok_or_else(|| {
            let names: Vec<_> = plan.links.iter().map(|l| l.name.as_str()).collect();
            let help = perhop_core::params::suggest(name, &names);
            Failure::error("E006", format!("no link `{name}` in this scenario"), help)
        })
    };
    let outputs = args.pcap.iter().map(|name| find(name, TapPoint::Output));
    outputs.chain(args.pcap_in.iter().map(|name| find(name, TapPoint::Input))).collect()
}

/// The first replication with taps, if there are any; it is not written, the run itself writes it.
fn record(point: &Point, options: &RunOptions, taps: &[Tap]) -> Result<Option<Replication>, Failure> {
    if taps.is_empty() {
        return Ok(None);
    }
    let (taps, probes) = (taps.to_vec(), Probes::default());
    let options = RunOptions { replications: 0..1, out: None, taps, probes, ..options.clone() };
    let terminal = Terminal::new("capture");
    let mut first = run_points(std::slice::from_ref(point), &options, &terminal)?;
    terminal.clear();
    Ok(first.pop())
}

struct Printed<'a> {
    point: &'a Point,
    terminal: &'a Terminal,
    captures: &'a [std::path::PathBuf],
    rows: &'a [Rows],
    answer: &'a Answer,
}

impl Printed<'_> {
    fn print(&self, dir: &Path, replications: &[Replication]) -> Result<(), Failure> {
        let (all, points) = (replications.iter().collect::<Vec<_>>(), std::slice::from_ref(self.point));
        match self.answer.as_rows {
            true => {
                say!("{}\n", summary::heading(&self.point.scenario, all.len()));
                say!("{}\n", listing::text(points, self.rows));
            }
            false => say!("{}", self.answer.summary(self.point, &all)?),
        }
        if let Some(rows) = self.answer.checked(points, replications) {
            let gap = if self.answer.as_rows { "" } else { "\n" };
            say!("{gap}{}\n", listing::text(points, &[rows]));
        }
        let counters = replications.first().and_then(|first| tc_stats::find(&first.tables));
        counters.into_iter().for_each(|table| say!("{}", tc_stats::text(&tc_stats::rows(table))));
        say!("packets: in = out + dropped + queued, for every flow, colour and queue: ok");
        let wall = self.terminal.elapsed().as_secs_f64();
        let rate = replications.iter().map(|r| r.packet_hops).sum::<u64>() as f64 / wall / 1e6;
        say!("{}  result hash {}  {wall:.1} s ({rate:.1} M packet-hops/s)", dir.display(), hash_of(replications));
        self.captures.iter().for_each(|capture| say!("{}", capture.display()));
        Ok(())
    }

    fn json(&self, dir: &Path, replications: &[Replication]) {
        for r in replications {
            say!("{}", json!({ "replication": r.replication, "result_hash": r.hash, "packet_hops": r.packet_hops }));
        }
        let mut said = json!({ "scenario": self.point.scenario.name(), "run": dir, "result_hash": hash_of(replications),
                               "captures": self.captures, "rows": answer::json(self.rows, 0) });
        answer::add_ef(&mut said, &replications.iter().collect::<Vec<_>>());
        answer::add_counters(&mut said, replications);
        say!("{said}");
    }
}

/// One hash for all replications.
pub(crate) fn hash_of<'a>(replications: impl IntoIterator<Item = &'a Replication>) -> String {
    let each: Vec<_> = replications.into_iter().map(|r| ("", r.hash.clone().into_bytes())).collect();
    disk::hash_files(&each)
}
