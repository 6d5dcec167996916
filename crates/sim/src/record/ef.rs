//! An aggregate at a port, held against its rate by what passes the port ([`EfBound`]).

use crate::plan::EfCheck;
use perhop_core::dscp::Dscp;
use perhop_core::estimate::EfBound;
use perhop_core::estimate::ef_bound::{Departure, Ticket, Worst};
use perhop_core::packet::Packet;
use perhop_core::units::Time;

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EfRow {
    /// What was asked.
    pub check: EfCheck,
    /// Packets of the aggregate that left the port.
    pub packets: u64,
    /// Packets of the aggregate that the port dropped; they are in no equation.
    pub dropped: u64,
    /// E_a and when the packet behind it left; `None` without packets.
    pub aggregate: Option<Worst>,
    /// E_p, the same.
    pub each: Option<Worst>,
    /// Code points that left the port, of all packets.
    pub seen: Vec<Dscp>,
}

/// A check in progress.
#[derive(Clone, Debug)]
pub struct EfWatch {
    check: EfCheck,
    bound: EfBound,
    /// Of the packets at the port, by their places in the pool.
    tickets: Vec<Option<Ticket>>,
    /// A bit for each code point that left the port.
    seen: u64,
}

impl EfWatch {
    /// Before the run; packets that come before `since` are not counted.
    pub fn new(check: &EfCheck, since: Time) -> Self {
        let bound = EfBound::new(check.rate, since);
        Self { check: check.clone(), bound, tickets: Vec::new(), seen: 0 }
    }

    /// Whether it looks at this link's port.
    pub fn is_at(&self, link: usize) -> bool {
        self.check.link == link
    }

    /// The packet at `place` of the pool comes to the port.
    pub fn came(&mut self, now: Time, place: u32) {
        let slot = place as usize;
        if self.tickets.len() <= slot {
            self.tickets.resize(slot + 1, None);
        }
        self.tickets[slot] = Some(self.bound.arrived(now));
    }

    /// The last bit of the packet at `place` left at `at`.
    pub fn left(&mut self, place: u32, packet: &Packet, at: Time) {
        let Some(ticket) = self.ticket(place) else { return };
        self.seen |= 1 << packet.dscp.get();
        match self.check.of.takes(packet) {
            true => self.bound.departed(ticket, Departure { at, bytes: self.check.frame.bytes(packet.size) }),
            false => self.bound.apart(ticket),
        }
    }

    /// The packet at `place` is dropped at the port.
    pub fn dropped(&mut self, place: u32, packet: &Packet) {
        let Some(ticket) = self.ticket(place) else { return };
        match self.check.of.takes(packet) {
            true => self.bound.dropped(ticket),
            false => self.bound.apart(ticket),
        }
    }

    fn ticket(&mut self, place: u32) -> Option<Ticket> {
        self.tickets.get_mut(place as usize)?.take()
    }

    /// What it found.
    pub fn finish(mut self) -> EfRow {
        self.bound.finish();
        let seen = (0..64).filter(|code| self.seen >> code & 1 == 1).filter_map(Dscp::new).collect();
        EfRow {
            packets: self.bound.packets(),
            dropped: self.bound.drops(),
            aggregate: self.bound.aggregate(),
            each: self.bound.each(),
            check: self.check,
            seen,
        }
    }
}
