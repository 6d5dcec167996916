//! Numbers of tc without a unit, too small to be meant: bits per second, bytes, microseconds.
//!
//! Source: tc(8), PARAMETERS: a bare number is bit/s for rates, bytes for sizes and us for times.

use super::Rule;
use super::case::{Case, finding, groups, is_said, words};
use crate::finding::Finding;
use crate::value::{Settings, Value, WithOrigin};
use perhop_core::units::{BitRate, Bytes, Span};

const CODE: &str = "W424";

/// The rule.
pub(super) const RULE: Rule =
    Rule { code: CODE, dialect: Some("tc"), instead_of: &["W326", "W337", "W435", "W438", "W439"], find };

/// Of a slower rate a packet of 1500 B takes more than a second.
const RATE: BitRate = BitRate::kbps(10);
const RATES: [&str; 4] = ["rate", "ceil", "bandwidth", "maxrate"];
const SIZES: [&str; 4] = ["burst", "buffer", "maxburst", "cburst"];
const TIMES: [&str; 4] = ["target", "interval", "latency", "tupdate"];
/// A bucket of so few bytes holds no packet of TCP. At a slow rate it may be meant: 40 bytes at 1 kbit/s let a SYN pass now and then.
const SIZE: Bytes = Bytes::new(256);
/// A target or an interval of so little is below the time of any RTT.
const TIME: Span = Span::from_us(1000);

fn find(case: &Case<'_>) -> Vec<Finding> {
    let of_group = |group: &Settings| {
        let rate = group.rate("rate").or(group.rate("cir"));
        let stated = group.iter().filter(|(_, said)| is_said(said));
        stated.filter_map(|(_, said)| of_value(case, said, rate)).collect::<Vec<_>>()
    };
    groups(case).into_iter().flat_map(of_group).collect()
}

/// A value, beside the rate of which it is.
fn of_value(case: &Case<'_>, it: &WithOrigin<Value>, beside: Option<BitRate>) -> Option<Finding> {
    let (text, number) = words(case, it)?;
    let (key, _) = text.split_once(char::is_whitespace)?;
    let bare = number.bytes().all(|byte| byte.is_ascii_digit()) && number != "0";
    let short = |bytes: Bytes| beside.is_some_and(|rate| rate.bit_s() > 0 && bytes / rate < TIME);
    let (what, unit) = match it.is {
        Value::Rate(rate) if (1..RATE.bit_s()).contains(&rate.bit_s()) && RATES.contains(&key) => {
            (format!("bit/s, of which a packet of 1500 B takes {}", Bytes::new(1500) / rate), "kbit")
        }
        Value::Bytes(bytes) if bytes < SIZE && short(bytes) && SIZES.contains(&key) => {
            ("bytes, less than a packet".to_owned(), "k")
        }
        Value::Time(time) if time < TIME && TIMES.contains(&key) => ("microseconds".to_owned(), "ms"),
        _ => return None,
    };
    let message = format!("`{text}` has no unit: {number} {what}");
    bare.then(|| finding(CODE, it.origin.place().unwrap_or_default(), message, format!("{key} {number}{unit}")))
}
