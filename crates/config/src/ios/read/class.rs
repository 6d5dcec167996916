//! The words of a class of a policy map: one row each.

use super::police;
use super::words::{Outcome, Words, wanted};
use super::{action, wred};
use crate::ios::plan::{Child, Class, Priority, Rate, Shape, Share, WithPlace};
use perhop_core::units::BitRate;

/// A word of a class, and how it is read.
pub struct Word {
    /// As typed.
    pub word: &'static str,
    /// perhop's equivalent, for the table of equivalents.
    pub means: &'static str,
    /// Reads what follows it.
    pub read: fn(&mut Class, &mut Words<'_>) -> Outcome,
}

const fn row(word: &'static str, means: &'static str, read: fn(&mut Class, &mut Words<'_>) -> Outcome) -> Word {
    Word { word, means, read }
}

/// All.
pub const WORDS: &[Word] = &[
    row("priority", "a class of `strict-priority`; `rate`, `burst`, `police = \"congested\"`", priority),
    row("bandwidth", "`quantum` of a class of `drr`", bandwidth),
    row("shape", "`shape`: `rate`, `burst` = (Bc + Be) / 8, `debt = true`", shape),
    row("police", "a conditioner `token-bucket`, `srtcm` or `trtcm`", police::police),
    row("conform-action", "`green`", police_line),
    row("exceed-action", "`yellow`, or `red` of `token-bucket`", police_line),
    row("violate-action", "`red`", police_line),
    row("conform-color", "`colour-aware = true` (approximated)", police_line),
    row("set", "`mark X` of the conditioner, else a `marker`", set),
    row("drop", "a `marker` whose packets are dropped", drop),
    row("random-detect", "`aqm = \"wred\"` with `profiles`, `weight`, `ecn`", wred::random_detect),
    row("queue-limit", "`limit`; by code point: profiles of `wred` with steps (approximated)", queue_limit),
    row("queue-buffers", "-", |_, words| no(words, "queues here do not share buffers: state `queue-limit`")),
    row("fair-queue", "`scheduler = \"fq-codel\"` (approximated)", fair_queue),
    row("service-policy", "the class's own queue, and conditioners before the class's", service_policy),
    row("account", "`overhead` of the shaper or policer", account),
    row("estimate", "-", |_, words| no(words, "estimates of bandwidth are not modelled: they change no packet")),
    row("compression", "-", |_, words| no(words, "headers are not compressed")),
    row("netflow-sampler", "-", |_, words| no(words, "flows are not sampled")),
    row("trust", "-", |_, words| no(words, "code points are always trusted")),
    row("dbl", "-", |_, words| no(words, "dynamic buffer limiting is not modelled")),
    row("pause", "-", |_, words| no(words, "priority flow control is not modelled")),
    row("mtu", "-", |_, words| no(words, "the MTU of a class is not modelled")),
    row("congestion-control", "drop-tail for `tail-drop`", congestion_control),
];

/// `no police`: what was said before is not said.
pub fn unsay(class: &mut Class, word: &str) -> Outcome {
    match word {
        "priority" => class.priority = None,
        "bandwidth" => class.bandwidth = None,
        "shape" => class.shaping.shape = None,
        "police" => class.police = None,
        "set" => class.sets.clear(),
        "drop" => class.drop = None,
        "random-detect" => class.waiting.wred = None,
        "fair-queue" => class.waiting.fair = None,
        "service-policy" => class.child = None,
        "queue-limit" => {
            class.waiting.limit = None;
            class.waiting.limits.clear();
        }
        // What is not modelled is not undone either.
        word if WORDS.iter().any(|known| known.word == word) => {}
        word => return Err(format!("`no {word}` is not understood")),
    }
    Ok(None)
}

fn no(words: &mut Words<'_>, why: &str) -> Outcome {
    words.rest();
    Err(why.to_owned())
}

fn police_line(class: &mut Class, words: &mut Words<'_>) -> Outcome {
    police::below(class, &mut Words::new(words.row(), words.before())).inspect(|_| _ = words.rest())
}

/// `priority [level N] [KBIT | percent P] [BYTES]`
fn priority(class: &mut Class, words: &mut Words<'_>) -> Outcome {
    let at = words.row().at();
    let level = if words.has("level") { words.number()? } else { 1 };
    let rate = if words.is_over() { None } else { Some(words.rate(1_000)?) };
    let burst = if words.is_number() { Some(words.count()?) } else { None };
    words.has("bytes");
    class.priority = Some(Priority { at, level, rate, burst });
    Ok(None)
}

/// `bandwidth {KBIT | percent P | remaining {percent P | ratio N}} [account ..]`
fn bandwidth(class: &mut Class, words: &mut Words<'_>) -> Outcome {
    let at = words.row().at();
    let is = if words.has("remaining") {
        remaining(words)?
    } else {
        match words.rate(1_000)?.is {
            Rate::Bits(rate) => Share::Rate(rate),
            Rate::Percent(percent) => Share::Percent(percent),
            Rate::Packets(_) => return Err("a bandwidth in packets is not modelled".into()),
        }
    };
    class.bandwidth = Some(WithPlace { is, at });
    if !words.has("account") {
        return Ok(None);
    }
    let _ = words.rest();
    Ok(Some("shares count bytes without the overhead of `account`".into()))
}

fn remaining(words: &mut Words<'_>) -> Result<Share, String> {
    if words.has("ratio") {
        return words.number().map(Share::RemainingRatio);
    }
    words.has("percent");
    words.percent().map(Share::RemainingPercent)
}

/// `shape [average | peak] R [Bc [Be]] [account ..]`
fn shape(class: &mut Class, words: &mut Words<'_>) -> Outcome {
    let peak = words.has("peak");
    if words.peek() == "max-buffers" {
        return no(words, "the buffers of the shaper are not modelled: `queue-limit` bounds what waits here");
    }
    if matches!(words.peek(), "adaptive" | "fecn-adapt") {
        return Err("shaping that adapts to Frame Relay is not modelled".into());
    }
    words.has("average");
    let unit = if words.has("kbps") { 1_000 } else { 1 };
    class.shaping.shape = Some(Shape { peak, ..rates_of_shape(words, unit, [&[], &[]])? });
    if words.has("account") { account(class, words) } else { Ok(None) }
}

/// `R [Bc [Be]]`: a rate of this unit, and bursts behind any of these words.
pub fn rates_of_shape(words: &mut Words<'_>, unit: u64, names: [&[&str]; 2]) -> Result<Shape, String> {
    let (at, rate) = (words.row().at(), words.rate(unit)?);
    let [bc, be] = names.map(|names| (words.has_any(names) || words.is_number()).then(|| words.bits()));
    Ok(Shape { at, peak: false, rate, bc: bc.transpose()?, be: be.transpose()? })
}

/// `account user-defined N [atm]`
pub fn account(class: &mut Class, words: &mut Words<'_>) -> Outcome {
    if !words.has("user-defined") {
        words.rest();
        return Err("overhead by the name of an encapsulation is not modelled: write `user-defined` and bytes".into());
    }
    let word = words.take();
    let is = word.parse().map_err(|_| wanted(word, "a number of bytes"))?;
    class.overhead = Some(WithPlace { is, at: words.at() });
    if words.has("atm") { Err("cells are not modelled".into()) } else { Ok(None) }
}

/// `set ..`
fn set(class: &mut Class, words: &mut Words<'_>) -> Outcome {
    let done = action::set(words)?;
    class.sets.push(done);
    Ok(None)
}

fn drop(class: &mut Class, words: &mut Words<'_>) -> Outcome {
    class.drop = Some(words.row().at());
    Ok(None)
}

/// `queue-limit N [packets|bytes|ms|us]`, `queue-limit dscp X [percent] N`
fn queue_limit(class: &mut Class, words: &mut Words<'_>) -> Outcome {
    let at = words.row().at();
    let field = words.peek();
    if matches!(field, "dscp" | "precedence" | "cos" | "qos-group" | "discard-class" | "exp") {
        words.take();
        return by_field(class, field, words);
    }
    class.waiting.limit = Some(WithPlace { is: words.length()?.is, at });
    // What devices show: the same in bytes.
    words.has("/");
    Ok(None)
}

fn by_field(class: &mut Class, field: &str, words: &mut Words<'_>) -> Outcome {
    let mut keys = if words.has("values") { words.until(&["percent"]) } else { words.one() };
    let keys = match field {
        "dscp" => keys.dscps()?,
        "precedence" => keys.precedences()?.into_iter().flat_map(super::words::dscps_of).collect(),
        _ => return Err(format!("no packet here has a {field}: its limit is not modelled")),
    };
    let limit = words.length()?.is;
    class.waiting.limits.push(WithPlace { is: (keys, limit), at: words.row().at() });
    Ok(Some("a profile of WRED that drops all beyond this length of the queue, without average".into()))
}

fn fair_queue(class: &mut Class, words: &mut Words<'_>) -> Outcome {
    class.waiting.fair = Some(words.row().at());
    words.rest();
    Ok(None)
}

/// `service-policy [output] NAME`
fn service_policy(class: &mut Class, words: &mut Words<'_>) -> Outcome {
    if words.has("type") {
        words.has_any(&["queueing", "queuing", "qos"]);
    }
    words.has_any(&["output", "input"]);
    let name = words.take();
    if name.is_empty() {
        return Err(wanted("", "the name of a policy map"));
    }
    class.child = Some(Child::Named(WithPlace { is: name.to_owned(), at: words.at() }));
    Ok(None)
}

/// `congestion-control tail-drop`
fn congestion_control(_: &mut Class, words: &mut Words<'_>) -> Outcome {
    match words.take() {
        "tail-drop" => Ok(None),
        word => Err(format!("`{word}` without thresholds is not modelled")),
    }
}

/// A rate of IOS's `bandwidth`.
pub const fn kbit(count: u64) -> BitRate {
    BitRate::bps(count.saturating_mul(1_000))
}
