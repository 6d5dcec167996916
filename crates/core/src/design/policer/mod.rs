//! What a policer leaves of long-lived TCP, and the bucket it needs.
//!
//! Source: a table of runs of this simulator, one for each kind of sender: `policer/table.rs`, written by
//! `make renew WHAT=bursts`. There is no closed form that holds for all: a small bucket
//! lets one burst of its size pass in a round trip; a deep one gives the sawtooth of its window law; between them
//! decides how many of a window's losses are repaired at once, and when a new window may grow.
//!
//! ```text
//! x     = burst / (cir rtt)
//! share = table(sender, flows, cir, rtt, x), linear in the logarithms; below the least x, share / x is constant
//!         senders that pace: buckets of up to 4 packets are compared in packets, not by x
//! need  = the least burst from which on every larger one has a share of 0.9
//! ```
//!
//! Off its grid the table is within [`ERROR`] of nine runs in ten, and of nine in ten cells in which a Linux kernel was measured.
//! A rate or round trip beyond it is taken at the grid's edge with the same window. Packets of another size than 1500 B are taken as a rate
//! and a burst of as many packets. Flows are long-lived, share one bucket, and lose what finds no tokens. Nothing slows their packets
//! down before the bucket, and the link behind it is ten times as fast as the contract.
//!
//! | symbol | field    | unit   |
//! |--------|----------|--------|
//! | cir    | `rate`   | bit/s  |
//! | flows  | `flows`  | flows  |
//! | rtt    | `rtt`    | s      |
//! |        | `packet` | B      |
//!
//! Deviations: none; it is from no paper.
//!
//! Decision: docs/decisions/016-policer-warning-from-runs.md

use crate::math;
use crate::units::{BitRate, Bytes};
use along::Along;

mod along;
mod sender;
mod table;

pub use sender::Sender;

/// By how much a share may be off.
pub const ERROR: f64 = 0.15;
/// The share of the contract that counts as getting it.
pub const ENOUGH: f64 = 0.9;
/// Packets in a bucket through which paced flows pass about as well as through a larger one.
const FEW: f64 = 4.0;
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
    /// Bursts, in products of rate and round trip: powers of two from [`super::Sender::least`] to this one.
    pub const MOST: i32 = 5;
    /// Bytes of a packet.
    pub const PACKET: f64 = 1500.0;
    /// Percent of the contract: by flows, rate, round trip and burst.
    pub type Shares = [[[&'static [u8]; RTTS.len()]; RATES.len()]; FLOWS.len()];

    /// Product of a rate and a round trip, B.
    pub const fn product(rate: usize, rtt: usize) -> f64 {
        RATES[rate] * 125.0 * RTTS[rtt]
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
        let (least, most) = (STEPS * self.sender.least(), STEPS * grid::MOST);
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
        let [flows, rate, rtt] = [(&grid::FLOWS[..], self.flows), (&grid::RATES, mbit_s), (&grid::RTTS, rtt_ms)]
            .map(|(axis, at)| Along::of(axis, at));
        let shares = grid::shares(self.sender);
        let share = |f: usize, r: usize, t: usize| self.share_of(shares[f][r][t], self.x_of(x, grid::product(r, t)));
        flows.mix(|f| rate.mix(|r| rtt.mix(|t| share(f, r, t))))
    }

    /// The share with such a bucket in a row of the table.
    fn share_of(&self, row: &[u8], x: f64) -> f64 {
        let above = x - f64::from(self.sender.least());
        Along::steps(above, row.len()).mix(|i| f64::from(row[i]) / 100.0) * exp2(above.min(0.0))
    }

    /// Where a bucket of 2^x products belongs in a row with another product. For flows that pace, a bucket of few packets
    /// belongs where a bucket holds as many.
    fn x_of(&self, x: f64, product: f64) -> f64 {
        if !self.sender.paces() {
            return x;
        }
        let packets = exp2(x) * self.product() / self.packet;
        x.max(log2(packets.min(FEW) * grid::PACKET / product))
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
                    for (power, percent) in (sender.least()..).zip(grid::shares(sender)[f][1][t]) {
                        let expected = f64::from(*percent) / 100.0;
                        let share = policed.share_at(f64::from(power));
                        let is = format!("{sender:?} {flows} {rtt_ms} 2^{power}");
                        assert!((share - expected).abs() < 0.01, "{is}: {share}, in the table {expected}");
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
