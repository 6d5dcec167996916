//! Prague beside the text of its draft, ACK by ACK, and beside the law of its window.

use super::pipe::Dice;
use perhop_core::units::{Span, Time};
use perhop_sim::transport::congestion::prague::Params;
use perhop_sim::transport::congestion::{InFlight, Report, State};
use perhop_sim::transport::{CongestionControl, Law, LawParams, Signal, Window};

/// As declared.
pub(crate) const DEFAULTS: Params = Params { g: 0.0625, rtt_ref: Span::from_ms(25), rtt_ref_rounds: 500 };

fn law(params: Params) -> Law {
    Law::new(LawParams::Prague(params)).unwrap()
}

/// Sections 2.2.2, 2.3.2, 2.3.3, 2.3.4 and 2.4.1 in bytes and seconds.
struct Text {
    params: Params,
    alpha: f64,
    acked_bytes: f64,
    ece_bytes: f64,
    recorded_packet: u32,
    recorded_at: f64,
    rounds: u32,
    cwr: Option<(u32, f64)>,
    cwnd: f64,
    ssthresh: f64,
    pacing_rate: f64,
}

const SMSS: f64 = 1448.0;

impl Text {
    fn new(params: Params, window: Window) -> Self {
        Self {
            params,
            alpha: 1.0,
            acked_bytes: 0.0,
            ece_bytes: 0.0,
            recorded_packet: 0,
            recorded_at: 0.0,
            rounds: 0,
            cwr: None,
            cwnd: window.cwnd * SMSS,
            ssthresh: window.ssthresh * SMSS,
            pacing_rate: 0.0,
        }
    }

    fn rtt_ref(&self, rtt: f64) -> f64 {
        if self.rounds < self.params.rtt_ref_rounds { rtt } else { rtt.max(self.params.rtt_ref.seconds()) }
    }

    /// A round: what was sent after it began is acknowledged; after D rounds it is one of RTT_ref.
    fn over(&self, (packet, at): (u32, f64), signal: &Signal) -> bool {
        let (now, rtt) = (signal.now.since(Time::ZERO).seconds(), signal.srtt.unwrap().seconds());
        let long_enough = self.rounds < self.params.rtt_ref_rounds || now - at >= self.rtt_ref(rtt) - 1e-12;
        signal.una > packet && long_enough
    }

    fn ack(&mut self, signal: &Signal, lost: bool, in_flight: f64) {
        let (now, rtt) = (signal.now.since(Time::ZERO).seconds(), signal.srtt.unwrap().seconds());
        let (acked_sacked, ece_delta) = (f64::from(signal.acked) * SMSS, f64::from(signal.marked) * SMSS);
        self.acked_bytes += acked_sacked;
        self.ece_bytes += ece_delta;
        if self.over((self.recorded_packet, self.recorded_at), signal) {
            let frac = self.ece_bytes / self.acked_bytes;
            self.alpha += self.params.g * (frac - self.alpha);
            (self.acked_bytes, self.ece_bytes) = (0.0, 0.0);
            (self.recorded_packet, self.recorded_at) = (signal.next, now);
            self.rounds += 1;
        }
        if self.cwr.is_some_and(|cwr| self.over(cwr, signal)) {
            self.cwr = None;
        }
        if lost {
            self.ssthresh = (self.cwnd / 2.0).max(2.0 * SMSS);
            self.cwnd = self.ssthresh;
        } else if ece_delta > 0.0 && self.cwr.is_none() {
            self.ssthresh = ((1.0 - self.alpha / 2.0) * self.cwnd).max(2.0 * SMSS);
            self.cwnd = self.ssthresh;
            self.cwr = Some((signal.next, now));
        }
        let m = self.rtt_ref(rtt) / rtt;
        let ai_per_rtt = SMSS / (m * m);
        let slow_start = self.cwnd < self.ssthresh;
        self.cwnd +=
            if slow_start { acked_sacked - ece_delta } else { (acked_sacked - ece_delta) * ai_per_rtt / self.cwnd };
        self.pacing_rate = self.cwnd.max(in_flight * SMSS) / rtt;
        if self.cwnd < self.ssthresh / 2.0 {
            self.pacing_rate *= 2.0;
        }
    }
}

/// A connection whose ACKs come one by one, at a steady round trip.
struct Flow {
    law: Law,
    window: Window,
    signal: Signal,
}

impl Flow {
    fn new(params: Params, cwnd: f64, rtt: Span) -> Self {
        let window = Window { cwnd, ssthresh: f64::from(u32::MAX) };
        Self { law: law(params), window, signal: Signal { una: 1, srtt: Some(rtt), ..Signal::default() } }
    }

    /// An ACK of `acked` segments, of which `marked` were.
    fn ack(&mut self, acked: u32, marked: u32, lost: bool) -> Report {
        let rtt = self.signal.srtt.unwrap();
        let una = self.signal.una + acked;
        let now = self.signal.now + Span::from_ns((f64::from(acked) * rtt.ns() as f64 / self.window.cwnd) as u64);
        let next = una + self.window.cwnd as u32;
        self.signal = Signal { now, acked, marked, una, next, usable: self.window.cwnd, ..self.signal };
        self.law.on_feedback(&self.signal);
        if lost {
            self.law.on_loss(&self.signal, &mut { self.window });
        }
        let in_flight = self.window.cwnd as u32;
        let report = Report {
            signal: self.signal,
            state: State::Open,
            in_flight: InFlight { now: in_flight, before: 0 },
            ..Report::default()
        };
        self.law.on_report(&report, &mut self.window);
        report
    }
}

#[test]
fn agrees_with_the_text_ack_by_ack() {
    let mut cuts = 0;
    for seed in 0..40u64 {
        let mut dice = Dice(seed);
        let params = Params { rtt_ref_rounds: [500, 0, 20][seed as usize % 3], ..DEFAULTS };
        let mut flow = Flow::new(params, 10.0, Span::from_us(1000 + dice.next() % 60_000));
        let mut text = Text::new(params, flow.window);
        let mut marks = 0;
        for step in 0..20_000 {
            if dice.next().is_multiple_of(300) {
                marks = [0, 2, 20, 200, 1024][dice.next() as usize % 5];
            }
            let acked = 1 + (dice.next() % 2) as u32;
            let marked = (0..acked).filter(|_| dice.next() % 1024 < marks).count() as u32;
            let lost = dice.next().is_multiple_of(5000);
            let report = flow.ack(acked, marked, lost);
            text.ack(&report.signal, lost, report.in_flight.now.into());
            cuts += u32::from(text.cwr == Some((report.signal.next, report.signal.now.since(Time::ZERO).seconds())));
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-7 * b;
            let here = format!("seed {seed}, step {step}: {:?}, text {} {}", flow.window, text.cwnd / SMSS, text.alpha);
            assert!(near(flow.window.cwnd * SMSS, text.cwnd), "{here}");
            assert!(near(flow.window.ssthresh * SMSS, text.ssthresh), "{here}");
            let pace = flow.law.pacing_rate(1448).unwrap() as f64;
            assert!((pace - text.pacing_rate).abs() <= 1.0 + 1e-7 * pace, "{here}: {pace}, {}", text.pacing_rate);
            if flow.window.cwnd > 20_000.0 {
                break;
            }
        }
    }
    assert!(cuts > 2000, "{cuts} cuts are too few to say anything");
}

/// Segments a round trip while a fraction `p` is marked at random, over many cuts. The first ones, with alpha near 1, leave next
/// to nothing, and growth takes some times 1 / p rounds.
fn average(p: f64, rtt: Span, params: Params) -> f64 {
    let mut flow = Flow::new(params, 2.0 / p, rtt);
    flow.window.ssthresh = 2.0;
    let (mut dice, mut area, mut time) = (Dice(7), 0.0, 0.0);
    for step in 0..4_000_000 {
        let before = flow.signal.now;
        flow.ack(1, u32::from(dice.falls(p)), false);
        if step > 1_500_000 {
            let passed = flow.signal.now.since(before).seconds();
            (area, time) = (area + flow.window.cwnd * passed, time + passed);
        }
    }
    area / time
}

/// With x = p W: a cut takes x / 2 segments and comes every 1 + 1 / x rounds, in each of which the window grows by 1 - p: x / 2 =
/// (1 - p) (1 + 1 / x). Cuts fall at windows above the average by half of what growth makes between two, x / 4; and the
/// distance of two marks is exponential, not its mean. That is of second order: within 3 %.
#[test]
fn the_window_is_two_to_three_over_p() {
    for p in [0.005, 0.01, 0.05] {
        let q: f64 = 1.0 - p;
        let x = q + (q * q + 2.0 * q).sqrt();
        let w = average(p, Span::from_ms(40), DEFAULTS);
        assert!((2.0 * q..=3.0).contains(&(p * w)) && (p * w / x - 1.0).abs() < 0.03, "p {p}: W {w}");
    }
}

/// At the same marks the rate of a flow of 5 ms is that of one of 25 ms: its window a fifth. Without `rtt-ref` the windows are
/// the same, and its rate is five times as high.
#[test]
fn a_short_round_trip_is_no_advantage() {
    let [short, long] = [Span::from_ms(5), Span::from_ms(25)];
    let rate = |rtt: Span, params| average(0.01, rtt, params) / rtt.seconds();
    let independent = Params { rtt_ref_rounds: 0, ..DEFAULTS };
    let ratio = rate(short, independent) / rate(long, independent);
    assert!((ratio - 1.0).abs() < 0.15, "{ratio}");
    let dependent = Params { rtt_ref: Span::ZERO, ..independent };
    let ratio = rate(short, dependent) / rate(long, dependent);
    assert!((ratio - 5.0).abs() < 0.1, "{ratio}");
}
