//! The sender of today on a dumbbell: what it loses it repairs, and it fills the link.

use crate::common::net::{Net, bulk};
use perhop_core::port::Limit;
use perhop_core::units::{BitRate, Probability, Span};
use perhop_sim::transport::{Config, PartialAckTimer, Reaction, Recovery, RtoConfig};

fn modern() -> Config {
    Config {
        recovery: Recovery::Rack,
        reaction: Reaction { sack: true, ..Reaction::default() },
        initial_window: 10,
        window: 2000,
        rto: RtoConfig::MODERN,
        mss: 1448,
        header: 52,
        ..Config::default()
    }
}

/// One flow over 10 Mbit/s and 40 ms, with room for `limit` packets and a share of lost ones.
fn dumbbell(limit: u32, loss: f64, tcp: Config) -> Net {
    let mut net = Net::new(3, Span::from_s(20));
    net.duplex([0, 1], BitRate::mbps(1000), Span::from_us(1));
    net.duplex([1, 2], BitRate::mbps(10), Span::from_ms(20));
    net.plan.links[2].queues[0].limit = Limit::Packets(limit);
    net.plan.links[2].loss = Probability::new(loss).unwrap();
    net.traffic([0, 2], bulk()).tcp = tcp;
    net
}

#[test]
fn show() {
    for (limit, loss) in [(1000, 0.0), (40, 0.0), (10, 0.0), (1000, 0.0001), (1000, 0.001), (1000, 0.01), (1000, 0.03)]
    {
        for (name, tcp) in [
            ("modern", modern()),
            ("classic", Config { recovery: Recovery::NewReno(PartialAckTimer::First), ..modern() }),
        ] {
            let outcome = dumbbell(limit, loss, tcp).run();
            let flow = &outcome.flows[0];
            println!(
                "{name:8} limit {limit:4} loss {loss:6}: {:.3} Mbit/s {:?}",
                flow.goodput_bytes as f64 * 8.0 / 20e6,
                flow.tcp
            );
        }
    }
}
