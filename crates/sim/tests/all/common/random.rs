//! Networks at random: a chain of routers with hosts, every traffic model, AQM and conditioner of the lists.

use super::net::{self, Net};
use super::outside;
use perhop_core::accounting::Accounting;
use perhop_core::aqm::early::{Beyond, Common, Counted, Profile, Spacing, Weight};
use perhop_core::aqm::virtual_buffer::{Common as Buffer, Counting};
use perhop_core::aqm::{AqmParams, msvb, red, rio, wred};
use perhop_core::arithmetic::Arithmetic;
use perhop_core::conditioner::{self, ConditionerParams};
use perhop_core::dscp::Dscp;
use perhop_core::packet::{Colour, Ecn};
use perhop_core::params::{Field, Kind, Place, Problems, Reader, Tree, Value as _};
use perhop_core::port::edge::{Action, Per, StageSpec};
use perhop_core::port::{Limit, NodeSpec, QueueSpec, Side};
use perhop_core::sched::{self, SchedulerParams};
use perhop_core::units::{BitRate, Bytes, Length, Packets, Probability, Span, Time};
use perhop_sim::plan::{Alteration, Change, Sampling, Spread, Transit};
use perhop_sim::traffic::law::Drawn;
use perhop_sim::traffic::{self, TrafficParams, app_limited, capture, on_off, transfers, web};
use perhop_sim::transport::{AckDelay, Bursts, Config, PartialAckTimer, Reaction, Recovery};
use proptest::prelude::*;

/// Rates at which a packet lasts a whole number of nanoseconds, and rates at which it does not.
fn rate() -> impl Strategy<Value = BitRate> {
    prop::sample::select(vec![1_000_000, 10_000_000, 777_777, 3_333_331, 30_000_001]).prop_map(BitRate::bps)
}

fn delay() -> impl Strategy<Value = Span> {
    prop_oneof![Just(Span::ZERO), (1u64..20_000).prop_map(Span::from_us)]
}

fn common() -> impl Strategy<Value = Common> {
    let spacing = vec![Spacing::Uniformised, Spacing::Bernoulli, Spacing::Wait, Spacing::DsRed];
    let beyond = vec![Beyond::Drop, Beyond::Gentle];
    (prop::sample::select(spacing), prop::sample::select(beyond), any::<bool>()).prop_map(|(spacing, beyond, ecn)| {
        Common { weight: Weight(0.05), mean_packet: Bytes::new(500), spacing, beyond, ecn }
    })
}

/// Any AQM of the list, with thresholds within a queue of 30 packets.
fn aqm() -> impl Strategy<Value = AqmParams> {
    let of = |(min, width, common, name): (u32, u32, Common, &str)| {
        let packets = |n| Length::Packets(Packets::new(n));
        let profile = |min| {
            let max_p = Probability::new(0.3).unwrap();
            Profile { min: packets(min), max: packets(min + width), max_p }
        };
        let [tight, wide] = [profile(min), profile(min + 3)];
        match name {
            "drop-tail" => net::drop_tail(),
            "red" => {
                let (profile, min_waiting) = (tight.into(), Packets::new(min % 3));
                AqmParams::Red(red::Params {
                    profile,
                    common,
                    min_waiting,
                    arithmetic: Arithmetic::Exact,
                    adaptive: false,
                })
            }
            "rio" => {
                AqmParams::Rio(rio::Params { in_profile: wide, out_profile: tight, mode: rio::Mode::RioC, common })
            }
            "wred" => {
                let green = vec![wred::Member::Colour(Colour::Green)];
                let class =
                    |members, profile: Profile| wred::Class { filter: Vec::into(members), profile: profile.into() };
                let averages = [Counted::Common, Counted::Coupled, Counted::Separate][min as usize % 3];
                let profiles = vec![class(green, wide), class(vec![], tight)];
                AqmParams::Wred(wred::Params { profiles, averages, common })
            }
            "msvb" => {
                let share = Probability::new(0.3).unwrap();
                let class = |members| msvb::Class { filter: Vec::into(members), share, alpha: 0.5 };
                let classes = vec![class(vec![wred::Member::Colour(Colour::Green)]), class(vec![])];
                let (floor, counting, mean_packet) = (packets(min), Counting::Passed, common.mean_packet);
                let common = Buffer { v0: packets(min + width), floor, counting, mean_packet, ecn: common.ecn };
                let rules = [msvb::Redistribute::Off, msvb::Redistribute::Silent, msvb::Redistribute::Unused];
                AqmParams::Msvb(msvb::Params { classes, common, redistribute: rules[min as usize % 3] })
            }
            other => declared(other, [min, min + width], &common),
        }
    };
    (1u32..5, 1u32..12, common(), prop::sample::select(outside::aqms())).prop_map(of)
}

/// Parameters of any AQM, from nothing but its declaration: thresholds, and what of `common` it declares.
fn declared(name: &str, [min, max]: [u32; 2], common: &Common) -> AqmParams {
    let entry = perhop_core::aqm::entries().into_iter().find(|e| e.name == name).unwrap();
    let value = |field: &Field| match (field.name, field.kind) {
        ("ecn", Kind::Bool) => Some(Tree::Bool(common.ecn)),
        ("spacing", _) => common.spacing.tree(),
        (_, Kind::Length) if field.name.contains("min") || field.name == "floor" => Some(Tree::Text(format!("{min}p"))),
        (_, Kind::Length) => Some(Tree::Text(format!("{max}p"))),
        _ if field.default.is_some() || field.optional => None,
        ("p", Kind::Formula(_)) => Some(Tree::Text(format!("min(1, backlog.packets / {}p)", 4 * max))),
        _ => panic!("the tests know no value for `{}` of {name}", field.name),
    };
    let entries = Field::all(entry.fields).into_iter().filter_map(|f| Some((f.name, value(f)?))).collect();
    read(entries, |reader| AqmParams::read(name, Place::default(), reader))
}

/// Parameters from a table of keys.
fn read<T>(entries: Vec<(&str, Tree)>, read: impl FnOnce(&mut Reader<'_>) -> Option<T>) -> T {
    let Tree::Table(table) = Tree::table(entries) else { unreachable!("a table") };
    let mut problems = Problems::default();
    let params = read(&mut Reader::new(&table, Place::default(), &mut problems));
    params.unwrap_or_else(|| panic!("{:?}", problems.list))
}

fn limit() -> impl Strategy<Value = Limit> {
    prop_oneof![(1u32..30).prop_map(Limit::Packets), (1500u64..30_000).prop_map(Limit::Bytes)]
}

/// Parameters of a conditioner of the list: its defaults, and rates and buckets that a few flows exceed.
pub fn conditioner(name: &str, [cir, pir]: [u32; 2], depth: u32) -> ConditionerParams {
    let entry = conditioner::entries().into_iter().find(|e| e.name == name).unwrap();
    let text = |value: u32, unit: &str| Tree::Text(format!("{value}{unit}"));
    let value = |field: &Field| match field.name {
        "tickets" => Some(text(cir, "t/s")),
        "cir" => Some(text(cir, "kbit/s")),
        "pir" => Some(text(cir + pir, "kbit/s")),
        "eir" => Some(text(pir, "kbit/s")),
        "cbs" | "pbs" | "ebs" | "mtu" => Some(text(depth, "B")),
        "sets" => Some(Tree::Text("if(chance(0.3), red, size > 1000B, yellow, green)".into())),
        _ => None,
    };
    let entries = Field::all(entry.fields).into_iter().filter_map(|f| Some((f.name, value(f)?))).collect();
    read(entries, |reader| ConditionerParams::read(name, Place::default(), reader))
}

fn stage() -> impl Strategy<Value = StageSpec> {
    let action = || {
        let mark = Action::mark("af12".parse().unwrap());
        let on = "colour yellow, next".parse().unwrap();
        prop::sample::select(vec![Action::TRANSMIT, Action::TRANSMIT, mark, on, Action::Drop])
    };
    let per = prop::sample::select(vec![Per::Aggregate, Per::Flow, Per::Pair, Per::Class]);
    // RFC 4115 requires more tokens than the largest packet has bytes.
    let numbers = ([50u32..2000, 1u32..2000], 1501u32..20_000);
    (prop::sample::select(outside::conditioners()), numbers, per, [action(), action(), action(), action()]).prop_map(
        |(name, (rates, depth), per, actions)| {
            // Uncoloured packets pass, or nothing would.
            let actions = [Action::TRANSMIT, actions[1], actions[2], actions[3]];
            StageSpec { per, actions, ..net::stage(name, conditioner(name, rates, depth)) }
        },
    )
}

/// A capture of three flows in bursts of two, 300 packets.
pub fn recording(kbps: u64, size: u64) -> capture::Params {
    let packet = |i: u64| capture::Replayed {
        at: Span::from_us(i / 2 * 2 * 8_000 * size / kbps),
        flow: (i % 3) as u32,
        wire: size as u32,
        dscp: Dscp::new((i % 64) as u8).unwrap(),
        ecn: Ecn::from_bits(i as u8),
    };
    let file = capture::Recording { file: "random".into(), packets: (0..300).map(packet).collect() };
    capture::Params { file, matches: None, code_points: capture::CodePoints::Capture, hash: None }
}

/// A traffic model of the list at a moderate load.
fn model(name: &str, kbps: u64, size: u64) -> TrafficParams {
    let (rate, gap) = (BitRate::kbps(kbps), Span::from_ms(100));
    match name {
        "ftp" => net::bulk(),
        "cbr" => net::cbr(rate, size),
        "poisson" => net::poisson(rate, size),
        "on-off" => {
            let (on, off) = (Span::from_ms(200), Span::from_ms(300));
            TrafficParams::OnOff(on_off::Params { rate: BitRate::kbps(2 * kbps), size: Bytes::new(size), on, off })
        }
        "transfers" if kbps.is_multiple_of(2) => net::transfers(10 * size, gap, transfers::Loop::Open),
        "transfers" => net::transfers(10 * size, gap, transfers::Loop::Closed),
        "app-limited" => TrafficParams::AppLimited(app_limited::Params { rate }),
        "web" => {
            let gaps = Box::new(Drawn::Constant(gap));
            TrafficParams::Web(web::Params { session_gap: Some(gaps), ..net::web([2, 3], 10 * size, gap) })
        }
        "capture" => TrafficParams::Capture(recording(kbps, size)),
        "quic" => net::quic(Some((10 * size, gap))),
        "telnet" => net::telnet(Drawn::Constant(kbps as u32), Span::from_ms(20)),
        other => panic!("the tests do not know the traffic model {other}"),
    }
}

fn tcp() -> impl Strategy<Value = Config> {
    let recovery = vec![Recovery::Reno, Recovery::NewReno(PartialAckTimer::First), Recovery::Rack];
    let delays = [AckDelay::None, AckDelay::Fixed(Span::from_ms(100)), AckDelay::Linux];
    let delayed = prop::sample::select(delays.to_vec());
    (prop::sample::select(recovery), any::<[bool; 5]>(), delayed, 1u32..40).prop_map(
        |(recovery, [ecn, syn, limited_transmit, sack, small], ack, window)| {
            let rack = recovery == Recovery::Rack;
            let (sack, small_queues) = (sack || rack, small && rack);
            let bursts = if small_queues { Bursts::Of(1 + window / 4) } else { Bursts::NONE };
            Config {
                recovery,
                ecn,
                syn,
                limited_transmit,
                reaction: Reaction { ack, sack, small_queues, bursts, ..Reaction::NONE },
                window,
                mss: 960,
                ..Config::default()
            }
        },
    )
}

/// One `[traffic]` table: model, rate in kbit/s, size, connection, which end is left, ECT, number of sources.
type Load = (&'static str, (u64, u64), Config, [bool; 2], u32);

fn load(name: &'static str) -> impl Strategy<Value = Load> {
    (Just(name), (50u64..1500, 40u64..1500), tcp(), any::<[bool; 2]>(), 1u32..3)
}

/// The schedulers whose children are classes.
pub fn classed() -> Vec<&'static str> {
    sched::LIST.iter().filter(|entry| entry.has("classes")).map(|entry| entry.name).collect()
}

/// Parameters of a scheduler of the list, from its declaration: a share for each class, where it declares one. The first
/// classes have a colour each.
pub fn scheduler(name: &str, shares: &[u32]) -> SchedulerParams {
    let entry = sched::LIST.iter().find(|e| e.name == name).unwrap();
    let classes = Field::all(entry.fields).into_iter().find(|f| f.name == "classes").unwrap();
    let Kind::OneOrMany(Kind::Table(fields)) = classes.kind else { panic!("{name} has no list of classes") };
    let class = |(i, share): (usize, &u32)| {
        let value = |field: &Field| match (field.name, field.kind) {
            ("for", _) if i + 1 == shares.len() => None,
            ("queue" | "name" | "parent" | "ceil" | "prio" | "police" | "match" | "rt" | "ul", _) => None,
            ("per" | "slots" | "plans" | "same-level", _) => None,
            // Limits of priority classes.
            ("rate" | "burst", _) if field.optional && name != "htb" => None,
            // What keeps a rate does not hold anything back as long as its bursts are not used up.
            ("burst" | "cburst", _) => Some(Tree::Text("1GB".into())),
            (_, Kind::Rate) | ("ls", _) => Some(Tree::Text(format!("{share}Mbit/s"))),
            ("for", _) => Some(Tree::Text(Colour::ALL[i].name().into())),
            (_, Kind::Size) => Some(Tree::Text(format!("{}B", 1500 * share))),
            (_, Kind::Integer) => Some(Tree::Integer(i64::from(*share))),
            (other, _) => panic!("the tests know no value for `{other}` of {name}"),
        };
        Tree::table(Field::all(fields).into_iter().filter_map(|f| Some((f.name, value(f)?))).collect()).into()
    };
    let classes = Tree::List(shares.iter().enumerate().map(class).collect());
    read(vec![("classes", classes)], |reader| SchedulerParams::read(name, Place::default(), reader))
}

/// Loss, and how packets' times differ: the jitter as a share of what the delay allows, its law, the share that overtakes.
type OnWire = (f64, f64, Spread, f64);

fn on_wire() -> impl Strategy<Value = OnWire> {
    let often_none = |most: f64| prop_oneof![2 => Just(0.0), 1 => 0.0..most];
    let spread = prop::sample::select(vec![Spread::Uniform, Spread::Normal]);
    (often_none(0.1), often_none(1.0), spread, often_none(0.5))
}

/// One link: rate, delay, wire, queues, scheduler, conditioner. Without scheduler the first queue counts.
type Hop = (BitRate, Span, OnWire, Vec<(AqmParams, Limit)>, Option<(&'static str, u32)>, Option<StageSpec>);

fn hop() -> impl Strategy<Value = Hop> {
    let queues = prop::collection::vec((aqm(), limit()), 1..4);
    let scheduler = prop::option::of((prop::sample::select(classed()), 1u32..4));
    (rate(), delay(), on_wire(), queues, scheduler, prop::option::of(stage()))
}

fn add_link(net: &mut Net, ends: [usize; 2], (rate, delay, wire, queues, scheduler, stage): Hop) {
    let place = net.plan.links.len();
    let link = net.link(ends, rate, delay);
    link.framing = [Accounting::L3, Accounting::L1, Accounting::L2, Accounting::L2Fcs][place % 4];
    let ((loss, share, spread, reorder), probability) = (wire, |p| Probability::new(p).unwrap());
    let jitter = Span::from_ns((delay.ns() as f64 * share) as u64 / spread.reach());
    let reorder = probability(if delay > Span::ZERO { reorder } else { 0.0 });
    (link.loss, link.transit) = (probability(loss), Transit { jitter, spread, reorder });
    let queue = |(aqm, limit)| QueueSpec { aqm, limit, drop: Side::Tail, scope: net::scope(rate, 30) };
    link.queues = queues.into_iter().map(queue).collect();
    match scheduler {
        Some((name, share)) => {
            let shares: Vec<_> = (0..link.queues.len() as u32).map(|i| share + i).collect();
            link.nodes = NodeSpec::flat(self::scheduler(name, &shares), &link.queues);
        }
        None => link.queues.truncate(1),
    }
    link.edge = stage.into_iter().map(|s| StageSpec { name: format!("{}{place}", s.name), ..s }).collect();
}

fn add_load(net: &mut Net, routers: usize, (name, (kbps, size), tcp, [left, ect], flows): Load) {
    // Hosts 0, 1 are attached to the first router, 2, 3 to the last.
    let ends = if left { [0, 2] } else { [3, 1] };
    let class = net.plan.traffic.len() as u16 % 2;
    let traffic = net.traffic(ends.map(|host| routers + host), model(name, kbps, size));
    (traffic.tcp, traffic.sockets.ecn.datagrams, traffic.flows, traffic.class) = (tcp, ect, flows, class);
    traffic.spread = Span::from_ms(if ect { 0 } else { 50 });
    traffic.sockets.gso = 1 + (size % 4) as u32;
    traffic.stop = (name != "ftp" && left).then(|| Time::ZERO + Span::from_ms(1500));
}

fn build(routers: usize, mut hops: Vec<Hop>, loads: Vec<Load>) -> Net {
    let mut net = Net::new(routers + 4, Span::from_s(2));
    net.plan.classes = vec!["even".into(), "odd".into()].into();
    net.plan.warmup = Span::from_ms(300);
    net.plan.sampling = Some(Sampling::all(Span::from_ms(100)));
    let mut pairs: Vec<[usize; 2]> = (1..routers).map(|r| [r - 1, r]).collect();
    pairs.extend([0, 1].map(|host| [routers + host, 0]));
    pairs.extend([2, 3].map(|host| [routers + host, routers - 1]));
    for [a, b] in pairs.into_iter().flat_map(|[a, b]| [[a, b], [b, a]]) {
        add_link(&mut net, [a, b], hops.pop().unwrap());
    }
    loads.into_iter().for_each(|load| add_load(&mut net, routers, load));
    net
}

/// One to three routers in a chain, two hosts at each end, two seconds of every traffic model of the list.
pub fn any_net() -> impl Strategy<Value = Net> {
    let loads: Vec<_> = traffic::NAMES.iter().map(|name| load(name)).collect();
    let hops = prop::collection::vec(hop(), 12);
    (1usize..4, hops, loads).prop_map(|(routers, hops, loads)| build(routers, hops, loads))
}

/// The same kind with other numbers.
fn another(params: &ConditionerParams, scale: u32) -> ConditionerParams {
    conditioner(params.name(), [100 * scale, 50 * scale], 1500 + 1000 * scale)
}

fn faster(params: &TrafficParams, scale: u64) -> TrafficParams {
    model(params.name(), 100 * scale, 100 * scale)
}

/// What one throw of the dice changes: of a link its rate, its AQMs' surroundings, its
/// scheduler, its conditioners; of a traffic its model.
fn alterations(net: &Net, (place, scale): (usize, u32)) -> Vec<Alteration> {
    let (link, table) = (place % net.plan.links.len(), place % net.plan.traffic.len());
    let it = &net.plan.links[link];
    let rate = BitRate::bps(999_983 * u64::from(scale));
    let mut what = vec![Alteration::Rate { link, rate }];
    what.extend(it.queues.iter().enumerate().map(|(queue, it)| {
        let scope = perhop_core::Scope { link_rate: Some(rate), ..it.scope.clone() };
        Alteration::Aqm { link, queue, params: it.aqm.clone(), scope }
    }));
    what.extend(it.scheduler().into_iter().map(|old| {
        let shares: Vec<_> = (0..it.queues.len() as u32).map(|i| scale + i).collect();
        Alteration::Scheduler { link, node: 0, params: scheduler(old.name(), &shares) }
    }));
    what.extend(it.edge.iter().map(|spec| Alteration::Conditioner {
        link,
        name: spec.name.clone(),
        params: another(&spec.params, scale),
        scope: spec.scope.clone(),
    }));
    let params = faster(&net.plan.traffic[table].model, u64::from(scale));
    what.push(Alteration::Traffic { table, params });
    what
}

/// A network with changes at up to five times.
pub fn changed(net: impl Strategy<Value = Net>) -> impl Strategy<Value = Net> {
    let dice = prop::collection::btree_map(1u64..2_000_000, (0usize..100, 1u32..15), 1..6);
    (net, dice).prop_map(|(mut net, dice)| {
        let change = |(us, dice)| Change { at: Time::ZERO + Span::from_us(us), what: alterations(&net, dice) };
        net.plan.changes = dice.into_iter().map(change).collect();
        net
    })
}
