//! Bands and classes without rates: `prio`, `pfifo_fast`, `ets`, `drr`.

use super::early::largest;
use super::kernel::Qdisc;
use super::limits::INTERFACE_QUEUE;
use super::options::{Assumed, Classes, Discipline, Does, Fixed, Options, Takes, assumed, row};
use super::words::{Refusal, Taken};
use crate::model::Kind;
use crate::value::{Settings, Value, WithOrigin};
use perhop_core::dscp::Dscp;
use perhop_core::units::Bytes;

/// Linux's priorities.
const PRIORITIES: usize = 16;
/// Most bands.
const MOST: u64 = 16;
/// The band of each priority where nothing is said.
const PRIOMAP: [u64; PRIORITIES] = [1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1];
/// The priority by the three lower bits of a code point: `ip_tos2prio` of net/ipv4/route.c, under the mask 0x1e of TOS.
const PRIORITY: [usize; 8] = [0, 0, 2, 2, 6, 6, 4, 4];

/// Strict priorities.
pub const PRIO: Discipline = Discipline {
    kind: Some(Kind::Scheduler("strict-priority")),
    rows: &[
        row("bands", Takes::Count, Does::Makes("the classes")),
        row("priomap", Takes::Numbers, Does::Makes("the code points of the classes")),
        row("multiqueue", Takes::Word, Does::Same("printed only")),
    ],
    class_rows: &[row("leaf", Takes::Word, Does::Same("the queue of the class"))],
    classes: Classes::Bands,
    check: checked,
    ..Discipline::plain("prio")
};

/// Three queues by priority.
pub const PFIFO_FAST: Discipline = Discipline {
    kind: Some(Kind::Scheduler("strict-priority")),
    rows: PRIO.rows,
    classes: Classes::FixedBands,
    fixed: true,
    ..Discipline::plain("pfifo_fast")
};

/// Strict bands, then bands that share.
pub const ETS: Discipline = Discipline {
    kind: Some(Kind::Scheduler("ets")),
    rows: &[
        row("bands", Takes::Count, Does::Makes("the classes")),
        row("strict", Takes::Count, Does::Makes("the classes without `quantum`")),
        row("quanta", Takes::Numbers, Does::Makes("`quantum` of the classes")),
        row("priomap", Takes::Numbers, Does::Makes("the code points of the classes")),
    ],
    class_rows: &[
        row("quantum", Takes::Bytes, Does::Sets("quantum")),
        row("leaf", Takes::Word, Does::Same("the queue of the class")),
    ],
    assumed: &[assumed("arithmetic", Fixed::Word("linux"), "sch_ets.c")],
    keeps: [false, true],
    classes: Classes::Bands,
    needs: &[&["bands", "quanta", "strict"]],
    check: checked,
    ..Discipline::plain("ets")
};

/// Deficit round robin.
pub const DRR: Discipline = Discipline {
    kind: Some(Kind::Scheduler("drr")),
    rows: &[],
    class_rows: &[
        row("quantum", Takes::Size, Does::Sets("quantum")),
        row("leaf", Takes::Word, Does::Same("the queue of the class")),
        row("deficit", Takes::Word, Does::Same("a counter")),
    ],
    assumed: &[assumed("arithmetic", Fixed::Word("linux"), "sch_drr.c")],
    keeps: [false, true],
    classes: Classes::Flat,
    fixed: true,
    ..Discipline::plain("drr")
};

fn list(options: &Options<'_>, word: &str) -> Vec<u64> {
    let count = |value: &Value| if let Value::Count(count) = value { Some(*count) } else { None };
    match options.get(word).and_then(|it| it.value.as_ref()) {
        Some(Value::List(items)) => items.iter().filter_map(count).collect(),
        _ => Vec::new(),
    }
}

fn count(options: &Options<'_>, word: &str) -> Option<u64> {
    options.get(word)?.count()
}

/// How many bands there are.
pub(super) fn many(it: &Qdisc<'_>) -> u32 {
    of_options(&it.name.text, &it.options)
}

fn of_options(name: &str, options: &Options<'_>) -> u32 {
    let stated = count(options, "bands");
    let of_ets = || count(options, "strict").unwrap_or_default() + list(options, "quanta").len() as u64;
    let bands = stated.unwrap_or_else(|| if name == "ets" { of_ets() } else { 3 });
    bands.clamp(1, MOST) as u32
}

/// The class of a number, or that of priority 0 if no band has it.
pub(super) fn of_number(it: &Qdisc<'_>, number: u32) -> u32 {
    let band = number & 0xffff;
    it.handle | if (1..=many(it)).contains(&band) { band } else { of_priority_0(it) }
}

/// What the kernel wants.
///
/// # Errors
/// It would refuse it.
fn checked(name: &str, options: &Options<'_>) -> Taken<()> {
    let bands = match name {
        "prio" => count(options, "bands").unwrap_or(3),
        "ets" => count(options, "bands").unwrap_or_else(|| of_options(name, options).into()),
        _ => return Ok(()),
    };
    let (map, strict) = (list(options, "priomap"), count(options, "strict").unwrap_or_default());
    let (quanta, least) = (list(options, "quanta"), if name == "prio" { 2 } else { 1 });
    let default = name == "prio" && PRIOMAP.iter().skip(map.len()).any(|band| *band >= bands);
    let wrong = if !(least..=MOST).contains(&bands) {
        format!("{bands} bands: there must be {least} to {MOST}")
    } else if map.len() > PRIORITIES {
        format!("a priomap of {} numbers: there are {PRIORITIES} priorities", map.len())
    } else if map.iter().any(|band| *band >= bands) || default {
        format!("the priomap names a band that is not among the {bands}")
    } else if strict + quanta.len() as u64 > bands {
        format!("{strict} strict bands and {} quanta are more than {bands} bands", quanta.len())
    } else if quanta.contains(&0) {
        "a quantum of 0".to_owned()
    } else {
        return Ok(());
    };
    Err(Refusal::of(wrong))
}

/// Whether a class takes these options.
///
/// # Errors
/// A strict band has no quantum.
pub(super) fn fits(it: &Qdisc<'_>, id: u32, options: &Options<'_>) -> Taken<()> {
    match options.get("quantum") {
        Some(_) if it.name.text == "ets" && is_strict(it, id) => Err(Refusal::of("a strict band has no quantum")),
        _ => Ok(()),
    }
}

/// Whether a class is a band that goes before those behind it.
pub(super) fn is_strict(it: &Qdisc<'_>, id: u32) -> bool {
    match &*it.name.text {
        "prio" => true,
        "ets" => u64::from(id & 0xffff) <= count(&it.options, "strict").unwrap_or_default(),
        _ => false,
    }
}

/// The band of each priority, from 0.
fn map(it: &Qdisc<'_>) -> Vec<usize> {
    let bands = many(it) as usize;
    let stated = list(&it.options, "priomap");
    let other = |i: usize| if it.name.text == "ets" { bands as u64 - 1 } else { PRIOMAP[i] };
    let band = |i: usize| stated.get(i).copied().unwrap_or_else(|| other(i)) as usize;
    (0..PRIORITIES).map(|i| band(i).min(bands - 1)).collect()
}

/// The number of the class for priority 0.
pub(super) fn of_priority_0(it: &Qdisc<'_>) -> u32 {
    map(it)[0] as u32 + 1
}

/// The code points of each band, by the priomap; where all are in one band, that one takes the rest, and the lists are empty.
pub(super) fn members(it: &Qdisc<'_>) -> (Vec<Vec<Dscp>>, Option<usize>) {
    let (bands, map) = (many(it) as usize, map(it));
    let band = |code: u8| map[PRIORITY[usize::from(code & 7)]];
    if (0..8).all(|code| band(code) == band(0)) {
        return (vec![Vec::new(); bands], Some(band(0)));
    }
    let of = |wanted: usize| (0..64).filter(|code| band(*code) == wanted).filter_map(Dscp::new).collect();
    ((0..bands).map(of).collect(), None)
}

/// The keys of band `i`, from 0.
pub(super) fn band(it: &Qdisc<'_>, i: usize, own: Option<&Options<'_>>) -> Settings {
    let mut settings = own.map(Options::settings).unwrap_or_default();
    if it.name.text != "ets" {
        return settings;
    }
    let strict = count(&it.options, "strict").unwrap_or_default() as usize;
    let Some(sharing) = i.checked_sub(strict) else {
        settings.remove("quantum");
        return settings;
    };
    let quanta = list(&it.options, "quanta");
    if let (Some(quantum), Some(option), None) =
        (quanta.get(sharing), it.options.get("quanta"), settings.get("quantum"))
    {
        settings.set("quantum", option.said(Value::Bytes(Bytes::new(*quantum))));
    }
    complete(&mut settings);
    settings
}

/// The keys of a class of `drr`.
pub(super) fn share(options: &Options<'_>) -> Settings {
    let mut settings = options.settings();
    if settings.bytes("quantum") == Some(Bytes::new(0)) {
        settings.remove("quantum");
    }
    complete(&mut settings);
    settings
}

fn complete(settings: &mut Settings) {
    Assumed::complete(&[largest("quantum")], settings);
}

/// The room of a band of `pfifo_fast`.
pub(super) fn of_interface() -> WithOrigin<Value> {
    WithOrigin::assumed("txqueuelen, by default 1000", Fixed::Packets(INTERFACE_QUEUE).value())
}
