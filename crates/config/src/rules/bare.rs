//! Numbers of tc without a unit, too small to be meant: bits per second, bytes, microseconds.
//!
//! Source: tc(8), PARAMETERS: a bare number is bit/s for rates, bytes for sizes and us for times.

use super::Rule;
use super::case::{Case, finding, said, words};
use crate::finding::Finding;
use crate::value::{Said, Value};
use perhop_core::units::{BitRate, Bytes, Span};

const CODE: &str = "W424";

/// The rule.
pub(super) const RULE: Rule =
    Rule { code: CODE, dialect: Some("tc"), instead_of: &["W326", "W337", "W435", "W438", "W439"], find };

/// Of a slower rate a packet of 1500 B takes more than a second.
const RATE: BitRate = BitRate::kbps(10);
/// A bucket of so few bytes holds no packet of TCP.
const SIZE: Bytes = Bytes::new(256);
/// A target or an interval of so little is below the time of any RTT.
const TIME: Span = Span::from_us(1000);

fn find(case: &Case<'_>) -> Vec<Finding> {
    said(case).into_iter().filter_map(|it| of_value(case, it)).collect()
}

fn of_value(case: &Case<'_>, it: &Said<Value>) -> Option<Finding> {
    let (text, number) = words(case, it)?;
    let (key, _) = text.split_once(char::is_whitespace)?;
    let bare = number.bytes().all(|byte| byte.is_ascii_digit()) && number != "0";
    let (what, unit) = match it.is {
        Value::Rate(rate)
            if (1..RATE.bit_s()).contains(&rate.bit_s()) && key_is(key, &["rate", "ceil", "bandwidth", "maxrate"]) =>
        {
            (format!("bit/s, of which a packet of 1500 B takes {}", Bytes::new(1500) / rate), "kbit")
        }
        Value::Bytes(bytes) if bytes < SIZE && key_is(key, &["burst", "buffer", "maxburst", "cburst"]) => {
            ("bytes, less than a packet".to_owned(), "k")
        }
        Value::Time(time) if time < TIME && key_is(key, &["target", "interval", "latency", "tupdate"]) => {
            ("microseconds".to_owned(), "ms")
        }
        _ => return None,
    };
    let message = format!("`{text}` has no unit: {number} {what}");
    bare.then(|| finding(CODE, it.origin.place().unwrap_or_default(), message, format!("{key} {number}{unit}")))
}

fn key_is(key: &str, known: &[&str]) -> bool {
    known.contains(&key)
}
