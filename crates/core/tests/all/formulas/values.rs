//! A formula has the value of its tree, or stops where that has none, or is refused with a reason that holds.

use super::draw::{any_formula, is_constant, most, parts};
use super::kinds::{Kind, Stated};
use crate::oracle::expression::walk;
use perhop_core::formula::{Expression, Form};
use perhop_core::params::Problem;
use perhop_core::units::Time;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Steps and numbers that formulas of no length have beside their own.
const BESIDE: usize = 10;

/// Whether a formula is rightly refused.
fn is_refused_for_a_reason(problem: &Problem, of: &Expression) -> bool {
    let known = |of: &Expression| walk(of, &BTreeMap::new(), &mut Vec::new());
    let is_zero = |of: &Expression| is_constant(of) && known(of).is_none_or(|value| value == 0.0);
    match (problem.code, &*problem.message) {
        ("E340", "the formulas compute more than there is room for") => most(of) + BESIDE > 255,
        ("E340", "more than 400 words") | ("E340", "nested more than 40 deep") => true,
        ("E343", "a division by zero") => {
            parts(of).iter().any(|part| matches!(&part.form, Form::Two("/", sides) if is_zero(&sides[1])))
        }
        ("E343", _) => parts(of).iter().any(|part| is_constant(part) && known(part).is_none()),
        _ => false,
    }
}

/// The average's own arithmetic, with a weight of 1.
fn averaged(average: &mut f64, sample: f64) -> Option<f64> {
    *average += sample - *average;
    average.is_finite().then_some(*average)
}

fn has_the_value_of_its_tree(kind: Kind, formula: &str, a: f64, times: &[u32]) -> Result<(), TestCaseError> {
    let stated = Stated::new(kind, formula.to_owned(), format!("{a:?}"));
    let tree = match Expression::read(formula) {
        Ok(tree) => tree,
        Err(fault) => {
            prop_assert!(
                fault.message.starts_with("more than 400") || fault.message.starts_with("nested"),
                "{fault:?}"
            );
            return Ok(());
        }
    };
    let mut law = match stated.built() {
        Ok(law) => law,
        Err(problems) => {
            prop_assert!(problems.iter().any(|it| is_refused_for_a_reason(it, &tree)), "{problems:?}");
            return Ok(());
        }
    };
    let (mut now, mut average) = (Time::ZERO, 0.0);
    for time in times {
        now = Time::from_ns(now.ns() + u64::from(*time) * 1_000_003);
        let names = BTreeMap::from([("a".to_owned(), a), ("now".to_owned(), now.ns() as f64 / 1e9)]);
        let value = walk(&tree, &names, &mut Vec::new());
        let value =
            value.and_then(|value| if kind == Kind::Average { averaged(&mut average, value) } else { Some(value) });
        let want = value.and_then(|value| kind.want(value));
        prop_assert_eq!(law.at(now), want, "at {} of {:?}", now, kind);
        if want.is_none() {
            break;
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    /// Bit for bit what a walk over the tree gives, though nothing is computed twice; of no step an infinite value goes on.
    #[test]
    fn a_compiled_formula_is_its_tree(
        kind in prop::sample::select(Kind::ALL.to_vec()), formula in any_formula(), a in -4.0..4.0f64,
        times in prop::collection::vec(0u32..2000, 4),
    ) {
        has_the_value_of_its_tree(kind, &formula, a, &times)?;
    }
}

/// Where a limit or a comparison would hide that there is no value.
#[test]
fn what_has_no_value_stops_behind_any_limit() {
    let infinite =
        ["(now / 1s)^-1", "ln(now / 1s)", "exp(1 / (a - a))", "1 / (now / 1s)", "1e308 * (a + 9)", "exp(a * 1e3)"];
    let infinite =
        infinite.into_iter().chain(["1e308 + a * 1e308", "-1e308 - a * 1e308", "(a + 1e100)^8", "a / 1e-310"]);
    let hidden = ["max(0, X)", "min(1, X)", "min(0, X, 2)", "if(X > 2, 0, 1)", "1 / (2 + abs(X))", "max(X - X, 0)"];
    for kind in Kind::ALL {
        for (x, within) in infinite.clone().flat_map(|x| hidden.map(|within| (x, within))) {
            let formula = within.replace('X', x);
            let mut law = Stated::new(kind, formula.clone(), "2.0".into()).built().unwrap();
            assert_eq!(law.at(Time::ZERO), None, "{formula} as {kind:?}");
        }
    }
}
