//! Quantities of commands: nothing is rounded. Times that tc has no word for are refused ([`fine`]) before they are written.

pub(super) use crate::tc::numbers::{exact_rate as rate, time};
use perhop_core::params::{Params, Tree};
use perhop_core::units::Span;

/// Least unit of time of tc, and of a timer of the kernel and of `ip`, in ns.
pub(super) const US: u64 = 1_000;
pub(super) const MS: u64 = 1_000_000;
/// tc counts microseconds in 32 bits.
const LONGEST: u64 = u32::MAX as u64 * US;

/// Those of some keys whose times are no multiple of a unit, or too long, with what is wrong.
pub(super) fn fine<'a>(times: &'a [(&str, Span)], unit: u64) -> impl Iterator<Item = String> + 'a {
    let whole = if unit == MS { "milliseconds" } else { "microseconds" };
    let wrong = move |it: &&(&str, Span)| !it.1.ns().is_multiple_of(unit) || it.1.ns() > LONGEST;
    times
        .iter()
        .filter(wrong)
        .map(move |(key, span)| format!("`{key}` of {span}: it must be in whole {whole}, at most 4294 s"))
}

/// Whether a weight is in sixteenths, as whole as tc takes it: up to 2.
pub(super) fn in_sixteenths(weight: f64) -> bool {
    let scaled = weight * 16.0;
    scaled.fract() == 0.0 && (0.0..=32.0).contains(&scaled)
}

/// The keys of an algorithm.
pub(super) fn keys(params: &impl Params) -> Vec<(&'static str, Tree)> {
    let mut all = Vec::new();
    params.show(&mut all);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_that_tc_has_no_word_for_is_refused() {
        let times = [("a", Span::from_ns(1_234)), ("b", Span::from_us(1)), ("c", Span::from_s(4_295))];
        let said: Vec<_> = fine(&times, US).collect();
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(said[0].starts_with("`a`") && said[1].starts_with("`c`"), "{said:?}");
    }
}
