//! A port does the same under any host: driven by one of 80 lines, it treats the packets of every example as it does in
//! the simulator, packet for packet.

mod host;

use host::{Event, drive};
use perhop_core::classify::Protocol;
use perhop_core::conditioner::Conditioner as _;
use perhop_core::needs::Needs;
use perhop_core::packet::{FlowId, Packet};
use perhop_core::port::{Fates, Port};
use perhop_core::sched::cake::AckFilter;
use perhop_core::sched::{SchedulerParams, Socket};
use perhop_core::units::{Span, Time};
use perhop_scenario::simulation::simulation;
use perhop_scenario::{Options, Scenario};
use perhop_sim::Outcome;
use perhop_sim::plan::{Link, Plan, Probes, Tap, TapPoint};
use perhop_sim::record::Captured;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const SECONDS: u64 = 3;

fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|it| it == "toml")).collect();
    files.sort();
    files
}

/// The first seconds of an example, every link recorded at both ends, without changes or warm-up.
fn plan(path: &Path) -> Option<Plan> {
    let scenario = Scenario::load(path, &Options::new(&path.to_string_lossy())).ok()?.0;
    let taps = |link| [TapPoint::Input, TapPoint::Output].map(|point| Tap { link, point });
    let plan = scenario.plan(7, 0);
    Some(Plan {
        duration: Span::from_s(SECONDS),
        warmup: Span::ZERO,
        sampling: None,
        changes: vec![],
        probes: Probes { taps: (0..plan.links.len()).flat_map(taps).collect(), ..plan.probes },
        ..plan
    })
}

/// The names of a link's AQMs, scheduler and conditioners.
fn parts(link: &Link) -> impl Iterator<Item = &'static str> {
    let queues = link.queues.iter().map(|queue| queue.aqm.name());
    queues
        .chain(link.scheduler().into_iter().map(|it| it.name()))
        .chain(link.edge.iter().map(|stage| stage.params.name()))
}

/// Whether its conditioners have this need.
fn needs(link: &Link, hook: Needs) -> bool {
    link.edge.iter().any(|stage| stage.params.build(&stage.scope).unwrap().needs().contains(hook))
}

/// Whether it needs more than the arrivals at its port: the sender's state, reports of other ports, the reverse direction,
/// TCP options.
fn needs_more(link: &Link) -> bool {
    let filters = matches!(link.scheduler(), Some(SchedulerParams::Cake(cake)) if cake.ack_filter != AckFilter::Off);
    filters || [Needs::TRUTH, Needs::TIMER, Needs::REVERSE].into_iter().any(|hook| needs(link, hook))
}

fn build(plan: &Plan, link: usize, outcome: &Outcome) -> Port<usize> {
    let mut port: Port<usize> = plan.port(link).build().unwrap();
    for (slot, headers) in (0..).zip(&outcome.headers) {
        port.register(FlowId(2 * slot), headers);
        port.register(FlowId(2 * slot + 1), &headers.reversed());
        let offered = plan.traffic.iter().find(|it| it.name == headers.traffic).unwrap();
        let [own, peer] = [offered.from.contains(&plan.links[link].from), offered.to == plan.links[link].from];
        let of_socket =
            |rate| if headers.protocol == Protocol::TCP.0 { Socket::Tcp } else { Socket::Datagrams { rate } };
        own.then(|| port.sends(FlowId(2 * slot), of_socket(offered.sockets.max_pacing_rate)));
        peer.then(|| port.sends(FlowId(2 * slot + 1), of_socket(None)));
    }
    port
}

/// The packets recorded at one end of a link.
fn at(outcome: &Outcome, link: usize, point: TapPoint) -> impl Iterator<Item = &Captured> {
    outcome.captured.iter().filter(move |it| it.point == point && it.link as usize == link)
}

/// A packet without the label that conditioners of the other direction rewrite before the tap sees it.
fn unlabelled(packet: Packet) -> Packet {
    Packet { ack_label: 0.0, ..packet }
}

/// Compares one link.
fn compare(plan: &Plan, index: usize, outcome: &Outcome) {
    let link = &plan.links[index];
    let mut port = build(plan, index, outcome);
    let event = |it: &Captured| Event { at: it.at, packet: it.packet, wire: it.wire };
    let events: Vec<_> = at(outcome, index, TapPoint::Input).map(event).collect();
    let end = Time::ZERO + plan.duration;
    let sent = drive(&mut port, link.rate.bit_s(), &events, end);
    let back = plan.links.iter().filter(|other| (other.from, other.to) == (link.to, link.from));
    let rewritten = back.into_iter().any(|back| needs(back, Needs::REVERSE));
    let seen = |(at, packet): (Time, Packet)| (at, if rewritten { unlabelled(packet) } else { packet });
    let delivered = sent.into_iter().map(|(ends, packet)| seen((ends + link.delay, packet)));
    let delivered: Vec<_> = delivered.filter(|(at, _)| *at <= end).collect();
    let expected: Vec<_> = at(outcome, index, TapPoint::Output).map(|it| seen((it.at, it.packet))).collect();
    let differs = delivered.iter().zip(&expected).position(|(a, b)| a != b);
    assert_eq!(differs, None, "{}: {:?}", link.name, differs.map(|i| (delivered[i], expected[i])));
    assert_eq!(delivered.len(), expected.len(), "{}", link.name);
    let counted: Fates = port.fates().values().fold(Fates::default(), |sum, fates| sum.plus(fates));
    let rows = outcome.ports.hops.iter().filter(|row| row.link == index);
    assert_eq!(counted, rows.fold(Fates::default(), |sum, row| sum.plus(&row.fates)), "{}", link.name);
    assert_eq!(port.breaches(), Vec::<String>::new());
}

#[test]
fn every_example_passes_through_a_small_host_as_through_the_simulator() {
    let (mut compared, mut wanted, mut packets) = (BTreeSet::new(), BTreeSet::new(), 0);
    for path in examples() {
        let Some(plan) = plan(&path) else { continue };
        let outcome = simulation(plan.clone()).unwrap().run(|_| true).unwrap();
        let reused = !outcome.transfers.is_empty() || plan.traffic.iter().any(|t| t.model.name() == "transfers");
        for (i, link) in plan.links.iter().enumerate() {
            let queues =
                link.queues.iter().map(|queue| queue.aqm.name()).chain(link.scheduler().into_iter().map(|s| s.name()));
            wanted.extend(queues);
            // A flow number that is reused is announced again each time, and the port's conditioners reset its state.
            let announced = !link.edge.is_empty() && reused;
            if announced || needs_more(link) || link.loss.get() > 0.0 {
                continue;
            }
            compare(&plan, i, &outcome);
            compared.extend(parts(link));
            packets += outcome.captured.iter().filter(|it| it.link as usize == i).count();
        }
    }
    println!("{packets} packets; {compared:?}");
    let missing: Vec<_> = wanted.difference(&compared).collect();
    assert!(missing.is_empty(), "not compared: {missing:?}");
    assert!(wanted.len() >= 17 && packets > 100_000, "{wanted:?}, {packets} packets");
}

#[test]
fn the_host_is_small() {
    assert!(include_str!("host.rs").lines().count() <= 80);
}
