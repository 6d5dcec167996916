//! Arrivals replayed into a port on a line: what leaves when, what is marked or dropped. No sender reacts to it.
//!
//! [`Replay`] is a host for one port: it is given packets and their times, and hands out a [`Trip`] for each of them as
//! soon as its fate is known, in the order in which packets leave or are dropped. At equal times departures come first,
//! then the AQMs' timers, then arrivals, as in the engine.

/// Another port from now on.
mod change;
/// Packets at the port.
mod held;

use crate::net::build_port;
use crate::net::serialiser::Serialiser;
use crate::plan::{Plan, PlanError};
use held::{Held, Waiting};
use perhop_core::conditioner::Passage;
use perhop_core::count::Count;
use perhop_core::needs::Needs;
use perhop_core::packet::Packet;
use perhop_core::port::edge::Mail;
use perhop_core::port::{Port, Transmission};
use perhop_core::units::{BitRate, Span, Time};
use perhop_core::verdict::Fate;

pub use change::{Change, Changed};
pub use held::Trip;

/// What a port sends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// Takes no time: a packet leaves when the port lets it go.
    Infinite,
    /// A link of this rate.
    Rate(BitRate),
}

/// A packet that comes to the port.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrival {
    /// When; never earlier than the one before.
    pub at: Time,
    /// The packet; its flow is registered with the port if there are conditioners.
    pub packet: Packet,
    /// Bytes that the line sends of it.
    pub wire: u32,
}

/// A port on a line, and the packets in it.
#[derive(Clone, Debug)]
pub struct Replay {
    port: Port<u32>,
    /// `None`: infinite.
    line: Option<Serialiser>,
    held: Held,
    mail: Mail,
    /// When the packet in transmission ends.
    free_at: Time,
    /// When the port is next asked for a packet.
    wake: Option<Time>,
    arrived: u64,
    /// The place of the latest.
    latest: u32,
}

impl Replay {
    /// A port at rest.
    pub fn new(port: Port<u32>, line: Line) -> Self {
        let line = match line {
            Line::Infinite => None,
            Line::Rate(rate) => Some(Serialiser::new(rate)),
        };
        let (held, mail) = (Held::default(), Mail::default());
        Self { port, line, held, mail, free_at: Time::ZERO, wake: None, arrived: 0, latest: 0 }
    }

    /// The port of a plan's link, on that link.
    ///
    /// # Errors
    /// Parameters that their algorithm refuses.
    pub fn of_link(plan: &Plan, link: usize) -> Result<Self, PlanError> {
        Ok(Self::new(build_port(plan, link)?, Line::Rate(plan.links[link].rate)))
    }

    /// The port.
    pub fn port(&self) -> &Port<u32> {
        &self.port
    }

    /// The port, to announce flows and to show it what comes the other way.
    pub fn port_mut(&mut self) -> &mut Port<u32> {
        &mut self.port
    }

    /// How many have arrived: the next one's number.
    pub fn arrivals(&self) -> u64 {
        self.arrived
    }

    /// The place of the packet that arrived last: where its host keeps its bytes until its trip ends, see [`Trip::place`].
    pub fn latest_place(&self) -> u32 {
        self.latest
    }

    /// A packet arrives, after all that happens until then, and as it is after the conditioners remains in `packet`. The
    /// fate is that on arrival; `each` gets every trip that ends by now.
    pub fn arrive(&mut self, at: &Passage<'_>, packet: &mut Packet, wire: u32, each: &mut impl FnMut(&Trip)) -> Fate {
        self.advance(at.now, each);
        let waiting = self.port.backlog(at.now);
        let found = Count { packets: waiting.packets.into(), bytes: waiting.bytes };
        let (number, came_with, place) = (self.arrived, packet.ecn, self.held.place());
        self.arrived += 1;
        let fate = self.port.arrive(at, packet, place);
        self.latest = place;
        let arrived = at.now;
        self.held.places[place as usize] = Waiting { number, place, arrived, packet: *packet, wire, came_with, found };
        let evicts = self.port.evicts();
        if evicts {
            self.port.evict(at.now, &mut self.held);
            self.report_dropped(at.now, each);
        }
        if let Fate::Dropped(reason) = fate {
            each(&self.held.leave(place).dropped(at.now, reason));
        }
        if (fate.stays() || evicts) && self.free_at <= at.now {
            self.begin(at.now, each);
        }
        fate
    }

    /// All that happens until `now`, departures and timers at `now` included.
    pub fn advance(&mut self, now: Time, each: &mut impl FnMut(&Trip)) {
        while let Some(at) = self.next_at().filter(|at| *at <= now) {
            self.step(at, each);
        }
        if self.port.edge_needs().contains(Needs::TIMER) {
            self.port.catch_up(now, &mut self.mail);
        }
    }

    /// All packets leave; those that the port never lets go come last, as queued.
    pub fn finish(&mut self, each: &mut impl FnMut(&Trip)) {
        let mut now = self.free_at;
        while self.wake.is_some() {
            now = self.next_at().unwrap_or(now);
            self.step(now, each);
        }
        for place in self.port.handles() {
            each(&self.held.places[place as usize].waits(now));
        }
    }

    /// When something happens next if nothing arrives: a departure or a timer.
    pub fn next_at(&self) -> Option<Time> {
        self.wake.into_iter().chain(self.port.poll_at()).min()
    }

    fn step(&mut self, now: Time, each: &mut impl FnMut(&Trip)) {
        if self.wake.is_some_and(|wake| wake <= now) {
            self.begin(now, each);
        } else {
            self.port.on_timer(now);
        }
    }

    fn report_dropped(&mut self, now: Time, each: &mut impl FnMut(&Trip)) {
        for (place, reason) in std::mem::take(&mut self.held.dropped) {
            each(&self.held.leave(place).dropped(now, reason));
        }
    }

    /// The line is free: the next packet's transmission begins; on an infinite line those of all that may go.
    fn begin(&mut self, now: Time, each: &mut impl FnMut(&Trip)) {
        self.wake = None;
        loop {
            let next = self.port.next(now, &mut self.held);
            self.report_dropped(now, each);
            let Some(leaving) = next else {
                self.wake = self.port.opens_at().map(|at| at.max(now + Span::from_ns(1)));
                return;
            };
            let packet = self.held.leave(leaving.handle);
            let sent = match &mut self.line {
                Some(line) => line.send(now, packet.wire),
                None => Transmission { starts: now, ends: now },
            };
            self.port.busy_until(&leaving, sent.ends);
            each(&packet.sent(sent));
            if self.line.is_some() {
                (self.free_at, self.wake) = (sent.ends, Some(sent.ends));
                return;
            }
        }
    }
}

/// The trips of all `arrivals` through a port without conditioners, in the order in which they end.
pub fn replay(port: Port<u32>, line: Line, arrivals: impl IntoIterator<Item = Arrival>) -> Vec<Trip> {
    let (mut replay, mut trips) = (Replay::new(port, line), Vec::new());
    let mut each = |trip: &Trip| trips.push(*trip);
    for Arrival { at, mut packet, wire } in arrivals {
        replay.arrive(&Passage::of(at, packet.flow), &mut packet, wire, &mut each);
    }
    replay.finish(&mut each);
    trips
}
