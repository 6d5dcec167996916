//! What stands around a port: the run, the network, the load.

use super::classes::key_text;
use super::names::plain;
use super::page::{Page, Row, key};
use crate::load::{FLOWS, Flow, Load, Node, SENDER, Sends};
use crate::model::{ON_THEIR_WAY, Port, Way};
use crate::value::{Value, WithOrigin};
use perhop_core::packet::Ecn;
use perhop_core::units::{BitRate, Span};

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
pub(super) fn head(page: &mut Page, ends: &[End<'_>]) {
    let loads: Vec<_> = ends.iter().map(|end| end.load).collect();
    let ports: Vec<_> = ends.iter().map(|end| format!("{}, {}", called(end.port), end.link)).collect();
    page.add(&format!("# {}. What the device says stands behind `!`.\n#\n", ports.join("; ")));
    page.add(&format!("# {}\n", sentence(&loads)));
    let [duration, warmup] = Load::times(&loads);
    page.add(&format!("[scenario]\nduration = \"{duration}\"\nwarmup = \"{warmup}\"\nreplications = 3\n"));
    if let Some(accounting) = ends.iter().find_map(|end| end.port.accounting.as_ref()) {
        page.entry("accounting", &WithOrigin { is: Value::Word(accounting.is.to_owned()), origin: accounting.origin });
    }
}

/// The load, as a sentence.
pub(super) fn sentence(loads: &[&Load]) -> String {
    if loads.iter().any(|load| load.page().is_some()) {
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

/// `[nodes]` and `[links]`.
pub(super) fn links(page: &mut Page, port: &Port, link: BitRate, load: &Load, queue: Option<&str>) {
    let addressed = |node: &&Node| node.address.is_some();
    for node in load.senders.iter().chain(&load.receivers).filter(addressed) {
        page.section("nodes", Some(&node.name), None, "");
        page.add(&format!("address = \"{}\"\n", node.address.map(|it| it.to_string()).unwrap_or_default()));
    }
    page.section("links", None, None, "");
    let fast = BitRate::bps(link.bit_s().saturating_mul(ACCESS));
    let access = |page: &mut Page, ends: String| {
        page.add(&format!("{} = {{ rate = \"{fast}\", delay = \"{DELAY}\" }}\n", key(&ends)));
    };
    let input = port.way == Way::Input;
    let first = if input { "network" } else { "device" };
    load.senders.iter().for_each(|node| access(page, format!("{} - {first}", node.name)));
    if input {
        port_link(page, "network - device", port, link);
        access(page, "device - receiver".to_owned());
    } else {
        port_link(page, "device - receiver", port, link);
    }
    load.receivers.iter().skip(1).for_each(|node| access(page, format!("receiver - {}", node.name)));
    if let Some(queue) = queue {
        page.add(&format!("{} = {{ queue = {} }}\n", key(LINK), key_text(queue)));
    }
}

/// The same of both directions of a line, and the queues of both.
pub(super) fn links_of_both(page: &mut Page, [out, back]: [End<'_>; 2], queues: [Option<&str>; 2]) {
    // The second load has the nodes of the first.
    let (near, far) = (&back.load.receivers, &back.load.senders);
    for node in near.iter().chain(far).filter(|node| node.address.is_some()) {
        page.section("nodes", Some(&node.name), None, "");
        page.add(&format!("address = \"{}\"\n", node.address.map(|it| it.to_string()).unwrap_or_default()));
    }
    page.section("links", None, None, "");
    let fast = BitRate::bps(out.link.max(back.link).bit_s().saturating_mul(ACCESS));
    let access = |page: &mut Page, ends: String| {
        page.add(&format!("{} = {{ rate = \"{fast}\", delay = \"{DELAY}\" }}\n", key(&ends)));
    };
    access(page, format!("{SENDER} - device"));
    port_link(page, "device - receiver", out.port, out.link);
    port_link(page, "receiver -> device", back.port, back.link);
    near.iter().skip(1).for_each(|node| access(page, format!("{} - {SENDER}", node.name)));
    far.iter().skip(1).for_each(|node| access(page, format!("receiver - {}", node.name)));
    for (link, queue) in [LINK, FACING].into_iter().zip(queues) {
        let Some(queue) = queue else { continue };
        page.add(&format!("{} = {{ queue = {} }}\n", key(link), key_text(queue)));
    }
}

/// The link whose rate is the port's.
fn port_link(page: &mut Page, ends: &str, port: &Port, link: BitRate) {
    let mut row = Row::default();
    row.page.from(port.interface.origin.place(), |page| page.add(&format!("{} = ", key(ends))));
    row.page.add("{ ");
    let mut settings = port.link.clone();
    match settings.remove("rate") {
        Some(rate) => row.inner("rate", &rate),
        None => row.page.add(&format!("rate = \"{link}\"")),
    }
    if settings.get("delay").is_none() {
        row.comma();
        row.page.add(&format!("delay = \"{DELAY}\""));
    }
    settings.remove(ON_THEIR_WAY);
    let mtu = settings.remove("mtu");
    row.entries(&settings);
    mtu.iter().for_each(|mtu| row.inner("mtu", mtu));
    row.page.add(" }");
    row.say(&format!("! {}", plain(&port.interface.is)));
    page.row(row);
}

/// `[tcp]` and `[traffic]`.
pub(super) fn load(page: &mut Page, load: &Load) {
    if let Some(stated) = load.page() {
        return page.add(&stated.text);
    }
    load.without.iter().for_each(|(class, why)| page.add(&format!("\n# No traffic in {}: {why}.\n", plain(class))));
    load.flows.iter().for_each(|flow| traffic(page, flow));
}

/// The stack of a TCP: ECT(1) is for a scalable one (RFC 9331).
fn stack(flow: &Flow) -> &'static str {
    if flow.look.ecn == Some(Ecn::Ect1) { "prague" } else { "linux" }
}

fn traffic(page: &mut Page, flow: &Flow) {
    page.section("traffic", Some(&flow.name), None, "");
    match flow.sends {
        Sends::Datagrams(rate, size) => {
            page.add(&format!(
                "model = \"cbr\"\nrate = \"{rate}\"\nflows = {FLOWS}\nsize = \"{size}\"\njitter = 0.5\n"
            ));
        }
        Sends::Call(rate, size) => {
            page.add(&format!("model = \"cbr\"\nrate = \"{rate}\"\nsize = \"{size}\"\njitter = 0.5\n"));
        }
        Sends::Tcp(None) => page.add(&format!("model = \"ftp\"\ntcp = \"{}\"\n", stack(flow))),
        Sends::Tcp(Some(segment)) => {
            let stack = stack(flow);
            page.add(&format!("model = \"ftp\"\ntcp = {{ stack = \"{stack}\", segment = \"{segment}\" }}"));
            page.add("  # the largest that its buckets hold\n");
        }
    }
    page.add(&format!("from = {}\nto = {}\n", key_text(&flow.from), key_text(&flow.to)));
    if flow.class != flow.name {
        page.add(&format!("class = {}\n", key_text(&flow.class)));
    }
    if flow.look.dscp.get() > 0 {
        page.add(&format!("dscp = \"{}\"\n", flow.look.dscp));
    }
    let ports = [("source-port", flow.look.source_port), ("destination-port", flow.look.destination_port)];
    for (name, port) in ports.into_iter().filter_map(|(name, port)| Some((name, port?))) {
        page.add(&format!("{name} = {port}\n"));
    }
    match flow.look.ecn {
        Some(Ecn::Ect1) => page.add("ecn = true\nl4s = true\n"),
        Some(_) => page.add("ecn = true\n"),
        None => {}
    }
}
