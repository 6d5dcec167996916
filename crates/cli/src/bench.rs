//! `bench`: what a packet-hop and a packet's way through a port cost on this machine, in CPU time of one thread.

mod decisions;
mod engine;

use crate::args::Bench;
use crate::{Exit, Failure, say};
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;

/// CPU seconds of this thread.
fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

pub(crate) fn bench(args: &Bench) -> Result<Exit, Failure> {
    let hop = engine::measure(args.seconds)?;
    let decisions = decisions::measure(args.packets);
    if args.json {
        let decisions: serde_json::Map<_, _> = decisions.iter().map(|d| (d.name.to_owned(), json!(d.ns))).collect();
        say!(
            "{}",
            json!({ "ns_per_packet_hop": hop.ns, "packet_hops": hop.packet_hops, "bottleneck_packets": hop.bottleneck,
                    "simulated_s": args.seconds, "ns_per_decision": decisions })
        );
        return Ok(Exit::Fine);
    }
    say!("engine: 100 NewReno flows, 100 Mbit/s RED, RTT 40 ms, {} s simulated", args.seconds);
    say!("  {:.1} ns a packet-hop, best of {}", hop.ns, engine::REPEATS);
    say!("  {} packets over the bottleneck, {} packet-hops", hop.bottleneck, hop.packet_hops);
    say!("\na packet through a port: 1000 B packets at twice the rate, ns each, best of {}", decisions::REPEATS);
    for decision in &decisions {
        say!("  {:12} {:15} {:6.1}", decision.list, decision.name, decision.ns);
    }
    Ok(Exit::Fine)
}
