//! A bounded table of flows: what an edge remembers about each until it has been idle too long.
//!
//! A flow that has been silent for longer than the table's expiry is forgotten. When the table is full, a new flow takes
//! the place of the one silent longest if that has expired; otherwise it is counted, and nothing is remembered about it.
//!
//! Memory: an entry is the state and 24 bytes; in addition, 4 bytes for each flow number the host has assigned.
//!
//! Decision: docs/decisions/014-flow-tables-are-bounded.md

use crate::packet::FlowId;
use crate::units::{Span, Time};

const NONE: u32 = u32::MAX;

#[derive(Clone, Debug)]
struct Entry<T> {
    state: T,
    seen: Time,
    flow: FlowId,
    /// Entries seen before and after this one; the list of free entries uses `newer`.
    older: u32,
    newer: u32,
}

/// States of flows.
#[derive(Clone, Debug)]
pub struct FlowTable<T> {
    entries: Vec<Entry<T>>,
    by_flow: Vec<u32>,
    most: u32,
    expiry: Span,
    oldest: u32,
    newest: u32,
    free: u32,
    refused: u64,
}

impl<T> FlowTable<T> {
    /// An empty table of at most `most` flows.
    pub const fn new(most: u32, expiry: Span) -> Self {
        let (oldest, newest, free) = (NONE, NONE, NONE);
        Self { entries: Vec::new(), by_flow: Vec::new(), most, expiry, oldest, newest, free, refused: 0 }
    }

    /// Other bounds from now on; what is in it stays, until it expires.
    pub fn rebound(&mut self, most: u32, expiry: Span) {
        (self.most, self.expiry) = (most, expiry);
    }

    /// Packets of flows for which the table had no room.
    pub const fn refused(&self) -> u64 {
        self.refused
    }

    /// The state of a flow, if it is known at `now`.
    pub fn get(&self, now: Time, flow: FlowId) -> Option<&T> {
        let entry = self.entries.get(self.place(flow)? as usize)?;
        (now.since(entry.seen) <= self.expiry).then_some(&entry.state)
    }

    /// The same to be changed; the flow counts as seen.
    pub fn seen(&mut self, now: Time, flow: FlowId) -> Option<&mut T> {
        let place = self.place(flow)?;
        if now.since(self.entries[place as usize].seen) > self.expiry {
            self.forget(flow);
            return None;
        }
        self.touch(now, place);
        Some(&mut self.entries[place as usize].state)
    }

    /// Remembers a flow that is not known. `None`: the table is full.
    pub fn remember(&mut self, now: Time, flow: FlowId, state: T) -> Option<&mut T> {
        let Some(place) = self.room(now) else {
            self.refused += 1;
            return None;
        };
        let entry = Entry { state, seen: now, flow, older: NONE, newer: NONE };
        match self.entries.get_mut(place as usize) {
            Some(slot) => *slot = entry,
            None => self.entries.push(entry),
        }
        if self.by_flow.len() <= flow.0 as usize {
            self.by_flow.resize(flow.0 as usize + 1, NONE);
        }
        self.by_flow[flow.0 as usize] = place;
        self.append(place);
        Some(&mut self.entries[place as usize].state)
    }

    /// Forgets the flow that is silent longest, if it has expired at `now`; says which it was.
    pub fn expire(&mut self, now: Time) -> Option<FlowId> {
        let oldest = self.entries.get(self.oldest as usize)?;
        let expired = (now.since(oldest.seen) > self.expiry).then_some(oldest.flow)?;
        self.forget(expired);
        Some(expired)
    }

    /// Forgets the flow that is silent longest; says which it was.
    pub fn forget_oldest(&mut self) -> Option<FlowId> {
        let oldest = self.entries.get(self.oldest as usize)?.flow;
        self.forget(oldest);
        Some(oldest)
    }

    /// Forgets a flow.
    pub fn forget(&mut self, flow: FlowId) {
        let Some(place) = self.place(flow) else { return };
        self.unlink(place);
        self.by_flow[flow.0 as usize] = NONE;
        self.entries[place as usize].newer = std::mem::replace(&mut self.free, place);
    }

    /// All its entries, expired or not, those silent longest first.
    #[cfg(test)]
    fn iter(&self) -> impl Iterator<Item = (FlowId, &T)> {
        let first = self.entries.get(self.oldest as usize);
        let entries = std::iter::successors(first, |entry| self.entries.get(entry.newer as usize));
        entries.map(|entry| (entry.flow, &entry.state))
    }

    fn place(&self, flow: FlowId) -> Option<u32> {
        self.by_flow.get(flow.0 as usize).copied().filter(|&place| place != NONE)
    }

    fn room(&mut self, now: Time) -> Option<u32> {
        let expired = |entry: &Entry<T>| now.since(entry.seen) > self.expiry;
        if self.free == NONE && (self.entries.len() as u32) < self.most {
            return Some(self.entries.len() as u32);
        }
        if self.free == NONE
            && let Some(flow) = self.entries.get(self.oldest as usize).filter(|e| expired(e))
        {
            self.forget(flow.flow);
        }
        let place = (self.free != NONE && self.free < self.most).then_some(self.free)?;
        self.free = self.entries[place as usize].newer;
        Some(place)
    }

    fn touch(&mut self, now: Time, place: u32) {
        self.entries[place as usize].seen = now;
        if self.newest != place {
            self.unlink(place);
            self.append(place);
        }
    }

    fn unlink(&mut self, place: u32) {
        let Entry { older, newer, .. } = self.entries[place as usize];
        match self.entries.get_mut(older as usize) {
            Some(entry) => entry.newer = newer,
            None => self.oldest = newer,
        }
        match self.entries.get_mut(newer as usize) {
            Some(entry) => entry.older = older,
            None => self.newest = older,
        }
    }

    fn append(&mut self, place: u32) {
        let last = std::mem::replace(&mut self.newest, place);
        (self.entries[place as usize].older, self.entries[place as usize].newer) = (last, NONE);
        match self.entries.get_mut(last as usize) {
            Some(entry) => entry.newer = place,
            None => self.oldest = place,
        }
    }
}

const _: () = assert!(size_of::<Entry<[u64; 4]>>() == 32 + 24);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same with a plain list: flow, when seen, state.
    #[derive(Default)]
    struct Plain(Vec<(u32, u64, u64)>);

    proptest! {
        #[test]
        fn as_a_plain_list(steps in prop::collection::vec((0u32..8, 0u64..30, any::<bool>()), 1..200)) {
            const MOST: u32 = 4;
            const EXPIRY: u64 = 40;
            let mut table = FlowTable::new(MOST, Span::from_ns(EXPIRY));
            let (mut plain, mut now, mut refused) = (Plain::default(), 0, 0);
            for (i, (flow, gap, forget)) in steps.into_iter().enumerate() {
                now += gap;
                let (at, id) = (Time::from_ns(now), FlowId(flow));
                let live = plain.0.iter().position(|e| e.0 == flow && now - e.1 <= EXPIRY);
                prop_assert_eq!(table.get(at, id).copied(), live.map(|i| plain.0[i].2));
                if forget && gap % 3 == 1 {
                    let first = plain.0.first().filter(|e| now - e.1 > EXPIRY).map(|e| FlowId(e.0));
                    prop_assert_eq!(table.expire(at), first);
                    plain.0.drain(..usize::from(first.is_some()));
                    continue;
                }
                if forget && gap % 3 == 0 {
                    table.forget(id);
                    plain.0.retain(|e| e.0 != flow);
                    continue;
                }
                let new = i as u64;
                match table.seen(at, id).map(|state| *state = new) {
                    Some(()) => { let i = live.unwrap(); let mut e = plain.0.remove(i); e.1 = now; e.2 = new; plain.0.push(e); }
                    None => {
                        prop_assert!(live.is_none());
                        plain.0.retain(|e| e.0 != flow);
                        if plain.0.len() == MOST as usize && now - plain.0[0].1 > EXPIRY { plain.0.remove(0); }
                        let room = plain.0.len() < MOST as usize;
                        prop_assert_eq!(table.remember(at, id, new).is_some(), room);
                        if room { plain.0.push((flow, now, new)) } else { refused += 1 }
                    }
                }
                let all: Vec<_> = table.iter().map(|(flow, state)| (flow.0, *state)).collect();
                prop_assert_eq!(all, plain.0.iter().map(|e| (e.0, e.2)).collect::<Vec<_>>());
                prop_assert!(table.entries.len() <= MOST as usize);
                prop_assert_eq!(table.refused(), refused);
            }
        }
    }
}
