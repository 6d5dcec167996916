//! Counters as evidence.

use super::{none, only};

/// An HTB of two classes; `counts` are the lines of the qdisc and of the classes.
fn tree(counts: [&str; 3]) -> String {
    let [root, one, other] = counts.map(|lines| lines.lines().map(|line| format!(" {line}\n")).collect::<String>());
    format!(
        "qdisc htb 1: root refcnt 2 r2q 100 default 0x20 direct_packets_stat 0 direct_qlen 1000\n{root}\
         qdisc sfq 10: parent 1:10 limit 127p quantum 1514b depth 127 divisor 1024\n\
         qdisc sfq 20: parent 1:20 limit 127p quantum 1514b depth 127 divisor 1024\n\
         class htb 1:10 root leaf 10: prio 0 rate 2Mbit ceil 10Mbit burst 1600b cburst 1600b\n{one}\
         class htb 1:20 root leaf 20: prio 0 rate 8Mbit ceil 10Mbit burst 1600b cburst 1600b\n{other}"
    )
}

fn sent(packets: u64, dropped: u64, overlimits: u64) -> String {
    format!("Sent {} bytes {packets} pkt (dropped {dropped}, overlimits {overlimits} requeues 0)", packets * 1000)
}

/// sqrt(1.5 / 0.06) is 5.
#[test]
fn drops_of_a_class_with_its_share() {
    let text = tree([&sent(100_920, 80, 0), &sent(940, 60, 0), &sent(99_980, 20, 0)]);
    let class = "class htb 1:10 root leaf 10: prio 0 rate 2Mbit ceil 10Mbit burst 1600b cburst 1600b";
    let found = only("tc", &text, "W440", class);
    assert_eq!(
        found.message,
        "class 1:10 lost 60 of 1000 packets (6.0 %), 75.0 % of all drops here: at that loss TCP keeps about 5 packets in flight"
    );
    none("tc", &tree([&sent(100_950, 29, 0), &sent(991, 9, 0), &sent(99_980, 20, 0)]));
    none("tc", &tree(["", &sent(50, 30, 0), ""]));
}

#[test]
fn waits_are_no_losses() {
    let text = tree([&sent(1000, 0, 4711), &sent(500, 0, 3), &sent(500, 0, 0)]);
    let found = only(
        "tc",
        &text,
        "W441",
        "qdisc htb 1: root refcnt 2 r2q 100 default 0x20 direct_packets_stat 0 direct_qlen 1000",
    );
    assert!(found.message.starts_with("overlimits 4711 of htb 1: are no losses"), "{}", found.message);
    none("tc", &tree([&sent(1000, 1, 4711), "", ""]));
    none("tc", &tree([&sent(1000, 0, 0), "", ""]));
}

/// 2 s are 31250000 ticks of 64 ns; at 2 Mbit/s 500 kB.
#[test]
fn a_debt_in_time_and_bytes() {
    let class = "class htb 1:10 root leaf 10: prio 0 rate 2Mbit ceil 10Mbit burst 1600b cburst 1600b";
    let found = only("tc", &tree(["", "tokens: -31250000 ctokens: 100", ""]), "W442", class);
    assert!(found.message.starts_with("class 1:10 owes 500000 B at its rate 2mbit, 2s"), "{}", found.message);
    let found = only("tc", &tree(["", "tokens: -31250000 ctokens: -31250000", ""]), "W442", class);
    assert!(found.message.starts_with("class 1:10 owes 2500000 B at its ceil 10mbit"), "{}", found.message);
    none("tc", &tree(["", "tokens: -1250 ctokens: -1250", ""]));
}

#[test]
fn a_class_without_packets() {
    let class = "class htb 1:10 root leaf 10: prio 0 rate 2Mbit ceil 10Mbit burst 1600b cburst 1600b";
    let found = only("tc", &tree(["", &sent(0, 0, 0), &sent(20_000, 0, 0)]), "W443", class);
    assert!(found.message.ends_with("beside have 20000"), "{}", found.message);
    none("tc", &tree(["", &sent(0, 0, 0), &sent(9_999, 0, 0)]));
    none("tc", &tree(["", &sent(1, 0, 0), &sent(20_000, 0, 0)]));
}

#[test]
fn packets_past_all_classes() {
    let text = |direct: u64| {
        tree([&sent(1000, 0, 0), "", ""]).replace("direct_packets_stat 0", &format!("direct_packets_stat {direct}"))
    };
    let found = only("tc", &text(25), "W444", text(25).lines().next().unwrap());
    assert!(found.message.starts_with("25 packets of 1000 (2.5 %)"), "{}", found.message);
    // As many as pass while a script adds the classes.
    none("tc", &text(9));
}

/// 250 kB at 10 Mbit/s: 200 ms, at 2 Mbit/s 1 s.
#[test]
fn a_standing_queue_in_time() {
    let class = "class htb 1:10 root leaf 10: prio 0 rate 2Mbit ceil 10Mbit burst 1600b cburst 1600b";
    let found = only("tc", &tree(["", "backlog 250000b 250p requeues 0", ""]), "W445", class);
    assert_eq!(found.message, "250000 B wait in class 1:10: 200ms at its ceil 10Mbit/s, 1s at its rate 2Mbit/s");
    none("tc", &tree(["backlog 250000b 250p requeues 0", "backlog 100000b 100p requeues 0", ""]));
}

fn shown(police: &str, queue: &str) -> String {
    format!(
        "GigabitEthernet0/0\n  Service-policy output: WAN\n    Class-map: GOLD (match-any)\n      20000 packets, 20000000 bytes\n      \
         Match: dscp af31 (26)\n{police}{queue}    Class-map: SILVER (match-any)\n      0 packets, 0 bytes\n      \
         Match: dscp af21 (18)\n    Class-map: class-default (match-any)\n      0 packets, 0 bytes\n      Match: any\n"
    )
}

const POLICE: &str = "      police:\n          cir 1000000 bps, bc 31250 bytes\n        conformed 900 packets, 900000 bytes; actions:\n          \
                      transmit\n        exceeded 100 packets, 100000 bytes; actions:\n          drop\n        \
                      conformed 0000 bps, exceeded 0000 bps\n";

/// The default class may be idle. 10 % of the packets: sqrt(15) are 4 in flight.
#[test]
fn what_ios_counts() {
    let found = only("ios", &shown("", ""), "W443", "0 packets, 0 bytes");
    assert!(found.message.starts_with("no packet has reached `SILVER`"), "{}", found.message);
    let used = |text: String| text.replacen("      0 packets, 0 bytes", "      1 packets, 100 bytes", 1);
    let found = only("ios", &used(shown(POLICE, "")), "W446", "conformed 900 packets, 900000 bytes; actions:");
    assert!(
        found.message.contains("dropped 100 of 1000 packets (10.0 %): at that loss TCP keeps about 4"),
        "{}",
        found.message
    );
    none("ios", &used(shown(&POLICE.replace("drop\n", "set-dscp-transmit af32\n"), "")));
    let queue = "      Queueing\n      queue limit 64 packets\n      (queue depth/total drops/no-buffer drops) 0/300/0\n      \
                 (pkts output/bytes output) 9700/9700000\n      bandwidth 5000 kbps\n";
    let found = only("ios", &used(shown("", queue)), "W440", "(queue depth/total drops/no-buffer drops) 0/300/0");
    assert!(found.message.starts_with("class GOLD lost 300 of 10000 packets (3.0 %)"), "{}", found.message);
}

/// What an ACK filter drops is no loss: 100 of 100100 packets are .1 %.
#[test]
fn the_ack_filter_of_cake_loses_nothing() {
    let text = |drops: u64, filtered: u64| {
        format!(
            "qdisc cake 8001: root refcnt 2 bandwidth 1Mbit besteffort dual-srchost nonat nowash ack-filter split-gso rtt 100ms noatm overhead 38
 Sent 40000000 bytes 100000 pkt (dropped {}, overlimits 0 requeues 0)
 backlog 0b 0p requeues 0

                  Tin 0
  thresh          1Mbit
  pkts           110000
  bytes        40500000
  drops      {drops:>10}
  marks               0
  ack_drop   {filtered:>10}
",
            drops + filtered
        )
    };
    none("tc", &text(100, 9900));
    let codes = |text: &str| super::given("tc", text, &perhop_config::import_options::ImportOptions::default());
    assert!(
        codes(&text(9900, 100)).iter().any(|it| it.0.code == "W440" && it.0.message.contains("lost 9900 of 109900"))
    );
}

/// An Ethernet carries no packet of 12.8 kB.
#[test]
fn packets_that_the_host_put_together() {
    let text = |bytes: u64, giants: u64| {
        tree([
            "",
            &format!(
                "Sent {bytes} bytes 1000 pkt (dropped 0, overlimits 0 requeues 0)\nlended: 1 borrowed: 0 giants: {giants}"
            ),
            "",
        ])
    };
    let class = "class htb 1:10 root leaf 10: prio 0 rate 2Mbit ceil 10Mbit burst 1600b cburst 1600b";
    let found = only("tc", &text(12_800_000, 0), "W453", class);
    assert!(found.message.starts_with("12800000 B in 1000 packets, 12.8 kB each"), "{}", found.message);
    let found = only("tc", &text(1_000_000, 7), "W453", class);
    assert!(found.message.starts_with("giants 7:"), "{}", found.message);
    none("tc", &text(9_000_000, 0));
}
