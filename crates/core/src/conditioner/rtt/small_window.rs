//! Protection of small windows: a flow whose window is so small that a loss would cause a time-out is marked green.
//!
//! Source: Feroz, Rao and Kalyanaraman (IWQoS 2000); Habib, Bhargava and Fahmy (2001), where k is 3.
//!
//! ```text
//! window < k:  green
//! debt:        the colour a protected packet would have had is owed, in bytes of that colour, up to the cap;
//!              a later unprotected packet that drew green takes that colour, red first, and repays its size
//! ```

use crate::packet::Colour;
use crate::params::{ParamError, Params as Declared};
use crate::units::Bytes;

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct SmallWindow {
    /// Window k, in segments, from which a flow is no longer protected.
    #[param(default = 3)]
    pub small_window: u32,
    /// Most bytes of a colour that protected packets may owe; 0: they owe nothing.
    #[param(default = "0B")]
    pub max_debt: Bytes,
}

/// The debt of an aggregate's small windows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Protection {
    below: f64,
    most: f64,
    red: f64,
    yellow: f64,
}

impl Protection {
    /// Nothing owed.
    ///
    /// # Errors
    /// `small-window` below 2: no flow would be protected.
    pub fn new(rules: &SmallWindow) -> Result<Self, ParamError> {
        ParamError::at_least("small-window", rules.small_window, 2)?;
        Ok(Self { below: f64::from(rules.small_window), most: rules.max_debt.get() as f64, red: 0.0, yellow: 0.0 })
    }

    /// Whether a flow with this window is protected; one whose window is not known is not.
    pub fn protects(&self, window: Option<f64>) -> bool {
        window.is_some_and(|window| window < self.below)
    }

    /// Whether protected packets owe what they were spared.
    pub fn owes(&self) -> bool {
        self.most > 0.0
    }

    /// The colour of a packet that drew `drawn`.
    pub fn settle(&mut self, protected: bool, drawn: Colour, size: u32) -> Colour {
        let size = f64::from(size);
        let (red, yellow, most) = (self.red, self.yellow, self.most);
        match (protected, drawn) {
            (true, Colour::Red) => self.red = (red + size).min(most),
            (true, Colour::Yellow) => self.yellow = (yellow + size).min(most),
            (true, _) => {}
            (false, Colour::Green) if red > 0.0 => {
                self.red = (red - size).max(0.0);
                return Colour::Red;
            }
            (false, Colour::Green) if yellow > 0.0 => {
                self.yellow = (yellow - size).max(0.0);
                return Colour::Yellow;
            }
            (false, drawn) => return drawn,
        }
        Colour::Green
    }

    /// Other rules from now on; what is owed stays, within the new cap.
    pub fn retune(&mut self, next: Self) {
        *self = Self { red: self.red.min(next.most), yellow: self.yellow.min(next.most), ..next };
    }
}
