//! Instruments: they measure and have no opinion.

pub mod ewma;
pub mod token_bucket;

pub use ewma::Ewma;
pub use token_bucket::TokenBucket;
