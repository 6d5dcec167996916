//! A policer whose bucket passes far more at once than its rate would suggest.
//!
//! Source: tc(8), PARAMETERS: a size is in bytes, "m" and "mb" are megabytes of 1024 * 1024.

use super::Rule;
use super::bucket::enough;
use super::case::{Case, finding, is_said, words};
use super::tc;
use crate::finding::Finding;
use crate::model::Conditioner;
use perhop_core::units::Span;

const CODE: &str = "W452";
/// A bucket that lasts longer is no bucket for bursts.
const LONG: Span = Span::from_ms(500);
/// A bucket in megabytes that lasts longer may have been meant in milliseconds.
const MEGABYTES: Span = Span::from_ms(50);
/// The rule.
pub(super) const RULE: Rule = Rule { code: CODE, dialect: Some("tc"), instead_of: &[], find };

fn find(case: &Case<'_>) -> Vec<Finding> {
    let all = case.read.device.ports.iter().flat_map(|port| &port.conditioners);
    all.filter_map(|it| of_policer(case, it)).collect()
}

fn of_policer(case: &Case<'_>, it: &Conditioner) -> Option<Finding> {
    let (rate, burst) = (it.settings.rate("cir").filter(|rate| rate.bit_s() > 0)?, it.settings.bytes("cbs")?);
    let said = it.settings.get("cbs").filter(|said| is_said(said))?;
    let lasts = burst / rate;
    let number = words(case, said).map_or("", |(_, number)| number);
    let unit = number.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let in_megabytes = unit.eq_ignore_ascii_case("m");
    if lasts <= if in_megabytes { MEGABYTES } else { LONG } {
        return None;
    }
    let unit = if in_megabytes { format!("`{number}` is in megabytes: ") } else { String::new() };
    let message = format!(
        "{unit}the bucket holds {} B, {:.0} ms at {rate}: after a pause so much passes at any rate",
        burst.get(),
        lasts.seconds() * 1e3
    );
    let instead = format!("burst {}", tc::size(enough(rate)?));
    Some(finding(CODE, said.origin.place()?, message, instead))
}
