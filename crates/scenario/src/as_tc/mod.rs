//! `perhop explain --as tc`: a scenario's nodes, links and ports as commands for Linux.
//!
//! A node is a network namespace, a link a pair of virtual interfaces. The port of link number i is the interface `p<i>`: at its root
//! an HTB class with the link's rate, unless the port has a shaper; below that its queues. Conditioners are policers
//! at its egress. At the far end netem delays each packet by the time that its bits take and the link's delay.
//!
//! A size table takes Ethernet's 14 bytes from what a port counts and adds those of `accounting`: for its queues, and for the class
//! above them too.

/// Queues, schedulers, shapers.
mod ports;
mod red;
/// Policers.
mod police;
/// TCP.
mod tcp;
/// Delay, loss, reordering.
mod wire;
/// Quantities as tc writes them.
mod words;

use crate::scenario::Scenario;
use perhop_core::port::QueueSpec;
use perhop_core::units::Time;
use perhop_sim::plan::{self, Plan};
use perhop_sim::transport::Bursts;
use std::collections::BTreeMap;

/// Ethernet's header, which Linux's queues count.
const ETHERNET: i64 = 14;

/// A scenario's network on Linux.
#[derive(Clone, Debug, Default)]
pub struct Linux {
    /// The commands that make it, in order.
    pub commands: Vec<String>,
    /// For each port its name, and node and interface at the far end of its link.
    pub ends: Vec<[String; 3]>,
    /// Nodes and their addresses.
    pub addresses: Vec<[String; 2]>,
    /// Bulk transfers over TCP.
    pub transfers: Vec<Transfers>,
}

/// What the sockets of a traffic's bulk transfers are told.
#[derive(Clone, Debug)]
pub struct Transfers {
    /// The traffic's name.
    pub traffic: String,
    /// Linux's name of the congestion law.
    pub congestion: String,
    /// Data bytes of a full segment.
    pub segment: u64,
    /// The receiver's window, bytes.
    pub window: u64,
    /// When they stop offering data; `None`: at the end.
    pub stop: Option<Time>,
}

/// The network that a scenario's nodes, links and ports make.
///
/// # Errors
/// Everything that Linux's tools cannot say, each with its place in the scenario.
pub fn as_tc(scenario: &Scenario) -> Result<Linux, Vec<String>> {
    let plan = &scenario.built.plan;
    let mut said = Said::default();
    nodes(plan, &mut said);
    tcp::settings(scenario, &mut said);
    for (i, link) in plan.links.iter().enumerate() {
        interface(scenario, i, &mut said);
        let port = Port { device: device(i), node: plan.nodes[link.from].name.clone(), overhead: plan.overhead, link };
        ports::say(&port, &mut said);
        police::say(&port, &mut said);
        wire::say(&port, &plan.nodes[link.to].name, (&far_device(plan, i), i), &mut said);
    }
    routes(scenario, &mut said);
    if !said.refused.is_empty() {
        return Err(said.refused);
    }
    let end =
        |(i, link): (usize, &plan::Link)| [link.name.clone(), plan.nodes[link.to].name.clone(), far_device(plan, i)];
    Ok(Linux {
        commands: said.commands,
        ends: plan.links.iter().enumerate().map(end).collect(),
        addresses: plan.nodes.iter().map(|node| [node.name.clone(), node.address.to_string()]).collect(),
        transfers: tcp::transfers(plan),
    })
}

/// What has been said, and what cannot be.
#[derive(Default)]
struct Said {
    commands: Vec<String>,
    refused: Vec<String>,
    /// How many policers several filters share.
    shared: usize,
}

impl Said {
    fn say(&mut self, command: String) {
        self.commands.push(command);
    }

    /// A policer of that many filters: with a number, by which the second finds the bucket of the first.
    fn shared(&mut self, police: &str, filters: usize) -> String {
        if filters <= 1 {
            return police.to_owned();
        }
        self.shared += 1;
        format!("{police} index {}", self.shared)
    }

    /// `what` is not among what tc knows.
    fn refuse(&mut self, port: &Port<'_>, what: &str) {
        let refused = format!("tc cannot say {what} at `{}`", port.link.name);
        if !self.refused.contains(&refused) {
            self.refused.push(refused);
        }
    }
}

/// A port, as Linux knows it.
struct Port<'a> {
    device: String,
    node: String,
    /// Bytes that queues count beyond the IP length.
    overhead: u32,
    link: &'a plan::Link,
}

impl Port<'_> {
    fn tc(&self, object: &str, rest: &str) -> String {
        format!("tc -n {} {object} add dev {} {rest}", self.node, self.device)
    }
}

/// The interface by which packets leave on a link.
fn device(link: usize) -> String {
    format!("p{link}")
}

fn nodes(plan: &Plan, said: &mut Said) {
    for node in &plan.nodes {
        let (name, address) = (&node.name, node.address);
        said.say(format!("ip netns add {name}"));
        said.say(format!("ip -n {name} link set lo up"));
        said.say(format!("ip -n {name} addr add {address}/32 dev lo"));
        let settings = "net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0 net.ipv6.conf.default.disable_ipv6=1";
        said.say(format!("ip netns exec {name} sysctl -q -w {settings}"));
    }
}

/// The other direction of a link, if there is one.
fn mate(plan: &Plan, link: usize) -> Option<usize> {
    let it = &plan.links[link];
    plan.links.iter().position(|other| (other.from, other.to) == (it.to, it.from))
}

/// The interface at the far end of a link.
fn far_device(plan: &Plan, link: usize) -> String {
    mate(plan, link).map_or_else(|| format!("q{link}"), device)
}

/// The address of a link's interface at its near or far end.
fn address(link: usize, far: bool) -> String {
    format!("172.{}.{}.{}", 16 + link / 16_384, link / 64 % 256, link % 64 * 4 + if far { 2 } else { 1 })
}

/// The hardware address of a link's interface at its near or far end: known, so that no queue sees a question for it.
fn mac(link: usize, far: bool) -> String {
    format!("02:00:00:{:02x}:{:02x}:{:02x}", link / 256, link % 256, u8::from(far))
}

/// The pair of interfaces, once for both directions.
fn interface(scenario: &Scenario, i: usize, said: &mut Said) {
    let plan = &scenario.built.plan;
    let (link, mate) = (&plan.links[i], mate(plan, i));
    if mate.is_some_and(|mate| mate < i) {
        return;
    }
    let (here, there) = (&plan.nodes[link.from].name, &plan.nodes[link.to].name);
    let far = far_device(plan, i);
    let [near_mac, far_mac] = [mac(i, false), mac(i, true)];
    said.say(format!(
        "ip link add p{i} netns {here} address {near_mac} type veth peer name {far} address {far_mac} netns {there}"
    ));
    let bursts = [link.from, link.to].map(|node| tcp::bursts(scenario, node));
    for ((name, device, far_end), bursts) in [(here, device(i), false), (there, far, true)].into_iter().zip(bursts) {
        let gso = if matches!(bursts, Bursts::Of(2..)) { "on" } else { "off" };
        let most = if bursts == Bursts::Linux { String::new() } else { format!(" gso_max_segs {bursts}") };
        said.say(format!("ip -n {name} addr add {}/30 dev {device}", address(i, far_end)));
        said.say(format!("ip -n {name} link set {device} up mtu {} txqueuelen 1000{most}", mtu(link)));
        said.say(format!("ip netns exec {name} ethtool -K {device} tso off gso {gso} gro off"));
        // Policers are at its egress, the wire of the other direction at its ingress.
        said.say(format!("tc -n {name} qdisc add dev {device} clsact"));
        let (other, its) = (address(i, !far_end), mac(i, !far_end));
        said.say(format!("ip -n {name} neigh replace {other} lladdr {its} dev {device} nud permanent"));
    }
}

/// Largest IP packet of an interface. AQMs spare a queue of no more than that, so it is Ethernet's where packets are not larger.
fn mtu(link: &plan::Link) -> u64 {
    let largest = |queue: &QueueSpec| queue.scope.largest_packet.get().saturating_sub(queue.scope.overhead.into());
    link.queues.iter().map(largest).max().unwrap_or_default().max(1500)
}

/// A route to every traffic's ends at each node on its way.
fn routes(scenario: &Scenario, said: &mut Said) {
    let plan = &scenario.built.plan;
    let mut known = BTreeMap::new();
    for flow in &scenario.built.traffic {
        let (from, to) = (flow.offered.from.get(flow.sender).copied().unwrap_or_default(), flow.offered.to);
        for (way, end) in [(&flow.forward, to), (&flow.backward, from)] {
            way.iter().for_each(|&link| _ = known.insert((plan.links[link as usize].from, end), link as usize));
        }
    }
    for ((at, to), link) in known {
        let (name, end) = (&plan.nodes[at], &plan.nodes[to]);
        let first = mate(plan, link).filter(|mate| *mate < link);
        let via = first.map_or_else(|| address(link, true), |first| address(first, false));
        let (device, tcp) = (device(link), tcp::route(scenario, at, to));
        said.say(format!(
            "ip -n {} route add {}/32 via {via} dev {device} src {}{tcp}",
            name.name, end.address, name.address
        ));
    }
}
