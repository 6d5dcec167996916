//! The bucket that a policer needs so that TCP gets its contract.
//!
//! Source: the window's sawtooth, from 2/3 to 4/3 of its mean w, saves w^2 / 18 packets of tokens while it is below the
//! contract and spends them above: that much a bucket would have to hold for one flow whose every loss is repaired at
//! once. NewReno without SACK repairs one loss a round trip, so a bucket that runs empty costs it more; the constants
//! were fitted to runs of this simulator: 1 to 40 flows, 0.5 to 50 Mbit/s, 20 to 200 ms, segments of 500 to 1460 B.
//!
//! ```text
//! w    = cir rtt / (flows packet)
//! need = packet (0.65 w^1.7 + flows / 4)
//! ```
//!
//! That is within a factor of two of what the runs needed for nine tenths of the contract: with twice as much flows got
//! 0.87 of it or more, with half as much mostly less than 0.9. It holds for long-lived flows that share one bucket and
//! whose packets without tokens are dropped. The hosts of those runs answered at once, so that a single flow was in phase
//! with its bucket; with a random answering time (`overhead`) it needs more: 500 kB at 10 Mbit/s and 40 ms, where the
//! formula gives 380 kB.
//!
//! | symbol | field    | unit   |
//! |--------|----------|--------|
//! | cir    | `rate`   | bit/s  |
//! | flows  | `flows`  | flows  |
//! | rtt    | `rtt`    | s      |
//! | packet | `packet` | B      |
//!
//! Deviations: none; it is from no paper, and nothing but this simulator's runs stands behind its constants.

use crate::math;
use crate::units::{BitRate, Bytes};

/// Flows that a policer holds to its rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policed {
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

    /// The bucket with which the flows get about nine tenths of the contract.
    pub fn need(&self) -> Bytes {
        let packets = 0.65 * math::pow(self.window(), 1.7) + self.flows / 4.0;
        Bytes::new((self.packet * packets).ceil() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn need(mbit_s: u64, rtt: f64, flows: f64) -> u64 {
        Policed { rate: BitRate::mbps(mbit_s), flows, rtt, packet: 1500.0 }.need().get() / 1500
    }

    /// Packets at which nine tenths were reached, read off runs.
    #[test]
    fn near_what_runs_needed() {
        for (mbit_s, rtt, flows, measured) in [
            (10, 0.04, 1.0, 300),
            (2, 0.1, 1.0, 77),
            (10, 0.1, 1.0, 1160),
            (50, 0.04, 1.0, 3700),
            (10, 0.04, 5.0, 30),
            (10, 0.1, 10.0, 25),
            (50, 0.04, 20.0, 37),
        ] {
            let ratio = need(mbit_s, rtt, flows) as f64 / f64::from(measured);
            assert!((0.5..2.0).contains(&ratio), "{mbit_s} {rtt} {flows}: {ratio}");
        }
    }

    #[test]
    fn more_flows_need_less_and_longer_round_trips_more() {
        assert!(need(10, 0.04, 2.0) < need(10, 0.04, 1.0));
        assert!(need(10, 0.05, 1.0) > need(10, 0.04, 1.0));
    }
}
