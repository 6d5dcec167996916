//! A stub sorts packets as the device does: into the class of the first filter that agrees.

use perhop_config::generate::{LINK, Shape, of};
use perhop_config::model::{Class, Filter, Kind, Port, Queue, Way};
use perhop_config::stub::stub;
use perhop_config::value::{Settings, Value, WithOrigin};
use perhop_core::classify::{FlowHeaders, Match};
use perhop_core::conditioner::Passage;
use perhop_core::dscp::Dscp;
use perhop_core::packet::{FlowId, Packet};
use perhop_core::port;
use perhop_core::units::{Packets, Span, Time};
use perhop_scenario::{Options, Scenario};
use perhop_sim::Plan;
use proptest::prelude::*;
use std::net::IpAddr;

/// The limit of the first queue: the others have one packet more each.
const FIRST: u32 = 2000;

type Path = Vec<usize>;

/// A port without conditioners, whose queues are told apart by their limits; the places that lead to each.
fn told_apart(mut port: Port) -> (Port, Vec<Path>) {
    port.conditioners.clear();
    port.way = Way::Output;
    let mut paths = Vec::new();
    port.queue.iter_mut().for_each(|queue| number(queue, &[], &mut paths));
    (port, paths)
}

fn number(queue: &mut Queue, above: &[usize], paths: &mut Vec<Path>) {
    queue.shape = Settings::default();
    let is_strict = matches!(queue.kind, Some(Kind::Scheduler("strict-priority" | "ets")));
    let parents: Vec<_> = queue.classes.iter().filter_map(|class| class.parent).collect();
    for (i, class) in queue.classes.iter_mut().enumerate().filter(|(i, _)| !parents.contains(i)) {
        let path = [above, &[i]].concat();
        // Limits are tested elsewhere; here every packet is to reach its queue.
        if is_strict {
            ["rate", "burst", "police"].iter().for_each(|key| drop(class.settings.remove(key)));
        }
        match class.queue.as_mut().filter(|below| !below.classes.is_empty()) {
            Some(below) => number(below, &path, paths),
            None => {
                let mut settings = Settings::default();
                let limit = Packets::new(FIRST + paths.len() as u32);
                settings.set("limit", WithOrigin::assumed("here", Value::Packets(limit)));
                let name = WithOrigin::assumed("here", "queue".to_owned());
                let (shape, classes) = (Settings::default(), Vec::new());
                class.queue = Some(Queue { name, kind: None, settings, shape, classes });
                paths.push(path);
            }
        }
    }
}

/// What the device does, slowly: all filters of one list in their order, whoever they lead to.
fn expected(queue: &Queue, headers: &FlowHeaders, packet: &Packet, above: &[usize]) -> Option<Path> {
    let mut list = Vec::new();
    collect(queue, above, &mut list);
    let agrees = |filter: &Filter| agrees(&filter.matches.is, headers, packet);
    let first = |(path, class): &(Path, &Class)| {
        let order = class.takes.iter().filter(|filter| agrees(filter)).map(|filter| filter.order).min()?;
        Some((order, path.clone()))
    };
    let rest = || list.iter().rev().find(|(_, class)| class.rest).map(|(path, _)| path.clone());
    let path = list.iter().filter_map(first).min_by_key(|it| it.0).map(|it| it.1).or_else(rest)?;
    let class = list.iter().find(|(known, _)| *known == path)?.1;
    match class.queue.as_ref().filter(|below| !below.classes.is_empty()) {
        Some(below) => expected(below, headers, packet, &path),
        None => Some(path),
    }
}

/// Priority classes and those below them are one list of a policy map.
fn collect<'a>(queue: &'a Queue, above: &[usize], list: &mut Vec<(Path, &'a Class)>) {
    let parents: Vec<_> = queue.classes.iter().filter_map(|class| class.parent).collect();
    for (i, class) in queue.classes.iter().enumerate().filter(|(i, _)| !parents.contains(i)) {
        let path = [above, &[i]].concat();
        let is_last = i + 1 == queue.classes.len() && class.rest && class.takes.is_empty();
        let made = is_last && class.name.origin.place().is_none();
        match class.queue.as_ref().filter(|below| made && !below.classes.is_empty()) {
            Some(below) => collect(below, &path, list),
            None => list.push((path, class)),
        }
    }
}

fn agrees(matches: &Match, headers: &FlowHeaders, packet: &Packet) -> bool {
    matches.conditioner.is_empty() && matches.flow(headers) && matches.packet(packet)
}

/// The queue in which a packet waits, by its place among those with numbered limits; `None`: in another, or in none.
fn queued(plan: &Plan, link: usize, headers: &FlowHeaders, packet: Packet) -> Option<usize> {
    let mut port: port::Port<usize> = plan.port(link).build().unwrap();
    port.register(FlowId(0), headers);
    let mut packet = packet;
    port.arrive(&Passage::of(Time::ZERO, FlowId(0)), &mut packet, 0);
    let waiting = |row: &Vec<&port::Queue<usize>>| row.iter().any(|queue| queue.waiting().packets > 0);
    let row = port.rows().iter().position(waiting)?;
    let port::Limit::Packets(limit) = plan.links[link].queues[row].limit else { return None };
    limit.checked_sub(FIRST).map(|number| number as usize)
}

fn headers() -> impl Strategy<Value = FlowHeaders> {
    let address = || prop::sample::select(vec!["10.1.2.3", "10.2.3.4", "10.9.9.9", "192.0.2.9", "2001:db8::1"]);
    let port = || prop::sample::select(vec![22u16, 53, 443, 5060, 4000]);
    (address(), address(), port(), port(), prop::sample::select(vec![6u8, 17, 1])).prop_map(
        |(source, destination, source_port, destination_port, protocol)| {
            let address = |text: &str| text.parse::<IpAddr>().unwrap();
            let [traffic, class] = [String::new(), String::new()];
            let [source, destination] = [address(source), address(destination)];
            let rtt = Some(Span::from_ms(20));
            FlowHeaders { protocol, source, destination, source_port, destination_port, traffic, class, rtt }
        },
    )
}

fn packets() -> impl Strategy<Value = Vec<(FlowHeaders, Dscp)>> {
    let code = (0u8..64).prop_filter_map("six bits", Dscp::new);
    prop::collection::vec((headers(), code), 24)
}

fn ports() -> impl Strategy<Value = Port> {
    prop_oneof![of(Shape::Tc), of(Shape::Ios)]
        .prop_filter("has classes", |port| port.queue.as_ref().is_some_and(|queue| !queue.classes.is_empty()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, max_global_rejects: 4096, ..ProptestConfig::default() })]

    #[test]
    fn packets_wait_where_the_first_filter_leads(port in ports(), packets in packets()) {
        let (port, paths) = told_apart(port);
        let stub = stub(&port, LINK);
        prop_assume!(stub.notes.is_empty());
        let scenario = Scenario::parse(&stub.text, &Options::new("stub.toml"));
        let (scenario, _) = scenario.map_err(|found| TestCaseError::fail(format!("{found}\n{}", stub.text)))?;
        let plan = scenario.plan(1, 0);
        let link = plan.links.iter().position(|link| link.name == "device -> receiver").unwrap();
        for (headers, dscp) in packets {
            let packet = Packet { dscp, colour: dscp.colour(), size: 100, ..Packet::default() };
            let Some(wanted) = expected(port.queue.as_ref().unwrap(), &headers, &packet, &[]) else { continue };
            let found = queued(&plan, link, &headers, packet).map(|number| &paths[number]);
            prop_assert_eq!(found, Some(&wanted), "{:?} {}\n{}", headers, dscp, stub.text);
        }
    }
}
