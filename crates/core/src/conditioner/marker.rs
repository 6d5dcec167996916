//! Marker: gives every packet the same colour.
//!
//! Source: RFC 2475 section 2.3.3.2 (a marker may be configured "to mark all packets which are steered to it to a single
//! codepoint"); RFC 3290 section 6.1, the DSCP marker.
//!
//! ```text
//! colour = `colour`
//! ```
//!
//! The marker meters nothing. Its classifier (`match`) selects packets, and the action of its colour sets the code
//! point (`green = "mark AF11"`). Of the conditioners at a port that set colours, the first whose `match` agrees
//! takes the packet. So several markers in a row are a multi-field classifier, whose last one, without `match`, is
//! the default class.
//!
//! | symbol | field    | unit | default |
//! |--------|----------|------|---------|
//! | -      | `colour` | -    | green   |
//!
//! Deviations: none.

use crate::Scope;
use crate::conditioner::{Conditioner, Passage};
use crate::packet::{Colour, Packet};
use crate::params::{Choice, ParamError, Params as Declared};
use crate::port::turn::Turn;
use crate::rng::Rng;
use crate::units::Time;
use crate::verdict::Verdict;

/// The colour of a marked packet.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// The lowest drop precedence.
    Green,
    /// The one between.
    Yellow,
    /// The highest.
    Red,
}

impl Mark {
    /// As packets have it.
    pub fn colour(self) -> Colour {
        match self {
            Self::Green => Colour::Green,
            Self::Yellow => Colour::Yellow,
            Self::Red => Colour::Red,
        }
    }
}

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// The colour every packet gets.
    #[param(default = "green")]
    pub colour: Mark,
}

/// One class's marker.
#[derive(Clone, Debug)]
pub struct Marker {
    colour: Colour,
}

impl Params {
    /// # Errors
    /// None: any colour will do.
    pub fn build(self, _scope: &Scope) -> Result<Marker, ParamError> {
        Ok(Marker { colour: self.colour.colour() })
    }
}

impl Conditioner for Marker {
    type Params = Params;

    fn forward(&mut self, _at: Turn<&Passage<'_>>, packet: &mut Packet, _rng: &mut Rng) -> Verdict {
        packet.colour = self.colour;
        Verdict::Pass
    }

    fn gives(&self, _: Colour) -> &'static [Colour] {
        match self.colour {
            Colour::Yellow => &[Colour::Yellow],
            Colour::Red => &[Colour::Red],
            _ => &[Colour::Green],
        }
    }

    fn retune(&mut self, _now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        *self = params.clone().build(scope)?;
        Ok(())
    }
}
