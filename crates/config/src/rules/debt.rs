//! Tokens of HTB below zero: how deep in debt a class is.
//!
//! Source: Linux `sch_htb.c`: tokens are time at the rate in nanoseconds, shown in ticks of 64 ns (`PSCHED_SHIFT`), and a debt is at most a minute.
//! Tokens below 0: the class lives by borrowing. Ctokens below 0: it waits for its ceil.

use super::Rule;
use super::case::{At, Case, finding};
use super::counted::counted;
use super::tc;
use crate::evidence::Counters;
use crate::finding::Finding;
use perhop_core::units::Span;

const CODE: &str = "W442";

/// The rule.
pub(super) const RULE: Rule = Rule { code: CODE, dialect: Some("tc"), instead_of: &[], find };

/// A debt of a packet or a few is how the algorithm works.
const DEEP: Span = Span::from_s(1);
const TICK_NS: u64 = 64;

fn find(case: &Case<'_>) -> Vec<Finding> {
    counted(case).into_iter().filter_map(|it| of_class(it.counters, (it.at, it.class?))).collect()
}

fn debt(counters: &Counters, name: &str) -> Option<Span> {
    let ticks = counters.counts.get(name).filter(|ticks| **ticks < 0)?.unsigned_abs();
    Some(Span::from_ns(ticks.saturating_mul(TICK_NS))).filter(|span| *span > DEEP)
}

fn of_class(counters: &Counters, (at, i): (At<'_>, usize)) -> Option<Finding> {
    let it = &at.queue.classes[i];
    let rate = it.settings.rate("rate")?;
    let ceil = it.settings.rate("ceil").unwrap_or(rate);
    let (message, instead, least) = match (debt(counters, "ctokens"), debt(counters, "tokens")) {
        (Some(span), _) => {
            let owed = (ceil * span).get();
            let message = format!(
                "class {} owes {owed} B at its ceil {}: it sends nothing for {span}",
                it.name.is,
                tc::rate(ceil)
            );
            (message, tc::change(at, i, &[("ceil", "..".to_owned())]), ceil)
        }
        (None, Some(span)) => {
            let owed = (rate * span).get();
            let message = format!(
                "class {} owes {owed} B at its rate {}, {span}: it has long lived by borrowing, and once others use their rates it gets nothing for that long",
                it.name.is,
                tc::rate(rate)
            );
            (message, tc::change(at, i, &[("rate", "..".to_owned())]), rate)
        }
        _ => return None,
    };
    Some(finding(CODE, counters.place, message, format!("{instead} (more than {})", tc::rate(least))))
}
