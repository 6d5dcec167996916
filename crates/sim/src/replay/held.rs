//! The packets at the port of a replay, and their trips.

use perhop_core::count::Count;
use perhop_core::packet::{Ecn, Packet};
use perhop_core::port::{Buffers, Transmission};
use perhop_core::units::Time;
use perhop_core::verdict::{Fate, Reason};

/// A packet's way through the port.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trip {
    /// The packet's number among the arrivals, from 0.
    pub number: u64,
    /// Its place at the port while it was there. Others get the place after it, so it numbers a buffer.
    pub place: u32,
    /// When it arrived.
    pub arrived: Time,
    /// Its transmission; `None`: it was dropped, or still waits at the end.
    pub sent: Option<Transmission>,
    /// What became of it: marked means that the port has set CE, on arrival or at departure.
    pub fate: Fate,
    /// When that was certain: the start of its transmission, or the time at which it was dropped.
    pub at: Time,
    /// As it left or was dropped.
    pub packet: Packet,
    /// What waited at the port when it arrived, in all queues.
    pub found: Count,
}

/// A packet at the port.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Waiting {
    pub(super) number: u64,
    pub(super) place: u32,
    pub(super) arrived: Time,
    pub(super) packet: Packet,
    pub(super) wire: u32,
    pub(super) came_with: Ecn,
    pub(super) found: Count,
}

impl Waiting {
    pub(super) fn dropped(&self, at: Time, reason: Reason) -> Trip {
        Trip { sent: None, fate: Fate::Dropped(reason), at, ..self.waits(at) }
    }

    pub(super) fn sent(&self, sent: Transmission) -> Trip {
        Trip { sent: Some(sent), ..self.waits(sent.starts) }
    }

    pub(super) fn waits(&self, at: Time) -> Trip {
        let marked = self.packet.ecn == Ecn::Ce && self.came_with != Ecn::Ce;
        let fate = if marked { Fate::Marked } else { Fate::Queued };
        let Self { number, place, arrived, packet, found, .. } = *self;
        Trip { number, place, arrived, sent: None, fate, at, packet, found }
    }
}

/// The packets at the port by their place, and what it dropped at a queue's head.
#[derive(Clone, Debug, Default)]
pub(super) struct Held {
    pub(super) places: Vec<Waiting>,
    free: Vec<u32>,
    pub(super) dropped: Vec<(u32, Reason)>,
}

impl Held {
    /// A place for the next packet.
    pub(super) fn place(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.places.push(Waiting::default());
            self.places.len() as u32 - 1
        })
    }

    pub(super) fn leave(&mut self, place: u32) -> Waiting {
        self.free.push(place);
        self.places[place as usize]
    }
}

impl Buffers<u32> for Held {
    fn packet(&mut self, place: u32) -> &mut Packet {
        &mut self.places[place as usize].packet
    }

    fn dropped(&mut self, place: u32, reason: Reason) {
        self.dropped.push((place, reason));
    }
}
