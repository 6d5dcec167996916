//! Rates and quanta of HTB's classes.
//!
//! Sources: Linux `sch_htb.c`; tc-htb(8); Devera, "HTB Linux queuing discipline manual".

use super::commands;
use super::counters::direct;
use crate::evidence::Counters;
use crate::model::{Class, FRAME, Queue};
use crate::rules::case::{At, Case, key_place, leaves, line_has, place, some_of};
use crate::rules::{Remark, Rule};
use crate::value::Value;
use perhop_core::units::Bytes;
use std::collections::HashSet;

/// Of trees, and of their classes.
pub(super) const RULES: &[Rule] = &[
    Rule::new("W431", &["W327"], |case| case.trees().filter_map(bounded_quanta).collect()),
    Rule::new("W432", &["W342"], |case| case.trees().flat_map(low_ceils).collect()),
    Rule::new("W433", &[], no_default),
];

/// The least quantum that follows from a rate and `r2q`, and the largest.
const LEAST: u64 = 1000;
const MOST: u64 = 200_000;

/// A leaf whose quantum the kernel bounds, and what it would be without bound.
struct Bounded {
    class: usize,
    wanted: u64,
}

/// W431: quanta that `r2q` puts out of bounds, so that classes do not share in the ratio of their rates.
///
/// `sch_htb.c`: quantum = rate in B/s / r2q, at least 1000 and at most 200000, with the kernel's message "quantum of
/// class .. is big (small). Consider r2q change."; Devera: as small as possible and larger than the MTU.
fn bounded_quanta(at: At<'_>) -> Option<Remark> {
    let all: Vec<usize> = leaves(at.queue);
    let bounded: Vec<Bounded> = all.iter().filter_map(|class| bounded(at.queue, *class)).collect();
    // A class alone shares with no other.
    let first = bounded.first().filter(|_| all.len() > 1)?;
    let names: Vec<&str> = bounded.iter().map(|it| at.queue.classes[it.class].name.is.as_str()).collect();
    let (bound, size) = if first.wanted > MOST { (MOST, "big") } else { (LEAST, "small") };
    let message = format!(
        "the quantum of {} is kept at {bound} B, where rate / r2q gives {} B (\"quantum of class .. is {size}\"){}",
        some_of(&names),
        first.wanted,
        ratio(at.queue, &all)
    );
    Some(Remark { place: place(&at.queue.classes[first.class].name), message, instead: other_quanta(at, &all) })
}

fn wanted(queue: &Queue, class: &Class) -> Option<u64> {
    let r2q = match queue.settings.get("r2q").map(|said| &said.is) {
        Some(Value::Count(r2q)) => (*r2q).max(1),
        _ => 10,
    };
    Some(class.settings.rate("rate")?.bit_s() / 8 / r2q)
}

fn bounded(queue: &Queue, class: usize) -> Option<Bounded> {
    let it = &queue.classes[class];
    let wanted = wanted(queue, it)?;
    // What `tc -d` prints is the quantum after it was bounded.
    let own = it.settings.said("quantum").and_then(|_| it.settings.bytes("quantum"));
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

/// An `r2q` with which the smallest class sends a packet in its turn, if the largest then stays within bounds; else
/// quanta.
fn other_quanta(at: At<'_>, all: &[usize]) -> String {
    let rate = |class: &usize| at.queue.classes[*class].settings.rate("rate");
    let rates = || all.iter().filter_map(rate).map(|rate| rate.bit_s() / 8);
    let (few, most) = (rates().min().unwrap_or(0), rates().max().unwrap_or(0));
    let r2q = few / FRAME.get();
    if r2q > 0 && most / r2q <= MOST {
        return commands::htb(at, None, Some(r2q));
    }
    let largest = all.iter().copied().max_by_key(rate);
    let line = largest.map(|class| commands::change(at, class, &[("quantum", MOST.to_string())])).unwrap_or_default();
    format!("{line}, and for the others quanta in the ratio of the rates, {} or more", FRAME.get())
}

/// W432: classes with a `ceil` below their `rate`.
///
/// `sch_htb.c`: a class whose ctokens, which come at `ceil`, are below 0 cannot send, whatever its tokens are. Neither
/// tc nor the kernel compares the two.
fn low_ceils(at: At<'_>) -> Vec<Remark> {
    (0..at.queue.classes.len()).filter_map(|class| low_ceil(at, class)).collect()
}

fn low_ceil(at: At<'_>, class: usize) -> Option<Remark> {
    let it = &at.queue.classes[class];
    let rate = it.settings.rate("rate")?;
    let ceil = it.settings.rate("ceil").filter(|ceil| *ceil < rate)?;
    let [low, high] = [ceil, rate].map(commands::rate);
    let message = format!(
        "`ceil` {low} of class {} is below its `rate` {high}: it never gets more than its ceil, {} % of what it is guaranteed",
        it.name.is,
        ceil.bit_s() * 100 / rate.bit_s().max(1)
    );
    let instead = commands::change(at, class, &[("ceil", high)]);
    Some(Remark { place: key_place(it, "ceil"), message, instead })
}

/// W433: HTB without a default class, so that what no filter takes is not shaped.
///
/// tc-htb(8), `default`: "unclassified traffic gets sent to this class", and without it "dequeued at hardware speed,
/// completely bypassing any of the classes" (`default 0`).
fn no_default(case: &Case<'_>) -> Vec<Remark> {
    // A `default` that names no class says the same, and is nearer to the cause.
    if case.read.findings.iter().any(|finding| finding.code == "W402") {
        return Vec::new();
    }
    // Counters say of some that practically no packet passes so.
    let few = |it: &&Counters| it.counts.contains_key("direct_packets_stat") && direct(it).is_none();
    let few = case.read.evidence.iter().filter(few).map(|it| (it.interface.as_str(), it.of.as_str()));
    let few: HashSet<(&str, &str)> = few.collect();
    let passes = |at: &At<'_>| {
        !["", &at.port.interface.is].iter().any(|interface| few.contains(&(*interface, at.queue.name.is.as_str())))
    };
    let listed = |at: &At<'_>| line_has(case, place(&at.queue.name), "qdisc");
    case.trees().filter(|at| listed(at) && passes(at)).filter_map(unclassified).collect()
}

fn unclassified(at: At<'_>) -> Option<Remark> {
    let direct = at.queue.settings.get("unclassified").is_some_and(|said| said.is == Value::Word("direct".to_owned()));
    // Filters that take everything leave nothing over.
    let all = at.queue.classes.iter().any(|class| class.takes.iter().any(|filter| filter.matches.is == <_>::default()));
    if !direct || all || at.queue.classes.is_empty() {
        return None;
    }
    let message = format!(
        "qdisc {} has no default class: packets that no filter takes, ARP too, pass unshaped and before all classes",
        at.queue.name.is
    );
    let last = leaves(at.queue).last().map(|class| at.queue.classes[*class].name.is.as_str());
    Some(Remark { place: place(&at.queue.name), message, instead: commands::htb(at, last, None) })
}
