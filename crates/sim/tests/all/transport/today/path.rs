//! A path for one connection that loses, overtakes and repeats, with both senders at its end.

use super::slow::{Limits, Slow};
use super::trips::stamp;
use super::{Linux, Phase, Seen};
use crate::transport::pipe::Dice;
use perhop_core::units::{Span, Time};
use perhop_sim::transport::congestion::reno;
use perhop_sim::transport::{
    AckDelay, AckInfo, Bursts, Config, LawParams, Reaction, Received, Receiver, Recovery, RtoConfig, Segment, Sender,
    Supply,
};
use std::collections::BTreeMap;

/// What the path does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weather {
    seed: u64,
    loss: f64,
    ack_loss: f64,
    overtaken: f64,
    twice: f64,
    mark: f64,
    /// All that is sent within a second of every ten is lost.
    outages: bool,
    /// The application offers a few segments at a time.
    bursts: bool,
    one_way: Span,
    /// Between two packets of the bottleneck.
    spacing: Span,
    window: u32,
    offload: Bursts,
    delayed_ack: bool,
    /// Both hosts set time stamps (RFC 7323).
    stamps: bool,
    /// The receiver's window grows and closes.
    narrow: bool,
}

impl Weather {
    /// A history's weather: each kind in a part of the histories, and all of them in some.
    pub(super) fn of(seed: u64) -> Self {
        let mut dice = Dice(seed);
        let mut some = |most: f64| if dice.falls(0.5) { most * (dice.next() % 1000) as f64 / 1000.0 } else { 0.0 };
        let (loss, ack_loss, overtaken, twice, mark) = (some(0.1), some(0.2), some(0.1), some(0.03), some(0.05));
        let one_way = Span::from_us(1000 + dice.next() % 60_000);
        let spacing = Span::from_us(50 + dice.next() % 1500);
        let window = 3 + (dice.next() % 100) as u32;
        let [outages, bursts, delayed_ack, offload] = [0.3, 0.3, 0.5, 0.5].map(|p| dice.falls(p));
        let burst = if offload { 1 + dice.next() as u32 % window.min(20) } else { 1 };
        let [stamps, narrow, chosen] = [0.7, 0.3, 0.3].map(|p| dice.falls(p));
        let offload = if chosen { Bursts::Linux } else { Bursts::Of(burst) };
        Self {
            seed,
            loss,
            ack_loss,
            overtaken,
            twice,
            mark,
            outages,
            bursts,
            one_way,
            spacing,
            window,
            offload,
            delayed_ack,
            stamps,
            narrow,
        }
    }

    fn config(&self) -> Config {
        let ack = if self.delayed_ack { AckDelay::Linux } else { AckDelay::None };
        Config {
            recovery: Recovery::Rack,
            congestion: LawParams::Reno(reno::Params { growth: reno::Growth::Segments, abe: false }),
            initial_window: 10,
            window: self.window,
            rto: RtoConfig::MODERN,
            syn: false,
            reaction: Reaction { ack, overhead: None, sack: true, bursts: self.offload, ..Reaction::NONE },
            ecn: self.mark > 0.0,
            mss: 1448,
            header: 52,
            ..Config::default()
        }
    }
}

enum Event {
    Segment(Received, Echo),
    Ack(AckInfo, Stamp),
    Offer,
}

/// The time stamp that a segment echoes, and that of an ACK.
type Echo = u32;
type Stamp = u32;

pub(super) struct Path {
    weather: Weather,
    dice: Dice,
    now: Time,
    fast: Sender,
    slow: Slow,
    receiver: Receiver,
    events: BTreeMap<(Time, u64), Event>,
    scheduled: u64,
    free_at: Time,
    limits: Limits,
    /// Of the ACK that arrived last.
    heard: Stamp,
    /// Where the window ends that the receiver has offered.
    edge: u32,
}

const SENDER_TIMER: u64 = u64::MAX;
const RECEIVER_TIMER: u64 = u64::MAX - 1;

impl Path {
    pub(super) fn new(weather: Weather, linux: Linux) -> Self {
        let config = weather.config();
        let supply = if weather.bursts { Supply::Offered } else { Supply::Unlimited };
        let mut fast = Sender::new(&config, supply).unwrap();
        fast.start();
        let end = if weather.bursts { 1 } else { u32::MAX };
        let mut path = Self {
            weather,
            dice: Dice(!weather.seed),
            now: Time::ZERO + Span::from_ms(1),
            fast,
            slow: Slow::new(linux, &config),
            receiver: Receiver::new(&config).unwrap(),
            events: BTreeMap::new(),
            scheduled: 0,
            free_at: Time::ZERO,
            limits: Limits { end, window: config.window },
            heard: 0,
            edge: 1 + config.window,
        };
        path.schedule(path.now, Event::Offer);
        path
    }

    fn schedule(&mut self, at: Time, event: Event) {
        self.scheduled += 1;
        self.events.insert((at, self.scheduled), event);
    }

    /// 2000 events; what differs first.
    pub(super) fn run(mut self) -> Result<(), String> {
        for step in 0..2000 {
            let timers = [(self.fast.timer_at(), SENDER_TIMER), (self.receiver.timer_at(), RECEIVER_TIMER)];
            let timer = timers.into_iter().filter_map(|(at, which)| at.map(|at| (at, which))).min();
            let next = self.events.first_key_value().map(|(&key, _)| key);
            let Some((at, which)) = [timer, next].into_iter().flatten().min() else { break };
            self.now = at;
            let weather = self.weather;
            self.step(which).map_err(|e| format!("step {step} at {at:?}: {e}; {weather:?}"))?;
        }
        Ok(())
    }

    fn step(&mut self, which: u64) -> Result<(), String> {
        let now = self.now;
        match which {
            SENDER_TIMER => {
                return self
                    .tell(|fast| fast.on_timer(now), |slow, [before, seen], _| slow.on_timer(now, before, seen));
            }
            RECEIVER_TIMER => {
                let ack = self.receiver.on_timer(now);
                self.reply(ack);
                return Ok(());
            }
            _ => {}
        }
        match self.events.pop_first().unwrap().1 {
            Event::Segment(segment, echo) => {
                self.receiver.echoed(now, echo);
                let ack = self.receiver.on_segment(now, &segment);
                let earlier = self.receiver.take_earlier();
                self.reply(earlier);
                self.reply(ack);
                Ok(())
            }
            Event::Ack(ack, stamp) => {
                self.heard = stamp;
                self.tell(|fast| fast.on_ack(now, ack), |slow, states, limits| slow.on_ack(now, &ack, limits, states))
            }
            Event::Offer => {
                if self.weather.bursts {
                    let segments = 1 + self.dice.next() as u32 % 40;
                    self.fast.offer(segments);
                    self.limits.end += segments;
                    let pause = Span::from_us(self.dice.next() % 1_500_000);
                    self.schedule(now + pause, Event::Offer);
                }
                self.tell(|_| (), |_, _, _| ())
            }
        }
    }

    /// Tells both of an event, and lets both send.
    fn tell(
        &mut self,
        fast: impl FnOnce(&mut Sender),
        slow: impl FnOnce(&mut Slow, [&Seen; 2], &Limits),
    ) -> Result<(), String> {
        let before = Seen::of(&self.fast);
        fast(&mut self.fast);
        let seen = Seen::of(&self.fast);
        slow(&mut self.slow, [&before, &seen], &self.limits);
        let reducing = matches!(seen.phase, Phase::Fast | Phase::Reduction);
        same("episode", seen.phase, self.slow.phase)?;
        let trips = &self.slow.trips;
        same("round trips", (seen.srtt, seen.min_rtt, seen.rto), (trips.srtt(), trips.least(), trips.rto()))?;
        if !reducing {
            self.slow.cwnd = seen.cwnd.into();
        } else {
            same("window", i64::from(seen.cwnd), self.slow.cwnd)?;
        }
        self.transmit()?;
        same("timer", self.fast.timer_at(), self.slow.timer.armed.map(|it| it.1))
    }

    fn transmit(&mut self) -> Result<(), String> {
        loop {
            let (rto, before) = (self.fast.rto(), Seen::of(&self.fast));
            let segment = self.fast.next_segment(self.now);
            let seen = Seen::of(&self.fast);
            let next = self.slow.next(self.now, &before, &self.limits);
            same("segment", segment.map(|it| it.number), next)?;
            let Some(segment) = segment else {
                self.slow.settle(self.now, &seen);
                return Ok(());
            };
            same("PSH", segment.push, self.slow.asks(segment.number))?;
            if next == Some(self.slow.board.next) {
                self.slow.restart(self.now, rto);
                same("window after idle", i64::from(seen.cwnd), self.slow.cwnd)?;
            }
            self.slow.send(segment.number, self.now, &seen);
            self.carry(segment);
        }
    }

    fn carry(&mut self, segment: Segment) {
        let Weather { loss, overtaken, twice, mark, outages, one_way, spacing, .. } = self.weather;
        self.free_at = self.free_at.max(self.now) + spacing;
        let out = outages && self.now.ns() / 1_000_000_000 % 10 == 5;
        if self.dice.falls(loss) || out {
            return;
        }
        let Segment { number, payload, syn, cwr, ect, push, .. } = segment;
        let (ce, stamp) = (ect && self.dice.falls(mark), self.stamp());
        let segment = Received { number, payload, syn, cwr, push, ce, stamp };
        let mut at = self.free_at + one_way;
        if self.dice.falls(overtaken) {
            at += Span::from_ns(self.dice.next() % (one_way * 2).ns());
        }
        self.schedule(at, Event::Segment(segment, self.heard));
        if self.dice.falls(twice) {
            self.schedule(at + spacing, Event::Segment(segment, self.heard));
        }
    }

    fn stamp(&self) -> Stamp {
        if self.weather.stamps { stamp(self.now) } else { 0 }
    }

    fn reply(&mut self, ack: Option<AckInfo>) {
        let Some(mut ack) = ack else { return };
        if self.weather.narrow {
            ack.window = self.offer(ack.next_expected);
        }
        if !self.dice.falls(self.weather.ack_loss) {
            self.schedule(self.now + self.weather.one_way, Event::Ack(ack, self.stamp()));
        }
    }

    /// Now and then the receiver offers more, and never less; at least one segment.
    fn offer(&mut self, next: u32) -> u16 {
        let least = if self.dice.falls(0.3) { 1 + self.dice.next() as u32 % self.weather.window } else { 1 };
        self.edge = self.edge.max(next + least);
        (self.edge - next) as u16
    }
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, fast: T, slow: T) -> Result<(), String> {
    if fast == slow { Ok(()) } else { Err(format!("{what}: {fast:?}, by the texts {slow:?}")) }
}
