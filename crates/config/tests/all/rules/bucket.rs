//! Buckets of policers beside what downloads need.

use super::given;
use perhop_config::import_options::ImportOptions;
use perhop_core::units::BitRate;

fn found(from: &str, text: &str) -> Option<(String, String)> {
    let all = given(from, text, &ImportOptions::default());
    all.into_iter().map(|it| it.0).find(|it| it.code == "W451").map(|it| (it.message, it.instead))
}

fn policy(police: &str, matches: &str) -> String {
    format!(
        "class-map match-any GOLD\n match {matches}\npolicy-map IN\n class GOLD\n  police {police}\n   conform-action transmit\n   \
         exceed-action drop\ninterface GigabitEthernet0/1\n service-policy input IN\n"
    )
}

/// 10000 B are 1.8 ms of 45 Mbit/s; the same line with the burst to set has nothing to be said.
#[test]
fn a_bucket_of_milliseconds() {
    let (message, instead) = found("ios", &policy("cir 45000000 bc 10000", "dscp af11")).unwrap();
    assert!(message.starts_with("the bucket holds 10000 B, 1.8 ms at 45Mbit/s: 4 downloads"), "{message}");
    let burst = instead.strip_prefix("police cir 45000000 bc ").unwrap();
    assert!(found("ios", &policy(&format!("cir 45000000 bc {burst}"), "dscp af11")).is_none());
    let old = found("ios", &policy("45000000 10000 20000", "dscp af11")).unwrap().1;
    assert_eq!(old, format!("police 45000000 {burst} 20000"));
    let shell = |burst: &str| {
        format!(
            "tc qdisc add dev eth0 handle ffff: ingress\ntc filter add dev eth0 parent ffff: protocol ip prio 50 u32 match ip src 0.0.0.0/0 police rate 45mbit burst {burst} drop flowid :1\n"
        )
    };
    let (_, instead) = found("tc", &shell("10k")).unwrap();
    assert_eq!(instead, format!("burst {burst}b"));
    assert!(found("tc", &shell(&format!("{burst}b"))).is_none());
}

/// A line that brings no more than the rate needs no burst; one that takes no more does not spare it.
#[test]
fn a_line_into_the_policer_is_a_shaper() {
    let police = "matchall action police rate 10mbit burst 4k conform-exceed drop";
    let input = format!("tc qdisc add dev eth0 clsact\ntc filter add dev eth0 ingress {police}\n");
    let output = format!("tc qdisc add dev eth0 clsact\ntc filter add dev eth0 egress {police}\n");
    let warns = |text: &str, link: Option<u64>| {
        let all = given("tc", text, &ImportOptions { link: link.map(BitRate::mbps), ..ImportOptions::default() });
        all.iter().any(|it| it.0.code == "W451")
    };
    for text in [&input, &output] {
        assert!(warns(text, None) && warns(text, Some(100)) && warns(text, Some(11)), "{text}");
    }
    assert!(!warns(&input, Some(10)) && !warns(&input, Some(8)));
    assert!(warns(&output, Some(10)));
}

/// 10 MiB are 42 s of 2 Mbit/s.
#[test]
fn a_bucket_of_seconds() {
    let tc = |burst: &str| {
        let text = format!(
            "tc qdisc add dev eth0 clsact\ntc filter add dev eth0 ingress matchall action police rate 2mbit burst {burst}\n"
        );
        let all = given("tc", &text, &ImportOptions::default());
        all.into_iter().map(|it| it.0).find(|it| it.code == "W452").map(|it| it.message)
    };
    let message = tc("10m").unwrap();
    assert!(
        message.starts_with("`10m` is in megabytes: the bucket holds 10485760 B, 41943 ms at 2Mbit/s"),
        "{message}"
    );
    // 16384 B are 66 ms, 131072 B 524 ms.
    assert!(tc("0.015625m").is_some() && tc("16k").is_none());
    assert!(tc("128k").is_some() && tc("120k").is_none());
}

/// Voice, datagrams and the router's own packets are no downloads.
#[test]
fn what_is_no_download() {
    for matches in ["dscp ef", "protocol udp", "protocol http"] {
        assert!(found("ios", &policy("cir 45000000 bc 10000", matches)).is_none(), "{matches}");
    }
    let control = policy("cir 45000000 bc 10000", "dscp af11").replace("interface GigabitEthernet0/1", "control-plane");
    assert!(found("ios", &control).is_none());
    let marks = policy("cir 45000000 bc 10000", "dscp af11")
        .replace("exceed-action drop", "exceed-action set-dscp-transmit af12");
    assert!(found("ios", &marks).is_none());
}
