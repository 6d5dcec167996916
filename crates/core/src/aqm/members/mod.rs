//! Which packets belong to a profile or a class: the first one whose `for` lists their colour or code point, or whose
//! `match` agrees, else the last.
//!
//! A list without a `match` is a table of colours and code points and knows no flows. In any other a flow is sorted when it
//! is announced, see `by_flow`: the port tells [`Members`] of it.
//!
//! Decision: docs/decisions/055-queues-class-by-packet.md

mod by_flow;
mod cover;
/// What an entry takes.
pub mod filter;
mod waiting;

pub use cover::{Cover, Covered, asks};
pub use filter::{Filter, Member};
pub(crate) use filter::{Item, Subject};
pub use waiting::Profiles;

use crate::Scope;
use crate::classify::{FlowHeaders, Passed};
use crate::dscp::Dscp;
use crate::needs::Needs;
use crate::packet::{Colour, FlowId, Packet};
use crate::params::{ClassName, ParamError};
use crate::sched::classes::Template;
use crate::sched::slots::Held;
use by_flow::ByFlow;

const CODE_POINTS: usize = 64;
const COLOURS: usize = Colour::ALL.len();
/// Most profiles of a queue: each has its own names in series.
pub const MOST: usize = 256;

/// The place of each packet's entry in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Members {
    /// Of each code point and colour, for lists without a `match`.
    table: [[u8; COLOURS]; CODE_POINTS],
    places: usize,
    by_flow: Option<Box<ByFlow>>,
    names: Names,
}

/// By place the name of its class, for results.
#[derive(Clone, Debug, Default)]
struct Names(Box<[Option<String>]>);

/// Other names are no other list: packets are sorted the same.
impl PartialEq for Names {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Members {
    /// The classifier of `filters`, at least one; `names` are the key that holds them and the noun for one of them.
    ///
    /// # Errors
    /// E280 for an entry with both `for` and `match`; E223 when one of them can match no packet; E281 for a conditioner that
    /// is not at this port.
    pub fn new<'a>(
        names: [&'static str; 2],
        filters: impl IntoIterator<Item = &'a Filter>,
        scope: &Scope,
    ) -> Result<Self, ParamError> {
        let [key, noun] = names;
        let subject = |number: usize| match noun {
            "class" => Subject::Class(ClassName::listed(number)),
            noun => Subject::Other(format!("{noun} {number}")),
        };
        let item = |(i, filter)| Item { filter, subject: subject(i + 1), plan: None };
        let items: Vec<_> = filters.into_iter().enumerate().map(item).collect();
        Self::of_items(key, &items, &[], scope)
    }

    /// The classifier of a scheduler's classes: `templates` are those that items name.
    ///
    /// # Errors
    /// As [`Members::new`].
    pub(crate) fn of_items(
        key: &'static str,
        items: &[Item<'_>],
        templates: &[&Template],
        scope: &Scope,
    ) -> Result<Self, ParamError> {
        cover::each_matches(key, items)?;
        let by_flow = match items.iter().any(|item| item.filter.matches.is_some() || item.plan.is_some()) {
            true => Some(Box::new(ByFlow::new(key, items, templates, &scope.conditioners)?)),
            false => None,
        };
        let table = if by_flow.is_none() { table(items) } else { [[0; COLOURS]; CODE_POINTS] };
        let places = by_flow.as_ref().map_or(items.len(), |by_flow| by_flow.places());
        Ok(Self { table, places, by_flow, names: Names::default() })
    }

    /// With the names of its places.
    pub(crate) fn called(self, names: Vec<Option<String>>) -> Self {
        Self { names: Names(names.into()), ..self }
    }

    /// The name that the file gives to the class of a place, if any.
    pub fn name(&self, place: usize) -> Option<&str> {
        self.names.0.get(place)?.as_deref()
    }

    /// Whether any of its places has a name, of its own or that of a template.
    pub fn has_names(&self) -> bool {
        self.names.0.iter().any(Option::is_some) || self.by_flow.as_ref().is_some_and(|it| it.has_templates())
    }

    /// How many addresses a place of a template has had; of the one for those without their own, how many there were.
    pub fn served(&self, place: usize) -> Option<u64> {
        self.by_flow.as_ref()?.served(place)
    }

    /// What a place of a template's is now, and the template's name; `None` if it is of no template.
    pub fn held(&self, place: usize) -> Option<(Option<&str>, Held)> {
        self.by_flow.as_ref()?.held(place)
    }

    /// The place of a packet's profile or class.
    ///
    /// # Panics
    /// If its flow decides and was not announced: the host's mistake.
    #[inline]
    pub fn of(&self, packet: &Packet) -> usize {
        match &self.by_flow {
            None => self.table[usize::from(packet.dscp.get())][packet.colour.index()].into(),
            Some(by_flow) => by_flow.of(packet),
        }
    }

    /// How many profiles or classes there are.
    pub fn places(&self) -> usize {
        self.places
    }

    /// What it needs: [`Needs::HEADERS`] if flows have to be announced to it.
    pub fn needs(&self) -> Needs {
        self.by_flow.as_ref().map_or(Needs::NOTHING, |by_flow| by_flow.needs())
    }

    /// Announces a flow before its first packet, when its number is given to another, and when more is known about it.
    /// `waits` says whether anything waits in a place.
    pub fn register(&mut self, flow: FlowId, headers: &FlowHeaders, waits: &dyn Fn(usize) -> bool) {
        self.by_flow.iter_mut().for_each(|by_flow| by_flow.register(flow, headers, waits));
    }

    /// A flow is not registered any longer.
    pub fn forget(&mut self, flow: FlowId) {
        self.by_flow.iter_mut().for_each(|by_flow| by_flow.forget(flow));
    }

    /// Needs [`Needs::PASSED`]. Which conditioners of its port the packet that arrives next has passed.
    pub fn tell(&mut self, passed: &Passed) {
        self.by_flow.iter_mut().for_each(|by_flow| by_flow.tell(passed));
    }

    /// Takes over, for new parameters, what the old list knows of flows.
    ///
    /// # Errors
    /// E202 where a `match` has changed.
    pub fn resume(&mut self, old: &Self, key: &'static str) -> Result<(), ParamError> {
        if self.by_flow.is_none() && old.by_flow.is_none() {
            return Ok(());
        }
        if self != old {
            let error = ParamError::new(key, "E202", "a `match` would change while running".into());
            return Err(error.help("flows are sorted when they begin: change what an entry gets, not what it takes"));
        }
        self.by_flow.clone_from(&old.by_flow);
        Ok(())
    }
}

fn table(items: &[Item<'_>]) -> [[u8; COLOURS]; CODE_POINTS] {
    let place = |packet: Packet| {
        let lists = |item: &Item<'_>| item.filter.members.iter().any(|member| member.is_of(&packet));
        items.iter().position(lists).unwrap_or(items.len() - 1) as u8
    };
    let mut table = [[0; COLOURS]; CODE_POINTS];
    for (dscp, row) in (0..).filter_map(Dscp::new).take(CODE_POINTS).zip(&mut table) {
        *row = Colour::ALL.map(|colour| place(Packet { dscp, colour, ..Packet::default() }));
    }
    table
}
