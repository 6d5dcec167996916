//! Queues of flows that pace or have PIE: `fq`, `fq_pie`.

use super::words::{self, ecn, rate, sixteenths, time};
use super::{mtu, queues};
use crate::tc::limits::{HEADER, QUANTUM};
use perhop_core::aqm::pie::DelayFrom;
use perhop_core::sched::flows::{Hash, Hashing};
use perhop_core::sched::{fq, fq_pie};
use perhop_core::units::Span;
use perhop_sim::plan::Link;

/// tc holds rates of `fq` in 32 bits, as bytes a second; the largest is none.
const MOST_RATE: u64 = (u32::MAX as u64) * 8;

/// What is said of a queue.
#[derive(Default)]
pub(super) struct Written {
    /// The queueing discipline with its parameters.
    pub(super) words: String,
    pub(super) refused: Vec<String>,
    pub(super) notes: Vec<String>,
}

impl Written {
    fn refuse(&mut self, is_so: bool, what: impl Into<String>) {
        self.refused.extend(is_so.then(|| what.into()));
    }

    fn note(&mut self, is_so: bool, what: impl Into<String>) {
        self.notes.extend(is_so.then(|| what.into()));
    }

    fn hashed(&mut self, name: &str, hashing: Hashing) {
        self.note(hashing.salt != 0, format!("`salt` of `{name}`: Linux draws its own"));
    }
}

/// `fq`
pub(super) fn fq(params: &fq::Params, link: &Link) -> Written {
    let mut it = Written::default();
    let (default_map, default_weights) = (fq::Priomap::default(), fq::Weights::default());
    let bands = params.priorities.priomap != default_map || params.priorities.weights != default_weights;
    let own = "connected sockets of the port's host have a queue each, all other packets are hashed";
    it.note(params.hashing.hash == Hash::Exact, format!("`hash = \"exact\"` of `fq`: in Linux {own}"));
    it.hashed("fq", params.hashing);
    it.note(bands, "`priomap` and `weights` of `fq`: tc knows them from iproute2 6.7 on");
    it.refuse(
        !params.flows.is_power_of_two(),
        format!("`flows` = {} of `fq`: it must be a power of two, for its `orphan_mask`", params.flows),
    );
    let rates = [("maxrate", params.maxrate), ("low-rate-threshold", Some(params.low_rate_threshold))];
    for (key, stated) in rates {
        it.refuse(
            stated.is_some_and(|rate| rate.bit_s() >= MOST_RATE),
            format!("`{key}` of `fq` of 34.4 Gbit/s or more"),
        );
    }
    let threshold = params.ce_threshold.unwrap_or(Span::ZERO);
    it.refused.extend(words::fine(&[("ce-threshold", threshold)], words::US));
    it.refused.extend(words::fine(&[("refill-delay", params.refill_delay)], words::MS));
    let largest = mtu(link) + u64::from(HEADER);
    it.note(
        params.quanta.quantum.get() < largest,
        format!("`quantum` of `fq` is {}, less than a packet of the interface ({largest} B)", params.quanta.quantum),
    );
    it.words = format!(
        "fq limit {} flow_limit {} quantum {} initial_quantum {} {} low_rate_threshold {} refill_delay {} timer_slack {}ns orphan_mask {}{}{}{}",
        params.limit.get(),
        params.flow_limit.get(),
        params.quanta.quantum.get(),
        params.quanta.initial_quantum.get(),
        if params.pacing { "pacing" } else { "nopacing" },
        rate(params.low_rate_threshold),
        time(params.refill_delay),
        params.timer_slack.ns(),
        params.flows - 1,
        params.maxrate.map_or(String::new(), |most| format!(" maxrate {}", rate(most))),
        params.ce_threshold.map_or(String::new(), |at| format!(" ce_threshold {}", time(at))),
        if bands {
            format!(" bands 3 priomap {} weights {}", params.priorities.priomap, params.priorities.weights)
        } else {
            String::new()
        },
    );
    it
}

/// `fq_pie`: alpha and beta in sixteenths, tupdate in ticks.
pub(super) fn fq_pie(params: &fq_pie::Params, link: &Link) -> Written {
    let mut it = Written::default();
    it.refuse(params.hashing.hash == Hash::Exact, "`hash = \"exact\"` of `fq-pie`: in Linux its hash is salted");
    it.hashed("fq-pie", params.hashing);
    it.notes.extend(queues::spares("fq-pie", params.mtu, link));
    it.refuse(params.quantum > QUANTUM, format!("`quantum` of `fq-pie` above {QUANTUM}"));
    it.refused.extend(words::fine(&[("target", params.target)], words::US));
    it.refused.extend(words::fine(&[("interval", params.interval)], words::MS));
    let [alpha, beta] = [params.gains.alpha, params.gains.beta].map(|weight| sixteenths(weight).unwrap_or_default());
    it.words = format!(
        "fq_pie limit {} flows {} target {} tupdate {} alpha {alpha} beta {beta} quantum {} ecn_prob {} {} {} {}",
        params.limit.get(),
        params.flows,
        time(params.target),
        time(params.interval),
        params.quantum.get(),
        params.percent().unwrap_or_default(),
        ecn(params.ecn),
        if params.byte_mode { "bytemode" } else { "nobytemode" },
        if params.delay == DelayFrom::Rate { "dq_rate_estimator" } else { "no_dq_rate_estimator" },
    );
    it
}
