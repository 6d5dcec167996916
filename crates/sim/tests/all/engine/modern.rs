//! The sender of today on a dumbbell: what it loses it repairs, and it fills the link.

use crate::common::net::{Net, bulk, stage};
use perhop_core::conditioner::{ConditionerParams, token_bucket};
use perhop_core::packet::Colour;
use perhop_core::port::Limit;
use perhop_core::port::edge::Action;
use perhop_core::units::{BitRate, Bytes, Probability, Span, Time};
use perhop_sim::plan::TapPoint;
use perhop_sim::record::Captured;
use perhop_sim::transport::congestion::reno;
use perhop_sim::transport::{AckDelay, Bursts, Config, LawParams, PartialAckTimer, Reaction, Recovery, RtoConfig};
use std::collections::BTreeSet;

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

/// Where the host's own link of 10 Mbit/s is the narrow one, 4816 B of memory are enough to wait, two segments of 2408 B:
/// the queue of 2 packets loses none and the link stays full. A host that does not mind loses what has no room.
#[test]
fn its_own_queue_holds_little_of_it() {
    let lost_and_share = |small_queues| {
        let mut net = Net::new(3, Span::from_s(20));
        net.duplex([0, 1], BitRate::mbps(10), Span::from_ms(20));
        net.duplex([1, 2], BitRate::mbps(1000), Span::from_us(1));
        net.plan.links[0].queues[0].limit = Limit::Packets(2);
        net.traffic([0, 2], bulk()).tcp =
            Config { reaction: Reaction { small_queues, ..modern().reaction }, ..modern() };
        let flow = &net.run().flows[0];
        (flow.counts.dropped.packets, flow.goodput_bytes as f64 / (10e6 / 8.0 * 20.0 * 1448.0 / 1500.0))
    };
    let (lost, share) = lost_and_share(true);
    assert!(lost == 0 && share > 0.99, "{lost} lost, {share}");
    assert!(lost_and_share(false).0 > 0);
}

/// One packet in a hundred overtakes all in flight (RFC 8985 section 6.2, by the times of RFC 8985 section 5.2). What it has
/// overtaken looks lost at first; D-SACK tells that it was not, and the reordering window grows: fewer needless repeats than
/// packets that overtake, no time-out, and a link that stays full but for the repeats.
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

/// Linux's hosts with Reno.
fn linux_reno(burst: u32) -> Config {
    let congestion = LawParams::Reno(reno::Params { growth: reno::Growth::Segments, abe: false });
    let bursts = Bursts::Of(burst);
    let reaction = Reaction { ack: AckDelay::Linux, bursts, small_queues: true, ..modern().reaction };
    Config { congestion, reaction, window: 2730, ..modern() }
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
    net.traffic([0, 2], bulk()).tcp = linux_reno(segments);
    net.run().flows[0].goodput_bytes as f64 * 8.0 / 20e6
}

/// What bursts of 20 get of what bursts of 2 do, over round trips that differ by a little.
fn share(rate: BitRate, bucket: u64) -> f64 {
    let sum = |segments| (0..8).map(|i| policed(5000 + 137 * i, rate, bucket, segments)).sum::<f64>();
    sum(20) / sum(2)
}

/// At 100 Mbit/s ACKs come in less than 1 ms, new segments wait for one another, and what then comes at once is more than a
/// shallow bucket has: of Linux's own (6.12, three boots of each) bursts of 20 get 0.46 to 0.56 of what those of 2 do behind 15
/// kB, 0.91 to 0.95 behind 62.5 kB. At 10 Mbit/s next to nothing waits, for the next ACK is too far off: 0.97 to 0.99.
#[test]
fn bursts_cost_goodput_behind_a_fast_policer() {
    let fast = BitRate::mbps(100);
    let shares =
        [(fast, 15_000), (fast, 62_500), (BitRate::mbps(10), 15_000)].map(|(rate, bucket)| share(rate, bucket));
    let good = shares[0] < 0.75 && (0.85..0.97).contains(&shares[1]) && (0.95..1.0).contains(&shares[2]);
    assert!(good, "{shares:?}");
}

/// What an application has written when it stops, a host of today still sends. Its buffer holds at least a window, else it would
/// have grown, and at most 4352 B for each segment of twice the largest one, which slow start makes twice the 74 packets of path
/// and queue. One of ns-2's kind sends no more.
#[test]
fn what_is_written_before_a_stop_is_sent_after_it() {
    let after = |tcp| {
        let mut net = dumbbell(40, 0.0, tcp);
        let stop = Time::ZERO + Span::from_s(10);
        net.plan.traffic[0].stop = Some(stop);
        net.tap_all();
        let sent = net.run().captured;
        let new = sent.iter().filter(|it| it.link == 0 && it.point == TapPoint::Input && it.packet.payload > 0);
        let (late, early): (Vec<_>, Vec<_>) = new.partition(|it| it.at > stop);
        let numbers = |of: Vec<&Captured>| of.iter().map(|it| it.packet.seq_end).collect::<BTreeSet<_>>();
        numbers(late).difference(&numbers(early)).count()
    };
    let (segments, most) = (after(linux_reno(2)), 2 * 148 * 4352 / 1448);
    assert!(segments > 74 && segments < most, "{segments}");
    let classic = Config { recovery: Recovery::NewReno(PartialAckTimer::First), reaction: Reaction::NONE, ..modern() };
    assert_eq!(after(classic), 0);
}
