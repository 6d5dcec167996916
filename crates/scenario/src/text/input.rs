//! What a scenario is read from.

use super::source::Made;

/// What is read: a text, or a tree that was made of others.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// TOML.
    Text(&'a str),
    /// A tree.
    Made(&'a Made),
}

impl<'a> From<&'a str> for Input<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a String> for Input<'a> {
    fn from(text: &'a String) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a Made> for Input<'a> {
    fn from(made: &'a Made) -> Self {
        Self::Made(made)
    }
}
