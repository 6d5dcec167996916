//! Fast against slow: the same colours and labels, packet for packet, for whatever is declared and whatever arrives.

use crate::common::generate::any_conditioner;
use crate::common::load::{arrivals, pass};
use crate::{oracle, scope};
use perhop_core::Rng;
use perhop_core::conditioner::LIST;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// Labels are floats of 24 bits made from doubles that may differ in the last bits.
fn same_label(a: Option<f32>, b: Option<f32>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.to_bits() == b.to_bits() || (a / b - 1.0).abs() <= 2.0 * f32::EPSILON,
        _ => a == b,
    }
}

#[test]
fn every_conditioner_agrees_with_its_slow_version() {
    for entry in LIST {
        let mut runner = TestRunner::new(Config { cases: 256, ..Config::default() });
        let input = (any_conditioner(entry, scope()), arrivals(400), any::<u64>());
        let agree = |(params, load, seed): (perhop_core::conditioner::ConditionerParams, Vec<_>, u64)| {
            let Some(mut slow) = oracle::of(&params, &scope()) else {
                return Err(TestCaseError::fail("write its slow version in tests/oracle and name it in `of`"));
            };
            let mut fast = params.build(&scope()).unwrap();
            for (i, offered) in load.iter().enumerate() {
                // A stream for each packet: both see the same number, whether they ask for it or not.
                let rng = Rng::stream(seed, i as u32, "packet");
                let got = pass(&mut fast, offered, &mut rng.clone());
                let mut want = offered.packet;
                slow.mark(offered.at.ns(), &mut want, rng.clone().uniform());
                prop_assert_eq!(got.colour, want.colour, "packet {} of {}", i, load.len());
                prop_assert!(same_label(got.label(), want.label()), "{:?} {:?}", got.label(), want.label());
            }
            Ok(())
        };
        runner.run(&input, agree).unwrap_or_else(|e| panic!("{}: {e}", entry.name));
    }
}
