//! Exit codes.

/// How a verb ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// All is well.
    Fine = 0,
    /// Warnings of `check`, a hard claim of `reproduce --strict` that failed, or a port that tc cannot express in full.
    Warnings = 1,
    /// An error.
    Error = 2,
    /// The terminal went away: SIGHUP.
    HungUp = 129,
    /// Ctrl-C: SIGINT.
    Interrupted = 130,
    /// SIGTERM.
    Terminated = 143,
}
