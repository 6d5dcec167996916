//! What perhop does for who asks: each verb is a function of a typed request.
//!
//! A request is read by clap, or by serde from what Python, a task of a cluster or another process says; [`request`] has them all.
//! What a verb prints passes [`terminal`].
//!
//! Decision: docs/decisions/126-a-verb-is-a-function.md

/// Rows of results.
mod answer;
/// From a request to its verb.
mod carry_out;
/// `check`
mod check;
/// Diagnostic codes.
pub mod codes;
/// Configurations of devices.
mod configured;
/// Why a verb gives no answer.
pub mod error;
/// How a verb ended.
pub mod exit;
/// `explain`
mod explain;
/// What Python carries out.
mod for_python;
/// `forward`
#[cfg(target_os = "linux")]
mod forward;
/// `import`
pub mod import;
/// `init`
mod init;
/// `list`
pub mod list;
/// `mark`
pub mod mark;
/// `meter`
pub mod meter;
/// Packets of a simulated link as a capture.
mod pcap;
/// What is read, and what is written.
pub mod places;
/// `predict`
mod predict;
/// Files and standard input.
pub mod reading;
/// What a verb is asked.
pub mod request;
/// `run`
mod run;
/// `runs`
mod runs;
/// `sweep`
pub mod sweep;
/// What `init` writes.
pub mod templates;
/// What a terminal shows, and the signals that it sends.
pub mod terminal;
/// `tune`
pub mod tune;

pub use carry_out::{carry_out, ended, texts};
pub use error::Failure;
pub use exit::Exit;
pub use for_python::{ForPython, Outcome};
