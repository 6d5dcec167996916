//! What flows counted, and what series show of them.

use super::Hosts;
use super::flow::Flow;
use super::peers::Pair;
use super::table::Table;
use crate::record::{Arrivals, Delivered, FlowCounts, FlowRow, FlowSample, Recorder, Retired, SessionRow, TableRow};
use crate::traffic::{Carrier, UDP_HEADERS};
use crate::transport::Counters;
use crate::transport::datagram::Known;
use perhop_core::count::Count;
use perhop_core::units::Time;

/// All counters of the hosts at one time.
#[derive(Clone, Debug, Default)]
pub struct HostTotals {
    flows: Vec<FlowTotals>,
    /// By `[traffic]` table.
    retired: Vec<Retired>,
}

/// The counters of one flow.
#[derive(Clone, Copy, Debug, Default)]
struct FlowTotals {
    counts: FlowCounts,
    goodput_bytes: u64,
    tcp: Counters,
    cuts: Option<u64>,
}

impl HostTotals {
    /// Without the flows at the end that have sent nothing: of those, everything is 0.
    pub fn of_begun(mut self) -> Self {
        let begun = self.flows.iter().rposition(|flow| flow.counts != FlowCounts::default());
        self.flows.truncate(begun.map_or(0, |last| last + 1));
        self.flows.shrink_to_fit();
        self
    }

    fn of(&self, slot: usize) -> FlowTotals {
        self.flows.get(slot).copied().unwrap_or_default()
    }
}

impl Hosts {
    /// All counters now.
    pub fn totals(&self) -> HostTotals {
        let flow = |(slot, f): (usize, &Flow)| FlowTotals {
            counts: f.counts,
            goodput_bytes: self.goodput_bytes(slot),
            tcp: f.tcp.as_ref().map_or_else(Counters::default, |tcp| *tcp.sender.counters()),
            cuts: self.known(slot).cuts,
        };
        HostTotals {
            flows: self.flows.iter().enumerate().map(flow).collect(),
            retired: self.tables.iter().map(|table| table.retired).collect(),
        }
    }

    /// Delays begin again.
    pub fn clear_delays(&mut self) {
        self.flows.iter_mut().for_each(|flow| flow.arrivals.clear());
    }

    /// What has arrived so far, by class and colour.
    pub fn delivered(&self) -> Delivered {
        let mut all = Delivered::default();
        self.flows.iter().for_each(|flow| flow.arrivals.add_delivered(&mut all));
        all
    }

    /// The arrivals of all flows.
    pub fn arrivals(&self) -> Arrivals {
        self.flows.iter().fold(Arrivals::default(), |all, flow| all.plus(&flow.arrivals))
    }

    /// Transfers that keys had no room for.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Payload of a flow that has arrived: in order for TCP and other transports, in any order for plain datagrams, less
    /// what each counts beyond its payload. Requests are not goodput.
    pub(super) fn goodput_bytes(&self, slot: usize) -> u64 {
        let flow = &self.flows[slot];
        let Count { packets, bytes } = flow.counts.delivered;
        match (&flow.tcp, self.pairs.get(slot)) {
            _ if self.tables[flow.table as usize].is_request(flow.way) => 0,
            (Some(tcp), _) => tcp.receiver.delivered_bytes(),
            (None, Some(pair)) => pair.delivered(),
            _ if self.tables[flow.table as usize].carrier == Carrier::Datagrams => {
                bytes.saturating_sub(packets * u64::from(UDP_HEADERS + self.overhead))
            }
            _ => 0,
        }
    }

    /// What the sender of a transport over datagrams says about itself.
    fn known(&self, slot: usize) -> Known {
        self.pairs.get(slot).map_or_else(Known::default, Pair::known)
    }

    /// The flows that last as long as their sources, with their places and their numbers within their tables; those of
    /// transfers do not.
    fn standing(&self) -> impl Iterator<Item = (usize, u32, &Flow)> {
        let mut next = vec![0; self.tables.len()];
        let stands = |flow: &Flow| self.tables[flow.table as usize].carrier.is_standing();
        let flows = self.flows.iter().enumerate().filter(move |(_, flow)| stands(flow));
        flows.map(move |(slot, flow)| {
            let next = &mut next[flow.table as usize];
            *next += 1;
            (slot, *next - 1, flow)
        })
    }

    /// What each standing flow did from `base` to `end`.
    pub fn flow_rows(&self, end: &HostTotals, base: &HostTotals) -> Vec<FlowRow> {
        let row = |(row, flow): (FlowRow, &Flow)| {
            let [delay, jitter] = flow.arrivals.quantiles();
            FlowRow { delay, jitter, ..row }
        };
        self.counted(end, base).map(row).collect()
    }

    /// The same without delays, which no difference of totals has.
    pub fn flow_counts(&self, end: &HostTotals, base: &HostTotals) -> Vec<FlowRow> {
        self.counted(end, base).map(|(row, _)| row).collect()
    }

    fn counted(&self, end: &HostTotals, base: &HostTotals) -> impl Iterator<Item = (FlowRow, &Flow)> {
        self.standing().map(|(slot, number, flow)| {
            let (now, then) = (end.of(slot), base.of(slot));
            let row = FlowRow {
                table: flow.table as usize,
                number,
                counts: now.counts.since(&then.counts),
                goodput_bytes: now.goodput_bytes - then.goodput_bytes,
                tcp: flow.tcp.as_ref().map(|_| now.tcp - then.tcp),
                cuts: match &flow.tcp {
                    Some(_) => Some(u64::from((now.tcp - then.tcp).cuts)),
                    None => now.cuts.map(|cuts| cuts - then.cuts.unwrap_or(0)),
                },
                delay: None,
                jitter: None,
            };
            (row, flow)
        })
    }

    /// Sessions that began at or after `since`.
    pub fn session_rows(&self, since: Time) -> Vec<SessionRow> {
        let row = |flow: &Flow| {
            let session = flow.tcp.as_ref()?.session.as_ref().filter(|session| session.opened >= since)?;
            Some(SessionRow {
                table: flow.table as usize,
                source: self.number_of(flow.source),
                opened: session.opened,
                complete: session.complete,
                written: session.written,
                delivered: session.delivered,
                delay: session.delays.quantiles(),
            })
        };
        self.flows.iter().filter_map(row).collect()
    }

    /// Number of a source within its table.
    pub(super) fn number_of(&self, source: u32) -> u32 {
        let table = self.sources[source as usize].table;
        source - self.sources.partition_point(|s| s.table < table) as u32
    }

    /// What the flows of each table did from `base` to `end`; `completed` counts its transfers.
    pub fn table_rows(&self, end: &HostTotals, base: &HostTotals, completed: &[u32]) -> Vec<TableRow> {
        let both = self.all(end).into_iter().zip(self.all(base));
        let row = |((table, &complete), (now, then)): ((&Table, &u32), (Retired, Retired))| TableRow {
            goodput_bytes: now.goodput_bytes - then.goodput_bytes,
            complete,
            open: table.open,
            tcp: table.protocol.is_none().then(|| now.counters - then.counters),
        };
        self.tables.iter().zip(completed).zip(both).map(row).collect()
    }

    /// What all connections of each table did, finished or not.
    fn all(&self, totals: &HostTotals) -> Vec<Retired> {
        let mut all = totals.retired.clone();
        for (flow, of) in self.flows.iter().zip(&totals.flows) {
            all[flow.table as usize].add(Retired { goodput_bytes: of.goodput_bytes, counters: of.tcp });
        }
        all
    }

    /// Samples what every long-lived flow has delivered.
    pub fn sample(&self, at: Time, recorder: &mut Recorder) {
        self.samples(at).for_each(|sample| recorder.sample_flow(sample));
    }

    /// The samples of all long-lived flows.
    pub fn samples(&self, at: Time) -> impl Iterator<Item = FlowSample> {
        self.standing().map(move |(slot, number, flow)| FlowSample {
            at,
            table: flow.table,
            number,
            delivered_bytes: flow.counts.delivered.bytes,
            goodput_bytes: self.goodput_bytes(slot),
            cwnd: flow.tcp.as_ref().map(|tcp| tcp.sender.cwnd()).or_else(|| self.known(slot).window),
            srtt: flow.tcp.as_ref().and_then(|tcp| tcp.sender.srtt()).or_else(|| self.known(slot).srtt),
        })
    }
}
