//! The time a sender's host takes to answer an ACK.

use crate::common::net::{Net, bulk};
use perhop_core::units::{BitRate, Span};
use perhop_sim::record::FlowRow;
use perhop_sim::transport::{AckDelay, Config, Reaction};

const SECONDS: u64 = 120;
/// A segment of 1000 bytes, and an ACK of 40, at 2 Mbit/s.
const SEGMENT: Span = Span::from_ms(4);
const ACK: f64 = 160e-6;

/// A flow alone on a link of 2 Mbit/s: 20 ms from a segment's departure to its ACK's.
fn run(window: u32, overhead: Option<Span>) -> FlowRow {
    let mut net = Net::new(2, Span::from_s(SECONDS));
    net.duplex([0, 1], BitRate::mbps(2), (Span::from_ms(20) - SEGMENT) / 2);
    let traffic = net.traffic([0, 1], bulk());
    traffic.tcp = Config {
        reaction: Reaction { ack: AckDelay::None, overhead, sack: false, ..Reaction::NONE },
        syn: false,
        mss: 960,
        window,
        initial_window: window,
        ..Config::default()
    };
    net.run().flows.remove(0)
}

/// With one segment in flight a cycle is the round trip and a uniform draw of up to 20 ms: 30.16 ms in the mean, 5.77
/// ms
/// its standard deviation. So 3979 segments in 120 s, with sd sqrt(3979) x 5.77/30.16 = 12.
#[test]
fn each_answer_is_late_by_a_uniform_draw() {
    for (overhead, mean, sd) in [(None, 0.0, 0.0), (Some(Span::from_ms(20)), 0.010, 12.1)] {
        let expected = SECONDS as f64 / (0.020 + ACK + mean);
        let found = run(1, overhead).counts.delivered.packets as f64;
        assert!((found - expected).abs() <= 4.0 * sd + 1.0, "{overhead:?}: {found} for {expected}");
    }
}

/// Whatever arrives while the host is busy is answered together and in order: nothing is sent twice, the link stays
/// full.
#[test]
fn order_is_kept() {
    let flow = run(30, Some(Span::from_ms(20)));
    let tcp = flow.tcp.unwrap();
    assert_eq!((tcp.retransmitted, tcp.fast_retransmits, tcp.timeouts), (0, 0, 0));
    assert!(flow.counts.delivered.packets as f64 > 0.99 * SECONDS as f64 / 0.004, "{}", flow.counts.delivered.packets);
}
