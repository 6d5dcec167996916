//! Numbers as tc writes them.

use crate::tc::counters::lines::SHARE;

/// A number in a form of [`crate::tc::counters::lines`]: a rate is in bytes/s, a time in us.
pub(super) fn printed(form: &str, value: f64) -> String {
    match form {
        "#us" => time(value),
        "#bit" => rate(value),
        "#b" => format!("{value:.0}b"),
        SHARE => format!("{value:.6}"),
        _ => format!("{value:.0}"),
    }
}

/// Microseconds: `5us`, `1.2ms`, `2s`.
fn time(us: f64) -> String {
    match us.abs() {
        size if size >= 1e6 => format!("{}s", digits(us / 1e6)),
        size if size >= 1e3 => format!("{}ms", digits(us / 1e3)),
        _ => format!("{us:.0}us"),
    }
}

/// Three significant digits.
fn digits(value: f64) -> String {
    let text = match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    };
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Bytes per second as a rate: `10Mbit`, `625Kbit`, `1250Kbit`.
fn rate(bytes_s: f64) -> String {
    let mut rate = bytes_s * 8.0;
    let mut units = ["", "K", "M", "G"].into_iter().peekable();
    let mut unit = units.next().unwrap_or_default();
    while rate >= 1000.0 && (rate % 1000.0 == 0.0 || rate >= 1e6) && units.peek().is_some() {
        (rate, unit) = (rate / 1000.0, units.next().unwrap_or_default());
    }
    format!("{rate:.0}{unit}bit")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_tc_writes_them() {
        assert_eq!([5.0, 1234.0, 100_000.0, 2.5e6, -40.0].map(time), ["5us", "1.23ms", "100ms", "2.5s", "-40us"]);
        assert_eq!([1_250_000.0, 78_125.0, 625_000.0, 12.0].map(rate), ["10Mbit", "625Kbit", "5Mbit", "96bit"]);
    }
}
