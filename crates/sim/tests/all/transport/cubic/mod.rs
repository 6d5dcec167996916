//! CUBIC and the slow starts beside slow versions of themselves, ACK by ACK, and beside closed forms.

mod closed;
mod hystart;
mod linux;
mod rfc;

use crate::transport::pipe::Dice;
use perhop_core::aqm::arithmetic::Arithmetic;
use perhop_core::units::{Span, Time};
use perhop_sim::transport::congestion::{cubic::Params, hystart::HyStart};
use perhop_sim::transport::{CongestionControl, Law, LawParams, Signal, Window};

/// As declared.
pub(crate) const DEFAULTS: Params = Params {
    c: 0.4,
    beta: 0.7,
    fast_convergence: true,
    reno_friendly: true,
    hystart: HyStart::None,
    abe: false,
    arithmetic: Arithmetic::Rfc,
};

/// What happens to a connection.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Event {
    Ack,
    Loss,
    Echo,
    TimeOut,
}

/// A history of signals: rounds of ACKs at a changing round trip, with a rare congestion.
struct History {
    dice: Dice,
    signal: Signal,
    least: Span,
    /// One of so many signals is congestion.
    rarity: u64,
}

impl History {
    fn new(seed: u64) -> Self {
        let mut dice = Dice(seed);
        let rarity = 50 << (dice.next() % 6);
        let least = Span::from_us(500 + dice.next() % 150_000);
        Self { dice, signal: Signal { next: 11, una: 1, ..Signal::default() }, least, rarity }
    }

    fn draw(&mut self, n: u64) -> u64 {
        self.dice.next() % n
    }

    /// The next signal, for a window.
    fn next(&mut self, window: &Window) -> (Event, Signal) {
        let event = match self.draw(self.rarity) {
            0 => [Event::Loss, Event::Loss, Event::Echo, Event::TimeOut][self.draw(4) as usize],
            _ => Event::Ack,
        };
        let wait = if self.draw(40) == 0 { 2 * self.least.ns() } else { self.least.ns() / window.cwnd.max(1.0) as u64 };
        let now = self.signal.now + Span::from_ns(self.draw(2 * wait.max(1)));
        let rtt = self.least + Span::from_ns(self.draw(1 + self.least.ns() / 4));
        let acked = if event == Event::Ack { 1 + self.draw(3) as u32 } else { 0 };
        let timed = event == Event::Ack && self.draw(8) > 0;
        let una = self.signal.una + acked;
        let next = self.signal.next.max(una + window.cwnd as u32);
        let least = self.signal.min_rtt.unwrap_or(rtt).min(rtt);
        let usable = window.cwnd.min(4000.0);
        self.signal = Signal {
            now,
            acked,
            usable,
            srtt: Some(rtt),
            min_rtt: Some(least),
            sample: None,
            una,
            next,
            marked: 0,
            paced: false,
        };
        (event, Signal { sample: timed.then_some(rtt), ..self.signal })
    }
}

/// Tells a law what happened.
fn tell(law: &mut impl CongestionControl, event: Event, signal: &Signal, window: &mut Window) {
    match event {
        Event::Ack => law.on_ack(signal, window),
        Event::Loss => law.on_loss(signal, window),
        Event::Echo => law.on_ecn(signal, window),
        Event::TimeOut => law.on_timeout(signal, window),
    }
}

fn law(params: Params) -> Law {
    Law::new(LawParams::Cubic(params)).unwrap()
}

const OPEN: Window = Window { cwnd: 10.0, ssthresh: 2_147_483_647.0 };

/// Feeds one history to the law and to a slow version of it; how many ACKs there were above the threshold.
fn same(params: Params, mut slow: impl CongestionControl, seed: u64) -> u32 {
    let (mut fast, mut history) = (law(params), History::new(seed));
    let (mut ours, mut theirs, mut avoided) = (OPEN, OPEN, 0);
    for step in 0..6000 {
        if ours.cwnd > 100_000.0 {
            break;
        }
        let (event, signal) = history.next(&ours);
        avoided += u32::from(event == Event::Ack && ours.cwnd >= ours.ssthresh);
        tell(&mut fast, event, &signal, &mut ours);
        tell(&mut slow, event, &signal, &mut theirs);
        let error = (ours.cwnd - theirs.cwnd).abs() + (ours.ssthresh - theirs.ssthresh).abs();
        assert!(error <= 1e-9 * theirs.cwnd, "seed {seed}, step {step}: {event:?} {signal:?}: {ours:?}, {theirs:?}");
    }
    avoided
}

/// Every combination of the switches, for a seed.
fn switched(seed: u64, arithmetic: Arithmetic) -> Params {
    let bit = |n: u64| seed >> n & 1 == 1;
    let (c, beta) = [(0.4, 0.7), (0.4, 0.7), (1.0, 0.8), (0.1, 0.5)][(seed >> 3) as usize % 4];
    Params { c, beta, fast_convergence: !bit(0), reno_friendly: !bit(1), abe: bit(2), arithmetic, ..DEFAULTS }
}

/// A history of time since `Time::ZERO`, in s.
fn seconds(at: Time) -> f64 {
    at.since(Time::ZERO).seconds()
}
