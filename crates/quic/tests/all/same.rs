//! The same seed gives the same datagrams, byte for byte: within a process, and in another one.

use super::recorded::{self, Hash};
use super::{net::Net, path, quic};
use perhop_core::units::{BitRate, Bytes, Probability, Span};
use perhop_sim::traffic::TrafficParams;
use perhop_sim::traffic::law::Drawn;
use perhop_sim::traffic::quic::{Controller, Params};
use perhop_sim::{EngineOptions, Simulation};
use std::process::Command;

/// A bulk transfer of each controller and responses, on a link with losses.
fn busy(seed: u64) -> Net {
    let mut net = path(BitRate::mbps(10), 20, quic());
    for congestion in [Controller::NewReno, Controller::Bbr] {
        net.traffic([0, 1], TrafficParams::Quic(Params { congestion, ..quic() }));
    }
    let (size, gap) = (Some(Drawn::Constant(Bytes::new(30_000))), Some(Span::from_ms(300)));
    net.traffic([0, 1], TrafficParams::Quic(Params { size, gap, ..quic() })).flows = 3;
    net.plan.links[0].loss = Probability::new(0.005).unwrap();
    net.plan.seed = seed;
    net
}

fn hash(seed: u64) -> String {
    let hash = Hash::default();
    let of = |offered: &_| recorded::protocol(offered, &hash);
    let simulation = Simulation::with_protocols(busy(seed).plan, EngineOptions::default(), &of).unwrap();
    let outcome = simulation.run(|_| true).unwrap();
    assert!(outcome.tables[3].complete > 20 && outcome.flows.iter().all(|flow| flow.goodput_bytes > 1_000_000));
    let hash = hash.lock().unwrap();
    hash.finalize().to_hex().to_string()
}

#[test]
fn a_seed_gives_its_datagrams_again() {
    let first = hash(1);
    assert_eq!(first, hash(1), "in this process");
    assert_ne!(first, hash(2), "another seed");
    let this = std::env::current_exe().unwrap();
    let other =
        Command::new(this).args(["--exact", "same::prints_its_hash", "--ignored", "--nocapture"]).output().unwrap();
    let printed = String::from_utf8(other.stdout).unwrap();
    assert!(printed.contains(&first), "in another process: {first} is not in\n{printed}");
}

/// The other process.
#[test]
#[ignore = "run by the test above"]
fn prints_its_hash() {
    println!("{}", hash(1));
}
