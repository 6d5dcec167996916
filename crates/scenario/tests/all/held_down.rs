//! What CHOKe leaves a source that does not respond, and what an ACK filter takes out of a slow uplink: the examples.

use perhop_core::verdict::Reason;
use perhop_scenario::{Options, Scenario};
use perhop_sim::{EngineOptions, Outcome, Simulation};

/// A run of one replication with some of its text in other words.
fn run(text: &str, changes: &[[&str; 2]]) -> Outcome {
    let text = changes.iter().fold(text.to_owned(), |text, [old, new]| {
        assert!(text.contains(old), "{old}");
        text.replace(old, new)
    });
    let (scenario, said) = Scenario::parse(&text, &Options::new("example.toml")).unwrap_or_else(|e| panic!("{e}"));
    assert!(said.list.is_empty(), "{said}");
    let plan = scenario.plan(scenario.settings().seed, 0);
    Simulation::new(plan, EngineOptions::default()).unwrap().run(|_| true).unwrap()
}

/// What a source of this rate gets of the link's 1 Mbit/s, in the network of the paper.
fn share_of_udp(aqm: &str, rate: &str) -> f64 {
    let changes = [["aqm = \"choke\"", aqm], ["rate = \"2Mbit/s\"", rate], ["replications = 3", "seed = 7"]];
    let outcome = run(include_str!("../../../../examples/choke.toml"), &changes);
    let bytes: Vec<_> = [0, 1]
        .map(|class| {
            let rows = outcome.ports.hops.iter().filter(|row| row.class == class);
            rows.filter(|row| row.fates.lost().packets > 0).map(|row| row.delivered.bytes).sum::<u64>()
        })
        .into();
    assert!(bytes.iter().all(|bytes| *bytes > 0), "{bytes:?}");
    *bytes.last().unwrap() as f64 / bytes.iter().sum::<u64>() as f64
}

/// Tang, Wang and Low, "Understanding CHOKe" (2004): however much it sends, at most 1/(e + 1) of the link among many TCP
/// flows. A quarter of a point is left for 32 of them and 100 s. RED leaves it nearly all.
#[test]
fn a_source_that_does_not_respond_is_held_down() {
    let most = 1.0 / (1.0 + std::f64::consts::E) + 0.0025;
    for rate in ["rate = \"800kbit/s\"", "rate = \"1200kbit/s\"", "rate = \"2Mbit/s\"", "rate = \"5Mbit/s\""] {
        let share = share_of_udp("aqm = \"choke\"", rate);
        assert!(share > 0.02 && share <= most, "{rate}: {share}");
    }
    let red = share_of_udp("aqm = \"red\"", "rate = \"2Mbit/s\"");
    assert!(red > 0.9, "{red}");
}

/// Of the example: ACKs filtered, and the rate of the download in bit/s.
fn uplink(filter: &str) -> (u64, f64) {
    let change = [["ack-filter = \"on\"", filter], ["replications = 3", "seed = 7"]];
    let outcome = run(include_str!("../../../../examples/ack-filter.toml"), &change);
    let filtered = outcome.ports.hops.iter().map(|row| row.fates.dropped[Reason::Filtered as usize].packets).sum();
    let rate = outcome.ports.hops.iter().map(|row| row.delivered.bytes).max().unwrap() as f64 * 8.0 / 30.0;
    (filtered, rate)
}

/// No filter drops none; one that does leaves the download as fast or makes it faster.
#[test]
fn a_download_loses_redundant_acks_and_no_speed() {
    let [(none, before), (some, on), (most, aggressive)] =
        ["off", "on", "aggressive"].map(|filter| uplink(&format!("ack-filter = \"{filter}\"")));
    assert!(none == 0 && some > 1000 && most > 1000, "{none} {some} {most}");
    assert!(on > 0.98 * before && aggressive > 0.98 * before, "{before} {on} {aggressive}");
}
