//! Policers against what a Linux kernel did (`tests/kernel`): the same packets dropped, at every packet of every vector.

use flate2::read::GzDecoder;
use perhop_core::conditioner::{Conditioner, Passage};
use perhop_core::packet::{FlowId, Packet};
use perhop_core::port::edge::Action;
use perhop_core::units::Time;
use perhop_core::{Rng, Scope};
use perhop_scenario::{Options, Policy};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/kernel")
}

/// The policy of each cell whose name begins with `police`.
fn policers() -> Vec<(String, String)> {
    let text = std::fs::read_to_string(folder().join("cells.toml")).unwrap();
    let cells = text.split("\n[police").skip(1).map(|cell| {
        let (name, rest) = cell.split_once("]\n").unwrap();
        let policy = rest.split_once("perhop = \"\"\"\n").unwrap().1.split_once("\"\"\"").unwrap().0;
        (format!("police{name}"), policy.to_owned())
    });
    cells.collect()
}

/// Arrival, IP length, whether it was dropped.
fn vector(path: &Path) -> Vec<(u64, u32, bool)> {
    let mut text = String::new();
    GzDecoder::new(File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    let mut now = 0;
    let row = |line: &str| {
        let cells: Vec<_> = line.split(',').collect();
        now += cells[0].parse::<u64>().unwrap();
        (now, cells[1].parse().unwrap(), cells[5].is_empty())
    };
    text.lines().skip(1).map(row).collect()
}

#[test]
fn linux_policers_drop_what_the_kernel_dropped() {
    let (mut packets, mut drops) = (0, 0);
    for (name, policy) in policers() {
        let stage = Policy::parse(&policy, &Options::new("cells.toml")).unwrap().0.stages().remove(0);
        for file in folder().join("vectors").join(&name).read_dir().unwrap() {
            let path = file.unwrap().path();
            let mut policer = stage.params.build(&Scope::default()).unwrap();
            let mut rng = Rng::stream(1, 0, "police");
            for (row, (ns, size, dropped)) in vector(&path).into_iter().enumerate() {
                let mut packet = Packet { size, ..Packet::default() };
                // The kernel's bucket has been filling for longer than any vector lasts when the first packet comes.
                let at = Passage::of(Time::from_ns(ns + 1_000_000_000), FlowId(0));
                policer.forward(&at, &mut packet, &mut rng);
                let drop = stage.actions[packet.colour.index()] == Action::Drop;
                assert_eq!(drop, dropped, "{}: packet {row} of {size}B at {ns} ns", path.display());
                (packets, drops) = (packets + 1, drops + usize::from(drop));
            }
        }
    }
    println!("{packets} packets, {drops} dropped");
    assert!(packets > 10_000 && drops > 1_000, "{packets} packets, {drops} dropped");
}
