//! A list with a `match`: a flow is sorted once, its packets by a table.
//!
//! When a flow is announced, the entries that may take packets of it are found, up to the first that takes all of them.
//! Flows with the same ones share a *sort*. Where it has one entry, nothing is asked of the packet; where code point, ECN
//! field and colour decide, a table has the answer; only where a `match` names conditioners the entries are asked in turn.

use super::{CODE_POINTS, COLOURS, Filter, Needs};
use crate::classify::{FlowHeaders, Passed};
use crate::dscp::Dscp;
use crate::packet::{Colour, Ecn, FlowId, Packet};
use crate::params::ParamError;
use std::collections::BTreeMap;

/// In `by_flow`: the flow was not announced.
const UNKNOWN: u32 = u32::MAX;

/// An entry of the list.
#[derive(Clone, Debug, PartialEq)]
struct Entry {
    filter: Filter,
    /// The conditioners that it names.
    named: Passed,
}

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
    Each(Vec<u32>),
}

/// The list and the flows it knows.
#[derive(Clone, Debug)]
pub(super) struct ByFlow {
    entries: Vec<Entry>,
    passed: Passed,
    sorts: Vec<Sort>,
    /// The sort of each flow.
    by_flow: Vec<u32>,
    /// The sorts by the entries that may take packets.
    known: BTreeMap<Vec<u32>, u32>,
}

/// The same list, whatever flows it knows.
impl PartialEq for ByFlow {
    fn eq(&self, other: &Self) -> bool {
        self.entries == other.entries
    }
}

impl ByFlow {
    pub(super) fn new(
        [key, noun]: [&'static str; 2],
        filters: &[&Filter],
        port: &[String],
    ) -> Result<Self, ParamError> {
        let entry = |(i, filter): (usize, &&Filter)| {
            let named = filter.matches.as_ref().map_or(Ok(Passed::default()), |it| Passed::named(key, it, port));
            let named = named.map_err(|e| ParamError { message: format!("{noun} {}: {}", i + 1, e.message), ..e })?;
            Ok(Entry { filter: (*filter).clone(), named })
        };
        let entries = filters.iter().enumerate().map(entry).collect::<Result<_, _>>()?;
        let (passed, sorts, by_flow, known) = (Passed::default(), Vec::new(), Vec::new(), BTreeMap::new());
        Ok(Self { entries, passed, sorts, by_flow, known })
    }

    #[inline]
    pub(super) fn of(&self, packet: &Packet) -> usize {
        let place = match &self.sorts[self.by_flow[packet.flow.0 as usize] as usize] {
            Sort::One(place) => *place,
            Sort::Looks(table) => table[usize::from(packet.dscp.get())][packet.ecn as usize][packet.colour.index()],
            Sort::Each(entries) => self.first(entries, packet, self.passed),
        };
        place as usize
    }

    pub(super) fn needs(&self) -> Needs {
        let matches = || self.entries.iter().filter_map(|entry| entry.filter.matches.as_ref());
        let rtt = Needs::RTT.only_if(matches().any(|it| it.rtt.is_some()));
        Needs::HEADERS | rtt | Needs::PASSED.only_if(matches().any(|it| !it.conditioner.is_empty()))
    }

    pub(super) fn tell(&mut self, passed: Passed) {
        self.passed = passed;
    }

    pub(super) fn register(&mut self, flow: FlowId, headers: &FlowHeaders) {
        let slot = flow.0 as usize;
        if self.by_flow.len() <= slot {
            self.by_flow.resize(slot + 1, UNKNOWN);
        }
        self.by_flow[slot] = self.sort(self.candidates(headers));
    }

    /// The entries that may take packets of a flow, in order, the last one for what no other takes.
    fn candidates(&self, headers: &FlowHeaders) -> Vec<u32> {
        let last = self.entries.len() - 1;
        let mut found = Vec::new();
        for (i, Entry { filter, .. }) in self.entries.iter().enumerate() {
            if i == last || filter.flow(headers) {
                found.push(i as u32);
                if filter.is_of_flows() {
                    break;
                }
            }
        }
        found
    }

    /// The number of the sort by these entries.
    fn sort(&mut self, entries: Vec<u32>) -> u32 {
        if let Some(known) = self.known.get(&entries) {
            return *known;
        }
        let (new, sort) = (self.sorts.len() as u32, self.sort_by(&entries));
        self.sorts.push(sort);
        self.known.insert(entries, new);
        new
    }

    fn sort_by(&self, entries: &[u32]) -> Sort {
        match entries {
            [one] => Sort::One(*one),
            _ if entries.iter().any(|&i| self.entries[i as usize].named != Passed::default()) => {
                Sort::Each(entries.to_vec())
            }
            _ => Sort::Looks(self.table(entries)),
        }
    }

    fn table(&self, entries: &[u32]) -> Box<Table> {
        let mut table = Box::new([[[0; COLOURS]; Ecn::ALL.len()]; CODE_POINTS]);
        for (dscp, row) in (0..).filter_map(Dscp::new).take(CODE_POINTS).zip(table.iter_mut()) {
            *row = Ecn::ALL.map(|ecn| {
                let packet = |colour| Packet { dscp, ecn, colour, ..Packet::default() };
                Colour::ALL.map(|colour| self.first(entries, &packet(colour), Passed::default()))
            });
        }
        table
    }

    /// The first of these entries that takes a packet, else the last.
    fn first(&self, entries: &[u32], packet: &Packet, passed: Passed) -> u32 {
        let takes = |i: &&u32| {
            let Entry { filter, named } = &self.entries[**i as usize];
            filter.packet(packet) && named.agrees(passed)
        };
        *entries.iter().find(takes).unwrap_or(&entries[entries.len() - 1])
    }
}
