//! A policer whose bucket passes far more at once than its rate would suggest.
//!
//! Sources: tc(8), PARAMETERS: a size is in bytes, "m" and "mb" are megabytes of 1024 * 1024; Cisco, command references, `police`
//! and `rate-limit`: a burst of 1.5 s of the rate is recommended.

use super::Rule;
use super::bucket::enough;
use super::case::{Case, finding, is_said, words};
use super::tc;
use crate::finding::Finding;
use crate::model::{Conditioner, Port};
use perhop_core::units::Span;

const CODE: &str = "W452";
/// A bucket that lasts longer is no bucket for bursts.
const LONG: Span = Span::from_ms(500);
/// A bucket in megabytes that lasts longer may have been meant in milliseconds.
const MEGABYTES: Span = Span::from_ms(50);
/// What Cisco recommends, and a hundredth.
const RECOMMENDED: [Span; 2] = [Span::from_ms(1485), Span::from_ms(1515)];

/// The rule.
pub(super) const RULE: Rule = Rule { code: CODE, dialect: None, instead_of: &[], find };

fn find(case: &Case<'_>) -> Vec<Finding> {
    // What protects the router itself is no way of downloads.
    let control = |port: &Port| port.interface.is.to_ascii_lowercase().starts_with("control");
    let ports = case.read.device.ports.iter().filter(|port| !control(port));
    ports.flat_map(|port| port.conditioners.iter().filter_map(|it| of_policer(case, it))).collect()
}

fn of_policer(case: &Case<'_>, it: &Conditioner) -> Option<Finding> {
    let (rate, burst) = (it.settings.rate("cir").filter(|rate| rate.bit_s() > 0)?, it.settings.bytes("cbs")?);
    let said = it.settings.get("cbs").filter(|said| is_said(said))?;
    let (lasts, is_tc) = (burst / rate, case.read.dialect == "tc");
    let number = words(case, said).map_or("", |(_, number)| number);
    let in_megabytes =
        is_tc && number.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').eq_ignore_ascii_case("m");
    let recommended = !is_tc && (RECOMMENDED[0]..=RECOMMENDED[1]).contains(&lasts);
    if lasts <= if in_megabytes { MEGABYTES } else { LONG } || recommended {
        return None;
    }
    let unit = if in_megabytes { format!("`{number}` is in megabytes: ") } else { String::new() };
    let message = format!(
        "{unit}the bucket holds {} B, {:.0} ms at {rate}: after a pause so much passes at any rate",
        burst.get(),
        lasts.seconds() * 1e3
    );
    let need = enough(rate)?;
    let instead = if is_tc { format!("burst {}", tc::size(need)) } else { format!("bc {}", need.get()) };
    Some(finding(CODE, said.origin.place()?, message, instead))
}
