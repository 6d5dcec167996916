//! Quantities as types: a rate cannot be added to a size, and no number is without its unit.
//!
//! Time is integer nanoseconds since the start of the run. Rates are whole bits per second, sizes
//! whole bytes. Text carries its unit (`"5Mbit/s"`, `"62500B"`, `"10ms"`, `"30p"`, `"40%"`); a bare
//! number, a bare `K` and a unit of the wrong kind are errors that say what to write instead.
//!
//! Decision: docs/decisions/019-integer-time-and-credit.md

mod meter;
mod text;

pub use meter::{Burst, MeterRate};
pub use text::{Quantity, READERS, Reader, UnitError, UnitFault, column, in_range};

use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Sub};

/// Nanoseconds in one second.
pub const NS_PER_S: u64 = 1_000_000_000;

/// A number with its noun, and what else depends on it: `1 packet has`, `2 packets have`.
pub fn counted(n: impl fmt::Display, [one, many]: [&str; 2]) -> String {
    let n = n.to_string();
    let words = if n == "1" { one } else { many };
    format!("{n} {words}")
}

/// An instant: nanoseconds since the start of the run (or of the capture).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

/// A duration in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(u64);

/// A rate in bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BitRate(u64);

/// A size in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(u64);

/// Bytes to add to a size, or below 0 to take from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SignedBytes(i32);

/// A number of packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Packets(u32);

/// A rate in packets per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PacketRate(u64);

/// A rate of tickets, in tickets per second: what one entity of PPS issues to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TicketRate(u64);

/// A probability, always within [0, 1].
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Probability(f64);

/// A queue length in the unit its writer chose: packets, bytes, time at the link's rate, or a share of the limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Length {
    /// `"30p"`
    Packets(Packets),
    /// `"45kB"`
    Bytes(Bytes),
    /// `"5ms"`: that much time at the link's rate.
    Time(Span),
    /// `"40%"`: that share of the queue's limit.
    Percent(f64),
}

impl Time {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// Later than every event.
    pub const MAX: Self = Self(u64::MAX);

    /// `ns` nanoseconds after the start.
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns)
    }

    /// Nanoseconds since the start.
    pub const fn ns(self) -> u64 {
        self.0
    }

    /// Seconds since the start, for tables and plots.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / NS_PER_S as f64
    }

    /// Time passed since `earlier`, zero if that is in the future.
    pub const fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// No time.
    pub const ZERO: Self = Self(0);

    /// `ns` nanoseconds.
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns)
    }

    /// `us` microseconds.
    pub const fn from_us(us: u64) -> Self {
        Self(us * 1_000)
    }

    /// `ms` milliseconds.
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms * 1_000_000)
    }

    /// `s` whole seconds.
    pub const fn from_s(s: u64) -> Self {
        Self(s * NS_PER_S)
    }

    /// Nanoseconds.
    pub const fn ns(self) -> u64 {
        self.0
    }

    /// Seconds, as the real-valued formulas of the papers take them.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / NS_PER_S as f64
    }
}

impl BitRate {
    /// `rate` bits per second.
    pub const fn bps(rate: u64) -> Self {
        Self(rate)
    }

    /// `rate` kbit/s (1000 bit/s).
    pub const fn kbps(rate: u64) -> Self {
        Self(rate * 1_000)
    }

    /// `rate` Mbit/s.
    pub const fn mbps(rate: u64) -> Self {
        Self(rate * 1_000_000)
    }

    /// Bits per second.
    pub const fn bit_s(self) -> u64 {
        self.0
    }

    /// Bytes per second, as the papers' formulas take it.
    pub fn bytes_s(self) -> f64 {
        self.0 as f64 / 8.0
    }
}

impl Bytes {
    /// `n` bytes.
    pub const fn new(n: u64) -> Self {
        Self(n)
    }

    /// The number of bytes.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl SignedBytes {
    /// `n` bytes.
    pub const fn new(n: i32) -> Self {
        Self(n)
    }

    /// The number of bytes.
    pub const fn get(self) -> i32 {
        self.0
    }
}

impl Packets {
    /// `n` packets.
    pub const fn new(n: u32) -> Self {
        Self(n)
    }

    /// The number of packets.
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl PacketRate {
    /// `n` packets per second.
    pub const fn per_second(n: u64) -> Self {
        Self(n)
    }

    /// Packets per second.
    pub const fn packets_s(self) -> u64 {
        self.0
    }
}

impl TicketRate {
    /// `n` tickets per second.
    pub const fn per_second(n: u64) -> Self {
        Self(n)
    }

    /// Tickets per second.
    pub const fn tickets_s(self) -> f64 {
        self.0 as f64
    }
}

impl Probability {
    /// Never.
    pub const ZERO: Self = Self(0.0);
    /// Always.
    pub const ONE: Self = Self(1.0);

    /// `None` unless 0 <= `p` <= 1.
    pub fn new(p: f64) -> Option<Self> {
        (0.0..=1.0).contains(&p).then_some(Self(p))
    }

    /// The number in [0, 1].
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl Add<Span> for Time {
    type Output = Time;
    fn add(self, span: Span) -> Time {
        Time(self.0 + span.0)
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        self.0 += span.0;
    }
}

impl Sub for Time {
    type Output = Span;
    /// # Panics
    /// In debug builds when `earlier` is later: a host must not let time decrease.
    fn sub(self, earlier: Time) -> Span {
        Span(self.0 - earlier.0)
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0 + other.0)
    }
}

impl std::iter::Sum for Span {
    fn sum<I: Iterator<Item = Self>>(each: I) -> Self {
        each.fold(Self::ZERO, Add::add)
    }
}

impl Sub for Span {
    type Output = Span;
    fn sub(self, other: Span) -> Span {
        Span(self.0 - other.0)
    }
}

impl Mul<u64> for Span {
    type Output = Span;
    fn mul(self, n: u64) -> Span {
        Span(self.0 * n)
    }
}

impl Div<u64> for Span {
    type Output = Span;
    fn div(self, n: u64) -> Span {
        Span(self.0 / n)
    }
}

impl Add for Bytes {
    type Output = Bytes;
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0 + other.0)
    }
}

impl Div<BitRate> for Bytes {
    type Output = Span;
    /// Time to send this many bytes, rounded down to the nanosecond.
    fn div(self, rate: BitRate) -> Span {
        Span((u128::from(self.0) * 8 * u128::from(NS_PER_S) / u128::from(rate.0)) as u64)
    }
}

impl Mul<Span> for BitRate {
    type Output = Bytes;
    /// Whole bytes sent at this rate in that time.
    fn mul(self, span: Span) -> Bytes {
        Bytes((u128::from(self.0) * u128::from(span.0) / (8 * u128::from(NS_PER_S))) as u64)
    }
}

/// In the largest unit of the table that shows the value in at most three decimals without losing anything.
fn shown(value: u64, units: &[(u64, &str)]) -> String {
    for &(scale, unit) in units {
        let thousandth = (scale / 1000).max(1);
        if value >= scale && value.is_multiple_of(thousandth) {
            let decimals = format!("{:03}", value % scale / thousandth);
            let decimals = decimals.trim_end_matches('0');
            let point = if decimals.is_empty() { "" } else { "." };
            return format!("{}{point}{decimals}{unit}", value / scale);
        }
    }
    format!("{value}{}", units.last().map_or("", |u| u.1))
}

const TIME_UNITS: [(u64, &str); 4] = [(NS_PER_S, "s"), (1_000_000, "ms"), (1_000, "us"), (1, "ns")];
const RATE_UNITS: [(u64, &str); 4] =
    [(1_000_000_000, "Gbit/s"), (1_000_000, "Mbit/s"), (1_000, "kbit/s"), (1, "bit/s")];
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&match self.0 {
            0 => "0s".to_owned(),
            ns => shown(ns, &TIME_UNITS),
        })
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Span(self.0).fmt(f)
    }
}

impl fmt::Display for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&shown(self.0, &RATE_UNITS))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}B", self.0)
    }
}

impl fmt::Display for SignedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}B", self.0)
    }
}

impl fmt::Display for Packets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}p", self.0)
    }
}

impl fmt::Display for PacketRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}p/s", self.0)
    }
}

impl fmt::Display for TicketRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}t/s", self.0)
    }
}

impl fmt::Display for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Length::Packets(n) => n.fmt(f),
            Length::Bytes(n) => n.fmt(f),
            Length::Time(n) => n.fmt(f),
            Length::Percent(n) => write!(f, "{n}%"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_rates_and_times_divide_exactly() {
        assert_eq!(Bytes::new(1500) / BitRate::mbps(10), Span::from_us(1200));
        assert_eq!(BitRate::mbps(1) * Span::from_ms(500), Bytes::new(62_500));
    }
}
