//! The echo of RFC 8257 section 3.2 with two ACKs where the marks change: nothing of what a receiver got is told wrongly.

use perhop_core::units::{Span, Time};
use perhop_sim::transport::{AckDelay, AckInfo, Config, EcnFeedback, Reaction, Received, Receiver, RtoConfig};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn receiver(ack: AckDelay) -> Receiver {
    let reaction = Reaction { ack, overhead: None, sack: true, ..Reaction::NONE };
    let config = Config { syn: false, window: 64, ecn: true, rto: RtoConfig::MODERN, reaction, ..Config::default() };
    Receiver::new(&Config { reaction: Reaction { feedback: EcnFeedback::Dctcp, ..config.reaction }, ..config }).unwrap()
}

/// What a sender knows from ACKs: which segments have arrived, how many of them it thinks were marked.
#[derive(Default)]
struct Sender {
    arrived: BTreeSet<u32>,
    marked: usize,
}

impl Sender {
    fn hear(&mut self, ack: &AckInfo) {
        let before = self.arrived.len();
        self.arrived.extend(1..ack.next_expected);
        ack.sacks.iter(ack.next_expected).for_each(|block| self.arrived.extend(block));
        self.marked += if ack.ece { self.arrived.len() - before } else { 0 };
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Whatever is lost or comes out of order on the way there, after each ACK the sender knows how many of the segments
    /// acknowledged were marked; nothing is ambiguous, for each ACK tells of segments of one kind. Linux sends some ACKs for
    /// a missing segment together, of both kinds: there nothing is missing.
    #[test]
    fn every_mark_is_counted_once(
        steps in prop::collection::vec((0u32..30, prop::bool::weighted(0.8), 0u64..60_000, any::<bool>()), 1..300),
        sticky in 1u32..20,
        kind in 0usize..3,
    ) {
        let delay = [AckDelay::None, AckDelay::Fixed(Span::from_ms(100)), AckDelay::Linux][kind];
        let mut receiver = receiver(delay);
        let (mut sender, mut now, mut ce) = (Sender::default(), Time::ZERO, false);
        let mut got = BTreeSet::new();
        let mut marked = BTreeSet::new();
        for (ahead, in_order, wait_us, flip) in steps {
            let arrives = now + Span::from_us(wait_us);
            let due = receiver.timer_at().filter(|&due| due <= arrives);
            due.and_then(|due| receiver.on_timer(due)).iter().for_each(|ack| sender.hear(ack));
            now = arrives;
            ce ^= flip && ahead < sticky;
            let number = receiver.next_expected() + if in_order || delay == AckDelay::Linux { 0 } else { ahead };
            if got.insert(number) && ce {
                marked.insert(number);
            }
            let ack = receiver.on_segment(now, &Received { number, payload: 1000, ce, ..Received::default() });
            let earlier = receiver.take_earlier();
            earlier.iter().chain(&ack).for_each(|ack| sender.hear(ack));
            let known = marked.intersection(&sender.arrived).count();
            prop_assert_eq!(sender.marked, known, "after segment {}", number);
        }
    }
}

/// RFC 8257 section 3.2 with delayed ACKs: one that waits gets its own ACK before that of a segment of the other kind.
#[test]
fn what_waits_is_acknowledged_apart() {
    let mut receiver = receiver(AckDelay::Fixed(Span::from_ms(100)));
    let mut told = Vec::new();
    for (number, ce) in (1..).zip([false, false, false, true, true, true, true, false]) {
        let ack = receiver.on_segment(Time::ZERO, &Received { number, payload: 1000, ce, ..Received::default() });
        let earlier = receiver.take_earlier();
        told.extend(earlier.iter().chain(&ack).map(|ack| (number, ack.next_expected, ack.ece)));
        assert!(receiver.take_earlier().is_none() && receiver.sends_ect());
    }
    let expected = [(2, 3, false), (4, 4, false), (4, 5, true), (6, 7, true), (8, 8, true), (8, 9, false)];
    assert_eq!(told, expected);
}
