//! DualPI2 against the pseudo-code of RFC 9332, packet for packet; the coupling law; its two schedulers.

use super::flow_line::{Entry, Host};
use super::line::scope;
use crate::oracle::codel::Waiting;
use crate::oracle::dualpi2::{DualPi2, Init, Marked};
use perhop_core::packet::Ecn;
use perhop_core::port::Turn;
use perhop_core::sched::dualpi2::{Params, Schedule};
use perhop_core::sched::{Scheduler as _, SchedulerParams};
use perhop_core::units::{Packets, Probability, Span, Time};
use proptest::prelude::*;

fn defaults() -> Params {
    Params {
        limit: Packets::new(10_000),
        target: Span::from_ms(15),
        update: Span::from_ms(16),
        alpha: 0.16,
        beta: 3.2,
        coupling: 2.0,
        l4s_min: Span::from_us(800),
        l4s_max: Span::from_us(1200),
        l4s_length: Packets::new(1),
        schedule: Schedule::Wrr,
        c_share: Probability::new(0.125).unwrap(),
        shift: Span::from_ms(50),
    }
}

fn host(params: &Params) -> Host {
    Host::new(&SchedulerParams::DualPi2(params.clone()))
}

fn slow(params: &Params) -> DualPi2 {
    DualPi2::new(Init {
        limit: params.limit.get() as usize,
        k: params.coupling,
        target: params.target.seconds(),
        alpha: params.alpha,
        beta: params.beta,
        min_th: params.l4s_min.seconds(),
        max_th: params.l4s_max.seconds(),
        th_len: params.l4s_length.get() as usize,
        tshift: (params.schedule == Schedule::TimeShift).then(|| params.shift.seconds()),
        share: params.c_share.get(),
    })
}

fn gauge(host: &Host, name: &str) -> f64 {
    let mut found = f64::NAN;
    host.scheduler.gauges(Time::ZERO, &mut |gauge, value| {
        if gauge == name {
            found = value;
        }
    });
    found
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// So many packets arrive together: how many, bytes, ECN field.
    Arrive(u32, u32, Ecn),
    /// ns
    Wait(u64),
    /// So many are sent, as far as they are there.
    Send(u32),
}

fn field() -> impl Strategy<Value = Ecn> {
    prop::sample::select(vec![Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ect1, Ecn::Ce])
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (1u32..4, 40u32..=1500, field()).prop_map(|(n, size, ecn)| Step::Arrive(n, size, ecn)),
        1 => (5u32..40, 40u32..=1500, field()).prop_map(|(n, size, ecn)| Step::Arrive(n, size, ecn)),
        4 => prop_oneof![0u64..600_000, 0u64..8_000_000].prop_map(Step::Wait),
        6 => (1u32..3).prop_map(Step::Send),
    ];
    prop::collection::vec(step, 50..1000)
}

fn params() -> impl Strategy<Value = Params> {
    // Gains from the RFC's to such as lead to overload at once.
    let gains = (prop_oneof![Just(0.16), 0.1..30.0], prop_oneof![Just(3.2), 0.0..60.0]);
    let coupling = prop_oneof![Just(2.0), 1.0..4.0];
    let ramp = (0u64..3000, prop_oneof![Just(0u64), 1u64..3000], 0u32..4);
    let schedule = prop::sample::select(vec![Schedule::Wrr, Schedule::TimeShift]);
    let scheduler = (schedule, 1u32..8, 0u64..60);
    (gains, coupling, ramp, scheduler, prop_oneof![2u32..60, Just(10_000)]).prop_map(
        |((alpha, beta), coupling, (min, range, length), (schedule, eighths, shift), limit)| Params {
            limit: Packets::new(limit),
            alpha,
            beta,
            coupling,
            l4s_min: Span::from_us(min),
            l4s_max: Span::from_us(min + range),
            l4s_length: Packets::new(length),
            schedule,
            c_share: Probability::new(f64::from(eighths) / 8.0).unwrap(),
            shift: Span::from_ms(shift),
            ..defaults()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// RFC 9332 appendix A: every packet sent, marked and dropped, and p'.
    #[test]
    fn every_packet_goes_as_the_pseudo_code_says(params in params(), steps in steps()) {
        let (mut host, mut slow) = (host(&params), slow(&params));
        let (mut now, mut id, mut due) = (0, 0, params.update.ns());
        for step in steps {
            match step {
                Step::Wait(ns) => {
                    now += ns;
                    while due <= now {
                        slow.update(due);
                        due += params.update.ns();
                    }
                }
                Step::Arrive(n, bytes, field) => {
                    for _ in 0..n {
                        let packet = Waiting { id, arrived: now, bytes: bytes.into(), ecn: field.capable() };
                        host.arrive(0, Entry { packet, field });
                        slow.enqueue(Marked { packet, ecn: field as u8 });
                        id += 1;
                    }
                }
                Step::Send(n) => {
                    for _ in 0..n {
                        prop_assert_eq!(host.send(now), slow.dequeue(now));
                    }
                    prop_assert_eq!(gauge(&host, "base_p"), slow.p_prime);
                }
            }
            prop_assert_eq!(&host.log.dropped, &slow.log.dropped);
            prop_assert_eq!(&host.log.marked, &slow.log.marked);
        }
        prop_assert_eq!(host.all().packets, slow.packets() as u64);
    }
}

proptest! {
    /// p_C = p'^2 of the packets in C are dropped, p_L = k p' of those in L marked; so p_L = k sqrt(p_C). Frequencies of
    /// a sum are exact to a packet.
    #[test]
    fn the_queues_are_coupled(wait_ms in 20u64..120, k in 1.0f64..3.0) {
        let params = Params { coupling: k, update: Span::from_s(1000), c_share: Probability::new(0.5).unwrap(), ..defaults() };
        let mut host = host(&params);
        let now = Time::from_ns(wait_ms * 1_000_000);
        host.scheduler.on_timer(Turn::testing(now), &|_| Some(Time::ZERO));
        let wait = wait_ms as f64 / 1e3;
        let p = 0.16 * (wait - 0.015) + 3.2 * wait;
        prop_assert!((gauge(&host, "base_p") - p).abs() < 1e-12);
        prop_assume!(k * p < 1.0);
        const N: u32 = 500;
        for id in 0..2 * N {
            let field = [Ecn::Ect1, Ecn::NotEct][id as usize % 2];
            let packet = Waiting { id, arrived: now.ns(), bytes: 1000, ecn: field.capable() };
            host.arrive(0, Entry { packet, field });
        }
        while host.send(now.ns()).is_some() {}
        let (marked, dropped) = (host.log.marked.len() as f64, host.log.dropped.len() as f64);
        prop_assert!((marked - f64::from(N) * k * p).abs() <= 1.0, "{marked} of {N} marked, p' = {p}");
        prop_assert!((dropped - f64::from(N) * p * p).abs() <= 1.0, "{dropped} of {N} dropped, p' = {p}");
    }
}

fn entry(id: u32, field: Ecn, bytes: u64) -> Entry {
    Entry { packet: Waiting { id, arrived: 0, bytes, ecn: field.capable() }, field }
}

/// With both queues full C gets its share of the bytes, within a packet of each.
#[test]
fn c_gets_its_share() {
    let mut host = host(&Params { c_share: Probability::new(0.25).unwrap(), ..defaults() });
    (0..2000).for_each(|id| host.arrive(0, entry(id, Ecn::Ect1, 500)));
    (2000..4000).for_each(|id| host.arrive(0, entry(id, Ecn::Ect0, 1500)));
    let mut sent = [0.0; 2];
    for _ in 0..1000 {
        let packet = host.send(0).unwrap();
        sent[usize::from(packet.id >= 2000)] += packet.bytes as f64;
    }
    assert!((0.25 * sent[0] - 0.75 * sent[1]).abs() <= 1500.0, "{sent:?}");
}

#[test]
fn what_cannot_work_is_refused() {
    let p = |p| Probability::new(p).unwrap();
    let cases = [
        (Params { limit: Packets::new(0), ..defaults() }, ("limit", "E201")),
        (Params { target: Span::ZERO, ..defaults() }, ("target", "E201")),
        (Params { update: Span::ZERO, ..defaults() }, ("update", "E201")),
        (Params { alpha: 0.0, ..defaults() }, ("alpha", "E201")),
        (Params { beta: -1.0, ..defaults() }, ("beta", "E201")),
        (Params { coupling: 0.5, ..defaults() }, ("coupling", "E201")),
        (Params { c_share: p(0.0), ..defaults() }, ("c-share", "E201")),
        (Params { c_share: p(1.0), ..defaults() }, ("c-share", "E201")),
        (Params { l4s_min: Span::from_ms(2), ..defaults() }, ("l4s-min", "E214")),
    ];
    for (params, expected) in cases {
        let error = SchedulerParams::DualPi2(params).build(&scope()).unwrap_err();
        assert_eq!((error.field, error.code), expected);
    }
}
