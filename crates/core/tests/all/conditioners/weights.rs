//! F-SAM does not depend on the unit of the weights: only their ratios matter.

use super::scope;
use crate::common::generate::{conditioner, quantity};
use crate::common::load::{Offered, Source, Spacing, merged, pass};
use perhop_core::conditioner::AnyConditioner;
use perhop_core::packet::Colour;
use perhop_core::params::Tree;
use perhop_core::scope::Weights;
use perhop_core::{Rng, Scope};

/// Labels have 24 bits: only powers of two divide without rounding.
const UNITS: [(f64, bool); 7] =
    [(1.0, true), (0.25, true), (4.0, true), (1e-6, false), (1e-3, false), (1000.0, false), (1e6, false)];
const SECONDS: f64 = 30.0;
/// Mbit/s.
const CIR: f64 = 10.0;

/// Flows and their weights.
#[derive(Clone, Copy)]
struct Case<'a> {
    /// Mbit/s.
    rates: &'a [f64],
    weights: &'a [f64],
    /// Mbit/s, by water filling.
    shares: &'a [f64],
}

const CASES: [Case<'static>; 4] = [
    Case { rates: &[1.0, 20.0], weights: &[0.25, 0.75], shares: &[1.0, 9.0] },
    Case { rates: &[6.0, 6.0, 6.0], weights: &[1.0, 2.0, 4.0], shares: &[10.0 / 7.0, 20.0 / 7.0, 40.0 / 7.0] },
    // The share of the lightest is a thousandth of a packet a second.
    Case { rates: &[0.1, 12.0, 12.0], weights: &[1e-6, 1.0, 3.0], shares: &[0.0, 2.5, 7.5] },
    Case { rates: &[12.0, 12.0], weights: &[1.0, 1.0], shares: &[5.0, 5.0] },
];

fn labeller(weight: f64, scope: &Scope) -> AnyConditioner {
    conditioner("rate-labeller", &[("weight", Tree::Float(weight))]).build(scope).unwrap()
}

/// What is green of a load that a labeller for each flow has labelled.
fn marked(load: &[Offered], weights: &[f64], scope: &Scope) -> Vec<bool> {
    let mut labellers: Vec<_> = weights.iter().map(|weight| labeller(*weight, scope)).collect();
    let parameters = [("cir", quantity("10Mbit/s")), ("cbs", quantity("62500B"))];
    let mut marker = conditioner("f-sam", &parameters).build(scope).unwrap();
    let mut rng = Rng::stream(1, 0, "marker");
    let mut green = |offered: &Offered| {
        let packet = pass(&mut labellers[offered.packet.flow.0 as usize], offered, &mut rng);
        pass(&mut marker, &Offered { packet, ..*offered }, &mut rng).colour == Colour::Green
    };
    load.iter().map(&mut green).collect()
}

/// Green Mbit/s by flow, without the first 2 s.
fn shares(load: &[Offered], green: &[bool], flows: usize) -> Vec<f64> {
    let mut shares = vec![0.0; flows];
    for (offered, _) in load.iter().zip(green).filter(|(o, green)| **green && o.at.seconds() >= 2.0) {
        shares[offered.packet.flow.0 as usize] += f64::from(offered.packet.size) * 8e-6 / (SECONDS - 2.0);
    }
    shares
}

/// Shares are those of water filling within 5 %, or 0.01 of the contract, whatever the unit of weight, and whether the
/// marker knows the weights or not. Every packet's colour is the same in units whose labels are exact multiples; in others
/// a label may fall on the other side of the fair rate by its last bit: in less than one packet in a thousand.
#[test]
fn the_unit_of_the_weights_changes_nothing() {
    for Case { rates, weights, shares: wanted } in CASES {
        let sources: Vec<_> =
            (0..).zip(rates).map(|(flow, rate)| Source::new(flow, rate * 1e6, Spacing::Jittered)).collect();
        let load = merged(&sources, SECONDS, 1);
        for known in [true, false] {
            let mut first: Option<Vec<bool>> = None;
            for (unit, exact) in UNITS {
                let weights: Vec<f64> = weights.iter().map(|weight| weight * unit).collect();
                let range = Weights::of(weights.iter().copied()).filter(|_| known);
                let green = marked(&load, &weights, &Scope { weights: range, ..scope() });
                let got = shares(&load, &green, rates.len());
                for (got, wanted) in got.iter().zip(wanted) {
                    let error = (got - wanted).abs();
                    assert!(error <= (0.05 * wanted).max(0.01 * CIR), "{got}, not {wanted}: {weights:?} {known}");
                }
                let first = first.get_or_insert_with(|| green.clone());
                let others = first.iter().zip(&green).filter(|(a, b)| a != b).count();
                let most = if exact { 0 } else { load.len() / 1000 };
                assert!(others <= most, "{others} of {} packets, {weights:?}, known {known}", load.len());
            }
        }
    }
}

/// 300 flows of 10 kbit/s and 30 of 2 share 1 Mbit/s: the fair share, 3133 bit/s, is a quarter of a largest packet a second,
/// and the slow flows, which need less, lose nothing. Their green part is 1 but for the noise of the fair rate.
#[test]
fn a_share_below_a_packet_a_second_is_fair() {
    let source =
        |flow| Source { flow, rate: if flow < 300 { 10e3 } else { 2e3 }, size: 100, spacing: Spacing::Jittered };
    let load = merged(&(0..330).map(source).collect::<Vec<_>>(), 40.0, 3);
    let parameters = [("cir", quantity("1Mbit/s")), ("cbs", quantity("20000B"))];
    let mut marker = conditioner("f-sam", &parameters).build(&scope()).unwrap();
    let mut rng = Rng::stream(3, 0, "marker");
    let [mut slow, mut green] = [0.0, 0.0];
    for offered in &load {
        let colour = pass(&mut marker, offered, &mut rng).colour;
        if offered.packet.flow.0 >= 300 && offered.at.seconds() > 5.0 {
            slow += 1.0;
            green += f64::from(u8::from(colour == Colour::Green));
        }
    }
    assert!(green / slow > 0.95, "{green} of {slow}");
}
