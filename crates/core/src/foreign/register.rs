//! What is registered: the run-time part of a list.

use super::{Argument, Params, SOURCE};
use crate::params::{Field, ParamError, Reader, Tree};
use crate::registry::Entry;
use std::fmt;
use std::sync::{PoisonError, RwLock};

/// Makes a running algorithm of the values of its keys.
pub(super) type Make<T, S> = dyn Fn(&[Argument], &S) -> Result<Box<T>, ParamError> + Send + Sync;

/// An algorithm from outside.
pub struct Registered<T: ?Sized + 'static, S: 'static> {
    /// As a list has it.
    pub entry: Entry,
    /// Where it is defined: registered again from there, it takes the place of the one before.
    pub origin: String,
    /// A hash of its text.
    pub source: String,
    /// Makes it run.
    pub make: Box<Make<T, S>>,
}

impl<T: ?Sized, S> fmt::Debug for Registered<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registered").field("name", &self.entry.name).field("source", &self.source).finish()
    }
}

impl<T: ?Sized, S> Registered<T, S> {
    /// Whether a file that names a text of it names this one; E207 if it does not.
    pub(super) fn is_of_source(&self, reader: &mut Reader<'_>) -> bool {
        let Some(node) = reader.take(SOURCE) else { return true };
        match &node.tree {
            Tree::Text(text) if *text == self.source => return true,
            Tree::Text(_) => {
                let message = format!("this was made with another text of `{}`", self.entry.name);
                let help =
                    format!("register that text again, or remove `{SOURCE}` to run the present one, {}", self.source);
                reader.problems.error("E207", node.place, message).help(help);
            }
            _ => {
                reader.problems.wrong_type::<()>(node, &crate::params::Kind::Text);
            }
        }
        false
    }
}

/// The algorithms of one kind that are registered.
pub struct Register<T: ?Sized + 'static, S: 'static>(RwLock<Vec<&'static Registered<T, S>>>);

impl<T: ?Sized, S> fmt::Debug for Register<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.all()).finish()
    }
}

impl<T: ?Sized, S> Default for Register<T, S> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: ?Sized, S> Register<T, S> {
    /// Nothing is registered.
    pub const fn new() -> Self {
        Self(RwLock::new(Vec::new()))
    }

    /// All of them.
    fn all(&self) -> Vec<&'static Registered<T, S>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn named(&self, name: &str) -> Option<&'static Registered<T, S>> {
        self.all().into_iter().find(|it| it.entry.name == name)
    }

    /// As a list has them.
    pub fn entries(&self) -> Vec<Entry> {
        self.all().into_iter().map(|it| it.entry).collect()
    }

    /// Names and hashes of the texts, for what has to be the same in all processes of a run.
    pub fn sources(&self) -> Vec<(&'static str, String)> {
        self.all().into_iter().map(|it| (it.entry.name, it.source.clone())).collect()
    }

    /// Registers an algorithm; one from the same origin takes the place of the one before, of the same text too, as what that
    /// holds may be another. What was read before keeps that. `built_in` are the names of the list.
    ///
    /// # Errors
    /// In words: another algorithm has the name.
    pub fn add(&self, algorithm: Registered<T, S>, built_in: &[&str]) -> Result<(), String> {
        let Entry { name, fields, .. } = algorithm.entry;
        if built_in.contains(&name) {
            return Err(format!("`{name}` is built in: choose another name"));
        }
        if let Some(taken) = Field::all(fields).iter().find(|field| field.name == SOURCE) {
            return Err(format!("the parameter `{}` of `{name}` has a meaning already: call it otherwise", taken.name));
        }
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        match all.iter_mut().find(|it| it.entry.name == name) {
            Some(before) if before.origin != algorithm.origin => {
                Err(format!("`{name}` is registered already, by {}: choose another name", before.origin))
            }
            Some(before) => {
                *before = Box::leak(Box::new(algorithm));
                Ok(())
            }
            None => {
                all.push(Box::leak(Box::new(algorithm)));
                Ok(())
            }
        }
    }

    /// Reads the keys of what has this name; `None` if nothing has.
    pub fn read(&self, name: &str, reader: &mut Reader<'_>) -> Option<Option<Params<T, S>>> {
        if self.named(name).is_none()
            && let Some(why) = super::unavailable(name)
        {
            reader.problems.error("E006", reader.place, why).help("mend the package, or take it away");
            return Some(None);
        }
        self.named(name).map(|algorithm| Params::read(algorithm, reader))
    }
}
