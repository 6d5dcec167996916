//! What tc and the kernel refuse, and what they do in silence. Each was tried with iproute2 6.1 and Linux 6.12.

use super::{class, codes, queue, read, verdicts};
use perhop_config::account::Verdict;
use perhop_config::model::Act;

const HTB: &str =
    "tc qdisc add dev eth0 root handle 1: htb default 1\ntc class add dev eth0 parent 1: classid 1:1 htb rate 1mbit\n";

/// The last line of each has no effect.
const REFUSED: [&str; 32] = [
    "tc qdisc add dev eth0 root tbf rate 8mbit burst 10k limit 50k peakrate 9mbit",
    "tc qdisc add dev eth0 root tbf rate 8mbit burst 10k limit 50k peakrate 8mbit mtu 1540",
    "tc qdisc add dev eth0 root red limit 400k min 90k max 80k avpkt 1000 burst 100",
    "tc qdisc add dev eth0 root red limit 400k min 30k max 90k avpkt 1000 burst 20",
    "tc qdisc add dev eth0 root choke limit 100 bandwidth 10mbit burst 60 max 300",
    "tc qdisc add dev eth0 root choke limit 400 min 90 max 90 burst 100 bandwidth 10mbit",
    "tc qdisc add dev eth0 root tbf rate 8mb burst 10k latency 30ms",
    "tc qdisc add dev eth0 root tbf rate 8mbit latency 30ms",
    "tc qdisc add dev eth0 root fq limit 10p",
    "tc qdisc add dev eth0 root fq initial_quantum 0x80000000",
    "tc qdisc add dev eth0 root fq_codel targt 5ms",
    "tc qdisc add dev eth0 root prio bands 2",
    "tc qdisc add dev eth0 root ets bands 2 strict 1 quanta 100 200",
    "tc qdisc add dev eth0 root red limit 100k",
    "tc qdisc add root fq_codel",
    "tc qdisc add dev eth0 parent 1:1 fq_codel",
    "HTB tc qdisc add dev eth0 root handle 2: prio",
    "HTB tc qdisc change dev eth0 root handle 1: htb default 7",
    "HTB tc class add dev eth0 parent 1: classid 1:1 htb rate 2mbit",
    "HTB tc class add dev eth0 parent 1: classid 2:3 htb rate 2mbit",
    "HTB tc class add dev eth0 parent 1: classid 1:2 drr",
    "HTB tc class add dev eth0 parent 1: classid 1:2 htb ceil 2mbit",
    "HTB tc class change dev eth0 parent 1: classid 1:9 htb rate 2mbit",
    "HTB tc qdisc add dev eth0 parent 1:77 pfifo",
    "HTB tc qdisc add dev eth0 parent 1:1 handle 1: pfifo",
    "HTB tc filter add dev eth0 parent 1:77 protocol ip matchall flowid 1:1",
    "HTB tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip xyz 5 0xff flowid 1:1",
    "tc filter add dev eth0 ingress matchall action drop",
    "tc qdisc add dev eth0 root handle 1: hfsc\ntc class add dev eth0 parent 1: classid 1:2 hfsc ul rate 1mbit",
    "tc qdisc add dev eth0 clsact\ntc filter add dev eth0 ingress matchall action police burst 10k",
    "tc actions add action police rate 3tb burst 250k conform-exceed pass/pipe index 5",
    "tc qdisc add dev $DEV root tbf rate $RATE burst 10k latency 30ms",
];

#[test]
fn what_is_refused_has_no_effect() {
    for text in REFUSED {
        let text = text.replacen("HTB ", HTB, 1);
        let read = read(&text);
        let last = verdicts(&read).into_iter().next_back();
        assert_eq!(last, Some((text.lines().count(), Verdict::NotModelled)), "{text}\n{:?}", read.account);
        let codes: Vec<_> = codes(&read).into_iter().filter(|code| *code != "W406").collect();
        assert_eq!(codes, ["W400"], "{text}\n{:?}", read.findings);
    }
}

/// `mb` is no rate to tc.
#[test]
fn a_wrong_unit_is_answered_with_the_right_ones() {
    let read = read("tc qdisc add dev eth0 root tbf rate 8mb burst 10k latency 30ms");
    assert_eq!(read.findings[0].instead, "8mbit for Mbit/s, or 8mbps for MB/s");
}

#[test]
fn a_script_that_clears_first_is_sound() {
    let read = read("tc qdisc del dev eth0 root 2>/dev/null\ntc qdisc add dev eth0 root fq_codel\n");
    assert!(read.findings.is_empty(), "{:?}", read.findings);
    assert_eq!(read.account.lines[&1].verdict, Verdict::Taken);
    assert!(read.account.lines[&1].notes[0].starts_with("no effect"), "{:?}", read.account);
}

#[test]
fn a_qdisc_goes_with_all_below_it() {
    let text = format!(
        "{HTB}tc qdisc add dev eth0 parent 1:1 handle 10: prio\ntc qdisc add dev eth0 parent 10:1 sfq\ntc qdisc del dev eth0 root\ntc qdisc add dev eth0 root handle 10: pfifo limit 5\n"
    );
    assert_eq!(queue(&text).kind, None);
    assert!(read(&text).findings.is_empty());
}

/// HTB keeps nothing of what a change leaves out, FQ-CoDel all.
#[test]
fn a_change_keeps_what_the_kernel_keeps() {
    let found = queue(&format!(
        "{HTB}tc class add dev eth0 parent 1: classid 1:2 htb rate 3mbit prio 4\ntc class change dev eth0 parent 1: classid 1:2 htb rate 5mbit\n"
    ));
    let it = class(&found, "1:2");
    assert_eq!([super::value(&it.settings, "rate"), super::value(&it.settings, "prio")], ["5Mbit/s", "0"]);
    let found = queue(
        "tc qdisc add dev eth0 root handle 1: fq_codel limit 600\ntc qdisc change dev eth0 root handle 1: fq_codel target 7ms\n",
    );
    assert_eq!([super::value(&found.settings, "limit"), super::value(&found.settings, "target")], ["600p", "7ms"]);
}

#[test]
fn filters_are_asked_by_their_prio() {
    let found = queue(
        "tc qdisc add dev eth0 root handle 1: prio priomap 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2\n\
         tc filter add dev eth0 parent 1: protocol ip prio 20 u32 match ip sport 1 0xffff flowid 1:1\n\
         tc filter add dev eth0 parent 1: protocol ip prio 10 u32 match ip sport 2 0xffff flowid 1:2\n",
    );
    assert!(class(&found, "1:2").takes[0].order < class(&found, "1:1").takes[0].order);
}

#[test]
fn a_filter_that_is_never_asked_is_found() {
    let text = "tc qdisc add dev eth0 clsact\n\
         tc filter add dev eth0 ingress protocol ip prio 1 u32 match ip src 192.0.2.0/24 flowid :1\n\
         tc filter add dev eth0 ingress protocol ip prio 2 u32 match ip src 192.0.2.7/32 action police rate 1mbit burst 10k drop\n";
    assert_eq!(codes(&read(text)), ["W404"]);
    assert!(codes(&read(&text.replace("prio 1", "prio 3"))).is_empty());
}

#[test]
fn what_happens_in_silence_is_found() {
    let astray =
        format!("{HTB}tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip sport 2 0xffff flowid 1:9\n");
    assert_eq!(codes(&read(&astray)), ["W401"]);
    assert_eq!(codes(&read(&HTB.replace("default 1", "default 30"))), ["W402"]);
    let orphan = format!("{HTB}tc class add dev eth0 parent 1:7 classid 1:2 htb rate 1mbit\n");
    assert_eq!(codes(&read(&orphan)), ["W405"]);
    assert_eq!(class(&queue(&orphan), "1:2").parent, None);
    assert_eq!(codes(&read("tc qdisc add dev eth0 root handle 1: htb default 1\n")), ["W406"]);
    let dropping = read("tc qdisc add dev eth0 root handle 1: drr\n");
    assert_eq!((codes(&dropping), verdicts(&dropping)), (vec!["W406"], vec![(1, Verdict::Taken)]));
}

/// `tc qdisc show` prints no classes, nor do texts that were cut.
#[test]
fn what_is_missing_above_is_said() {
    let root = "qdisc htb 1: dev eth0 root refcnt 2 r2q 10 default 0x30 direct_packets_stat 0\n";
    let leaf = "qdisc pfifo 30: dev eth0 parent 1:30 limit 100p\n";
    let class = |parent: &str| {
        format!("class htb 1:30 parent {parent} leaf 30: prio 0 rate 1Mbit ceil 1Mbit burst 1600b cburst 1600b\n")
    };
    let of = |text: String| {
        let found = read(&text);
        (codes(&found), verdicts(&found).iter().map(|it| it.1.name()).collect::<Vec<_>>())
    };
    let [taken, nearly, lost] = ["taken", "approximated", "not modelled"];
    assert_eq!(of(format!("{root}{leaf}")), (vec!["W406"], vec![lost, lost]));
    assert_eq!(of(format!("{root}{leaf}{}", class("1:1"))), (vec![], vec![taken, taken, nearly]));
    let filter = "filter dev eth0 parent 1: protocol ip pref 1 fw chain 0 handle 0x1 classid 1:30\n";
    assert_eq!(of(format!("{leaf}{filter}")), (vec![], vec![lost, lost]));
}

/// Prints of one interface do not name it; those of all do.
#[test]
fn prints_without_a_name_are_of_the_interface_with_the_handle() {
    let text = "qdisc htb 1: dev eth0 root refcnt 2 r2q 10 default 0x30\nqdisc fq_codel 2: dev eth1 root refcnt 2 limit 100p\n\
                class htb 1:30 root prio 0 rate 1Mbit ceil 1Mbit burst 9000b cburst 9000b\n\
                class htb 1:31 root prio 0 rate 2Mbit ceil 2Mbit burst 9000b cburst 9000b\n";
    let ports = read(text).device.ports;
    let many = |at: usize| (ports[at].interface.is.as_str(), ports[at].queue.as_ref().unwrap().classes.len());
    assert_eq!((ports.len(), many(0), many(1)), (2, ("eth0", 2), ("eth1", 0)));
}

/// What perhop has not is not there after a change either.
#[test]
fn a_change_of_what_perhop_has_not_is_not_modelled() {
    let text = "tc qdisc add dev eth0 root handle 1: gred setup DPs 2 default 0\n\
         tc qdisc change dev eth0 handle 1: gred limit 60k min 15k max 45k avpkt 1000 burst 20 DP 0 prio 2\n";
    assert_eq!(verdicts(&read(text)), [(1, Verdict::NotModelled), (2, Verdict::NotModelled)]);
}

/// HFSC and DRR without classes drop all packets.
#[test]
fn a_scheduler_that_has_no_classes_drops_before_the_queue() {
    for kind in ["hfsc", "hfsc default 1", "drr"] {
        let text = format!("tc qdisc add dev eth0 root handle 1: {kind}\n");
        let port = super::port(&text);
        let [all] = &port.conditioners[..] else { panic!("{port:#?}") };
        assert!(all.takes.is_empty() && port.queue.is_none(), "{port:#?}");
        assert_eq!(all.actions[0].1.is, [Act::Drop]);
        assert_eq!((verdicts(&read(&text)), codes(&read(&text))), (vec![(1, Verdict::Taken)], vec!["W406"]));
    }
}

/// A class without anything above it is answered with what would be.
#[test]
fn a_class_of_no_scheduler_is_answered_with_one() {
    let read = read("tc class add dev eth0 parent 2: classid 2:1 drr quantum 1514");
    assert_eq!(read.findings[0].instead, "tc qdisc add dev .. root handle 2: drr, before it");
}
