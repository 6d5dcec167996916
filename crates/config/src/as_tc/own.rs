//! What Linux's TCP has its own way of: keys of `[tcp]` that no setting, route or socket carries.

use perhop_core::params::{Tree, show_table};
use perhop_core::units::Span;
use perhop_scenario::resolve::offered::tcp_section;
use perhop_scenario::scenario::Scenario;
use perhop_scenario::sections::tcp::{DelayedAck, RecoveryName, TcpSection};
use perhop_sim::traffic::TrafficModel as _;
use perhop_sim::transport::{CongestionLaw as _, RtoConfig};

/// Keys that reach Linux, or that only choose others.
const SETTINGS: [&str; 14] = [
    "stack",
    "preset",
    "recovery",
    "congestion",
    "initial-window",
    "window",
    "segment",
    "header",
    "rto",
    "delayed-ack",
    "burst-segments",
    "ecn",
    "receiver-ecn",
    "ecn-feedback",
];

/// Each traffic over TCP with keys that differ from those of Linux's stack, and which.
pub(super) fn notes(scenario: &Scenario) -> Vec<[String; 2]> {
    let tables = scenario.model().traffic.sound().filter(|(_, it)| it.model.value.is_bulk_tcp());
    let note = |(name, section): (&str, &perhop_scenario::sections::traffic::TrafficSection)| {
        let tcp = tcp_section(scenario.model(), section.common.tcp.as_deref())?;
        let l4s = section.common.l4s.as_deref().is_some_and(|l4s| *l4s).then(|| "l4s".to_owned());
        let keys: Vec<_> = others(&tcp).into_iter().chain(l4s).collect();
        let line = || format!("Linux's TCP does not follow `{}`", keys.join("`, `"));
        (!keys.is_empty()).then(|| [format!("traffic `{name}`"), line()])
    };
    tables.filter_map(note).collect()
}

fn others(tcp: &TcpSection) -> Vec<String> {
    let Some(linux) = TcpSection::preset(tcp.congestion.0.stack().unwrap_or("linux")) else { return Vec::new() };
    let timer = |it: &TcpSection| RtoConfig { minimum: Span::ZERO, ..it.rto.config() };
    let besides = [
        ("delayed-ack", matches!(tcp.delays.delayed_ack, Some(DelayedAck::Fixed(_)))),
        ("recovery", matches!(tcp.recovery, RecoveryName::Reno | RecoveryName::NewRenoSteady)),
        ("rto", timer(tcp) != timer(&linux)),
    ];
    let [own, linux] = [tcp, &linux].map(entries);
    let differ = own.into_iter().filter(|it| !SETTINGS.contains(&it.0.as_str()) && !linux.contains(it)).map(|it| it.0);
    differ.chain(besides.into_iter().filter(|it| it.1).map(|it| it.0.to_owned())).collect()
}

fn entries(tcp: &TcpSection) -> Vec<(String, String)> {
    let Tree::Table(table) = show_table(tcp) else { return Vec::new() };
    table.entries.into_iter().map(|(key, _, node)| (key, node.tree.to_string())).collect()
}
