//! A forwarder between interfaces in memory.

mod flood;
mod frames;
mod fuzz;
mod lengths;
mod memory;
