//! What the tests share: parameters, loads, a run.

use crate::common::port::Port;
use perhop_core::aqm::early::{Beyond, Common, Counted, Order, Profile, Spacing, Weight};
use perhop_core::aqm::tred::{self, Expected, Minimum, Untagged};
use perhop_core::aqm::{AnyAqm, AqmParams, red, rio, wred};
use perhop_core::arithmetic::Arithmetic;
use perhop_core::conditioner::pps_tagger::Unit;
use perhop_core::dscp::Dscp;
use perhop_core::packet::{Colour, Ecn, Packet, flags};
use perhop_core::port::{Gate, Limit};
use perhop_core::scope::Weights;
use perhop_core::units::{BitRate, Bytes, Length, Packets, Probability, Span, Time};
use perhop_core::verdict::Fate;
use perhop_core::{Rng, Scope};
use proptest::prelude::*;

pub(crate) const RATE: BitRate = BitRate::mbps(10);

/// Code points that the loads use and the profiles name.
pub(crate) const CODE_POINTS: [&str; 4] = ["BE", "AF11", "AF12", "EF"];

pub(crate) fn packets(n: u32) -> Length {
    Length::Packets(Packets::new(n))
}

pub(crate) fn scope(limit: u32) -> Scope {
    Scope { link_rate: Some(RATE), limit: Some(packets(limit)), weights: Some(Weights::ONE), ..Scope::default() }
}

pub(crate) fn profile(min: Length, max: Length, max_p: f64) -> Profile {
    Profile { min, max, max_p: Probability::new(max_p).unwrap() }
}

/// The defaults but for weight and spacing.
pub(crate) fn common(wq: f64, spacing: Spacing) -> Common {
    Common { weight: Weight(wq), mean_packet: Bytes::new(500), spacing, beyond: Beyond::Drop, ecn: false }
}

pub(crate) fn red(profile: Profile, common: Common) -> AqmParams {
    let (profile, min_waiting) = (profile.into(), Packets::new(0));
    AqmParams::Red(red::Params { profile, common, min_waiting, arithmetic: Arithmetic::Exact, adaptive: false })
}

pub(crate) fn rio([in_profile, out_profile]: [Profile; 2], mode: rio::Mode, common: Common) -> AqmParams {
    AqmParams::Rio(rio::Params { in_profile, out_profile, mode, common })
}

pub(crate) fn wred(profiles: Vec<(Vec<wred::Member>, Profile)>, common: Common) -> AqmParams {
    wred_of(Counted::Common, profiles, common)
}

pub(crate) fn wred_of(averages: Counted, profiles: Vec<(Vec<wred::Member>, Profile)>, common: Common) -> AqmParams {
    let profiles = profiles
        .into_iter()
        .map(|(members, profile)| wred::Class { filter: Vec::into(members), profile: profile.into() })
        .collect();
    AqmParams::Wred(wred::Params { profiles, averages, common })
}

/// TRED with a profile, RED's settings, and `own` for the rest.
pub(crate) fn tred(profile: Profile, common: Common, own: &tred::Params) -> AqmParams {
    let Common { weight, mean_packet, spacing, beyond, ecn } = common;
    AqmParams::Tred(tred::Params { profile, weight, mean_packet, spacing, beyond, ecn, ..own.clone() })
}

/// The published TRED but for its thresholds' profile.
pub(crate) fn published(profile: Profile) -> tred::Params {
    let Common { weight, mean_packet, spacing, beyond, ecn } = common(0.002, Spacing::Bernoulli);
    tred::Params {
        profile,
        n: 3.0,
        expected: Expected {
            k: 2.0,
            window: Span::from_s(5),
            min_interval: Span::from_s(5),
            minimum: Minimum::Interval,
            unit: Unit::Packets,
        },
        weight,
        mean_packet,
        spacing,
        scaling: Order::BeforeSpacing,
        beyond,
        ecn,
        untagged: Untagged::Red,
    }
}

/// TRED's own parameters, with times that the short loads span many times or never.
pub(crate) fn any_tred() -> impl Strategy<Value = tred::Params> {
    let time = || (2.0..7.0f64).prop_map(|e| Span::from_us(perhop_core::math::pow(10.0, e) as u64));
    let minimum = prop::sample::select(vec![Minimum::Interval, Minimum::Quantile]);
    let unit = prop::sample::select(vec![Unit::Packets, Unit::Bytes]);
    let scaling = prop::sample::select(vec![Order::BeforeSpacing, Order::AfterSpacing]);
    (0.0..5.0, 1.01..5.0, time(), time(), minimum, unit, scaling).prop_map(
        |(n, k, window, min_interval, minimum, unit, scaling)| {
            let base = published(profile(packets(5), packets(55), 0.2));
            tred::Params { n, expected: Expected { k, window, min_interval, minimum, unit }, scaling, ..base }
        },
    )
}

/// The same with anything done about packets without tickets.
pub(crate) fn any_tred_of_untagged() -> impl Strategy<Value = tred::Params> {
    let untagged = prop::sample::select(vec![Untagged::Red, Untagged::Least, Untagged::Drop]);
    (any_tred(), untagged).prop_map(|(own, untagged)| tred::Params { untagged, ..own })
}

pub(crate) fn built(params: &AqmParams) -> AnyAqm {
    params.build(&scope(1000)).unwrap()
}

pub(crate) fn port(params: &AqmParams, limit: u32) -> Port {
    let aqm = params.build(&scope(limit)).unwrap();
    Port::new(Gate::new(aqm, Limit::Packets(limit), Rng::stream(3, 0, "queue")), RATE)
}

/// A packet and the time since the one before.
pub(crate) type Load = Vec<(Span, Packet)>;

/// A label, bytes/s: around the share of a few flows of the link, far out of bounds, or none.
pub(crate) fn any_label() -> impl Strategy<Value = Option<f32>> {
    prop_oneof![
        6 => (3.0..7.0f64).prop_map(|e| Some(perhop_core::math::pow(10.0, e) as f32)),
        2 => Just(None),
        1 => prop::sample::select(vec![0.0, -1.0, 1.0, f32::NAN, f32::INFINITY]).prop_map(Some),
    ]
}

/// A label, tickets: most of them near each other, some of rich flows, some none.
pub(crate) fn any_tickets() -> impl Strategy<Value = Option<f32>> {
    prop_oneof![
        8 => (40.0..120.0f32).prop_map(Some),
        2 => (1.0..255.0f32).prop_map(Some),
        2 => Just(None),
        1 => prop::sample::select(vec![0.0, -1.0, f32::NAN, f32::INFINITY]).prop_map(Some),
    ]
}

/// Overload with pauses that empty the queue; labels that are rates.
pub(crate) fn load(colours: &'static [Colour]) -> impl Strategy<Value = Load> {
    labelled(colours, any_label())
}

/// The same with tickets; the smallest without are pure ACKs.
pub(crate) fn tickets(colours: &'static [Colour]) -> impl Strategy<Value = Load> {
    labelled(colours, any_tickets()).prop_map(|mut load| {
        let small = |packet: &&mut Packet| packet.size < 400 && packet.label().is_none();
        load.iter_mut().map(|(_, packet)| packet).filter(small).for_each(|packet| packet.flags |= flags::ACK);
        load
    })
}

fn labelled(colours: &'static [Colour], labels: impl Strategy<Value = Option<f32>>) -> impl Strategy<Value = Load> {
    let gap = prop_oneof![30 => 0u64..800, 1 => 0u64..60_000].prop_map(Span::from_us);
    let ecn = prop::sample::select(vec![Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce]);
    let fields = (prop::sample::select(colours), prop::sample::select(CODE_POINTS.to_vec()), ecn);
    let packet = (100u32..1500, fields, labels).prop_map(|(size, (colour, dscp, ecn), label)| {
        let dscp: Dscp = dscp.parse().unwrap();
        let mut packet = Packet { size, colour, dscp, ecn, ..Packet::default() };
        label.into_iter().for_each(|label| packet.set_label(label));
        packet
    });
    prop::collection::vec((gap, packet), 1..400)
}

pub(crate) fn any_spacing() -> impl Strategy<Value = Spacing> {
    prop::sample::select(vec![Spacing::Uniformised, Spacing::Bernoulli, Spacing::Wait, Spacing::DsRed])
}

pub(crate) fn any_beyond() -> impl Strategy<Value = Beyond> {
    prop::sample::select(vec![Beyond::Drop, Beyond::Gentle])
}

/// Settings under which the average moves within a short load.
pub(crate) fn any_common() -> impl Strategy<Value = Common> {
    let weight = prop::sample::select(vec![0.01, 0.1, 0.5, 1.0]);
    (weight, 100u64..1500, any_spacing(), any_beyond(), any::<bool>()).prop_map(|(wq, mean, spacing, beyond, ecn)| {
        Common { weight: Weight(wq), mean_packet: Bytes::new(mean), spacing, beyond, ecn }
    })
}

/// Numbers of a profile in packets: min, max, max-p.
pub(crate) fn any_numbers() -> impl Strategy<Value = (u32, u32, f64)> {
    (0u32..15, 1u32..20, 0.0..=1.0).prop_map(|(min, width, p)| (min, min + width, p))
}

pub(crate) fn any_profile() -> impl Strategy<Value = Profile> {
    any_numbers().prop_map(|(min, max, p)| profile(packets(min), packets(max), p))
}

/// Runs a load; the fates in order.
pub(crate) fn run(params: &AqmParams, limit: u32, load: &Load) -> Vec<Fate> {
    let (mut port, mut now) = (port(params, limit), Time::ZERO);
    load.iter()
        .map(|(gap, packet)| {
            now += *gap;
            port.arrive(now, *packet)
        })
        .collect()
}
