//! `perhop explain --as tc`: a scenario's nodes, links and ports as commands for Linux.
//!
//! Node number i is the network namespace `n<i>`, a link a pair of virtual interfaces. No name of the file is in a command, for a
//! shell would read it: names stand in comments, quoted. The port of link number i is the interface `p<i>`: at its root
//! an HTB class with the link's rate, unless the port has a shaper; below that its queues. Conditioners are policers
//! at its egress. At the far end netem delays each packet by the time that its bits take and the link's delay.
//!
//! A size table takes Ethernet's 14 bytes from what a port counts and adds those of `accounting`: for its queues, and for the class
//! above them too.

/// What is returned, and its text.
mod linux;
/// What counters are of.
mod objects;
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

pub use linux::{Command, Device, Ends, Linux, Node, Traffic, Transfers};
pub(crate) use objects::{Object, objects};

use crate::scenario::Scenario;
use crate::sweep::Sweep;
use perhop_core::port::QueueSpec;
use perhop_sim::plan::{self, Plan};
use perhop_sim::transport::Bursts;
use std::collections::BTreeMap;

/// Ethernet's header, which Linux's queues count.
const ETHERNET: i64 = 14;

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
            Err(vec![format!("[sweep] has {points} points, but Linux is set up as one scenario: {how}")])
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
        let why = "the commands set up one state; remove the change, or state its values by -s";
        said.refused.push(format!("tc cannot express [[change]]: {why}"));
    }
    nodes(plan, &mut said);
    tcp::settings(scenario, &mut said);
    for (i, link) in plan.links.iter().enumerate() {
        interface(scenario, i, &mut said);
        let port = Port { near: near(plan, i), far: far(plan, i), overhead: plan.overhead, link };
        ports::say(&port, &mut said);
        police::say(&port, &mut said);
        wire::say(&port, i, &mut said);
    }
    routes(scenario, &mut said);
    if said.refused.is_empty() { Ok(described(plan, said)) } else { Err(said.refused) }
}

fn described(plan: &Plan, said: Said) -> Linux {
    let ends = |i: usize| Ends { name: plan.links[i].name.clone(), near: near(plan, i), far: far(plan, i) };
    let node = |i: usize| Node {
        name: plan.nodes[i].name.clone(),
        namespace: namespace(i),
        address: plan.nodes[i].address.to_string(),
    };
    let traffic = |it: &plan::Offered| Traffic {
        name: it.name.clone(),
        model: it.model.name().into(),
        to: node(it.to),
        transfers: tcp::transfers(it),
    };
    Linux {
        commands: said.commands,
        nodes: (0..plan.nodes.len()).map(node).collect(),
        ports: (0..plan.links.len()).map(ends).collect(),
        traffic: plan.traffic.iter().map(traffic).collect(),
        notes: said.notes,
        duration_ns: plan.duration.ns(),
        warmup_ns: plan.warmup.ns(),
        sample_ns: plan.sampling.as_ref().map_or(0, |sampling| sampling.every.ns()),
    }
}

/// What has been said, and what cannot be.
#[derive(Default)]
struct Said {
    commands: Vec<Command>,
    refused: Vec<String>,
    notes: Vec<String>,
    /// How many policers several filters share.
    shared: usize,
}

impl Said {
    fn say(&mut self, command: Command) {
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
        once(&mut self.refused, format!("port `{}`: tc cannot express {what}", port.link.name));
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
    near: Device,
    far: Device,
    /// Bytes that queues count beyond the IP length.
    overhead: u32,
    link: &'a plan::Link,
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
        said.say(Command::of(&format!("ip netns add {name}")));
        let lo = Device { namespace: name, device: "lo".into() };
        said.say(lo.ip("link set lo up"));
        said.say(lo.ip(&format!("addr add {address}/32 dev lo")));
        let settings = "net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0 net.ipv6.conf.default.disable_ipv6=1";
        said.say(Command::inside(&lo.namespace, &format!("sysctl -q -w {settings}")));
    }
}

/// The other direction of a link, if there is one.
fn mate(plan: &Plan, link: usize) -> Option<usize> {
    let it = &plan.links[link];
    plan.links.iter().position(|other| (other.from, other.to) == (it.to, it.from))
}

/// The interface by which packets leave on a link, with its namespace.
fn near(plan: &Plan, link: usize) -> Device {
    Device { namespace: namespace(plan.links[link].from), device: device(link) }
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
    let (here, there) = (near(plan, i), far(plan, i));
    let peer = format!("peer name {} address {} netns {}", there.device, mac(i, true), there.namespace);
    let own = format!("{} netns {} address {}", here.device, here.namespace, mac(i, false));
    said.say(Command::of(&format!("ip link add {own} type veth {peer}")));
    for (end, far_end, node) in [(here, false, link.from), (there, true, link.to)] {
        let bursts = tcp::bursts(scenario, node);
        let gso = if matches!(bursts, Bursts::Of(2..)) { "on" } else { "off" };
        let most = if bursts == Bursts::Linux { String::new() } else { format!(" gso_max_segs {bursts}") };
        let device = &end.device;
        said.say(end.ip(&format!("addr add {}/30 dev {device}", address(i, far_end))));
        said.say(end.ip(&format!("link set {device} up mtu {} txqueuelen 1000{most}", mtu(link))));
        said.say(end.inside(&format!("ethtool -K {device} tso off gso {gso} gro off")));
        // Policers are at its egress, the wire of the other direction at its ingress.
        said.say(end.tc("qdisc", "clsact"));
        let (other, its) = (address(i, !far_end), mac(i, !far_end));
        said.say(end.ip(&format!("neigh replace {other} lladdr {its} dev {device} nud permanent")));
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
        let (port, tcp) = (near(plan, link), tcp::route(scenario, at, to));
        let way = format!("{}/32 via {via} dev {} src {}{tcp}", end.address, port.device, here.address);
        said.say(port.ip(&format!("route add {way}")));
    }
}
