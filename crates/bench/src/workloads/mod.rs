//! What a packet-hop costs in workloads that other simulators have been measured with, and what it costs to set each up.

use perhop_core::units::Span;
use perhop_scenario::{Options, Scenario};
use perhop_sim::plan::Plan;
use perhop_sim::{EngineOptions, Simulation};
use serde_json::{Value, json};

/// Runs; the fastest counts.
pub(super) const REPEATS: usize = 3;

/// A scenario of its own file, which says what it is.
pub(super) struct Workload {
    pub(super) name: &'static str,
    what: &'static str,
    pub(super) text: &'static str,
    /// The link that all packets cross.
    pub(super) bottleneck: &'static str,
    /// Its length, as a part of the others': one over this.
    pub(super) shorter: u64,
    /// What it is in `peers/ns2.tcl`.
    pub(super) ns2: Option<&'static str>,
}

macro_rules! workload {
    ($name:literal, $bottleneck:literal, $shorter:literal, $ns2:expr, $what:literal) => {
        Workload {
            name: $name,
            what: $what,
            text: include_str!(concat!($name, ".toml")),
            bottleneck: $bottleneck,
            shorter: $shorter,
            ns2: $ns2,
        }
    };
}

pub(super) const WORKLOADS: [Workload; 5] = [
    workload!("u", "n2 -> n3", 1, Some("model datagrams flows 10 mbps 100"), "10 sources of datagrams, 3 full links"),
    workload!("p10", "r1 -> r2", 1, Some("model bulk flows 10 mbps 100"), "10 NewReno flows, RED at 100 Mbit/s"),
    workload!("p100", "r1 -> r2", 1, Some("model bulk flows 100 mbps 100"), "100 NewReno flows, RED at 100 Mbit/s"),
    workload!("p1000", "r1 -> r2", 6, Some("model bulk flows 1000 mbps 1000"), "1000 NewReno flows, RED at 1 Gbit/s"),
    workload!("d100", "r1 -> r2", 1, None, "100 flows, F-SAM at the edge, RIO in the core"),
];

/// What was measured of a workload.
pub(super) struct Measured {
    /// Its name.
    name: &'static str,
    /// What it is.
    what: &'static str,
    /// How much was simulated.
    simulated: Span,
    /// CPU seconds from its text to the first event.
    set_up: f64,
    /// CPU seconds from there to the outcome.
    run: f64,
    /// Packets that left a link.
    packet_hops: u64,
    /// Packets that left the bottleneck.
    bottleneck: u64,
}

impl Measured {
    /// CPU ns for each packet that leaves a link.
    fn ns(&self) -> f64 {
        self.run * 1e9 / self.packet_hops as f64
    }
}

/// Lines for people.
pub(super) fn text(all: &[Measured]) -> String {
    let head = "\n         ns a hop   set-up, ms  simulated, s         hops   over the bottleneck";
    let lines = all.iter().map(|w| {
        let (ns, set_up, simulated) = (w.ns(), 1e3 * w.set_up, w.simulated.seconds());
        let Measured { name, packet_hops, bottleneck, what, .. } = w;
        format!("\n  {name:6} {ns:8.1} {set_up:12.2} {simulated:13.1} {packet_hops:12} {bottleneck:12}   {what}")
    });
    format!("workloads, best of {REPEATS}:{head}") + &lines.collect::<String>()
}

/// The same for programs.
pub(super) fn as_json(all: &[Measured]) -> Value {
    let each = all.iter().map(|w| {
        let said = json!({ "ns_per_packet_hop": w.ns(), "set_up_s": w.set_up, "run_s": w.run, "simulated_s": w.simulated.seconds(),
                           "packet_hops": w.packet_hops, "bottleneck_packets": w.bottleneck });
        (w.name.to_owned(), said)
    });
    Value::Object(each.collect())
}

/// Every workload for so many simulated seconds, with progress on a terminal.
///
/// # Errors
/// It cannot be simulated.
pub(super) fn measure(seconds: u64) -> Result<Vec<Measured>, String> {
    let total = WORKLOADS.len() * REPEATS;
    let mut measured = Vec::with_capacity(WORKLOADS.len());
    for (i, workload) in WORKLOADS.iter().enumerate() {
        let mut best: Option<Measured> = None;
        for repeat in 0..REPEATS {
            super::show("workloads", i * REPEATS + repeat, total);
            let found = once(workload, seconds)?;
            best = Some(match best {
                None => found,
                Some(best) => Measured { set_up: best.set_up.min(found.set_up), run: best.run.min(found.run), ..found },
            });
        }
        measured.extend(best);
    }
    super::show("workloads", total, total);
    Ok(measured)
}

fn once(workload: &Workload, seconds: u64) -> Result<Measured, String> {
    let began = super::cpu_seconds();
    let plan = plan(workload, seconds)?;
    let simulation = Simulation::new(plan.clone(), EngineOptions::default()).map_err(|e| e.to_string())?;
    let ready = super::cpu_seconds();
    let outcome = simulation.run(|_| true).expect("nothing stops it");
    let ended = super::cpu_seconds();
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

fn plan(workload: &Workload, seconds: u64) -> Result<Plan, String> {
    let read = Scenario::parse(workload.text, &Options::new(workload.name));
    let (scenario, _) = read.map_err(|error| error.to_string())?;
    let duration = Span::from_ms(seconds * 1000 / workload.shorter);
    Ok(Plan { duration, ..scenario.plan(1, 0) })
}
