//! The AQMs: against their oracles, their laws, ns-2; every one of the list under random operations.

#[path = "../oracle/choke.rs"]
mod choke_oracle;
#[path = "../oracle/cobalt.rs"]
mod cobalt_oracle;
#[path = "../oracle/codel.rs"]
mod codel_oracle;
#[path = "../oracle/codel_linux.rs"]
mod codel_linux_oracle;
#[path = "../oracle/csfq.rs"]
mod csfq_oracle;
#[path = "../oracle/tred.rs"]
mod expectation;
#[path = "../oracle/fred.rs"]
mod fred_oracle;
#[path = "../oracle/aqm_early.rs"]
mod oracle;
#[allow(dead_code)]
#[path = "../oracle/pie_linux.rs"]
mod pie_linux_oracle;
#[path = "../oracle/pie.rs"]
mod pie_oracle;
#[path = "../common/port.rs"]
mod port;
#[path = "../oracle/red_linux.rs"]
mod red_linux_oracle;
#[path = "../oracle/virtual_buffer.rs"]
mod virtual_buffer_oracle;

#[allow(dead_code, unreachable_pub)]
#[path = "../common/stats.rs"]
mod stats;

mod accounting;
mod adaptive;
mod against_oracle;
mod choke;
mod cobalt;
mod codel;
mod controllers;
mod csfq;
mod csfq_laws;
mod csfq_weights;
mod curves;
mod fluid;
mod formula;
mod fred;
mod gaps;
mod idle_and_retune;
mod kinship;
mod ns2;
mod operations;
mod pie;
mod redistribution;
mod settings;
mod sio;
mod support;
mod tred;
mod virtual_buffer;
mod warnings;
