//! Which time stamp an ACK echoes (RFC 7323 section 4.3), and what a sender learns from it.

use perhop_core::units::{Span, Time};
use perhop_sim::transport::{
    AckDelay, AckInfo, Block, Config, Reaction, Received, Receiver, Recovery, RtoConfig, Sacks, Sender, Supply, stamp,
};

const DELAYED: AckDelay = AckDelay::Fixed(Span::from_ms(100));

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

fn config(ack: AckDelay) -> Config {
    let reaction = Reaction { ack, overhead: None, sack: true, ..Reaction::NONE };
    Config {
        recovery: Recovery::Rack,
        initial_window: 10,
        window: 100,
        syn: false,
        rto: RtoConfig::MODERN,
        reaction,
        ..Config::default()
    }
}

/// Of segments by number and time stamp: which time stamp each one's ACK echoes, if it has one.
fn echoes(ack: AckDelay, segments: &[(u32, u32)]) -> Vec<Option<u32>> {
    let mut receiver = Receiver::new(&config(ack)).unwrap();
    let segment = |number, stamp| Received { number, payload: 1000, stamp, ..Received::default() };
    segments
        .iter()
        .map(|&(number, stamp)| receiver.on_segment(at(1), &segment(number, stamp)).map(|ack| ack.echo))
        .collect()
}

/// Case (A): a round trip includes the time for which the receiver has kept its ACK back.
#[test]
fn a_delayed_ack_echoes_the_first_of_its_segments() {
    assert_eq!(echoes(DELAYED, &[(1, 10), (2, 12), (3, 14), (4, 16)]), [None, Some(10), None, Some(14)]);
}

/// Case (B): nothing has moved on since the last segment in order. Case (C): what fills
/// the hole was sent last, though it comes first.
#[test]
fn a_hole_keeps_the_echo_and_what_fills_it_gives_its_own() {
    let arrivals = [(1, 10), (3, 12), (4, 13), (2, 20), (5, 14)];
    assert_eq!(echoes(AckDelay::None, &arrivals), [10, 10, 10, 20, 20].map(Some), "14 is older than 20");
}

/// Section 5.3, R2: what lies wholly below the last ACK is answered, and its time stamp is not taken. The last segment, again,
/// just touches the ACK and is acceptable to Linux.
#[test]
fn the_time_stamp_of_a_duplicate_is_not_taken() {
    let arrivals = [(1, 10), (2, 11), (3, 12), (1, 30), (2, 31), (3, 32), (4, 20)];
    assert_eq!(echoes(AckDelay::None, &arrivals), [10, 11, 12, 12, 12, 32, 32].map(Some));
}

#[test]
fn without_time_stamps_nothing_is_echoed() {
    assert_eq!(echoes(AckDelay::None, &[(1, 0), (3, 0), (2, 0), (1, 0)]), [Some(0); 4]);
}

fn started() -> Sender {
    let mut sender = Sender::new(&config(AckDelay::None), Supply::Unlimited).unwrap();
    sender.start();
    sender
}

fn sent(sender: &mut Sender, now: Time) -> Vec<u32> {
    std::iter::from_fn(|| sender.next_segment(now)).map(|it| it.number).collect()
}

fn ack(next_expected: u32, echo: Time) -> AckInfo {
    AckInfo { next_expected, echo: stamp(echo), ..AckInfo::default() }
}

/// The first ten segments at 1 ms; all but the first are reported at 101 ms, and the first goes again at once.
fn with_a_repeat() -> Sender {
    let mut sender = started();
    assert_eq!(sent(&mut sender, at(1)), (1..=10).collect::<Vec<_>>());
    let sacks = Sacks::new(Block::new(2..11, 1));
    sender.on_ack(at(101), AckInfo { sacks, ..ack(1, at(1)) });
    assert_eq!(sent(&mut sender, at(101))[0], 1);
    sender
}

/// Karn's rule leaves nothing to measure but the time stamp, in whole ms.
#[test]
fn a_repeat_is_measured_by_its_time_stamp() {
    let mut sender = with_a_repeat();
    assert_eq!(sender.srtt(), Some(Span::from_ms(100)));
    sender.on_ack(at(181), ack(11, at(101)));
    assert_eq!(sender.srtt(), Some(Span::from_us(97_500)), "an eighth of 80 ms");
    assert_eq!(sender.min_rtt(), Some(Span::from_ms(80)));
}

/// Eifel (RFC 3522): an ACK that echoes a time stamp from before the repeat is the original's, and the window comes back; one
/// that echoes that of the repeat, or later, is not.
#[test]
fn an_echo_from_before_the_repeat_takes_the_cut_back() {
    for (echo, undone) in [(at(1), true), (at(100), true), (at(101), false), (at(150), false)] {
        let mut sender = with_a_repeat();
        assert!(sender.recovering());
        sender.on_ack(at(181), ack(11, echo));
        assert!(!sender.recovering());
        assert_eq!(sender.cwnd() >= 10.0, undone, "{echo:?}: {}", sender.cwnd());
    }
}

/// RFC 7323 has no bound; Linux's clock of 1 ms takes less for 1 ms.
#[test]
fn an_echo_of_the_same_millisecond_is_one() {
    let mut sender = with_a_repeat();
    sender.on_ack(at(101), ack(11, at(101)));
    assert_eq!(sender.min_rtt(), Some(Span::from_ms(1)));
}
