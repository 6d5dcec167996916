//! Rates, sizes and times as tc writes them.

use super::counters::lines::SHARE;
use perhop_core::units::{BitRate, Bytes, Span};

/// A rate in the coarsest unit to which each step of 1000 may be taken; what a step leaves over is cut off.
fn scaled(rate: BitRate, may_step: impl Fn(u64) -> bool) -> String {
    let (mut number, mut unit) = (rate.bit_s(), None);
    for coarser in ['K', 'M', 'G', 'T'] {
        if number < 1000 || !may_step(number) {
            break;
        }
        (number, unit) = (number / 1000, Some(coarser));
    }
    format!("{number}{}bit", unit.map(String::from).unwrap_or_default())
}

/// A rate as one types it: `10mbit`, `1500kbit`, `1234567bit`.
pub(crate) fn typed_rate(rate: BitRate) -> String {
    scaled(rate, |number| number.is_multiple_of(1000)).to_ascii_lowercase()
}

/// A rate as tc prints it: `10Mbit`, `1500Kbit`, `1234Kbit` (iproute2, tc/tc_util.c, `print_rate`).
pub(crate) fn printed_rate(rate: BitRate) -> String {
    scaled(rate, |number| number.is_multiple_of(1000) || number >= 1_000_000)
}

/// A rate in bit/s: `10000000bit`.
pub(crate) fn exact_rate(rate: BitRate) -> String {
    scaled(rate, |_| false)
}

/// A size: `1514b`.
pub(crate) fn size(bytes: Bytes) -> String {
    format!("{}b", bytes.get())
}

/// A time as one types it, in whole microseconds: `10ms`, `1500us`.
pub(crate) fn time(span: Span) -> String {
    match span.ns() {
        ns if ns.is_multiple_of(1_000_000) => format!("{}ms", ns / 1_000_000),
        ns => format!("{}us", ns / 1_000),
    }
}

/// Microseconds as tc prints them: `5us`, `1.23ms`, `2s`.
fn printed_time(us: f64) -> String {
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

/// A number in a form of [`super::counters::lines`], as tc prints it: a rate is in bytes/s, a time in us.
pub(crate) fn printed(form: &str, value: f64) -> String {
    match form {
        "#us" => printed_time(value),
        "#bit" => printed_rate(BitRate::bps((value * 8.0) as u64)),
        "#b" => format!("{value:.0}b"),
        SHARE => format!("{value:.6}"),
        _ => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_have_a_form_for_each_writer() {
        for (bit_s, typed, printed, exact) in [
            (0, "0bit", "0bit", "0bit"),
            (96, "96bit", "96bit", "96bit"),
            (625_000, "625kbit", "625Kbit", "625000bit"),
            (1_234_567, "1234567bit", "1234Kbit", "1234567bit"),
            (1_500_000, "1500kbit", "1500Kbit", "1500000bit"),
            (10_000_000, "10mbit", "10Mbit", "10000000bit"),
            (76_562_999, "76562999bit", "76562Kbit", "76562999bit"),
            (40_000_000_000, "40gbit", "40Gbit", "40000000000bit"),
        ] {
            let rate = BitRate::bps(bit_s);
            assert_eq!([typed_rate(rate), printed_rate(rate), exact_rate(rate)], [typed, printed, exact]);
        }
    }

    #[test]
    fn times_are_typed_whole_and_printed_in_three_digits() {
        assert_eq!([5_000_000, 1_500_000, 0].map(|ns| time(Span::from_ns(ns))), ["5ms", "1500us", "0ms"]);
        let times = [5.0, 1234.0, 100_000.0, 2.5e6, -40.0].map(printed_time);
        assert_eq!(times, ["5us", "1.23ms", "100ms", "2.5s", "-40us"]);
    }

    #[test]
    fn counters_are_printed_in_their_form() {
        let forms = [("#", 7.0), ("#b", 1514.0), ("#us", 1234.0), ("#bit", 1_250_000.0), (SHARE, 0.25)];
        assert_eq!(forms.map(|(form, value)| printed(form, value)), ["7", "1514b", "1.23ms", "10Mbit", "0.250000"]);
    }
}
