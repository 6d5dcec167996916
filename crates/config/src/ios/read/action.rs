//! What is done to a packet: actions of `police`, and `set`.

use super::words::{Words, dscp, precedence, wanted};
use crate::ios::plan::{Do, WithPlace};

/// A word of an action, and how it is read.
pub struct Action {
    /// As typed.
    pub word: &'static str,
    /// perhop's equivalent, for the table of equivalents.
    pub means: &'static str,
    read: fn(&mut Words<'_>) -> Result<Do, String>,
}

const fn row(word: &'static str, means: &'static str, read: fn(&mut Words<'_>) -> Result<Do, String>) -> Action {
    Action { word, means, read }
}

/// Actions of `police`.
pub const ACTIONS: &[Action] = &[
    row("transmit", "`transmit`", |_| Ok(Do::Transmit)),
    row("drop", "`drop`", |_| Ok(Do::Drop)),
    row("set-dscp-transmit", "`mark X`", to_dscp),
    row("set-prec-transmit", "`mark CSn`", to_precedence),
    row("set-discard-class-transmit", "`colour green|yellow|red` for 0, 1, 2", to_discard_class),
    row("set-qos-transmit", "`transmit` (approximated)", |words| field(words, "QoS group")),
    row("set-cos-transmit", "`transmit` (approximated)", |words| field(words, "CoS")),
    row("set-cos-inner-transmit", "`transmit` (approximated)", |words| field(words, "inner CoS")),
    row("set-dscp-tunnel-transmit", "`transmit` (approximated)", |words| field(words, "DSCP of the tunnel's header")),
    row("set-prec-tunnel-transmit", "`transmit` (approximated)", |words| {
        field(words, "precedence of the tunnel's header")
    }),
    row("set-mpls-exp-transmit", "`transmit` (approximated)", |words| field(words, "MPLS EXP")),
    row("set-mpls-exp-imposition-transmit", "`transmit` (approximated)", |words| field(words, "MPLS EXP")),
    row("set-mpls-experimental-imposition-transmit", "`transmit` (approximated)", |words| field(words, "MPLS EXP")),
    row("set-mpls-exp-topmost-transmit", "`transmit` (approximated)", |words| field(words, "MPLS EXP")),
    row("set-mpls-experimental-topmost-transmit", "`transmit` (approximated)", |words| field(words, "MPLS EXP")),
    row("set-frde-transmit", "`transmit` (approximated)", |words| field(words, "Frame Relay DE")),
    row("set-clp-transmit", "`transmit` (approximated)", |words| field(words, "ATM CLP")),
    row("policed-dscp-transmit", "`transmit` (approximated)", |_| Ok(Do::Mapped("policed-dscp".into()))),
];

/// What `set` sets.
pub const SETS: &[Action] = &[
    row("dscp", "`mark X`", to_dscp),
    row("precedence", "`mark CSn`", to_precedence),
    row("discard-class", "`colour green|yellow|red` for 0, 1, 2", to_discard_class),
    row("cos", "nothing (approximated)", |words| field(words, "CoS")),
    row("cos-inner", "nothing (approximated)", |words| field(words, "inner CoS")),
    row("qos-group", "nothing (approximated)", |words| field(words, "QoS group")),
    row("traffic-class", "nothing (approximated)", |words| field(words, "traffic class")),
    row("mpls", "nothing (approximated)", |words| field(words, "MPLS EXP")),
    row("fr-de", "nothing (approximated)", |words| field(words, "Frame Relay DE")),
    row("atm-clp", "nothing (approximated)", |words| field(words, "ATM CLP")),
];

/// An action with its place; `set dscp af12` of IOS-XR is `set-dscp-transmit af12`.
pub fn action(words: &mut Words<'_>) -> Result<WithPlace<Do>, String> {
    if words.has("set") { set(words) } else { one(words, ACTIONS, "an action") }
}

/// What `set` sets, with its place.
pub fn set(words: &mut Words<'_>) -> Result<WithPlace<Do>, String> {
    let ahead = words.clone();
    if !(words.has_any(&["ip", "ipv6"]) && matches!(words.peek(), "dscp" | "precedence")) {
        *words = ahead;
    }
    one(words, SETS, "a field of a packet")
}

/// An action whose word was read.
pub fn of_word(word: &str, words: &mut Words<'_>) -> Result<WithPlace<Do>, String> {
    let first = words.at();
    let known = ACTIONS.iter().find(|row| row.word == word).ok_or_else(|| wanted(word, "an action"))?;
    let is = (known.read)(words)?;
    Ok(WithPlace { is, at: words.since(first) })
}

fn one(words: &mut Words<'_>, table: &[Action], what: &str) -> Result<WithPlace<Do>, String> {
    let word = words.take();
    let first = words.at();
    let known = table.iter().find(|row| row.word == word).ok_or_else(|| wanted(word, what))?;
    let is = (known.read)(words)?;
    Ok(WithPlace { is, at: words.since(first) })
}

/// `dscp table NAME`: the field that is looked up does not matter, as the code point is not known here.
fn table(words: &mut Words<'_>) -> Option<Do> {
    let mut ahead = words.clone();
    ahead.take();
    if !ahead.has("table") {
        return None;
    }
    let name = ahead.take().to_owned();
    *words = ahead;
    Some(Do::Mapped(name))
}

fn to_dscp(words: &mut Words<'_>) -> Result<Do, String> {
    if let Some(mapped) = table(words) {
        return Ok(mapped);
    }
    let word = words.take();
    let dscp = dscp(word).ok_or_else(|| wanted(word, "a code point"))?;
    Ok(Do::Dscp(dscp))
}

fn to_precedence(words: &mut Words<'_>) -> Result<Do, String> {
    if let Some(mapped) = table(words) {
        return Ok(mapped);
    }
    let word = words.take();
    precedence(word).map(Do::Precedence).ok_or_else(|| wanted(word, "a precedence from 0 to 7"))
}

fn to_discard_class(words: &mut Words<'_>) -> Result<Do, String> {
    if let Some(mapped) = table(words) {
        return Ok(mapped);
    }
    let word = words.take();
    word.parse().ok().filter(|class| *class < 8).map(Do::DiscardClass).ok_or_else(|| wanted(word, "a discard class"))
}

/// A field that no packet here has, whatever it becomes.
fn field(words: &mut Words<'_>, name: &str) -> Result<Do, String> {
    words.has_any(&["experimental"]);
    words.has_any(&["imposition", "topmost"]);
    if table(words).is_none() && (words.is_number() || words.peek() == "inner") {
        words.take();
    }
    Ok(Do::Other(name.to_owned()))
}
