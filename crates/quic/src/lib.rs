//! perhop-quic: QUIC over the simulator's links, as the crate `quinn-proto` has it.
//!
//! Everything that decides what is sent and when is quinn's: packets, acknowledgements, loss recovery, pacing,
//! congestion controllers. It gets its time, its randomness and its connection ids from the run, and a handshake and
//! ciphers that do nothing but take the space they would take. Its seam is [`perhop_sim::transport::datagram`].
//!
//! | file         | what                                                     |
//! |--------------|----------------------------------------------------------|
//! | `config.rs`  | from what a scenario states to what quinn takes          |
//! | `cipher.rs`  | keys that encrypt nothing                                |
//! | `session.rs` | a handshake without cryptography                         |
//! | `ids.rs`     | connection ids from the run's seed                       |
//! | `clock.rs`   | simulated time as quinn knows time                       |
//! | `end.rs`     | one end of a connection: quinn's state machines          |
//! | `client.rs`  | the application at the end that asks for data            |
//! | `server.rs`  | the application at the end that sends them               |
//!
//! Decision: docs/decisions/051-quinn-as-published.md

mod cipher;
mod client;
mod clock;
mod config;
mod end;
mod ids;
mod server;
mod session;

use config::Transport;
use end::End;
use perhop_sim::plan::Offered;
use perhop_sim::traffic::quic::Params;
use perhop_sim::traffic::{self, TrafficModel as _};
use perhop_sim::transport::datagram::{Opened, Peer, Protocol};
use std::sync::Arc;

/// QUIC with the parameters of a `[traffic]`.
#[derive(Debug)]
pub struct Quic(Transport);

impl Quic {
    /// With the parameters that `model = "quic"` states.
    pub fn new(params: &Params) -> Self {
        Self(Transport::new(params))
    }
}

impl Protocol for Quic {
    fn open(&self, opened: &Opened) -> [Box<dyn Peer>; 2] {
        [Box::new(End::server(&self.0, opened)), Box::new(End::client(&self.0, opened))]
    }
}

/// What carries a `[traffic]` of this model; `None` for every other.
pub fn protocol(offered: &Offered) -> Option<Arc<dyn Protocol>> {
    match offered.model.transport() {
        traffic::Transport::Quic(params) => Some(Arc::new(Quic::new(params))),
        traffic::Transport::Tcp | traffic::Transport::Udp => None,
    }
}
