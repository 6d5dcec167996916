//! `perhop explain --as tc`: a scenario's nodes, links and ports as commands for Linux.
//!
//! Node number i is the network namespace `n<i>`, a link a pair of virtual interfaces. No name of the file is in a command, for a
//! shell would read it: names stand in comments, quoted. The port of link number i is the interface `p<i>`: at its root
//! an HTB class with the link's rate, unless the port has a shaper; below that its queues. Conditioners are policers
//! at its egress. At the far end netem delays each packet by the time that its bits take and the link's delay.
//!
//! A size table takes Ethernet's 14 bytes from what a port counts and adds those of `accounting`: for its queues, and for the class
//! above them too.

/// Schedulers, shapers.
mod ports;
/// Queues.
mod queues;
mod red;
/// Policers.
mod police;
/// TCP.
mod tcp;
/// What Linux's TCP has its own way of.
mod own;
/// Delay, loss, reordering.
mod wire;
/// Quantities as tc writes them.
mod words;

use crate::scenario::Scenario;
use crate::sweep::Sweep;
use perhop_core::port::QueueSpec;
use perhop_sim::plan::{self, Plan};
use perhop_sim::transport::Bursts;
use serde::Serialize;
use std::collections::BTreeMap;

/// Ethernet's header, which Linux's queues count.
const ETHERNET: i64 = 14;

/// A scenario's network on Linux.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Linux {
    /// The commands that make it, in order.
    pub commands: Vec<String>,
    /// Nodes.
    pub nodes: Vec<Node>,
    /// Ports, in the order of the links.
    pub ports: Vec<Ends>,
    /// What is sent.
    pub traffic: Vec<Traffic>,
    /// Bulk transfers over TCP.
    pub transfers: Vec<Transfers>,
    /// What Linux has otherwise than the scenario says.
    pub notes: Vec<String>,
    /// Simulated time, ns.
    pub duration_ns: u64,
    /// Time at the start that is excluded from the statistics, ns.
    pub warmup_ns: u64,
    /// Interval of the series, ns; 0: none.
    pub sample_ns: u64,
}

/// A node.
#[derive(Clone, Debug, Serialize)]
pub struct Node {
    /// As the scenario calls it.
    pub name: String,
    /// Its network namespace.
    pub namespace: String,
    /// Its address.
    pub address: String,
}

/// An interface in a namespace.
#[derive(Clone, Debug, Serialize)]
pub struct Device {
    /// The namespace.
    pub namespace: String,
    /// The interface.
    pub device: String,
}

/// A port, and the far end of its link.
#[derive(Clone, Debug, Serialize)]
pub struct Ends {
    /// As the scenario calls it.
    pub name: String,
    /// Where its packets wait.
    pub near: Device,
    /// Where they arrive.
    pub far: Device,
}

/// A traffic.
#[derive(Clone, Debug, Serialize)]
pub struct Traffic {
    /// As the scenario calls it.
    pub name: String,
    /// Its model.
    pub model: String,
    /// The namespace that receives it.
    pub to: String,
    /// The address that receives it.
    pub address: String,
}

/// What the sockets of a traffic's bulk transfers are told.
#[derive(Clone, Debug, Serialize)]
pub struct Transfers {
    /// The traffic's name.
    pub traffic: String,
    /// Linux's name of the congestion law.
    pub congestion: String,
    /// Data bytes of a full segment.
    pub segment: u64,
    /// The receiver's window, bytes.
    pub window: u64,
    /// When they stop offering data, ns; `None`: at the end.
    pub stop_ns: Option<u64>,
}

impl Linux {
    /// All of it, for other programs.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("plain data")
    }

    /// The commands as a script for a shell: comments first, in which names are quoted and take one line each.
    pub fn script(&self) -> String {
        let node = |it: &Node| format!("# {}: node {:?}, {}", it.namespace, it.name, it.address);
        let port = |it: &Ends| format!("# {} in {}: port {:?}", it.near.device, it.near.namespace, it.name);
        let note = |it: &String| format!("# note: {}", it.escape_debug());
        let comments =
            self.nodes.iter().map(node).chain(self.ports.iter().map(port)).chain(self.notes.iter().map(note));
        comments.chain(self.commands.iter().cloned()).collect::<Vec<_>>().join("\n")
    }
}

/// The network of the one scenario that a file describes.
///
/// # Errors
/// A sweep of several points; as [`as_tc`].
pub fn of_sweep(sweep: &Sweep) -> Result<Linux, Vec<String>> {
    match &sweep.points()[..] {
        [one] => as_tc(&one.scenario),
        several => {
            let points = several.len();
            let how = "leave one value in each axis, as in -s 'sweep.\"traffic.bulk.flows\"=[5]'";
            Err(vec![format!("[sweep] has {points} points, and Linux is set up as one scenario: {how}")])
        }
    }
}

/// The network that a scenario's nodes, links and ports make.
///
/// # Errors
/// Everything that Linux's tools cannot say, each with its place in the scenario.
pub fn as_tc(scenario: &Scenario) -> Result<Linux, Vec<String>> {
    let plan = &scenario.built.plan;
    let mut said = Said::default();
    if !plan.changes.is_empty() {
        let why = "the commands set up one state; remove it, or say with -s what holds after it";
        said.refused.push(format!("tc cannot say [[change]]: {why}"));
    }
    nodes(plan, &mut said);
    tcp::settings(scenario, &mut said);
    for (i, link) in plan.links.iter().enumerate() {
        interface(scenario, i, &mut said);
        let port = Port { device: device(i), namespace: namespace(link.from), overhead: plan.overhead, link };
        ports::say(&port, &mut said);
        police::say(&port, &mut said);
        wire::say(&port, &far(plan, i), i, &mut said);
    }
    routes(scenario, &mut said);
    if said.refused.is_empty() { Ok(described(plan, said)) } else { Err(said.refused) }
}

fn described(plan: &Plan, said: Said) -> Linux {
    let near = |i: usize| Device { namespace: namespace(plan.links[i].from), device: device(i) };
    let ends = |i: usize| Ends { name: plan.links[i].name.clone(), near: near(i), far: far(plan, i) };
    let node = |(i, node): (usize, &plan::Node)| Node {
        name: node.name.clone(),
        namespace: namespace(i),
        address: node.address.to_string(),
    };
    let traffic = |it: &plan::Offered| Traffic {
        name: it.name.clone(),
        model: it.model.name().into(),
        to: namespace(it.to),
        address: plan.nodes[it.to].address.to_string(),
    };
    Linux {
        commands: said.commands,
        nodes: plan.nodes.iter().enumerate().map(node).collect(),
        ports: (0..plan.links.len()).map(ends).collect(),
        traffic: plan.traffic.iter().map(traffic).collect(),
        transfers: tcp::transfers(plan),
        notes: said.notes,
        duration_ns: plan.duration.ns(),
        warmup_ns: plan.warmup.ns(),
        sample_ns: plan.sampling.as_ref().map_or(0, |sampling| sampling.every.ns()),
    }
}

/// What has been said, and what cannot be.
#[derive(Default)]
struct Said {
    commands: Vec<String>,
    refused: Vec<String>,
    notes: Vec<String>,
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
        once(&mut self.refused, format!("tc cannot say {what} at `{}`", port.link.name));
    }

    /// `what` is otherwise in Linux.
    fn note(&mut self, port: &Port<'_>, what: &str) {
        once(&mut self.notes, format!("port `{}`: {what}", port.link.name));
    }
}

fn once(list: &mut Vec<String>, line: String) {
    if !list.contains(&line) {
        list.push(line);
    }
}

/// A port, as Linux knows it.
struct Port<'a> {
    device: String,
    namespace: String,
    /// Bytes that queues count beyond the IP length.
    overhead: u32,
    link: &'a plan::Link,
}

impl Port<'_> {
    fn tc(&self, object: &str, rest: &str) -> String {
        format!("tc -n {} {object} add dev {} {rest}", self.namespace, self.device)
    }
}

/// The network namespace of a node.
fn namespace(node: usize) -> String {
    format!("n{node}")
}

/// The interface by which packets leave on a link.
fn device(link: usize) -> String {
    format!("p{link}")
}

fn nodes(plan: &Plan, said: &mut Said) {
    for (i, node) in plan.nodes.iter().enumerate() {
        let (name, address) = (namespace(i), node.address);
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
fn far(plan: &Plan, link: usize) -> Device {
    let device = mate(plan, link).map_or_else(|| format!("q{link}"), device);
    Device { namespace: namespace(plan.links[link].to), device }
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
    let here = Device { namespace: namespace(link.from), device: device(i) };
    let there = far(plan, i);
    said.say(format!(
        "ip link add {} netns {} address {} type veth peer name {} address {} netns {}",
        here.device,
        here.namespace,
        mac(i, false),
        there.device,
        mac(i, true),
        there.namespace
    ));
    let bursts = [link.from, link.to].map(|node| tcp::bursts(scenario, node));
    for ((Device { namespace: name, device }, far_end), bursts) in
        [(here, false), (there, true)].into_iter().zip(bursts)
    {
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
        let (here, end) = (&plan.nodes[at], &plan.nodes[to]);
        let first = mate(plan, link).filter(|mate| *mate < link);
        let via = first.map_or_else(|| address(link, true), |first| address(first, false));
        let (device, tcp) = (device(link), tcp::route(scenario, at, to));
        said.say(format!(
            "ip -n {} route add {}/32 via {via} dev {device} src {}{tcp}",
            namespace(at),
            end.address,
            here.address
        ));
    }
}
