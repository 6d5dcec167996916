//! A transport that is not part of perhop, put in at the seam: `examples/go_back_n.rs`, of which
//! `docs/guides/bring-your-own-transport.md` shows every line.

#[path = "../../examples/go_back_n.rs"]
mod go_back_n;

use go_back_n::net::{self, Net};
use go_back_n::{GoBackN, run};
use perhop_core::units::{BitRate, Probability, Span, Time};
use perhop_sim::Outcome;
use perhop_sim::traffic::transfers::Loop;
use std::path::Path;

const TIMEOUT: Span = Span::from_ms(300);

/// 10 Mbit/s and 40 ms.
fn path() -> Net {
    let mut net = Net::new(2, Span::from_s(20));
    net.duplex([0, 1], BitRate::mbps(10), Span::from_ms(20));
    net
}

fn checked(net: &Net, window: u32) -> Outcome {
    let outcome = run(net.plan.clone(), GoBackN { window, timeout: TIMEOUT });
    assert_eq!(outcome.faults.breaches, Vec::<String>::new());
    outcome
}

fn goodput(outcome: &Outcome) -> f64 {
    outcome.flows[0].goodput_bytes as f64 * 8.0 / outcome.measured.seconds()
}

/// A window each round trip, of 40 ms and the times of a packet and an ACK, until that is the link's rate.
#[test]
fn a_fixed_window_gives_its_rate() {
    let mut net = path();
    net.traffic([0, 1], net::bulk());
    let round_trip = 0.040 + (1032.0 + 32.0) * 8.0 / 10e6;
    for window in [1, 10, 30, 60, 200] {
        let expected = (f64::from(window) * 8000.0 / round_trip).min(10e6 * 1000.0 / 1032.0);
        // of 20 s, half a round trip more or less
        let share = goodput(&checked(&net, window)) / expected;
        assert!((0.99..=1.002).contains(&share), "{window}: {share}");
    }
}

/// All of a transfer arrives, once: what the receiver takes in order is what was sent.
#[test]
fn what_is_lost_is_sent_again() {
    let mut net = path();
    net.traffic([0, 1], net::transfers(100_000, Span::from_ms(50), Loop::Closed));
    net.plan.links.iter_mut().for_each(|link| link.loss = Probability::new(0.01).unwrap());
    let outcome = checked(&net, 20);
    let table = &outcome.tables[0];
    assert!(table.complete > 20 && table.tcp.is_none(), "{}", table.complete);
    assert_eq!(table.goodput_bytes / 100_000, u64::from(table.complete));
    assert!(outcome.headers.len() <= 3, "the places of finished connections are used again");
}

/// A queue of ten packets drops of a window of 60; time-outs of 300 ms repair it. Drops and what is inside add up.
#[test]
fn a_full_queue_drops_its_datagrams() {
    let mut net = path();
    net.traffic([0, 1], net::bulk()).stop = Some(Time::ZERO + Span::from_s(10));
    net.plan.links[0].queues[0].limit = perhop_core::port::Limit::Packets(10);
    let outcome = checked(&net, 80);
    let counts = &outcome.flows[0].counts;
    assert!(counts.dropped.packets > 100, "{counts:?}");
    assert_eq!(counts.sent, counts.delivered + counts.dropped, "nothing is on its way 10 s after the end");
}

/// The page shows the code that is run here.
#[test]
fn the_page_shows_this_code() {
    let read = |path: &str| std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    let (code, page) = (read("examples/go_back_n.rs"), read("../../docs/guides/bring-your-own-transport.md"));
    for part in ["// [the transport]\n", "// [put in]\n"] {
        let shown = code.split(part).nth(1).and_then(|rest| rest.split("// [end]\n").next()).unwrap();
        assert!(page.contains(shown), "docs/guides/bring-your-own-transport.md does not show\n{shown}");
    }
}
