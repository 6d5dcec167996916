//! A host for tests: a port, a link of fixed rate, nothing else.

use perhop_core::Scope;
use perhop_core::aqm::{Aqm as _, AqmParams, Backlog};
use perhop_core::classify::FlowHeaders;
use perhop_core::conditioner::Passage;
use perhop_core::packet::Packet;
use perhop_core::params::ParamError;
use perhop_core::port::{self, Buffers, Gate};
use perhop_core::units::{BitRate, Bytes, NS_PER_S, Span, Time};
use perhop_core::verdict::{Fate, Reason};
use std::collections::VecDeque;
use std::net::IpAddr;

/// What waits, first come first, by the number of its arrival.
#[derive(Default)]
struct Waiting {
    numbers: VecDeque<u64>,
    packets: VecDeque<(Time, Packet)>,
    dropped: Vec<(Packet, Reason)>,
}

impl Waiting {
    fn place(&self, number: u64) -> usize {
        self.numbers.iter().position(|it| *it == number).expect("the port holds it")
    }

    fn take(&mut self, number: u64) -> (Time, Packet) {
        let place = self.place(number);
        self.numbers.remove(place);
        self.packets.remove(place).expect("the port held it")
    }
}

impl Buffers<u64> for Waiting {
    fn packet(&mut self, number: u64) -> &mut Packet {
        let place = self.place(number);
        &mut self.packets[place].1
    }

    fn dropped(&mut self, number: u64, reason: Reason) {
        let (_, packet) = self.take(number);
        self.dropped.push((packet, reason));
    }
}

/// Those of all flows.
fn headers() -> FlowHeaders {
    let address = IpAddr::from([10, 0, 0, 1]);
    FlowHeaders {
        protocol: 6,
        source: address,
        destination: address,
        source_port: 1,
        destination_port: 2,
        traffic: String::new(),
        class: String::new(),
        rtt: None,
    }
}

/// A port before a link of fixed rate.
pub(crate) struct Port {
    port: port::Port<u64>,
    waiting: Waiting,
    arrivals: u64,
    /// The last arrival as the gate left it.
    pub(crate) judged: Packet,
    /// Packets whose transmission has begun, and how long the last of them waited.
    pub(crate) sent: u64,
    pub(crate) waited: Span,
    rate: BitRate,
    now: Time,
    /// When the packet in transmission leaves; `None` while idle.
    sending_until: Option<Time>,
    /// Packet-nanoseconds waited up to `integrated`.
    area: u128,
    integrated: Time,
}

impl Port {
    /// An empty one.
    pub(crate) fn new(gate: Gate, rate: BitRate) -> Self {
        Self {
            port: port::Port::of_gate(gate),
            waiting: Waiting::default(),
            arrivals: 0,
            judged: Packet::default(),
            sent: 0,
            waited: Span::ZERO,
            rate,
            now: Time::ZERO,
            sending_until: None,
            area: 0,
            integrated: Time::ZERO,
        }
    }

    /// What decides.
    pub(crate) fn gate(&self) -> &Gate {
        self.port.queues()[0].gate()
    }

    /// What waits, and since when.
    pub(crate) fn waiting(&self) -> &VecDeque<(Time, Packet)> {
        &self.waiting.packets
    }

    /// What was dropped although it waited, in order.
    pub(crate) fn dropped(&self) -> &[(Packet, Reason)] {
        &self.waiting.dropped
    }

    /// What an AQM sees, but for the arriving packet.
    pub(crate) fn backlog(&self) -> Backlog {
        self.port.backlog(self.now)
    }

    /// Lets the link send until `now`; departures go before arrivals.
    pub(crate) fn advance(&mut self, now: Time) {
        while let Some(done) = self.sending_until.filter(|done| *done <= now) {
            self.sending_until = None;
            self.start(done);
        }
        self.now = now;
    }

    /// Sends the packet that is next, if any.
    fn start(&mut self, now: Time) {
        self.integrate(now);
        let Some(leaving) = self.port.next(now, &mut self.waiting) else { return };
        let (arrived, packet) = self.waiting.take(leaving.handle);
        assert_eq!(leaving.arrived, arrived);
        self.sent += 1;
        self.waited = now.since(arrived);
        let ends = now + Bytes::new(u64::from(packet.size)) / self.rate;
        self.port.busy_until(&leaving, ends);
        self.sending_until = Some(ends);
    }

    /// A packet arrives.
    pub(crate) fn arrive(&mut self, now: Time, mut packet: Packet) -> Fate {
        self.advance(now);
        if self.port.knows_flows() {
            self.port.register(packet.flow, &headers());
        }
        self.integrate(now);
        let number = self.arrivals;
        self.arrivals += 1;
        let fate = self.port.arrive(&Passage::of(now, packet.flow), &mut packet, number);
        self.judged = packet;
        if fate.stays() {
            self.waiting.numbers.push_back(number);
            self.waiting.packets.push_back((now, packet));
        }
        if self.port.evicts() {
            self.port.evict(now, &mut self.waiting);
        }
        if fate.stays() && self.sending_until.is_none() {
            self.start(now);
        }
        fate
    }

    /// When its AQM asks for the time.
    pub(crate) fn poll_at(&self) -> Option<Time> {
        self.port.poll_at()
    }

    /// Tells its AQM the time.
    pub(crate) fn on_timer(&mut self, at: Time) {
        self.port.on_timer(at);
    }

    /// New parameters for its AQM.
    pub(crate) fn retune(&mut self, now: Time, params: &AqmParams, scope: &Scope) -> Result<(), ParamError> {
        self.port.retune_aqm(now, 0, params, scope)
    }

    fn integrate(&mut self, now: Time) {
        self.area += u128::from(now.since(self.integrated).ns()) * self.waiting.packets.len() as u128;
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
        self.gate().aqm().gauges(now, &mut |key, value| {
            if key == name {
                found = Some(value);
            }
        });
        found.unwrap_or_else(|| panic!("no gauge {name}"))
    }
}
