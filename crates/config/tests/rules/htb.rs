//! HTB and its numbers.

use super::{Hand, codes};
use perhop_config::model::Kind;

const FQ: Option<Kind> = Some(Kind::Scheduler("fq-codel"));

/// Two leaves with queues, so that only their numbers are at fault.
fn two(settings: &str, one: &str, other: &str) -> Hand {
    let of = |hand: Hand, name, settings: &str| hand.class(name, Some(0), settings).under("10:", FQ, "");
    let top = Hand::new("tc").htb(settings).class("1:1", None, "rate 100Mbit/s, burst 1MB");
    of(of(top, "1:10", one), "1:20", other)
}

/// 100 Mbit/s are 12.5 MB/s; by 10 that is 1.25 MB, kept at 200000 B: 16.7 to 1 becomes 2.7 to 1.
#[test]
fn quanta_out_of_bounds() {
    let hand = two("r2q ~10", "rate 6Mbit/s", "rate 100Mbit/s");
    let (found, words) = hand.only();
    assert_eq!((found.code, words.as_str()), ("W431", "1:20"));
    assert_eq!(
        found.message,
        "the quantum of `1:20` is kept at 200000 B, where rate / r2q gives 1250000 B (\"quantum of class .. is big\"): the largest \
         class borrows 2.7 times as much as the smallest, by their rates it would be 16.7 times"
    );
    // 6 Mbit/s are 750000 B/s: by 495 at least 1514 B; 100 Mbit/s then get 25252 B.
    assert!(found.instead.contains("r2q 495"), "{}", found.instead);
}

#[test]
fn quanta_within_bounds_or_of_their_own_say_nothing() {
    assert!(two("r2q 10", "rate 1Mbit/s", "rate 16Mbit/s").findings().is_empty());
    assert!(two("r2q 10", "rate 1Mbit/s, quantum 1514B", "rate 100Mbit/s, quantum 60000B").findings().is_empty());
    // As `tc -d` prints what was bounded.
    assert_eq!(codes(&two("r2q 10", "rate 1Mbit/s", "rate 100Mbit/s, quantum 200000B").findings()), ["W431"]);
}

/// No r2q serves 64 kbit/s and 100 Mbit/s: 8000 / 1514 = 5, and 12.5 MB / 5 is too much.
#[test]
fn where_no_r2q_serves_quanta_are_written() {
    let (found, _) = two("r2q 10", "rate 64kbit/s, burst 9kB", "rate 100Mbit/s").only();
    assert!(
        found.instead.starts_with("tc class change dev eth0 parent 1:1 classid 1:20 htb rate 100mbit quantum 200000")
    );
}

#[test]
fn a_class_alone_shares_with_nobody() {
    let hand = Hand::new("tc").htb("").class("1:1", None, "rate 100Mbit/s, burst 1MB").under("10:", FQ, "");
    assert!(hand.findings().is_empty());
}

#[test]
fn a_ceil_below_the_rate() {
    let (found, words) = two("", "rate 4Mbit/s, ceil 1Mbit/s, prio 3", "rate 6Mbit/s").only();
    assert_eq!((found.code, words.as_str()), ("W432", "1Mbit/s"));
    assert!(found.message.ends_with("25 % of what it is guaranteed"), "{}", found.message);
    assert_eq!(found.instead, "tc class change dev eth0 parent 1:1 classid 1:10 htb rate 4mbit ceil 4mbit prio 3");
}

#[test]
fn no_default_class() {
    let hand = two("unclassified direct", "rate 4Mbit/s", "rate 6Mbit/s");
    let (found, words) = hand.only();
    assert_eq!((found.code, words.as_str()), ("W433", "qdisc 1:"));
    assert!(found.instead.contains("htb default 20"));
    // Its counter says that there are none.
    let none =
        two("unclassified direct", "rate 4Mbit/s", "rate 6Mbit/s").counters("htb", "1:", "direct_packets_stat 0");
    assert!(none.findings().is_empty());
}

/// 1000 frames of 1514 B at 2 Mbit/s: 6.056 s.
#[test]
fn a_leaf_without_qdisc() {
    let hand = Hand::new("tc").htb("").class("1:1", None, "rate 10Mbit/s").class(
        "1:10",
        Some(0),
        "rate 1Mbit/s, ceil 2Mbit/s",
    );
    let (found, words) = hand.only();
    assert_eq!((found.code, words.as_str()), ("W434", "1:10"));
    assert!(found.message.contains("(2Mbit/s) is a delay of 6.056s"), "{}", found.message);
    assert_eq!(found.instead, "tc qdisc add dev eth0 parent 1:10 fq_codel");
    let (limit, fast) =
        (hand.under("10:", None, "limit 10p"), Hand::new("tc").htb("").class("1:1", None, "rate 200Mbit/s"));
    assert!(limit.findings().is_empty() && fast.findings().is_empty());
}

/// 1600 B at 1 Gbit/s last 12.8 us.
#[test]
fn a_burst_shorter_than_a_timer_is_late() {
    let hand = Hand::new("tc").htb("").class("1:1", None, "rate 1Gbit/s, burst ~1600B").under("10:", FQ, "");
    let (found, words) = hand.only();
    assert_eq!((found.code, words.as_str()), ("W435", "1:1"));
    assert!(found.message.contains("1600 B are 12 us at 1Gbit/s"), "{}", found.message);
    assert!(found.instead.ends_with("htb rate 1gbit burst 125000b cburst 125000b"), "{}", found.instead);
    let tbf = |burst: &str| {
        Hand::new("tc").port("eth0").queue("1:", None, "").shape(&format!("rate 900Mbit/s, burst {burst}"))
    };
    assert_eq!(codes(&tbf("5kB").findings()), ["W435"]);
    assert!(tbf("112500B").findings().is_empty());
}

/// Parents in a circle end, and rates of 0 divide nothing.
#[test]
fn nothing_makes_the_rules_panic() {
    let hand = Hand::new("tc").htb("r2q 0").class("1:1", Some(1), "rate 0bit/s, ceil 0bit/s, burst 0B").class(
        "1:2",
        Some(0),
        "",
    );
    let far = hand.class("1:3", Some(99), "rate 1Gbit/s").counters(
        "htb",
        "1:3",
        "tokens -9223372036854775808, backlog_bytes -1",
    );
    far.findings();
}
