//! The program as a whole.

mod bench;
