//! FQ-PIE against a slow version, packet for packet; its laws and errors.

use super::flow_line::{Entry, Host};
use super::line::{NOW, scope};
use crate::oracle::codel::Waiting;
use crate::oracle::fq_pie::FqPie;
use crate::oracle::pie::Settings;
use perhop_core::Rng;
use perhop_core::aqm::pie::DelayFrom;
use perhop_core::packet::Ecn;
use perhop_core::sched::SchedulerParams;
use perhop_core::sched::flows::{Hash, Hashing};
use perhop_core::sched::fq_pie::{Gains, Params};
use perhop_core::units::{Bytes, Packets, Probability, Span};
use proptest::prelude::*;

fn defaults() -> Params {
    Params {
        flows: 8,
        quantum: Bytes::new(1514),
        limit: Packets::new(1000),
        target: Span::from_ms(15),
        interval: Span::from_ms(15),
        gains: Gains { alpha: 0.125, beta: 1.25 },
        delay: DelayFrom::Timestamps,
        byte_mode: false,
        mtu: Bytes::new(1514),
        ecn: true,
        ecn_below: Probability::new(0.1).unwrap(),
        hashing: Hashing { hash: Hash::Exact, salt: 0 },
    }
}

fn host(params: &Params) -> Host {
    Host::new(&SchedulerParams::FqPie(params.clone()))
}

fn slow(params: &Params) -> FqPie {
    let settings = Settings {
        qdelay_ref: params.target.ns(),
        t_update: params.interval.ns(),
        max_burst: 150_000_000,
        alpha: params.gains.alpha,
        beta: params.gains.beta,
        rate: params.delay == DelayFrom::Rate,
        derandomise: true,
        cap: true,
        byte_mode: params.byte_mode,
        queue_small: None,
        mean_pktsize: params.mtu.get(),
        ecn: params.ecn,
        max_ecnth: 0.1,
        limit: usize::MAX,
    };
    let numbers = [params.quantum.get(), params.limit.get().into(), params.percent().unwrap()].map(|n| n as usize);
    FqPie::new(params.flows as usize, numbers, settings, Rng::stream(1, 0, "scheduler.p.0"))
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// Packets of a flow arrive together: flow, how many, bytes, whether they are ECN-capable.
    Arrive(u32, u32, u32, bool),
    /// ns
    Wait(u64),
    Send,
    /// Another scheduler looks at what would be sent.
    Look,
}

/// Long enough for the burst allowance to end and the probabilities to rise.
fn steps() -> impl Strategy<Value = Vec<Step>> {
    let size = prop_oneof![40u32..=1514, Just(1514), Just(757)];
    let step = prop_oneof![
        5 => (0u32..8, 1u32..4, size.clone(), any::<bool>()).prop_map(|(flow, n, size, ecn)| Step::Arrive(flow, n, size, ecn)),
        2 => (0u32..3, 3u32..12, size, any::<bool>()).prop_map(|(flow, n, size, ecn)| Step::Arrive(flow, n, size, ecn)),
        4 => prop_oneof![0u64..200_000, 0u64..8_000_000].prop_map(Step::Wait),
        8 => Just(Step::Send),
        1 => Just(Step::Look),
    ];
    prop::collection::vec(step, 200..1200)
}

fn params() -> impl Strategy<Value = Params> {
    let limits = (prop_oneof![2u32..60, 200u32..1000], prop_oneof![256u64..4000, Just(757), Just(1514)]);
    let times = (1u64..20, prop_oneof![1u64..6, Just(15)]);
    let weights = (0u32..=32, 0u32..=32);
    let modes = (any::<bool>(), any::<bool>(), any::<bool>(), prop_oneof![0u32..=100, Just(10)]);
    (limits, times, weights, modes).prop_map(|((limit, quantum), (target, interval), (alpha, beta), modes)| {
        let (rate, byte_mode, ecn, percent) = modes;
        Params {
            limit: Packets::new(limit),
            quantum: Bytes::new(quantum),
            target: Span::from_ms(target),
            interval: Span::from_ms(interval),
            gains: Gains { alpha: f64::from(alpha) / 16.0, beta: f64::from(beta) / 16.0 },
            delay: if rate { DelayFrom::Rate } else { DelayFrom::Timestamps },
            byte_mode,
            ecn,
            ecn_below: Probability::new(f64::from(percent) / 100.0).unwrap(),
            ..defaults()
        }
    })
}

/// Packets sent, dropped and marked; how many were dropped early or marked.
fn follow(params: &Params, steps: &[Step]) -> Result<usize, TestCaseError> {
    let (mut host, mut slow) = (host(params), slow(params));
    let (mut now, mut id, mut shown, mut update) = (0, 0, None, params.interval.ns());
    let mut places = Vec::new();
    for step in steps {
        while update <= now {
            slow.update(update);
            update += params.interval.ns();
        }
        match *step {
            Step::Wait(ns) => now += ns,
            Step::Arrive(flow, n, bytes, ecn) => {
                let place = places.iter().position(|it| *it == flow).unwrap_or(places.len());
                if place == places.len() {
                    places.push(flow);
                }
                for _ in 0..n {
                    let packet = Waiting { id, arrived: now, bytes: bytes.into(), ecn };
                    let field = if ecn { Ecn::Ect0 } else { Ecn::NotEct };
                    host.arrive(place as u32, Entry { packet, field });
                    slow.enqueue(place, packet, usize::from(shown.is_some()));
                    id += 1;
                }
            }
            Step::Look => {
                host.look(now);
                shown = shown.or_else(|| slow.dequeue(now));
            }
            Step::Send => prop_assert_eq!(host.send(now), shown.take().or_else(|| slow.dequeue(now))),
        }
        prop_assert_eq!(&host.log.dropped, &slow.log.dropped);
        prop_assert_eq!(&host.log.marked, &slow.log.marked);
    }
    prop_assert_eq!(host.all().packets as usize, slow.packets() + usize::from(shown.is_some()));
    Ok(slow.log.dropped.len() + slow.log.marked.len())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn every_packet_goes_as_in_the_slow_version(params in params(), steps in steps()) {
        follow(&params, &steps)?;
    }
}

/// The same where PIE is sure to act: one flow far above what is sent, after the burst allowance.
#[test]
fn the_slow_version_is_followed_where_pie_drops_and_marks() {
    for (delay, byte_mode) in [(DelayFrom::Timestamps, false), (DelayFrom::Rate, false), (DelayFrom::Timestamps, true)]
    {
        let params = Params { delay, byte_mode, ..defaults() };
        let steps: Vec<_> = (0..3000u32)
            .flat_map(|i| {
                let arrive = |flow, bytes| Step::Arrive(flow, 1, bytes, i % 2 == 0);
                [arrive(0, 1000), arrive(i % 3, 700), Step::Send, Step::Wait(1_000_000)]
            })
            .collect();
        let acted = follow(&params, &steps).unwrap();
        assert!(acted > 300, "{acted}");
    }
}

/// A flow of few packets beside one above the rate: none of its packets is lost, and it waits for one packet of the other.
#[test]
fn a_sparse_flow_is_isolated() {
    let mut host = host(&Params { ecn: false, ..defaults() });
    let mut id = 0;
    for ms in 0..4000u64 {
        let now = ms * 1_000_000;
        let mut arrive = |host: &mut Host, flow, bytes| {
            let packet = Waiting { id, arrived: now, bytes, ecn: false };
            host.arrive(flow, Entry { packet, field: Ecn::NotEct });
            id += 1;
            id - 1
        };
        arrive(&mut host, 0, 1500);
        arrive(&mut host, 0, 1500);
        let sparse = (ms % 20 == 19).then(|| arrive(&mut host, 1, 200));
        let sent = [host.send(now), host.send(now)].map(|packet| packet.map(|packet| packet.id));
        if let Some(id) = sparse {
            assert!(sent.contains(&Some(id)), "at {ms} ms");
            assert!(!host.log.dropped.contains(&id));
        }
    }
    assert!(host.log.dropped.len() > 50, "PIE holds the other: {}", host.log.dropped.len());
}

/// Above its share a flow is dropped until its delay is about the target, whatever the other sends.
#[test]
fn each_flow_has_its_own_probability() {
    let mut host = host(&Params { ecn: false, ..defaults() });
    let mut waits = Vec::new();
    for ms in 0..20_000u64 {
        let now = ms * 1_000_000;
        for (flow, bytes) in [(0u32, 1000u64), (0, 1000), (1, 500)] {
            let packet = Waiting { id: (ms * 4 + u64::from(flow)) as u32, arrived: now, bytes, ecn: false };
            host.arrive(flow, Entry { packet, field: Ecn::NotEct });
        }
        // Room for 1000 B of the first and 500 B of the second.
        let sent = [host.send(now), host.send(now)];
        for packet in sent.into_iter().flatten().filter(|_| ms > 10_000) {
            waits.push((packet.id % 4, now - packet.arrived));
        }
    }
    let mean = |flow: u32| {
        let of: Vec<_> = waits.iter().filter(|it| it.0 == flow).map(|it| it.1 as f64 / 1e6).collect();
        of.iter().sum::<f64>() / of.len() as f64
    };
    assert!((5.0..30.0).contains(&mean(0)), "{}", mean(0));
    assert!(mean(1) < 3.0, "{}", mean(1));
    let lost: Vec<_> = host.log.dropped.iter().map(|id| id % 4).collect();
    assert!(lost.iter().all(|flow| *flow == 0) && lost.len() > 1000, "{}", lost.len());
}

#[test]
fn what_cannot_work_is_refused() {
    let cases = [
        (Params { flows: 0, ..defaults() }, "flows"),
        (Params { quantum: Bytes::new(255), ..defaults() }, "quantum"),
        (Params { limit: Packets::new(0), ..defaults() }, "limit"),
        (Params { target: Span::ZERO, ..defaults() }, "target"),
        (Params { interval: Span::ZERO, ..defaults() }, "interval"),
        (Params { mtu: Bytes::new(0), ..defaults() }, "mtu"),
        (Params { gains: Gains { alpha: 0.1, beta: 1.25 }, ..defaults() }, "alpha"),
        (Params { gains: Gains { alpha: 0.125, beta: 2.5 }, ..defaults() }, "beta"),
        (Params { gains: Gains { alpha: 0.125, beta: -1.0 }, ..defaults() }, "beta"),
        (Params { ecn_below: Probability::new(0.105).unwrap(), ..defaults() }, "ecn-below"),
    ];
    for (params, field) in cases {
        let error = SchedulerParams::FqPie(params).build(&scope()).unwrap_err();
        assert_eq!((error.field, error.code), (field, "E201"));
    }
    let mut running = SchedulerParams::FqPie(defaults()).build(&scope()).unwrap();
    let error = running.retune(NOW, &SchedulerParams::FqPie(Params { flows: 9, ..defaults() }), &scope()).unwrap_err();
    assert_eq!((error.field, error.code), ("flows", "E202"));
}
