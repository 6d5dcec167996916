//! `predict`: the load goes where the device's own filters put it, what `check` finds comes first, and each class has one row.

use crate::command::Folder;
use serde_json::Value;

fn predicted(text: &str, more: &[&str]) -> Value {
    let folder = Folder::with(&[("port.sh", text.as_bytes())]);
    let out = folder.perhop(&[&["predict", "port.sh", "--json", "--duration", "6s"], more].concat());
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).unwrap()
}

/// What a class gets of its link, in Mbit/s; 0 where no packet reaches it.
fn rate(of: &Value, class: &str) -> f64 {
    mean(of, class, "throughput_bit_s").unwrap_or_default() / 1e6
}

const PRINTED: [&str; 2] = [
    "qdisc htb 1: dev eth0 root refcnt 2 r2q 10 default 0x10 direct_packets_stat 0\n",
    "class htb 1:10 dev eth0 root prio 0 rate 1Mbit ceil 10Mbit burst 1600b cburst 1600b\n\
     class htb 1:20 dev eth0 root prio 0 rate 9Mbit ceil 10Mbit burst 1600b cburst 1600b\n",
];

/// A print names no filters: each class has its own load, also where the default is not the last.
#[test]
fn no_class_of_a_print_takes_the_load_of_another() {
    let found = predicted(&PRINTED.concat(), &["--link", "10Mbit/s"]);
    for (class, right) in [("1:10", 1.0), ("1:20", 9.0)] {
        assert!((rate(&found, class) - right).abs() < 0.05 * right, "{class}: {}", rate(&found, class));
    }
}

const SCRIPT: &str = "tc qdisc add dev eth0 root handle 1: htb
tc class add dev eth0 parent 1: classid 1:1 htb rate 1mbps ceil 1mbps
tc class add dev eth0 parent 1:1 classid 1:10 htb rate 500kbps ceil 1mbps
tc class add dev eth0 parent 1:1 classid 1:20 htb rate 500kbps ceil 1mbps
tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dport 80 0xffff flowid 1:10
";

/// No filter leads to 1:20, and HTB has no default: what is not of port 80 passes the classes.
#[test]
fn a_class_that_no_packet_reaches_gets_none() {
    let found = predicted(SCRIPT, &["--link", "8Mbit/s"]);
    assert_eq!(rate(&found, "1:20"), 0.0);
    assert!(rate(&found, "unclassified") > 1.0, "{}", rate(&found, "unclassified"));
    assert!(
        found["load"].as_str().unwrap().starts_with("No packet reaches 1:20: no filter leads to it."),
        "{}",
        found["load"]
    );
}

/// A filter that leads to no class leads nothing to the others.
#[test]
fn no_class_gets_what_a_filter_sends_elsewhere() {
    let found = predicted(&SCRIPT.replace("flowid 1:10", "flowid 1:50"), &["--link", "8Mbit/s"]);
    assert_eq!(names(&found, "class"), ["unclassified"]);
}

/// What `check` finds stands before all else.
#[test]
fn it_begins_with_what_check_finds() {
    let text = SCRIPT.replace("flowid 1:10", "flowid 1:50");
    let folder = Folder::with(&[("port.sh", text.as_bytes())]);
    let out = folder.perhop(&["predict", "port.sh", "--link", "8Mbit/s", "--duration", "2s"]);
    let said = String::from_utf8_lossy(&out.stdout);
    let places = ["warning[W401] the filter sends packets to 1:50, which is no class here", "port.sh: Linux tc"];
    let [finding, prediction] = places.map(|words| said.find(words).unwrap_or_else(|| panic!("{words} in {said}")));
    assert!(finding < prediction, "{said}");
}

/// Lines that no prediction knows are printed with the reasons.
#[test]
fn what_is_not_predicted_is_printed() {
    let lost = "tc filter add dev eth0 parent 1: protocol ip prio 9 u32 match ip ihl 6 0xf flowid 1:10\n";
    let text = format!("{SCRIPT}{lost}");
    let folder = Folder::with(&[("port.sh", text.as_bytes())]);
    let arguments = ["predict", "port.sh", "--link", "8Mbit/s", "--duration", "2s"];
    let out = folder.perhop(&arguments);
    let said = String::from_utf8_lossy(&out.stdout);
    let line = format!("    6  {lost}       `match ip ihl`: perhop does not match it\n");
    assert!(said.contains("Not modelled") && said.contains(&line), "{said}");
    let out = folder.perhop(&[&arguments[..], &["--json"]].concat());
    let json: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(json["not_modelled"][0]["line"], 6);
}

/// The names of the rows.
fn names(of: &Value, key: &str) -> Vec<String> {
    let rows = of["rows"].as_array().unwrap();
    rows.iter().map(|row| row[key].as_str().unwrap_or_default().to_owned()).collect()
}

/// The mean of a column of a class; `None` where it has none.
fn mean(of: &Value, class: &str, column: &str) -> Option<f64> {
    of["rows"].as_array().unwrap().iter().find(|row| row["class"] == class)?[column]["mean"].as_f64()
}

const METERED: &str = "policy-map P
 class class-default
  police cir 2000000 bc 20000
   conform-action transmit
   exceed-action transmit
interface GigabitEthernet0/0
 service-policy output P
";

/// A policer gives packets two colours: the class has one row, with the delay of all its packets.
#[test]
fn a_class_has_one_row_whatever_its_colours() {
    let found = predicted(METERED, &["--link", "10Mbit/s"]);
    let rows = found["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 1, "{rows:?}");
    let value = |column: &str| rows[0][column]["mean"].as_f64().unwrap();
    assert!(value("offered_bit_s") > 5e6 && value("throughput_bit_s") > 5e6, "{rows:?}");
    assert!(value("delay_mean_ms") >= 10.0 && value("delay_p99_ms") > value("delay_mean_ms"), "{rows:?}");
}

const QUEUES: &str = "tc qdisc add dev eth0 root handle 1: htb default 20
tc class add dev eth0 parent 1: classid 1:10 htb rate 4mbit ceil 4mbit
tc class add dev eth0 parent 1: classid 1:20 htb rate 4mbit ceil 4mbit
tc class add dev eth0 parent 1: classid 1:30 htb rate 200kbit ceil 200kbit
tc qdisc add dev eth0 parent 1:20 handle 20: fq_codel
tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dport 80 0xffff flowid 1:10
tc filter add dev eth0 parent 1: protocol ip prio 2 u32 match ip dport 81 0xffff flowid 1:30
";

/// A call waits behind a download in a FIFO, and not in a separate queue; in 200 kbit/s it would be part of the load.
#[test]
fn a_row_has_what_a_call_feels() {
    let found = predicted(QUEUES, &["--link", "10Mbit/s"]);
    let [fifo, fair] = ["1:10", "1:20"].map(|class| mean(&found, class, "call_delay_p99_ms").unwrap());
    assert!(fifo > 10.0 * fair, "{fifo} {fair}");
    assert!(mean(&found, "1:30", "delay_p99_ms").is_some());
    assert_eq!(mean(&found, "1:30", "call_delay_p99_ms"), None);
}

/// Each tin of CAKE, each band of `prio` and both queues of DualPI2 have packets.
#[test]
fn what_a_queue_sorts_by_itself_has_a_row_each() {
    let tins = predicted("tc qdisc add dev eth0 root cake bandwidth 10mbit diffserv4\n", &[]);
    assert_eq!(names(&tins, "class"), ["Bulk", "Best Effort", "Video", "Voice"]);
    let [bulk, voice] = ["Bulk", "Voice"].map(|class| mean(&tins, class, "delay_mean_ms").unwrap());
    assert!(bulk > 1.5 * voice, "{bulk} {voice}");
    let bands = predicted("tc qdisc add dev eth0 root handle 1: prio\n", &["--link", "10Mbit/s"]);
    assert_eq!(names(&bands, "class"), ["1:1", "1:2", "1:3"]);
    assert!(["1:1", "1:2", "1:3"].iter().all(|class| mean(&bands, class, "offered_bit_s").unwrap() > 1e6));
    let text = "tc qdisc add dev eth0 root handle 1: tbf rate 10mbit burst 5k latency 50ms\n\
                tc qdisc add dev eth0 parent 1: handle 2: dualpi2\n";
    let queues = predicted(text, &[]);
    assert_eq!(names(&queues, "class"), ["classic", "L4S"]);
    let [classic, l4s] = ["classic", "L4S"].map(|class| mean(&queues, class, "delay_mean_ms").unwrap());
    assert!(classic > l4s + 5.0, "{classic} {l4s}");
}

const BOTH: &str = "tc qdisc replace dev eth0 root cake bandwidth 2mbit besteffort
tc qdisc add dev eth0 handle ffff: ingress
tc filter add dev eth0 parent ffff: protocol all matchall action mirred egress redirect dev ifb4eth0
tc qdisc replace dev ifb4eth0 root cake bandwidth 20mbit besteffort ingress
";

#[test]
fn a_port_behind_another_interface_has_two_names() {
    let [one, other] = [&["--interface", "eth0", "--direction", "input"][..], &["--interface", "ifb4eth0"]]
        .map(|more| predicted(BOTH, more));
    assert_eq!(one, other);
    assert_eq!(one["port"]["behind"], "ifb4eth0");
    let folder = Folder::with(&[("port.sh", BOTH.as_bytes())]);
    let out = folder.perhop(&["predict", "port.sh", "--interface", "wan"]);
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(said.contains("valid names: eth0, ifb4eth0\n"), "{said}");
}

/// The ACKs of a download of 20 Mbit/s are a load of the 2 Mbit/s of the other direction.
#[test]
fn both_directions_of_a_line_are_one_run() {
    let together = predicted(BOTH, &[]);
    assert_eq!(names(&together, "port"), ["eth0 output", "eth0 input (ifb4eth0)"]);
    let alone = predicted(BOTH, &["--direction", "output"]);
    assert_eq!(names(&alone, "port"), [""]);
    let [with, without] = [&together, &alone].map(|of| of["rows"][0]["throughput_bit_s"]["mean"].as_f64().unwrap());
    assert!(with < 0.95 * without, "{with} {without}");
    let down = together["rows"][1]["throughput_bit_s"]["mean"].as_f64().unwrap();
    assert!(down > 15e6, "{down}");
}

/// Buckets of what comes in count IP packets, and the queue of what leaves Ethernet's header too.
#[test]
fn a_policer_beside_a_queue_counts_its_own_bytes() {
    let text = "tc qdisc add dev eth0 root tbf rate 20mbit burst 5k latency 50ms\n\
                tc qdisc add dev eth0 handle ffff: ingress\n\
                tc filter add dev eth0 parent ffff: protocol ip prio 1 matchall action police rate 5mbit burst 50k conform-exceed drop\n";
    let found = predicted(text, &[]);
    assert!(found["scenario"].as_str().unwrap().contains("overhead = \"-14B\""), "{}", found["scenario"]);
    assert_eq!(names(&found, "port"), ["eth0 output", "eth0 input"]);
    assert!(found["rows"][1]["throughput_bit_s"]["mean"].as_f64().unwrap() < 5.3e6, "{}", found["rows"][1]);
}

#[test]
fn all_ports_are_predicted_one_after_another() {
    let text = SCRIPT.to_owned() + &SCRIPT.replace("eth0", "eth1");
    let folder = Folder::with(&[("port.sh", text.as_bytes())]);
    let out = folder.perhop(&["predict", "port.sh", "--link", "8Mbit/s", "--duration", "2s", "--all"]);
    let said = String::from_utf8_lossy(&out.stdout);
    let heads: Vec<_> = said.lines().filter_map(|line| line.strip_prefix("port.sh: Linux tc, ")).collect();
    assert_eq!(heads.len(), 2, "{said}");
    assert!(heads[0].starts_with("eth0 output, 8Mbit/s.") && heads[1].starts_with("eth1 output, 8Mbit/s."), "{said}");
    let found = predicted(&text, &["--link", "8Mbit/s", "--all"]);
    assert_eq!(found["predictions"].as_array().unwrap().len(), 2);
}

/// The load of a class meets the first of its filters; IPv6 and ARP meet none.
#[test]
fn filters_are_counted() {
    let of = "tc filter add dev eth0 parent 1: protocol ip prio";
    let text = format!(
        "{SCRIPT}{of} 2 u32 match ip dport 81 0xffff flowid 1:20\n{of} 3 u32 match ip tos 0xb8 0xfc flowid 1:10\n"
    );
    let found = predicted(&text, &["--link", "8Mbit/s"]);
    let filters = found["filters"].as_array().unwrap();
    let packets = |at: usize| filters[at]["packets"].as_f64().unwrap();
    assert_eq!(filters.iter().map(|it| it["line"].as_u64().unwrap()).collect::<Vec<_>>(), [5, 6, 7]);
    assert!(packets(0) > 100.0 && packets(1) > 100.0 && packets(2) == 0.0, "{filters:?}");
    let end = |end: &str| serde_json::json!([format!("Packets of IPv6, ARP and 802.1Q {end}.")]);
    assert_eq!(found["others"], end("pass all classes, unshaped"));
    let with_default = text.replace("handle 1: htb", "handle 1: htb default 20");
    assert_eq!(predicted(&with_default, &["--link", "8Mbit/s"])["others"], end("go to 1:20"));
    let six =
        text.replace("protocol ip prio 2", "protocol ipv6 prio 2").replace("match ip dport 81", "match ip6 dport 81");
    let found = predicted(&six, &["--link", "8Mbit/s"]);
    assert!(
        found["others"][0].as_str().unwrap().starts_with("Packets of ARP and 802.1Q pass all classes"),
        "{}",
        found["others"]
    );
}
