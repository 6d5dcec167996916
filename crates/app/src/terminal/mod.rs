//! A terminal: what is printed, how far work is, the signals that end it.

/// What is told where there is no terminal.
#[cfg(not(target_family = "wasm"))]
mod lines;
/// What is printed, and whether it arrived.
pub mod show;
/// Signals, the clock, the progress line.
#[cfg(not(target_family = "wasm"))]
pub mod watch;
