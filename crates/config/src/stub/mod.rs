//! A port as a commented scenario that runs; each of its values knows its place in the configuration.
//!
//! Names are the device's. A value that the device assumes is written, too, with its source in a comment.
//!
//! Decision: docs/decisions/118-configurations-are-one-neutral-model.md

mod chain;
mod classes;
pub(crate) mod conditioners;
pub mod draft;
mod frame;
pub(crate) mod names;
mod others;
pub mod print;
mod sort;
mod stolen;
mod tree;

use crate::import_options::ImportOptions;
use crate::load::{ClassRow, FilterRow, Load};
use crate::model::{Kind, Port, Queue};
use crate::value::{Value, WithOrigin};
use chain::ByPath;
use draft::{Draft, Section};
use frame::{End, FACING};
use names::{Names, queue_name};
use perhop_core::accounting::Accounting;
use perhop_core::classify::Match;
use perhop_core::params::Place;
use perhop_core::units::{BitRate, SignedBytes};
use std::collections::HashMap;

pub use frame::{ACCESS, LINK};

/// A scenario for a port.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stub {
    /// What stands in it.
    pub draft: Draft,
    /// The same as TOML.
    pub text: String,
    /// What the scenario says differently from the device, and where in the configuration that is.
    pub notes: Vec<(Option<Place>, String)>,
    /// The load, in one sentence.
    pub load: String,
    /// The rate of the port's link.
    pub link: BitRate,
    /// That of the other direction, where the scenario has its port.
    pub back: Option<BitRate>,
    /// The classes that the load is sent in.
    pub rows: Vec<ClassRow>,
    /// The filters of its ports.
    pub filters: Vec<FilterRow>,
    /// What becomes of packets of which these take none.
    pub others: Vec<String>,
}

/// A conditioner that only says that a packet has passed it.
struct Marker {
    name: String,
    /// `None`: none of the load can pass it.
    matches: Option<Match>,
    place: Option<Place>,
    /// The conditioner of the device that it stands before, because its match names one; `None`: it stands before all.
    before: Option<usize>,
    /// Whether no other takes what it has taken.
    ends: bool,
}

/// Why buckets count other bytes than the scenario.
const COUNTS: &str = "what comes in is counted without Ethernet's header";

/// What is written of a port.
pub(crate) struct Writer<'a> {
    load: &'a Load,
    queues: Names,
    conditioners: Names,
    /// The device's conditioners: its names for them, and those of the scenario.
    own: Vec<(String, String)>,
    /// Their places, by the device's names.
    by_name: HashMap<String, Vec<usize>>,
    marks: Vec<Marker>,
    /// What classes take whose filters are a chain.
    chained: ByPath,
    /// `[queue]` sections, each before those that it names.
    pub(crate) tree: Vec<Section>,
    pub(crate) notes: Vec<(Option<Place>, String)>,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(port: &Port, load: &'a Load) -> Self {
        Self::with(port, load, <_>::default())
    }

    /// Of a scenario that has these names of queues and conditioners.
    fn with(port: &Port, load: &'a Load, [queues, mut conditioners]: [Names; 2]) -> Self {
        let own: Vec<_> =
            port.conditioners.iter().map(|it| (it.name.is.clone(), conditioners.unique(&it.name.is))).collect();
        let mut by_name: HashMap<String, Vec<usize>> = HashMap::new();
        own.iter().enumerate().for_each(|(place, own)| by_name.entry(own.0.clone()).or_default().push(place));
        Self {
            load,
            queues,
            conditioners,
            own,
            by_name,
            marks: Vec::new(),
            chained: ByPath::new(),
            tree: Vec::new(),
            notes: Vec::new(),
        }
    }
}

/// The rate of a port's link: what the text says of it, what is given, or the rate of what shapes all that leaves it.
pub fn link(port: &Port, given: &ImportOptions) -> Option<BitRate> {
    port.link.rate("rate").or(given.link).or_else(|| port.queue.as_ref().and_then(shaped))
}

/// The rate to which a queue shapes all that leaves it.
fn shaped(queue: &Queue) -> Option<BitRate> {
    let cake = queue.settings.rate("rate").filter(|_| queue.kind == Some(Kind::Scheduler("cake")));
    queue.shape.rate("rate").or(cake).or_else(|| match queue.kind {
        Some(Kind::Scheduler("htb")) => {
            let tops = queue.classes.iter().filter(|class| class.parent.is_none());
            let rates: Vec<_> = tops.map(|class| class.settings.rate("ceil").or(class.settings.rate("rate"))).collect();
            if let [only] = rates.as_slice() { *only } else { None }
        }
        _ => None,
    })
}

/// A port as a scenario with a load made for it; its link has this rate.
pub fn stub(port: &Port, link: BitRate) -> Stub {
    with_load(port, link, &Load::of(port, link))
}

/// A port as a scenario with this load.
pub fn with_load(port: &Port, link: BitRate, load: &Load) -> Stub {
    let others = others::sentence(port).into_iter().collect();
    Stub { rows: load.classes(), others, ..of_ends(&[End { port, link, load }]) }
}

/// The scenario of the ports of a line.
fn of_ends(ends: &[End<'_>]) -> Stub {
    let (mut names, mut queues, mut sections, mut notes) = (<_>::default(), Vec::new(), Vec::new(), Vec::new());
    for (end, at) in ends.iter().zip([LINK, FACING]) {
        let mut writer = Writer::with(end.port, end.load, names);
        queues.push(end.port.queue.as_ref().map(|queue| writer.queue(queue, queue_name(end.port))));
        sections.extend(writer.conditioned(end.port, Some(at)));
        sections.append(&mut writer.tree);
        notes.append(&mut writer.notes);
        names = [writer.queues, writer.conditioners];
    }
    let mut draft = Draft::default();
    frame::head(&mut draft, ends);
    frame::links(&mut draft, ends, &queues);
    sections.into_iter().for_each(|section| draft.add(section));
    ends.iter().for_each(|end| frame::load(&mut draft, end.load));
    Stub {
        text: draft.text(),
        draft,
        notes,
        load: frame::sentence(&ends.iter().map(|end| end.load).collect::<Vec<_>>()),
        link: ends[0].link,
        back: ends.get(1).map(|end| end.link),
        filters: ends.iter().flat_map(|end| end.load.filters(end.port)).collect(),
        ..Stub::default()
    }
}

/// A port without a queue in a scenario that counts the bytes of another: its buckets count their own.
fn recount(other: &Port, port: &Port) -> Port {
    let mut port = port.clone();
    let all = [Accounting::L3, Accounting::L2, Accounting::L2Fcs, Accounting::L1];
    let counted = |port: &Port| {
        let name = port.accounting.as_ref().map_or(Accounting::default().name(), |it| it.is);
        all.into_iter().find(|it| it.name() == name).unwrap_or_default().overhead() as i32
    };
    let more = counted(&port) - counted(other);
    let metered = port
        .conditioners
        .iter_mut()
        .filter(|it| matches!(it.settings.get("cir").map(|it| &it.is), Some(Value::Rate(_))));
    for conditioner in metered.filter(|_| more != 0) {
        let known = match conditioner.settings.get("overhead").map(|it| &it.is) {
            Some(Value::Signed(bytes)) => bytes.get(),
            _ => 0,
        };
        let bytes = Value::Signed(SignedBytes::new(known + more));
        conditioner.settings.set("overhead", WithOrigin::assumed(COUNTS, bytes));
    }
    port
}

/// Both directions of a line as one scenario, what leaves first: the ACKs of one are load of the other.
pub fn of_both([out, back]: [(&Port, BitRate); 2]) -> Stub {
    let back = (&recount(out.0, back.0), back.1);
    let [load, mut facing] = Load::of_both([out, back]);
    let rows = [load.classes(), facing.tell_apart(&load, back.0.way)];
    let ports = [out.0, back.0];
    let rows = ports.into_iter().zip(rows).flat_map(|(port, rows)| {
        let port = frame::called(port);
        rows.into_iter().map(move |row| ClassRow { port: Some(port.clone()), ..row })
    });
    let rows = rows.collect();
    let others =
        ports.into_iter().filter_map(|port| Some(format!("{}: {}", frame::called(port), others::sentence(port)?)));
    let others = others.collect();
    let ends = [End { port: out.0, link: out.1, load: &load }, End { port: back.0, link: back.1, load: &facing }];
    Stub { rows, others, ..of_ends(&ends) }
}
