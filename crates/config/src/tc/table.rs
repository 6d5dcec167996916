//! All queueing disciplines that perhop has.

use super::kernel::Qdisc;
use super::options::{Discipline, Does, Row, Takes, row};
use super::words::{Refusal, Taken};
use super::{bands, cake, early, fair, fifo, htb, netem, tbf};

/// Those that perhop has; all others are not modelled.
pub static DISCIPLINES: [&Discipline; 26] = [
    &cake::CAKE,
    &early::CHOKE,
    &early::CODEL,
    &bands::DRR,
    &early::DUALPI2,
    &bands::ETS,
    &fifo::BFIFO,
    &fifo::PFIFO,
    &fifo::HEAD_DROP,
    &bands::PFIFO_FAST,
    &fair::FQ,
    &fair::FQ_CODEL,
    &fair::FQ_PIE,
    &htb::HFSC,
    &htb::HTB,
    &fifo::INGRESS,
    &fifo::CLSACT,
    &fifo::MQ,
    &fifo::NOQUEUE,
    &fifo::NOOP,
    &netem::NETEM,
    &early::PIE,
    &bands::PRIO,
    &early::RED,
    &fair::SFQ,
    &tbf::TBF,
];

/// Words of a size table.
pub const STAB: &[Row] = &[
    row("overhead", Takes::Signed, Does::Makes("`accounting`, or `overhead` of the rates at this queueing discipline")),
    row("mpu", Takes::Size, Does::Makes("`mpu` of the rates at this queueing discipline")),
    row("linklayer", Takes::Word, Does::Makes("`link-layer` of the rates at this queueing discipline")),
    row("mtu", Takes::Size, Does::Same("the size of the table")),
    row("tsize", Takes::Count, Does::Same("the size of the table")),
];

/// The one of a name.
pub(super) fn discipline(name: &str) -> Option<&'static Discipline> {
    DISCIPLINES.iter().find(|it| it.name == name).copied()
}

/// The one whose name is written so but for case, `-` and `_`.
pub(super) fn near(name: &str) -> Option<&'static str> {
    let letters = |name: &str| name.replace(['-', '_'], "").to_ascii_lowercase();
    DISCIPLINES.iter().map(|it| it.name).find(|known| letters(known) == letters(name))
}

/// How many classes one has by itself; `None`: they are made by commands.
pub(super) fn own_classes(it: &Qdisc<'_>) -> Option<u32> {
    match it.name.text.as_ref() {
        "prio" | "pfifo_fast" => Some(bands::many(it)),
        "ets" => Some(bands::many(it)),
        "mq" => Some(0xffff),
        _ => own_classes_of(it.known?),
    }
}

/// Whether the kernel alters nothing of one that is there.
pub(super) fn is_fixed(name: &str) -> bool {
    matches!(name, "htb" | "drr" | "mq" | "pfifo_fast" | "noqueue" | "ingress" | "clsact")
}

/// Whether one has a single class, which any number of a class within it names.
pub(super) fn single_class(it: &Qdisc<'_>) -> bool {
    it.known.is_some_and(|known| own_classes_of(known) == Some(1))
}

/// How many classes all of a kind have by themselves; `None`: they are made by commands, or it depends.
pub(super) fn own_classes_of(it: &Discipline) -> Option<u32> {
    match it.name {
        "htb" | "hfsc" | "drr" | "prio" | "ets" => None,
        "tbf" | "red" | "netem" => Some(1),
        _ => Some(0),
    }
}

/// What tc and the kernel want of one that is made.
///
/// # Errors
/// They would refuse it.
pub(super) fn checked(it: &Qdisc<'_>) -> Taken<()> {
    let missing = |words: &[&str]| {
        let lacks = it.options.any(words).is_none();
        lacks.then(|| Refusal::of(format!("`{}` needs `{}`", it.name.text, words[0])))
    };
    if it.form == super::words::Form::Shown {
        return Ok(());
    }
    let needs: &[&[&str]] = match it.name.text.as_ref() {
        "tbf" => &[&["rate"], &["burst", "buffer", "maxburst"], &["latency", "lat", "limit"]],
        "red" => &[&["limit"], &["avpkt"]],
        "choke" => &[&["limit"], &["bandwidth"]],
        "ets" => &[&["bands", "quanta", "strict"]],
        _ => &[],
    };
    match needs.iter().find_map(|words| missing(words)) {
        Some(refusal) => Err(refusal),
        None => match &*it.name.text {
            "fq" => fair::checked(&it.options),
            "red" | "choke" => early::checked(it),
            "tbf" => tbf::checked(&it.options),
            _ => bands::checked(it),
        },
    }
}
