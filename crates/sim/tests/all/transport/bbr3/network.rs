//! A path with one queue, a sender that does what BBR says, and both BBRs at each of its ACKs.

use super::draft::{C, Draft, Rs};
use perhop_core::Rng;
use perhop_core::units::{Span, Time};
use perhop_sim::transport::congestion::bbr3::{Bbr3, Params, Phase};
use perhop_sim::transport::congestion::{
    CongestionControl, Event, InFlight, LostSegment, RateSample, Report, Signal, State, Window,
};
use std::collections::VecDeque;

/// Of the path: us a segment, round trip without queue in us, room of the queue in segments; of 1000 segments, how many are
/// lost anyhow; segments for which an ACK comes; how often the sender rests.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setup {
    pub service: u64,
    pub round_trip: u64,
    pub room: u64,
    pub random_loss: u64,
    pub each: usize,
    pub rests: bool,
    pub seed: u64,
}

struct Sent {
    number: u32,
    at: u64,
    /// When the receiver's ACK comes; `None`: lost.
    back: Option<u64>,
    first_sent: u64,
    delivered_at: u64,
    delivered: u64,
    lost: u64,
    in_flight: u32,
    app_limited: bool,
}

/// After an ACK.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub at: u64,
    pub phase: Phase,
    pub cwnd: f64,
    /// Pacing rate, bw, long-term and short-term bound.
    pub told: [f64; 4],
    pub lost: u64,
    pub delivered: u64,
}

pub(super) struct Network {
    setup: Setup,
    rng: Rng,
    law: Bbr3,
    draft: Draft,
    window: Window,
    now: u64,
    next_send: u64,
    next: u32,
    free_at: u64,
    flying: VecDeque<Sent>,
    first_sent: u64,
    delivered_at: u64,
    delivered: u64,
    lost: u64,
    app_limited: u64,
    /// One past what was sent when recovery began.
    recovers_until: Option<u32>,
    limited: bool,
    rests_until: u64,
    min_rtt: u64,
    pub moments: Vec<Moment>,
}

const MSS: u16 = 1448;
const START: u64 = 1_000_000;

fn time(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

impl Network {
    pub(super) fn run(setup: Setup, until: u64) -> Self {
        let (mut law, cwnd, rtt) = (Params {}.build(&()).unwrap(), 10.0, setup.round_trip);
        law.seed(setup.seed);
        let c =
            C { now: START as f64, cwnd, initial_cwnd: cwnd, srtt: Some(rtt as f64), mss: MSS.into(), ..C::default() };
        let mut it = Self {
            setup,
            rng: Rng::stream(setup.seed, 0, "path"),
            law,
            draft: Draft::on_init(c, setup.seed),
            window: Window { cwnd, ssthresh: f64::MAX },
            now: START,
            next_send: START,
            next: 1,
            free_at: 0,
            flying: VecDeque::new(),
            first_sent: START,
            delivered_at: START,
            delivered: 1,
            lost: 0,
            app_limited: 0,
            recovers_until: None,
            limited: false,
            rests_until: 0,
            min_rtt: u64::MAX,
            moments: vec![],
        };
        it.draft.c.delivered = 1.0;
        let mut window = it.window;
        let report = it.report();
        it.law.on_event(Event::Open, &report, &mut window);
        while it.now < START + until {
            it.step();
        }
        it
    }

    fn chance(&mut self, of: u64) -> u64 {
        (self.rng.uniform() * of as f64) as u64
    }

    fn report(&self) -> Report {
        let rtt = Some(Span::from_us(self.setup.round_trip));
        Report {
            signal: Signal { now: time(self.now), srtt: rtt, ..Signal::default() },
            state: if self.recovers_until.is_some() { State::Recovery } else { State::Open },
            delivered: self.delivered,
            delivered_at: time(self.delivered_at),
            lost_in_all: self.lost,
            in_flight: InFlight { now: self.flying.len() as u32, before: self.flying.len() as u32 },
            next_send: time(self.next_send.max(self.now)),
            window_limited: self.limited,
            mss: MSS,
            ..Report::default()
        }
    }

    /// The next segment, or the next ACK, whichever comes first.
    fn step(&mut self) {
        let room = (self.flying.len() as f64) < self.window.cwnd.floor();
        let send = room.then_some(self.next_send.max(self.now).max(self.rests_until));
        let ack = self.flying.iter().filter_map(|it| it.back).next();
        match (send, ack) {
            (Some(send), ack) if ack.is_none_or(|ack| send < ack) => {
                self.now = self.now.max(send);
                self.send();
            }
            (_, Some(ack)) => {
                self.now = self.now.max(ack);
                self.ack();
            }
            _ => self.time_out(),
        }
    }

    fn send(&mut self) {
        if self.flying.is_empty() {
            if self.app_limited > 0 {
                self.restart();
            }
            (self.first_sent, self.delivered_at) = (self.now, self.now);
        }
        let waiting = self.free_at.saturating_sub(self.now) / self.setup.service;
        let lost = waiting >= self.setup.room || self.chance(1000) < self.setup.random_loss;
        if !lost {
            self.free_at = self.free_at.max(self.now) + self.setup.service;
        }
        self.flying.push_back(Sent {
            number: self.next,
            at: self.now,
            back: (!lost).then_some(self.free_at + self.setup.round_trip),
            first_sent: self.first_sent,
            delivered_at: self.delivered_at,
            delivered: self.delivered,
            lost: self.lost,
            in_flight: self.flying.len() as u32 + 1,
            app_limited: self.app_limited > 0,
        });
        self.next += 1;
        let rate = self.law.pacing_rate(1000).unwrap() as f64 / 1e9;
        self.next_send = self.now + (1.0 / rate) as u64;
        self.limited |= self.flying.len() as f64 >= self.window.cwnd.floor();
        if self.setup.rests && self.chance(300) == 0 {
            self.app_limited = self.delivered + self.flying.len() as u64;
            self.rests_until = self.now + self.chance(2_000_000);
        }
    }

    fn restart(&mut self) {
        let (report, mut window) = (self.report(), self.window);
        self.law.on_event(Event::Restart, &report, &mut window);
        self.share();
        self.draft.handle_restart_from_idle();
        self.window = window;
        self.compare();
    }

    /// What the draft knows of the connection.
    fn share(&mut self) {
        let c = &mut self.draft.c;
        (c.now, c.inflight, c.delivered) = (self.now as f64, self.flying.len() as f64, self.delivered as f64);
        (c.is_cwnd_limited, c.cwnd) = (self.limited, self.window.cwnd);
    }

    /// Of up to `each` segments that have arrived by now; those sent three before the newest, and not arrived, are lost.
    fn ack(&mut self) {
        let (mut newest, mut acked): (Option<Sent>, u32) = (None, 0);
        while let Some(place) = self.flying.iter().position(|it| it.back.is_some_and(|back| back <= self.now)) {
            newest = self.flying.remove(place);
            acked += 1;
            if acked as usize >= self.setup.each {
                break;
            }
        }
        let newest = newest.unwrap();
        self.delivered += u64::from(acked);
        let interval = (newest.at - newest.first_sent).max(self.now - newest.delivered_at);
        (self.delivered_at, self.first_sent) = (self.now, newest.at);
        if self.app_limited > 0 && self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        let lost = self.find_lost(newest.number);
        let rtt = self.now - newest.at;
        self.min_rtt = self.min_rtt.min(rtt);
        let ended = self.recovers_until.is_some_and(|until| newest.number >= until);
        self.tell_losses(&lost);
        if ended && lost.is_empty() {
            self.recovers_until = None;
        }
        let signal = Signal { now: time(self.now), acked, sample: Some(Span::from_us(rtt)), ..self.report().signal };
        let sample = RateSample {
            delivered: (self.delivered - newest.delivered) as u32,
            prior_delivered: newest.delivered,
            interval_us: if interval < self.min_rtt { 0 } else { interval },
            app_limited: newest.app_limited,
            in_flight_then: newest.in_flight,
            lost: (self.lost - newest.lost) as u32,
        };
        self.tell_ack(signal, sample);
        self.limited = false;
    }

    fn find_lost(&mut self, newest: u32) -> Vec<Sent> {
        let mut lost = vec![];
        while self.flying.front().is_some_and(|it| it.back.is_none() && it.number + 3 <= newest) {
            lost.extend(self.flying.pop_front());
        }
        lost
    }

    fn tell_losses(&mut self, lost: &[Sent]) {
        self.share();
        if !lost.is_empty() && self.recovers_until.is_none() {
            self.law.on_loss(&Signal::default(), &mut self.window.clone());
            self.draft.save_state_upon_loss();
            self.recovers_until = Some(self.next);
        }
        for it in lost {
            self.lost += 1;
            let gone = (self.lost - it.lost) as u32;
            let (number, in_flight_then, app_limited) = (it.number, it.in_flight, it.app_limited);
            let report = self.report();
            let segment = LostSegment { number, in_flight_then, lost: gone, app_limited };
            self.law.on_lost(&segment, &report, &self.window);
            let (tx_in_flight, lost) = (in_flight_then.into(), gone.into());
            self.draft
                .handle_lost_packet(number, Rs { tx_in_flight, lost, is_app_limited: app_limited, ..Rs::default() });
        }
    }

    fn tell_ack(&mut self, signal: Signal, sample: RateSample) {
        self.share();
        let recovers = self.recovers_until.is_some();
        self.draft.c.in_fast_recovery = recovers;
        self.draft.set_in_loss_recovery(recovers);
        let us = sample.interval_us as f64;
        self.draft.rs = Rs {
            delivery_rate: if us > 0.0 { f64::from(sample.delivered) / us } else { 0.0 },
            delivered: sample.delivered.into(),
            prior_delivered: sample.prior_delivered as f64,
            is_app_limited: sample.app_limited,
            tx_in_flight: sample.in_flight_then.into(),
            lost: sample.lost.into(),
            newly_acked: signal.acked.into(),
            rtt: signal.sample.map(|rtt| (rtt.ns() / 1000) as f64),
        };
        let report = Report { signal, rate: Some(sample), ..self.report() };
        self.law.on_report(&report, &mut self.window);
        self.draft.update_on_ack();
        assert_eq!(self.law.holds_back(), self.draft.c.app_limited_wanted);
        if self.law.holds_back() {
            self.app_limited = self.delivered + self.flying.len() as u64;
        }
        self.compare();
        if self.setup.rests && recovers && self.chance(500) == 0 {
            self.undo();
        }
    }

    fn undo(&mut self) {
        let report = self.report();
        self.law.on_event(Event::Undo, &report, &mut self.window);
        self.share_but_window();
        self.draft.handle_spurious_loss_detection();
        self.compare();
    }

    fn share_but_window(&mut self) {
        let cwnd = self.draft.c.cwnd;
        self.share();
        self.draft.c.cwnd = cwnd;
    }

    /// Everything in flight is lost.
    fn time_out(&mut self) {
        self.now += 200_000;
        let lost: Vec<Sent> = self.flying.drain(..).collect();
        self.tell_losses(&lost);
        self.recovers_until = Some(self.next);
        self.window.cwnd = 1.0;
        self.law.on_event(Event::TimeOut, &self.report(), &mut self.window.clone());
        self.draft.set_in_loss_recovery(true);
    }

    fn compare(&mut self) {
        let (told, draft) = (self.law.told(), &self.draft);
        let plain = [draft.c.pacing_rate, draft.bw, draft.inflight_longterm, draft.inflight_shortterm];
        let same = |a: f64, b: f64| a == b || (a - b).abs() <= 1e-9 * b.abs();
        let all = told.iter().zip(plain).all(|(&a, b)| same(a, b)) && same(self.window.cwnd, draft.c.cwnd);
        assert!(
            all && self.law.phase() == draft.state,
            "{} us, {:?}: {:?} {told:?} cwnd {}; draft {:?} {plain:?} cwnd {}",
            self.now,
            self.setup,
            self.law.phase(),
            self.window.cwnd,
            draft.state,
            draft.c.cwnd
        );
        let (phase, cwnd) = (draft.state, draft.c.cwnd);
        self.moments.push(Moment {
            at: self.now - START,
            phase,
            cwnd,
            told,
            lost: self.lost,
            delivered: self.delivered,
        });
    }
}
