//! A bucket that is full before a late timer looks at it again.
//!
//! Sources: Linux `sch_htb.c` and `sch_tbf.c`: tokens above the bucket are lost; tc-tbf(8): "if your buffer is too small, packets may be dropped because more
//! tokens arrive per timer tick than fit in your bucket". Kernels with high-resolution timers wake at the microsecond, plus what
//! interrupts and the scheduler add, tens of microseconds on a busy machine. sqm-scripts sets bursts of 1 ms.

use super::Rule;
use super::case::{At, Case, finding, key_place, some_of};
use super::tc;
use crate::finding::Finding;
use crate::model::Kind;
use perhop_core::units::{BitRate, Bytes, Span};

const CODE: &str = "W435";

/// The rule.
pub(super) const RULE: Rule = Rule { code: CODE, dialect: Some("tc"), instead_of: &["W326"], find };

/// Timers are later than this often enough to be seen in the rate. 44 us at 900 Mbit/s are known to cost a third of it.
const LATE: Span = Span::from_us(50);
const GOOD: Span = Span::from_ms(1);

fn find(case: &Case<'_>) -> Vec<Finding> {
    let htb = case.queues_of(Kind::Scheduler("htb")).filter_map(of_classes);
    let tbf = case.queues().into_iter().filter_map(of_shaper);
    htb.chain(tbf).collect()
}

/// How long a bucket lasts.
fn lasts(rate: Option<BitRate>, burst: Option<Bytes>) -> Option<Span> {
    let (rate, burst) = (rate.filter(|rate| rate.bit_s() > 0)?, burst?);
    Some(burst / rate).filter(|span| *span < LATE)
}

fn of_classes(at: At<'_>) -> Option<Finding> {
    let classes = &at.queue.classes;
    let span = |i: usize| lasts(classes[i].settings.rate("rate"), classes[i].settings.bytes("burst"));
    let short: Vec<(usize, Span)> = (0..classes.len()).filter_map(|i| Some((i, span(i)?))).collect();
    let (class, span) = *short.iter().min_by_key(|(_, span)| *span)?;
    let names: Vec<&str> = short.iter().map(|(i, _)| classes[*i].name.is.as_str()).collect();
    let it = &classes[class];
    let rate = it.settings.rate("rate")?;
    let message = format!("`burst` of {} is short: {}", some_of(&names), what(rate, it.settings.bytes("burst")?, span));
    let ceil = it.settings.rate("ceil").unwrap_or(rate).max(rate);
    let keys = [("burst", tc::size(rate * GOOD)), ("cburst", tc::size(ceil * GOOD))];
    Some(finding(CODE, key_place(it, "burst"), message, tc::change(at, class, &keys)))
}

fn of_shaper(at: At<'_>) -> Option<Finding> {
    let (rate, burst) = (at.queue.shape.rate("rate")?, at.queue.shape.bytes("burst")?);
    let span = lasts(Some(rate), Some(burst))?;
    let message = format!("`burst` of {} is short: {}", at.queue.name.is, what(rate, burst, span));
    let instead = format!(
        "tc qdisc replace dev {} .. tbf rate {} burst {} ..",
        at.port.interface.is,
        tc::rate(rate),
        tc::size(rate * GOOD)
    );
    Some(finding(CODE, at.queue.shape.get("burst")?.origin.place().unwrap_or_default(), message, instead))
}

fn what(rate: BitRate, burst: Bytes, span: Span) -> String {
    let us = span.ns() / 1000;
    format!("{} B are {us} us at {rate}; tokens that come after that, while a timer is late, are lost", burst.get())
}
