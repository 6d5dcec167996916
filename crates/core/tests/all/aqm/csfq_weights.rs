//! CSFQ does not depend on the unit of the weights: only their ratios matter.

use super::csfq;
use super::support::{self, RATE, packets};
use crate::common::port::Port;
use perhop_core::aqm::AqmParams;
use perhop_core::aqm::csfq::Params;
use perhop_core::packet::{FlowId, Packet};
use perhop_core::port::{Gate, Limit};
use perhop_core::scope::Weights;
use perhop_core::units::{Length, Span, Time};
use perhop_core::verdict::Fate;
use perhop_core::{Rng, Scope};

const UNITS: [f64; 7] = [1e-6, 1e-3, 0.25, 1.0, 4.0, 1000.0, 1e6];

/// Four flows of 5 Mbit/s take turns, so that each packet's flow is known; weights 1 to 4 times `unit`.
fn load(unit: f64) -> impl Iterator<Item = (Time, Packet)> {
    (0..40_000u64).map(move |n| {
        let weight = unit * (1 + n % 4) as f64;
        let mut packet = Packet { size: 1000, flow: FlowId((n % 4) as u32), ..Packet::default() };
        packet.set_label((625_000.0 / weight) as f32);
        (Time::from_ns(n * 400_000), packet)
    })
}

/// Fates and new labels in units of `unit`.
fn fates(unit: f64, known: bool, threshold: Length) -> Vec<(Fate, Option<f32>)> {
    let range = Weights { lightest: unit, heaviest: 4.0 * unit };
    let scope = Scope { weights: known.then_some(range), ..support::scope(64) };
    let rules = Params { k_alpha: Span::from_ms(200), k_c: Span::from_ms(100), threshold, kdec: 29, ecn: false };
    let aqm = AqmParams::Csfq(rules).build(&scope).unwrap();
    let mut port = Port::new(Gate::new(aqm, Limit::Packets(64), Rng::stream(2, 0, "queue")), RATE);
    let mut arrive = |(now, packet)| {
        let fate = port.arrive(now, packet);
        (fate, port.judged.label().map(|label| (f64::from(label) * unit) as f32))
    };
    load(unit).map(&mut arrive).collect()
}

/// With a queue that always counts as long the fair rate starts from C/2; with one that may be short, from a label.
#[test]
fn the_unit_of_the_weights_changes_nothing() {
    for known in [true, false] {
        for threshold in [packets(0), packets(16)] {
            let one = fates(1.0, known, threshold);
            let kept = |flow| one.iter().skip(4000).skip(flow).step_by(4).filter(|it| it.0 == Fate::Queued).count();
            for flow in 0..4 {
                // 9000 packets of each in 14.4 s at twice C, of which weight/10 x 2 are kept.
                let share = kept(flow) as f64 / 9000.0 / (0.2 * (flow + 1) as f64);
                assert!((share - 1.0).abs() < 0.05, "{share} of what flow {flow} is due");
            }
            for unit in UNITS {
                let these = fates(unit, known, threshold);
                assert!(
                    one.iter().zip(&these).all(|(a, b)| a.0 == b.0 && csfq::same_label(a.1, b.1)),
                    "{unit} {known}"
                );
            }
        }
    }
}
