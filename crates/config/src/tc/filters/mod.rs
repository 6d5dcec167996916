//! Filters: which packets go where, and what happens to them on the way.

/// `flower`.
mod flower;
/// `u32`.
mod u32key;
/// `matchall`, `fw`, `basic`.
mod plain;
/// Fields of headers, by offset and mask.
mod fields;
/// All of a place.
mod list;

pub(super) use list::Filters;

use super::actions::{self, Action};
use super::handles::id;
use super::words::{Form, Refusal, Statement, Taken, Token, Verb, Words};
use crate::value::code_points;
use perhop_core::classify::Match;
use perhop_core::params::Place;

/// A filter.
#[derive(Clone, Debug)]
pub(super) struct Sorter<'a> {
    /// The lowest is asked first.
    pub(super) prio: u32,
    /// Of which packets.
    pub(super) protocol: Protocol,
    /// Of which packets it is asked.
    pub(super) asked: Protocol,
    /// As tc calls it.
    pub(super) kind: String,
    /// Its number at its place.
    handle: Option<String>,
    /// What it takes.
    pub(super) rule: Rule,
    /// The class for what it takes.
    pub(super) target: Option<(u32, Place)>,
    /// What happens to it.
    pub(super) actions: Vec<Action<'a>>,
    pub(super) place: Place,
    pub(super) lines: Vec<usize>,
}

/// Which packets a filter sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Protocol {
    /// All.
    #[default]
    All,
    /// IPv4.
    Ip,
    /// IPv6.
    Ip6,
    /// Resolution of addresses.
    Arp,
    /// Frames with a tag of a VLAN.
    Vlan,
    /// Others.
    Other,
}

impl Protocol {
    /// Whether it is none of IP, of which perhop has no packets.
    pub(super) const fn is_other(self) -> bool {
        matches!(self, Self::Arp | Self::Vlan | Self::Other)
    }
}

/// What a filter asks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Rule {
    /// Any of these agree.
    pub(super) any: Vec<Match>,
    /// And a mark of the firewall, under a mask.
    pub(super) mark: Option<(u64, u64)>,
    /// What of it is only nearly so.
    pub(super) nearly: Vec<String>,
    /// What of it perhop does not ask; the filter is then left out.
    pub(super) lost: Vec<String>,
}

impl Sorter<'_> {
    /// Whether the mark of a packet is the class that it leads to: `fw` without a handle.
    pub(super) fn is_by_mark_itself(&self) -> bool {
        self.kind == "fw" && self.rule.mark.is_none()
    }
}

impl Rule {
    /// One match.
    pub(super) fn one(matches: Match) -> Self {
        Self { any: vec![matches], ..Self::default() }
    }

    /// How many code points it takes, where a mask leaves several.
    pub(super) fn code_points(&self) -> Option<String> {
        let codes = &self.any.first()?.dscp;
        let several = (2..64).contains(&codes.len());
        several.then(|| format!("its mask takes {} code points: {}", codes.len(), code_points(codes)))
    }

    /// It cannot be said.
    pub(super) fn lose(&mut self, why: impl Into<String>) {
        self.lost.push(why.into());
    }
}

/// What all filters say before their kind.
#[derive(Debug, Default)]
pub(super) struct Head<'a> {
    /// Where it is.
    pub(super) parent: Option<u32>,
    prio: Option<u32>,
    protocol: Option<Protocol>,
    handle: Option<Token<'a>>,
    kind: Option<Token<'a>>,
    options: Vec<Token<'a>>,
}

impl Head<'_> {
    /// Whether a command that removes filters says enough.
    pub(super) fn is_whole(&self) -> bool {
        self.prio.is_some() || (self.protocol.is_none() && self.kind.is_none() && self.handle.is_none())
    }

    /// Whether a command that removes filters means this one.
    pub(super) fn names(&self, it: &Sorter<'_>) -> bool {
        let handle = |handle: &Token<'_>| it.handle.as_deref().is_none_or(|own| own == handle.text);
        self.prio.is_none_or(|prio| prio == it.prio)
            && self.protocol.is_none_or(|protocol| protocol == it.asked)
            && self.handle.as_ref().is_none_or(handle)
    }
}

/// Reads up to the kind.
///
/// # Errors
/// What tc would refuse.
pub(super) fn head<'a>(statement: &Statement<'a>) -> Taken<Head<'a>> {
    let mut words = Words::new(&statement.words);
    let mut head = Head::default();
    while let Some(word) = words.next() {
        match &*word.text {
            "root" | "ingress" | "egress" => head.parent = Some(id(word)?),
            "parent" => head.parent = Some(id(words.value(word)?)?),
            "prio" | "pref" | "preference" | "priority" => head.prio = Some(super::units::count(words.value(word)?)?),
            "protocol" | "proto" => head.protocol = Some(protocol(&words.value(word)?.text)),
            "handle" => head.handle = words.next().cloned(),
            "chain" | "block" => _ = words.value(word)?,
            "estimator" | "est" => _ = (words.value(word)?, words.value(word)?),
            _ => {
                (head.kind, head.options) = (Some(word.clone()), words.rest().to_vec());
                break;
            }
        }
    }
    Ok(head)
}

fn protocol(word: &str) -> Protocol {
    match word {
        "all" | "0x0003" | "0x3" => Protocol::All,
        "ip" | "ipv4" | "0x800" | "0x0800" | "2048" => Protocol::Ip,
        "ipv6" | "ip6" | "0x86dd" | "0x86DD" => Protocol::Ip6,
        "arp" | "0x806" | "0x0806" => Protocol::Arp,
        "802.1q" | "802.1Q" | "0x8100" => Protocol::Vlan,
        _ => Protocol::Other,
    }
}

/// The filter that a statement says.
///
/// # Errors
/// What tc would refuse.
fn made<'a>(head: Head<'a>, prio: u32, statement: &Statement<'a>) -> Taken<Sorter<'a>> {
    let Some(kind) = head.kind else { return Err(Refusal::of("it names no kind of filter, such as u32 or flower")) };
    let mut it = Sorter {
        prio,
        protocol: head.protocol.unwrap_or_default(),
        asked: head.protocol.unwrap_or_default(),
        kind: kind.text.to_string(),
        handle: head.handle.as_ref().map(|it| it.text.to_string()),
        rule: Rule::default(),
        target: None,
        actions: Vec::new(),
        place: statement.place,
        lines: statement.lines.clone(),
    };
    read(&mut it, head.handle.as_ref(), &head.options, statement.form())?;
    Ok(it)
}

/// Filters of one prio are of one kind and protocol.
///
/// # Errors
/// They are not.
fn beside(it: &Sorter<'_>, old: &Sorter<'_>, verb: Verb) -> Taken<()> {
    if old.kind != it.kind {
        return Err(Refusal::of(format!("prio {} has filters of kind {}, not {}", it.prio, old.kind, it.kind)));
    }
    if old.asked != it.asked {
        return Err(Refusal::of(format!("prio {} has filters of another protocol", it.prio)));
    }
    let twice = verb == Verb::Add && it.handle.is_some() && old.handle == it.handle;
    if twice && old.kind == "fw" {
        return Err(Refusal::of("such a filter is there already"));
    }
    Ok(())
}

/// # Errors
/// What tc would refuse.
fn read<'a>(it: &mut Sorter<'a>, handle: Option<&Token<'a>>, words: &[Token<'a>], form: Form) -> Taken<()> {
    let mut words = Words::new(words);
    match it.kind.as_str() {
        "u32" => u32key::read(it, &mut words, form),
        "flower" => flower::read(it, &mut words, form),
        "matchall" | "all" => plain::matchall(it, &mut words, form),
        "fw" => plain::fw(it, handle, &mut words, form),
        "basic" => plain::basic(it, &mut words, form),
        kind => {
            it.rule.lose(format!("`{kind}`: perhop has no such filter"));
            Ok(())
        }
    }
}

/// What ends every filter: its class, its actions. False: the word is another one.
///
/// # Errors
/// What tc would refuse.
fn common<'a>(it: &mut Sorter<'a>, word: &Token<'a>, words: &mut Words<'_, 'a>, form: Form) -> Taken<bool> {
    match &*word.text {
        "flowid" | "classid" | "*flowid" | "??flowid" => {
            if form == Form::Shown && words.peek().is_none_or(|next| !next.text.contains(':')) {
                return Ok(true);
            }
            let value = words.value(word)?;
            it.target = Some((id(value)?, value.place));
        }
        "action" => actions::read(&mut it.actions, words, form)?,
        "police" => it.actions.push(actions::police(word, words, form)?),
        "skip_hw" | "skip_sw" | "verbose" | "not_in_hw" | "in_hw" | "terminal" => {}
        "in_hw_count" | "hw_stats" => _ = words.next(),
        _ => return Ok(false),
    }
    Ok(true)
}

/// A word that a kind of filter does not know.
fn unknown(kind: &str, word: &Token<'_>) -> Refusal {
    Refusal::at(word, format!("tc knows no `{}` of {kind}", word.text))
}
