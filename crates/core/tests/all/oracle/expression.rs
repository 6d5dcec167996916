//! The value of a formula: a walk over the tree of its expression, in plain doubles. Nothing is compiled, kept or left out, and
//! nothing goes on that is not finite.

use perhop_core::formula::{Expression, Form};
use perhop_core::packet::Colour;
use std::collections::BTreeMap;

/// The value of an expression; conditions are 1 and 0, colours their index. `None` if anything that counts has no finite value.
pub fn walk(of: &Expression, names: &BTreeMap<String, f64>, draws: &mut Vec<f64>) -> Option<f64> {
    let truth = |it: bool| f64::from(u8::from(it));
    let value = match &of.form {
        Form::Number(number, unit) => number.parse::<f64>().unwrap() * scale(unit),
        Form::Name(name) => Colour::ALL
            .iter()
            .position(|colour| colour.name() == name)
            .map_or_else(|| names[name], |index| index as f64),
        Form::One("not", a) => truth(walk(a, names, draws)? == 0.0),
        Form::One(_, a) => -walk(a, names, draws)?,
        Form::Two(sign, sides) => {
            let a = walk(&sides[0], names, draws)?;
            match (*sign, a == 0.0) {
                ("and", true) => return Some(0.0),
                ("or", false) => return Some(1.0),
                _ => {}
            }
            let b = walk(&sides[1], names, draws)?;
            match *sign {
                "and" | "or" => b,
                "+" => a + b,
                "-" => a - b,
                "*" => a * b,
                "/" => a / b,
                "<" => truth(a < b),
                "<=" => truth(a <= b),
                ">" => truth(a > b),
                ">=" => truth(a >= b),
                "==" => truth(a == b),
                "!=" => truth(a != b),
                "^" if b.fract() == 0.0 && (1.0..=8.0).contains(&b) => (1..b as u32).fold(a, |power, _| power * a),
                "^" => perhop_core::math::pow(a, b),
                other => panic!("{other}"),
            }
        }
        Form::Call(name, arguments) if name == "if" => {
            let mut rest = &arguments[..];
            while let [condition, value, others @ ..] = rest
                && !others.is_empty()
            {
                if walk(condition, names, draws)? != 0.0 {
                    return walk(value, names, draws);
                }
                rest = others;
            }
            walk(&rest[0], names, draws)?
        }
        Form::Call(name, arguments) => {
            let values: Option<Vec<_>> = arguments.iter().map(|it| walk(it, names, draws)).collect();
            let values = values?;
            match &**name {
                "min" => values.into_iter().fold(f64::INFINITY, f64::min),
                "max" => values.into_iter().fold(f64::NEG_INFINITY, f64::max),
                "abs" => values[0].abs(),
                "exp" => perhop_core::math::exp(values[0]),
                "ln" => perhop_core::math::ln(values[0]),
                "chance" if !(0.0..=1.0).contains(&values[0]) => return None,
                "chance" if values[0] == 0.0 || values[0] == 1.0 => values[0],
                "chance" => truth(draws.pop().unwrap() < values[0]),
                other => panic!("{other}"),
            }
        }
    };
    value.is_finite().then_some(value)
}

fn scale(unit: &str) -> f64 {
    match unit {
        "" | "s" | "B" | "p" => 1.0,
        "ms" => 1e-3,
        "us" => 1e-6,
        "ns" => 1e-9,
        "kB" => 1e3,
        "Mbit/s" => 125_000.0,
        "kbit/s" => 125.0,
        other => panic!("{other}"),
    }
}
