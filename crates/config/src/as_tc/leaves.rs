//! Queues with their AQM, and schedulers of flows, as queueing disciplines: what a kernel does otherwise, and what it cannot do.

use super::red::{choke, red};
use super::words::{self, MS, US, in_sixteenths, keys, rate};
use crate::tc::limits::{FQ_CODEL_MEMORY, HEADER, QUANTUM, SFQ_DEPTH};
use crate::tc::typed::{self, Joint};
use perhop_core::aqm::{AqmParams, arithmetic, pie};
use perhop_core::arithmetic::Arithmetic;
use perhop_core::params::Tree;
use perhop_core::port::{Limit, QueueSpec, Side};
use perhop_core::sched::flows::{Hash, Hashing};
use perhop_core::sched::{SchedulerParams, cake, fq, fq_codel, fq_pie, sfq};
use perhop_core::units::{Bytes, Span};
use perhop_sim::plan::Link;
use std::ops::RangeInclusive;

/// tc holds rates of `fq` in 32 bits, as bytes a second; the largest is none.
const MOST_RATE: u64 = (u32::MAX as u64) * 8;
/// What tc's `cake` holds.
const CAKE_QUEUES: u32 = 1024;
const CAKE_OVERHEAD: RangeInclusive<i64> = -64..=256;
const CAKE_MPU: u64 = 256;
/// The flag is an attribute, and the kernel looks at an older field.
const NO_TIMER: &str = "`adaptive` of `red`: Linux 6.12 does not start its timer for the tc of iproute2 6.1, so there `max-p` stays as it is";

/// A queueing discipline without others below it.
#[derive(Default)]
pub(super) struct Leaf {
    /// Its name and options; empty if tc has none like it.
    pub(super) words: String,
    /// What tc cannot express.
    pub(super) refused: Vec<String>,
    /// What Linux does otherwise.
    pub(super) notes: Vec<String>,
    name: &'static str,
}

impl Leaf {
    fn refuse(&mut self, is_so: bool, what: impl Into<String>) {
        self.refused.extend(is_so.then(|| what.into()));
    }

    fn note(&mut self, is_so: bool, what: impl Into<String>) {
        self.notes.extend(is_so.then(|| what.into()));
    }

    /// Whose numbers a kernel has: its own, whatever is stated.
    fn counts_as_linux(&mut self, linux: bool) {
        self.note(!linux, other_numbers(self.name));
    }

    /// A kernel's hash may put two flows into one queue, and draws its key.
    fn hashed(&mut self, hashing: Hashing) {
        self.refuse(
            hashing.hash == Hash::Exact,
            format!("`hash = \"exact\"` of `{}`: in Linux its hash is salted", self.name),
        );
        self.salted(hashing);
    }

    fn salted(&mut self, hashing: Hashing) {
        self.note(hashing.salt != 0, format!("`salt` of `{}`: Linux draws its own", self.name));
    }

    /// Buffers are what the kernel counts.
    fn remembers(&mut self, stated: bool) {
        let what = format!("`memory` of `{}`: here it counts bytes of packets, in Linux buffers", self.name);
        self.refuse(stated, what);
    }

    /// An AQM of Linux spares queues up to the largest packet of its interface, with or without Ethernet's header.
    fn spares(&mut self, mtu: Bytes, link: &Link) {
        let of_device = super::mtu(link);
        let same = (of_device..=of_device + u64::from(HEADER)).contains(&mtu.get());
        self.note(!same, format!("`mtu` of `{}` is {mtu}: Linux takes its interface's, {of_device} B", self.name));
    }

    /// Times that tc has no word for.
    fn fine(&mut self, times: &[(&str, Span)], unit: u64) {
        self.refused.extend(words::fine(times, unit));
    }

    fn quantum(&mut self, quantum: Bytes) {
        self.refuse(quantum > QUANTUM, format!("`quantum` of `{}` above {QUANTUM}", self.name));
    }

    /// The same with the words that keys say.
    fn typed(self, name: &str, keys: &[(&'static str, Tree)], joint: &[Joint]) -> Self {
        Self { words: typed::words(name, keys, joint), ..self }
    }
}

pub(super) fn other_numbers(name: &str) -> String {
    format!("`{name}`: Linux computes as with `arithmetic` set to `linux`, but this scenario does not set it so")
}

/// A queue.
pub(super) fn of_queue(queue: &QueueSpec, link: &Link) -> Leaf {
    let mut leaf = Leaf { name: queue.aqm.name(), ..Leaf::default() };
    let words = match words_of(queue, link) {
        Ok(words) => words,
        Err(what) => return Leaf { refused: vec![what], ..leaf },
    };
    match &queue.aqm {
        AqmParams::CoDel(params) => {
            leaf.counts_as_linux(params.arithmetic == arithmetic::Arithmetic::Linux);
            leaf.spares(params.mtu, link);
            let mark = params.ce_threshold.unwrap_or(Span::ZERO);
            leaf.fine(&[("target", params.target), ("interval", params.interval), ("ce-threshold", mark)], US);
        }
        AqmParams::Pie(params) => {
            leaf.counts_as_linux(params.arithmetic == arithmetic::Arithmetic::Linux);
            leaf.spares(params.mtu, link);
            leaf.fine(&[("target", params.target)], US);
            leaf.fine(&[("interval", params.interval)], MS);
        }
        AqmParams::Red(params) => leaf.note(params.adaptive, NO_TIMER),
        _ => {}
    }
    Leaf { words, ..leaf }
}

/// What a queue is in tc's words.
///
/// # Errors
/// What tc cannot say.
fn words_of(queue: &QueueSpec, link: &Link) -> Result<String, String> {
    let name = queue.aqm.name();
    let counts = |whose: &str| Err(format!("a `limit` of `{name}` in {whose}"));
    let typed = |name: &str, limit: u64| {
        let mut keys = Vec::new();
        queue.aqm.show(&mut keys);
        keys.push(("limit", Tree::Text(limit.to_string())));
        typed::words(name, &keys, &[])
    };
    match (&queue.aqm, queue.limit, queue.drop) {
        (AqmParams::DropTail(_), Limit::Packets(n), Side::Tail) => Ok(typed("pfifo", n.into())),
        (AqmParams::DropTail(_), Limit::Packets(n), Side::Head) => Ok(typed("pfifo_head_drop", n.into())),
        (AqmParams::DropTail(_), Limit::Bytes(bytes), Side::Tail) => Ok(typed("bfifo", bytes)),
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
        (AqmParams::CoDel(_), Limit::Packets(n), _) => Ok(typed("codel", n.into())),
        (AqmParams::Pie(params), Limit::Packets(n), _) => in_pie(params).map(|()| typed("pie", n.into())),
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

/// # Errors
/// What Linux fixes in PIE, or cannot count.
fn in_pie(params: &pie::Params) -> Result<(), String> {
    let fixed = [
        ("max-burst", params.max_burst == Span::from_ms(150)),
        ("derandomise", params.drops.derandomise),
        ("cap", params.drops.cap),
        ("active-above", params.active_above.is_none()),
        ("ecn-below", params.ecn_below.get() == 0.1),
    ];
    if let Some((key, _)) = fixed.into_iter().find(|it| !it.1) {
        return Err(format!("`{key}` of `pie`: Linux fixes it"));
    }
    match [("alpha", params.alpha), ("beta", params.beta)].into_iter().find(|it| !in_sixteenths(it.1)) {
        Some((key, value)) => Err(format!("`{key}` = {value} of `pie`: it must be a multiple of 1/16, at most 2")),
        None => Ok(()),
    }
}

/// A scheduler of flows; `None`: it has classes, or Linux has it not.
pub(super) fn of_scheduler(params: &SchedulerParams, link: &Link) -> Option<Leaf> {
    let leaf = Leaf { name: params.name(), ..Leaf::default() };
    Some(match params {
        SchedulerParams::FqCodel(params) => fq_codel(leaf, params, link),
        SchedulerParams::Sfq(params) => sfq(leaf, params),
        SchedulerParams::Fq(params) => fq(leaf, params, link),
        SchedulerParams::FqPie(params) => fq_pie(leaf, params, link),
        SchedulerParams::Cake(params) => cake(leaf, params, link),
        _ => return None,
    })
}

fn fq_codel(mut leaf: Leaf, params: &fq_codel::Params, link: &Link) -> Leaf {
    leaf.counts_as_linux(params.arithmetic == arithmetic::Arithmetic::Linux);
    leaf.hashed(params.hashing);
    leaf.remembers(params.memory != FQ_CODEL_MEMORY);
    leaf.spares(params.mtu, link);
    let mark = params.ce_threshold.unwrap_or(Span::ZERO);
    leaf.fine(&[("target", params.target), ("interval", params.interval), ("ce-threshold", mark)], US);
    leaf.quantum(params.quantum);
    leaf.typed("fq_codel", &keys(params), &[])
}

fn sfq(mut leaf: Leaf, params: &sfq::Params) -> Leaf {
    leaf.counts_as_linux(params.arithmetic == Arithmetic::Linux);
    leaf.hashed(params.hashing);
    let odd = format!("`flows` = {} of `sfq`: its `divisor` must be a power of two", params.flows);
    leaf.refuse(!params.flows.is_power_of_two(), odd);
    leaf.refuse(params.limit.get() < 2, "`limit` of `sfq` below 2p");
    leaf.refuse(params.depth.get() > SFQ_DEPTH, format!("`depth` of `sfq` above {SFQ_DEPTH}p: Linux cuts it to that"));
    leaf.typed("sfq", &keys(params), &[])
}

fn fq(mut leaf: Leaf, params: &fq::Params, link: &Link) -> Leaf {
    let bands =
        params.priorities.priomap != fq::Priomap::default() || params.priorities.weights != fq::Weights::default();
    let own = "connected sockets of the port's host have a queue each, all other packets are hashed";
    leaf.note(params.hashing.hash == Hash::Exact, format!("`hash = \"exact\"` of `fq`: in Linux {own}"));
    leaf.salted(params.hashing);
    leaf.note(bands, "`priomap` and `weights` of `fq`: tc knows them from iproute2 6.7 on");
    let odd = format!("`flows` = {} of `fq`: it must be a power of two, for its `orphan_mask`", params.flows);
    leaf.refuse(!params.flows.is_power_of_two(), odd);
    for (key, stated) in [("maxrate", params.maxrate), ("low-rate-threshold", Some(params.low_rate_threshold))] {
        let beyond = stated.is_some_and(|rate| rate.bit_s() >= MOST_RATE);
        leaf.refuse(beyond, format!("`{key}` of `fq` of 34.4 Gbit/s or more"));
    }
    leaf.fine(&[("ce-threshold", params.ce_threshold.unwrap_or(Span::ZERO))], US);
    leaf.fine(&[("refill-delay", params.refill_delay)], MS);
    let (quantum, largest) = (params.quanta.quantum, super::mtu(link) + u64::from(HEADER));
    let small = format!("`quantum` of `fq` is {quantum}, less than a packet of the interface ({largest} B)");
    leaf.note(quantum.get() < largest, small);
    let mut joint = vec![("orphan_mask", (params.flows - 1).to_string())];
    if bands {
        let words = ["3".to_owned(), params.priorities.priomap.to_string(), params.priorities.weights.to_string()];
        joint.extend(["bands", "priomap", "weights"].into_iter().zip(words));
    }
    leaf.typed("fq", &keys(params), &joint)
}

fn fq_pie(mut leaf: Leaf, params: &fq_pie::Params, link: &Link) -> Leaf {
    leaf.hashed(params.hashing);
    leaf.spares(params.mtu, link);
    leaf.quantum(params.quantum);
    leaf.fine(&[("target", params.target)], US);
    leaf.fine(&[("interval", params.interval)], MS);
    leaf.typed("fq_pie", &keys(params), &[])
}

fn cake(mut leaf: Leaf, params: &cake::Params, link: &Link) -> Leaf {
    let sets = "two flows share a queue once eight have met in a set";
    leaf.note(params.hashing.hash == Hash::Exact, format!("`hash = \"exact\"` of `cake`: in Linux {sets}"));
    leaf.salted(params.hashing);
    leaf.remembers(params.memory.is_some());
    leaf.spares(params.mtu, link);
    leaf.fine(&[("rtt", params.rtt)], US);
    // tc's counts from the IP header, which the size table leaves at Ethernet's 14 bytes.
    let overhead = params.framing.overhead.map(|bytes| i64::from(bytes.get()) + i64::from(HEADER));
    leaf.refuse(params.flows != CAKE_QUEUES, format!("`flows` of `cake` other than {CAKE_QUEUES}"));
    let [least, most] = [CAKE_OVERHEAD.start(), CAKE_OVERHEAD.end()].map(|bytes| bytes - i64::from(HEADER));
    let beyond = overhead.is_some_and(|bytes| !CAKE_OVERHEAD.contains(&bytes));
    leaf.refuse(beyond, format!("an `overhead` of `cake` below {least}B or above {most}B"));
    let mpu = params.framing.mpu;
    leaf.refuse(mpu.is_some_and(|mpu| mpu.get() > CAKE_MPU), format!("an `mpu` of `cake` above {CAKE_MPU}B"));
    let keys = keys(params);
    let is_atm = keys.contains(&("link-layer", Tree::Text("atm".into())));
    let mut joint = vec![(if is_atm { "atm" } else { "noatm" }, String::new())];
    joint.push(overhead.map_or(("raw", String::new()), |bytes| ("overhead", bytes.to_string())));
    joint.extend(mpu.map(|mpu| ("mpu", mpu.get().to_string())));
    joint.extend(params.rate.map(|it| ("bandwidth", rate(it))));
    leaf.typed("cake", &keys, &joint)
}
