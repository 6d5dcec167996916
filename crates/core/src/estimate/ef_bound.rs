//! How far an aggregate stays behind its rate at a port: the error terms E_a and E_p of the EF per-hop behaviour.
//!
//! Source: RFC 3246 section 2.2 (Davie et al., "An Expedited Forwarding PHB"), eq_1 to eq_4; RFC 3246 section 2.5 for
//! packets that are dropped. RFC 3247 section 5.1.1 has the errors of strict priority: one packet of the others.
//!
//! ```text
//! eq_1, eq_2, the aggregate; j counts departures:
//!     d_j <= f_j + E_a        f_j = max(a_j, min(d_(j-1), f_(j-1))) + l_j / R        f_0 = d_0 = 0
//! eq_3, eq_4, packet by packet; j counts arrivals, A_j, D_j and L_j are of the same packet:
//!     D_j <= F_j + E_p        F_j = max(A_j, min(D_(j-1), F_(j-1))) + L_j / R        F_0 = D_0 = 0
//! ```
//!
//! | symbol   | here                   | unit  |
//! |----------|------------------------|-------|
//! | R        | `rate`                 | bit/s |
//! | a_j, A_j | last bit comes to the port: the j-th arrival, of those that are served | s |
//! | d_j, D_j | last bit leaves the port | s   |
//! | l_j, L_j | length, as R counts it | bit   |
//! | E_a, E_p | largest d_j - f_j and D_j - F_j of the run | s |
//!
//! What is dropped is taken out of the arrivals, as RFC 3246 section 2.5 has it, and so is what never left. Whether a packet is
//! served is known only later, so each step of the recursions waits until that is known of all arrivals up to its own;
//! memory is that of the packets at the port, and of those that passed the oldest of them.
//!
//! The recursions are exact: times are counted in ns/R. An error is below 0 where every packet left before its target,
//! as behind a link that is faster than R. Their origin is the start of the run, when nothing waits; an error counts for
//! packets that came at `since` or later.
//!
//! Decision: docs/decisions/065-ef-error-beside-the-load.md

use crate::units::{BitRate, NS_PER_S, Time};
use std::collections::VecDeque;

/// A packet that came to the port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket(u64);

/// The last bit of a packet leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// When.
    pub at: Time,
    /// Of the packet, as R counts them.
    pub bytes: u32,
}

/// The largest error of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Worst {
    /// The error in ns, rounded up.
    pub error_ns: i64,
    /// When that packet left.
    pub at: Time,
}

/// What became of an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Unknown,
    Apart,
    Left(Departure),
}

/// The two recursions at one port.
#[derive(Clone, Debug)]
pub struct EfBound {
    rate: u64,
    since: Time,
    /// Those up to the first whose fate is unknown are gone.
    arrivals: VecDeque<(Time, Fate)>,
    /// The ticket of the first of them.
    first: u64,
    /// Departures ahead of the recursion.
    departures: VecDeque<Departure>,
    aggregate: Recursion,
    each: Recursion,
    packets: u64,
    dropped: u64,
}

impl EfBound {
    /// For an aggregate with `rate`, above 0; packets that came before `since` are not counted.
    pub fn new(rate: BitRate, since: Time) -> Self {
        Self {
            rate: rate.bit_s(),
            since,
            arrivals: VecDeque::new(),
            first: 0,
            departures: VecDeque::new(),
            aggregate: Recursion::default(),
            each: Recursion::default(),
            packets: 0,
            dropped: 0,
        }
    }

    /// The last bit of a packet comes to the port. Times do not decrease.
    pub fn arrived(&mut self, now: Time) -> Ticket {
        self.arrivals.push_back((now, Fate::Unknown));
        Ticket(self.first + self.arrivals.len() as u64 - 1)
    }

    /// The last bit of a packet of the aggregate leaves; in the order of departures.
    pub fn departed(&mut self, packet: Ticket, departure: Departure) {
        self.departures.push_back(departure);
        self.settle(packet, Fate::Left(departure));
    }

    /// A packet of the aggregate is dropped.
    pub fn dropped(&mut self, packet: Ticket) {
        self.dropped += u64::from(self.came(packet) >= self.since);
        self.settle(packet, Fate::Apart);
    }

    /// A packet turns out not to be one of the aggregate.
    pub fn apart(&mut self, packet: Ticket) {
        self.settle(packet, Fate::Apart);
    }

    /// The run is over: what has not left is left out.
    pub fn finish(&mut self) {
        self.arrivals.iter_mut().filter(|it| it.1 == Fate::Unknown).for_each(|it| it.1 = Fate::Apart);
        self.advance();
    }

    /// E_a, eq_1; `None` without packets.
    pub fn aggregate(&self) -> Option<Worst> {
        self.aggregate.worst(self.rate)
    }

    /// E_p, eq_3; `None` without packets.
    pub fn each(&self) -> Option<Worst> {
        self.each.worst(self.rate)
    }

    /// Packets that left.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// Packets that were dropped.
    pub fn drops(&self) -> u64 {
        self.dropped
    }

    fn came(&self, packet: Ticket) -> Time {
        self.arrivals[(packet.0 - self.first) as usize].0
    }

    fn settle(&mut self, packet: Ticket, fate: Fate) {
        self.arrivals[(packet.0 - self.first) as usize].1 = fate;
        self.advance();
    }

    /// Takes the steps of all arrivals up to the first whose fate is unknown.
    fn advance(&mut self) {
        while let Some(&(came, fate)) = self.arrivals.front().filter(|it| it.1 != Fate::Unknown) {
            self.arrivals.pop_front();
            self.first += 1;
            let Fate::Left(own) = fate else { continue };
            let next = self.departures.pop_front().expect("as many left as are served");
            let counts = came >= self.since;
            self.packets += u64::from(counts);
            self.aggregate.step(Step { came, left: next, rate: self.rate, counts });
            self.each.step(Step { came, left: own, rate: self.rate, counts });
        }
    }
}

/// The j-th arrival with the departure that its equation compares it with.
#[derive(Clone, Copy, Debug)]
struct Step {
    came: Time,
    left: Departure,
    rate: u64,
    counts: bool,
}

/// One recursion; times in ns/R, so that nothing is rounded.
#[derive(Clone, Copy, Debug, Default)]
struct Recursion {
    target: i128,
    departure: i128,
    worst: Option<(i128, Time)>,
}

impl Recursion {
    fn step(&mut self, step: Step) {
        let Step { came, left, rate, counts } = step;
        let scaled = |time: Time| i128::from(time.ns()) * i128::from(rate);
        let bits = i128::from(left.bytes) * 8 * i128::from(NS_PER_S);
        self.target = scaled(came).max(self.departure.min(self.target)) + bits;
        self.departure = scaled(left.at);
        let error = self.departure - self.target;
        if counts && self.worst.is_none_or(|worst| error > worst.0) {
            self.worst = Some((error, left.at));
        }
    }

    fn worst(&self, rate: u64) -> Option<Worst> {
        let rounded = |error: i128| -(-error).div_euclid(i128::from(rate)) as i64;
        self.worst.map(|(error, at)| Worst { error_ns: rounded(error), at })
    }
}
