//! Queues with their AQM as queueing disciplines.

use super::red::{choke, red};
use super::words::{self, ecn, sixteenths, time};
use crate::tc::limits::HEADER;
use perhop_core::aqm::arithmetic::Arithmetic;
use perhop_core::aqm::pie::DelayFrom;
use perhop_core::aqm::{AqmParams, codel, pie};
use perhop_core::port::{Limit, QueueSpec, Side};
use perhop_core::units::{Bytes, Span};
use perhop_sim::plan::Link;

/// What a queue is in tc's words.
///
/// # Errors
/// What tc cannot say.
pub(super) fn leaf(queue: &QueueSpec, link: &Link) -> Result<String, String> {
    let name = queue.aqm.name();
    let counts = |whose: &str| Err(format!("a `limit` of `{name}` in {whose}"));
    match (&queue.aqm, queue.limit, queue.drop) {
        (AqmParams::DropTail(_), Limit::Packets(n), Side::Tail) => Ok(format!("pfifo limit {n}")),
        (AqmParams::DropTail(_), Limit::Packets(n), Side::Head) => Ok(format!("pfifo_head_drop limit {n}")),
        (AqmParams::DropTail(_), Limit::Bytes(bytes), Side::Tail) => Ok(format!("bfifo limit {bytes}")),
        (AqmParams::DropTail(_), Limit::Bytes(_), Side::Head) => {
            Err("`drop = \"head\"` with a `limit` in bytes or time: Linux's `pfifo_head_drop` counts packets".into())
        }
        (AqmParams::CoDel(_) | AqmParams::Pie(_) | AqmParams::Red(_), _, Side::Head) => {
            Err(format!("`drop = \"head\"` of `{name}`: Linux drops the packet that finds no room"))
        }
        (AqmParams::CoDel(_) | AqmParams::Pie(_) | AqmParams::Choke(_), Limit::Bytes(_), _) => {
            counts("bytes or time: Linux counts packets")
        }
        (AqmParams::Red(_), Limit::Packets(_), _) => counts("packets: Linux counts bytes"),
        (AqmParams::CoDel(params), Limit::Packets(n), _) => Ok(codel(params, n)),
        (AqmParams::Pie(params), Limit::Packets(n), _) => pie(params, n),
        (AqmParams::Red(params), Limit::Bytes(limit), _) => red(params, limit, &queue.scope, link.rate),
        (AqmParams::Choke(params), Limit::Packets(limit), _) => choke(params, limit, &queue.scope, link.rate),
        _ => Err(strange(name)),
    }
}

/// AQMs that are no queueing discipline of Linux.
fn strange(name: &str) -> String {
    match name {
        "cobalt" => "`cobalt`: Linux has it only within `cake`".into(),
        "rio" | "wred" => format!("`{name}`: perhop does not write Linux's `gred`, which resembles it"),
        _ => format!("`{name}`: Linux 6.12 does not have it"),
    }
}

/// Times of a queue that tc has no word for; the kernel's timer ticks at 1000 Hz.
pub(super) fn fine(queue: &QueueSpec) -> Vec<String> {
    match &queue.aqm {
        AqmParams::CoDel(params) => {
            let mark = params.ce_threshold.unwrap_or(Span::ZERO);
            let times = [("target", params.target), ("interval", params.interval), ("ce-threshold", mark)];
            words::fine(&times, words::US).collect()
        }
        AqmParams::Pie(params) => {
            let interval = [("interval", params.interval)];
            words::fine(&[("target", params.target)], words::US).chain(words::fine(&interval, words::MS)).collect()
        }
        _ => Vec::new(),
    }
}

/// What a kernel does otherwise than a queue says.
pub(super) fn notes(queue: &QueueSpec, link: &Link) -> Vec<String> {
    let of = |name, arithmetic, mtu| {
        let numbers = (arithmetic != Arithmetic::Linux).then(|| other_numbers(name));
        numbers.into_iter().chain(spares(name, mtu, link)).collect()
    };
    match &queue.aqm {
        AqmParams::CoDel(params) => of("codel", params.arithmetic, params.mtu),
        AqmParams::Pie(params) => of("pie", params.arithmetic, params.mtu),
        AqmParams::Red(params) if params.adaptive => vec![NO_TIMER.into()],
        _ => Vec::new(),
    }
}

/// The flag is an attribute, and the kernel looks at an older field.
const NO_TIMER: &str = "`adaptive` of `red`: Linux 6.12 does not start its timer for the tc of iproute2 6.1, so there `max-p` stays as it is";

pub(super) fn other_numbers(name: &str) -> String {
    format!("`{name}`: Linux computes as with `arithmetic` set to `linux`, but this scenario does not set it so")
}

/// An AQM of Linux spares queues up to the largest packet of its interface, with or without Ethernet's header.
pub(super) fn spares(name: &str, mtu: Bytes, link: &Link) -> Option<String> {
    let of_device = super::mtu(link);
    let same = (of_device..=of_device + u64::from(HEADER)).contains(&mtu.get());
    (!same).then(|| format!("`mtu` of `{name}` is {mtu}: Linux takes its interface's, {of_device} B"))
}

fn codel(params: &codel::Params, limit: u32) -> String {
    let threshold = params.ce_threshold.map_or(String::new(), |at| format!(" ce_threshold {}", time(at)));
    let (target, interval) = (time(params.target), time(params.interval));
    format!("codel limit {limit} target {target} interval {interval} {}{threshold}", ecn(params.ecn))
}

/// Linux takes alpha and beta in sixteenths, tupdate in time.
fn pie(params: &pie::Params, limit: u32) -> Result<String, String> {
    if let Some(key) = fixed(params) {
        return Err(format!("`{key}` of `pie`: Linux fixes it"));
    }
    let [alpha, beta] = [("alpha", params.alpha), ("beta", params.beta)].map(|(key, value)| {
        sixteenths(value).ok_or_else(|| format!("`{key}` = {value} of `pie`: it must be a multiple of 1/16, at most 2"))
    });
    let (target, update) = (time(params.target), time(params.interval));
    let bytes = if params.drops.byte_mode { " bytemode" } else { "" };
    let rate = if params.delay == DelayFrom::Rate { " dq_rate_estimator" } else { "" };
    let (alpha, beta, ecn) = (alpha?, beta?, ecn(params.ecn));
    Ok(format!("pie limit {limit} target {target} tupdate {update} alpha {alpha} beta {beta} {ecn}{bytes}{rate}"))
}

/// The first key with another value than Linux has.
fn fixed(params: &pie::Params) -> Option<&'static str> {
    let fixed = [
        ("max-burst", params.max_burst == Span::from_ms(150)),
        ("derandomise", params.drops.derandomise),
        ("cap", params.drops.cap),
        ("active-above", params.active_above.is_none()),
        ("ecn-below", params.ecn_below.get() == 0.1),
    ];
    fixed.into_iter().find(|it| !it.1).map(|it| it.0)
}
