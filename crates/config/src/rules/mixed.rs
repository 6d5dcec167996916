//! Shares in different units within a policy.
//!
//! Sources: Cisco, command reference, `bandwidth (policy-map class)`: all class bandwidths in kbps or all in percent, not a mix of both; `bandwidth
//! remaining ratio` cannot coexist with another `bandwidth` in other classes of the policy. `priority` may differ.

use super::Rule;
use super::case::{Case, finding};
use super::ios::{Use, uses};
use crate::finding::Finding;
use crate::ios::plan::{Share, WithPlace};

const CODE: &str = "W429";

/// The rule.
pub(super) const RULE: Rule = Rule { code: CODE, dialect: Some("ios"), instead_of: &[], find };

fn find(case: &Case<'_>) -> Vec<Finding> {
    uses(case).iter().filter(|it| !it.in_force()).filter_map(of_policy).collect()
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

fn of_policy(it: &Use<'_>) -> Option<Finding> {
    let all: Vec<WithPlace<Share>> = it.policy.classes.iter().filter_map(|class| class.bandwidth).collect();
    let (first, rest) = all.split_first()?;
    let other = rest.iter().find(|put| !fit(first.is, put.is))?;
    let message = format!(
        "`bandwidth` in {} beside {} in policy map {}: IOS takes one unit for all classes of a policy and refuses this line",
        unit(other.is),
        unit(first.is),
        it.policy.name
    );
    Some(finding(CODE, other.at.place, message, instead(it, first.is, other.is)))
}

fn instead(it: &Use<'_>, first: Share, other: Share) -> String {
    let base = it.base.map_or(0, |base| base.bit_s());
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
