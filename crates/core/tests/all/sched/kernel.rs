//! FQ-CoDel and SFQ against what Linux 6.12 did with the same packets (`lab/vectors`), asked at the times at which the kernel
//! was: every packet sent, dropped and marked; and with perhop's token bucket above them, at its own times.

use super::flow_line::{Entry, Host};
use super::line::{read_table, scope};
use crate::oracle::codel::Waiting;
use perhop_core::aqm::{AqmParams, drop_tail};
use perhop_core::conditioner::Passage;
use perhop_core::dscp::Dscp;
use perhop_core::packet::{Ecn, FlowId, Packet};
use perhop_core::params::{Node, Problems, Tree};
use perhop_core::port::{Buffers, Inside, Limit, NodeSpec, Port, PortSpec, QueueSpec, Side};
use perhop_core::sched::SchedulerParams;
use perhop_core::units::Time;
use perhop_core::verdict::{Fate, Reason};
use std::io::Read;

/// The kernel counts Ethernet's header.
const HEADER: u64 = 14;

/// A packet of a recording; times in ns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) came: u64,
    pub(crate) bytes: u64,
    pub(crate) dscp: u8,
    field: Ecn,
    flow: u32,
    /// When it left, and how.
    pub(crate) left: Option<(u64, Ecn)>,
}

/// Times in a file are differences: of arrivals, and of departures in the order of arrivals.
pub(crate) fn rows(port: &str, pattern: &str) -> Vec<Row> {
    let path = format!("{}/../../lab/vectors/{port}/{pattern}.csv.gz", env!("CARGO_MANIFEST_DIR"));
    let file = std::fs::File::open(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let mut text = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
    let (mut came, mut left) = (0, 0);
    let row = |line: &str| {
        let cells: Vec<_> = line.split(',').collect();
        let number = |i: usize| cells[i].parse::<i64>().unwrap();
        let field = |i: usize| Ecn::from_bits(number(i) as u8);
        came += number(0);
        let fate = (!cells[5].is_empty()).then(|| {
            left += number(5);
            (left as u64, field(6))
        });
        Row {
            came: came as u64,
            bytes: number(1) as u64 + HEADER,
            dscp: number(2) as u8,
            field: field(3),
            flow: number(4) as u32 - 5001,
            left: fate,
        }
    };
    text.lines().skip(1).map(row).collect()
}

/// A token bucket looks at what is next whenever a packet has come or gone; `looks`: HTB does not.
fn follow(port: &str, pattern: &str, params: &SchedulerParams, looks: bool) {
    let (rows, mut host) = (rows(port, pattern), Host::new(params));
    let arrivals = (0u32..).zip(&rows).map(|(id, row)| (row.came, false, id));
    let departures = (0u32..).zip(&rows).filter_map(|(id, row)| Some((row.left?.0, true, id)));
    let mut events: Vec<_> = arrivals.chain(departures).collect();
    events.sort_unstable();
    for (at, leaves, id) in events {
        let Row { bytes, field, flow, .. } = rows[id as usize];
        if leaves {
            assert_eq!(host.send(at).map(|packet| packet.id), Some(id), "{port} {pattern} at {at} ns");
        } else {
            host.arrive(flow, Entry { packet: Waiting { id, arrived: at, bytes, ecn: field.capable() }, field });
        }
        if looks {
            host.look(at);
        }
    }
    let of = |wanted: fn(&Row) -> bool| -> Vec<u32> {
        (0..).zip(&rows).filter(|(_, row)| wanted(row)).map(|(id, _)| id).collect()
    };
    let sorted = |mut ids: Vec<u32>| {
        ids.sort_unstable();
        ids
    };
    assert_eq!(sorted(host.log.dropped), of(|row| row.left.is_none()), "{port} {pattern}: dropped");
    let marked = of(|row| row.field != Ecn::Ce && row.left.is_some_and(|left| left.1 == Ecn::Ce));
    assert_eq!(sorted(host.log.marked), marked, "{port} {pattern}: marked");
}

/// The kernel's clock, ns.
const TICK: u64 = 256;

/// Packets by number.
#[derive(Default)]
struct Store {
    packets: Vec<Packet>,
    dropped: Vec<u32>,
}

impl Buffers<u32> for Store {
    fn packet(&mut self, handle: u32) -> &mut Packet {
        &mut self.packets[handle as usize]
    }

    fn dropped(&mut self, handle: u32, _reason: Reason) {
        self.dropped.push(handle);
    }
}

/// A port of the recordings: a token bucket of 10 Mbit/s and 4000 B above the scheduler.
fn port(params: &SchedulerParams) -> Port<u32> {
    let keys = vec![("rate", text("10Mbit/s")), ("burst", text("4000B")), ("arithmetic", text("linux"))];
    let shaper = perhop_core::params::read_table(&Node::from(Tree::table(keys)), &mut Problems::default());
    let scheduler = NodeSpec { parent: None, shaper, inside: Inside::Scheduler(params.clone()), scope: scope() };
    let flows = NodeSpec { parent: Some(0), shaper: None, inside: Inside::Queue(0), scope: scope() };
    let aqm = AqmParams::DropTail(drop_tail::Params {});
    let queues = [QueueSpec { aqm, limit: Limit::Packets(u32::MAX), drop: Side::Tail, scope: scope() }];
    let nodes = [scheduler, flows];
    let spec = PortSpec { name: "p", edge: &[], queues: &queues, nodes: &nodes, seed: 1, replication: 0 };
    spec.build().unwrap()
}

/// The whole port at its own times: the same packets, within a tick of the kernel's clock and one that its timer may add.
fn follow_port(port_name: &str, pattern: &str, params: &SchedulerParams) {
    let (rows, mut port, mut store) = (rows(port_name, pattern), port(params), Store::default());
    let mut left = vec![None; rows.len()];
    let mut arrivals = (0u32..).zip(&rows).peekable();
    let mut opens = None::<Time>;
    loop {
        let next = arrivals.peek().map(|(_, row)| Time::from_ns(row.came));
        let now = match (next, opens) {
            (Some(next), Some(opens)) => next.min(opens),
            (next, opens) => match next.or(opens) {
                Some(now) => now,
                None => break,
            },
        };
        if next == Some(now)
            && let Some((id, row)) = arrivals.next()
        {
            let dscp = Dscp::new(row.dscp).unwrap();
            let mut packet =
                Packet { size: row.bytes as u32, flow: FlowId(row.flow), dscp, ecn: row.field, ..Packet::default() };
            store.packets.push(packet);
            if let Fate::Dropped(_) = port.arrive(&Passage::of(now, packet.flow), &mut packet, id) {
                store.dropped.push(id);
            }
            port.evict(now, &mut store);
        }
        while let Some(leaving) = port.next(now, &mut store) {
            left[leaving.handle as usize] = Some(now.ns());
        }
        opens = port.opens_at();
    }
    for (id, (row, left)) in rows.iter().zip(&left).enumerate() {
        let apart = row.left.zip(*left).map(|(kernel, own)| kernel.0.abs_diff(own));
        assert_eq!(left.is_some(), row.left.is_some(), "{port_name} {pattern}: packet {id} of {row:?}");
        assert!(apart.is_none_or(|ns| ns <= 2 * TICK), "{port_name} {pattern}: packet {id} {left:?} of {row:?}");
        let field = store.packets[id].ecn;
        assert!(row.left.is_none_or(|kernel| kernel.1 == field), "{port_name} {pattern}: packet {id} of {row:?}");
    }
}

fn text(text: &str) -> Tree {
    Tree::Text(text.into())
}

/// 16 queues, each flow its own.
fn params(name: &str, keys: &[(&'static str, Tree)]) -> SchedulerParams {
    let fixed = [("flows", Tree::Integer(16)), ("hash", text("exact")), ("arithmetic", text("linux"))];
    read_table(name, fixed.into_iter().chain(keys.iter().cloned()).collect()).unwrap()
}

#[test]
fn fq_codel_does_as_the_kernel_did() {
    let fq =
        |ecn: bool, keys: &[(&'static str, Tree)]| params("fq-codel", &[&[("ecn", Tree::Bool(ecn))], keys].concat());
    let plain = fq(false, &[("limit", text("500p"))]);
    let small = fq(false, &[("limit", text("24p")), ("quantum", text("300B"))]);
    let batch = fq(false, &[("limit", text("1000p")), ("interval", text("30ms")), ("drop-batch", Tree::Integer(4))]);
    let ecn = fq(true, &[("limit", text("500p")), ("interval", text("50ms"))]);
    let ce = fq(true, &[("limit", text("500p")), ("interval", text("50ms")), ("ce-threshold", text("1ms"))]);
    let cells: [(&str, _, &[&str]); 5] = [
        ("fq-codel", plain, &["classes-bursts", "classes-idle-back", "classes-join", "flows-even", "flows-fat-thin"]),
        ("fq-codel-small", small, &["classes-bursts", "classes-even", "flows-fat-thin"]),
        ("fq-codel-memory", batch, &["classes-hog", "flows-even"]),
        ("fq-codel-ecn", ecn, &["ecn-above", "ecn-flows"]),
        ("fq-codel-ce", ce, &["ecn-above", "ecn-flows"]),
    ];
    for (port, params, patterns) in cells {
        for pattern in patterns {
            follow(port, pattern, &params, true);
            follow_port(port, pattern, &params);
        }
    }
}

#[test]
fn fq_codel_under_htb_does_as_the_kernel_did() {
    let keys = [("ecn", Tree::Bool(false)), ("limit", text("300p")), ("interval", text("60ms"))];
    for pattern in ["classes-bursts", "flows-fat-thin"] {
        follow("htb-over-fq-codel", pattern, &params("fq-codel", &keys), false);
    }
}

#[test]
fn fq_does_as_the_kernel_did() {
    let fq = |keys: &[(&'static str, Tree)]| {
        let fixed = [("flows", Tree::Integer(16)), ("hash", text("exact"))];
        read_table("fq", fixed.into_iter().chain(keys.iter().cloned()).collect()).unwrap()
    };
    let plain = fq(&[("limit", text("200p")), ("flow-limit", text("60p"))]);
    let quanta = [("quantum", text("600B")), ("initial-quantum", text("1500B"))];
    let small = fq(&[&[("limit", text("20p")), ("flow-limit", text("8p"))], &quanta[..]].concat());
    let bands = fq(&[("limit", text("100p")), ("flow-limit", text("50p"))]);
    let paced = fq(&[("maxrate", text("4Mbit/s")), ("flow-limit", text("50p"))]);
    let ce = fq(&[("ce-threshold", text("2ms")), ("flow-limit", text("60p"))]);
    let cells: [(&str, _, &[&str]); 5] = [
        ("fq", plain, &["classes-bursts", "classes-idle-back", "flows-even", "flows-fat-thin"]),
        ("fq-small", small, &["classes-bursts", "classes-even", "bands-three"]),
        ("fq-bands", bands, &["bands-three", "bands-bursts", "bands-first", "bands-sparse"]),
        ("fq-maxrate-tbf", paced, &["flows-even", "classes-even"]),
        ("fq-ce", ce, &["ecn-above", "ecn-bursts", "ecn-flows", "ecn-paced"]),
    ];
    for (port, params, patterns) in cells {
        for pattern in patterns {
            follow_port(port, pattern, &params);
        }
    }
}

#[test]
fn fq_pie_does_as_the_kernel_did_where_nothing_is_drawn() {
    let keys = [("limit", text("60p")), ("target", text("1s")), ("flows", Tree::Integer(16)), ("hash", text("exact"))];
    let params = read_table("fq-pie", keys.into()).unwrap();
    for pattern in ["flows-fat-thin", "classes-even", "classes-hog", "classes-bursts", "classes-join"] {
        follow("fq-pie-calm", pattern, &params, true);
        follow_port("fq-pie-calm", pattern, &params);
    }
}

#[test]
fn sfq_does_as_the_kernel_did() {
    let params = params("sfq", &[("limit", text("60p")), ("depth", text("30p"))]);
    for pattern in ["classes-bursts", "classes-even", "classes-hog", "classes-join"] {
        follow("sfq", pattern, &params, true);
        follow_port("sfq", pattern, &params);
    }
}
