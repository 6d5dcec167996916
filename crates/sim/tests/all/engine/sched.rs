//! Schedulers at work: one class is a FIFO, the link never idles, shares and priorities hold, waits are those of theory.

use crate::common::net::{self, Net, bulk, cbr, poisson, red};
use crate::common::random::{any_net, classed, scheduler};
use crate::stats;
use perhop_core::aqm::AqmParams;
use perhop_core::dscp::Dscp;
use perhop_core::packet::Colour;
use perhop_core::port::{Limit, NodeSpec, QueueSpec, Side};
use perhop_core::units::{BitRate, Span, Time};
use perhop_sim::plan::TapPoint;
use perhop_sim::plan::{Alteration, Change, Sampling};
use perhop_sim::record::Captured;
use perhop_sim::record::Outcome;
use perhop_sim::record::Sample;
use perhop_sim::transport::Bursts;
use proptest::prelude::*;

const RATE: BitRate = BitRate::mbps(10);
const DELAY: Span = Span::from_ms(1);
/// Codes of green, yellow and red packets.
const CODES: [&str; 3] = ["AF11", "AF12", "AF13"];

/// A link of 10 Mbit/s whose queues hold this many packets, and a traffic to each from the hosts' side.
fn scheduled(name: &str, shares: &[u32], limit: u32) -> Net {
    let mut net = Net::new(2, Span::from_s(20));
    net.duplex([0, 1], RATE, DELAY);
    let link = &mut net.plan.links[0];
    let queue = QueueSpec {
        aqm: net::drop_tail(),
        limit: Limit::Packets(limit),
        drop: Side::Tail,
        scope: net::scope(RATE, limit),
    };
    link.queues = vec![queue; shares.len()];
    link.nodes = NodeSpec::flat(scheduler(name, shares), &link.queues);
    net.tap_all();
    net
}

/// Traffic for class `i`.
fn add(net: &mut Net, i: usize, model: perhop_sim::traffic::TrafficParams) {
    let dscp: Dscp = CODES[i].parse().unwrap();
    net.traffic([0, 1], model).dscp = dscp;
}

fn at_link(outcome: &Outcome, point: TapPoint) -> Vec<Captured> {
    outcome.captured.iter().filter(|c| c.link == 0 && c.point == point).copied().collect()
}

fn class(captured: &Captured) -> usize {
    captured.packet.colour.index()
}

/// Every row of the outcome, except what only a scheduler reports of its queues.
fn rows(net: &Net) -> String {
    let mut outcome = net.run();
    outcome.work.events = 0;
    outcome.ports.queues.clear();
    outcome.series.ports.retain(|s| s.queue.is_none() || !["packets", "bytes"].contains(&s.quantity));
    outcome.series.ports.iter_mut().for_each(|s| s.queue = None);
    outcome.ports.tallies.iter_mut().for_each(|t| t.queue = None);
    format!("{outcome:?}")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, max_shrink_iters: 50, failure_persistence: None, ..ProptestConfig::default() })]

    /// To the byte: delays, drops and draws of every AQM, conditioners at departure, wire losses, series.
    #[test]
    fn with_one_class_every_scheduler_is_a_fifo(mut net in any_net(), name in prop::sample::select(classed())) {
        net.tap_all();
        // A plain FIFO meets the segments of a burst.
        for traffic in &mut net.plan.traffic {
            (traffic.sockets.gso, traffic.tcp.reaction.bursts) = (1, Bursts::NONE);
        }
        for link in &mut net.plan.links {
            link.nodes.clear();
            link.queues.truncate(1);
        }
        let fifo = rows(&net);
        for link in &mut net.plan.links {
            link.nodes = NodeSpec::flat(scheduler(name, &[2]), &link.queues);
        }
        prop_assert!(rows(&net) == fifo);
    }

    /// What leaves keeps its order within each flow of a class, and no packet of the class that leaves first came later.
    #[test]
    fn within_a_class_no_packet_overtakes(name in prop::sample::select(classed()), shares in prop::collection::vec(1u32..5, 3), kbps in prop::collection::vec(1000u64..8000, 3)) {
        let mut net = scheduled(name, &shares, 20);
        net.plan.duration = Span::from_s(2);
        kbps.iter().enumerate().for_each(|(i, &kbps)| add(&mut net, i, poisson(BitRate::kbps(kbps), 1000)));
        let outcome = net.run();
        let (came, left) = (at_link(&outcome, TapPoint::Input), at_link(&outcome, TapPoint::Output));
        for i in 0..3 {
            let mut before = came.iter().filter(|c| class(c) == i);
            for packet in left.iter().filter(|c| class(c) == i) {
                // The taps' packets of one size are distinguished by their times alone: each leaves after one that
                // arrived.
                let came = before.by_ref().find(|c| c.packet == packet.packet).expect("what leaves came");
                prop_assert!(came.at < packet.at);
            }
        }
    }

    /// Packets of one size: they leave a link that never idles at the same times, whoever goes first.
    #[test]
    fn the_link_never_idles_while_anything_waits(name in prop::sample::select(classed()), shares in prop::collection::vec(1u32..5, 3), kbps in prop::collection::vec(1000u64..5000, 3)) {
        let mut net = scheduled(name, &shares, 100_000);
        net.plan.duration = Span::from_s(2);
        kbps.iter().enumerate().for_each(|(i, &kbps)| add(&mut net, i, poisson(BitRate::kbps(kbps), 1000)));
        let times = |net: &Net| at_link(&net.run(), TapPoint::Output).iter().map(|c| c.at).collect::<Vec<_>>();
        let with = times(&net);
        let link = &mut net.plan.links[0];
        link.nodes.clear();
            link.queues.truncate(1);
        prop_assert!(with == times(&net));
    }
}

/// Three classes with more than they can send: over whole rounds exactly their weights, in bursts of them.
#[test]
fn wrr_holds_its_weights_to_the_packet() {
    let mut net = scheduled("wrr", &[1, 2, 4], 10);
    (0..3).for_each(|i| add(&mut net, i, cbr(BitRate::mbps(8), 1000)));
    let outcome = net.run();
    let left: Vec<_> = at_link(&outcome, TapPoint::Output).iter().map(class).collect();
    // All queues hold packets once the first few have come: then round follows round.
    let round = left[100..].iter().position(|&i| i == 0).unwrap() + 100;
    assert!(
        left[round..].chunks_exact(7).all(|round| round == [0, 1, 1, 2, 2, 2, 2]),
        "{:?}",
        &left[round..round + 70]
    );
    let sent: Vec<_> = outcome.ports.queues.iter().map(|q| q.sent.packets).collect();
    assert!(sent.windows(2).all(|pair| pair[1].abs_diff(2 * pair[0]) < 20), "{sent:?}");
}

/// Packets of 300 B and of 1500 B under equal quanta: equal bytes, within the bound of the theorem, 1 + 2 Max/Q quanta.
#[test]
fn drr_shares_bytes_whatever_the_sizes() {
    let mut net = scheduled("drr", &[1, 1], 50);
    [300, 1500].into_iter().enumerate().for_each(|(i, size)| add(&mut net, i, cbr(BitRate::mbps(9), size)));
    let outcome = net.run();
    let sent: Vec<_> = outcome.ports.queues.iter().map(|q| q.sent.bytes).collect();
    // Before both queues hold packets, at most the first millisecond's 1250 B go out of turn.
    assert!(sent[0].abs_diff(sent[1]) < 3 * 1500 + 1250, "{sent:?}");
    assert!(sent.iter().sum::<u64>() > 24_900_000);
}

/// Whenever a packet's transmission begins, none of a class before its own is waiting.
#[test]
fn no_packet_goes_before_a_class_of_higher_priority() {
    let mut net = scheduled("strict-priority", &[1, 1, 1], 1000);
    (0..3).for_each(|i| add(&mut net, i, poisson(BitRate::mbps(3), 1000)));
    let outcome = net.run();
    let (came, left) = (at_link(&outcome, TapPoint::Input), at_link(&outcome, TapPoint::Output));
    assert!(outcome.ports.queues.iter().all(|q| q.fates.lost().packets == 0));
    let times = |all: &[Captured], i: usize| all.iter().filter(|c| class(c) == i).map(|c| c.at).collect::<Vec<_>>();
    let begins = |at: Time| at.since(Time::ZERO + DELAY + Span::from_us(800));
    let mut lower = 0;
    for i in 0..2 {
        let (ins, outs) = (times(&came, i), times(&left, i));
        for packet in left.iter().filter(|c| class(c) > i) {
            let start = Time::ZERO + begins(packet.at);
            // Those of class i that had come strictly before, and those that have begun by then.
            let (had_come, had_begun) =
                (ins.partition_point(|&at| at < start), outs.partition_point(|&at| Time::ZERO + begins(at) < start));
            assert!(had_begun >= had_come, "class {} at {start}", class(packet));
            lower += 1;
        }
    }
    assert!(lower > 10_000, "{lower}");
}

/// Cobham: with loads rho_1, rho_2 of Poisson arrivals and service times S_1, S_2, not pre-emptive,
/// W_0 = sum lambda_i S_i^2 / 2, W_1 = W_0 / (1 - rho_1), W_2 = W_0 / ((1 - rho_1)(1 - rho_1 - rho_2)).
#[test]
fn the_mean_waits_of_two_priorities_are_cobhams() {
    let sizes = [500.0, 1000.0];
    for loads in [[0.3, 0.4], [0.5, 0.3]] {
        let service = sizes.map(|size| size * 8e3 / 10.0);
        let residual: f64 = (0..2).map(|i| loads[i] * service[i] / 2.0).sum();
        let expected = [residual / (1.0 - loads[0]), residual / ((1.0 - loads[0]) * (1.0 - loads[0] - loads[1]))];
        let mut net = scheduled("strict-priority", &[1, 1], 100_000);
        net.plan.probes.taps.clear();
        net.plan.warmup = Span::from_s(2);
        net.plan.duration = Span::from_s(42);
        for i in 0..2 {
            add(&mut net, i, poisson(BitRate::bps((loads[i] * 10e6) as u64), sizes[i] as u64));
        }
        let mut waits = [Vec::new(), Vec::new()];
        for replication in 0..20 {
            let outcome = net.replicate(replication);
            waits.iter_mut().zip(&outcome.ports.queues).for_each(|(all, queue)| all.push(queue.wait.unwrap().mean));
        }
        for (i, waits) in waits.iter().enumerate() {
            let (mean, half) = (stats::mean(waits), super::md1::half_interval(waits));
            println!("loads {loads:?}, class {}: {mean:.0} +- {half:.0} ns, theory {:.0}", i + 1, expected[i]);
            assert!(half < 0.05 * expected[i], "too few runs to decide: {half} of {}", expected[i]);
            assert!((mean - expected[i]).abs() < half, "{mean} +- {half}, theory {}", expected[i]);
        }
    }
}

/// The rows' means and deviations are those of the packets as taps saw them, those that did not wait included.
#[test]
fn the_rows_hold_every_packets_wait() {
    let mut net = scheduled("wrr", &[1, 3], 1000);
    net.plan.duration = Span::from_s(5);
    (0..2).for_each(|i| add(&mut net, i, poisson(BitRate::mbps(4), 1000)));
    let outcome = net.run();
    let (came, left) = (at_link(&outcome, TapPoint::Input), at_link(&outcome, TapPoint::Output));
    for i in 0..2 {
        let times = |all: &[Captured]| all.iter().filter(|c| class(c) == i).map(|c| c.at).collect::<Vec<_>>();
        let pairs = times(&came).into_iter().zip(times(&left));
        let waits: Vec<f64> = pairs.map(|(a, b)| (b - a - DELAY - Span::from_us(800)).ns() as f64).collect();
        let (mean, n) = (stats::mean(&waits), waits.len() as f64);
        let sd = (waits.iter().map(|w| (w - mean) * (w - mean)).sum::<f64>() / n).sqrt();
        assert!(waits.iter().filter(|&&w| w == 0.0).count() > 100);
        let row = outcome.ports.hops.iter().find(|h| h.link == 0 && h.colour == Colour::ALL[i]).unwrap();
        let wait = row.wait.unwrap();
        assert_eq!(row.delivered.packets, waits.len() as u64);
        // Sums of doubles over ten thousand packets.
        assert!((wait.mean / mean - 1.0).abs() < 1e-9 && (wait.sd / sd - 1.0).abs() < 1e-9, "{wait:?} {mean} {sd}");
        // The queue counts at the start of a transmission, the row at its arrival: one packet may be on the wire.
        let queue = &outcome.ports.queues[i];
        assert!(queue.sent.packets - waits.len() as u64 <= 2 && (queue.wait.unwrap().mean / mean - 1.0).abs() < 1e-2);
    }
}

/// The samples of one quantity of a queue of link 0.
fn samples(outcome: &Outcome, queue: Option<usize>, quantity: &str) -> Vec<f64> {
    let of = |s: &&Sample| s.link == 0 && s.queue == queue && s.quantity == quantity;
    outcome.series.ports.iter().filter(of).map(|s| s.value).collect()
}

/// Each queue has its own AQM: RED in the first sees its own packets alone, and the total is the sum.
#[test]
fn each_queue_is_sampled_and_dropped_from_by_itself() {
    let mut net = scheduled("wrr", &[1, 1], 10);
    net.plan.sampling = Some(Sampling::all(Span::from_ms(10)));
    net.plan.links[0].queues[0].aqm = AqmParams::Red(red(2, 8, 0.1));
    add(&mut net, 0, bulk());
    net.plan.traffic[0].flows = 5;
    add(&mut net, 1, cbr(BitRate::mbps(20), 1000));
    let outcome = net.run();
    let [first, second] = [0, 1].map(|i| samples(&outcome, Some(i), "packets"));
    let total = samples(&outcome, None, "queue_packets");
    assert!(total.iter().zip(first.iter().zip(&second)).all(|(sum, (a, b))| *sum == a + b));
    assert!(second[10..].iter().all(|&n| n >= 9.0), "the second is always full");
    assert!(samples(&outcome, Some(0), "avg_queue_packets").iter().all(|&avg| avg < 10.0));
    assert!(samples(&outcome, Some(1), "avg_queue_packets").is_empty());
    let [early, overflow] = [1, 3].map(|reason| [0, 1].map(|i| outcome.ports.queues[i].fates.dropped[reason].packets));
    assert!(early[0] > 20 && early[1] == 0 && overflow[1] > 10_000, "{early:?} {overflow:?}");
}

/// From the change on the new weights hold; the old ones before.
#[test]
fn weights_change_on_the_way() {
    let mut net = scheduled("wrr", &[1, 1], 10);
    (0..2).for_each(|i| add(&mut net, i, cbr(BitRate::mbps(9), 1000)));
    let what = vec![Alteration::Scheduler { link: 0, node: 0, params: scheduler("wrr", &[1, 4]) }];
    let half = Time::ZERO + Span::from_s(10);
    net.plan.changes = vec![Change { at: half, what }];
    let left = at_link(&net.run(), TapPoint::Output);
    let (before, after): (Vec<_>, Vec<_>) = left.iter().partition(|c| c.at < half);
    let share = |all: &[&Captured]| all.iter().filter(|c| class(c) == 1).count() as f64 / all.len() as f64;
    // Up to a round on either side of the change, and what both ends of the run leave: 20 of 12 500 packets.
    assert!((share(&before) - 0.5).abs() < 0.002 && (share(&after) - 0.8).abs() < 0.002);
    let refused =
        |net: &Net| perhop_sim::Simulation::new(net.plan.clone(), Default::default()).map(|_| ()).unwrap_err();
    for (name, shares) in [("wrr", &[1, 2, 3][..]), ("drr", &[1, 1])] {
        let what = vec![Alteration::Scheduler { link: 0, node: 0, params: scheduler(name, shares) }];
        net.plan.changes = vec![Change { at: half, what }];
        assert!(refused(&net).to_string().contains("E202"), "{name}");
    }
    net.plan.changes.clear();
    net.plan.links[0].queues.pop();
    assert!(refused(&net).to_string().contains("1 queues for 2 classes"));
}
