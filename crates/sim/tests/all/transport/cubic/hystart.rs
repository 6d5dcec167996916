//! The slow starts: HyStart++ beside the text of RFC 9406, Linux's beside its rules, and what either does by hand.

use super::{Arithmetic, DEFAULTS, HyStart, Params, law};
use crate::transport::pipe::Dice;
use perhop_core::units::{Span, Time};
use perhop_sim::transport::{CongestionControl, Law, Signal, Window};

/// RFC 9406 section 4.2, as written; times in ns, "infinity" is `None`.
#[allow(non_snake_case)]
struct Text {
    lastRoundMinRTT: Option<u64>,
    currentRoundMinRTT: Option<u64>,
    rttSampleCount: u32,
    windowEnd: u32,
    cssBaselineMinRtt: Option<u64>,
    cssRounds: u32,
    css: bool,
    cwnd: f64,
    ssthresh: Option<f64>,
}

impl Text {
    fn new(cwnd: f64) -> Self {
        Self {
            lastRoundMinRTT: None,
            currentRoundMinRTT: None,
            rttSampleCount: 0,
            windowEnd: 1,
            cssBaselineMinRtt: None,
            cssRounds: 0,
            css: false,
            cwnd,
            ssthresh: None,
        }
    }

    fn ack(&mut self, signal: &Signal) {
        let n = f64::from(signal.acked).min(8.0);
        self.cwnd += if self.css { n / 4.0 } else { n };
        if let Some(rtt) = signal.sample {
            self.currentRoundMinRTT = Some(self.currentRoundMinRTT.unwrap_or(u64::MAX).min(rtt.ns()));
            self.rttSampleCount += 1;
            if self.rttSampleCount >= 8 {
                self.check();
            }
        }
        if signal.una >= self.windowEnd {
            self.lastRoundMinRTT = self.currentRoundMinRTT.take();
            self.rttSampleCount = 0;
            self.windowEnd = signal.next;
            self.cssRounds += u32::from(self.css);
            if self.cssRounds == 5 {
                self.ssthresh = Some(self.cwnd);
            }
        }
    }

    fn check(&mut self) {
        let current = self.currentRoundMinRTT.unwrap();
        if self.css {
            if current < self.cssBaselineMinRtt.unwrap() {
                (self.css, self.cssBaselineMinRtt, self.cssRounds) = (false, None, 0);
            }
        } else if let Some(last) = self.lastRoundMinRTT {
            let threshold = 4_000_000.max(16_000_000.min(last / 8));
            if current >= last + threshold {
                (self.css, self.cssBaselineMinRtt) = (true, Some(current));
            }
        }
    }
}

/// Linux's rules, over the whole list of the round's ACKs at each ACK.
struct Rules {
    /// Of the round, in us: time and round trip.
    acks: Vec<(u64, u64)>,
    started: u64,
    end: u32,
    least: u64,
}

impl Rules {
    /// Whether slow start is over at this ACK.
    fn ack(&mut self, signal: &Signal, cwnd: f64) -> bool {
        let Some(rtt) = signal.sample else { return false };
        let (now, rtt) = (signal.now.ns() / 1000, (rtt.ns() / 1000).max(1));
        self.least = self.least.min(rtt);
        if signal.una > self.end {
            (self.started, self.end) = (now, signal.next);
            self.acks.clear();
        }
        if cwnd < 16.0 {
            return false;
        }
        self.acks.push((now, rtt));
        let gaps = std::iter::once(self.started).chain(self.acks.iter().map(|ack| ack.0));
        let in_a_row = gaps.zip(&self.acks).all(|(before, ack)| ack.0 - before <= 2000);
        let longest = (self.least + 1000) / if signal.paced { 1 } else { 2 };
        let train = in_a_row && now - self.started > longest;
        let shortest = self.acks.iter().map(|ack| ack.1).min().unwrap();
        let delay = self.acks.len() > 8 && shortest > self.least + 4000.max(16_000.min(self.least / 8));
        train || delay
    }
}

/// A path of one queue: a rate in segments/ms, a round trip without the queue, noise of each sample.
struct Path {
    rng: Dice,
    round_trip: u64,
    service: u64,
    noise: u64,
    law: Law,
    window: Window,
    signal: Signal,
}

impl Path {
    fn new(hystart: HyStart, arithmetic: Arithmetic, seed: u64) -> Self {
        let mut rng = Dice(seed);
        let round_trip = 2_000_000 + rng.next() % 200_000_000;
        let service = 5_000 + rng.next() % 1_500_000;
        let noise = 1 + rng.next() % (round_trip / 5);
        let window = Window { cwnd: 10.0, ssthresh: 1e9 };
        let law = law(Params { hystart, arithmetic, ..DEFAULTS });
        let signal = Signal { una: 1, next: 11, paced: seed.is_multiple_of(3), ..Signal::default() };
        Self { rng, round_trip, service, noise, law, window, signal }
    }

    /// The next ACK: every window the queue is longer.
    fn ack(&mut self) -> Signal {
        let waiting = (self.window.cwnd as u64 * self.service).saturating_sub(self.round_trip);
        let pause = if self.rng.next().is_multiple_of(30) { self.round_trip / 3 } else { self.service };
        let rtt = Span::from_ns(self.round_trip + waiting + self.rng.next() % self.noise);
        let (acked, now) =
            (1 + 9 * u32::from(self.rng.next().is_multiple_of(12)), self.signal.now + Span::from_ns(pause));
        let una = self.signal.una + acked;
        let next = self.signal.next.max(una + self.window.cwnd as u32 - 1);
        self.signal = Signal {
            paced: self.signal.paced,
            now,
            acked,
            marked: 0,
            usable: self.window.cwnd,
            una,
            next,
            srtt: Some(rtt),
            min_rtt: Some(rtt),
            sample: Some(rtt),
        };
        self.signal
    }
}

#[test]
fn plus_plus_is_that_of_the_text() {
    let (mut ended, mut resumed) = (0, 0);
    for seed in 0..400 {
        let mut path = Path::new(HyStart::PlusPlus, Arithmetic::Rfc, seed);
        let mut text = Text::new(10.0);
        while path.window.cwnd < 5000.0 && text.ssthresh.is_none() {
            let (signal, slower) = (path.ack(), text.css);
            text.ack(&signal);
            resumed += u32::from(slower && !text.css);
            path.law.on_ack(&signal, &mut path.window);
            assert_eq!(path.window, Window { cwnd: text.cwnd, ssthresh: text.ssthresh.unwrap_or(1e9) }, "seed {seed}");
        }
        ended += u32::from(text.ssthresh.is_some());
    }
    assert!(ended > 50 && resumed > 20, "{ended} ended, {resumed} went back to slow start");
}

#[test]
fn linux_ends_slow_start_where_its_rules_do() {
    let mut ended = 0;
    for seed in 0..400 {
        let mut path = Path::new(HyStart::Linux, Arithmetic::Linux, seed);
        let mut rules = Rules { acks: Vec::new(), started: 0, end: 1, least: u64::MAX };
        while path.window.cwnd < 5000.0 {
            let (signal, cwnd) = (path.ack(), path.window.cwnd);
            let over = rules.ack(&signal, cwnd);
            path.law.on_ack(&signal, &mut path.window);
            assert_eq!(path.window.ssthresh < 1e9, over, "seed {seed} at {cwnd}");
            if over {
                assert_eq!(path.window.ssthresh, cwnd);
                ended += 1;
                break;
            }
        }
    }
    assert!(ended > 300, "{ended} ended");
}

/// After a time-out HyStart++ is over (RFC 9406 section 4.3), and Linux's begins again.
#[test]
fn a_time_out_ends_one_and_restarts_the_other() {
    for (hystart, again) in [(HyStart::PlusPlus, false), (HyStart::Linux, true)] {
        let mut law = law(Params { hystart, arithmetic: Arithmetic::Linux, ..DEFAULTS });
        let mut window = Window { cwnd: 64.0, ssthresh: 1e9 };
        law.on_timeout(&Signal { usable: 1e6, next: 65, una: 1, ..Signal::default() }, &mut window);
        assert_eq!(window.cwnd, 1.0);
        let top = window.ssthresh;
        for n in 0..2000_u32 {
            let rtt = Some(Span::from_ms(10 + u64::from(n) / 10));
            let now = Time::ZERO + Span::from_ms(20 * u64::from(n));
            let (una, next) = (66 + n, 67 + n + window.cwnd as u32);
            let signal = Signal {
                now,
                acked: 1,
                usable: window.cwnd,
                srtt: rtt,
                min_rtt: rtt,
                sample: rtt,
                una,
                next,
                ..Signal::default()
            };
            law.on_ack(&signal, &mut window);
        }
        assert_eq!(window.ssthresh < top, again, "{hystart:?}: {window:?}");
    }
}
