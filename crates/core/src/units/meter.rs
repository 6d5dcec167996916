//! Rates and bursts of meters: in bits and bytes, or in packets.

use super::{BitRate, Bytes, NS_PER_S, PacketRate, Packets, Span, UnitError};
use std::fmt;
use std::str::FromStr;

/// A meter's rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeterRate {
    /// Bits per second.
    Bits(BitRate),
    /// Packets per second, of any size.
    Packets(PacketRate),
}

/// What a meter's bucket holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Burst {
    /// Bytes, for a rate in bits.
    Bytes(Bytes),
    /// Packets, for a rate in packets.
    Packets(Packets),
    /// What the rate earns in this time.
    Time(Span),
}

impl MeterRate {
    /// Eight times the tokens a second.
    pub const fn tokens(self) -> BitRate {
        match self {
            Self::Bits(rate) => rate,
            Self::Packets(rate) => BitRate::bps(rate.packets_s().saturating_mul(8)),
        }
    }

    /// Whether it is 0.
    pub const fn is_zero(self) -> bool {
        self.tokens().bit_s() == 0
    }

    /// Whether it counts packets.
    pub const fn in_packets(self) -> bool {
        matches!(self, Self::Packets(_))
    }
}

impl Burst {
    /// Tokens that a bucket filled at `rate` holds; `None` if the one is in bytes and the other in packets.
    pub fn tokens(self, rate: MeterRate) -> Option<Bytes> {
        match (self, rate) {
            (Self::Bytes(bytes), MeterRate::Bits(_)) => Some(bytes),
            (Self::Packets(packets), MeterRate::Packets(_)) => Some(Bytes::new(packets.get().into())),
            (Self::Time(time), rate) => {
                let earned = u128::from(rate.tokens().bit_s()) * u128::from(time.ns()) / (8 * u128::from(NS_PER_S));
                Some(Bytes::new(u64::try_from(earned).unwrap_or(u64::MAX)))
            }
            _ => None,
        }
    }

    /// Whether it holds nothing.
    pub const fn is_zero(self) -> bool {
        match self {
            Self::Bytes(bytes) => bytes.get() == 0,
            Self::Packets(packets) => packets.get() == 0,
            Self::Time(time) => time.ns() == 0,
        }
    }
}

impl From<BitRate> for MeterRate {
    fn from(rate: BitRate) -> Self {
        Self::Bits(rate)
    }
}

impl From<Bytes> for Burst {
    fn from(bytes: Bytes) -> Self {
        Self::Bytes(bytes)
    }
}

impl fmt::Display for MeterRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bits(rate) => rate.fmt(f),
            Self::Packets(rate) => rate.fmt(f),
        }
    }
}

impl fmt::Display for Burst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => bytes.fmt(f),
            Self::Packets(packets) => packets.fmt(f),
            Self::Time(time) => time.fmt(f),
        }
    }
}

/// The unit at the end of a text.
fn unit(text: &str) -> &str {
    text.trim_start_matches(|c: char| !c.is_ascii_alphabetic())
}

impl FromStr for MeterRate {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        match unit(text).ends_with("p/s") {
            true => text.parse().map(Self::Packets),
            false => text.parse().map(Self::Bits),
        }
    }
}

impl FromStr for Burst {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        match unit(text) {
            "p" => text.parse().map(Self::Packets),
            "ns" | "us" | "ms" | "s" | "min" | "h" => text.parse().map(Self::Time),
            _ => text.parse().map(Self::Bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::UnitFault;

    #[test]
    fn text_and_value_are_inverse() {
        for text in ["5Mbit/s", "1000p/s"] {
            assert_eq!(text.parse::<MeterRate>().unwrap().to_string(), text);
        }
        for text in ["62500B", "50p", "10ms"] {
            assert_eq!(text.parse::<Burst>().unwrap().to_string(), text);
        }
        assert_eq!("2.5kp/s".parse(), Ok(MeterRate::Packets(PacketRate::per_second(2500))));
        let fault = |text: &str| text.parse::<MeterRate>().unwrap_err().fault;
        assert_eq!(
            (fault("5"), fault("5p"), fault("0.5p/s")),
            (UnitFault::Missing, UnitFault::Wrong, UnitFault::Range)
        );
        let fault = |text: &str| text.parse::<Burst>().unwrap_err().fault;
        assert_eq!((fault("5"), fault("5%"), fault("0.5p")), (UnitFault::Missing, UnitFault::Wrong, UnitFault::Range));
    }

    #[test]
    fn a_time_is_what_the_rate_earns() {
        let [bits, packets] = ["1Mbit/s", "1000p/s"].map(|text| text.parse::<MeterRate>().unwrap());
        let tokens = |text: &str, rate| text.parse::<Burst>().unwrap().tokens(rate).map(Bytes::get);
        assert_eq!((tokens("10ms", bits), tokens("10ms", packets)), (Some(1250), Some(10)));
        assert_eq!((tokens("50p", bits), tokens("50p", packets)), (None, Some(50)));
        assert_eq!((tokens("50B", bits), tokens("50B", packets)), (Some(50), None));
    }
}
