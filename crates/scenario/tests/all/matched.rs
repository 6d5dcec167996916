//! Classes by `match`: whose packets they get does not depend on how addresses are numbered, and the first of two that agree
//! takes a packet.

use perhop_scenario::{Options, Scenario};
use perhop_sim::{EngineOptions, Simulation};

const NET: &str = r#"
[scenario]
duration = "6s"
warmup = "1s"

[nodes]
s = { address = "10.9.0.1" }
a = { address = "10.0.1.7" }
b = { address = "10.0.2.7" }

[links]
"s - r" = { rate = "1Gbit/s", delay = "1ms" }
"r - x" = { rate = "10Mbit/s", delay = "5ms" }
"r -> x" = { queue = "q" }
"x - a" = { rate = "1Gbit/s", delay = "1ms" }
"x - b" = { rate = "1Gbit/s", delay = "2ms" }

[conditioner.contract]
at = "r -> x"
match = { destination = "10.0.1.0/24" }
per = "destination"
kind = "token-bucket"
cir = "1Mbit/s"
cbs = "10kB"
red = "mark AF12"

[conditioner.after]
at = "r -> x"
match = { conditioner = "contract", dscp = "AF12" }
kind = "rate-labeller"
k = "100ms"

[queue.q]
scheduler = "drr"
classes = [
  { match = { dscp = "AF12" }, quantum = "3000B", queue = { limit = "50p" } },
  { match = { destination = "10.0.1.0/24" }, quantum = "1500B", queue = { limit = "50p" } },
  { match = { source = "10.9.0.1", protocol = "tcp" }, quantum = "1500B", queue = { aqm = "wred", limit = "50p", averages = "separate", ecn = true, profiles = [
    { match = { ecn = "ect0" }, min = "5p", max = "15p", max-p = 0.1 },
    { min = "10p", max = "30p", max-p = 0.1 },
  ] } },
  { quantum = "1500B" },
]

[tcp.ecn]
ecn = true

[traffic.a]
model = "ftp"
flows = 3
from = "s"
to = "a"

[traffic.b]
model = "ftp"
flows = 2
tcp = "ecn"
from = "s"
to = "b"

[traffic.c]
model = "cbr"
rate = "1Mbit/s"
size = "500B"
from = "s"
to = "b"
"#;

/// What each queue of the bottleneck got of each traffic, and the fates there.
fn outcome(text: &str) -> Vec<String> {
    let (scenario, warnings) =
        Scenario::parse(text, &Options::new("net.toml")).unwrap_or_else(|found| panic!("{found}"));
    assert_eq!(warnings.list.iter().filter(|it| it.code == "W321").count(), 0, "{warnings}");
    let plan = scenario.plan(1, 0);
    let port = plan.links.iter().position(|link| link.name == "r -> x").unwrap();
    let outcome = Simulation::new(plan, EngineOptions::default()).unwrap().run(|_| true).unwrap();
    let hops = outcome.ports.hops.iter().filter(|row| row.link == port).map(|row| format!("{row:?}"));
    let nodes = outcome.ports.nodes.iter().filter(|row| row.link == port).map(|row| format!("{row:?}"));
    hops.chain(nodes).collect()
}

#[test]
fn renumbered_addresses_change_nothing() {
    let renumbered = NET.replace("10.9.", "192.168.").replace("10.0.1.", "172.16.4.").replace("10.0.2.", "172.16.9.");
    assert_ne!(renumbered, NET);
    assert_eq!(outcome(&renumbered), outcome(NET));
}

/// Packets of `a` beyond its contract belong to both of the first classes: the one that comes first takes them.
#[test]
fn the_first_of_two_classes_takes_a_packet() {
    let lines: Vec<_> = NET.lines().collect();
    let first = lines.iter().position(|line| line.contains("match = { dscp = \"AF12\" }, quantum")).unwrap();
    let mut swapped = lines.clone();
    swapped.swap(first, first + 1);
    let sent = |text: &str, class: usize| -> u64 {
        let (scenario, _) = Scenario::parse(text, &Options::new("net.toml")).unwrap();
        let plan = scenario.plan(1, 0);
        let port = plan.links.iter().position(|link| link.name == "r -> x").unwrap();
        let outcome = Simulation::new(plan, EngineOptions::default()).unwrap().run(|_| true).unwrap();
        let rows = outcome.ports.queues.iter().filter(|row| (row.link, row.queue) == (port, class));
        rows.map(|row| row.sent.packets).sum()
    };
    let swapped = swapped.join("\n");
    assert!(sent(NET, 0) > 1000 && sent(NET, 1) > 100, "{} {}", sent(NET, 0), sent(NET, 1));
    assert_eq!(sent(&swapped, 1), 0, "all of a's packets are in the class by address");
}

/// Ports are those that the traffic states; the simulator gives others, never one below 1024.
#[test]
fn a_class_by_port_gets_the_traffic_that_states_it() {
    let by_port = NET
        .replace("{ match = { dscp = \"AF12\" }, quantum", "{ match = { destination-port = 443 }, quantum")
        .replace("{ match = { destination = \"10.0.1.0/24\" }, quantum", "{ match = { source-port = 22 }, quantum");
    let sent = |text: &str| -> Vec<u64> {
        let (scenario, _) = Scenario::parse(text, &Options::new("net.toml")).unwrap_or_else(|found| panic!("{found}"));
        let plan = scenario.plan(1, 0);
        let port = plan.links.iter().position(|link| link.name == "r -> x").unwrap();
        let outcome = Simulation::new(plan, EngineOptions::default()).unwrap().run(|_| true).unwrap();
        let of = |class: usize| {
            let rows = outcome.ports.queues.iter().filter(move |row| (row.link, row.queue) == (port, class));
            rows.map(|row| row.sent.packets).sum()
        };
        (0..4).map(of).collect()
    };
    let none = sent(&by_port);
    assert_eq!(none[..2], [0, 0], "no traffic states a port");
    let stated = by_port.replace("[traffic.c]", "[traffic.c]\ndestination-port = 443\nsource-port = 4000");
    let some = sent(&stated);
    assert!(some[0] > 1000 && some[1] == 0, "{some:?}");
    assert!(some[3] < none[3], "{some:?} {none:?}");
}
