//! A capture of what came to a simulated port, replayed into the same queue on the same line, meets the fate it met in the
//! simulator: the same drops for the same reasons, the same marks, the same waits, by colour.

use perhop_capture::export::{Exporter, SimulatedPacket};
use perhop_capture::mark::{Behind, Marking, QueueReport, QueueRow, run};
use perhop_capture::{Capture, Pump};
use perhop_core::aqm::AqmParams;
use perhop_core::params::{Place, Problems, Reader, Tree};
use perhop_core::port::edge::{Action, StageSpec};
use perhop_core::port::{Limit, QueueSpec, Side};
use perhop_core::scope::Scope;
use perhop_core::units::{BitRate, Length, Packets, Span, Time};
use perhop_core::verdict::Reason;
use perhop_sim::plan::{EcnUse, Node, Offered, Plan, Probes, Sockets, Tap, TapPoint};
use perhop_sim::{EngineOptions, Outcome, Simulation};

use crate::common::simulated::{conditioner, headers, link, offered, text, traffic};

const RATE: BitRate = BitRate::mbps(2);

fn aqm(name: &str, entries: Vec<(&str, Tree)>) -> AqmParams {
    let Tree::Table(table) = Tree::table(entries) else { unreachable!() };
    let mut problems = Problems::default();
    let mut reader = Reader::new(&table, Place::default(), &mut problems);
    AqmParams::read(name, Place::default(), &mut reader).unwrap_or_else(|| panic!("{name}: {problems:?}"))
}

/// Marked datagrams and others, at twice the link's rate for 5 s; then the queue empties.
fn sources() -> Vec<Offered> {
    let stop = Some(Time::ZERO + Span::from_s(5));
    let poisson = |rate: &str, size: &str| traffic("poisson", vec![("rate", text(rate)), ("size", text(size))]);
    let some = Offered { stop, ..offered("some", (0, 1), poisson("2Mbit/s", "1000B")) };
    vec![
        Offered {
            sockets: Sockets { ecn: EcnUse { datagrams: true, l4s: false }, ..Sockets::default() },
            ..some.clone()
        },
        Offered { model: poisson("2Mbit/s", "300B"), ..some },
    ]
}

fn stage() -> StageSpec {
    StageSpec {
        name: "edge".into(),
        matches: Default::default(),
        per: Default::default(),
        params: conditioner("tsw2cm", vec![("cir", text("1Mbit/s")), ("window", text("200ms"))]),
        actions: [Action::TRANSMIT; 4],
        scope: Scope::default(),
    }
}

/// A conditioner, RED, CoDel or drop-tail behind it, a line.
fn plan(aqm: AqmParams) -> Plan {
    let length = Some(Length::Packets(Packets::new(50)));
    let scope = Scope { link_rate: Some(RATE), limit: length, ..Scope::default() };
    let mut line = link(0, 1);
    (line.rate, line.edge) = (RATE, vec![stage()]);
    line.queues = vec![QueueSpec { aqm, limit: Limit::Packets(50), drop: Side::Tail, scope }];
    let node = |i: u8| Node { name: format!("n{i}"), address: [10, 0, i, 1].into() };
    Plan {
        seed: 3,
        replication: 0,
        duration: Span::from_s(10),
        warmup: Span::ZERO,
        accounting: Default::default(),
        nodes: (0..2).map(node).collect(),
        links: vec![line, link(1, 0)].into(),
        classes: vec!["all".into()].into(),
        traffic: sources().into(),
        changes: Vec::new(),
        sampling: None,
        probes: Probes { taps: vec![Tap { link: 0, point: TapPoint::Input }], ..Probes::default() },
    }
}

fn exported(outcome: &Outcome) -> Vec<u8> {
    let mut exporter = Exporter::new(Vec::new()).expect("memory takes all");
    for packet in &outcome.captured {
        let headers = headers(outcome, packet);
        let simulated = SimulatedPacket::new(packet.at, packet.wire, &packet.packet, &headers).expect("IPv4");
        exporter.write(&simulated).expect("in range");
    }
    exporter.into_inner()
}

fn replayed(plan: &Plan, input: &[u8]) -> QueueReport {
    let queue = Some(Behind { name: "q".into(), plan: plan.clone() });
    let marking = Marking { stages: vec![stage()], seed: plan.seed, queue, ..Marking::default() };
    let mut capture = Capture::new(input).expect("a capture");
    run(marking, &mut capture, None, &Pump::default()).expect("metered").load.queue.expect("asked for")
}

/// Packets that came, that were marked, that were dropped by reason; mean and 99 % of the waits, ns.
type Seen = (u64, u64, Vec<(&'static str, u64)>, Option<[f64; 2]>);

/// A row of the simulated port as a capture's report has it.
fn simulated(outcome: &Outcome, colour: &str) -> Seen {
    let row = outcome.ports.hops.iter().find(|row| row.link == 0 && row.colour.name() == colour).expect("packets");
    let reasons = Reason::ALL.into_iter().map(|it| (it.name(), row.fates.dropped[it as usize].packets));
    let waits = row.wait.map(|wait| [wait.mean, wait.p99 as f64]);
    (row.fates.arrived.packets, row.fates.marked.packets, reasons.filter(|row| row.1 > 0).collect(), waits)
}

fn reported(row: &QueueRow) -> Seen {
    let reasons = row.reasons.iter().map(|it| (it.reason, it.volume.packets)).collect();
    let waits = row.wait.map(|wait| [wait.mean_s * 1e9, wait.p99_s * 1e9]);
    (row.came.packets, row.marked.packets, reasons, waits)
}

#[test]
fn the_same_fates_as_in_the_simulator() {
    let red = vec![("min", text("5p")), ("max", text("20p")), ("max-p", Tree::Float(0.1)), ("ecn", Tree::Bool(true))];
    for aqm in [aqm("red", red), aqm("drop-tail", vec![]), aqm("codel", vec![])] {
        let (name, plan) = (aqm.name(), plan(aqm));
        let outcome = Simulation::new(plan.clone(), EngineOptions::default()).unwrap().run(|_| true).unwrap();
        let report = replayed(&plan, &exported(&outcome));
        assert_eq!(report.colours.len(), 2, "{name}");
        for row in &report.colours {
            let (ours, theirs) = (reported(row), simulated(&outcome, &row.of));
            assert_eq!((ours.0, ours.1, &ours.2), (theirs.0, theirs.1, &theirs.2), "{name} {}", row.of);
            let waits = ours.3.into_iter().flatten().zip(theirs.3.into_iter().flatten());
            waits.for_each(|(a, b)| assert!((a / b - 1.0).abs() < 1e-9, "{name} {}: {a} and {b} ns", row.of));
        }
        let all = &report.all;
        assert_eq!(all.sent.packets + all.dropped.packets, all.came.packets, "{name}");
        assert!(all.dropped.packets > 100 && (name != "red" || all.marked.packets > 10), "{name}: {all:?}");
        let flows: u64 = report.flows.iter().map(|flow| flow.dropped.packets).sum();
        assert_eq!(flows, all.dropped.packets, "{name}");
    }
}
