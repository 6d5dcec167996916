//! A path for one connection, packet by packet: 10 Mbit/s 1 ms, a bottleneck, 10 Mbit/s 1 ms, and back.
//!
//! The set-up of `tests/reference/ns2/tcp_unit.tcl`. The bottleneck loses listed arrivals before
//! its queue and drops what finds `limit` packets waiting; one more may be in transmission.

use perhop_core::units::{BitRate, Bytes, Span, Time};
use perhop_sim::transport::{AckInfo, Config, Received, Receiver, Segment, Sender, Supply};
use std::collections::{BTreeMap, VecDeque};

/// One direction of a link: packets leave in order, each after its own transmission and the delay.
struct Link {
    rate: BitRate,
    delay: Span,
    free_at: Time,
    /// When those that wait will begin transmission.
    starts: VecDeque<Time>,
}

impl Link {
    fn new(rate: BitRate, delay: Span) -> Self {
        Self { rate, delay, free_at: Time::ZERO, starts: VecDeque::new() }
    }

    /// Packets waiting at `now`; one that begins transmission now no longer waits.
    fn waiting(&mut self, now: Time) -> usize {
        while self.starts.front().is_some_and(|&start| start <= now) {
            self.starts.pop_front();
        }
        self.starts.len()
    }

    /// Takes a packet; when it arrives at the other end.
    fn carry(&mut self, now: Time, size: u64) -> Time {
        let start = now.max(self.free_at);
        if start > now {
            self.starts.push_back(start);
        }
        self.free_at = start + Bytes::new(size) / self.rate;
        self.free_at + self.delay
    }
}

/// The fate of an arrival at the bottleneck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Passed = 0,
    Overflow = 1,
    Listed = 2,
}

/// An arrival at the bottleneck.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub at: Time,
    pub number: u32,
    pub fate: Fate,
}

/// The sender's window after an event that changed it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct WindowSample {
    pub at: Time,
    pub cwnd: f64,
    pub ssthresh: f64,
}

enum Event {
    AtBottleneck(Segment),
    AtReceiver(Segment),
    AtSender(AckInfo),
    SenderTimer,
    ReceiverTimer,
}

/// What the path is and loses.
pub(crate) struct Setup {
    pub config: Config,
    /// The phase of the sender's clock within its tick.
    pub phase: Span,
    /// Packets that may wait at the bottleneck.
    pub limit: usize,
    /// Arrivals to lose, counted from 1.
    pub losses: Vec<u64>,
    pub end: Time,
}

/// A run and its record.
pub(crate) struct Path {
    setup: Setup,
    pub sender: Sender,
    pub receiver: Receiver,
    pub arrivals: Vec<Arrival>,
    pub windows: Vec<WindowSample>,
    up: [Link; 3],
    down: [Link; 3],
    /// Ordered by time and, at equal times, by when they were scheduled.
    events: BTreeMap<(Time, u64), Event>,
    scheduled: u64,
}

fn links() -> [Link; 3] {
    let access = || Link::new(BitRate::mbps(10), Span::from_ms(1));
    [access(), Link::new(BitRate::mbps(1), Span::from_ms(48)), access()]
}

impl Path {
    /// Runs an unlimited connection from time 0 to the end.
    pub(crate) fn run(setup: Setup) -> Self {
        let sender = Sender::new(&setup.config, Supply::Unlimited).unwrap().with_clock_phase(setup.phase);
        let sender = sender.with_seed(setup.phase.ns());
        let receiver = Receiver::new(&setup.config).unwrap();
        let mut path = Self {
            setup,
            sender,
            receiver,
            arrivals: Vec::new(),
            windows: Vec::new(),
            up: links(),
            down: links(),
            events: BTreeMap::new(),
            scheduled: 0,
        };
        path.sender.start();
        path.after_sender(Time::ZERO);
        while let Some(((now, _), event)) = path.events.pop_first()
            && now <= path.setup.end
        {
            path.handle(now, event);
        }
        path
    }

    fn schedule(&mut self, at: Time, event: Event) {
        self.scheduled += 1;
        self.events.insert((at, self.scheduled), event);
    }

    fn size(&self, payload: u16) -> u64 {
        u64::from(self.setup.config.header) + u64::from(payload)
    }

    fn handle(&mut self, now: Time, event: Event) {
        match event {
            Event::AtBottleneck(segment) => self.at_bottleneck(now, segment),
            Event::AtReceiver(segment) => self.at_receiver(now, segment),
            Event::AtSender(ack) => {
                self.sender.on_ack(now, ack);
                self.after_sender(now);
            }
            Event::SenderTimer => {
                if self.sender.timer_at().is_some_and(|at| at <= now) {
                    self.sender.on_timer(now);
                    self.after_sender(now);
                }
            }
            Event::ReceiverTimer => {
                if let Some(ack) = self.receiver.on_timer(now) {
                    self.send_ack(now, ack);
                }
            }
        }
    }

    /// Sends what may be sent, wakes at the timer, notes the window. Stale wake-ups stay and do nothing.
    fn after_sender(&mut self, now: Time) {
        while let Some(segment) = self.sender.next_segment(now) {
            let size = self.size(segment.payload);
            let at = self.up[0].carry(now, size);
            self.schedule(at, Event::AtBottleneck(segment));
        }
        if let Some(at) = self.sender.timer_at() {
            self.schedule(at, Event::SenderTimer);
        }
        let sample = WindowSample { at: now, cwnd: self.sender.cwnd(), ssthresh: self.sender.ssthresh() };
        let changed = |last: &WindowSample| (last.cwnd, last.ssthresh) != (sample.cwnd, sample.ssthresh);
        if self.windows.last().is_none_or(changed) {
            self.windows.push(sample);
        }
    }

    fn at_bottleneck(&mut self, now: Time, segment: Segment) {
        let listed = self.setup.losses.contains(&(self.arrivals.len() as u64 + 1));
        let full = self.up[1].waiting(now) >= self.setup.limit;
        let fate = match (listed, full) {
            (true, _) => Fate::Listed,
            (false, true) => Fate::Overflow,
            (false, false) => Fate::Passed,
        };
        self.arrivals.push(Arrival { at: now, number: segment.number, fate });
        if fate == Fate::Passed {
            let size = self.size(segment.payload);
            let at = self.up[1].carry(now, size);
            let at = self.up[2].carry(at, size);
            self.schedule(at, Event::AtReceiver(segment));
        }
    }

    fn at_receiver(&mut self, now: Time, segment: Segment) {
        let Segment { number, payload, syn, cwr, .. } = segment;
        if let Some(ack) = self.receiver.on_segment(now, &Received { number, payload, syn, cwr, ..Received::default() })
        {
            self.send_ack(now, ack);
        }
        if let Some(at) = self.receiver.timer_at() {
            self.schedule(at, Event::ReceiverTimer);
        }
    }

    /// ACKs meet no queue but each other's transmission.
    fn send_ack(&mut self, now: Time, ack: AckInfo) {
        let size = self.size(0);
        let at = self.down.iter_mut().rev().fold(now, |at, link| link.carry(at, size));
        self.schedule(at, Event::AtSender(ack));
    }
}
