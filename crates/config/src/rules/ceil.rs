//! A class of HTB with a `ceil` below its `rate`.
//!
//! Source: Linux `sch_htb.c`: a class whose ctokens, which come at `ceil`, are below 0 cannot send, whatever its tokens are. Neither tc nor the
//! kernel compares the two.

use super::Rule;
use super::case::{At, Case, finding, key_place};
use super::tc;
use crate::finding::Finding;
use crate::model::Kind;

const CODE: &str = "W432";

/// The rule.
pub(super) const RULE: Rule = Rule { code: CODE, dialect: Some("tc"), instead_of: &["W342"], find };

fn find(case: &Case<'_>) -> Vec<Finding> {
    let classes = |at: At<'_>| (0..at.queue.classes.len()).filter_map(|class| of_class(at, class)).collect::<Vec<_>>();
    case.queues_of(Kind::Scheduler("htb")).flat_map(classes).collect()
}

fn of_class(at: At<'_>, class: usize) -> Option<Finding> {
    let it = &at.queue.classes[class];
    let (rate, ceil) = (it.settings.rate("rate")?, it.settings.rate("ceil")?);
    if ceil >= rate {
        return None;
    }
    let message = format!(
        "`ceil` {} of class {} is below its `rate` {}: it never gets more than its ceil, {} % of what it is guaranteed",
        tc::rate(ceil),
        it.name.is,
        tc::rate(rate),
        ceil.bit_s() * 100 / rate.bit_s().max(1)
    );
    let line = tc::change(at, class, &[("ceil", tc::rate(rate))]);
    Some(finding(CODE, key_place(it, "ceil"), message, line))
}
