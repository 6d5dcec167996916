//! The engine of perhop-sim against closed forms, slow versions, ns-2, and its own promises.

#[path = "../common/mod.rs"]
mod common;
#[path = "../transport/pipe.rs"]
#[allow(dead_code)]
mod pipe;
#[path = "../transport/reference.rs"]
#[allow(dead_code)]
mod reference;
#[allow(unreachable_pub)]
#[path = "../../../core/tests/oracle/ef_bound.rs"]
mod ef_oracle;
#[path = "../../../core/tests/common/stats.rs"]
#[allow(dead_code)]
mod stats;

mod ahead;
mod allocations;
mod edges;
mod bursts;
mod changes;
mod conservation;
mod csfq;
mod determinism;
mod ecn;
mod ef;
mod events;
mod fill;
mod fq;
mod kinds;
mod loss;
mod md1;
mod modern;
mod ns2;
mod ns2_af_queue;
mod ns2_controllers;
mod ns2_dynamic_load;
mod ns2_mixed_load;
mod ns2_pps_rtt;
mod ns2_pps_table4;
mod overhead;
mod ns2_tsw3cm;
mod rates;
mod replay;
mod routes;
mod series;
mod sched;
mod telnet;
mod transfers;
mod virtual_buffers;
mod web;
