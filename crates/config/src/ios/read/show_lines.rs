//! The lines of a class as devices print them: one row each.

use super::show_output::About;
use super::show_pattern::numbers;
use crate::ios::plan::{Bits, Burst, Class, Priority, Rate, Shape, Share, WithPlace};
use crate::ios::read::words::{Outcome, Words};
use crate::ios::read::{Reader, action, police};
use crate::ios::tree::Row;
use perhop_core::units::{BitRate, Bytes, Length, Packets, Span};

/// Lines of counters: pattern, what counts, and the names of the numbers.
const COUNTERS: &[(&str, &str, &[&str])] = &[
    ("# packets # bytes", "class", &["packets", "bytes"]),
    ("# packets", "class", &["packets"]),
    ("# minute offered rate # bps drop rate # bps", "class", &["interval_min", "offered_bps", "drop_bps"]),
    ("# minute offered rate # bps", "class", &["interval_min", "offered_bps"]),
    ("# minute rate # bps", "class", &["interval_min", "offered_bps"]),
    ("# second offered rate # bps drop rate # bps", "class", &["interval_s", "offered_bps", "drop_bps"]),
    ("# seconds offered rate # bps drop rate # bps", "class", &["interval_s", "offered_bps", "drop_bps"]),
    ("# second offered rate # bps", "class", &["interval_s", "offered_bps"]),
    ("# second rate # bps", "class", &["interval_s", "offered_bps"]),
    ("(queue depth/total drops/no-buffer drops) #/#/#", "queue", &["queue_depth", "total_drops", "no_buffer_drops"]),
    ("depth/total drops/no-buffer drops) #/#/#", "queue", &["queue_depth", "total_drops", "no_buffer_drops"]),
    ("(depth/total drops/no-buffer drops) #/#/#", "queue", &["queue_depth", "total_drops", "no_buffer_drops"]),
    (
        "(queue depth/total drops/no-buffer drops/flowdrops) #/#/#/#",
        "queue",
        &["queue_depth", "total_drops", "no_buffer_drops", "flowdrops"],
    ),
    ("(pkts output/bytes output) #/#", "queue", &["pkts_output", "bytes_output"]),
    ("(pkts queued/bytes queued) #/#", "queue", &["pkts_queued", "bytes_queued"]),
    ("(pkts matched/bytes matched) #/#", "queue", &["pkts_matched", "bytes_matched"]),
    ("(total drops) #", "queue", &["total_drops"]),
    ("(total drops/no-buffer drops) #/#", "queue", &["total_drops", "no_buffer_drops"]),
    ("(bytes output) #", "queue", &["bytes_output"]),
    ("(queue depth) #", "queue", &["queue_depth"]),
    ("(pkts output) #", "queue", &["pkts_output"]),
    ("Mean queue depth: # packets", "random-detect", &["mean_queue_depth_packets"]),
    ("Mean queue depth: # bytes", "random-detect", &["mean_queue_depth_bytes"]),
    ("Mean queue depth: # ms/ # bytes", "random-detect", &["mean_queue_depth_ms", "mean_queue_depth_bytes"]),
    ("Mean queue depth: # us/ # bytes", "random-detect", &["mean_queue_depth_us", "mean_queue_depth_bytes"]),
    ("mean queue depth: #", "random-detect", &["mean_queue_depth"]),
    ("conformed # bps exceeded # bps violated # bps", "police", &["conformed_bps", "exceeded_bps", "violated_bps"]),
    ("conformed # bps exceed # bps violate # bps", "police", &["conformed_bps", "exceeded_bps", "violated_bps"]),
    ("conformed # bps exceeded # bps", "police", &["conformed_bps", "exceeded_bps"]),
    ("conformed # bps exceed # bps", "police", &["conformed_bps", "exceeded_bps"]),
    ("conformed # pps exceeded # pps *", "police", &["conformed_pps", "exceeded_pps"]),
    ("Packets marked #", "set", &["packets_marked"]),
];

/// Packets of a colour, before their actions.
const COLOURED: &[(&str, usize, &[&str])] = &[
    ("conformed # packets # bytes *", 0, &["conformed_packets", "conformed_bytes"]),
    ("exceeded # packets # bytes *", 1, &["exceeded_packets", "exceeded_bytes"]),
    ("violated # packets # bytes *", 2, &["violated_packets", "violated_bytes"]),
    ("conformed # bytes *", 0, &["conformed_bytes"]),
    ("exceeded # bytes *", 1, &["exceeded_bytes"]),
    ("violated # bytes *", 2, &["violated_bytes"]),
    ("conformed # packets *", 0, &["conformed_packets"]),
    ("exceeded # packets *", 1, &["exceeded_packets"]),
    ("violated # packets *", 2, &["violated_packets"]),
];

/// Lines that only say what comes next, or what other lines say, too.
const HEADINGS: &[&str] = &[
    "Queueing",
    "QoS Set",
    "Weighted Fair Queueing",
    "Marker statistics: *",
    "Output Queue: Conversation #",
    "Output Queue: *",
    "Maximum Number of Hashed Queues #",
    "(total queued/total drops/no-buffer drops) #/#/#",
    "(total drops/bytes drops) #/#",
    "Traffic Shaping",
    "Target/Average Byte Sustain Excess Interval Increment",
    "Rate Limit bits/int bits/int (ms) (bytes)",
    "Adapt Queue Packets Bytes Packets Bytes Shaping",
    "Active Depth Delayed Delayed Active",
    "- # # # # # *",
    "Counters last updated *",
];

/// What a line says of a class.
type Says = fn(&mut Class, &Row<'_>, &[u64]) -> Outcome;

/// Lines of settings.
const SETTINGS: &[(&str, Says)] = &[
    ("queue limit # packets", |class, row, n| limit(class, row, packets(n[0])?)),
    ("queue limit # bytes", |class, row, n| limit(class, row, bytes(n[0]))),
    ("queue limit # (packets)", |class, row, n| limit(class, row, packets(n[0])?)),
    ("queue limit # us/ # bytes", |class, row, n| limit(class, row, bytes(n[1]))),
    ("queue limit # ms/ # bytes", |class, row, n| limit(class, row, bytes(n[1]))),
    ("queue limit # us", |class, row, n| limit(class, row, time(n[0], 1_000))),
    ("queue limit # ms", |class, row, n| limit(class, row, time(n[0], 1_000_000))),
    ("queue limit #", |class, row, n| limit(class, row, packets(n[0])?)),
    ("shape (average) cir # bc # be #", |class, row, n| shaped(class, row, (false, n))),
    ("shape (average) cir # bc # be # *", |class, row, n| shaped(class, row, (false, n))),
    ("shape (peak) cir # bc # be #", |class, row, n| shaped(class, row, (true, n))),
    ("target shape rate #", target),
    ("#/# # # # # #", shaped_by_table),
    ("bandwidth: # kbps", |class, row, n| share(class, row, kbit(n[0]))),
    ("bandwidth # kbps", |class, row, n| share(class, row, kbit(n[0]))),
    ("bandwidth # (kbps)", |class, row, n| share(class, row, kbit(n[0]))),
    ("bandwidth # (%)", |class, row, n| share(class, row, Share::Percent(n[0] as f64))),
    ("bandwidth # (kbps) Max Threshold # (packets)", |class, row, n| share(class, row, kbit(n[0]))),
    ("bandwidth # (%) Max Threshold # (packets)", |class, row, n| share(class, row, Share::Percent(n[0] as f64))),
    ("bandwidth # (# kbps)", |class, row, n| share(class, row, Share::Percent(n[0] as f64))),
    ("bandwidth remaining ratio #", |class, row, n| share(class, row, Share::RemainingRatio(n[0]))),
    ("bandwidth remaining #", |class, row, n| share(class, row, Share::RemainingPercent(n[0] as f64))),
    ("bandwidth remaining # (%)", |class, row, n| share(class, row, Share::RemainingPercent(n[0] as f64))),
    ("Priority Level: #", |class, _, n| level(class, n[0])),
    ("Priority: *", priority),
    ("Strict Priority *", priority),
    ("bandwidth # (kbps) burst # (bytes)", strict),
    ("Exp-weight-constant: # *", weight),
    ("exponential weight: #", weight),
    ("exponential weight #", weight),
    ("packet-based wred exponential weight #", weight),
    ("byte-based wred exponential weight #", weight),
    ("time-based wred exponential weight #", weight),
    ("percent-based wred exponential weight #", weight),
    ("Overhead Accounting *", |_, _, _| Ok(Some("its bytes are not printed: they are not counted".into()))),
    ("explicit congestion notification", |class, row, _| {
        class.waiting.wred.get_or_insert_default().ecn = Some(row.at());
        Ok(None)
    }),
    ("Fair-queue: *", fair),
    ("Flow Based Fair Queueing *", fair),
    ("police: *", policed),
    ("cir # *", policed),
    ("rate # *", policed),
    ("pir # *", |class, row, _| police::below(class, &mut Words::new(row, 0))),
    ("peak-rate # *", |class, row, _| police::below(class, &mut Words::new(row, 0))),
    ("# bps # limit # extended limit", bare_policer),
];

impl Reader {
    /// Counters; `None` if the line has none.
    pub(super) fn counters(&mut self, row: &Row<'_>) -> Option<Outcome> {
        for (pattern, colour, names) in COLOURED {
            if let Some(numbers) = numbers(pattern, row) {
                self.shown.colour = Some(*colour);
                self.counted("police", (names, &numbers), row);
                return Some(self.action_behind(row));
            }
        }
        if HEADINGS.iter().any(|pattern| numbers(pattern, row).is_some()) {
            return Some(Ok(None));
        }
        let (_, kind, names, numbers) =
            COUNTERS.iter().find_map(|(pattern, kind, names)| Some((pattern, kind, names, numbers(pattern, row)?)))?;
        let kind = match *kind {
            "set" => format!("set {}", self.shown.set),
            "class" if self.shown.open.tests > 0 => format!("match {}", self.shown.open.tests),
            kind => kind.to_owned(),
        };
        self.counted(&kind, (names, &numbers), row);
        Some(Ok(None))
    }

    fn counted(&mut self, kind: &str, (names, numbers): (&[&'static str], &[u64]), row: &Row<'_>) {
        let counts: Vec<_> = names.iter().copied().zip(numbers.iter().copied()).collect();
        self.count(kind, row.at(), &counts);
    }

    /// `conformed 15 packets, 6210 bytes; action:transmit`
    fn action_behind(&mut self, row: &Row<'_>) -> Outcome {
        let behind = row.words.iter().position(|word| matches!(word.text, "action:" | "actions:")).map(|at| at + 1);
        match behind.filter(|at| *at < row.words.len()) {
            Some(at) => self.shown_action(self.shown_here(), row, at).unwrap_or(Ok(None)),
            None => Ok(None),
        }
    }

    /// A line of a class, or of the priority queues of a policy; `None` if it is not known.
    pub(super) fn line(&mut self, at: (usize, usize), row: &Row<'_>) -> Option<Outcome> {
        if row.starts(&["queue", "stats", "for", "all", "priority"]) {
            self.shown.about = About::Priority(0);
            return Some(Ok(None));
        }
        if let About::Priority(level) = self.shown.about {
            return self.line_of_priority((at.0, level), row);
        }
        if let Some(outcome) = self.shown_action(at, row, 0) {
            return Some(outcome);
        }
        self.row_of_wred(at, row).or_else(|| self.setting(at, row)).or_else(|| self.set_of_class(at, row))
    }

    fn line_of_priority(&mut self, (policy, level): (usize, u64), row: &Row<'_>) -> Option<Outcome> {
        if let Some(numbers) = numbers("priority level #", row) {
            self.shown.about = About::Priority(numbers[0]);
            return Some(Ok(None));
        }
        let mut scratch = Class::default();
        let outcome = setting(&mut scratch, row)?;
        self.shown.limits.extend(scratch.waiting.limit.map(|limit| (policy, level, limit)));
        Some(outcome)
    }

    fn setting(&mut self, at: (usize, usize), row: &Row<'_>) -> Option<Outcome> {
        let drops = row.words.iter().position(|word| word.text == "drops:");
        if let Some(Ok(drops)) = drops.map(|at| row.word(at + 1).parse::<u64>()) {
            self.count("priority", row.at(), &[("exceed_drops", drops)]);
        }
        setting(self.shown_class_at(at)?, row)
    }

    /// `dscp ef`, `ip precedence 6`, below `QoS Set`.
    fn set_of_class(&mut self, at: (usize, usize), row: &Row<'_>) -> Option<Outcome> {
        let first = usize::from(row.word(0) == "ip");
        if !action::SETS.iter().any(|known| known.word == row.word(first)) {
            return None;
        }
        let mut words = Words::new(row, 0);
        let outcome = action::set(&mut words).and_then(|done| {
            self.shown_class_at(at).ok_or("no class comes before it")?.sets.push(done);
            words.end().map(|()| None)
        });
        let field: Vec<_> = row.words.iter().map(|word| word.text).collect();
        self.shown.set = field.join(" ");
        Some(outcome)
    }

    /// A line of a class of `show policy-map` that is not as typed.
    pub(super) fn line_of_map(&mut self, (policy, class): (usize, usize), row: &Row<'_>) -> bool {
        self.shown.percent |= row.word(0) == "percent-based";
        let outcome = match (row.word(0), row.word(1)) {
            ("Average" | "Peak", "Rate") => Some(self.rate_of_shape((policy, class), row)),
            ("cir", _) if self.plan.policies[policy].classes[class].shaping.begins => {
                Some(cir_of_shape(&mut self.plan.policies[policy].classes[class], row))
            }
            ("priority", _) => None,
            _ if HEADINGS.iter().any(|pattern| numbers(pattern, row).is_some()) => Some(Ok(None)),
            _ => self
                .row_of_wred((policy, class), row)
                .or_else(|| capital(row).then(|| setting(&mut self.plan.policies[policy].classes[class], row))?),
        };
        let known = outcome.is_some();
        if let Some(outcome) = outcome {
            self.settle(row, outcome);
        }
        known
    }

    fn rate_of_shape(&mut self, (policy, class): (usize, usize), row: &Row<'_>) -> Outcome {
        let class = &mut self.plan.policies[policy].classes[class];
        class.shaping.begins = true;
        class.shaping.peak = row.word(0) == "Peak";
        Ok(None)
    }

    /// The class that lines are about.
    fn shown_here(&self) -> (usize, usize) {
        match self.here {
            crate::ios::read::Here::Shown(policy, class) => (policy, class),
            _ => (usize::MAX, 0),
        }
    }
}

/// Lines that are not typed so.
fn capital(row: &Row<'_>) -> bool {
    let word = row.word(0);
    word.starts_with(char::is_uppercase)
        || matches!(
            word,
            "packet-based" | "byte-based" | "time-based" | "percent-based" | "exponential" | "explicit" | "queue"
        )
        || (word == "bandwidth" && row.words.iter().any(|word| word.text.starts_with('(')))
}

fn setting(class: &mut Class, row: &Row<'_>) -> Option<Outcome> {
    let (says, numbers) = SETTINGS.iter().find_map(|(pattern, says)| Some((says, numbers(pattern, row)?)))?;
    Some(says(class, row, &numbers))
}

fn packets(count: u64) -> Result<Length, String> {
    let count = u32::try_from(count).map_err(|_| "a limit beyond 2^32 packets".to_owned())?;
    Ok(Length::Packets(Packets::new(count)))
}

const fn bytes(count: u64) -> Length {
    Length::Bytes(Bytes::new(count))
}

const fn time(count: u64, unit: u64) -> Length {
    Length::Time(Span::from_ns(count.saturating_mul(unit)))
}

const fn kbit(count: u64) -> Share {
    Share::Rate(BitRate::bps(count.saturating_mul(1_000)))
}

fn limit(class: &mut Class, row: &Row<'_>, is: Length) -> Outcome {
    class.waiting.limit = Some(WithPlace { is, at: row.at() });
    Ok(None)
}

fn share(class: &mut Class, row: &Row<'_>, is: Share) -> Outcome {
    class.bandwidth = Some(WithPlace { is, at: row.at() });
    Ok(None)
}

/// `shape (average) cir R, bc B, be E`: bit/s and bits.
fn shaped(class: &mut Class, row: &Row<'_>, (peak, n): (bool, &[u64])) -> Outcome {
    let at = row.at();
    let rate = WithPlace { is: Rate::Bits(BitRate::bps(n[0])), at };
    let bits = |count: u64| Some(WithPlace { is: Bits::Count(count), at });
    class.shaping.shape = Some(Shape { at, peak, rate, bc: bits(n[1]), be: bits(n[2]) });
    Ok(None)
}

/// The row of the table below `Traffic Shaping`: target and average rate, the limit in bytes, bits sustained and in excess.
fn shaped_by_table(class: &mut Class, row: &Row<'_>, n: &[u64]) -> Outcome {
    shaped(class, row, (n[0] != n[1], &[n[1], n[3], n[4]]))
}

/// `Bandwidth 386 (kbps) Burst 9650 (Bytes)`, below `Strict Priority`.
fn strict(class: &mut Class, row: &Row<'_>, n: &[u64]) -> Outcome {
    let at = row.at();
    let priority = class.priority.as_mut().ok_or("no priority comes before it")?;
    priority.rate = Some(WithPlace { is: Rate::Bits(BitRate::bps(n[0].saturating_mul(1_000))), at });
    priority.burst = Some(WithPlace { is: n[1], at });
    Ok(None)
}

/// What the shaper sends at: for `peak` more than the rate.
fn target(class: &mut Class, _: &Row<'_>, n: &[u64]) -> Outcome {
    let Some(shape) = &class.shaping.shape else { return Ok(None) };
    match shape.rate.is {
        Rate::Bits(rate) if rate.bit_s() != n[0] && !shape.peak => {
            Ok(Some("the shaper sends at the rate of `cir`, from which this differs".into()))
        }
        _ => Ok(None),
    }
}

fn level(class: &mut Class, level: u64) -> Outcome {
    class.priority.as_mut().ok_or("no priority comes before it")?.level = level;
    Ok(None)
}

/// `Priority: 30% (29961 kbps), burst bytes 749000, b/w exceed drops: 0`
fn priority(class: &mut Class, row: &Row<'_>, _: &[u64]) -> Outcome {
    let at = row.at();
    let word = |name: &str| row.words.iter().position(|word| word.text == name);
    let number = |at: usize| row.word(at).trim_start_matches('(').parse::<u64>().ok();
    let kbit = word("kbps)").or_else(|| word("kbps")).and_then(|at| number(at.checked_sub(1)?));
    let rate = kbit.map(|kbit| WithPlace { is: Rate::Bits(BitRate::bps(kbit.saturating_mul(1_000))), at });
    let burst = word("bytes").and_then(|at| number(at + 1)).map(|is| WithPlace { is, at });
    let known = class.priority.as_ref().map_or(1, |priority| priority.level);
    class.priority = Some(Priority { at, level: known, rate, burst });
    Ok(None)
}

fn weight(class: &mut Class, row: &Row<'_>, n: &[u64]) -> Outcome {
    let wred = class.waiting.wred.get_or_insert_default();
    (wred.at, wred.whole) = (wred.at.or(Some(row.at())), true);
    wred.weight = Some(WithPlace { is: n[0], at: row.at() });
    Ok(None)
}

fn fair(class: &mut Class, row: &Row<'_>, _: &[u64]) -> Outcome {
    class.waiting.fair = Some(row.at());
    Ok(None)
}

/// `police:`, `cir R bps, bc B bytes`, `rate R pps, burst B packets`
fn policed(class: &mut Class, row: &Row<'_>, _: &[u64]) -> Outcome {
    let first = usize::from(row.word(0).eq_ignore_ascii_case("police:"));
    if row.words.len() == first {
        return Ok(None);
    }
    let before = class.police.take();
    let mut words = Words::new(row, first);
    let outcome = police::police(class, &mut words).and_then(|nearly| words.end().map(|()| nearly));
    if let (Some(before), Some(police)) = (before, &mut class.police) {
        police.actions = before.actions;
    }
    outcome
}

/// `8000 bps, 1500 limit, 1500 extended limit`
fn bare_policer(class: &mut Class, row: &Row<'_>, n: &[u64]) -> Outcome {
    let at = row.at();
    let burst = |count: u64| Some(WithPlace { is: Burst::Bytes(count), at });
    let cir = WithPlace { is: Rate::Bits(BitRate::bps(n[0])), at };
    let actions = [None, None, None];
    let it = crate::ios::plan::Police { at, cir, bc: burst(n[1]), pir: None, be: burst(n[2]), actions, aware: None };
    class.police = Some(it);
    Ok(None)
}

/// `cir 100000000 (bps) bc 80000000 (bits) be 60000000 (bits)`
fn cir_of_shape(class: &mut Class, row: &Row<'_>) -> Outcome {
    let at = row.at();
    let mut words = Words::new(row, 1);
    let rate = words.rate(1)?;
    let bc = if words.has("bc") { Some(words.bits()?) } else { None };
    let be = if words.has("be") { Some(words.bits()?) } else { None };
    class.shaping.shape = Some(Shape { at, peak: class.shaping.peak, rate, bc, be });
    if words.has("account") {
        return crate::ios::read::class::account(class, &mut words);
    }
    words.end().map(|()| None)
}
