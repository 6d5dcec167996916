//! Parts of simulations whose packets become captures.

use perhop_core::Scope;
use perhop_core::aqm::AqmParams;
use perhop_core::classify::FlowHeaders;
use perhop_core::conditioner::{ConditionerParams, LIST};
use perhop_core::dscp::Dscp;
use perhop_core::params::{Field, Kind, Place, Problems, Reader, Table, Tree};
use perhop_core::port::{Limit, QueueSpec, Side};
use perhop_core::units::{BitRate, Probability, Span, Time};
use perhop_sim::plan::{Link, Offered, Sockets};
use perhop_sim::record::Captured;
use perhop_sim::traffic::TrafficParams;
use perhop_sim::{Outcome, transport};

pub(crate) type Entries = Vec<(&'static str, Tree)>;

pub(crate) fn text(value: &str) -> Tree {
    Tree::Text(value.into())
}

fn table(entries: Entries) -> Table {
    let Tree::Table(table) = Tree::table(entries) else { unreachable!() };
    table
}

pub(crate) fn conditioner(name: &str, entries: Entries) -> ConditionerParams {
    let (table, mut problems) = (table(entries), Problems::default());
    let mut reader = Reader::new(&table, Place::default(), &mut problems);
    let params = ConditionerParams::read(name, Place::default(), &mut reader);
    reader.finish();
    assert!(!problems.has_errors(), "{name}: {problems:?}");
    params.expect("no error was reported")
}

/// A conditioner's required parameters, at half the load's rate.
pub(crate) fn needed(name: &str) -> Entries {
    let entry = LIST.iter().find(|entry| entry.name == name).expect("it is in the list");
    let fields = Field::all(entry.fields).into_iter().filter(|field| field.default.is_none() && !field.optional);
    let value = |field: &Field| match field.kind {
        Kind::Tickets => text("1000t/s"),
        Kind::Rate | Kind::MeterRate => text("3Mbit/s"),
        Kind::Size | Kind::Burst => text("20000B"),
        Kind::Time => text("100ms"),
        _ if field.name == "sets" => text("if(size > 500B, green, red)"),
        _ => panic!("add parameters for {name}: what should `{}` be?", field.name),
    };
    fields.map(|field| (field.name, value(field))).collect()
}

pub(crate) fn traffic(name: &str, entries: Entries) -> TrafficParams {
    let (table, mut problems) = (table(entries), Problems::default());
    let mut reader = Reader::new(&table, Place::default(), &mut problems);
    TrafficParams::read(name, Place::default(), &mut reader).unwrap_or_else(|| panic!("{name}: {problems:?}"))
}

pub(crate) fn link(from: usize, to: usize) -> Link {
    let mut problems = Problems::default();
    let empty = Table::default();
    let mut reader = Reader::new(&empty, Place::default(), &mut problems);
    Link {
        name: format!("{from} -> {to}"),
        from,
        to,
        rate: BitRate::mbps(50),
        framing: Default::default(),
        delay: Span::from_ms(5),
        loss: Probability::ZERO,
        transit: Default::default(),
        queues: vec![QueueSpec {
            drop: Side::Tail,
            aqm: AqmParams::read("drop-tail", Place::default(), &mut reader).expect("without parameters"),
            limit: Limit::Packets(100_000),
            scope: Scope::default(),
        }],
        nodes: vec![],
        edge: vec![],
    }
}

pub(crate) fn offered(name: &str, (from, to): (usize, usize), model: TrafficParams) -> Offered {
    Offered {
        name: name.into(),
        class: 0,
        from: vec![from],
        to,
        flows: 1,
        start: Time::ZERO,
        spread: Span::from_ms(300),
        stop: None,
        model,
        tcp: transport::Config { window: 12, mss: 960, ecn: true, ..transport::Config::default() },
        dscp: Dscp::BE,
        sockets: Sockets::default(),
    }
}

pub(crate) fn headers(outcome: &Outcome, packet: &Captured) -> FlowHeaders {
    let out = &outcome.headers[packet.packet.flow.0 as usize / 2];
    if packet.packet.flow.0.is_multiple_of(2) { out.clone() } else { out.reversed() }
}
