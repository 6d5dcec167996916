//! What a packet-hop, a simulation's set-up, a packet's way through a port and a decision alone cost on this machine, in CPU
//! time of one thread; what whole processes of the `perhop` beside it cost, beside ns-2; and how that grows. `make bench`.

mod args;
mod bare;
mod child;
mod decisions;
mod dpdk;
mod growth;
mod inputs;
mod memory;
mod processes;
mod scale;
mod workloads;

use args::{Args, Part};
use clap::Parser as _;
use nix::time::{ClockId, clock_gettime};
use serde_json::{Map, Value, json};
use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

/// CPU seconds of this thread; by the C library, since callgrind does not know of other ways to the clock.
fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).expect("Linux has this clock");
    time.tv_sec() as f64 + time.tv_nsec() as f64 * 1e-9
}

/// How far work is, on a terminal; its line goes when all is done.
fn show(what: &str, done: usize, total: usize) {
    let mut terminal = io::stderr();
    if terminal.is_terminal() {
        let line = if done < total { format!("{what} {done}/{total}") } else { String::new() };
        // There is nowhere to say that it did not arrive.
        _ = write!(terminal, "\r{line}\x1b[K");
    }
}

/// What was measured of a part: for people, and under a name for programs.
struct Section {
    text: String,
    json: Vec<(&'static str, Value)>,
}

/// Decisions alone, beside those of DPDK.
struct Bare {
    measured: Vec<bare::Measured>,
    /// DPDK's version, or why it was not measured.
    peer: Result<String, String>,
}

impl Bare {
    fn measure(args: &Args) -> Self {
        let inputs = inputs::Inputs::new();
        let (measured, peer) = match dpdk::Dpdk::start(&inputs) {
            Ok(mut peer) => (bare::measure(args.packets, inputs, &mut peer), Ok(peer.version.clone())),
            Err(why) => (bare::measure(args.packets, inputs, &mut bare::Alone), Err(why)),
        };
        Self { measured, peer }
    }

    fn text(&self) -> String {
        let beside = match &self.peer {
            Ok(version) => format!("by turns with DPDK {version}"),
            Err(why) => format!("not beside DPDK: {why}"),
        };
        let head = format!(
            "one decision, called directly: random sizes, gaps, queues and colours at 1.6 times the rate, ns each, median of\n\
             {}; {beside}",
            bare::REPEATS
        );
        let names = format!(
            "{:20}{:>10}{:>10}{:>10}{:>14}{:>10}{:>10}",
            "", "one", "DPDK", "ratio", "of a million", "DPDK", "ratio"
        );
        let line = |it: &bare::Measured| {
            let ([one, many], [peers_one, peers_many]) = (it.own, it.peer);
            let (first, second) = (ratio(one, peers_one), ratio(many, peers_many));
            let shown = [one, peers_one, first, many, peers_many, second].map(number);
            let [one, peers_one, first, many, peers_many, second] = &shown;
            format!("  {:18}{one:>10}{peers_one:>10}{first:>10}{many:>14}{peers_many:>10}{second:>10}", it.name)
        };
        [head, names].into_iter().chain(self.measured.iter().map(line)).collect::<Vec<_>>().join("\n")
    }

    fn as_json(&self) -> Value {
        let of = |it: &bare::Measured| {
            let ([one, many], [peers_one, peers_many]) = (it.own, it.peer);
            json!({ "one": one, "of_a_million": many, "dpdk_one": peers_one, "dpdk_of_a_million": peers_many })
        };
        Value::Object(self.measured.iter().map(|it| (it.name.to_owned(), of(it))).collect())
    }
}

fn ratio(own: Option<f64>, peers: Option<f64>) -> Option<f64> {
    own.zip(peers).map(|(own, peers)| own / peers)
}

/// Two digits after the point; nothing where there is nothing.
fn number(value: Option<f64>) -> String {
    value.map_or(String::new(), |value| format!("{value:.2}"))
}

fn main() -> ExitCode {
    match measured(&Args::parse()).and_then(|found| say(&found)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            _ = writeln!(io::stderr(), "error: {why}");
            ExitCode::from(2)
        }
    }
}

fn say(found: &str) -> Result<(), String> {
    let mut out = io::stdout();
    let said = writeln!(out, "{found}").and_then(|()| out.flush());
    said.map_err(|error| {
        format!("cannot write to standard output: {error}\n   help: free some space, or send the output elsewhere")
    })
}

fn measured(args: &Args) -> Result<String, String> {
    if let Some(flows) = args.memory_of {
        return memory::of(flows, args.seconds);
    }
    let found = match args.growth {
        true => vec![grown(args.most)?],
        false => parts(args).into_iter().map(|part| of(part, args)).collect::<Result<_, _>>()?,
    };
    if args.json {
        let all: Map<_, _> = found.into_iter().flat_map(|it| it.json).map(|(name, it)| (name.to_owned(), it)).collect();
        return Ok(Value::Object(all).to_string());
    }
    Ok(found.iter().map(|it| it.text.as_str()).collect::<Vec<_>>().join("\n\n"))
}

/// Those that are asked for, in the order in which they are printed.
fn parts(args: &Args) -> Vec<Part> {
    let all = [Part::Workloads, Part::Processes, Part::Memory, Part::Decisions, Part::Bare];
    all.into_iter().filter(|part| args.only.is_empty() || args.only.contains(part)).collect()
}

fn of(part: Part, args: &Args) -> Result<Section, String> {
    Ok(match part {
        Part::Workloads => {
            let all = workloads::measure(args.seconds)?;
            Section { text: workloads::text(&all), json: vec![("workloads", workloads::as_json(&all))] }
        }
        Part::Processes => {
            let asked = processes::Effort { seconds: args.seconds, pairs: args.pairs, large: args.large };
            let all = processes::measure(&asked)?;
            Section { text: processes::text(&all), json: vec![("processes", processes::as_json(&all))] }
        }
        Part::Memory => {
            let all = memory::measure(args.seconds, args.large)?;
            Section { text: memory::text(&all), json: vec![("memory", memory::as_json(&all))] }
        }
        Part::Decisions => decided(args),
        Part::Bare => alone(args),
    })
}

fn grown(most: usize) -> Result<Section, String> {
    let all = growth::measure(most)?;
    Ok(Section { text: growth::text(&all), json: vec![("growth", growth::as_json(&all))] })
}

fn decided(args: &Args) -> Section {
    let decisions = decisions::measure(args.packets);
    let head =
        format!("a packet through a port: 1000 B packets at twice the rate, ns each, best of {}", decisions::REPEATS);
    let lines = decisions.iter().map(|it| format!("\n  {:12} {:15} {:6.1}", it.list, it.name, it.ns));
    let text = head + &lines.collect::<String>();
    let is_shared = |name| decisions.iter().filter(|it| it.name == name).count() > 1;
    let called = |it: &decisions::Decision| match is_shared(it.name) {
        true => format!("{} {}", it.list, it.name),
        false => it.name.to_owned(),
    };
    let each: Map<_, _> = decisions.iter().map(|it| (called(it), json!(it.ns))).collect();
    let made = args.packets.get() * u64::from(decisions::REPEATS) * decisions.len() as u64;
    Section { text, json: vec![("ns_per_decision", Value::Object(each)), ("decisions", json!(made))] }
}

fn alone(args: &Args) -> Section {
    let bare = Bare::measure(args);
    let json = vec![("ns_per_bare_decision", bare.as_json()), ("dpdk", json!(bare.peer.as_ref().ok()))];
    Section { text: bare.text(), json }
}
