//! Filters that lists of classes cannot say: where packets end, each case as a Linux 6.12 kernel has it (`make lab-configurations`).

use super::{port, read};
use perhop_config::model::{Act, Conditioner, Fate, Port};
use perhop_config::policy::policy;
use perhop_core::colour::Colour;

fn tree(filters: &str) -> String {
    format!(
        "tc qdisc add dev eth0 root handle 1: htb default 30\n\
         tc class add dev eth0 parent 1: classid 1:10 htb rate 4mbit\n\
         tc class add dev eth0 parent 1: classid 1:20 htb rate 3mbit\n\
         tc class add dev eth0 parent 1: classid 1:30 htb rate 2mbit\n{filters}"
    )
}

fn acts(it: &Conditioner, colour: Colour) -> &[Act] {
    it.actions.iter().find(|it| it.0 == colour).map_or(&[], |it| &it.1.is)
}

fn asks(port: &Port, class: &str) -> Vec<String> {
    let queue = port.queue.as_ref().expect("a tree");
    let class = queue.classes.iter().find(|it| it.name.is == class).expect("the class");
    class.takes.iter().flat_map(|it| it.matches.is.conditioner.clone()).collect()
}

/// What exceeds goes on to the next filter, and what conforms does not: one class asks for one colour, the other for the other.
#[test]
fn what_exceeds_a_policer_goes_on_to_the_next_filter() {
    let port = port(&tree(
        "tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dport 80 0xffff action police rate 1mbit burst 10k \
         conform-exceed continue/ok flowid 1:10\n\
         tc filter add dev eth0 parent 1: protocol ip prio 2 matchall flowid 1:20\n",
    ));
    let [police, ..] = &port.conditioners[..] else { panic!("a policer") };
    assert_eq!([Colour::Green, Colour::Red].map(|it| acts(police, it).to_vec()), [[Act::Next], [Act::Next]]);
    let of = |class: &str| {
        let names = asks(&port, class);
        let by = port.conditioners.iter().filter(|it| names.contains(&it.name.is));
        by.flat_map(|it| &it.takes).flat_map(|it| it.matches.is.conditioner.clone()).collect::<Vec<_>>()
    };
    assert_eq!(of("1:10"), [format!("{} green", police.name.is)]);
    assert_eq!(of("1:20")[0], format!("{} red", police.name.is));
}

/// A bucket of 40 B holds no packet: `conform` never comes.
#[test]
fn a_bucket_that_holds_no_packet_is_no_policer() {
    let port = port(&tree(
        "tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dport 80 0xffff action police rate 1mbit burst 40b \
         conform-exceed continue flowid 1:10\n\
         tc filter add dev eth0 parent 1: protocol ip prio 2 matchall flowid 1:20\n",
    ));
    assert!(port.conditioners.iter().all(|it| it.kind == "marker"));
    assert!(asks(&port, "1:10").is_empty());
}

#[test]
fn a_later_mark_counts_and_not_an_earlier_one() {
    let text = "tc qdisc add dev eth0 clsact\n\
                tc filter add dev eth0 egress protocol ip prio 1 matchall action skbedit mark 1 continue\n\
                tc filter add dev eth0 egress protocol ip prio 2 u32 match ip dport 80 0xffff action skbedit mark 2 continue\n";
    let by_mark = "tc filter add dev eth0 parent 1: protocol ip prio 1 handle 1 fw flowid 1:10\n\
                   tc filter add dev eth0 parent 1: protocol ip prio 2 handle 2 fw flowid 1:20\n";
    let port = port(&format!("{text}{}", tree(by_mark)));
    let ports = |class: &str| {
        let names = asks(&port, class);
        let by = port.conditioners.iter().filter(|it| names.contains(&it.name.is));
        by.flat_map(|it| &it.takes).flat_map(|it| it.matches.is.destination_port.clone()).collect::<Vec<_>>()
    };
    assert_eq!((ports("1:10"), ports("1:20")), (vec![], vec![80]));
    let first = port.conditioners.first().map(|it| it.name.is.clone());
    assert_eq!(asks(&port, "1:20"), first.into_iter().collect::<Vec<_>>(), "the narrower set is taken first");
}

/// Linux gives forwarded IPv6 no priority: it is in the band of priority 0, whatever its code point.
#[test]
fn a_policy_tells_ipv6_from_ipv4_where_a_prediction_need_not() {
    let port = port("tc qdisc add dev eth0 root handle 1: prio\n");
    assert!(port.conditioners.is_empty(), "the load of a prediction is of IPv4");
    let text = policy(&port).text;
    assert!(text.contains("source = \"0.0.0.0/0\""), "{text}");
    assert_eq!(port.others.iter().find(|it| it.0 == "IPv6"), Some(&("IPv6", Fate::Class("1:2".into()))));
}

#[test]
fn packets_that_are_not_ip_end_where_the_kernel_has_them() {
    let fates = |text: &str| port(text).others;
    let direct = tree("").replace(" default 30", "");
    assert_eq!(fates(&direct), ["IPv6", "ARP", "802.1Q"].map(|it| (it, Fate::Direct)));
    let arp = tree("tc filter add dev eth0 parent 1: protocol arp prio 1 matchall flowid 1:20\n");
    let expected = [("IPv6", "1:30"), ("ARP", "1:20"), ("802.1Q", "1:30")].map(|it| (it.0, Fate::Class(it.1.into())));
    assert_eq!(fates(&arp), expected);
    let drr = "tc qdisc add dev eth0 root handle 1: drr\ntc class add dev eth0 parent 1: classid 1:1 drr\n\
               tc filter add dev eth0 parent 1: protocol ip prio 1 matchall flowid 1:1\n";
    assert_eq!(fates(drr), ["IPv6", "ARP", "802.1Q"].map(|it| (it, Fate::Dropped)));
    let bytes = tree("tc filter add dev eth0 parent 1: protocol all prio 1 u32 match ip protocol 1 0xff flowid 1:20\n");
    assert_eq!(fates(&bytes), [], "what their bytes are is not known");
}

/// Filters with as many classes as a city has subscribers: more than 64 conditioners of one port are named.
#[test]
fn more_than_64_filters_may_be_asked_in_another_order_than_their_classes() {
    let mut text = "tc qdisc add dev eth0 root handle 1: htb default 1\n".to_owned();
    (1..=80).for_each(|i| text += &format!("tc class add dev eth0 parent 1: classid 1:{i:x} htb rate 1mbit\n"));
    for i in 1..=80 {
        let (first, second) = (200 - i, 81 - i);
        let from = format!("match ip src 10.0.{i}.0/24 match ip dport {} 0xffff", 1000 + i);
        text += &format!("tc filter add dev eth0 parent 1: protocol ip prio {first} u32 {from} flowid 1:{i:x}\n");
        let to = format!("match ip dst 10.1.0.0/16 match ip sport {} 0xffff", 1000 + i);
        text += &format!("tc filter add dev eth0 parent 1: protocol ip prio {i} u32 {to} flowid 1:{second:x}\n");
    }
    let written = policy(&port(&text));
    let found = perhop_scenario::Policy::parse(&written.text, &perhop_scenario::Options::new("policy.toml"));
    assert!(found.is_ok(), "{}", found.err().map(|it| it.to_string()).unwrap_or_default());
    assert_eq!(read(&text).account.count(&perhop_config::account::Verdict::Taken), 241);
}
