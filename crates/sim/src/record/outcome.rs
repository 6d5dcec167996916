//! The results of a replication: counts since the end of the warm-up, and proof that no packet was lost unseen.

use super::delays::Quantiles;
use super::ef::EfRow;
use super::sample::{FlowSample, Sample};
use super::tap::Captured;
use super::totals::{FlowCounts, Tally, Transfer};
use crate::transport::Counters;
use perhop_core::classify::FlowHeaders;
use perhop_core::count::Count;
use perhop_core::counter::Part;
use perhop_core::fault::Fault;
use perhop_core::packet::Colour;
use perhop_core::port::edge::ColourMatrix;
use perhop_core::port::{Branch, Fates, LetGo};
use perhop_core::units::{Span, Time};

/// One flow. Flows of transfers are not rows; see [`Outcome::transfers`].
#[derive(Clone, Debug)]
pub struct FlowRow {
    /// Index of its `[traffic]` table.
    pub table: usize,
    /// Number within the table.
    pub number: u32,
    /// Packets and bytes, as `accounting` counts them.
    pub counts: FlowCounts,
    /// Payload that arrived, in order for TCP and other transports, in any order for plain datagrams.
    pub goodput_bytes: u64,
    /// The sender's counters, for TCP.
    pub tcp: Option<Counters>,
    /// Cuts of its congestion window, if it has one and says so.
    pub cuts: Option<u64>,
    /// One-way delay.
    pub delay: Option<Quantiles>,
    /// Difference of successive one-way delays.
    pub jitter: Option<Quantiles>,
}

/// One class and colour at the destination.
#[derive(Clone, Debug)]
pub struct ArrivalRow {
    /// Index of the class.
    pub class: usize,
    /// Colour on arrival.
    pub colour: Colour,
    /// Packets and bytes, as `accounting` counts them.
    pub delivered: Count,
    /// One-way delay.
    pub delay: Option<Quantiles>,
    /// Difference of successive one-way delays.
    pub jitter: Option<Quantiles>,
    /// How often each one-way delay was seen, ns, if the plan asks for it.
    pub histogram: Vec<(u64, u64)>,
}

/// One class and colour at one hop.
#[derive(Clone, Debug)]
pub struct HopRow {
    /// Index of the link.
    pub link: usize,
    /// Index of the class.
    pub class: usize,
    /// Colour after the port's conditioners.
    pub colour: Colour,
    /// Dropped by a conditioner.
    pub policed: Count,
    /// Fates at the gate.
    pub fates: Fates,
    /// Arrived at the other end.
    pub delivered: Count,
    /// Lost on the wire.
    pub lost: Count,
    /// Time waiting in the queue.
    pub wait: Option<Quantiles>,
}

/// A link whose rate has changed.
#[derive(Clone, Copy, Debug)]
pub struct Sending {
    /// Index of the link.
    pub link: usize,
    /// For how long it was sending.
    pub time: Span,
}

/// One queue of a link's scheduler.
#[derive(Clone, Debug)]
pub struct QueueRow {
    /// Index of the link.
    pub link: usize,
    /// Index of the scheduler's class.
    pub queue: usize,
    /// Fates at its gate.
    pub fates: Fates,
    /// What was transmitted from it.
    pub sent: Count,
    /// Time waiting in it.
    pub wait: Option<Quantiles>,
}

/// One node of the tree of a link's queues, or a class with classes below it.
#[derive(Clone, Debug)]
pub struct NodeRow {
    /// Index of the link.
    pub link: usize,
    /// What it is.
    pub branch: Branch,
    /// Fates at the gates of the queues below it.
    pub fates: Fates,
    /// What was transmitted from them.
    pub sent: Count,
    /// Time waiting in them.
    pub wait: Option<Quantiles>,
    /// What its shaper did, if it has one.
    pub let_go: Option<LetGo>,
}

/// One conditioner.
#[derive(Clone, Debug)]
pub struct ConditionerRow {
    /// Index of the link.
    pub link: usize,
    /// Its name.
    pub name: String,
    /// In-colour x out-colour.
    pub counts: ColourMatrix,
}

/// A counter of a port, as `tc -s` shows it: since the start of the run, the warm-up included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CounterRow {
    /// Index of the link.
    pub link: usize,
    /// Its node in the specification of the port.
    pub node: usize,
    /// Whose it is there.
    pub part: Part,
    /// tc's name of it.
    pub counter: &'static str,
    /// In tc's unit.
    pub value: f64,
}

/// One `[traffic]` table.
#[derive(Clone, Debug)]
pub struct TableRow {
    /// Payload that arrived in order, all its flows.
    pub goodput_bytes: u64,
    /// Transfers complete since the end of the warm-up.
    pub complete: u32,
    /// Transfers not complete at the end.
    pub open: u32,
    /// The senders' counters, all flows; `None` where another transport than TCP carries them.
    pub tcp: Option<Counters>,
}

/// One session that began after the warm-up.
#[derive(Clone, Debug)]
pub struct SessionRow {
    /// Index of its `[traffic]` table.
    pub table: usize,
    /// Number of its source within the table.
    pub source: u32,
    /// When its first packet was written.
    pub opened: Time,
    /// When its last one was delivered; `None` if it was not.
    pub complete: Option<Time>,
    /// Packets written.
    pub written: u32,
    /// Packets delivered in order.
    pub delivered: u32,
    /// From write to delivery.
    pub delay: Option<Quantiles>,
}

/// What the ports of the links did.
#[derive(Clone, Debug, Default)]
pub struct PortRows {
    /// Classes and colours at each hop; rows without packets are omitted.
    pub hops: Vec<HopRow>,
    /// Links whose rates have changed.
    pub sending: Vec<Sending>,
    /// Queues of schedulers.
    pub queues: Vec<QueueRow>,
    /// Nodes of trees that are more than a scheduler over queues.
    pub nodes: Vec<NodeRow>,
    /// Conditioners.
    pub conditioners: Vec<ConditionerRow>,
    /// Totals of AQMs and conditioners.
    pub tallies: Vec<Tally>,
    /// Aggregates held against their rates, in the order of the plan's checks.
    pub ef: Vec<EfRow>,
    /// What `tc -s` would show, if asked for.
    pub counters: Vec<CounterRow>,
}

/// What was sampled at an interval, if asked for.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// Queues, AQMs and conditioners.
    pub ports: Vec<Sample>,
    /// Long-lived flows.
    pub flows: Vec<FlowSample>,
}

/// How much the engine did, since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Packets that left a link.
    pub packet_hops: u64,
    /// Events.
    pub events: u64,
}

/// Why a run is invalid, if it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Transfers that could not be started: too many at a time.
    pub refused: u64,
    /// Breaches of conservation: a fault of perhop, never of the scenario.
    pub breaches: Vec<String>,
    /// An algorithm that could not go on; nothing after its time counts.
    pub algorithm: Option<Fault>,
}

/// All results of a replication; by default nothing happened.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Time covered by the counts.
    pub measured: Span,
    /// Long-lived flows.
    pub flows: Vec<FlowRow>,
    /// `[traffic]` tables.
    pub tables: Vec<TableRow>,
    /// Classes and colours at their destination.
    pub arrivals: Vec<ArrivalRow>,
    /// Ports: hops, queues, conditioners.
    pub ports: PortRows,
    /// Transfers opened after the warm-up and complete, in the order of completion.
    pub transfers: Vec<Transfer>,
    /// Sessions that began after the warm-up, in the order of their sources.
    pub sessions: Vec<SessionRow>,
    /// Series, if asked for.
    pub series: Series,
    /// Packets at taps.
    pub captured: Vec<Captured>,
    /// Headers of flow `k` (packet numbers `2 k` and `2 k + 1`), for captures.
    pub headers: Vec<FlowHeaders>,
    /// How much the engine did.
    pub work: Work,
    /// Why the run is invalid, if it is.
    pub faults: Faults,
}
