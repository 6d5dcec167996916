//! The simulator, as its users see it: the engine by closed forms, beside slow versions and ns-2; each transport; the sources' rules.

mod common;
#[path = "../../../core/tests/all/oracle/ef_bound.rs"]
mod ef_oracle;
mod engine;
mod own_transport;
mod owners;
#[path = "../../../core/tests/all/common/stats.rs"]
#[allow(dead_code)] // what other crates need
mod stats;
mod transport;
mod variants;
