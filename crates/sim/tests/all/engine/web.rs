//! Web users: what they ask for, of whom and when, and how long they wait.

use crate::common::net::{Net, web};
use crate::stats;
use perhop_core::math::pow;
use perhop_core::units::{BitRate, Packets, Probability, Span, Time};
use perhop_sim::Outcome;
use perhop_sim::plan::TapPoint;
use perhop_sim::record::Captured;
use perhop_sim::record::Transfer;
use perhop_sim::traffic::TrafficParams;
use perhop_sim::traffic::law::{Drawn, Law, LawName};
use perhop_sim::traffic::web::Params;
use perhop_sim::transport::Config;
use proptest::prelude::*;
use statrs::distribution::{ChiSquared, ContinuousCDF};
use std::net::IpAddr;

const DELAY: Span = Span::from_ms(10);
/// A segment of 1000 bytes and a SYN or ACK of 40 at 8 Mbit/s.
const SEGMENT: Span = Span::from_us(1000);
const ACK: Span = Span::from_us(40);
const HANDSHAKE: Span = Span::from_us(2 * 10_040);
const MSS: u64 = 960;

/// Users at node 0, each server behind two separate links (`2 k` to the server, `2 k + 1` from it) of 8 Mbit/s.
fn users(seconds: u64, (flows, servers): (u32, usize), model: Params) -> Net {
    let mut net = Net::new(1 + servers, Span::from_s(seconds));
    (1..=servers).for_each(|server| net.duplex([0, server], BitRate::mbps(8), DELAY));
    let traffic = net.traffic([1, 0], TrafficParams::Web(model));
    traffic.from = (1..=servers).collect();
    traffic.flows = flows;
    traffic.tcp = Config { mss: MSS as u16, ..Config::default() };
    net
}

/// Handshake; request; the first segment back. Two segments go at once, their ACKs let two and one more go, which queue
/// up behind each other.
#[test]
fn a_lone_object_takes_as_long_as_by_hand() {
    let outcome = users(300, (1, 1), web([20, 1], 5 * MSS, Span::from_s(3))).run();
    assert_eq!(outcome.transfers.len(), 20);
    let first = HANDSHAKE + (SEGMENT + DELAY) * 2;
    let last = first + ACK + DELAY + SEGMENT * 3 + DELAY;
    for object in &outcome.transfers {
        assert_eq!((object.first - object.opened, object.complete - object.opened), (first, last));
    }
}

/// Without a SYN the request goes at once. One that needs two segments is answered when both are there.
#[test]
fn a_request_may_need_no_handshake_and_several_packets() {
    let mut net = users(100, (1, 1), Params { request: Packets::new(2), ..web([5, 1], MSS, Span::from_s(1)) });
    net.plan.traffic[0].tcp.syn = false;
    let outcome = net.run();
    assert_eq!(outcome.transfers.len(), 5);
    for object in &outcome.transfers {
        assert_eq!(object.complete - object.opened, SEGMENT * 2 + DELAY + SEGMENT + DELAY);
    }
}

fn payload(outcome: &Outcome, (link, point): (u32, TapPoint)) -> impl Iterator<Item = &Captured> {
    outcome.captured.iter().filter(move |c| (c.link, c.point) == (link, point) && c.packet.payload > 0)
}

/// On a wire that loses one packet in four on the way to the server, the request among them: it is repeated after the
/// time-out, which the handshake's round trip of 20 ms has set to its minimum, and then twice that.
#[test]
fn a_lost_request_is_repeated() {
    let mut net = users(20_000, (1, 1), web([400, 1], MSS, Span::from_s(30)));
    net.plan.links[0].loss = Probability::new(0.25).unwrap();
    net.tap_all();
    let outcome = net.run();
    assert_eq!(outcome.transfers.len(), 400);
    let mut repeats = [0; 3];
    for object in &outcome.transfers {
        let asked = |c: &&Captured| object.opened <= c.at && c.at <= object.complete;
        let sent: Vec<_> = payload(&outcome, (0, TapPoint::Input)).filter(asked).map(|c| c.at).collect();
        let arrived = payload(&outcome, (0, TapPoint::Output)).find(asked).unwrap().at;
        assert_eq!(object.first, arrived + SEGMENT + DELAY, "the answer waits for the request alone");
        if sent[0] - object.opened == HANDSHAKE {
            let lost = sent.iter().filter(|&&at| at + SEGMENT + DELAY < arrived).count();
            let waited = Span::from_ms([0, 200, 600][lost.min(2)]);
            assert!(lost > 2 || object.first - object.opened == HANDSHAKE + waited + (SEGMENT + DELAY) * 2);
            repeats[lost.min(2)] += 1;
        }
    }
    assert!(repeats.iter().all(|&n| n > 5), "{repeats:?}");
    assert_eq!(outcome.tables[0].goodput_bytes, 400 * MSS, "requests are not goodput");
}

/// The same in the other direction: the server's time-out knows the round trip of the handshake, and is not the initial
/// 3 s.
#[test]
fn a_lost_answer_is_repeated_as_soon_as_a_lost_request() {
    let mut net = users(20_000, (1, 1), web([400, 1], MSS, Span::from_s(30)));
    net.plan.links[1].loss = Probability::new(0.25).unwrap();
    net.tap_all();
    let outcome = net.run();
    assert_eq!(outcome.transfers.len(), 400);
    let mut repeats = [0; 3];
    for object in &outcome.transfers {
        let shown = |c: &&Captured| object.opened <= c.at && c.at <= object.complete;
        let asked = payload(&outcome, (0, TapPoint::Input)).find(shown).unwrap().at;
        let answers = payload(&outcome, (1, TapPoint::Input)).filter(shown).count();
        if asked - object.opened == HANDSHAKE && answers <= 3 {
            let waited = Span::from_ms([0, 200, 600][answers - 1]);
            let late = (object.first - object.opened) - (HANDSHAKE + (SEGMENT + DELAY) * 2 + waited);
            // If its ACK was lost as well, the request comes again just then, and is acknowledged first.
            assert!(late == Span::ZERO || answers > 1 && late == ACK, "{late} after {answers}");
            repeats[answers - 1] += 1;
        }
    }
    assert!(repeats.iter().all(|&n| n > 5), "{repeats:?}");
}

/// The objects of each page of each user.
fn pages(outcome: &Outcome) -> Vec<Vec<Transfer>> {
    let mut objects = outcome.transfers.clone();
    objects.sort_by_key(|t| (t.source, t.page.unwrap().page, t.opened));
    let same = |a: &Transfer, b: &Transfer| (a.source, a.page) == (b.source, b.page);
    objects.chunk_by(same).map(<[Transfer]>::to_vec).collect()
}

fn uniform(min: u32, max: u32) -> Drawn<u32> {
    let (min, max) = (Some(min), Some(max));
    Drawn::Law(Law { law: LawName::Uniform, mean: None, scale: None, shape: None, min, max })
}

fn end(page: &[Transfer]) -> Time {
    page.iter().map(|t| t.complete).max().unwrap()
}

/// Objects of a page are asked for one gap apart, of one server; the next page waits for the last of them and then an
/// exponential time (mean and deviation within four standard errors). Servers are drawn equally often (chi-square, one
/// seed in 1000 fails).
#[test]
fn pages_follow_each_other() {
    let gap = Span::from_ms(500);
    let model = Params { objects: Box::new(uniform(1, 5)), ..web([100, 0], 3 * MSS, gap) };
    let outcome = users(1000, (20, 3), model).run();
    let pages = pages(&outcome);
    assert_eq!((pages.len(), outcome.tables[0].open), (2000, 0));
    let (mut gaps, mut servers) = (Vec::new(), [0.0; 3]);
    for (page, next) in pages.iter().zip(pages.iter().skip(1)) {
        assert_eq!(page.len(), page[0].page.unwrap().objects as usize);
        assert!(page.iter().all(|t| t.sender == page[0].sender));
        servers[page[0].sender as usize] += 1.0;
        let steps = page.windows(2).map(|t| (t[1].opened - t[0].opened).ns());
        assert!(steps.into_iter().all(|ns| ns == 10_000_000));
        if page[0].source == next[0].source {
            gaps.push((next[0].opened - end(page)).seconds());
        }
    }
    let (n, mean) = (gaps.len() as f64, gap.seconds());
    let (got, deviation) = (stats::mean(&gaps), stats::variance(&gaps).sqrt());
    assert!((got / mean - 1.0).abs() < 4.0 / n.sqrt(), "{got}");
    assert!((deviation / mean - 1.0).abs() < 4.0 * 2f64.sqrt() / n.sqrt(), "{deviation}");
    let each = pages.len() as f64 / 3.0;
    let distance: f64 = servers.iter().map(|n| pow(n - each, 2.0) / each).sum();
    assert!(ChiSquared::new(2.0).unwrap().cdf(distance) < 0.999, "{servers:?}");
}

/// Without `session-gap` a user has one session, with it one after the other.
#[test]
fn sessions_follow_each_other_where_asked() {
    let model = web([3, 2], MSS, Span::from_ms(100));
    let once = users(100, (5, 1), model.clone()).run();
    assert_eq!(once.transfers.len(), 5 * 3 * 2);
    let again =
        users(100, (5, 1), Params { session_gap: Some(Box::new(Drawn::Constant(Span::from_s(7)))), ..model }).run();
    let pages = pages(&again);
    assert!(pages.len() > 5 * 3 * 8);
    for (page, next) in pages.iter().zip(pages.iter().skip(1)).filter(|(a, b)| a[0].source == b[0].source) {
        let [before, after] = [page, next].map(|p| p[0].page.unwrap());
        assert_eq!((before.session, after.session), (before.page / 3, after.page / 3));
        let constant = next[0].opened - end(page) == Span::from_s(7);
        assert_eq!(constant, before.session != after.session);
    }
}

/// Data comes from the server drawn for the page, over its links; requests go there. The 5-tuple shows it.
#[test]
fn packets_have_the_addresses_of_their_ways() {
    let mut net = users(60, (5, 3), web([10, 2], 4 * MSS, Span::from_ms(300)));
    net.tap_all();
    let outcome = net.run();
    let address = |node: usize| IpAddr::V4(net.plan.nodes[node].address);
    for server in 0..3 {
        let ends = [address(0), address(server as usize + 1)];
        let (mut data, mut requests) = (0, 0);
        for c in payload(&outcome, (2 * server + 1, TapPoint::Input)) {
            let headers = &outcome.headers[c.packet.flow.0 as usize / 2];
            assert_eq!([headers.destination, headers.source], ends);
            data += 1;
        }
        for c in payload(&outcome, (2 * server, TapPoint::Input)) {
            let headers = &outcome.headers[c.packet.flow.0 as usize / 2];
            assert_eq!([headers.source, headers.destination], ends);
            requests += 1;
        }
        let objects = outcome.transfers.iter().filter(|t| t.sender == server).count();
        assert_eq!((data, requests), (4 * objects, objects));
        assert!(objects > 10);
    }
}

/// Places of connections are used again, on their own way.
#[test]
fn places_are_used_again() {
    let outcome = users(300, (3, 2), web([100, 3], 4 * MSS, Span::from_ms(500))).run();
    assert_eq!(outcome.transfers.len(), 3 * 100 * 3);
    // At most nine objects at a time, each with two halves, on each of two ways; a few end late.
    assert!(outcome.headers.len() <= 2 * 2 * 12, "{}", outcome.headers.len());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 50, failure_persistence: None, ..ProptestConfig::default() })]

    /// On a network that loses nothing or a little, with time enough, every object comes complete, and every byte of it
    /// is delivered once.
    #[test]
    fn every_object_completes(
        (pages, objects) in (1u32..4, 1u32..6), size in 1u64..60_000, whole in any::<bool>(), request in 1u32..4,
        loss in prop_oneof![Just(0.0), 0.0..0.05f64], syn in any::<bool>(), kbps in 100u64..10_000,
    ) {
        let model = Params {
            whole_packets: whole,
            request: Packets::new(request),
            ..web([pages, objects], size, Span::from_ms(200))
        };
        let mut net = users(20_000, (2, 2), model);
        net.plan.traffic[0].tcp.syn = syn;
        for link in &mut net.plan.links {
            (link.loss, link.rate) = (Probability::new(loss).unwrap(), BitRate::kbps(kbps));
        }
        let outcome = net.run();
        let bytes = if whole { size.div_ceil(MSS) * MSS } else { size };
        prop_assert_eq!(outcome.tables[0].open, 0);
        prop_assert_eq!(outcome.transfers.len() as u32, 2 * pages * objects);
        prop_assert!(outcome.transfers.iter().all(|t| t.bytes == bytes && t.opened < t.first && t.first <= t.complete));
        prop_assert_eq!(outcome.tables[0].goodput_bytes, outcome.transfers.iter().map(|t| t.bytes).sum::<u64>());
    }
}
