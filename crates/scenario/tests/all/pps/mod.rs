//! PPS end to end: those invariants of its specification (section 1.9) that need TCP, on small networks.
//!
//! Tolerances are the specification's. Where two means over replications are compared, three standard errors of their
//! difference are added.

mod net;

use net::{Common, Example, OneHop, Run, error, mean, tapped};
use perhop_core::units::{Bytes, Span, Time};
use perhop_scenario::{Options, Scenario};
use perhop_sim::plan::TapPoint;

/// Twelve flows of 1.25 to 15 packets/s, as in the paper's Fig. 4: the slow ones live on time-outs.
const SLOW: OneHop = OneHop { common: Common::PUBLISHED, flows: 12, tickets: 100, share: 1e4, receiver: false };
/// Six flows of 12.5 to 75 packets/s, with the time-outs of today: few of them are needed.
const FAST: OneHop = OneHop {
    common: Common { rto: "200ms", ..Common::PUBLISHED },
    flows: 6,
    tickets: 1000,
    share: 1e5,
    receiver: false,
};

fn jain(of: &[f64]) -> f64 {
    let sum = of.iter().sum::<f64>();
    sum * sum / (of.len() as f64 * of.iter().map(|x| x * x).sum::<f64>())
}

/// Both schemes, both packet sizes of the specification.
fn variants(base: OneHop) -> Vec<OneHop> {
    let one = |(receiver, size)| OneHop { receiver, common: Common { size, ..base.common }, ..base };
    [(false, 500), (false, 1000), (true, 500), (true, 1000)].map(one).to_vec()
}

/// Invariants 3 and 7: throughput in proportion to tickets, Jain's index of x_i/share_i >= 0.98; a busy link.
#[test]
fn throughput_is_proportional_to_tickets() {
    for net in variants(SLOW) {
        let run = Run::new(&net.text());
        let x: Vec<f64> = (0..12).map(|i| run.throughput(i)).collect();
        let y: Vec<f64> = x.iter().zip(1..).map(|(x, i)| x / (net.share * f64::from(i))).collect();
        println!("receiver {}, {} B: jain {:.4}, {y:.3?}", net.receiver, net.common.size, jain(&y));
        assert!(jain(&y) >= 0.98, "receiver {}, {} B: {y:?}", net.receiver, net.common.size);
        let used = x.iter().sum::<f64>() / net.rate();
        assert!((0.97..=1.0 + 1e-3).contains(&used), "{used}");
    }
}

/// Invariant 7: the link is idle only while nothing waits, so that whatever ends a pause arrives at that instant.
#[test]
fn the_link_rests_only_while_nothing_waits() {
    let (outcome, link) = tapped(&FAST.text(), "P -> Q");
    let delay = net::plan(&FAST.text(), 0).links[link].delay;
    let rate = net::plan(&FAST.text(), 0).links[link].rate;
    let of = |point| outcome.captured.iter().filter(move |c| c.point == point);
    let arrivals: std::collections::BTreeSet<Time> = of(TapPoint::Input).map(|c| c.at).collect();
    // Transmissions begin and end at fractions of the nanosecond that times are rounded to.
    let rounding = Span::from_ns(1);
    let (mut free, mut pauses) = (Time::ZERO, 0);
    for sent in of(TapPoint::Output) {
        let takes = Bytes::new(u64::from(sent.wire)) / rate;
        let begin = Time::from_ns(sent.at.ns() - delay.ns() - takes.ns());
        assert!(begin + rounding >= free);
        if begin > free + rounding {
            pauses += 1;
            let around = Time::from_ns(begin.ns() - 1)..=begin + rounding;
            assert!(arrivals.range(around).next().is_some(), "{begin:?} after {free:?}");
        }
        free = begin + takes;
    }
    assert!(pauses > 10, "{pauses}");
}

/// Invariant 6: E is the average of tickets within 25 %. With the minimum of 5 s as MinTkt where flows send often enough to
/// be near it; with the quantile also where flows live on time-outs and come back with many tickets.
#[test]
fn the_expectation_is_the_average() {
    let quantile = |net: OneHop| OneHop { common: Common { tred: "minimum = \"quantile\"\n", ..net.common }, ..net };
    let nets = [variants(FAST), variants(quantile(FAST)), variants(quantile(SLOW))].concat();
    for net in nets {
        let run = Run::new(&net.text());
        let [e, all] = ["expected_tickets", "average_tickets"].map(|name| run.series("P -> Q", None, name));
        let off: Vec<f64> = e.iter().zip(&all).map(|(e, all)| (e - all).abs() / e).collect();
        println!(
            "{} flows, receiver {}, {} B {:?}: {:.3}",
            net.flows,
            net.receiver,
            net.common.size,
            net.common.tred,
            mean(&off)
        );
        assert!(mean(&off) <= 0.25, "{} flows, receiver {}: {}", net.flows, net.receiver, mean(&off));
    }
}

/// Invariant 8: the unit of a router's currency is invisible; a power of 2 to the last packet, as numbers on tags.
#[test]
fn a_routers_unit_is_invisible() {
    let goodput = |s5| {
        let run = Run::new(&Example { s5, ..Example::REAL }.text());
        run.outcomes.iter().flat_map(|o| &o.flows).map(|f| f.goodput_bytes).collect::<Vec<_>>()
    };
    assert_eq!(goodput([900, 300]), goodput([7200, 2400]));
}

/// The throughputs of A, B and C are those of another file, within 5 %.
fn unchanged(base: &Run, other: &Run, flows: &[usize]) {
    for &flow in flows {
        let ratios: Vec<f64> = base.throughputs(flow).iter().zip(other.throughputs(flow)).map(|(a, b)| b / a).collect();
        let off = (mean(&ratios) - 1.0).abs();
        println!("flow {flow}: {:.4} +- {:.4}", mean(&ratios), error(&ratios));
        assert!(off <= 0.05 + 3.0 * error(&ratios), "flow {flow}: {} +- {}", mean(&ratios), error(&ratios));
    }
}

/// Invariant 8: nor does that of a currency matter in which hosts put tickets on packets; their first packets have the most
/// that a tag can hold in either. With 8 bits, S5's tags are of 9.6 and 4.8 tickets, rounded to whole ones: twice as
/// many as
/// tickets are rounded half as much.
#[test]
fn units_cancel() {
    let base = Run::new(&Example::REAL.text());
    unchanged(&base, &Run::new(&Example { s3: [4000, 2000], ..Example::REAL }.text()), &[0, 1, 2]);
    let bits = Example { tags: "", ..Example::REAL };
    unchanged(&Run::new(&bits.text()), &Run::new(&Example { s5: [1800, 600], ..bits }.text()), &[0, 1, 2]);
}

/// Invariant 8: what S3 issues to its own inputs moves A and B and leaves C alone.
#[test]
fn a_currency_is_isolated() {
    let base = Run::new(&Example::REAL.text());
    let other = Run::new(&Example { s3: [600, 900], ..Example::REAL }.text());
    unchanged(&base, &other, &[2]);
    for (run, shares) in [(&base, [0.5, 0.25, 0.25]), (&other, [0.3, 0.45, 0.25])] {
        for (flow, share) in shares.into_iter().enumerate() {
            let got = run.throughput(flow) / 1e6;
            println!("flow {flow}: {got:.4}, share {share}");
            assert!((got / share - 1.0).abs() <= 0.15, "flow {flow}: {got} Mbit/s, wanted {share}");
        }
    }
}

/// Invariant 10: where S-currency is made of R-currency, the two exchange rates of a link are each other's inverse.
#[test]
fn exchange_rates_are_inverse() {
    for net in variants(SLOW).into_iter().chain(variants(FAST)).filter(|net| net.receiver) {
        let run = Run::new(&net.text());
        let [x, acks] = ["exchange_rate", "ack_exchange_rate"].map(|name| run.series("P -> Q", Some("exchange"), name));
        let product: Vec<f64> = x.iter().zip(&acks).map(|(x, acks)| x * acks).collect();
        println!("{} flows, {} B: {:.4}", net.flows, net.common.size, mean(&product));
        assert!(
            (0.9..=1.1).contains(&mean(&product)),
            "{} flows, {} B: {}",
            net.flows,
            net.common.size,
            mean(&product)
        );
        assert!((mean(&x) - 1.0).abs() > 0.2, "two separate currencies: {}", mean(&x));
    }
}

/// Invariant 11: B's application makes 0.16 Mbit/s, less than its share of 0.25: B gets that within 3 %.
#[test]
fn a_source_below_its_share_gets_what_it_sends() {
    for size in [500, 1000] {
        let common = Common { size, ..Common::PUBLISHED };
        let net = Example { common, b_bit_s: Some(160_000 * (size - 40) / size), ..Example::REAL };
        let run = Run::new(&net.text());
        let [a, b, c] = [0, 1, 2].map(|flow| run.throughput(flow) / 1e6);
        println!("{size} B: {a:.3} {b:.4} {c:.3}");
        assert!((b / 0.16 - 1.0).abs() <= 0.03, "{size} B: {b} Mbit/s");
        assert!(a > c && c > b, "the others have more, A most: {a} {b} {c}");
    }
}

/// Of errors and warnings, but for tags that do not hold what the contracts give.
fn codes(text: &str) -> Vec<&'static str> {
    let list = match Scenario::parse(text, &Options::new("pps.toml")) {
        Ok((_, warnings)) => warnings.list,
        Err(refused) => refused.list,
    };
    list.iter().map(|d| d.code).filter(|code| *code != "W313").collect()
}

/// Tickets that are never written are reported wherever they are read. The queue and relabellers can do without, as
/// `untagged` says: a warning. A source without `tickets` cannot.
#[test]
fn tickets_have_a_writer() {
    let without = |text: &str, section: &str| {
        let from = text.find(&format!("[conditioner.{section}]\n")).expect(section);
        let rest = &text[from + 1..];
        let end = rest.find("\n[").map_or(text.len(), |end| from + 1 + end + 1);
        format!("{}{}", &text[..from], &text[end..])
    };
    let receiver = OneHop { receiver: true, ..SLOW }.text();
    assert_eq!(codes(&without(&SLOW.text(), "tagger")), ["W332"], "the queue");
    let exchanged = codes(&without(&Example::REAL.text(), "tagger"));
    assert!(
        exchanged.len() > 1 && exchanged.iter().all(|code| *code == "W332"),
        "queues and relabellers: {exchanged:?}"
    );
    let sinks = without(&receiver, "sinks");
    assert!(codes(&sinks).contains(&"E236"), "sources and relabellers");
    let stated = sinks.replace("per = \"flow\"\nat = \"S", "per = \"flow\"\ntickets = \"9t/s\"\nat = \"S");
    assert_eq!(codes(&stated), ["W332"], "relabellers of ACKs");
}
