//! Numbers of tc in another unit than it may seem.

use super::commands;
use crate::model::Queue;
use crate::rules::case::{Case, words};
use crate::rules::{Remark, Rule};
use crate::value::{Settings, Value, WithOrigin};
use perhop_core::units::{BitRate, Bytes, Span};

/// Of rates in bytes, and of numbers without unit.
pub(super) const RULES: &[Rule] = &[
    Rule::new("W423", &[], rates_in_bytes),
    Rule::new("W424", &["W326", "W337", "W435", "W438", "W439"], |case| {
        groups(case).into_iter().flat_map(|group| without_unit(case, group)).collect()
    }),
];

/// Of a slower rate a packet of 1500 B takes more than a second.
const RATE: BitRate = BitRate::kbps(10);
const RATES: [&str; 4] = ["rate", "ceil", "bandwidth", "maxrate"];
const SIZES: [&str; 4] = ["burst", "buffer", "maxburst", "cburst"];
const TIMES: [&str; 4] = ["target", "interval", "latency", "tupdate"];
/// A bucket of so few bytes holds no packet of TCP. At a slow rate it may be meant: 40 bytes at 1 kbit/s let a SYN pass
/// now and then.
const SIZE: Bytes = Bytes::new(256);
/// A target or an interval of so little is below the time of any RTT.
const TIME: Span = Span::from_us(1000);

/// W423: rates in bytes beside rates in bits: `kbps` is kilobytes per second in tc.
///
/// tc(8), RATES: "bps: bytes per second; kbps: kilobytes per second"; "bit or a bare number: bits per second".
fn rates_in_bytes(case: &Case<'_>) -> Vec<Remark> {
    let mut rates = Vec::new();
    groups(case).into_iter().for_each(|group| rates_of(group, &mut rates));
    let in_bits = |it: &(&WithOrigin<Value>, BitRate)| words(case, it.0).is_some_and(|it| unit(it.1).ends_with("bit"));
    if !rates.iter().any(in_bits) {
        return Vec::new();
    }
    rates.into_iter().filter_map(|(it, rate)| in_bytes(case, it, rate)).collect()
}

fn in_bytes(case: &Case<'_>, it: &WithOrigin<Value>, rate: BitRate) -> Option<Remark> {
    let (text, number) = words(case, it)?;
    let meant = number.to_ascii_lowercase().strip_suffix("bps").map(|rest| format!("{rest}bit"))?;
    let message = format!(
        "`{number}` counts bytes in tc: it is {}, and other rates of the text are in bits",
        commands::rate(rate)
    );
    Some(Remark { place: it.origin.place()?, message, instead: text.replace(number, &meant) })
}

/// What follows the digits of a number.
pub(super) fn unit(number: &str) -> String {
    number.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').to_ascii_lowercase()
}

/// W424: numbers without a unit, too small to be meant: bits per second, bytes, microseconds.
///
/// tc(8), PARAMETERS: a bare number is bit/s for rates, bytes for sizes and us for times.
fn without_unit(case: &Case<'_>, group: &Settings) -> Vec<Remark> {
    let rate = group.rate("rate").or(group.rate("cir"));
    group.iter().filter_map(|(_, said)| bare(case, said, rate)).collect()
}

/// A value, beside the rate of which it is.
fn bare(case: &Case<'_>, it: &WithOrigin<Value>, beside: Option<BitRate>) -> Option<Remark> {
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
    bare.then_some(Remark { place: it.origin.place()?, message, instead: format!("{key} {number}{unit}") })
}

/// All keys of all ports that belong together: those of a meter, of a queue, of a class.
fn groups<'a>(case: &Case<'a>) -> Vec<&'a Settings> {
    let mut all = Vec::new();
    for port in &case.read.device.ports {
        all.push(&port.link);
        all.extend(port.conditioners.iter().map(|it| &it.settings));
        port.queue.iter().for_each(|queue| of_queue(queue, &mut all));
    }
    all
}

fn of_queue<'a>(queue: &'a Queue, all: &mut Vec<&'a Settings>) {
    all.extend([&queue.settings, &queue.shape]);
    for class in &queue.classes {
        all.push(&class.settings);
        class.queue.iter().for_each(|queue| of_queue(queue, all));
    }
}

/// The rates that the text states; those of a curve or a profile too.
fn rates_of<'a>(settings: &'a Settings, all: &mut Vec<(&'a WithOrigin<Value>, BitRate)>) {
    for (_, said) in settings.iter().filter(|(_, said)| said.is_said()) {
        match &said.is {
            Value::Table(inner) => rates_of(inner, all),
            Value::Rate(rate) => all.push((said, *rate)),
            _ => {}
        }
    }
}
