//! Formulas of the number `a` and the time, in which parts occur more than once, on the way and on ways not taken, and in which
//! anything may be infinite, 0, or have no value.

use perhop_core::formula::{Expression, Form};
use proptest::prelude::*;

/// Any formula that gives a number.
pub fn any_formula() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "a",
        "a",
        "now / 1s",
        "now / 1s",
        "a * (now / 1s)",
        "0",
        "1",
        "2",
        "0.25",
        "3",
        "1e-300",
        "1e308",
    ]);
    leaf.prop_map(str::to_owned).prop_recursive(5, 60, 4, |of| {
        let sign = prop::sample::select(vec!["+", "-", "*", "/"]);
        let power = prop::sample::select(vec!["2", "3", "8", "9", "0", "0.5", "-1", "-0.5"]);
        let function = prop::sample::select(vec!["abs", "exp", "ln", "-"]);
        let compared = prop::sample::select(vec!["<", "<=", ">", ">=", "==", "!="]);
        let joined = prop::sample::select(vec!["and", "or", "and not", "or not"]);
        let extreme = prop::sample::select(vec!["min", "max"]);
        prop_oneof![
            3 => (of.clone(), sign, of.clone()).prop_map(|(x, sign, y)| format!("(({x}) {sign} ({y}))")),
            2 => (extreme, of.clone(), of.clone()).prop_map(|(of, x, y)| format!("{of}({x}, {y}, ({x}) + ({y}))")),
            1 => (of.clone(), of.clone()).prop_map(|(x, y)| format!("({x}) / (1 + abs({y}))")),
            1 => (of.clone(), power.clone()).prop_map(|(x, n)| format!("({x})^({n})")),
            1 => (of.clone(), power).prop_map(|(x, n)| format!("(abs({x}) + 1)^({n})")),
            1 => (function, of.clone()).prop_map(|(of, x)| format!("{of}({x})")),
            2 => (of.clone(), compared.clone(), of.clone(), of.clone(), of.clone())
                .prop_map(|(x, than, y, z, w)| format!("if({x} {than} {y}, ({z}) + 1, {w})")),
            2 => (of.clone(), compared, joined, of).prop_map(|(x, than, join, y)| {
                format!("if({x} {than} {y} {join} (({x}) * ({y}) < 1), ({x}) + 1, ({x}) * ({y}) > 2, ({x}) * ({y}), ({x}) + 1)")
            }),
        ]
    })
}

/// What a formula needs at most: steps and numbers, if nothing of it is known beforehand or computed already.
pub fn most(of: &Expression) -> usize {
    match &of.form {
        Form::Number(..) | Form::Name(_) => 1,
        Form::One(_, inner) => 1 + most(inner),
        Form::Two("and" | "or", sides) => 4 + most(&sides[0]) + most(&sides[1]),
        // A power may be that many products.
        Form::Two("^", sides) => 7 + most(&sides[0]) + most(&sides[1]),
        Form::Two(_, sides) => 1 + most(&sides[0]) + most(&sides[1]),
        Form::Call(_, arguments) => 1 + arguments.iter().map(|argument| 2 + most(argument)).sum::<usize>(),
    }
}

/// Whether the value is known before anything runs.
pub fn is_constant(of: &Expression) -> bool {
    match &of.form {
        Form::Number(..) => true,
        Form::Name(_) => false,
        Form::One(_, inner) => is_constant(inner),
        Form::Two(_, sides) => sides.iter().all(is_constant),
        Form::Call(_, arguments) => arguments.iter().all(is_constant),
    }
}

/// All expressions in one.
pub fn parts(of: &Expression) -> Vec<&Expression> {
    let below: Vec<_> = match &of.form {
        Form::Number(..) | Form::Name(_) => Vec::new(),
        Form::One(_, inner) => parts(inner),
        Form::Two(_, sides) => sides.iter().flat_map(parts).collect(),
        Form::Call(_, arguments) => arguments.iter().flat_map(parts).collect(),
    };
    [vec![of], below].concat()
}
