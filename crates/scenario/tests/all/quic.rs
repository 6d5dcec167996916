//! `model = "quic"` in scenario files: what is filled in, what is said, what its tables hold, and how quinn's CUBIC does
//! beside ours.

#![cfg(feature = "quic")]

use perhop_config::as_tc::as_tc;
use perhop_scenario::simulation::simulation;
use perhop_scenario::{Diagnostics, Options, Scenario};
use perhop_sim::Outcome;

const PATH: &str = r#"
[scenario]
duration = "60s"
warmup = "10s"
sample = "1s"
[links]
"S - E" = { rate = "1Gbit/s", delay = "1ms" }
"E - C" = { rate = "10Mbit/s", delay = "18ms", queue = { limit = "QUEUE" } }
"C - D" = { rate = "1Gbit/s", delay = "1ms" }
"#;

fn read(queue: &str, traffic: &str) -> Result<(Scenario, Diagnostics), Diagnostics> {
    let text = PATH.replace("QUEUE", queue) + traffic;
    Scenario::parse(&text, &Options::new("x.toml"))
}

fn outcome(queue: &str, traffic: &str) -> Outcome {
    let (scenario, _) = read(queue, traffic).unwrap_or_else(|d| panic!("{d}"));
    let outcome = simulation(scenario.plan(1, 0)).unwrap().run(|_| true).unwrap();
    assert_eq!(outcome.faults.breaches, Vec::<String>::new());
    outcome
}

const QUIC: &str = "[traffic.quic]\nmodel = \"quic\"\nfrom = \"S\"\nto = \"D\"\n";
const TCP: &str = "[traffic.tcp]\nmodel = \"ftp\"\ntcp = \"linux\"\nfrom = \"S\"\nto = \"D\"\n";

#[test]
fn a_scenario_that_states_nothing_gets_what_quinn_has() {
    let (scenario, said) = read("50p", QUIC).unwrap();
    let offered = &scenario.plan(1, 0).traffic[0];
    assert!(offered.sockets.ecn.datagrams && said.list.is_empty(), "{said}");
    let explained = perhop_scenario::explain(&scenario);
    for words in ["over QUIC, packets of at most 1480B", "window 1250000B"] {
        assert!(explained.contains(words), "{words} is not in\n{explained}");
    }
}

/// Linux has no QUIC to give orders to.
#[test]
fn it_cannot_be_said_in_linux_commands() {
    let (scenario, _) = read("50p", QUIC).unwrap();
    let refused = as_tc(&scenario).unwrap_err().join("\n");
    assert!(refused.contains("traffic `quic`") && refused.contains("no kernel has QUIC"), "{refused}");
}

/// What a lone flow does: throughput, Mbit/s; mean one-way delay, ms; cuts of its window.
fn alone(queue: &str, traffic: &str) -> [f64; 3] {
    let outcome = outcome(queue, traffic);
    let flow = &outcome.flows[0];
    let throughput = flow.counts.delivered.bytes as f64 * 8.0 / outcome.measured.seconds() / 1e6;
    [throughput, flow.delay.unwrap().mean / 1e6, flow.cuts.unwrap() as f64]
}

/// A quarter, one and four products of rate and RTT. The laws are the same (RFC 9438: beta 0.7, C 0.4, growth by time), so
/// the sawtooth has the same period and height; what differs is the packet (1480 B beside 1500 B), that quinn sends in
/// bursts of ten where Linux's ACK clock spreads them, and when each leaves slow start. One period more or less within
/// the 50 s are two or three percent of the link at most.
#[test]
fn cubic_of_quinn_does_what_ours_does() {
    for queue in ["8p", "34p", "136p"] {
        let [quic, tcp] = [QUIC, TCP].map(|traffic| alone(queue, traffic));
        let near = |i: usize, share: f64| (quic[i] / tcp[i] - 1.0).abs() <= share;
        assert!(near(0, 0.03) && near(1, 0.03), "{queue}: {quic:?} {tcp:?}");
        assert!((quic[2] - tcp[2]).abs() <= 2.0, "{queue}: cuts {quic:?} {tcp:?}");
    }
}

/// Columns that mean the same are filled, all others are empty: nothing is known of QUIC's repeats and time-outs.
#[test]
fn what_is_not_known_is_empty() {
    let row = |traffic: &str| {
        let outcome = outcome("34p", traffic);
        let (flow, table) = (&outcome.flows[0], &outcome.tables[0]);
        (flow.tcp.is_some(), table.tcp.is_some(), flow.cuts.is_some(), outcome.series.flows[20].cwnd.is_some())
    };
    assert_eq!(row(QUIC), (false, false, true, true));
    assert_eq!(row(TCP), (true, true, true, true));
    let bbr = QUIC.replace("from", "congestion = \"bbr\"\nfrom");
    assert_eq!(row(&bbr), (false, false, false, true), "BBR's window shrinks without losses");
}

/// A table of each model that says nothing: what is wrong is said of QUIC's keys, and of nothing else.
#[test]
fn changes_may_alter_what_is_asked_for() {
    let responses = format!("{QUIC}size = \"20kB\"\ngap = \"1s\"\n");
    let with = |change: &str| read("50p", &format!("{responses}[[change]]\nat = \"20s\"\n{change}\n"));
    assert!(with("traffic.quic = { size = \"40kB\" }").is_ok());
    let refused = with("traffic.quic = { mtu = \"1400B\" }").unwrap_err().to_string();
    assert!(refused.contains("a change cannot alter a connection of QUIC") && refused.contains("mtu"), "{refused}");
}
