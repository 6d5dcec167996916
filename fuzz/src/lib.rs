//! Properties of every input, shared by the fuzzer's targets and by `tests/all/fuzz.rs` of the crates under test, which
//! check them under stable Rust.

pub mod captures;
pub mod frames;
pub mod lengths;
pub mod texts;
