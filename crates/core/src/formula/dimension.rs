//! What a value of a formula is: a quantity with its unit, a condition, a colour.

use crate::units::{UnitError, column, in_range};
use std::fmt;

/// Powers of the three units in which formulas count: seconds, bytes, packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dimension([i8; 3]);

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// A number with this unit.
    Quantity(Dimension),
    /// It holds or not.
    Truth,
    /// A colour.
    Colour,
}

/// The largest power of a unit.
const MOST: i8 = 20;

impl Dimension {
    /// A plain number.
    pub const NUMBER: Self = Self([0, 0, 0]);
    /// Seconds.
    pub const TIME: Self = Self([1, 0, 0]);
    /// Bytes.
    pub const SIZE: Self = Self([0, 1, 0]);
    /// Packets.
    pub const PACKETS: Self = Self([0, 0, 1]);
    /// Bytes a second.
    pub const RATE: Self = Self([-1, 1, 0]);
    const PACKET_RATE: Self = Self([-1, 0, 1]);

    /// That of a product of one and `power` of another; `None` if it is beyond all use.
    pub fn times(self, other: Self, power: i8) -> Option<Self> {
        let mut out = self;
        for (own, its) in out.0.iter_mut().zip(other.0) {
            *own = own.checked_add(its.checked_mul(power)?).filter(|power| power.abs() <= MOST)?;
        }
        Some(out)
    }

    /// For messages: "a time".
    pub fn noun(self) -> String {
        match self {
            Self::NUMBER => "a number".into(),
            Self::TIME => "a time".into(),
            Self::SIZE => "a size".into(),
            Self::PACKETS => "packets".into(),
            Self::RATE => "a rate".into(),
            Self::PACKET_RATE => "a packet rate".into(),
            other => format!("a value in {}", other.unit()),
        }
    }

    /// `s`, `B`, `p`, `B/s`, `s^2 B`; nothing for a number.
    pub fn unit(self) -> String {
        match self {
            Self::RATE => return "B/s".into(),
            Self::PACKET_RATE => return "p/s".into(),
            _ => {}
        }
        let power = |(unit, power): (&str, i8)| match power {
            0 => None,
            1 => Some(unit.to_owned()),
            power => Some(format!("{unit}^{power}")),
        };
        ["s", "B", "p"].into_iter().zip(self.0).filter_map(power).collect::<Vec<_>>().join(" ")
    }

    /// The end of the name of a series of such values.
    pub fn ending(self) -> &'static str {
        match self {
            Self::TIME => "_s",
            Self::SIZE => "_bytes",
            Self::PACKETS => "_packets",
            Self::RATE => "_bytes_s",
            Self::PACKET_RATE => "_packets_s",
            _ => "",
        }
    }

    /// A value for messages: rates are in bit/s there, as in files.
    pub fn shown(self, value: f64) -> String {
        match self {
            Self::RATE => format!("{} bit/s", value * 8.0),
            Self::NUMBER => value.to_string(),
            other => format!("{value} {}", other.unit()),
        }
    }

    /// A number with its unit as files write it, in the base units of formulas; `None` if formulas have no such unit.
    ///
    /// # Errors
    /// The number is out of range.
    pub fn of_literal(number: &str, unit: &str) -> Result<Option<(f64, Self)>, UnitError> {
        let Some(one) = column(&format!("1{unit}")) else { return Ok(None) };
        let (scale, dimension) = match one.ending {
            "" => (1.0, Self::NUMBER),
            "s" => (1.0, Self::TIME),
            "bytes" => (1.0, Self::SIZE),
            "packets" => (1.0, Self::PACKETS),
            "bit_s" => (8.0, Self::RATE),
            "packets_s" => (1.0, Self::PACKET_RATE),
            _ => return Ok(None),
        };
        let written = format!("{number}{unit}");
        let value = column(&written).map_or(f64::INFINITY, |quantity| quantity.value / scale);
        in_range(&written, value).map(|value| Some((value, dimension)))
    }
}

impl Type {
    /// A plain number.
    pub const NUMBER: Self = Self::Quantity(Dimension::NUMBER);

    /// For messages.
    pub fn noun(self) -> String {
        match self {
            Self::Quantity(dimension) => dimension.noun(),
            Self::Truth => "a condition".into(),
            Self::Colour => "a colour".into(),
        }
    }

    /// A value for messages.
    pub fn shown(self, value: f64) -> String {
        match self {
            Self::Quantity(dimension) => dimension.shown(value),
            Self::Truth => if value == 0.0 { "no" } else { "yes" }.into(),
            Self::Colour => crate::packet::Colour::ALL[(value as usize).min(3)].name().into(),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.noun())
    }
}
