//! The sections of a file, each declared once: parser, defaults, schema, docs and `explain` come from here.

use perhop_core::aqm::AqmParams;
use perhop_core::classify::Match;
use perhop_core::conditioner::ConditionerParams;
use perhop_core::dscp::Dscp;
use perhop_core::edge::{Action, Per};
use perhop_core::flow_label::Carried;
use perhop_core::params::{Choice, Kind, Node, Params, Problems, Tree, Value};
use perhop_core::sched::SchedulerParams;
use perhop_core::units::{BitRate, Length, Probability, Span};
use perhop_sim::traffic::TrafficParams;
use std::net::Ipv4Addr;

/// Which bytes count.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Accounting {
    /// The IP packet.
    #[default]
    L3,
    /// With the Ethernet header: 14 B more.
    L2,
    /// With header and check sequence: 18 B more.
    #[param(name = "l2+fcs")]
    L2Fcs,
    /// On the wire, with preamble and gap: 38 B more.
    L1,
}

impl Accounting {
    /// Bytes a packet counts beyond its IP length.
    pub const fn overhead(self) -> u32 {
        match self {
            Self::L3 => 0,
            Self::L2 => 14,
            Self::L2Fcs => 18,
            Self::L1 => 38,
        }
    }
}

/// `[scenario]`
#[derive(Params, Clone, Debug, PartialEq)]
pub struct Settings {
    /// Name of the run's directory; the file's name without its ending where left out.
    pub name: Option<String>,
    /// Simulated time.
    #[param(default = "60s")]
    pub duration: Span,
    /// What is left out of the statistics at the start.
    #[param(default = "10s")]
    pub warmup: Span,
    /// With the replication's number it keys every random stream.
    #[param(default = 1)]
    pub seed: u64,
    /// Independent runs behind each mean and interval.
    #[param(default = 10)]
    pub replications: u32,
    /// Which bytes meters and queues count; links always serialise the IP packet.
    #[param(default = "l3")]
    pub accounting: Accounting,
    /// Interval of the series; none are written where left out.
    pub sample: Option<Span>,
    /// Ports the series are of; all ports, and the flows, where left out.
    pub sample_ports: Vec<String>,
}

/// `[policy]`
#[derive(Params, Clone, Debug, PartialEq)]
pub struct PolicySettings {
    /// Its name in tables; the file's name without its ending where left out.
    pub name: Option<String>,
    /// Which bytes meters count.
    #[param(default = "l3")]
    pub accounting: Accounting,
    /// Prefixes of the inside: forward is from inside to outside, the rest is reverse (ACKs). All is forward where
    /// left out.
    pub inside: Vec<perhop_core::classify::Prefix>,
    /// What IPv6 flow labels carry: packets come and leave labelled. They are neither read nor written where left out.
    pub flow_label: Option<Carried>,
    /// Keys the random streams of probabilistic conditioners.
    #[param(default = 1)]
    pub seed: u64,
}

/// `[nodes.X]`
#[derive(Params, Clone, Debug, PartialEq)]
pub struct NodeSection {
    /// Its address; 10.0.n.1 in the order of appearance where left out.
    pub address: Option<Address>,
}

/// `"A - B"` (both directions) or `"A -> B"` (one, or what differs there) in `[links]`.
#[derive(Params, Clone, Debug, PartialEq)]
pub struct LinkSection {
    /// Rate.
    pub rate: Option<BitRate>,
    /// Propagation delay.
    pub delay: Option<Span>,
    /// The queue before it: a name of `[queue]`, or a table of the same keys.
    pub queue: Option<QueueRef>,
    /// Share of packets lost on the wire.
    pub loss: Option<Probability>,
}

/// What stands in `[queue.X]` beside the AQM's own parameters.
#[derive(Params, Clone, Debug, PartialEq)]
pub struct QueueCommon {
    /// How much may wait, the packet in transmission not counted: packets, bytes, or time at the link's rate.
    #[param(default = "1000p")]
    pub limit: Length,
}

/// `[queue.X]`
#[derive(Clone, Debug, PartialEq)]
pub enum QueueSection {
    /// One queue.
    One(Queue),
    /// A scheduler with a queue for each of its classes.
    Several(Scheduled),
}

/// `scheduler` with its classes.
#[derive(Clone, Debug, PartialEq)]
pub struct Scheduled {
    /// `scheduler` with its parameters.
    pub params: SchedulerParams,
    /// The queue of each class.
    pub queues: Vec<QueueRef>,
}

/// A queue with its AQM.
#[derive(Clone, Debug, PartialEq)]
pub struct Queue {
    /// Limit.
    pub common: QueueCommon,
    /// `aqm` with its parameters.
    pub aqm: AqmParams,
}

/// A link's queue.
#[derive(Clone, Debug, PartialEq)]
pub enum QueueRef {
    /// Name of a `[queue.X]`.
    Named(String),
    /// Written where it is used.
    Inline(QueueSection),
}

/// Where a conditioner sits and what it takes.
#[derive(Params, Clone, Debug, PartialEq)]
pub struct Placement {
    /// What it takes; all where left out.
    #[param(name = "match")]
    pub matches: Option<Match>,
    /// What shares one instance.
    #[param(default = "aggregate")]
    pub per: Per,
}

/// An action per colour.
#[derive(Params, Clone, Debug, Default, PartialEq)]
pub struct Actions {
    /// For green packets: "mark X", "transmit" (where left out) or "drop".
    pub green: Option<ActionText>,
    /// For yellow packets.
    pub yellow: Option<ActionText>,
    /// For red packets.
    pub red: Option<ActionText>,
    /// For packets it leaves unmarked.
    pub unmarked: Option<ActionText>,
}

impl Actions {
    /// In the order of the colours.
    pub fn all(&self) -> [Action; 4] {
        let or_transmit = |a: &Option<ActionText>| a.as_ref().map_or(Action::Transmit, |a| a.0);
        [&self.green, &self.yellow, &self.red, &self.unmarked].map(or_transmit)
    }
}

/// `[conditioner.X]`
#[derive(Clone, Debug, PartialEq)]
pub struct ConditionerSection {
    /// What it takes.
    pub placement: Placement,
    /// Where it sits, at least one; in a policy the one that has no name.
    pub ports: Vec<Port>,
    /// An action per colour.
    pub actions: Actions,
}

/// A port of a conditioner.
#[derive(Clone, Debug, PartialEq)]
pub struct Port {
    /// As the file writes it.
    pub name: Option<String>,
    /// `kind` with the parameters that hold there.
    pub params: ConditionerParams,
}

/// What stands in `[traffic.X]` beside the model's own parameters.
#[derive(Params, Clone, Debug, PartialEq)]
pub struct TrafficCommon {
    /// The sending node; a list for a model that draws one of several.
    pub from: Senders,
    /// The receiving node.
    pub to: String,
    /// Number of sources.
    #[param(default = 1)]
    pub flows: u32,
    /// Earliest start.
    #[param(default = "0s")]
    pub start: Span,
    /// Each source starts a uniform draw from [0, spread) after `start`.
    #[param(default = "1s")]
    pub spread: Span,
    /// When a source stops offering; at the end where left out.
    pub stop: Option<Span>,
    /// Code point of its packets.
    #[param(default = "BE")]
    pub dscp: Dscp,
    /// Class its packets are counted in; its own name where left out.
    pub class: Option<String>,
    /// ECN (RFC 3168); for TCP as its preset or table says where left out, else off.
    pub ecn: Option<bool>,
    /// TCP: "reno", "newreno" (where left out), a name of `[tcp]`, or a table of the same keys.
    pub tcp: Option<TcpRef>,
}

/// `[traffic.X]`
#[derive(Clone, Debug, PartialEq)]
pub struct TrafficSection {
    /// From where to where, how many, when.
    pub common: TrafficCommon,
    /// `model` with its parameters.
    pub model: TrafficParams,
}

/// Names of the nodes that send, at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Senders(pub Vec<String>);

/// A node's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address(pub Ipv4Addr);

/// An action as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActionText(pub Action);

pub use crate::tcp::TcpRef;

fn text<T: Value>(node: &Node, problems: &mut Problems) -> Option<String> {
    match &node.tree {
        Tree::Text(text) => Some(text.clone()),
        _ => problems.wrong_type(node, &T::KIND),
    }
}

impl Value for Senders {
    const KIND: Kind = Vec::<String>::KIND;
    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        let names = Vec::read(node, problems)?;
        if names.is_empty() {
            return problems.error("E201", node.place, ["an empty list", "", "name at least one node"]);
        }
        Some(Self(names))
    }
    fn tree(&self) -> Option<Tree> {
        match self.0.as_slice() {
            [one] => one.tree(),
            _ => self.0.tree(),
        }
    }
}

impl Value for Address {
    const KIND: Kind = Kind::Text;
    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        let text = text::<Self>(node, problems)?;
        text.parse().ok().map(Self).or_else(|| {
            let message = format!("`{text}` is not an IPv4 address");
            problems.error("E243", node.place, [&message, "", "as in \"10.0.1.1\""])
        })
    }
    fn tree(&self) -> Option<Tree> {
        Some(Tree::Text(self.0.to_string()))
    }
}

impl Value for ActionText {
    const KIND: Kind = Kind::Text;
    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        match text::<Self>(node, problems)?.parse::<Action>() {
            Ok(action) => Some(Self(action)),
            Err([message, help]) => problems.error("E224", node.place, [&message, "", &help]),
        }
    }
    fn tree(&self) -> Option<Tree> {
        Some(Tree::Text(self.0.to_string()))
    }
}

impl Value for QueueRef {
    const KIND: Kind = Kind::Any;
    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        match &node.tree {
            Tree::Text(name) => Some(Self::Named(name.clone())),
            _ => crate::read::queue(node, problems).map(Self::Inline),
        }
    }
    fn tree(&self) -> Option<Tree> {
        Some(match self {
            Self::Named(name) => Tree::Text(name.clone()),
            Self::Inline(queue) => crate::show::queue_section(queue),
        })
    }
}
