//! Transfers: when they arrive, how long they take, whose packets are whose. And when sources stop.

use crate::common::net::{Net, bulk, cbr, poisson, quic, stage, telnet, transfers, web};
use crate::common::random::{conditioner, recording};
use crate::stats;
use perhop_core::math::pow;
use perhop_core::packet::flags;
use perhop_core::port::edge::{Per, StageSpec};
use perhop_core::units::{BitRate, Bytes, Span, Time};
use perhop_sim::plan::TapPoint;
use perhop_sim::record::Transfer;
use perhop_sim::traffic::law::Drawn;
use perhop_sim::traffic::transfers::Loop;
use perhop_sim::traffic::{TrafficParams, on_off};
use perhop_sim::transport::Config;
use perhop_sim::{Outcome, traffic};
use statrs::distribution::{ChiSquared, ContinuousCDF};

const DELAY: Span = Span::from_ms(10);
/// A segment of 1000 bytes and a SYN or ACK of 40 at 8 Mbit/s.
const SEGMENT: Span = Span::from_us(1000);
const ACK: Span = Span::from_us(40);

fn two_nodes(seconds: u64, rate: BitRate) -> Net {
    let mut net = Net::new(2, Span::from_s(seconds));
    net.duplex([0, 1], rate, DELAY);
    net
}

/// SYN and its ACK; two segments; their ACKs let two and one more go, which queue up behind each other.
#[test]
fn a_lone_transfer_takes_as_long_as_by_hand() {
    let mut net = two_nodes(10, BitRate::mbps(8));
    net.traffic([0, 1], transfers(5 * 960, Span::from_s(1), Loop::Closed)).tcp =
        Config { mss: 960, ..Config::default() };
    let outcome = net.run();
    let handshake = (ACK + DELAY) * 2;
    let first_ack = handshake + SEGMENT + DELAY + ACK + DELAY;
    let expected = first_ack + SEGMENT * 3 + DELAY;
    assert!(outcome.transfers.len() > 3);
    for transfer in &outcome.transfers {
        assert_eq!((transfer.bytes, transfer.complete - transfer.opened), (5 * 960, expected));
        assert_eq!(transfer.first - transfer.opened, handshake + SEGMENT + DELAY);
    }
    assert_eq!(outcome.tables[0].complete as usize, outcome.transfers.len());
    let done: u64 = outcome.transfers.iter().map(|t| t.bytes).sum();
    assert!((done..=done + 4 * 960).contains(&outcome.tables[0].goodput_bytes));
}

const SOURCES: u32 = 20;

/// Twenty clients that open a transfer each second, after another table; `seconds` long.
fn clients(seconds: u64) -> Outcome {
    let mut net = two_nodes(seconds, BitRate::mbps(100));
    net.traffic([0, 1], cbr(BitRate::kbps(8), 100)).flows = 3;
    let traffic = net.traffic([0, 1], transfers(5_000, Span::from_s(1), Loop::Open));
    traffic.flows = SOURCES;
    net.run()
}

/// Arrivals of an open loop are a Poisson process: the sum within four standard deviations, and the counts of the
/// sources as scattered as Poisson's (index of dispersion, chi-square, one seed in 1000 fails).
#[test]
fn open_loop_arrivals_are_poisson() {
    const SECONDS: u64 = 100;
    let outcome = clients(SECONDS);
    let mut counts = [0.0; SOURCES as usize];
    for transfer in &outcome.transfers {
        assert_eq!(transfer.table, 1);
        counts[transfer.source as usize] += 1.0;
    }
    let expected = f64::from(SOURCES) * SECONDS as f64;
    let total: f64 = counts.iter().sum::<f64>() + f64::from(outcome.tables[1].open);
    assert!((total - expected).abs() < 4.0 * expected.sqrt(), "{total}");
    let mean = total / f64::from(SOURCES);
    let dispersion: f64 = counts.iter().map(|c| pow(c - mean, 2.0) / mean).sum();
    let p = ChiSquared::new(f64::from(SOURCES) - 1.0).unwrap().cdf(dispersion);
    assert!((0.0005..0.9995).contains(&p), "{counts:?}");
}

/// In a closed loop the next transfer waits for the end of the one before, and then an exponential time: mean and
/// standard deviation are equal, each within four standard errors (1 and sqrt 2 of the mean over sqrt n).
#[test]
fn closed_loop_clients_think() {
    let think = Span::from_ms(200);
    let mut net = two_nodes(1000, BitRate::mbps(100));
    net.traffic([0, 1], transfers(5_000, think, Loop::Closed));
    let done = net.run().transfers;
    let times: Vec<f64> = done.windows(2).map(|t| (t[1].opened - t[0].complete).seconds()).collect();
    let (mean, n) = (think.seconds(), times.len() as f64);
    assert!(n > 3000.0);
    let (got, deviation) = (stats::mean(&times), stats::variance(&times).sqrt());
    assert!((got / mean - 1.0).abs() < 4.0 / n.sqrt(), "{got}");
    assert!((deviation / mean - 1.0).abs() < 4.0 * 2f64.sqrt() / n.sqrt(), "{deviation}");
}

/// The most transfers that are open, or have been complete for less than `after`, at a time.
fn most_at_a_time(transfers: &[Transfer], after: Span) -> usize {
    let covers = |at: Time| transfers.iter().filter(|t| t.opened <= at && at <= t.complete + after).count();
    transfers.iter().map(|t| covers(t.opened)).max().unwrap()
}

/// A connection's place is used again once its last ACK is through, so a run of any length needs no more places than
/// sources and transfers at a time.
#[test]
fn places_of_connections_are_used_again() {
    let outcome = clients(100);
    let most = most_at_a_time(&outcome.transfers, Span::from_ms(25));
    let places = outcome.headers.len() - 3;
    assert!(outcome.transfers.len() > 1500 && most < 20, "{} transfers, {most} at a time", outcome.transfers.len());
    assert!(places <= SOURCES as usize + most, "{places} places, {most} at a time");
}

/// Bursts of datagrams fill a deep queue, round trips jump, senders repeat in vain, and a connection is over while
/// retransmissions are still in flight. When its place is given to another, none of its packets may be left.
#[test]
fn no_packet_of_an_old_connection_is_left_for_a_new_one() {
    let mut net = two_nodes(300, BitRate::mbps(1));
    let (rate, size) = (BitRate::mbps(2), Bytes::new(1000));
    let (on, off) = (Span::from_s(1), Span::from_ms(2000));
    net.traffic([0, 1], TrafficParams::OnOff(on_off::Params { rate, size, on, off }));
    net.traffic([0, 1], transfers(3_000, Span::from_ms(300), Loop::Open));
    net.tap_all();
    let outcome = net.run();
    assert!(outcome.tables[1].tcp.unwrap().retransmitted > 200);
    assert_eq!(outcome.ports.hops.iter().map(|h| h.fates.lost().packets).sum::<u64>(), 0, "every repeat is in vain");
    let mut under_way = vec![0i64; outcome.headers.len()];
    let mut opened = outcome.transfers.iter().map(|t| t.opened).collect::<Vec<_>>();
    opened.sort_unstable();
    let mut openings = 0;
    for packet in &outcome.captured {
        let place = (packet.packet.flow.0 / 2) as usize;
        let first_syn = packet.point == TapPoint::Input && packet.packet.flags == flags::SYN;
        if first_syn && opened.binary_search(&packet.at).is_ok() {
            openings += 1;
            assert_eq!(under_way[place], 0, "place {place} at {}", packet.at);
        }
        under_way[place] += if packet.point == TapPoint::Input { 1 } else { -1 };
    }
    assert_eq!(openings, outcome.transfers.len());
    assert!(openings > 10 * outcome.headers.len());
}

/// A tagger for each flow, and places that are used again: what earlier connections had tagged still counts.
#[test]
fn tallies_outlive_the_instance_of_a_flow() {
    let mut net = two_nodes(20, BitRate::mbps(100));
    net.plan.warmup = Span::from_s(5);
    net.traffic([0, 1], transfers(5_000, Span::from_ms(200), Loop::Closed)).flows = 2;
    let tagger = stage("tagger", conditioner("pps-tagger", [1, 1], 1));
    net.plan.links[0].edge = vec![StageSpec { per: Per::Flow, ..tagger }];
    net.tap_all();
    let outcome = net.run();
    let out = outcome.captured.iter().filter(|c| c.link == 0 && c.point == TapPoint::Input);
    let sent = out.filter(|c| c.at > Time::ZERO + Span::from_s(5)).count();
    let tagged = outcome.ports.tallies.iter().find(|t| t.quantity == "tagged_packets").unwrap().value;
    assert!(outcome.transfers.len() > 10 * outcome.headers.len());
    assert_eq!(tagged as usize, sent);
}

/// Every model of the list, at a rate that leaves nothing waiting.
fn model(name: &str) -> TrafficParams {
    let (rate, size, gap) = (BitRate::kbps(800), 1000, Span::from_ms(100));
    match name {
        "ftp" => bulk(),
        "cbr" => cbr(rate, size),
        "poisson" => poisson(rate, size),
        "on-off" => TrafficParams::OnOff(on_off::Params { rate, size: Bytes::new(size), on: gap, off: gap }),
        "transfers" => transfers(size, gap, Loop::Open),
        "app-limited" => TrafficParams::AppLimited(traffic::app_limited::Params { rate }),
        "web" => TrafficParams::Web(web([1000, 2], size, gap)),
        "capture" => TrafficParams::Capture(recording(800, size)),
        "quic" => quic(None),
        "telnet" => telnet(Drawn::Constant(1000), Span::from_ms(20)),
        other => panic!("the tests do not know the traffic model {other}"),
    }
}

/// From `stop` on a source offers nothing more; what TCP has begun, a transfer or a window, it brings to its end.
#[test]
fn sources_stop() {
    let stop = Time::ZERO + Span::from_s(2);
    for name in traffic::NAMES {
        let mut net = two_nodes(10, BitRate::mbps(8));
        net.traffic([0, 1], model(name)).stop = Some(stop);
        net.tap_all();
        let outcome = net.run();
        // QUIC says that its stream is over, and acknowledges: small packets.
        let said = if *name == "quic" { 100 } else { 0 };
        let sent: Vec<Time> = outcome
            .captured
            .iter()
            .filter(|c| c.link == 0 && c.point == TapPoint::Input && c.packet.payload > said)
            .map(|c| c.at)
            .collect();
        let last = *sent.last().unwrap();
        let grace = Span::from_ms(if ["transfers", "web"].contains(name) { 50 } else { 0 });
        assert!(sent.len() > 10 && last > Time::ZERO + Span::from_ms(1500), "{name}: last at {last}");
        assert!(last <= stop + grace, "{name} is still sending at {last}");
    }
}
