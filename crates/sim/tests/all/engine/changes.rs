//! Timed changes against hand-computed results, and what they leave unchanged.

use crate::common::net::{self, Net, bulk, cbr, red, stage, transfers};
use crate::common::random::{any_net, changed};
use perhop_core::Scope;
use perhop_core::aqm::AqmParams;
use perhop_core::aqm::early::{Profile, Weight};
use perhop_core::conditioner::{ConditionerParams, token_bucket};
use perhop_core::packet::Colour;
use perhop_core::port::edge::{Per, StageSpec};
use perhop_core::units::{BitRate, Bytes, Length, Packets, Probability, Span, Time};
use perhop_sim::plan::{Alteration, Change, Sampling};
use perhop_sim::plan::{Tap, TapPoint};
use perhop_sim::traffic::{TrafficParams, transfers::Loop};
use perhop_sim::{EngineOptions, Outcome, Simulation};
use proptest::prelude::*;

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

fn at(time: Time, what: Vec<Alteration>) -> Change {
    Change { at: time, what }
}

/// When packets passed a tap.
fn times(outcome: &Outcome, point: TapPoint) -> Vec<Time> {
    outcome.captured.iter().filter(|c| c.point == point).map(|c| c.at).collect()
}

/// One link of 10 Mbit/s with 1 ms of delay, tapped at both ends; 1000 B packets at 800 kbit/s, one in 10 ms.
fn steady(milliseconds: u64) -> Net {
    let mut net = Net::new(2, Span::from_ms(milliseconds));
    net.duplex([0, 1], BitRate::mbps(10), Span::from_ms(1));
    net.traffic([0, 1], cbr(BitRate::kbps(800), 1000));
    net.plan.probes.taps = [TapPoint::Input, TapPoint::Output].map(|point| Tap { link: 0, point }).to_vec();
    net
}

/// Twice the rate from 1 s. The packet at 1.000 s comes before a change at 1.000 s; the one at 1.010 s is due already.
#[test]
fn a_source_keeps_its_next_packet_and_then_its_new_rate() {
    for change in [1000, 1005, 1009] {
        let mut net = steady(2000);
        let params = cbr(BitRate::kbps(1600), 1000);
        net.plan.changes = vec![at(ms(change), vec![Alteration::Traffic { table: 0, params }])];
        let sent = times(&net.run(), TapPoint::Input);
        let expected: Vec<_> = (0..=100).map(|k| ms(10 * k)).chain((0..=198).map(|k| ms(1010 + 5 * k))).collect();
        assert_eq!(sent, expected, "change at {change} ms");
    }
}

#[test]
fn a_source_that_changes_twice_at_its_own_time() {
    let mut net = steady(1000);
    let change = |t, kbps| at(ms(t), vec![Alteration::Traffic { table: 0, params: cbr(BitRate::kbps(kbps), 1000) }]);
    net.plan.changes = vec![change(300, 1600), change(600, 400)];
    let sent = times(&net.run(), TapPoint::Input);
    let expected: Vec<_> = (0..=30)
        .map(|k| ms(10 * k))
        .chain((0..59).map(|k| ms(310 + 5 * k)))
        .chain((0..=19).map(|k| ms(605 + 20 * k)))
        .collect();
    assert_eq!(sent, expected);
}

fn bucket(kbps: u64) -> ConditionerParams {
    ConditionerParams::TokenBucketMarker(token_bucket::Params::new(BitRate::kbps(kbps), Bytes::new(1500)))
}

fn conditioner(link: usize, name: &str, params: ConditionerParams) -> Alteration {
    Alteration::Conditioner { link, name: name.into(), params, scope: Scope::default() }
}

/// 1500 B of credit, 1000 B a packet each 10 ms. At 80 kbit/s 100 B come in 10 ms: green are packets 0 (500 B left), 5
/// (1000 B, none left), then every tenth. From 455 ms on 200 B come: 45 leaves none, 46 finds 50 + 100, and each
/// further one 200 more, so 51 finds 1150; 150 are left, and so each fifth is green.
#[test]
fn a_bucket_fills_at_the_new_rate_from_then_on() {
    let mut net = steady(995);
    net.plan.links[0].edge = vec![stage("m", bucket(80))];
    net.plan.changes = vec![at(ms(455), vec![conditioner(0, "m", bucket(160))])];
    let captured = net.run().captured;
    let out = captured.iter().filter(|c| c.point == TapPoint::Output);
    let green: Vec<_> = out.enumerate().filter(|(_, c)| c.packet.colour == Colour::Green).map(|(i, _)| i).collect();
    assert_eq!(green, [0, 5, 15, 25, 35, 45, 51, 56, 61, 66, 71, 76, 81, 86, 91, 96]);
}

/// A full bucket that is cut from 3000 B to 2000 B: the sample at that very time still shows the old one, the end of the
/// warm-up comes before both.
#[test]
fn a_sample_at_the_time_of_a_change_shows_what_held_until_then() {
    let of = |cbs| token_bucket::Params::new(BitRate::mbps(10), Bytes::new(cbs));
    let of = |cbs| ConditionerParams::TokenBucketMarker(of(cbs));
    let mut net = steady(1005);
    net.plan.links[1].edge = vec![stage("m", of(3000))];
    net.plan.sampling = Some(Sampling::all(Span::from_ms(500)));
    net.plan.warmup = Span::from_ms(500);
    net.plan.changes = vec![at(ms(500), vec![conditioner(1, "m", of(2000))])];
    let samples = net.run().series.ports;
    let levels: Vec<_> = samples.iter().filter(|s| s.quantity == "bucket_bytes").map(|s| s.value).collect();
    assert_eq!(levels, [3000.0, 3000.0, 2000.0]);
}

/// A transfer of two segments (1000 B each after a SYN of 40 B) finds its own bucket, which hardly fills: with 1500 B
/// the second segment is red, with 2500 B none. Transfers after the change have the deeper one.
#[test]
fn instances_made_later_have_the_new_parameters() {
    let of = |cbs| token_bucket::Params::new(BitRate::bps(1), Bytes::new(cbs));
    let of = |cbs| ConditionerParams::TokenBucketMarker(of(cbs));
    let mut net = Net::new(2, Span::from_s(60));
    net.duplex([0, 1], BitRate::mbps(10), Span::from_ms(1));
    net.traffic([0, 1], transfers(2 * 960, Span::from_ms(500), Loop::Open)).tcp.mss = 960;
    net.plan.links[0].edge = vec![per_flow(of(1500))];
    net.plan.changes = vec![at(ms(30_000), vec![conditioner(0, "m", of(2500))])];
    net.plan.probes.taps = vec![Tap { link: 0, point: TapPoint::Output }];
    let captured = net.run().captured;
    let segments: Vec<_> = captured.iter().filter(|c| c.packet.payload > 0).collect();
    let green = |from: Time, to: Time| {
        let within: Vec<_> = segments.iter().filter(|c| c.at >= from && c.at < to).collect();
        (within.iter().filter(|c| c.packet.colour == Colour::Green).count(), within.len())
    };
    let (before, n) = green(ms(0), ms(29_900));
    assert!(n > 60 && before * 2 == n, "{before} of {n}");
    let (after, n) = green(ms(30_100), ms(60_000));
    assert!(n > 60 && after == n, "{after} of {n}");
}

fn per_flow(params: ConditionerParams) -> StageSpec {
    StageSpec { per: Per::Flow, ..stage("m", params) }
}

/// Four packets of 8 ms at 1 Mbit/s that come at 0, 1, 2 and 3 ms, with 2 Mbit/s (4 ms) from `change` on.
fn four_packets(change: Time) -> Vec<Time> {
    let mut net = Net::new(2, Span::from_s(1));
    net.link([0, 1], BitRate::mbps(1), Span::from_ms(1));
    net.link([1, 0], BitRate::mbps(1), Span::from_ms(1));
    net.traffic([0, 1], cbr(BitRate::mbps(8), 1000)).stop = Some(ms(4));
    net.plan.probes.taps = vec![Tap { link: 0, point: TapPoint::Output }];
    net.plan.changes = vec![at(change, vec![Alteration::Rate { link: 0, rate: BitRate::mbps(2) }])];
    times(&net.run(), TapPoint::Output)
}

/// The packet in transmission keeps its rate; one whose transmission begins when the rate changes began before.
#[test]
fn a_link_sends_the_next_packet_at_its_new_rate() {
    assert_eq!(four_packets(ms(12)), [9, 17, 21, 25].map(ms));
    assert_eq!(four_packets(ms(16)), [9, 17, 25, 29].map(ms));
    assert_eq!(four_packets(ms(500)), [9, 17, 25, 33].map(ms));
}

/// The idle link takes its new rate as well, and a slower one.
#[test]
fn an_idle_link_changes_too() {
    let mut net = steady(1000);
    net.plan.changes = vec![
        at(ms(305), vec![Alteration::Rate { link: 0, rate: BitRate::mbps(2) }]),
        at(ms(605), vec![Alteration::Rate { link: 0, rate: BitRate::mbps(1) }]),
    ];
    let outcome = net.run();
    let sent = times(&outcome, TapPoint::Input);
    for (sent, came) in sent.iter().zip(times(&outcome, TapPoint::Output)) {
        let transmission = match sent {
            t if *t < ms(305) => Span::from_us(800),
            t if *t < ms(605) => Span::from_ms(4),
            _ => Span::from_ms(8),
        };
        assert_eq!(came - *sent, transmission + Span::from_ms(1), "sent at {sent}");
    }
}

/// RED on the instantaneous queue that drops from `max` waiting on, and nothing before.
fn step(max: Length) -> AqmParams {
    let mut params = red(1, 2, 0.0);
    let min = match max {
        Length::Packets(_) => Length::Packets(Packets::new(1)),
        _ => Length::Bytes(Bytes::new(1)),
    };
    let max_p = Probability::new(0.0).unwrap();
    (params.profile, params.common.weight) = (Profile { min, max, max_p }.into(), Weight(1.0));
    AqmParams::Red(params)
}

/// Packets waiting every 10 ms when twice as much arrives as the link can send.
fn waiting(net: &mut Net) -> Vec<(Time, f64)> {
    net.plan.sampling = Some(Sampling::all(Span::from_ms(10)));
    let samples = net.run().series.ports;
    let of_queue = samples.iter().filter(|s| s.link == 0 && s.quantity == "queue_packets");
    of_queue.map(|s| (s.at, s.value)).collect()
}

/// The longest queue of a stretch of the run.
fn longest(waiting: &[(Time, f64)], from: Time, to: Time) -> f64 {
    waiting.iter().filter(|w| w.0 >= from && w.0 < to).map(|w| w.1).fold(0.0, f64::max)
}

fn overloaded(aqm: AqmParams) -> Net {
    let mut net = Net::new(2, Span::from_s(2));
    net.duplex([0, 1], BitRate::mbps(1), Span::from_ms(1));
    net.traffic([0, 1], cbr(BitRate::mbps(2), 1000));
    net.plan.links[0].queues[0].aqm = aqm;
    net
}

#[test]
fn an_aqm_takes_new_thresholds() {
    let packets = |n| step(Length::Packets(Packets::new(n)));
    let mut net = overloaded(packets(5));
    let change =
        Alteration::Aqm { link: 0, queue: 0, params: packets(10), scope: net.plan.links[0].queues[0].scope.clone() };
    net.plan.changes = vec![at(ms(1000), vec![change])];
    let waiting = waiting(&mut net);
    assert_eq!(longest(&waiting, ms(0), ms(1000)), 5.0);
    assert_eq!(longest(&waiting, ms(1000), ms(2000)), 10.0);
}

/// A threshold of 40 ms is 5000 B at 1 Mbit/s. With the link's rate it falls to 2500 B: two packets of 1000 B wait, and
/// a third that comes finds 2000 B and waits too.
#[test]
fn thresholds_in_time_follow_the_rate() {
    let mut net = overloaded(step(Length::Time(Span::from_ms(40))));
    let rate = BitRate::kbps(500);
    let scope = Scope { link_rate: Some(rate), ..net.plan.links[0].queues[0].scope.clone() };
    let aqm = Alteration::Aqm { link: 0, queue: 0, params: net.plan.links[0].queues[0].aqm.clone(), scope };
    net.plan.changes = vec![at(ms(1000), vec![Alteration::Rate { link: 0, rate }, aqm])];
    let waiting = waiting(&mut net);
    assert_eq!(longest(&waiting, ms(0), ms(1000)), 5.0);
    assert_eq!(longest(&waiting, ms(1300), ms(2000)), 3.0);
}

/// Every row of the outcome but the number of events: changes are events of the clock, and a link whose rate changes has
/// an event at the end of each transmission.
fn rows(net: &Net, options: EngineOptions) -> String {
    let mut outcome = net.run_with(options);
    outcome.work.events = 0;
    format!("{outcome:?}")
}

/// A change for everything that can change, to what is in force already.
fn restated(net: &Net) -> Vec<Alteration> {
    let links = net.plan.links.iter().enumerate();
    let mut what: Vec<_> = links
        .flat_map(|(link, it)| {
            let edge = it.edge.iter().map(move |spec| Alteration::Conditioner {
                link,
                name: spec.name.clone(),
                params: spec.params.clone(),
                scope: spec.scope.clone(),
            });
            let aqms = it.queues.iter().enumerate().map(move |(queue, it)| Alteration::Aqm {
                link,
                queue,
                params: it.aqm.clone(),
                scope: it.scope.clone(),
            });
            let scheduler =
                it.scheduler().into_iter().map(move |it| Alteration::Scheduler { link, node: 0, params: it.clone() });
            edge.chain([Alteration::Rate { link, rate: it.rate }]).chain(aqms).chain(scheduler)
        })
        .collect();
    let traffic = net.plan.traffic.iter().enumerate();
    what.extend(traffic.map(|(table, it)| Alteration::Traffic { table, params: it.model.clone() }));
    what
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, max_shrink_iters: 50, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_in_force_already_changes_nothing(mut net in any_net(), when in 1u64..1_900_000) {
        net.tap_all();
        let without = rows(&net, EngineOptions::default());
        let what = restated(&net);
        net.plan.changes = vec![at(Time::ZERO + Span::from_us(when), what.clone()), at(ms(1900), what)];
        prop_assert!(rows(&net, EngineOptions::default()) == without);
    }

    #[test]
    fn changes_are_the_same_every_time_and_on_both_kinds_of_link(mut net in changed(any_net())) {
        net.tap_all();
        prop_assert!(!net.plan.changes.is_empty());
        let [first, second] = [0, 1].map(|_| format!("{:?}", net.run()));
        prop_assert!(first == second);
        let [known, event] = [false, true].map(|transmit_done| rows(&net, EngineOptions { transmit_done }));
        prop_assert!(known == event);
    }
}

fn refusal(net: &Net) -> String {
    Simulation::new(net.plan.clone(), EngineOptions::default()).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn a_plan_with_a_change_that_nothing_could_take_is_refused() {
    let mut net = steady(1000);
    net.plan.links[0].edge = vec![stage("m", bucket(80))];
    net.plan.links[0].queues[0].aqm = step(Length::Packets(Packets::new(5)));
    let scope = net.plan.links[0].queues[0].scope.clone();
    let mut said = |what: Alteration| {
        net.plan.changes = vec![at(ms(500), vec![what])];
        refusal(&net)
    };
    let shallow = token_bucket::Params::new(BitRate::kbps(80), Bytes::new(100));
    assert!(said(conditioner(0, "m", ConditionerParams::TokenBucketMarker(shallow))).contains("E212"));
    let bytes = step(Length::Bytes(Bytes::new(5000)));
    assert!(said(Alteration::Aqm { link: 0, queue: 0, params: bytes, scope: scope.clone() }).contains("E202"));
    assert!(said(Alteration::Aqm { link: 0, queue: 0, params: net::drop_tail(), scope }).contains("E202"));
    assert!(said(Alteration::Rate { link: 0, rate: BitRate::bps(0) }).contains("E201"));
    assert!(said(Alteration::Traffic { table: 0, params: cbr(BitRate::bps(0), 100) }).contains("E201"));
    assert!(said(Alteration::Traffic { table: 0, params: bulk() }).contains("E202"));
    net.plan.changes = vec![at(ms(500), vec![]), at(ms(400), vec![])];
    assert!(refusal(&net).contains("order of time"));
}

/// TCP over a link that loses: from `stop` on nothing new is sent, what was sent arrives in the end, and then all is still.
#[test]
fn a_bulk_source_that_stops_ends_its_flow() {
    let mut net = Net::new(2, Span::from_s(100));
    net.duplex([0, 1], BitRate::mbps(8), Span::from_ms(10));
    net.plan.links[0].loss = Probability::new(0.05).unwrap();
    let traffic = net.traffic([0, 1], bulk());
    (traffic.stop, traffic.tcp.mss) = (Some(ms(20_000)), 960);
    net.plan.probes.taps = vec![Tap { link: 0, point: TapPoint::Input }];
    let outcome = net.run();
    let sent = |before: bool| outcome.captured.iter().filter(move |c| (c.at < ms(20_000)) == before);
    let highest = sent(true).map(|c| c.packet.seq_end).max().unwrap();
    assert!(sent(true).count() > 1000);
    assert!(sent(false).all(|c| c.packet.seq_end <= highest), "repeats alone");
    let last = sent(true).chain(sent(false)).last().unwrap().at;
    assert!(last < ms(30_000), "still sending at {last}");
    assert_eq!(u64::from(highest - 1), outcome.flows[0].goodput_bytes, "all of it has arrived");
}

/// Without spread the start is exact: the SYN leaves at 100 s sharp, and nothing before.
#[test]
fn a_source_starts_exactly_when_it_is_told() {
    for model in [bulk(), cbr(BitRate::mbps(1), 1000), TrafficParams::AppLimited(app_limited())] {
        let mut net = Net::new(2, Span::from_s(101));
        net.duplex([0, 1], BitRate::mbps(8), Span::from_ms(10));
        let traffic = net.traffic([0, 1], model);
        (traffic.start, traffic.flows) = (ms(100_000), 3);
        net.plan.probes.taps = vec![Tap { link: 0, point: TapPoint::Input }];
        let sent = times(&net.run(), TapPoint::Input);
        assert_eq!(sent[..4].iter().filter(|t| **t == ms(100_000)).count(), 3, "{:?}", &sent[..4]);
        assert_eq!(sent[0], ms(100_000));
    }
}

fn app_limited() -> perhop_sim::traffic::app_limited::Params {
    perhop_sim::traffic::app_limited::Params { rate: BitRate::mbps(1) }
}

/// Flow 0 goes from node 0 to 1, flow 1 from 2 to 3; a port is told the flows that pass it, so that the first of its
/// instances, whose gauges are in the series, is one of them: its bucket is drained.
#[test]
fn a_port_knows_only_the_flows_that_come_to_it() {
    let mut net = Net::new(4, Span::from_s(1));
    net.duplex([0, 1], BitRate::mbps(10), Span::from_ms(1));
    net.duplex([2, 3], BitRate::mbps(10), Span::from_ms(1));
    for ends in [[0, 1], [2, 3]] {
        net.traffic(ends, cbr(BitRate::kbps(800), 1000));
    }
    net.plan.links[2].edge = vec![per_flow(bucket(80))];
    net.plan.sampling = Some(Sampling::all(Span::from_ms(100)));
    let samples = net.run().series.ports;
    let levels = samples.iter().filter(|s| s.quantity == "bucket_bytes" && s.at > Time::ZERO);
    let levels: Vec<_> = levels.map(|s| s.value).collect();
    assert!(levels.len() >= 9 && levels.iter().all(|&level| level < 1200.0), "{levels:?}");
}
