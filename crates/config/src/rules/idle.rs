//! A class that no packet has reached, while its siblings carry traffic.

use super::Remark;
use super::case::some_of;
use crate::evidence::Counters;

/// A class without packets among busy ones.
pub(crate) const IDLE_CLASS: &str = "W443";
/// With fewer packets beside it nothing is known yet.
const MANY: u64 = 10_000;

/// Classes that share a rate: one finding for all idle ones of them.
pub(crate) fn remark(idle: &[&Counters], others: u64, check: &str) -> Option<Remark> {
    let first = idle.first().filter(|_| others >= MANY)?;
    let names: Vec<&str> = idle.iter().map(|it| it.of.as_str()).collect();
    let message = format!("no packet has reached {}, while the classes beside have {others}", some_of(&names));
    Some(Remark { place: first.place, message, instead: check.to_owned() })
}
