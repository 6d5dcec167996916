//! What stands around a port: the run, the network, the load.

use super::draft::{Cell, Draft, Entry, Section};
use super::names::plain;
use crate::load::{FLOWS, Flow, Load, Node, SENDER, Sends};
use crate::model::{ON_THEIR_WAY, Port, Way};
use crate::value::Value;
use perhop_core::packet::Ecn;
use perhop_core::units::{BitRate, Bytes, Span};

/// The port itself.
pub const LINK: &str = "device -> receiver";
/// The port of the other direction.
pub(super) const FACING: &str = "device -> sender";
/// How much faster the other links are.
pub const ACCESS: u64 = 10;
/// Propagation over each link.
const DELAY: Span = Span::from_ms(5);

/// What is sent beside the load.
const CALLS: &str = " Beside it a call: 50 packets/s of 100 bytes, fewer where that is more than 1 % of the class.";

/// A port, the rate of its link, and what is sent to it.
#[derive(Clone, Copy)]
pub(super) struct End<'a> {
    pub(super) port: &'a Port,
    pub(super) link: BitRate,
    pub(super) load: &'a Load,
}

/// A port as a user calls it.
pub(super) fn called(port: &Port) -> String {
    plain(&format!("{} {}", port.interface.is, port.direction()))
}

/// The head, and `[scenario]`.
pub(super) fn head(draft: &mut Draft, ends: &[End<'_>]) {
    let loads: Vec<_> = ends.iter().map(|end| end.load).collect();
    let ports: Vec<_> = ends.iter().map(|end| format!("{}, {}", called(end.port), end.link)).collect();
    let ports = ports.join("; ");
    draft.comment(format!("# {ports}. What the device says stands behind `!`.\n#\n# {}\n", sentence(&loads)));
    let [duration, warmup] = Load::times(&loads);
    let mut section = Section::new("scenario", None, None);
    section.set("duration", duration);
    section.set("warmup", warmup);
    section.set("replications", &Value::Count(3));
    section.count(ends.iter().find_map(|end| end.port.accounting.as_ref()));
    draft.add(section);
}

/// The load, as a sentence.
pub(super) fn sentence(loads: &[&Load]) -> String {
    if loads.iter().any(|load| load.sections().is_some()) {
        return "The load: the stated one.".to_owned();
    }
    let first: String = loads.iter().map(|load| unreached(load)).collect();
    let of = if first.is_empty() { "each class" } else { "each other class" };
    let which = if loads.iter().any(|load| load.has_priority) { "each without priority" } else { "each" };
    let calls = if loads.iter().any(|load| load.has_calls()) { CALLS } else { "" };
    format!(
        "{first}The load: in {of} datagrams at two thirds of its rate, and in {which} a TCP that always has data.{calls}"
    )
}

/// The classes that nothing is sent in, with the reasons.
fn unreached(load: &Load) -> String {
    const SHOWN: usize = 8;
    let mut whys: Vec<&str> = load.without.iter().map(|it| it.1).collect();
    whys.dedup();
    let of = |why: &str| {
        let mut names: Vec<_> = load.without.iter().filter(|it| it.1 == why).map(|it| plain(&it.0)).collect();
        let more = names.len().saturating_sub(SHOWN);
        names.truncate(SHOWN);
        let others = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("No packet reaches {}{others}: {why}. ", names.join(", "))
    };
    whys.into_iter().map(of).collect()
}

/// `[nodes]` and `[links]`, with the names of the queues of ports.
pub(super) fn links(draft: &mut Draft, ends: &[End<'_>], queues: &[Option<String>]) {
    // A second load has the nodes of the first.
    let nodes = match ends {
        [_, back] => [&back.load.receivers, &back.load.senders],
        _ => [&ends[0].load.senders, &ends[0].load.receivers],
    };
    for (node, address) in nodes.iter().copied().flatten().filter_map(|node| Some((node, node.address?))) {
        let mut section = Section::new("nodes", Some(&node.name), None);
        section.set("address", address.to_string());
        draft.add(section);
    }
    let mut section = Section::new("links", None, None);
    section.entries = lines(ends, nodes);
    for (link, queue) in [LINK, FACING].into_iter().zip(queues) {
        let Some(queue) = queue else { continue };
        let mut table = Cell::table();
        table.set("queue", queue.as_str());
        section.set(link, table);
    }
    draft.add(section);
}

/// The lines of the network: those of the ports, and faster ones to the nodes around them.
fn lines(ends: &[End<'_>], [near, far]: [&Vec<Node>; 2]) -> Vec<Entry> {
    let fastest = ends.iter().map(|end| end.link).max().unwrap_or_default();
    let fast = BitRate::bps(fastest.bit_s().saturating_mul(ACCESS));
    let access = |one: &str, other: &str| {
        let mut table = Cell::table();
        table.set("rate", fast.to_string());
        table.set("delay", DELAY.to_string());
        Entry { key: format!("{one} - {other}"), from: None, cell: table }
    };
    let beyond = far.iter().skip(1).map(|node| access("receiver", &node.name));
    let mut lines = Vec::new();
    match ends {
        [out, back] => {
            lines.push(access(SENDER, "device"));
            lines.push(port_line("device - receiver", out));
            lines.push(port_line("receiver -> device", back));
            lines.extend(near.iter().skip(1).map(|node| access(&node.name, SENDER)));
        }
        [end, ..] if end.port.way == Way::Input => {
            lines.extend(near.iter().map(|node| access(&node.name, "network")));
            lines.push(port_line("network - device", end));
            lines.push(access("device", "receiver"));
        }
        [end, ..] => {
            lines.extend(near.iter().map(|node| access(&node.name, "device")));
            lines.push(port_line("device - receiver", end));
        }
        [] => {}
    }
    lines.extend(beyond);
    lines
}

/// The line whose rate is the port's.
fn port_line(ends: &str, &End { port, link, .. }: &End<'_>) -> Entry {
    let (mut table, mut settings) = (Cell::table(), port.link.clone());
    match settings.remove("rate") {
        Some(rate) => table.set("rate", &rate),
        None => table.set("rate", link.to_string()),
    }
    if settings.get("delay").is_none() {
        table.set("delay", DELAY.to_string());
    }
    settings.remove(ON_THEIR_WAY);
    let mtu = settings.remove("mtu");
    table.extend(&settings);
    mtu.iter().for_each(|mtu| table.set("mtu", mtu));
    table.note(&format!("! {}", plain(&port.interface.is)));
    Entry { key: ends.to_owned(), from: port.interface.origin.place(), cell: table }
}

/// `[tcp]` and `[traffic]`.
pub(super) fn load(draft: &mut Draft, load: &Load) {
    if let Some(stated) = load.sections() {
        return stated.iter().for_each(|section| draft.add(section.clone()));
    }
    load.without.iter().for_each(|(class, why)| draft.comment(format!("\n# No traffic in {}: {why}.\n", plain(class))));
    load.flows.iter().for_each(|flow| draft.add(traffic(flow)));
}

/// The stack of a TCP: ECT(1) is for a scalable one (RFC 9331).
fn stack(flow: &Flow) -> &'static str {
    if flow.look.ecn == Some(Ecn::Ect1) { "prague" } else { "linux" }
}

fn traffic(flow: &Flow) -> Section {
    let mut section = Section::new("traffic", Some(&flow.name), None);
    match flow.sends {
        Sends::Datagrams(rate, size) => datagrams(&mut section, rate, size, Some(FLOWS)),
        Sends::Call(rate, size) => datagrams(&mut section, rate, size, None),
        Sends::Tcp(None) => {
            section.set("model", "ftp");
            section.set("tcp", stack(flow));
        }
        Sends::Tcp(Some(segment)) => {
            let mut tcp = Cell::table().with("the largest that its buckets hold");
            tcp.set("stack", stack(flow));
            tcp.set("segment", segment.to_string());
            section.set("model", "ftp");
            section.set("tcp", tcp);
        }
    }
    section.set("from", flow.from.as_str());
    section.set("to", flow.to.as_str());
    if flow.class != flow.name {
        section.set("class", flow.class.as_str());
    }
    if flow.look.dscp.get() > 0 {
        section.set("dscp", flow.look.dscp.to_string());
    }
    let ports = [("source-port", flow.look.source_port), ("destination-port", flow.look.destination_port)];
    for (name, port) in ports.into_iter().filter_map(|(name, port)| Some((name, port?))) {
        section.set(name, &Value::Count(port.into()));
    }
    if let Some(ecn) = flow.look.ecn {
        section.set("ecn", &Value::Flag(true));
        (ecn == Ecn::Ect1).then(|| section.set("l4s", &Value::Flag(true)));
    }
    section
}

/// Datagrams of one size, of one flow unless it is said of how many.
fn datagrams(section: &mut Section, rate: BitRate, size: Bytes, flows: Option<u64>) {
    section.set("model", "cbr");
    section.set("rate", rate.to_string());
    flows.into_iter().for_each(|flows| section.set("flows", &Value::Count(flows)));
    section.set("size", size.to_string());
    section.set("jitter", &Value::Number(0.5));
}
