//! Algorithms from outside: written in another language, and registered while the program runs.
//!
//! A list of algorithms (see [`crate::algorithms`]) ends with one variant for all of them. Its register is the run-time part of
//! the list: names, keys, documentation, and who makes the running algorithm. What is registered stays until the program ends.
//!
//! Decision: docs/decisions/122-one-variant-for-what-is-registered.md

mod given;
mod register;

pub use given::{Given, Plain};
pub use register::{Register, Registered};

use crate::params::{Field, ParamError, Reader, Tree};
use std::fmt;
use std::sync::OnceLock;

/// The key under which a file that perhop writes names the text of an algorithm, so that no other text answers for it.
pub const SOURCE: &str = "source";

/// Registers what it can find under a name; in words why it cannot be had.
pub type Finder = fn(&str) -> Result<(), String>;

static FINDER: OnceLock<Finder> = OnceLock::new();

/// Who is asked for names that nothing has yet; the first stands.
pub fn set_finder(finder: Finder) {
    FINDER.get_or_init(|| finder);
}

/// Asks for a name that nothing has yet.
///
/// # Errors
/// In words why what has it cannot be had.
pub fn look_for(name: &str) -> Result<(), String> {
    FINDER.get().map_or(Ok(()), |finder| finder(name))
}

/// The parameters of a registered algorithm; `T` is what it runs as, `S` what it is given about its surroundings.
pub struct Params<T: ?Sized + 'static, S: 'static> {
    algorithm: &'static Registered<T, S>,
    values: &'static [Given],
}

impl<T: ?Sized, S> Params<T, S> {
    /// Reads the keys that it was registered with.
    fn read(algorithm: &'static Registered<T, S>, reader: &mut Reader<'_>) -> Option<Self> {
        let sound = algorithm.is_of_source(reader);
        let values: Vec<_> = algorithm.entry.fields.iter().map(|field| Given::read(field, reader)).collect();
        let values: Vec<_> = values.into_iter().collect::<Option<_>>()?;
        sound.then(|| Self { algorithm, values: given::kept(values) })
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
    pub const fn values(&self) -> &'static [Given] {
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
