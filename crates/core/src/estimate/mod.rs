//! Instruments: they measure and decide nothing.

pub mod ef_bound;
pub mod event_rate;
pub mod ewma;
pub mod exp_rate;
pub mod fair_rate;
pub mod flow_table;
pub mod micro_flows;
pub mod near_side;
pub mod rtt;
pub mod token_bucket;
pub mod tsw;
pub mod window;

pub use ef_bound::EfBound;
pub use event_rate::EventRate;
pub use ewma::Ewma;
pub use exp_rate::ExpRate;
pub use fair_rate::FairRate;
pub use flow_table::FlowTable;
pub use micro_flows::{MicroFlow, MicroFlows};
pub use near_side::NearSide;
pub use rtt::{RoundTrip, RttSampler, Timestamps};
pub use token_bucket::{Store, TokenBucket, TokenBuckets};
pub use tsw::Tsw;
pub use window::Outstanding;
