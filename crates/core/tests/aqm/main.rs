//! RED, RIO, WRED and CSFQ: against their oracles, their laws, ns-2; every AQM of the list under random operations.

#[path = "../oracle/csfq.rs"]
mod csfq_oracle;
#[path = "../oracle/aqm_early.rs"]
mod oracle;
#[path = "../common/port.rs"]
mod port;
#[allow(dead_code, unreachable_pub)]
#[path = "../common/stats.rs"]
mod stats;

mod against_oracle;
mod csfq;
mod gaps;
mod idle_and_retune;
mod kinship;
mod ns2;
mod operations;
mod settings;
mod support;
