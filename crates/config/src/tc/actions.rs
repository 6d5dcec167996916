//! Actions of filters: `police`, and what marks, drops or sends elsewhere.

use super::options::{Does, Options, Row, Takes, option, row};
use super::units::{self, number};
use super::words::{Form, Refusal, Taken, Token, Words};
use perhop_core::dscp::Dscp;
use perhop_core::params::Place;

/// What comes after an action.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Control {
    /// The packet goes on to the queue.
    #[default]
    Ok,
    /// It is dropped.
    Drop,
    /// The next action of the filter.
    Pipe,
    /// The next filter.
    Continue,
    /// The first filter again.
    Reclassify,
    /// Another chain, and what perhop has not.
    Other,
}

/// What an action does.
#[derive(Clone, Debug)]
pub(super) enum Act<'a> {
    /// A policer: its options, its number, what happens beyond it.
    Police(Box<Options<'a>>, Option<u64>, Control),
    /// Only what comes after it.
    Goes,
    /// A code point.
    Mark(Dscp),
    /// A class of a queueing discipline.
    Priority(u32),
    /// A mark of the firewall, and which of its bits.
    Tag(u64, u64),
    /// To another interface.
    Redirect(Token<'a>),
    /// What changes nothing of a packet that perhop has.
    Nothing,
    /// What perhop has not: why.
    Lost(String),
}

/// An action.
#[derive(Clone, Debug)]
pub(super) struct Action<'a> {
    pub(super) act: Act<'a>,
    /// What comes after it; of a policer, after what conforms.
    pub(super) then: Control,
    pub(super) place: Place,
    pub(super) line: usize,
}

impl Action<'_> {
    /// Whether no packet continues from it to the next filter.
    pub(super) fn ends(&self) -> bool {
        let exceed = if let Act::Police(_, _, exceed) = &self.act { *exceed } else { Control::Ok };
        self.then != Control::Continue && exceed != Control::Continue
    }

    /// Whether it drops, marks or tags packets.
    pub(super) const fn alters(&self) -> bool {
        matches!(self.act, Act::Police(..) | Act::Mark(_) | Act::Tag(..)) || matches!(self.then, Control::Drop)
    }
}

/// Words of a policer.
pub const POLICE: &[Row] = &[
    row("rate", Takes::Rate, Does::Sets("cir")),
    row("burst", Takes::Size, Does::Sets("cbs")),
    row("buffer", Takes::Size, Does::Sets("cbs")),
    row("maxburst", Takes::Size, Does::Sets("cbs")),
    row("peakrate", Takes::Rate, Does::Sets("pir")),
    row("mtu", Takes::Size, Does::Makes("`mtu`, unless it is what tc sets itself")),
    row("minburst", Takes::Size, Does::Makes("`mtu`, unless it is what tc sets itself")),
    row("pkts_rate", Takes::Count, Does::Makes("`cir` in packets")),
    row("pkts_burst", Takes::Count, Does::Makes("`cbs` in packets")),
    row("mpu", Takes::Size, Does::Same("Linux ignores it in a policer")),
    row("overhead", Takes::Signed, Does::Makes("`overhead`")),
    row("linklayer", Takes::Word, Does::Makes("`link-layer`")),
    row("avrate", Takes::Rate, Does::Lost("perhop has no estimator of rates in a policer")),
    row("index", Takes::Count, Does::Makes("one policer of several filters")),
];

/// Words with which all actions may end.
const ENDS: [(&str, usize); 12] = [
    ("index", 1),
    ("ref", 1),
    ("bind", 1),
    ("cookie", 1),
    ("no_percpu", 0),
    ("hw_stats", 1),
    ("skip_hw", 0),
    ("skip_sw", 0),
    ("in_hw", 0),
    ("not_in_hw", 0),
    ("installed", 0),
    ("order", 1),
];

fn control(word: &str) -> Option<Control> {
    Some(match word {
        "ok" | "pass" | "accept" => Control::Ok,
        "drop" | "shot" => Control::Drop,
        "pipe" => Control::Pipe,
        "continue" => Control::Continue,
        "reclassify" => Control::Reclassify,
        "goto" | "jump" | "trap" => Control::Other,
        _ => return None,
    })
}

/// Kinds of actions: one may follow another without the word `action` between them.
const KINDS: [&str; 16] = [
    "police",
    "gact",
    "pedit",
    "csum",
    "skbedit",
    "mirred",
    "connmark",
    "ctinfo",
    "simple",
    "vlan",
    "skbmod",
    "tunnel_key",
    "sample",
    "mpls",
    "nat",
    "bpf",
];

/// One or more actions, whose word `action` has been read.
///
/// # Errors
/// What tc would refuse.
pub(super) fn read<'a>(list: &mut Vec<Action<'a>>, words: &mut Words<'_, 'a>, form: Form) -> Taken<()> {
    list.push(one(words, form)?);
    while words.peek().is_some_and(|it| KINDS.contains(&&*it.text)) {
        list.push(one(words, form)?);
    }
    Ok(())
}

/// The next action.
///
/// # Errors
/// What tc would refuse.
fn one<'a>(words: &mut Words<'_, 'a>, form: Form) -> Taken<Action<'a>> {
    if words.take("order").is_some() {
        words.next();
    }
    let Some(word) = words.next() else { return Err(Refusal::of("nothing follows `action`")) };
    Ok(match &*word.text {
        "police" => police(word, words, form)?,
        "gact" => gact(word, words)?,
        "pedit" => pedit(word, words)?,
        "csum" => {
            while words.peek().is_some_and(|it| control(&it.text).is_none() && is_sum(&it.text)) {
                words.next();
            }
            ends(Act::Nothing, Control::Ok, word, words)
        }
        "skbedit" => skbedit(word, words)?,
        "mirred" => mirred(word, words)?,
        text if control(text).is_some() => plain(word, words),
        kind => other(kind, word, words),
    })
}

fn is_sum(word: &str) -> bool {
    ["ip4h", "icmp", "igmp", "tcp", "udp", "udplite", "sctp", "ip", "and", "sweets", "iph"].contains(&word)
}

/// What comes after an action, and its number.
fn ends<'a>(act: Act<'a>, default: Control, word: &Token<'a>, words: &mut Words<'_, 'a>) -> Action<'a> {
    let mut then = default;
    while let Some(next) = words.peek() {
        if let Some(found) = control(&next.text) {
            then = found;
            words.next();
            if matches!(&*next.text, "goto" | "jump") {
                chain(words);
            }
        } else if let Some((_, values)) = ENDS.iter().find(|it| it.0 == next.text) {
            (0..=*values).for_each(|_| _ = words.next());
        } else {
            break;
        }
    }
    Action { act, then, place: word.place, line: word.line }
}

/// `chain 5`, of `goto`.
fn chain(words: &mut Words<'_, '_>) {
    words.take("chain");
    words.next();
}

/// `action drop`
fn plain<'a>(word: &Token<'a>, words: &mut Words<'_, 'a>) -> Action<'a> {
    let then = control(&word.text).unwrap_or_default();
    if then == Control::Other {
        chain(words);
    }
    let Action { act, place, line, .. } = ends(Act::Goes, then, word, words);
    Action { act, then, place, line }
}

/// `action gact drop random netrand ok 5`
fn gact<'a>(word: &Token<'a>, words: &mut Words<'_, 'a>) -> Taken<Action<'a>> {
    words.take("action");
    let first = words.value(word)?;
    let Some(then) = control(&first.text) else {
        let message = format!("tc knows no action `{}`, and no command before it makes one of this number", first.text);
        return Err(Refusal::at(first, message));
    };
    let mut act = Act::Goes;
    if words.take("random").is_some() {
        let how = words.value(word)?;
        words.take("action");
        words.next();
        words.take("val");
        let value = words.next();
        if how.text != "none" && value.is_some_and(|it| it.text != "0") {
            act = Act::Lost("`random`: perhop's actions are not random".into());
        }
    }
    let action = ends(act, then, word, words);
    Ok(Action { then, ..action })
}

/// `action pedit ex munge ip dsfield set 0x28 retain 0xfc`
fn pedit<'a>(word: &Token<'a>, words: &mut Words<'_, 'a>) -> Taken<Action<'a>> {
    let (mut act, mut dscp) = (None, None);
    let lost = || Act::Lost("`pedit` of anything but the code point: perhop changes no other field".into());
    while let Some(next) = words.peek() {
        match &*next.text {
            "ex" | "munge" | "pedit" => _ = words.next(),
            "ip" | "ip6" => {
                words.next();
                let field = words.value(word)?;
                match &*field.text {
                    "dsfield" | "tos" | "traffic_class" => dscp = Some(marked(field, words)?),
                    _ => act = Some(lost()),
                }
            }
            text if control(text).is_some() || ENDS.iter().any(|it| it.0 == text) => break,
            "action" | "flowid" | "classid" => break,
            _ => {
                words.next();
                act = act.or_else(|| dscp.is_none().then(lost));
            }
        }
    }
    let act = act.or(dscp).unwrap_or_else(lost);
    Ok(ends(act, Control::Pipe, word, words))
}

/// `set 0x28 retain 0xfc`
fn marked<'a>(field: &Token<'a>, words: &mut Words<'_, 'a>) -> Taken<Act<'a>> {
    if words.take("set").is_none() {
        words.next();
        return Ok(Act::Lost("`pedit` that does not set a whole code point".into()));
    }
    let value = words.value(field)?;
    let value = number(&value.text).ok_or_else(|| Refusal::at(value, format!("`{}` is no octet", value.text)))?;
    let mask = match words.take("retain") {
        Some(retain) => {
            let mask = words.value(retain)?;
            number(&mask.text).ok_or_else(|| Refusal::at(mask, format!("`{}` is no mask", mask.text)))?
        }
        None => 0xff,
    };
    match (Dscp::new((value >> 2) as u8), mask) {
        (Some(dscp), 0xfc) => Ok(Act::Mark(dscp)),
        (Some(dscp), 0xff) if value & 3 == 0 => Ok(Act::Mark(dscp)),
        _ => Ok(Act::Lost("`pedit` that does not set a whole code point".into())),
    }
}

/// `action skbedit priority 1:10 mark 0x1/0x1`
fn skbedit<'a>(word: &Token<'a>, words: &mut Words<'_, 'a>) -> Taken<Action<'a>> {
    let mut act = Act::Nothing;
    while let Some(next) = words.peek() {
        match &*next.text {
            "priority" => {
                words.next();
                let value = words.value(next)?;
                let id = units::class(&value.text).filter(|_| value.text.contains(':'));
                act = id.map_or_else(|| Act::Lost("`skbedit priority` that names no class".into()), Act::Priority);
            }
            "mark" => {
                words.next();
                let value = words.value(next)?;
                let (mark, mask) = value.text.split_once('/').unwrap_or((&value.text, "0xffffffff"));
                if let (Some(mark), Some(mask)) = (number(mark), number(mask)) {
                    act = Act::Tag(mark, mask);
                }
            }
            "queue_mapping" | "ptype" | "inheritdsfield" => {
                words.next();
                if next.text != "inheritdsfield" {
                    words.next();
                }
                act = Act::Lost(format!("`skbedit {}`: perhop's packets have no such field", next.text));
            }
            _ => break,
        }
    }
    Ok(ends(act, Control::Pipe, word, words))
}

/// `action mirred egress redirect dev ifb0`, printed as `mirred (Egress Redirect to device ifb0) stolen`
fn mirred<'a>(word: &Token<'a>, words: &mut Words<'_, 'a>) -> Taken<Action<'a>> {
    let (mut redirects, mut device) = (false, None);
    while let Some(next) = words.peek() {
        let text = next.text.trim_matches(['(', ')']).to_ascii_lowercase();
        match text.as_str() {
            "redirect" => redirects = true,
            "dev" | "device" => {
                words.next();
                let name = words.value(word)?;
                let bare = name.text.trim_end_matches(')').to_owned();
                device = Some(Token { text: bare.into(), ..name.clone() });
                continue;
            }
            "egress" | "ingress" | "mirror" | "to" | "stolen" => {}
            _ => break,
        }
        words.next();
    }
    let act = match device {
        Some(device) if redirects => Act::Redirect(device),
        _ => Act::Lost("`mirred` that copies packets".into()),
    };
    Ok(ends(act, Control::Ok, word, words))
}

/// An action that perhop does not have, with all of its words.
fn other<'a>(kind: &str, word: &Token<'a>, words: &mut Words<'_, 'a>) -> Action<'a> {
    let mut piped = false;
    let ends = |it: &Token<'_>, piped: bool| {
        matches!(&*it.text, "action" | "flowid" | "classid") || piped && KINDS.contains(&&*it.text)
    };
    while words.peek().is_some_and(|it| !ends(it, piped)) {
        piped = words.next().is_some_and(|it| it.text == "pipe");
    }
    let act = Act::Lost(format!("`action {kind}`: perhop has no such action"));
    Action { act, then: Control::Pipe, place: word.place, line: word.line }
}

/// A policer, whose word has been read.
///
/// # Errors
/// What tc would refuse.
pub(super) fn police<'a>(word: &Token<'a>, words: &mut Words<'_, 'a>, form: Form) -> Taken<Action<'a>> {
    let (mut options, mut exceed, mut conform) = (Options::default(), None, Control::Ok);
    let mut end = word.place.end;
    while let Some(next) = words.peek() {
        if let Some(row) = POLICE.iter().find(|row| row.word == next.text) {
            words.next();
            let it = option(row, next, words, form)?;
            end = end.max(it.place.end);
            options.list.push(it);
        } else if matches!(&*next.text, "conform-exceed" | "exceed-conform" | "notexceed") {
            words.next();
            (exceed, conform) = controls(words.value(next)?)?;
        } else if let Some(found) = control(&next.text) {
            words.next();
            exceed = Some(found);
            if found == Control::Other {
                chain(words);
            }
        } else if let Some((_, values)) = ENDS.iter().find(|it| it.0 == next.text) {
            (0..=*values).for_each(|_| _ = words.next());
        } else {
            break;
        }
    }
    let index = options.get("index").and_then(|it| it.count());
    sound(&options, index, word)?;
    let place = Place { start: word.place.start, end };
    let act = Act::Police(Box::new(options), index, exceed.unwrap_or(Control::Reclassify));
    Ok(Action { act, then: conform, place, line: word.line })
}

/// What comes after an action, by the kernel's number (include/uapi/linux/pkt_cls.h).
fn numbered(word: &str) -> Option<Control> {
    Some(match word {
        "-1" => Control::Continue,
        "0" => Control::Ok,
        "1" => Control::Reclassify,
        "2" | "4" => Control::Drop,
        "3" => Control::Pipe,
        "5" | "6" | "7" | "8" => Control::Other,
        _ => return None,
    })
}

/// `drop/ok`: beyond the rate, within it.
fn controls(token: &Token<'_>) -> Taken<(Option<Control>, Control)> {
    let (exceed, conform) = token.text.split_once('/').map_or((&*token.text, None), |(e, c)| (e, Some(c)));
    let refusal = |word: &str| Refusal::at(token, format!("`{word}` is no action of a policer"));
    let read = |word: &str| control(word).or_else(|| numbered(word)).ok_or_else(|| refusal(word));
    Ok((Some(read(exceed)?), conform.map_or(Ok(Control::Ok), read)?))
}

/// What tc and the kernel want.
fn sound(options: &Options<'_>, index: Option<u64>, word: &Token<'_>) -> Taken<()> {
    let any = |words: &[&str]| options.any(words).is_some();
    let (bits, packets) = (any(&["rate"]), any(&["pkts_rate"]));
    let real = |word: &str| options.get(word).and_then(|it| it.rate()).is_some_and(|rate| rate.bit_s() > 0);
    let refuse = |message: &str| Err(Refusal::at(word, message));
    match (bits, packets) {
        (true, true) if real("rate") => refuse("`rate` and `pkts_rate` are not allowed in one policer"),
        (true, _) if !any(&["burst", "buffer", "maxburst"]) => refuse("a policer with `rate` needs `burst`"),
        (_, true) if !any(&["pkts_burst"]) => refuse("a policer with `pkts_rate` needs `pkts_burst`"),
        (false, true) if any(&["burst", "buffer", "maxburst"]) => refuse("`burst` without `rate`"),
        (false, false) if index.is_none() && !any(&["mtu", "avrate"]) => refuse("a policer needs `rate` and `burst`"),
        (_, _) if any(&["peakrate"]) && !any(&["mtu", "minburst"]) => refuse("`peakrate` needs `mtu`"),
        _ => Ok(()),
    }
}
