//! W301 says that a policer holds TCP below its contract: true of every case in which it is said, and untrue of those in
//! which it is not.

use perhop_scenario::{Options, Scenario};
use perhop_sim::{EngineOptions, Simulation};

/// Flows of `host`'s TCP under one bucket.
struct Case {
    cir_mbit_s: f64,
    rtt_ms: u64,
    flows: u32,
    /// Bytes.
    cbs: u32,
    /// `red = "drop"`, for one.
    actions: &'static str,
}

const fn policed(cir_mbit_s: f64, rtt_ms: u64, flows: u32, cbs: u32) -> Case {
    Case { cir_mbit_s, rtt_ms, flows, cbs, actions: "red = \"drop\"" }
}

const fn marked(flows: u32, cbs: u32) -> Case {
    Case { cir_mbit_s: 10.0, rtt_ms: 40, flows, cbs, actions: "green = \"mark AF11\"\nred = \"mark AF13\"" }
}

const HELD: [Case; 9] = [
    policed(10.0, 40, 1, 25_000),
    policed(10.0, 40, 1, 50_000),
    policed(10.0, 100, 1, 125_000),
    policed(10.0, 100, 1, 500_000),
    policed(50.0, 40, 1, 500_000),
    policed(2.0, 100, 1, 25_000),
    policed(10.0, 40, 5, 12_500),
    policed(10.0, 40, 20, 4_000),
    policed(2.0, 100, 5, 2_500),
];

const DELIVERED: [Case; 9] = [
    policed(10.0, 40, 1, 800_000),
    policed(2.0, 100, 1, 200_000),
    policed(10.0, 40, 5, 75_000),
    policed(10.0, 40, 20, 50_000),
    policed(2.0, 100, 5, 25_000),
    policed(10.0, 100, 10, 125_000),
    policed(50.0, 40, 20, 125_000),
    marked(1, 3_000),
    marked(20, 3_000),
];

/// Whether W301 is said, and the share of the contract that arrives in 80 s.
fn outcome(case: &Case) -> (bool, f64) {
    let Case { cir_mbit_s, rtt_ms, flows, cbs, actions } = case;
    let (cir, delay) = (cir_mbit_s * 1e6, rtt_ms / 2 - 2);
    let text = format!(
        "[scenario]\nduration = \"100s\"\nwarmup = \"20s\"\n[links]\n\"S - E\" = {{ rate = \"1Gbit/s\", delay = \"1ms\" }}\n\
         \"E - C\" = {{ rate = \"1Gbit/s\", delay = \"{delay}ms\" }}\n\"C - D\" = {{ rate = \"1Gbit/s\", delay = \"1ms\" }}\n\
         [conditioner.contract]\nat = \"E -> C\"\nkind = \"token-bucket\"\ncir = \"{cir}bit/s\"\ncbs = \"{cbs}B\"\n{actions}\n\
         [traffic.bulk]\nmodel = \"ftp\"\nfrom = \"S\"\nto = \"D\"\nflows = {flows}\ntcp = \"host\"\n\
         [tcp.host]\nwindow = 1000\nsegment = \"1460B\"\nrto = \"modern\"\n"
    );
    let (scenario, said) = Scenario::parse(&text, &Options::new("x.toml")).unwrap_or_else(|d| panic!("{d}"));
    let simulation = Simulation::new(scenario.plan(1, 0), EngineOptions::default()).unwrap();
    let outcome = simulation.run(|_| true).unwrap();
    let bytes: u64 = outcome.arrivals.iter().map(|row| row.delivered.bytes).sum();
    (said.list.iter().any(|d| d.code == "W301"), bytes as f64 * 8.0 / outcome.measured.seconds() / cir)
}

#[test]
fn what_it_warns_of_is_held_below_its_contract() {
    for case in &HELD {
        let (said, share) = outcome(case);
        let name = format!("{} Mbit/s, {} ms, {} flows, {}B", case.cir_mbit_s, case.rtt_ms, case.flows, case.cbs);
        assert!(said && share < 0.9, "{name}: {said}, {share:.2}");
    }
}

#[test]
fn what_it_does_not_warn_of_is_delivered() {
    for case in &DELIVERED {
        let (said, share) = outcome(case);
        let name = format!("{} Mbit/s, {} ms, {} flows, {}B", case.cir_mbit_s, case.rtt_ms, case.flows, case.cbs);
        assert!(!said && share >= 0.9, "{name}: {said}, {share:.2}");
    }
}
