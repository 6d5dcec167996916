//! Instruments: they measure and have no opinion.

pub mod token_bucket;

pub use token_bucket::TokenBucket;
