//! What a rule looks at, and ways through it.

use crate::dialect::Read;
use crate::evidence::Counters;
use crate::finding::Finding;
use crate::import_options::ImportOptions;
use crate::ios::plan::Plan;
use crate::model::{Class, Kind, Port, Queue};
use crate::text::Text;
use crate::value::{Origin, Settings, Value, WithOrigin};
use perhop_core::params::Place;
use perhop_core::units::{BitRate, Bytes, counted};

/// The largest packet of an Ethernet without VLAN tag, as Linux counts it: 1500 B and the header.
pub(super) const FRAME: Bytes = Bytes::new(1514);

/// A text that was read.
pub(super) struct Case<'a> {
    /// What it says.
    pub read: &'a Read,
    /// Itself.
    pub text: &'a Text,
    /// What was given beside it.
    pub given: &'a ImportOptions,
    /// What it says in the words of IOS, if it is in IOS.
    pub plan: &'a Plan,
    /// Where its lines start.
    pub lines: Vec<usize>,
}

/// A queue with where it is.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    /// Its port.
    pub port: &'a Port,
    /// Itself.
    pub queue: &'a Queue,
    /// The most that it gets, as far as the text says.
    pub rate: Option<BitRate>,
}

impl<'a> Case<'a> {
    /// Every queue, each before those below it.
    pub fn queues(&self) -> Vec<At<'a>> {
        let mut all = Vec::new();
        for port in &self.read.device.ports {
            if let Some(queue) = &port.queue {
                let link = port.link.rate("rate").or(self.given.link);
                below(At { port, queue, rate: least(link, queue.shape.rate("rate")) }, &mut all);
            }
        }
        all
    }

    /// Those with an algorithm.
    pub fn queues_of(&self, kind: Kind) -> impl Iterator<Item = At<'a>> {
        self.queues().into_iter().filter(move |at| at.queue.kind == Some(kind))
    }

    /// The number of the line of a place, from 1.
    pub fn line(&self, place: Place) -> usize {
        self.lines.partition_point(|start| *start <= place.start)
    }
}

/// Where lines start.
pub(super) fn starts(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect()
}

fn below<'a>(at: At<'a>, all: &mut Vec<At<'a>>) {
    all.push(at);
    for (i, class) in at.queue.classes.iter().enumerate() {
        if let Some(queue) = &class.queue {
            let rate = least(at.rate, most(at.queue, i));
            below(At { queue, rate: least(rate, queue.shape.rate("rate")), ..at }, all);
        }
    }
}

/// All keys of all ports that belong together: those of a meter, of a queue, of a class.
pub(super) fn groups<'a>(case: &Case<'a>) -> Vec<&'a Settings> {
    let mut all = Vec::new();
    for port in &case.read.device.ports {
        all.push(&port.link);
        all.extend(port.conditioners.iter().map(|it| &it.settings));
        port.queue.iter().for_each(|queue| of_queue(queue, &mut all));
    }
    all
}

fn of_queue<'a>(queue: &'a Queue, all: &mut Vec<&'a Settings>) {
    all.extend([&queue.settings, &queue.shape]);
    for class in &queue.classes {
        all.push(&class.settings);
        class.queue.iter().for_each(|queue| of_queue(queue, all));
    }
}

/// Every value that the text states, of all ports; those of a curve or a profile too.
pub(super) fn said<'a>(case: &Case<'a>) -> Vec<&'a WithOrigin<Value>> {
    let mut all = Vec::new();
    groups(case).into_iter().for_each(|group| of_settings(group, &mut all));
    all
}

fn of_settings<'a>(settings: &'a Settings, all: &mut Vec<&'a WithOrigin<Value>>) {
    for (_, said) in settings.iter().filter(|(_, said)| is_said(said)) {
        match &said.is {
            Value::Table(inner) => of_settings(inner, all),
            _ => all.push(said),
        }
    }
}

/// The words of a value, as in `rate 10mbit`, and the last of them.
pub(super) fn words<'a>(case: &Case<'a>, said: &WithOrigin<Value>) -> Option<(&'a str, &'a str)> {
    let place = said.origin.place()?;
    let text = case.text.text.get(place.start..place.end)?;
    Some((text, text.split_whitespace().last()?))
}

/// Whether the line of a place has this word.
pub(super) fn line_has(case: &Case<'_>, place: Place, word: &str) -> bool {
    let number = case.line(place);
    let start = case.lines.get(number.saturating_sub(1)).copied().unwrap_or_default();
    let end = case.lines.get(number).copied().unwrap_or(case.text.text.len());
    case.text.text.get(start..end).is_some_and(|line| line.split_whitespace().any(|it| it == word))
}

/// A share in percent, as `12.5 %`.
pub(super) fn percent(part: u64, all: u64) -> String {
    format!("{:.1} %", 100.0 * part as f64 / all.max(1) as f64)
}

/// How many packets TCP keeps in flight where this share of them is lost: sqrt(3 / 2p), Mathis et al., "The macroscopic behavior of
/// the TCP congestion avoidance algorithm", 1997.
pub(super) fn window(lost: u64, all: u64) -> String {
    let packets = (1.5 * all as f64 / lost.max(1) as f64).sqrt().max(1.0);
    counted(format!("{packets:.0}"), ["packet", "packets"])
}

/// The smaller one of those that are there.
pub(super) fn least(a: Option<BitRate>, b: Option<BitRate>) -> Option<BitRate> {
    a.into_iter().chain(b).min()
}

/// The most that a class of HTB gets: the least ceil on its way up. Other schedulers have no such bound.
pub(super) fn most(queue: &Queue, class: usize) -> Option<BitRate> {
    let own = |class: &Class| class.settings.rate("ceil").or(class.settings.rate("rate"));
    match queue.kind {
        Some(Kind::Scheduler("htb")) => up(queue, class).filter_map(|i| own(&queue.classes[i])).min(),
        _ => None,
    }
}

/// A class and those above it.
pub(super) fn up(queue: &Queue, class: usize) -> impl Iterator<Item = usize> {
    // The kernel has 8 levels; a circle of parents ends, too.
    std::iter::successors(Some(class), |i| queue.classes.get(*i)?.parent)
        .take_while(|i| *i < queue.classes.len())
        .take(64)
}

/// The classes without children.
pub(super) fn leaves(queue: &Queue) -> Vec<usize> {
    let parents = queue.parents();
    (0..parents.len()).filter(|i| !parents[*i]).collect()
}

/// Where something is said; nowhere in particular if the device assumes it.
pub(super) fn place<T>(said: &WithOrigin<T>) -> Place {
    said.origin.place().unwrap_or_default()
}

/// Where a key of a class is said, else the class.
pub(super) fn key_place(class: &Class, key: &str) -> Place {
    class.settings.get(key).and_then(|said| said.origin.place()).unwrap_or_else(|| place(&class.name))
}

/// Whether the text says it.
pub(super) const fn is_said<T>(said: &WithOrigin<T>) -> bool {
    matches!(said.origin, Origin::Text(_))
}

/// A counter that is there and not below 0.
pub(super) fn count(counters: &Counters, name: &str) -> Option<u64> {
    counters.counts.get(name).copied().and_then(|count| u64::try_from(count).ok())
}

/// All of some counters together.
pub(super) fn total(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}

/// Makes findings of one code.
pub(super) fn finding(code: &'static str, place: Place, message: String, instead: String) -> Finding {
    Finding { code, place, message, instead }
}

/// `1:10 and 3 others`, from the names of all.
pub(super) fn some_of(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => format!("`{one}`"),
        [one, other] => format!("`{one}` and `{other}`"),
        [one, rest @ ..] => format!("`{one}` and {} others", rest.len()),
    }
}
