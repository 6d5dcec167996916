//! The sender of today on a dumbbell: what it loses it repairs, and it fills the link.

use crate::common::net::{Net, bulk, stage};
use perhop_core::conditioner::{ConditionerParams, token_bucket};
use perhop_core::packet::Colour;
use perhop_core::port::Limit;
use perhop_core::port::edge::Action;
use perhop_core::units::{BitRate, Bytes, Probability, Span};
use perhop_sim::transport::{Config, Reaction, Recovery, RtoConfig};

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

/// Of 20 s, the link is idle only until the window, from 10 segments, has reached the 34 of the path: less than 5 round trips of
/// 42 ms, 1 %. A full queue costs packets, never a time-out, and nothing is sent twice that was not lost.
#[test]
fn it_fills_the_link_and_repeats_what_was_lost() {
    for limit in [1000, 40] {
        let outcome = dumbbell(limit, 0.0, modern()).run();
        let (flow, most) = (&outcome.flows[0], 10e6 / 8.0 * 20.0 * 1448.0 / 1500.0);
        let (share, tcp) = (flow.goodput_bytes as f64 / most, flow.tcp.unwrap());
        assert!(share > 0.99 && share <= 1.0, "limit {limit}: {share}");
        assert_eq!(tcp.timeouts, 0, "limit {limit}");
        let lost = flow.counts.dropped.packets;
        let unheard = u64::from(limit) + 40; // losses and repeats that are not known yet when the run ends
        assert!(lost > 40 && tcp.retransmitted <= lost && lost <= tcp.retransmitted + unheard, "{lost} lost: {tcp:?}");
    }
}

/// One packet in a hundred overtakes all in flight (RFC 8985 section 6.2, by the times of RFC 8985 section 5.2). What it has
/// overtaken looks lost at first; D-SACK tells that it was not, and the reordering window grows: fewer needless repeats than packets
/// that overtake, no time-out, and a link that stays full but for the repeats.
#[test]
fn it_learns_that_packets_overtake() {
    let mut net = dumbbell(1000, 0.0, modern());
    net.plan.links[2].transit.reorder = Probability::new(0.01).unwrap();
    let flow = &net.run().flows[0];
    let (lost, tcp) = (flow.counts.dropped.packets, flow.tcp.unwrap());
    let needless = tcp.retransmitted.saturating_sub(lost);
    assert!(needless > 0 && needless < tcp.segments / 100 && tcp.timeouts == 0, "{lost} lost: {tcp:?}");
    let share = flow.goodput_bytes as f64 / (10e6 / 8.0 * 20.0 * 1448.0 / 1500.0);
    assert!(share > 0.98, "{share}");
}

/// One flow of 20 s through a policer at a router's port, over 1 Gbit/s and 10 ms: megabits of data a second.
fn policed(us: u64, rate: BitRate, bucket: u64, segments: u32) -> f64 {
    let mut net = Net::new(3, Span::from_s(20));
    net.duplex([0, 1], BitRate::mbps(1000), Span::from_us(1));
    net.duplex([1, 2], BitRate::mbps(1000), Span::from_us(us));
    let bucket = token_bucket::Params::new(rate, Bytes::new(bucket));
    let mut police = stage("police", ConditionerParams::TokenBucketMarker(bucket));
    police.actions[Colour::Red as usize] = Action::Drop;
    net.plan.links[2].edge = vec![police];
    net.traffic([0, 2], bulk()).tcp =
        Config { reaction: Reaction { burst: segments, ..modern().reaction }, ..modern() };
    net.run().flows[0].goodput_bytes as f64 * 8.0 / 20e6
}

/// What bursts of 20 get of what bursts of 2 do, over round trips that differ by a little.
fn share(rate: BitRate, bucket: u64) -> f64 {
    let sum = |segments| (0..8).map(|i| policed(5000 + 137 * i, rate, bucket, segments)).sum::<f64>();
    sum(20) / sum(2)
}

/// At 100 Mbit/s ACKs come in less than 1 ms, new segments wait for one another, and what then comes at once is more than a shallow
/// bucket has: a third is lost to it, a fifth with a deeper one. At 10 Mbit/s nothing waits, for the next ACK is too far off.
#[test]
fn bursts_cost_goodput_behind_a_fast_policer() {
    let fast = BitRate::mbps(100);
    let shares =
        [(fast, 15_000), (fast, 62_500), (BitRate::mbps(10), 15_000)].map(|(rate, bucket)| share(rate, bucket));
    println!("{shares:?}");
    assert!(shares[0] < 0.75 && shares[1] < 0.85 && (shares[2] - 1.0).abs() < 0.02, "{shares:?}");
}
