//! The receiver against a set of numbers: what a receiver is, slowly.

use perhop_core::units::{Span, Time};
use perhop_sim::transport::{AckDelay, AckInfo, Config, Reaction, Received, Receiver};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Everything received, as a map from number to payload; ACK rules of RFC 5681 section 4.2 in words.
struct Oracle {
    seen: BTreeMap<u32, u16>,
    first: u32,
    window: u32,
    delay: Option<Span>,
    due: Option<Time>,
    duplicates: u64,
    beyond: u64,
}

impl Oracle {
    fn next_expected(&self) -> u32 {
        (self.first..).find(|n| !self.seen.contains_key(n)).unwrap()
    }

    fn bytes(&self) -> u64 {
        self.seen.range(..self.next_expected()).map(|(_, &payload)| u64::from(payload)).sum()
    }

    fn on_segment(&mut self, now: Time, number: u32, payload: u16) -> Option<u32> {
        let expected = self.next_expected();
        if number < expected || self.seen.contains_key(&number) {
            self.duplicates += 1;
        } else if number - expected >= self.window {
            self.beyond += 1;
        } else {
            self.seen.insert(number, payload);
        }
        let gaps = self.seen.keys().any(|&n| n >= self.next_expected());
        let plain = number == expected && self.next_expected() == number + 1 && !gaps && number > 0;
        if plain
            && self.due.is_none()
            && let Some(delay) = self.delay
        {
            self.due = Some(now + delay);
            return None;
        }
        self.due = None;
        Some(self.next_expected())
    }

    fn on_timer(&mut self, now: Time) -> Option<u32> {
        self.due.take_if(|due| *due <= now)?;
        Some(self.next_expected())
    }
}

/// Payloads differ by number, so that a mixed-up slot shows.
fn payload(number: u32) -> u16 {
    if number == 0 { 0 } else { 1 + (number * 37 % 1000) as u16 }
}

/// Mostly near the next number expected, at times far.
fn any_offset() -> impl Strategy<Value = i64> {
    prop_oneof![4 => Just(0i64), 3 => 1i64..8, 2 => -8i64..0, 1 => 0i64..300]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn agrees_with_a_set(
        steps in prop::collection::vec((any_offset(), 0u64..150), 1..300),
        window in 1u32..200,
        syn: bool,
        delayed_ack in prop_oneof![Just(None), Just(Some(Span::from_ms(100)))],
    ) {
        let config = Config { window, syn, reaction: Reaction { ack: delayed_ack.into(), overhead: None, sack: false, ..Reaction::NONE }, ..Config::default() };
        let mut receiver = Receiver::new(&config).unwrap();
        let first = u32::from(!syn);
        let mut oracle =
            Oracle { seen: BTreeMap::new(), first, window, delay: delayed_ack, due: None, duplicates: 0, beyond: 0 };
        let mut now = Time::ZERO;
        for (offset, wait) in steps {
            now += Span::from_ms(wait);
            prop_assert_eq!(receiver.on_timer(now).map(|a| a.next_expected), oracle.on_timer(now));
            let number = (i64::from(receiver.next_expected()) + offset).max(0) as u32;
            let segment = Received { number, payload: payload(number), syn: number == 0, ..Received::default() };
            let ours = receiver.on_segment(now, &segment).map(|a: AckInfo| a.next_expected);
            prop_assert_eq!(ours, oracle.on_segment(now, number, payload(number)));
            prop_assert_eq!(receiver.timer_at(), oracle.due);
            prop_assert_eq!(receiver.next_expected(), oracle.next_expected());
            prop_assert_eq!(receiver.delivered_bytes(), oracle.bytes());
            prop_assert_eq!((receiver.duplicates(), receiver.beyond_window()), (oracle.duplicates, oracle.beyond));
        }
    }
}

#[test]
fn every_second_segment_is_acknowledged_and_a_lone_one_by_the_timer() {
    let config = Config {
        reaction: Reaction { ack: AckDelay::Fixed(Span::from_ms(100)), overhead: None, sack: false, ..Reaction::NONE },
        syn: false,
        ..Config::default()
    };
    let mut receiver = Receiver::new(&config).unwrap();
    let at = |ms| Time::ZERO + Span::from_ms(ms);
    let segment = |number| Received { number, payload: 1000, ..Received::default() };
    for number in 1..=20 {
        let ack = receiver.on_segment(at(u64::from(number)), &segment(number));
        assert_eq!(ack.map(|a| a.next_expected), (number % 2 == 0).then_some(number + 1));
    }
    assert_eq!(receiver.on_segment(at(30), &segment(21)), None);
    assert_eq!(receiver.timer_at(), Some(at(130)));
    assert_eq!(receiver.on_timer(at(129)), None);
    assert_eq!(receiver.on_timer(at(130)).unwrap().next_expected, 22);
    assert_eq!((receiver.timer_at(), receiver.on_timer(at(131))), (None, None));
}
