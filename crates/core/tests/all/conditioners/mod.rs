//! Conditioners against their RFCs, papers, slow versions and ns-2.

mod actions;
mod classes;
mod edge;
mod edge_path;
mod formula;
mod fsam;
mod invariants;
mod labeller;
mod ns2;
mod oracles;
mod pam;
mod pi_pam;
mod police;
mod pps_exchange;
mod pps_policing;
mod pps_tags;
mod pps_untagged;
mod redp;
mod rtt;
mod tsw;
mod vectors;
mod weights;

use perhop_core::Scope;
use perhop_core::scope::Weights;
use perhop_core::units::Bytes;

/// Packets of any size up to 1500 bytes.
fn scope() -> Scope {
    Scope { largest_packet: Bytes::new(1500), weights: Some(Weights::ONE), ..Scope::default() }
}
