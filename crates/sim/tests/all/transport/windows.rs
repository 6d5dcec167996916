//! The receiver's window: what it offers, as Linux has it, and how far a sender goes.

use perhop_core::units::{Span, Time};
use perhop_sim::transport::congestion::reno;
use perhop_sim::transport::{
    AckDelay, AckInfo, Bursts, Config, LawParams, Reaction, Received, Receiver, Recovery, RtoConfig, Sender, Supply,
    stamp,
};
use proptest::prelude::*;

const MSS: u16 = 1448;

fn config() -> Config {
    let reaction = Reaction { ack: AckDelay::Linux, overhead: None, sack: true, ..Reaction::NONE };
    Config {
        recovery: Recovery::Rack,
        window: 4000,
        syn: false,
        rto: RtoConfig::MODERN,
        reaction,
        mss: MSS,
        header: 52,
        congestion: LawParams::Reno(reno::Params { growth: reno::Growth::Segments, abe: false }),
        initial_window: 10,
        ..Config::default()
    }
}

fn at(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

fn full(number: u32) -> Received {
    Received { number, payload: MSS, ..Received::default() }
}

/// The time stamp of what was sent 10 ms ago comes back.
fn arrives(receiver: &mut Receiver, now: Time, number: u32) -> Option<AckInfo> {
    receiver.echoed(now, stamp(now) - 10);
    receiver.on_segment(now, &full(number))
}

/// Of 65,535 bytes at first; the buffer doubles and more while each round trip brings more than the one before.
#[test]
fn the_window_grows_with_what_arrives() {
    let mut receiver = Receiver::new(&config()).unwrap();
    let (mut now, mut next, mut offered) = (at(20_000), 1, Vec::new());
    for segments in [10, 20, 40, 80, 160, 320] {
        for _ in 0..segments {
            now += Span::from_us(10_000 / segments);
            offered.extend(arrives(&mut receiver, now, next).map(|ack| ack.window));
            next += 1;
        }
    }
    assert_eq!(offered[0], 46, "the threshold, half of 128 KiB, and two segments more");
    assert!(offered.is_sorted(), "{offered:?}");
    assert!(offered.last().is_some_and(|&last| last > 300), "{offered:?}");
}

proptest! {
    /// RFC 9293 section 3.8.6: whatever is missing, repeated or waits, the right edge stays
    /// or moves on, and is beyond all that has come.
    #[test]
    fn the_edge_never_moves_back(steps in prop::collection::vec((0u32..60, 0u64..5_000), 1..300)) {
        let mut receiver = Receiver::new(&config()).unwrap();
        let (mut now, mut edge, mut highest) = (at(20_000), 46, 0);
        for (ahead, wait) in steps {
            let arrival = now + Span::from_us(wait);
            let due = receiver.timer_at().filter(|&due| due <= arrival);
            let late = due.and_then(|due| receiver.on_timer(due));
            now = arrival;
            // Mostly the next one, else one inside the window.
            let number = receiver.next_expected() + ahead.saturating_sub(40);
            if number >= edge {
                continue;
            }
            highest = highest.max(number);
            let ack = arrives(&mut receiver, now, number);
            for ack in [late, receiver.take_earlier(), ack].into_iter().flatten() {
                let now_ends = ack.next_expected + u32::from(ack.window);
                prop_assert!(now_ends >= edge, "{now_ends} after {edge}");
                edge = now_ends;
            }
            prop_assert!(edge > highest);
        }
    }
}

/// As long as a whole window waits behind a hole, no more than the rest of it is offered; not even quick ACKs are given.
#[test]
fn what_is_held_takes_room() {
    let mut receiver = Receiver::new(&config()).unwrap();
    let first = arrives(&mut receiver, at(20_000), 1).unwrap();
    let edge = 2 + u32::from(first.window);
    let ends: Vec<u32> = (3..edge)
        .filter_map(|number| arrives(&mut receiver, at(20_000 + u64::from(number)), number))
        .map(|ack| ack.next_expected + u32::from(ack.window))
        .collect();
    let most = *ends.last().unwrap();
    assert!(most - edge <= 8, "{edge} and {most}: what the threshold has risen by");
    let filled = arrives(&mut receiver, at(30_000), 2).unwrap();
    assert_eq!(filled.next_expected, edge);
    assert!(u32::from(filled.window) < edge / 2 + 8, "the application has not read yet: {}", filled.window);
}

/// PSH is in the segment with which more than half of 65,535 bytes have been sent since the last: the 23rd of 1448 bytes, the
/// 46th, ..; in bursts, once the piece of memory is full.
#[test]
fn every_twenty_third_segment_asks_for_its_ack() {
    for (burst, expected) in [(1, [23, 46, 69]), (5, [25, 50, 75])] {
        let reaction = Reaction { bursts: Bursts::Of(burst), ..config().reaction };
        let mut sender = Sender::new(&Config { initial_window: 80, reaction, ..config() }, Supply::Unlimited).unwrap();
        sender.start();
        let all: Vec<_> = std::iter::from_fn(|| sender.next_segment(at(1000))).collect();
        let asks: Vec<u32> = all.iter().filter(|it| it.push).map(|it| it.number).collect();
        let each = if burst == 1 { expected.to_vec() } else { (burst..=80).step_by(burst as usize).collect() };
        assert_eq!(asks, each, "the last of each burst does too");
        assert!(expected.iter().all(|number| asks.contains(number)));
    }
}

/// Once quick ACKs are used up a lone segment waits, but for one that asks. The timer that the kernel has set for it stays.
#[test]
fn what_asks_for_its_ack_does_not_wait() {
    let mut receiver = Receiver::new(&config()).unwrap();
    let mut numbers = 1..;
    while receiver.on_segment(at(20_000), &full(numbers.next().unwrap())).is_some() {}
    let now = receiver.timer_at().unwrap();
    receiver.on_timer(now).unwrap();
    let next = receiver.next_expected();
    let ack = receiver.on_segment(now, &Received { push: true, ..full(next) });
    assert_eq!(ack.map(|ack| ack.next_expected), Some(next + 1));
    assert_eq!(receiver.on_segment(now, &full(next + 1)), None);
}

fn sent(sender: &mut Sender) -> Vec<u32> {
    std::iter::from_fn(|| sender.next_segment(at(1000))).map(|it| it.number).collect()
}

fn ack(next_expected: u32, window: u16) -> AckInfo {
    AckInfo { next_expected, window, ..AckInfo::default() }
}

/// Up to the edge and not beyond, though the congestion window has room; an ACK that offers less takes nothing back, and one
/// that offers more need not acknowledge anything.
#[test]
fn a_sender_stops_at_the_edge() {
    let mut sender = Sender::new(&config(), Supply::Unlimited).unwrap();
    sender.start();
    assert_eq!(sent(&mut sender), (1..=10).collect::<Vec<_>>(), "the initial window");
    sender.on_ack(at(1000), ack(5, 7));
    assert_eq!(sender.cwnd(), 14.0);
    assert_eq!(sent(&mut sender), [11], "5 + 7 is the first that does not fit");
    sender.on_ack(at(1000), ack(6, 2));
    assert_eq!(sent(&mut sender), [0u32; 0]);
    sender.on_ack(at(1000), ack(6, 10));
    assert_eq!(sent(&mut sender), [12, 13, 14, 15]);
    assert!(sender.cwnd() > 10.0, "there would be room for more");
}

/// If no window of the receiver is reported, the agreed one applies.
#[test]
fn a_window_that_is_not_told_is_the_agreed_one() {
    let mut sender = Sender::new(&Config { window: 4, ..config() }, Supply::Unlimited).unwrap();
    sender.start();
    assert_eq!(sent(&mut sender), [1, 2, 3, 4]);
    sender.on_ack(at(1000), ack(3, 0));
    assert_eq!(sent(&mut sender), [5, 6]);
}

/// An ACK that comes late and offers less than the one before takes nothing back.
#[test]
fn an_older_window_is_not_taken() {
    let mut sender = Sender::new(&config(), Supply::Offered).unwrap();
    sender.start();
    sender.offer(10);
    assert_eq!(sent(&mut sender).len(), 10);
    sender.on_ack(at(1000), ack(5, 30));
    sender.on_ack(at(1000), ack(5, 3));
    sender.offer(8);
    assert_eq!(sent(&mut sender), (11..=18).collect::<Vec<_>>());
}
