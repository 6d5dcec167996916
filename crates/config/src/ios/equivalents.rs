//! IOS's lines for perhop's keys, and perhop's keys for IOS's words.

use super::read::{action, class, matches};
use crate::equivalents::{Equivalent, Row};

const fn equivalent(of: &'static str, key: &'static str, line: &'static str, note: &'static str) -> Equivalent {
    Equivalent { of, key, line, note }
}

const SCHEDULERS: &str = "strict-priority|ets|drr|wrr|htb";
const REMAINING: &str = "bandwidth remaining percent P, bandwidth remaining ratio N";
const SHARES: &str = "only the ratio counts; per cent if all are whole";
const PRIORITY: &str = "priority [level 1|2] KBIT BYTES";
const LIMITED: &str = "kbit/s and bytes; with `police = \"always\"` a line `police cir BPS bc BYTES`";
const CLASS: &str = "class NAME, class class-default";
const PROFILE: &str = "random-detect dscp X MIN MAX N, random-detect precedence X MIN MAX N";
const THRESHOLD: &str = "in the unit of `queue-limit`";
const PROBABILITY: &str = "N = 1 / `max-p`";
const EXPONENT: &str = "random-detect exponential-weighting-constant N";
const QUEUE_LIMIT: &str = "queue-limit N packets|bytes|ms";
const FAIR: &str = "fair-queue and queue-limit N packets";
const ACCOUNT: &str = "account user-defined BYTES [atm]";

/// The line for each key that IOS has.
pub const EQUIVALENTS: &[Equivalent] = &[
    equivalent("[queue]", "limit", QUEUE_LIMIT, "time at the rate that IOS guarantees to the class"),
    equivalent("shape", "rate", "shape average BPS", "bit/s"),
    equivalent("shape", "burst", "shape average BPS BC 0", "bits: 8 times `burst`"),
    equivalent("shape", "debt", "shape average BPS", "IOS sends while the bucket owes nothing, as with `true`"),
    equivalent("shape|htb", "overhead", ACCOUNT, "bytes"),
    equivalent("shape|htb", "link-layer", ACCOUNT, ""),
    equivalent("red", "min|max", PROFILE, THRESHOLD),
    equivalent("red", "max-p", PROFILE, PROBABILITY),
    equivalent("red|wred", "weight", EXPONENT, ""),
    equivalent("red|wred", "wq", EXPONENT, "2^-N"),
    equivalent("red|wred", "ecn", "random-detect ecn", ""),
    equivalent(
        "wred",
        "profiles[].for",
        PROFILE,
        "after `random-detect dscp-based`, or `random-detect` where all code points of a precedence have the same",
    ),
    equivalent("wred", "profiles[].match", PROFILE, "by `dscp` alone"),
    equivalent("wred", "profiles[].min|profiles[].max", PROFILE, THRESHOLD),
    equivalent("wred", "profiles[].max-p", PROFILE, PROBABILITY),
    equivalent("fq-codel", "limit", FAIR, "no CoDel"),
    equivalent("fq", "limit", FAIR, "no pacing"),
    equivalent("fq-pie", "limit", FAIR, "no PIE"),
    equivalent("sfq", "limit", FAIR, ""),
    equivalent(SCHEDULERS, "classes[].name", CLASS, ""),
    equivalent(SCHEDULERS, "classes[].for", CLASS, "`match dscp` in its class map"),
    equivalent(SCHEDULERS, "classes[].match", CLASS, "`match access-group name` in its class map"),
    equivalent(SCHEDULERS, "classes[].queue", "service-policy NAME", "or the lines of a queue"),
    equivalent("strict-priority|ets", "classes[].rate|classes[].burst|classes[].police", PRIORITY, LIMITED),
    equivalent("strict-priority", "classes[].same-level", PRIORITY, "the same level, or none"),
    equivalent("ets|drr", "classes[].quantum", REMAINING, SHARES),
    equivalent("wrr", "classes[].weight", REMAINING, "bytes, not packets"),
    equivalent("htb", "classes[].parent", "service-policy NAME", "classes below a class are a policy map in it"),
    equivalent("htb", "classes[].rate", "bandwidth KBIT", "kbit/s"),
    equivalent("htb", "classes[].ceil", "shape average BPS", "bit/s; no line where it is what is above"),
    equivalent("htb", "classes[].cburst", "shape average BPS BC 0", "bits: 8 times `cburst`"),
    equivalent("token-bucket", "cir", "police cir BPS, police rate N pps", "bit/s, or packets/s"),
    equivalent(
        "token-bucket",
        "cbs",
        "police cir BPS bc BYTES, police rate N pps burst N packets",
        "bytes, or packets",
    ),
    equivalent("srtcm|trtcm", "cir", "police cir BPS", "bit/s"),
    equivalent("srtcm|trtcm", "cbs", "police cir BPS bc BYTES", "bytes"),
    equivalent("srtcm", "ebs", "police cir BPS bc BYTES be BYTES", "bytes: `be` without `pir` is the excess burst"),
    equivalent("trtcm", "pir", "police cir BPS bc BYTES pir BPS", "bit/s"),
    equivalent("trtcm", "pbs", "police cir BPS bc BYTES pir BPS be BYTES", "bytes: `be` with `pir` is the peak burst"),
    equivalent("marker", "colour", "set dscp X", "the code point of the colour's action"),
    equivalent("actions", "green", "conform-action transmit|drop|set-dscp-transmit X", ""),
    equivalent("actions", "yellow", "exceed-action transmit|drop|set-dscp-transmit X", "of three colours"),
    equivalent("actions", "red", "violate-action transmit|drop|set-dscp-transmit X", "`exceed-action` of two colours"),
    equivalent("match", "dscp", "match dscp X ..", "up to eight in a line, lines of `class-map match-any`"),
    equivalent(
        "match",
        "protocol",
        "permit tcp|udp|icmp|ip|ipv6 ..",
        "of `ip access-list extended` or `ipv6 access-list`",
    ),
    equivalent("match", "source|destination", "permit .. host A, A WILDCARD, A/N", "any without"),
    equivalent("match", "source-port|destination-port", "permit .. eq N, range N N", ""),
    equivalent("match", "conditioner", CLASS, "the class whose policer it is"),
    equivalent(
        "[links]",
        "rate",
        "bandwidth KBIT",
        "of a serial interface; of one that is faster `shape average` above all classes",
    ),
    equivalent("[links]", "queue", "interface NAME, service-policy output NAME", ""),
];

/// Lines that others are below, and those of access lists: which no table of words reads.
const HEADS: &[(&str, &str, &str)] = &[
    ("configuration", "class-map match-all", "what a class takes: packets that agree with all of its lines"),
    ("configuration", "class-map match-any", "what a class takes: packets that agree with any of its lines"),
    ("configuration", "policy-map", "the classes of a scheduler, and conditioners"),
    ("configuration", "class", "a class; `class-default` is the last, without `for` and `match`"),
    ("configuration", "interface", "a port"),
    ("configuration", "service-policy output", "the queue and the conditioners of a port"),
    ("configuration", "service-policy input", "conditioners of packets that come in"),
    ("configuration", "rate-limit", "a conditioner `token-bucket` of an interface (CAR); `continue` is `next`"),
    ("configuration", "traffic-shape", "`shape` of the queue of an interface (approximated)"),
    ("configuration", "ip access-list extended", "`match` of addresses, protocols and ports"),
    ("configuration", "ipv6 access-list", "the same of IPv6"),
    ("access list", "permit", "a `match`"),
    ("access list", "deny", "packets that no later line permits"),
    ("access list", "remark", "nothing"),
];

/// Every word that is read.
pub fn rows() -> Vec<Row> {
    let row = |of: &str, word: &str, means: &str| Row {
        of: of.to_owned(),
        word: word.to_owned(),
        value: String::new(),
        means: means.to_owned(),
    };
    let classes = class::WORDS.iter().map(|it| row("class of a policy map", it.word, it.means));
    let fields = matches::FIELDS.iter().map(|it| row("match", it.word, it.means));
    let actions = action::ACTIONS.iter().map(|it| row("action of police", it.word, it.means));
    let sets = action::SETS.iter().map(|it| row("set", it.word, it.means));
    let heads = HEADS.iter().map(|(of, word, means)| row(of, word, means));
    heads.chain(classes).chain(fields).chain(actions).chain(sets).collect()
}
