//! `cap` of SVB and of SIO: how far the threshold of the virtual queue may rise while the load is below the link's rate.
//!
//! Source: section 3.1 of the paper of MSVB and SIO has no upper bound, only `dVth/dt = alpha (C - lambda)` (`none`).
//! Then one idle second at alpha .05 and 1250 packets/s raises the threshold by 62 packets, and the AQM does nothing
//! until that excess has arrived. `v0` bounds the threshold by its initial value.
//!
//! Decision: docs/decisions/031-drops-at-the-head.md

use super::early::level::Level;
use crate::Scope;
use crate::aqm::early::one_unit;
use crate::params::{Kind, Node, ParamError, Problems, Tree, Value};
use crate::units::Length;

/// The upper bound of a threshold.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Cap {
    /// Its start.
    #[default]
    V0,
    /// None: the paper's equation.
    None,
    /// This, at least its start.
    At(Length),
}

/// Those with a name.
const NAMES: &[&str] = &["v0", "none"];

impl Value for Cap {
    const KIND: Kind = Kind::Either(&[Kind::Length, Kind::Choice(NAMES)]);
    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        match &node.tree {
            Tree::Text(text) if text.starts_with(|c: char| c.is_ascii_digit()) => {
                Length::read(node, problems).map(Self::At)
            }
            Tree::Text(_) => problems.choice(node, NAMES).map(|name| if name == "v0" { Self::V0 } else { Self::None }),
            _ => problems.wrong_type(node, &Self::KIND),
        }
    }
    fn tree(&self) -> Option<Tree> {
        match self {
            Self::V0 => Some(Tree::Text(NAMES[0].into())),
            Self::None => Some(Tree::Text(NAMES[1].into())),
            Self::At(length) => length.tree(),
        }
    }
}

impl Cap {
    /// In the unit of `v0`, a threshold's start; infinite without a bound.
    ///
    /// # Errors
    /// E218 without a limit that it is a share of; E219 in another unit than `v0`; E214 below it.
    pub fn value(self, v0: Length, scope: &Scope) -> Result<f64, ParamError> {
        let start = Level::of("v0", v0, scope)?;
        let length = match self {
            Self::V0 => return Ok(start.value),
            Self::None => return Ok(f64::INFINITY),
            Self::At(length) => length,
        };
        let cap = Level::of("cap", length, scope)?;
        one_unit(start.unit, cap.unit, "cap")?;
        if cap.value >= start.value {
            return Ok(cap.value);
        }
        let message = format!("`cap` {length} is below `v0` {v0}, where the threshold starts");
        Err(ParamError::new("cap", "E214", message)
            .help("raise `cap` or lower `v0`; \"v0\" means `v0` itself, \"none\" no bound"))
    }
}
