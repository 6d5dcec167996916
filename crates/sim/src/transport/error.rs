//! Why parameters of a connection are refused.

use std::fmt;

/// Why a [`Config`](super::Config) or a supply is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The field, as in [`Config`](super::Config).
    pub field: &'static str,
    /// Its value.
    pub value: String,
    /// The bound that every valid value meets.
    pub bound: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tcp: {} = {} is out of bounds: {}", self.field, self.value, self.bound)
    }
}

impl std::error::Error for ConfigError {}

/// `Ok` if the value is within bounds, else the error that names all three.
pub(super) fn check(
    good: bool,
    field: &'static str,
    value: impl fmt::Display,
    bound: impl fmt::Display,
) -> Result<(), ConfigError> {
    match good {
        true => Ok(()),
        false => Err(ConfigError { field, value: value.to_string(), bound: bound.to_string() }),
    }
}
