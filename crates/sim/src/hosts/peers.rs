//! Connections of a transport over datagrams, and what is in their datagrams while those are on their way.

use super::Hosts;
use super::connection::{End, Opening, Transit};
use crate::net::Record;
use crate::transport::datagram::{Known, Opened, Peer, Protocol};
use perhop_core::units::Time;

/// The two ends of a connection.
#[derive(Debug)]
pub(super) struct Pair {
    /// Sender, receiver.
    peers: [Box<dyn Peer>; 2],
    /// Earliest wake-up that waits for each end; [`Time::MAX`]: none.
    armed: [Time; 2],
    /// All that it carries, until all of it has arrived.
    pub(super) transfer: Option<Transit>,
}

impl Pair {
    /// Whether the sender knows that all it had to send has arrived.
    pub(super) fn finished(&self) -> bool {
        self.peers[0].finished()
    }

    /// The sender sends nothing new.
    pub(super) fn close(&mut self, now: Time) {
        self.peers[0].close(now);
    }

    /// Bytes that the receiver's application got.
    pub(super) fn delivered(&self) -> u64 {
        self.peers[1].delivered()
    }

    /// What the sender says about itself.
    pub(super) fn known(&self) -> Known {
        self.peers[0].known()
    }
}

/// Connections by the place of their flow; none if there are none at all.
#[derive(Debug, Default)]
pub(super) struct Pairs(Vec<Option<Box<Pair>>>);

impl Pairs {
    /// A flow's connection.
    pub(super) fn get(&self, slot: usize) -> Option<&Pair> {
        self.0.get(slot)?.as_deref()
    }

    /// A flow's connection, to be changed.
    pub(super) fn get_mut(&mut self, slot: usize) -> Option<&mut Pair> {
        self.0.get_mut(slot)?.as_deref_mut()
    }

    /// A flow's connection has ended.
    pub(super) fn take(&mut self, slot: usize) -> Option<Box<Pair>> {
        self.0.get_mut(slot)?.take()
    }

    /// A flow gets a connection.
    pub(super) fn open(&mut self, slot: usize, (protocol, opened): (&dyn Protocol, &Opened), opening: &Opening) {
        if self.0.len() <= slot {
            self.0.resize_with(slot + 1, || None);
        }
        let pair = Pair { peers: protocol.open(opened), armed: [Time::MAX; 2], transfer: opening.transfer };
        self.0[slot] = Some(Box::new(pair));
    }
}

/// What datagrams in flight say. It grows until most are in flight; then it allocates nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct Payloads {
    bytes: Vec<Vec<u8>>,
    free: Vec<u32>,
}

impl Payloads {
    /// An empty place.
    fn claim(&mut self) -> (u32, &mut Vec<u8>) {
        let number = self.free.pop().unwrap_or_else(|| {
            self.bytes.push(Vec::new());
            self.bytes.len() as u32 - 1
        });
        (number, &mut self.bytes[number as usize])
    }

    /// A place can be used again.
    pub(super) fn free(&mut self, number: u32) {
        self.bytes[number as usize].clear();
        self.free.push(number);
    }

    /// Places in use.
    pub(super) fn used(&self) -> usize {
        self.bytes.len() - self.free.len()
    }
}

impl Hosts {
    /// The place of a source's standing connection over datagrams.
    pub fn standing_pair(&self, source: usize) -> Option<usize> {
        let slot = self.sources[source].flow as usize;
        self.pairs.get(slot).map(|_| slot)
    }

    /// A datagram has reached one end of a connection; whether the last byte of its transfer has. `None` if no connection
    /// is there.
    pub fn hear_datagram(&mut self, now: Time, (slot, end): (usize, End), record: &Record) -> Option<bool> {
        let pair = self.pairs.get_mut(slot)?;
        let datagram = &self.payloads.bytes[record.number as usize];
        pair.peers[end as usize].handle(now, datagram, record.packet.ecn);
        self.payloads.free(record.number);
        let delivered = pair.delivered();
        let Some(transit) = &mut pair.transfer else { return Some(false) };
        if delivered > 0 {
            transit.first.get_or_insert(now);
        }
        Some(delivered >= transit.bytes)
    }

    /// The next datagram that one end of a connection sends now.
    pub fn next_datagram(&mut self, now: Time, slot: usize, end: End) -> Option<Record> {
        let pair = self.pairs.get_mut(slot)?;
        let (number, out) = self.payloads.claim();
        let Some(ecn) = pair.peers[end as usize].poll_transmit(now, out) else {
            self.payloads.free(number);
            return None;
        };
        let record = self.flows[slot].carried(now, end, ecn);
        Some(record.holding(number, out.len()))
    }

    /// When an event has to be added for the timer of one end of such a connection, so that one waits at its time or before.
    pub fn arm_peer(&mut self, now: Time, slot: usize, end: End) -> Option<Time> {
        let Pair { peers, armed, .. } = self.pairs.get_mut(slot)?;
        let armed = &mut armed[end as usize];
        let at = peers[end as usize].timer_at()?.max(now);
        (at < *armed).then(|| {
            *armed = at;
            at
        })
    }

    /// The event that waited for one end of such a connection is due. Whether that is one that counts.
    pub fn on_peer_timer(&mut self, now: Time, slot: usize, end: End) -> bool {
        let Some(Pair { peers, armed, .. }) = self.pairs.get_mut(slot) else { return false };
        let (peer, armed) = (&mut peers[end as usize], &mut armed[end as usize]);
        if *armed != now {
            return false;
        }
        *armed = Time::MAX;
        if peer.timer_at().is_some_and(|at| at <= now) {
            peer.on_timer(now);
        }
        true
    }
}
