//! The kernel's arrivals through perhop's port.

use crate::kernel::cells::{Cell, Left, Row};
use perhop_core::classify::FlowHeaders;
use perhop_core::conditioner::Passage;
use perhop_core::counter::Part;
use perhop_core::dscp::Dscp;
use perhop_core::packet::{Ecn, FlowId, Packet};
use perhop_core::params::key;
use perhop_core::port::Port;
use perhop_core::port::edge::Edge;
use perhop_core::units::Time;
use perhop_scenario::{Options, Policy};
use perhop_sim::replay::{Line, Replay, Trip};
use std::net::IpAddr;

/// What became of the packets, by their numbers.
pub type Fates = Vec<Left>;

/// A cell begins this long after its port was set up, or up to twice as long: timers of the port have begun.
const BEGIN_NS: u64 = 1 << 30;

/// A cell without a line has one that takes no time; a rate is stated because a policy's queue needs one.
const LINE: &str = "100Gbit/s";

/// The hosts that send, by the hundreds of the source port, as in `lab/network.py`.
const HOSTS: [[u8; 4]; 3] = [[10, 0, 0, 1], [10, 0, 0, 11], [10, 0, 0, 12]];

/// What perhop does with the arrivals of a cell.
///
/// # Errors
/// Why perhop has no such port.
pub fn replayed(cell: &Cell, rows: &[Row], seed: u64) -> Result<Fates, String> {
    replayed_as(cell, rows, seed, |packet| packet.ecn as u8)
}

/// The same, with what `field` tells of a packet that left.
///
/// # Errors
/// Why perhop has no such port.
pub fn replayed_as(cell: &Cell, rows: &[Row], seed: u64, field: fn(&Packet) -> u8) -> Result<Fates, String> {
    let policy = policy(cell, seed)?;
    let mut replay = begun(cell, &policy, rows, seed)?;
    let packets: Vec<_> =
        rows.chunk_by(|a, b| a.came == b.came).flat_map(|it| packets(it, &policy, &mut replay)).collect();
    let mut fates = vec![None; packets.len()];
    let mut each = |trip: &Trip| {
        fates[trip.number as usize] = trip.sent.map(|sent| (sent.starts.ns() - BEGIN_NS, field(&trip.packet)));
    };
    for (burst, mut packet) in packets.iter().copied() {
        let at = Passage::of(Time::from_ns(BEGIN_NS + burst[0].came), packet.flow);
        let framing = if cell.link.is_some() { policy.accounting().overhead() } else { 0 };
        replay.arrive(&at, &mut packet, burst.iter().map(|row| row.bytes + framing).sum(), &mut each);
    }
    replay.finish(&mut each);
    Ok(packets.iter().zip(fates).flat_map(|((burst, _), fate)| vec![fate; burst.len()]).collect())
}

/// The packets of rows that arrive together: the port meets one, unless it wants the segments one by one.
fn packets<'a>(burst: &'a [Row], policy: &Policy, replay: &mut Replay) -> Vec<(&'a [Row], Packet)> {
    let each = |rows: &'a [Row]| {
        let size = rows.iter().map(|row| row.bytes + policy.accounting().overhead()).sum();
        (rows, Packet { size, ..packet(&rows[0], policy.accounting().overhead()) })
    };
    let whole = each(burst);
    let apart = burst.len() > 1 && replay.port_mut().takes_apart(&whole.1);
    if apart { burst.chunks(1).map(each).collect() } else { vec![whole] }
}

/// A counter: its node, whose it is there, name, value.
pub type Counter = (usize, Part, &'static str, f64);

/// What perhop has counted at a time of the cell.
///
/// # Errors
/// Why perhop has no such port.
pub fn read(cell: &Cell, rows: &[Row], seed: u64, at_ns: u64) -> Result<Vec<Counter>, String> {
    let policy = policy(cell, seed)?;
    let mut replay = begun(cell, &policy, rows, seed)?;
    for row in rows.iter().take_while(|row| row.came <= at_ns) {
        let at = Passage::of(Time::from_ns(BEGIN_NS + row.came), FlowId(row.port.into()));
        replay.arrive(&at, &mut packet(row, policy.accounting().overhead()), row.bytes, &mut |_| {});
    }
    let (now, mut found) = (Time::from_ns(BEGIN_NS + at_ns), Vec::new());
    replay.advance(now, &mut |_| {});
    replay.port().counters(now, &mut |node, part, name, value| found.push((node, part, name, value)));
    Ok(found)
}

/// The port of a policy, which knows the flows of these packets.
fn begun(cell: &Cell, policy: &Policy, rows: &[Row], seed: u64) -> Result<Replay, String> {
    let rate = policy.line().filter(|_| cell.link.is_some()).map(|plan| plan.links[0].rate);
    let mut replay = Replay::new(port(policy, seed)?, rate.map_or(Line::Infinite, Line::Rate));
    for flow in rows.iter().map(|row| row.port).collect::<std::collections::BTreeSet<_>>() {
        replay.port_mut().register(FlowId(flow.into()), &headers(flow));
    }
    Ok(replay)
}

fn policy(cell: &Cell, seed: u64) -> Result<Policy, String> {
    let options = Options::new(&format!("{}.toml", cell.port)).set(&format!("policy.seed={seed}"));
    let queued = cell.perhop.contains(&format!("[queue.{}]", key(&cell.queue)));
    let options = if queued {
        options
            .set(&format!("policy.queue={:?}", cell.queue))
            .set(&format!("policy.link={}", cell.link.as_deref().unwrap_or(LINE)))
    } else {
        options
    };
    match Policy::parse(&cell.perhop, &options) {
        Ok((policy, _)) => Ok(policy),
        Err(found) => {
            Err(found.list.first().map_or_else(|| "refused".into(), |it| format!("{} {}", it.code, it.sentence())))
        }
    }
}

fn port(policy: &Policy, seed: u64) -> Result<Port<u32>, String> {
    match policy.line() {
        Some(plan) => plan.port(0).build().map_err(|error| format!("{error:?}")),
        None => Edge::new(policy.stages(), seed, 0).map(Port::of_edge).map_err(|error| format!("{error:?}")),
    }
}

fn packet(row: &Row, overhead: u32) -> Packet {
    let dscp = Dscp::new(row.dscp).unwrap();
    Packet {
        size: row.bytes + overhead,
        flow: FlowId(row.port.into()),
        colour: dscp.colour(),
        dscp,
        ecn: Ecn::from_bits(row.ecn),
        ..Packet::default()
    }
}

fn headers(port: u16) -> FlowHeaders {
    FlowHeaders {
        protocol: 17,
        source: IpAddr::from(HOSTS[usize::from(port - 5000) / 100]),
        destination: IpAddr::from([10, 0, 1, 1]),
        source_port: port,
        destination_port: 9,
        traffic: String::new(),
        class: String::new(),
        rtt: None,
    }
}
