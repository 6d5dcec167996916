//! Counters of tc that show how it goes with queues and tokens.

use super::commands;
use super::counted::{Counted, counted};
use crate::evidence::Counters;
use crate::model::{Class, Kind};
use crate::rules::case::{Case, most, percent};
use crate::rules::{Remark, Rule};
use crate::tc::limits::TICK;
use perhop_core::units::{BitRate, Bytes, Span};

/// Of shapers, classes, queues and packets.
pub(super) const RULES: &[Rule] = &[
    Rule::new("W441", &[], waits),
    Rule::new("W442", &[], |case| counted(case).filter_map(debt).collect()),
    Rule::new("W444", &["W433"], |case| case.read.evidence.iter().filter_map(past_all).collect()),
    Rule::new("W445", &[], |case| counted(case).filter(|it| it.leaf).filter_map(backlog).collect()),
    // Once a text: the first counters that show it.
    Rule::new("W453", &[], |case| case.read.evidence.iter().find_map(put_together).into_iter().collect()),
];

/// A debt of a packet or a few is how the algorithm works.
const DEEP: Span = Span::from_s(1);
/// A queue that takes longer than this to drain stands.
const LONG: Span = Span::from_ms(100);
/// Below this share packets past all classes are those that passed before the classes were added.
const FEW: f64 = 0.01;
/// Where nothing says of how many.
const MANY: u64 = 1000;
/// The longest frame of an Ethernet with jumbo frames, with the tag of a VLAN.
const JUMBO: u64 = 9018 + 4;

/// W441: waits, which look like faults and are none. Once a text: the first that has waits and no losses.
///
/// Linux `sch_htb.c` and `sch_tbf.c`: `overlimits` counts each time that the shaper was asked for a packet and had to
/// wait for tokens.
fn waits(case: &Case<'_>) -> Vec<Remark> {
    let count = |it: &Counters, name: &str| it.count(name).unwrap_or(0);
    let shaper = |it: &&Counters| matches!(it.kind.as_str(), "htb" | "tbf") && count(it, "overlimits") > 0;
    let remark = |it: &Counters| {
        let message = format!(
            "overlimits {} of {} {} are no losses: each is a moment at which the shaper waited for tokens, as it should; nothing was dropped",
            count(it, "overlimits"),
            it.kind,
            it.of
        );
        let instead = "nothing to change: losses are in `dropped`, waiting packets in `backlog`".to_owned();
        Remark { place: it.place, message, instead }
    };
    // With losses anywhere, the losses are the news.
    let lossless = case.read.evidence.iter().all(|it| count(it, "dropped") == 0);
    case.read.evidence.iter().find(shaper).filter(|_| lossless).map(remark).into_iter().collect()
}

/// W442: tokens of HTB below zero: how deep in debt a class is.
///
/// Linux `sch_htb.c`: tokens are time at the rate in nanoseconds, shown in ticks of 64 ns (`PSCHED_SHIFT`), and a debt
/// is at most a minute. Tokens below 0: the class lives by borrowing. Ctokens below 0: it waits for its ceil.
fn debt(of: Counted<'_>) -> Option<Remark> {
    let it = &of.at.queue.classes[of.class?];
    let rate = it.settings.rate("rate")?;
    let ceil = it.settings.rate("ceil").unwrap_or(rate);
    let (key, least, span) = match (owed(of.counters, "ctokens"), owed(of.counters, "tokens")) {
        (Some(span), _) => ("ceil", ceil, span),
        (None, span) => ("rate", rate, span?),
    };
    let (bytes, name, at) = ((least * span).get(), &it.name.is, commands::rate(least));
    let so = match key {
        "ceil" => format!(": it sends nothing for {span}"),
        _ => format!(
            ", {span}: it has long lived by borrowing, and once others use their rates it gets nothing for that long"
        ),
    };
    let message = format!("class {name} owes {bytes} B at its {key} {at}{so}");
    let change = commands::change(of.at, of.class?, &[(key, "..".to_owned())]);
    Some(Remark { place: of.counters.place, message, instead: format!("{change} (more than {at})") })
}

fn owed(counters: &Counters, name: &str) -> Option<Span> {
    let ticks = counters.counts.get(name).filter(|ticks| **ticks < 0)?.unsigned_abs();
    Some(Span::from_ns(ticks.saturating_mul(TICK.ns()))).filter(|span| *span > DEEP)
}

/// W444: packets that went past HTB's classes.
///
/// Linux `sch_htb.c`: packets that no filter takes, without a default class that is a leaf, go to the direct queue:
/// unshaped, first.
fn past_all(it: &Counters) -> Option<Remark> {
    let (direct, sent) = direct(it)?;
    let of = sent.map(|sent| format!(" of {sent} ({})", percent(direct, sent))).unwrap_or_default();
    let message = format!(
        "{direct} packets{of} went past all classes of `{}`: no filter took them and there was no default class, so they were not shaped",
        it.of
    );
    let instead = "name a leaf as default (`htb default 30`), or give each packet a filter".to_owned();
    Some(Remark { place: it.place, message, instead })
}

/// How many, and of how many if that is known; `None`: none, or so few as pass while a script adds the classes.
pub(super) fn direct(counters: &Counters) -> Option<(u64, Option<u64>)> {
    let direct = counters.count("direct_packets_stat").filter(|direct| *direct > 0)?;
    let sent = counters.count("sent_packets").filter(|sent| *sent >= direct);
    let many = sent.map_or(direct >= MANY, |sent| direct as f64 >= FEW * sent as f64);
    many.then_some((direct, sent))
}

/// W445: a queue that stands now: how long its last packet waits.
///
/// Backlog in bytes / the class's rate, between its rate (all others busy) and its ceil (alone).
fn backlog(it: Counted<'_>) -> Option<Remark> {
    let backlog = Bytes::new(it.counters.count("backlog_bytes")?);
    let class = it.class.and_then(|i| it.at.queue.classes.get(i));
    let most = it.class.map_or(it.at.rate, |i| most(it.at.queue, i)).filter(|rate| rate.bit_s() > 0)?;
    let waits = |rate: BitRate| Span::from_ms((backlog / rate).ns() / 1_000_000);
    if waits(most) < LONG {
        return None;
    }
    let rate = class.and_then(|class| class.settings.rate("rate")).filter(|rate| *rate < most && rate.bit_s() > 0);
    let slower = rate.map(|rate| format!(", {} at its rate {rate}", waits(rate))).unwrap_or_default();
    let whose = if class.is_some() { "its ceil " } else { "" };
    let message = format!("{} B wait in {}: {} at {whose}{most}{slower}", backlog.get(), it.name(), waits(most));
    Some(Remark { place: it.counters.place, message, instead: shorter(it, class) })
}

fn shorter(it: Counted<'_>, class: Option<&Class>) -> String {
    let managed =
        |kind: Kind| matches!(kind, Kind::Aqm(_) | Kind::Scheduler("fq-codel" | "fq-pie" | "cake" | "dualpi2"));
    let queue = class.map_or(Some(it.at.queue), |class| class.queue.as_ref());
    if queue.and_then(|queue| queue.kind).is_some_and(managed) {
        return "its queue has an AQM: look for senders that do not slow down, or give it more rate".to_owned();
    }
    let parent = if class.is_some() { format!("parent {}", it.counters.of) } else { "..".to_owned() };
    format!("tc qdisc replace dev {} {parent} fq_codel", it.at.port.interface.is)
}

/// W453: packets that the host puts together: segmentation offload.
///
/// Linux `net/sched/sch_htb.c` up to 4.x: `giants` counts packets above the class's MTU;
/// `Documentation/networking/segmentation-offloads.rst`: such a packet has up to 64 kB and is one to a queueing
/// discipline.
fn put_together(it: &Counters) -> Option<Remark> {
    let evidence = giants(it).or_else(|| long_mean(it))?;
    let message = format!(
        "{evidence}: packets of {} {} are segments that the host put together, and count as one here: limits in packets hold \
         several times as much, and a bucket drops all of one at once",
        it.kind, it.of
    );
    let device = if it.interface.is_empty() { ".." } else { &it.interface };
    let instead = format!("ethtool -K {device} tso off gso off gro off, or `cake split-gso`");
    Some(Remark { place: it.place, message, instead })
}

fn giants(it: &Counters) -> Option<String> {
    it.count("giants").filter(|giants| *giants > 0).map(|giants| format!("giants {giants}"))
}

fn long_mean(it: &Counters) -> Option<String> {
    let (bytes, packets) = (it.count("sent_bytes")?, it.count("sent_packets")?);
    let mean = bytes.checked_div(packets).filter(|mean| *mean > JUMBO)?;
    Some(format!("{bytes} B in {packets} packets, {:.1} kB each", mean as f64 / 1e3))
}
