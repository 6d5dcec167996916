//! The expressions in a series' braces: numbers, `i`, `+`, `-` and `*`, evaluated in exact decimals.

use perhop_core::params::Tree;
use std::fmt;
use std::iter::Peekable;
use std::vec::IntoIter;

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
    let tokens = tokens(text, i)?;
    sum(&mut tokens.into_iter().peekable()).map_err(|wrong| match wrong {
        Wrong::Syntax => unread(text),
        Wrong::Range => beyond(text, i),
    })
}

/// The fault of a value that is too large for `i`.
pub fn beyond(text: &str, i: u64) -> Fault {
    [format!("`{{{text}}}` is out of range for i = {i}"), "write smaller numbers".into()]
}

fn unread(text: &str) -> Fault {
    let help = "use numbers, `i`, + - and *, without parentheses, as in {330-30*i}";
    [format!("`{{{text}}}` is not an expression"), help.into()]
}

enum Wrong {
    Syntax,
    Range,
}

#[derive(Clone, Copy, PartialEq)]
enum Token {
    Number(Decimal),
    Sign(char),
}

fn tokens(text: &str, i: u64) -> Result<Vec<Token>, Fault> {
    let (mut out, mut rest) = (Vec::new(), text.trim_start());
    while let Some(first) = rest.chars().next() {
        let length = |belongs: &dyn Fn(char) -> bool| rest.find(|c| !belongs(c)).unwrap_or(rest.len());
        let (token, length) = match first {
            '+' | '-' | '*' => (Token::Sign(first), 1),
            c if c.is_ascii_digit() => {
                let length = length(&|c| c.is_ascii_digit() || c == '.');
                (number(&rest[..length]).ok_or_else(|| unread(text))?, length)
            }
            c if c.is_alphabetic() => {
                let length = length(&char::is_alphanumeric);
                (name(&rest[..length], text, i)?, length)
            }
            _ => return Err(unread(text)),
        };
        out.push(token);
        rest = rest[length..].trim_start();
    }
    Ok(out)
}

/// Digits with at most one point between them.
fn number(text: &str) -> Option<Token> {
    let (whole, part) = match text.split_once('.') {
        None => (text, ""),
        Some((_, "")) => return None,
        Some(parts) => parts,
    };
    let digits = [whole, part].concat().parse().ok()?;
    Some(Token::Number(Decimal::new(digits, part.len() as u32)))
}

fn name(name: &str, text: &str, i: u64) -> Result<Token, Fault> {
    if name == "i" {
        return Ok(Token::Number(Decimal::new(i.into(), 0)));
    }
    let help = "use `i`, the number of the series: no other name exists here";
    Err([format!("unknown name `{name}` in `{{{text}}}`"), help.into()])
}

fn sum(tokens: &mut Peekable<IntoIter<Token>>) -> Result<Decimal, Wrong> {
    let mut sum = product(tokens)?;
    while let Some(sign) = tokens.next() {
        let term = match sign {
            Token::Sign('+') => Some(product(tokens)?),
            Token::Sign('-') => product(tokens)?.negative(),
            _ => return Err(Wrong::Syntax),
        };
        sum = term.and_then(|term| sum.plus(term)).ok_or(Wrong::Range)?;
    }
    Ok(sum)
}

fn product(tokens: &mut Peekable<IntoIter<Token>>) -> Result<Decimal, Wrong> {
    let mut product = factor(tokens)?;
    while tokens.next_if(|t| *t == Token::Sign('*')).is_some() {
        product = product.times(factor(tokens)?).ok_or(Wrong::Range)?;
    }
    Ok(product)
}

fn factor(tokens: &mut Peekable<IntoIter<Token>>) -> Result<Decimal, Wrong> {
    let negative = tokens.next_if(|t| *t == Token::Sign('-')).is_some();
    match tokens.next() {
        Some(Token::Number(n)) if negative => n.negative().ok_or(Wrong::Range),
        Some(Token::Number(n)) => Ok(n),
        _ => Err(Wrong::Syntax),
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
