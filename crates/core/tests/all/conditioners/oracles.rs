//! Fast against slow: the same colours, labels and totals, step for step, for whatever is declared and whatever happens.

use super::scope;
use crate::common::dialogue::{Event, Host, Step, call, dialogues};
use crate::common::generate::any_conditioner;
use crate::oracle;
use crate::oracle::Oracle;
use perhop_core::Rng;
use perhop_core::conditioner::{AnyConditioner, Conditioner, ConditionerParams, LIST};
use perhop_core::packet::Packet;
use perhop_core::verdict::{Reason, Verdict};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseResult, TestRunner};
use std::collections::BTreeMap;

/// Labels are floats of 24 bits made from doubles that may differ in the last bits.
fn same_label(a: Option<f32>, b: Option<f32>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.to_bits() == b.to_bits() || (a / b - 1.0).abs() <= 2.0 * f32::EPSILON,
        _ => a == b,
    }
}

/// The same packet; labels as nearly as they can be.
fn same(got: &Packet, want: &Packet) -> bool {
    let labels = same_label(got.label(), want.label()) && same_label(got.ack_label(), want.ack_label());
    let rest = |p: &Packet| format!("{:?}", Packet { label: 0.0, ack_label: 0.0, ..*p });
    labels && rest(got) == rest(want)
}

/// Its totals by name.
fn tallies(it: &AnyConditioner) -> BTreeMap<&'static str, u64> {
    let mut all = BTreeMap::new();
    it.tallies(&mut |name, n| *all.entry(name).or_default() += n);
    all
}

fn agree(params: &ConditionerParams, steps: &[Step], seed: u64) -> TestCaseResult {
    let Some(slow) = oracle::of(params, &scope()) else {
        return Err(TestCaseError::fail("write its slow version in tests/all/oracle and name it in `of`"));
    };
    let (mut fast, mut slow) = (Host::new(params.build(&scope()).unwrap()), Host::new(slow));
    for (i, step) in steps.iter().enumerate() {
        // A stream for each step: both see the same numbers, whether they ask for it or not.
        let mut rng = Rng::stream(seed, i as u32, "packet");
        let mut draws = rng.clone();
        let (u, another) = (draws.uniform(), draws.uniform());
        slow.conditioner.another(another);
        let want = slow.step(step, |it: &mut Box<dyn Oracle>, now, packet| {
            match step.event {
                Event::Forward => it.mark(now.ns(), packet, u),
                Event::Reverse => it.reverse(now.ns(), packet, u),
                _ => it.departing(now.ns(), packet, u),
            }
            if step.event == Event::Forward && it.dropped() { Verdict::Drop(Reason::Policer) } else { Verdict::Pass }
        });
        let got = fast.step(step, |it, now, packet| call(it, step.event, (now, packet), &mut rng));
        let agree = got.zip(want).map_or(got.is_none() && want.is_none(), |(got, want)| same(&got, &want));
        prop_assert!(agree, "step {i} of {}:\nfast {got:?}\nslow {want:?}", steps.len());
        prop_assert_eq!(tallies(&fast.conditioner), slow.conditioner.tallies().into_iter().collect(), "step {}", i);
    }
    Ok(())
}

#[test]
fn every_conditioner_agrees_with_its_slow_version() {
    for entry in LIST {
        let mut runner = TestRunner::new(Config { cases: 256, ..Config::default() });
        let input = (any_conditioner(entry, scope()), dialogues(400), any::<u64>());
        let check = |(params, steps, seed): (_, Vec<_>, _)| agree(&params, &steps, seed);
        runner.run(&input, check).unwrap_or_else(|e| panic!("{}: {e}", entry.name));
    }
}
