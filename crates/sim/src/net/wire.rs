//! What happens to packets between the end of their transmission and the other end of the link, beyond a constant delay:
//! loss, jitter, reordering. Most links have none of it and do not come here.
//!
//! A packet that is sent at time t arrives at
//!
//! ```text
//! t + delay + x, x drawn for each packet; not before the packet sent before it
//! t              if it overtakes (probability `reorder`): all that are still in flight arrive after it
//! ```
//!
//! x is uniform in [-jitter, jitter], or normal with standard deviation `jitter`, drawn again beyond four of them, so
//! that `delay` is always at least as large as the largest -x. Source: Linux's netem (its `reorder` sends a packet at once
//! too); there, jitter alone reorders packets unless a queue that keeps order is put below it.
//!
//! Loss, jitter and reordering draw from separate random streams: none changes the draws of the others.

use super::RecordId;
use crate::plan::{LARGEST_SIGMAS, Plan, Spread, Transit};
use perhop_core::Rng;
use perhop_core::math;
use perhop_core::units::{Span, Time};
use std::collections::VecDeque;

/// What becomes of a packet whose transmission ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passage {
    /// It is at the other end.
    Through,
    /// It was lost.
    Lost,
    /// It is in flight; with the time when it arrives if it is the only one.
    UnderWay(Option<Time>),
}

/// A wire with loss, jitter or reordering.
#[derive(Clone, Debug)]
pub struct Wire {
    loss: Option<Chance>,
    transit: Option<Delayed>,
}

/// A probability and the stream that decides.
#[derive(Clone, Debug)]
struct Chance {
    probability: f64,
    rng: Rng,
}

impl Chance {
    /// `None` if it never happens.
    fn new(probability: f64, rng: impl FnOnce() -> Rng) -> Option<Self> {
        (probability > 0.0).then(|| Self { probability, rng: rng() })
    }

    fn happens(&mut self) -> bool {
        self.rng.uniform() < self.probability
    }
}

/// Packets in flight, in order.
#[derive(Clone, Debug)]
struct Delayed {
    delay: Span,
    jitter: Span,
    spread: Spread,
    rng: Rng,
    reorder: Option<Chance>,
    line: VecDeque<(Time, RecordId)>,
    /// Arrival of the packet that was sent last and did not overtake.
    last: Time,
}

impl Wire {
    /// The wire of the plan's link; `None` if it has nothing but a delay.
    pub fn new(plan: &Plan, link: usize) -> Option<Box<Self>> {
        let link = &plan.links[link];
        let stream = |what: &str| Rng::stream(plan.seed, plan.replication, &format!("{what}.{}", link.name));
        let loss = Chance::new(link.loss.get(), || stream("wire"));
        let Transit { jitter, spread, reorder } = link.transit;
        let transit = link.transit.varies().then(|| Delayed {
            delay: link.delay,
            jitter,
            spread,
            rng: stream("jitter"),
            reorder: Chance::new(reorder.get(), || stream("reorder")),
            line: VecDeque::new(),
            last: Time::ZERO,
        });
        (loss.is_some() || transit.is_some()).then(|| Box::new(Self { loss, transit }))
    }

    /// Whether packets take different times.
    pub fn varies(&self) -> bool {
        self.transit.is_some()
    }

    /// A packet's transmission ends.
    pub fn enter(&mut self, now: Time, id: RecordId) -> Passage {
        if self.loss.as_mut().is_some_and(Chance::happens) {
            return Passage::Lost;
        }
        self.transit.as_mut().map_or(Passage::Through, |transit| transit.enter(now, id))
    }

    /// The packet that arrives now, and when the next one does.
    pub fn leave(&mut self) -> (RecordId, Option<Time>) {
        let line = &mut self.transit.as_mut().expect("only such wires have events").line;
        let (_, id) = line.pop_front().expect("an event waited for it");
        (id, line.front().map(|next| next.0))
    }

    /// Those in flight.
    pub fn records(&self) -> impl Iterator<Item = RecordId> {
        self.transit.iter().flat_map(|transit| transit.line.iter().map(|packet| packet.1))
    }
}

impl Delayed {
    fn enter(&mut self, now: Time, id: RecordId) -> Passage {
        if self.reorder.as_mut().is_some_and(Chance::happens) {
            return Passage::Through;
        }
        self.last = self.last.max(now + self.draw());
        self.line.push_back((self.last, id));
        Passage::UnderWay((self.line.len() == 1).then_some(self.last))
    }

    /// Delay with its jitter.
    fn draw(&mut self) -> Span {
        let x = match self.spread {
            Spread::Uniform => 2.0 * self.rng.uniform() - 1.0,
            Spread::Normal => normal(&mut self.rng),
        };
        let ns = self.delay.ns() as f64 + (x * self.jitter.ns() as f64).round();
        Span::from_ns(ns as u64)
    }
}

/// A standard normal variate within [`LARGEST_SIGMAS`] (Marsaglia and Bray's polar method).
fn normal(rng: &mut Rng) -> f64 {
    loop {
        let [u, v] = [2.0 * rng.uniform() - 1.0, 2.0 * rng.uniform() - 1.0];
        let square = u * u + v * v;
        if square >= 1.0 || square == 0.0 {
            continue;
        }
        let x = u * (-2.0 * math::ln(square) / square).sqrt();
        if x.abs() <= LARGEST_SIGMAS as f64 {
            return x;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use perhop_core::Rng;
    use perhop_core::units::Probability;
    use proptest::prelude::{Strategy, any, prop, prop_assert, proptest};

    /// Packets of the ids 0, 1, ... enter at `times`; the arrival of each.
    fn arrivals(wire: &mut Wire, times: &[Time]) -> Vec<Time> {
        let mut arrived = vec![Time::MAX; times.len()];
        let mut due = None;
        for (i, &now) in times.iter().enumerate() {
            while let Some(at) = due.filter(|at| *at <= now) {
                let (id, next) = wire.leave();
                (arrived[id as usize], due) = (at, next);
            }
            match wire.enter(now, i as RecordId) {
                Passage::Through => arrived[i] = now,
                Passage::UnderWay(alone) => due = alone.or(due),
                Passage::Lost => {}
            }
        }
        while let Some(at) = due {
            let (id, next) = wire.leave();
            (arrived[id as usize], due) = (at, next);
        }
        arrived
    }

    fn wire(delay: Span, transit: Transit, seed: u64) -> Wire {
        let stream = |name| Rng::stream(seed, 0, name);
        let Transit { jitter, spread, reorder } = transit;
        let (rng, reorder) = (stream("jitter"), Chance::new(reorder.get(), || stream("reorder")));
        let (line, last) = (VecDeque::new(), Time::ZERO);
        Wire { loss: None, transit: Some(Delayed { delay, jitter, spread, rng, reorder, line, last }) }
    }

    fn spreads() -> impl Strategy<Value = Spread> {
        prop::sample::select(vec![Spread::Uniform, Spread::Normal])
    }

    proptest! {
        /// In order, none earlier than the least delay, none later than the largest and those before it.
        #[test]
        fn packets_keep_their_order(
            us in 1u64..20_000, spread in spreads(), gaps in prop::collection::vec(0u64..3_000_000, 1..200), seed in any::<u64>(),
        ) {
            let transit = Transit { jitter: Span::from_us(us), spread, ..Transit::default() };
            let delay = transit.largest() + Span::from_us(us % 7);
            let times: Vec<_> = gaps.iter().scan(0, |now, gap| { *now += gap; Some(Time::from_ns(*now)) }).collect();
            let arrived = arrivals(&mut wire(delay, transit, seed), &times);
            prop_assert!(arrived.is_sorted());
            for (sent, arrived) in times.iter().zip(&arrived) {
                prop_assert!(*arrived >= *sent + (delay - transit.largest()));
                prop_assert!(*arrived <= *sent + delay + transit.largest(), "{} {}", sent, arrived);
            }
        }

        /// What does not overtake keeps its order; what does arrives at once.
        #[test]
        fn what_overtakes_arrives_at_once(
            p in 0.05..0.95f64, spread in spreads(), gaps in prop::collection::vec(0u64..3_000_000, 1..200), seed in any::<u64>(),
        ) {
            let reorder = Probability::new(p).unwrap();
            let transit = Transit { jitter: Span::from_ms(1), spread, reorder };
            let times: Vec<_> = gaps.iter().scan(0, |now, gap| { *now += gap; Some(Time::from_ns(*now)) }).collect();
            let arrived = arrivals(&mut wire(Span::from_ms(9), transit, seed), &times);
            let kept: Vec<_> = times.iter().zip(&arrived).filter(|(sent, at)| at != sent).map(|(_, at)| *at).collect();
            prop_assert!(kept.is_sorted());
            prop_assert!(arrived.iter().all(|at| *at != Time::MAX));
        }
    }

    /// Far apart, so that none waits for another: mean `delay`; the standard deviations of the two laws. N = 100,000 draws:
    /// the mean is within 4.5 of its standard errors, so is the variance of (m4 - s^4)/N, with one seed in 10^5 beyond each.
    #[test]
    fn jitter_has_its_mean_and_deviation() {
        const N: usize = 100_000;
        let (delay, jitter) = (Span::from_ms(50), Span::from_ms(10));
        let times: Vec<_> = (0..N as u64).map(|i| Time::from_ns(i * 1_000_000_000)).collect();
        for (spread, variance, kurtosis) in [(Spread::Uniform, 1.0 / 3.0, 1.8), (Spread::Normal, 0.998_929, 2.986)] {
            let arrived = arrivals(&mut wire(delay, Transit { jitter, spread, ..Transit::default() }, 7), &times);
            let x: Vec<_> =
                arrived.iter().zip(&times).map(|(at, sent)| ((*at - *sent).ns() as f64 - 50e6) / 10e6).collect();
            let mean = x.iter().sum::<f64>() / N as f64;
            let spread_of = x.iter().map(|x| x * x).sum::<f64>() / N as f64;
            assert!(mean.abs() < 4.5 * (variance / N as f64).sqrt(), "{spread:?}: mean {mean}");
            let error = variance * ((kurtosis - 1.0) / N as f64).sqrt();
            assert!((spread_of - variance).abs() < 4.5 * error, "{spread:?}: variance {spread_of}");
            let largest = x.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
            assert!(largest <= spread.reach() as f64 && largest > 0.999 || largest > 3.5, "{spread:?}: {largest}");
        }
    }

    /// A binomial count: within 4.5 standard deviations.
    #[test]
    fn the_stated_share_overtakes() {
        const N: usize = 100_000;
        for p in [0.01, 0.25] {
            let reorder = Probability::new(p).unwrap();
            let times: Vec<_> = (0..N as u64).map(|i| Time::from_ns(i * 1_000_000)).collect();
            let transit = Transit { reorder, ..Transit::default() };
            let arrived = arrivals(&mut wire(Span::from_ms(20), transit, 3), &times);
            let overtaking = arrived.iter().zip(&times).filter(|(at, sent)| at == sent).count() as f64;
            assert!((overtaking - p * N as f64).abs() < 4.5 * (p * (1.0 - p) * N as f64).sqrt(), "{p}: {overtaking}");
        }
    }
}
