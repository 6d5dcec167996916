//! Counters as evidence.

use super::{Hand, codes};
use perhop_config::model::Kind;

fn hand() -> Hand {
    let fq = Some(Kind::Scheduler("fq-codel"));
    let top = Hand::new("tc").htb("").class("1:1", None, "rate 10Mbit/s");
    let one = top.class("1:10", Some(0), "rate 2Mbit/s, ceil 10Mbit/s").under("10:", fq, "");
    one.class("1:20", Some(0), "rate 8Mbit/s, ceil 10Mbit/s").under("20:", fq, "")
}

#[test]
fn drops_of_a_class_with_its_share() {
    let hand = hand().counters("htb", "1:1", "dropped 80, sent_packets 2000").counters(
        "htb",
        "1:10",
        "dropped 60, sent_packets 940",
    );
    let (found, _) = hand.counters("htb", "1:20", "dropped 20, sent_packets 99980").only();
    assert_eq!(found.code, "W440");
    assert_eq!(found.message, "class 1:10 lost 60 of 1000 packets (6.0 %), 75 % of all drops here");
}

#[test]
fn waits_are_no_losses() {
    let (found, _) =
        hand().counters("htb", "1:", "dropped 0, overlimits 4711").counters("htb", "1:10", "overlimits 3").only();
    assert_eq!(found.code, "W441");
    assert!(hand().counters("htb", "1:", "dropped 1, overlimits 4711").findings().is_empty());
    assert!(hand().counters("htb", "1:", "dropped 0, overlimits 0").findings().is_empty());
}

/// 2 s are 31250000 ticks of 64 ns; at 2 Mbit/s 500 kB.
#[test]
fn a_debt_in_time_and_bytes() {
    let (found, _) = hand().counters("htb", "1:10", "tokens -31250000, ctokens 100").only();
    assert_eq!(found.code, "W442");
    assert!(found.message.starts_with("class 1:10 owes 500000 B at its rate 2mbit, 2s"), "{}", found.message);
    let (ceil, _) = hand().counters("htb", "1:10", "tokens -31250000, ctokens -31250000").only();
    assert!(ceil.message.starts_with("class 1:10 owes 2500000 B at its ceil 10mbit"), "{}", ceil.message);
    assert!(hand().counters("htb", "1:10", "tokens -1250, ctokens -1250").findings().is_empty());
}

#[test]
fn packets_past_all_classes() {
    let (found, _) = hand().counters("htb", "1:", "sent_packets 1000, direct_packets_stat 25").only();
    assert_eq!(found.code, "W444");
    assert!(found.message.starts_with("25 packets of 1000 (2.5 %)"), "{}", found.message);
}

/// 250 kB at 10 Mbit/s: 200 ms, at 2 Mbit/s 1 s.
#[test]
fn a_standing_queue_in_time() {
    let (found, _) = hand().counters("htb", "1:10", "backlog_bytes 250000").only();
    assert_eq!(found.code, "W445");
    assert_eq!(found.message, "250000 B wait in class 1:10: 200ms at its ceil 10Mbit/s, 1s at its rate 2Mbit/s");
    assert_eq!(codes(&hand().counters("htb", "1:1", "backlog_bytes 2500000").findings()), [""; 0]);
}
