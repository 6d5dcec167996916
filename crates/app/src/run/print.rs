//! The answer of `run` on a terminal.

use super::{Ready, RunAnswer, hash_of, read, request};
use crate::request::Run;
use crate::selection;
use crate::terminal::show::{complain, say};
use crate::terminal::watch;
use crate::{Exit, Failure, reading};
use perhop_config::tc_stats;
use perhop_core::units::{Span, counted};
use perhop_results::filter::{Known, Where};
use perhop_results::tables::{classes, declaration};
use perhop_results::{listing, summary};
use perhop_runs::intervals::Intervals;
use serde_json::json;

pub(crate) fn run(args: &Run) -> Result<Exit, Failure> {
    let (request, sweep) = read(request(args)?, reading::warn)?;
    if sweep.is_grid() {
        complain!(
            "this scenario has a [sweep]: only its base point is run; `perhop sweep` runs {}",
            counted(sweep.points().len(), ["point", "points"])
        );
    }
    let ready = Ready::new(args, request, &sweep)?;
    args.every.map_or(Ok(()), |every| part_by_part(&ready, every))?;
    let answer = ready.run()?;
    answer.notes.iter().for_each(|note| complain!("{note}"));
    ready.view.write_csv(ready.points(), &answer.rows, answer.checked.as_ref())?;
    match ready.request.asked.output.json {
        true => json(&ready, &answer),
        false if ready.view.only_csv => {}
        false => print(&ready, &answer)?,
    }
    Ok(Exit::Fine)
}

/// Prints the first replication at an interval of simulated time.
fn part_by_part(ready: &Ready, every: Span) -> Result<(), Failure> {
    watch::catch_interrupts();
    let of_classes = Vec::from_iter(declaration(classes::NAME));
    let known = Known::of(ready.points(), &of_classes);
    let filter = Where::read(&ready.request.shown.filter.texts, &known)?;
    let parts = Intervals::new(&ready.point, every, &filter)?;
    let as_json = ready.request.asked.output.json;
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

fn print(ready: &Ready, answer: &RunAnswer) -> Result<(), Failure> {
    let RunAnswer { replications, rows, checked, captures, took, .. } = answer;
    let all: Vec<_> = replications.iter().collect();
    match ready.view.as_rows {
        true => {
            say!("{}\n", summary::heading(&ready.point.scenario, all.len()));
            say!("{}\n", listing::text(ready.points(), rows));
        }
        false => say!("{}", ready.view.summary(&ready.point, &all)?),
    }
    if let Some(rows) = checked {
        let gap = if ready.view.as_rows { "" } else { "\n" };
        say!("{gap}{}\n", listing::text(ready.points(), std::slice::from_ref(rows)));
    }
    let counters = replications.first().and_then(|first| tc_stats::find(&first.tables));
    counters.into_iter().for_each(|table| say!("{}", tc_stats::text(&tc_stats::rows(table))));
    say!("packets: in = out + dropped + queued, for every flow, colour and queue: ok");
    let wall = took.as_secs_f64();
    let rate = replications.iter().map(|r| r.packet_hops).sum::<u64>() as f64 / wall / 1e6;
    say!("{}  result hash {}  {wall:.1} s ({rate:.1} M packet-hops/s)", ready.dir().display(), hash_of(replications));
    captures.iter().for_each(|capture| say!("{}", capture.display()));
    Ok(())
}

fn json(ready: &Ready, RunAnswer { replications, rows, captures, .. }: &RunAnswer) {
    for r in replications {
        say!("{}", json!({ "replication": r.replication, "result_hash": r.hash, "packet_hops": r.packet_hops }));
    }
    let mut whole = json!({ "scenario": ready.point.scenario.name(), "run": ready.dir(),
                            "result_hash": hash_of(replications), "captures": captures, "rows": selection::json(rows, 0) });
    selection::add_ef(&mut whole, &replications.iter().collect::<Vec<_>>());
    selection::add_counters(&mut whole, replications);
    say!("{whole}");
}
