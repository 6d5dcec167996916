//! What the queue did, ready for JSON.

use perhop_core::count::Count;
use perhop_core::dscp::Dscp;
use perhop_core::packet::{Colour, FlowId};
use perhop_core::port::{Branch, Fates, Port};
use perhop_core::units::counted;
use perhop_core::verdict::Reason;
use perhop_edge::Behind;
use perhop_edge::flows::flow_name;
use serde::Serialize;

use super::queueing::{Group, Met, Queueing};
use super::round_trip_report::Names;
use super::volume::{Volume, over};

/// What a replay cannot say.
const NOTE: &str =
    "the replay keeps the capture's packets and times: real senders would have reacted to drops, marks and delay";

/// Packets that were dropped for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DropRow {
    /// Why: `early`, `forced`, `overflow`, ...
    pub reason: &'static str,
    /// How many.
    #[serde(flatten)]
    pub volume: Volume,
}

/// Packets that came to the queue, and what became of them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QueueRow {
    /// Which packets: `all`, a code point, a colour.
    pub of: String,
    /// Those that came.
    #[serde(flatten)]
    pub came: Volume,
    /// Those that were sent.
    pub sent: Volume,
    /// Of those, marked CE by the queue.
    pub marked: Volume,
    /// Those that were dropped.
    pub dropped: Volume,
    /// The same by reason; reasons without packets are omitted.
    pub reasons: Vec<DropRow>,
    /// From arrival to the start of transmission, of those sent; `None` if none was.
    pub wait: Option<WaitRow>,
}

/// A distribution of waits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WaitRow {
    /// Mean.
    pub mean_s: f64,
    /// Median.
    pub p50_s: f64,
    /// 99 %.
    pub p99_s: f64,
    /// Largest.
    pub max_s: f64,
}

/// A flow at the queue.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QueueFlowRow {
    /// The flow.
    pub flow: String,
    /// Its packets that came.
    #[serde(flatten)]
    pub came: Volume,
    /// Those that were sent.
    pub sent: Volume,
    /// Of those, marked CE by the queue.
    pub marked: Volume,
    /// Those that were dropped.
    pub dropped: Volume,
    /// Mean wait of those sent; `None` if none was.
    pub mean_wait_s: Option<f64>,
    /// Their longest wait.
    pub max_wait_s: Option<f64>,
}

/// A class of a template at the queue: of an address, or of all addresses that found no class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QueueClassRow {
    /// Its name: `customers/10.0.1.7`, by the last address that had it, or `customers/others`.
    pub class: String,
    /// How many addresses it has been for.
    pub addresses: u64,
    /// Packets that came to it.
    #[serde(flatten)]
    pub came: Volume,
    /// Those that were sent.
    pub sent: Volume,
    /// Those that were dropped.
    pub dropped: Volume,
}

/// What a queue on a line would have done to the capture's forward packets.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QueueReport {
    /// Its name in the policy.
    pub name: String,
    /// The line behind it.
    #[serde(flatten)]
    pub line: LineReport,
    /// What came to it over the capture's duration, as meters count bytes; `None` where that is 0.
    pub offered_bit_s: Option<f64>,
    /// The most packets that waited when one came.
    pub longest_packets: u64,
    /// The most bytes that waited when a packet came.
    pub longest_bytes: u64,
    /// All packets.
    pub all: QueueRow,
    /// By code point, as they came to the queue.
    pub code_points: Vec<QueueRow>,
    /// By colour.
    pub colours: Vec<QueueRow>,
    /// By flow, most dropped first.
    pub flows: Vec<QueueFlowRow>,
    /// By class of a template that an address has had, most sent first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<QueueClassRow>,
    /// What such a replay cannot say.
    pub note: &'static str,
}

/// What the line behind a queue sends.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LineReport {
    /// Its rate.
    pub link_bit_s: u64,
    /// Which bytes of a packet that rate counts: `l3`, `l2`, `l2+fcs`, `l1`.
    pub framing: &'static str,
    /// The same as a sentence.
    #[serde(skip)]
    pub link: String,
}

/// The line that the queue was on.
#[derive(Clone, Copy)]
pub(super) struct Line<'a> {
    pub(super) behind: &'a Behind,
    pub(super) duration_s: Option<f64>,
}

/// The classes of templates at a port.
pub(super) fn class_rows(port: &Port<u32>) -> Vec<QueueClassRow> {
    let queues = port.rows();
    let of_branch = |branch: Branch| {
        let addresses = branch.addresses?;
        let own = || branch.queues.iter().flat_map(|&row| &queues[row]);
        let fates = own().flat_map(|queue| queue.gate().fates().values());
        let fates = fates.fold(Fates::default(), |sum, fates| sum.plus(fates));
        let sent: Count = own().map(|queue| queue.sent()).sum();
        let (came, dropped) = (fates.arrived.into(), fates.lost().into());
        Some(QueueClassRow { class: branch.path, addresses, came, sent: sent.into(), dropped })
    };
    let mut rows: Vec<_> = port.branches().into_iter().filter_map(of_branch).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.sent.bytes));
    rows
}

impl QueueReport {
    pub(super) fn new(it: &Queueing, line: Line<'_>, classes: Vec<QueueClassRow>, names: &Names<'_>) -> Self {
        let code_point = |dscp: u8| Dscp::new(dscp).expect("below 64").to_string();
        let colour = |index: usize| Colour::ALL[index].name().to_owned();
        let link = &line.behind.plan.links[0];
        Self {
            name: line.behind.name.clone(),
            line: LineReport { link_bit_s: link.rate.bit_s(), framing: link.framing.name(), link: link.counts() },
            offered_bit_s: over(it.all.met.came.bytes, line.duration_s),
            longest_packets: it.longest.packets,
            longest_bytes: it.longest.bytes,
            all: row("all".into(), &it.all),
            code_points: it.code_points.iter().map(|(dscp, group)| row(code_point(*dscp), group)).collect(),
            colours: it.colours.iter().map(|(index, group)| row(colour(*index), group)).collect(),
            flows: flow_rows(&it.flows, names),
            classes,
            note: NOTE,
        }
    }

    /// Addresses beyond the slots of a template.
    pub(super) fn warnings(&self) -> impl Iterator<Item = String> {
        let others = self.classes.iter().filter(|row| row.class.ends_with("/others") && row.addresses > 0);
        others.map(|row| {
            let addresses = counted(row.addresses, ["address", "addresses"]);
            let help = "raise `slots`, or let flows expire with --flow-timeout: idle classes are given again";
            format!("{addresses} found every slot taken and shared the class `{}`: {help}", row.class)
        })
    }
}

fn row(of: String, group: &Group) -> QueueRow {
    let met = &group.met;
    let reason = |(reason, count): (Reason, Count)| DropRow { reason: reason.name(), volume: count.into() };
    let reasons = Reason::ALL.into_iter().zip(met.dropped).map(reason).filter(|row| row.volume.packets > 0);
    let wait = group.waits.quantiles().map(|q| WaitRow {
        mean_s: q.mean / 1e9,
        // The distribution has two significant digits: its steps may reach beyond the largest.
        p50_s: q.p50.min(met.longest) as f64 / 1e9,
        p99_s: q.p99.min(met.longest) as f64 / 1e9,
        max_s: met.longest as f64 / 1e9,
    });
    QueueRow {
        of,
        came: met.came.into(),
        sent: met.sent.into(),
        marked: met.marked.into(),
        dropped: met.lost().into(),
        reasons: reasons.collect(),
        wait,
    }
}

fn flow_rows(flows: &[Met], names: &Names<'_>) -> Vec<QueueFlowRow> {
    let met = (0..).zip(flows).filter(|(_, met)| met.came.packets > 0);
    let row = |(flow, met): (u32, &Met)| QueueFlowRow {
        flow: flow_name(&names.flow(FlowId(flow))),
        came: met.came.into(),
        sent: met.sent.into(),
        marked: met.marked.into(),
        dropped: met.lost().into(),
        mean_wait_s: met.mean().map(|ns| ns / 1e9),
        max_wait_s: met.mean().map(|_| met.longest as f64 / 1e9),
    };
    let mut rows: Vec<_> = met.map(row).collect();
    rows.sort_by_key(|row| std::cmp::Reverse((row.dropped.bytes, row.came.bytes)));
    rows
}
