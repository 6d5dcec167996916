//! `perhop forward` beside the kernel's own queues, packet for packet: what both did in the lab with the same datagrams, and what the
//! simulator does with them, in every cell of `lab/cells/live.toml`.
//!
//! `make renew WHAT=kernel` writes `docs/reports/live-beside-linux.md`.

mod page;
mod recorded;

use crate::kernel::cells::{Cell, Left, tables, text, texts};
use crate::kernel::replayed::replayed_as;
use perhop_core::packet::Packet;
use rayon::prelude::*;
use recorded::{Both, read};
use toml_span::Value;

/// A departure may be late by so much. In the lab computing takes no time, and reading a clock in a process 1 ns. The forwarder reads clocks
/// five times a turn, once itself and four times in ppoll, and takes up to three turns, since it wakes up to 2 ns early. The kernel's
/// queue leaves 1 ns late.
const TICKS_NS: u64 = TURNS * READINGS + 1;
const TURNS: u64 = 3;
const READINGS: u64 = 5;

/// The kernel's link is a class of HTB with a burst of a byte. It leaves 1 ns late after each packet, and the next one follows from that.
const DRIFT_NS: u64 = 1;

/// The line behind a queue whose shaper is the bottleneck, as in `lab/recording/live.py`.
const NO_BOTTLENECK: &str = "100000Gbit/s";

/// A port of the list.
struct Port {
    name: String,
    about: String,
    commands: Vec<String>,
    cells: Vec<Cell>,
}

/// A cell with what became of its packets in the three worlds.
struct Held {
    cell: Cell,
    rows: Vec<Both>,
    simulated: Vec<Left>,
    /// The live host's run beside the kernel's.
    kernel: Differ,
    /// The same beside the simulator's.
    simulator: Differ,
}

/// How two runs differ.
#[derive(Clone, Debug, Default, PartialEq)]
struct Differ {
    fates: usize,
    marks: usize,
    /// Departures further apart than [`TICKS_NS`] and the drift.
    late: usize,
    /// The largest distance.
    apart: u64,
    /// The first packet that differs.
    first: Option<usize>,
}

impl Differ {
    /// `drift`: by how much the other may fall behind with each packet, ns.
    fn of(one: impl Iterator<Item = Left>, other: impl Iterator<Item = Left>, drift: u64) -> Self {
        let mut found = Self::default();
        for (i, pair) in one.zip(other).enumerate() {
            let before = (found.fates, found.marks, found.late);
            match pair {
                (Some(a), Some(b)) => {
                    let apart = a.0.abs_diff(b.0);
                    found.apart = found.apart.max(apart);
                    found.marks += usize::from(a.1 != b.1);
                    found.late += usize::from(apart > TICKS_NS + drift * i as u64);
                }
                (None, None) => {}
                _ => found.fates += 1,
            }
            if before != (found.fates, found.marks, found.late) {
                found.first = found.first.or(Some(i));
            }
        }
        found
    }

    fn is_none(&self) -> bool {
        self.fates + self.marks + self.late == 0
    }
}

fn tos(packet: &Packet) -> u8 {
    packet.dscp.get() << 2 | packet.ecn as u8
}

/// Every port. One that names a port of `cells.toml` has its commands and its policy.
fn ports() -> Vec<Port> {
    let own = |name: &str, value: &Value<'_>| (name.to_owned(), texts(value, "tc"), text(value, "perhop"));
    let known = tables("cells/cells.toml", own);
    tables("cells/live.toml", |name, value| {
        let asked = text(value, "port").map(|port| known.iter().find(|it| it.0 == port).unwrap());
        let (commands, perhop) = match asked {
            Some((_, commands, perhop)) => (commands.clone(), perhop.clone()),
            None => (texts(value, "tc"), text(value, "perhop")),
        };
        let cell = |pattern: String| Cell {
            port: name.to_owned(),
            exact: true,
            perhop: perhop.clone().unwrap(),
            queue: "port".to_owned(),
            link: Some(text(value, "link").unwrap_or_else(|| NO_BOTTLENECK.to_owned())),
            explained: text(value, &format!("explained/{pattern}")).or_else(|| text(value, "explained/all")),
            pattern,
        };
        let cells = texts(value, "patterns").into_iter().map(cell).collect();
        Port { name: name.to_owned(), about: text(value, "about").unwrap(), commands, cells }
    })
}

fn held(cell: &Cell) -> Held {
    let rows = read(cell);
    let arrivals: Vec<_> = rows.iter().map(|it| it.row).collect();
    let simulated = replayed_as(cell, &arrivals, 1, tos).unwrap_or_else(|why| panic!("{}: {why}", cell.name()));
    let drift = if cell.link.as_deref() == Some(NO_BOTTLENECK) { 0 } else { DRIFT_NS };
    let kernel = Differ::of(rows.iter().map(|it| it.live), rows.iter().map(|it| it.row.left), drift);
    let simulator = Differ::of(rows.iter().map(|it| it.live), simulated.iter().copied(), 0);
    Held { cell: cell.clone(), rows, simulated, kernel, simulator }
}

/// All three agree on every packet, or the cell says why not.
#[test]
fn forward_does_what_the_kernel_and_the_simulator_do() {
    let ports = ports();
    let cells: Vec<_> = ports.iter().flat_map(|port| &port.cells).collect();
    let all: Vec<_> = cells.into_par_iter().map(held).collect();
    let wrong = |it: &&Held| (it.kernel.is_none() && it.simulator.is_none()) == it.cell.explained.is_some();
    let told = |it: &Held| format!("{}: kernel {:?}, simulator {:?}", it.cell.name(), it.kernel, it.simulator);
    let found: Vec<_> = all.iter().filter(wrong).map(told).collect();
    assert!(found.is_empty(), "{} of {}\n{}", found.len(), all.len(), found.join("\n"));
    page::check(&ports, &all);
}

/// What the cells must hold before anything is recorded.
#[test]
fn there_are_two_loads_and_more_at_each_port() {
    let ports = ports();
    assert!(ports.len() >= 12 && ports.iter().all(|port| port.cells.len() >= 2));
}

/// Packets reach the forwarder when they reach the router.
#[test]
fn both_were_sent_the_same_at_the_same_times() {
    for port in ports() {
        for row in port.cells.iter().flat_map(read) {
            assert!(row.row.came.abs_diff(row.came) <= 4, "{}: {row:?}", port.name);
        }
    }
}

#[test]
fn a_changed_packet_is_noticed() {
    let rows = read(&ports()[0].cells[0]);
    let live: Vec<_> = rows.iter().map(|it| it.live).collect();
    let changed = |alter: fn(&mut Left)| {
        let mut other = live.clone();
        alter(other.iter_mut().filter(|it| it.is_some()).nth(100).unwrap());
        Differ::of(live.iter().copied(), other.into_iter(), 0)
    };
    assert!(changed(|_| {}).is_none() && changed(|it| it.as_mut().unwrap().0 += TICKS_NS).is_none());
    let altered: [fn(&mut Left); 3] =
        [|it| *it = None, |it| it.as_mut().unwrap().0 += TICKS_NS + 1, |it| it.as_mut().unwrap().1 ^= 4];
    assert!(altered.into_iter().all(|alter| !changed(alter).is_none()));
}
