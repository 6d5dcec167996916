//! What must hold of any input: shared by the fuzzer's targets and by `tests/fuzz.rs` of the crates they are about, which
//! call the same functions under stable Rust.

pub mod captures;
pub mod texts;
