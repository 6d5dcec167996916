//! Round-trip times at the edge on a path of known length: a receiver by RFC 5681 and RFC 7323, losses behind the edge, a
//! sender that repeats what it likes when it likes.

use perhop_core::estimate::{MicroFlow, Timestamps};
use perhop_core::packet::{FlowId, Packet, flags};
use perhop_core::units::{Span, Time};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// From the edge to the receiver and back, us.
const TRIP: u64 = 40_000;
/// The longest that an ACK is delayed, us.
const DELAYED: u64 = 15_000;
/// A tick of the sender's timestamp clock, us.
const TICK: u64 = 4_000;
const SIZE: u32 = 1000;

#[derive(Clone, Copy, Debug)]
struct Step {
    gap: u64,
    /// A segment that was sent before, by place; else a new one.
    again: Option<usize>,
    lost: bool,
    ack_lost: bool,
}

fn steps(ack_losses: f64) -> impl Strategy<Value = Vec<Step>> {
    let gap = prop_oneof![6 => 0u64..1_000, 3 => 0u64..10_000, 1 => 0u64..200_000];
    let again = prop_oneof![3 => Just(None), 1 => any::<usize>().prop_map(Some)];
    let step = (gap, again, prop::bool::weighted(0.1), prop::bool::weighted(ack_losses));
    prop::collection::vec(step.prop_map(|(gap, again, lost, ack_lost)| Step { gap, again, lost, ack_lost }), 1..150)
}

/// What reaches the receiver or the edge, and when.
#[derive(Clone, Copy, Debug)]
struct Ack {
    at: u64,
    number: u32,
    echo: u32,
}

#[derive(Default)]
struct Receiver {
    next: u32,
    beyond: BTreeSet<u32>,
    last_ack: u32,
    recent: u32,
    /// When the delayed ACK is due.
    due: Option<u64>,
}

impl Receiver {
    fn ack(&mut self, at: u64) -> Ack {
        (self.last_ack, self.due) = (self.next, None);
        Ack { at, number: self.next * SIZE, echo: self.recent }
    }

    /// Segment number `n` with timestamp `stamp`.
    fn segment(&mut self, at: u64, n: u32, stamp: u32) -> Option<Ack> {
        if n <= self.last_ack && stamp.wrapping_sub(self.recent) < 1 << 31 {
            self.recent = stamp;
        }
        let in_order = n == self.next && self.beyond.is_empty();
        self.beyond.insert(n);
        while self.beyond.remove(&self.next) {
            self.next += 1;
        }
        self.beyond.retain(|&n| n >= self.next);
        if !in_order || self.due.is_some() {
            return Some(self.ack(at));
        }
        self.due = Some(at + DELAYED);
        None
    }
}

/// What a path does to these steps, as the edge sees it.
struct Path {
    base: u32,
    stamps: Option<u32>,
    receiver: Receiver,
    flow: Option<MicroFlow>,
    under_way: Vec<(Ack, bool)>,
    samples: Vec<u64>,
}

impl Path {
    fn run(steps: &[Step], base: u32, stamps: Option<u32>) -> Vec<u64> {
        let receiver = Receiver { recent: stamps.unwrap_or(0).wrapping_sub(1), ..Receiver::default() };
        let mut path = Self { base, stamps, receiver, flow: None, under_way: Vec::new(), samples: Vec::new() };
        let (mut now, mut sent) = (0, 0);
        for step in steps {
            now += step.gap;
            let n = step.again.filter(|_| sent > 0).map_or(sent, |place| place as u32 % sent);
            sent = sent.max(n + 1);
            path.until(now);
            path.pass(now, n, step);
        }
        path.until(now + 10 * TRIP);
        path.samples
    }

    fn clock(&self, now: u64) -> u32 {
        self.stamps.unwrap_or(0).wrapping_add((now / TICK) as u32)
    }

    /// The segment passes the edge; if it is not lost it will be received half a trip later, which nothing overtakes.
    fn pass(&mut self, now: u64, n: u32, step: &Step) {
        let stamp = self.clock(now);
        let seq_end = self.base.wrapping_add((n + 1) * SIZE);
        let packet = Packet { seq_end, payload: SIZE as u16, flags: flags::ACK, flow: FlowId(0), ..Packet::default() };
        let stamps = self.stamps.map(|_| Timestamps { value: stamp, echo: 0 });
        let flow = self.flow.get_or_insert_default();
        flow.on_segment(Time::from_ns(now * 1000), &packet, stamps);
        if !step.lost {
            let arrival = now + TRIP / 2;
            self.delayed(arrival, step.ack_lost);
            let ack = self.receiver.segment(arrival, n, stamp);
            self.under_way.extend(ack.map(|ack| (ack, step.ack_lost)));
        }
    }

    fn delayed(&mut self, until: u64, lost: bool) {
        if let Some(due) = self.receiver.due.filter(|due| *due <= until) {
            let ack = self.receiver.ack(due);
            self.under_way.push((ack, lost));
        }
    }

    /// ACKs that have come back to the edge by `now`.
    fn until(&mut self, now: u64) {
        self.delayed(now, false);
        let back = self.under_way.iter().take_while(|(ack, _)| ack.at + TRIP / 2 <= now).count();
        for (ack, lost) in self.under_way.drain(..back).collect::<Vec<_>>() {
            let at = Time::from_ns((ack.at + TRIP / 2) * 1000);
            let packet = Packet { ack: self.base.wrapping_add(ack.number), flags: flags::ACK, ..Packet::default() };
            let stamps = self.stamps.map(|_| Timestamps { value: 0, echo: ack.echo });
            let flow = self.flow.as_mut().filter(|_| !lost);
            let sample = flow.and_then(|flow| flow.on_ack(at, &packet, stamps));
            self.samples.extend(sample.map(|(rtt, _)| Span::ns(rtt) / 1000));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    /// No sample is shorter than the path, with sequence numbers or timestamps, whatever is lost and repeated.
    #[test]
    fn no_sample_is_shorter_than_the_path(steps in steps(0.1), base in any::<u32>(), stamps in any::<Option<u32>>()) {
        let samples = Path::run(&steps, base, stamps);
        prop_assert!(samples.iter().all(|it| *it >= TRIP), "{:?}", samples);
    }

    /// As long as ACKs are not lost none is longer than the path and a delayed ACK; with timestamps a tick more, within which
    /// a repeat looks like the first.
    #[test]
    fn nor_longer_than_the_path_and_a_delayed_ack(
        steps in steps(0.0), base in any::<u32>(), stamps in any::<Option<u32>>(),
    ) {
        let samples = Path::run(&steps, base, stamps);
        let most = TRIP + DELAYED + stamps.map_or(0, |_| TICK);
        prop_assert!(samples.iter().all(|it| *it <= most), "{:?}", samples);
    }
}

/// The two properties speak of something: without losses every second segment can be sampled.
#[test]
fn there_are_samples() {
    let steps = vec![Step { gap: 20_000, again: None, lost: false, ack_lost: false }; 100];
    // segments in the air while one is timed: four in a trip and a delayed ACK at most
    for stamps in [None, Some(u32::MAX - 20)] {
        let samples = Path::run(&steps, 0, stamps);
        assert!((20..=50).contains(&samples.len()), "{stamps:?}: {samples:?}");
    }
}
