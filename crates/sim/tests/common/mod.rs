//! What the tests share: plans built in a few lines.
// Each test crate uses a part of it.
#![allow(dead_code, unreachable_pub)]

pub mod net;
pub mod outside;
pub mod random;
