//! PIE packet for packet as the pseudo-code of RFC 8033 and as a slow version of Linux's; what it settles at.

use super::support;
use crate::common::port::Port;
use crate::oracle::pie::{Outcome, Pie, Queue, Settings, Waiting};
use crate::oracle::pie_linux::Linux;
use perhop_core::Rng;
use perhop_core::aqm::AqmParams;
use perhop_core::aqm::arithmetic::Arithmetic;
use perhop_core::aqm::pie::{DelayFrom, Drops, Params};
use perhop_core::packet::{Ecn, Packet};
use perhop_core::port::{Gate, Limit};
use perhop_core::units::{BitRate, Bytes, Length, Probability, Span, Time};
use perhop_core::verdict::{Fate, Reason};
use proptest::prelude::*;

/// 1000 B take 1 ms.
const RATE: BitRate = BitRate::mbps(8);
const LIMIT: u32 = 400;

fn defaults(arithmetic: Arithmetic) -> Params {
    Params {
        target: Span::from_ms(15),
        interval: Span::from_ms(15),
        max_burst: Span::from_ms(150),
        alpha: 0.125,
        beta: 1.25,
        delay: DelayFrom::Timestamps,
        drops: Drops { derandomise: true, cap: true, byte_mode: false },
        active_above: None,
        mtu: Bytes::new(1500),
        ecn: false,
        ecn_below: Probability::new(0.1).unwrap(),
        arithmetic,
    }
}

fn settings(params: &Params) -> Settings {
    let queue_small = params.active_above.map(|length| match length {
        Length::Bytes(n) => n.get(),
        other => panic!("{other}"),
    });
    Settings {
        qdelay_ref: params.target.ns(),
        t_update: params.interval.ns(),
        max_burst: params.max_burst.ns(),
        alpha: params.alpha,
        beta: params.beta,
        rate: params.delay == DelayFrom::Rate,
        derandomise: params.drops.derandomise,
        cap: params.drops.cap,
        byte_mode: params.drops.byte_mode,
        queue_small,
        mean_pktsize: params.mtu.get(),
        ecn: params.ecn,
        max_ecnth: params.ecn_below.get(),
        limit: LIMIT as usize,
    }
}

/// The oracle behind the same link and timer.
struct Line<Q> {
    pie: Q,
    until: Option<u64>,
    update: u64,
    interval: u64,
    sent: u64,
}

impl<Q: Queue> Line<Q> {
    fn new(params: &Params, rng: Rng) -> Self {
        let pie = Q::new(settings(params), rng);
        let interval = params.interval.ns();
        Self { pie, until: None, update: interval, interval, sent: 0 }
    }

    /// Departures go before the timer, and both before an arrival.
    fn advance(&mut self, now: u64) {
        loop {
            let done = self.until.unwrap_or(u64::MAX);
            if done.min(self.update) > now {
                return;
            }
            if done <= self.update {
                self.send(done);
            } else {
                self.pie.calculate_drop_prob(self.update);
                self.update += self.interval;
            }
        }
    }

    fn send(&mut self, now: u64) {
        let sent = self.pie.deque(now);
        self.sent += u64::from(sent.is_some());
        self.until = sent.map(|packet| now + packet.bytes * 1000);
    }

    fn arrive(&mut self, packet: Waiting) -> Fate {
        let outcome = self.pie.enque(packet.arrived, packet);
        if self.until.is_none() {
            self.send(packet.arrived);
        }
        match outcome {
            Outcome::Queued => Fate::Queued,
            Outcome::Marked => Fate::Marked,
            Outcome::Early => Fate::Dropped(Reason::Early),
            Outcome::Full => Fate::Dropped(Reason::Overflow),
        }
    }
}

/// The port's timers up to `now`.
fn advance(port: &mut Port, now: Time) {
    while let Some(at) = port.poll_at().filter(|at| *at <= now) {
        port.advance(at);
        port.on_timer(at);
    }
    port.advance(now);
}

fn port(params: &Params, rng: Rng) -> Port {
    let aqm = AqmParams::Pie(params.clone()).build(&support::scope(LIMIT)).unwrap();
    Port::new(Gate::new(aqm, Limit::Packets(LIMIT), rng), RATE)
}

/// Gap before a packet in ns, its bytes, whether it is ECN-capable.
type Load = Vec<(u64, u64, bool)>;

/// The same fates in the same order, the same packets sent and waiting, the same probability.
fn follow<Q: Queue>(params: &Params, load: &Load, seed: u64) -> Result<(), TestCaseError> {
    let rng = Rng::stream(seed, 0, "queue");
    let (mut port, mut line) = (port(params, rng.clone()), Line::<Q>::new(params, rng));
    let mut now = 0;
    for (n, (gap, bytes, ecn)) in load.iter().copied().enumerate() {
        now += gap;
        advance(&mut port, Time::from_ns(now));
        line.advance(now);
        prop_assert_eq!(port.gauge(Time::from_ns(now), "drop_p"), line.pie.drop_prob(), "before packet {}", n);
        let field = if ecn { Ecn::Ect0 } else { Ecn::NotEct };
        let fate = port.arrive(Time::from_ns(now), Packet { size: bytes as u32, ecn: field, ..Packet::default() });
        prop_assert_eq!(fate, line.arrive(Waiting { arrived: now, bytes, ecn }), "packet {}", n);
        prop_assert_eq!((port.waiting().len(), port.sent), (line.pie.waiting(), line.sent), "packet {}", n);
    }
    Ok(())
}

/// Phases of one mean load each, from a fourth of the link's rate to many times it, with pauses. Sizes are multiples of
/// 50, so that what waits meets its bounds.
fn load() -> impl Strategy<Value = Load> {
    let phase = (20u64..3000, 20usize..500, 0u64..400).prop_flat_map(|(mean, n, pause)| {
        let packet = (0..2 * mean * 1000, (1u64..=30).prop_map(|n| 50 * n), any::<bool>());
        prop::collection::vec(packet, n).prop_map(move |mut packets| {
            packets[0].0 += pause * 1_000_000;
            packets
        })
    });
    prop::collection::vec(phase, 1..12).prop_map(|phases| phases.concat())
}

fn any_common(arithmetic: Arithmetic) -> impl Strategy<Value = Params> {
    let times = (1u64..40_000, 1_000u64..30_000).prop_map(|(target, interval)| [target, interval].map(Span::from_us));
    let weights = (0u32..=32, 0u32..=32).prop_map(|(a, b)| [a, b].map(|n| f64::from(n) / 16.0));
    let delay = prop::sample::select(vec![DelayFrom::Timestamps, DelayFrom::Rate]);
    let flags = (any::<bool>(), any::<bool>(), (1u64..60).prop_map(|n| 50 * n));
    (times, weights, delay, flags).prop_map(move |(times, weights, delay, (ecn, byte_mode, mtu))| {
        let ([target, interval], [alpha, beta]) = (times, weights);
        let (other, mtu) = (defaults(arithmetic), Bytes::new(mtu));
        let drops = Drops { byte_mode, ..other.drops };
        Params { target, interval, alpha, beta, delay, ecn, drops, mtu, ..other }
    })
}

fn any_rfc() -> impl Strategy<Value = Params> {
    let small = prop::option::of((1u64..20_000).prop_map(|n| Length::Bytes(Bytes::new(n))));
    let own = (0u64..200, any::<bool>(), any::<bool>(), small, 0.0..1.0f64);
    (any_common(Arithmetic::Rfc), own).prop_map(|(common, (burst, derandomise, cap, active_above, below))| Params {
        max_burst: Span::from_ms(burst),
        drops: Drops { derandomise, cap, ..common.drops },
        active_above,
        ecn_below: Probability::new(below).unwrap(),
        ..common
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// RFC 8033, appendices A and B.
    #[test]
    fn every_fate_is_the_pseudo_codes(params in any_rfc(), load in load(), seed in any::<u64>()) {
        follow::<Pie>(&params, &load, seed)?;
    }

    /// Linux 6.12.
    #[test]
    fn every_fate_is_linuxs(params in any_common(Arithmetic::Linux), load in load(), seed in any::<u64>()) {
        follow::<Linux>(&params, &load, seed)?;
    }
}

/// Mean p of the last minute of two, and drops in it: 5/4 of the link's rate that does not react.
fn settled(params: &Params) -> (f64, u32) {
    let mut port = port(params, Rng::stream(5, 0, "queue"));
    let (mut last, mut sum, mut dropped) = (0.0, 0.0, 0);
    for i in 0..150_000u64 {
        let now = Time::from_ns(i * 800_000);
        advance(&mut port, now);
        let p = port.gauge(now, "drop_p");
        // The cap; Linux adds 0.02 where the delay is above 250 ms.
        let step = if params.arithmetic == Arithmetic::Linux { 0.04 } else { 0.02 };
        assert!(last < 0.1 || p - last <= step + 1e-12, "{last} {p}");
        last = p;
        let fate = port.arrive(now, Packet { size: 1000, ..Packet::default() });
        if i >= 75_000 {
            dropped += u32::from(!fate.stays());
            sum += p;
        }
    }
    (sum / 75_000.0, dropped)
}

/// A fifth of the packets is to be dropped, and is. Drawn one by one p is a fifth then. Spread, a drop comes every
/// ceil(0.85 / p) - 1 + 1 / p packets in the mean, which is 5 at p = 1/3.
#[test]
fn p_settles_where_the_drops_are_the_excess() {
    let spread = defaults(Arithmetic::Rfc);
    let drawn = Params { drops: Drops { derandomise: false, ..spread.drops }, ..spread };
    for (params, expected) in
        [(drawn, 0.2), (defaults(Arithmetic::Rfc), 1.0 / 3.0), (defaults(Arithmetic::Linux), 1.0 / 3.0)]
    {
        let (p, dropped) = settled(&params);
        // The queue may differ by its limit.
        assert!(dropped.abs_diff(15_000) <= LIMIT, "{dropped}");
        // p swings about the point where the drops are right, and the drops are not linear in it.
        assert!((p / expected - 1.0).abs() < 0.1, "{p}");
    }
}
