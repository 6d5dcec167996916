//! Whether all real-time curves can be kept together: below the link's rate, and below the upper limits on their way.
//!
//! The curves are admissible if their sum is nowhere above what the link sends, `sum of S_i(t) <= R t` for all t >= 0:
//! Stoica, Zhang, Ng, section III. Curves are straight between the ends of their first pieces, so it is enough to look
//! there, and at the lasting rates.

use super::Class;
use super::curve::Curve;
use super::form::Curves;
use crate::params::{CLASS, ParamError};
use crate::sched::form::Form;
use crate::sched::{Classes, fault};
use crate::scope::Scope;
use crate::units::{Bytes, NS_PER_S, Span};

/// Names of classes that a message lists.
const MOST_NAMES: usize = 4;

/// # Errors
/// E288 for real-time curves whose sum is above the link's rate, or above the `ul` of a class, somewhere.
pub(super) fn can_be_kept(
    classes: &Classes<Class>,
    form: &Form,
    curves: &[Curves],
    scope: &Scope,
) -> Result<(), ParamError> {
    let all: Vec<_> = form
        .leaves
        .iter()
        .copied()
        .filter(|&leaf| curves[leaf].rt.is_some() && form.counts(classes, leaf, scope))
        .collect();
    if let Some(rate) = scope.link_rate {
        keeps(classes, curves, &all, Curve::line(rate), &format!("the {rate} of the link"))?;
    }
    for (class, Curves { ul, .. }) in curves.iter().enumerate() {
        let Some(ul) = *ul else { continue };
        let below = form.places_below(class);
        let leaves = below.into_iter().map(|place| form.leaves[place]).filter(|leaf| all.contains(leaf));
        keeps(classes, curves, &leaves.collect::<Vec<_>>(), ul, &format!("the `ul` of {}", classes.called(class)))?;
    }
    Ok(())
}

/// Whether the curves of some leaves are together below another one; else the fault is of the first, and names others.
fn keeps(
    classes: &Classes<Class>,
    curves: &[Curves],
    leaves: &[usize],
    limit: Curve,
    whose: &str,
) -> Result<(), ParamError> {
    let promised: Vec<_> = leaves.iter().filter_map(|&leaf| curves[leaf].rt).collect();
    let Some(over) = exceeds(&promised, limit) else { return Ok(()) };
    let others = leaves.iter().take(MOST_NAMES).skip(1).map(|&leaf| classes.called(leaf).to_string());
    let names: Vec<_> = [CLASS.to_owned()].into_iter().chain(others).collect();
    let more = leaves.len().saturating_sub(MOST_NAMES);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    let (curve, verb) = if leaves.len() == 1 { ("curve", "exceeds") } else { ("curves", "exceed") };
    let from = if over.from == Span::ZERO { "from the start".into() } else { format!("after {}", over.from) };
    let message = format!("the real-time {curve} of {}{more} {verb} {whose} {from}", names.join(", "));
    let label = format!("by {} they are to send {}, where {} is all there is", over.by, over.promised, over.there_is);
    let help = "lower their `m1` or `m2`, or raise the limit; a larger share without a guarantee is `ls`";
    Err(fault("E288", classes.called(leaves[0]), message).label(label).help(help))
}

/// Where a sum of curves is above another.
#[derive(Debug, PartialEq, Eq)]
struct Over {
    from: Span,
    /// A time at which it shows, and what is due and possible by then.
    by: Span,
    promised: Bytes,
    there_is: Bytes,
}

/// The first time from which on the sum is above the limit.
fn exceeds(promised: &[Curve], limit: Curve) -> Option<Over> {
    let mut ends: Vec<u64> = promised.iter().chain([&limit]).map(|curve| curve.d.ns()).chain([0]).collect();
    ends.sort_unstable();
    let sum = |at: u64| promised.iter().map(|curve| curve.at(at)).sum::<u128>();
    for (i, &from) in ends.iter().enumerate() {
        let slope = promised.iter().map(|curve| curve.rate(from)).sum::<u64>();
        let Some(over) = slope.checked_sub(limit.rate(from)).filter(|&over| over > 0) else { continue };
        let spare = limit.at(from) - sum(from);
        let from = from + u64::try_from(spare / u128::from(over)).unwrap_or(u64::MAX / 2);
        let by = ends.get(i + 1).copied().unwrap_or(from + NS_PER_S);
        if from < by {
            let bytes = |units: u128| Bytes::new((units / (8 * u128::from(NS_PER_S))) as u64);
            let (promised, there_is) = (bytes(sum(by)), bytes(limit.at(by)));
            return Some(Over { from: Span::from_ns(from), by: Span::from_ns(by), promised, there_is });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::BitRate;
    use proptest::prelude::*;

    fn curve(m1: u64, ms: u64, m2: u64) -> Curve {
        Curve { m1: BitRate::mbps(m1), d: Span::from_ms(ms), m2: BitRate::mbps(m2) }
    }

    fn from(promised: &[Curve], limit: Curve) -> Option<u64> {
        exceeds(promised, limit).map(|over| over.from.ns())
    }

    #[test]
    fn it_says_from_when_on() {
        let link = curve(10, 0, 10);
        assert_eq!(from(&[], link), None);
        assert_eq!(from(&[curve(10, 5, 10)], link), None);
        assert_eq!(from(&[curve(8, 10, 1), curve(4, 10, 2)], link), Some(0));
        // 40 kbit are saved in the first 10 ms; after that 4 Mbit/s too much.
        assert_eq!(from(&[curve(6, 10, 14)], link), Some(20_000_000));
        assert_eq!(from(&[curve(2, 10, 8), curve(0, 20, 3)], link), Some(20_000_000 + 100_000_000));
        // The limit's own first piece.
        assert_eq!(from(&[curve(5, 10, 5)], curve(2, 10, 8)), Some(0));
        assert_eq!(from(&[curve(6, 30, 1)], curve(8, 10, 3)), Some(16_666_666));
    }

    proptest! {
        /// The sum is below before, above after that.
        #[test]
        fn nothing_is_exceeded_before(
            stated in prop::collection::vec((0u64..9, 1u64..30, 1u64..9), 1..4), limit in (1u64..12, 1u64..30, 1u64..12),
        ) {
            let promised: Vec<_> = stated.into_iter().map(|(m1, d, m2)| curve(m1, d, m2)).collect();
            let limit = curve(limit.0, limit.1, limit.2);
            let over = |ns: u64| promised.iter().map(|curve| curve.at(ns)).sum::<u128>() > limit.at(ns);
            let first = (0..400_000).map(|step| step * 10_000).find(|&ns| over(ns));
            let said = from(&promised, limit);
            prop_assert_eq!(said.is_some(), first.is_some() || said.is_some_and(|ns| ns >= 3_999_990_000));
            if let (Some(said), Some(first)) = (said, first) {
                prop_assert!(said <= first && said + 10_000 > first.saturating_sub(10_000), "{} {}", said, first);
            }
        }
    }
}
