//! perhop-core: every algorithm of perhop, with no I/O, clock, threads or allocation on the packet path.
//!
//! A packet's way through the modules, in order:

pub mod units;
