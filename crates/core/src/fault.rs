//! Why an algorithm cannot go on: a hook from outside that failed, a formula without a value.
//!
//! Hooks answer with verdicts, which leaves no room for a failure, and most of them cannot fail. One that does puts its fault
//! here, passes what comes, and is no more asked to any purpose: the host, on the same thread, looks between two packets or at
//! the end of a stretch of them, and ends the run. The first fault stands. Nothing else is kept here.
//!
//! Decision: docs/decisions/122-one-variant-for-what-is-registered.md

use crate::units::Time;
use std::cell::RefCell;
use std::sync::Arc;

thread_local! {
    static FIRST: RefCell<Option<Fault>> = const { RefCell::new(None) };
}

/// Why an algorithm cannot go on, and since when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The host's time of the hook, if the hook is given one.
    pub at: Option<Time>,
    /// Its name in files.
    pub algorithm: &'static str,
    /// The port where it stands, if that has a name.
    pub port: Option<Arc<str>>,
    /// What went wrong, in as many lines as it takes.
    pub what: String,
}

/// An algorithm cannot go on.
#[cold]
pub fn raise(fault: Fault) {
    FIRST.with_borrow_mut(|first| _ = first.get_or_insert(fault));
}

/// Whether there was a fault on this thread since it was last asked for.
pub fn is_raised() -> bool {
    FIRST.with_borrow(Option::is_some)
}

/// The first fault on this thread since it was last asked for.
pub fn take() -> Option<Fault> {
    FIRST.take()
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}`", self.algorithm)?;
        self.port.iter().try_for_each(|port| write!(f, " at `{port}`"))?;
        f.write_str(" failed")?;
        self.at.iter().try_for_each(|at| write!(f, " at {:.9} s of the simulation", at.seconds()))?;
        write!(f, "\n{}", self.what)
    }
}
