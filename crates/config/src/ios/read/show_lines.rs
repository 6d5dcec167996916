//! The lines of a class as devices print them, in patterns: by the words of the class.

use super::show_output::About;
use super::show_pattern::{Hole, holes};
use crate::ios::plan::{Class, Priority, Rate, Shape, WithPlace};
use crate::ios::read::words::{Outcome, Words};
use crate::ios::read::{Reader, action, class, police};
use crate::ios::tree::Row;
use crate::text::Word;

/// What a line says.
#[derive(Clone, Copy, Debug)]
enum Says {
    /// What comes next, or what other lines say, too.
    Heading,
    /// Counters of this kind, by the names that the pattern has.
    Counts(&'static str),
    /// Packets of a colour of the policer, before their actions.
    Colour(usize),
    /// What is typed so.
    Typed(&'static str),
    /// Something of the class that is not typed so.
    Sets(fn(&mut Class, &Row<'_>, &[Hole<'_>]) -> Outcome),
}
use Says::{Colour, Counts, Heading, Sets, Typed};

/// The lines.
const LINES: &[(Says, &str)] = &[
    (Counts("class"), "#packets packets [#bytes bytes]"),
    (Counts("class"), "#interval_min minute [offered] rate #offered_bps bps [drop rate #drop_bps bps]"),
    (Counts("class"), "#interval_s second|seconds [offered] rate #offered_bps bps [drop rate #drop_bps bps]"),
    (Heading, "Counters last updated *"),
    // queue-limit
    (Typed("queue-limit #limit packets"), "queue limit #limit [packets|(packets)]"),
    (Typed("queue-limit #limit bytes"), "queue limit [# us/|ms/] #limit bytes"),
    (Typed("queue-limit #limit us"), "queue limit #limit us"),
    (Typed("queue-limit #limit ms"), "queue limit #limit ms"),
    (
        Counts("queue"),
        "[(queue] depth/total|(depth/total drops/no-buffer drops) #queue_depth,total_drops,no_buffer_drops",
    ),
    (
        Counts("queue"),
        "(queue depth/total drops/no-buffer drops/flowdrops) #queue_depth,total_drops,no_buffer_drops,flowdrops",
    ),
    (Counts("queue"), "(pkts output/bytes output) #pkts_output,bytes_output"),
    (Counts("queue"), "(pkts queued/bytes queued) #pkts_queued,bytes_queued"),
    (Counts("queue"), "(pkts matched/bytes matched) #pkts_matched,bytes_matched"),
    (Counts("queue"), "(total drops) #total_drops"),
    (Counts("queue"), "(total drops/no-buffer drops) #total_drops,no_buffer_drops"),
    (Counts("queue"), "(bytes output) #bytes_output"),
    (Counts("queue"), "(queue depth) #queue_depth"),
    (Counts("queue"), "(pkts output) #pkts_output"),
    (Heading, "Queueing"),
    (Heading, "Output Queue: [Conversation #] *"),
    // shape
    (Typed("shape average #rate #bc #be"), "shape (average) cir #rate bc #bc be #be *"),
    (Typed("shape peak #rate #bc #be"), "shape (peak) cir #rate bc #bc be #be"),
    (Sets(table_of_shape), "#target,rate # #bc #be # #"),
    (Sets(target), "target shape rate #rate"),
    (Sets(|_, _, _| Ok(Some("its bytes are not printed: they are not counted".into()))), "Overhead Accounting *"),
    (Heading, "Traffic Shaping"),
    (Heading, "Target/Average Byte Sustain Excess Interval Increment"),
    (Heading, "Rate Limit bits/int bits/int (ms) (bytes)"),
    (Heading, "Adapt Queue Packets Bytes Packets Bytes Shaping"),
    (Heading, "Active Depth Delayed Delayed Active"),
    (Heading, "- # # # # # *"),
    // bandwidth
    (Typed("bandwidth #rate"), "bandwidth:|bandwidth #rate kbps"),
    (Typed("bandwidth #rate"), "bandwidth #rate (kbps) [Max Threshold # (packets)]"),
    (Typed("bandwidth percent #percent"), "bandwidth #percent (%) [Max Threshold # (packets)]"),
    (Typed("bandwidth percent #percent"), "bandwidth #percent (# kbps)"),
    (Typed("bandwidth remaining ratio #ratio"), "bandwidth remaining ratio #ratio"),
    (Typed("bandwidth remaining percent #percent"), "bandwidth remaining #percent [(%)]"),
    // priority
    (Sets(level), "Priority Level: #level"),
    (Sets(priority), "Priority: *"),
    (Sets(priority), "Strict Priority *"),
    (Sets(strict), "bandwidth #rate (kbps) burst #burst (bytes)"),
    // random-detect
    (Sets(weight), "Exp-weight-constant: #weight *"),
    (Sets(weight), "[packet-based|byte-based|time-based|percent-based wred] exponential weight:|weight #weight"),
    (Typed("random-detect ecn"), "explicit congestion notification"),
    (Counts("random-detect"), "Mean queue depth: #mean_queue_depth_packets packets"),
    (Counts("random-detect"), "Mean queue depth: #mean_queue_depth_bytes bytes"),
    (Counts("random-detect"), "Mean queue depth: #mean_queue_depth_ms ms/ #mean_queue_depth_bytes bytes"),
    (Counts("random-detect"), "Mean queue depth: #mean_queue_depth_us us/ #mean_queue_depth_bytes bytes"),
    (Counts("random-detect"), "mean queue depth: #mean_queue_depth"),
    (Counts("afd"), "Total Drops(Bytes) : #total_drops_bytes"),
    (Counts("afd"), "Total Drops(Packets) : #total_drops_packets"),
    // fair-queue
    (Typed("fair-queue"), "Fair-queue: *"),
    (Typed("fair-queue"), "Flow Based Fair Queueing *"),
    (Heading, "Weighted Fair Queueing"),
    (Heading, "Maximum Number of Hashed Queues #"),
    (Heading, "(total queued/total drops/no-buffer drops) #,,"),
    (Heading, "(total drops/bytes drops) #,"),
    // police
    (Sets(policed), "police: *"),
    (Sets(policed), "cir|rate # *"),
    (Sets(|class, row, _| police::below(class, &mut Words::new(row, 0))), "pir|peak-rate # *"),
    (Typed("police #rate #bc #be"), "#rate bps #bc limit #be extended limit"),
    (Colour(0), "conformed #conformed_packets packets [#conformed_bytes bytes] *"),
    (Colour(0), "conformed #conformed_bytes bytes *"),
    (Colour(1), "exceeded #exceeded_packets packets [#exceeded_bytes bytes] *"),
    (Colour(1), "exceeded #exceeded_bytes bytes *"),
    (Colour(2), "violated #violated_packets packets [#violated_bytes bytes] *"),
    (Colour(2), "violated #violated_bytes bytes *"),
    (
        Counts("police"),
        "conformed #conformed_bps bps exceeded|exceed #exceeded_bps bps [violated|violate #violated_bps bps]",
    ),
    (Counts("police"), "conformed #conformed_pps pps exceeded #exceeded_pps pps *"),
    // set
    (Counts("set"), "Packets marked #packets_marked"),
    (Heading, "QoS Set"),
    (Heading, "Marker statistics: *"),
];

impl Reader {
    /// Counters; `None` if the line has none.
    pub(super) fn counters(&mut self, row: &Row<'_>) -> Option<Outcome> {
        let (says, holes) = line(row)?;
        let kind = match says {
            Heading => return Some(Ok(None)),
            Colour(colour) => {
                self.shown.colour = Some(colour);
                "police".to_owned()
            }
            Counts("set") => format!("set {}", self.shown.set),
            Counts("class") if self.shown.open.tests > 0 => format!("match {}", self.shown.open.tests),
            Counts(kind) => kind.to_owned(),
            Typed(_) | Sets(_) => return None,
        };
        let counts: Vec<_> = holes.iter().map(|hole| (hole.name, hole.number)).collect();
        self.count(&kind, row.at(), &counts);
        Some(if matches!(says, Colour(_)) { self.action_behind(row) } else { Ok(None) })
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
        if let Some(holes) = holes("priority level #", row) {
            self.shown.about = About::Priority(holes[0].number);
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
            _ if matches!(line(row), Some((Heading, _))) => Some(Ok(None)),
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

/// What a line says, with its numbers.
fn line<'a>(row: &Row<'a>) -> Option<(Says, Vec<Hole<'a>>)> {
    LINES.iter().find_map(|(says, pattern)| Some((*says, holes(pattern, row)?)))
}

fn setting(class: &mut Class, row: &Row<'_>) -> Option<Outcome> {
    match line(row)? {
        (Typed(line), holes) => Some(typed(class, row, (line, &holes))),
        (Sets(sets), holes) => Some(sets(class, row, &holes)),
        _ => None,
    }
}

/// Reads a line as it would be typed, with these numbers.
fn typed(class: &mut Class, row: &Row<'_>, (line, holes): (&'static str, &[Hole<'_>])) -> Outcome {
    let place = row.at().place;
    let text = |part: &'static str| match part.strip_prefix('#') {
        Some(name) => holes.iter().find(|hole| hole.name == name).map_or("", |hole| hole.text),
        None => part,
    };
    let words = line.split(' ').map(|part| Word { text: text(part), place }).collect();
    let typed = Row { words, ..*row };
    let known = class::WORDS.iter().find(|known| known.word == typed.word(0));
    known.map_or(Ok(None), |known| (known.read)(class, &mut Words::new(&typed, 1)))
}

/// What the shaper sends at: for `peak` more than the rate.
fn target(class: &mut Class, _: &Row<'_>, holes: &[Hole<'_>]) -> Outcome {
    let Some(shape) = &class.shaping.shape else { return Ok(None) };
    match shape.rate.is {
        Rate::Bits(rate) if rate.bit_s() != holes[0].number && !shape.peak => {
            Ok(Some("the shaper sends at the rate of `cir`, from which this differs".into()))
        }
        _ => Ok(None),
    }
}

/// The row of the table below `Traffic Shaping`: target and average rate, the limit in bytes, bits sustained and in excess.
fn table_of_shape(class: &mut Class, row: &Row<'_>, holes: &[Hole<'_>]) -> Outcome {
    let is_peak = holes[0].number != holes[1].number;
    typed(class, row, (if is_peak { "shape peak #rate #bc #be" } else { "shape average #rate #bc #be" }, holes))
}

fn level(class: &mut Class, _: &Row<'_>, holes: &[Hole<'_>]) -> Outcome {
    class.priority.as_mut().ok_or("no priority comes before it")?.level = holes[0].number;
    Ok(None)
}

/// `Priority: 30% (29961 kbps), burst bytes 749000, b/w exceed drops: 0`
fn priority(class: &mut Class, row: &Row<'_>, _: &[Hole<'_>]) -> Outcome {
    let at = row.at();
    let word = |name: &str| row.words.iter().position(|word| word.text == name);
    let number = |at: usize| row.word(at).trim_start_matches('(').parse::<u64>().ok();
    let rate = word("kbps)").or_else(|| word("kbps")).and_then(|at| number(at.checked_sub(1)?));
    let rate = rate.map(|kbit| WithPlace { is: Rate::Bits(class::kbit(kbit)), at });
    let burst = word("bytes").and_then(|at| number(at + 1)).map(|is| WithPlace { is, at });
    let level = class.priority.as_ref().map_or(1, |priority| priority.level);
    class.priority = Some(Priority { at, level, rate, burst });
    Ok(None)
}

/// `Bandwidth 386 (kbps) Burst 9650 (Bytes)`, below `Strict Priority`.
fn strict(class: &mut Class, row: &Row<'_>, holes: &[Hole<'_>]) -> Outcome {
    let (at, priority) = (row.at(), class.priority.as_mut().ok_or("no priority comes before it")?);
    priority.rate = Some(WithPlace { is: Rate::Bits(class::kbit(holes[0].number)), at });
    priority.burst = Some(WithPlace { is: holes[1].number, at });
    Ok(None)
}

/// The average of WRED, which is enabled where a device prints it.
fn weight(class: &mut Class, row: &Row<'_>, holes: &[Hole<'_>]) -> Outcome {
    let wred = class.waiting.wred.get_or_insert_default();
    (wred.at, wred.whole) = (wred.at.or(Some(row.at())), true);
    wred.weight = Some(WithPlace { is: holes[0].number, at: row.at() });
    Ok(None)
}

/// `police:`, `cir R bps, bc B bytes`, `rate R pps, burst B packets`
fn policed(class: &mut Class, row: &Row<'_>, _: &[Hole<'_>]) -> Outcome {
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

/// `cir 100000000 (bps) bc 80000000 (bits) be 60000000 (bits)`
fn cir_of_shape(class: &mut Class, row: &Row<'_>) -> Outcome {
    let mut words = Words::new(row, 1);
    let shape = class::rates_of_shape(&mut words, 1, [&["bc"], &["be"]])?;
    class.shaping.shape = Some(Shape { peak: class.shaping.peak, ..shape });
    if words.has("account") {
        return class::account(class, &mut words);
    }
    words.end().map(|()| None)
}
