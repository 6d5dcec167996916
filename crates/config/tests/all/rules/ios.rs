//! Texts of IOS.

use perhop_config::finding::Finding;
use perhop_config::import_options::{ImportOptions, Platform};
use perhop_core::units::BitRate;

/// The lines of a class at the output of a port of 10 Mbit/s.
fn class(lines: &str) -> String {
    policy(&format!(" class GOLD\n{}", lines.lines().map(|line| format!("  {line}\n")).collect::<String>()))
}

fn policy(classes: &str) -> String {
    let maps =
        ["GOLD", "SILVER", "BRONZE"].map(|name| format!("class-map match-any {name}\n match dscp {}\n", dscp(name)));
    let port = "interface GigabitEthernet0/0\n bandwidth 10000\n service-policy output WAN\n";
    format!("{}policy-map WAN\n{classes}{port}", maps.concat())
}

fn dscp(name: &str) -> &str {
    [("GOLD", "af31"), ("SILVER", "af21"), ("BRONZE", "af11")].into_iter().find(|it| it.0 == name).unwrap().1
}

#[track_caller]
fn only(text: &str, code: &str, words: &str) -> Finding {
    super::only("ios", text, code, words)
}

#[track_caller]
fn none(text: &str) {
    super::none("ios", text);
}

fn given(text: &str, given: &ImportOptions) -> Vec<(Finding, String)> {
    super::given("ios", text, given)
}

/// The excess of 4 to 6 Mbit/s, 100 ms of it, typed as the peak burst: the same time of `pir` is 75000 B.
#[test]
fn a_peak_burst_that_is_an_excess_burst() {
    let found = only(&class("police cir 4000000 bc 50000 pir 6000000 be 25000"), "W420", "25000");
    assert_eq!(found.instead, "police cir 4000000 bc 50000 pir 6000000 be 75000");
    let found = only(&class("police cir 1000000 bc 10000 pir 4000000 be 30000"), "W420", "30000");
    assert_eq!(found.instead, "police cir 1000000 bc 10000 pir 4000000 be 40000");
    none(&class("police cir 4000000 bc 50000 pir 6000000 be 75000"));
    none(&class("police cir 4000000 bc 50000 pir 8000000 be 50000"));
    none(&class("police cir 4000000 pir 6000000"));
}

#[test]
fn an_excess_burst_that_nothing_uses() {
    let found = only(
        &class("police cir 4000000 bc 50000 be 25000\n conform-action transmit\n exceed-action drop"),
        "W420",
        "25000",
    );
    assert!(found.message.starts_with("`be` 25000 has no effect"), "{}", found.message);
    none(&class("police cir 4000000 bc 50000 be 25000\n exceed-action transmit\n violate-action drop"));
}

/// 1.5 s of 1 Mbit/s are 187500 B; in bits 1500000.
#[test]
fn a_policers_burst_in_bits() {
    let found = only(&class("police 1000000 1500000 conform-action transmit exceed-action drop"), "W421", "1500000");
    assert!(found.message.contains("12s of 1Mbit/s") && found.message.ends_with("1.5s"), "{}", found.message);
    assert_eq!(found.instead, "police 1000000 187500 conform-action transmit exceed-action drop");
    none(&class("police cir 1000000 bc 187500"));
    none(&class("police cir 64000 bc 8000"));
    none(&class("police cir 1000000"));
}

/// 5000 bits at 10 Mbit/s: 0.5 ms, 625 B. In bytes it would be the 4 ms of IOS XE.
#[test]
fn a_shapers_burst_in_bytes() {
    let found = only(&class("shape average 10000000 5000"), "W421", "5000");
    assert!(found.message.contains("5000 are 625 B") && found.message.contains("is 500us"), "{}", found.message);
    // Without Be the device takes as much again.
    assert_eq!(found.instead, "shape average 10000000 40000 0");
    let found = only(&class("shape average 10000000 5000 5000"), "W421", "5000");
    assert_eq!(found.instead, "shape average 10000000 40000 5000");
    // Classic IOS takes 8000 bits at this rate itself.
    none(&class("shape average 64000 8000"));
    none(&class("shape average 10000000 40000"));
    none(&class("shape average 10000000"));
}

#[test]
fn rates_in_bits_where_kbits_are_wanted_and_the_reverse() {
    let found = only(&class("bandwidth 2000000"), "W422", "bandwidth 2000000");
    assert_eq!(found.instead, "bandwidth 2000");
    let found = only(&class("priority 128000"), "W422", "priority 128000");
    assert!(found.message.contains("128Mbit/s, more than the 10Mbit/s"), "{}", found.message);
    assert_eq!(found.instead, "priority 128");
    let found = only(&class("police cir 8000"), "W422", "8000");
    assert!(found.message.contains("1500 B takes 1.5s") && found.message.ends_with("8Mbit/s"), "{}", found.message);
    assert_eq!(found.instead, "police cir 8000000");
    none(&class("bandwidth 2000"));
    none(&class("police cir 64000"));
    none(&class("police cir 8000 conform-action drop exceed-action drop"));
    let control =
        class("police cir 8000").replace("interface GigabitEthernet0/0\n bandwidth 10000\n", "control-plane\n");
    none(&control.replace("output", "input"));
}

#[test]
fn thresholds_that_are_not_enabled() {
    let bare = "bandwidth percent 50\nrandom-detect\nrandom-detect dscp af31 20 40 10\nrandom-detect dscp af32 10 40";
    let found = only(&class(bare), "W425", "random-detect dscp af31 20 40 10");
    assert!(found.message.contains("(2)") && found.message.contains("by precedence"), "{}", found.message);
    assert_eq!(found.instead, "random-detect dscp-based, before them");
    let off = only(
        &class("bandwidth percent 50\nrandom-detect precedence 3 20 40"),
        "W425",
        "random-detect precedence 3 20 40",
    );
    assert!(off.message.contains("no line enables WRED"), "{}", off.message);
    none(&class("bandwidth percent 50\nrandom-detect dscp-based\nrandom-detect dscp af31 20 40 10"));
    none(&class("bandwidth percent 50\nrandom-detect\nrandom-detect precedence 3 20 40"));
}

#[test]
fn wred_without_a_queue() {
    let found = only(&class("random-detect dscp-based"), "W426", "random-detect dscp-based");
    assert!(found.message.contains("has no queue"), "{}", found.message);
    let found = only(&class("priority percent 10\nrandom-detect"), "W426", "random-detect");
    assert!(found.message.contains("has priority"), "{}", found.message);
    none(&class("shape average 4000000\nrandom-detect"));
    none(&policy(" class class-default\n  random-detect\n"));
}

#[test]
fn a_shaper_behind_a_policer() {
    let found = only(&class("shape average 4000000\npolice cir 4000000 bc 8000"), "W427", "police cir 4000000 bc 8000");
    assert_eq!(found.instead, "shape average 4000000 alone, without `police`");
    none(&class("shape average 4000000\npolice cir 5000000 bc 80000"));
    none(&class(
        "shape average 4000000\npolice cir 4000000 conform-action transmit exceed-action set-dscp-transmit af32",
    ));
}

#[test]
fn shares_above_all_there_is() {
    let of = |lines: [&str; 3]| {
        let names = ["GOLD", "SILVER", "BRONZE"];
        policy(&names.iter().zip(lines).map(|(name, line)| format!(" class {name}\n  {line}\n")).collect::<String>())
    };
    let percent = of(["priority percent 30", "bandwidth percent 50", "bandwidth percent 30"]);
    let found = only(&percent, "W428", "bandwidth percent 30");
    assert!(found.message.contains("110 %") && found.instead == "bandwidth percent 20", "{found:?}");
    let rates = of(["priority 3000", "bandwidth 5000", "bandwidth 3000"]);
    assert!(only(&rates, "W428", "bandwidth 3000").message.contains("110 % of 10Mbit/s"));
    let remaining = of(["bandwidth remaining percent 60", "bandwidth remaining percent 60", "priority"]);
    assert!(only(&remaining, "W428", "bandwidth remaining percent 60").message.contains("120 %"));
    let fits = of(["priority percent 30", "bandwidth percent 50", "bandwidth percent 10"]);
    none(&fits);
    let classic = given(&fits, &ImportOptions { platform: Platform::Ios, ..ImportOptions::default() });
    assert!(classic[0].0.instead.ends_with("max-reserved-bandwidth 90 at the interface"), "{classic:?}");
    let reserves = |percent: &str| {
        let text = fits
            .replace(" service-policy output", &format!(" max-reserved-bandwidth {percent}\n service-policy output"));
        let found = given(&text, &ImportOptions { platform: Platform::Ios, ..ImportOptions::default() });
        found.into_iter().map(|it| it.0).find(|it| it.code == "W428")
    };
    assert_eq!(reserves("90"), None);
    let found = reserves("89").unwrap();
    assert!(
        found.message.contains("add up to 90 % of 10Mbit/s (30 + 50 + 10)")
            && found.message.contains("`max-reserved-bandwidth 89`"),
        "{found:?}"
    );
    // What is too much by less than a percent is not printed as what fits.
    let little = of(["priority percent 30", "bandwidth percent 50", "bandwidth 2003"]);
    let found =
        given(&little, &ImportOptions::default()).into_iter().map(|it| it.0).find(|it| it.code == "W428").unwrap();
    assert!(found.message.contains("add up to 100.1 % of 10Mbit/s (30 + 50 + 20)"), "{found:?}");
    let wide = given(&rates, &ImportOptions { link: Some(BitRate::mbps(20)), ..ImportOptions::default() });
    assert!(wide.is_empty(), "{wide:?}");
}

#[test]
fn units_that_a_policy_cannot_mix() {
    let of = |a: &str, b: &str| policy(&format!(" class GOLD\n  {a}\n class SILVER\n  {b}\n"));
    let found = only(&of("bandwidth percent 20", "bandwidth 3000"), "W429", "bandwidth 3000");
    assert_eq!(found.instead, "bandwidth percent 30");
    let found = only(&of("bandwidth 3000", "bandwidth percent 20"), "W429", "bandwidth percent 20");
    assert_eq!(found.instead, "bandwidth 2000");
    only(&of("bandwidth remaining ratio 2", "bandwidth percent 20"), "W429", "bandwidth percent 20");
    none(&of("priority 3000", "bandwidth percent 20"));
    none(&of("bandwidth percent 20", "bandwidth remaining percent 20"));
}

#[test]
fn a_class_map_that_nothing_matches() {
    let map = |kind: &str| {
        format!("class-map {kind}VOICE\n match dscp ef\n match dscp cs5\n{}", class("bandwidth percent 20"))
    };
    let found = only(&map(""), "W430", "match dscp cs5");
    assert_eq!(found.instead, "class-map match-any VOICE");
    none(&map("match-any "));
    none(&map("match-all ").replace("match dscp cs5", "match not dscp cs5"));
    none(&map("match-all ").replace("match dscp cs5", "match precedence 5"));
}

/// A packet of 1500 B counts 1514 B at layer 2; of voice no packet is that large.
#[test]
fn a_policer_that_lets_no_full_packet_pass() {
    let found = only(&class("police cir 2000000 bc 1513"), "W447", "1513");
    assert!(found.message.contains("holds 1513 B") && found.instead.contains("25000 B"), "{found:?}");
    none(&class("police cir 2000000 bc 25000"));
    none(&class("police cir 64000 bc 1600").replace("match dscp af31", "match dscp ef"));
    none(&class("police cir 64000 bc 1000").replace("match dscp af31", "match dscp ef"));
}
