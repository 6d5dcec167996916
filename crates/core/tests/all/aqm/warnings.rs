//! W316: said exactly of thresholds that the queue never reaches, or only after it has overflowed.

use super::support::{RATE, packets, profile, published, red, scope, tred};
use perhop_core::aqm::virtual_buffer::{Common, Counting};
use perhop_core::aqm::{Aqm, AqmParams, Arrival, Backlog, svb};
use perhop_core::packet::Packet;
use perhop_core::port::Turn;
use perhop_core::units::{Bytes, Length, Time};
use perhop_core::verdict::{Fate, Reason};
use perhop_core::{Scope, aqm};
use proptest::prelude::*;

const SIZE: u32 = 1500;

fn svb(v0: u32, floor: u32, alpha: f64) -> AqmParams {
    let (v0, floor, mean_packet) = (packets(v0), packets(floor), Bytes::new(SIZE.into()));
    AqmParams::Svb(svb::Params {
        alpha,
        cap: aqm::cap::Cap::V0,
        common: Common { v0, floor, counting: Counting::Passed, mean_packet, ecn: false },
    })
}

fn codes(params: &AqmParams, scope: &Scope) -> Vec<(&'static str, &'static str)> {
    params.build(scope).unwrap().warnings(scope).iter().map(|w| (w.code, w.field)).collect()
}

/// How many arrivals at three times the link's rate pass before one may be dropped by SVB, and before the queue is full.
fn first_chance_and_overflow(params: &AqmParams, limit: u32) -> [Option<usize>; 2] {
    let mut aqm = params.build(&scope(limit)).unwrap();
    let (mut rng, mut packet) = (perhop_core::Rng::stream(1, 0, "unused"), Packet { size: SIZE, ..Packet::default() });
    let gap = f64::from(SIZE) / RATE.bytes_s() / 3.0;
    let mut first = [None; 2];
    for i in 0..5000 {
        let now = Time::from_ns((i as f64 * gap * 1e9) as u64);
        // of what came two thirds are still there
        let waiting = ((2 * i / 3) as u32).min(limit);
        let backlog = Backlog { packets: waiting, room: waiting < limit, ..Backlog::default() };
        let at = Arrival { now, backlog };
        let _ = aqm.on_arrival(Turn::testing(&at), &mut packet, &mut rng);
        let fate = if backlog.room { Fate::Queued } else { Fate::Dropped(Reason::Overflow) };
        aqm.on_fate(Turn::testing(&at), &packet, fate);
        let mut p = 0.0;
        aqm.gauges(now, &mut |name, value| p = if name == "drop_p" { value } else { p });
        let seen = [p > 0.0, !backlog.room];
        first.iter_mut().zip(seen).filter(|(_, seen)| *seen).for_each(|(first, _)| _ = first.get_or_insert(i));
    }
    first
}

proptest! {
    /// SVB under unresponsive load: there is a warning if, and only if, the queue is full before the first
    /// packet has a chance to be dropped. Settings within two packets of the boundary are excluded: there it is a question
    /// of which packet counts.
    #[test]
    fn svb_is_late_where_it_is_said_to_be(
        v0 in 2u32..400, part in 0.0..1.0f64, alpha in prop_oneof![Just(0.0), 0.01..3.0f64], limit in 5u32..200,
    ) {
        let floor = (f64::from(v0 - 1) * part) as u32;
        let excess = f64::from(v0 - floor) / (1.0 + alpha);
        prop_assume!((excess - f64::from(limit)).abs() > 2.0);
        let params = svb(v0, floor, alpha);
        let [chance, overflow] = first_chance_and_overflow(&params, limit);
        let late = chance.is_none_or(|chance| overflow.is_some_and(|overflow| overflow < chance));
        prop_assert_eq!(!codes(&params, &scope(limit)).is_empty(), late, "{:?} {:?}", chance, overflow);
    }
}

/// A threshold in bytes against a limit in packets of at most 1500 B; one byte less can be reached.
#[test]
fn thresholds_in_another_unit() {
    let bytes = |n: u64| Length::Bytes(Bytes::new(n));
    let of = |min, max, max_p| profile(bytes(min), bytes(max), max_p);
    let common = || super::support::common(0.002, aqm::early::Spacing::Uniformised);
    let said = |params: &AqmParams| codes(params, &scope(10));
    for (profile, expected) in [
        (of(15_000, 20_000, 0.1), vec![("W316", "min")]),
        (of(14_999, 15_001, 0.1), vec![("W316", "max")]),
        (of(14_999, 15_000, 0.1), vec![]),
        (of(5000, 20_000, 0.0), vec![("W316", "max-p")]),
        (of(5000, 14_000, 0.0), vec![]),
        (profile(packets(2), packets(10), 0.0), vec![("W316", "max-p")]),
        (profile(packets(2), packets(9), 0.0), vec![]),
    ] {
        assert_eq!(said(&red(profile.clone(), common())), expected, "{profile:?}");
        assert_eq!(said(&tred(profile.clone(), common(), &published(profile.clone()))), expected, "{profile:?}");
    }
    let both = |a: u32, b: u32| {
        let [in_profile, out_profile] = [a, b].map(|min| profile(packets(min), packets(min + 1), 0.1));
        let params = aqm::rio::Params { in_profile, out_profile, mode: aqm::rio::Mode::RioC, common: common() };
        AqmParams::Rio(params)
    };
    assert_eq!(codes(&both(30, 29), &scope(30)), [("W316", "in")], "IN is never dropped early; OUT is");
    assert_eq!(codes(&both(29, 29), &scope(30)), []);
    let unknown = Scope { largest_packet: Bytes::new(0), ..scope(10) };
    assert_eq!(codes(&red(of(15_000, 20_000, 0.1), common()), &unknown), [], "no traffic known, nothing said");
    let in_bytes = Scope { limit: Some(bytes(1000)), ..scope(10) };
    assert_eq!(codes(&red(profile(packets(50), packets(60), 0.1), common()), &in_bytes), [], "of small packets 50 fit");
}
