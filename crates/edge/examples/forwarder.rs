//! A whole host: packets come as byte buffers from two sides, and leave on the other one with their new bytes, or not at all.
//!
//!     cargo run -p perhop-edge --example forwarder
//!
//! It knows no file and no interface; whoever fills the buffers does. `crates/capture/tests/all/forwarder.rs` sends the captures of
//! `tests/captures` through it, through `mark` and through `meter --rtt`.

use std::collections::BTreeMap;

use perhop_core::Scope;
use perhop_core::classify::Match;
use perhop_core::conditioner::{ConditionerParams, token_bucket};
use perhop_core::count::Count;
use perhop_core::packet::{FlowId, Packet};
use perhop_core::port::edge::{Action, Per, StageSpec};
use perhop_core::verdict::{Fate, Reason};
use perhop_edge::{
    Arriving, Clock, Direction, FlowTable, Host, IpHeaders, LinkType, Observer, Passed, Policy, PolicyError,
    RoundTrips, Unread, locate,
};
use perhop_sim::replay::Trip;

/// A packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// When it came, ns.
    pub stamp_ns: u64,
    /// On which side it came: forward from inside.
    pub direction: Direction,
    /// What the bytes begin with.
    pub link: LinkType,
    /// Its bytes, or the first of them.
    pub bytes: Vec<u8>,
    /// How many it had on the wire.
    pub length: u32,
}

/// A packet that has left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Its number, from 1.
    pub number: u64,
    /// As it left.
    pub buffer: Buffer,
}

/// What is seen of packets on their way.
#[derive(Debug)]
pub struct Seen {
    /// Round trips and windows of TCP.
    pub round_trips: RoundTrips,
    /// Packets by flow, and by colour on leaving; the last are those that conditioners dropped.
    pub colours: BTreeMap<FlowId, [Count; 5]>,
    /// Packets that the queue has let go or dropped since they were taken from here.
    trips: Vec<Trip>,
}

impl Observer for Seen {
    fn passed(&mut self, it: &Passed<'_>, flows: &mut FlowTable) {
        let left = if it.arrived.direction == Direction::Reverse { Some(it.came) } else { it.left };
        let colours = self.colours.entry(it.came.flow).or_default();
        colours[left.map_or(4, |packet| packet.colour.index())].add(it.came.size);
        self.round_trips.passed(it, flows);
    }

    fn trip(&mut self, trip: &Trip) {
        self.trips.push(*trip);
    }
}

/// The host.
#[derive(Debug)]
pub struct Forwarder {
    /// The edge at work.
    pub host: Host,
    /// What it has seen.
    pub seen: Seen,
    /// Packets in the order in which they left.
    pub sent: Vec<Sent>,
    /// Packets that were dropped, by number, and why.
    pub dropped: Vec<(u64, Reason)>,
    /// Packets without a readable IP header, which passed as they were.
    pub unread: BTreeMap<Unread, u64>,
    /// From the first packet on.
    clock: Option<Clock>,
    /// Packets that came.
    came: u64,
    /// Those of them in the queue, by their number among the forward packets; `None`: there is no queue.
    waiting: Option<BTreeMap<u64, (Sent, IpHeaders)>>,
    /// Packets that went through the conditioners.
    forward: u64,
}

impl Forwarder {
    /// At rest.
    ///
    /// # Errors
    /// Parameters that their algorithm refuses.
    pub fn new(policy: Policy) -> Result<Self, PolicyError> {
        let waiting = policy.queue.as_ref().map(|_| BTreeMap::new());
        Ok(Self {
            host: Host::new(policy)?,
            seen: Seen { round_trips: RoundTrips::new(true), colours: BTreeMap::new(), trips: Vec::new() },
            sent: Vec::new(),
            dropped: Vec::new(),
            unread: BTreeMap::new(),
            clock: None,
            came: 0,
            waiting,
            forward: 0,
        })
    }

    /// All of these packets, in their order; then the queue empties.
    pub fn forward(&mut self, buffers: impl IntoIterator<Item = Buffer>) {
        buffers.into_iter().for_each(|buffer| self.receive(buffer));
        self.host.finish(&mut self.seen);
        self.depart();
    }

    fn receive(&mut self, buffer: Buffer) {
        self.came += 1;
        let sent = Sent { number: self.came, buffer };
        let at = self.clock.get_or_insert(Clock::new(sent.buffer.stamp_ns)).at(sent.buffer.stamp_ns);
        let headers = match locate(sent.buffer.link, &sent.buffer.bytes, sent.buffer.length) {
            Ok(headers) => headers,
            Err(reason) => {
                *self.unread.entry(reason).or_insert(0) += 1;
                return self.sent.push(sent);
            }
        };
        let Buffer { direction, link, .. } = sent.buffer;
        let it = Arriving { number: self.came, at, direction, link, headers: &headers };
        let left = self.host.arrive(&it, &mut self.seen);
        match (direction, &mut self.waiting) {
            (Direction::Forward, Some(waiting)) => {
                waiting.insert(self.forward, (sent, headers));
                self.forward += 1;
            }
            _ => self.leave(sent, &headers, left),
        }
        self.depart();
    }

    /// What the queue has let go leaves; what it has dropped does not.
    fn depart(&mut self) {
        for trip in std::mem::take(&mut self.seen.trips) {
            let Some((sent, headers)) = self.waiting.as_mut().and_then(|it| it.remove(&trip.number)) else { continue };
            match trip.fate {
                Fate::Dropped(reason) => self.dropped.push((sent.number, reason)),
                Fate::Queued | Fate::Marked => self.leave(sent, &headers, Some(trip.packet)),
            }
        }
    }

    /// A packet leaves with what is now known of it; `None`: a conditioner dropped it.
    fn leave(&mut self, mut sent: Sent, headers: &IpHeaders, left: Option<Packet>) {
        let Some(packet) = left else { return self.dropped.push((sent.number, Reason::Policer)) };
        self.host.rewrite(&mut sent.buffer.bytes, headers, &packet);
        self.sent.push(sent);
    }
}

/// 600 B of UDP from 10.0.0.1 to 10.0.0.2.
fn datagram(stamp_ns: u64) -> Buffer {
    let header = [0x45, 0, 2, 0x58, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    let bytes = [&header[..], &[0, 1, 0, 2, 2, 0x44, 0, 0], &[0; 572]].concat();
    Buffer { stamp_ns, direction: Direction::Forward, link: LinkType::RAW, bytes, length: 600 }
}

/// 8 kbit/s with a bucket of 1500 B: AF11, and what finds no tokens is dropped.
fn policer() -> StageSpec {
    let params = token_bucket::Params {
        cir: "8kbit/s".parse().expect("a rate"),
        cbs: "1500B".parse().expect("a size"),
        pir: None,
        mtu: None,
        framing: Default::default(),
        arithmetic: None,
    };
    StageSpec {
        name: "policer".into(),
        matches: Match::default(),
        per: Per::Aggregate,
        params: ConditionerParams::TokenBucketMarker(params),
        actions: [Action::mark("AF11".parse().expect("a name")), Action::TRANSMIT, Action::Drop, Action::TRANSMIT],
        scope: Scope::default(),
    }
}

/// Three datagrams at once, and one a second later.
fn main() -> Result<(), PolicyError> {
    let mut forwarder = Forwarder::new(Policy { stages: vec![policer()], ..Policy::default() })?;
    forwarder.forward([0, 0, 0, 1_000_000_000].map(datagram));
    for it in &forwarder.sent {
        println!("packet {} leaves with type of service {:#04x}", it.number, it.buffer.bytes[1]);
    }
    forwarder.dropped.iter().for_each(|(number, reason)| println!("packet {number}: {}", reason.name()));
    Ok(())
}
