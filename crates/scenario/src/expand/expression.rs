//! The expressions in a series' braces: numbers, `i`, `+`, `-` and `*`, read as formulas are and evaluated in exact decimals.
//!
//! Decision: docs/decisions/120-a-formula-is-compiled-once.md

use perhop_core::formula::{Expression, Form};
use perhop_core::params::Tree;
use std::fmt;

/// Message and suggested fix.
pub type Fault = [String; 2];

/// `digits / 10^scale`, without zeros at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    digits: i128,
    scale: u32,
}

impl Decimal {
    fn new(mut digits: i128, mut scale: u32) -> Self {
        while scale > 0 && digits % 10 == 0 {
            (digits, scale) = (digits / 10, scale - 1);
        }
        Self { digits, scale }
    }

    fn plus(self, other: Self) -> Option<Self> {
        let scale = self.scale.max(other.scale);
        let digits = |it: Self| 10i128.checked_pow(scale - it.scale)?.checked_mul(it.digits);
        Some(Self::new(digits(self)?.checked_add(digits(other)?)?, scale))
    }

    fn times(self, other: Self) -> Option<Self> {
        Some(Self::new(self.digits.checked_mul(other.digits)?, self.scale + other.scale))
    }

    fn negative(self) -> Option<Self> {
        Some(Self { digits: self.digits.checked_neg()?, ..self })
    }

    /// As a number in a file; `None` if too large for one.
    pub fn tree(self) -> Option<Tree> {
        match self.scale {
            0 => self.digits.try_into().ok().map(Tree::Integer),
            _ => self.to_string().parse().ok().map(Tree::Float),
        }
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scale = self.scale as usize;
        let digits = format!("{:0>1$}", self.digits.unsigned_abs(), scale + 1);
        let (whole, part) = digits.split_at(digits.len() - scale);
        let (sign, point) = (if self.digits < 0 { "-" } else { "" }, if scale > 0 { "." } else { "" });
        write!(f, "{sign}{whole}{point}{part}")
    }
}

/// The value of an expression for `i`.
pub fn evaluate(text: &str, i: u64) -> Result<Decimal, Fault> {
    let read = Expression::read(text).ok().filter(|_| !text.contains('(')).ok_or_else(|| unread(text))?;
    Evaluation { text, i }.value(&read)
}

/// The fault of a value that is too large for `i`.
pub fn beyond(text: &str, i: u64) -> Fault {
    [format!("`{{{text}}}` is out of range for i = {i}"), "write smaller numbers".into()]
}

fn unread(text: &str) -> Fault {
    let help = "use numbers, `i`, + - and *, without parentheses, as in {330-30*i}";
    [format!("`{{{text}}}` is not an expression"), help.into()]
}

/// Digits with at most one point between them.
fn number(text: &str) -> Option<Decimal> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = [whole, part].concat().parse().ok()?;
    Some(Decimal::new(digits, part.len() as u32))
}

/// A text, evaluated for one number of the series.
#[derive(Clone, Copy)]
struct Evaluation<'a> {
    text: &'a str,
    i: u64,
}

impl Evaluation<'_> {
    fn value(self, of: &Expression) -> Result<Decimal, Fault> {
        let in_range = |value: Option<Decimal>| value.ok_or_else(|| beyond(self.text, self.i));
        match &of.form {
            Form::Number(digits, unit) if unit.is_empty() => number(digits).ok_or_else(|| unread(self.text)),
            Form::Name(name) => self.name(name),
            Form::One("-", inner) if matches!(inner.form, Form::Number(..) | Form::Name(_)) => {
                in_range(self.value(inner)?.negative())
            }
            Form::Two(sign @ ("+" | "-" | "*"), sides) => {
                let (a, b) = (self.value(&sides[0])?, self.value(&sides[1])?);
                in_range(match *sign {
                    "+" => a.plus(b),
                    "-" => b.negative().and_then(|b| a.plus(b)),
                    _ => a.times(b),
                })
            }
            _ => Err(unread(self.text)),
        }
    }

    fn name(self, name: &str) -> Result<Decimal, Fault> {
        if name == "i" {
            return Ok(Decimal::new(self.i.into(), 0));
        }
        let help = "use `i`, the number of the series: no other name exists here";
        Err([format!("unknown name `{name}` in `{{{}}}`", self.text), help.into()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values() {
        for (text, i, value) in [
            ("i", 7, "7"),
            ("30*i", 3, "90"),
            ("330-30*i", 10, "30"),
            ("330-30*i", 12, "-30"),
            ("i+1", 0, "1"),
            (" 5 * i - 2.5 ", 1, "2.5"),
            ("0.1*i", 3, "0.3"),
            ("0.01*i", 100, "1"),
            ("0.5*i*i+1-i", 3, "2.5"),
            ("-i*-2", 4, "8"),
            ("2-3-4", 0, "-5"),
            ("0.05-i", 1, "-0.95"),
            ("007", 0, "7"),
            ("100*i", 10_000, "1000000"),
            ("0.1*0.1*0.1", 0, "0.001"),
            ("99999999999999999999999999999999999999", 0, "99999999999999999999999999999999999999"),
        ] {
            assert_eq!(evaluate(text, i).unwrap().to_string(), value, "{text} for {i}");
        }
    }

    #[test]
    fn numbers_of_a_file() {
        let tree = |text| evaluate(text, 3).unwrap().tree();
        assert_eq!(tree("i"), Some(Tree::Integer(3)));
        assert_eq!(tree("0.1*i"), Some(Tree::Float(0.3)));
        assert_eq!(tree("-0.5*i"), Some(Tree::Float(-1.5)));
        assert_eq!(tree("10000000000*10000000000"), None);
    }

    #[test]
    fn faults() {
        for text in ["", " ", "+", "i+", "+i", "i i", "2i", "i*", "*2", "--i", "1.", ".5", "1.2.3", "(i)", "i/2", "2^i"]
        {
            let [message, _] = evaluate(text, 1).unwrap_err();
            assert_eq!(message, format!("`{{{text}}}` is not an expression"));
        }
        assert_eq!(evaluate("3*j", 1).unwrap_err()[0], "unknown name `j` in `{3*j}`");
        assert_eq!(evaluate("ii", 1).unwrap_err()[0], "unknown name `ii` in `{ii}`");
        let power = ["i"; 40].join("*");
        assert!(evaluate(&power, 10).unwrap_err()[0].ends_with("is out of range for i = 10"));
        for text in
            ["0.00000000000000000000000000000000000001+i*10000000000", "-i*17014118346046923173168730371588410573"]
        {
            assert!(evaluate(text, 10).unwrap_err()[0].ends_with("is out of range for i = 10"), "{text}");
        }
    }
}
