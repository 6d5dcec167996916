//! What a text alone shows to be wrong, or likely so.

use crate::text::Text;
use perhop_core::params::Place;

/// Something to be looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its code; the page is beside the rule.
    pub code: &'static str,
    /// Where.
    pub place: Place,
    /// What is so, with its consequence, in a figure where a formula gives one.
    pub message: String,
    /// The line to write instead, or what to do.
    pub instead: String,
    /// Codes that say the same less well at its place, of other rules or of the scenario's check.
    pub instead_of: &'static [&'static str],
}

/// Why a text cannot be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fault {
    /// Its code.
    pub code: &'static str,
    /// Where, if it is at a place.
    pub place: Option<Place>,
    /// What is wrong, with the value.
    pub message: String,
    /// What to do.
    pub help: String,
}

/// A text that cannot be read: why, and what of it may be printed.
#[derive(Clone, Debug, Default)]
pub struct Refused {
    /// Why.
    pub fault: Fault,
    /// The text as far as it may be printed, for the place.
    pub text: Box<Text>,
}

impl From<Fault> for Refused {
    fn from(fault: Fault) -> Self {
        Self { fault, ..Self::default() }
    }
}
