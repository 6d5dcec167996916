//! All queueing disciplines that perhop has.

use super::kernel::Qdisc;
use super::options::{Classes, Discipline, Does, Row, Takes, row};
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
    match it.classes() {
        Classes::Flat | Classes::Tree => None,
        Classes::Bands | Classes::FixedBands => Some(bands::many(it)),
        Classes::Hardware => Some(0xffff),
        Classes::One => Some(1),
        Classes::None => it.known.map(|_| 0),
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
    let Some(known) = it.known else { return Ok(()) };
    known.needs.iter().find_map(|words| missing(words)).map_or_else(|| (known.check)(known.name, &it.options), Err)
}
