//! Quantities from text: a number and its unit, or an error that says what to write instead.
//!
//! Decision: docs/decisions/074-units-are-required.md

use super::{BitRate, Bytes, Length, PacketRate, Packets, SignedBytes, Span, TicketRate};

/// Why a text is not a quantity, with a suggested fix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitError {
    /// What is wrong with it.
    pub fault: UnitFault,
    /// What is wrong, in words.
    pub message: String,
    /// What to write instead.
    pub help: String,
}

/// The kinds of [`UnitError`]; each has its own diagnostic code.
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

/// How one quantity is read from text: its units with their scale in the base unit, and words for its errors.
pub struct Reader {
    /// What it is.
    pub quantity: &'static str,
    /// Of a text.
    example: &'static str,
    /// Each with what one of it is in the first.
    pub units: &'static [(&'static str, f64)],
    /// What a column's name ends with, and what one of it is in the first unit.
    ending: (&'static str, f64),
}

/// All quantities that have a unit.
pub const READERS: [&Reader; 6] = [&RATE, &SIZE, &TIME, &COUNT, &PACKET_RATE, &TICKETS];

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
    ending: ("bit_s", 1.0),
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
    ending: ("bytes", 1.0),
};
const TIME: Reader = Reader {
    quantity: "time",
    example: "10ms",
    units: &[("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9), ("min", 60e9), ("h", 3600e9)],
    ending: ("s", 1e9),
};
const COUNT: Reader =
    Reader { quantity: "number of packets", example: "30p", units: &[("p", 1.0)], ending: ("packets", 1.0) };
const PACKET_RATE: Reader = Reader {
    quantity: "packet rate",
    example: "1000p/s",
    units: &[("p/s", 1.0), ("kp/s", 1e3), ("Mp/s", 1e6)],
    ending: ("packets_s", 1.0),
};
const TICKETS: Reader = Reader {
    quantity: "ticket rate",
    example: "900t/s",
    units: &[("t/s", 1.0), ("kt/s", 1e3), ("Mt/s", 1e6)],
    ending: ("tickets_s", 1.0),
};

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
            let message = format!("`{unit}` alone is ambiguous: it may count in 1000s or 1024s, bits or bytes");
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
            return self.fail(
                UnitFault::Range,
                message,
                format!("must be at least 0 and below 2^63 {}", self.units[0].0),
            );
        }
        if (base - whole).abs() > 1e-9 * base.abs().max(1.0) || whole == 0.0 && !is_zero(number) {
            let message = format!("{} `{text}` is not a whole number of {}", self.quantity, self.units[0].0);
            return self.fail(
                UnitFault::Range,
                message,
                format!("nothing is silently rounded: write whole {}", self.units[0].0),
            );
        }
        Ok(whole as u64)
    }
}

/// A quantity as a column has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantity {
    /// In the unit that the column's name ends with.
    pub value: f64,
    /// What it ends with: `bit_s`, `s`, `percent`; nothing for a plain number.
    pub ending: &'static str,
    /// The unit as it is written: `Mbit/s`.
    pub unit: &'static str,
    /// What one of that is in the column.
    pub one: f64,
}

/// Any quantity as a column has it: `3Mbit/s` is 3e6 and `bit_s`, `10ms` 0.01 and `s`, `40%` 40 and `percent`; a number
/// without unit has none. `None` for anything else.
pub fn column(text: &str) -> Option<Quantity> {
    let (number, written) = split(text);
    let number = number.replace('_', "").parse().ok().and_then(|value| in_range(number, value).ok())?;
    let of = |reader: &Reader| {
        let &(unit, scale) = reader.units.iter().find(|u| u.0 == written)?;
        let (ending, one) = reader.ending;
        Some(Quantity { value: number * scale / one, ending, unit, one: scale / one })
    };
    match written {
        "" => Some(Quantity { value: number, ending: "", unit: "", one: 1.0 }),
        "%" => Some(Quantity { value: number, ending: "percent", unit: "%", one: 1.0 }),
        _ => READERS.into_iter().find_map(of),
    }
}

/// Whether a number is 0 as it is written, whatever its exponent.
fn is_zero(number: &str) -> bool {
    let digits = number.split(['e', 'E']).next().unwrap_or_default();
    !digits.contains(|c| matches!(c, '1'..='9'))
}

/// The value of a number that is written so, with or without a unit.
///
/// # Errors
/// 64 bits hold it as infinite, or as 0 although it is not.
pub fn in_range(written: &str, value: f64) -> Result<f64, UnitError> {
    if value.is_finite() && (value != 0.0 || is_zero(split(written).0)) {
        return Ok(value);
    }
    let message = format!("number `{written}` is out of range");
    let help = "write 0, or a number from 5e-324 to 1.8e308; a unit multiplies it".to_owned();
    Err(UnitError { fault: UnitFault::Range, message, help })
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

impl std::str::FromStr for SignedBytes {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let (sign, size) = text.trim().strip_prefix('-').map_or((1, text), |size| (-1, size));
        let bytes = i32::try_from(SIZE.read(size)?).or_else(|_| {
            let message = format!("size `{text}` is out of range");
            SIZE.fail(UnitFault::Range, message, format!("must be between -{0}B and {0}B", i32::MAX))
        })?;
        Ok(Self(sign * bytes))
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
            COUNT.fail(UnitFault::Range, format!("`{text}` is out of range"), format!("must be at most {}p", u32::MAX))
        })
    }
}

impl std::str::FromStr for PacketRate {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        PACKET_RATE.read(text).map(Self)
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
                Ok(share) if (0.0..=100.0).contains(&share) && in_range(number, share).is_ok() => Ok(Length::Percent(share)),
                _ => COUNT.fail(UnitFault::Range, format!("share `{text}` is out of range"), "must be between 0% and 100%".into()),
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
        for text in ["-14B", "0B", "40B"] {
            assert_eq!(text.parse::<SignedBytes>().unwrap().to_string(), text);
        }
        for text in ["1000p/s", "0p/s"] {
            assert_eq!(text.parse::<PacketRate>().unwrap().to_string(), text);
        }
        assert_eq!("1.5kp/s".parse::<PacketRate>().unwrap(), PacketRate::per_second(1500));
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
    fn a_column_holds_base_units() {
        let known = [("3Mbit/s", 3e6, "bit_s"), ("62.5kB", 62_500.0, "bytes"), ("10ms", 0.01, "s"), ("-5", -5.0, "")];
        let others = [
            ("30p", 30.0, "packets"),
            ("40%", 40.0, "percent"),
            ("1.5kt/s", 1500.0, "tickets_s"),
            ("2kp/s", 2000.0, "packets_s"),
        ];
        for (text, value, ending) in known.into_iter().chain(others) {
            assert_eq!(column(text).map(|it| (it.value, it.ending)), Some((value, ending)), "{text}");
        }
        for text in ["", "pam", "5M", "5 parsecs", "inf", "nan", "{ kind = 1 }", "ms", "1e400", "-1e400s", "1e-400"] {
            assert_eq!(column(text), None, "{text}");
        }
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
        for (text, fault) in [("1e400s", Some(UnitFault::Range)), ("1e-400s", Some(UnitFault::Range)), ("0e9s", None)] {
            assert_eq!(text.parse::<Span>().err().map(|error| error.fault), fault, "{text}");
        }
        for text in ["1e-10ns", "-1e-400s", "0.000_000_000_000_1ns"] {
            assert_eq!(text.parse::<Span>().unwrap_err().fault, UnitFault::Range, "{text} is not 0");
        }
        assert_eq!("-0s".parse::<Span>(), Ok(Span::from_s(0)));
        assert_eq!("1e-400%".parse::<Length>().unwrap_err().fault, UnitFault::Range);
        assert_eq!("-3GB".parse::<SignedBytes>().unwrap_err().fault, UnitFault::Range);
        assert_eq!("--3B".parse::<SignedBytes>().unwrap_err().fault, UnitFault::Range);
        assert_eq!("-3".parse::<SignedBytes>().unwrap_err().fault, UnitFault::Missing);
        assert_eq!("30".parse::<Length>().unwrap_err().fault, UnitFault::Missing);
        assert_eq!("140%".parse::<Length>().unwrap_err().fault, UnitFault::Range);
        assert_eq!("".parse::<Span>().unwrap_err().fault, UnitFault::Syntax);
        assert_eq!("5mbit/s".parse::<BitRate>().unwrap_err().help, "did you mean \"5Mbit/s\"?");
    }
}
