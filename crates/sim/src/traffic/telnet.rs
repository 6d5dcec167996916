//! Telnet: a session of a typing user over one long-lived TCP connection.
//!
//! Source: ns-2's `Application/Telnet`; P. Danzig, S. Jamin, "tcplib: A Library of TCP/IP Traffic Characteristics", USC
//! CS-91-495, 1991, for `gaps = "tcplib"`.
//!
//! The application writes N packets, each a full segment of its connection, the first of them one gap after the start of
//! the source. The session begins with the first write and ends when the last packet is delivered. A packet's delay
//! runs from its write to its delivery to the application in order, including its wait for the window and
//! retransmissions.
//!
//! | symbol | field     | unit | default |
//! |--------|-----------|------|---------|
//! | N      | `packets` | -    | -       |
//! | -      | `gaps`    | s    | 1s      |
//!
//! `gaps` is the mean of exponential gaps, or `"tcplib"` for the gaps of a measured trace: from 0.6 ms to 210 s,
//! median 0.24 s, mean 1.1 s.
//!
//! Deviations: ns-2 draws from the 10,000 measured gaps. Here they are condensed into 53 quantiles, and a draw is
//! interpolated between two. The distribution differs by at most 1 %; the mean is 1.098 s instead of 1.092 s, the
//! standard deviation 5.15 s instead of 5.17 s. ns-2's source never ends; the end after N packets is ours.

use super::law::{Drawn, Sampler};
use super::{Carrier, Carry, Offer, Step, Traffic, TrafficModel, TrafficScope};
use perhop_core::params::{Kind, Node, ParamError, Params as Declared, Problems, Tree, Value};
use perhop_core::rng::Rng;
use perhop_core::units::{Bytes, NS_PER_S, Span, Time};

/// Gaps between packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gaps {
    /// Exponential with this mean.
    Exponential(Span),
    /// As measured for tcplib.
    Tcplib,
}

/// The name of the measured gaps.
const TCPLIB: &str = "tcplib";

impl Value for Gaps {
    const KIND: Kind = Kind::Either(&[Span::KIND, Kind::Choice(&[TCPLIB])]);
    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        match &node.tree {
            Tree::Text(text) if text == TCPLIB => Some(Self::Tcplib),
            Tree::Text(text) if !text.starts_with(|c: char| c.is_ascii_digit()) => {
                let message = format!("`{text}` is neither a time nor \"{TCPLIB}\"");
                problems.error("E006", node.place, message).help("write a mean gap, as in \"1s\", or \"tcplib\"").none()
            }
            _ => Span::read(node, problems).map(Self::Exponential),
        }
    }
    fn tree(&self) -> Option<Tree> {
        match self {
            Self::Exponential(mean) => mean.tree(),
            Self::Tcplib => Some(Tree::Text(TCPLIB.into())),
        }
    }
}

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// Packets of the session.
    pub packets: Drawn<u32>,
    /// Mean of the exponential gaps between packets, or "tcplib": measured ones.
    #[param(default = "1s")]
    pub gaps: Gaps,
}

/// One session.
#[derive(Clone, Debug)]
pub struct Telnet {
    params: Box<Params>,
    packets: Sampler,
    segment: Bytes,
    /// Packets still to be written.
    left: u32,
    carry: Carry,
}

impl Params {
    /// # Errors
    /// `packets` that may be 0, or an invalid law; a mean gap of zero.
    pub fn build(self, scope: &TrafficScope) -> Result<Telnet, ParamError> {
        let packets = self.packets.counter("packets")?;
        if let Gaps::Exponential(mean) = self.gaps {
            ParamError::above_zero("gaps", mean)?;
        }
        Ok(Telnet { params: Box::new(self), packets, segment: scope.segment, left: 0, carry: Carry::default() })
    }
}

impl Telnet {
    fn after_gap(&mut self, now: Time, rng: &mut Rng) -> Time {
        let gap_ns = match self.params.gaps {
            Gaps::Exponential(mean) => rng.exponential(mean.ns() as f64),
            Gaps::Tcplib => tcplib_gap(rng.uniform()) * NS_PER_S as f64,
        };
        self.carry.after(now, gap_ns)
    }
}

impl TrafficModel for Params {
    fn carrier(&self) -> Carrier {
        Carrier::Connection
    }

    fn is_endless(&self) -> bool {
        false
    }

    fn rate(&self) -> Option<f64> {
        None
    }
}

impl Traffic for Telnet {
    type Params = Params;

    fn load(&self) -> Option<f64> {
        let gap = match self.params.gaps {
            Gaps::Exponential(mean) => mean.seconds(),
            Gaps::Tcplib => TCPLIB_GAPS.windows(2).map(|k| (k[1].0 - k[0].0) * (k[0].1 + k[1].1) / 2.0).sum(),
        };
        Some(self.segment.get() as f64 * 8.0 / gap)
    }

    fn warnings(&self) -> Vec<ParamError> {
        self.params.packets.warning("packets").into_iter().collect()
    }

    fn first(&mut self, start: Time, rng: &mut Rng) -> Time {
        self.left = self.packets.count(rng);
        self.after_gap(start, rng)
    }

    fn wake(&mut self, now: Time, rng: &mut Rng) -> Step {
        self.left -= 1;
        let next = (self.left > 0).then(|| self.after_gap(now, rng));
        Step { offer: Offer::Write { last: next.is_none() }, next }
    }

    fn retune(&mut self, _now: Time, params: &Params, scope: &TrafficScope) -> Result<(), ParamError> {
        *self = Self { left: self.left, carry: self.carry, ..params.clone().build(scope)? };
        Ok(())
    }
}

/// The gap, s, that a share `u` of tcplib's gaps does not exceed.
fn tcplib_gap(u: f64) -> f64 {
    let above = TCPLIB_GAPS.partition_point(|knot| knot.0 <= u).clamp(1, TCPLIB_GAPS.len() - 1);
    let ((p, low), (q, high)) = (TCPLIB_GAPS[above - 1], TCPLIB_GAPS[above]);
    low + (high - low) * (u - p) / (q - p)
}

/// Share and quantile, s, of tcplib's gaps between packets of Telnet's originator.
#[rustfmt::skip]
const TCPLIB_GAPS: [(f64, f64); 53] = [
    (0.0, 0.000606), (0.01, 0.00117), (0.02, 0.00192), (0.03, 0.00274), (0.04, 0.00585), (0.05, 0.0204),
    (0.06, 0.0303), (0.08, 0.0543), (0.1, 0.068), (0.15, 0.0934), (0.2, 0.113), (0.25, 0.136),
    (0.3, 0.156), (0.35, 0.176), (0.4, 0.194), (0.45, 0.212), (0.5, 0.236), (0.55, 0.267),
    (0.6, 0.303), (0.65, 0.368), (0.7, 0.421), (0.75, 0.532), (0.8, 0.726), (0.85, 0.993),
    (0.9, 1.56), (0.925, 2.16), (0.935, 2.56), (0.95, 3.49), (0.96, 4.48), (0.97, 5.41),
    (0.975, 6.53), (0.98, 8.39), (0.9825, 9.28), (0.985, 10.7), (0.9875, 13.1), (0.99, 18.9),
    (0.992, 22.4), (0.994, 27.8), (0.995, 36.7), (0.996, 40.8), (0.997, 44.7), (0.9975, 59.1),
    (0.998, 59.3), (0.999, 59.8), (0.9992, 59.9), (0.9993, 60.0), (0.9994, 62.2), (0.9995, 77.0),
    (0.9996, 103.0), (0.9997, 124.0), (0.9998, 136.0), (0.9999, 174.0), (1.0, 210.0),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The quantiles themselves, the line between two of them, and the mean of all, by the midpoint rule.
    #[test]
    fn measured_gaps_are_the_inverse_of_their_shares() {
        for ((p, low), (q, high)) in TCPLIB_GAPS.iter().zip(&TCPLIB_GAPS[1..]) {
            assert!(p < q && low < high);
            assert!((tcplib_gap(*p) / low - 1.0).abs() < 1e-12, "{p}");
            assert!((tcplib_gap((p + q) / 2.0) / ((low + high) / 2.0) - 1.0).abs() < 1e-9, "{p}");
        }
        assert_eq!(tcplib_gap(1.0), 210.0);
        const N: u32 = 20_000;
        let mean = (0..N).map(|i| tcplib_gap((f64::from(i) + 0.5) / f64::from(N))).sum::<f64>() / f64::from(N);
        assert!((mean - 1.0977).abs() < 1e-4, "{mean}");
        let source = Params { packets: Drawn::Constant(1), gaps: Gaps::Tcplib };
        let scope = TrafficScope { segment: Bytes::new(1000), ..TrafficScope::default() };
        assert!((source.build(&scope).unwrap().load().unwrap() - 8000.0 / mean).abs() < 1.0);
    }
}
