//! A list with a `match`: a flow is sorted once, its packets by a table.
//!
//! When a flow is announced, the entries that may take packets of it are found, up to the first that takes all of them.
//! Flows with the same ones share a *sort*. Where it has one entry, nothing is asked of the packet; where code point, ECN
//! field and colour decide, a table has the answer; only where a `match` names conditioners the entries are asked in turn.
//!
//! Most entries have one place. The plans of a template have one for each address: that of a flow is found, too, when the flow is
//! announced.

use super::{CODE_POINTS, COLOURS, Filter, Item, Needs};
use crate::classify::{FlowHeaders, Passed};
use crate::dscp::Dscp;
use crate::packet::{Colour, Ecn, FlowId, Packet};
use crate::params::ParamError;
use crate::sched::classes::{Template, Whom};
use crate::sched::slots::{Held, Slots};
use std::collections::BTreeMap;

/// In `by_flow`: the flow was not announced.
const UNKNOWN: u32 = u32::MAX;

/// An entry of the list.
#[derive(Clone, Debug, PartialEq)]
struct Entry {
    filter: Filter,
    /// The conditioners that it names.
    named: Passed,
    places: Places,
}

/// The places of an entry.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Places {
    /// This one.
    One(u32),
    /// That of the flow's address, by a plan of a template.
    Each { template: usize, plan: usize },
}

/// A template with the places of its addresses.
#[derive(Clone, Debug)]
struct Sharing {
    name: Option<String>,
    per: Whom,
    /// The place of its first slot; that of all addresses without one is behind the last.
    first: usize,
    slots: Slots,
}

/// An entry that may take packets of a flow, and the place of them then.
type Candidate = (u32, u32);

/// By code point, ECN field and colour.
type Table = [[[u32; COLOURS]; Ecn::ALL.len()]; CODE_POINTS];

/// How packets of a flow find their entry.
#[derive(Clone, Debug)]
enum Sort {
    /// All are of this one.
    One(u32),
    /// By what they look like.
    Looks(Box<Table>),
    /// The first of these that agrees, else the last.
    Each(Vec<Candidate>),
}

/// The list and the flows it knows.
#[derive(Clone, Debug)]
pub(super) struct ByFlow {
    entries: Vec<Entry>,
    templates: Vec<Sharing>,
    places: usize,
    passed: Passed,
    sorts: Vec<Sort>,
    /// The sort of each flow.
    by_flow: Vec<u32>,
    /// The sorts by the entries that may take packets.
    known: BTreeMap<Vec<Candidate>, u32>,
}

/// The same list, whatever flows it knows.
impl PartialEq for ByFlow {
    fn eq(&self, other: &Self) -> bool {
        self.entries == other.entries
    }
}

impl ByFlow {
    pub(super) fn new(
        key: &'static str,
        items: &[Item<'_>],
        templates: &[&Template],
        port: &[String],
    ) -> Result<Self, ParamError> {
        let mut by_flow = Self {
            entries: Vec::with_capacity(items.len()),
            templates: Vec::with_capacity(templates.len()),
            places: 0,
            passed: Passed::default(),
            sorts: Vec::new(),
            by_flow: Vec::new(),
            known: BTreeMap::new(),
        };
        for item in items {
            let named = item.filter.matches.as_ref().map_or(Ok(Passed::default()), |it| Passed::named(key, it, port));
            let named = named.map_err(|e| {
                let message = format!("{}: {}", item.subject.mark(), e.message);
                ParamError { message, class: item.subject.class(), ..e }
            })?;
            let places = by_flow.place(item, templates);
            by_flow.entries.push(Entry { filter: item.filter.clone(), named, places });
        }
        Ok(by_flow)
    }

    /// The places of the next entry.
    fn place(&mut self, item: &Item<'_>, templates: &[&Template]) -> Places {
        let first = self.places;
        let Some((template, plan)) = item.plan else {
            self.places += 1;
            return Places::One(first as u32);
        };
        if template == self.templates.len() {
            let Template { name, per, slots, plans, .. } = templates[template];
            let of_plans: Vec<_> = plans.iter().map(|plan| plan.classes.len()).collect();
            let slots = Slots::new(*slots as usize, &of_plans);
            self.places += slots.len() + 1;
            self.templates.push(Sharing { name: name.clone(), per: *per, first, slots });
        }
        Places::Each { template, plan }
    }

    pub(super) fn places(&self) -> usize {
        self.places
    }

    pub(super) fn has_templates(&self) -> bool {
        !self.templates.is_empty()
    }

    fn sharing(&self, place: usize) -> Option<&Sharing> {
        self.templates.iter().find(|it| (it.first..=it.first + it.slots.len()).contains(&place))
    }

    pub(super) fn served(&self, place: usize) -> Option<u64> {
        self.sharing(place).map(|it| it.slots.served(place - it.first))
    }

    pub(super) fn held(&self, place: usize) -> Option<(Option<&str>, Held)> {
        let it = self.sharing(place)?;
        Some((it.name.as_deref(), it.slots.held(place - it.first)))
    }

    #[inline]
    pub(super) fn of(&self, packet: &Packet) -> usize {
        let place = match &self.sorts[self.by_flow[packet.flow.0 as usize] as usize] {
            Sort::One(place) => *place,
            Sort::Looks(table) => table[usize::from(packet.dscp.get())][packet.ecn as usize][packet.colour.index()],
            Sort::Each(candidates) => self.first(candidates, packet, &self.passed),
        };
        place as usize
    }

    pub(super) fn needs(&self) -> Needs {
        let matches = || self.entries.iter().filter_map(|entry| entry.filter.matches.as_ref());
        let rtt = Needs::RTT.only_if(matches().any(|it| it.rtt.is_some()));
        Needs::HEADERS | rtt | Needs::PASSED.only_if(matches().any(|it| !it.conditioner.is_empty()))
    }

    pub(super) fn tell(&mut self, passed: &Passed) {
        self.passed = *passed;
    }

    pub(super) fn register(&mut self, flow: FlowId, headers: &FlowHeaders, waits: &dyn Fn(usize) -> bool) {
        let number = flow.0 as usize;
        if self.by_flow.len() <= number {
            self.by_flow.resize(number + 1, UNKNOWN);
        }
        let candidates = self.candidates(flow, headers, waits);
        self.by_flow[number] = self.sort(candidates);
    }

    pub(super) fn forget(&mut self, flow: FlowId) {
        self.templates.iter_mut().for_each(|it| it.slots.forget(flow));
    }

    /// The entries that may take packets of a flow, in order, the last one for what no other takes.
    fn candidates(&mut self, flow: FlowId, headers: &FlowHeaders, waits: &dyn Fn(usize) -> bool) -> Vec<Candidate> {
        let Self { entries, templates, .. } = self;
        let last = entries.len() - 1;
        let (mut found, mut next) = (Vec::new(), 0);
        for (i, Entry { filter, places, .. }) in entries.iter().enumerate() {
            if i != last && !filter.flow(headers) {
                continue;
            }
            let place = match *places {
                Places::One(place) => place,
                // Of a template the first plan that agrees counts.
                Places::Each { template, .. } if template < next => continue,
                Places::Each { template, plan } => {
                    templates[next..template].iter_mut().for_each(|it| it.slots.forget(flow));
                    next = template + 1;
                    templates[template].register(flow, (headers, plan), waits) as u32
                }
            };
            found.push((i as u32, place));
            if filter.is_of_flows() {
                break;
            }
        }
        templates[next..].iter_mut().for_each(|it| it.slots.forget(flow));
        found
    }

    /// The number of the sort by these entries.
    fn sort(&mut self, candidates: Vec<Candidate>) -> u32 {
        if let Some(known) = self.known.get(&candidates) {
            return *known;
        }
        let (new, sort) = (self.sorts.len() as u32, self.sort_by(&candidates));
        self.sorts.push(sort);
        self.known.insert(candidates, new);
        new
    }

    fn sort_by(&self, candidates: &[Candidate]) -> Sort {
        match candidates {
            [(_, place)] => Sort::One(*place),
            _ if candidates.iter().any(|it| !self.entries[it.0 as usize].named.is_empty()) => {
                Sort::Each(candidates.to_vec())
            }
            _ => Sort::Looks(self.table(candidates)),
        }
    }

    fn table(&self, candidates: &[Candidate]) -> Box<Table> {
        let mut table = Box::new([[[0; COLOURS]; Ecn::ALL.len()]; CODE_POINTS]);
        for (dscp, row) in (0..).filter_map(Dscp::new).take(CODE_POINTS).zip(table.iter_mut()) {
            *row = Ecn::ALL.map(|ecn| {
                let packet = |colour| Packet { dscp, ecn, colour, ..Packet::default() };
                Colour::ALL.map(|colour| self.first(candidates, &packet(colour), &Passed::default()))
            });
        }
        table
    }

    /// The place by the first of these entries that takes a packet, else by the last.
    fn first(&self, candidates: &[Candidate], packet: &Packet, passed: &Passed) -> u32 {
        let takes = |it: &&Candidate| {
            let Entry { filter, named, .. } = &self.entries[it.0 as usize];
            filter.packet(packet) && named.agrees(passed)
        };
        candidates.iter().find(takes).unwrap_or(&candidates[candidates.len() - 1]).1
    }
}

impl Sharing {
    /// The place of a flow under a plan.
    fn register(
        &mut self,
        flow: FlowId,
        (headers, plan): (&FlowHeaders, usize),
        waits: &dyn Fn(usize) -> bool,
    ) -> usize {
        let Self { per, first, slots, .. } = self;
        let slot = slots.register(flow, (per.of(headers), plan), |slot| waits(*first + slot as usize));
        *first + slot.map_or(slots.len(), |slot| slot as usize)
    }
}
