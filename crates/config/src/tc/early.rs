//! Queues that drop or mark early: `red`, `choke`, `codel`, `pie`, `dualpi2`.

use super::limits::OF_PIE;
use super::log::Log;
use super::options::{Assumed, Classes, Discipline, Does, Fixed, Opt, Options, Takes, assumed, row};
use super::words::{Refusal, Taken};
use crate::model::{FRAME, Kind};
use crate::value::{Settings, Value, WithOrigin};
use perhop_core::math::pow;
use perhop_core::units::{Bytes, Packets, Span};

/// A key that is the largest packet of the interface where nothing is said.
pub(super) const fn largest(key: &'static str) -> Assumed {
    assumed(key, Fixed::Bytes(FRAME.get()), "the interface's MTU, by default 1500, and its header of 14")
}

/// How tc counts the weights of PIE.
pub(super) const SIXTEENTHS: &str = "the same key, in sixteenths";
/// Where the average of RED falls.
const BANDWIDTH: &str = "the rate at which an empty queue's average falls";
const WEIGHT: &str = "`weight`, by the formula of tc-red(8)";
const CODEL_C: &str = "sch_codel.c";
const PIE_C: &str = "sch_pie.c";
const TC_RED: &str = "tc-red(8)";
const TC_CHOKE: &str = "tc-choke(8)";
const TC_DUALPI2: &str = "tc-dualpi2(8)";

/// Random early detection, in bytes.
pub const RED: Discipline = Discipline {
    kind: Some(Kind::Aqm("red")),
    rows: &[
        row("limit", Takes::Size, Does::Sets("limit")),
        row("min", Takes::Size, Does::Sets("min")),
        row("max", Takes::Size, Does::Sets("max")),
        row("avpkt", Takes::Size, Does::Sets("mean-packet")),
        row("burst", Takes::Count, Does::Makes(WEIGHT)),
        row("probability", Takes::Real, Does::Sets("max-p")),
        row("bandwidth", Takes::Rate, Does::Makes(BANDWIDTH)),
        row("ecn", Takes::Nothing, Does::Says("ecn", Fixed::Flag(true))),
        row("adaptive", Takes::Nothing, Does::Says("adaptive", Fixed::Flag(true))),
        row("adaptative", Takes::Nothing, Does::Says("adaptive", Fixed::Flag(true))),
        row(
            "harddrop",
            Takes::Nothing,
            Does::Nearly("beyond `max` ECN-capable packets are marked, as in Linux without this word"),
        ),
        row("nodrop", Takes::Nothing, Does::Lost("perhop drops packets that are not ECN-capable")),
        row("qevent", Takes::Words(4), Does::Lost("perhop has no actions on early drops")),
        row("ewma", Takes::Count, Does::Sets("weight")),
        row("Scell_log", Takes::Count, Does::Same("the table by which the average falls")),
    ],
    typed: "limit min max avpkt burst probability bandwidth ecn adaptive",
    assumed: &[
        assumed("max-p", Fixed::Number(0.02), TC_RED),
        assumed("ecn", Fixed::Flag(false), TC_RED),
        assumed("adaptive", Fixed::Flag(false), TC_RED),
        assumed("arithmetic", Fixed::Word("linux"), "sch_red.c"),
    ],
    classes: Classes::One,
    needs: &[&["limit"], &["avpkt"]],
    check: checked,
    ..Discipline::plain("red")
};

/// CHOKe, in packets.
pub const CHOKE: Discipline = Discipline {
    kind: Some(Kind::Aqm("choke")),
    rows: &[
        row("limit", Takes::Packets, Does::Sets("limit")),
        row("min", Takes::Packets, Does::Sets("min")),
        row("max", Takes::Packets, Does::Sets("max")),
        row("avpkt", Takes::Size, Does::Sets("mean-packet")),
        row("burst", Takes::Count, Does::Makes(WEIGHT)),
        row("probability", Takes::Real, Does::Sets("max-p")),
        row("bandwidth", Takes::Rate, Does::Makes(BANDWIDTH)),
        row("ecn", Takes::Nothing, Does::Says("ecn", Fixed::Flag(true))),
        row("ewma", Takes::Count, Does::Sets("weight")),
        row("Scell_log", Takes::Count, Does::Same("the table by which the average falls")),
    ],
    typed: "limit min max avpkt burst probability bandwidth ecn",
    assumed: &[
        assumed("mean-packet", Fixed::Bytes(1000), TC_CHOKE),
        assumed("max-p", Fixed::Number(0.02), TC_CHOKE),
        assumed("ecn", Fixed::Flag(false), TC_CHOKE),
        assumed("arithmetic", Fixed::Word("linux"), "sch_choke.c"),
    ],
    needs: &[&["limit"], &["bandwidth"]],
    check: checked,
    ..Discipline::plain("choke")
};

/// Controlled delay.
pub const CODEL: Discipline = Discipline {
    kind: Some(Kind::Aqm("codel")),
    rows: &[
        row("limit", Takes::Packets, Does::Sets("limit")),
        row("target", Takes::Time, Does::Sets("target")),
        row("interval", Takes::Time, Does::Sets("interval")),
        row("ecn", Takes::Nothing, Does::Says("ecn", Fixed::Flag(true))),
        row("noecn", Takes::Nothing, Does::Says("ecn", Fixed::Flag(false))),
        row("ce_threshold", Takes::Time, Does::Sets("ce-threshold")),
    ],
    typed: "limit target interval ecn noecn ce_threshold",
    assumed: &[
        assumed("limit", Fixed::Packets(1000), CODEL_C),
        assumed("target", Fixed::Us(5_000), CODEL_C),
        assumed("interval", Fixed::Us(100_000), CODEL_C),
        assumed("ecn", Fixed::Flag(false), CODEL_C),
        largest("mtu"),
        assumed("arithmetic", Fixed::Word("linux"), CODEL_C),
    ],
    keeps: [true, false],
    ..Discipline::plain("codel")
};

/// Proportional integral controller, enhanced.
pub const PIE: Discipline = Discipline {
    kind: Some(Kind::Aqm("pie")),
    rows: &[
        row("limit", Takes::Packets, Does::Sets("limit")),
        row("target", Takes::Time, Does::Sets("target")),
        row("tupdate", Takes::Time, Does::Sets("interval")),
        row("alpha", Takes::Count, Does::Parts("alpha", OF_PIE, SIXTEENTHS)),
        row("beta", Takes::Count, Does::Parts("beta", OF_PIE, SIXTEENTHS)),
        row("ecn", Takes::Nothing, Does::Says("ecn", Fixed::Flag(true))),
        row("noecn", Takes::Nothing, Does::Says("ecn", Fixed::Flag(false))),
        row("bytemode", Takes::Nothing, Does::Says("byte-mode", Fixed::Flag(true))),
        row("nobytemode", Takes::Nothing, Does::Says("byte-mode", Fixed::Flag(false))),
        row("dq_rate_estimator", Takes::Nothing, Does::Says("delay", Fixed::Word("rate"))),
        row("no_dq_rate_estimator", Takes::Nothing, Does::Says("delay", Fixed::Word("timestamps"))),
    ],
    typed: "limit target tupdate alpha beta ecn noecn bytemode dq_rate_estimator",
    assumed: &[
        assumed("limit", Fixed::Packets(1000), PIE_C),
        assumed("target", Fixed::Us(15_000), PIE_C),
        assumed("interval", Fixed::Us(15_000), PIE_C),
        assumed("alpha", Fixed::Number(0.125), PIE_C),
        assumed("beta", Fixed::Number(1.25), PIE_C),
        assumed("ecn", Fixed::Flag(false), PIE_C),
        assumed("byte-mode", Fixed::Flag(false), PIE_C),
        assumed("delay", Fixed::Word("timestamps"), PIE_C),
        largest("mtu"),
        assumed("arithmetic", Fixed::Word("linux"), PIE_C),
    ],
    keeps: [true, false],
    ..Discipline::plain("pie")
};

/// Two queues, of L4S and of classic traffic.
pub const DUALPI2: Discipline = Discipline {
    kind: Some(Kind::Scheduler("dualpi2")),
    rows: &[
        row("limit", Takes::Packets, Does::Sets("limit")),
        row("target", Takes::Time, Does::Sets("target")),
        row("tupdate", Takes::Time, Does::Sets("update")),
        row("alpha", Takes::Real, Does::Sets("alpha")),
        row("beta", Takes::Real, Does::Sets("beta")),
        row("coupling_factor", Takes::Real, Does::Sets("coupling")),
        row("step_thresh", Takes::Time, Does::Makes("`l4s-min` and `l4s-max`")),
        row("min_qlen_step", Takes::Packets, Does::Sets("l4s-length")),
        row("classic_protection", Takes::Percent, Does::Sets("c-share")),
        row("memlimit", Takes::Size, Does::Nearly("perhop counts packets, in `limit`")),
        row("drop_on_overload", Takes::Nothing, Does::Same("so does perhop's")),
        row("overflow", Takes::Nothing, Does::Lost("perhop's drops L4S packets in overload")),
        row("drop_enqueue", Takes::Nothing, Does::Nearly("perhop drops packets as they leave")),
        row("drop_dequeue", Takes::Nothing, Does::Same("so does perhop's")),
        row("split_gso", Takes::Nothing, Does::Same("perhop's packets are single")),
        row("no_split_gso", Takes::Nothing, Does::Nearly("perhop's packets are single")),
        row("max_rtt", Takes::Time, Does::Makes("`update`, `alpha` and `beta`")),
        row("typical_rtt", Takes::Time, Does::Makes("`update`, `alpha` and `beta`")),
    ],
    assumed: &[
        assumed("limit", Fixed::Packets(10_000), TC_DUALPI2),
        assumed("target", Fixed::Us(15_000), TC_DUALPI2),
        assumed("update", Fixed::Us(16_000), TC_DUALPI2),
        assumed("alpha", Fixed::Number(0.16), TC_DUALPI2),
        assumed("beta", Fixed::Number(3.2), TC_DUALPI2),
        assumed("coupling", Fixed::Number(2.0), TC_DUALPI2),
        assumed("l4s-min", Fixed::Us(1_000), TC_DUALPI2),
        assumed("l4s-max", Fixed::Us(1_000), TC_DUALPI2),
        assumed("l4s-length", Fixed::Packets(0), TC_DUALPI2),
        assumed("c-share", Fixed::Number(0.1), TC_DUALPI2),
    ],
    keeps: [true, false],
    ..Discipline::plain("dualpi2")
};

/// What several words say together.
pub(super) fn keys(name: &str, options: &Options<'_>, settings: &mut Settings, log: &mut Log) {
    match name {
        "red" => thresholds(options, settings, log, Unit::Bytes),
        "choke" => thresholds(options, settings, log, Unit::Packets),
        "dualpi2" => of_dualpi2(options, settings, log),
        _ => {}
    }
}

fn of_dualpi2(options: &Options<'_>, settings: &mut Settings, log: &mut Log) {
    if let Some((time, it)) = options.get("step_thresh").and_then(|it| Some((it.time()?, it))) {
        ["l4s-min", "l4s-max"].into_iter().for_each(|key| settings.set(key, it.said(Value::Time(time))));
    }
    if let Some(it) = options.any(&["max_rtt", "typical_rtt"]) {
        log.nearly(&[it.line], "tc makes `update`, `alpha` and `beta` of round-trip times; here they are the defaults");
    }
    if let Some(Value::Time(_)) = settings.get("l4s-min").map(|it| &it.is) {
        settings.assume("schedule", TC_DUALPI2, Value::Word("wrr".into()));
    }
}

/// What thresholds count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Bytes,
    Packets,
}

impl Unit {
    fn value(self, number: u64) -> Value {
        match self {
            Self::Bytes => Value::Bytes(Bytes::new(number)),
            Self::Packets => Value::Packets(Packets::new(u32::try_from(number).unwrap_or(u32::MAX))),
        }
    }
}

fn number(settings: &Settings, key: &str) -> Option<u64> {
    match settings.get(key)?.is {
        Value::Bytes(bytes) => Some(bytes.get()),
        Value::Packets(packets) => Some(packets.get().into()),
        _ => None,
    }
}

/// The thresholds and the weight that tc computes where they are not said.
fn thresholds(options: &Options<'_>, settings: &mut Settings, log: &mut Log, unit: Unit) {
    let source = if unit == Unit::Bytes { TC_RED } else { TC_CHOKE };
    let [min, max] = bounds(settings, unit);
    settings.assume("max", source, unit.value(max));
    settings.assume("min", source, unit.value(min));
    if let Some(it) = options.get("bandwidth") {
        log.nearly(&[it.line], "`bandwidth`: an empty queue's average falls by the rate that the queue gets");
    }
    if settings.get("mean-packet").is_none() {
        settings.set(
            "mean-packet",
            WithOrigin::assumed("tc does not print avpkt; tc-red(8) advises 1000", Value::Bytes(Bytes::new(1000))),
        );
    }
    if options.has("ewma") {
        return;
    }
    let Some(weight) = chosen(options, settings, unit).map(Value::Count) else { return };
    let said = match options.get("burst") {
        Some(burst) => burst.said(weight),
        None => WithOrigin::assumed(source, weight),
    };
    settings.set("weight", said);
}

/// Its `min` and `max`, as they are said or as tc has them.
fn bounds(settings: &Settings, unit: Unit) -> [u64; 2] {
    let of = |key: &str| number(settings, key).filter(|it| *it > 0);
    let quarter = number(settings, "limit").unwrap_or_default() / 4;
    let thrice = of("min").filter(|_| unit == Unit::Bytes).map(|min| min.saturating_mul(3));
    let max = of("max").or(thrice).unwrap_or(quarter);
    [of("min").unwrap_or(max / 3), max]
}

/// -log2 of the weight that tc chooses; `None`: it finds none.
fn chosen(options: &Options<'_>, settings: &Settings, unit: Unit) -> Option<u64> {
    let [min, max] = bounds(settings, unit);
    let packet = number(settings, "mean-packet").unwrap_or(1000).max(1);
    let scale = if unit == Unit::Bytes { packet } else { 1 };
    let default = (2 * min).saturating_add(max) / (3 * scale);
    let burst = options.get("burst").and_then(Opt::count).filter(|it| *it > 0).unwrap_or(default);
    weight(burst, min as f64 / scale as f64)
}

/// What tc wants of thresholds.
///
/// # Errors
/// It would refuse it.
fn checked(name: &str, options: &Options<'_>) -> Taken<()> {
    let (settings, unit) = (options.settings(), if name == "red" { Unit::Bytes } else { Unit::Packets });
    let [min, max] = bounds(&settings, unit);
    let limit = number(&settings, "limit").unwrap_or_default();
    let wrong = if min > max || (min == max && unit == Unit::Packets) {
        "`min` is not below `max`"
    } else if unit == Unit::Packets && max > limit {
        "`max` is above `limit`"
    } else if chosen(options, &settings, unit).is_none() {
        "its `burst` is too small for its `min`"
    } else {
        return Ok(());
    };
    Err(Refusal::of(wrong))
}

/// -log2 of the weight that tc chooses for a burst, in packets: the first for which a burst after an empty queue leaves the average at
/// `min` packets or below. Source: tc-red(8), and what tc of iproute2 6.1 hands over.
pub(crate) fn weight(burst: u64, min: f64) -> Option<u64> {
    let over = burst as f64 + 1.0 - min;
    if over < 1.0 {
        return None;
    }
    let fits = |log: &u64| {
        let w = 1.0 / (1u64 << log) as f64;
        over <= (1.0 - pow(1.0 - w, burst as f64)) / w
    };
    (1..32).find(fits)
}

/// CoDel counts time in units of 1024 ns; the time that tc was told of which it prints this as JSON, in us.
pub(super) fn told(us: u64) -> Span {
    let kept = |us: u64| (us * 1000 / 1024) * 1024 / 1000;
    let round = |us: &u64| (1..=6).take_while(|digits| us.is_multiple_of(10u64.pow(*digits))).count();
    let found = (us..=us.saturating_add(2)).filter(|it| kept(*it) == us).max_by_key(round);
    Span::from_us(found.unwrap_or(us))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Printed by tc of iproute2 6.1.
    #[test]
    fn weights_are_those_of_tc() {
        assert_eq!(weight(25, 15.0), Some(4));
        assert_eq!(weight(55, 30.0), Some(5));
        assert_eq!(weight(50, 30.0), Some(5));
        assert_eq!(weight(50, 83.0), None);
    }

    /// Printed by tc of iproute2 6.1 as JSON for 5 ms, 100 ms, 100 us and 10 ms.
    #[test]
    fn times_of_codel_are_those_that_tc_was_told() {
        assert_eq!([told(4999), told(99_999), told(99), told(9999)], [5000, 100_000, 100, 10_000].map(Span::from_us));
    }
}
