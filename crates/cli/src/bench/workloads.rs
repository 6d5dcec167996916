//! What a packet-hop costs in workloads that other simulators have been measured with, and what it costs to set each up.

use crate::Failure;
use crate::watch::Terminal;
use perhop_core::units::Span;
use perhop_scenario::output::run::{Progress, Watch as _};
use perhop_scenario::{Options, Scenario};
use perhop_sim::plan::Plan;
use perhop_sim::{EngineOptions, Simulation};

/// Runs; the fastest counts.
pub(super) const REPEATS: usize = 3;

/// A scenario of its own file, which says what it is.
struct Workload {
    name: &'static str,
    what: &'static str,
    text: &'static str,
    /// The link that all packets cross.
    bottleneck: &'static str,
    /// Its length, as a part of the others': one over this.
    shorter: u64,
}

macro_rules! workload {
    ($name:literal, $bottleneck:literal, $shorter:literal, $what:literal) => {
        Workload {
            name: $name,
            what: $what,
            text: include_str!(concat!("workloads/", $name, ".toml")),
            bottleneck: $bottleneck,
            shorter: $shorter,
        }
    };
}

const WORKLOADS: [Workload; 5] = [
    workload!("u", "n2 -> n3", 1, "10 sources of datagrams, 3 full links"),
    workload!("p10", "r1 -> r2", 1, "10 NewReno flows, RED at 100 Mbit/s"),
    workload!("p100", "r1 -> r2", 1, "100 NewReno flows, RED at 100 Mbit/s"),
    workload!("p1000", "r1 -> r2", 6, "1000 NewReno flows, RED at 1 Gbit/s"),
    workload!("d100", "r1 -> r2", 1, "100 flows, F-SAM at the edge, RIO in the core"),
];

/// What was measured of a workload.
pub(super) struct Measured {
    /// Its name.
    pub(super) name: &'static str,
    /// What it is.
    pub(super) what: &'static str,
    /// How much was simulated.
    pub(super) simulated: Span,
    /// CPU seconds from its text to the first event.
    pub(super) set_up: f64,
    /// CPU seconds from there to the outcome.
    pub(super) run: f64,
    /// Packets that left a link.
    pub(super) packet_hops: u64,
    /// Packets that left the bottleneck.
    pub(super) bottleneck: u64,
}

impl Measured {
    /// CPU ns for each packet that leaves a link.
    pub(super) fn ns(&self) -> f64 {
        self.run * 1e9 / self.packet_hops as f64
    }
}

/// Every workload for so many simulated seconds, with progress on a terminal.
///
/// # Errors
/// The user has interrupted it.
pub(super) fn measure(seconds: u64) -> Result<Vec<Measured>, Failure> {
    let (terminal, total) = (Terminal::new("bench"), WORKLOADS.len() * REPEATS);
    let mut measured = Vec::with_capacity(WORKLOADS.len());
    for (i, workload) in WORKLOADS.iter().enumerate() {
        let mut best: Option<Measured> = None;
        for repeat in 0..REPEATS {
            terminal.progress(Progress { done: i * REPEATS + repeat, total });
            let found = once(workload, seconds, &terminal)?;
            best = Some(match best {
                None => found,
                Some(best) => Measured { set_up: best.set_up.min(found.set_up), run: best.run.min(found.run), ..found },
            });
        }
        measured.extend(best);
    }
    terminal.clear();
    Ok(measured)
}

fn once(workload: &Workload, seconds: u64, terminal: &Terminal) -> Result<Measured, Failure> {
    let began = super::cpu_seconds();
    let plan = plan(workload, seconds)?;
    let simulation =
        Simulation::new(plan.clone(), EngineOptions::default()).map_err(|e| Failure::Error(e.to_string()))?;
    let ready = super::cpu_seconds();
    let outcome = simulation.run(|_| !terminal.stop());
    let ended = super::cpu_seconds();
    let outcome = outcome.ok_or_else(|| Failure::Interrupted("interrupted".into()))?;
    let bottleneck = plan.links.iter().position(|link| link.name == workload.bottleneck);
    let over = outcome.ports.hops.iter().filter(|hop| Some(hop.link) == bottleneck);
    Ok(Measured {
        name: workload.name,
        what: workload.what,
        simulated: plan.duration,
        set_up: ready - began,
        run: ended - ready,
        packet_hops: outcome.work.packet_hops,
        bottleneck: over.map(|hop| hop.delivered.packets).sum(),
    })
}

fn plan(workload: &Workload, seconds: u64) -> Result<Plan, Failure> {
    let read = Scenario::parse(workload.text, &Options::new(workload.name));
    let (scenario, _) = read.map_err(|error| Failure::Error(error.to_string()))?;
    let duration = Span::from_ms(seconds * 1000 / workload.shorter);
    Ok(Plan { duration, ..scenario.plan(1, 0) })
}
