//! Round-trip times and windows at the edge against the slow version, whatever passes in whatever order.

use crate::oracle::edge::{History, Seen, rto, samples, smoothed, timeouts, window};
use perhop_core::estimate::{MicroFlows, RoundTrip};
use perhop_core::packet::{FlowId, Packet, flags};
use perhop_core::units::{Span, Time};
use proptest::prelude::*;

/// What a sender, a path or a receiver does next; places are reduced to those that exist.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// New data, behind some that were lost before the edge.
    New { lost: u64, size: u64 },
    /// A segment that was sent before passes, maybe together with some that followed it.
    Again { place: usize, more: usize },
    /// Data from some byte that was sent to one that was not.
    Overlap { back: u64, size: u64 },
    /// The lowest segment that is not acknowledged comes again.
    Lowest,
    /// An ACK at a segment's end.
    Ack { place: usize, bare: bool },
    /// The highest ACK again.
    Duplicate { bare: bool },
    /// An ACK of any byte.
    Part { permille: u64 },
}

const MSS: u64 = 1448;

fn step() -> impl Strategy<Value = Step> {
    let size = prop_oneof![3 => Just(MSS), 1 => 1..MSS];
    let lost = prop_oneof![9 => Just(0), 1 => Just(MSS)];
    prop_oneof![
        8 => (lost, size).prop_map(|(lost, size)| Step::New { lost, size }),
        1 => (any::<usize>(), 0usize..2).prop_map(|(place, more)| Step::Again { place, more }),
        1 => (0..3 * MSS, 1..MSS).prop_map(|(back, size)| Step::Overlap { back, size }),
        3 => Just(Step::Lowest),
        5 => (any::<usize>(), any::<bool>()).prop_map(|(place, bare)| Step::Ack { place, bare }),
        5 => prop::bool::weighted(0.9).prop_map(|bare| Step::Duplicate { bare }),
        1 => (0u64..1000).prop_map(|permille| Step::Part { permille }),
    ]
}

/// A flow's history, while it is being generated.
#[derive(Default)]
struct Story {
    history: Vec<(u64, Seen)>,
    /// All that was sent, seen or lost before the edge.
    sent: Vec<(u64, u64)>,
    acked: u64,
}

impl Story {
    fn of(steps: &[(u64, Step)]) -> Self {
        let mut it = Self::default();
        it.send((0, MSS));
        it.history.push((0, Seen::Segment { start: 0, end: MSS }));
        let mut now = 0;
        for &(gap, step) in steps {
            now += gap;
            let seen = it.next(step);
            it.history.push((now, seen));
        }
        it
    }

    fn send(&mut self, segment: (u64, u64)) {
        self.sent.push(segment);
    }

    fn next(&mut self, step: Step) -> Seen {
        let highest = self.sent.last().unwrap().1;
        match step {
            Step::New { lost, size } => {
                if lost > 0 {
                    self.send((highest, highest + lost));
                }
                self.segment((highest + lost, highest + lost + size))
            }
            Step::Again { place, more } => {
                let place = place % self.sent.len();
                let last = (place + more).min(self.sent.len() - 1);
                Seen::Segment { start: self.sent[place].0, end: self.sent[last].1 }
            }
            Step::Overlap { back, size } => {
                let start = highest.saturating_sub(back.min(MSS - 1));
                self.segment((start, (highest + size).min(start + MSS)))
            }
            Step::Lowest => {
                let lowest = self.sent.iter().find(|(_, end)| *end > self.acked).unwrap_or(self.sent.last().unwrap());
                Seen::Segment { start: lowest.0, end: lowest.1 }
            }
            Step::Ack { place, bare } => self.ack(self.sent[place % self.sent.len()].1, bare),
            Step::Duplicate { bare } => self.ack(self.acked, bare),
            Step::Part { permille } => self.ack(self.acked + (highest - self.acked) * permille / 1000, true),
        }
    }

    fn segment(&mut self, (start, end): (u64, u64)) -> Seen {
        self.send((start, end));
        Seen::Segment { start, end }
    }

    fn ack(&mut self, number: u64, bare: bool) -> Seen {
        self.acked = self.acked.max(number);
        Seen::Ack { number, bare }
    }
}

/// The packet on the wire: numbers are modulo 2^32, and the first byte's is any.
fn packet(base: u32, it: Seen) -> Packet {
    let wire = |number: u64| base.wrapping_add(number as u32);
    match it {
        Seen::Segment { start, end } => {
            Packet { seq_end: wire(end), payload: (end - start) as u16, flags: flags::ACK, ..Packet::default() }
        }
        Seen::Ack { number, bare } => {
            Packet { ack: wire(number), payload: u16::from(!bare), flags: flags::ACK, ..Packet::default() }
        }
    }
}

fn steps(most: usize) -> impl Strategy<Value = Vec<(u64, Step)>> {
    prop::collection::vec((0u64..100_000_000, step()), 1..most)
}

fn base() -> impl Strategy<Value = u32> {
    prop_oneof![any::<u32>(), (0..20 * MSS as u32).prop_map(|before| 0u32.wrapping_sub(before)), Just((1 << 31) - 2000)]
}

/// Shows a packet of a flow to the table: the sample it closes, as (opened, closed).
fn show(flows: &mut MicroFlows, (now, flow, base): (u64, FlowId, u32), it: Seen) -> Option<(u64, u64)> {
    let (at, packet) = (Time::from_ns(now), Packet { flow, ..packet(base, it) });
    match it {
        Seen::Segment { .. } => {
            flows.on_forward(at, &packet, None);
            None
        }
        Seen::Ack { .. } => flows.on_reverse(at, flow, &packet, None).map(|(rtt, _)| (now - rtt.ns(), now)),
    }
}

fn compare(history: &History, base: u32) -> Result<(), TestCaseError> {
    let mut flows = MicroFlows::new(1, Span::from_s(1_000_000));
    let mut taken = Vec::new();
    for (i, &(now, it)) in history.iter().enumerate() {
        taken.extend(show(&mut flows, (now, FlowId(0), base), it));
        let known = *flows.get(Time::from_ns(now), FlowId(0)).unwrap().window();
        prop_assert_eq!(u64::from(known.segments()), window(&history[..=i]), "window after {:?}", &history[..=i]);
        prop_assert_eq!(known.timeouts() as usize, timeouts(&history[..=i]), "time-outs after {:?}", &history[..=i]);
    }
    prop_assert_eq!(taken, samples(history), "{:?}", history);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn samples_windows_and_timeouts_are_the_slow_versions(steps in steps(60), base in base()) {
        compare(&Story::of(&steps).history, base)?;
    }

    /// Invariant 6 of section 1.10, and at most one open sample: no two overlap, and none closes before it opens.
    #[test]
    fn a_packet_that_passes_is_under_way_and_samples_do_not_overlap(steps in steps(200), base in base()) {
        let mut flows = MicroFlows::new(1, Span::from_s(1_000_000));
        let mut free_at = 0;
        for (now, it) in Story::of(&steps).history {
            if let Some((opened, closed)) = show(&mut flows, (now, FlowId(0), base), it) {
                prop_assert!(free_at <= opened && opened <= closed);
                free_at = closed;
            }
            if matches!(it, Seen::Segment { .. }) {
                prop_assert!(flows.get(Time::from_ns(now), FlowId(0)).unwrap().window().segments() >= 1);
            }
        }
    }

    /// Flows that come and go: each is measured as if it were alone since it was last forgotten, and there are never more
    /// than the table holds.
    #[test]
    fn flows_do_not_mix_and_expire(
        stories in prop::collection::vec((steps(20), base()), 1..7),
        order in prop::collection::vec((0usize..7, 0u64..30_000_000_000), 1..150),
    ) {
        const MOST: usize = 3;
        const EXPIRY: u64 = 60_000_000_000;
        let stories: Vec<_> = stories.iter().map(|(steps, base)| (Story::of(steps).history, *base)).collect();
        let mut next = vec![0; stories.len()];
        let mut alone: Vec<(u64, Vec<(u64, Seen)>)> = vec![(0, Vec::new()); stories.len()];
        let (mut flows, mut now, mut refused) = (MicroFlows::new(MOST as u32, Span::from_ns(EXPIRY)), 0, 0);
        for (which, gap) in order {
            let which = which % stories.len();
            now += gap;
            let (story, base) = &stories[which];
            let Some(&(_, it)) = story.get(next[which]) else { continue };
            next[which] += 1;
            for (seen, past) in &mut alone {
                if !past.is_empty() && now - *seen > EXPIRY {
                    past.clear();
                }
            }
            let segment = matches!(it, Seen::Segment { .. });
            let room = alone.iter().filter(|(_, past)| !past.is_empty()).count() < MOST;
            refused += u64::from(segment && alone[which].1.is_empty() && !room);
            if !alone[which].1.is_empty() || segment && room {
                alone[which].0 = now;
                alone[which].1.push((now, it));
            }
            let taken = show(&mut flows, (now, FlowId(which as u32), *base), it);
            let past = &alone[which].1;
            prop_assert_eq!(taken, samples(past).last().copied().filter(|(_, closed)| *closed == now && !segment && !past.is_empty()));
            let known = flows.get(Time::from_ns(now), FlowId(which as u32));
            let wanted = (!past.is_empty()).then(|| window(past));
            prop_assert_eq!(known.map(|it| u64::from(it.window().segments())), wanted);
            prop_assert_eq!(flows.refused(), refused);
        }
    }

    /// Doubles added in the same order: equal but for a rounding a sample.
    #[test]
    fn smoothing_is_the_slow_versions(
        ns in prop::collection::vec(0u64..10_000_000_000, 0..100), gain in 0.001f64..=1.0, least_ms in 1u64..2000,
    ) {
        let mut fast = RoundTrip::default();
        for &ns in &ns {
            fast.sample(Span::from_ns(ns), gain);
        }
        let plain: Vec<f64> = ns.iter().map(|&ns| ns as f64 / 1e9).collect();
        let near = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (Some(a), Some(b)) => (a - b).abs() <= 1e-12 * (1.0 + b),
            (a, b) => a == b,
        };
        let slow = smoothed(&plain, gain);
        prop_assert!(near(fast.smoothed(), slow.map(|it| it.0)) && near(fast.variation(), slow.map(|it| it.1)));
        prop_assert!(near(fast.timeout(Span::from_ms(least_ms)), rto(&plain, gain, least_ms as f64 / 1e3)));
        prop_assert!(fast.least().is_none_or(|least| plain.iter().all(|s| *s >= least)));
    }
}
