//! Queues of flows: `fq_codel`, `fq`, `fq_pie`, `sfq`.

use super::early::{SIXTEENTHS, largest};
use super::limits::{FQ_CODEL_MEMORY, OF_PIE, QUANTUM, SFQ_DEPTH};
use super::log::Log;
use super::options::{Discipline, Does, Fixed, Options, Takes, assumed, row};
use super::words::{Refusal, Taken};
use crate::model::Kind;
use crate::value::{Settings, Value, WithOrigin};
use perhop_core::units::{Bytes, Packets};

const FQ_CODEL_C: &str = "sch_fq_codel.c";
const FQ_C: &str = "sch_fq.c";
const FQ_PIE_C: &str = "sch_fq_pie.c";
const SFQ_C: &str = "sch_sfq.c";

/// Each flow has a queue with CoDel.
pub const FQ_CODEL: Discipline = Discipline {
    kind: Some(Kind::Scheduler("fq-codel")),
    rows: &[
        row("limit", Takes::Packets, Does::Sets("limit")),
        row("flows", Takes::Count, Does::Sets("flows")),
        row("quantum", Takes::Bytes, Does::Sets("quantum")),
        row("target", Takes::Time, Does::Sets("target")),
        row("interval", Takes::Time, Does::Sets("interval")),
        row("memory_limit", Takes::Size, Does::Sets("memory")),
        row("drop_batch", Takes::Count, Does::Sets("drop-batch")),
        row("ecn", Takes::Nothing, Does::Says("ecn", Fixed::Flag(true))),
        row("noecn", Takes::Nothing, Does::Says("ecn", Fixed::Flag(false))),
        row("ce_threshold", Takes::Time, Does::Sets("ce-threshold")),
        row(
            "ce_threshold_selector",
            Takes::Word,
            Does::Lost("perhop's `ce-threshold` holds for all ECN-capable packets"),
        ),
    ],
    typed: "limit flows quantum memory_limit drop_batch target interval ecn noecn ce_threshold",
    assumed: &[
        assumed("limit", Fixed::Packets(10_240), FQ_CODEL_C),
        assumed("flows", Fixed::Count(1024), FQ_CODEL_C),
        largest("quantum"),
        assumed("target", Fixed::Us(5_000), FQ_CODEL_C),
        assumed("interval", Fixed::Us(100_000), FQ_CODEL_C),
        assumed("memory", Fixed::Bytes(FQ_CODEL_MEMORY.get()), FQ_CODEL_C),
        assumed("drop-batch", Fixed::Count(64), FQ_CODEL_C),
        assumed("ecn", Fixed::Flag(true), FQ_CODEL_C),
        largest("mtu"),
        assumed("arithmetic", Fixed::Word("linux"), FQ_CODEL_C),
    ],
    keeps: [true, false],
    ..Discipline::plain("fq_codel")
};

/// Each flow has a queue, and is paced.
pub const FQ: Discipline = Discipline {
    kind: Some(Kind::Scheduler("fq")),
    rows: &[
        row("limit", Takes::Packets, Does::Sets("limit")),
        row("flow_limit", Takes::Packets, Does::Sets("flow-limit")),
        row("quantum", Takes::Bytes, Does::Sets("quantum")),
        row("initial_quantum", Takes::Bytes, Does::Sets("initial-quantum")),
        row("maxrate", Takes::Rate, Does::Sets("maxrate")),
        row("low_rate_threshold", Takes::Rate, Does::Sets("low-rate-threshold")),
        row("refill_delay", Takes::Time, Does::Sets("refill-delay")),
        row("timer_slack", Takes::TimeNs, Does::Sets("timer-slack")),
        row("ce_threshold", Takes::Time, Does::Sets("ce-threshold")),
        row("pacing", Takes::Nothing, Does::Says("pacing", Fixed::Flag(true))),
        row("nopacing", Takes::Nothing, Does::Says("pacing", Fixed::Flag(false))),
        row("orphan_mask", Takes::Count, Does::Makes("`flows`, which is one more")),
        row("priomap", Takes::Words(16), Does::Makes("`priomap`")),
        row("weights", Takes::Words(3), Does::Makes("`weights`")),
        row("bands", Takes::Count, Does::Same("there are always three")),
        row("buckets", Takes::Count, Does::Same("it is for speed")),
        row("defrate", Takes::Rate, Does::Same("Linux ignores it")),
        row("horizon", Takes::Time, Does::Same("no packet gets there before its time")),
        row("horizon_cap", Takes::Nothing, Does::Same("no packet gets there before its time")),
        row("horizon_drop", Takes::Nothing, Does::Same("no packet gets there before its time")),
        row("offload_horizon", Takes::Time, Does::Same("no packet gets there before its time")),
    ],
    typed: "limit flow_limit quantum initial_quantum pacing nopacing low_rate_threshold refill_delay timer_slack orphan_mask maxrate \
            ce_threshold bands priomap weights",
    assumed: &[
        assumed("limit", Fixed::Packets(10_000), FQ_C),
        assumed("flow-limit", Fixed::Packets(100), FQ_C),
        assumed("quantum", Fixed::Bytes(3028), "sch_fq.c: two packets of the interface"),
        assumed("initial-quantum", Fixed::Bytes(15_140), "sch_fq.c: ten packets of the interface"),
        assumed("pacing", Fixed::Flag(true), FQ_C),
        assumed("low-rate-threshold", Fixed::Rate(550_000), FQ_C),
        assumed("refill-delay", Fixed::Us(40_000), FQ_C),
        assumed("timer-slack", Fixed::Us(10), FQ_C),
        assumed("flows", Fixed::Count(1024), FQ_C),
    ],
    keeps: [true, false],
    check: |_, options| checked(options),
    ..Discipline::plain("fq")
};

/// Each flow has a queue with PIE.
pub const FQ_PIE: Discipline = Discipline {
    kind: Some(Kind::Scheduler("fq-pie")),
    rows: &[
        row("limit", Takes::Packets, Does::Sets("limit")),
        row("flows", Takes::Count, Does::Sets("flows")),
        row("quantum", Takes::Size, Does::Sets("quantum")),
        row("target", Takes::Time, Does::Sets("target")),
        row("tupdate", Takes::Time, Does::Sets("interval")),
        row("alpha", Takes::Count, Does::Parts("alpha", OF_PIE, SIXTEENTHS)),
        row("beta", Takes::Count, Does::Parts("beta", OF_PIE, SIXTEENTHS)),
        row("ecn_prob", Takes::Count, Does::Parts("ecn-below", 100.0, "`ecn-below`, in percent")),
        row("memory_limit", Takes::Size, Does::Same("Linux counts what is above it, and drops nothing for it")),
        row("ecn", Takes::Nothing, Does::Says("ecn", Fixed::Flag(true))),
        row("noecn", Takes::Nothing, Does::Says("ecn", Fixed::Flag(false))),
        row("bytemode", Takes::Nothing, Does::Says("byte-mode", Fixed::Flag(true))),
        row("nobytemode", Takes::Nothing, Does::Says("byte-mode", Fixed::Flag(false))),
        row("dq_rate_estimator", Takes::Nothing, Does::Says("delay", Fixed::Word("rate"))),
        row("no_dq_rate_estimator", Takes::Nothing, Does::Says("delay", Fixed::Word("timestamps"))),
    ],
    typed: "limit flows target tupdate alpha beta quantum ecn_prob ecn noecn bytemode nobytemode dq_rate_estimator \
            no_dq_rate_estimator",
    assumed: &[
        assumed("limit", Fixed::Packets(10_240), FQ_PIE_C),
        assumed("flows", Fixed::Count(1024), FQ_PIE_C),
        largest("quantum"),
        assumed("target", Fixed::Us(15_000), FQ_PIE_C),
        assumed("interval", Fixed::Us(15_000), FQ_PIE_C),
        assumed("alpha", Fixed::Number(0.125), FQ_PIE_C),
        assumed("beta", Fixed::Number(1.25), FQ_PIE_C),
        assumed("ecn-below", Fixed::Number(0.1), FQ_PIE_C),
        assumed("ecn", Fixed::Flag(false), FQ_PIE_C),
        assumed("byte-mode", Fixed::Flag(false), FQ_PIE_C),
        assumed("delay", Fixed::Word("timestamps"), FQ_PIE_C),
        largest("mtu"),
    ],
    keeps: [true, false],
    ..Discipline::plain("fq_pie")
};

/// Each flow has a queue, and the longest loses packets.
pub const SFQ: Discipline = Discipline {
    kind: Some(Kind::Scheduler("sfq")),
    rows: &[
        row("limit", Takes::Packets, Does::Sets("limit")),
        row("quantum", Takes::Size, Does::Sets("quantum")),
        row("depth", Takes::Packets, Does::Sets("depth")),
        row("flows", Takes::Count, Does::Sets("active")),
        row("divisor", Takes::Count, Does::Sets("flows")),
        row("headdrop", Takes::Nothing, Does::Says("drop", Fixed::Word("head"))),
        row("perturb", Takes::Word, Does::Makes("nothing: the hash is not changed during a run")),
        row("redflowlimit", Takes::Size, Does::Lost(NO_RED)),
        row("min", Takes::Size, Does::Lost(NO_RED)),
        row("max", Takes::Size, Does::Lost(NO_RED)),
        row("avpkt", Takes::Size, Does::Lost(NO_RED)),
        row("burst", Takes::Count, Does::Lost(NO_RED)),
        row("probability", Takes::Real, Does::Lost(NO_RED)),
        row("ewma", Takes::Count, Does::Lost(NO_RED)),
        row("ecn", Takes::Nothing, Does::Lost(NO_RED)),
        row("harddrop", Takes::Nothing, Does::Lost(NO_RED)),
    ],
    typed: "limit depth divisor flows quantum headdrop",
    assumed: &[
        assumed("limit", Fixed::Packets(SFQ_DEPTH), SFQ_C),
        largest("quantum"),
        assumed("depth", Fixed::Packets(SFQ_DEPTH), SFQ_C),
        assumed("active", Fixed::Count(128), SFQ_C),
        assumed("flows", Fixed::Count(1024), SFQ_C),
        assumed("drop", Fixed::Word("tail"), SFQ_C),
        assumed("arithmetic", Fixed::Word("linux"), SFQ_C),
    ],
    keeps: [true, false],
    ..Discipline::plain("sfq")
};

/// Why SFQ's RED is not read.
const NO_RED: &str = "perhop's `sfq` has no RED";

/// The least quantum of `fq`.
const LEAST_QUANTUM: Bytes = Bytes::new(256);

/// What the kernel wants of `fq`.
///
/// # Errors
/// It would refuse it.
fn checked(options: &Options<'_>) -> Taken<()> {
    let initial = options.get("initial_quantum").and_then(|it| it.bytes());
    match initial.filter(|it| *it > QUANTUM) {
        Some(bytes) => Err(Refusal::of(format!("an `initial_quantum` of {bytes}: it is at most {QUANTUM}"))),
        None => Ok(()),
    }
}

/// What several words say together.
pub(super) fn keys(name: &str, options: &Options<'_>, settings: &mut Settings, log: &mut Log) {
    match name {
        "fq" => of_fq(options, settings),
        "sfq" => of_sfq(options, settings, log),
        _ => {}
    }
}

fn of_fq(options: &Options<'_>, settings: &mut Settings) {
    if settings.get("pacing").is_some_and(|it| it.is == Value::Flag(false)) {
        // The kernel keeps it, and looks at it only where it paces.
        settings.remove("maxrate");
    }
    if let Some(bytes) = settings.bytes("quantum").filter(|it| !(LEAST_QUANTUM..=QUANTUM).contains(it)) {
        let bounded = bytes.clamp(LEAST_QUANTUM, QUANTUM);
        settings.set("quantum", WithOrigin::assumed("sch_fq.c: between 256 B and 1 MiB", Value::Bytes(bounded)));
    }
    if let Some((mask, it)) = options.get("orphan_mask").and_then(|it| Some((it.count()?, it))) {
        let most = u64::from(perhop_core::sched::flows::MOST);
        let flows = if mask < most {
            it.said(Value::Count(mask + 1))
        } else {
            WithOrigin::assumed("perhop has at most 65536 queues of flows", Value::Count(most))
        };
        settings.set("flows", flows);
    }
    for key in ["priomap", "weights"] {
        if let Some(it) = options.get(key) {
            let words: Vec<_> = it.words.iter().map(|word| &*word.text).collect();
            settings.set(key, it.said(Value::Word(words.join(" "))));
        }
    }
}

/// The kernel's own bounds.
fn of_sfq(options: &Options<'_>, settings: &mut Settings, log: &mut Log) {
    if let Some(it) = options.get("perturb").filter(|it| it.words[0].text.trim_end_matches("sec") != "0") {
        log.nearly(&[it.line], "`perturb`: the hash is not changed during a run");
    }
    const MOST: u64 = SFQ_DEPTH as u64;
    let count = |settings: &Settings, key: &str| match settings.get(key).map(|it| &it.is) {
        Some(Value::Count(count)) => Some(*count),
        Some(Value::Packets(packets)) => Some(packets.get().into()),
        _ => None,
    };
    let (active, flows) = (count(settings, "active").unwrap_or(128), count(settings, "flows").unwrap_or(1024));
    let (depth, limit) = (count(settings, "depth").unwrap_or(MOST).min(MOST), count(settings, "limit").unwrap_or(MOST));
    let active = active.min(flows);
    let held = limit.min(depth * active);
    let bound = |settings: &mut Settings, key: &'static str, is: Value| {
        if settings.get(key).is_some_and(|said| said.is != is) {
            settings.set(key, WithOrigin::assumed(SFQ_C, is));
        }
    };
    bound(settings, "depth", Value::Packets(Packets::new(depth as u32)));
    bound(settings, "limit", Value::Packets(Packets::new(held as u32)));
    bound(settings, "active", Value::Count(active));
}
