//! A port for tests: gate, FIFO and link, nothing else.

use perhop_core::aqm::{Aqm, Backlog, Departure};
use perhop_core::packet::Packet;
use perhop_core::queue::Gate;
use perhop_core::units::{BitRate, Bytes, NS_PER_S, Time};
use perhop_core::verdict::Fate;
use std::collections::VecDeque;

/// A queue before a link of fixed rate.
pub(crate) struct Port {
    /// What decides.
    pub(crate) gate: Gate,
    /// What waits.
    pub(crate) waiting: VecDeque<(Time, Packet)>,
    /// The last arrival as the gate left it.
    pub(crate) judged: Packet,
    /// Packets whose transmission has begun.
    pub(crate) sent: u64,
    rate: BitRate,
    bytes: u64,
    /// When the packet in transmission leaves; `None` while idle.
    sending_until: Option<Time>,
    idle_since: Time,
    /// Packet-nanoseconds waited up to `integrated`.
    area: u128,
    integrated: Time,
}

impl Port {
    /// An empty one.
    pub(crate) fn new(gate: Gate, rate: BitRate) -> Self {
        Self {
            gate,
            waiting: VecDeque::new(),
            judged: Packet::default(),
            sent: 0,
            rate,
            bytes: 0,
            sending_until: None,
            idle_since: Time::ZERO,
            area: 0,
            integrated: Time::ZERO,
        }
    }

    /// What an AQM sees, but for the arriving packet.
    pub(crate) fn backlog(&self) -> Backlog {
        let idle_since = self.sending_until.is_none().then_some(self.idle_since);
        Backlog { packets: self.waiting.len() as u32, bytes: self.bytes, idle_since, room: false, ecn: false }
    }

    /// Lets the link send until `now`; departures go before arrivals.
    pub(crate) fn advance(&mut self, now: Time) {
        while let Some(done) = self.sending_until.filter(|done| *done <= now) {
            self.sending_until = None;
            self.idle_since = done;
            self.start(done);
        }
    }

    /// Sends the head, if any.
    fn start(&mut self, now: Time) {
        self.integrate(now);
        let Some((arrived, mut packet)) = self.waiting.pop_front() else { return };
        self.bytes -= u64::from(packet.size);
        self.sent += 1;
        self.sending_until = Some(now + Bytes::new(u64::from(packet.size)) / self.rate);
        let at = Departure { now, arrived, backlog: self.backlog() };
        assert!(self.gate.depart(&at, &mut packet).stays(), "an AQM that drops at the head needs more of a port");
    }

    /// A packet arrives.
    pub(crate) fn arrive(&mut self, now: Time, mut packet: Packet) -> Fate {
        self.advance(now);
        self.integrate(now);
        let fate = self.gate.arrive(now, self.backlog(), &mut packet);
        self.judged = packet;
        if fate.stays() {
            self.bytes += u64::from(packet.size);
            self.waiting.push_back((now, packet));
            if self.sending_until.is_none() {
                self.start(now);
            }
        }
        fate
    }

    fn integrate(&mut self, now: Time) {
        self.area += u128::from(now.since(self.integrated).ns()) * self.waiting.len() as u128;
        self.integrated = now;
    }

    /// Packet-seconds waited up to `now`.
    pub(crate) fn packet_seconds(&mut self, now: Time) -> f64 {
        self.integrate(now);
        self.area as f64 / NS_PER_S as f64
    }

    /// A gauge of its AQM.
    pub(crate) fn gauge(&self, now: Time, name: &str) -> f64 {
        let mut found = None;
        self.gate.aqm().gauges(now, &mut |key, value| {
            if key == name {
                found = Some(value);
            }
        });
        found.unwrap_or_else(|| panic!("no gauge {name}"))
    }
}
