//! Quantities as types: a rate cannot be added to a size, and no number stands without its unit.
//!
//! Time is integer nanoseconds since the start of the run. Rates are whole bits per second, sizes
//! whole bytes. Text carries its unit (`"5Mbit/s"`, `"62500B"`, `"10ms"`, `"30p"`, `"40%"`); a bare
//! number, a bare `K` and a unit of the wrong kind are errors that say what to write instead.

use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Sub};

/// Nanoseconds in one second.
pub const NS_PER_S: u64 = 1_000_000_000;

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

/// A number of packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Packets(u32);

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

    /// Seconds since the start, for tables and pictures.
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

    /// Seconds rounded to the nearest nanosecond; `None` unless finite, not negative and below 2^63 ns (292 years).
    pub fn from_seconds(seconds: f64) -> Option<Self> {
        let ns = libm::round(seconds * NS_PER_S as f64);
        (ns >= 0.0 && ns < (1u64 << 63) as f64).then_some(Self(ns as u64))
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

impl fmt::Display for Packets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}p", self.0)
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

/// Why a text is not a quantity, with the way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitError {
    /// What is wrong with it.
    pub fault: UnitFault,
    /// What is wrong, in words.
    pub message: String,
    /// What to write instead.
    pub help: String,
}

/// The kinds of [`UnitError`]; each has a diagnostic code of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitFault {
    /// A number and no unit.
    Missing,
    /// A unit of another quantity, or an unknown one.
    Wrong,
    /// `K` or `M` alone: 1000 or 1024, bits or bytes?
    Ambiguous,
    /// Not a number.
    Syntax,
    /// Negative, not finite, too large, or finer than the unit can hold.
    Range,
}

/// One quantity's way from text: its units with their scale in the base unit, and words for its errors.
struct Reader {
    quantity: &'static str,
    example: &'static str,
    units: &'static [(&'static str, f64)],
}

const RATE: Reader = Reader {
    quantity: "rate",
    example: "5Mbit/s",
    units: &[
        ("bit/s", 1.0),
        ("kbit/s", 1e3),
        ("Mbit/s", 1e6),
        ("Gbit/s", 1e9),
        ("bps", 1.0),
        ("kbps", 1e3),
        ("Mbps", 1e6),
        ("Gbps", 1e9),
    ],
};
const SIZE: Reader = Reader {
    quantity: "size",
    example: "62500B",
    units: &[
        ("B", 1.0),
        ("kB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("KiB", 1024.0),
        ("MiB", 1_048_576.0),
        ("GiB", 1_073_741_824.0),
    ],
};
const TIME: Reader = Reader {
    quantity: "time",
    example: "10ms",
    units: &[("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9), ("min", 60e9), ("h", 3600e9)],
};
const COUNT: Reader = Reader { quantity: "number of packets", example: "30p", units: &[("p", 1.0)] };

const TICKETS: Reader =
    Reader { quantity: "ticket rate", example: "900t/s", units: &[("t/s", 1.0), ("kt/s", 1e3), ("Mt/s", 1e6)] };

/// Units that mean something elsewhere, with what they mean.
const FOREIGN: [(&str, &str); 6] = [
    ("bit", "a size in bits; sizes here are in bytes"),
    ("kbit", "a size in bits; sizes here are in bytes"),
    ("Mbit", "a size in bits; sizes here are in bytes"),
    ("B/s", "bytes per second; multiply by 8 and write bit/s"),
    ("kB/s", "bytes per second; multiply by 8 and write kbit/s"),
    ("MB/s", "bytes per second; multiply by 8 and write Mbit/s"),
];

/// Splits `"62.5kB"` into its number and its unit.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let exponent = |i: usize| {
        let rest = &text[i + 1..];
        let digits = rest.trim_start_matches(['+', '-']);
        digits.starts_with(|c: char| c.is_ascii_digit())
    };
    let end = text
        .char_indices()
        .find(|&(i, c)| {
            !(c.is_ascii_digit()
                || matches!(c, '.' | '+' | '-' | '_')
                || (matches!(c, 'e' | 'E') && i > 0 && exponent(i)))
        })
        .map_or(text.len(), |(i, _)| i);
    (text[..end].trim(), text[end..].trim())
}

impl Reader {
    fn fail<T>(&self, fault: UnitFault, message: String, help: String) -> Result<T, UnitError> {
        Err(UnitError { fault, message, help })
    }

    fn valid(&self) -> String {
        self.units.iter().map(|u| u.0).collect::<Vec<_>>().join(", ")
    }

    fn scale(&self, number: &str, unit: &str) -> Result<f64, UnitError> {
        if let Some(&(_, scale)) = self.units.iter().find(|u| u.0 == unit) {
            return Ok(scale);
        }
        if unit.is_empty() {
            let message = format!("{} without unit", self.quantity);
            return self.fail(
                UnitFault::Missing,
                message,
                format!("write it with its unit, as in \"{}\"", self.example),
            );
        }
        if matches!(unit, "K" | "k" | "M" | "G") {
            let message = format!("`{unit}` alone is ambiguous: a power of 1000 or of 1024, of bits or of bytes?");
            return self.fail(
                UnitFault::Ambiguous,
                message,
                format!("write the whole unit, as in \"{}\"", self.example),
            );
        }
        let meant = FOREIGN.iter().find(|f| f.0 == unit).map(|f| format!("`{unit}` is {}", f.1));
        let close = self
            .units
            .iter()
            .find(|u| u.0.eq_ignore_ascii_case(unit))
            .map(|u| format!("did you mean \"{number}{}\"?", u.0));
        let help = meant.or(close).unwrap_or_else(|| format!("units of a {}: {}", self.quantity, self.valid()));
        self.fail(UnitFault::Wrong, format!("`{unit}` is not a unit of {}", self.quantity), help)
    }

    /// The value in base units, a whole number below 2^63.
    fn read(&self, text: &str) -> Result<u64, UnitError> {
        let (number, unit) = split(text);
        let Ok(value) = number.replace('_', "").parse::<f64>() else {
            let message = format!("`{text}` is not a {}", self.quantity);
            return self.fail(
                UnitFault::Syntax,
                message,
                format!("write a number and a unit, as in \"{}\"", self.example),
            );
        };
        let base = value * self.scale(number, unit)?;
        let whole = libm::round(base);
        if !(whole >= 0.0 && whole < (1u64 << 63) as f64) {
            let message = format!("{} `{text}` is out of range", self.quantity);
            return self.fail(UnitFault::Range, message, format!("at least 0 and below 2^63 {}", self.units[0].0));
        }
        if (base - whole).abs() > 1e-9 * base.abs().max(1.0) {
            let message = format!("{} `{text}` is not a whole number of {}", self.quantity, self.units[0].0);
            return self.fail(
                UnitFault::Range,
                message,
                format!("nothing is rounded in silence: write whole {}", self.units[0].0),
            );
        }
        Ok(whole as u64)
    }
}

impl std::str::FromStr for BitRate {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        RATE.read(text).map(Self)
    }
}

impl std::str::FromStr for Bytes {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        SIZE.read(text).map(Self)
    }
}

impl std::str::FromStr for Span {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        TIME.read(text).map(Self)
    }
}

impl std::str::FromStr for Packets {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let count = COUNT.read(text)?;
        u32::try_from(count).map(Self).or_else(|_| {
            COUNT.fail(UnitFault::Range, format!("`{text}` is out of range"), format!("at most {}p", u32::MAX))
        })
    }
}

impl std::str::FromStr for TicketRate {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        TICKETS.read(text).map(Self)
    }
}

impl std::str::FromStr for Length {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let (number, unit) = split(text);
        let has = |reader: &Reader| reader.units.iter().any(|u| u.0 == unit);
        match unit {
            "p" => text.parse().map(Length::Packets),
            "%" => match number.parse::<f64>() {
                Ok(share) if (0.0..=100.0).contains(&share) => Ok(Length::Percent(share)),
                _ => COUNT.fail(UnitFault::Range, format!("share `{text}` is out of range"), "between 0% and 100%".into()),
            },
            _ if has(&SIZE) => text.parse().map(Length::Bytes),
            _ if has(&TIME) => text.parse().map(Length::Time),
            _ if unit.is_empty() && number.parse::<f64>().is_ok() => COUNT.fail(
                UnitFault::Missing,
                "queue length without unit".into(),
                format!("write \"{number}p\" (packets), \"{number}B\" (bytes), a time or a share of the limit"),
            ),
            _ => COUNT.fail(
                UnitFault::Wrong,
                format!("`{text}` is not a queue length"),
                "packets (\"30p\"), bytes (\"45kB\"), time at the link's rate (\"5ms\") or share of the limit (\"40%\")".into(),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_value_are_inverse() {
        for text in ["5Mbit/s", "1.5Mbit/s", "64kbit/s", "10Gbit/s", "1234.567kbit/s", "0bit/s"] {
            assert_eq!(text.parse::<BitRate>().unwrap().to_string(), text);
        }
        for text in ["10ms", "1.5s", "105s", "20us", "1ns", "0s"] {
            assert_eq!(text.parse::<Span>().unwrap().to_string(), text);
        }
        for text in ["62500B", "0B"] {
            assert_eq!(text.parse::<Bytes>().unwrap().to_string(), text);
        }
        for text in ["900t/s", "0t/s"] {
            assert_eq!(text.parse::<TicketRate>().unwrap().to_string(), text);
        }
        assert_eq!("1.5kt/s".parse::<TicketRate>().unwrap(), TicketRate::per_second(1500));
        assert_eq!("0.5t/s".parse::<TicketRate>().unwrap_err().fault, UnitFault::Range);
        for text in ["30p", "45000B", "5ms", "40%"] {
            assert_eq!(text.parse::<Length>().unwrap().to_string(), text);
        }
        assert_eq!("62.5kB".parse::<Bytes>().unwrap(), Bytes::new(62_500));
        assert_eq!("1e3ms".parse::<Span>().unwrap(), Span::from_s(1));
    }

    #[test]
    fn each_fault_is_named() {
        let fault = |text: &str| text.parse::<BitRate>().unwrap_err().fault;
        assert_eq!(fault("5000000"), UnitFault::Missing);
        assert_eq!(fault("5MB"), UnitFault::Wrong);
        assert_eq!(fault("5M"), UnitFault::Ambiguous);
        assert_eq!(fault("fast"), UnitFault::Syntax);
        assert_eq!(fault("-1Mbit/s"), UnitFault::Range);
        assert_eq!(fault("1e30Gbit/s"), UnitFault::Range);
        assert_eq!("1e30s".parse::<Span>().unwrap_err().fault, UnitFault::Range);
        assert_eq!("0.4B".parse::<Bytes>().unwrap_err().fault, UnitFault::Range);
        assert_eq!("30".parse::<Length>().unwrap_err().fault, UnitFault::Missing);
        assert_eq!("140%".parse::<Length>().unwrap_err().fault, UnitFault::Range);
        assert_eq!("".parse::<Span>().unwrap_err().fault, UnitFault::Syntax);
        assert_eq!("5mbit/s".parse::<BitRate>().unwrap_err().help, "did you mean \"5Mbit/s\"?");
    }

    #[test]
    fn sizes_rates_and_times_divide_exactly() {
        assert_eq!(Bytes::new(1500) / BitRate::mbps(10), Span::from_us(1200));
        assert_eq!(BitRate::mbps(1) * Span::from_ms(500), Bytes::new(62_500));
    }
}
