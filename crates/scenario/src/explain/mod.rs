//! `perhop explain`: every effective value, every queue on each path, times of buckets and loops.

use crate::check::bursts;
use crate::check::memory;
use crate::resolve::offered::{Flowline, tables, tcp_section};
use crate::resolve::ports::{Stage, following, longest_rtt, parameter};
use crate::scenario::Scenario;
use crate::sections::at::EffectiveParams;
use crate::sections::model::Model;
use crate::sections::tcp::TcpRef;
use crate::sweep::{Point, Sweep};
use crate::text::tree::leaves;
use crate::text::write;
use drain::{Drain, Ports};
use perhop_core::accounting::Accounting;
use perhop_core::aqm::AqmParams;
use perhop_core::conditioner::meter::Tokens;
use perhop_core::framing::LinkLayer;
use perhop_core::packet::Colour;
use perhop_core::params::{Node, Tree, show_table};
use perhop_core::port::Limit;
use perhop_core::port::edge::Action;
use perhop_core::sched::SchedulerParams;
use perhop_core::units::{BitRate, Burst, Bytes, MeterRate, Span, counted};
use perhop_sim::plan;
use perhop_sim::traffic::{TrafficModel as _, Transport};
use std::fmt::Write;

/// How long full queues take to empty.
mod drain;
/// As JSON.
mod facts;
/// The tree of a port's queues.
mod tree;

pub use facts::facts;

/// Sizes of buckets, with the rate that fills each.
const BUCKETS: [(&str, &str); 3] = [("cbs", "cir"), ("ebs", "cir"), ("pbs", "pir")];

/// Those whose rates may count something else than `accounting` says.
const METERS: [&str; 4] = ["token-bucket", "srtcm", "trtcm", "trtcm-4115"];

/// All of it as text.
pub fn explain(scenario: &Scenario) -> String {
    let mut out = scenario.effective();
    tcp(scenario, &mut out);
    let ports = Ports::of(scenario);
    paths(scenario, &ports, &mut out);
    queues(scenario, &ports, &mut out);
    series(scenario, &mut out);
    conditioners(scenario, &mut out);
    changes(scenario, &mut out);
    out
}

/// As [`explain`], with the points of a sweep.
pub fn explain_sweep(sweep: &Sweep) -> String {
    let mut out = explain(&sweep.base);
    if sweep.is_grid() {
        points(&sweep.points(), &mut out);
    }
    out
}

fn heading(out: &mut String, text: &str) {
    let _ = writeln!(out, "\n# {text}");
}

fn links(scenario: &Scenario) -> &[plan::Link] {
    &scenario.built.plan.links
}

/// Presets in full.
fn tcp(scenario: &Scenario, out: &mut String) {
    let traffic = scenario.model.traffic.sound().zip(tables(&scenario.built.traffic));
    let mut presets: Vec<_> =
        traffic.filter(|(_, flow)| flow.tcp).map(|((_, t), _)| t.common.tcp.as_ref().map(|tcp| &tcp.value)).collect();
    presets.dedup();
    if presets.is_empty() {
        return;
    }
    heading(out, "TCP: presets in full");
    for stated in presets {
        let Some(section) = tcp_section(&scenario.model, stated) else { continue };
        let name = if let Some(TcpRef::Named(name)) = stated { name } else { "inline" };
        let timer = section.rto.config();
        let shown = show_table(&section);
        let _ = writeln!(out, "{name}: {}", write::inline(&shown));
        if let Some(preset) = section.stack.preset {
            let _ = writeln!(out, "  {}", preset.describe(&shown));
        }
        let _ = writeln!(
            out,
            "  rto: granularity {}, minimum {}, maximum {}, initial {}",
            timer.granularity, timer.minimum, timer.maximum, timer.initial
        );
    }
}

/// Each traffic: its packets, its RTT, its route with every buffer.
fn paths(scenario: &Scenario, ports: &Ports<'_>, out: &mut String) {
    heading(out, "Paths: each traffic's route with every queue on it");
    for (index, flow) in scenario.built.traffic.iter().enumerate() {
        let offered = &flow.offered;
        let transport = offered.model.transport();
        let from = match &offered.from[..] {
            [_] => String::new(),
            several => format!(" from {}", scenario.built.topology.nodes[several[flow.sender]].name),
        };
        let _ = write!(
            out,
            "{}{from}: {} x {} over {}, packets of at most {}B",
            offered.name,
            offered.flows,
            offered.model.name(),
            transport.name(),
            flow.data
        );
        if let Some(remark) = offered.model.remark() {
            let _ = write!(out, "; {remark}");
        }
        if let Some(rtt) = flow.base_rtt(links(scenario)) {
            let full = ports.loop_rtt(index);
            let _ = write!(out, ", base RTT {rtt}, {} with every queue full", approximately(full));
            let window = match transport {
                Transport::Quic(params) => params.receive_window.get(),
                Transport::Tcp | Transport::Udp => u64::from(offered.tcp.window) * u64::from(offered.tcp.mss),
            };
            let bound = window as f64 * 8.0 / rtt.seconds().max(1e-9);
            let _ = write!(out, "; window {}B: at most {} a flow", window, rate(bound));
        }
        out.push_str(&burst(scenario, flow));
        if let Some(load) = flow.load {
            let _ = write!(out, "; all users together request about {}", rate(load));
        }
        out.push('\n');
        way(scenario, ports, ("there", &flow.forward), out);
        if !flow.backward.is_empty() {
            way(scenario, ports, ("back ", &flow.backward), out);
        }
    }
}

/// What the queue of its own host counts as one packet, where a scheduler, a shaper or an AQM is there to count.
fn burst(scenario: &Scenario, flow: &Flowline) -> String {
    let Some(port) = flow.forward.first().map(|&link| &links(scenario)[link as usize]) else { return String::new() };
    let plain = port.nodes.is_empty() && matches!(port.queues[0].aqm, AqmParams::DropTail(_)) || !port.edge.is_empty();
    let offered = &flow.offered;
    let most = if flow.tcp { offered.tcp.reaction.bursts.most(offered.tcp.mss) } else { offered.sockets.gso };
    let what = if flow.tcp { "segments" } else { "datagrams" };
    if plain || most == 1 { String::new() } else { format!("; up to {most} {what} are one packet at {}", port.name) }
}

fn way(scenario: &Scenario, ports: &Ports<'_>, (name, way): (&str, &[u32]), out: &mut String) {
    for &index in way {
        let link = &links(scenario)[index as usize];
        let stages: Vec<_> = link.edge.iter().map(|s| format!("[{}: {}] ", s.name, s.params.name())).collect();
        let _ = writeln!(
            out,
            "  {name} {}: {}{}, then {} and {}{}{}",
            link.name,
            stages.concat(),
            waiting(&ports.drains[index as usize], scenario.built.plan.accounting),
            link.rate,
            link.delay,
            transit(&link.transit),
            mtu(scenario, index)
        );
    }
}

/// The largest packet that a link carries, if it is stated.
fn mtu(scenario: &Scenario, link: u32) -> String {
    let mtu = scenario.built.topology.links[link as usize].mtu;
    mtu.map(|mtu| format!(", MTU {}", *mtu)).unwrap_or_default()
}

/// How packets' times on a wire differ from its delay.
fn transit(transit: &plan::Transit) -> String {
    let mut out = String::new();
    if transit.jitter > Span::ZERO {
        let _ = write!(out, " +- {} ({})", transit.jitter, transit.spread.name());
    }
    if transit.reorder.get() > 0.0 {
        let _ = write!(out, ", a share of {} overtakes", transit.reorder);
    }
    out
}

/// All queues of a port on one line.
fn waiting(drain: &Drain<'_>, accounting: Accounting) -> String {
    let queues: Vec<_> = (0..drain.link.queues.len()).map(|queue| one_queue(drain, queue, accounting)).collect();
    match drain.link.scheduler() {
        Some(scheduler) => format!("{}{} over {}", scheduler.name(), room(drain, scheduler, 0), queues.join(" + ")),
        None => queues.concat(),
    }
}

/// A queue's AQM, its limit and the time it takes to empty.
fn one_queue(drain: &Drain<'_>, index: usize, accounting: Accounting) -> String {
    let queue = &drain.link.queues[index];
    let (aqm, time) = (queue.aqm.name(), drain.alone(index).map(approximately).unwrap_or_default());
    // Its IP length.
    let largest = queue.scope.largest_packet.get().saturating_sub(accounting.overhead().into());
    match queue.limit {
        Limit::Packets(u32::MAX) => aqm.to_owned(),
        Limit::Packets(n) => format!("{aqm} {n}p ({time} of {largest}B)"),
        Limit::Bytes(n) => format!("{aqm} {n}B ({time})"),
    }
}

/// What may wait in all queues of a scheduler together, the first of which is given, and the time it takes to empty.
fn room(drain: &Drain<'_>, scheduler: &SchedulerParams, first: usize) -> String {
    let limit = |limit: Limit| match limit {
        Limit::Packets(n) => format!("{n}p"),
        Limit::Bytes(n) => format!("{n}B"),
    };
    let room: Vec<_> = scheduler.room().into_iter().map(limit).collect();
    match drain.alone(first).filter(|_| !room.is_empty()) {
        Some(time) => format!(" {} ({})", room.join(" or "), approximately(time)),
        None => String::new(),
    }
}

/// Each port's queue, whatever traffic passes it.
fn queues(scenario: &Scenario, ports: &Ports<'_>, out: &mut String) {
    heading(out, "Queues: every port");
    let _ = writeln!(out, "a link counts {} unless it says otherwise", Accounting::default().words());
    for (index, drain) in ports.drains.iter().enumerate() {
        let (link, accounting) = (drain.link, scenario.built.plan.accounting);
        if link.nodes.is_empty() {
            let _ = writeln!(out, "{}: {}, rate {}", link.name, waiting(drain, accounting), line(link));
        } else {
            let _ = writeln!(out, "{}: rate {}", link.name, line(link));
            tree::draw(&scenario.built.plan, index, drain, out);
        }
    }
}

/// A link's rate, and which bytes it counts if they are not those of the IP packet.
fn line(link: &plan::Link) -> String {
    let framing = Some(link.framing).filter(|it| *it != Accounting::default());
    framing.map_or_else(|| link.rate.to_string(), |framing| format!("{}, counts {}", link.rate, framing.words()))
}

/// How much is sampled.
fn series(scenario: &Scenario, out: &mut String) {
    let built = &scenario.built;
    let file = built.file(&scenario.model);
    let Some(series) = memory::series(file, links(scenario)) else { return };
    heading(out, "Series: what a replication keeps");
    let (samples, values, size) = (series.samples, series.values, memory::rounded(series.bytes()));
    let _ = writeln!(out, "{samples} samples x {values} values: about {size} in memory");
}

fn conditioners(scenario: &Scenario, out: &mut String) {
    if scenario.built.stages.is_empty() {
        return;
    }
    heading(out, "Conditioners: what they take, what their buckets hold");
    let built = &scenario.built;
    for stage in &built.stages {
        let mut takes: Vec<_> = stage.takes.iter().map(|&i| built.traffic[i].offered.name.as_str()).collect();
        takes.dedup();
        let port = &links(scenario)[stage.link].name;
        let largest = stage.spec.scope.largest_packet;
        let kind = stage.spec.params.name();
        let takes = if takes.is_empty() { "nothing".to_owned() } else { takes.join(", ") };
        let codes: Vec<_> = stage.codes().iter().map(ToString::to_string).collect();
        let codes = match stage.spec.matches.dscp.is_empty() || codes.is_empty() {
            true => String::new(),
            false => format!(", arriving as {}", codes.join(", ")),
        };
        let _ = writeln!(out, "{} at {port}: {kind} takes {takes}{codes}; largest packet {largest}", stage.name);
        own(scenario, stage, out);
        if METERS.contains(&kind) {
            counted_bytes(stage, scenario.model.settings.accounting, out);
        }
        for (size, fill) in BUCKETS {
            bucket(stage, size, fill, out);
        }
        actions(&built.stages, stage, out);
        if let (Some(cir), Some(rtt)) =
            (parameter::<BitRate>(stage, "cir"), longest_rtt(&built.traffic, stage, links(scenario)))
        {
            hint(stage, cir, rtt, out);
            need(scenario, stage, out);
        }
    }
}

/// `green: mark AF11; red: next, to aggregate`: what happens to each colour that does not pass as it is.
fn actions(all: &[Stage], stage: &Stage, out: &mut String) {
    let to = following(all, stage).map_or(String::new(), |next| format!(", to `{}`", next.name));
    let act = |(colour, action): (Colour, Action)| {
        let to = if action.goes_on() { to.as_str() } else { "" };
        (action != Action::TRANSMIT).then(|| format!("{}: {action}{to}", colour.name()))
    };
    let acts: Vec<_> = Colour::ALL.into_iter().zip(stage.spec.actions).filter_map(act).collect();
    if !acts.is_empty() {
        let _ = writeln!(out, "  {}", acts.join("; "));
    }
}

/// What applies at this port and not at all of its conditioner's.
fn own(scenario: &Scenario, stage: &Stage, out: &mut String) {
    let Some(section) = scenario.model.conditioners.get(&stage.name) else { return };
    let named = section.ports.iter().position(|port| port.name.as_ref().is_some_and(|name| **name == stage.port));
    let own = named.map(|i| EffectiveParams::new(&section.ports).own.swap_remove(i)).unwrap_or_default();
    if !own.is_empty() {
        let _ = writeln!(out, "  of this port alone: {}", write::inline(&Tree::table(own)));
    }
}

/// Which bytes the rates of a meter count.
fn counted_bytes(stage: &Stage, accounting: Accounting, out: &mut String) {
    let shown = |name| parameter::<String>(stage, name);
    let mut more = Vec::new();
    more.extend(
        (accounting.overhead() > 0)
            .then(|| format!("{}B of accounting \"{}\"", accounting.overhead(), accounting.name())),
    );
    more.extend(shown("overhead").map(|bytes| format!("{bytes} of overhead")));
    let mut out_of = match stage.tokens {
        Tokens::Packets => "packets, whatever their size".to_owned(),
        _ => ["IP bytes".to_owned()].into_iter().chain(more).collect::<Vec<_>>().join(" and "),
    };
    out_of.extend(shown("mpu").map(|least| format!(", at least {least} a packet")));
    if shown("link-layer").is_some_and(|layer| layer == LinkLayer::Atm.name()) {
        out_of += ", in cells of 53B for every 48B";
    }
    if matches!(stage.tokens, Tokens::Framed(_)) {
        let _ = write!(out_of, "; the largest packet counts {}B", stage.largest());
    }
    let _ = writeln!(out, "  its rates count {out_of}");
}

/// `cbs 62500B = 60 largest packets, full in 500 ms at cir 1Mbit/s`
fn bucket(stage: &Stage, size: &str, fill: &str, out: &mut String) {
    let (Some(burst), Some(rate)) = (parameter::<Burst>(stage, size), parameter::<MeterRate>(stage, fill)) else {
        return;
    };
    let Some(depth) = burst.tokens(rate).filter(|_| !rate.is_zero()) else { return };
    let full = approximately(depth.get() as f64 * 8.0 / rate.tokens().bit_s() as f64);
    let depth = match (rate.in_packets(), burst) {
        (true, Burst::Time(_)) => format!("{burst} = {}p", depth.get()),
        (true, _) => burst.to_string(),
        (false, Burst::Time(_)) => format!("{burst} = {depth} = {} largest packets", packets(stage, depth)),
        (false, _) => format!("{depth} = {} largest packets", packets(stage, depth)),
    };
    let _ = writeln!(out, "  {size} {depth}, full in {full} at {fill} {rate}");
}

fn packets(stage: &Stage, depth: Bytes) -> u64 {
    depth.get() / u64::from(stage.largest()).max(1)
}

fn hint(stage: &Stage, cir: BitRate, rtt: Span, out: &mut String) {
    let product = cir * rtt;
    let _ = write!(out, "  cir x longest base RTT ({rtt}) = {product}");
    match parameter::<Burst>(stage, "cbs").and_then(|burst| burst.tokens(cir.into())) {
        Some(cbs) if cbs < product => out.push_str(", above cbs\n"),
        Some(_) => out.push_str(", within cbs\n"),
        None => out.push('\n'),
    }
}

/// What a policer's bucket needs; of what is only marked, who drops it.
fn need(scenario: &Scenario, stage: &Stage, out: &mut String) {
    let built = &scenario.built;
    let file = built.file(&scenario.model);
    if let Some(contract) = bursts::contract(file, stage, links(scenario)) {
        let (flows, burst) = (bursts::flows(&contract.policed), contract.burst);
        let _ = writeln!(out, "  {flows}: {}; it holds {burst}: {}", contract.remedy(), contract.expected());
    } else if !stage.spec.actions.iter().any(|action| *action == Action::Drop || action.goes_on()) {
        out.push_str("  nothing is dropped here: what exceeds cir is lost where a queue drops it\n");
    }
}

/// The old and new values of each change, in order of time.
fn changes(scenario: &Scenario, out: &mut String) {
    if scenario.model.changes.is_empty() {
        return;
    }
    heading(out, "Changes: values that differ from a given time; everything above holds at the start");
    let start = Model { changes: Vec::new(), ..Model::clone(&scenario.model) };
    let mut now = start.effective();
    for change in &scenario.model.changes {
        let _ = writeln!(out, "{}:", change.at);
        for path in leaves(&change.what) {
            let text = |root: &Node| crate::text::tree::get(root, &path).map(|node| write::inline(&node.tree));
            let what = Node::from(change.what.clone());
            let (old, new) = (text(&now).unwrap_or("(as the link)".into()), text(&what).unwrap_or_default());
            let _ = writeln!(out, "  {}: {old} -> {new}", write::dotted(&path));
        }
        crate::text::tree::lay(&mut now, &change.what.clone().into());
    }
}

fn points(points: &[Point], out: &mut String) {
    heading(out, &format!("Sweep: {}", counted(points.len(), ["point", "points"])));
    for point in points {
        let _ = writeln!(out, "{} {}", point.hash, point.name);
    }
}

/// A time in seconds to three digits.
fn approximately(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s >= 1.0 => (s, "s"),
        s if s >= 1e-3 => (s * 1e3, "ms"),
        s => (s * 1e6, "us"),
    };
    format!("{} {unit}", digits(value))
}

fn rate(bit_s: f64) -> String {
    let (value, unit) = match bit_s {
        r if r >= 1e9 => (r / 1e9, "Gbit/s"),
        r if r >= 1e6 => (r / 1e6, "Mbit/s"),
        r => (r / 1e3, "kbit/s"),
    };
    format!("{} {unit}", digits(value))
}

fn digits(value: f64) -> String {
    match value {
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 10.0 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use crate::simulation::simulation;
    use crate::sweep::Sweep;
    use crate::text::options::Options;
    use perhop_core::count::Count;
    use std::collections::BTreeSet;
    use std::path::Path;

    /// What the walk says may arrive holds all that does: each class and colour at each queue, each conditioner's
    /// packets.
    #[test]
    fn nothing_arrives_that_is_not_foreseen() {
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").read_dir().unwrap();
        let mut seen = 0;
        for path in examples.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()) {
            let options = Options::new("x.toml").setting("duration", "4s").setting("warmup", "0s").set("change=[]");
            let Ok((sweep, _)) = Sweep::load(&path, &options) else { continue };
            let built = &sweep.base.built;
            let outcome = simulation(sweep.base.plan(1, 0)).unwrap().run(|_| true).unwrap();
            let foreseen: BTreeSet<_> = (0..)
                .zip(&built.arrivals.queues)
                .flat_map(|(link, all)| all.iter().map(move |it| (link, it)))
                .flat_map(|(link, it)| {
                    let class = usize::from(built.traffic[it.traffic].offered.class);
                    it.looks.iter().map(move |look| (link, class, look.colour))
                })
                .collect();
            for row in outcome.ports.hops.iter().filter(|row| row.fates.arrived != Count::default()) {
                assert!(foreseen.contains(&(row.link, row.class, row.colour)), "{}: {row:?}", path.display());
                seen += 1;
            }
            for (row, stage) in outcome.ports.conditioners.iter().zip(&built.stages) {
                let took = row.counts.iter().flatten().any(|count| *count != Count::default());
                assert!(
                    !took || !stage.takes.is_empty() || !stage.takes_acks.is_empty(),
                    "{}: {row:?}",
                    path.display()
                );
            }
        }
        assert!(seen > 300, "{seen} rows");
    }
}
