//! What TRED expects of a packet (PPS specification, section 1.5), from the list of all arrivals with tickets.

use perhop_core::aqm::tred::{Minimum, Params, Untagged};
use perhop_core::conditioner::pps_tagger::Unit;
use perhop_core::math::pow;
use perhop_core::packet::{Packet, flags};
use perhop_core::units::Time;

/// One arrival with tickets; the amount is 1 packet or its bytes.
#[derive(Clone, Copy)]
struct Arrival {
    at: Time,
    tickets: f64,
    amount: f64,
    /// Whether it passed the filter `g < K MinTkt`.
    expected: bool,
}

#[derive(Clone)]
pub(crate) struct Expectation {
    params: Params,
    arrivals: Vec<Arrival>,
}

impl Expectation {
    pub(crate) fn new(params: &Params) -> Self {
        Self { params: params.clone(), arrivals: Vec::new() }
    }

    /// TSW from the first of the events on.
    fn rate(&self, events: impl Iterator<Item = (Time, f64)>) -> f64 {
        let window = self.params.expected.window.seconds();
        let step = |(avg, front): (f64, Option<Time>), (at, x): (Time, f64)| {
            let gap = front.map_or(0.0, |front| (at - front).seconds());
            ((avg * window + x) / (gap + window), Some(at))
        };
        events.fold((0.0, None), step).0
    }

    /// Tickets per packet (or byte) of some arrivals; `None` of none.
    fn mean(&self, which: impl Fn(&Arrival) -> bool) -> Option<f64> {
        let events = || self.arrivals.iter().filter(|a| which(a));
        let tickets = self.rate(events().map(|a| (a.at, a.tickets)));
        let amount = self.rate(events().map(|a| (a.at, a.amount)));
        events().next().map(|_| tickets / amount)
    }

    /// InTktRate.
    pub(crate) fn incoming(&self) -> f64 {
        self.rate(self.arrivals.iter().map(|a| (a.at, a.tickets)))
    }

    /// AvgTkt and ExpectTkt.
    pub(crate) fn means(&self) -> [Option<f64>; 2] {
        [self.mean(|_| true), self.mean(|a| a.expected)]
    }

    fn min_tkt(&self) -> f64 {
        let densities = self.arrivals.iter().map(|a| a.tickets / a.amount);
        match self.params.expected.minimum {
            // Intervals: one begins at 0, each other with the first packet after the end of the one before.
            Minimum::Interval => {
                let (mut start, mut least) = (Time::ZERO, vec![f64::INFINITY]);
                for (arrival, density) in self.arrivals.iter().zip(densities) {
                    if arrival.at - start >= self.params.expected.min_interval {
                        start = arrival.at;
                        least.push(f64::INFINITY);
                    }
                    let last = least.last_mut().expect("one at least");
                    *last = last.min(density);
                }
                least.into_iter().rev().take(2).fold(f64::INFINITY, f64::min)
            }
            // Moved so that at rest 5 % lie below: 0.05 down x 0.0475 = 0.95 up x 0.0025.
            Minimum::Quantile => {
                let step = |q: f64, g: f64| q * if g < q { 1.0 - 0.0475 } else { 1.0 + 0.0025 };
                densities.filter(|g| *g > 0.0).reduce(step).unwrap_or(f64::INFINITY)
            }
        }
    }

    /// Whether `untagged` lets no such packet in.
    pub(crate) fn refuses(&self, packet: &Packet) -> bool {
        self.params.untagged == Untagged::Drop && lacks(packet)
    }

    /// (E/g)^n; so much for g = 0 that any p becomes 1.
    fn power(&self, density: f64) -> f64 {
        let [_, e] = self.means();
        match density == 0.0 {
            true if self.params.n == 0.0 => 1.0,
            true => f64::MAX,
            false => e.map_or(1.0, |e| pow(e / density, self.params.n)),
        }
    }

    /// Takes an arrival; (E/g)^n, 1 for a packet without tickets that RED judges.
    pub(crate) fn factor(&mut self, at: Time, packet: &Packet) -> Option<f64> {
        let size = if self.params.expected.unit == Unit::Bytes { f64::from(packet.size) } else { 1.0 };
        if lacks(packet) && self.params.untagged == Untagged::Least {
            let least = if self.arrivals.is_empty() { f64::INFINITY } else { self.min_tkt() };
            return Some(self.power(least.min(1.0 / size)));
        }
        let tickets = f64::from(packet.label().filter(|g| *g >= 0.0 && g.is_finite())?);
        let amount = if self.params.expected.unit == Unit::Bytes { f64::from(packet.size) } else { 1.0 };
        self.arrivals.push(Arrival { at, tickets, amount, expected: false });
        let expected = tickets / amount < self.params.expected.k * self.min_tkt();
        self.arrivals.last_mut().expect("just pushed").expected = expected;
        Some(self.power(tickets / amount))
    }
}

/// No tickets, and not an ACK alone.
fn lacks(packet: &Packet) -> bool {
    let tagged = packet.label().is_some_and(|g| g >= 0.0 && g.is_finite());
    !tagged && (packet.payload > 0 || packet.flags & flags::ACK == 0)
}
