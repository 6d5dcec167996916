//! A terminal: what is printed, how far work is, the signals that end it.

/// What is told where there is no terminal.
mod lines;
/// What is printed, and whether it arrived.
pub mod show;
/// Signals, the clock, the progress line.
pub mod watch;
