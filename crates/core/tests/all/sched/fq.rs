//! fq against a slow version, packet for packet; its laws and errors.

use super::flow_line::{Entry, Host};
use super::line::{NOW, read_table, scope};
use crate::oracle::codel::Waiting;
use crate::oracle::fq::{Fq, Packet, Sender, Settings};
use perhop_core::dscp::Dscp;
use perhop_core::packet::{Ecn, FlowId};
use perhop_core::params::Tree;
use perhop_core::port::Turn;
use perhop_core::sched::fq::{Params, Priorities, Quanta};
use perhop_core::sched::{Scheduler as _, SchedulerParams, Socket};
use perhop_core::units::{BitRate, Bytes, Packets, Span};
use proptest::prelude::*;

const FLOWS: usize = 8;
/// Flows in bands 1, 2, 0 and 1: best effort, bulk, interactive, interactive bulk.
const CODE_POINTS: [(u8, usize); 4] = [(0, 1), (10, 2), (12, 0), (46, 1)];

fn text(text: &str) -> Tree {
    Tree::Text(text.into())
}

/// Each flow its own queue; else as declared.
fn defaults() -> Params {
    let keys = vec![("flows", Tree::Integer(FLOWS as i64)), ("hash", text("exact"))];
    let Ok(SchedulerParams::Fq(params)) = read_table("fq", keys) else { unreachable!("it is fq") };
    params
}

/// What each flow is: in turn of a router's, of a connection, of sockets with a rate and without.
fn senders(rate: u64) -> [Sender; FLOWS] {
    let own = Sender::Socket(Some(rate));
    [Sender::Other, Sender::Tcp, own, Sender::Socket(None), Sender::Other, own, Sender::Tcp, Sender::Other]
}

fn dscp(flow: u32) -> Dscp {
    Dscp::new(CODE_POINTS[flow as usize % 4].0).unwrap()
}

fn host(params: &Params, senders: &[Sender]) -> Host {
    let mut host = Host::new(&SchedulerParams::Fq(params.clone()));
    host.dscp = dscp;
    for (flow, sender) in (0..).zip(senders) {
        let socket = match *sender {
            Sender::Other => continue,
            Sender::Tcp => Socket::Tcp,
            Sender::Socket(rate) => Socket::Datagrams { rate: rate.map(|rate| BitRate::bps(8 * rate)) },
        };
        host.scheduler.sends(Turn::testing(FlowId(flow)), socket);
    }
    host
}

fn settings(params: &Params, weights: [i64; 3]) -> Settings {
    Settings {
        quantum: params.quanta.quantum.get() as i64,
        initial_quantum: params.quanta.initial_quantum.get() as i64,
        limit: params.limit.get() as usize,
        flow_limit: params.flow_limit.get() as usize,
        pacing: params.pacing,
        maxrate: params.maxrate.map(|rate| rate.bit_s() / 8),
        low_rate_threshold: params.low_rate_threshold.bit_s() / 8,
        refill_delay: params.refill_delay.ns() / 1_000_000,
        timer_slack: params.timer_slack.ns(),
        ce_threshold: params.ce_threshold.map(Span::ns),
        weights,
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// Packets of a flow arrive together: flow, how many, bytes, whether they are ECN-capable.
    Arrive(u32, u32, u32, bool),
    /// ns
    Wait(u64),
    /// Until it says that something goes.
    Sleep,
    Send,
    /// Another scheduler looks at what would be sent.
    Look,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let size = prop_oneof![40u32..=1514, Just(1514), Just(757)];
    let flow = 0u32..FLOWS as u32;
    let step = prop_oneof![
        5 => (flow.clone(), 1u32..4, size.clone(), any::<bool>()).prop_map(|(flow, n, size, ecn)| Step::Arrive(flow, n, size, ecn)),
        1 => (flow, 3u32..20, size, any::<bool>()).prop_map(|(flow, n, size, ecn)| Step::Arrive(flow, n, size, ecn)),
        3 => prop_oneof![0u64..20_000, 0u64..3_000_000, Just(50_000_000)].prop_map(Step::Wait),
        3 => Just(Step::Sleep),
        7 => Just(Step::Send),
        1 => Just(Step::Look),
    ];
    prop::collection::vec(step, 50..600)
}

/// Parameters, the weights as numbers, a socket's rate in B/s.
fn settled() -> impl Strategy<Value = (Params, [i64; 3], u64)> {
    let limits = (prop_oneof![3u32..30, Just(1000)], prop_oneof![1u32..10, Just(100)]);
    let quanta = (prop_oneof![256u64..4000, Just(3028)], prop_oneof![256u64..20_000, Just(15_140)]);
    let rates = (prop::option::of(10_000u64..20_000_000), 20_000u64..20_000_000, 20_000u64..2_000_000);
    let times = (0u64..80, prop_oneof![Just(0u64), Just(10_000), 0u64..1_000_000], prop::option::of(0u64..3_000_000));
    let weights =
        prop::sample::select(vec![[589_824, 196_608, 65_536], [16_384, 16_384, 16_384], [16_384, 30_000, 20_000]]);
    (limits, quanta, rates, times, weights, any::<bool>()).prop_map(
        |((limit, flow_limit), (quantum, initial), (maxrate, own, low), (refill, slack, ce), weights, pacing)| {
            let listed = weights.map(|weight: i64| weight.to_string()).join(" ");
            let SchedulerParams::Fq(read) = read_table("fq", vec![("weights", text(&listed))]).unwrap() else {
                unreachable!("it is fq")
            };
            let params = Params {
                quanta: Quanta { quantum: Bytes::new(quantum), initial_quantum: Bytes::new(initial) },
                limit: Packets::new(limit),
                flow_limit: Packets::new(flow_limit),
                pacing,
                maxrate: maxrate.filter(|_| pacing).map(|rate| BitRate::bps(8 * rate)),
                low_rate_threshold: BitRate::bps(8 * low),
                refill_delay: Span::from_ms(refill),
                timer_slack: Span::from_ns(slack),
                ce_threshold: ce.map(Span::from_ns),
                priorities: read.priorities,
                ..defaults()
            };
            (params, weights, own)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// Every packet sent, dropped and marked, and when it is looked at again.
    #[test]
    fn every_packet_goes_as_in_the_slow_version((params, weights, rate) in settled(), steps in steps()) {
        let senders = senders(rate);
        let mut host = host(&params, &senders);
        let mut slow = Fq::new(FLOWS, settings(&params, weights));
        let (mut now, mut id, mut shown) = (5_000_000, 0, None);
        for step in steps {
            // The host asks three times what goes, which the bands take note of if nothing does.
            let dequeue = |slow: &mut Fq| {
                let first = slow.dequeue(now);
                (0..2).filter(|_| first.is_none()).for_each(|_| _ = slow.dequeue(now));
                first
            };
            match step {
                Step::Wait(ns) => now += ns,
                Step::Sleep => now = slow.wakes.unwrap_or(now).max(now),
                Step::Arrive(flow, n, bytes, ecn) => {
                    for _ in 0..n {
                        let packet = Waiting { id, arrived: now, bytes: bytes.into(), ecn };
                        let field = if ecn { Ecn::Ect0 } else { Ecn::NotEct };
                        host.arrive(flow, Entry { packet, field });
                        let (band, sender) = (CODE_POINTS[flow as usize % 4].1, senders[flow as usize]);
                        slow.enqueue(flow as usize, Packet { packet, band, sender }, usize::from(shown.is_some()));
                        id += 1;
                    }
                }
                Step::Look => {
                    host.look(now);
                    shown = shown.or_else(|| dequeue(&mut slow));
                }
                Step::Send => {
                    let expected = shown.take().or_else(|| dequeue(&mut slow));
                    prop_assert_eq!(host.send(now), expected);
                    prop_assert!(expected.is_some() || host.opens == slow.wakes, "{:?} {:?}", host.opens, slow.wakes);
                }
            }
            prop_assert_eq!(&host.log.dropped, &slow.log.dropped);
            prop_assert_eq!(&host.log.marked, &slow.log.marked);
        }
        prop_assert_eq!(host.all().packets as usize, slow.packets() + usize::from(shown.is_some()));
    }
}

/// When packets leave a line that is always free, ns and bytes by flow; all of `bytes` B, as many as `packets` of each of the
/// flows at once.
fn leave(host: &mut Host, flows: &[u32], packets: u32, bytes: u64) -> Vec<(u32, u64)> {
    for i in 0..packets {
        for flow in flows {
            let packet = Waiting { id: i * FLOWS as u32 + flow, arrived: 1, bytes, ecn: false };
            host.arrive(*flow, Entry { packet, field: Ecn::NotEct });
        }
    }
    let (mut now, mut left) = (1, Vec::new());
    loop {
        match host.send(now) {
            Some(packet) => left.push((packet.id % FLOWS as u32, now)),
            None => match host.opens {
                Some(at) => now = at,
                None => return left,
            },
        }
    }
}

proptest! {
    /// In any interval a flow sends no more than its rate, and a quantum and a packet; the first time its first quantum. The
    /// slack of the timer is made up for.
    #[test]
    fn no_flow_is_faster_than_its_rate(maxrate in 20_000u64..5_000_000, own in 20_000u64..5_000_000, bytes in 40u64..=1514) {
        let params = Params { maxrate: Some(BitRate::bps(8 * maxrate)), ..defaults() };
        let senders = senders(own);
        let left = leave(&mut host(&params, &senders), &[0, 1, 2, 3], 80, bytes);
        prop_assert_eq!(left.len(), 4 * 80);
        for flow in 0..4 {
            let rate = if flow == 2 { maxrate.min(own) } else { maxrate };
            let times: Vec<u64> = left.iter().filter(|it| it.0 == flow).map(|it| it.1).collect();
            for (i, from) in times.iter().enumerate() {
                let quantum = if (i as u64) * bytes < 15_140 { 15_140 } else { 3028 };
                for (n, to) in times[i..].iter().enumerate() {
                    // A pause is shorter by what the last one was too long.
                    let passed = to - from + 10_000;
                    let most = rate as f64 * passed as f64 / 1e9 + (quantum + 2 * bytes) as f64;
                    prop_assert!(((n as u64 + 1) * bytes) as f64 <= most, "flow {}: {} packets in {} ns", flow, n + 1, to - from);
                }
            }
        }
    }

    /// While all have packets their bytes differ by no more than a quantum and a packet: by the first quantum while there are
    /// flows that still have it.
    #[test]
    fn flows_share_by_bytes(sizes in prop::array::uniform3(40u64..=1514)) {
        let mut host = host(&Params { flow_limit: Packets::new(10_000), ..defaults() }, &[]);
        host.dscp = |_| Dscp::BE;
        // The first is on the fast path.
        for id in 0..1 + 400_000 / sizes.iter().min().unwrap() {
            for flow in 0..3u32 {
                let packet = Waiting { id: 4 * id as u32 + flow, arrived: 1, bytes: sizes[flow as usize], ecn: false };
                host.arrive(flow, Entry { packet, field: Ecn::NotEct });
            }
        }
        let (mut sent, mut all) = ([0u64; 3], 0);
        while all < 200_000 {
            let packet = host.send(1).unwrap();
            sent[packet.id as usize % 4] += packet.bytes;
            all += packet.bytes;
            let (most, least) = (sent.iter().max().unwrap(), sent.iter().min().unwrap());
            let bound = if all < 3 * 20_000 { 15_140 } else { 3028 };
            prop_assert!(most - least <= bound + 8 * 1514, "{:?}", sent);
        }
        let (most, least) = (sent.iter().max().unwrap(), sent.iter().min().unwrap());
        prop_assert!(most - least <= 3028 + 8 * 1514 + 1514, "{:?}", sent);
    }
}

/// What a band may send in its turn is its weight: with all of them full, the shares of bytes are 9 : 3 : 1.
#[test]
fn bands_share_by_weight() {
    let mut host = host(&Params { flow_limit: Packets::new(10_000), limit: Packets::new(10_000), ..defaults() }, &[]);
    for i in 0..3000 {
        for flow in 0..3 {
            let packet = Waiting { id: 4 * i + flow, arrived: 1, bytes: 1500, ecn: false };
            host.arrive(flow, Entry { packet, field: Ecn::NotEct });
        }
    }
    let mut sent = [0u32; 3];
    for _ in 0..3900 {
        sent[host.send(1).unwrap().id as usize % 4] += 1;
    }
    // Flows 2, 0 and 1 are in bands 0, 1 and 2; each begins in band 0 with its first quantum, and a turn is 393 packets.
    let apart = |n: u32, share: u32| (f64::from(n) - 3900.0 * f64::from(share) / 13.0).abs();
    assert!(
        apart(sent[2], 9) <= 393.0 && apart(sent[0], 3) <= 131.0 + 24.0 && apart(sent[1], 1) <= 44.0 + 24.0,
        "{sent:?}"
    );
}

fn built(keys: Vec<(&'static str, Tree)>) -> Result<(), (String, &'static str)> {
    let params = read_table("fq", keys).map_err(|codes| (String::new(), codes[0]))?;
    params.build(&scope()).map(|_| ()).map_err(|error| (error.field.to_string(), error.code))
}

#[test]
fn what_cannot_work_is_refused() {
    let cases = [
        (vec![("flows", Tree::Integer(0))], ("flows", "E201")),
        (vec![("quantum", text("255B"))], ("quantum", "E201")),
        (vec![("quantum", text("1048577B"))], ("quantum", "E201")),
        (vec![("initial-quantum", text("2MB"))], ("initial-quantum", "E201")),
        (vec![("limit", text("0p"))], ("limit", "E201")),
        (vec![("flow-limit", text("0p"))], ("flow-limit", "E201")),
        (vec![("maxrate", text("7bit/s"))], ("maxrate", "E201")),
        (vec![("maxrate", text("1Mbit/s")), ("pacing", Tree::Bool(false))], ("maxrate", "E290")),
        (vec![("priomap", text("1 2 2 2 1 2 0 0 1 1 1 1 1 1 1"))], ("", "E201")),
        (vec![("priomap", text("1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 3"))], ("", "E201")),
        (vec![("weights", text("589824 196608 16383"))], ("", "E201")),
        (vec![("weights", text("a b c"))], ("", "E201")),
    ];
    for (keys, (field, code)) in cases {
        assert_eq!(built(keys), Err((field.to_owned(), code)));
    }
    assert_eq!(
        built(vec![("priomap", text("0 1 2 0 1 2 0 1 2 0 1 2 0 1 2 0")), ("weights", text("16384 16384 16384"))]),
        Ok(())
    );
}

/// Which flow has which queue, the bands, and who paces are fixed.
#[test]
fn a_running_one_keeps_its_queues() {
    let base = defaults();
    let mut running = SchedulerParams::Fq(base.clone()).build(&scope()).unwrap();
    let SchedulerParams::Fq(read) = read_table(
        "fq",
        vec![("weights", text("16384 16384 16384")), ("priomap", text("0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0"))],
    )
    .unwrap() else {
        unreachable!("it is fq")
    };
    for (other, field) in [
        (Params { flows: 9, ..base.clone() }, "flows"),
        (
            Params { priorities: Priorities { weights: read.priorities.weights, ..base.priorities }, ..base.clone() },
            "weights",
        ),
        (
            Params { priorities: Priorities { priomap: read.priorities.priomap, ..base.priorities }, ..base.clone() },
            "priomap",
        ),
        (Params { pacing: false, ..base.clone() }, "pacing"),
    ] {
        let error = running.retune(NOW, &SchedulerParams::Fq(other), &scope()).unwrap_err();
        assert_eq!((error.field, error.code), (field, "E202"));
    }
}
