//! Whole connections of quinn over the simulator's links.

#[path = "../../../sim/tests/all/common/net.rs"]
#[allow(dead_code)]
mod net;

mod bulk;
mod recorded;
mod responses;
mod same;

use net::Net;
use perhop_core::units::{BitRate, Bytes, Span};
use perhop_sim::Outcome;
use perhop_sim::traffic::TrafficParams;
use perhop_sim::traffic::quic::{Controller, Params};

/// QUIC as a scenario has it that states nothing.
fn quic() -> Params {
    Params {
        congestion: Controller::Cubic,
        initial_window: None,
        mtu: Bytes::new(1480),
        receive_window: Bytes::new(1_250_000),
        size: None,
        gap: None,
        waits: None,
    }
}

/// From node 0 over a bottleneck of this rate, one way of 20 ms, to node 1.
fn path(rate: BitRate, seconds: u64, params: Params) -> Net {
    let mut net = Net::new(2, Span::from_s(seconds));
    net.duplex([0, 1], rate, Span::from_ms(20));
    net.traffic([0, 1], TrafficParams::Quic(params));
    net
}

/// Runs it; nothing may get lost unseen.
fn run(net: &Net) -> Outcome {
    net.run()
}
