//! AccECN's counts: the decoder beside the text of RFC 9768 and beside every count that is possible; the two ends together.

use super::pipe::{Dice, Fate, Pipe};
use perhop_core::units::{Span, Time};
use perhop_sim::transport::{
    AceReport, AckDelay, AckInfo, Config, Decoder, EcnFeedback, Reaction, Received, Receiver, Recovery, RtoConfig,
    Sender, Supply,
};
use proptest::prelude::*;

const MSS: u16 = 1460;

fn config() -> Config {
    let reaction = Reaction { ack: AckDelay::Linux, overhead: None, sack: true, ..Reaction::NONE };
    let (rto, recovery) = (RtoConfig::MODERN, Recovery::Rack);
    let config = Config { window: 200, ecn: true, mss: MSS, initial_window: 10, ..Config::default() };
    Config { reaction: Reaction { feedback: EcnFeedback::Accurate, ..reaction }, rto, recovery, ..config }
}

/// Appendices A.1, A.2.1 and A.2.2, line by line.
#[allow(non_snake_case)]
struct Text {
    s_cep: i64,
    s_ceb: i64,
}

#[allow(non_snake_case)]
impl Text {
    fn decode(&mut self, told: AceReport) -> i64 {
        let (DIVACE, DIVOPT, SAFETY_FACTOR, mss) = (8, 16_777_216, 2.0, i64::from(MSS));
        let newlyAckedPkt = i64::from(told.newly);
        if newlyAckedPkt == 0 {
            return 0;
        }
        let d_cep = (i64::from(told.ace) + DIVACE - (self.s_cep % DIVACE)) % DIVACE;
        let mut dSafer_cep = newlyAckedPkt - (newlyAckedPkt - d_cep).rem_euclid(DIVACE);
        if d_cep > newlyAckedPkt {
            dSafer_cep = d_cep;
        }
        if let Some(ECEB) = told.bytes {
            let d_ceb = (i64::from(ECEB) + DIVOPT - (self.s_ceb % DIVOPT)) % DIVOPT;
            self.s_ceb += d_ceb;
            if dSafer_cep > d_cep && d_ceb <= mss * d_cep {
                let sSafer = d_ceb as f64 / dSafer_cep as f64;
                if sSafer < mss as f64 / SAFETY_FACTOR {
                    dSafer_cep = d_cep;
                }
            }
        }
        self.s_cep += dSafer_cep;
        dSafer_cep
    }
}

/// The examples of appendix A.2.
#[test]
fn the_examples_of_the_text() {
    let told = |ace: u32, newly, bytes| AceReport { ace: ((5 + ace) % 8) as u8, newly, bytes };
    for (ace, newly, bytes, marked) in [
        (2, 9, None, 2),
        (2, 10, None, 10),
        (0, 8, Some(1460), 8),
        (2, 10, Some(1460), 2),
        (7, 15, Some(10_200), 7),
        (3, 2, None, 3),
        (3, 0, None, 0),
    ] {
        assert_eq!(Decoder::new(MSS, false).marked(told(ace, newly, bytes)), marked, "{ace} {newly} {bytes:?}");
    }
}

/// A stream of segments of which some are marked, ACKs of several at once, and any of these lost.
fn any_acks() -> impl Strategy<Value = Vec<(u32, u32, u16, bool)>> {
    let marks = prop_oneof![3 => Just(0u32), 2 => 0u32..3, 1 => Just(100)];
    let size = prop_oneof![4 => Just(MSS), 1 => 1..MSS];
    prop::collection::vec((1u32..5, marks, size, prop::bool::weighted(0.5)), 1..400)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Whatever ACKs are lost: the decoder is the text's; it takes the largest count that is possible, or with bytes one
    /// that they allow; where no cycle of the field fits, it is exact; with full segments and bytes it errs only
    /// where 8 marks or more hide behind lost ACKs, and to the safe side.
    #[test]
    fn the_safest_likely_case(acks in any_acks(), with_bytes: bool, full: bool) {
        let (mut decoder, mut text) = (Decoder::new(MSS, false), Text { s_cep: 5, s_ceb: 0 });
        let (mut cep, mut ceb, mut newly, mut since, mut told_bytes) = (5u32, 0u32, 0, 0, 0u32);
        for (segments, marks, size, lost) in acks {
            let (marked, size) = (marks.min(segments), if full { MSS } else { size });
            (cep, ceb) = (cep + marked, ceb + marked * u32::from(size));
            (newly, since) = (newly + segments, since + marked);
            if lost {
                continue;
            }
            let told = AceReport { ace: (cep % 8) as u8, bytes: with_bytes.then_some(ceb % (1 << 24)), newly };
            let ours = decoder.marked(told);
            prop_assert_eq!(i64::from(ours), text.decode(told), "{:?}", told);
            let possible = (0..=newly).filter(|n| n % 8 == since % 8).max().unwrap();
            prop_assert_eq!(ours % 8, since % 8);
            prop_assert!(ours <= possible);
            if newly < 8 + since % 8 {
                prop_assert_eq!(ours, since);
            }
            if !with_bytes {
                prop_assert_eq!(ours, possible);
            } else if full {
                prop_assert!(ours == since || since >= 8 && ours > since, "{} of {}, {:?}", ours, since, told);
                prop_assert_eq!(ceb - told_bytes, since * u32::from(MSS));
            }
            (newly, since, told_bytes) = (0, 0, ceb);
        }
    }

    /// Over a lossy path both ways everything arrives, and with no ACK lost each window with a mark is cut once.
    #[test]
    fn the_two_ends_agree(loss in 0.0..0.05f64, ack_loss in 0.0..0.3f64, mark in 0.0..0.5f64, seed: u64) {
        let mut dice = Dice(seed);
        let fate = move |_: &_| match (dice.falls(loss), dice.falls(mark)) {
            (true, _) => Fate::Lose,
            (_, true) => Fate::Mark,
            _ => Fate::Pass,
        };
        let mut pipe = Pipe::new(config(), Supply::Bytes(1_000_000), Span::from_ms(30), fate);
        let mut acks = Dice(!seed);
        // An ACK of what came long ago echoes an old time stamp, and the time-out follows it: up to 120 s each.
        while pipe.step(Time::ZERO + Span::from_s(86_400), || acks.falls(ack_loss)) {}
        prop_assert!(pipe.sender.finished());
        prop_assert_eq!(pipe.receiver.delivered_bytes(), 1_000_000);
    }
}

fn data(number: u32, ce: bool) -> Received {
    Received { number, payload: MSS, ce, ..Received::default() }
}

fn syn(ce: bool) -> Received {
    Received { syn: true, payload: 0, cwr: true, ..data(0, ce) }
}

/// RFC 9768 section 3.2.2 (3.2.2.5): a mark after none is acknowledged at once, and each second mark; else every second segment.
#[test]
fn the_receiver_does_not_let_marks_wait() {
    let reaction =
        Reaction { ack: AckDelay::Fixed(Span::from_ms(100)), feedback: EcnFeedback::Accurate, ..Reaction::NONE };
    let mut receiver = Receiver::new(&Config { reaction, ..config() }).unwrap();
    let answer = receiver.on_segment(Time::ZERO, &syn(false)).unwrap();
    assert_eq!((answer.ace, answer.ece, answer.sacks.marked_bytes()), (0b010, false, None));
    let mut told = Vec::new();
    for (number, ce) in (1..).zip([false, false, true, true, true, false, false, false, true]) {
        let ack = receiver.on_segment(Time::ZERO, &data(number, ce));
        assert_eq!(receiver.take_earlier(), None, "a count needs no ACK apart");
        told.extend(ack.map(|ack| (number, ack.ace, ack.sacks.marked_bytes().unwrap() / u32::from(MSS))));
    }
    assert_eq!(told, [(2, 5, 0), (3, 6, 1), (5, 0, 3), (7, 0, 3), (9, 1, 4)]);
}

/// RFC 9768 section 3.1.2: a marked SYN counts; a server that only knows RFC 3168 is heard as RFC 3168 has it; one that
/// knows nothing gets nothing that is ECN-capable.
#[test]
fn the_handshake_settles_what_acks_mean() {
    let answers = [(true, 0b010, true), (true, 0b110, true), (true, 0b001, false), (false, 0b000, false)];
    for (capable, ace, counts) in answers {
        let mut sender = Sender::new(&config(), Supply::Unlimited).unwrap();
        sender.start();
        while sender.next_segment(Time::ZERO).is_some() {}
        let now = Time::ZERO + Span::from_ms(10);
        sender.on_ack(now, AckInfo { next_expected: 1, syn: true, ece: ace & 1 > 0, ace, ..AckInfo::default() });
        let answer = sender.next_segment(now).unwrap();
        assert_eq!((answer.payload, answer.ect), (0, false), "the ACK that ends the handshake is not ECN-capable");
        let first = sender.next_segment(now).unwrap();
        assert_eq!(first.ect, capable, "{ace:03b}");
        while sender.next_segment(now).is_some() {}
        let later = now + Span::from_ms(10);
        // 5 and, after a marked SYN, 6: no mark since. As RFC 3168 has it an ECE is one.
        let quiet = if ace == 0b110 { 6 } else { 5 };
        sender.on_ack(later, AckInfo { next_expected: 2, ace: quiet, ece: quiet & 1 > 0, ..AckInfo::default() });
        assert_eq!(sender.counters().echo_cuts, u32::from(capable && !counts), "{ace:03b}");
        sender.on_ack(later, AckInfo { next_expected: 3, ace: quiet + 1, ece: false, ..AckInfo::default() });
        assert_eq!(sender.counters().echo_cuts, u32::from(capable), "{ace:03b}");
        while let Some(segment) = sender.next_segment(later) {
            assert!(!(counts && segment.cwr), "there is no CWR");
        }
    }
}
