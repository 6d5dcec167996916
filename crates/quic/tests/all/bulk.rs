//! Bulk transfers.

use super::{path, quic, run};
use perhop_core::port::Limit;
use perhop_core::units::{BitRate, Bytes, Span, Time};
use perhop_sim::plan::{Tap, TapPoint};
use perhop_sim::record::Captured;
use perhop_sim::traffic::quic::{Controller, Params};

/// Payload of a packet of 1480 B: 28 B of IP and UDP, 1 B of flags, 8 B of connection id, 2 to 4 B of packet number,
/// a STREAM frame's 1 to 12 B, a tag of 16 B.
const SHARE: [f64; 2] = [(1480.0 - 69.0) / 1480.0, (1480.0 - 56.0) / 1480.0];

/// Over a queue of one product of rate and RTT the link is never idle after the start, but for BBR, which leaves it for a
/// fifth of a second in ten, and sends again what it overflowed the queue with.
#[test]
fn a_bulk_transfer_reaches_the_rate_of_its_link() {
    for (congestion, idle) in [(Controller::Cubic, 0.002), (Controller::NewReno, 0.005), (Controller::Bbr, 0.02)] {
        let mut net = path(BitRate::mbps(10), 20, Params { congestion, ..quic() });
        net.plan.links[0].queues[0].limit = Limit::Packets(34);
        net.plan.warmup = Span::from_s(5);
        let share = run(&net).flows[0].goodput_bytes as f64 * 8.0 / 15.0 / 10e6;
        assert!(SHARE[0] * (1.0 - idle) <= share && share <= SHARE[1], "{congestion:?}: {share}");
    }
}

/// A receiver that grants a window each round trip gets no more than that: 50 kB in 40 ms and what a packet takes.
#[test]
fn the_receive_window_bounds_the_rate() {
    let receive_window = Bytes::new(50_000);
    let mut net = path(BitRate::mbps(100), 20, Params { receive_window, ..quic() });
    net.plan.warmup = Span::from_s(5);
    let rate = run(&net).flows[0].goodput_bytes as f64 * 8.0 / 15.0;
    let most = 50_000.0 * 8.0 / 0.040;
    assert!(0.7 * most <= rate && rate <= most, "{rate} of {most}");
}

fn captured(net: &mut super::net::Net) -> Vec<Captured> {
    net.tap_all();
    run(net).captured
}

/// Packets are IP, UDP and datagram; the handshake's are filled up; none is larger than `mtu`.
#[test]
fn packets_have_the_sizes_of_their_datagrams() {
    let mut net = path(BitRate::mbps(10), 3, Params { mtu: Bytes::new(1300), ..quic() });
    let packets = captured(&mut net);
    assert!(packets.iter().all(|c| c.wire == u32::from(c.packet.payload) + 28 && c.wire <= 1300));
    let data = |c: &&Captured| c.link == 0 && c.point == TapPoint::Output;
    let full = packets.iter().filter(data).filter(|c| c.wire == 1300).count();
    assert!(full * 100 > packets.iter().filter(data).count() * 98, "{full}");
    let first = |link: u32| packets.iter().find(|c| c.link == link && c.point == TapPoint::Input).unwrap();
    // The client at node 1 begins, with an Initial packet that fills its datagram (RFC 9000 section 14.1).
    assert_eq!((first(1).at, first(1).wire), (Time::ZERO, 1300));
    assert!(first(0).at > Time::ZERO + Span::from_ms(20));
    // Acknowledgements are packets of the way back, one for two packets of data at most of the time, and small.
    let acks: Vec<_> = packets.iter().filter(|c| c.link == 1 && c.point == TapPoint::Input).skip(5).collect();
    let ratio = packets.iter().filter(data).count() as f64 / acks.len() as f64;
    assert!((1.6..2.4).contains(&ratio) && acks.iter().all(|c| c.wire < 120), "{ratio}");
}

/// RFC 9002 section 7.2: the first round trip of data is the initial window, of whole datagrams; quinn leaves a byte of it free.
#[test]
fn the_initial_window_is_the_first_flight() {
    let flight = |initial_window| {
        let mut net = path(BitRate::mbps(1000), 1, Params { initial_window, ..quic() });
        net.plan.probes.taps = vec![Tap { link: 0, point: TapPoint::Input }];
        // The server answers 20 ms after the start, and gets the request 40 ms later.
        let from = Time::ZERO + Span::from_ms(55);
        let data = run(&net).captured.into_iter().filter(|c| c.at > from && c.at < from + Span::from_ms(35));
        data.map(|c| u64::from(c.packet.payload)).sum::<u64>()
    };
    for (stated, window) in [(None, 12_000), (Some(4), 4 * 1452), (Some(20), 20 * 1452)] {
        let sent = flight(stated);
        assert!(sent <= window && sent + 1452 >= window, "{stated:?}: {sent}");
    }
}

/// After `stop` nothing new is sent.
#[test]
fn it_stops_when_it_is_told() {
    let mut net = path(BitRate::mbps(10), 20, quic());
    net.plan.traffic[0].stop = Some(Time::ZERO + Span::from_s(5));
    net.plan.probes.taps = vec![Tap { link: 0, point: TapPoint::Input }];
    let late = run(&net).captured.into_iter().filter(|c| c.at > Time::ZERO + Span::from_s(5)).collect::<Vec<_>>();
    assert!(late.iter().all(|c| c.wire < 200) && late.len() < 10, "{late:?}");
}
