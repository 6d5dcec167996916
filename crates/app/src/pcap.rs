//! Packets of a simulated link as a capture: nanosecond pcap of raw IP, headers only.

use crate::Failure;
use perhop_capture::export::{Exporter, SimulatedPacket};
use perhop_capture::{Existing, OutputFile};
use perhop_core::classify::FlowHeaders;
use perhop_results::Replication;
use perhop_runs::captures::file_name;
use perhop_scenario::Scenario;
use perhop_sim::plan::Tap;
use perhop_sim::record::Captured;
use std::path::{Path, PathBuf};

/// The file of each tap in `dir`.
pub(crate) fn paths(taps: &[Tap], scenario: &Scenario, dir: &Path) -> Vec<PathBuf> {
    let links = scenario.plan(0, 0).links;
    taps.iter().map(|tap| dir.join(file_name(&links[tap.link].name, tap.point))).collect()
}

/// Writes them; returns their paths.
pub(crate) fn write(
    recorded: &Option<Replication>,
    taps: &[Tap],
    scenario: &Scenario,
    dir: &Path,
) -> Result<Vec<PathBuf>, Failure> {
    let Some(outcome) = recorded.as_ref().and_then(|r| r.captured.as_ref()) else { return Ok(Vec::new()) };
    let paths = paths(taps, scenario, dir);
    for (tap, path) in taps.iter().zip(&paths) {
        let packets = outcome.captured.iter().filter(|c| c.link as usize == tap.link && c.point == tap.point);
        write_one(path, packets, &outcome.headers)
            .map_err(|error| Failure::error("E020", format!("cannot write {}: {error}", path.display()), ""))?;
    }
    Ok(paths)
}

/// `headers[k]` belongs to packet numbers `2 k` (out) and `2 k + 1` (back).
fn write_one<'a>(
    path: &Path,
    packets: impl Iterator<Item = &'a Captured>,
    headers: &[FlowHeaders],
) -> Result<(), Box<dyn std::error::Error>> {
    let mut exporter = Exporter::new(OutputFile::create(path, Existing::Replaced)?)?;
    for captured in packets {
        let number = captured.packet.flow.0;
        let out = &headers[(number / 2) as usize];
        let headers = if number.is_multiple_of(2) { out.clone() } else { out.reversed() };
        let packet = SimulatedPacket::new(captured.at, captured.wire, &captured.packet, &headers);
        exporter.write(&packet.ok_or("simulated nodes have IPv4 addresses")?)?;
    }
    Ok(exporter.into_inner().finish()?)
}
