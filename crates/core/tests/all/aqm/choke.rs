//! CHOKe draw by draw as its slow versions, and its laws.

use super::support::{self, RATE, common, packets, profile};
use crate::common::port::Port;
use crate::oracle::choke::{Kernel, Paper, Ruling};
use crate::oracle::red_linux::Linux;
use perhop_core::aqm::early::{Common, Spacing, Weight};
use perhop_core::aqm::{AqmParams, choke};
use perhop_core::arithmetic::Arithmetic;
use perhop_core::math::power_of_two;
use perhop_core::packet::{Colour, FlowId, Packet};
use perhop_core::port::{Gate, Limit, PortError, PortSpec, QueueSpec, Side};
use perhop_core::units::{Bytes, Span, Time};
use perhop_core::verdict::{Fate, Reason};
use perhop_core::{Rng, Scope};
use proptest::prelude::*;

const LIMIT: u32 = 30;
const SEED: u64 = 5;

fn params((min, max, p): (u32, u32, f64), common: Common, arithmetic: Arithmetic) -> AqmParams {
    AqmParams::Choke(choke::Params { profile: profile(packets(min), packets(max), p), common, arithmetic })
}

fn rng() -> Rng {
    Rng::stream(SEED, 0, "queue")
}

fn port(params: &AqmParams) -> Port {
    Port::new(Gate::new(params.build(&support::scope(LIMIT)).unwrap(), Limit::Packets(LIMIT), rng()), RATE)
}

/// Overload by up to six flows, of which the first sends most.
fn loads() -> impl Strategy<Value = Vec<(Span, Packet)>> {
    let flows = prop::collection::vec(prop_oneof![2 => Just(0u32), 3 => 0u32..6], 400);
    (support::load(&[Colour::Unmarked]), flows).prop_map(|(mut load, flows)| {
        load.iter_mut().zip(flows).for_each(|((_, packet), flow)| packet.flow = FlowId(flow));
        load
    })
}

fn fate(said: Ruling, room: bool, marks: bool) -> Fate {
    match said {
        Ruling::Both(_) => Fate::Dropped(Reason::Early),
        Ruling::Drawn if !marks => Fate::Dropped(Reason::Early),
        Ruling::Forced if !marks => Fate::Dropped(Reason::Forced),
        _ if !room => Fate::Dropped(Reason::Overflow),
        Ruling::Pass => Fate::Queued,
        Ruling::Drawn | Ruling::Forced => Fate::Marked,
    }
}

/// What waits afterwards, if nothing leaves.
fn after(mut waiting: Vec<Packet>, said: Ruling) -> Vec<FlowId> {
    if let Ruling::Both(place) = said {
        waiting.remove(place);
    }
    waiting.iter().map(|it| it.flow).collect()
}

/// What still waits of the packets before the last, which has `come` in, and may have left at once.
fn still(port: &Port, sent: u64, come: bool) -> Vec<FlowId> {
    let gone = (port.sent - sent) as usize;
    assert!(gone <= usize::from(come), "only the arrival can have left");
    let waiting: Vec<_> = port.waiting().iter().map(|it| it.1.flow).collect();
    waiting[..waiting.len() - usize::from(come && gone == 0)].to_vec()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_papers_draw_by_draw(
        numbers in support::any_numbers(), wq in prop::sample::select(vec![0.01, 0.1, 0.5]), ecn in any::<bool>(), load in loads(),
    ) {
        let (min, max, max_p) = numbers;
        let params = params(numbers, Common { ecn, ..common(wq, Spacing::Uniformised) }, Arithmetic::Exact);
        let mut paper = Paper {
            min: min.into(), max: max.into(), max_p, wq, idle_rate: RATE.bytes_s() / 500.0,
            rng: rng(), avg: 0.0, count: -1, last: Time::ZERO,
        };
        let (mut port, mut now) = (port(&params), Time::ZERO);
        for (n, (gap, packet)) in load.iter().enumerate() {
            now += *gap;
            port.advance(now);
            let (waiting, sent): (Vec<_>, _) = (port.waiting().iter().map(|it| it.1).collect(), port.sent);
            let room = waiting.len() < LIMIT as usize;
            let said = paper.arrive(now, &waiting, port.backlog().idle_since, packet);
            let expected = fate(said, room, ecn && packet.ecn.capable() && said != Ruling::Forced);
            if expected == Fate::Dropped(Reason::Overflow) {
                paper.count = 0;
            }
            prop_assert_eq!(port.arrive(now, *packet), expected, "packet {}", n);
            prop_assert_eq!(still(&port, sent, expected.stays()), after(waiting, said), "packet {}", n);
        }
    }

    #[test]
    fn linuxs_draw_by_draw(
        numbers in (1u32..12, 1u32..15, prop_oneof![9 => 0.01..1.0f64, 1 => Just(1.0)]), log in 1i32..6, mean in 100u64..1500,
        ecn in any::<bool>(), asked_when_empty in any::<bool>(), load in loads(),
    ) {
        let (min, width, p) = numbers;
        let weight = Weight(power_of_two(-log));
        let common = Common { weight, mean_packet: Bytes::new(mean), ecn, ..common(0.5, Spacing::Uniformised) };
        let params = params((min, min + width, p), common, Arithmetic::Linux);
        let thresholds = [min, min + width].map(u64::from);
        let red = Linux::of_packets(thresholds, p, [log as u32, mean as u32], RATE.bytes_s());
        let mut kernel = Kernel { red, rng: rng(), places: Vec::new(), head: 0 };
        let scope = Scope { asked_when_empty, ..support::scope(LIMIT) };
        let gate = Gate::new(params.build(&scope).unwrap(), Limit::Packets(LIMIT), rng());
        let (mut port, mut now, mut left) = (Port::new(gate, RATE), Time::ZERO, 0);
        for (n, (gap, packet)) in load.iter().enumerate() {
            now += *gap;
            port.advance(now);
            (left..port.sent).for_each(|_| kernel.left());
            left = port.sent;
            let waiting: Vec<_> = port.waiting().iter().map(|it| it.1).collect();
            let idle = port.backlog().idle_since.filter(|_| asked_when_empty);
            let said = kernel.arrive(now, waiting.len(), idle, packet);
            let expected = fate(said, waiting.len() < LIMIT as usize, ecn && packet.ecn.capable());
            if expected.stays() {
                kernel.queued(packet.flow);
            }
            prop_assert_eq!(port.arrive(now, *packet), expected, "packet {}", n);
            prop_assert_eq!(port.gauge(now, "avg_queue_packets"), kernel.red.average());
            prop_assert_eq!(still(&port, left, expected.stays()), after(waiting, said), "packet {}", n);
        }
    }

    /// A flow alone above `min` never gets longer, whatever comes: each arrival costs it a packet that waits.
    #[test]
    fn one_flow_shrinks_its_own_queue(load in loads(), linux in any::<bool>()) {
        let arithmetic = if linux { Arithmetic::Linux } else { Arithmetic::Exact };
        let params = params((3, 20, 0.1), common(0.5, Spacing::Uniformised), arithmetic);
        let (mut port, mut now) = (port(&params), Time::ZERO);
        for (gap, packet) in &load {
            now += *gap;
            port.advance(now);
            let waiting = port.waiting().len();
            let fate = port.arrive(now, Packet { flow: FlowId(0), ..*packet });
            if port.gauge(now, "avg_queue_packets") > 3.0 && waiting > 0 {
                prop_assert_eq!(fate, Fate::Dropped(Reason::Early));
                prop_assert_eq!(port.waiting().len(), waiting - 1);
            }
        }
    }
}

/// Every fate occurs in the loads of the comparisons, and a match at the head, in the middle and at the tail.
#[test]
fn every_kind_of_drop_occurs() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut seen = std::collections::BTreeMap::<_, u32>::new();
    for _ in 0..200 {
        let load = loads().new_tree(&mut runner).unwrap().current();
        let mut port = port(&params((3, 5, 0.3), common(0.1, Spacing::Uniformised), Arithmetic::Exact));
        let mut now = Time::ZERO;
        for (gap, packet) in &load {
            now += *gap;
            port.advance(now);
            let (before, dropped) = (port.waiting().clone(), port.dropped().len());
            let fate = format!("{:?}", port.arrive(now, *packet));
            let place = before.iter().zip(port.waiting()).position(|(a, b)| a != b).unwrap_or(port.waiting().len());
            let matched = (port.dropped().len() > dropped).then_some(match place {
                0 => "head",
                _ if place + 1 == before.len() => "tail",
                _ => "middle",
            });
            *seen.entry((fate, matched)).or_default() += 1;
        }
    }
    assert_eq!(seen.len(), 6, "{seen:?}");
    assert!(seen.values().all(|n| *n >= 50), "{seen:?}");
}

/// What waits is dropped by CHOKe itself: not also at the head.
#[test]
fn a_queue_that_drops_at_its_head_is_refused() {
    let aqm = params((3, 9, 0.1), common(0.1, Spacing::Uniformised), Arithmetic::Exact);
    let queue = |drop| QueueSpec { aqm: aqm.clone(), limit: Limit::Packets(LIMIT), drop, scope: support::scope(LIMIT) };
    let built = |drop| {
        let queues = [queue(drop)];
        PortSpec { name: "p", edge: &[], queues: &queues, nodes: &[], seed: 1, replication: 0 }
            .build::<()>()
            .map(|_| ())
    };
    assert_eq!(built(Side::Tail), Ok(()));
    let Err(PortError::Queue(error)) = built(Side::Head) else { panic!("it was taken") };
    assert_eq!((error.field, error.code), ("drop", "E292"));
}
