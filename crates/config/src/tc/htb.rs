//! Trees of classes: `htb`, `hfsc`.

use super::kernel::{Class, Qdisc};
use super::limits::INTERFACE_QUEUE;
use super::log::Log;
use super::options::{Assumed, Classes, Discipline, Does, Fixed, Opt, Options, Takes, assumed, row};
use super::words::{Form, Refusal, Taken};
use crate::model::Kind;
use crate::value::{Settings, Value, WithOrigin};
use perhop_core::arithmetic::tc_time;
use perhop_core::params::Place;
use perhop_core::units::{BitRate, Bytes, Packets};

const HTB_C: &str = "sch_htb.c";
const HFSC_C: &str = "sch_hfsc.c";
const TC_HTB: &str = "tc-htb(8): 1600 bytes and what the rate sends in a tick";
const PRINTED: &str = "a counter, or a version";

/// Hierarchical token bucket.
pub const HTB: Discipline = Discipline {
    kind: Some(Kind::Scheduler("htb")),
    rows: &[
        row(
            "default",
            Takes::Word,
            Does::Makes("the class that takes what no filter names; without it `unclassified = \"direct\"`"),
        ),
        row("r2q", Takes::Count, Does::Sets("r2q")),
        row("direct_qlen", Takes::Count, Does::Makes("1000, as perhop has it")),
        row("offload", Takes::Nothing, Does::Lost("perhop has no hardware that shapes")),
        row("debug", Takes::Word, Does::Same(PRINTED)),
        row("direct_packets_stat", Takes::Count, Does::Same(PRINTED)),
        row("ver", Takes::Word, Does::Same(PRINTED)),
    ],
    class_rows: &[
        row("rate", Takes::Rate, Does::Sets("rate")),
        row("ceil", Takes::Rate, Does::Sets("ceil")),
        row("burst", Takes::Burst, Does::Sets("burst")),
        row("buffer", Takes::Burst, Does::Sets("burst")),
        row("maxburst", Takes::Burst, Does::Sets("burst")),
        row("cburst", Takes::Burst, Does::Sets("cburst")),
        row("cbuffer", Takes::Burst, Does::Sets("cburst")),
        row("cmaxburst", Takes::Burst, Does::Sets("cburst")),
        row("prio", Takes::Count, Does::Sets("prio")),
        row("quantum", Takes::Size, Does::Sets("quantum")),
        row("overhead", Takes::Signed, Does::Makes("`overhead` of the whole `htb`")),
        row("mpu", Takes::Size, Does::Makes("`mpu` of the whole `htb`")),
        row("linklayer", Takes::Word, Does::Makes("`link-layer` of the whole `htb`")),
        row("mtu", Takes::Size, Does::Same("the size of a table that the kernel ignores")),
        row("slot", Takes::Count, Does::Same("tc reads it and passes it over")),
        row("pslot", Takes::Count, Does::Same("tc reads it and passes it over")),
        row("leaf", Takes::Word, Does::Same("the queue of the class")),
        row("level", Takes::Count, Does::Same(PRINTED)),
    ],
    assumed: &[assumed("r2q", Fixed::Count(10), HTB_C), assumed("arithmetic", Fixed::Word("linux"), HTB_C)],
    keeps: [true, false],
    classes: Classes::Tree,
    fixed: true,
    ..Discipline::plain("htb")
};

/// Hierarchical fair service curves.
pub const HFSC: Discipline = Discipline {
    kind: Some(Kind::Scheduler("hfsc")),
    rows: &[row(
        "default",
        Takes::Word,
        Does::Makes("the class that takes what no filter names; without it `unclassified = \"drop\"`"),
    )],
    class_rows: &[
        row("rt", Takes::Nothing, Does::Makes("`rt`")),
        row("ls", Takes::Nothing, Does::Makes("`ls`")),
        row("sc", Takes::Nothing, Does::Makes("`rt` and `ls` of the same curve")),
        row("ul", Takes::Nothing, Does::Makes("`ul`")),
        row("m1", Takes::Rate, Does::Makes("`m1` of the curve before it")),
        row("d", Takes::Time, Does::Makes("`d` of the curve before it")),
        row("m2", Takes::Rate, Does::Makes("`m2` of the curve before it")),
        row("umax", Takes::Size, Does::Makes("`umax` of the curve before it")),
        row("dmax", Takes::Time, Does::Makes("`dmax` of the curve before it")),
        row("rate", Takes::Rate, Does::Makes("`rate` of the curve before it")),
        row("leaf", Takes::Word, Does::Same("the queue of the class")),
        row("period", Takes::Count, Does::Same(PRINTED)),
        row("level", Takes::Count, Does::Same(PRINTED)),
    ],
    assumed: &[assumed("arithmetic", Fixed::Word("linux"), HFSC_C)],
    keeps: [true, true],
    classes: Classes::Tree,
    ..Discipline::plain("hfsc")
};

/// Whether a class takes these options.
///
/// # Errors
/// tc would refuse it.
pub(super) fn fits(name: &str, options: &Options<'_>) -> Taken<()> {
    let has = |words: &[&str]| options.any(words).is_some();
    match name {
        "htb" if !has(&["rate"]) => Err(Refusal::of("a class of `htb` needs `rate`")),
        "hfsc" if !has(&["rt", "ls", "sc", "ul"]) => Err(Refusal::of("a class of `hfsc` needs `rt`, `ls` or `sc`")),
        "hfsc" if !has(&["rt", "ls", "sc"]) || (has(&["ul"]) && !has(&["ls", "sc"])) => {
            Err(Refusal::of("`ul` needs `ls` or `sc`"))
        }
        _ => Ok(()),
    }
}

/// The number of the class that takes what no filter names.
pub(super) fn default_class(it: &Qdisc<'_>) -> Option<(u32, Place, usize)> {
    let option = it.options.get("default")?;
    let minor = u32::from_str_radix(option.words.first()?.text.trim_start_matches("0x"), 16).ok()?;
    (minor > 0).then_some((it.handle | minor, option.place, option.line))
}

/// What several words of an `htb` say, and those of all its classes.
pub(super) fn keys(it: &Qdisc<'_>, classes: &[(u32, &Class<'_>)], settings: &mut Settings, log: &mut Log) {
    let other = |option: &&Opt<'_>| option.count() != Some(INTERFACE_QUEUE.into());
    if let Some(option) = it.options.get("direct_qlen").filter(other).filter(|_| !classes.is_empty()) {
        log.nearly(&[option.line], "`direct_qlen`: 1000 packets may pass unshaped");
    }
    for (word, key) in [("overhead", "overhead"), ("mpu", "mpu"), ("linklayer", "link-layer")] {
        framing(word, key, classes, settings, log);
    }
    settings.remove("schedule");
}

/// What it lets wait of packets that pass all classes.
pub(super) fn direct(it: &Qdisc<'_>) -> WithOrigin<Value> {
    let limit = |count: u64| Value::Packets(Packets::new(u32::try_from(count).unwrap_or(u32::MAX)));
    match it.options.get("direct_qlen").and_then(|option| Some((option.count()?, option))) {
        Some((count, option)) => option.said(limit(count)),
        None => WithOrigin::assumed("sch_htb.c: txqueuelen, by default 1000", limit(INTERFACE_QUEUE.into())),
    }
}

/// perhop has one framing for all classes of an `htb`: that of the first which has one.
fn framing(word: &str, key: &'static str, classes: &[(u32, &Class<'_>)], settings: &mut Settings, log: &mut Log) {
    let options: Vec<_> = classes.iter().map(|it| it.1.options.get(word).filter(|option| says(option))).collect();
    let Some(first) = options.iter().flatten().next() else { return };
    let Some(value) = framed(first) else { return };
    settings.set(key, first.said(value.clone()));
    if options.iter().any(|it| it.is_none_or(|it| framed(it).as_ref() != Some(&value))) {
        let lines: Vec<_> = options.iter().flatten().map(|it| it.line).collect();
        log.nearly(&lines, &format!("`{word}`: here it holds for all classes of the `htb`"));
    }
}

/// Whether it alters anything.
pub(super) fn says(option: &Opt<'_>) -> bool {
    match &option.value {
        Some(Value::Signed(bytes)) => bytes.get() != 0,
        Some(Value::Bytes(bytes)) => bytes.get() != 0,
        Some(Value::Word(word)) => word != "ethernet",
        _ => false,
    }
}

/// As the model has it.
pub(super) fn framed(option: &Opt<'_>) -> Option<Value> {
    match &option.value {
        Some(Value::Word(word)) if matches!(word.as_str(), "atm" | "adsl") => Some(Value::Word("atm".into())),
        Some(Value::Word(_)) => None,
        value => value.clone(),
    }
}

/// What the kernel makes of a `prio` beyond it.
const LAST_PRIO: u64 = 7;

/// The keys of a class. A real-time curve is of leaves: the kernel makes one of a class above them a share, if it has none.
pub(super) fn class(of: &Qdisc<'_>, class: &Class<'_>, leaf: bool, log: &mut Log) -> Settings {
    log.options(&class.options);
    if of.name.text == "hfsc" {
        let mut settings = curves(&class.options);
        if let Some(curve) = settings.get("rt").cloned().filter(|_| !leaf) {
            let shared = settings.get("ls").cloned();
            settings.remove("rt");
            settings.set("ls", shared.unwrap_or(curve));
        }
        return settings;
    }
    let (mut settings, shown) = (class.options.settings(), of.form == Form::Shown);
    let rate = settings.get("rate").cloned();
    if let Some(rate) = rate {
        settings.assume("ceil", "tc-htb(8): the rate", rate.is);
    }
    for (key, of) in [("burst", "rate"), ("cburst", "ceil")] {
        let own = settings.rate(of).map(|rate| (rate, burst(rate, TICKS[0])));
        // tc takes 0 for none, and prints it at rates beyond its table of ticks. Of its own burst it prints what is left in ticks.
        let as_own = own.and_then(|(rate, own)| printed(own, rate)).filter(|_| shown);
        if settings.bytes(key).is_some_and(|burst| burst.get() == 0 || Some(burst) == as_own) {
            settings.remove(key);
        }
        if let Some((_, own)) = own {
            settings.assume(key, TC_HTB, Value::Bytes(own));
        }
    }
    if leaf {
        Assumed::complete(&[assumed("prio", Fixed::Count(0), "tc-htb(8)")], &mut settings);
        if class.options.has("quantum") && settings.bytes("quantum") == Some(Bytes::new(0)) {
            settings.remove("quantum");
        }
        if let Some(prio) = class.options.get("prio").filter(|it| it.count().is_some_and(|it| it > LAST_PRIO)) {
            settings.set("prio", prio.said(Value::Count(LAST_PRIO)));
        }
    } else {
        ["prio", "quantum"].into_iter().for_each(|key| _ = settings.remove(key));
    }
    settings
}

/// What tc sets on a kernel with timers of so many ticks a second: it computes with whole bytes/s, and cuts off. Source: `mtu` and
/// `buffer` of tc/q_htb.c.
const fn burst(rate: BitRate, ticks: u64) -> Bytes {
    Bytes::new(1600 + rate.bit_s() / 8 / ticks)
}

/// What tc prints of a burst: the bytes of the whole microseconds of its time in ticks.
fn printed(burst: Bytes, rate: BitRate) -> Option<Bytes> {
    let us = tc_time(rate, burst.get())? / 1000;
    Some(Bytes::new(us * (rate.bit_s() / 8) / 1_000_000))
}

/// Ticks a second of kernels' timers: of 1 ns, or of those without such.
const TICKS: [u64; 5] = [1_000_000_000, 1000, 300, 250, 100];
/// How far tc's print of a size may be from it.
const PRINTED_WITHIN: u64 = 16;

/// Whether a burst is one that tc sets itself, on any kernel.
pub(super) fn is_own_burst(burst: Bytes, rate: BitRate) -> bool {
    TICKS.iter().any(|ticks| self::burst(rate, *ticks).get().abs_diff(burst.get()) <= PRINTED_WITHIN)
}

/// `rt m1 2mbit d 10ms m2 1mbit ls rate 1mbit`
fn curves(options: &Options<'_>) -> Settings {
    let mut settings = Settings::default();
    let starts = |it: &Opt<'_>| matches!(it.row.word, "rt" | "ls" | "sc" | "ul");
    let mut rest = &options.list[..];
    while let Some((first, behind)) = rest.split_first() {
        let many = behind.iter().take_while(|it| !starts(it)).count();
        rest = &behind[many..];
        let keys: &[&'static str] = match first.row.word {
            "rt" => &["rt"],
            "ls" => &["ls"],
            "ul" => &["ul"],
            "sc" => &["rt", "ls"],
            _ => continue,
        };
        let end = behind[..many].iter().map(|it| it.place.end).max().unwrap_or(first.place.end);
        let place = Place { start: first.place.start, end };
        if let Some(curve) = curve(&behind[..many]) {
            keys.iter().for_each(|key| settings.set(key, WithOrigin::at(place, curve.clone())));
        }
    }
    settings
}

/// A rate, or the pieces of a curve.
fn curve(options: &[Opt<'_>]) -> Option<Value> {
    let mut pieces = Settings::default();
    for it in options.iter().filter(|it| !matches!(it.row.word, "leaf" | "period" | "level")) {
        if let Some(value) = &it.value {
            pieces.set(it.row.word, it.said(value.clone()));
        }
    }
    let has = |key| pieces.get(key).is_some();
    let zero = |key| {
        matches!(pieces.get(key).map(|it| &it.is), None | Some(Value::Time(_))) && {
            matches!(pieces.get(key).map(|it| &it.is), Some(Value::Time(time)) if time.ns() == 0) || !has(key)
        }
    };
    let one = match (has("umax") || has("dmax"), has("m1") && !zero("d")) {
        (false, false) => pieces.get("rate").or_else(|| pieces.get("m2")).map(|it| it.is.clone()),
        _ => None,
    };
    one.or_else(|| (!pieces.is_empty()).then_some(Value::Table(pieces)))
}
