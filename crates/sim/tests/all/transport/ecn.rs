//! ECN (RFC 3168 section 6.1): one cut a window, echo until CWR, the rule for a window of one segment.

use super::pipe::{Fate, Pipe};
use perhop_core::units::{Span, Time};
use perhop_sim::transport::{AckInfo, Config, Reaction, Received, Receiver, Recovery, Segment, Sender, Supply};
use proptest::prelude::*;

fn config() -> Config {
    Config { ecn: true, syn: false, initial_window: 10, window: 100, recovery: Recovery::Reno, ..Config::default() }
}

fn ms(n: u64) -> Time {
    Time::ZERO + Span::from_ms(n)
}

fn echo(next_expected: u32) -> AckInfo {
    AckInfo { next_expected, ece: true, ..AckInfo::default() }
}

fn take(sender: &mut Sender, now: Time) -> Vec<Segment> {
    std::iter::from_fn(|| sender.next_segment(now)).collect()
}

fn started(config: &Config) -> Sender {
    let mut sender = Sender::new(config, Supply::Unlimited).unwrap();
    sender.start();
    assert!(take(&mut sender, ms(0)).iter().all(|s| s.ect == config.ecn && !s.cwr));
    sender
}

#[test]
fn a_window_is_cut_once_however_many_echoes() {
    let mut sender = started(&config());
    for next in 2..=11 {
        sender.on_ack(ms(100), echo(next));
        assert_eq!((sender.cwnd(), sender.ssthresh()), (5.0, 5.0), "no growth while echoing");
    }
    assert_eq!((sender.counters().cuts, sender.counters().echo_cuts), (1, 1));
    let sent = take(&mut sender, ms(100));
    assert_eq!(
        sent.iter().map(|s| (s.number, s.cwr)).collect::<Vec<_>>(),
        [(11, true), (12, false), (13, false), (14, false), (15, false)]
    );
    // The first segment of the next window: its echo counts again.
    sender.on_ack(ms(200), echo(12));
    assert_eq!((sender.cwnd(), sender.counters().echo_cuts), (2.5, 2));
}

#[test]
fn without_ecn_an_echo_is_not_heard() {
    let mut sender = started(&Config { ecn: false, ..config() });
    sender.on_ack(ms(100), echo(2));
    assert_eq!((sender.cwnd(), sender.counters().cuts), (11.0, 0));
}

/// RFC 3168 section 6.1.2: a loss in a window that an echo has cut is repaired without a second cut.
#[test]
fn a_loss_after_an_echo_is_repeated_without_a_cut() {
    let mut sender = started(&config());
    sender.on_ack(ms(100), echo(2));
    take(&mut sender, ms(100));
    for _ in 0..3 {
        sender.on_ack(ms(110), AckInfo { ece: false, ..echo(2) });
    }
    let again = take(&mut sender, ms(110));
    assert!(again[0].number == 2 && again[0].retransmission && !again[0].ect && !again[0].cwr);
    assert_eq!((sender.cwnd(), sender.counters().cuts), (5.0, 1));
}

/// ns-2.35, `tcp/tcp.cc` lines 691 to 697: `ecn_` alone makes a packet ECN-capable, a repeat too, which carries CWR. Without a
/// fast retransmit's or a time-out's repeats it is the same sender.
#[test]
fn ns2_repeats_are_ecn_capable() {
    let reaction = Reaction { ecn_retransmissions: true, ..Reaction::NONE };
    for ecn in [true, false] {
        let mut sender = started(&Config { ecn, reaction, ..config() });
        for _ in 0..3 {
            sender.on_ack(ms(110), AckInfo { ece: false, ..echo(1) });
        }
        let again = take(&mut sender, ms(110));
        assert!(again[0].number == 1 && again[0].retransmission);
        assert_eq!((again[0].ect, again[0].cwr), (ecn, ecn), "fast retransmit");
        let due = sender.timer_at().unwrap();
        sender.on_timer(due);
        let again = take(&mut sender, due);
        assert!(again[0].number == 1 && again[0].retransmission);
        assert_eq!((again[0].ect, again[0].cwr), (ecn, ecn), "time-out");
    }
    // A SYN is not, sent once or twice.
    let mut sender = Sender::new(&Config { syn: true, reaction, ..config() }, Supply::Unlimited).unwrap();
    sender.start();
    let first = take(&mut sender, ms(0));
    let due = sender.timer_at().unwrap();
    sender.on_timer(due);
    let again = take(&mut sender, due);
    assert!(first.iter().chain(&again).all(|s| s.syn && !s.ect) && again[0].retransmission);
}

/// A time-out in a window that an echo has cut: slow start, but the threshold stays. And an echo in the window of a
/// time-out does not cut again.
#[test]
fn echo_and_timeout_cut_one_window_once() {
    let mut sender = started(&config());
    sender.on_ack(ms(100), echo(2));
    take(&mut sender, ms(100));
    let due = sender.timer_at().unwrap();
    sender.on_timer(due);
    assert_eq!((sender.cwnd(), sender.ssthresh()), (1.0, 5.0));
    assert_eq!((sender.counters().timeouts, sender.counters().cuts), (1, 2));
    take(&mut sender, due);
    sender.on_ack(due + Span::from_ms(100), echo(3));
    assert_eq!((sender.cwnd(), sender.counters().cuts), (1.0, 2));
}

/// RFC 3168 section 6.1.2: "the sending TCP should reset the retransmit timer on receiving the ECN-Echo packet when the
/// congestion window is one", and sends again when it expires. Echoes in a row double the wait; one ACK without ends that.
#[test]
fn at_a_window_of_one_the_timer_paces() {
    let mut sender = started(&Config { initial_window: 1, ..config() });
    let mut now = ms(100);
    let mut waits = Vec::new();
    for next in 2..6 {
        sender.on_ack(now, echo(next));
        assert_eq!((sender.cwnd(), take(&mut sender, now).len()), (0.5, 0));
        let due = sender.timer_at().unwrap();
        waits.push((due - now).ns() / 1_000_000);
        sender.on_timer(due);
        let sent = take(&mut sender, due);
        assert!(sent.len() == 1 && sent[0].number == next && !sent[0].retransmission);
        now = due + Span::from_ms(100);
    }
    // RTO 300 ms after the first sample of 100 ms, then 250, 220, 200 (the minimum) doubled 1, 2, 3 times.
    assert_eq!(waits[0], 300);
    assert_eq!(waits[1..], [2 * 250, 4 * 220, 8 * 200]);
    assert_eq!(sender.counters().timeouts, 0, "nothing was lost");
    sender.on_ack(now, AckInfo { ece: false, ..echo(6) });
    assert_eq!((sender.cwnd(), sender.rto()), (2.0, Span::from_ms(200)));
    assert_eq!(take(&mut sender, now).len(), 2);
}

/// RFC 3168 section 6.1.1: only an ECN-setup SYN that is answered by an ECN-setup SYN-ACK makes data ECN-capable; the SYN never
/// is. RFC 3168 section 6.1.2: echoes that the sender never asked for, or was not granted, are ignored.
#[test]
fn both_ends_must_agree_before_anything_is_ecn_capable() {
    for (ecn, receiver_ecn) in [(true, true), (true, false), (false, true), (false, false)] {
        let config = Config { ecn, receiver_ecn, syn: true, ..config() };
        let mut sender = Sender::new(&config, Supply::Unlimited).unwrap();
        let mut receiver = Receiver::new(&config).unwrap();
        sender.start();
        let syn = take(&mut sender, ms(0))[0];
        assert!(syn.syn && !syn.ect && syn.cwr == ecn, "{syn:?}");
        let answer = receiver.on_segment(ms(0), &Received { syn: true, ..data(0, false, syn.cwr) }).unwrap();
        assert_eq!(answer, AckInfo { next_expected: 1, ece: ecn && receiver_ecn, syn: true, ..AckInfo::default() });
        sender.on_ack(ms(100), answer);
        assert_eq!((sender.cwnd(), sender.counters().cuts), (10.0, 0), "no echo, an agreement");
        let first = take(&mut sender, ms(100));
        assert!(first.len() == 10 && first.iter().all(|s| s.ect == (ecn && receiver_ecn) && !s.cwr));
        sender.on_ack(ms(200), echo(2));
        assert_eq!(sender.counters().echo_cuts, u32::from(ecn && receiver_ecn));
        // A mark without an agreement is not echoed.
        let ack = receiver.on_segment(ms(150), &data(1, true, false)).unwrap();
        assert_eq!(ack.ece, ecn && receiver_ecn);
    }
}

/// A lost SYN-ACK: the repeated SYN asks again, and the second answer counts.
#[test]
fn a_repeated_syn_asks_again() {
    let config = Config { syn: true, ..config() };
    let mut sender = Sender::new(&config, Supply::Unlimited).unwrap();
    let mut receiver = Receiver::new(&config).unwrap();
    sender.start();
    let syn = Received { syn: true, ..data(0, false, take(&mut sender, ms(0))[0].cwr) };
    receiver.on_segment(ms(50), &syn);
    let due = sender.timer_at().unwrap();
    sender.on_timer(due);
    let again = take(&mut sender, due)[0];
    assert!(again.syn && again.retransmission && again.cwr && !again.ect);
    let answer = receiver.on_segment(due, &syn).unwrap();
    assert!(answer.syn && answer.ece);
    sender.on_ack(due, answer);
    assert!(take(&mut sender, due).iter().all(|s| s.ect));
}

/// RFC 3168 section 6.1.2: "MUST reset the retransmit timer on receiving the ECN-Echo packet when the congestion window is one",
/// also where that packet acknowledges nothing new.
#[test]
fn an_echo_at_a_window_of_one_resets_the_timer_though_nothing_is_acknowledged() {
    let mut sender = started(&Config { initial_window: 1, ..config() });
    let before = sender.timer_at().unwrap();
    sender.on_ack(ms(100), echo(1));
    assert_eq!(sender.timer_at().unwrap() - before, Span::from_ms(100));
    assert_eq!((sender.cwnd(), take(&mut sender, ms(100)).len()), (0.5, 0));
}

fn data(number: u32, ce: bool, cwr: bool) -> Received {
    Received { number, payload: 1000, cwr, ce, ..Received::default() }
}

/// RFC 3168 section 6.1.3.
#[test]
fn the_receiver_echoes_until_cwr() {
    let mut receiver = Receiver::new(&config()).unwrap();
    let script =
        [(false, false, false), (true, false, true), (false, false, true), (false, true, false), (true, true, true)];
    for (number, (ce, cwr, expected)) in (1..).zip(script) {
        let ack = receiver.on_segment(ms(0), &data(number, ce, cwr)).unwrap();
        assert_eq!(ack.ece, expected, "segment {number}");
    }
}

/// A mark whose ACK is delayed must not be cancelled by the CWR of the segment that releases that ACK.
#[test]
fn a_delayed_mark_outlives_a_cwr() {
    let mut receiver = Receiver::new(&Config {
        reaction: Reaction { ack: Some(Span::from_ms(100)).into(), overhead: None, sack: false, ..Reaction::NONE },
        ..config()
    })
    .unwrap();
    assert_eq!(receiver.on_segment(ms(0), &data(1, true, false)), None);
    assert!(receiver.on_segment(ms(1), &data(2, false, true)).unwrap().ece);
}

proptest! {
    /// Marks alone: nothing is lost, nothing is repeated, and cuts are a round trip apart.
    #[test]
    fn marks_cut_at_most_once_a_round_trip(every in 2u32..50, window in 1u32..60, ms in 20u64..190) {
        let round_trip = Span::from_ms(ms);
        let config = Config { window, ..config() };
        let mark = |s: &Segment| if s.number.is_multiple_of(every) { Fate::Mark } else { Fate::Pass };
        let mut pipe = Pipe::new(config, Supply::Unlimited, round_trip, mark);
        let end = Time::ZERO + Span::from_s(20);
        let (mut cuts, mut last) = (0, None);
        while pipe.step(end, || false) {
            let counters = *pipe.sender.counters();
            if counters.echo_cuts > cuts {
                let previous: Option<Time> = last.replace(pipe.now);
                prop_assert!(previous.is_none_or(|at| pipe.now - at >= round_trip - Span::from_ns(1)));
                cuts = counters.echo_cuts;
            }
            prop_assert_eq!((counters.retransmitted, counters.timeouts, counters.cuts), (0, 0, counters.echo_cuts));
        }
        prop_assert!(cuts > 0);
    }
}
