//! SFQ against a slow version, packet for packet; its errors.

use super::flow_line::{Entry, Host};
use super::line::{NOW, scope};
use crate::oracle::codel::Waiting;
use crate::oracle::sfq::{Limits, Sfq};
use perhop_core::arithmetic::Arithmetic;
use perhop_core::packet::Ecn;
use perhop_core::sched::flows::{Hash, Hashing};
use perhop_core::sched::{SchedulerParams, sfq::Params};
use perhop_core::units::{Bytes, Packets};
use perhop_core::verdict::Side;
use proptest::prelude::*;

fn defaults() -> Params {
    Params {
        flows: 16,
        active: 128,
        quantum: Bytes::new(1514),
        limit: Packets::new(127),
        depth: Packets::new(127),
        drop: Side::Tail,
        hashing: Hashing { hash: Hash::Exact, salt: 0 },
        arithmetic: Arithmetic::Linux,
    }
}

fn host(params: &Params) -> Host {
    Host::new(&SchedulerParams::Sfq(params.clone()))
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// So many packets of a flow: flow, how many, bytes.
    Arrive(u32, u32, u32),
    Send,
    /// Another scheduler looks at what would be sent.
    Look,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let size = prop_oneof![40u32..=1514, Just(1514), Just(757)];
    let step = prop_oneof![
        5 => (0u32..8, 1u32..3, size.clone()).prop_map(|(flow, n, size)| Step::Arrive(flow, n, size)),
        1 => (0u32..3, 3u32..20, size).prop_map(|(flow, n, size)| Step::Arrive(flow, n, size)),
        6 => Just(Step::Send),
        1 => Just(Step::Look),
    ];
    prop::collection::vec(step, 20..500)
}

fn params() -> impl Strategy<Value = Params> {
    let limits = (2u32..40, 1u32..15, 2u32..10, prop_oneof![256u64..4000, Just(757), Just(1514)]);
    let drop = prop::sample::select(vec![Side::Head, Side::Tail]);
    let arithmetic = prop::sample::select(vec![Arithmetic::Exact, Arithmetic::Linux]);
    (limits, drop, arithmetic).prop_map(|((limit, depth, active, quantum), drop, arithmetic)| Params {
        limit: Packets::new(limit),
        depth: Packets::new(depth),
        active,
        quantum: Bytes::new(quantum),
        drop,
        arithmetic,
        ..defaults()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// Every packet sent and dropped.
    #[test]
    fn every_packet_goes_as_in_the_slow_version(params in params(), steps in steps()) {
        let mut host = host(&params);
        let mut slow = Sfq::new(Limits {
            active: params.active as usize,
            quantum: params.quantum.get() as i64,
            packets: params.limit.get() as usize,
            depth: params.depth.get() as usize,
            head_drop: params.drop == Side::Head,
            linux: params.arithmetic == Arithmetic::Linux,
        });
        let (mut id, mut shown) = (0, None);
        for step in steps {
            match step {
                Step::Arrive(flow, n, bytes) => {
                    for _ in 0..n {
                        let packet = Waiting { id, arrived: 0, bytes: bytes.into(), ecn: false };
                        host.arrive(flow, Entry { packet, field: Ecn::NotEct });
                        slow.enqueue(flow as usize, packet, usize::from(shown.is_some()));
                        id += 1;
                    }
                }
                Step::Look => {
                    host.look(0);
                    shown = shown.or_else(|| slow.dequeue());
                }
                Step::Send => prop_assert_eq!(host.send(0), shown.take().or_else(|| slow.dequeue())),
            }
            prop_assert_eq!(&host.log.dropped, &slow.dropped);
        }
        prop_assert_eq!(host.all().packets as usize, slow.packets() + usize::from(shown.is_some()));
    }
}

#[test]
fn what_cannot_work_is_refused() {
    let cases = [
        (Params { flows: 0, ..defaults() }, "flows"),
        (Params { active: 0, ..defaults() }, "active"),
        (Params { quantum: Bytes::new(255), ..defaults() }, "quantum"),
        (Params { limit: Packets::new(0), ..defaults() }, "limit"),
        (Params { depth: Packets::new(0), ..defaults() }, "depth"),
    ];
    for (params, field) in cases {
        let error = SchedulerParams::Sfq(params).build(&scope()).unwrap_err();
        assert_eq!((error.field, error.code), (field, "E201"));
    }
    let mut running = SchedulerParams::Sfq(defaults()).build(&scope()).unwrap();
    let exact = Params { arithmetic: Arithmetic::Exact, ..defaults() };
    for (params, field) in [(exact, "arithmetic"), (Params { flows: 8, ..defaults() }, "flows")] {
        let error = running.retune(NOW, &SchedulerParams::Sfq(params), &scope()).unwrap_err();
        assert_eq!((error.field, error.code), (field, "E202"));
    }
}
