//! Replications on threads, their files, and what is read from them.

mod blocks;
mod cut;
mod ef;
mod intervals;
mod labels;
mod memory;
mod opened;
mod rows;
mod session;
mod stored;
mod walks;
