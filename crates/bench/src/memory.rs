//! Memory of a flow: what a process holds at the end of P(n) more than at its start, but for the packets in flight.

use super::child;
use super::{processes, scale};
use perhop_scenario::{Options, Scenario};
use perhop_sim::record::Outcome;
use perhop_sim::{EngineOptions, Simulation};
use serde_json::{Value, json};
use std::process::Command;
use std::{env, fs};

/// Bytes of a packet in flight.
const PACKET: f64 = 64.0;

/// What a process of its own said.
pub(super) struct Measured {
    flows: f64,
    /// Bytes at the start, and at the end of the simulated time.
    resident: [f64; 2],
    /// Packets on links at the end.
    in_flight: f64,
}

impl Measured {
    /// Bytes for each flow, with its four links.
    fn per_flow(&self) -> f64 {
        (self.resident[1] - self.resident[0] - PACKET * self.in_flight) / self.flows
    }
}

/// 1,000 flows, 10,000, and with `large` 100,000.
///
/// # Errors
/// A process failed.
pub(super) fn measure(seconds: u64, large: bool) -> Result<Vec<Measured>, String> {
    let sizes: &[usize] = if large { &[1000, 10_000, 100_000] } else { &[1000, 10_000] };
    let program = env::current_exe().map_err(|error| format!("this program is not where it was: {error}"))?;
    let mut all = Vec::new();
    for (done, flows) in sizes.iter().enumerate() {
        super::show("memory", done, sizes.len());
        let mut command = Command::new(&program);
        command.args(["--memory-of", &flows.to_string(), "--seconds", &seconds.to_string()]);
        let said = child::run(&mut command).map_err(|wrong| wrong.of("perhop-bench"))?.said;
        all.push(read(&said).ok_or_else(|| format!("memory of {flows} flows is not known here"))?);
    }
    super::show("memory", sizes.len(), sizes.len());
    Ok(all)
}

fn read(said: &str) -> Option<Measured> {
    let said: Value = serde_json::from_str(said).ok()?;
    let number = |key: &str| said[key].as_f64();
    let resident = [number("start_bytes")?, number("end_bytes")?];
    Some(Measured { flows: number("flows")?, resident, in_flight: number("in_flight")? })
}

/// In a separate process.
///
/// # Errors
/// The scenario cannot be simulated.
pub(super) fn of(flows: usize, seconds: u64) -> Result<String, String> {
    let start = resident();
    let mut end = start;
    let plan = {
        let text = scale::bulk(flows, seconds as f64 / processes::LARGE_SHORTER);
        let (scenario, _) = Scenario::parse(&text, &Options::new("p")).map_err(|e| e.to_string())?;
        scenario.plan(1, 0)
    };
    let simulation = Simulation::new(plan, EngineOptions::default()).map_err(|e| e.to_string())?;
    let look = |_| {
        end = resident();
        true
    };
    let in_flight = simulation.run(look).map_or(0, |outcome| in_flight(&outcome));
    Ok(json!({ "flows": flows, "start_bytes": start, "end_bytes": end, "in_flight": in_flight }).to_string())
}

/// Packets on links: let in, and neither dropped later nor arrived.
fn in_flight(outcome: &Outcome) -> u64 {
    let hops = outcome.ports.hops.iter();
    let on = hops.map(|hop| {
        hop.fates.queued.packets - hop.fates.dropped_at_head.packets - hop.delivered.packets - hop.lost.packets
    });
    on.sum()
}

/// Bytes of this process in memory; `None` where the system does not say.
fn resident() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(1024 * line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?)
}

/// Lines for people.
pub(super) fn text(all: &[Measured]) -> String {
    let mut text = "memory of a flow with its four links: kB, without packets in flight of 64 B\n".to_owned();
    for it in all {
        let (flows, per_flow) = (it.flows, it.per_flow() / 1e3);
        text += &format!(
            "  {flows:6} flows {per_flow:8.1}   {:.1} MB in all, {} packets in flight\n",
            it.resident[1] / 1e6,
            it.in_flight
        );
    }
    text.trim_end().to_owned()
}

/// The same for programs.
pub(super) fn as_json(all: &[Measured]) -> Value {
    let each = all.iter().map(|it| {
        json!({ "flows": it.flows, "bytes_per_flow": it.per_flow(), "resident_bytes": it.resident[1],
                "start_bytes": it.resident[0], "packets_in_flight": it.in_flight })
    });
    each.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_in_flight_are_not_the_flows() {
        let said = r#"{"flows":1000,"start_bytes":2000000,"end_bytes":12064000,"in_flight":1000}"#;
        assert_eq!(read(said).unwrap().per_flow(), 10_000.0);
        assert!(read(r#"{"flows":1000,"start_bytes":null,"end_bytes":null,"in_flight":1000}"#).is_none());
    }

    #[test]
    fn this_process_is_in_memory() {
        assert!(!cfg!(target_os = "linux") || resident().is_some_and(|bytes| bytes > 100_000));
    }
}
