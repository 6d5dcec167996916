//! A tree that was made of other texts: what is found in it is shown where its values come from.

use super::source::{Sources, Spot};
use perhop_core::params::{ClassName, Node, Place};
use std::sync::Arc;

/// A tree, and the texts that its values come from.
#[derive(Clone, Debug, PartialEq)]
pub struct Made {
    /// What is checked; its places are those of `origins`.
    pub root: Node,
    /// In the order of the places: where one begins, and where what is there comes from.
    pub origins: Vec<(usize, Origin)>,
    /// One past the last place.
    pub end: usize,
    /// The text that it was made of, and the file of its load.
    pub texts: [Arc<Sources>; 2],
}

/// Where a value of such a tree comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The place in its text; `None`: that says nothing of it.
    pub place: Option<Place>,
    /// Whether its text is the file of the load.
    pub of_load: bool,
    /// The device's class that it is.
    pub class: Option<String>,
    /// Of a list, where its items begin.
    pub items: Vec<usize>,
}

impl Made {
    /// Where what is at a place comes from.
    fn origin(&self, place: Place) -> Option<&Origin> {
        let before = self.origins.partition_point(|it| it.0 <= place.start).checked_sub(1)?;
        Some(&self.origins[before].1)
    }

    /// The spot in the text that a place comes from.
    pub fn spot(&self, place: Place) -> Option<Spot> {
        let origin = self.origin(place)?;
        self.texts[usize::from(origin.of_load)].spot(origin.place?)
    }

    /// The place of a class of the list at a place, and the device's name for it.
    pub fn class(&self, list: Place, class: &ClassName) -> Option<(Place, ClassName)> {
        let ClassName::Listed { number, .. } = class else { return None };
        let start = *self.origin(list)?.items.get(number.checked_sub(1)?)?;
        let place = Place { start, end: start + 1 };
        Some((place, ClassName::Device(self.origin(place)?.class.clone()?)))
    }
}

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
