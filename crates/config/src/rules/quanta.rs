//! Quanta of HTB that `r2q` puts out of bounds, so that classes do not share in the ratio of their rates.
//!
//! Sources: Linux `sch_htb.c`: quantum = rate in B/s / r2q, at least 1000 and at most 200000, with the kernel's message "quantum of class
//! .. is big (small). Consider r2q change."; Devera, "HTB Linux queuing discipline manual": as small as possible and larger than the MTU.

use super::Rule;
use super::case::{At, Case, FRAME, finding, is_said, leaves, place, some_of};
use super::tc;
use crate::finding::Finding;
use crate::model::{Class, Kind, Queue};
use crate::value::Value;
use perhop_core::units::Bytes;

const CODE: &str = "W431";

/// The rule.
pub(super) const RULE: Rule = Rule { code: CODE, dialect: Some("tc"), instead_of: &["W327"], find };

const LEAST: u64 = 1000;
const MOST: u64 = 200_000;

fn find(case: &Case<'_>) -> Vec<Finding> {
    case.queues_of(Kind::Scheduler("htb")).filter_map(of_queue).collect()
}

/// A leaf whose quantum the kernel bounds, and what it would be without bound.
struct Bounded {
    class: usize,
    wanted: u64,
}

fn of_queue(at: At<'_>) -> Option<Finding> {
    let all: Vec<usize> = leaves(at.queue);
    let bounded: Vec<Bounded> = all.iter().filter_map(|class| bounded(at.queue, *class)).collect();
    // A class alone shares with no other.
    let first = bounded.first().filter(|_| all.len() > 1)?;
    let names: Vec<&str> = bounded.iter().map(|it| at.queue.classes[it.class].name.is.as_str()).collect();
    let bound = if first.wanted > MOST { MOST } else { LEAST };
    let message = format!(
        "the quantum of {} is kept at {bound} B, where rate / r2q gives {} B (\"quantum of class .. is {}\"){}",
        some_of(&names),
        first.wanted,
        if first.wanted > MOST { "big" } else { "small" },
        ratio(at.queue, &all)
    );
    Some(finding(CODE, place(&at.queue.classes[first.class].name), message, instead(at, &all)))
}

fn r2q(queue: &Queue) -> u64 {
    match queue.settings.get("r2q").map(|said| &said.is) {
        Some(Value::Count(r2q)) => (*r2q).max(1),
        _ => 10,
    }
}

fn wanted(queue: &Queue, class: &Class) -> Option<u64> {
    Some(class.settings.rate("rate")?.bit_s() / 8 / r2q(queue))
}

fn bounded(queue: &Queue, class: usize) -> Option<Bounded> {
    let it = &queue.classes[class];
    let wanted = wanted(queue, it)?;
    // What `tc -d` prints is the quantum after it was bounded.
    let own = it.settings.get("quantum").filter(|said| is_said(said)).and_then(|_| it.settings.bytes("quantum"));
    let kept = own.is_none_or(|own| own == Bytes::new(wanted.clamp(LEAST, MOST)));
    (kept && !(LEAST..=MOST).contains(&wanted)).then_some(Bounded { class, wanted })
}

/// The widest ratio of two classes by their rates, beside that of their quanta.
fn ratio(queue: &Queue, all: &[usize]) -> String {
    let both = |class: &usize| {
        let it = &queue.classes[*class];
        let wanted = wanted(queue, it)?.max(1);
        let quantum = it.settings.bytes("quantum").map_or(wanted.clamp(LEAST, MOST), Bytes::get).max(1);
        Some((wanted as f64, quantum as f64))
    };
    let list: Vec<(f64, f64)> = all.iter().filter_map(both).collect();
    let by_rate = |a: &&(f64, f64), b: &&(f64, f64)| a.0.total_cmp(&b.0);
    match (list.iter().max_by(by_rate), list.iter().min_by(by_rate)) {
        (Some(most), Some(few)) if most.0 > few.0 => format!(
            ": the largest class borrows {:.1} times as much as the smallest, by their rates it would be {:.1} times",
            most.1 / few.1,
            most.0 / few.0
        ),
        _ => String::new(),
    }
}

/// An `r2q` with which the smallest class sends a packet in its turn, if the largest then stays within bounds; else quanta.
fn instead(at: At<'_>, all: &[usize]) -> String {
    let rates =
        || all.iter().filter_map(|class| at.queue.classes[*class].settings.rate("rate")).map(|rate| rate.bit_s() / 8);
    let (few, most) = (rates().min().unwrap_or(0), rates().max().unwrap_or(0));
    let r2q = few / FRAME.get();
    if r2q > 0 && most / r2q <= MOST {
        return tc::htb(at, None, Some(r2q));
    }
    let largest = all.iter().copied().max_by_key(|class| at.queue.classes[*class].settings.rate("rate"));
    let line = largest.map(|class| tc::change(at, class, &[("quantum", MOST.to_string())])).unwrap_or_default();
    format!("{line}, and for the others quanta in the ratio of the rates, {} or more", FRAME.get())
}
