//! Policers and shapers of IOS.

use super::Hand;

fn meter(kind: &'static str, settings: &str) -> Hand {
    Hand::new("ios").port("Gi0/0").meter(kind, settings)
}

/// The burst of the excess, 2 of 4 to 6 Mbit/s, typed as the peak burst: the same time of `pir` is 75000 B.
#[test]
fn a_peak_burst_that_is_an_excess_burst() {
    let (found, words) = meter("trtcm", "cir 4Mbit/s, cbs 50kB, pir 6Mbit/s, pbs 25kB").only();
    assert_eq!((found.code, words.as_str()), ("W420", "25kB"));
    assert_eq!(found.instead, "police cir 4000000 bc 50000 pir 6000000 be 75000");
    let (above_twice, _) = meter("trtcm", "cir 1Mbit/s, cbs 10kB, pir 4Mbit/s, pbs 30kB").only();
    assert_eq!(above_twice.code, "W420");
}

#[test]
fn peak_bursts_that_are_peak_bursts() {
    for fine in ["cir 4Mbit/s, cbs 50kB, pir 6Mbit/s, pbs 75kB", "cir 4Mbit/s, cbs 50kB, pir 8Mbit/s, pbs 50kB"] {
        assert!(meter("trtcm", fine).findings().is_empty(), "{fine}");
    }
    assert!(meter("trtcm", "cir 4Mbit/s, cbs 50kB, pir 6Mbit/s, pbs ~25kB").findings().is_empty());
    assert!(meter("srtcm", "cir 4Mbit/s, cbs 50kB, ebs 25kB").findings().is_empty());
}

/// 1.5 s of 1 Mbit/s are 187500 B; in bits 1500000.
#[test]
fn a_policers_burst_in_bits() {
    let (found, words) = meter("token-bucket", "cir 1Mbit/s, cbs 1500000B").only();
    assert_eq!((found.code, words.as_str()), ("W421", "1500000B"));
    assert!(found.message.contains("12s of 1Mbit/s") && found.message.ends_with("1.5s"), "{}", found.message);
    assert_eq!(found.instead, "police cir 1000000 bc 187500");
    for fine in ["cir 1Mbit/s, cbs 187500B", "cir 8kbit/s, cbs 8000B", "cir 1Mbit/s, cbs ~1500000B"] {
        assert!(meter("token-bucket", fine).findings().is_empty(), "{fine}");
    }
}

/// 5000 bits at 10 Mbit/s: 0.5 ms, 625 B. In bytes it would be the 4 ms of IOS-XE.
#[test]
fn a_shapers_burst_in_bytes() {
    let shape = |settings: &str| Hand::new("ios").port("Gi0/0").queue("WAN", None, "").shape(settings);
    let (found, words) = shape("rate 10Mbit/s, burst 625B").only();
    assert_eq!((found.code, words.as_str()), ("W421", "625B"));
    assert!(found.message.contains("5000 are 625 B") && found.message.contains("500us"), "{}", found.message);
    assert_eq!(found.instead, "shape average 10000000 40000");
    // Classic IOS takes 8000 bits up to 320 kbit/s itself.
    assert!(shape("rate 64kbit/s, burst 1000B").findings().is_empty());
    assert!(shape("rate 10Mbit/s, burst 5kB").findings().is_empty());
}
