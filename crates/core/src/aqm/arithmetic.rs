//! Which arithmetic an algorithm uses, where a kernel departs from the RFC.

use crate::params::{Choice, ParamError};

/// The RFC's or a kernel's.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arithmetic {
    /// As the RFC's pseudo-code: real numbers, times to the ns.
    #[default]
    Rfc,
    /// As Linux 6.12: whole numbers, its clock and its approximations.
    Linux,
}

impl Arithmetic {
    /// # Errors
    /// E202 when new parameters of a running algorithm count in other units than the state that it keeps.
    pub fn stays(self, new: Self) -> Result<(), ParamError> {
        if self == new {
            return Ok(());
        }
        let message = format!("`arithmetic` changes from {} to {} while running", self.name(), new.name());
        Err(ParamError::new("arithmetic", "E202", message).help(format!("keep `arithmetic = \"{}\"`", self.name())))
    }
}
