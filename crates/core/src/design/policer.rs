//! What a policer leaves of long-lived TCP, and the bucket it needs.
//!
//! Source: a table of runs of this simulator, one for each kind of sender: `policer/table.rs`, written by
//! `PERHOP_RENEW=1 cargo test -p perhop-scenario --test bursts --release`. There is no closed form that holds for all: a small bucket
//! lets one burst of its size pass in a round trip; a deep one gives the sawtooth of its window law; between them
//! decides how many of a window's losses are repaired at once, and when a new window may grow.
//!
//! ```text
//! x     = burst / (cir rtt)
//! share = table(sender, flows, cir, rtt, x), linear in the logarithms; below the least x, share / x is constant
//! need  = the least burst from which on every larger one has a share of 0.9
//! ```
//!
//! Off its grid the table is within [`ERROR`] of nine runs in ten, and of nine in ten cells in which a Linux kernel was measured.
//! A rate or round trip beyond it is taken at the grid's edge with the same window. Packets of another size than 1500 B are taken as a rate
//! and a burst of as many packets. Flows are long-lived, share one bucket, and lose what finds no tokens.
//!
//! | symbol | field    | unit   |
//! |--------|----------|--------|
//! | cir    | `rate`   | bit/s  |
//! | flows  | `flows`  | flows  |
//! | rtt    | `rtt`    | s      |
//! |        | `packet` | B      |
//!
//! Deviations: none; it is from no paper.

use crate::math;
use crate::units::{BitRate, Bytes};

mod table;

/// By how much a share may be off.
pub const ERROR: f64 = 0.15;
/// The share of the contract that counts as getting it.
pub const ENOUGH: f64 = 0.9;
/// Steps of a doubling in which the need is searched.
const STEPS: i32 = 16;

/// Axes of the table, and what was measured at its grid.
pub mod grid {
    pub use super::table::shares;
    /// Flows that share the bucket.
    pub const FLOWS: [f64; 3] = [1.0, 4.0, 16.0];
    /// Rates, Mbit/s.
    pub const RATES: [f64; 3] = [2.0, 10.0, 100.0];
    /// Round trips, ms.
    pub const RTTS: [f64; 6] = [5.0, 10.0, 20.0, 40.0, 100.0, 200.0];
    /// Bursts, in products of rate and round trip: powers of two from this one.
    pub const LEAST: i32 = -4;
    /// How many of them.
    pub const BURSTS: usize = 10;
    /// Bytes of a packet.
    pub const PACKET: f64 = 1500.0;
    /// Percent of the contract: by flows, rate, round trip and burst.
    pub type Shares = [[[[u8; BURSTS]; RTTS.len()]; RATES.len()]; FLOWS.len()];
}

/// A kind of sender that the table knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sender {
    /// ns-2's: NewReno without SACK.
    Classic,
    /// Linux's, with CUBIC.
    Linux,
    /// Linux's, with Reno.
    LinuxReno,
}

impl Sender {
    /// All.
    pub const ALL: [Self; 3] = [Self::Classic, Self::Linux, Self::LinuxReno];

    /// The stack that it is.
    pub const fn stack(self) -> &'static str {
        match self {
            Self::Classic => "classic",
            Self::Linux => "linux",
            Self::LinuxReno => "linux-reno",
        }
    }
}

/// Flows that a policer holds to its rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policed {
    /// What sends.
    pub sender: Sender,
    /// The contract.
    pub rate: BitRate,
    /// Long-lived TCP flows.
    pub flows: f64,
    /// Round-trip time without queues, s.
    pub rtt: f64,
    /// Bytes of a packet as the meter counts them.
    pub packet: f64,
}

impl Policed {
    /// A flow's window at the contract, packets.
    pub fn window(&self) -> f64 {
        self.rate.bytes_s() * self.rtt / (self.flows * self.packet)
    }

    /// The share of the contract that the flows get with such a bucket, within [`ERROR`].
    pub fn share(&self, burst: Bytes) -> f64 {
        self.share_at(log2(burst.get() as f64 / self.product()))
    }

    /// The bucket from which on the flows get [`ENOUGH`] of the contract; `None` if no bucket of the table does.
    pub fn need(&self) -> Option<Bytes> {
        let (least, most) = (STEPS * grid::LEAST, STEPS * (grid::LEAST + grid::BURSTS as i32 - 1));
        let at = |step: i32| f64::from(step) / f64::from(STEPS);
        let enough = (least..=most).rev().take_while(|&step| self.share_at(at(step)) >= ENOUGH).last()?;
        let bytes = exp2(at(enough)) * self.product();
        Some(Bytes::new(bytes.max(self.packet).ceil() as u64))
    }

    /// Rate times round trip, B.
    fn product(&self) -> f64 {
        self.rate.bytes_s() * self.rtt
    }

    /// The share with a bucket of 2^x products of rate and round trip.
    fn share_at(&self, x: f64) -> f64 {
        let (mbit_s, rtt_ms) = self.within();
        let shares = grid::shares(self.sender);
        let column = Along::steps(x - f64::from(grid::LEAST), grid::BURSTS);
        let row = |row: &[u8; grid::BURSTS]| column.mix(|i| f64::from(row[i]) / 100.0);
        let [flows, rate, rtt] = [(&grid::FLOWS[..], self.flows), (&grid::RATES, mbit_s), (&grid::RTTS, rtt_ms)]
            .map(|(axis, at)| Along::of(axis, at));
        let share = flows.mix(|f| rate.mix(|r| rtt.mix(|t| row(&shares[f][r][t]))));
        share * exp2((x - f64::from(grid::LEAST)).min(0.0))
    }

    /// Rate and round trip, Mbit/s and ms, with the same window, moved onto the table.
    fn within(&self) -> (f64, f64) {
        let (mut rate, mut rtt) = (self.rate.bytes_s() * 8e-6 * grid::PACKET / self.packet, self.rtt * 1e3);
        let edge = rtt.clamp(grid::RTTS[0], grid::RTTS[grid::RTTS.len() - 1]);
        rate *= rtt / edge;
        rtt = edge;
        let edge = rate.clamp(grid::RATES[0], grid::RATES[grid::RATES.len() - 1]);
        (edge, rtt * rate / edge)
    }
}

fn log2(x: f64) -> f64 {
    math::ln(x) / std::f64::consts::LN_2
}

fn exp2(x: f64) -> f64 {
    math::pow(2.0, x)
}

/// A place between two points of an axis, or at its end.
#[derive(Clone, Copy)]
struct Along {
    below: usize,
    above: usize,
    /// How near to the one above.
    part: f64,
}

impl Along {
    /// Between points that rise, by logarithms.
    fn of(axis: &[f64], at: f64) -> Self {
        let at = at.clamp(axis[0], axis[axis.len() - 1]);
        let above = axis.iter().position(|&point| point >= at).unwrap_or(axis.len() - 1);
        let below = above.saturating_sub(1);
        let part = if above == below { 0.0 } else { math::ln(at / axis[below]) / math::ln(axis[above] / axis[below]) };
        Self { below, above, part }
    }

    /// Between whole numbers below `points`.
    fn steps(at: f64, points: usize) -> Self {
        let at = at.clamp(0.0, (points - 1) as f64);
        let below = at as usize;
        Self { below, above: (below + 1).min(points - 1), part: at - below as f64 }
    }

    fn mix(self, value: impl Fn(usize) -> f64) -> f64 {
        value(self.below) * (1.0 - self.part) + value(self.above) * self.part
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policed(mbit_s: u64, rtt: f64, flows: f64) -> Policed {
        Policed { sender: Sender::Linux, rate: BitRate::mbps(mbit_s), flows, rtt, packet: 1500.0 }
    }

    #[test]
    fn at_the_grid_it_is_the_table() {
        for sender in Sender::ALL {
            for (f, flows) in grid::FLOWS.into_iter().enumerate() {
                for (t, rtt_ms) in grid::RTTS.into_iter().enumerate() {
                    let policed = Policed { sender, ..policed(10, rtt_ms / 1e3, flows) };
                    let product = 10e6 / 8.0 * rtt_ms / 1e3;
                    for i in 0..grid::BURSTS {
                        let burst = product * exp2(f64::from(grid::LEAST + i as i32));
                        let expected = f64::from(grid::shares(sender)[f][1][t][i]) / 100.0;
                        let share = policed.share(Bytes::new(burst.round() as u64));
                        assert!((share - expected).abs() < 0.01, "{sender:?} {flows} {rtt_ms} {i}: {share} {expected}");
                    }
                }
            }
        }
    }

    #[test]
    fn beyond_the_grid_the_window_counts() {
        let (fast, slow) = (policed(1000, 0.01, 1.0), policed(100, 0.1, 1.0));
        assert_eq!(fast.share(Bytes::new(500_000)), slow.share(Bytes::new(500_000)));
        let (short, near) = (policed(50, 0.001, 1.0), policed(10, 0.005, 1.0));
        assert_eq!(short.share(Bytes::new(3_000)), near.share(Bytes::new(3_000)));
    }

    #[test]
    fn small_bursts_pass_once_a_round_trip() {
        let policed = policed(100, 0.1, 1.0);
        let (one, two) = (policed.share(Bytes::new(10_000)), policed.share(Bytes::new(20_000)));
        assert!((two / one - 2.0).abs() < 0.01, "{one} {two}");
    }

    #[test]
    fn with_what_is_needed_there_is_enough() {
        for flows in [1.0, 3.0, 20.0] {
            let policed = policed(10, 0.04, flows);
            let need = policed.need().unwrap();
            assert!((0.89..1.0).contains(&policed.share(need)), "{flows}: {need}");
        }
        assert!(policed(10, 0.04, 8.0).need() < policed(10, 0.04, 1.0).need());
    }
}
