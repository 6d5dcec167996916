//! `[traffic]` -> what is offered, from where to where, over which links, in packets of what size.

use super::topology::Topology;
use crate::sections::model::Model;
use crate::sections::named::{Name, Named};
use crate::sections::stack;
use crate::sections::tcp::{TcpRef, TcpSection};
use crate::sections::traffic::TrafficSection;
use crate::simulation::HAS_QUIC;
use perhop_core::params::{Problems, Spanned, suggest};
use perhop_core::units::{Bytes, Span, Time};
use perhop_sim::net::Router;
use perhop_sim::plan;
use perhop_sim::traffic::{AnyTraffic, Carrier, Traffic as _, TrafficModel as _, TrafficScope, Transport};
use perhop_sim::traffic::{LARGEST_PACKET, UDP_HEADERS};
use perhop_sim::transport::{self, CongestionLaw as _};
use std::collections::{BTreeMap, BTreeSet};

/// Most datagrams in a packet, and most bytes of their data (Linux 6.12: `UDP_MAX_SEGMENTS`; 65,535 B with one header).
const MOST_SEGMENTS: u64 = 128;
const MOST_DATA: u64 = LARGEST_PACKET.get() - UDP_HEADERS as u64;

/// Most links of all routes: about 100 B are kept of each. With more, the rest of the traffic is not read.
pub const MOST_HOPS: usize = 40_000_000;

/// One `[traffic]` with the routes between one of its senders and its receiver.
#[derive(Clone, Debug)]
pub struct Flowline {
    /// For the simulator.
    pub offered: plan::Offered,
    /// The sender at which this route begins.
    pub sender: usize,
    /// Mean rate of all its payload if nothing ever waits, bit/s, if its model knows it.
    pub load: Option<f64>,
    /// Whether TCP carries it; if not, and packets come back, QUIC does.
    pub tcp: bool,
    /// IP length of its largest packet.
    pub data: u32,
    /// IP length of its largest return packet: an ACK or a request; 0 if none.
    pub ack: u32,
    /// Links from sender to receiver.
    pub forward: Vec<u32>,
    /// Links from receiver to sender, empty if nothing comes back.
    pub backward: Vec<u32>,
}

impl Flowline {
    /// Whether its data may be marked.
    pub fn ecn_capable(&self) -> bool {
        let tcp = &self.offered.tcp;
        if self.tcp { tcp.ecn && tcp.receiver_ecn } else { self.offered.sockets.ecn.datagrams }
    }

    /// Propagation there and back, without waiting or transmission; `None` if nothing comes back.
    pub fn base_rtt(&self, links: &[plan::Link]) -> Option<Span> {
        let delays = self.forward.iter().chain(&self.backward).map(|&l| links[l as usize].delay);
        (!self.backward.is_empty()).then(|| delays.fold(Span::ZERO, |sum, delay| sum + delay))
    }
}

/// One for each `[traffic]`: the route from its first sender.
pub fn tables(traffic: &[Flowline]) -> impl Iterator<Item = &Flowline> {
    traffic.iter().filter(|flow| flow.sender == 0)
}

/// The TCP of a traffic section: an inline table, a `[tcp.X]`, or a preset.
pub fn tcp_section(model: &Model, stated: Option<&TcpRef>) -> Option<TcpSection> {
    match stated {
        None => TcpSection::preset(stack::DEFAULT),
        Some(TcpRef::Inline(section)) => Some(section.value.clone()),
        Some(TcpRef::Named(name)) => {
            model.tcp.get(name).map(|section| section.value.clone()).or_else(|| TcpSection::preset(name))
        }
    }
}

/// Fills in what traffic omits, so that the model holds every effective value.
pub fn fill_defaults(traffic: &mut Named<TrafficSection>) {
    for (name, place, section) in traffic.sound_mut() {
        section.common.class.get_or_insert_with(|| Name(name.to_owned()));
        section.common.spread.get_or_insert(Spanned::new(place, section.model.spread()));
        let scope = TrafficScope { segment: LARGEST_PACKET, senders: 1, ..scope_of(section) };
        match section.model.transport() {
            Transport::Quic(_) => _ = section.common.ecn.get_or_insert(Spanned::new(place, true)),
            Transport::Tcp if section.model.build(&scope).is_ok() => {
                let preset = || TcpRef::Named(stack::DEFAULT.to_owned());
                section.common.tcp.get_or_insert_with(|| Spanned::new(place, preset()));
            }
            Transport::Tcp | Transport::Udp => {}
        }
    }
}

/// What its first source knows whatever its connection is.
fn scope_of(section: &TrafficSection) -> TrafficScope {
    TrafficScope { largest: LARGEST_PACKET, sources: *section.common.flows, ..TrafficScope::default() }
}

/// The class that a traffic's packets are counted in.
fn class_of<'a>(name: &'a str, section: &'a TrafficSection) -> &'a str {
    section.common.class.as_ref().map_or(name, |class| &class.0)
}

/// All classes, in the order of appearance.
pub fn classes(model: &Model) -> Vec<&str> {
    let mut seen = BTreeSet::new();
    let all = model.traffic.sound().map(|(name, section)| class_of(name, section));
    all.filter(|class| seen.insert(*class)).collect()
}

/// Reads all traffic; sections with an error are skipped.
pub fn read(model: &Model, topology: &Topology, links: &[plan::Link], problems: &mut Problems) -> Vec<Flowline> {
    let net = Net { topology, links, router: &Router::new(links, topology.nodes.len()) };
    if model.traffic.declared().is_empty() {
        let help = "add [traffic.X] with model, from and to; `perhop list` shows the models";
        problems.error("E238", None, "scenario without traffic").help(help);
    }
    // Classes beyond these numbers are an error: `check_size`.
    let number = |(i, class)| (class, u16::try_from(i).unwrap_or(u16::MAX));
    let (classes, each) = (&classes(model).into_iter().enumerate().map(number).collect(), model.traffic.sound());
    let (mut traffic, mut hops) = (Vec::new(), 0);
    for (name, section) in each {
        let lines = Reading { model, classes, net, name, section, problems }.flowlines().unwrap_or_default();
        hops += self::hops(&lines);
        traffic.extend(lines);
        if hops > MOST_HOPS {
            break;
        }
    }
    traffic
}

/// Links of all routes, each as often as a route leads over it.
pub fn hops(traffic: &[Flowline]) -> usize {
    traffic.iter().map(|flow| flow.forward.len() + flow.backward.len()).sum()
}

/// Nodes and links, in which routes are found.
#[derive(Clone, Copy)]
struct Net<'a> {
    topology: &'a Topology,
    links: &'a [plan::Link],
    router: &'a Router<'a>,
}

struct Reading<'a> {
    model: &'a Model,
    classes: &'a BTreeMap<&'a str, u16>,
    net: Net<'a>,
    name: &'a str,
    section: &'a TrafficSection,
    problems: &'a mut Problems,
}

impl Reading<'_> {
    /// One for each sender.
    fn flowlines(mut self) -> Option<Vec<Flowline>> {
        let common = &self.section.common;
        let (from, to) = (self.senders(), self.node(&common.to));
        let (tcp, times) = (self.tcp(), self.times());
        let segment = tcp.as_ref().map_or(LARGEST_PACKET, |t| t.0.segment);
        let source = self.source(segment);
        let ways = from.as_ref().zip(to).and_then(|(from, to)| {
            let ways: Vec<_> = from.iter().map(|&from| self.ways(from, to)).collect();
            ways.into_iter().collect::<Option<Vec<_>>>()
        });
        let (from, to, config, source, ways, ()) = (from?, to?, tcp?.1, source?, ways?, times?);
        let (header, model) = (u32::from(config.header), &self.section.model);
        let tcp = model.transport() == Transport::Tcp;
        let config = if tcp { self.paced(config, &ways)? } else { config };
        let data = model.largest_datagram().map_or(u32::from(config.mss) + header, |size| size.get() as u32);
        let ack = match model.carrier() {
            Carrier::Datagrams => 0,
            _ if !tcp => data,
            Carrier::Responses => header + u32::from(config.mss),
            Carrier::Connection | Carrier::Transfers => header,
        };
        let load = source.load().map(|each| each * f64::from(*self.section.common.flows));
        let offered = self.offered(from, to, config);
        self.l4s(if tcp { offered.tcp.ecn } else { offered.sockets.ecn.datagrams })?;
        let one = |(sender, (forward, backward))| {
            let backward = if ack > 0 { backward } else { Vec::new() };
            Flowline { offered: offered.clone(), sender, load, tcp, data, ack, forward, backward }
        };
        Some(ways.into_iter().enumerate().map(one).collect())
    }

    /// A connection is paced by the ports at which it begins, or up to the rate of its socket.
    fn paced(&mut self, config: transport::Config, ways: &[(Vec<u32>, Vec<u32>)]) -> Option<transport::Config> {
        let by_host = ways.iter().all(|(forward, _)| self.net.links[forward[0] as usize].paces());
        let stated = self.section.common.sockets.max_pacing_rate;
        if let Some(rate) = stated.filter(|_| config.recovery != transport::Recovery::Rack) {
            let message = format!("traffic `{}` has `max-pacing-rate`, but its TCP does not pace", self.name);
            let help =
                "write tcp = \"linux\", or another stack of today; a sender of ns-2's kind sends when an ACK comes";
            return self.problems.error("E291", rate.place, message).help(help).none();
        }
        let pacing = transport::Pacing { by_host, most: stated.map(|rate| *rate) };
        Some(transport::Config { reaction: transport::Reaction { pacing, ..config.reaction }, ..config })
    }

    /// What is not ECN-capable cannot carry ECT(1), and QUIC's congestion controllers are those of ECT(0).
    fn l4s(&mut self, capable: bool) -> Option<()> {
        let quic = matches!(self.section.model.transport(), Transport::Quic(_));
        let Some(Spanned { place, value: true }) = self.section.common.l4s.filter(|_| !capable || quic) else {
            return Some(());
        };
        if quic {
            let message = format!("traffic `{}` has `l4s` on, but QUIC sends ECT(0)", self.name);
            return self.problems.error("E246", place, message).help("remove `l4s`").none();
        }
        let message = format!("traffic `{}` has `l4s` on but is not ECN-capable", self.name);
        self.problems.error("E246", place, message).help("add `ecn = true`, or remove `l4s`").none()
    }

    /// The nodes that send.
    fn senders(&mut self) -> Option<Vec<usize>> {
        let names = &self.section.common.from.0;
        if let Some(twice) = (1..names.len()).find(|&i| names[..i].contains(&names[i])) {
            let message = format!("`{}` is listed twice in `from`", *names[twice]);
            return self
                .problems
                .error("E002", self.section.common.from.place, message)
                .help("name each sender once")
                .none();
        }
        let nodes: Vec<_> = names.iter().map(|name| self.node(name)).collect();
        nodes.into_iter().collect()
    }

    fn source(&mut self, segment: Bytes) -> Option<AnyTraffic> {
        if matches!(self.section.model.transport(), Transport::Quic(_)) && !HAS_QUIC {
            let message = "model \"quic\" is not in this perhop, which was built without its feature `quic`";
            let help = "cargo build --release -p perhop --features quic";
            return self.problems.error("E265", self.section.model.place("model"), message).help(help).none();
        }
        let senders = self.section.common.from.0.len() as u32;
        let source = match self.section.model.build(&TrafficScope { segment, senders, ..scope_of(self.section) }) {
            Ok(source) => source,
            Err(error) => return self.problems.param(&error, self.section.model.place(error.field)).none(),
        };
        let place = |field| self.section.model.place(field);
        source.warnings().iter().for_each(|advice| self.problems.advise(advice, place(advice.field)));
        if senders > 1 && self.section.model.carrier() != Carrier::Responses {
            let message = format!("model \"{}\" has one sender, but `from` names {senders}", self.section.model.name());
            let help = "write a table for each, as in [traffic.\"f{1..3}\"] with from = \"S{i}\"";
            return self.problems.error("E262", self.section.common.from.place, message).help(help).none();
        }
        if let Some(tcp) = &self.section.common.tcp
            && self.section.model.transport() != Transport::Tcp
        {
            let message = format!("`tcp` has no effect on model \"{}\"", self.section.model.name());
            let help = match self.section.model.carrier() {
                Carrier::Datagrams => "remove `tcp`: this model sends datagrams",
                _ => {
                    "remove `tcp`: QUIC has its own `congestion`, `initial-window` and `receive-window`, beside `model`"
                }
            };
            return self.problems.error("E239", tcp.place, message).help(help).none();
        }
        self.bursts()?;
        Some(source)
    }

    /// Reports bursts of datagrams that no host sends; `None` then.
    fn bursts(&mut self) -> Option<()> {
        let Some(Spanned { place, value: segments }) = self.section.common.sockets.gso else { return Some(()) };
        let (model, sizes) = (self.section.model.name(), self.section.model.largest_datagram());
        let Some(size) = sizes.filter(|_| self.section.model.rate().is_some()) else {
            let message = format!("`gso` has no effect on model \"{model}\"");
            let help = "remove `gso`: only cbr, poisson and on-off send datagrams of one size; bursts of TCP are `burst-segments` in [tcp]";
            return self.problems.error("E239", place, message).help(help).none();
        };
        let data = size.get().saturating_sub(UDP_HEADERS.into());
        let most = (MOST_DATA / data.max(1)).clamp(1, MOST_SEGMENTS);
        if (1..=most).contains(&u64::from(segments)) {
            return Some(());
        }
        let message = format!("`gso` is {segments}");
        let label = format!("a packet of datagrams of {size} holds at most {most}");
        let problem = self.problems.error("E293", place, message).label(label);
        problem.help(format!("must be between 1 and {most}")).none()
    }

    fn node(&mut self, name: &Spanned<String>) -> Option<usize> {
        let topology = self.net.topology;
        topology.node(name).or_else(|| {
            let names: Vec<_> = topology.nodes.iter().map(|n| n.name.as_str()).collect();
            if names.is_empty() {
                return None; // Each name is unknown then: E244 says why.
            }
            let message = format!("unknown node `{}`", **name);
            self.problems.error("E232", name.place, message).help(suggest(name, &names)).none()
        })
    }

    fn tcp(&mut self) -> Option<(TcpSection, transport::Config)> {
        let stated = self.section.common.tcp.as_ref();
        let Some(section) = tcp_section(self.model, stated.map(|tcp| &tcp.value)) else {
            let Some(Spanned { place, value: TcpRef::Named(name) }) = stated else { return None };
            let names: Vec<_> = stack::NAMES.iter().copied().chain(self.model.tcp.names()).collect();
            if names.contains(&name.as_str()) {
                return None;
            }
            let what = format!("unknown tcp `{name}`");
            return self.problems.error("E006", *place, what).help(suggest(name, &names)).none();
        };
        let asked = self.section.common.ecn;
        if let (Some(Spanned { place, value: true }), Some(false)) = (asked, section.marks.ecn) {
            let message = format!("traffic `{}` has ECN on, but its `tcp` has it off", self.name);
            let help = "remove one of the two, or set `ecn = true` in the `tcp`";
            return self.problems.error("E246", place, message).help(help).none();
        }
        match section.config() {
            Ok(config) => {
                let ecn = asked.map_or(config.ecn, |ecn| *ecn);
                Some((section, transport::Config { ecn, ..config }))
            }
            Err(error) => {
                let TcpRef::Inline(own) = &stated?.value else { return None };
                let message = format!("`{}` is {}", error.field, error.value);
                self.problems.error("E201", own.place(error.field), message).help(error.bound).none()
            }
        }
    }

    /// Reports times that are out of order; `None` without a source.
    fn times(&mut self) -> Option<()> {
        let (common, duration) = (&self.section.common, *self.model.settings.duration);
        let mut sound = Some(());
        if let Some(rate) = common.sockets.max_pacing_rate.filter(|rate| rate.bit_s() < 8) {
            let message = format!("`max-pacing-rate` is {}", *rate);
            sound = self
                .problems
                .error("E201", rate.place, message)
                .help("must be at least 8bit/s, a byte a second")
                .none();
        }
        if *common.flows == 0 {
            sound = self.problems.error("E201", common.flows.place, "`flows` is 0").help("must be at least 1").none();
        }
        if *common.start >= duration {
            let message = format!("`start` is {}, but the run ends at {duration}", *common.start);
            self.problems.error("E201", common.start.place, message).help(format!("must be below {duration}"));
        }
        if let Some(stop) = common.stop.filter(|stop| **stop <= *common.start) {
            let message = format!("`stop` is {}, not after `start`", *stop);
            let help = format!("must be after {}", *common.start);
            self.problems.error("E201", stop.place, message).help(help);
        }
        sound
    }

    /// Links there and back; nothing is known while a link has an error.
    fn ways(&mut self, from: usize, to: usize) -> Option<(Vec<u32>, Vec<u32>)> {
        let Net { topology, router, .. } = self.net;
        if from == to {
            let message = format!("`to` is the sender, `{}`", *self.section.common.to);
            return self
                .problems
                .error("E234", self.section.common.to.place, message)
                .help("traffic goes from one node to another")
                .none();
        }
        if !topology.complete {
            return None;
        }
        let way = |from, to| router.route(from, to);
        let unreachable = |from: usize, to: usize| {
            let [from, to] = [from, to].map(|n| &topology.nodes[n].name);
            format!("no route from `{from}` to `{to}`")
        };
        let help = "add the missing links to [links]";
        let Some(forward) = way(from, to) else {
            return self.problems.error("E233", self.section.common.to.place, unreachable(from, to)).help(help).none();
        };
        let Some(backward) = way(to, from) else {
            let label = "every traffic needs a return route";
            return self
                .problems
                .error("E233", self.section.common.to.place, unreachable(to, from))
                .label(label)
                .help(help)
                .none();
        };
        Some((forward, backward))
    }

    fn offered(&self, from: Vec<usize>, to: usize, tcp: transport::Config) -> plan::Offered {
        let common = &self.section.common;
        let name = class_of(self.name, self.section);
        let class = self.classes.get(name).copied().unwrap_or_default();
        plan::Offered {
            name: self.name.to_owned(),
            class,
            from,
            to,
            flows: *common.flows,
            start: Time::from_ns(common.start.ns()),
            spread: common.spread.map_or(Span::ZERO, |spread| *spread),
            stop: common.stop.map(|s| Time::from_ns(s.ns())),
            model: self.section.model.value.clone(),
            tcp,
            dscp: *common.dscp,
            sockets: plan::Sockets {
                ecn: plan::EcnUse {
                    datagrams: common.ecn.is_some_and(|ecn| *ecn),
                    l4s: common.l4s.map_or(tcp.ecn && tcp.congestion.is_l4s(), |l4s| *l4s),
                },
                max_pacing_rate: common.sockets.max_pacing_rate.map(|rate| *rate),
                gso: common.sockets.gso.map_or(1, |gso| *gso),
                source_port: common.sockets.source_port,
                destination_port: common.sockets.destination_port,
            },
        }
    }
}

/// Reports the errors of a `[tcp.X]`, and names that presets use.
pub fn check_tcp(model: &Model, problems: &mut Problems) {
    for declared in model.tcp.declared() {
        let (name, Some(section)) = (&declared.name, &declared.section) else { continue };
        if stack::NAMES.contains(&&**name) {
            let message = format!("`{name}` is the name of a stack");
            problems.error("E002", declared.key, message).help("give the table another name");
        }
        if let Err(error) = section.config() {
            let message = format!("`{}` is {}", error.field, error.value);
            problems.error("E201", section.place(error.field), message).help(error.bound);
        }
    }
}
