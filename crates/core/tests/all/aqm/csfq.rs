//! CSFQ: decision by decision as its oracle.

use super::support::{self, Load, RATE, packets};
use crate::common::port::Port;
use crate::oracle::csfq::{Csfq, Seen, State};
use perhop_core::Rng;
use perhop_core::aqm::AqmParams;
use perhop_core::aqm::csfq::Params;
use perhop_core::packet::{Colour, Packet};
use perhop_core::port::{Gate, Limit};
use perhop_core::units::{Bytes, Length, Span, Time};
use proptest::prelude::*;

fn bytes(n: u64) -> Length {
    Length::Bytes(Bytes::new(n))
}

/// Constants under which the fair rate moves often within a short load; thresholds within a queue of 16 packets.
pub(crate) fn any_params() -> impl Strategy<Value = Params> {
    let ms = |most: u32| (0..most).prop_map(|e| Span::from_us(500 << e));
    let threshold = prop_oneof![(0u32..16).prop_map(packets), (0u64..12_000).prop_map(bytes)];
    (ms(9), ms(8), threshold, 0u32..5, any::<bool>()).prop_map(|(k_alpha, k_c, threshold, kdec, ecn)| Params {
        k_alpha,
        k_c,
        threshold,
        kdec,
        ecn,
    })
}

/// Phases of overload and of spare capacity: the gaps of a load stretched by turns.
pub(crate) fn any_load() -> impl Strategy<Value = Load> {
    let phases = prop::collection::vec(prop::sample::select(vec![1, 2, 4]), 1..6);
    (support::load(&Colour::ALL), phases).prop_map(|(mut load, phases)| {
        let each = load.len().div_ceil(phases.len());
        for (part, stretch) in load.chunks_mut(each).zip(phases) {
            part.iter_mut().for_each(|(gap, _)| *gap = Span::from_ns(gap.ns() * stretch));
        }
        load
    })
}

fn oracle(p: &Params, rng: Rng) -> Csfq {
    let (threshold, in_bytes) = match p.threshold {
        Length::Packets(n) => (f64::from(n.get()), false),
        Length::Bytes(n) => (n.get() as f64, true),
        other => panic!("{other}"),
    };
    Csfq {
        c: RATE.bytes_s(),
        k_alpha: p.k_alpha.seconds(),
        k_c: p.k_c.ns(),
        threshold,
        in_bytes,
        kdec: p.kdec,
        ecn: p.ecn,
        rng,
        state: State::new(),
    }
}

/// Equal but for the last bits of doubles that were summed in another order.
fn same(a: f64, b: f64) -> bool {
    a == b || (a / b - 1.0).abs() < 1e-9
}

/// A label is a float of 24 bits made from such a double.
pub(crate) fn same_label(a: Option<f32>, b: Option<f32>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.to_bits() == b.to_bits() || (a / b - 1.0).abs() <= 2.0 * f32::EPSILON,
        _ => a == b,
    }
}

const LIMIT: u32 = 16;

pub(crate) fn port(p: &Params, rng: Rng) -> Port {
    let aqm = AqmParams::Csfq(p.clone()).build(&support::scope(LIMIT)).unwrap();
    Port::new(Gate::new(aqm, Limit::Packets(LIMIT), rng), RATE)
}

/// Runs a load through CSFQ and its oracle; what happened, by name.
fn compared(p: &Params, load: &Load, rng: &Rng) -> Result<Vec<String>, TestCaseError> {
    let (mut port, mut oracle, mut now) = (port(p, rng.clone()), oracle(p, rng.clone()), Time::ZERO);
    let mut happened = Vec::new();
    for (n, (gap, packet)) in load.iter().enumerate() {
        now += *gap;
        port.advance(now);
        let waiting: Vec<Packet> = port.waiting().iter().map(|w| w.1).collect();
        let seen = Seen { now: now.ns(), waiting: &waiting, room: waiting.len() < LIMIT as usize };
        let mut wanted = *packet;
        let expected = oracle.arrive(seen, &mut wanted);
        prop_assert_eq!(port.arrive(now, *packet), expected, "packet {}", n);
        let (label, want) = (port.judged.label(), wanted.label());
        prop_assert!(same_label(label, want), "packet {}: {:?} {:?}", n, label, want);
        let alpha = port.gauge(now, "alpha_bytes_s");
        let of_oracle = oracle.state.alpha.unwrap_or(0.0);
        prop_assert!(same(alpha, of_oracle), "packet {}: {} {}", n, alpha, of_oracle);
        happened.push(format!("{expected:?}"));
        happened.push(if alpha > 0.0 { "known" } else { "unknown" }.into());
        happened.extend((label != packet.label()).then(|| "relabelled".to_owned()));
        happened.extend((alpha > RATE.bytes_s()).then(|| "above C".to_owned()));
    }
    Ok(happened)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]
    #[test]
    fn every_decision_is_the_oracles(p in any_params(), load in any_load(), seed in any::<u64>()) {
        compared(&p, &load, &Rng::stream(seed, 0, "queue"))?;
    }
}

/// The loads of the comparison reach all there is to compare.
#[test]
fn everything_occurs() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut seen = std::collections::BTreeMap::<_, u32>::new();
    for seed in 0..400 {
        let (p, load) = (any_params(), any_load()).new_tree(&mut runner).unwrap().current();
        for what in compared(&p, &load, &Rng::stream(seed, 0, "queue")).unwrap() {
            *seen.entry(what).or_default() += 1;
        }
    }
    // Four fates; alpha known and unknown, above C; packets relabelled.
    assert_eq!(seen.len(), 4 + 2 + 1 + 1, "{seen:?}");
    assert!(seen.values().all(|n| *n >= 200), "{seen:?}");
}
