//! What the words of queueing disciplines, classes, filters and policers say.

use super::{class, port, queue, read, value, verdicts};
use perhop_config::account::Verdict;
use perhop_config::model::{Act, Kind, Way};
use perhop_config::value::Origin;
use perhop_core::classify::{Match, Protocol};
use perhop_core::colour::Colour;
use perhop_core::dscp::Dscp;
use perhop_core::packet::Ecn;

/// Commands at the root, and what their keys are; those of the manuals tc-*(8), and defaults as a kernel shows them.
const QUEUES: [(&str, &str); 29] = [
    ("pfifo", "limit=1000p"),
    ("pfifo limit 30", "limit=30p"),
    ("bfifo limit 10k", "limit=10240B"),
    ("pfifo_head_drop limit 5", "limit=5p drop=head"),
    (
        "fq_codel",
        "limit=10240p flows=1024 quantum=1514B target=5ms interval=100ms memory=33554432B ecn=true arithmetic=linux",
    ),
    ("fq_codel noecn target 8000 quantum 300", "ecn=false target=8ms quantum=300B"),
    ("fq maxrate 100mbit orphan_mask 255", "maxrate=100Mbit/s pacing=true flows=256 quantum=3028B"),
    ("fq maxrate 100mbit nopacing", "maxrate= pacing=false"),
    ("fq_pie alpha 4 beta 24 ecn_prob 20", "alpha=0.25 beta=1.5 ecn-below=0.2 interval=15ms"),
    ("sfq", "limit=127p depth=127p active=128 flows=1024 quantum=1514B"),
    ("sfq limit 3000 depth 10 flows 20", "limit=200p depth=10p active=20"),
    ("cake bandwidth 10mbit", "rate=10Mbit/s tins=diffserv3 isolation=triple-isolate rtt=100ms overhead="),
    ("cake bandwidth 20mbit diffserv4 dual-srchost metro", "tins=diffserv4 isolation=dual-srchost rtt=10ms"),
    ("cake overhead 18 mpu 64", "overhead=4B mpu=64B"),
    ("cake conservative", "overhead=34B link-layer=atm"),
    ("cake ethernet ether-vlan", "overhead=28B mpu=84B"),
    ("cake overhead 4 ethernet", "overhead=28B mpu=84B link-layer="),
    ("cake mpu 64 atm", "overhead= mpu=64B link-layer=atm"),
    ("cake ethernet raw mpu 64", "overhead= mpu=64B"),
    ("cake overhead -64", "overhead=-34B"),
    ("cake ack-filter-aggressive no-split-gso memlimit 8mb", "ack-filter=aggressive split-gso=false memory=8388608B"),
    ("codel ecn ce_threshold 2ms", "limit=1000p ecn=true ce-threshold=2ms target=5ms"),
    ("pie", "limit=1000p target=15ms interval=15ms alpha=0.125 beta=1.25 ecn=false delay=timestamps"),
    (
        "red limit 400000 min 30000 max 90000 avpkt 1000 burst 55 probability 0.1",
        "weight=5 max-p=0.1 mean-packet=1000B",
    ),
    ("red limit 120000 avpkt 1000", "max=30000B min=10000B max-p=0.02"),
    ("choke limit 1000 bandwidth 10mbit", "min=83p max=250p weight=6 mean-packet=1000B"),
    ("dualpi2 step_thresh 2ms", "l4s-min=2ms l4s-max=2ms target=15ms update=16ms"),
    ("htb", "limit=1000p"),
    ("htb direct_qlen 30", "limit=30p"),
];

#[test]
fn words_are_keys() {
    for (words, keys) in QUEUES {
        let found = queue(&format!("tc qdisc add dev eth0 root handle 1: {words}\n"));
        for key in keys.split(' ') {
            let (key, wanted) = key.split_once('=').unwrap();
            assert_eq!(value(&found.settings, key), wanted, "{words}: {key}");
        }
    }
}

/// A value knows its place; a default knows who assumes it.
#[test]
fn values_know_where_they_are_said() {
    let text = "tc qdisc add dev eth0 root fq_codel limit 600\n";
    let found = queue(text);
    let Origin::Text(place) = found.settings.get("limit").unwrap().origin else { panic!("{found:?}") };
    assert_eq!(&text[place.start..place.end], "limit 600");
    assert_eq!(found.settings.get("target").unwrap().origin, Origin::Assumed("sch_fq_codel.c"));
}

#[test]
fn a_tbf_is_a_shaper() {
    let found =
        queue("tc qdisc add dev eth0 root handle 1: tbf rate 8mbit burst 10k latency 50ms peakrate 9mbit mtu 1540\n");
    // tc-tbf(8): limit = rate x latency + burst, and with a peak rate x latency + mtu if that is less.
    assert_eq!(
        ["rate", "burst", "peak", "peak-burst"].map(|key| value(&found.shape, key)),
        ["8Mbit/s", "10240B", "9Mbit/s", "1540B"]
    );
    assert_eq!((found.kind, value(&found.settings, "limit")), (None, "57790B".to_owned()));
    let nested = queue(
        "tc qdisc add dev eth0 root handle 1: tbf rate 8mbit burst 10k latency 50ms\n\
         tc qdisc add dev eth0 parent 1: handle 2: codel\n",
    );
    assert_eq!((nested.kind, value(&nested.shape, "rate")), (Some(Kind::Aqm("codel")), "8Mbit/s".to_owned()));
}

#[test]
fn classes_of_htb_are_a_tree() {
    let found = queue(
        "tc qdisc add dev eth0 root handle 1: htb default 20 r2q 4\n\
         tc class add dev eth0 parent 1: classid 1:1 htb rate 10mbit burst 15k\n\
         tc class add dev eth0 parent 1:1 classid 1:20 htb rate 4mbit ceil 10mbit prio 2 quantum 3000\n\
         tc class add dev eth0 parent 1:1 classid 1:10 htb rate 6mbit overhead 18 prio 20\n",
    );
    assert_eq!(found.classes.iter().map(|it| it.name.is.as_str()).collect::<Vec<_>>(), ["1:1", "1:10", "1:20"]);
    let leaf = class(&found, "1:20");
    assert_eq!((leaf.parent, leaf.rest), (Some(0), true));
    assert_eq!(
        ["rate", "ceil", "prio", "quantum", "burst"].map(|key| value(&leaf.settings, key)),
        ["4Mbit/s", "10Mbit/s", "2", "3000B", "1600B"]
    );
    assert_eq!(value(&class(&found, "1:10").settings, "prio"), "7");
    assert_eq!(value(&found.settings, "overhead"), "18B");
    assert_eq!(["r2q", "arithmetic", "unclassified"].map(|key| value(&found.settings, key)), ["4", "linux", ""]);
}

#[test]
fn packets_without_a_class_are_said() {
    let htb = queue(
        "tc qdisc add dev eth0 root handle 1: htb\ntc class add dev eth0 parent 1: classid 1:1 htb rate 1mbit burst 9k\n",
    );
    assert_eq!(value(&htb.settings, "unclassified"), "direct");
    let hfsc = queue(
        "tc qdisc add dev eth0 root handle 1: hfsc\ntc class add dev eth0 parent 1: classid 1:1 hfsc ls rate 1mbit\n",
    );
    assert_eq!(value(&hfsc.settings, "unclassified"), "drop");
}

#[test]
fn curves_of_hfsc_are_rates_or_pieces() {
    let found = queue(
        "tc qdisc add dev eth0 root handle 1: hfsc default 1\n\
         tc class add dev eth0 parent 1: classid 1:1 hfsc sc rate 10mbit ul m1 0 d 5ms m2 8mbit\n\
         tc class add dev eth0 parent 1: classid 1:2 hfsc rt umax 1500 dmax 10ms rate 1mbit ls m2 1mbit\n",
    );
    let of = |name: &str, key: &str| value(&class(&found, name).settings, key);
    assert_eq!([of("1:1", "rt"), of("1:1", "ls")], ["10Mbit/s", "10Mbit/s"]);
    assert_eq!(of("1:1", "ul"), "{ m1 = 0bit/s, d = 5ms, m2 = 8Mbit/s }");
    assert_eq!(of("1:2", "rt"), "{ umax = 1500B, dmax = 10ms, rate = 1Mbit/s }");
    assert_eq!(of("1:2", "ls"), "1Mbit/s");
    let found = queue(
        "tc qdisc add dev eth0 root handle 1: hfsc default 3\n\
         tc class add dev eth0 parent 1: classid 1:1 hfsc sc rate 10mbit ul rate 10mbit\n\
         tc class add dev eth0 parent 1:1 classid 1:2 hfsc rt rate 2mbit\n\
         tc class add dev eth0 parent 1:2 classid 1:3 hfsc sc rate 1mbit\n",
    );
    let of = |name: &str| ["rt", "ls"].map(|key| value(&class(&found, name).settings, key));
    assert_eq!([of("1:1"), of("1:2"), of("1:3")], [["", "10Mbit/s"], ["", "2Mbit/s"], ["1Mbit/s", "1Mbit/s"]]);
}

/// Linux: the priority of a packet follows from bits 1 to 3 of its code point, and the band from the priomap.
#[test]
fn bands_of_prio_have_code_points() {
    let found = queue("tc qdisc add dev eth0 root handle 1: prio\n");
    let band = |code: u8| {
        let dscp = Dscp::new(code).unwrap();
        found.classes.iter().position(|it| it.takes.iter().any(|it| it.matches.is.dscp.contains(&dscp)))
    };
    assert_eq!([0, 8, 46, 10, 12, 14].map(band), [Some(1), Some(1), Some(1), Some(2), Some(0), Some(1)]);
    let one = queue("tc qdisc add dev eth0 root handle 1: prio priomap 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2\n");
    assert_eq!(one.classes.iter().map(|it| it.rest).collect::<Vec<_>>(), [false, false, true]);
}

#[test]
fn bands_of_ets_share_what_is_left() {
    let found = queue("tc qdisc add dev eth0 root handle 1: ets bands 3 strict 1 quanta 5000\n");
    let quanta: Vec<_> = found.classes.iter().map(|it| value(&it.settings, "quantum")).collect();
    assert_eq!(quanta, ["", "5000B", "1514B"]);
    assert!(found.classes[2].rest);
}

/// What a filter asks for.
fn asked(filter: &str) -> Match {
    let found = queue(&format!(
        "tc qdisc add dev eth0 root handle 1: prio priomap 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2\n\
         tc filter add dev eth0 parent 1: {filter} flowid 1:1\n"
    ));
    class(&found, "1:1").takes[0].matches.is.clone()
}

#[test]
fn filters_of_u32_and_flower_are_the_same() {
    let of = |text: &str| vec![text.parse().map(perhop_core::classify::Prefix).unwrap()];
    let ef = Match { dscp: vec![Dscp::new(46).unwrap()], ..Match::default() };
    assert_eq!(asked("protocol ip u32 match ip dsfield 0xb8 0xfc"), ef);
    assert_eq!(asked("protocol ip u32 match u8 0xb8 0xfc at 1"), ef);
    assert_eq!(asked("protocol ip u32 match u32 0x00b80000 0x00fc0000 at 0"), ef);
    assert_eq!(asked("protocol ip flower ip_tos 0xb8/0xfc"), ef);
    assert_eq!(asked("protocol ip basic match 'cmp(u8 at 1 layer network mask 0xfc eq 0xb8)'"), ef);
    let exact = Match { ecn: vec![Ecn::NotEct], ..ef };
    assert_eq!(asked("protocol ip u32 match ip tos 0xb8 0xff"), exact);
    assert_eq!(asked("protocol ip flower ip_tos b8"), exact);
    let net = Match { source: of("10.0.0.0/8"), ..Match::default() };
    assert_eq!(asked("protocol ip u32 match ip src 10.1.2.3/8"), net);
    assert_eq!(asked("protocol ip flower src_ip 10.1.2.3/8"), net);
    let web = Match { protocol: vec![Protocol::TCP], destination_port: vec![443], ..Match::default() };
    assert_eq!(asked("protocol ip u32 match ip protocol 6 0xff match ip dport 443 0xffff"), web);
    assert_eq!(asked("protocol ip flower ip_proto tcp dst_port 443"), web);
    let six = Match { destination: of("2001:db8::/32"), ..Match::default() };
    assert_eq!(asked("protocol ipv6 u32 match ip6 dst 2001:db8::1/32"), six);
    assert_eq!(asked("protocol ip flower src_port 80-82").source_port, [80, 81, 82]);
    assert_eq!(asked("protocol ip u32 match ip sport 16 0xfffc").source_port, [16, 17, 18, 19]);
    assert_eq!(asked("protocol ip handle 6 fw").traffic, ["mark-6"]);
}

/// A filter that no table leads to has no next header: u32_classify adds an offset of 0, and so Linux compares the length of
/// the packet in place of the port.
#[test]
fn a_next_header_without_a_table_is_not_the_ports() {
    for filter in ["match tcp dst 22 0xffff", "match udp src 53 0xffff", "match u16 22 0xffff at nexthdr+2"] {
        let found = read(&format!(
            "tc qdisc add dev eth0 root handle 1: prio\n\
             tc filter add dev eth0 parent 1: protocol ip prio 1 u32 {filter} flowid 1:1\n"
        ));
        assert_eq!(verdicts(&found)[1], (2, Verdict::NotModelled), "{filter}");
        assert!(found.account.lines[&2].notes[0].contains("IP's own header"), "{:?}", found.account);
    }
}

/// tc-cake(8): `ether-vlan` may be repeated; another command starts from 0.
#[test]
fn overheads_of_cake_add_up_within_a_command() {
    let of = |more: &str| {
        let found = queue(&format!("tc qdisc add dev eth0 root handle 1: cake bandwidth 10mbit {more}\n"));
        value(&found.settings, "overhead")
    };
    // sch_cake.c counts from the IP packet, perhop's port from the frame of 14 bytes more.
    assert_eq!(of("ethernet ether-vlan ether-vlan"), format!("{}B", 38 + 2 * 4 - 14));
    assert_eq!(of("docsis ether-vlan"), format!("{}B", 18 + 4 - 14));
    let change = "tc qdisc change dev eth0 root handle 1: cake";
    assert_eq!(of(&format!("ethernet\n{change} ether-vlan")), format!("{}B", 4 - 14));
    assert_eq!(of(&format!("ethernet ether-vlan\n{change} rtt 20ms")), format!("{}B", 38 + 4 - 14));
}

#[test]
fn policers_are_token_buckets() {
    let found = port(
        "tc qdisc add dev eth0 handle ffff: ingress\n\
         tc filter add dev eth0 parent ffff: protocol ip prio 1 u32 match ip src 0.0.0.0/0 police rate 2mbit burst 20k drop flowid :1\n",
    );
    assert_eq!((found.way, found.accounting.unwrap().is), (Way::Input, "l3"));
    let [it] = &found.conditioners[..] else { panic!("{:?}", found.conditioners) };
    assert_eq!(
        ["cir", "cbs", "mtu", "arithmetic"].map(|key| value(&it.settings, key)),
        ["2Mbit/s", "20480B", "", "linux"]
    );
    let acts: Vec<_> = it.actions.iter().map(|(colour, acts)| (*colour, acts.is.clone())).collect();
    assert_eq!(acts, [(Colour::Green, vec![Act::Transmit]), (Colour::Red, vec![Act::Drop])]);
    // A peak rate's bucket is of `mtu`, even one that tc would set itself.
    let found = port(
        "tc qdisc add dev eth0 clsact\n\
         tc filter add dev eth0 egress matchall action police rate 2mbit burst 20k mtu 2kb peakrate 3mbit\n",
    );
    assert_eq!(["pir", "mtu"].map(|key| value(&found.conditioners[0].settings, key)), ["3Mbit/s", "2048B"]);
}

#[test]
fn actions_follow_each_other() {
    let found = port(
        "tc qdisc add dev eth0 clsact\n\
         tc filter add dev eth0 egress protocol ip prio 1 matchall action police rate 1mbit burst 10k conform-exceed pipe/ok \
         action pedit ex munge ip dsfield set 0x38 retain 0xfc pipe action csum ip4h ok\n",
    );
    let red = &found.conditioners[0].actions[1].1.is;
    assert_eq!(*red, [Act::Mark(Dscp::new(14).unwrap()), Act::Transmit]);
}

/// tc's parse_action: behind `pipe` the next kind of action may follow without the word `action`.
#[test]
fn actions_need_no_word_between_them() {
    let ways = ["pipe csum ip and udp", "pipe action csum ip and udp", "pipe csum ip and udp action ok"];
    for way in ways {
        let found = port(&format!(
            "tc qdisc add dev eth0 handle ffff: ingress\n\
             tc filter add dev eth0 parent ffff: protocol ip prio 1 u32 match ip dport 53 0xffff action pedit ex munge ip tos set \
             0x88 retain 0xfc {way}\n"
        ));
        let green = &found.conditioners[0].actions[0].1.is;
        assert_eq!(green[0], Act::Mark(Dscp::new(0x88 >> 2).unwrap()), "{way}");
    }
    let found = read(
        "tc qdisc add dev eth0 clsact\n\
         tc filter add dev eth0 egress matchall action connmark pipe police rate 1mbit burst 10k drop\n",
    );
    assert_eq!(value(&found.device.ports[0].conditioners[0].settings, "cir"), "1Mbit/s");
    assert_eq!(verdicts(&found)[1], (2, Verdict::NotModelled));
}

/// The limit of a strict class, written as a policer of all that its filters find.
#[test]
fn a_policer_of_a_strict_class_is_its_limit() {
    let found = queue(
        "tc qdisc add dev eth0 root handle 1: prio priomap 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2\n\
         tc filter add dev eth0 parent 1: protocol ip prio 1 flower ip_tos 0xb8/0xfc classid 1:1 action police rate 1mbit burst 10k conform-exceed drop/ok\n",
    );
    let it = class(&found, "1:1");
    assert_eq!(["rate", "burst", "police"].map(|key| value(&it.settings, key)), ["1Mbit/s", "10240B", "always"]);
}

/// The packets that another filter takes do not meet the policer of a class.
#[test]
fn a_policer_of_a_class_spares_those_before_it() {
    let found = port(
        "tc qdisc add dev eth0 root handle 1: htb default 2\n\
         tc class add dev eth0 parent 1: classid 1:1 htb rate 1mbit\n\
         tc class add dev eth0 parent 1: classid 1:2 htb rate 9mbit\n\
         tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dport 22 0xffff flowid 1:1\n\
         tc filter add dev eth0 parent 1: protocol ip prio 2 u32 match ip src 10.0.0.0/8 police rate 1mbit burst 10k drop flowid 1:2\n",
    );
    let kinds: Vec<_> = found.conditioners.iter().map(|it| (it.name.is.as_str(), it.kind)).collect();
    assert_eq!(kinds, [("1:1", "marker"), ("1:2", "token-bucket")]);
}

/// One bucket, whichever filter a packet comes by.
#[test]
fn an_index_joins_filters() {
    let found = port(
        "tc qdisc add dev eth0 clsact\n\
         tc actions add action police rate 1mbit burst 10k conform-exceed drop/ok index 7\n\
         tc filter add dev eth0 ingress protocol ip prio 1 flower ip_proto udp action police index 7\n\
         tc filter add dev eth0 ingress protocol ip prio 2 flower ip_proto tcp dst_port 80 action police index 7\n",
    );
    assert_eq!(found.conditioners.len(), 1);
    assert_eq!(found.conditioners[0].takes.len(), 2);
}

#[test]
fn netem_is_a_link() {
    let found = port(
        "tc qdisc add dev eth0 root netem delay 20ms 4ms distribution normal loss 0.5% rate 5mbit -14 limit 500\n",
    );
    let keys = ["delay", "jitter", "distribution", "loss", "rate"].map(|key| value(&found.link, key));
    assert_eq!(keys, ["20ms", "4ms", "normal", "0.005", "5Mbit/s"]);
    assert_eq!(value(&found.queue.unwrap().settings, "limit"), "500p");
}

/// What comes in is sent to another interface, and waits there.
#[test]
fn a_redirect_makes_an_input_port() {
    let found = port(
        "tc qdisc add dev eth0 handle ffff: ingress\n\
         tc qdisc add dev ifb0 root cake bandwidth 50mbit besteffort\n\
         tc filter add dev eth0 parent ffff: protocol all u32 match u32 0 0 action mirred egress redirect dev ifb0\n",
    );
    assert_eq!((found.interface.is.as_str(), found.way, found.accounting.unwrap().is), ("eth0", Way::Input, "l2"));
    assert_eq!(found.queue.unwrap().kind, Some(Kind::Scheduler("cake")));
}

#[test]
fn a_single_class_is_the_rate_of_the_link() {
    let found = port(
        "tc qdisc add dev eth0 root handle 1: htb default 1\n\
         tc class add dev eth0 parent 1: classid 1:1 htb rate 20mbit\n\
         tc qdisc add dev eth0 parent 1:1 fq_codel\n",
    );
    assert_eq!(value(&found.link, "rate"), "20Mbit/s");
    assert_eq!(found.queue.unwrap().kind, Some(Kind::Scheduler("fq-codel")));
}

#[test]
fn a_size_table_is_accounting_or_framing() {
    let of = |stab: &str| port(&format!("tc qdisc add dev eth0 root stab {stab} tbf rate 8mbit burst 10k limit 30k\n"));
    assert_eq!(of("overhead 24 linklayer ethernet").accounting.unwrap().is, "l1");
    let atm = of("overhead 40 mpu 64 linklayer atm");
    assert_eq!((atm.accounting.unwrap().is, value(&atm.queue.unwrap().shape, "link-layer")), ("l2", "atm".to_owned()));
}

/// Queueing disciplines that perhop has not, by name, with all below them.
/// tc sets its own where 0 is said, and prints 0 for what does not fit its table of ticks.
#[test]
fn a_burst_of_0_is_that_of_tc() {
    let text = "class htb 1:2 dev eth0 root prio 0 rate 12Gbit ceil 12Gbit burst 0b cburst 0b";
    let found = queue(text);
    let own = (1600 + 12_000_000_000_u64 / 8 / 1_000_000_000).to_string() + "B";
    assert_eq!(["burst", "cburst"].map(|key| value(&found.classes[0].settings, key)), [own.clone(), own]);
}

/// qdisc_pkt_len has the size table's bytes, and a class's `overhead` comes on top.
#[test]
fn a_framing_of_classes_beside_a_size_table_is_not_modelled() {
    let text = "tc qdisc add dev eth0 root handle 1: stab linklayer atm overhead -4 mpu 53 htb default 1\n\
                tc class add dev eth0 parent 1: classid 1:1 htb rate 1mbit overhead 24\n\
                tc class add dev eth0 parent 1: classid 1:2 htb rate 1mbit\n";
    assert_eq!(verdicts(&read(text))[1], (2, Verdict::NotModelled));
    assert_eq!(verdicts(&read(&text.replace(" overhead 24", "")))[1], (2, Verdict::Taken));
}

/// Queueing disciplines that perhop has not, by name, with all below them.
#[test]
fn what_perhop_has_not_is_named() {
    for name in ["cbs", "etf", "gred", "hhf", "mqprio", "qfq", "sfb", "taprio", "multiq", "skbprio", "plug"] {
        let read = read(&format!(
            "tc qdisc add dev eth0 root handle 1: {name} some 5 words\n\
             tc class add dev eth0 parent 1: classid 1:1 {name} weight 5\n\
             tc qdisc add dev eth0 parent 1:1 pfifo\n\
             tc filter add dev eth0 parent 1: matchall classid 1:1\n"
        ));
        assert!(verdicts(&read).iter().all(|it| it.1 == Verdict::NotModelled), "{name}: {:?}", read.account);
        assert!(read.account.lines[&1].notes[0].contains(name), "{:?}", read.account);
    }
}

/// A mask of 0xff compares the ECN field with 0, as packets without ECN have it.
#[test]
fn a_class_without_ecn_has_a_load() {
    let port = port(
        "tc qdisc add dev eth0 root handle 1: htb default 2\n\
         tc class add dev eth0 parent 1: classid 1:1 htb rate 1mbit\n\
         tc class add dev eth0 parent 1: classid 1:2 htb rate 1mbit\n\
         tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip tos 0xb8 0xff flowid 1:1\n",
    );
    let stub = perhop_config::stub::stub(&port, perhop_core::units::BitRate::mbps(10)).text;
    for name in ["[traffic.\"1:1\"]", "[traffic.\"1:1 TCP\"]", "[traffic.\"1:2\"]"] {
        assert!(stub.contains(name), "{name}\n{stub}");
    }
}

/// The kernel asks no further filter, and not for the priority either.
#[test]
fn what_a_filter_without_a_class_takes_is_of_priority_0_or_of_the_default() {
    let rest = |root: &str, ends: &str| {
        let filter = format!("matchall action police rate 5mbit burst 500k conform-exceed drop/{ends}");
        let found = queue(&format!(
            "tc qdisc add dev eth0 root handle 1: {root}\ntc filter add dev eth0 parent 1: protocol all prio 1 {filter}\n"
        ));
        let rest = found.classes.iter().find(|class| class.rest).map(|class| class.name.is.clone());
        assert!(rest.is_none() || found.classes.len() == 1, "no packet comes to another band: {:?}", found.classes);
        rest
    };
    for ends in ["ok", "pipe"] {
        assert_eq!(rest("prio", ends).as_deref(), Some("1:2"), "{ends}");
        assert_eq!(rest("prio priomap 2 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1", ends).as_deref(), Some("1:3"), "{ends}");
    }
    assert_eq!(rest("prio", "continue"), None);
    let text = "tc qdisc add dev eth0 root handle 1: htb default 20\n\
                tc class add dev eth0 parent 1: classid 1:10 htb rate 4mbit\n\
                tc class add dev eth0 parent 1: classid 1:20 htb rate 6mbit\n\
                tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dsfield 0xb8 0xfc police rate 1mbit burst 10k drop\n\
                tc filter add dev eth0 parent 1: protocol ip prio 2 u32 match u32 0 0 flowid 1:10\n";
    let found = queue(text);
    let default = found.classes.iter().find(|class| class.name.is == "1:20").unwrap();
    assert_eq!(
        default.takes.iter().map(|it| it.matches.is.dscp.clone()).collect::<Vec<_>>(),
        [vec![Dscp::new(46).unwrap()]]
    );
}

/// A mask that leaves several code points says which.
#[test]
fn a_mask_says_what_it_takes() {
    let filter = |tos: &str| {
        format!(
            "tc qdisc add dev eth0 root handle 1: htb default 20\ntc class add dev eth0 parent 1: classid 1:10 htb rate 1mbit\ntc class add \
             dev eth0 parent 1: classid 1:20 htb rate 1mbit\ntc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip tos {tos} \
             flowid 1:10\n"
        )
    };
    let note = |tos: &str| read(&filter(tos)).account.lines[&4].notes.join("; ");
    assert_eq!(note("0xa0 0xe0"), "its mask takes 8 code points: 40 to 47");
    assert_eq!(note("0x28 0xec"), "its mask takes 2 code points: 10 and 14");
    assert_eq!(note("0xb8 0xfc"), "");
}
