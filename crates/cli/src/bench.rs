//! `bench`: what a packet-hop, a simulation's set-up and a packet's way through a port cost on this machine, in CPU time of one
//! thread.

mod decisions;
mod workloads;

use crate::args::Bench;
use crate::{Exit, Failure, say};
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Map, Value, json};
use workloads::Measured;

/// CPU seconds of this thread.
fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

pub(crate) fn bench(args: &Bench) -> Result<Exit, Failure> {
    let workloads = workloads::measure(args.seconds)?;
    let decisions = decisions::measure(args.packets);
    if args.json {
        let decisions: Map<_, _> = decisions.iter().map(|d| (d.name.to_owned(), json!(d.ns))).collect();
        let workloads: Map<_, _> = workloads.iter().map(|w| (w.name.to_owned(), as_json(w))).collect();
        say!("{}", json!({ "workloads": workloads, "ns_per_decision": decisions }));
        return Ok(Exit::Fine);
    }
    say!("workloads, best of {}:", workloads::REPEATS);
    say!("         ns a hop   set-up, ms  simulated, s         hops   over the bottleneck");
    for w in &workloads {
        let (ns, set_up, simulated) = (w.ns(), 1e3 * w.set_up, w.simulated.seconds());
        say!(
            "  {:6} {ns:8.1} {set_up:12.2} {simulated:13.1} {:12} {:12}   {}",
            w.name,
            w.packet_hops,
            w.bottleneck,
            w.what
        );
    }
    say!("\na packet through a port: 1000 B packets at twice the rate, ns each, best of {}", decisions::REPEATS);
    for decision in &decisions {
        say!("  {:12} {:15} {:6.1}", decision.list, decision.name, decision.ns);
    }
    Ok(Exit::Fine)
}

fn as_json(w: &Measured) -> Value {
    json!({ "ns_per_packet_hop": w.ns(), "set_up_s": w.set_up, "run_s": w.run, "simulated_s": w.simulated.seconds(),
            "packet_hops": w.packet_hops, "bottleneck_packets": w.bottleneck })
}
