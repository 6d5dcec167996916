//! Rates of tc in bytes beside rates in bits: `kbps` is kilobytes per second there.
//!
//! Source: tc(8), RATES: "bps: bytes per second; kbps: kilobytes per second"; "bit or a bare number: bits per second".

use super::Rule;
use super::case::{Case, finding, said, words};
use super::tc;
use crate::finding::Finding;
use crate::value::{Value, WithOrigin};

const CODE: &str = "W423";

/// The rule.
pub(super) const RULE: Rule = Rule { code: CODE, dialect: Some("tc"), instead_of: &[], find };

fn find(case: &Case<'_>) -> Vec<Finding> {
    let mut rates = said(case);
    rates.retain(|it| matches!(it.is, Value::Rate(_)));
    let unit = |text: &str| text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').to_ascii_lowercase();
    let in_bits = |it: &WithOrigin<Value>| words(case, it).is_some_and(|(_, number)| unit(number).ends_with("bit"));
    if !rates.iter().any(|it| in_bits(it)) {
        return Vec::new();
    }
    rates.iter().filter_map(|it| of_rate(case, it)).collect()
}

fn of_rate(case: &Case<'_>, it: &WithOrigin<Value>) -> Option<Finding> {
    let (text, number) = words(case, it)?;
    let Value::Rate(rate) = it.is else { return None };
    let meant = number.to_ascii_lowercase().strip_suffix("bps").map(|rest| format!("{rest}bit"))?;
    let message =
        format!("`{number}` counts bytes in tc: it is {}, and other rates of the text are in bits", tc::rate(rate));
    Some(finding(CODE, it.origin.place()?, message, text.replace(number, &meant)))
}
