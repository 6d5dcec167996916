//! From a simulation to its outcome: what was counted since the end of the warm-up.

use super::Simulation;
use crate::hosts::flow::Flow;
use crate::net::Link;
use crate::net::classes::Queue;
use crate::net::link::Offered;
use crate::record::{
    ArrivalRow, ConditionerRow, Delays, Faults, FlowCounts, FlowRow, HopRow, Outcome, PortRows, QueueRow, Retired,
    Series, SessionRow, TableRow, Tally, Transfer, Work,
};
use crate::traffic::Carrier;
use crate::transport::Counters;
use perhop_core::aqm::Aqm as _;
use perhop_core::count::Count;
use perhop_core::edge::ColourMatrix;
use perhop_core::packet::Colour;
use perhop_core::queue::Fates;
use perhop_core::units::{Span, Time};

/// All counters at one time.
#[derive(Clone, Debug)]
pub(crate) struct Totals {
    flows: Vec<FlowTotals>,
    retired: Vec<Retired>,
    gates: Vec<Vec<[Fates; 4]>>,
    passed: Vec<Vec<[[Count; 2]; 4]>>,
    offered: Vec<Vec<Offered>>,
    queues: Vec<Vec<(Fates, Count)>>,
    edges: Vec<Vec<ColourMatrix>>,
    tallies: Vec<Tally>,
    arrivals: Vec<[Count; 4]>,
}

#[derive(Clone, Copy, Debug, Default)]
struct FlowTotals {
    counts: FlowCounts,
    goodput_bytes: u64,
    tcp: Counters,
}

impl Simulation {
    fn totals(&self) -> Totals {
        let flow = |f: &Flow| FlowTotals {
            counts: f.counts,
            goodput_bytes: self.goodput_bytes(f),
            tcp: f.tcp.as_ref().map_or_else(Counters::default, |tcp| *tcp.sender.counters()),
        };
        let passed = |l: &Link| {
            let on_link = l.on_link(&self.pool);
            let class = |(i, fates): (usize, &[Fates; 4])| {
                [0, 1, 2, 3].map(|c| {
                    let lost = l.passed[i][c].lost;
                    [fates[c].queued - lost - on_link[i][c], lost]
                })
            };
            l.fates().iter().enumerate().map(class).collect()
        };
        Totals {
            flows: self.flows.iter().map(flow).collect(),
            retired: self.retired.clone(),
            gates: self.links.iter().map(|l| l.fates()).collect(),
            passed: self.links.iter().map(passed).collect(),
            offered: self.links.iter().map(|l| l.offered.clone()).collect(),
            queues: self.links.iter().map(|l| l.queues.classes().iter().map(queue_totals).collect()).collect(),
            edges: self.links.iter().map(|l| l.edge.counts().map(|c| *c.counts).collect()).collect(),
            tallies: self.tallies(),
            arrivals: self.arrivals.iter().map(|class| [0, 1, 2, 3].map(|c| class[c].delivered)).collect(),
        }
    }

    /// The warm-up is over: what was counted so far is taken off at the end, histograms begin anew.
    pub(crate) fn end_warmup(&mut self) {
        self.warm = Some(self.totals());
        self.flows.iter_mut().flat_map(|f| [&mut f.delays, &mut f.jitters]).for_each(Delays::clear);
        self.arrivals.iter_mut().flatten().flat_map(|a| [&mut a.delays, &mut a.jitters]).for_each(Delays::clear);
        self.links.iter_mut().flat_map(|l| &mut l.passed).flatten().for_each(|p| p.waits.clear());
        self.links.iter_mut().flat_map(|l| l.queues.classes_mut()).for_each(|q| q.waits.clear());
    }

    /// Runs to the end, calling `each` after every hundredth of the simulated time; `None` when that says stop.
    pub fn run(mut self, mut each: impl FnMut(Time) -> bool) -> Option<Outcome> {
        let step = Span::from_ns((self.plan.duration.ns() / 100).max(1));
        let mut until = Time::ZERO;
        while !self.run_until(until) {
            if !each(until) {
                return None;
            }
            until += step;
        }
        Some(self.finish())
    }

    fn finish(mut self) -> Outcome {
        let breaches = self.breaches();
        let end = self.totals();
        let base = self.warm.take().unwrap_or_else(|| end.clone());
        let warm = Time::ZERO + self.plan.warmup;
        Outcome {
            measured: self.plan.duration - self.plan.warmup,
            flows: self.flow_rows(&end, &base),
            tables: self.table_rows(&end, &base, warm),
            arrivals: self.arrival_rows(&end, &base),
            ports: PortRows {
                hops: self.hop_rows(&end, &base),
                queues: self.queue_rows(&end, &base),
                conditioners: self.conditioner_rows(&end, &base),
                tallies: tallies_since(&end.tallies, &base.tallies),
            },
            headers: (0..self.flows.len()).map(|k| self.headers(k)).collect(),
            transfers: self.transfers.iter().copied().filter(|t| t.opened >= warm).collect(),
            sessions: self.session_rows(warm),
            series: Series { ports: self.samples, flows: self.flow_samples },
            captured: self.captured,
            work: Work { packet_hops: self.packet_hops, events: self.event_count },
            faults: Faults { refused: self.refused, breaches },
        }
    }

    fn tallies(&self) -> Vec<Tally> {
        let mut all = Vec::new();
        for (link, it) in self.links.iter().enumerate() {
            for (i, gate) in it.queues.gates().enumerate() {
                let queue = (!it.queues.classes().is_empty()).then_some(i);
                gate.aqm().tallies(&mut |quantity, value| {
                    all.push(Tally { link, conditioner: None, queue, quantity, value });
                });
            }
            it.edge.tallies(&mut |name, quantity, value| {
                all.push(Tally { link, conditioner: Some(name.to_owned()), queue: None, quantity, value });
            });
        }
        all
    }

    /// Payload of a flow that has arrived: in order for TCP, at all for datagrams (28 bytes of headers each). Requests
    /// are nobody's goodput.
    pub(crate) fn goodput_bytes(&self, flow: &Flow) -> u64 {
        let Count { packets, bytes } = flow.counts.delivered;
        match &flow.tcp {
            _ if self.is_request(flow) => 0,
            Some(tcp) => tcp.receiver.delivered_bytes(),
            None if self.sources[flow.source as usize].traffic.carrier() == Carrier::Datagrams => {
                bytes.saturating_sub(packets * 28)
            }
            None => 0,
        }
    }

    /// Whether a flow lasts as long as its source; those of transfers do not.
    pub(crate) fn is_standing(&self, slot: usize) -> bool {
        let source = &self.sources[self.flows[slot].source as usize];
        source.traffic.carrier().is_standing()
    }

    /// Whether a flow goes to one of its table's senders.
    fn is_request(&self, flow: &Flow) -> bool {
        usize::from(flow.way) >= self.plan.traffic[usize::from(flow.table)].from.len()
    }

    fn flow_rows(&self, end: &Totals, base: &Totals) -> Vec<FlowRow> {
        let mut number = vec![0; self.plan.traffic.len()];
        let mut rows = Vec::new();
        for (slot, flow) in self.flows.iter().enumerate().filter(|(slot, _)| self.is_standing(*slot)) {
            let (now, then) = (end.flows[slot], base.flows[slot]);
            let counts = counts_since(&now.counts, &then.counts);
            let table = usize::from(flow.table);
            rows.push(FlowRow {
                table,
                number: number[table],
                counts,
                goodput_bytes: now.goodput_bytes - then.goodput_bytes,
                tcp: flow.tcp.as_ref().map(|_| now.tcp - then.tcp),
                delay: flow.delays.quantiles(),
                jitter: flow.jitters.quantiles(),
            });
            number[table] += 1;
        }
        rows
    }

    fn session_rows(&self, warm: Time) -> Vec<SessionRow> {
        let row = |flow: &Flow| {
            let session = flow.tcp.as_ref()?.session.as_ref().filter(|session| session.opened >= warm)?;
            Some(SessionRow {
                table: usize::from(flow.table),
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
    pub(crate) fn number_of(&self, source: u32) -> u32 {
        let table = self.sources[source as usize].table;
        source - self.sources.partition_point(|s| s.table < table) as u32
    }

    fn table_rows(&self, end: &Totals, base: &Totals, warm: Time) -> Vec<TableRow> {
        let total = |t: &Totals, table: usize| {
            let mut all = t.retired[table];
            for (_, row) in self.flows.iter().zip(&t.flows).filter(|(f, _)| usize::from(f.table) == table) {
                all.goodput_bytes += row.goodput_bytes;
                all.counters += row.tcp;
            }
            all
        };
        let row = |table: usize| {
            let (now, then) = (total(end, table), total(base, table));
            let complete = |t: &&Transfer| usize::from(t.table) == table && t.complete >= warm;
            TableRow {
                goodput_bytes: now.goodput_bytes - then.goodput_bytes,
                complete: self.transfers.iter().filter(complete).count() as u32,
                open: self.open_transfers[table],
                tcp: now.counters - then.counters,
            }
        };
        (0..self.plan.traffic.len()).map(row).collect()
    }

    fn arrival_rows(&self, end: &Totals, base: &Totals) -> Vec<ArrivalRow> {
        let mut rows = Vec::new();
        for (class, by_colour) in self.arrivals.iter().enumerate() {
            for colour in Colour::ALL {
                let delivered = end.arrivals[class][colour.index()] - base.arrivals[class][colour.index()];
                if delivered.packets > 0 {
                    let of = &by_colour[colour.index()];
                    let (delay, jitter) = (of.delays.quantiles(), of.jitters.quantiles());
                    rows.push(ArrivalRow { class, colour, delivered, delay, jitter });
                }
            }
        }
        rows
    }

    fn hop_rows(&self, end: &Totals, base: &Totals) -> Vec<HopRow> {
        let mut rows = Vec::new();
        for link in 0..self.links.len() {
            for class in 0..self.plan.classes.len() {
                for colour in Colour::ALL {
                    rows.extend(self.hop_row(end, base, [link, class, colour.index()]));
                }
            }
        }
        rows
    }

    fn hop_row(&self, end: &Totals, base: &Totals, [link, class, c]: [usize; 3]) -> Option<HopRow> {
        let fates = fates_since(&end.gates[link][class][c], &base.gates[link][class][c]);
        let of = |t: &Totals| t.offered[link][class].policed[c];
        let policed = of(end) - of(base);
        let passed = |i: usize| end.passed[link][class][c][i] - base.passed[link][class][c][i];
        let (delivered, lost) = (passed(0), passed(1));
        let any = fates.arrived.packets + policed.packets + delivered.packets + lost.packets > 0;
        let wait = self.links[link].passed[class][c].waits.among((delivered + lost).packets).quantiles();
        any.then(|| HopRow { link, class, colour: Colour::ALL[c], policed, fates, delivered, lost, wait })
    }

    fn queue_rows(&self, end: &Totals, base: &Totals) -> Vec<QueueRow> {
        let mut rows = Vec::new();
        for (link, it) in self.links.iter().enumerate() {
            for (i, queue) in it.queues.classes().iter().enumerate() {
                let ((now, sent), (then, before)) = (&end.queues[link][i], &base.queues[link][i]);
                let (fates, sent, wait) = (fates_since(now, then), *sent - *before, queue.waits.quantiles());
                rows.push(QueueRow { link, queue: i, fates, sent, wait });
            }
        }
        rows
    }

    fn conditioner_rows(&self, end: &Totals, base: &Totals) -> Vec<ConditionerRow> {
        let mut rows = Vec::new();
        for (link, it) in self.links.iter().enumerate() {
            for (i, stage) in it.edge.counts().enumerate() {
                let (now, then) = (&end.edges[link][i], &base.edges[link][i]);
                let counts = [0, 1, 2, 3].map(|a| [0, 1, 2, 3, 4].map(|b| now[a][b] - then[a][b]));
                rows.push(ConditionerRow { link, name: stage.name.to_owned(), counts });
            }
        }
        rows
    }
}

fn queue_totals(queue: &Queue) -> (Fates, Count) {
    let all = queue.gate.fates().iter().flatten().fold(Fates::default(), |sum, fates| sum.plus(fates));
    (all, queue.sent)
}

fn counts_since(now: &FlowCounts, then: &FlowCounts) -> FlowCounts {
    FlowCounts {
        sent: now.sent - then.sent,
        delivered: now.delivered - then.delivered,
        dropped: now.dropped - then.dropped,
        acks: [0, 1, 2].map(|i| now.acks[i] - then.acks[i]),
    }
}

/// A tally that nobody had begun at the end of the warm-up stood at 0.
fn tallies_since(now: &[Tally], then: &[Tally]) -> Vec<Tally> {
    let before = |tally: &Tally| then.iter().find(|t| t.same(tally)).map_or(0, |t| t.value);
    now.iter().map(|tally| Tally { value: tally.value - before(tally), ..tally.clone() }).collect()
}

fn fates_since(now: &Fates, then: &Fates) -> Fates {
    Fates {
        arrived: now.arrived - then.arrived,
        queued: now.queued - then.queued,
        marked: now.marked - then.marked,
        dropped: [0, 1, 2, 3, 4].map(|i| now.dropped[i] - then.dropped[i]),
    }
}
