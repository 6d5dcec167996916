//! Loads: packets with their times, from sources of four kinds.

use perhop_core::Rng;
use perhop_core::conditioner::{Conditioner, Passage};
use perhop_core::packet::{Colour, FlowId, Packet};
use perhop_core::port::Turn;
use perhop_core::units::Time;
use perhop_core::verdict::Verdict;
use proptest::prelude::*;

/// A packet and when it comes.
#[derive(Clone, Copy, Debug)]
pub struct Offered {
    /// When.
    pub at: Time,
    /// What.
    pub packet: Packet,
}

/// How a source spaces its packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    /// Constant gaps.
    Strict,
    /// Gaps times uniform(0.5, 1.5).
    Jittered,
    /// Exponential gaps.
    Poisson,
    /// Bursts of 10 packets back to back, with the gaps between the bursts that keep the mean rate.
    Bursty,
}

/// All spacings.
pub const SPACINGS: [Spacing; 4] = [Spacing::Strict, Spacing::Jittered, Spacing::Poisson, Spacing::Bursty];

/// A source: rate in bit/s, packets of one size.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// Its flow; also what its label says it is, see `label`.
    pub flow: u32,
    /// Mean rate, bit/s.
    pub rate: f64,
    /// Bytes of a packet.
    pub size: u32,
    /// Spacing.
    pub spacing: Spacing,
}

impl Source {
    /// A source of 1000-byte packets.
    pub fn new(flow: u32, rate: f64, spacing: Spacing) -> Self {
        Self { flow, rate, size: 1000, spacing }
    }

    /// A packet labelled with the source's true rate, bytes/s.
    pub fn packet(&self) -> Packet {
        let mut packet = Packet { size: self.size, flow: FlowId(self.flow), ..Packet::default() };
        packet.set_label((self.rate / 8.0) as f32);
        packet
    }

    /// Its packets up to `end` seconds, with a random phase.
    pub fn packets(&self, end: f64, seed: u64) -> Vec<Offered> {
        let mut rng = Rng::stream(seed, self.flow, "source");
        let gap = 8.0 * f64::from(self.size) / self.rate;
        let (mut at, mut sent, mut out) = (gap * rng.uniform(), 0, Vec::new());
        while at < end {
            out.push(Offered { at: Time::from_ns((at * 1e9) as u64), packet: self.packet() });
            sent += 1;
            at += gap * self.factor(sent, &mut rng);
        }
        out
    }

    fn factor(&self, sent: u32, rng: &mut Rng) -> f64 {
        match self.spacing {
            Spacing::Strict => 1.0,
            Spacing::Jittered => 0.5 + rng.uniform(),
            Spacing::Poisson => rng.exponential(1.0),
            Spacing::Bursty if !sent.is_multiple_of(10) => 0.01,
            Spacing::Bursty => 10.0 - 9.0 * 0.01,
        }
    }
}

/// Several sources as one aggregate, in order of time (of equal times, in order of the sources).
pub fn merged(sources: &[Source], end: f64, seed: u64) -> Vec<Offered> {
    let mut all: Vec<_> = sources.iter().flat_map(|s| s.packets(end, seed)).collect();
    all.sort_by_key(|o| o.at);
    all
}

/// Sends a load through; the packets as they leave.
pub fn run<C: Conditioner>(conditioner: &mut C, load: &[Offered], rng: &mut Rng) -> Vec<Packet> {
    load.iter().map(|offered| pass(conditioner, offered, rng)).collect()
}

/// Sends one packet through; nothing is left of one that is dropped but its header: its size is 0.
pub fn pass<C: Conditioner>(conditioner: &mut C, offered: &Offered, rng: &mut Rng) -> Packet {
    let mut packet = offered.packet;
    if conditioner.forward(Turn::testing(&Passage::of(offered.at, packet.flow)), &mut packet, rng) != Verdict::Pass {
        packet.size = 0;
    }
    packet
}

/// A gauge's value.
///
/// # Panics
/// When there is no such gauge.
pub fn gauge<C: Conditioner>(conditioner: &C, now: Time, name: &str) -> f64 {
    let mut found = None;
    conditioner.gauges(now, &mut |n, value| found = if n == name { Some(value) } else { found });
    found.unwrap_or_else(|| panic!("no gauge `{name}`"))
}

/// Packets offered and green packets, by flow.
pub fn green_by_flow(load: &[Offered], marked: &[Packet], flows: usize) -> Vec<(f64, f64)> {
    let mut counts = vec![(0.0, 0.0); flows];
    for (_, packet) in load.iter().zip(marked) {
        let count = &mut counts[packet.flow.0 as usize];
        count.0 += 1.0;
        count.1 += f64::from(u8::from(packet.colour == Colour::Green));
    }
    counts
}

fn any_packet() -> impl Strategy<Value = Packet> {
    let label = prop_oneof![
        8 => (0.0..7.0f64).prop_map(|e| Some(perhop_core::math::pow(10.0, e) as f32)),
        1 => Just(None),
        1 => prop::sample::select(vec![Some(0.0), Some(-1.0), Some(f32::NAN), Some(f32::INFINITY)]),
    ];
    (prop_oneof![Just(1000u32), 40u32..=1500], 0u32..8, prop::sample::select(Colour::ALL.to_vec()), label).prop_map(
        |(size, flow, colour, label)| {
            let mut packet = Packet { size, flow: FlowId(flow), colour, ..Packet::default() };
            if let Some(label) = label {
                packet.set_label(label);
            }
            packet
        },
    )
}

/// Up to `most` packets of any size, flow, colour and label: strict, jittered, Poisson or bursty at any rate, with
/// packets of one instant and idle times among them.
pub fn arrivals(most: usize) -> BoxedStrategy<Vec<Offered>> {
    let spacing = prop::sample::select(SPACINGS.to_vec());
    // Round gaps meet the windows of algorithms exactly at their ends.
    let gap = prop_oneof![
        3 => (3.0..8.5f64).prop_map(|e| perhop_core::math::pow(10.0, e)),
        1 => prop::sample::select(vec![1e6, 1e7]),
    ];
    let packets = prop::collection::vec((any_packet(), 0u32..40), 1..most);
    (spacing, gap, packets, any::<u64>())
        .prop_map(|(spacing, gap, packets, seed)| {
            let source = Source::new(0, 1.0, spacing);
            let (mut rng, mut at) = (Rng::stream(seed, 0, "arrivals"), 0u64);
            let mut place = |(i, (packet, odd)): (usize, (Packet, u32))| {
                at += match odd {
                    0 => 0,
                    1 => (gap * 300.0) as u64,
                    _ => (gap * source.factor(i as u32 + 1, &mut rng)) as u64,
                };
                Offered { at: Time::from_ns(at), packet }
            };
            packets.into_iter().enumerate().map(&mut place).collect()
        })
        .boxed()
}
