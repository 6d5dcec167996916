//! TCP's senders and receivers: settings of their nodes, attributes of their routes, and what a socket is told.

use super::{Said, Transfers, words};
use crate::resolve::offered::Flowline;
use crate::scenario::Scenario;
use perhop_sim::plan::{Offered, Plan};
use perhop_sim::traffic::TrafficParams;
use perhop_sim::transport::{AckDelay, Config, Recovery};
use std::collections::BTreeMap;

/// Time stamps take 12 bytes of each segment.
const TIME_STAMPS: u16 = 12;
/// Bytes of IP and TCP without options.
const BARE: u16 = 40;

/// What a connection asks of its two nodes: settings and their values.
fn asked(tcp: &Config) -> Vec<(&'static str, u8)> {
    let rack = u8::from(tcp.recovery == Recovery::Rack);
    let stamps = u8::from(has_time_stamps(tcp));
    let loss = [("sack", rack), ("recovery", rack), ("early_retrans", 3 * rack), ("timestamps", stamps)];
    loss.into_iter().chain([("no_metrics_save", 1)]).collect()
}

fn has_time_stamps(tcp: &Config) -> bool {
    tcp.header >= BARE + TIME_STAMPS
}

/// Settings of the nodes between which TCP goes. QUIC has no kernel to go between.
pub(super) fn settings(scenario: &Scenario, said: &mut Said) {
    for offered in scenario.built.plan.traffic.iter().filter(|it| matches!(it.model, TrafficParams::Quic(_))) {
        let why = "no kernel has QUIC; `model = \"ftp\"` with tcp = \"linux\" is what it can send";
        said.refused.push(format!("traffic `{}`: {why}", offered.name));
    }
    let mut nodes = BTreeMap::<usize, BTreeMap<&'static str, u8>>::new();
    for flow in connections(scenario) {
        let (from, tcp) = (sender(flow), &flow.offered.tcp);
        let ecn = [(from, tcp.ecn.then_some(1)), (flow.offered.to, (!tcp.receiver_ecn).then_some(0))];
        for (node, ecn) in ecn {
            for (key, value) in asked(tcp).into_iter().chain(ecn.map(|ecn| ("ecn", ecn))) {
                if *nodes.entry(node).or_default().entry(key).or_insert(value) != value {
                    let name = &scenario.built.plan.nodes[node].name;
                    said.refused.push(format!("Linux has one `tcp_{key}` for all TCP of node `{name}`"));
                }
            }
        }
    }
    for (node, mut settings) in nodes {
        settings.entry("ecn").or_insert(2);
        let all: String = settings.iter().map(|(key, value)| format!(" net.ipv4.tcp_{key}={value}")).collect();
        said.say(format!("ip netns exec {} sysctl -q -w{all}", scenario.built.plan.nodes[node].name));
    }
}

/// What a route from a node to another says of the TCP that begins or ends there.
pub(super) fn route(scenario: &Scenario, at: usize, end: usize) -> String {
    let mut words = String::new();
    for flow in connections(scenario) {
        let (from, to, tcp) = (sender(flow), flow.offered.to, &flow.offered.tcp);
        if (from, to) == (at, end) {
            words = format!(" initcwnd {} rto_min {}", tcp.initial_window, words::time(tcp.rto.minimum));
        } else if (to, from) == (at, end) && tcp.reaction.ack == AckDelay::None {
            words = " quickack 1".into();
        }
    }
    words
}

/// What sockets are told, for each traffic over TCP.
pub(super) fn transfers(plan: &Plan) -> Vec<Transfers> {
    plan.traffic.iter().filter(|it| it.model.name() == "ftp").map(told).collect()
}

fn told(offered: &Offered) -> Transfers {
    let tcp = &offered.tcp;
    Transfers {
        traffic: offered.name.clone(),
        congestion: tcp.congestion.name().into(),
        segment: u64::from(tcp.mss) + if has_time_stamps(tcp) { u64::from(TIME_STAMPS) } else { 0 },
        window: u64::from(tcp.window) * u64::from(tcp.mss),
        stop: offered.stop,
    }
}

fn connections(scenario: &Scenario) -> impl Iterator<Item = &Flowline> {
    scenario.built.traffic.iter().filter(|flow| flow.tcp)
}

fn sender(flow: &Flowline) -> usize {
    flow.offered.from[flow.sender]
}
