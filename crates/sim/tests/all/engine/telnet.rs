//! Telnet: how many packets, when they are written, what their writer feels.

use crate::common::net::{Net, telnet};
use crate::stats;
use perhop_core::math::pow;
use perhop_core::units::{BitRate, Bytes, Probability, Span, Time};
use perhop_sim::Outcome;
use perhop_sim::plan::TapPoint;
use perhop_sim::traffic::TrafficParams;
use perhop_sim::traffic::law::{Drawn, Law, LawName};
use perhop_sim::traffic::telnet::{Gaps, Params};
use perhop_sim::transport::Config;
use statrs::distribution::{ChiSquared, ContinuousCDF};

const DELAY: Span = Span::from_ms(10);
/// A segment of 1000 bytes and a SYN or ACK of 40 at 8 Mbit/s.
const SEGMENT: Span = Span::from_us(1000);
const ACK: Span = Span::from_us(40);

fn uniform(min: u32, max: u32) -> Drawn<u32> {
    let (min, max) = (Some(min), Some(max));
    Drawn::Law(Law { law: LawName::Uniform, mean: None, scale: None, shape: None, min, max })
}

/// Sessions from one node to another over a link of 8 Mbit/s.
fn sessions(seconds: u64, flows: u32, model: TrafficParams) -> Net {
    let mut net = Net::new(2, Span::from_s(seconds));
    net.duplex([0, 1], BitRate::mbps(8), DELAY);
    let traffic = net.traffic([0, 1], model);
    traffic.flows = flows;
    traffic.tcp = Config { mss: 960, ..Config::default() };
    net
}

/// When each data segment number first came to a point of a link, by number.
fn first_seen(outcome: &Outcome, link: u32, point: TapPoint) -> Vec<Time> {
    let mut seen: Vec<Option<Time>> = Vec::new();
    for c in outcome.captured.iter().filter(|c| c.link == link && c.point == point && c.packet.payload > 0) {
        let number = (c.packet.seq_end - 1) as usize / 960 - 1;
        seen.resize(seen.len().max(number + 1), None);
        seen[number].get_or_insert(c.at);
    }
    seen.into_iter().map(|at| at.expect("no number is missing")).collect()
}

/// The first packet waits for the handshake; each later one, on a link that has sent the one before, takes its
/// transmission and the delay. The session lasts as long as its writes and the last one's delivery.
#[test]
fn a_lone_session_takes_as_long_as_by_hand() {
    const PACKETS: u32 = 40;
    let mut net = sessions(4000, 1, telnet(Drawn::Constant(PACKETS), Span::from_s(20)));
    net.tap_all();
    let outcome = net.run();
    let [session] = &outcome.sessions[..] else { panic!("{:?}", outcome.sessions) };
    let (handshake, packet) = ((ACK + DELAY) * 2, SEGMENT + DELAY);
    let sent = first_seen(&outcome, 0, TapPoint::Input);
    assert!(sent.windows(2).all(|w| w[1] - w[0] > SEGMENT), "no packet waits for the one before");
    assert_eq!(session.opened + handshake, sent[0]);
    assert_eq!(session.complete, Some(*sent.last().unwrap() + packet));
    assert_eq!((session.written, session.delivered), (PACKETS, PACKETS));
    let delay = session.delay.unwrap();
    assert_eq!(delay.mean, packet.ns() as f64 + handshake.ns() as f64 / f64::from(PACKETS));
    // A histogram's largest value is that of its bucket: 1 % and 1.024 us.
    let most = (handshake + packet).ns();
    assert!((most..=most + most / 100 + 1024).contains(&delay.max), "{}", delay.max);
}

/// As the study has it: each number from 8 to 35 equally often (chi-square, one seed in 1000 fails).
#[test]
fn numbers_of_packets_are_uniform() {
    const SOURCES: u32 = 2800;
    let mut net = sessions(60, SOURCES, telnet(uniform(8, 35), Span::from_ms(200)));
    net.plan.links.iter_mut().for_each(|link| link.rate = BitRate::mbps(1000));
    let outcome = net.run();
    let mut counts = [0.0; 28];
    for session in &outcome.sessions {
        assert!(session.complete.is_some() && session.delivered == session.written);
        counts[session.written as usize - 8] += 1.0;
    }
    let expected = f64::from(SOURCES) / 28.0;
    let distance: f64 = counts.iter().map(|n| pow(n - expected, 2.0) / expected).sum();
    let p = ChiSquared::new(27.0).unwrap().cdf(distance);
    assert!(p < 0.999, "{counts:?}");
}

/// Gaps between the writes of 20 sessions of 500 packets, s. Nothing delays a packet's sending.
fn gaps(gaps: Gaps) -> Vec<f64> {
    let model = TrafficParams::Telnet(Params { packets: Drawn::Constant(500), gaps });
    let mut net = sessions(20_000, 1, model);
    net.plan.traffic[0].tcp.syn = false;
    net.plan.traffic[0].tcp.initial_window = 64;
    net.plan.traffic[0].tcp.window = 64;
    for link in &mut net.plan.links {
        (link.rate, link.delay) = (BitRate::mbps(100_000), Span::ZERO);
    }
    net.tap_all();
    let replication = |i| {
        let outcome = net.clone().replicate(i);
        let sent = first_seen(&outcome, 0, TapPoint::Input);
        assert_eq!(sent.len(), 500);
        sent.windows(2).map(|w| (w[1] - w[0]).seconds()).collect::<Vec<_>>()
    };
    (0..20).flat_map(replication).collect()
}

/// Mean and standard deviation are equal, each within four standard errors (1 and sqrt 2 of the mean over sqrt n).
#[test]
fn gaps_are_exponential() {
    let gaps = gaps(Gaps::Exponential(Span::from_s(2)));
    let (n, mean, deviation) = (gaps.len() as f64, stats::mean(&gaps), stats::variance(&gaps).sqrt());
    assert!((mean / 2.0 - 1.0).abs() < 4.0 / n.sqrt(), "{mean}");
    assert!((deviation / 2.0 - 1.0).abs() < 4.0 * 2f64.sqrt() / n.sqrt(), "{deviation}");
}

/// Shares of tcplib's gaps that do not exceed some values, as ns-2's table has them: within 1 % (our 53 quantiles) and
/// four binomial standard deviations; and the mean, 1.098 s with a standard deviation of 5.15 s.
#[test]
fn measured_gaps_are_tcplibs() {
    let gaps = gaps(Gaps::Tcplib);
    let n = gaps.len() as f64;
    for (value, share) in
        [(0.0015, 0.0161), (0.05, 0.0769), (0.15, 0.2825), (0.5, 0.738), (2.0, 0.9181), (30.0, 0.9941)]
    {
        let got = gaps.iter().filter(|&&gap| gap <= value).count() as f64 / n;
        assert!((got - share).abs() < 0.01 + 4.0 * (share * (1.0 - share) / n).sqrt(), "{value}: {got}");
    }
    let mean = stats::mean(&gaps);
    assert!((mean - 1.0977).abs() < 4.0 * 5.154 / n.sqrt(), "{mean}");
}

/// A network that loses and repeats: delays are those that its taps show. When the packets were written is shown by a
/// network that delays nothing: the source's draws do not depend on the network.
#[test]
fn delays_are_those_from_write_to_delivery_in_order() {
    let model = || telnet(uniform(100, 200), Span::from_ms(30));
    let tcp = Config { mss: 960, ..Config::default() };
    let mut ideal = sessions(100, 1, model());
    ideal.plan.traffic[0].tcp = Config { syn: false, window: 200, initial_window: 200, ..tcp };
    ideal.plan.links.iter_mut().for_each(|link| (link.rate, link.delay) = (BitRate::mbps(100_000), Span::ZERO));
    ideal.tap_all();
    let written = first_seen(&ideal.run(), 0, TapPoint::Input);

    let mut lossy = sessions(100, 1, model());
    lossy.plan.links[0].loss = Probability::new(0.1).unwrap();
    lossy.plan.links[0].rate = BitRate::kbps(500);
    lossy.tap_all();
    let outcome = lossy.run();
    let session = &outcome.sessions[0];
    // The tap sees what is lost on the wire no more.
    let mut latest = Time::ZERO;
    let arrived = first_seen(&outcome, 0, TapPoint::Output);
    let delivered: Vec<Time> = arrived
        .iter()
        .map(|&at| {
            latest = latest.max(at);
            latest
        })
        .collect();
    assert_eq!((delivered.len(), session.delivered as usize), (written.len(), written.len()));
    assert!(outcome.flows[0].tcp.unwrap().retransmitted > 5);
    let delays: Vec<f64> = delivered.iter().zip(&written).map(|(to, from)| (*to - *from).ns() as f64).collect();
    let delay = session.delay.unwrap();
    assert!((delay.mean / stats::mean(&delays) - 1.0).abs() < 1e-12, "{} {delays:?}", delay.mean);
    assert_eq!((session.opened, session.complete), (written[0], delivered.last().copied()));
}

/// What begins in the warm-up has no row; what `stop` or the end of the run cuts short is not complete.
#[test]
fn sessions_that_are_no_whole_ones() {
    let mut net = sessions(10, 50, telnet(Drawn::Constant(20), Span::from_ms(500)));
    net.plan.traffic[0].spread = Span::from_s(10);
    net.plan.warmup = Span::from_s(4);
    let outcome = net.run();
    let warm = Time::ZERO + net.plan.warmup;
    assert!((15..45).contains(&outcome.sessions.len()) && outcome.sessions.iter().all(|s| s.opened >= warm));
    let open = outcome.sessions.iter().filter(|s| s.complete.is_none());
    assert!(open.clone().count() > 10 && open.clone().all(|s| s.delivered < 20 && s.delivered <= s.written));

    net.plan.warmup = Span::ZERO;
    net.plan.traffic[0].spread = Span::ZERO;
    net.plan.traffic[0].stop = Some(Time::ZERO + Span::from_s(5));
    let outcome = net.run();
    assert_eq!(outcome.sessions.len(), 50);
    let cut = outcome.sessions.iter().filter(|s| s.complete.is_none());
    assert!(cut.clone().count() > 40 && cut.clone().all(|s| s.written < 20 && s.delivered == s.written));
    assert_eq!(outcome.sessions.iter().map(|s| s.source).collect::<Vec<_>>(), (0..50).collect::<Vec<_>>());
}

/// A packet is a segment of its connection, whatever its size.
#[test]
fn packets_have_the_connections_size() {
    let mut net = sessions(100, 1, telnet(Drawn::Constant(10), Span::from_s(1)));
    net.plan.traffic[0].tcp.mss = 80;
    let outcome = net.run();
    assert_eq!(outcome.flows[0].goodput_bytes, Bytes::new(10 * 80).get());
}
