//! `perhop explain --as tc`: a scenario's nodes, links and ports as commands for Linux; with `--port` one port alone.
//!
//! Node number i is the network namespace `n<i>`, a link a pair of virtual interfaces. No name of the file is in a command, for a
//! shell would read it: names are in comments, quoted. The port of link number i is the interface `p<i>`: at its root
//! an HTB class with the link's rate, unless the port has a shaper; below that its queues. Conditioners are policers
//! at its egress. At the far end netem delays each packet by the time that its bits take and the link's delay.
//!
//! A size table takes Ethernet's 14 bytes from what a port counts and adds those of `accounting`: for its queues, and for the class
//! above them too.

/// Which packets a class or a conditioner takes.
mod filters;
/// What is returned, and its text.
mod linux;
/// What counters are of.
mod objects;
/// One port alone.
mod port;
/// Schedulers, shapers.
mod ports;
/// Queues and schedulers of flows.
mod leaves;
/// RED and CHOKe.
mod red;
/// Conditioners that only say which packets they saw.
mod labels;
/// Conditioners.
mod police;
/// What has been said, and what cannot be.
mod script;
/// TCP.
mod tcp;
/// What Linux's TCP has its own way of.
mod own;
/// Delay, loss, reordering.
mod wire;
/// Quantities as tc writes them.
mod words;

pub use linux::{Command, Device, Ends, Linux, LinuxPort, Node, Traffic, Transfers};
pub(crate) use objects::{Object, objects};
pub use port::port_of_sweep;

use crate::device::only_point;
use crate::tc::limits::INTERFACE_QUEUE;
use perhop_core::port::QueueSpec;
use perhop_scenario::scenario::Scenario;
use perhop_scenario::sweep::Sweep;
use perhop_sim::plan::{self, Plan};
use perhop_sim::transport::Bursts;
use script::{Line, Port, Script, passing};
use std::collections::BTreeMap;

/// The network of the one scenario that a file describes.
///
/// # Errors
/// A sweep of several points; as [`as_tc`].
pub fn of_sweep(sweep: &Sweep) -> Result<Linux, Vec<String>> {
    as_tc(&only_point(sweep, "Linux").map_err(|error| vec![error.to_string()])?.scenario)
}

/// The network that a scenario's nodes, links and ports make.
///
/// # Errors
/// Everything that Linux's tools cannot say, each with its place in the scenario.
pub fn as_tc(scenario: &Scenario) -> Result<Linux, Vec<String>> {
    let plan = &scenario.built().plan;
    let mut said = Script::default();
    if !plan.changes.is_empty() {
        let why = "the commands set up one state; remove the change, or state its values by -s";
        said.refuse_of("the scenario".into(), &format!("tc cannot express [[change]]: {why}"));
    }
    nodes(plan, &mut said);
    tcp::settings(scenario, &mut said);
    for (i, link) in plan.links.iter().enumerate() {
        interface(scenario, i, &mut said);
        let port = Port {
            near: near(plan, i),
            accounting: plan.accounting,
            link,
            headers: passing(scenario, i),
            line: Line::Virtual,
        };
        ports::say(&port, &mut said);
        police::say(&port, &mut said);
        wire::say(&port, &far(plan, i), i, &mut said);
    }
    routes(scenario, &mut said);
    match said.refused() {
        refused if refused.is_empty() => Ok(described(plan, said)),
        refused => Err(refused),
    }
}

fn described(plan: &Plan, said: Script) -> Linux {
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
        segments: it.sockets.gso,
        max_pacing_rate: it.sockets.max_pacing_rate.map(|rate| rate.bit_s() / 8),
        transfers: tcp::transfers(it),
    };
    Linux {
        notes: said.notes(),
        commands: said.commands,
        nodes: (0..plan.nodes.len()).map(node).collect(),
        ports: (0..plan.links.len()).map(ends).collect(),
        traffic: plan.traffic.iter().map(traffic).collect(),
        duration_ns: plan.duration.ns(),
        warmup_ns: plan.warmup.ns(),
        sample_ns: plan.sampling.as_ref().map_or(0, |sampling| sampling.every.ns()),
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

fn nodes(plan: &Plan, said: &mut Script) {
    for (i, node) in plan.nodes.iter().enumerate() {
        let (name, address) = (namespace(i), node.address);
        said.say(Command::of(&format!("ip netns add {name}")));
        let lo = Device::of(&name, "lo");
        said.say(lo.ip("link set lo up"));
        said.say(lo.ip(&format!("addr add {address}/32 dev lo")));
        let settings = "net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0 net.ipv6.conf.default.disable_ipv6=1";
        said.say(Command::inside(&namespace(i), &format!("sysctl -q -w {settings}")));
    }
}

/// The other direction of a link, if there is one.
fn mate(plan: &Plan, link: usize) -> Option<usize> {
    let it = &plan.links[link];
    plan.links.iter().position(|other| (other.from, other.to) == (it.to, it.from))
}

/// The interface by which packets leave on a link, with its namespace.
fn near(plan: &Plan, link: usize) -> Device {
    Device::of(&namespace(plan.links[link].from), &device(link))
}

/// The interface at the far end of a link.
fn far(plan: &Plan, link: usize) -> Device {
    let device = mate(plan, link).map_or_else(|| format!("q{link}"), device);
    Device::of(&namespace(plan.links[link].to), &device)
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
fn interface(scenario: &Scenario, i: usize, said: &mut Script) {
    let plan = &scenario.built().plan;
    let (link, mate) = (&plan.links[i], mate(plan, i));
    if mate.is_some_and(|mate| mate < i) {
        return;
    }
    let (here, there) = (near(plan, i), far(plan, i));
    let peer = format!("peer name {} address {} netns {}", there.device, mac(i, true), namespace(link.to));
    let own = format!("{} netns {} address {}", here.device, namespace(link.from), mac(i, false));
    said.say(Command::of(&format!("ip link add {own} type veth {peer}")));
    for (end, far_end, node) in [(here, false, link.from), (there, true, link.to)] {
        let bursts = tcp::bursts(scenario, node);
        let gso = if matches!(bursts, Bursts::Of(2..)) { "on" } else { "off" };
        let most = if bursts == Bursts::Linux { String::new() } else { format!(" gso_max_segs {bursts}") };
        let device = &end.device;
        said.say(end.ip(&format!("addr add {}/30 dev {device}", address(i, far_end))));
        said.say(end.ip(&format!("link set {device} up mtu {} txqueuelen {INTERFACE_QUEUE}{most}", mtu(link))));
        // What a socket hands over as one packet of several datagrams is taken apart behind the queue.
        let datagrams = plan.traffic.iter().any(|it| it.sockets.gso > 1 && it.from.contains(&node));
        let apart = if datagrams { " tx-udp-segmentation off" } else { "" };
        let words = format!("ethtool -K {device} tso off gso {gso} gro off{apart}");
        said.say(Command { device: Some(device.clone()), ..Command::inside(&namespace(node), &words) });
        // Policers are at its egress, the wire of the other direction at its ingress.
        said.say(end.tc("qdisc", "clsact"));
        let (other, its) = (address(i, !far_end), mac(i, !far_end));
        said.say(end.ip(&format!("neigh replace {other} lladdr {its} dev {device} nud permanent")));
    }
}

/// Largest IP packet of an interface. AQMs spare a queue of no more than that, so it is Ethernet's where packets are not larger.
fn mtu(link: &plan::Link) -> u64 {
    let largest =
        |queue: &QueueSpec| queue.scope.largest_packet.get().saturating_sub(queue.scope.accounting.overhead().into());
    link.queues.iter().map(largest).max().unwrap_or_default().max(1500)
}

/// A route to every traffic's ends at each node on its way.
fn routes(scenario: &Scenario, said: &mut Script) {
    let plan = &scenario.built().plan;
    let mut known = BTreeMap::new();
    for flow in &scenario.built().traffic {
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
