//! Quantities in JSON: texts with units, as on a command line.

use perhop_core::units::UnitError;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt::Display;
use std::str::FromStr;

/// A quantity, or one that may be absent.
pub trait Quantity: Sized {
    /// Its text.
    fn text(&self) -> Option<String>;
    /// From a text; `None`: it is absent.
    ///
    /// # Errors
    /// What is wrong with the text, and the fix.
    fn of(text: Option<&str>) -> Result<Self, String>;
}

impl<T: Display + FromStr<Err = UnitError>> Quantity for Option<T> {
    fn text(&self) -> Option<String> {
        self.as_ref().map(T::to_string)
    }
    fn of(text: Option<&str>) -> Result<Self, String> {
        text.map(super::quantity).transpose()
    }
}

/// # Errors
/// Those of the serializer.
pub fn serialize<T: Quantity, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    value.text().serialize(serializer)
}

/// # Errors
/// What is wrong with the text.
pub fn deserialize<'de, T: Quantity, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    T::of(text.as_deref()).map_err(D::Error::custom)
}

/// The same of one that is always there.
pub mod required {
    use super::{Display, FromStr, Serializer, UnitError};
    use serde::de::Error;
    use serde::{Deserialize, Deserializer};

    /// # Errors
    /// Those of the serializer.
    pub fn serialize<T: Display, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    /// # Errors
    /// What is wrong with the text.
    pub fn deserialize<'de, T: FromStr<Err = UnitError>, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
        let text = String::deserialize(from)?;
        super::super::quantity(&text).map_err(D::Error::custom)
    }
}
