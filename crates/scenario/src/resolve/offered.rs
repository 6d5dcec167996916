//! `[traffic]` -> what is offered, from where to where, over which links, in packets of what size.

use super::topology::Topology;
use crate::sections::model::{Model, Named, find};
use crate::sections::tcp::{PRESETS, TcpRef, TcpSection};
use crate::sections::traffic::TrafficSection;
use crate::text::tree;
use perhop_core::params::{Node, Place, Problems, Severity, suggest};
use perhop_core::units::{Bytes, Span, Time};
use perhop_sim::net::Router;
use perhop_sim::plan;
use perhop_sim::traffic::LARGEST_PACKET;
use perhop_sim::traffic::{AnyTraffic, Carrier, TrafficScope};
use perhop_sim::transport;

/// One `[traffic]` with the ways between one of its senders and its receiver.
#[derive(Clone, Debug)]
pub struct Flowline {
    /// For the simulator.
    pub offered: plan::Offered,
    /// Which of its senders this way begins at.
    pub sender: usize,
    /// Mean rate of all its payload where nothing is waited for, bit/s, if its model knows it.
    pub load: Option<f64>,
    /// Whether TCP carries it.
    pub tcp: bool,
    /// IP length of its largest packet.
    pub data: u32,
    /// IP length of the largest packet that comes back: an ACK or a request; 0 without.
    pub ack: u32,
    /// Links from sender to receiver.
    pub forward: Vec<u32>,
    /// Links from receiver to sender, empty without ACKs.
    pub backward: Vec<u32>,
}

impl Flowline {
    /// Whether its data may be marked.
    pub fn ecn_capable(&self) -> bool {
        let tcp = &self.offered.tcp;
        if self.tcp { tcp.ecn && tcp.receiver_ecn } else { self.offered.ect }
    }

    /// Propagation there and back, without waiting or transmission; `None` without ACKs.
    pub fn base_rtt(&self, links: &[plan::Link]) -> Option<Span> {
        let delays = self.forward.iter().chain(&self.backward).map(|&l| links[l as usize].delay);
        self.tcp.then(|| delays.fold(Span::ZERO, |sum, delay| sum + delay))
    }
}

/// One for each `[traffic]`: the way from its first sender.
pub fn tables(traffic: &[Flowline]) -> impl Iterator<Item = &Flowline> {
    traffic.iter().filter(|flow| flow.sender == 0)
}

/// The TCP of a traffic section: of its own, of `[tcp.X]`, or a preset.
pub fn tcp_section(model: &Model, stated: Option<&TcpRef>) -> Option<TcpSection> {
    match stated {
        None => TcpSection::preset(PRESETS[1]),
        Some(TcpRef::Inline(section)) => Some((**section).clone()),
        Some(TcpRef::Named(name)) => find(&model.tcp, name).cloned().or_else(|| TcpSection::preset(name)),
    }
}

/// Fills in what traffic leaves out, so that the model holds every effective value.
pub fn fill_defaults(traffic: &mut Named<TrafficSection>) {
    for (name, section) in traffic {
        section.common.class.get_or_insert_with(|| name.clone());
        let scope = TrafficScope { largest: LARGEST_PACKET, segment: LARGEST_PACKET, senders: 1 };
        let source = section.model.build(&scope);
        if source.is_ok_and(|source| source.carrier() != Carrier::Datagrams) {
            section.common.tcp.get_or_insert_with(|| TcpRef::Named(PRESETS[1].to_owned()));
        }
    }
}

/// The class that a traffic's packets are counted in.
fn class_of<'a>(name: &'a str, section: &'a TrafficSection) -> &'a str {
    section.common.class.as_deref().unwrap_or(name)
}

/// All classes, in the order of appearance.
pub fn classes(model: &Model) -> Vec<&str> {
    let mut classes = Vec::new();
    for class in model.traffic.iter().map(|(name, section)| class_of(name, section)) {
        if !classes.contains(&class) {
            classes.push(class);
        }
    }
    classes
}

/// Reads all traffic; what has an error is left out.
pub fn read(model: &Model, net: (&Topology, &[plan::Link]), root: &Node, problems: &mut Problems) -> Vec<Flowline> {
    if tree::names(root, "traffic").is_empty() {
        let help = "add [traffic.X] with model, from and to; `perhop list` shows the models";
        problems.push::<()>(Severity::Error, "E238", None, ["scenario without traffic", "", help]);
    }
    let (classes, each) = (&classes(model), model.traffic.iter());
    each.filter_map(|(name, section)| Reading { model, classes, net, root, name, section, problems }.flowlines())
        .flatten()
        .collect()
}

struct Reading<'a> {
    model: &'a Model,
    classes: &'a [&'a str],
    net: (&'a Topology, &'a [plan::Link]),
    root: &'a Node,
    name: &'a str,
    section: &'a TrafficSection,
    problems: &'a mut Problems,
}

impl Reading<'_> {
    fn place(&self, field: &str) -> Place {
        tree::place(self.root, &["traffic", self.name, field])
    }

    /// The place of an item of a list, of the whole value if it is none.
    fn item(&self, field: &str, item: &str) -> Place {
        tree::item_place(self.root, &["traffic", self.name, field], item)
    }

    /// One for each sender.
    fn flowlines(mut self) -> Option<Vec<Flowline>> {
        let common = &self.section.common;
        let (from, to) = (self.senders(), self.node(self.place("to"), &common.to));
        let (tcp, times) = (self.tcp(), self.times());
        let segment = tcp.as_ref().map_or(LARGEST_PACKET, |t| t.0.segment);
        let source = self.source(segment);
        let ways = from.as_ref().zip(to).and_then(|(from, to)| {
            let ways: Vec<_> = from.iter().map(|&from| self.ways((from, to))).collect();
            ways.into_iter().collect::<Option<Vec<_>>>()
        });
        let (from, to, config, source, ways, ()) = (from?, to?, tcp?.1, source?, ways?, times?);
        let (header, tcp) = (u32::from(config.header), source.carrier() != Carrier::Datagrams);
        let data = source.largest_datagram().map_or(u32::from(config.mss) + header, |size| size.get() as u32);
        let asked = source.carrier() == Carrier::Responses;
        let ack = header + if asked { u32::from(config.mss) } else { 0 };
        let load = source.load().map(|each| each * f64::from(self.section.common.flows));
        let offered = self.offered((from, to), config);
        let one = |(sender, (forward, backward))| {
            let (ack, backward) = if tcp { (ack, backward) } else { (0, Vec::new()) };
            Flowline { offered: offered.clone(), sender, load, tcp, data, ack, forward, backward }
        };
        Some(ways.into_iter().enumerate().map(one).collect())
    }

    /// The nodes that send.
    fn senders(&mut self) -> Option<Vec<usize>> {
        let names = &self.section.common.from.0;
        if let Some(twice) = (1..names.len()).find(|&i| names[..i].contains(&names[i])) {
            let message = format!("`{}` stands twice in `from`", names[twice]);
            return self.problems.error("E002", self.place("from"), [&message, "", "name each sender once"]);
        }
        let nodes: Vec<_> = names.iter().map(|name| self.node(self.item("from", name), name)).collect();
        nodes.into_iter().collect()
    }

    fn source(&mut self, segment: Bytes) -> Option<AnyTraffic> {
        let senders = self.section.common.from.0.len() as u32;
        let source = match self.section.model.build(&TrafficScope { largest: LARGEST_PACKET, segment, senders }) {
            Ok(source) => source,
            Err(error) => return self.problems.param(&error, self.place(error.field)),
        };
        source.warnings().iter().for_each(|advice| self.problems.advise(advice, self.place(advice.field)));
        if senders > 1 && source.carrier() != Carrier::Responses {
            let message = format!("model \"{}\" has one sender, `from` names {senders}", self.section.model.name());
            let help = "a table for each, as in [traffic.\"f{1..3}\"] with from = \"S{i}\"";
            return self.problems.error("E262", self.place("from"), [&message, "", help]);
        }
        if source.carrier() == Carrier::Datagrams && self.section.common.tcp.is_some() {
            let message = format!("`tcp` has no effect on model \"{}\"", self.section.model.name());
            let help = "leave it out; this model sends datagrams";
            return self.problems.error("E239", self.place("tcp"), [&message, "", help]);
        }
        Some(source)
    }

    fn node(&mut self, place: Place, name: &str) -> Option<usize> {
        let topology = self.net.0;
        topology.node(name).or_else(|| {
            let names: Vec<_> = topology.nodes.iter().map(|n| n.name.as_str()).collect();
            let message = format!("unknown node `{name}`");
            self.problems.error("E232", place, [&message, "", &suggest(name, &names)])
        })
    }

    fn tcp(&mut self) -> Option<(TcpSection, transport::Config)> {
        let stated = self.section.common.tcp.as_ref();
        let Some(section) = tcp_section(self.model, stated) else {
            let Some(TcpRef::Named(name)) = stated else { return None };
            let names: Vec<_> = PRESETS.into_iter().chain(tree::names(self.root, "tcp")).collect();
            if names.contains(&name.as_str()) {
                return None;
            }
            let what = format!("unknown tcp `{name}`");
            return self.problems.error("E006", self.place("tcp"), [&what, "", &suggest(name, &names)]);
        };
        let asked = self.section.common.ecn;
        if asked == Some(true) && section.ecn == Some(false) {
            let message = format!("traffic `{}` has ECN, and its `tcp` has it off", self.name);
            let help = "leave out one of the two, or set `ecn = true` in the `tcp`";
            return self.problems.error("E246", self.place("ecn"), [&message, "", help]);
        }
        let ecn = asked.or(section.ecn).unwrap_or(false);
        match section.config() {
            Ok(config) => Some((section, transport::Config { ecn, ..config })),
            Err(_) if matches!(stated, Some(TcpRef::Named(_))) => None,
            Err(error) => {
                let field = error.field.split('.').collect::<Vec<_>>();
                let path: Vec<_> = ["traffic", self.name, "tcp"].into_iter().chain(field).collect();
                let message = format!("`{}` is {}", error.field, error.value);
                self.problems.error("E201", tree::place(self.root, &path), [&message, "", &error.bound])
            }
        }
    }

    fn times(&mut self) -> Option<()> {
        let (common, duration) = (&self.section.common, self.model.settings.duration);
        let mut sound = Some(());
        if common.flows == 0 {
            sound = self.problems.error("E201", self.place("flows"), ["`flows` is 0", "", "at least 1"]);
        }
        if common.start >= duration {
            let message = format!("`start` is {}, the run ends at {duration}", common.start);
            sound = self.problems.error("E201", self.place("start"), [&message, "", &format!("below {duration}")]);
        }
        if let Some(stop) = common.stop.filter(|stop| *stop <= common.start) {
            let message = format!("`stop` is {stop}, not after `start`");
            let help = format!("after {}", common.start);
            sound = self.problems.error("E201", self.place("stop"), [&message, "", &help]);
        }
        sound
    }

    /// Links there and back; nothing is known while a link has an error.
    fn ways(&mut self, (from, to): (usize, usize)) -> Option<(Vec<u32>, Vec<u32>)> {
        let (topology, links) = self.net;
        if from == to {
            let message = format!("`to` is the sender, `{}`", self.section.common.to);
            return self.problems.error(
                "E234",
                self.place("to"),
                [&message, "", "traffic goes from one node to another"],
            );
        }
        if !topology.complete {
            return None;
        }
        let router = Router::new(links, topology.nodes.len());
        let way = |from, to| router.route(from, to);
        let unreachable = |from: usize, to: usize| {
            let [from, to] = [from, to].map(|n| &topology.nodes[n].name);
            format!("no way from `{from}` to `{to}`")
        };
        let help = "add the links that are missing to [links]";
        let Some(forward) = way(from, to) else {
            return self.problems.error("E233", self.place("to"), [&unreachable(from, to), "", help]);
        };
        let Some(backward) = way(to, from) else {
            let label = "every traffic needs a way back";
            return self.problems.error("E233", self.place("to"), [&unreachable(to, from), label, help]);
        };
        Some((forward, backward))
    }

    fn offered(&self, (from, to): (Vec<usize>, usize), tcp: transport::Config) -> plan::Offered {
        let common = &self.section.common;
        let name = class_of(self.name, self.section);
        let class = self.classes.iter().position(|c| *c == name).unwrap_or_default() as u16;
        plan::Offered {
            name: self.name.to_owned(),
            class,
            from,
            to,
            flows: common.flows,
            start: Time::from_ns(common.start.ns()),
            spread: common.spread,
            stop: common.stop.map(|s| Time::from_ns(s.ns())),
            model: self.section.model.clone(),
            tcp,
            dscp: common.dscp,
            ect: common.ecn.unwrap_or(false),
        }
    }
}

/// Reports what a `[tcp.X]` has wrong, and names that are taken by presets.
pub fn check_tcp(model: &Model, root: &Node, problems: &mut Problems) {
    for (name, section) in &model.tcp {
        if PRESETS.contains(&name.as_str()) {
            let place = tree::key_place(root, &["tcp", name]);
            let message = format!("`{name}` is the name of a preset");
            problems.error::<()>("E002", place, [&message, "", "give the table another name"]);
        }
        if let Err(error) = section.config() {
            let path: Vec<_> = ["tcp", name.as_str()].into_iter().chain(error.field.split('.')).collect();
            let message = format!("`{}` is {}", error.field, error.value);
            problems.error::<()>("E201", tree::place(root, &path), [&message, "", &error.bound]);
        }
    }
}
