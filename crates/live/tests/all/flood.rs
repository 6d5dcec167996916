//! 100,000 new flows a second: memory is bounded.

use etherparse::PacketBuilder;
use perhop_edge::Policy;
use perhop_live::{Forwarder, Memory};
use perhop_scenario::Options;

/// New flows in a second, and seconds.
const RATE: u32 = 100_000;
const SECONDS: u32 = 4;

/// The most flows that are known.
const MOST: u32 = 65_536;

/// State for each flow and for each pair.
const POLICY: &str = r#"
    [policy]
    [conditioner.labels]
    per = "flow"
    kind = "rate-labeller"
    k = "100ms"
    [conditioner.colours]
    per = "pair"
    kind = "srtcm"
    cir = "8Mbit/s"
    cbs = "3000B"
    ebs = "3000B"
    red = "drop"
"#;

fn forwarder() -> Forwarder<Memory> {
    let (policy, _) = perhop_scenario::Policy::parse(POLICY, &Options::new("flood.toml")).unwrap();
    let timeout = Some("60s".parse().unwrap());
    let policy = Policy { stages: policy.stages(), flow_timeout: timeout, most_flows: Some(MOST), ..Policy::default() };
    Forwarder::new(policy, [Memory::default(), Memory::default()], 0).unwrap()
}

/// A second of new flows, each of one packet from another address.
fn second(forwarder: &mut Forwarder<Memory>, second: u32) {
    let mut frame = Vec::new();
    let built = PacketBuilder::ethernet2([1; 6], [2; 6]).ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64).udp(1, 9);
    built.write(&mut frame, &[7; 20]).unwrap();
    for n in 0..RATE {
        frame[26..30].copy_from_slice(&(second * RATE + n).to_be_bytes());
        forwarder.sides_mut()[0].coming.push_back((frame.clone(), false));
        forwarder.step(u64::from(second) * 1_000_000_000 + u64::from(n) * 10_000);
        forwarder.sides_mut()[1].sent.clear();
    }
}

/// Once the tables are full, seconds of new flows leave no byte more. Sorted keys are in nodes that split and join: those
/// in use differ by no more than a node of 11 keys for each of the deepest level's parents, far below one in 64 flows.
#[test]
fn new_flows_cost_no_memory() {
    let mut forwarder = forwarder();
    second(&mut forwarder, 0);
    second(&mut forwarder, 1);
    let flows = forwarder.host().flows().len();
    let found = allocation_counter::measure(|| (2..SECONDS).for_each(|it| second(&mut forwarder, it)));
    assert_eq!(forwarder.counts()[0].sent, u64::from(RATE * SECONDS));
    assert_eq!(forwarder.host().flows().len(), flows);
    assert!(flows <= MOST as usize + 2, "{flows}");
    assert!(forwarder.host().expired().unwrap() >= u64::from(RATE * SECONDS - MOST - 2));
    assert!(found.bytes_current.abs() < i64::from(MOST / 64) * 400, "{} bytes more", found.bytes_current);
}
