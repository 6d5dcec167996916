//! `explain --as tc --port`: one port for an interface that there is, whatever the load is, by the writer of the whole network.

use perhop_config::as_tc::{self, LinuxPort};
use perhop_scenario::{Options, Scenario, Sweep};

/// Forty customers whose pages come over QUIC, and a marker in front: neither is of the port.
const NET: &str = r#"
[scenario]
accounting = "l2"

[links]
"internet - core" = { rate = "1Gbit/s", delay = "10ms" }
"core - tower" = { rate = "100Mbit/s", delay = "2ms" }
"tower - home{1..40}" = { rate = "10Mbit/s", delay = "3ms" }
"core -> tower" = { queue = "uplink" }

[queue.uplink]
scheduler = "htb"
arithmetic = "linux"
classes = [
  { name = "all", rate = "100Mbit/s" },
  { name = "voice", parent = "all", for = ["EF", "VA"], rate = "10Mbit/s", ceil = "100Mbit/s", queue = { limit = "50p" } },
  { name = "rest", parent = "all", rate = "90Mbit/s", ceil = "100Mbit/s", queue = { scheduler = "fq-codel", arithmetic = "linux" } },
]

[conditioner.mark]
at = "internet -> core"
match = { destination = "10.0.3.0/24", destination-port = 443 }
kind = "marker"
green = "mark EF"

[conditioner.contract]
at = "core -> internet"
kind = "token-bucket"
cir = "5Mbit/s"
cbs = "15kB"
green = "mark AF11"
red = "mark AF12"

[traffic."home{1..40}"]
model = "quic"
from = "internet"
to = "home{i}"
"#;

const PORT: &str = "core -> tower";

fn sweep(set: &[&str]) -> Sweep {
    let options = set.iter().fold(Options::new("net.toml"), |options, set| options.set(set));
    Sweep::parse(NET, &options).unwrap_or_else(|found| panic!("{found}")).0
}

fn made(port: &str, set: &[&str]) -> LinuxPort {
    as_tc::port_of_sweep(&sweep(set), port, None).unwrap()
}

fn said(port: &LinuxPort) -> Vec<String> {
    port.commands.iter().map(ToString::to_string).collect()
}

/// The root of the port holds the link's rate itself; each version of IP has its filter, the last class all the rest.
#[test]
fn a_port_is_written_alone() {
    let port = made(PORT, &[]);
    assert!(port.lost.is_empty() && port.notes.is_empty(), "{:?} {:?}", port.lost, port.notes);
    let script = port.script();
    let lines: Vec<_> = script.lines().collect();
    let expected = [
        "# port \"core -> tower\" on eth0",
        "# to remove it: tc qdisc del dev eth0 root",
        "# port \"core -> tower\", 100Mbit/s",
        "tc qdisc add dev eth0 root handle 1: htb r2q 10",
        "tc class add dev eth0 parent 1: classid 1:1 htb rate 100000000bit ceil 100000000bit",
        "tc class add dev eth0 parent 1:1 classid 1:2 htb rate 10000000bit ceil 100000000bit",
        "tc class add dev eth0 parent 1:1 classid 1:3 htb rate 90000000bit ceil 100000000bit",
        "# class \"voice\"",
        "tc filter add dev eth0 parent 1: protocol ip prio 1 flower ip_tos 0xb8/0xfc flowid 1:2",
        "tc filter add dev eth0 parent 1: protocol ip prio 1 flower ip_tos 0xb0/0xfc flowid 1:2",
        "tc filter add dev eth0 parent 1: protocol ipv6 prio 2 flower ip_tos 0xb8/0xfc flowid 1:2",
        "tc filter add dev eth0 parent 1: protocol ipv6 prio 2 flower ip_tos 0xb0/0xfc flowid 1:2",
        "tc qdisc add dev eth0 parent 1:2 handle 2: pfifo limit 50",
        "# class \"rest\"",
        "tc filter add dev eth0 parent 1: protocol all prio 3 matchall flowid 1:3",
    ];
    assert_eq!(lines[..expected.len()], expected, "{script}");
    assert!(lines[expected.len()].starts_with("tc qdisc add dev eth0 parent 1:3 handle 3: fq_codel limit 10240"));
}

/// All of the network is refused for its QUIC: once, however many it concerns.
#[test]
fn the_network_is_refused_once() {
    let refused = as_tc::of_sweep(&sweep(&[])).unwrap_err();
    let quic: Vec<_> = refused.iter().filter(|it| it.contains("QUIC")).collect();
    assert!(quic.len() == 1 && quic[0].starts_with("traffic `home1`, traffic `home2`"), "{refused:?}");
    assert!(quic[0].contains(" and 37 more: "), "{refused:?}");
    let marker = refused.iter().find(|it| it.contains("`mark`")).unwrap();
    assert!(marker.starts_with("conditioner `mark` (marker) at `internet -> core`") && !marker.contains("polic"));
}

#[test]
fn code_points_are_written_with_the_checksum() {
    let port = made("internet -> core", &[]);
    let commands = said(&port);
    let first = commands.iter().position(|it| it == "tc qdisc add dev eth0 clsact").unwrap();
    let filter = "tc filter add dev eth0 egress protocol ip prio 1 flower";
    let set = "action pedit ex munge ip dsfield set 0xb8 retain 0xfc pipe action csum ip4h ok";
    let expected = ["tcp", "udp"].map(|it| format!("{filter} ip_proto {it} dst_ip 10.0.3.0/24 dst_port 443 {set}"));
    assert_eq!(commands[first + 1..], expected);
    assert!(port.script().contains("# to remove it: tc qdisc del dev eth0 root; tc qdisc del dev eth0 clsact\n"));
    assert!(port.script().contains("# conditioner \"mark\" (marker)\ntc filter"));
}

/// What conforms is marked by the policer's filter, what exceeds by the next one, which finds the same packets.
#[test]
fn both_outcomes_of_a_policer_may_mark() {
    let commands = said(&made("core -> internet", &[]));
    let [v4, v6] = ["ip", "ipv6"]
        .map(|ip| move |prio: u8| format!("tc filter add dev eth0 egress protocol {ip} prio {prio} matchall"));
    let police = "action police rate 5000000bit burst 15000 conform-exceed continue/pipe index 1";
    let set = |dscp: &str, end: &str| {
        format!("action pedit ex munge ip dsfield set {dscp} retain 0xfc pipe action csum ip4h {end}")
    };
    let set6 = |dscp: &str| format!("action pedit ex munge ip6 traffic_class set {dscp} retain 0xfc ok");
    let expected = [
        format!("{} {police} {}", v4(1), set("0x28", "ok")),
        format!("{} {police} {}", v6(2), set6("0x28")),
        format!("{} {}", v4(3), set("0x30", "ok")),
        format!("{} {}", v6(4), set6("0x30")),
    ];
    assert_eq!(commands[commands.len() - 4..], expected);
}

/// A port that the network has too is written in the same words, but for its interface and for packets that only a real one has.
#[test]
fn it_is_the_port_of_the_network() {
    let set = ["queue.uplink.shape={ rate = \"90Mbit/s\", burst = \"3000B\", arithmetic = \"linux\" }"];
    let quic = NET.split("[conditioner.mark]").next().unwrap();
    let text = format!(
        "{quic}[traffic.t]\nmodel = \"cbr\"\nrate = \"1Mbit/s\"\nsize = \"1500B\"\nfrom = \"internet\"\nto = \"home1\"\n"
    );
    let options = Options::new("net.toml").set(set[0]);
    let (scenario, _) = Scenario::parse(&text, &options).unwrap_or_else(|found| panic!("{found}"));
    let network = as_tc::as_tc(&scenario).unwrap();
    let near = network.ports.iter().find(|it| it.name == PORT).unwrap().near.clone();
    let of_port = |it: &&as_tc::Command| it.argv[0] == "tc" && it.device.as_ref() == Some(&near.device);
    let own = network.commands.iter().filter(of_port).map(ToString::to_string);
    let own: Vec<_> = own.filter(|it| !it.contains("clsact") && !it.contains("ingress")).collect();
    let alone = said(&made(PORT, &set)).into_iter().filter(|it| !it.contains("ipv6")).map(|it| {
        let place = format!("tc -n {} ", near.namespace.as_ref().unwrap());
        it.replacen("tc ", &place, 1).replace("eth0", &near.device).replace("prio 3 matchall", "prio 2 matchall")
    });
    assert_eq!(alone.collect::<Vec<_>>(), own);
}

/// The first class that agrees takes a packet: each is tried after the one before, for both versions of IP where both can agree.
#[test]
fn classes_by_address_port_and_ecn_are_filters_in_order() {
    let class =
        |matches: &str| format!("{{ match = {{ {matches} }}, rate = \"1Mbit/s\", queue = {{ limit = \"9p\" }} }}");
    let matches = [
        "destination = [\"10.0.4.0/24\", \"2001:db8:4::/48\"], protocol = \"udp\"",
        "destination = \"10.0.0.0/8\"",
        "dscp = \"EF\", ecn = \"ect1\"",
        "protocol = \"tcp\", source-port = 443",
    ];
    let classes = matches.map(class).join(", ");
    let rest = "{ rate = \"1Mbit/s\", queue = { limit = \"9p\" } }";
    let set = format!("queue.uplink={{ scheduler = \"htb\", classes = [{classes}, {rest}] }}");
    let commands = said(&made(PORT, &[&set]));
    let place = "tc filter add dev eth0 parent 1: protocol ";
    let filters: Vec<_> = commands.iter().filter_map(|it| it.strip_prefix(place)).collect();
    let expected = [
        "ip prio 1 flower ip_proto udp dst_ip 10.0.4.0/24 flowid 1:1",
        "ipv6 prio 2 flower ip_proto udp dst_ip 2001:db8:4::/48 flowid 1:1",
        "ip prio 3 flower dst_ip 10.0.0.0/8 flowid 1:2",
        "ip prio 4 flower ip_tos 0xb9/0xff flowid 1:3",
        "ipv6 prio 5 flower ip_tos 0xb9/0xff flowid 1:3",
        "ip prio 6 flower ip_proto tcp src_port 443 flowid 1:4",
        "ipv6 prio 7 flower ip_proto tcp src_port 443 flowid 1:4",
        "all prio 8 matchall flowid 1:5",
    ];
    assert_eq!(filters, expected);
}

/// A conditioner leaves a bit in the packet's mark, for the class that asks.
#[test]
fn what_has_passed_a_conditioner_is_known_by_its_mark() {
    let class = "{ match = { conditioner = \"contract\" }, rate = \"1Mbit/s\", queue = { limit = \"9p\" } }";
    let rest = "{ rate = \"1Mbit/s\", queue = { limit = \"9p\" } }";
    let queue = format!("links.\"core -> internet\".queue={{ scheduler = \"htb\", classes = [{class}, {rest}] }}");
    let set = [queue.as_str(), "conditioner.contract.green=transmit", "conditioner.contract.red=drop"];
    let commands = said(&made("core -> internet", &set));
    let police = "action police rate 5000000bit burst 15000 conform-exceed drop/ok";
    for line in [
        format!("tc filter add dev eth0 egress protocol all prio 1 matchall action skbedit mark 0x1/0x1 pipe {police}"),
        "tc filter add dev eth0 parent 1: protocol all prio 1 handle 0x1/0x1 fw flowid 1:1".into(),
    ] {
        assert!(commands.contains(&line), "{line}\n{commands:#?}");
    }
}

/// A link that nothing in the port holds to its rate is held by a class, with tc's own burst.
#[test]
fn the_link_has_a_class_where_nothing_else_holds_it() {
    let link = "tc class add dev eth0 parent 1: classid 1:1 htb rate 100000000bit";
    let of = |queue: &str| said(&made(PORT, &[&format!("queue.uplink={queue}")]));
    for queue in
        ["{ scheduler = \"fq-codel\" }", "{ scheduler = \"cake\", rate = \"200Mbit/s\" }", "{ limit = \"100p\" }"]
    {
        assert_eq!(of(queue)[1], link, "{queue}");
    }
    let cake = of("{ scheduler = \"cake\", rate = \"95Mbit/s\" }");
    assert!(cake.len() == 1 && cake[0].starts_with("tc qdisc add dev eth0 root handle 1: cake bandwidth 95000000bit"));
}

/// What tc does not have is left out by name, and the rest is written.
#[test]
fn what_is_lost_is_named() {
    let lost = |port: &str, set: &[&str]| made(port, set).lost;
    let svb = lost(PORT, &["queue.uplink.classes.rest.queue={ aqm = \"rem\" }"]);
    assert_eq!(svb, ["tc cannot express `rem`: Linux 6.12 does not have it"]);
    let meter = lost("core -> internet", &["conditioner.contract.green=colour yellow"]);
    assert!(
        meter[0].starts_with("conditioner `contract` (token-bucket) at `core -> internet`: tc cannot express colours")
    );
    let traffic = lost("internet -> core", &["conditioner.mark.match={ traffic = \"home1\" }"]);
    assert!(traffic[0].contains("a `match` of `traffic`, which no header tells"), "{traffic:?}");
    let ip = lost("core -> internet", &["accounting=l3"]);
    assert!(ip.len() == 1 && ip[0].contains("write accounting = \"l2\""), "{ip:?}");
}

#[test]
fn bad_input_has_place_and_fix() {
    let sweep = sweep(&[]);
    let refused = |port: &str, device: &str| as_tc::port_of_sweep(&sweep, port, Some(device)).unwrap_err().to_string();
    assert_eq!(
        refused("core -> towr", "eth0"),
        "error[E006] no port `core -> towr`\n   help: did you mean `core -> tower`?"
    );
    for (device, says) in [
        ("eth0;reboot", "has ';'"),
        ("$(x)", "has '$'"),
        ("eth 0", "has ' '"),
        ("eth0\n", "has '\\n'"),
        ("abcdefghijklmnop", "is 16 bytes long"),
        ("", "does not begin with"),
        ("-x", "does not begin with"),
    ] {
        let said = refused(PORT, device);
        assert!(said.starts_with("error[E295]") && said.contains(says) && said.contains("help: "), "{device}: {said}");
    }
    for device in ["eth0", "br-lan", "enp3s0f0.100", "abcdefghijklmno", "3g_wan"] {
        assert!(as_tc::port_of_sweep(&sweep, PORT, Some(device)).is_ok(), "{device}");
    }
}

/// A template is a class for each address that the load reaches, in one place, and one for all others.
#[test]
fn a_template_is_a_class_for_each_address() {
    let plans = "[{ match = { destination = \"10.0.4.0/24\" }, rate = \"5Mbit/s\" }, { rate = \"1Mbit/s\", ceil = \"50Mbit/s\" }]";
    let link = "{ name = \"link\", rate = \"100Mbit/s\" }";
    let template = format!(
        "{{ parent = \"link\", per = \"destination\", slots = 10, quantum = \"3000B\", plans = {plans}, queue = {{ limit = \"9p\" }} }}"
    );
    let commands =
        said(&made(PORT, &[&format!("queue.uplink={{ scheduler = \"htb\", classes = [{link}, {template}] }}")]));
    let with = |what: &str| commands.iter().filter(|it| it.contains(what)).count();
    let filters: Vec<_> = commands.iter().filter(|it| it.contains(" filter ")).collect();
    assert_eq!((with(" class add "), with(" pfifo "), filters.len()), (1 + 10 + 1, 11, 11), "{commands:#?}");
    let place = "tc filter add dev eth0 parent 1: protocol ip prio 1 flower dst_ip ";
    assert!(filters[..10].iter().all(|it| it.starts_with(place)), "{filters:#?}");
    assert!(filters[10].contains("protocol all prio 2 matchall"), "{filters:#?}");
    assert_eq!((with("rate 5000000bit"), with("rate 1000000bit ceil 50000000bit")), (1, 10), "{commands:#?}");
}

/// Two filters of a class, as `import` writes them: conditioners that only say which of them a packet met. Where one more does
/// something, the marks tell the class.
#[test]
fn conditioners_that_only_say_which_filter_took_a_packet_become_the_filters() {
    let net = |last: &str| {
        format!(
            r#"
[scenario]
accounting = "l2"

[links]
"a - b" = {{ rate = "10Mbit/s", delay = "1ms" }}
"a -> b" = {{ queue = "tree" }}

[conditioner."voice 1"]
at = "a -> b"
match = {{ destination = "10.0.3.0/24" }}
kind = "marker"
green = "next"

[conditioner."voice 2"]
at = "a -> b"
match = {{ protocol = "udp", source-port = 53 }}
kind = "marker"
{last}

[queue.tree]
scheduler = "htb"
arithmetic = "linux"
classes = [
  {{ name = "voice", match = {{ conditioner = ["voice 1", "voice 2"] }}, rate = "1Mbit/s", ceil = "10Mbit/s" }},
  {{ name = "rest", rate = "9Mbit/s", ceil = "10Mbit/s" }},
]

[traffic.web]
model = "cbr"
rate = "1Mbit/s"
size = "500B"
from = "a"
to = "b"
"#
        )
    };
    let filters = |last: &str| {
        let sweep = Sweep::parse(&net(last), &Options::new("net.toml")).unwrap_or_else(|found| panic!("{found}")).0;
        let port = as_tc::port_of_sweep(&sweep, "a -> b", None).unwrap();
        said(&port).into_iter().filter(|it| it.contains(" filter ")).collect::<Vec<_>>()
    };
    let of =
        |prio: u8, ip: &str, what: &str| format!("tc filter add dev eth0 parent 2: protocol {ip} prio {prio} {what}");
    let dns = "flower ip_proto udp src_port 53 flowid 2:1";
    let expected = [
        of(1, "ip", "flower dst_ip 10.0.3.0/24 flowid 2:1"),
        of(2, "ip", dns),
        of(3, "ipv6", dns),
        of(4, "all", "matchall flowid 2:2"),
    ];
    assert_eq!(filters(""), expected);
    let marked = filters("green = \"mark EF\"");
    assert!(marked[0].contains("handle 0x1/0x1 fw flowid 2:1") && marked.len() > 4, "{marked:?}");
}
