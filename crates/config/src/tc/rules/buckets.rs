//! Buckets of tc that are too small for a packet or for a timer, or far too large.

use super::commands::{change, rate, size};
use super::numbers::unit;
use crate::model::{Conditioner, FRAME, Port, Way};
use crate::rules::case::{At, Case, drops, key_place, place, some_of, words};
use crate::rules::policers::{enough, takes_tcp};
use crate::rules::{Remark, Rule};
use perhop_core::colour::Colour;
use perhop_core::units::{BitRate, Bytes, Span};

/// Of shapers and of policers.
pub(super) const RULES: &[Rule] = &[
    Rule::new("W435", &["W326"], |case| {
        case.trees().filter_map(short_class).chain(case.queues().into_iter().filter_map(short_shaper)).collect()
    }),
    Rule::new("W438", &["W301"], |case| case.conditioners().filter_map(|(port, it)| merged(port, it)).collect()),
    Rule::new("W439", &["E212", "E217", "W326", "W435"], |case| {
        case.queues().into_iter().filter_map(holds_no_packet).collect()
    }),
    Rule::new("W452", &[], |case| case.conditioners().filter_map(|(_, it)| long(case, it)).collect()),
];

/// Timers are later than this often enough to be seen in the rate. 44 us at 900 Mbit/s are known to cost a third of it.
const LATE: Span = Span::from_us(50);
const GOOD: Span = Span::from_ms(1);
/// The largest packet that GRO makes.
const MERGED: Bytes = Bytes::new(65_536);
/// A bucket that lasts longer is no bucket for bursts.
const LONG: Span = Span::from_ms(500);
/// A bucket in megabytes that lasts longer may have been meant in milliseconds.
const MEGABYTES: Span = Span::from_ms(50);

/// W435: a bucket that is full before a late timer looks at it again.
///
/// Linux `sch_htb.c` and `sch_tbf.c`: tokens above the bucket are lost; tc-tbf(8): "if your buffer is too small,
/// packets may be dropped because more tokens arrive per timer tick than fit in your bucket". Kernels with
/// high-resolution timers wake at the microsecond, plus what interrupts and the scheduler add, tens of microseconds on
/// a busy machine. sqm-scripts sets bursts of 1 ms.
fn short_class(at: At<'_>) -> Option<Remark> {
    let classes = at.queue.classes.iter().enumerate();
    let short =
        classes.filter_map(|(i, it)| Some((i, it, Short::of(it.settings.rate("rate")?, it.settings.bytes("burst")?)?)));
    let short: Vec<_> = short.collect();
    let (class, it, shortest) = short.iter().min_by_key(|(.., short)| short.span)?;
    let names: Vec<&str> = short.iter().map(|(_, it, _)| it.name.is.as_str()).collect();
    let ceil = it.settings.rate("ceil").unwrap_or(shortest.rate).max(shortest.rate);
    let keys = [("burst", size(shortest.rate * GOOD)), ("cburst", size(ceil * GOOD))];
    let message = shortest.message(&some_of(&names));
    Some(Remark { place: key_place(it, "burst"), message, instead: change(at, *class, &keys) })
}

fn short_shaper(at: At<'_>) -> Option<Remark> {
    let shape = &at.queue.shape;
    let short = Short::of(shape.rate("rate")?, shape.bytes("burst")?)?;
    let instead = format!(
        "tc qdisc replace dev {} .. tbf rate {} burst {} ..",
        at.port.interface.is,
        rate(short.rate),
        size(short.rate * GOOD)
    );
    Some(Remark { place: place(shape.get("burst")?), message: short.message(&at.queue.name.is), instead })
}

/// A bucket that lasts less than a timer may be late.
struct Short {
    rate: BitRate,
    burst: Bytes,
    span: Span,
}

impl Short {
    fn of(rate: BitRate, burst: Bytes) -> Option<Self> {
        let span = (rate.bit_s() > 0).then(|| burst / rate).filter(|span| *span < LATE)?;
        Some(Self { rate, burst, span })
    }

    fn message(&self, whose: &str) -> String {
        let Self { rate, burst, span } = self;
        format!(
            "`burst` of {whose} is short: {} B are {} us at {rate}; tokens that come after that, while a timer is late, are lost",
            burst.get(),
            span.ns() / 1000
        )
    }
}

/// W438: a policer at the input whose bucket holds no packet as the kernel merges them.
///
/// Linux `act_police.c`: a packet larger than the bucket never conforms, and a merged packet is judged as one. GRO is
/// on by default and merges segments of TCP to packets of up to 65536 B (`GRO_LEGACY_MAX_SIZE`) before filters at the
/// input see them.
fn merged(port: &Port, it: &Conditioner) -> Option<Remark> {
    let (said, burst) = (it.settings.said("cbs")?, it.settings.bytes("cbs")?);
    let tcp = it.takes.is_empty() || it.takes.iter().any(takes_tcp);
    if port.way == Way::Output || burst >= MERGED || !drops(it, Colour::Red) || !tcp {
        return None;
    }
    let message = format!(
        "`burst` is {} B: no larger packet conforms, and GRO merges TCP to packets of up to {} B before this policer sees them",
        burst.get(),
        MERGED.get()
    );
    let need = it.settings.rate("cir").and_then(enough).map_or(MERGED, |need| need.max(MERGED));
    let instead = format!("burst {}, or ethtool -K {} gro off", size(need), port.interface.is);
    Some(Remark { place: said.origin.place()?, message, instead })
}

/// W439: a shaper whose bucket holds no full-sized packet.
///
/// Linux `sch_tbf.c`: a packet larger than the bucket at the rate, or than the bucket at the peak rate, is dropped
/// (`max_size`), with "burst is lower than device mtu" in the kernel's log.
fn holds_no_packet(at: At<'_>) -> Option<Remark> {
    let shape = &at.queue.shape;
    let small = |key: &'static str| shape.bytes(key).filter(|bytes| *bytes < FRAME).map(|bytes| (key, bytes));
    let (key, bytes) = small("burst").or_else(|| small("peak-burst"))?;
    let place = shape.said(key)?.origin.place()?;
    let enough = (shape.rate("rate")? * GOOD).max(FRAME);
    let (word, need) = if key == "burst" { ("burst", enough) } else { ("mtu", FRAME) };
    let message = format!(
        "`{word}` is {} B: a packet that is larger is dropped, and one of 1500 B counts {} B",
        bytes.get(),
        FRAME.get()
    );
    Some(Remark { place, message, instead: format!("{word} {}", size(need)) })
}

/// W452: a policer whose bucket passes far more at once than its rate would suggest.
///
/// tc(8), PARAMETERS: a size is in bytes, "m" and "mb" are megabytes of 1024 * 1024.
fn long(case: &Case<'_>, it: &Conditioner) -> Option<Remark> {
    let (rate, burst) = (it.settings.rate("cir").filter(|rate| rate.bit_s() > 0)?, it.settings.bytes("cbs")?);
    let said = it.settings.said("cbs")?;
    let lasts = burst / rate;
    let number = words(case, said).map_or("", |(_, number)| number);
    let in_megabytes = unit(number) == "m";
    if lasts <= if in_megabytes { MEGABYTES } else { LONG } {
        return None;
    }
    let unit = if in_megabytes { format!("`{number}` is in megabytes: ") } else { String::new() };
    let message = format!(
        "{unit}the bucket holds {} B, {:.0} ms at {rate}: after a pause so much passes at any rate",
        burst.get(),
        lasts.seconds() * 1e3
    );
    Some(Remark { place: said.origin.place()?, message, instead: format!("burst {}", size(enough(rate)?)) })
}
