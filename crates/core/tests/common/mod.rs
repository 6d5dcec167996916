//! What the tests share: generators from declared fields, loads, statistics.
// Each test crate uses a part of it.
#![allow(dead_code, unreachable_pub)]

pub mod dialogue;
pub mod generate;
pub mod load;
pub mod stats;
