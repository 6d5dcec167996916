//! What a rule looks at, and ways through it.

use crate::dialect::Read;
use crate::evidence::Counters;
use crate::finding::Finding;
use crate::given::Given;
use crate::ios::plan::Plan;
use crate::model::{Class, Kind, Port, Queue};
use crate::text::Text;
use crate::value::{Origin, Said};
use perhop_core::params::Place;
use perhop_core::units::{BitRate, Bytes};

/// The largest packet of an Ethernet without VLAN tag, as Linux counts it: 1500 B and the header.
pub(super) const FRAME: Bytes = Bytes::new(1514);

/// A text that was read.
pub(super) struct Case<'a> {
    /// What it says.
    pub read: &'a Read,
    /// Itself.
    pub text: &'a Text,
    /// What was given beside it.
    pub given: &'a Given,
    /// What it says in the words of IOS, if it is in IOS.
    pub plan: &'a Plan,
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

    /// Counters with their class, if it is one of the text's.
    pub fn counted(&self) -> impl Iterator<Item = (&'a Counters, Option<(At<'a>, usize)>)> {
        let queues = self.queues();
        let class = move |counters: &Counters| {
            let here = |at: &&At<'a>| counters.interface.is_empty() || at.port.interface.is == counters.interface;
            let place =
                |at: &At<'a>| Some((*at, at.queue.classes.iter().position(|class| class.name.is == counters.of)?));
            queues.iter().filter(here).find_map(place)
        };
        self.read.evidence.iter().map(move |counters| (counters, class(counters)))
    }
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
    // No longer than the list: a circle of parents ends.
    std::iter::successors(Some(class), |i| queue.classes.get(*i)?.parent)
        .take_while(|i| *i < queue.classes.len())
        .take(queue.classes.len())
}

/// The classes without children.
pub(super) fn leaves(queue: &Queue) -> impl Iterator<Item = usize> {
    (0..queue.classes.len()).filter(|i| queue.classes.iter().all(|class| class.parent != Some(*i)))
}

/// Where something is said; nowhere in particular if the device assumes it.
pub(super) fn place<T>(said: &Said<T>) -> Place {
    said.origin.place().unwrap_or_default()
}

/// Where a key of a class is said, else the class.
pub(super) fn key_place(class: &Class, key: &str) -> Place {
    class.settings.get(key).and_then(|said| said.origin.place()).unwrap_or_else(|| place(&class.name))
}

/// Whether the text says it.
pub(super) const fn is_said<T>(said: &Said<T>) -> bool {
    matches!(said.origin, Origin::Text(_))
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
