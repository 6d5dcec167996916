//! The ingress labeller (specification section 1.3 a).

use super::scope;
use crate::common::generate::{conditioner, quantity};
use crate::common::load::{Offered, pass};
use perhop_core::Rng;
use perhop_core::conditioner::AnyConditioner;
use perhop_core::packet::Packet;
use perhop_core::params::Tree;
use perhop_core::units::Time;

fn labeller(more: &[(&'static str, Tree)]) -> AnyConditioner {
    conditioner("rate-labeller", more).build(&scope()).unwrap()
}

fn label(labeller: &mut AnyConditioner, ms: u64, size: u32) -> f64 {
    let offered = Offered { at: Time::from_ns(ms * 1_000_000), packet: Packet { size, ..Packet::default() } };
    pass(labeller, &offered, &mut Rng::stream(0, 0, "unused")).label().expect("labelled").into()
}

fn near(got: f64, want: f64) -> bool {
    // A label has 24 bits.
    (got / want - 1.0).abs() <= f64::from(f32::EPSILON)
}

/// Columns: option, label of a first packet of 1000 bytes at 200 ms, of a second at the same instant, of a third 50 ms
/// later. K = 100 ms, link 8 Mbit/s; e = e^-0.5. Only `since-start` counts the bytes of the first packet.
#[test]
fn first_labels() {
    let e = perhop_core::math::exp(-0.5);
    let third = |r: f64| (1.0 - e) * 2000.0 / 0.05 + e * r;
    let started = (1.0 - perhop_core::math::exp(-2.0)) * 1000.0 / 0.2;
    for (option, first, last) in [
        ("zero", 1.0, third(0.0)),
        ("l-over-k", 10_000.0, third(10_000.0)),
        ("since-start", started, third(started)),
        ("half-link", 500_000.0, third(500_000.0)),
    ] {
        let mut entries = vec![("first-label", quantity(option))];
        if option == "half-link" {
            entries.push(("link", quantity("8Mbit/s")));
        }
        let mut it = labeller(&entries);
        assert!(near(label(&mut it, 200, 1000), first), "{option}");
        assert!(near(label(&mut it, 200, 1000), first), "{option}, same instant");
        assert!(near(label(&mut it, 250, 1000), last), "{option}, later");
    }
}

/// The port's own rate replaces `link` if the host knows it.
#[test]
fn half_link_may_come_from_the_port() {
    let at_port = perhop_core::Scope { link_rate: Some("8Mbit/s".parse().unwrap()), ..scope() };
    let mut it = conditioner("rate-labeller", &[("first-label", quantity("half-link"))]).build(&at_port).unwrap();
    assert!(near(label(&mut it, 0, 1000), 500_000.0));
}

/// l bytes every T: the label becomes l/T for any K, divided by the weight. After 30 K less than e^-30 is missing.
#[test]
fn periodic_packets_are_labelled_with_their_rate() {
    for (k, weight) in [("10ms", 1.0), ("100ms", 1.0), ("1s", 1.0), ("100ms", 4.0)] {
        let mut it = labeller(&[("k", quantity(k)), ("weight", Tree::Float(weight))]);
        let last = (0..6000).map(|i| label(&mut it, 5 * i, 800)).last().unwrap();
        assert!(near(last, 160_000.0 / weight), "{k} {weight}: {last}");
    }
}

/// A pause longer than `expire` makes the next packet a first one; a shorter one does not.
#[test]
fn a_silent_flow_is_forgotten() {
    for (pause, first) in [(60_000, false), (60_001, true)] {
        let mut it = labeller(&[("first-label", quantity("l-over-k"))]);
        label(&mut it, 0, 1000);
        assert_eq!(near(label(&mut it, pause, 1000), 10_000.0), first, "{pause} ms");
    }
}

/// A retune keeps the rate and continues measuring with the new K. By hand: 10 000 B/s from the first packet, then 50 ms.
#[test]
fn a_retune_changes_k_and_keeps_the_rate() {
    let mut it = labeller(&[("first-label", quantity("l-over-k"))]);
    label(&mut it, 0, 1000);
    let slow = conditioner("rate-labeller", &[("k", quantity("1s")), ("first-label", quantity("l-over-k"))]);
    it.retune(Time::ZERO, &slow, &scope()).unwrap();
    let keep = perhop_core::math::exp(-0.05);
    assert!(near(label(&mut it, 50, 1000), (1.0 - keep) * 20_000.0 + keep * 10_000.0));
}

/// Labels are 32-bit numbers: a weight that would make one infinite, or nothing, is refused.
#[test]
fn weights_have_bounds() {
    let build = |weight: f64| {
        let params = conditioner("rate-labeller", &[("weight", Tree::Float(weight))]);
        params.build(&scope()).map(|_| ()).map_err(|error| (error.code, error.field))
    };
    assert_eq!([1e-12, 1e12].map(build), [Ok(()); 2]);
    let refused = [0.0, -1.0, 1e-13, 1e13, 1e-300, 1e300];
    assert!(refused.iter().all(|weight| build(*weight) == Err(("E201", "weight"))));
}
