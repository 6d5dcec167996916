//! What each conditioner, AQM and scheduler of the lists costs: a packet's way through a port that has nothing else, in and
//! out; 1000 B packets at twice the rate it is set to. A scheduler has eight queues, AQMs and schedulers 50 packets waiting.

use perhop_core::Scope;
use perhop_core::aqm::{self, AqmParams, drop_tail};
use perhop_core::classify::{FlowHeaders, Match};
use perhop_core::conditioner::{self, ConditionerParams, Passage};
use perhop_core::dscp::Dscp;
use perhop_core::needs::Needs;
use perhop_core::packet::{Colour, FlowId, Packet};
use perhop_core::params::{Field, Gives, Kind, Literal, Node, Place, Problems, Reader, Table, Tree};
use perhop_core::port::edge::{Action, Per, StageSpec};
use perhop_core::port::{Limit, NodeSpec, Port, PortSpec, QueueSpec, Side};
use perhop_core::registry::Entry;
use perhop_core::sched::{self, Scheduler as _, SchedulerParams};
use perhop_core::units::{BitRate, Length, Packets, Time};
use std::hint::black_box;
use std::net::Ipv4Addr;
use std::num::NonZeroU64;

/// Loops; the fastest counts.
pub(super) const REPEATS: u32 = 5;

/// Time between packets: 1000 B at 10 Mbit/s.
const GAP_NS: u64 = 800_000;

/// Packets waiting in front of an AQM or scheduler.
const WAITING: u32 = 50;

/// A scheduler's classes, each for a code point.
const CLASSES: i64 = 8;

const FLOWS: u32 = 10;

/// Queues of a scheduler over flows.
const FLOW_QUEUES: i64 = 16;

/// What was measured.
pub(super) struct Decision {
    /// Conditioner, AQM or scheduler.
    pub(super) list: &'static str,
    /// Its name.
    pub(super) name: &'static str,
    /// CPU ns.
    pub(super) ns: f64,
}

/// Every entry of the lists, with loops of this many packets; one whose parameters cannot be generated from their kinds is skipped
/// with a message.
pub(super) fn measure(packets: NonZeroU64) -> Vec<Decision> {
    let conditioners = conditioner::LIST.iter().map(|e| ("conditioner", e, of_conditioner(e), 0));
    let aqms = aqm::LIST.iter().map(|e| ("AQM", e, of_aqm(e), WAITING));
    let schedulers = sched::LIST.iter().map(|e| ("scheduler", e, of_scheduler(e), WAITING));
    let all: Vec<_> = conditioners.chain(aqms).chain(schedulers).collect();
    let total = all.len();
    let mut measured = Vec::with_capacity(total);
    for (done, (list, entry, port, waiting)) in all.into_iter().enumerate() {
        super::show("decisions", done, total);
        match port {
            Ok(port) => measured.push(Decision { list, name: entry.name, ns: through(port, waiting, packets.get()) }),
            Err(why) => eprintln!("{list} {} was not measured: {why}", entry.name),
        }
    }
    super::show("decisions", total, total);
    measured
}

/// The least CPU time of a loop of `packets` decisions, in ns for each.
fn fastest(packets: u64, mut decide: impl FnMut(u64)) -> f64 {
    let mut now = 0;
    let once = |_| {
        let began = super::cpu_seconds();
        for _ in 0..packets {
            now += GAP_NS;
            decide(now);
        }
        (super::cpu_seconds() - began) * 1e9 / packets as f64
    };
    (0..REPEATS).map(once).fold(f64::INFINITY, f64::min)
}

fn of_conditioner(entry: &Entry) -> Result<Port<()>, String> {
    let params = read(entry, |reader| ConditionerParams::read(entry.name, Place::default(), reader))?;
    let stage = StageSpec {
        name: "bench".to_owned(),
        matches: Match::default(),
        per: Per::Aggregate,
        params,
        actions: [Action::TRANSMIT; Colour::ALL.len()],
        scope: scope(),
    };
    build(&[stage], &[drop_tail()], None)
}

fn of_aqm(entry: &Entry) -> Result<Port<()>, String> {
    let aqm = read(entry, |reader| AqmParams::read(entry.name, Place::default(), reader))?;
    build(&[], &[QueueSpec { aqm, ..drop_tail() }], None)
}

fn of_scheduler(entry: &Entry) -> Result<Port<()>, String> {
    let eight = |mut table: Table| {
        for (_, _, classes) in table.entries.iter_mut().filter(|e| e.0 == "classes") {
            let Tree::List(items) = &mut classes.tree else { continue };
            *items = (0..CLASSES).flat_map(|dscp| items.iter().map(move |class| for_dscp(class, dscp))).collect();
        }
        if entry.has("flows") {
            table.entries.push(("flows".to_owned(), Place::default(), Tree::Integer(FLOW_QUEUES).into()));
        }
        table
    };
    let params =
        read_table(eight(table(entry.fields)), |reader| SchedulerParams::read(entry.name, Place::default(), reader))?;
    let scheduler = params.build(&scope()).map_err(|e| e.to_string())?;
    let queues = if scheduler.needs().contains(Needs::FLOWS) { 1 } else { scheduler.places() };
    build(&[], &vec![drop_tail(); queues], Some(&params))
}

fn build(edge: &[StageSpec], queues: &[QueueSpec], scheduler: Option<&SchedulerParams>) -> Result<Port<()>, String> {
    let nodes = scheduler.map(|params| NodeSpec::flat(params.clone(), queues)).unwrap_or_default();
    let spec = PortSpec { name: "bench", edge, queues, nodes: &nodes, seed: 1, replication: 0 };
    let mut port: Port<()> = spec.build().map_err(|e| format!("{e:?}"))?;
    for flow in 0..FLOWS {
        port.register(FlowId(flow), &headers(flow));
    }
    Ok(port)
}

/// What one packet after the other costs, ns, through a port that holds about `waiting` of them.
fn through(mut port: Port<()>, waiting: u32, packets: u64) -> f64 {
    let mut held = 0;
    fastest(packets, |now| {
        let (mut packet, now) = (packet(now), Time::from_ns(now));
        held += u32::from(port.arrive(&Passage::of(now, packet.flow), &mut packet, ()).stays());
        if held > waiting {
            black_box(port.next(now, &mut packet));
            held = port.queues().iter().map(|queue| queue.waiting().packets as u32).sum();
        }
        black_box(packet);
    })
}

fn drop_tail() -> QueueSpec {
    QueueSpec {
        aqm: AqmParams::DropTail(drop_tail::Params {}),
        limit: Limit::Packets(100),
        drop: Side::Tail,
        scope: scope(),
    }
}

fn headers(flow: u32) -> FlowHeaders {
    FlowHeaders {
        protocol: 17,
        source: Ipv4Addr::new(10, 0, 0, flow as u8).into(),
        destination: Ipv4Addr::new(10, 0, 1, 0).into(),
        source_port: 1,
        destination_port: 2,
        traffic: String::new(),
        class: String::new(),
        rtt: None,
    }
}

fn packet(now: u64) -> Packet {
    let number = now / GAP_NS;
    let flow = (number % u64::from(FLOWS)) as u32;
    let dscp = Dscp::new((number % CLASSES as u64) as u8).expect("below 64");
    let colour = Colour::ALL[(number % 3) as usize];
    let mut packet = Packet { size: 1000, flow: FlowId(flow), colour, dscp, ..Packet::default() };
    packet.set_label(flow as f32 * 125_000.0);
    packet
}

fn scope() -> Scope {
    Scope { link_rate: Some(BitRate::mbps(10)), limit: Some(Length::Packets(Packets::new(100))), ..Scope::default() }
}

/// The same class, for another code point.
fn for_dscp(class: &Node, dscp: i64) -> Node {
    let mut class = class.clone();
    if let Tree::Table(table) = &mut class.tree {
        table.entries.retain(|e| e.0 != "for");
        table.entries.push(("for".to_owned(), Place::default(), Tree::Integer(dscp).into()));
    }
    class
}

fn read<T>(entry: &Entry, read: impl FnOnce(&mut Reader<'_>) -> Option<T>) -> Result<T, String> {
    read_table(table(entry.fields), read)
}

fn read_table<T>(table: Table, read: impl FnOnce(&mut Reader<'_>) -> Option<T>) -> Result<T, String> {
    let mut problems = Problems::default();
    let params = read(&mut Reader::new(&table, Place::default(), &mut problems));
    params.ok_or_else(|| problems.list.iter().map(|p| p.sentence()).collect::<Vec<_>>().join("; "))
}

/// A table with every required field, and what tells classes apart and what they share by.
fn table(fields: &'static [Field]) -> Table {
    let needed = Field::all(fields)
        .into_iter()
        .filter(|f| f.default.is_none() && (!f.optional || ["for", "ls"].contains(&f.name)));
    let entries = needed.map(|f| (f.name.to_owned(), Place::default(), Node::from(value(f.name, &f.kind))));
    let mut table = Table { entries: entries.collect() };
    if let Some(list) = Field::all(fields).into_iter().find(|f| matches!(f.kind, Kind::OneOrMany(Kind::Table(_)))) {
        table.entries.retain(|e| e.0 != list.name);
        table.entries.push((list.name.to_owned(), Place::default(), value(list.name, &list.kind).into()));
    }
    table
}

/// Something sensible of a kind, at half the rate of the packets.
fn value(name: &str, kind: &Kind) -> Tree {
    let text = |t: &str| Tree::Text(t.to_owned());
    match kind {
        Kind::Tickets => text("1000t/s"),
        Kind::Rate | Kind::MeterRate => text(if name == "pir" || name == "eir" { "8Mbit/s" } else { "5Mbit/s" }),
        Kind::Size | Kind::Burst => text("62500B"),
        Kind::SignedSize => text("18B"),
        Kind::Time => text("100ms"),
        Kind::Count => text("50p"),
        Kind::Length => text(if name.contains("min") { "20p" } else { "80p" }),
        Kind::Probability | Kind::Number => Tree::Float(0.1),
        Kind::Integer => Tree::Integer(1),
        Kind::Bool => Tree::Bool(false),
        Kind::Dscp => text("AF11"),
        Kind::Choice(names) => text(names[0]),
        Kind::Table(fields) | Kind::Flat(fields) => Tree::Table(table(fields)),
        Kind::List(of) | Kind::OneOrMany(of) => Tree::List(vec![value(name, of).into()]),
        Kind::Either(kinds) => value(name, &kinds[0]),
        Kind::Formula(Gives::Value) => text("min(1, backlog.packets / 500p)"),
        Kind::Formula(Gives::Decision) => text("if(size > 1200B or chance(0.5), red, green)"),
        Kind::Formula(Gives::Condition) => text("backlog.packets > 80p"),
        Kind::Formula(Gives::Constant) => Tree::Float(0.1),
        Kind::Named(of) => Tree::table(vec![("x", self::value(name, of))]),
        Kind::Text | Kind::Any => Literal::Text("green").into(),
    }
}
