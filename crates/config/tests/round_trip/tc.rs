//! tc: what is drawn comes back, and a second export is the first.

use super::tc_draw::{INTERFACE, LINK, port};
use super::{canonical, differences, read, scenario};
use perhop_config::given::Given;
use perhop_config::model::Port;
use perhop_config::tc::DIALECT;
use perhop_scenario::as_tc::{LinuxPort, port_of_sweep};
use proptest::prelude::*;

/// A port as tc's text.
fn written(port: &Port) -> LinuxPort {
    let (stub, sweep) = scenario(port, LINK);
    let link = perhop_config::stub::LINK;
    port_of_sweep(&sweep, link, Some(INTERFACE)).unwrap_or_else(|error| panic!("{error}\n{}", stub.text))
}

fn text(port: &LinuxPort) -> String {
    port.commands.iter().map(|command| format!("{command}\n")).collect()
}

fn back(text: &str) -> Port {
    let read = read(&DIALECT, text, &Given::default());
    let [port] = read.device.ports.as_slice() else { panic!("{:?}\n{text}", read.device) };
    port.clone()
}

proptest! {
    // The number of cases is for `make test`; PROPTEST_CASES asks for others.
    #![proptest_config(ProptestConfig { failure_persistence: None, max_shrink_iters: 100, ..cases(500) })]

    #[test]
    fn what_is_written_is_read(port in port()) {
        let tc = written(&port);
        let text = text(&tc);
        prop_assert!(tc.lost.is_empty(), "{:#?}\n{text}", tc.lost);
        let (old, new) = (canonical::port(port.clone()), canonical::port(back(&text)));
        prop_assert_eq!(differences(&old.conditioners, &new.conditioners), "", "{}", text);
        prop_assert_eq!(differences(&old.queue, &new.queue), "", "{}", text);
        prop_assert_eq!(&old, &new, "{}", text);
        // A second export is the first.
        prop_assert_eq!(self::text(&written(&back(&text))), text);
    }
}

/// That many, unless PROPTEST_CASES says how many.
fn cases(many: u32) -> ProptestConfig {
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => ProptestConfig::default(),
        None => ProptestConfig::with_cases(many),
    }
}

/// What tc and the kernel assume, by tc-*(8) and as a kernel shows it.
const ASSUMED: [[&str; 2]; 12] = [
    [
        "qdisc add dev eth0 root fq_codel",
        "qdisc add dev eth0 root fq_codel limit 10240 flows 1024 quantum 1514 target 5ms interval 100ms memory_limit 32Mb drop_batch 64 ecn",
    ],
    ["qdisc add dev eth0 root codel", "qdisc add dev eth0 root codel limit 1000 target 5ms interval 100ms noecn"],
    [
        "qdisc add dev eth0 root pie",
        "qdisc add dev eth0 root pie limit 1000 target 15ms tupdate 15ms alpha 2 beta 20 noecn nobytemode no_dq_rate_estimator",
    ],
    [
        "qdisc add dev eth0 root fq_pie",
        "qdisc add dev eth0 root fq_pie limit 10240 flows 1024 target 15ms tupdate 15ms alpha 2 beta 20 quantum 1514 memory_limit 32Mb ecn_prob 10 noecn nobytemode no_dq_rate_estimator",
    ],
    [
        "qdisc add dev eth0 root fq",
        "qdisc add dev eth0 root fq limit 10000 flow_limit 100 quantum 3028 initial_quantum 15140 pacing low_rate_threshold 550kbit refill_delay 40ms timer_slack 10us orphan_mask 1023",
    ],
    [
        "qdisc add dev eth0 root sfq",
        "qdisc add dev eth0 root sfq limit 127 quantum 1514 depth 127 flows 128 divisor 1024",
    ],
    [
        "qdisc add dev eth0 root cake bandwidth 20mbit",
        "qdisc add dev eth0 root cake bandwidth 20mbit diffserv3 triple-isolate nonat nowash no-ack-filter split-gso rtt 100ms raw",
    ],
    [
        "qdisc add dev eth0 root red limit 120k avpkt 1000",
        "qdisc add dev eth0 root red limit 120k min 10240 max 30720 avpkt 1000 burst 17 probability 0.02",
    ],
    ["qdisc add dev eth0 root pfifo", "qdisc add dev eth0 root pfifo limit 1000"],
    [
        "qdisc add dev eth0 root handle 1: prio",
        "qdisc add dev eth0 root handle 1: prio bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1",
    ],
    [
        "qdisc add dev eth0 root handle 1: htb default 2\ntc class add dev eth0 parent 1: classid 1:1 htb rate 6mbit\ntc class add dev eth0 parent 1: classid 1:2 htb rate 3mbit ceil 4mbit",
        "qdisc add dev eth0 root handle 1: htb default 2 r2q 10\ntc class add dev eth0 parent 1: classid 1:1 htb rate 6mbit ceil 6mbit burst 1600 cburst 1600 prio 0\ntc class add dev eth0 parent 1: classid 1:2 htb rate 3mbit ceil 4mbit burst 1600 cburst 1600 prio 0",
    ],
    [
        "qdisc add dev eth0 root handle 1: drr\ntc class add dev eth0 parent 1: classid 1:1 drr\ntc filter add dev eth0 parent 1: protocol all matchall flowid 1:1",
        "qdisc add dev eth0 root handle 1: drr\ntc class add dev eth0 parent 1: classid 1:1 drr quantum 1514\ntc filter add dev eth0 parent 1: protocol all matchall flowid 1:1",
    ],
];

/// Defaults written out are defaults left away, in what is read and in what is written of it.
#[test]
fn what_is_left_away_is_what_is_assumed() {
    for [short, long] in ASSUMED.map(|pair| pair.map(|it| format!("tc {it}\n"))) {
        let [left, said] = [back(&short), back(&long)];
        assert_eq!(differences(&left.queue, &said.queue), "", "{short}{long}");
        assert_eq!(left, said, "{short}{long}");
        assert_eq!(text(&written(&left)), text(&written(&said)), "{short}");
    }
}
