//! `netem`: what it does is that of a link.

use super::log::Log;
use super::options::{Classes, Discipline, Does, Opt, Options, Takes, row};
use super::units;
use super::words::Token;
use crate::model::ON_THEIR_WAY;
use crate::value::{Settings, Value, WithOrigin};
use perhop_core::units::{Packets, Span};

/// Delay, loss and rate.
pub const NETEM: Discipline = Discipline {
    rows: &[
        row("limit", Takes::SizeInPackets, Does::Makes("`limit` of the queue, with a `rate`")),
        row("delay", Takes::Several, Does::Makes("`delay` and `jitter` of the link")),
        row("latency", Takes::Several, Does::Makes("`delay` and `jitter` of the link")),
        row("distribution", Takes::Word, Does::Makes("`distribution` of the link")),
        row("loss", Takes::Several, Does::Makes("`loss` of the link")),
        row("drop", Takes::Several, Does::Makes("`loss` of the link")),
        row("corrupt", Takes::Several, Does::Makes("`loss` of the link: a receiver drops what is corrupt")),
        row("duplicate", Takes::Several, Does::Lost("perhop's links duplicate no packets")),
        row("reorder", Takes::Several, Does::Makes("`reorder` of the link")),
        row("gap", Takes::Count, Does::Makes("`reorder` of the link")),
        row("rate", Takes::Several, Does::Makes("`rate` of the link")),
        row("slot", Takes::Several, Does::Lost("perhop's links have no slots")),
        row("ecn", Takes::Nothing, Does::Makes("nothing without loss")),
        row("seed", Takes::Word, Does::Same("perhop has its own random numbers")),
    ],
    classes: Classes::One,
    ..Discipline::plain("netem")
};

/// What stays of what cannot be said as it is.
const NO_CORRELATION: &str = "each packet is drawn for by itself, without the correlation";
const MEAN: &str = "the same share of packets is lost, but not in such runs";

/// Where packets are put together.
const OFFLOAD: &str = "packets of the wire are lost here one by one; at a host that sends with segmentation offload Linux loses up to \
                       64 kB of a TCP at once, and tells its TCP";

/// The keys of the link.
pub(super) fn link(options: &Options<'_>, settings: &mut Settings, log: &mut Log) {
    for it in &options.list {
        match it.row.word {
            "delay" | "latency" => delay(it, settings, log),
            "distribution" => distribution(it, settings, log),
            "loss" | "drop" => loss(it, settings, log),
            "corrupt" => corrupt(it, settings, log),
            "reorder" => reorder(it, options, settings, log),
            "rate" => rate(it, settings, log),
            "ecn" if options.any(&["loss", "drop"]).is_some() => {
                log.lost(&[it.line], "`ecn`: perhop's links lose packets, and mark none");
            }
            _ => {}
        }
    }
    let lines: Vec<_> =
        options.list.iter().filter(|it| matches!(it.row.word, "delay" | "latency")).map(|it| it.line).collect();
    if let Some(most) = most_jitter(settings) {
        let source = "no packet arrives before it was sent";
        settings.set("jitter", WithOrigin::assumed(source, Value::Time(most)));
        log.nearly(&lines, &format!("jitter: {most}, so that {source}"));
    }
    if settings.get("jitter").is_some() && settings.get("rate").is_none() {
        log.nearly(&lines, "jitter: packets keep their order, which Linux's do only with a `rate`");
    }
}

/// The jitter that a delay has room for, if it is less than what is said; a normal one goes up to four standard deviations.
fn most_jitter(settings: &Settings) -> Option<Span> {
    let time = |key: &str| match settings.get(key).map(|it| &it.is) {
        Some(Value::Time(time)) => Some(*time),
        _ => None,
    };
    let normal = settings.get("distribution").is_some_and(|it| it.is == Value::Word("normal".into()));
    let most = Span::from_ns(time("delay")?.ns() / if normal { 4 } else { 1 });
    time("jitter").filter(|jitter| *jitter > most).map(|_| most)
}

fn word<'o, 'a>(it: &'o Opt<'a>, i: usize) -> Option<&'o Token<'a>> {
    it.words.get(i)
}

fn delay(it: &Opt<'_>, settings: &mut Settings, log: &mut Log) {
    for (i, key) in [(0, "delay"), (1, "jitter")] {
        let Some(time) = word(it, i) else { continue };
        match units::time(time) {
            Ok(Span::ZERO) if key == "jitter" => {}
            Ok(time) => settings.set(key, it.said(Value::Time(time))),
            Err(refusal) => log.lost(&[it.line], &refusal.message),
        }
    }
    if word(it, 2).is_some() {
        log.nearly(&[it.line], &format!("`{}`: {NO_CORRELATION}", it.row.word));
    }
}

fn distribution(it: &Opt<'_>, settings: &mut Settings, log: &mut Log) {
    let Some(name) = word(it, 0) else { return };
    if !matches!(&*name.text, "normal" | "uniform") {
        log.nearly(&[it.line], "`distribution`: normal, for perhop's links have no other than that and uniform");
    }
    let name = if name.text == "uniform" { "uniform" } else { "normal" };
    settings.set("distribution", it.said(Value::Word(name.into())));
}

/// Shares of a list, without the names that tc prints before them.
fn shares(it: &Opt<'_>, log: &mut Log) -> Vec<f64> {
    let names = ["random", "state", "gemodel", "p", "r", "1-h", "1-k", "p13", "p31", "p32", "p23", "p14"];
    let mut shares = Vec::new();
    for word in it.words.iter().filter(|word| !names.contains(&&*word.text)) {
        match units::percent(word) {
            Ok(share) => shares.push(share),
            Err(refusal) => log.lost(&[it.line], &refusal.message),
        }
    }
    shares
}

fn loss(it: &Opt<'_>, settings: &mut Settings, log: &mut Log) {
    let shares = shares(it, log);
    let share = match (it.words.first().map_or("", |word| &*word.text), &shares[..]) {
        ("gemodel", [p, rest @ ..]) => {
            log.nearly(&[it.line], &format!("`loss gemodel`: {MEAN}"));
            Some(gilbert_elliott(*p, rest))
        }
        ("state", [p13, rest @ ..]) => {
            log.nearly(&[it.line], &format!("`loss state`: {MEAN}"));
            Some(four_states(*p13, rest))
        }
        (_, [share, rest @ ..]) => {
            if !rest.is_empty() {
                log.nearly(&[it.line], &format!("`loss`: {NO_CORRELATION}"));
            }
            Some(*share)
        }
        _ => None,
    };
    if let Some(share) = share {
        log.nearly(&[it.line], &format!("`{}`: {OFFLOAD}", it.row.word));
        settings.set("loss", it.said(Value::Number(share)));
    }
}

/// The mean loss of tc-netem(8)'s Gilbert-Elliott model: p, r, 1-h, 1-k.
fn gilbert_elliott(p: f64, rest: &[f64]) -> f64 {
    let at = |i: usize, default: f64| rest.get(i).copied().unwrap_or(default);
    let (r, bad, good) = (at(0, 1.0 - p), at(1, 1.0), at(2, 0.0));
    let in_bad = if p + r > 0.0 { p / (p + r) } else { 0.0 };
    in_bad * bad + (1.0 - in_bad) * good
}

/// The mean loss of tc-netem(8)'s model of four states: p13, p31, p32, p23, p14. Packets are lost in state 3 and once in state 4.
fn four_states(p13: f64, rest: &[f64]) -> f64 {
    let at = |i: usize, default: f64| rest.get(i).copied().unwrap_or(default);
    let (p31, p32, p23, p14) = (at(0, 1.0 - p13), at(1, 0.0), at(2, 1.0), at(3, 0.0));
    if p31 == 0.0 {
        return if p13 > 0.0 { 1.0 } else { 0.0 };
    }
    // Of the stationary shares, with that of state 1 as the unit; state 2 is left for 3, and 3 for 1 or 2.
    let three = p13 / p31;
    let two = if p23 > 0.0 { three * p32 / p23 } else { 0.0 };
    let four = p14;
    (three + four) / (1.0 + two + three + four)
}

fn corrupt(it: &Opt<'_>, settings: &mut Settings, log: &mut Log) {
    let Some(share) = shares(it, log).first().copied() else { return };
    log.nearly(&[it.line], "`corrupt`: a corrupt packet counts as lost, for its receiver drops it");
    let before = match settings.get("loss").map(|it| &it.is) {
        Some(Value::Number(loss)) => *loss,
        _ => 0.0,
    };
    settings.set("loss", it.said(Value::Number(1.0 - (1.0 - before) * (1.0 - share))));
}

fn reorder(it: &Opt<'_>, options: &Options<'_>, settings: &mut Settings, log: &mut Log) {
    let shares = shares(it, log);
    let Some(share) = shares.first() else { return };
    if shares.len() > 1 {
        log.nearly(&[it.line], &format!("`reorder`: {NO_CORRELATION}"));
    }
    let gap = options.get("gap").and_then(Opt::count).filter(|gap| *gap > 1);
    if let Some(gap) = gap {
        log.nearly(&[it.line], "`gap`: any packet may overtake, as often on average");
        settings.set("reorder", it.said(Value::Number(share / gap as f64)));
        return;
    }
    settings.set("reorder", it.said(Value::Number(*share)));
}

/// The rate, and the bytes that it counts beyond the packet.
fn rate(it: &Opt<'_>, settings: &mut Settings, log: &mut Log) {
    let numbers: Vec<_> =
        it.words.iter().filter(|word| !word.text.ends_with("overhead") && word.text != "cellsize").collect();
    match numbers.first().map(|word| units::rate(word)) {
        Some(Ok(rate)) => settings.set("rate", it.said(Value::Rate(rate))),
        Some(Err(refusal)) => log.lost(&[it.line], &refusal.message),
        None => {}
    }
    let bytes = |i: usize| numbers.get(i).and_then(|word| word.text.parse::<i64>().ok()).unwrap_or_default();
    if bytes(1) != -14 || bytes(2) != 0 {
        log.nearly(&[it.line], "`rate`: the time on perhop's links counts the IP packet alone");
    }
}

/// The room of its queue, which is one of packets that wait for its rate.
pub(super) fn limit(options: &Options<'_>, link: &mut Settings, log: &mut Log) -> Option<WithOrigin<Value>> {
    let stated = options.get("limit");
    let assumed = || WithOrigin::assumed("tc-netem(8)", Value::Packets(Packets::new(1000)));
    let limit = stated.and_then(|it| Some(it.said(it.value.clone()?))).unwrap_or_else(assumed);
    if options.has("rate") {
        return Some(limit);
    }
    if let Some(it) = stated {
        log.nearly(&[it.line], "`limit`: no limit for packets that are on their way");
    }
    link.set(ON_THEIR_WAY, limit);
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// tc-netem(8): Bernoulli with p alone, Gilbert with p and r.
    #[test]
    fn models_of_loss_have_their_mean() {
        assert_eq!(gilbert_elliott(0.05, &[]), 0.05);
        assert!((gilbert_elliott(0.01, &[0.09]) - 0.1).abs() < 1e-12);
        assert!((gilbert_elliott(0.01, &[0.1, 0.7, 0.001]) - (0.7 / 11.0 + 0.001 * 10.0 / 11.0)).abs() < 1e-12);
        assert!((four_states(0.01, &[]) - 0.01 / 1.0).abs() < 1e-4);
    }
}
