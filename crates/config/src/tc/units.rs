//! Numbers as tc reads and prints them.
//!
//! Source: tc(8), section "Parameters"; what tc of iproute2 6.1 takes and prints. A rate without unit is in bit/s, `kbit` is 1000 bit/s
//! and `kbps` 1000 bytes/s; a size without unit is in bytes, `k` and `kb` are 1024 of them, `kbit` 128; a time without unit is in us.

use super::words::{Refusal, Taken, Token};
use perhop_core::units::{BitRate, Bytes, Span};

/// Rates, in bit/s; letters of any case.
const RATES: [(&str, f64); 21] = [
    ("", 1.0),
    ("bit", 1.0),
    ("kibit", 1024.0),
    ("kbit", 1e3),
    ("mibit", 1_048_576.0),
    ("mbit", 1e6),
    ("gibit", 1_073_741_824.0),
    ("gbit", 1e9),
    ("tibit", 1_099_511_627_776.0),
    ("tbit", 1e12),
    ("bps", 8.0),
    ("kibps", 8.0 * 1024.0),
    ("kbps", 8e3),
    ("mibps", 8.0 * 1_048_576.0),
    ("mbps", 8e6),
    ("gibps", 8.0 * 1_073_741_824.0),
    ("gbps", 8e9),
    ("tibps", 8.0 * 1_099_511_627_776.0),
    ("tbps", 8e12),
    ("bit/s", 1.0),
    ("b/s", 8.0),
];

/// Those of [`RATES`] that tc reads.
const READ_RATES: usize = 19;

/// Sizes, in bytes; letters of any case.
const SIZES: [(&str, f64); 12] = [
    ("", 1.0),
    ("b", 1.0),
    ("k", 1024.0),
    ("kb", 1024.0),
    ("m", 1_048_576.0),
    ("mb", 1_048_576.0),
    ("g", 1_073_741_824.0),
    ("gb", 1_073_741_824.0),
    ("bit", 0.125),
    ("kbit", 128.0),
    ("mbit", 131_072.0),
    ("gbit", 134_217_728.0),
];

/// Times, in ns; letters of any case.
const TIMES: [(&str, f64); 10] = [
    ("", 1e3),
    ("us", 1e3),
    ("usec", 1e3),
    ("usecs", 1e3),
    ("ms", 1e6),
    ("msec", 1e6),
    ("msecs", 1e6),
    ("s", 1e9),
    ("sec", 1e9),
    ("secs", 1e9),
];

/// The number at the start of a word, as strtod reads it, and the unit after it.
fn split(text: &str) -> Option<(f64, &str)> {
    if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        let (digits, unit) = hex.split_at(hex.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(hex.len()));
        return Some((u64::from_str_radix(digits, 16).ok()? as f64, unit));
    }
    let sign = usize::from(text.starts_with(['-', '+']));
    let digits = |c: char| c.is_ascii_digit() || c == '.';
    let mut end = text[sign..].find(|c| !digits(c)).map_or(text.len(), |at| at + sign);
    let exponent = text[end..].strip_prefix(['e', 'E']).map(|rest| rest.trim_start_matches(['-', '+']));
    if let Some(rest) = exponent.filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
        end = text.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    }
    Some((text[..end].parse().ok()?, &text[end..]))
}

fn scaled(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let (number, unit) = split(text)?;
    let scale = units.iter().find(|it| it.0.eq_ignore_ascii_case(unit))?.1;
    Some(number * scale).filter(|it| it.is_finite() && *it >= 0.0)
}

/// `None` unless it is a whole number of 64 bits, cut off behind the point.
fn whole(number: f64) -> Option<u64> {
    // Decimals of a unit are not exact in binary: 0.29 Mbit/s is 290000 bit/s.
    let near = (number * 1024.0).round() / 1024.0;
    let number = if (number - near).abs() < number * 1e-12 { near } else { number };
    (number < u64::MAX as f64).then_some(number as u64)
}

/// A rate.
///
/// # Errors
/// It is none to tc.
pub(super) fn rate(token: &Token<'_>) -> Taken<BitRate> {
    let text = &*token.text;
    let found = scaled(text, &RATES[..READ_RATES]).and_then(whole);
    found.map(BitRate::bps).ok_or_else(|| {
        let refusal = Refusal::at(token, format!("`{text}` is no rate to tc"));
        let number = split(text).map(|it| it.0);
        match (number, split(text).map(|it| it.1.to_ascii_lowercase()).as_deref()) {
            (Some(n), Some("mb" | "m" | "mbits" | "mbit/s" | "mb/s")) => {
                refusal.instead(format!("{n}mbit for Mbit/s, or {n}mbps for MB/s"))
            }
            (Some(n), Some("kb" | "k" | "kbits" | "kbit/s" | "kb/s")) => {
                refusal.instead(format!("{n}kbit for kbit/s, or {n}kbps for kB/s"))
            }
            (Some(n), Some("gb" | "g" | "gbits" | "gbit/s" | "gb/s")) => {
                refusal.instead(format!("{n}gbit for Gbit/s, or {n}gbps for GB/s"))
            }
            (Some(_), Some("%")) => {
                let message = format!("`{text}` is a share of the interface's speed, which the text does not have");
                Refusal::at(token, message).instead("write the rate, as in 10mbit")
            }
            _ => refusal,
        }
    })
}

/// A size.
///
/// # Errors
/// It is none to tc.
pub(super) fn size(token: &Token<'_>) -> Taken<Bytes> {
    let found = scaled(&token.text, &SIZES).and_then(whole);
    found.map(Bytes::new).ok_or_else(|| {
        let hint = "a number of bytes, or with k, m, g for 1024 of them and so on";
        Refusal::at(token, format!("`{}` is no size to tc", token.text)).instead(hint)
    })
}

/// A time; a bare number is in us.
///
/// # Errors
/// It is none to tc.
pub(super) fn time(token: &Token<'_>) -> Taken<Span> {
    let found = scaled(&token.text, &TIMES).and_then(whole);
    found.map(Span::from_ns).ok_or_else(|| {
        Refusal::at(token, format!("`{}` is no time to tc", token.text)).instead("a number with us, ms or s")
    })
}

/// A time; a bare number is in ns.
///
/// # Errors
/// It is none to tc.
pub(super) fn time_ns(token: &Token<'_>) -> Taken<Span> {
    match token.text.strip_suffix("ns").unwrap_or(&token.text).parse() {
        Ok(ns) => Ok(Span::from_ns(ns)),
        Err(_) => time(token),
    }
}

/// A whole number: decimal, 0x.. or octal.
pub(super) fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None if text.len() > 1 && text.starts_with('0') => u64::from_str_radix(&text[1..], 8).ok(),
        None if text.starts_with('+') => None,
        None => text.parse().ok(),
    }
}

/// A whole number of 32 bits.
///
/// # Errors
/// It is none.
pub(super) fn count(token: &Token<'_>) -> Taken<u32> {
    let found = number(&token.text).and_then(|it| u32::try_from(it).ok());
    found.ok_or_else(|| Refusal::at(token, format!("`{}` is no whole number", token.text)))
}

/// A share: `1%`, or a bare number in percent.
///
/// # Errors
/// It is none, or not within 0 and 100 %.
pub(super) fn percent(token: &Token<'_>) -> Taken<f64> {
    let found = split(&token.text).filter(|it| matches!(it.1, "" | "%")).map(|it| it.0 / 100.0);
    found
        .filter(|it| (0.0..=1.0).contains(it))
        .ok_or_else(|| Refusal::at(token, format!("`{}` is no share in percent", token.text)))
}

/// A real number.
///
/// # Errors
/// It is none.
pub(super) fn real(token: &Token<'_>) -> Taken<f64> {
    let found = token.text.parse::<f64>().ok().filter(|it| it.is_finite());
    found.ok_or_else(|| Refusal::at(token, format!("`{}` is no number", token.text)))
}

/// A handle of a queueing discipline, hexadecimal: `1:`, `0x1:`, or `1`.
pub(super) fn handle(text: &str) -> Option<u32> {
    let (major, minor) = text.split_once(':').unwrap_or((text, ""));
    if minor.is_empty() { class(&format!("{major}:")) } else { class(text) }
}

/// The number of a class, hexadecimal: `1:10`, `:10`, or `10`, whose queueing discipline is known otherwise; `1:` is its queueing
/// discipline.
pub(super) fn class(text: &str) -> Option<u32> {
    let (major, minor) = text.split_once(':').unwrap_or(("", text));
    let hex = |text: &str| {
        let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
        if text.is_empty() { Some(0) } else { u16::from_str_radix(digits, 16).ok() }
    };
    Some(u32::from(hex(major)?) << 16 | u32::from(hex(minor)?))
}

/// As tc prints it: `1:10`, `1:`.
pub(super) fn shown(id: u32) -> String {
    match (id >> 16, id & 0xffff) {
        (major, 0) => format!("{major:x}:"),
        (major, minor) => format!("{major:x}:{minor:x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(text: &str) -> Token<'_> {
        Token { text: text.into(), ..Token::default() }
    }

    /// tc(8): bit, kbit and so on are bits in steps of 1000, bps and kbps bytes; a bare number is in bits.
    #[test]
    fn rates_are_those_of_the_manual() {
        let of = |text| rate(&token(text)).map(BitRate::bit_s).ok();
        let known =
            [("5mbit", 5_000_000), ("100kbps", 800_000), ("1000", 1000), ("0.29Mbit", 290_000), ("1Kibit", 1024)];
        known.into_iter().for_each(|(text, bits)| assert_eq!(of(text), Some(bits), "{text}"));
        assert_eq!(of("1e6bit"), Some(1_000_000));
        ["8mb", "10Mbits", "-1mbit", "", "mbit", "50%"]
            .into_iter()
            .for_each(|text| assert_eq!(of(text), None, "{text}"));
        assert_eq!(rate(&token("8mb")).unwrap_err().instead, "8mbit for Mbit/s, or 8mbps for MB/s");
    }

    /// tc(8): k and kb are 1024 bytes, kbit 1024 bits.
    #[test]
    fn sizes_are_those_of_the_manual() {
        let of = |text| size(&token(text)).map(Bytes::get).ok();
        for (text, bytes) in [("20k", 20480), ("20kb", 20480), ("10kbit", 1280), ("15Kb", 15360), ("1514b", 1514)] {
            assert_eq!(of(text), Some(bytes), "{text}");
        }
        // strtod
        assert_eq!([of("0x600"), of("0x10kb"), of("0x")], [Some(1536), Some(16_384), None]);
        assert_eq!(of("10p"), None);
    }

    #[test]
    fn times_are_in_us() {
        let of = |text| time(&token(text)).map(Span::ns).ok();
        assert_eq!(
            [of("5ms"), of("100"), of("1.5s"), of("5 ms")],
            [Some(5_000_000), Some(100_000), Some(1_500_000_000), None]
        );
        assert_eq!(time_ns(&token("100")).map(Span::ns), Ok(100));
    }

    #[test]
    fn handles_are_hexadecimal() {
        assert_eq!(
            [class("1:10"), handle("1"), class(":5"), handle("8001:")].map(Option::unwrap),
            [0x10010, 0x10000, 5, 0x8001_0000]
        );
        assert_eq!(class("10"), Some(0x10));
        // strtoul(16): with or without 0x
        assert_eq!([class("0x1:0xA"), handle("0x1:"), class("0x")], [Some(0x1_000a), Some(0x1_0000), None]);
        assert_eq!([class("1:10000"), class("x")], [None, None]);
        assert_eq!([shown(0x10010), shown(0x10000)], ["1:10", "1:"]);
    }
}
