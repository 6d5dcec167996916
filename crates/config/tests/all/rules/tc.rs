//! Units, policers and shapers of tc.

use super::{none, only};
use perhop_config::import_options::ImportOptions;

fn shaped(keys: &str) -> String {
    format!("tc qdisc add dev eth0 root tbf {keys}\n")
}

fn policed(action: &str) -> String {
    format!(
        "tc qdisc add dev eth0 handle ffff: ingress\ntc filter add dev eth0 parent ffff: protocol all matchall action {action}\n"
    )
}

#[test]
fn kilobytes_beside_kilobits() {
    let tree = |rate: &str| {
        let class = |name: &str, rate: &str| {
            let queue = format!("tc qdisc add dev eth0 parent 1:{name} handle {name}: sfq\n");
            format!("tc class add dev eth0 parent 1: classid 1:{name} htb rate {rate}\n{queue}")
        };
        format!("tc qdisc add dev eth0 root handle 1: htb default 20\n{}{}", class("10", rate), class("20", "4mbit"))
    };
    let found = only("tc", &tree("500kbps"), "W423", "rate 500kbps");
    assert!(found.message.contains("it is 4mbit"), "{}", found.message);
    assert_eq!(found.instead, "rate 500kbit");
    none("tc", &tree("500kbit"));
    none("tc", &tree("500kbps").replace("4mbit", "500kbps"));
}

#[test]
fn numbers_without_a_unit() {
    let found = only("tc", &shaped("rate 1000 burst 5k latency 50ms"), "W424", "rate 1000");
    assert!(found.message.ends_with("takes 12s"), "{}", found.message);
    assert_eq!(found.instead, "rate 1000kbit");
    assert_eq!(
        only("tc", &policed("police rate 1mbit burst 64 conform-exceed drop"), "W424", "burst 64").instead,
        "burst 64k"
    );
    let found = only("tc", "tc qdisc add dev eth0 root codel target 5\n", "W424", "target 5");
    assert_eq!(found.instead, "target 5ms");
    // A policer for the packets of one kind, 40 bytes each.
    let syn = "police rate 1kbit burst 40 conform-exceed drop";
    none("tc", &policed(syn).replace("protocol all matchall", "protocol ip flower ip_proto icmp"));
    none("tc", &shaped("rate 1000000 burst 5000 latency 50ms"));
    none("tc", "tc qdisc add dev eth0 root codel target 5000\n");
}

#[test]
fn what_exceeds_is_classified_again() {
    let found = only("tc", &policed("police rate 2mbit burst 100k"), "W437", "rate 2mbit");
    assert!(found.instead.starts_with("conform-exceed drop"), "{}", found.instead);
    none("tc", &policed("police rate 2mbit burst 100k conform-exceed drop"));
    none("tc", &policed("police rate 2mbit burst 100k conform-exceed continue"));
}

#[test]
fn a_bucket_that_holds_no_merged_packet() {
    let found = only("tc", &policed("police rate 10mbit burst 10k conform-exceed drop"), "W438", "burst 10k");
    assert!(found.message.starts_with("`burst` is 10240 B"), "{}", found.message);
    none("tc", &policed("police rate 10mbit burst 64k conform-exceed drop"));
    let udp = policed("police rate 10mbit burst 10k conform-exceed drop")
        .replace("protocol all matchall", "protocol ip flower ip_proto udp");
    none("tc", &udp);
}

#[test]
fn a_bucket_that_holds_no_packet() {
    let found = only("tc", &shaped("rate 10mbit burst 1000b latency 50ms"), "W439", "burst 1000b");
    assert_eq!(found.instead, "burst 1514b");
    none("tc", &shaped("rate 10mbit burst 1540b latency 50ms"));
    let peak = shaped("rate 1mbit burst 10k latency 50ms peakrate 2mbit mtu 1000");
    assert_eq!(only("tc", &peak, "W439", "mtu 1000").instead, "mtu 1514b");
}

#[test]
fn a_class_that_is_policed_and_shaped() {
    let text = |rate: &str| {
        "tc qdisc add dev eth0 root handle 1: htb default 1\n\
         tc class add dev eth0 parent 1: classid 1:1 htb rate 10mbit burst 5k\n\
         tc qdisc add dev eth0 parent 1:1 handle 10: sfq\n\
         tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dsfield 0x28 0xfc police rate RATE burst 15k drop flowid 1:1\n"
            .replace("RATE", rate)
    };
    let found = only("tc", &text("10mbit"), "W427", "rate 10mbit");
    assert!(found.message.contains("beyond a burst of 15360 B"), "{}", found.message);
    none("tc", &text("11mbit"));
}

#[test]
fn a_mask_that_misses_ecn_capable_packets() {
    let text = |filters: &[&str]| {
        let queue = |name: &str| {
            format!(
                "tc class add dev eth0 parent 1: classid 1:{name} htb rate 4mbit burst 5k\n\
                 tc qdisc add dev eth0 parent 1:{name} handle {name}: fq_codel target 20ms\n"
            )
        };
        let filter = |it: &&str| format!("tc filter add dev eth0 parent 1: protocol ip prio 1 {it} flowid 1:10\n");
        let filters: String = filters.iter().map(filter).collect();
        format!("tc qdisc add dev eth0 root handle 1: htb default 20\n{}{}{filters}", queue("10"), queue("20"))
    };
    for whole in ["u32 match ip tos 0xb8 0xff", "u32 match u8 0xb8 0xff at 1", "flower ip_tos 0xb8"] {
        let words = format!("tc filter add dev eth0 parent 1: protocol ip prio 1 {whole} flowid 1:10");
        let found = only("tc", &text(&[whole]), "W407", &words);
        assert!(found.message.ends_with("packets of EF that are ECN-capable (as 0xb9 to 0xbb) go to class 1:20"));
        assert_eq!(found.instead, "the mask 0xfc, as in `match ip dsfield 0xb8 0xfc`");
    }
    let field = "u32 match ip tos";
    none("tc", &text(&[&format!("{field} 0xb8 0xfc")]));
    // The bits of ECN alone, and one filter for each of their values.
    none("tc", &text(&[&format!("{field} 0 0x3")]));
    none(
        "tc",
        &text(
            &["0xb8", "0xb9", "0xba", "0xbb"].map(|octet| format!("{field} {octet} 0xff")).each_ref().map(|it| &**it),
        ),
    );
    let police = "tc qdisc add dev eth0 handle ffff: ingress\n\
                  tc filter add dev eth0 parent ffff: protocol ip u32 match ip tos 0x28 0xff police rate 2mbit burst 100k drop\n";
    let found = only("tc", police, "W407", police.lines().nth(1).unwrap());
    assert!(found.message.ends_with("(as 0x29 to 0x2b) pass this one by"), "{}", found.message);
}

/// 1000 packets for 200 ms each are 5000 a second: 60.56 Mbit/s of full size. A kernel 6.1 lost 7242 of 26211 that came at 6550/s.
#[test]
fn a_netem_that_cannot_hold_what_the_link_carries() {
    let at = |text: &str, link: &str| {
        let given = ImportOptions { link: link.parse().ok(), ..ImportOptions::default() };
        let found = super::given("tc", text, &given);
        found.into_iter().map(|(finding, words)| (finding.code, words, finding.instead)).collect::<Vec<_>>()
    };
    let text = "tc qdisc add dev eth0 root netem delay 200ms\n";
    assert_eq!(at(text, "1Gbit/s"), [("W449", "delay 200ms".into(), "limit 16513 or more, for 1Gbit/s".into())]);
    assert_eq!(at(text, "60Mbit/s"), []);
    assert_eq!(at(&text.replace("200ms", "200ms limit 20000"), "1Gbit/s"), []);
    assert_eq!(at(text, ""), [], "without a link nothing is known");
}
