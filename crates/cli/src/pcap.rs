//! Packets of a simulated link as a capture: nanosecond pcap of raw IP, headers only.

use crate::Failure;
use perhop_capture::Ports;
use perhop_capture::export::{SimulatedPacket, SimulatedTransport};
use perhop_core::classify::{FlowHeaders, Protocol};
use perhop_core::packet::flags;
use perhop_scenario::Scenario;
use perhop_scenario::output::run::Replication;
use perhop_sim::plan::{Tap, TapPoint};
use perhop_sim::tap::Captured;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};

/// Writes one file for each tap into `dir`; returns their paths.
pub(crate) fn write(
    recorded: &Option<Replication>,
    taps: &[Tap],
    scenario: &Scenario,
    dir: &Path,
) -> Result<Vec<PathBuf>, Failure> {
    let Some(outcome) = recorded.as_ref().and_then(|r| r.captured.as_ref()) else { return Ok(Vec::new()) };
    let plan = scenario.plan(0, 0);
    let mut paths = Vec::new();
    for tap in taps {
        let link = plan.links[tap.link].name.replace(" -> ", "-");
        let suffix = if tap.point == TapPoint::Input { "-in" } else { "" };
        let path = dir.join(format!("{link}{suffix}.pcap"));
        let packets = outcome.captured.iter().filter(|c| c.link as usize == tap.link && c.point == tap.point);
        write_one(&path, packets, &outcome.headers)
            .map_err(|error| Failure::Error(format!("error[E010] cannot write {}: {error}", path.display())))?;
        paths.push(path);
    }
    Ok(paths)
}

fn write_one<'a>(
    path: &Path,
    packets: impl Iterator<Item = &'a Captured>,
    headers: &[FlowHeaders],
) -> Result<(), Box<dyn std::error::Error>> {
    let mut exporter = perhop_capture::export::Exporter::new(perhop_capture::OutputFile::create(path)?)?;
    for packet in packets {
        exporter.write(&simulated(packet, headers))?;
    }
    Ok(exporter.into_inner().finish()?)
}

/// A simulated packet as a capture holds it. `headers[k]` belongs to packet numbers `2 k` (out) and `2 k + 1` (back).
fn simulated(captured: &Captured, headers: &[FlowHeaders]) -> SimulatedPacket {
    let packet = &captured.packet;
    let flow = &headers[(packet.flow.0 / 2) as usize];
    let out = packet.flow.0.is_multiple_of(2);
    let (from, to) = if out { (flow.source, flow.destination) } else { (flow.destination, flow.source) };
    let ports = [flow.source_port, flow.destination_port];
    let [source, destination] = if out { ports } else { [ports[1], ports[0]] };
    SimulatedPacket {
        time_ns: captured.at.ns(),
        source: ipv4(from),
        destination: ipv4(to),
        ports: Ports { source, destination },
        dscp: packet.dscp.get(),
        ecn: packet.ecn as u8,
        ip_length: captured.wire,
        transport: if flow.protocol == Protocol::TCP.0 { tcp(packet) } else { SimulatedTransport::Udp },
    }
}

fn ipv4(address: IpAddr) -> Ipv4Addr {
    match address {
        IpAddr::V4(address) => address,
        IpAddr::V6(_) => unreachable!("simulated nodes have IPv4 addresses"),
    }
}

fn tcp(packet: &perhop_core::packet::Packet) -> SimulatedTransport {
    let bits = [(flags::FIN, 0x01), (flags::SYN, 0x02), (flags::ACK, 0x10), (flags::ECE, 0x40), (flags::CWR, 0x80)];
    let wire = bits.iter().filter(|(ours, _)| packet.flags & ours != 0).map(|(_, wire)| wire).sum();
    let syn = u32::from(packet.flags & flags::SYN != 0);
    let seq = packet.seq_end.wrapping_sub(u32::from(packet.payload)).wrapping_sub(syn);
    SimulatedTransport::Tcp { seq, ack: packet.ack, flags: wire }
}
