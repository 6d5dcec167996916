//! Algorithms from outside: written in another language, and registered while the program runs.
//!
//! A list of algorithms (see [`crate::algorithms`]) ends with one variant for all of them. Its register is the run-time part of
//! the list: names, keys, documentation, and who makes the running algorithm. What is registered stays until the program ends.
//!
//! Decision: docs/decisions/122-one-variant-for-what-is-registered.md

mod argument;
mod register;

pub use argument::{Argument, Plain};
pub use register::{Register, Registered};

use crate::params::{Field, ParamError, Reader, Tree};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{PoisonError, RwLock};

/// The key under which a file that perhop writes names the text of an algorithm, so that no other text answers for it.
pub const SOURCE: &str = "source";

/// Names that a host knows of and could not register, with the reason of each.
static UNAVAILABLE: RwLock<BTreeMap<String, String>> = RwLock::new(BTreeMap::new());

/// A host has an algorithm of this name and cannot register it; a file that names it is told why.
pub fn set_unavailable(name: &str, why: &str) {
    let mut known = UNAVAILABLE.write().unwrap_or_else(PoisonError::into_inner);
    known.insert(name.to_owned(), why.to_owned());
}

/// Why an algorithm that a host has cannot be had; `None` if no host has it.
pub fn unavailable(name: &str) -> Option<String> {
    UNAVAILABLE.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
}

/// The parameters of a registered algorithm; `T` is what it runs as, `S` what it is given about its surroundings.
pub struct Params<T: ?Sized + 'static, S: 'static> {
    algorithm: &'static Registered<T, S>,
    values: &'static [Argument],
}

impl<T: ?Sized, S> Params<T, S> {
    /// Reads the keys that it was registered with.
    fn read(algorithm: &'static Registered<T, S>, reader: &mut Reader<'_>) -> Option<Self> {
        let sound = algorithm.is_of_source(reader);
        let values: Vec<_> = algorithm.entry.fields.iter().map(|field| Argument::read(field, reader)).collect();
        let values: Vec<_> = values.into_iter().collect::<Option<_>>()?;
        sound.then(|| Self { algorithm, values: argument::kept(values) })
    }

    /// Its name in files.
    pub const fn name(&self) -> &'static str {
        self.algorithm.entry.name
    }

    /// Its keys.
    pub const fn fields(&self) -> &'static [Field] {
        self.algorithm.entry.fields
    }

    /// The values of its keys, in their order.
    pub const fn values(&self) -> &'static [Argument] {
        self.values
    }

    /// All effective values, and which text of the algorithm they are for.
    pub fn show(&self, out: &mut Vec<(&'static str, Tree)>) {
        out.extend(self.values.iter().filter_map(|given| Some((given.name, given.shown.clone()?))));
        out.push((SOURCE, Tree::Text(self.algorithm.source.to_owned())));
    }

    /// Makes the running algorithm.
    ///
    /// # Errors
    /// What it refuses.
    pub fn make(&self, scope: &S) -> Result<Box<T>, ParamError> {
        (self.algorithm.make)(self.values, scope)
    }
}

impl<T: ?Sized, S> Clone for Params<T, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized, S> Copy for Params<T, S> {}

impl<T: ?Sized, S> PartialEq for Params<T, S> {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name() && self.algorithm.source == other.algorithm.source && self.values == other.values
    }
}

impl<T: ?Sized, S> fmt::Debug for Params<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(self.name()).field("values", &self.values).finish()
    }
}
