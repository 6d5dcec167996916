//! Shares of a policy's classes: how much they are together, and in what unit.
//!
//! Sources: Cisco, command references: `bandwidth percent`, "the sum of class bandwidth percentages cannot exceed 100
//! %"; `max-reserved-bandwidth`: 75 % of the interface by default in classic IOS; `bandwidth remaining percent`, at
//! most 100 together. `bandwidth (policy-map class)`: all class bandwidths in kbps or all in percent, not a mix of
//! both; `bandwidth remaining ratio` cannot coexist with another `bandwidth` in other classes of the policy. `priority`
//! may differ.

use super::policies::{Use, uses};
use super::{Case, Rule};
use crate::import_options::Platform;
use crate::ios::plan::{At, Class, Rate, Share, WithPlace};
use crate::rules::Remark;
use perhop_core::units::BitRate;

/// Of sums and of units.
pub(super) const RULES: &[Rule] = &[
    Rule::new("W428", &[], |case| typed(case, |it| [reserved(case, it), remaining(it)])),
    Rule::new("W429", &[], |case| typed(case, |it| [mixed(it)])),
];

/// What classic IOS reserves of an interface without `max-reserved-bandwidth`, in percent.
const CLASSIC: f64 = 75.0;

/// What is wrong with policies, but for those that a device has taken.
fn typed<const N: usize>(case: &Case<'_>, of: impl Fn(&Use<'_>) -> [Option<Remark>; N]) -> Vec<Remark> {
    uses(case).iter().filter(|it| !it.in_force()).flat_map(of).flatten().collect()
}

/// A share with where it is said.
#[derive(Clone, Copy)]
struct Part {
    percent: f64,
    at: At,
    /// `priority` or `bandwidth`.
    word: &'static str,
    /// What is said in kbit/s is said so again.
    in_kbit: bool,
}

impl Part {
    /// The same line with a share of this much.
    fn of(self, percent: f64, base: Option<BitRate>) -> String {
        let kbit = base.filter(|_| self.in_kbit).map(|base| base.bit_s() as f64 / 1000.0 * percent / 100.0);
        match kbit {
            Some(kbit) => format!("{} {:.0}", self.word, kbit.floor()),
            None => format!("{} percent {:.0}", self.word, percent.floor()),
        }
    }
}

/// What is reserved, in percent of the base.
fn parts(it: &Use<'_>) -> Vec<Part> {
    let of_rate = |rate: BitRate| Some(100.0 * rate.bit_s() as f64 / it.base?.bit_s().max(1) as f64);
    let priority = |class: &Class| {
        let said = class.priority.as_ref()?;
        let (percent, in_kbit) = match said.rate?.is {
            Rate::Percent(percent) => (percent, false),
            Rate::Bits(rate) => (of_rate(rate)?, true),
            Rate::Packets(_) => return None,
        };
        Some(Part { percent, at: said.at, word: "priority", in_kbit })
    };
    let bandwidth = |class: &Class| {
        let put = class.bandwidth?;
        let (percent, in_kbit) = match put.is {
            Share::Percent(percent) => (percent, false),
            Share::Rate(rate) => (of_rate(rate)?, true),
            _ => return None,
        };
        Some(Part { percent, at: put.at, word: "bandwidth", in_kbit })
    };
    it.policy.classes.iter().filter_map(|class| priority(class).or_else(|| bandwidth(class))).collect()
}

/// W428: shares that add up to more than there is.
fn reserved(case: &Case<'_>, it: &Use<'_>) -> Option<Remark> {
    let parts = parts(it);
    let sum: f64 = parts.iter().map(|part| part.percent).sum();
    let classic = case.given.platform == Platform::Ios && it.top;
    let most = if classic { it.reserves.unwrap_or(CLASSIC) } else { 100.0 };
    // One that is too large by itself has its own finding.
    if sum <= most + 1e-9 || parts.iter().any(|part| part.percent > 100.0) {
        return None;
    }
    let (part, left) = crossing(&parts, most)?;
    let why = match it.reserves.filter(|_| classic) {
        Some(most) => format!("`max-reserved-bandwidth {most}` stands at the interface"),
        None if classic => "classic IOS reserves at most 75 % of an interface".to_owned(),
        None => "IOS refuses more than 100 %".to_owned(),
    };
    let of = it.base.map(|base| format!(" of {base}")).unwrap_or_default();
    let (name, [sum_of_all, each]) = (&it.policy.name, in_full(&parts, sum));
    let message = format!("`priority` and `bandwidth` of policy map {name} add up to {sum_of_all}{of} ({each}): {why}");
    let mut instead = if left >= 1.0 { part.of(left, it.base) } else { "bandwidth remaining percent ..".to_owned() };
    if classic && sum.ceil() <= 100.0 {
        instead += &format!(", or max-reserved-bandwidth {} at the interface", sum.ceil());
    }
    Some(Remark { place: part.at.place, message, instead })
}

/// `110 %` and `30 + 50 + 30`, to a tenth where it is not whole, so that what is too much is never printed as what
/// fits.
fn in_full(parts: &[Part], sum: f64) -> [String; 2] {
    const SHOWN: usize = 8;
    let tenth = |percent: f64| format!("{}", (percent * 10.0).round() / 10.0);
    let mut each: Vec<_> = parts.iter().map(|part| tenth(part.percent)).collect();
    if each.len() > SHOWN {
        each.truncate(SHOWN);
        each.push("..".to_owned());
    }
    [format!("{} %", (sum * 10.0 - 1e-6).ceil() / 10.0), each.join(" + ")]
}

/// The part that exceeds the most, and what the ones before it leave.
fn crossing(parts: &[Part], most: f64) -> Option<(Part, f64)> {
    let mut sum = 0.0;
    parts.iter().find_map(|part| {
        let left = most - sum;
        sum += part.percent;
        (sum > most).then_some((*part, left))
    })
}

/// W428: the same of what is left.
fn remaining(it: &Use<'_>) -> Option<Remark> {
    let part = |class: &Class| {
        let put = class.bandwidth?;
        let Share::RemainingPercent(percent) = put.is else { return None };
        Some(Part { percent, at: put.at, word: "bandwidth remaining", in_kbit: false })
    };
    let parts: Vec<Part> = it.policy.classes.iter().filter_map(part).collect();
    let (part, left) = crossing(&parts, 100.0 + 1e-9)?;
    let sum: f64 = parts.iter().map(|part| part.percent).sum();
    let (name, [sum, each]) = (&it.policy.name, in_full(&parts, sum));
    let message = format!(
        "`bandwidth remaining percent` of policy map {name} adds up to {sum} ({each}): IOS refuses more than 100 %"
    );
    let instead = format!("{}; bandwidth remaining ratio N in each class has no such bound", part.of(left, None));
    Some(Remark { place: part.at.place, message, instead })
}

/// W429: shares in different units within a policy.
fn mixed(it: &Use<'_>) -> Option<Remark> {
    let all: Vec<WithPlace<Share>> = it.policy.classes.iter().filter_map(|class| class.bandwidth).collect();
    let (first, rest) = all.split_first()?;
    let other = rest.iter().find(|put| !fit(first.is, put.is))?;
    let message = format!(
        "`bandwidth` in {} beside {} in policy map {}: IOS takes one unit for all classes of a policy and refuses this line",
        unit(other.is),
        unit(first.is),
        it.policy.name
    );
    Some(Remark { place: other.at.place, message, instead: in_unit(it.base, first.is, other.is) })
}

const fn unit(share: Share) -> &'static str {
    match share {
        Share::Rate(_) => "kbit/s",
        Share::Percent(_) => "percent",
        Share::RemainingPercent(_) => "remaining percent",
        Share::RemainingRatio(_) => "remaining ratio",
    }
}

/// Whether IOS takes both in one policy.
const fn fit(a: Share, b: Share) -> bool {
    use Share::{Percent, Rate, RemainingPercent, RemainingRatio};
    !matches!(
        (a, b),
        (Rate(_), Percent(_))
            | (Percent(_), Rate(_))
            | (RemainingRatio(_), Rate(_) | Percent(_) | RemainingPercent(_))
            | (Rate(_) | Percent(_) | RemainingPercent(_), RemainingRatio(_))
    )
}

/// A share as the first one has it.
fn in_unit(base: Option<BitRate>, first: Share, other: Share) -> String {
    let base = base.map_or(0, |base| base.bit_s());
    match (first, other) {
        (Share::Percent(_), Share::Rate(rate)) if base > 0 => {
            format!("bandwidth percent {:.0}", (100.0 * rate.bit_s() as f64 / base as f64).max(1.0))
        }
        (Share::Rate(_), Share::Percent(percent)) if base > 0 => {
            format!("bandwidth {:.0}", base as f64 / 1000.0 * percent / 100.0)
        }
        (Share::Rate(_), _) => "bandwidth KBIT, as in the other classes".to_owned(),
        (first, _) => format!("bandwidth {} N, as in the other classes", unit(first)),
    }
}
