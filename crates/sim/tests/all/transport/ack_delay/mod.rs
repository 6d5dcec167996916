//! Linux's delayed ACKs against the rules of its receiver, step by step and in bytes.

mod oracle;
mod queue;
mod space;

use oracle::{AckFields, Oracle};
use perhop_core::units::{Span, Time};
use perhop_sim::transport::{AckDelay, AckInfo, Config, EcnFeedback, Reaction, Received, Receiver, RtoConfig, stamp};
use proptest::prelude::*;

const MSS: u64 = 1000;

fn ms(ms: u64) -> Span {
    Span::from_ms(ms)
}

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

fn config(window: u32, syn: bool) -> Config {
    let reaction = Reaction { ack: AckDelay::Linux, overhead: None, sack: true, ..Reaction::NONE };
    Config { window, syn, reaction, rto: RtoConfig::MODERN, ecn: true, ..Config::default() }
}

/// What arrives: mostly the next segment, full, and soon.
fn any_step() -> impl Strategy<Value = (i64, u64, u16, [bool; 3])> {
    let offset = prop_oneof![20 => Just(0i64), 6 => 1i64..12, 1 => -3i64..0, 1 => 0i64..100];
    let wait = prop_oneof![6 => 0u64..5_000, 3 => 15_000u64..70_000, 1 => 0u64..2_000_000];
    let payload = prop_oneof![12 => Just(MSS as u16), 1 => 1..MSS as u16];
    let flag = || prop::bool::weighted(0.03);
    (offset, wait, payload, [flag(), flag(), flag()])
}

fn told(now: Time) -> impl Fn(AckInfo) -> AckFields {
    let own = move |ack: &AckInfo| if ack.stamp > 0 { ack.stamp } else { stamp(now) };
    move |ack| AckFields { next: ack.next_expected, window: ack.window.into(), echo: ack.echo, stamp: own(&ack) }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn agrees_with_the_rules(
        steps in prop::collection::vec(any_step(), 1..200),
        window in prop_oneof![1u32..40, 40u32..200],
        syn: bool,
        dctcp: bool,
    ) {
        let feedback = if dctcp { EcnFeedback::Dctcp } else { EcnFeedback::Rfc3168 };
        let base = config(window, syn);
        let reaction = Reaction { feedback, ..base.reaction };
        let mut receiver = Receiver::new(&Config { reaction, ..base }).unwrap();
        let mut oracle = Oracle::new(window, syn, dctcp);
        let mut now = at(5);
        if syn {
            let syn = Received { number: 0, syn: true, cwr: true, stamp: stamp(now), ..Received::default() };
            prop_assert_eq!(receiver.on_segment(now, &syn).map(told(now)), oracle.on_segment(now, &syn));
        }
        for (offset, wait_us, payload, [ce, cwr, push]) in steps {
            let arrives = now + Span::from_us(wait_us);
            if let Some(due) = receiver.timer_at().filter(|&due| due <= arrives) {
                prop_assert_eq!(receiver.on_timer(due).map(told(due)), oracle.on_timer(due));
            }
            now = arrives;
            let number = (i64::from(receiver.next_expected()) + offset).max(1) as u32;
            // Most segments answer the ACK of a round trip ago, and were sent half of it ago.
            let trip = (wait_us % 97).min(now.ns() / 1_000_000);
            let sent = Time::from_ns(now.ns() - trip * 500_000);
            let segment = Received { number, payload, cwr, push, ce, stamp: stamp(sent), ..Received::default() };
            let answers = stamp(now) - trip as u32;
            receiver.echoed(now, answers);
            oracle.space.stamped(answers, trip);
            let before = oracle.echo;
            let ours = receiver.on_segment(now, &segment);
            let apart = receiver.take_earlier();
            prop_assert_eq!(ours.map(told(now)), oracle.on_segment(now, &segment));
            prop_assert!(ours.is_none_or(|ack| ack.ece == oracle.echo));
            // What waited tells of the marks before, or of blocks that would not fit in the next ACK.
            if let Some(ack) = apart {
                prop_assert_eq!(ours.is_some(), ack.window == 0);
                prop_assert!(ack.window > 0 || ack.ece == before);
            }
            prop_assert_eq!(apart.map(told(now)), oracle.earlier.take());
            prop_assert_eq!(receiver.timer_at(), oracle.timer);
        }
    }
}

/// Full segments in order, `gap` apart: after which of them an ACK was sent, the timer's included.
fn acknowledged(receiver: &mut Receiver, first: u32, segments: u32, (start, gap): (Time, Span)) -> Vec<u32> {
    let mut acks = Vec::new();
    let mut now = start;
    for number in first..first + segments {
        acks.extend(receiver.timer_at().filter(|&due| due <= now).and_then(|due| receiver.on_timer(due)));
        let segment = Received { number, payload: MSS as u16, ..Received::default() };
        acks.extend(receiver.on_segment(now, &segment));
        now += gap;
    }
    acks.iter().map(|ack| ack.next_expected - 1).collect()
}

/// 16 quick ACKs and one for the buffer, which grows once, then every second segment; after a pause beyond the time-out again.
#[test]
fn seventeen_are_quick_and_then_every_second_one() {
    let mut receiver = Receiver::new(&config(100, false)).unwrap();
    let expected: Vec<_> = (1..=17).chain((19..=29).step_by(2)).collect();
    assert_eq!(acknowledged(&mut receiver, 1, 30, (at(0), ms(1))), expected);
    assert_eq!(acknowledged(&mut receiver, 31, 4, (at(1000), ms(1))), [30, 32, 34], "970 ms are less than 1 s");
    let again: Vec<_> = (35..=50).chain([52]).collect();
    assert_eq!(acknowledged(&mut receiver, 35, 19, (at(2100), ms(1))), again);
}

/// A lone segment waits for 40 ms; segments that come more slowly make it wait longer, up to the round trip.
#[test]
fn a_lone_segment_waits_for_forty_milliseconds_at_least() {
    let mut receiver = Receiver::new(&config(2, true)).unwrap();
    let syn = Received { number: 0, payload: 0, syn: true, ..Received::default() };
    assert!(receiver.on_segment(at(0), &syn).unwrap().syn);
    assert_eq!(acknowledged(&mut receiver, 1, 2, (at(70), ms(1))), [1], "half a window of 2 is one quick ACK");
    assert_eq!(receiver.timer_at(), Some(at(71 + 41)));
    assert_eq!(receiver.on_timer(at(112)).unwrap().next_expected, 3);
    assert_eq!(acknowledged(&mut receiver, 3, 1, (at(150), ms(1))), [] as [u32; 0]);
    assert_eq!(
        receiver.timer_at(),
        Some(at(224)),
        "to a tick of 8 ms; the timer has doubled 40 ms; the round trip is 70 ms"
    );
}

/// The receiver of the answer to a request knows the round trip of the request's handshake.
#[test]
fn a_receiver_may_know_the_round_trip() {
    let mut receiver = Receiver::new(&config(2, false)).unwrap().with_round_trip(ms(45));
    acknowledged(&mut receiver, 1, 2, (at(0), ms(30)));
    assert_eq!(receiver.timer_at(), Some(at(30 + 46)), "a gap of 30 ms has made 40 ms 50 ms, more than the round trip");
}
