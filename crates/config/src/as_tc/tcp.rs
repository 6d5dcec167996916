//! TCP's senders and receivers: settings of their nodes, attributes of their routes, and what a socket is told.

use super::script::Script;
use super::{Command, Transfers, namespace, own, words};
use perhop_scenario::resolve::offered::Flowline;
use perhop_scenario::scenario::Scenario;
use perhop_sim::plan::Offered;
use perhop_sim::traffic::{TrafficModel as _, Transport};
use perhop_sim::transport::{AckDelay, Bursts, Config, CongestionLaw as _, EcnFeedback, Recovery};
use std::collections::BTreeMap;

/// Time stamps take 12 bytes of each segment.
const TIME_STAMPS: u16 = 12;
/// Bytes of IP and TCP without options.
const BARE: u16 = 40;

/// What a connection asks of its two nodes: settings and their values.
fn sysctls(tcp: &Config) -> Vec<(&'static str, String)> {
    let (rack, probes) = if tcp.recovery == Recovery::Rack { ("1", "3") } else { ("0", "0") };
    let stamps = if has_time_stamps(tcp) { "1" } else { "0" };
    let loss = [("sack", rack), ("recovery", rack), ("early_retrans", probes), ("timestamps", stamps)];
    let all = loss.into_iter().chain([("no_metrics_save", "1")]);
    all.map(|(key, value)| (key, value.into())).collect()
}

/// Segments that a node's TCP hands over as one, which its interfaces take apart: as `burst-segments` says.
pub(super) fn bursts(scenario: &Scenario, node: usize) -> Bursts {
    let mut own = connections(scenario).filter(|flow| sender(flow) == node);
    own.next().map_or(Bursts::NONE, |flow| flow.offered.tcp.reaction.bursts)
}

/// Where it is not Linux's own choice.
fn least(bursts: Bursts) -> Option<String> {
    matches!(bursts, Bursts::Of(2..)).then(|| bursts.to_string())
}

/// How Linux's receiver tells of marks is a matter of its own congestion law; empty for any but DCTCP.
fn listens(tcp: &Config) -> Option<&'static str> {
    tcp.ecn.then_some(if tcp.reaction.feedback == EcnFeedback::Dctcp { "dctcp" } else { "" })
}

/// What Linux 6.12 has not.
fn unknown(tcp: &Config) -> Option<String> {
    if tcp.congestion.linux().is_none() {
        return Some(format!("Linux 6.12 has no congestion law \"{}\"", tcp.congestion.name()));
    }
    (tcp.ecn && tcp.reaction.feedback == EcnFeedback::Accurate)
        .then(|| "Linux 6.12 has no AccECN (`ecn-feedback`)".into())
}

fn has_time_stamps(tcp: &Config) -> bool {
    tcp.header >= BARE + TIME_STAMPS
}

/// Settings of the nodes between which TCP goes, and what they leave out. QUIC has no kernel to go between.
pub(super) fn settings(scenario: &Scenario, said: &mut Script) {
    for offered in scenario.built().plan.traffic.iter().filter(|it| matches!(it.model.transport(), Transport::Quic(_)))
    {
        let why = "no kernel has QUIC; `model = \"ftp\"` with tcp = \"linux\" is what it can send";
        said.refuse_of(format!("traffic `{}`", offered.name), why);
    }
    own::notes(scenario).into_iter().for_each(|[whose, what]| said.note_of(whose, &what));
    let mut nodes = BTreeMap::<usize, BTreeMap<&'static str, String>>::new();
    for flow in connections(scenario) {
        let (from, tcp) = (sender(flow), &flow.offered.tcp);
        let whose = || format!("traffic `{}`", flow.offered.name);
        let node = |i: usize| format!("node `{}`", scenario.built().plan.nodes[i].name);
        unknown(tcp).iter().for_each(|what| said.refuse_of(whose(), what));
        words::fine(&[("rto.minimum", tcp.rto.minimum)], words::MS).for_each(|what| said.refuse_of(whose(), &what));
        if tcp.reaction.bursts != bursts(scenario, from) {
            said.refuse_of(node(from), "Linux has one `burst-segments` (`gso_max_segs`) for all its TCP");
        }
        let out = [("ecn", tcp.ecn.then(|| "1".into())), ("min_tso_segs", least(tcp.reaction.bursts))];
        let back =
            [("ecn", (!tcp.receiver_ecn).then(|| "0".into())), ("congestion_control", listens(tcp).map(Into::into))];
        for (at, own) in [(from, out), (flow.offered.to, back)] {
            let own = own.into_iter().filter_map(|(key, value)| Some((key, value?)));
            for (key, value) in sysctls(tcp).into_iter().chain(own) {
                if *nodes.entry(at).or_default().entry(key).or_insert_with(|| value.clone()) != value {
                    said.refuse_of(node(at), &format!("Linux has one `tcp_{key}` for all its TCP"));
                }
            }
        }
    }
    if connections(scenario).any(|flow| listens(&flow.offered.tcp) == Some("dctcp")) {
        said.say(Command::of("sysctl -q -w").and("net.ipv4.tcp_allowed_congestion_control=reno cubic dctcp"));
    }
    for (node, mut settings) in nodes {
        settings.entry("ecn").or_insert_with(|| "2".into());
        let stated = settings.iter().filter(|(_, value)| !value.is_empty());
        let all: String = stated.map(|(key, value)| format!(" net.ipv4.tcp_{key}={value}")).collect();
        said.say(Command::inside(&namespace(node), &format!("sysctl -q -w{all}")));
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

/// What the sockets of a traffic's bulk transfers over TCP are told.
pub(super) fn transfers(offered: &Offered) -> Option<Transfers> {
    let tcp = &offered.tcp;
    offered.model.is_bulk_tcp().then(|| Transfers {
        congestion: tcp.congestion.linux().unwrap_or_default().into(),
        segment: u64::from(tcp.mss) + if has_time_stamps(tcp) { u64::from(TIME_STAMPS) } else { 0 },
        window: u64::from(tcp.window) * u64::from(tcp.mss),
        start_ns: offered.start.ns(),
        stop_ns: offered.stop.map(|at| at.ns()),
    })
}

fn connections(scenario: &Scenario) -> impl Iterator<Item = &Flowline> {
    scenario.built().traffic.iter().filter(|flow| flow.tcp)
}

fn sender(flow: &Flowline) -> usize {
    flow.offered.from[flow.sender]
}
