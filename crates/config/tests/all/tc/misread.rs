//! Texts that were misread once, with what a kernel did with 20 packets of each: Linux 6.1 and 6.18.

use super::{class, codes, port, queue, read, value};
use perhop_config::model::{Class, Conditioner, Filter};

fn shown(filters: &[Filter]) -> Vec<String> {
    let shown = |filter: &Filter| perhop_core::params::show_table(&filter.matches.is).to_string().replace('"', "");
    filters.iter().map(shown).collect()
}

/// What a class takes, as a scenario has it.
fn takes(class: &Class) -> Vec<String> {
    shown(&class.takes)
}

const TREE: &str = "tc qdisc add dev eth0 root handle 1: htb default 20
tc class add dev eth0 parent 1: classid 1:1 htb rate 90mbit ceil 90mbit
tc class add dev eth0 parent 1:1 classid 1:10 htb rate 25mbit ceil 90mbit
tc class add dev eth0 parent 1:1 classid 1:20 htb rate 65mbit ceil 90mbit
tc class add dev eth0 parent 1:10 classid 1:11 htb rate 2mbit
tc class add dev eth0 parent 1:10 classid 1:12 htb rate 23mbit
";

/// No filter leads to 1:10: port 5000 is in the default class, 20 of 20.
#[test]
fn filters_of_an_inner_class_are_asked_behind_those_of_the_root() {
    let inner = "tc filter add dev eth0 protocol ip parent 1:10 prio 1 u32 match ip dport 5000 0xffff flowid 1:11\n";
    let text = format!("{TREE}{inner}");
    let tree = queue(&text);
    assert!(class(&tree, "1:11").is_unnamed() && class(&tree, "1:20").rest, "{tree:#?}");
    assert_eq!(codes(&read(&text)), ["W404"]);

    // Port 5000 to 10.9.0.0/24 is in 1:11, what else goes there and all other addresses in the default class.
    let root = "tc filter add dev eth0 protocol ip parent 1: prio 1 u32 match ip dst 10.9.0.0/24 flowid 1:10\n";
    let text = format!("{TREE}{root}{inner}");
    let port = port(&text);
    let names = |name: &str| {
        let of = &class(port.queue.as_ref().unwrap(), name).takes;
        of.iter().flat_map(|it| it.matches.is.conditioner.clone()).collect::<Vec<_>>()
    };
    let [first, second] = &port.conditioners[..] else { panic!("{:#?}", port.conditioners) };
    assert_eq!(names("1:11"), [first.name.is.as_str()]);
    assert_eq!(names("1:20"), [second.name.is.as_str()]);
    let asks = |it: &Conditioner| shown(&it.takes);
    assert_eq!(asks(first), ["{ destination = [10.9.0.0/24], destination-port = [5000] }"]);
    assert_eq!(asks(second), ["{ destination = [10.9.0.0/24] }"]);
    assert_eq!(codes(&read(&text)), [""; 0]);
}

/// A filter to a class that is not there ends the search: 20 of 20 in the default class, not in that of the next filter.
#[test]
fn a_filter_to_no_class_leads_to_the_default() {
    let filters = "tc filter add dev eth0 protocol ip parent 1: prio 1 u32 match ip dport 7000 0xffff flowid 1:99
tc filter add dev eth0 protocol ip parent 1: prio 2 u32 match ip dst 10.0.0.0/8 flowid 1:12\n";
    let text = format!("{TREE}{filters}");
    let tree = queue(&text);
    assert_eq!(takes(class(&tree, "1:20")), ["{ destination-port = [7000] }"]);
    assert!(class(&tree, "1:20").takes[0].order < class(&tree, "1:12").takes[0].order);
    assert_eq!(codes(&read(&text)), ["W401"]);
}

/// 20 of 20 in band 3; where there is no such band, in that of priority 0, which is the second.
#[test]
fn prio_looks_at_the_minor_number_alone() {
    let to = |class: &str| {
        format!(
            "tc qdisc add dev eth0 root handle 1: prio
tc filter add dev eth0 parent 1:0 protocol ip prio 1 u32 match ip dport 7000 0xffff flowid {class}\n"
        )
    };
    for (named, found) in [("20:3", "1:3"), ("1:9", "1:2")] {
        let tree = queue(&to(named));
        assert_eq!(takes(class(&tree, found))[0], "{ destination-port = [7000] }", "{named}");
    }
    assert_eq!([codes(&read(&to("20:3"))), codes(&read(&to("1:9")))], [vec![], vec!["W401"]]);
}

/// tc reads handles by strtoul, sizes by strtod.
#[test]
fn numbers_may_be_hexadecimal_with_0x() {
    let tree = queue(
        "qdisc add dev eth0 root handle 0x1: htb default 0x3
class add dev eth0 parent 0x1: classid 0x1:0x1 htb rate 10mbit ceil 10mbit
class add dev eth0 parent 0x1:0x1 classid 0x1:0x2 htb rate 4mbit ceil 10mbit burst 0x2000
class add dev eth0 parent 0x1:0x1 classid 0x1:0x3 htb rate 6mbit ceil 10mbit\n",
    );
    assert_eq!((class(&tree, "1:2").parent, class(&tree, "1:3").rest), (Some(0), true));
    assert_eq!(value(&class(&tree, "1:2").settings, "burst"), "8192B");
}

/// 10 packets of 100 B of IP are 1000 B on tun0, 1140 on eth0.
#[test]
fn interfaces_without_ethernet_count_the_ip_packet() {
    let counts = |name: &str, more: &str| {
        let text = format!(
            "tc qdisc add dev {name} root handle 1: {more} htb default 10
tc class add dev {name} parent 1: classid 1:10 htb rate 1mbit ceil 2mbit\n"
        );
        port(&text).accounting.unwrap().is
    };
    for name in ["tun0", "ppp0", "pppoe-wan", "wg0", "wg-office", "gre1", "sit0", "ipip0"] {
        assert_eq!(counts(name, ""), "l3", "{name}");
    }
    for name in ["eth0", "tap0", "gretap1", "wlan0", "tunnels0"] {
        assert_eq!(counts(name, ""), "l2", "{name}");
    }
    // What the text says of an interface goes before its name.
    let layer = |name: &str, link: &str| {
        let tree = format!("tc qdisc add dev {name} root tbf rate 1mbit burst 10k latency 50ms\n");
        port(&format!("{link}\n{tree}")).accounting.unwrap().is
    };
    let ip_link = |name: &str, kind: &str| {
        format!(
            "7: {name}@NONE: <POINTOPOINT,NOARP,UP> mtu 1420 qdisc tbf state UNKNOWN\n    link/{kind} promiscuity 0\n    wireguard"
        )
    };
    for kind in ["none", "ppp", "ipip 10.0.0.1 peer 10.0.0.2", "gre 0.0.0.0"] {
        assert_eq!(layer("office", &ip_link("office", kind)), "l3", "{kind}");
    }
    assert_eq!(
        [layer("tun0", &ip_link("tun0", "ether 02:00:00:00:00:01")), layer("office", &ip_link("wg0", "none"))],
        ["l2"; 2]
    );
    assert_eq!(layer("office", "ip link add dev office type wireguard"), "l3");
    assert_eq!(layer("office", "KIND=ipip\nsudo ip tunnel add office mode $KIND remote 10.0.0.2"), "l3");
    assert_eq!(layer("tun0", "ip tuntap add dev tun0 mode tap"), "l2");
    // A size table counts from the header that the interface has.
    assert_eq!([counts("ppp0", "stab overhead 38"), counts("eth0", "stab overhead 24")], ["l1"; 2]);
}

/// A packet waits in one tree only, and each shapes by itself.
#[test]
fn trees_below_mq_are_ports_of_their_own() {
    let tree = |queue: u32| {
        format!(
            "tc qdisc add dev eth0 parent 7fff:{queue} handle {queue}: htb default 2\n\
             tc class add dev eth0 parent {queue}: classid {queue}:1 htb rate {queue}0mbit\n\
             tc class add dev eth0 parent {queue}:1 classid {queue}:2 htb rate {queue}mbit ceil {queue}0mbit\n"
        )
    };
    let read = read(&format!("tc qdisc add dev eth0 root handle 7fff: mq\n{}{}", tree(1), tree(2)));
    let names: Vec<_> = read.device.ports.iter().map(|port| port.interface.is.as_str()).collect();
    assert_eq!(names, ["eth0 1:", "eth0 2:"]);
    let rates = read.device.ports.iter().map(|port| {
        value(&class(port.queue.as_ref().unwrap(), &port.interface.is[5..].replace(':', ":1")).settings, "rate")
    });
    assert_eq!(rates.collect::<Vec<_>>(), ["10Mbit/s", "20Mbit/s"]);
}

#[test]
fn what_is_not_modelled_is_named_with_what_it_does() {
    for name in ["qfq", "mqprio", "taprio", "cbs", "etf"] {
        let read = read(&format!("tc qdisc add dev eth0 root handle 1: {name}\n"));
        assert_eq!(codes(&read), ["W450"], "{name}");
        assert!(read.findings[0].message.starts_with(&format!("`{name}` is not modelled: it")) || name == "qfq");
    }
}

/// 200 packets, of which those with mark 1 went on to the next filter, and none to 1:1.
#[test]
fn a_mark_is_a_class_only_where_no_filter_names_marks() {
    let tree = "tc qdisc add dev eth0 root handle 1: prio
tc filter add dev eth0 parent 1: protocol all prio 1 u32 match ip dst 10.0.0.0/8 classid 1:9 action skbedit mark 1 continue\n";
    let [with, without] = ["handle 2 fw classid 1:3", "fw"]
        .map(|filter| format!("tc filter add dev eth0 parent 1: protocol all prio 2 {filter}\n"));
    let to_first = |text: &str| shown_of(class(&queue(text), "1:1"));
    assert_ne!(to_first(&format!("{tree}{without}")), to_first(tree));
    for text in [format!("{tree}{with}{without}"), format!("{tree}{without}{with}")] {
        assert_eq!(to_first(&text), to_first(&format!("{tree}{with}")), "{text}");
    }
    assert_eq!(codes(&read(&format!("{tree}{with}{without}"))), ["W400"]);
}

/// What a class takes, with the conditioners by which it does.
fn shown_of(class: &Class) -> String {
    format!("{:?} {}", takes(class), class.rest)
}
