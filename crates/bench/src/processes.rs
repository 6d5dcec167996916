//! Whole processes of the workloads, and of ns-2 where it does the same work, by turns: CPU time of start, set-up, run and output.

use super::child::{self, Ended, Folder, Wrong};
use super::scale;
use super::workloads::{self, Workload};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::path::PathBuf;
use std::process::Command;

/// How far packets over the bottleneck may differ for the work to be the same.
const PACKETS: f64 = 0.03;

/// How far drops there may.
const DROPS: f64 = 0.25;

const NS2: &str = include_str!("peers/ns2.tcl");

/// What one process simulates.
struct Whole {
    name: String,
    text: Cow<'static, str>,
    bottleneck: &'static str,
    /// Simulated seconds.
    seconds: f64,
    /// Arguments of the Tcl file; `None` where ns-2 cannot do it.
    ns2: Option<&'static str>,
    repeats: usize,
}

/// Packets at the bottleneck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Work {
    /// Those that left it.
    packets: u64,
    /// Those dropped there.
    drops: u64,
}

/// What was measured of a workload.
pub(super) struct Measured {
    name: String,
    seconds: f64,
    work: Work,
    /// CPU seconds of each process.
    cpu: Vec<f64>,
    /// The same of ns-2, or why it has none.
    ns2: Result<Theirs, String>,
}

/// What ns-2 did.
struct Theirs {
    work: Work,
    cpu: Vec<f64>,
}

impl Measured {
    /// CPU time of ns-2 over perhop's; or why they are not compared.
    fn ratio(&self) -> Result<f64, String> {
        let theirs = self.ns2.as_ref().map_err(Clone::clone)?;
        same(self.work, theirs.work)?;
        Ok(median(&theirs.cpu) / median(&self.cpu))
    }
}

/// Both did the same work; or in what they differ.
fn same(ours: Work, theirs: Work) -> Result<(), String> {
    let far = |what, ours: u64, theirs: u64, part: f64| {
        let apart = ours.abs_diff(theirs) as f64;
        let within = apart <= part * theirs as f64;
        within.then_some(()).ok_or_else(|| format!("not the same work: {ours} {what}, {theirs} in ns-2"))
    };
    far("packets over the bottleneck", ours.packets, theirs.packets, PACKETS)?;
    far("drops", ours.drops, theirs.drops, DROPS)
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { f64::midpoint(sorted[middle - 1], sorted[middle]) }
}

/// What is asked for.
pub(super) struct Effort {
    /// Simulated seconds.
    pub(super) seconds: u64,
    /// Processes of each.
    pub(super) pairs: usize,
    /// With 100,000 flows.
    pub(super) large: bool,
}

fn wholes(asked: &Effort) -> Vec<Whole> {
    let of = |w: &Workload| Whole {
        name: w.name.to_owned(),
        text: w.text.into(),
        bottleneck: w.bottleneck,
        seconds: (asked.seconds as f64 / w.shorter as f64).max(LEAST),
        ns2: w.ns2,
        repeats: if w.shorter > 1 { asked.pairs.min(3) } else { asked.pairs },
    };
    let seconds = asked.seconds as f64 / LARGE_SHORTER;
    let large = |flows: usize| Whole {
        name: format!("p{flows}"),
        text: scale::bulk(flows, seconds).into(),
        bottleneck: "r1 -> r2",
        seconds,
        ns2: None,
        repeats: if flows > 10_000 { 1 } else { asked.pairs.min(3) },
    };
    let sizes = [Some(10_000), asked.large.then_some(100_000)];
    workloads::WORKLOADS.iter().map(of).chain(sizes.into_iter().flatten().map(large)).collect()
}

/// Flows start within a second.
const LEAST: f64 = 1.0;

/// Beyond P(1000), a part of the simulated time: one over this.
pub(super) const LARGE_SHORTER: f64 = 40.0;

/// Every workload, with progress on a terminal.
///
/// # Errors
/// perhop cannot be started.
pub(super) fn measure(asked: &Effort) -> Result<Vec<Measured>, String> {
    let wholes = wholes(asked);
    let total = wholes.iter().map(|w| w.repeats + 1).sum();
    let mut done = 0;
    let mut step = || {
        super::show("processes", done, total);
        done += 1;
    };
    let measured = wholes.iter().map(|whole| of(whole, &mut step)).collect();
    step();
    measured
}

fn of(whole: &Whole, step: &mut impl FnMut()) -> Result<Measured, String> {
    let pair = Pair::new(whole)?;
    step();
    let work = pair.counted()?;
    let mut ns2 = pair.their_work().map(|work| Theirs { work, cpu: Vec::new() });
    let mut cpu = Vec::with_capacity(whole.repeats);
    for _ in 0..whole.repeats {
        step();
        cpu.push(pair.ours(&[]).map_err(|wrong| wrong.of("perhop"))?.cpu);
        if let Ok(theirs) = &mut ns2 {
            match pair.theirs("0") {
                Ok(ended) => theirs.cpu.push(ended.cpu),
                Err(why) => ns2 = Err(why),
            }
        }
    }
    Ok(Measured { name: whole.name.clone(), seconds: whole.seconds, work, cpu, ns2 })
}

/// A workload in both programs.
struct Pair<'a> {
    whole: &'a Whole,
    folder: Folder,
    file: PathBuf,
    tcl: PathBuf,
}

impl<'a> Pair<'a> {
    fn new(whole: &'a Whole) -> Result<Self, String> {
        let folder = Folder::new()?;
        let file = folder.write(&format!("{}.toml", whole.name), &whole.text)?;
        let tcl = folder.write("ns2.tcl", NS2)?;
        Ok(Self { whole, folder, file, tcl })
    }

    fn ours(&self, more: &[&str]) -> Result<Ended, Wrong> {
        child::run_perhop(&self.file, &self.folder, &format!("{}us", (1e6 * self.whole.seconds) as u64), more)
    }

    /// What perhop did, by its own tables.
    fn counted(&self) -> Result<Work, String> {
        let ended = self.ours(&["--show", "links.delivered_packets,links.dropped_packets"]);
        let ended = ended.map_err(|wrong| wrong.of("perhop"))?;
        work_in(&ended.said, self.whole.bottleneck)
            .ok_or_else(|| format!("`perhop run` of {} does not say what went over its bottleneck", self.whole.name))
    }

    fn theirs(&self, count: &str) -> Result<Ended, String> {
        let Some(args) = self.whole.ns2 else { return Err("ns-2 has none of it".to_owned()) };
        let seconds = self.whole.seconds.to_string();
        let mut command = Command::new("ns");
        command.arg(&self.tcl).args(args.split(' ')).args(["seconds", &seconds, "count", count]);
        child::run(command.current_dir(self.folder.path())).map_err(|wrong| match wrong {
            Wrong::Absent => ABSENT.to_owned(),
            Wrong::Failed(why) => why,
        })
    }

    /// What ns-2 does.
    fn their_work(&self) -> Result<Work, String> {
        let ended = self.theirs("1")?;
        said(&ended.said).ok_or_else(|| "`ns` is not ns-2: it does not say what went over the bottleneck".to_owned())
    }
}

const ABSENT: &str = "no program `ns` on the path; Debian and Ubuntu: apt install ns2";

/// The line of the Tcl file.
fn said(text: &str) -> Option<Work> {
    let words: Vec<_> = text.lines().find(|line| line.starts_with("bottleneck "))?.split(' ').collect();
    let ["bottleneck", packets, "dropped", drops] = words[..] else { return None };
    Some(Work { packets: packets.parse().ok()?, drops: drops.parse().ok()? })
}

/// The row of a link, in the last line of `perhop run --json --show links...`.
fn work_in(text: &str, bottleneck: &str) -> Option<Work> {
    let last: Value = serde_json::from_str(text.lines().last()?).ok()?;
    let row = last["rows"].as_array()?.iter().find(|row| row["hop"] == bottleneck)?;
    let count = |column: &str| Some(row[column]["mean"].as_f64()? as u64);
    Some(Work { packets: count("links.delivered_packets")?, drops: count("links.dropped_packets")? })
}

/// Lines for people.
pub(super) fn text(all: &[Measured]) -> String {
    let turns = all.iter().map(|it| it.cpu.len()).max().unwrap_or(0);
    let mut text =
        format!("whole processes, CPU s, medians of {turns} or as many as in brackets; perhop and ns-2 by turns\n");
    text += "          simulated, s    perhop      ns-2   ratio   over the bottleneck, dropped: perhop; ns-2\n";
    for it in all {
        let few = if it.cpu.len() < turns { format!(" ({})", it.cpu.len()) } else { String::new() };
        let name = format!("{}{few}", it.name);
        text += &format!("  {name:10} {:9.1} {:9.3}", it.seconds, median(&it.cpu));
        let Work { packets, drops } = it.work;
        text += &match &it.ns2 {
            Err(_) => format!(" {:>9} {:>7}   {packets}, {drops}\n", "-", "-"),
            Ok(theirs) => {
                let ratio = it.ratio().map_or("-".to_owned(), |ratio| format!("{ratio:.1}"));
                let Theirs { work, cpu } = theirs;
                format!(" {:9.3} {ratio:>7}   {packets}, {drops}; {}, {}\n", median(cpu), work.packets, work.drops)
            }
        };
    }
    let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
    for it in all {
        let Err(why) = it.ratio() else { continue };
        match reasons.iter_mut().find(|of| of.0 == why) {
            Some(of) => of.1.push(&it.name),
            None => reasons.push((why, vec![&it.name])),
        }
    }
    text.extend(reasons.iter().map(|(why, names)| format!("no ratio of {}: {why}\n", names.join(", "))));
    text.trim_end().to_owned()
}

/// The same for programs.
pub(super) fn as_json(all: &[Measured]) -> Value {
    let work = |work: &Work| json!({ "packets": work.packets, "drops": work.drops });
    let each = all.iter().map(|it| {
        let mut said = json!({ "simulated_s": it.seconds, "cpu_s": median(&it.cpu), "cpu_s_each": it.cpu,
                               "bottleneck": work(&it.work), "ns2": null, "ratio": it.ratio().ok(), "no_ratio": it.ratio().err() });
        if let Ok(theirs) = &it.ns2 {
            said["ns2"] = json!({ "cpu_s": median(&theirs.cpu), "cpu_s_each": theirs.cpu, "bottleneck": work(&theirs.work) });
        }
        (it.name.clone(), said)
    });
    Value::Object(each.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(packets: u64, drops: u64) -> Work {
        Work { packets, drops }
    }

    /// 3 % of the packets and 25 % of the drops, of those of ns-2.
    #[test]
    fn the_same_work_has_bounds() {
        assert_eq!(same(work(1030, 125), work(1000, 100)), Ok(()));
        assert_eq!(same(work(970, 75), work(1000, 100)), Ok(()));
        assert_eq!(same(work(5, 0), work(5, 0)), Ok(()));
        let why = same(work(1031, 100), work(1000, 100)).unwrap_err();
        assert_eq!(why, "not the same work: 1031 packets over the bottleneck, 1000 in ns-2");
        let why = same(work(1000, 126), work(1000, 100)).unwrap_err();
        assert_eq!(why, "not the same work: 126 drops, 100 in ns-2");
        assert!(same(work(1000, 1), work(1000, 0)).is_err());
    }

    #[test]
    fn medians_are_of_odd_and_even_numbers() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
    }

    #[test]
    fn both_programs_are_understood() {
        assert_eq!(said("warning\nbottleneck 749749 dropped 12\n"), Some(work(749_749, 12)));
        assert_eq!(said("bottleneck many dropped 12\n"), None);
        assert_eq!(said(""), None);
        let rows = r#"{"replication":0}
{"rows":[{"hop":"b","links.delivered_packets":{"mean":9.0},"links.dropped_packets":{"mean":2.0}}]}"#;
        assert_eq!(work_in(rows, "b"), Some(work(9, 2)));
        assert_eq!(work_in(rows, "a"), None);
    }

    fn measured(ns2: Result<Theirs, String>) -> Measured {
        Measured { name: "u".to_owned(), seconds: 60.0, work: work(1000, 10), cpu: vec![0.1, 0.4, 0.2], ns2 }
    }

    #[test]
    fn the_ratio_is_of_medians_and_of_the_same_work() {
        let theirs = |packets| Ok(Theirs { work: work(packets, 10), cpu: vec![0.5, 9.0, 0.8] });
        let it = measured(theirs(1001));
        assert_eq!(it.ratio(), Ok(4.0));
        assert_eq!(as_json(&[it])["u"]["ratio"], 4.0);
        let it = measured(theirs(2000));
        assert!(it.ratio().is_err());
        assert!(
            text(&[it]).ends_with("no ratio of u: not the same work: 1000 packets over the bottleneck, 2000 in ns-2")
        );
        let it = as_json(&[measured(Err("none".to_owned()))]);
        assert!(it["u"]["ratio"].is_null() && it["u"]["no_ratio"] == "none");
    }
}
