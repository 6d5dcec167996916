//! One TCP flow on one link: does it fill it as theory says?
//!
//! With C the rate in packets/s, T the round trip without queueing, P = C T: a window W < P gives W / T, a larger one
//! C. A window that is cut by half at P + B, B the room of the queue, gives C where B >= P, else (by fluid)
//!
//! ```text
//! with M = P + B:  3/8 M^2 / (P (P - M/2) + (M^2 - P^2) / 2) of C,  3/4 at B = 0
//! ```

use crate::common::net::{Net, bulk};
use perhop_core::port::Limit;
use perhop_core::units::{BitRate, Span};
use perhop_core::verdict::Reason;
use perhop_sim::Outcome;
use perhop_sim::transport::Config;

const RATE: BitRate = BitRate::mbps(8);
/// A segment of 1000 bytes and an ACK of 40 at [`RATE`].
const SEGMENT: Span = Span::from_us(1000);
const ACK: Span = Span::from_us(40);

/// A bulk flow with an advertised window, and so much room in the queue; `round_trip` without queueing.
fn run(window: u32, room: u32, [round_trip, warmup, measured]: [Span; 3]) -> Outcome {
    let mut net = Net::new(2, warmup + measured);
    net.plan.warmup = warmup;
    net.duplex([0, 1], RATE, (round_trip - SEGMENT - ACK) / 2);
    net.plan.links[0].queues[0].limit = Limit::Packets(room);
    net.traffic([0, 1], bulk()).tcp = Config { window, mss: 960, ..Config::default() };
    net.run()
}

fn delivered(outcome: &Outcome) -> u64 {
    outcome.flows[0].counts.delivered.packets
}

/// Room for 9 packets holds 9 and the one in transmission: of a burst of 20 ten are sent, ten lost.
#[test]
fn a_queue_has_the_room_it_states() {
    let mut net = Net::new(2, Span::from_ms(15));
    net.duplex([0, 1], RATE, Span::from_ms(1));
    net.traffic([0, 1], bulk()).tcp =
        Config { initial_window: 20, window: 20, syn: false, mss: 960, ..Config::default() };
    for (limit, sent) in [(Limit::Packets(9), 10), (Limit::Bytes(9_000), 10), (Limit::Bytes(8_999), 9)] {
        net.plan.links[0].queues[0].limit = limit;
        let outcome = net.run();
        let fates = outcome.ports.hops[0].fates;
        let first_burst = fates.dropped[Reason::Overflow as usize].packets;
        assert_eq!(20 - first_burst, sent, "{limit:?}: {fates:?}");
    }
}

/// A window below the bandwidth-delay product: W segments in each round trip, to the segment.
#[test]
fn a_small_window_gives_w_over_t() {
    let round_trip = Span::from_ms(50);
    for window in [1, 2, 7, 20, 49] {
        let outcome = run(window, 1000, [round_trip, Span::from_s(10), round_trip * 100]);
        assert_eq!(delivered(&outcome), u64::from(window) * 100, "window {window}");
    }
}

/// A window of the product or more, and room for what is beyond: the link is never idle.
#[test]
fn a_large_window_fills_the_link() {
    let round_trip = Span::from_ms(50);
    for window in [50, 51, 80, 1000] {
        let outcome = run(window, 1000, [round_trip, Span::from_s(10), SEGMENT * 5000]);
        assert_eq!(delivered(&outcome), 5000, "window {window}");
        let wait = outcome.ports.hops.iter().find(|h| h.link == 0).unwrap().wait.unwrap();
        let queue = SEGMENT.ns() as f64 * f64::from(window - 50);
        assert!((wait.mean - queue).abs() <= 0.011 * queue, "window {window}: waits {}", wait.mean);
    }
}

fn utilisation(product: u64, room: u32) -> f64 {
    let measured = Span::from_s(1000);
    let outcome = run(100_000, room, [SEGMENT * product, Span::from_s(100), measured]);
    assert!(outcome.flows[0].tcp.unwrap().fast_retransmits > 10);
    delivered(&outcome) as f64 * SEGMENT.seconds() / measured.seconds()
}

/// Room of the product or more: after the cut the queue is just empty, the link still busy.
#[test]
fn a_queue_of_the_product_keeps_the_link_busy() {
    let got = utilisation(100, 102);
    assert!(got > 0.999, "{got}");
}

/// Less room. A window moves in whole segments, by at most one beyond or short of the fluid's, so M is known to 2 of
/// P segments; the utilisation, whose slope in M / P is below 1, to 2 / P.
#[test]
fn a_short_queue_leaves_the_link_idle_for_the_time_that_theory_says() {
    let product = 100.0;
    for room in [1, 10, 25, 50, 75] {
        let most = product + f64::from(room);
        let time = product * (product - most / 2.0) + (most * most - product * product) / 2.0;
        let expected = 0.375 * most * most / time;
        let got = utilisation(product as u64, room);
        println!("room {room}: {got:.4}, fluid {expected:.4}");
        assert!((got - expected).abs() < 2.0 / product, "room {room}: {got}, fluid {expected}");
    }
}
