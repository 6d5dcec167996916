//! The words of an expression: numbers with their units, names, signs.

use super::fault::{Fault, Stretch};

/// Most words of an expression: a bound on what is read, checked and compiled.
const MOST: usize = 400;

/// A word and where it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Word {
    /// What it is.
    pub token: Token,
    /// Where.
    pub at: Stretch,
}

/// What a word is.
#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    /// Digits, and the unit behind them: `15` and `ms`.
    Number(String, String),
    /// `backlog.packets`, `if`, `and`.
    Name(String),
    /// `+`, `<=`, `(`.
    Sign(&'static str),
}

/// Longer ones before those they begin with.
const SIGNS: [&str; 15] = ["<=", ">=", "==", "!=", "<", ">", "+", "-", "*", "/", "^", "(", ")", ",", "="];

/// All words of a text.
///
/// # Errors
/// What is no word, or too many of them.
pub fn words(text: &str) -> Result<Vec<Word>, Fault> {
    let (mut out, mut start) = (Vec::new(), 0);
    while let Some(first) = text[start..].chars().next() {
        if first.is_whitespace() {
            start += first.len_utf8();
            continue;
        }
        let (token, length) = word(&text[start..], start)?;
        let at = Stretch { start, end: start + length };
        if out.len() == MOST {
            return Err(
                Fault::syntax(at, format!("more than {MOST} words")).help("write it in parts: `state` has names")
            );
        }
        out.push(Word { token, at });
        start += length;
    }
    Ok(out)
}

/// The first word of `rest`, which is not empty and starts at `start`, and its length.
fn word(rest: &str, start: usize) -> Result<(Token, usize), Fault> {
    let first = rest.chars().next().unwrap_or(' ');
    if first.is_ascii_digit() {
        return number(rest, start);
    }
    if first.is_alphabetic() || first == '_' {
        let length = span(rest, |c| c.is_alphanumeric() || matches!(c, '_' | '.'));
        return Ok((Token::Name(rest[..length].to_owned()), length));
    }
    if let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
        return Ok((Token::Sign(sign), sign.len()));
    }
    let at = Stretch { start, end: start + first.len_utf8() };
    Err(Fault::syntax(at, format!("`{first}` has no meaning in a formula")).help(other(first)))
}

/// What to write in place of a character of other languages.
fn other(first: char) -> &'static str {
    match first {
        '?' | ':' => "write a condition as if(c, a, b)",
        '&' => "write `and`",
        '|' => "write `or`",
        '!' => "write `not`, or != for unequal",
        '.' => "write a digit before the point, as in 0.5",
        '%' => "write a share as a number: 2 % is 0.02",
        _ => "numbers with units, names, + - * / ^, comparisons, `and`, `or`, `not`, and functions, as in max(a, b)",
    }
}

/// Bytes at the start of which all characters belong.
fn span(rest: &str, belongs: impl Fn(char) -> bool) -> usize {
    rest.find(|c| !belongs(c)).unwrap_or(rest.len())
}

fn number(rest: &str, start: usize) -> Result<(Token, usize), Fault> {
    let digits = digits(rest);
    let (number, behind) = rest.split_at(digits);
    let whole = span(number, |c| c.is_ascii_digit());
    let point = number[whole..].starts_with('.') && !number[whole + 1..].starts_with(|c: char| c.is_ascii_digit());
    let length = digits + unit(behind);
    let at = Stretch { start, end: start + length.max(digits) };
    if point || number[whole..].matches('.').count() > 1 {
        let help = "digits, with at most one point between them, as in 0.5 or 2e-3";
        return Err(Fault::syntax(at, format!("`{number}` is not a number")).help(help));
    }
    Ok((Token::Number(number.to_owned(), rest[digits..length].to_owned()), length))
}

/// The length of the digits with points and an exponent.
fn digits(rest: &str) -> usize {
    let digits = span(rest, |c| c.is_ascii_digit() || c == '.');
    let Some(exponent) = rest[digits..].strip_prefix(['e', 'E']) else { return digits };
    let sign = usize::from(exponent.starts_with(['+', '-']));
    match span(&exponent[sign..], |c| c.is_ascii_digit()) {
        0 => digits,
        length => digits + 1 + sign + length,
    }
}

/// The length of the unit: letters, and `/s` if that ends it.
fn unit(rest: &str) -> usize {
    let letters = span(rest, char::is_alphanumeric);
    let by = rest[letters..].strip_prefix("/s").is_some_and(|after| !after.starts_with(char::is_alphanumeric));
    if letters > 0 && by && is_rate(&rest[..letters + 2]) { letters + 2 } else { letters }
}

fn is_rate(unit: &str) -> bool {
    crate::units::column(&format!("1{unit}")).is_some() || matches!(unit, "B/s" | "kB/s" | "MB/s")
}
