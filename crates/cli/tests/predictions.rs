//! `predict`: the load goes where the device's own filters put it, and what `check` finds comes first.

#[allow(dead_code)]
mod command;

use command::Folder;
use serde_json::Value;

fn predicted(text: &str, more: &[&str]) -> Value {
    let folder = Folder::with(&[("port.sh", text.as_bytes())]);
    let out = folder.perhop(&[&["predict", "port.sh", "--json", "--duration", "6s"], more].concat());
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).unwrap()
}

/// What a class gets of its link, in Mbit/s; 0 where no packet reaches it.
fn rate(of: &Value, class: &str) -> f64 {
    let rows = of["rows"].as_array().unwrap();
    let mean = |row: &Value| row["mean"].as_f64().unwrap();
    let is = |row: &&Value| row["class"] == class && row["quantity"] == "delivered_mbit_s";
    rows.iter().filter(is).map(mean).sum()
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

/// What `check` finds stands before all else.
#[test]
fn it_begins_with_what_check_finds() {
    let text = SCRIPT.replace("flowid 1:10", "flowid 1:50");
    let folder = Folder::with(&[("port.sh", text.as_bytes())]);
    let out = folder.perhop(&["predict", "port.sh", "--link", "8Mbit/s", "--duration", "2s"]);
    let said = String::from_utf8_lossy(&out.stdout);
    assert!(said.starts_with("warning[W401] the filter sends packets to 1:50, which is no class here"), "{said}");
}
