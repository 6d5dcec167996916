//! `first-tag` of PPS's tagger: the tag of a packet sent before a rate is known.
//!
//! Source: none; PPS does not say. TRED is most likely to drop the packet with the fewest tickets. So a first tag of
//! the most that 17 bits hold makes the first packets of a flow all but safe, and inflates the emission rate of its
//! source for a whole window. With 8 bits, as in all published runs, `most` is 255.

use super::tags::{Scale, Tags, WIDTHS};
use crate::params::{Kind, Node, ParamError, Problems, Tree, Value};

/// What the first packets carry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FirstTag {
    /// The most that a tag can hold.
    #[default]
    Most,
    /// The most that a linear tag of this many bits can hold: 2^bits - 1 tickets.
    Bits(u32),
}

/// Those with a name.
const NAMES: &[&str] = &["most"];

impl Value for FirstTag {
    const KIND: Kind = Kind::Either(&[Kind::Integer, Kind::Choice(NAMES)]);
    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        match &node.tree {
            Tree::Integer(_) => u32::read(node, problems).map(Self::Bits),
            Tree::Text(_) => problems.choice(node, NAMES).map(|_| Self::Most),
            _ => problems.wrong_type(node, &Self::KIND),
        }
    }
    fn tree(&self) -> Option<Tree> {
        match self {
            Self::Most => Some(Tree::Text(NAMES[0].into())),
            Self::Bits(bits) => bits.tree(),
        }
    }
}

impl FirstTag {
    /// Tickets, before policing.
    ///
    /// # Errors
    /// E201 for a width out of bounds, or with linear tags beyond their own.
    pub fn tickets(self, tags: &Tags) -> Result<f64, ParamError> {
        let Self::Bits(bits) = self else { return Ok(tags.top()) };
        let most = if tags.tags == Scale::Linear { tags.bits } else { *WIDTHS.end() };
        if (*WIDTHS.start()..=most).contains(&bits) {
            return Ok(f64::from((1u32 << bits) - 1));
        }
        let error = ParamError::new("first-tag", "E201", format!("`first-tag` is {bits} bits"));
        let own = if tags.tags == Scale::Linear { ", since linear tags hold no more than `bits` says" } else { "" };
        Err(error.help(format!("must be between {} and {most}{own}; or \"most\"", WIDTHS.start())))
    }
}
