//! What the tests share: generators from declared fields, loads, statistics.

pub mod dialogue;
pub mod frames;
pub mod generate;
pub mod load;
pub mod port;
pub mod stats;
