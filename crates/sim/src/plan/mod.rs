//! The plan of a run: plain data that a validated scenario becomes and the engine is built from.

use crate::traffic::TrafficParams;
use crate::transport;
use crate::transport::datagram::Protocol;
use perhop_core::accounting::Accounting;
use perhop_core::dscp::Dscp;
use perhop_core::params::Choice;
use perhop_core::port::edge::StageSpec;
use perhop_core::port::{NodeSpec, PortSpec, QueueSpec};
use perhop_core::sched::SchedulerParams;
use perhop_core::units::{BitRate, Probability, Span, Time};
use std::net::Ipv4Addr;
use std::sync::Arc;

/// What a plan says after a change.
mod alter;
/// Changes during the run.
mod change;
/// An aggregate held against a rate.
mod ef;
/// Why a plan cannot be run.
mod error;
/// What copies of a plan share.
mod shared;

pub use change::{Alteration, Change};
pub use ef::{Aggregate, EfCheck};
pub use error::PlanError;
pub use shared::Shared;

/// Everything that one replication needs. Copies share what it describes.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Seed of the run.
    pub seed: u64,
    /// Number of the replication; with the seed, the key of every random stream.
    pub replication: u32,
    /// Simulated time.
    pub duration: Span,
    /// Time at the start that is excluded from the statistics.
    pub warmup: Span,
    /// Which bytes of a packet meters and queues count.
    pub accounting: Accounting,
    /// Hosts and routers.
    pub nodes: Shared<Node>,
    /// Links, one entry for each direction.
    pub links: Shared<Link>,
    /// Names of the classes that packets are counted by.
    pub classes: Shared<String>,
    /// Traffic, in the file's order.
    pub traffic: Shared<Offered>,
    /// What changes during the run, in order of time.
    pub changes: Vec<Change>,
    /// What is sampled; `None`: no series.
    pub sampling: Option<Sampling>,
    /// What is watched at links.
    pub probes: Probes,
}

/// Series at an interval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sampling {
    /// The interval.
    pub every: Span,
    /// Links to write series for, in ascending order; `None`: all of them, and the flows.
    pub links: Option<Vec<usize>>,
}

impl Sampling {
    /// For all links and flows.
    pub fn all(every: Span) -> Self {
        Self { every, links: None }
    }
}

impl Plan {
    /// Forgets the queues and conditioners of its links, which have been built, where no other copy of the plan needs them.
    pub(crate) fn forget_ports(&mut self) {
        for link in self.links.alone_mut().into_iter().flatten() {
            (link.queues, link.edge) = (Vec::new(), Vec::new());
        }
    }

    /// A link counts other bytes from now on, and what stands before it knows that.
    pub fn set_framing(&mut self, link: usize, framing: Accounting) {
        let link = &mut self.links[link];
        link.framing = framing;
        let queues = link.queues.iter_mut().map(|queue| &mut queue.scope);
        let nodes = link.nodes.iter_mut().map(|node| &mut node.scope);
        queues.chain(nodes).for_each(|scope| scope.framing = framing);
    }

    /// The port that a link leaves from.
    pub fn port(&self, link: usize) -> PortSpec<'_> {
        let link = &self.links[link];
        PortSpec {
            name: &link.name,
            edge: &link.edge,
            queues: &link.queues,
            nodes: &link.nodes,
            seed: self.seed,
            replication: self.replication,
        }
    }
}

/// A host or router.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Its address in captures and for prefix matches.
    pub address: Ipv4Addr,
}

/// How packets' times on a wire differ from its delay; by default they do not.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Transit {
    /// Half the range of a uniform jitter, standard deviation of a normal one; neither may reach below no delay.
    pub jitter: Span,
    /// The jitter's law.
    pub spread: Spread,
    /// Share of packets that overtake all that are in flight.
    pub reorder: Probability,
}

impl Transit {
    /// Whether packets take different times.
    pub fn varies(&self) -> bool {
        self.jitter > Span::ZERO || self.reorder > Probability::ZERO
    }

    /// The largest difference from the delay.
    pub fn largest(&self) -> Span {
        self.jitter * self.spread.reach()
    }
}

/// Standard deviations of a normal jitter beyond which a draw is repeated.
pub const LARGEST_SIGMAS: u64 = 4;

/// The law of a jitter.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spread {
    /// Every difference from -jitter to jitter equally often.
    #[default]
    Uniform,
    /// Normal with standard deviation `jitter`, no further than four of them.
    Normal,
}

impl Spread {
    /// The largest difference as a multiple of the jitter.
    pub const fn reach(self) -> u64 {
        match self {
            Self::Uniform => 1,
            Self::Normal => LARGEST_SIGMAS,
        }
    }
}

/// One direction of a link, with the port it leaves from.
#[derive(Clone, Debug)]
pub struct Link {
    /// `"C -> E2"`; also the name of its queue's random stream.
    pub name: String,
    /// Index of the node it leaves.
    pub from: usize,
    /// Index of the node it reaches.
    pub to: usize,
    /// Rate.
    pub rate: BitRate,
    /// Which bytes of a packet the rate counts.
    pub framing: Accounting,
    /// Propagation delay.
    pub delay: Span,
    /// Share of packets lost on the wire.
    pub loss: Probability,
    /// How packets' times on the wire differ from the delay.
    pub transit: Transit,
    /// Its queues: one, or those at the leaves of the tree.
    pub queues: Vec<QueueSpec>,
    /// The tree of schedulers and shapers above the queues; empty: there is one queue.
    pub nodes: Vec<NodeSpec>,
    /// Conditioners at the port, in order.
    pub edge: Vec<StageSpec>,
}

impl Link {
    /// Whether a queue of its port paces the connections of its own host.
    pub fn paces(&self) -> bool {
        let paces = |params: &SchedulerParams| matches!(params, SchedulerParams::Fq(fq) if fq.pacing);
        self.nodes.iter().filter_map(NodeSpec::scheduler).any(paces)
    }

    /// Which bytes its rate counts, as a sentence: `link 10Mbit/s counts IP packets (l3)`.
    pub fn counts(&self) -> String {
        format!("link {} counts {}", self.rate, self.framing.words())
    }

    /// What it sends of packets of one IP length, in the bytes that an accounting counts of them.
    pub fn carries(&self, length: u32, accounting: Accounting) -> BitRate {
        let bytes = |accounting: Accounting| u128::from(length.max(1)) + u128::from(accounting.overhead());
        let rate = u128::from(self.rate.bit_s()) * bytes(accounting) / bytes(self.framing);
        BitRate::bps(u64::try_from(rate).unwrap_or(u64::MAX))
    }

    /// The scheduler at the root of its tree.
    pub fn scheduler(&self) -> Option<&SchedulerParams> {
        self.nodes.first()?.scheduler()
    }
}

/// A `[traffic]` table.
#[derive(Clone, Debug)]
pub struct Offered {
    /// Its name.
    pub name: String,
    /// Index of the class its packets are counted in.
    pub class: u16,
    /// Indices of the sending nodes; several where the model draws one.
    pub from: Vec<usize>,
    /// Index of the receiving node.
    pub to: usize,
    /// Number of sources.
    pub flows: u32,
    /// Earliest start.
    pub start: Time,
    /// Each source starts a uniform draw from [0, spread) later.
    pub spread: Span,
    /// When a source stops offering; `None`: at the end.
    pub stop: Option<Time>,
    /// What is offered, and when.
    pub model: TrafficParams,
    /// The connection's parameters, for what goes through TCP.
    pub tcp: transport::Config,
    /// Code point of its packets.
    pub dscp: Dscp,
    /// What its sockets are set to.
    pub sockets: Sockets,
}

/// What carries a `[traffic]` instead of TCP, if it is not TCP: code, which a plan does not hold.
pub type Protocols<'a> = &'a dyn Fn(&Offered) -> Option<Arc<dyn Protocol>>;

/// The first port that a flow gets whose traffic states none.
pub const FIRST_PORT: u16 = 1024;

/// Options of the sockets of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sockets {
    /// Their use of ECN.
    pub ecn: EcnUse,
    /// `SO_MAX_PACING_RATE`; the parameters of connections have it too.
    pub max_pacing_rate: Option<BitRate>,
    /// `UDP_SEGMENT`: datagrams that leave together, as one packet until they leave their host; 1 for single ones.
    pub gso: u32,
    /// The port that it sends from; `None`: one for each flow.
    pub source_port: Option<u16>,
    /// The port that it sends to; `None`: one for each traffic.
    pub destination_port: Option<u16>,
}

impl Default for Sockets {
    fn default() -> Self {
        Self { ecn: EcnUse::default(), max_pacing_rate: None, gso: 1, source_port: None, destination_port: None }
    }
}

/// Which packets of a source are ECN-capable, and how they say so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EcnUse {
    /// Whether its datagrams are, those of a transport over datagrams included; TCP's segments are as negotiated.
    pub datagrams: bool,
    /// Whether those that are carry ECT(1) (RFC 9331), not ECT(0).
    pub l4s: bool,
}

/// What is watched at links, besides what is counted there.
#[derive(Clone, Debug, Default)]
pub struct Probes {
    /// Links whose packets are recorded.
    pub taps: Vec<Tap>,
    /// Ports where an aggregate is held against a rate.
    pub ef: Vec<EfCheck>,
    /// Whether what `tc -s` would show of the ports is read at the end.
    pub counters: bool,
    /// Whether the distribution of delays is recorded, beside its quantiles.
    pub delays: bool,
}

/// A link whose packets are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tap {
    /// Index of the link.
    pub link: usize,
    /// Where on it.
    pub point: TapPoint,
}

/// Where on a link a tap sits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TapPoint {
    /// What arrives at the port, before its conditioners.
    Input,
    /// What passed the link, when it arrives at the other end.
    Output,
}
