//! Quantities as IOS writes them, and the bounds that it has for them.

use perhop_core::dscp::Dscp;
use perhop_core::units::BitRate;
use std::ops::RangeInclusive;

/// Rates that `police` takes, bit/s, and its bursts, bytes: the command reference of the MWR 2941 (IOS 15.1).
pub(super) const POLICE_RATE: RangeInclusive<u64> = 8_000..=64_000_000_000;
pub(super) const POLICE_BURST: RangeInclusive<u64> = 1_000..=512_000_000;

/// A rate in kbit/s, as `priority` and `bandwidth` have it.
///
/// # Errors
/// It is no whole number of them.
pub(super) fn kbit(rate: BitRate) -> Result<u64, String> {
    match rate.bit_s() {
        bits if bits > 0 && bits.is_multiple_of(1000) => Ok(bits / 1000),
        _ => Err(format!("a rate of {rate}: here IOS has whole kbit/s")),
    }
}

/// `af31`, `ef`, `default`, or the number of a code point that IOS has no name for.
pub(super) fn dscp(dscp: Dscp) -> String {
    match (dscp.get(), dscp.to_string()) {
        (0, _) => "default".into(),
        (_, name) if name.starts_with("AF") || name.starts_with("CS") || name == "EF" => name.to_ascii_lowercase(),
        (number, _) => number.to_string(),
    }
}

/// Whether a number is within IOS's bounds.
///
/// # Errors
/// It is not: `what` it is.
pub(super) fn within(what: &str, value: u64, bounds: &RangeInclusive<u64>) -> Result<(), String> {
    if bounds.contains(&value) {
        return Ok(());
    }
    Err(format!("{what} of {value}: IOS takes {} to {}", bounds.start(), bounds.end()))
}
