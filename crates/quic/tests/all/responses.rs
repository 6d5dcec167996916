//! Responses to requests, and paths that lose, mark and reorder packets.

use super::{net::Net, path, quic, run};
use perhop_core::aqm::AqmParams;
use perhop_core::packet::Ecn;
use perhop_core::units::{BitRate, Bytes, Probability, Span};
use perhop_sim::plan::{EcnUse, Tap, TapPoint, Transit};
use perhop_sim::traffic::TrafficParams;
use perhop_sim::traffic::law::Drawn;
use perhop_sim::traffic::quic::Params;
use perhop_sim::traffic::transfers::Loop;

fn responses(size: u64, gap: Span) -> Params {
    Params { size: Some(Drawn::Constant(Bytes::new(size))), gap: Some(gap), waits: Some(Loop::Closed), ..quic() }
}

/// Responses of a size, over a path that does this to packets.
fn over(loss: f64, transit: Transit) -> Net {
    let mut net = path(BitRate::mbps(10), 120, responses(50_000, Span::from_ms(100)));
    net.plan.traffic[0].flows = 5;
    for link in &mut net.plan.links {
        link.loss = Probability::new(loss).unwrap();
        link.transit = transit;
    }
    net
}

/// Every byte arrives once, whatever the path loses, delays or reorders: what is read in order is exactly what was sent.
#[test]
fn all_of_it_arrives_once() {
    let reorder = Probability::new(0.05).unwrap();
    let shaken = Transit { jitter: Span::from_ms(5), reorder, ..Transit::default() };
    for (loss, transit, least) in [(0.0, Transit::default(), 1500), (0.01, shaken, 900), (0.2, Transit::default(), 30)]
    {
        let outcome = run(&over(loss, transit));
        let table = &outcome.tables[0];
        assert!(table.complete > least, "{loss}: {}", table.complete);
        assert!(outcome.transfers.iter().all(|t| t.bytes == 50_000));
        // Transfers that are complete, and parts of those that are not.
        let rest = table.goodput_bytes - 50_000 * u64::from(table.complete);
        assert!(rest < 50_000 * u64::from(table.open.max(1)), "{loss}: {rest} {}", table.open);
    }
}

/// Handshake, request, response: the client's hello, the server's answer, the request, the first data: two round trips.
/// 50 kB are 36 packets, in flights of 9, 18 and 9.
#[test]
fn a_response_takes_its_round_trips() {
    let outcome = run(&over(0.0, Transit::default()));
    let first: Vec<_> = outcome.transfers.iter().map(|t| t.first.since(t.opened).ns() as f64 / 1e6).collect();
    let least = first.iter().copied().fold(f64::MAX, f64::min);
    assert!((80.0..90.0).contains(&least), "{least}");
    let last = outcome.transfers.iter().map(|t| t.complete.since(t.opened).ns() as f64 / 1e6).fold(f64::MAX, f64::min);
    assert!((160.0..210.0).contains(&last), "{last}");
}

/// The places of finished transfers are used again.
#[test]
fn ended_connections_leave_their_places() {
    let outcome = run(&over(0.01, Transit::default()));
    let (complete, places) = (outcome.tables[0].complete, outcome.headers.len());
    assert!(complete > 500 && places < 30, "{places} places for {complete} transfers");
}

/// Marks are answered like losses and nothing is dropped; without ECN packets say so.
#[test]
fn marks_are_answered() {
    let with = |datagrams: bool| {
        let mut net = path(BitRate::mbps(10), 20, quic());
        let mut red = super::net::red(10, 60, 0.1);
        red.common.ecn = true;
        net.plan.links[0].queues[0].aqm = AqmParams::Red(red);
        net.plan.warmup = Span::from_s(5);
        net.plan.traffic[0].sockets.ecn = EcnUse { datagrams, l4s: false };
        net.plan.probes.taps = vec![Tap { link: 0, point: TapPoint::Output }, Tap { link: 1, point: TapPoint::Input }];
        let outcome = run(&net);
        let flow = &outcome.flows[0];
        let marked = outcome.captured.iter().filter(|c| c.packet.ecn == Ecn::Ce).count();
        let capable = outcome.captured.iter().any(|c| c.packet.ecn.capable());
        (marked, capable, flow.cuts.unwrap(), flow.counts.dropped.packets)
    };
    let (marked, _, cuts, dropped) = with(true);
    assert!(marked > 20 && cuts > 5 && dropped == 0, "{marked} marked, {cuts} cuts, {dropped} dropped");
    let (marked, capable, cuts, dropped) = with(false);
    assert!(marked == 0 && !capable && cuts > 5 && dropped >= cuts, "{marked} {capable} {cuts} {dropped}");
}

/// TCP's models are not carried over QUIC, and QUIC is not carried by nothing.
#[test]
fn a_plan_needs_its_transport() {
    let net = path(BitRate::mbps(10), 1, quic());
    let error = perhop_sim::Simulation::new(net.plan, Default::default()).unwrap_err();
    assert!(error.to_string().contains("needs a transport over datagrams"), "{error}");
    let mut net = path(BitRate::mbps(10), 1, quic());
    net.plan.traffic[0].model = super::net::telnet(Drawn::Constant(5), Span::from_s(1));
    let quic = TrafficParams::Quic(quic());
    let always = |offered: &perhop_sim::plan::Offered| {
        perhop_quic::protocol(&perhop_sim::plan::Offered { model: quic.clone(), ..offered.clone() })
    };
    let error = perhop_sim::Simulation::with_protocols(net.plan, Default::default(), &always).unwrap_err();
    assert!(error.to_string().contains("is not carried by a transport over datagrams"), "{error}");
}
