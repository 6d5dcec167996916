//! Bulk transfers.

use super::{path, quic, run};
use perhop_core::port::Limit;
use perhop_core::units::{BitRate, Span};
use perhop_sim::traffic::quic::{Controller, Params};

#[test]
fn a_bulk_transfer_reaches_the_rate_of_its_link() {
    for congestion in [Controller::Cubic, Controller::NewReno, Controller::Bbr] {
        let mut net = path(BitRate::mbps(10), 20, Params { congestion, ..quic() });
        net.plan.links[0].queues[0].limit = Limit::Packets(34);
        net.plan.warmup = Span::from_s(5);
        let flow = &run(&net).flows[0];
        let goodput = flow.goodput_bytes as f64 * 8.0 / 15.0;
        println!("{congestion:?} {goodput} {flow:?}");
    }
}
