//! perhop-core: every algorithm of perhop, with no I/O, clock, threads or allocation on the packet path.
//!
//! A packet's way through the modules, in order:
//!
//! Decision: docs/decisions/001-algorithms-know-no-host.md

extern crate self as perhop_core;

/// Time, rates, sizes, counts, probabilities.
/// How a message names an option.
pub mod door;
pub mod units;
/// The packet as algorithms see it.
pub mod packet;
/// Colours.
pub mod colour;
/// Code points and the drop precedence they carry.
pub mod dscp;
/// Labels in the IPv6 flow label.
pub mod flow_label;

/// Which aggregate a packet belongs to.
pub mod classify;
/// Which bytes of a packet count.
pub mod accounting;
/// Which bytes of a packet a rate counts.
pub mod framing;
/// Instruments that measure.
pub mod estimate;
/// Traffic conditioners at the edge.
pub mod conditioner;

/// Queue management in the core.
pub mod aqm;
/// Which of several queues sends next.
pub mod sched;

/// The way of a packet through all of these.
pub mod port;

/// From a link and its load to parameters.
pub mod design;

/// Laws as text.
pub mod formula;

/// How exactly tokens are counted.
pub mod arithmetic;

/// Verdicts on a packet, and its fate.
pub mod verdict;

#[cfg(test)]
mod wire;
/// Packets and bytes, counted together.
pub mod count;
/// Counts by class and colour.
pub mod counted;
/// Counters as tc shows them.
pub mod counter;

/// Diagnostic codes and their pages.
pub mod codes;
/// Parameters, declared once.
pub mod params;
/// What an algorithm knows about its surroundings.
pub mod scope;
/// Which hooks an algorithm needs.
pub mod needs;
/// Lists of algorithms.
pub mod registry;
/// Why an algorithm cannot go on.
pub mod fault;
/// The run-time part of a list: algorithms from outside.
pub mod foreign;

/// exp, ln, pow, arctan: same bits on every machine.
pub mod math;
/// Named random streams.
pub mod rng;

pub use params::ParamError;
pub use rng::Rng;
pub use scope::Scope;
