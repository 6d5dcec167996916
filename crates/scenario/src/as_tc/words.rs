//! Quantities as tc writes them: nothing is rounded.

use perhop_core::units::{BitRate, Span};

/// `10ms`, in nanoseconds where nothing larger is whole.
pub(super) fn time(span: Span) -> String {
    match span.ns() {
        ns if ns % 1_000_000 == 0 => format!("{}ms", ns / 1_000_000),
        ns if ns % 1_000 == 0 => format!("{}us", ns / 1_000),
        ns => format!("{ns}ns"),
    }
}

/// `10000000bit`
pub(super) fn rate(rate: BitRate) -> String {
    format!("{}bit", rate.bit_s())
}

/// `on` or `off` forms: `ecn`, `noecn`.
pub(super) fn ecn(on: bool) -> &'static str {
    if on { "ecn" } else { "noecn" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_rounded() {
        assert_eq!([5_000_000, 1_500_000, 1_234].map(|ns| time(Span::from_ns(ns))), ["5ms", "1500us", "1234ns"]);
        assert_eq!(rate(BitRate::bps(1_234_567)), "1234567bit");
    }
}
