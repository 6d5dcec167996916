//! Two interfaces and the edge between them.
//!
//! A frame that is not IP passes as it is; so does return traffic, which the edge watches. What goes from A to B
//! passes the conditioners, and with a queue waits there until the line is free. IP with malformed headers passes nowhere, as
//! at a router: it must not evade a policer.

use perhop_core::count::Count;
use perhop_core::packet::Packet;
use perhop_core::units::Time;
use perhop_core::verdict::Fate;
use perhop_edge::{Arriving, Clock, Direction, Host, IpHeaders, LinkType, Moment, Policy, PolicyError, Unread, locate};
use perhop_sim::record::{EventSink, Outcome};
use perhop_sim::replay::{Changed, Trip};

use crate::checksum;
use crate::counts::{Counts, Dropped};
use crate::io::{Frame, Offer, PacketIo};
use crate::leaves::{Leaf, Line};
use crate::protocols::Protocols;
use crate::round_trips::{RoundTrips, Samples};
use crate::seen::Seen;
use crate::store::Store;
use crate::trace::Trace;

/// Frames that are read from an interface before the other one has its turn.
const BURST: usize = 64;

/// The directions, by their index: forward, which is from A to B, and reverse.
pub const SIDES: [Direction; 2] = [Direction::Forward, Direction::Reverse];

/// Two interfaces, and what is between them.
#[derive(Debug)]
pub struct Forwarder<I> {
    /// A and B.
    sides: [I; 2],
    core: Core,
}

/// All but the interfaces.
#[derive(Debug)]
struct Core {
    host: Host,
    seen: Seen,
    store: Store,
    counts: [Counts; 2],
    protocols: [Protocols; 2],
    clock: Clock,
    /// Whether there is a queue.
    queued: bool,
    line: Line,
    /// Frames that came.
    number: u64,
}

/// An IP packet in direction `way`, and what was found in it.
struct IpFrame<'a> {
    way: usize,
    bytes: &'a mut [u8],
    headers: &'a IpHeaders,
}

impl<I: PacketIo> Forwarder<I> {
    /// At rest; time begins at `now_ns`.
    ///
    /// # Errors
    /// Parameters that their algorithm refuses.
    pub fn new(policy: Policy, sides: [I; 2], now_ns: u64) -> Result<Self, PolicyError> {
        let (queued, line) = (policy.queue.is_some(), Line::of(policy.queue.as_ref()));
        let core = Core {
            host: Host::new(policy)?,
            seen: Seen::default(),
            store: Store::default(),
            counts: Default::default(),
            protocols: Default::default(),
            clock: Clock::new(now_ns),
            queued,
            line,
            number: 0,
        };
        Ok(Self { sides, core })
    }

    /// What has come by now passes, and what is due leaves the queue; `now_ns` is the time stamp of all of it. How many
    /// frames came.
    pub fn step(&mut self, now_ns: u64) -> usize {
        let Self { sides: [a, b], core } = self;
        let at = core.clock.at(now_ns);
        core.due(at, b);
        let there = a.receive(BURST, &mut |frame| core.frame(0, at, frame, b));
        core.settle(0, b);
        let back = b.receive(BURST, &mut |frame| core.frame(1, at, frame, a));
        core.settle(1, a);
        there + back
    }

    /// Follows another policy from `now_ns` on; what it did not keep.
    ///
    /// # Errors
    /// Parameters that their algorithm refuses: the old policy stays in force.
    pub fn reload(&mut self, policy: Policy, now_ns: u64) -> Result<Changed, PolicyError> {
        let Self { sides: [_, b], core } = self;
        let (at, queued, line) = (core.clock.at(now_ns), policy.queue.is_some(), Line::of(policy.queue.as_ref()));
        let changed = core.host.reload(policy, at, &mut core.seen)?;
        core.depart(b);
        (core.queued, core.line) = (queued, line);
        core.settle(0, b);
        Ok(changed)
    }

    /// Round trips are measured from now on, of so many flows.
    pub fn measure(&mut self, most: u32) {
        self.core.seen.round_trips = Some(RoundTrips::new(most));
    }

    /// Samples since the last call, if they are measured: of data from A to B, and of data from B to A.
    pub fn round_trips(&mut self) -> Option<[Samples; 2]> {
        self.core.seen.round_trips.as_mut().map(RoundTrips::take)
    }

    /// Packets are recorded from now on: rows go to `sink`. Those that wait are taken to come now.
    pub fn record(&mut self, sink: EventSink) {
        let core = &mut self.core;
        let mut trace = Trace::new(sink, core.now(), &core.host);
        trace.adopt(&core.host.waiting(), core.host.flows());
        core.seen.trace = Some(trace);
    }

    /// Ends what [`Forwarder::record`] began; what came of it.
    pub fn recorded(&mut self, now_ns: u64) -> Option<Outcome> {
        let Self { sides: [_, b], core } = self;
        let at = core.clock.at(now_ns);
        core.due(at, b);
        core.settle(0, b);
        let trace = core.seen.trace.take()?;
        Some(trace.finish(at.now, &core.host.waiting(), &core.host))
    }

    /// When a frame is due to leave the queue, in the same time as [`Forwarder::step`]'s.
    pub fn next_ns(&self) -> Option<u64> {
        self.core.queued.then(|| self.core.host.next_at()).flatten().map(|at| self.core.clock.zero_ns() + at.ns())
    }

    /// Whether there is a queue, which frames leave at their time.
    pub(crate) fn is_queued(&self) -> bool {
        self.core.queued
    }

    /// Whether frames wait for an interface to take them.
    pub fn is_behind(&self) -> bool {
        self.core.counts.iter().any(|counts| counts.here.waiting > 0)
    }

    /// Counts of both directions as they are now, those of the kernel included.
    pub fn counts(&mut self) -> [Counts; 2] {
        for (side, counts) in self.sides.iter_mut().zip(&mut self.core.counts) {
            let kernel = side.kernel();
            counts.came = kernel.came;
            counts.dropped[Dropped::Kernel as usize] = kernel.dropped;
            counts.here.unread = kernel.came.saturating_sub(kernel.dropped + counts.received);
        }
        self.core.counts[0].here.queued = self.core.host.port().backlog(self.core.now()).packets.into();
        self.core.counts
    }

    /// Forward packets by colour behind the conditioners; the last are those they dropped. Bytes are those of meters.
    pub fn colours(&self) -> [Count; 5] {
        self.core.seen.colours
    }

    /// The queues of the line.
    pub fn leaves(&self) -> Vec<Leaf> {
        self.core.line.leaves(self.core.host.port(), self.core.now())
    }

    /// Frames that are not IP, by direction.
    pub fn protocols(&self) -> &[Protocols; 2] {
        &self.core.protocols
    }

    /// The edge, for what it counts.
    pub fn host(&self) -> &Host {
        &self.core.host
    }

    /// The interfaces.
    pub fn sides(&self) -> &[I; 2] {
        &self.sides
    }

    /// The same, to change them.
    pub fn sides_mut(&mut self) -> &mut [I; 2] {
        &mut self.sides
    }
}

impl Core {
    /// The time that the edge was given last.
    fn now(&self) -> Time {
        // a timestamp of 0 is never later than what was seen
        let mut clock = self.clock;
        clock.at(0).now
    }

    /// A frame that came in direction `way` goes to the interface `to`, into the queue, or nowhere.
    #[inline]
    fn frame(&mut self, way: usize, at: Moment, frame: Frame<'_>, to: &mut impl PacketIo) {
        self.number += 1;
        self.counts[way].received += 1;
        self.counts[way].received_bytes += u64::from(frame.length);
        if frame.length as usize > frame.bytes.len() {
            return self.counts[way].drop(Dropped::TooLong);
        }
        match locate(LinkType::ETHERNET, frame.bytes, frame.length) {
            Ok(headers) => {
                if headers.fragment.is_some_and(|fragment| fragment.tiny) {
                    return self.counts[way].drop(Dropped::TinyFragment);
                }
                if frame.unfinished {
                    self.finish(way, frame.bytes, &headers);
                }
                self.packet(at, IpFrame { way, bytes: frame.bytes, headers: &headers }, to);
            }
            Err(reason) => self.plain(way, frame.bytes, reason, to),
        }
    }

    /// A frame whose IP header cannot be read: it is lost if it should have one, and else passes as it is.
    #[cold]
    fn plain(&mut self, way: usize, bytes: &[u8], reason: Unread, to: &mut impl PacketIo) {
        if let Some(why) = Dropped::of(reason) {
            return self.counts[way].drop(why);
        }
        self.counts[way].plain += 1;
        self.protocols[way].add(reason, bytes.len() as u32);
        self.send(way, bytes, to);
    }

    #[cold]
    fn finish(&mut self, way: usize, bytes: &mut [u8], headers: &IpHeaders) {
        match checksum::finish(bytes, headers) {
            true => self.counts[way].finished += 1,
            false => self.counts[way].unfinished += 1,
        }
    }

    #[inline]
    fn packet(&mut self, at: Moment, found: IpFrame<'_>, to: &mut impl PacketIo) {
        let IpFrame { way, bytes, headers } = found;
        let it = Arriving { number: self.number, at, direction: SIDES[way], link: LinkType::ETHERNET, headers };
        let number = self.host.arrivals();
        let left = self.host.arrive(&it, &mut self.seen);
        if self.queued && SIDES[way] == Direction::Forward {
            return self.waits(number, bytes, headers, to);
        }
        match left {
            Some(packet) => {
                let taken = self.leaves(IpFrame { way, bytes, headers }, &packet, to);
                self.seen.trace.iter_mut().for_each(|it| it.left(&packet, taken));
            }
            None => {
                self.counts[way].drop(Dropped::Policer);
                self.seen.trace.iter_mut().for_each(Trace::policed);
            }
        }
    }

    /// A forward packet of this number went to the queue: it is kept, unless its trip is over.
    fn waits(&mut self, number: u64, bytes: &mut [u8], headers: &IpHeaders, to: &mut impl PacketIo) {
        let mut stays = true;
        for trip in std::mem::take(&mut self.seen.trips) {
            if trip.number == number {
                stays = false;
                let taken = self.ends(&trip, bytes, headers, to);
                self.seen.trace.iter_mut().for_each(|it| it.trip(&trip, true, taken));
            } else {
                self.departs(&trip, to);
            }
        }
        if stays {
            let place = self.host.latest_place();
            self.store.keep(place, bytes, headers);
            self.seen.trace.iter_mut().for_each(|it| it.keep(place));
        }
    }

    /// What leaves the queue by now.
    fn due(&mut self, at: Moment, to: &mut impl PacketIo) {
        if self.queued {
            self.host.advance(at.now, &mut self.seen);
            self.depart(to);
        }
    }

    /// Packets whose trip is over leave, or do not.
    fn depart(&mut self, to: &mut impl PacketIo) {
        let mut trips = std::mem::take(&mut self.seen.trips);
        trips.iter().for_each(|trip| self.departs(trip, to));
        trips.clear();
        self.seen.trips = trips;
    }

    fn departs(&mut self, trip: &Trip, to: &mut impl PacketIo) {
        let kept = self.store.get(trip.place);
        let (mut bytes, headers) = (std::mem::take(&mut kept.bytes), kept.headers);
        let taken = self.ends(trip, &mut bytes, &headers, to);
        self.seen.trace.iter_mut().for_each(|it| it.trip(trip, false, taken));
        self.store.get(trip.place).bytes = bytes;
    }

    /// A packet's way through the queue is over; whether the interface has it.
    fn ends(&mut self, trip: &Trip, bytes: &mut [u8], headers: &IpHeaders, to: &mut impl PacketIo) -> bool {
        match trip.fate {
            Fate::Dropped(reason) => {
                self.counts[0].drop(reason.into());
                false
            }
            fate => {
                self.counts[0].marked += u64::from(fate == Fate::Marked);
                self.leaves(IpFrame { way: 0, bytes, headers }, &trip.packet, to)
            }
        }
    }

    #[inline]
    fn leaves(&mut self, found: IpFrame<'_>, packet: &Packet, to: &mut impl PacketIo) -> bool {
        self.host.rewrite(found.bytes, found.headers, packet);
        self.send(found.way, found.bytes, to)
    }

    /// Offers a frame to an interface; whether it has it.
    #[inline]
    fn send(&mut self, way: usize, bytes: &[u8], to: &mut impl PacketIo) -> bool {
        let counts = &mut self.counts[way];
        let offer = to.offer(bytes);
        match offer {
            Offer::Taken => counts.sent_bytes += bytes.len() as u64,
            Offer::Full => counts.drop(Dropped::Unsent),
            Offer::TooLong => counts.drop(Dropped::TooLong),
        }
        offer == Offer::Taken
    }

    /// The interface `to` sends what it has.
    fn settle(&mut self, way: usize, to: &mut impl PacketIo) {
        let sent = to.flush();
        let counts = &mut self.counts[way];
        counts.sent += sent.sent;
        counts.errors += sent.errors;
        counts.here.waiting = sent.waiting;
    }
}
