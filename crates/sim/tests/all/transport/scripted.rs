//! The sender, call by call: what each rule of the RFCs makes it send.

use perhop_core::units::{Span, Time};
use perhop_sim::transport::{
    AckDelay, AckInfo, Config, PartialAckTimer, Reaction, Receiver, Recovery, RtoConfig, Segment, Sender, Supply,
};

/// No SYN, a window of 100, 1000-byte segments.
const OPEN: Config = Config {
    recovery: Recovery::NewReno(PartialAckTimer::First),
    congestion: perhop_sim::transport::LawParams::Reno(perhop_sim::transport::congestion::reno::Params::DEFAULT),
    initial_window: 10,
    window: 100,
    rto: RtoConfig::NS2_2_35,
    limited_transmit: true,
    syn: false,
    reaction: Reaction { ack: AckDelay::None, overhead: None, sack: false, ..Reaction::NONE },
    ecn: false,
    receiver_ecn: true,
    mss: 1000,
    header: 40,
};
const RENO: Config = Config { recovery: Recovery::Reno, ..OPEN };

fn ms(n: u64) -> Time {
    Time::ZERO + Span::from_ms(n)
}

fn ack(next_expected: u32) -> AckInfo {
    AckInfo { next_expected, ..AckInfo::default() }
}

fn take(sender: &mut Sender, now: Time) -> Vec<Segment> {
    std::iter::from_fn(|| sender.next_segment(now)).collect()
}

fn numbers(sender: &mut Sender, now: Time) -> Vec<u32> {
    take(sender, now).iter().map(|s| s.number).collect()
}

/// A started sender that has sent its first window at time 0.
fn started(config: Config, supply: Supply) -> Sender {
    let mut sender = Sender::new(&config, supply).unwrap();
    assert_eq!(sender.next_segment(ms(0)), None, "nothing before start");
    sender.start();
    sender
}

fn acks(sender: &mut Sender, now: Time, next_expected: &[u32]) -> Vec<u32> {
    next_expected
        .iter()
        .flat_map(|&n| {
            sender.on_ack(now, ack(n));
            numbers(sender, now)
        })
        .collect()
}

#[test]
fn each_initial_window_is_sent_at_once() {
    for window in [1, 2, 3, 10] {
        let mut sender = started(Config { initial_window: window, ..OPEN }, Supply::Unlimited);
        assert_eq!(numbers(&mut sender, ms(0)), (1..=window).collect::<Vec<_>>());
    }
    let mut narrow = started(Config { window: 4, ..OPEN }, Supply::Unlimited);
    assert_eq!(numbers(&mut narrow, ms(0)), [1, 2, 3, 4]);
}

#[test]
fn slow_start_sends_two_for_each_ack() {
    let mut sender = started(Config { initial_window: 1, ..OPEN }, Supply::Unlimited);
    numbers(&mut sender, ms(0));
    assert_eq!(acks(&mut sender, ms(100), &[2]), [2, 3]);
    assert_eq!(acks(&mut sender, ms(200), &[3, 4]), [4, 5, 6, 7]);
    assert_eq!(sender.cwnd(), 4.0);
}

#[test]
fn the_syn_goes_alone_and_gives_a_sample() {
    let mut sender = started(Config { syn: true, ..OPEN }, Supply::Unlimited);
    let syn = take(&mut sender, ms(0));
    let expected = Segment {
        number: 0,
        payload: 0,
        syn: true,
        retransmission: false,
        ect: false,
        cwr: false,
        push: false,
        more: false,
    };
    assert_eq!(syn, [expected]);
    assert_eq!(sender.timer_at(), Some(ms(3000)));
    assert_eq!(acks(&mut sender, ms(100), &[1]), (1..=10).collect::<Vec<_>>());
    assert_eq!([sender.srtt(), sender.min_rtt()], [Some(Span::from_ms(100)); 2]);
    assert_eq!(sender.timer_at(), Some(ms(400)), "100 ms + 4 x 50 ms from now: earlier than before");
}

/// RFC 5681 section 3.1: after a lost SYN the initial window is 1; RFC 6298 section 3: no sample; the back-off stays.
#[test]
fn a_lost_syn_is_repeated() {
    let mut sender = started(Config { syn: true, ..OPEN }, Supply::Unlimited);
    take(&mut sender, ms(0));
    sender.on_timer(ms(2999));
    assert_eq!(sender.next_segment(ms(2999)), None, "an early wake-up does nothing");
    sender.on_timer(ms(3000));
    let again = take(&mut sender, ms(3000));
    assert!(again.len() == 1 && again[0].syn && again[0].retransmission);
    assert_eq!(sender.timer_at(), Some(ms(9000)));
    assert_eq!(acks(&mut sender, ms(3100), &[1]), [1]);
    assert_eq!((sender.srtt(), sender.rto()), (None, Span::from_s(6)));
    let modern = Config { syn: true, rto: RtoConfig::MODERN, ..OPEN };
    let mut sender = started(modern, Supply::Unlimited);
    take(&mut sender, ms(0));
    sender.on_timer(ms(1000));
    take(&mut sender, ms(1000));
    acks(&mut sender, ms(1100), &[1]);
    assert_eq!(sender.rto(), Span::from_s(3), "RFC 6298 section 5.7");
}

#[test]
fn a_fixed_supply_ends_with_a_short_segment() {
    let mut sender = started(OPEN, Supply::Bytes(2500));
    let sizes: Vec<u16> = take(&mut sender, ms(0)).iter().map(|s| s.payload).collect();
    assert_eq!(sizes, [1000, 1000, 500]);
    assert!(!sender.finished());
    sender.on_ack(ms(100), ack(4));
    assert!(sender.finished());
    assert_eq!(sender.timer_at(), None);
    assert!(started(OPEN, Supply::Bytes(0)).finished());
    let error = Sender::new(&Config { mss: 1, ..OPEN }, Supply::Bytes(1 << 32)).unwrap_err();
    assert_eq!(error.field, "supply");
}

#[test]
fn an_application_sends_what_it_offers() {
    let mut sender = Sender::new(&OPEN, Supply::Offered).unwrap();
    sender.offer(1);
    assert_eq!(numbers(&mut sender, ms(0)), [0u32; 0], "not started");
    sender.start();
    assert_eq!(numbers(&mut sender, ms(0)), [1]);
    sender.offer(2);
    assert_eq!(numbers(&mut sender, ms(10)), [2, 3]);
    sender.on_ack(ms(100), ack(4));
    assert!(sender.finished());
    assert_eq!(sender.timer_at(), Some(ms(400)));
    assert_eq!(acks(&mut sender, ms(200), &[4, 4, 4, 4]), [0u32; 0], "no duplicates of nothing");
    assert_eq!(sender.counters().cuts, 0);
    sender.offer(1);
    assert_eq!(numbers(&mut sender, ms(350)), [4]);
    assert_eq!(sender.timer_at(), Some(ms(650)), "the timer runs from the first segment after the pause");
}

/// RFC 5681 section 4.1, with ns-2's restart window of 1; ssthresh stays and nothing counts as a time-out.
#[test]
fn an_idle_connection_restarts_slowly() {
    let mut sender = started(OPEN, Supply::Offered);
    sender.offer(1);
    numbers(&mut sender, ms(0));
    sender.on_ack(ms(100), ack(2));
    assert_eq!(sender.timer_at(), Some(ms(400)));
    sender.on_timer(ms(400));
    assert_eq!((sender.cwnd(), sender.ssthresh(), sender.counters().timeouts), (1.0, 100.0, 0));
    assert_eq!(sender.timer_at(), None);
    sender.offer(5);
    assert_eq!(numbers(&mut sender, ms(5000)), [2]);
    assert_eq!(sender.timer_at(), Some(ms(5300)));
}

/// RFC 3042 section 2: one new segment for each of the first two duplicate ACKs; without it none.
#[test]
fn limited_transmit_sends_one_for_each_early_duplicate() {
    for (limited_transmit, expected) in [(true, vec![11, 12, 1]), (false, vec![1])] {
        let mut sender = started(Config { limited_transmit, ..RENO }, Supply::Unlimited);
        numbers(&mut sender, ms(0));
        assert_eq!(acks(&mut sender, ms(100), &[1, 1, 1]), expected);
    }
    let mut full = started(Config { window: 10, ..RENO }, Supply::Unlimited);
    numbers(&mut full, ms(0));
    assert_eq!(acks(&mut full, ms(100), &[1, 1]), [0u32; 0], "not beyond the advertised window");
}

/// RFC 5681 section 3.2: half the window, three for the duplicates, one more for each; Reno ends at the first new ACK.
#[test]
fn reno_recovers_one_loss() {
    let mut sender = started(RENO, Supply::Unlimited);
    numbers(&mut sender, ms(0));
    assert_eq!(acks(&mut sender, ms(100), &[1, 1, 1]), [11, 12, 1]);
    assert_eq!((sender.cwnd(), sender.ssthresh()), (5.0, 5.0));
    // 5 + 3 + 4 = 12 are out; the fifth further duplicate lets the 13th go.
    assert_eq!(acks(&mut sender, ms(110), &[1, 1, 1, 1]), [0u32; 0]);
    assert_eq!(acks(&mut sender, ms(110), &[1, 1]), [13, 14]);
    assert!(sender.recovering());
    assert_eq!(acks(&mut sender, ms(200), &[13]), [15, 16, 17]);
    assert!(!sender.recovering());
    assert_eq!(sender.cwnd(), 5.2);
    assert_eq!((sender.counters().cuts, sender.counters().fast_retransmits), (1, 1));
}

/// A second loss of the same window must not cut it again (RFC 6582 section 3.2 step 2).
#[test]
fn three_duplicates_below_recover_do_nothing() {
    let mut sender = started(RENO, Supply::Unlimited);
    numbers(&mut sender, ms(0));
    acks(&mut sender, ms(100), &[1, 1, 1, 1, 1, 1, 1, 1]);
    acks(&mut sender, ms(200), &[5]);
    let before = sender.cwnd();
    let sent = acks(&mut sender, ms(201), &[5, 5, 5, 5]);
    assert!(!sent.contains(&5), "{sent:?}");
    assert_eq!((sender.cwnd(), sender.counters().cuts), (before, 1));
}

/// NewReno repeats a hole per partial ACK, at most two more segments with it, until `recover` is acknowledged.
#[test]
fn new_reno_repeats_each_hole() {
    let mut sender = started(OPEN, Supply::Unlimited);
    numbers(&mut sender, ms(0));
    assert_eq!(acks(&mut sender, ms(100), &[1, 1, 1]), [11, 12, 1]);
    assert_eq!(acks(&mut sender, ms(100), &[1; 7]), [13, 14, 15]);
    // cwnd 5, inflation 10; the partial ACK of 4 segments leaves inflation 7: up to 4 + 5 + 7 = 16.
    assert_eq!(acks(&mut sender, ms(200), &[5]), [5, 16]);
    assert!(sender.recovering());
    assert_eq!(acks(&mut sender, ms(300), &[8]), [8, 17]);
    sender.on_ack(ms(400), ack(13));
    assert!(!sender.recovering(), "12 was the last sent before the loss signal");
    assert_eq!(sender.counters().cuts, 1);
}

/// The variants differ in when the timer restarts: at the first partial ACK only, or at each.
#[test]
fn partial_acks_restart_the_timer_once_or_always() {
    for (timer, expected) in [(PartialAckTimer::First, 500), (PartialAckTimer::Each, 600)] {
        let mut sender = started(Config { recovery: Recovery::NewReno(timer), ..OPEN }, Supply::Unlimited);
        numbers(&mut sender, ms(0));
        acks(&mut sender, ms(100), &[2]);
        acks(&mut sender, ms(150), &[2, 2, 2]);
        assert_eq!(sender.timer_at(), Some(ms(450)));
        acks(&mut sender, ms(200), &[5]);
        assert_eq!(sender.timer_at(), Some(ms(500)));
        acks(&mut sender, ms(300), &[8]);
        assert_eq!(sender.timer_at(), Some(ms(expected)), "{timer:?}");
    }
}

/// The second episode's first partial ACK restarts the timer as the first one's did.
#[test]
fn each_episode_has_its_first_partial_ack() {
    let mut sender = started(OPEN, Supply::Unlimited);
    numbers(&mut sender, ms(0));
    acks(&mut sender, ms(100), &[2]);
    acks(&mut sender, ms(150), &[2, 2, 2]);
    acks(&mut sender, ms(200), &[5]);
    // 14 was the last sent before the loss signal.
    let sent = acks(&mut sender, ms(250), &[15]);
    assert!(!sender.recovering() && sent.len() >= 4, "{sent:?}");
    acks(&mut sender, ms(300), &[16, 16, 16, 16]);
    assert!(sender.recovering());
    acks(&mut sender, ms(350), &[17]);
    assert!(sender.recovering());
    assert_eq!(sender.timer_at(), Some(ms(350) + sender.rto()));
}

/// RFC 6298 section 3 (Karn): a loss signal stops the measurement in progress (the
/// segment timed may wait behind the one repeated).
#[test]
fn a_loss_signal_stops_the_measurement() {
    let mut sender = started(RENO, Supply::Unlimited);
    numbers(&mut sender, ms(0));
    assert_eq!(acks(&mut sender, ms(100), &[2]), [11, 12]);
    acks(&mut sender, ms(150), &[2, 2, 2]);
    acks(&mut sender, ms(400), &[13]);
    assert_eq!((sender.srtt(), sender.rto()), (Some(Span::from_ms(100)), Span::from_ms(300)));
}

/// RFC 6298 section 5, RFC 5681 section 3.1: from the first unacknowledged segment, window 1, time-out doubled.
#[test]
fn a_timeout_goes_back_and_starts_slowly() {
    let mut sender = started(RENO, Supply::Unlimited);
    numbers(&mut sender, ms(0));
    acks(&mut sender, ms(100), &[3]);
    assert_eq!(sender.timer_at(), Some(ms(400)));
    sender.on_timer(ms(400));
    assert_eq!((sender.cwnd(), sender.ssthresh()), (1.0, 5.0));
    let again = take(&mut sender, ms(400));
    assert!(again.len() == 1 && again[0].number == 3 && again[0].retransmission);
    assert_eq!(sender.timer_at(), Some(ms(1000)), "2 x 300 ms");
    // The ACK of a retransmission is not a sample (Karn), and the back-off stays.
    assert_eq!(acks(&mut sender, ms(500), &[4]), [4, 5]);
    assert_eq!((sender.srtt(), sender.rto()), (Some(Span::from_ms(100)), Span::from_ms(600)));
    // An ACK may pass over what was to be repeated.
    assert_eq!(acks(&mut sender, ms(600), &[13]), [13, 14, 15]);
    // A new segment ends the back-off.
    acks(&mut sender, ms(700), &[15]);
    assert_eq!(sender.rto(), Span::from_ms(250));
}

#[test]
fn a_window_below_one_segment_never_stops_a_timer() {
    let mut sender = started(Config { window: 1, ..RENO }, Supply::Unlimited);
    assert_eq!(numbers(&mut sender, ms(0)), [1]);
    for backoff in 0..3 {
        let at = sender.timer_at().unwrap();
        sender.on_timer(at);
        assert_eq!(numbers(&mut sender, at), [1], "{backoff}");
        assert_eq!((sender.cwnd(), sender.ssthresh()), (1.0, 2.0));
    }
}

#[test]
#[should_panic(expected = "ACK expects 12 but the highest number sent is 10")]
fn an_ack_of_what_was_not_sent_is_a_fault_of_the_host() {
    let mut sender = started(OPEN, Supply::Unlimited);
    numbers(&mut sender, ms(0));
    sender.on_ack(ms(1), ack(12));
}

#[test]
#[should_panic(expected = "not Supply::Offered")]
fn an_offer_to_a_bulk_transfer_is_a_fault_of_the_host() {
    started(OPEN, Supply::Unlimited).offer(1);
}

/// A thousand flows must stay in a cache: three lines for a sender, two for a receiver.
#[test]
fn state_is_small() {
    assert!(size_of::<Sender>() <= 192, "{}", size_of::<Sender>());
    assert!(size_of::<Receiver>() <= 128, "{}", size_of::<Receiver>());
    assert_eq!(size_of::<Option<Segment>>(), 12);
}
