//! What a rule looks at, and ways through it.

use crate::dialect::Read;
use crate::import_options::ImportOptions;
use crate::model::{Act, Class, Conditioner, Kind, Port, Queue};
use crate::text::Text;
use crate::value::{Value, WithOrigin};
use perhop_core::colour::Colour;
use perhop_core::params::Place;
use perhop_core::units::BitRate;

/// A text that was read.
pub(crate) struct Case<'a, P = ()> {
    /// What it says.
    pub read: &'a Read,
    /// Itself.
    pub text: &'a Text,
    /// What was given beside it.
    pub given: &'a ImportOptions,
    /// What it says in the words of its dialect, for rules that ask more than the model holds.
    pub parse: &'a P,
}

/// A queue with where it is.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    /// Its port.
    pub port: &'a Port,
    /// Itself.
    pub queue: &'a Queue,
    /// Whether nothing of its port is above it.
    pub root: bool,
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
                below(At { port, queue, root: true, rate: least(link, queue.shape.rate("rate")) }, &mut all);
            }
        }
        all
    }

    /// Those that are an HTB.
    pub fn trees(&self) -> impl Iterator<Item = At<'a>> {
        self.queues().into_iter().filter(|at| at.queue.kind == Some(Kind::Scheduler("htb")))
    }

    /// Every meter, marker and policer, with its port.
    pub fn conditioners(&self) -> impl Iterator<Item = (&'a Port, &'a Conditioner)> {
        self.read.device.ports.iter().flat_map(|port| port.conditioners.iter().map(move |it| (port, it)))
    }
}

fn below<'a>(at: At<'a>, all: &mut Vec<At<'a>>) {
    all.push(at);
    for (i, class) in at.queue.classes.iter().enumerate() {
        if let Some(queue) = &class.queue {
            let rate = least(at.rate, most(at.queue, i));
            below(At { queue, root: false, rate: least(rate, queue.shape.rate("rate")), ..at }, all);
        }
    }
}

/// The words of a value, as in `rate 10mbit`, and the last of them.
pub(crate) fn words<'a>(case: &Case<'a>, said: &WithOrigin<Value>) -> Option<(&'a str, &'a str)> {
    let place = said.origin.place()?;
    let text = case.text.text.get(place.start..place.end)?;
    Some((text, text.split_whitespace().last()?))
}

/// Whether the line of a place has this word.
pub(crate) fn line_has(case: &Case<'_>, place: Place, word: &str) -> bool {
    let text = &case.text.text;
    let start = text.get(..place.start).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
    let line = text.get(start..).and_then(|rest| rest.lines().next());
    line.is_some_and(|line| line.split_whitespace().any(|it| it == word))
}

/// A share in percent, as `12.5 %`.
pub(crate) fn percent(part: u64, all: u64) -> String {
    format!("{:.1} %", 100.0 * part as f64 / all.max(1) as f64)
}

/// All of some counters together.
pub(crate) fn total(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}

/// The smaller one of those that are there.
pub(crate) fn least(a: Option<BitRate>, b: Option<BitRate>) -> Option<BitRate> {
    a.into_iter().chain(b).min()
}

/// The most that a class of HTB gets: the least ceil on its way up. Other schedulers have no such bound.
pub(crate) fn most(queue: &Queue, class: usize) -> Option<BitRate> {
    let own = |class: &Class| class.settings.rate("ceil").or(class.settings.rate("rate"));
    match queue.kind {
        Some(Kind::Scheduler("htb")) => up(queue, class).filter_map(|i| own(&queue.classes[i])).min(),
        _ => None,
    }
}

/// A class and those above it.
pub(crate) fn up(queue: &Queue, class: usize) -> impl Iterator<Item = usize> {
    // The kernel has 8 levels; a circle of parents ends, too.
    std::iter::successors(Some(class), |i| queue.classes.get(*i)?.parent)
        .take_while(|i| *i < queue.classes.len())
        .take(64)
}

/// The classes without children.
pub(crate) fn leaves(queue: &Queue) -> Vec<usize> {
    let parents = queue.parents();
    (0..parents.len()).filter(|i| !parents[*i]).collect()
}

/// Where something is said; nowhere in particular if the device assumes it.
pub(crate) fn place<T>(said: &WithOrigin<T>) -> Place {
    said.origin.place().unwrap_or_default()
}

/// Where a key of a class is said, else the class.
pub(crate) fn key_place(class: &Class, key: &str) -> Place {
    class.settings.get(key).and_then(|said| said.origin.place()).unwrap_or_else(|| place(&class.name))
}

/// Whether packets of a colour are dropped.
pub(crate) fn drops(it: &Conditioner, colour: Colour) -> bool {
    it.actions.iter().any(|(of, acts)| *of == colour && acts.is.contains(&Act::Drop))
}

/// Whether an interface is the router itself, by the name that devices give it.
pub(crate) fn is_control(interface: &str) -> bool {
    interface.to_ascii_lowercase().starts_with("control")
}

/// `1:10 and 3 others`, from the names of all.
pub(crate) fn some_of(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => format!("`{one}`"),
        [one, other] => format!("`{one}` and `{other}`"),
        [one, rest @ ..] => format!("`{one}` and {} others", rest.len()),
    }
}
