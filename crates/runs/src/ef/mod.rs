//! Whether an aggregate gets its rate at a port: the error terms of EF's definition (RFC 3246), asked of any run.
//!
//! What was found is beside the results, in `manifest.json`, and no part of what their hash covers: a run that is asked has
//! the same hash as one that is not.

/// From `PORT,rate=R,for=EF` to a check.
mod query;
/// What a port's scheduler promises an aggregate.
mod sure;

pub use perhop_results::tables::ef::{EfResult, NAME, table};
pub use query::checks;
