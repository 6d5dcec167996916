//! Policers against what a Linux kernel did (`lab/vectors`): the same packets dropped, at every packet of every vector.

use flate2::read::GzDecoder;
use perhop_core::classify::FlowHeaders;
use perhop_core::conditioner::Passage;
use perhop_core::dscp::Dscp;
use perhop_core::packet::{FlowId, Packet};
use perhop_core::port::Port;
use perhop_core::port::edge::Edge;
use perhop_core::units::Time;
use perhop_core::verdict::{Fate, Reason};
use perhop_scenario::{Options, Policy};
use perhop_sim::replay::{Line, Replay};
use std::fs::File;
use std::io::Read;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab")
}

/// The policy of each cell whose name begins with `police`.
fn policers() -> Vec<(String, String)> {
    let text = std::fs::read_to_string(folder().join("cells/cells.toml")).unwrap();
    let cells = text.split("\n[police").skip(1).map(|cell| {
        let (name, rest) = cell.split_once("]\n").unwrap();
        let policy = rest.split_once("perhop = \"\"\"\n").unwrap().1.split_once("\"\"\"").unwrap().0;
        (format!("police{name}"), policy.to_owned())
    });
    cells.collect()
}

struct Row {
    came: u64,
    bytes: u32,
    dscp: Dscp,
    dropped: bool,
}

fn vector(path: &Path) -> Vec<Row> {
    let mut text = String::new();
    GzDecoder::new(File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    let mut came = 0;
    let row = |line: &str| {
        let cells: Vec<_> = line.split(',').collect();
        came += cells[0].parse::<u64>().unwrap();
        let dscp = Dscp::new(cells[2].parse().unwrap()).unwrap();
        Row { came, bytes: cells[1].parse().unwrap(), dscp, dropped: cells[5].is_empty() }
    };
    text.lines().skip(1).map(row).collect()
}

/// One flow through the conditioners of a policy, without a queue.
fn edge(policy: &str) -> Replay {
    let stages = Policy::parse(policy, &Options::new("cells.toml")).unwrap().0.stages();
    let mut replay = Replay::new(Port::of_edge(Edge::new(stages, 1, 0).unwrap()), Line::Infinite);
    let [source, destination] = [IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 1, 1])];
    let headers = FlowHeaders {
        protocol: 17,
        source,
        destination,
        source_port: 5001,
        destination_port: 9,
        traffic: String::new(),
        class: String::new(),
        rtt: None,
    };
    replay.port_mut().register(FlowId(0), &headers);
    replay
}

#[test]
fn linux_policers_drop_what_the_kernel_dropped() {
    let (mut packets, mut drops) = (0, 0);
    for (name, policy) in policers() {
        for file in folder().join("vectors").join(&name).read_dir().unwrap() {
            let path = file.unwrap().path();
            let mut edge = edge(&policy);
            for (row, Row { came, bytes, dscp, dropped }) in vector(&path).into_iter().enumerate() {
                let mut packet = Packet { size: bytes, dscp, colour: dscp.colour(), ..Packet::default() };
                // The kernel's bucket has been filling for longer than any vector lasts when the first packet comes.
                let at = Passage::of(Time::from_ns(came + 1_000_000_000), FlowId(0));
                let drop = edge.arrive(&at, &mut packet, bytes, &mut |_| {}) == Fate::Dropped(Reason::Policer);
                assert_eq!(drop, dropped, "{}: packet {row} of {bytes}B at {came} ns", path.display());
                (packets, drops) = (packets + 1, drops + usize::from(drop));
            }
        }
    }
    println!("{packets} packets, {drops} dropped");
    assert!(packets > 30_000 && drops > 10_000, "{packets} packets, {drops} dropped");
}
