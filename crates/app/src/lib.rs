//! What perhop does for who asks: each verb is a function of a typed request.
//!
//! A request is read by clap, or by serde from what Python, a task of a cluster or another process says; [`request`] has them all.
//! What a verb prints passes [`terminal`]. A target without files and signals, such as wasm, has the verbs that only read: `check`,
//! `explain`, `import`, `list`, `tune`.
//!
//! Decision: docs/decisions/126-a-verb-is-a-function.md

/// From a request to its verb.
#[cfg(not(target_family = "wasm"))]
mod carry_out;
/// Who reads captures.
mod captures;
/// `check`
pub mod check;
/// Diagnostic codes.
pub mod codes;
/// Configurations of devices.
mod configured;
/// A failure on a terminal, and its exit code.
#[cfg(not(target_family = "wasm"))]
mod ending;
/// Why a verb gives no answer.
pub mod error;
/// How a verb ended.
pub mod exit;
/// `explain`
pub mod explain;
/// What Python carries out.
mod for_python;
/// `forward`
#[cfg(target_os = "linux")]
mod forward;
/// `import`
pub mod import;
/// `init`
#[cfg(not(target_family = "wasm"))]
mod init;
/// `list`
pub mod list;
/// `mark`
#[cfg(not(target_family = "wasm"))]
pub mod mark;
/// `meter`
#[cfg(not(target_family = "wasm"))]
pub mod meter;
/// Packets of a simulated link as a capture.
#[cfg(not(target_family = "wasm"))]
mod pcap;
/// What is read, and what is written.
#[cfg(not(target_family = "wasm"))]
pub mod places;
/// `predict`
#[cfg(not(target_family = "wasm"))]
mod predict;
/// Files and standard input.
pub mod reading;
/// What a verb is asked.
pub mod request;
/// `run`
#[cfg(not(target_family = "wasm"))]
mod run;
/// `runs`
#[cfg(not(target_family = "wasm"))]
mod runs;
/// Which results are shown.
#[cfg(not(target_family = "wasm"))]
mod selection;
/// `sweep`
#[cfg(not(target_family = "wasm"))]
pub mod sweep;
/// What `init` writes.
pub mod templates;
/// What a terminal shows, and the signals that it sends.
pub mod terminal;
/// `tune`
pub mod tune;

#[cfg(not(target_family = "wasm"))]
pub use carry_out::{carry_out, ended, texts};
pub use error::Failure;
pub use exit::Exit;
pub use for_python::{ForPython, Outcome};
