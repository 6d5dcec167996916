//! What the tests share: plans built in a few lines.

pub mod net;
pub mod outside;
pub mod random;
