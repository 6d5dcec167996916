//! Instruments: they measure and have no opinion.

pub mod event_rate;
pub mod ewma;
pub mod exp_rate;
pub mod fair_rate;
pub mod token_bucket;
pub mod tsw;

pub use event_rate::EventRate;
pub use ewma::Ewma;
pub use exp_rate::ExpRate;
pub use fair_rate::FairRate;
pub use token_bucket::TokenBucket;
pub use tsw::Tsw;
