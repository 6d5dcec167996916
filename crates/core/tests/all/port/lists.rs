//! Lists with a `match` against a slow classifier: every packet asks every entry in turn, and nothing is remembered.

use super::{Held, at, drop_tail, queue, scope, spec};
use perhop_core::Scope;
use perhop_core::aqm::members::{Filter, Member};
use perhop_core::aqm::{AqmParams, wred};
use perhop_core::classify::{FlowHeaders, Match, Prefix, Protocol, RttClass};
use perhop_core::conditioner::{ConditionerParams, marker};
use perhop_core::dscp::Dscp;
use perhop_core::packet::{Colour, Ecn, FlowId, Packet};
use perhop_core::params::{ClassName, Params as _, Place, Problems, Reader, Tree};
use perhop_core::port::edge::{Action, Per, Rewrite, StageSpec};
use perhop_core::port::{NodeSpec, Port, PortError, PortSpec, Side};
use perhop_core::sched::{HostKey, SchedulerParams, wrr};
use perhop_core::units::Span;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

const CONDITIONERS: [&str; 3] = ["first", "second", "third"];

fn code(dscp: u8) -> Dscp {
    Dscp::new(dscp).unwrap()
}

fn some<T: Clone + std::fmt::Debug + 'static>(all: Vec<T>) -> BoxedStrategy<Vec<T>> {
    let most = all.len().min(2);
    prop_oneof![3 => Just(Vec::new()), 1 => subsequence(all, most.min(1)..=most)].boxed()
}

fn prefixes(net: u8) -> impl Strategy<Value = Vec<Prefix>> {
    let all = ["0/24", "0/30", "4/30", "2/32", "5/32"].map(|end| Prefix(format!("10.0.{net}.{end}").parse().unwrap()));
    some(all.to_vec())
}

/// Matches that may name the first `conditioners`.
fn matches(conditioners: usize) -> impl Strategy<Value = Match> {
    let names = CONDITIONERS[..conditioners].iter().map(|name| String::from(*name)).collect();
    let ms = |ms| Some(Span::from_ms(ms));
    let rtts = vec![None, None, None, RttClass::new(Span::ZERO, ms(50)), RttClass::new(Span::from_ms(50), None)];
    let ends = (prefixes(1), prefixes(2), some(vec![80, 443]), some(vec![Protocol::TCP, Protocol::UDP]));
    let look = (some([0, 10, 46].map(code).to_vec()), some(Ecn::ALL.to_vec()));
    let rest = (some(vec![String::from("a"), "b".into()]), select(rtts), some(names));
    (ends, look, rest).prop_map(
        |((source, destination, destination_port, protocol), (dscp, ecn), (traffic, rtt, conditioner))| Match {
            source,
            destination,
            destination_port,
            protocol,
            dscp,
            ecn,
            traffic,
            rtt,
            conditioner,
            ..Match::default()
        },
    )
}

fn filters() -> impl Strategy<Value = Vec<Filter>> {
    let members = [Member::Dscp(code(10)), Member::Dscp(code(46)), Member::Colour(Colour::Green)];
    let listed = subsequence(members.to_vec(), 1).prop_map(Filter::from);
    let one = prop_oneof![4 => matches(CONDITIONERS.len()).prop_map(Filter::from), 1 => listed];
    (vec(one.clone(), 1..5), prop_oneof![Just(Filter::default()), one])
        .prop_map(|(first, last)| [first, vec![last]].concat())
}

fn flows() -> impl Strategy<Value = Vec<FlowHeaders>> {
    let address = |net: u8| (0u8..8).prop_map(move |host| [10, 0, net, host].into());
    let one = (
        address(1),
        address(2),
        select(vec![80, 443]),
        select(vec![6, 17]),
        select(vec!["a", "b"]),
        select(vec![None, Some(10), Some(90)]),
    );
    vec(
        one.prop_map(|(source, destination, destination_port, protocol, traffic, rtt)| FlowHeaders {
            protocol,
            source,
            destination,
            source_port: 1024,
            destination_port,
            traffic: traffic.into(),
            class: String::new(),
            rtt: rtt.map(Span::from_ms),
        }),
        1..8,
    )
}

fn packets() -> impl Strategy<Value = Vec<Packet>> {
    let one = (any::<u32>(), select(vec![0, 10, 46]), select(Ecn::ALL.to_vec()), select(Colour::ALL.to_vec()));
    vec(
        one.prop_map(|(flow, dscp, ecn, colour)| Packet {
            flow: FlowId(flow),
            size: 1000,
            dscp: code(dscp),
            ecn,
            colour,
            ..Packet::default()
        }),
        1..40,
    )
}

/// Markers, each of which takes what it matches, whatever those before it took.
fn edge(matches: &[Match]) -> Vec<StageSpec> {
    let on = Action::Pass(Rewrite { next: true, ..Rewrite::default() });
    let stage = |(i, matches): (usize, &Match)| StageSpec {
        name: CONDITIONERS[i].into(),
        matches: matches.clone(),
        per: Per::Aggregate,
        params: ConditionerParams::Marker(marker::Params { colour: marker::Mark::Green }),
        actions: [on; 4],
        scope: Scope { conditioners: names(i).into(), ..scope() },
    };
    matches.iter().enumerate().map(stage).collect()
}

fn names(n: usize) -> Vec<String> {
    CONDITIONERS[..n].iter().map(|name| String::from(*name)).collect()
}

fn scheduler(filters: &[Filter]) -> SchedulerParams {
    let class = |filter: &Filter| wrr::Class {
        filter: filter.clone(),
        name: None,
        template: Default::default(),
        weight: 1,
        queue: HostKey,
    };
    SchedulerParams::Wrr(wrr::Params { classes: filters.iter().map(class).collect() })
}

fn port(filters: &[Filter], edge: &[StageSpec]) -> Result<Port<usize>, PortError> {
    let queues = vec![drop_tail(10); filters.len()];
    let mut nodes = NodeSpec::flat(scheduler(filters), &queues);
    nodes[0].scope.conditioners = names(edge.len()).into();
    PortSpec { nodes: &nodes, ..spec(edge, &queues) }.build()
}

/// The oracle: what a match says, key by key, of a packet that has passed these.
fn agrees(it: &Match, of: &FlowHeaders, packet: &Packet, passed: &[&str]) -> bool {
    fn listed<T>(list: &[T], has: impl FnMut(&T) -> bool) -> bool {
        list.is_empty() || list.iter().any(has)
    }
    let inside = |prefix: &Prefix, address: std::net::IpAddr| {
        let std::net::IpAddr::V4(address) = address else { return false };
        let ipnet = prefix.0.to_string();
        let (base, length) = ipnet.split_once('/').unwrap();
        let base: std::net::Ipv4Addr = base.parse().unwrap();
        let free = 32 - length.parse::<u32>().unwrap();
        u64::from(base.to_bits()) >> free == u64::from(address.to_bits()) >> free
    };
    let near = |class: &RttClass| of.rtt.is_some_and(|rtt| class.holds(rtt));
    listed(&it.source, |prefix| inside(prefix, of.source))
        && listed(&it.destination, |prefix| inside(prefix, of.destination))
        && listed(&it.destination_port, |port| *port == of.destination_port)
        && listed(&it.protocol, |protocol| protocol.0 == of.protocol)
        && listed(&it.traffic, |traffic| *traffic == of.traffic)
        && listed(&it.dscp, |dscp| *dscp == packet.dscp)
        && listed(&it.ecn, |ecn| *ecn == packet.ecn)
        && listed(&it.conditioner, |name| passed.contains(&name.as_str()))
        && it.rtt.as_ref().is_none_or(near)
}

/// The oracle: the conditioners that a packet passes, which make it green.
fn passes(edge: &[StageSpec], of: &FlowHeaders, packet: &mut Packet) -> Vec<&'static str> {
    let mut passed = Vec::new();
    for (stage, name) in edge.iter().zip(CONDITIONERS) {
        if agrees(&stage.matches, of, packet, &passed) {
            packet.colour = Colour::Green;
            passed.push(name);
        }
    }
    passed
}

/// The oracle: the first entry that takes a packet, else `None`.
fn first(filters: &[Filter], of: &FlowHeaders, packet: &Packet, passed: &[&str]) -> Option<usize> {
    filters.iter().position(|filter| match &filter.matches {
        Some(matches) => agrees(matches, of, packet, passed),
        None => filter.members.iter().any(|member| match member {
            Member::Colour(colour) => *colour == packet.colour,
            Member::Dscp(dscp) => *dscp == packet.dscp,
        }),
    })
}

/// The class of each packet at a port that has been told of the flows, and by the oracle.
fn classes(
    port: &mut Port<usize>,
    filters: &[Filter],
    edge: &[StageSpec],
    load: (&[FlowHeaders], &[Packet]),
) -> Vec<[usize; 2]> {
    let (flows, packets) = load;
    let mut held = Held::default();
    let one = |packet: &Packet| {
        let number = packet.flow.0 as usize % flows.len();
        let mut packet = Packet { flow: FlowId(number as u32), ..*packet };
        assert!(held.arrive(port, at(0), packet).stays());
        let found = port.next(at(0), &mut held).unwrap().queue;
        let passed = passes(edge, &flows[number], &mut packet);
        [found, first(filters, &flows[number], &packet, &passed).unwrap_or(filters.len() - 1)]
    };
    packets.iter().map(one).collect()
}

fn told(port: &mut Port<usize>, flows: &[FlowHeaders]) {
    (0..).zip(flows).for_each(|(flow, headers)| port.register(FlowId(flow), headers));
}

proptest! {
    #![proptest_config(ProptestConfig { max_global_rejects: 100_000, ..ProptestConfig::default() })]

    /// And again after all flows have got other headers, as when a round-trip time becomes known.
    #[test]
    fn a_packet_goes_to_the_first_entry_that_agrees(
        filters in filters(),
        matched in (matches(0), matches(1), matches(2)),
        flows in flows(),
        later in flows(),
        packets in packets(),
    ) {
        let edge = edge(&[matched.0, matched.1, matched.2]);
        let Ok(mut port) = port(&filters, &edge) else { return Err(TestCaseError::reject("no such list")) };
        told(&mut port, &flows);
        for [found, expected] in classes(&mut port, &filters, &edge, (&flows, &packets)) {
            prop_assert_eq!(found, expected);
        }
        (0..flows.len()).for_each(|flow| port.reclassify(FlowId(flow as u32), &later[flow % later.len()]));
        let later: Vec<_> = (0..flows.len()).map(|flow| later[flow % later.len()].clone()).collect();
        for [found, expected] in classes(&mut port, &filters, &edge, (&later, &packets)) {
            prop_assert_eq!(found, expected);
        }
    }

    /// E223: whatever arrives, such an entry takes nothing that another does not.
    #[test]
    fn a_refused_entry_takes_nothing(filters in filters(), flows in flows(), packets in packets()) {
        let refused = port(&filters, &edge(&[Match::default(), Match::default(), Match::default()]));
        let Err(PortError::Queue(error)) = refused else { return Ok(()) };
        prop_assert_eq!(error.code, "E223");
        let Some(ClassName::Listed { number, .. }) = error.class else { panic!("no class: {error}") };
        if error.message.starts_with("no packet can reach") {
            for (packet, headers) in packets.iter().zip(flows.iter().cycle()) {
                for passed in [&[][..], &["first"], &["second", "third"], &CONDITIONERS] {
                    prop_assert_ne!(first(&filters, headers, packet, passed), Some(number - 1));
                }
            }
        }
    }

    /// `match = { dscp = [..] }` is `for = [..]`.
    #[test]
    fn code_points_matched_are_code_points_listed(
        lists in vec(subsequence((0..64).map(code).collect::<Vec<_>>(), 1..4), 1..5),
        packets in packets(),
    ) {
        let listed: Vec<Filter> = lists.iter().map(|list| list.iter().copied().map(Member::Dscp).collect::<Vec<_>>().into()).collect();
        let matched: Vec<Filter> = lists.iter().map(|list| Match { dscp: list.clone(), ..Match::default() }.into()).collect();
        let ports = [&listed, &matched].map(|list| port(&[&list[..], &[Filter::default()]].concat(), &[]));
        let [Ok(mut listed), Ok(mut matched)] = ports else { return Ok(()) };
        for (flow, packet) in (0..).zip(&packets) {
            matched.register(FlowId(flow), &headers());
            let packet = Packet { flow: FlowId(flow), ..*packet };
            let class = |port: &mut Port<usize>| {
                let mut held = Held::default();
                held.arrive(port, at(0), packet);
                port.next(at(0), &mut held).unwrap().queue
            };
            prop_assert_eq!(class(&mut listed), class(&mut matched));
        }
    }

    /// A queue decides the same of every packet, whichever way its profiles are written, however its averages count and
    /// whichever packet goes when it is full.
    #[test]
    fn profiles_matched_are_profiles_listed(
        steps in vec((0..3u64, select(vec![0, 10, 46]), any::<bool>()), 1..300),
        averages in select(vec!["common", "coupled", "separate"]),
        head in any::<bool>(),
    ) {
        let sides = [Filter::from(vec![Member::Dscp(code(46))]), Match { dscp: vec![code(46)], ..Match::default() }.into()];
        let fates = sides.map(|filter| {
            let mut spec_of = queue(AqmParams::Wred(wred_of(filter, averages)), 12);
            spec_of.drop = if head { Side::Head } else { Side::Tail };
            let queues = [spec_of];
            let mut port: Port<usize> = spec(&[], &queues).build().unwrap();
            port.register(FlowId(0), &headers());
            run(&mut port, &steps)
        });
        prop_assert_eq!(&fates[0], &fates[1]);
    }
}

fn headers() -> FlowHeaders {
    FlowHeaders {
        protocol: 6,
        source: [10, 0, 1, 1].into(),
        destination: [10, 0, 2, 1].into(),
        source_port: 1024,
        destination_port: 80,
        traffic: "a".into(),
        class: String::new(),
        rtt: None,
    }
}

fn wred_of(first: Filter, averages: &str) -> wred::Params {
    let profile = |min: &str, max: &str, max_p| {
        let entries = [("min", Tree::Text(min.into())), ("max", Tree::Text(max.into())), ("max-p", Tree::Float(max_p))];
        entries.to_vec()
    };
    let [mut urgent, other] = [profile("3p", "8p", 0.2), profile("1p", "4p", 0.5)];
    let members = first.members.first().map(|_| ("for", Tree::Text("EF".into())));
    let matches = first.matches.as_ref().map(|it| ("match", perhop_core::params::show_table(it)));
    urgent.extend(members.into_iter().chain(matches));
    let list = Tree::List(vec![Tree::table(urgent).into(), Tree::table(other).into()]);
    let entries = vec![("profiles", list), ("averages", Tree::Text(averages.into())), ("wq", Tree::Float(0.2))];
    let Tree::Table(table) = Tree::table(entries) else { unreachable!() };
    let mut problems = Problems::default();
    let read = wred::Params::read(&mut Reader::new(&table, Place::default(), &mut problems));
    read.unwrap_or_else(|| panic!("{:?}", problems.list))
}

/// The fate of each packet of one flow, and what leaves in between.
fn run(port: &mut Port<usize>, steps: &[(u64, u8, bool)]) -> Vec<String> {
    let (mut held, mut now, mut log) = (Held::default(), at(0), Vec::new());
    for &(gap, dscp, leaves) in steps {
        now += Span::from_us(gap * 300);
        let packet = Packet { size: 1000, dscp: code(dscp), ..Packet::default() };
        log.push(format!("{:?}", held.arrive(port, now, packet)));
        port.evict(now, &mut held);
        if leaves {
            log.push(format!("{:?}", port.next(now, &mut held).map(|it| it.handle)));
        }
    }
    log.push(format!("{:?}", held.dropped));
    log
}
