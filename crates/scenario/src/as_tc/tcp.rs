//! TCP's senders and receivers: settings of their nodes, attributes of their routes, and what a socket is told.

use super::{Said, Transfers, words};
use crate::resolve::offered::Flowline;
use crate::scenario::Scenario;
use perhop_sim::plan::{Offered, Plan};
use perhop_sim::transport::AckDelay;
use std::collections::BTreeMap;

/// TCP without what the simulator's has not: selective ACKs, time stamps, RACK, tail loss probes, memory between connections.
const PLAIN: &str = "net.ipv4.tcp_sack=0 net.ipv4.tcp_timestamps=0 net.ipv4.tcp_recovery=0 net.ipv4.tcp_early_retrans=0 \
                     net.ipv4.tcp_no_metrics_save=1";

/// Settings of the nodes between which TCP goes.
pub(super) fn settings(scenario: &Scenario, said: &mut Said) {
    let plan = &scenario.built.plan;
    let mut asks = BTreeMap::new();
    for flow in connections(scenario) {
        let offered = &flow.offered;
        let (from, ecn) = (sender(flow), &offered.tcp);
        for (node, value) in [(from, ecn.ecn.then_some(1)), (offered.to, (!ecn.receiver_ecn).then_some(0))] {
            let known = asks.entry(node).or_insert(value);
            if *known != value && known.is_some() && value.is_some() {
                said.refused.push(format!("Linux has one `tcp_ecn` for all TCP of node `{}`", plan.nodes[node].name));
            }
            *known = value.or(*known);
        }
    }
    for (node, ecn) in asks {
        let ecn = ecn.unwrap_or(2);
        said.say(format!("ip netns exec {} sysctl -q -w {PLAIN} net.ipv4.tcp_ecn={ecn}", plan.nodes[node].name));
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
        segment: tcp.mss.into(),
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
