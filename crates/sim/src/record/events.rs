//! Every packet at every port: a row each, handed on in batches, so that memory does not grow with the run.

use perhop_core::aqm::Backlog;
use perhop_core::packet::{Colour, Ecn, Packet};
use perhop_core::units::Time;
use perhop_core::verdict::Reason;
use std::fmt;
use std::sync::Arc;

/// Rows of a batch: about 15 MB.
const BATCH: usize = 131_072;

/// What became of a packet at a port and on the link behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortFate {
    /// It reached the other end of the link.
    Sent,
    /// So did it, and the port had set CE.
    Marked,
    /// It was dropped, or lost on the wire.
    Dropped(Reason),
    /// At the end of the run it waits in a queue.
    Waiting,
    /// At the end of the run its transmission has begun, and it has not reached the other end of the link.
    InFlight,
}

/// The flow that a packet belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowOf {
    /// Index of its `[traffic]` table.
    pub table: u32,
    /// Number within the table.
    pub number: u32,
}

/// A packet at a port.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PortEvent {
    /// The packet's number in the run, from 0, in the order in which packets come to their first port; it keeps it.
    pub number: u64,
    /// Index of the link behind the port.
    pub link: u32,
    /// Its flow.
    pub flow: FlowOf,
    /// When it came to the port.
    pub came: Time,
    /// The start of its transmission; `None`: it did not begin.
    pub left: Option<Time>,
    /// When it was dropped: at the port; or on the wire, at the end of its transmission.
    pub dropped: Option<Time>,
    /// What became of it.
    pub fate: PortFate,
    /// Packets that waited at the port when it came, in all its queues.
    pub found_packets: u32,
    /// Their bytes.
    pub found_bytes: u64,
    /// Its colour when it came.
    pub colour_in: Colour,
    /// As it left, or was dropped.
    pub packet: Packet,
    /// IP length.
    pub wire: u32,
}

/// Takes a batch.
type Take = dyn Fn(&[PortEvent]) + Send + Sync;

/// What takes batches of rows.
#[derive(Clone)]
pub struct EventSink(Arc<Take>);

impl EventSink {
    /// Calls `take` with each batch, in order.
    pub fn new(take: impl Fn(&[PortEvent]) + Send + Sync + 'static) -> Self {
        Self(Arc::new(take))
    }

    /// Hands on the next batch.
    pub fn take(&self, batch: &[PortEvent]) {
        (self.0)(batch);
    }
}

impl fmt::Debug for EventSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EventSink")
    }
}

/// What is known of a packet that is at a port.
#[derive(Clone, Copy, Debug, Default)]
struct Pending {
    /// One more than its number; 0: it has none yet.
    number: u64,
    came: Time,
    /// The start of its transmission, if it goes on over the link for its own time.
    left: Option<Time>,
    flow: FlowOf,
    found_packets: u32,
    found_bytes: u64,
    colour: Colour,
    ecn: Ecn,
}

/// A packet that comes to a port.
#[derive(Clone, Copy, Debug)]
pub struct Came<'a> {
    /// When.
    pub now: Time,
    /// The packet.
    pub packet: &'a Packet,
    /// Its flow.
    pub flow: FlowOf,
    /// What waits there.
    pub found: Backlog,
}

/// A packet whose time at a port is over.
#[derive(Clone, Copy, Debug)]
pub struct Went<'a> {
    /// Index of the link.
    pub link: usize,
    /// The packet, and its IP length.
    pub packet: (&'a Packet, u32),
    /// The start of its transmission.
    pub left: Option<Time>,
    /// When and why it was dropped, if it was.
    pub dropped: Option<(Time, Reason)>,
}

/// The rows so far, and the packets at ports by their places in the pool.
#[derive(Clone, Debug)]
pub struct Events {
    sink: EventSink,
    batch: Vec<PortEvent>,
    pending: Vec<Pending>,
    packets: u64,
}

impl Events {
    /// Nothing yet.
    pub fn new(sink: EventSink) -> Self {
        Self { sink, batch: Vec::new(), pending: Vec::new(), packets: 0 }
    }

    /// The packet at `place` of the pool comes to a port.
    pub fn came(&mut self, place: u32, came: Came<'_>) {
        let slot = place as usize;
        if self.pending.len() <= slot {
            self.pending.resize(slot + 1, Pending::default());
        }
        let pending = &mut self.pending[slot];
        if pending.number == 0 {
            self.packets += 1;
            pending.number = self.packets;
        }
        let Came { now, packet, flow, found } = came;
        let (found_packets, found_bytes) = (found.packets, found.bytes);
        let (colour, ecn) = (packet.colour, packet.ecn);
        let number = pending.number;
        *pending = Pending { number, came: now, left: None, flow, found_packets, found_bytes, colour, ecn };
    }

    /// The transmission of the packet at `place`, which began at `left`, is over, and it is still on the link.
    pub fn under_way(&mut self, place: u32, left: Time) {
        self.pending[place as usize].left = Some(left);
    }

    /// When the transmission of such a packet began.
    pub fn left(&self, place: u32) -> Option<Time> {
        self.pending[place as usize].left
    }

    /// The packet at `place` was sent, or is dropped.
    pub fn went(&mut self, place: u32, went: Went<'_>) {
        let ecn = self.pending[place as usize].ecn;
        let fate = match went.dropped {
            Some((_, reason)) => PortFate::Dropped(reason),
            None if went.packet.0.ecn == Ecn::Ce && ecn != Ecn::Ce => PortFate::Marked,
            None => PortFate::Sent,
        };
        self.push(place, went, fate);
    }

    /// At the end of the run the packet at `place` is still on a link: it waits if its transmission has not begun.
    pub fn stays(&mut self, place: u32, stays: Went<'_>) {
        self.push(place, stays, if stays.left.is_some() { PortFate::InFlight } else { PortFate::Waiting });
    }

    fn push(&mut self, place: u32, went: Went<'_>, fate: PortFate) {
        let Pending { number, came, flow, found_packets, found_bytes, colour, .. } = self.pending[place as usize];
        let (packet, wire) = went.packet;
        self.batch.push(PortEvent {
            number: number - 1,
            link: went.link as u32,
            flow,
            came,
            left: went.left,
            dropped: went.dropped.map(|it| it.0),
            fate,
            found_packets,
            found_bytes,
            colour_in: colour,
            packet: *packet,
            wire,
        });
        if self.batch.len() == BATCH {
            self.flush();
        }
    }

    /// The packet at `place` has left the network: its place is free.
    pub fn gone(&mut self, place: u32) {
        if let Some(pending) = self.pending.get_mut(place as usize) {
            pending.number = 0;
        }
    }

    /// Hands on what is left.
    pub fn flush(&mut self) {
        if !self.batch.is_empty() {
            self.sink.take(&self.batch);
            self.batch.clear();
        }
    }
}
