//! Packets in the network: 64-byte records in one pool; queues and wires hold their indices.
//!
//! Decision: docs/decisions/027-one-pool-of-packets.md

use crate::plan::TapPoint;
use crate::record::Captured;
use crate::traffic::UDP_HEADERS;
use crate::transport::{AckInfo, Sacks, stamp};
use perhop_core::packet::{Options, Packet};
use perhop_core::units::Time;

/// A packet with what the network must know of it: one line of the cache.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub struct Record {
    /// The packet as algorithms see it.
    pub packet: Packet,
    /// When its source sent it.
    pub sent: Stamp,
    /// Where the rest of its route is in the table of hops.
    pub hop: u32,
    /// TCP: number of the segment, or the next number expected. Other transports: where what it says is kept.
    pub number: u32,
    /// IP length, which a link serialises with what its framing adds.
    pub wire: u16,
    /// TCP: segments of the window that an ACK offers, 0 if it does not say; of a segment 1 if it asks for its ACK (PSH).
    pub window: u16,
    /// TCP: blocks of an ACK, or the time stamp that a segment echoes.
    pub sacks: Sacks,
}

const _: () = assert!(size_of::<Record>() == 64);

/// When a packet was sent: to the nanosecond; an ACK to the millisecond, and beside it the time stamp that it echoes (RFC 7323).
#[derive(Clone, Copy, Debug, Default)]
pub struct Stamp(u64);

impl Stamp {
    /// Of any packet but an ACK.
    #[inline]
    pub fn at(now: Time) -> Self {
        Self(now.ns())
    }

    /// Of an ACK that is sent now.
    #[inline]
    pub fn answering(now: Time, ack: &AckInfo) -> Self {
        let own = if ack.stamp > 0 { ack.stamp } else { stamp(now) };
        Self(u64::from(own) << 32 | u64::from(ack.echo))
    }

    /// When it was sent; not an ACK.
    #[inline]
    pub fn time(self) -> Time {
        Time::from_ns(self.0)
    }

    /// The time stamp of an ACK, and the one that it echoes.
    #[inline]
    pub fn of_ack(self) -> (u32, u32) {
        ((self.0 >> 32) as u32, self.0 as u32)
    }
}

impl Record {
    /// With a datagram of this many bytes, kept at this place.
    pub fn holding(mut self, place: u32, bytes: usize) -> Self {
        self.number = place;
        self.packet.payload = u16::try_from(bytes).expect("a datagram is at most 65,507 bytes");
        self.wire = self.packet.payload + UDP_HEADERS as u16;
        self
    }

    /// IP length.
    #[inline]
    pub fn bytes(&self) -> u32 {
        self.wire.into()
    }

    /// What its TCP options say, if it is an ACK.
    pub fn options(&self) -> Options {
        let (stamp, echo) = self.sent.of_ack();
        let mut options =
            Options { expected: self.number, others: self.sacks.marked_bytes().is_some(), ..Options::default() };
        options.stamps = (echo > 0).then_some([stamp, echo]);
        let blocks = self.sacks.iter(self.number).map(|block| [block.start, block.end]);
        options.sacks.iter_mut().zip(blocks).for_each(|(place, block)| *place = block);
        options
    }

    /// What a tap sees of it at `at`, on link `link`.
    pub fn captured(&self, at: Time, link: usize, point: TapPoint) -> Captured {
        Captured { at, link: link as u32, point, packet: self.packet, wire: self.bytes() }
    }
}

/// Index of a record.
pub type RecordId = u32;

/// No record.
const NONE: RecordId = RecordId::MAX;

/// The pool. It grows until the network is at its fullest; then it allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct Pool {
    records: Vec<Record>,
    free: Vec<RecordId>,
    /// Of a burst in its host, by record: the next segment, or [`NONE`]. Empty as long as there is no burst.
    next: Vec<RecordId>,
}

impl Pool {
    /// Stores a record.
    #[inline]
    pub fn insert(&mut self, record: Record) -> RecordId {
        match self.free.pop() {
            Some(id) => {
                self.records[id as usize] = record;
                id
            }
            None => {
                self.records.push(record);
                self.records.len() as RecordId - 1
            }
        }
    }

    /// Frees a record's place.
    #[inline]
    pub fn remove(&mut self, id: RecordId) -> Record {
        self.free.push(id);
        self.records[id as usize]
    }

    /// A record.
    #[inline]
    pub fn get(&self, id: RecordId) -> &Record {
        &self.records[id as usize]
    }

    /// A record, to be changed.
    #[inline]
    pub fn get_mut(&mut self, id: RecordId) -> &mut Record {
        &mut self.records[id as usize]
    }

    /// Has a segment follow another of its burst.
    pub fn join(&mut self, last: RecordId, segment: RecordId) {
        if self.next.len() < self.records.len() {
            self.next.resize(self.records.len(), NONE);
        }
        self.next[last as usize] = segment;
    }

    /// The segment behind another of its burst.
    #[inline]
    pub fn next(&self, segment: RecordId) -> Option<RecordId> {
        self.next.get(segment as usize).copied().filter(|&next| next != NONE)
    }

    /// As [`Pool::next`]; from now on it does not follow.
    pub fn part(&mut self, segment: RecordId) -> Option<RecordId> {
        let next = self.next(segment)?;
        self.next[segment as usize] = NONE;
        Some(next)
    }

    /// The segments of the burst that begins with a record: it alone if it is none.
    pub fn burst(&self, first: RecordId) -> impl Iterator<Item = RecordId> {
        std::iter::successors(Some(first), |&segment| self.next(segment))
    }

    /// Records in use.
    pub fn used(&self) -> usize {
        self.records.len() - self.free.len()
    }
}
