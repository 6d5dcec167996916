//! Packets that pass from link to link ahead of their time: every row is what it is with an event at each transmission's end.

use super::kinds::{first_difference, rows};
use crate::common::net::{Net, bulk, cbr, drop_tail, poisson, red, transfers};
use perhop_core::aqm::AqmParams;
use perhop_core::port::Limit;
use perhop_core::units::{BitRate, Span, Time};
use perhop_sim::plan::{Alteration, Change, Sampling};
use perhop_sim::traffic::transfers::Loop;
use proptest::prelude::*;

/// Rate in kbit/s, delay in us, limit in packets, RED or drop-tail.
type Piece = (u64, u64, u32, bool);

fn piece() -> impl Strategy<Value = Piece> {
    let delay = prop_oneof![Just(0), Just(1000), 0u64..15_000];
    (500u64..10_000, delay, prop_oneof![1u32..6, 6u32..40], any::<bool>())
}

/// A link in both directions, on which packets are lost where it is slower than what comes before it.
fn add(net: &mut Net, ends: [usize; 2], (kbps, us, limit, early): Piece) {
    net.duplex(ends, BitRate::kbps(kbps), Span::from_us(us));
    for link in net.plan.links.iter_mut().rev().take(2) {
        link.queues[0].limit = Limit::Packets(limit);
        link.queues[0].aqm = if early { AqmParams::Red(red(1, 4, 0.2)) } else { drop_tail() };
    }
}

/// A trunk of links one after the other, at whose end branches lead to a host each: all behind the first link follow.
fn tree(trunk: &[Piece], branches: &[Piece]) -> Net {
    let end = trunk.len();
    let mut net = Net::new(end + 1 + branches.len(), Span::from_s(3));
    trunk.iter().enumerate().for_each(|(i, &piece)| add(&mut net, [i, i + 1], piece));
    branches.iter().enumerate().for_each(|(i, &piece)| add(&mut net, [end, end + 1 + i], piece));
    for host in (0..branches.len().max(1)).map(|i| if branches.is_empty() { end } else { end + 1 + i }) {
        net.traffic([0, host], cbr(BitRate::kbps(900), 500));
        net.traffic([0, host], poisson(BitRate::kbps(700), 1000));
        net.traffic([0, host], bulk());
        // Short ones, so that flows are given to others as soon as their last packet is gone, lost or not.
        net.traffic([0, host], transfers(3000, Span::from_ms(20), Loop::Open)).flows = 3;
    }
    net
}

fn both(net: &Net) -> [u64; 2] {
    let [(ahead, fewer), (in_time, more)] = [false, true].map(|transmit_done| rows(net, transmit_done));
    assert!(ahead == in_time, "{}", first_difference(&ahead, &in_time));
    [fewer, more]
}

/// A change of every AQM to what it is already: no packet may have passed ahead of it, whatever it alters.
fn restated(net: &Net, at: Span) -> Change {
    let aqm = |(link, it): (usize, &perhop_sim::plan::Link)| Alteration::Aqm {
        link,
        queue: 0,
        params: it.queues[0].aqm.clone(),
        scope: it.queues[0].scope.clone(),
    };
    Change { at: Time::ZERO + at, what: net.plan.links.iter().enumerate().map(aqm).collect() }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_shrink_iters: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_passes_ahead_is_what_passes_in_time(
        trunk in prop::collection::vec(piece(), 1..4),
        branches in prop::collection::vec(piece(), 0..4),
        warmup in prop_oneof![Just(0u64), 1u64..2000],
        sampled in prop::option::of(3u64..500),
        changed in prop::option::of(100u64..2900),
    ) {
        let mut net = tree(&trunk, &branches);
        net.plan.warmup = Span::from_ms(warmup);
        net.plan.sampling = sampled.map(|ms| Sampling::all(Span::from_ms(ms)));
        net.plan.changes = changed.into_iter().map(|ms| restated(&net, Span::from_ms(ms))).collect();
        both(&net);
    }
}

/// A change halts what passes ahead: from then on a queue that held 40 packets holds 2, though the packets that come to it
/// after the change had entered the link before it.
#[test]
fn a_change_is_not_passed() {
    let limit = |min, max| AqmParams::Red(red(min, max, 1.0));
    let mut net = tree(&[(4000, 12_000, 40, false), (1000, 2000, 40, true)], &[]);
    net.plan.links[2].queues[0].aqm = limit(5, 30);
    let scope = net.plan.links[2].queues[0].scope.clone();
    let tighter = Alteration::Aqm { link: 2, queue: 0, params: limit(1, 2), scope };
    net.plan.changes = vec![Change { at: Time::ZERO + Span::from_ms(1000), what: vec![tighter] }];
    let [fewer, more] = both(&net);
    assert!(fewer < more, "{fewer} {more}");
}

/// Three links in a row, none slower than the one before: a source's wake-up and one delivery for each packet, not four and
/// not seven, but for those on their way at the end.
#[test]
fn links_that_lead_have_no_events() {
    let mut net = Net::new(4, Span::from_s(60));
    (0..3).for_each(|i| net.duplex([i, i + 1], BitRate::mbps(10), Span::from_ms(10)));
    net.traffic([0, 3], cbr(BitRate::kbps(7200), 1000));
    let [events, one_by_one] = both(&net);
    let packets = 60 * 900;
    assert!(one_by_one >= 7 * packets - 900, "{one_by_one}");
    assert!((2 * packets - 900..=2 * packets).contains(&events), "{events}");
}
