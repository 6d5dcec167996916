//! The profiles of a queue: that of a packet is fixed when it arrives.
//!
//! Code points and colours stay while a packet waits. But flows are sorted again once their round-trip time is known, the
//! queue itself marks packets, and what they passed is known at arrival alone. So a list with a `match` remembers the profile
//! of each packet that waits. The queue is first in, first out, and what has to make room goes from its head.

use super::{Filter, MOST, Members};
use crate::Scope;
use crate::needs::Needs;
use crate::packet::Packet;
use crate::params::ParamError;
use crate::verdict::Fate;
use std::collections::VecDeque;

/// The classifier of a queue's profiles.
#[derive(Clone, Debug)]
pub struct Profiles {
    /// The list.
    pub members: Members,
    waiting: Option<Box<Waiting>>,
}

/// Places of packets.
#[derive(Clone, Debug, Default)]
struct Waiting {
    /// Of the one that arrives, until its fate is known.
    arriving: Option<usize>,
    /// Of those that wait.
    places: VecDeque<usize>,
}

impl Profiles {
    /// The classifier of `filters`, at least one, as [`Members::new`].
    ///
    /// # Errors
    /// E201 for more than [`MOST`]; as [`Members::new`].
    pub fn new<'a>(
        names: [&'static str; 2],
        filters: impl ExactSizeIterator<Item = &'a Filter>,
        scope: &Scope,
    ) -> Result<Self, ParamError> {
        let [key, noun] = names;
        if filters.len() > MOST {
            let error = ParamError::new(key, "E201", format!("`{key}` has {} entries", filters.len()));
            return Err(error.help(format!("at most {MOST}: a {noun} for each flow or address needs a scheduler")));
        }
        let members = Members::new(names, filters, scope)?;
        let waiting = members.needs().contains(Needs::HEADERS).then(Box::default);
        Ok(Self { members, waiting })
    }

    /// The place of a packet that arrives.
    #[inline]
    pub fn arrives(&mut self, packet: &Packet) -> usize {
        let place = self.members.of(packet);
        if let Some(waiting) = &mut self.waiting {
            waiting.arriving = Some(place);
        }
        place
    }

    /// The place of a packet whose fate is told.
    #[inline]
    pub fn fate(&mut self, packet: &Packet, fate: Fate) -> usize {
        match &mut self.waiting {
            None => self.members.of(packet),
            Some(waiting) => waiting.fate(fate),
        }
    }

    /// The place of a packet that leaves.
    #[inline]
    pub fn leaves(&mut self, packet: &Packet) -> usize {
        match &mut self.waiting {
            None => self.members.of(packet),
            Some(waiting) => waiting.leaves(),
        }
    }

    /// What it needs of a queue: departures, if it remembers which packets wait.
    pub fn needs(&self) -> Needs {
        Needs::DEPARTURES.only_if(self.waiting.is_some())
    }

    /// Takes over the places of those that wait, and what is known of flows.
    ///
    /// # Errors
    /// As [`Members::resume`].
    pub fn resume(&mut self, old: &Self, key: &'static str) -> Result<(), ParamError> {
        self.members.resume(&old.members, key)?;
        self.waiting.clone_from(&old.waiting);
        Ok(())
    }
}

impl Waiting {
    fn fate(&mut self, fate: Fate) -> usize {
        // Without an arrival it is the packet at the head, which had to make room.
        let Some(place) = self.arriving.take() else { return self.leaves() };
        if fate.stays() {
            self.places.push_back(place);
        }
        place
    }

    fn leaves(&mut self) -> usize {
        self.places.pop_front().expect("one that waits has arrived")
    }
}
