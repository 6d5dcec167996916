//! What links counted, and what series show of them.

use super::{Link, Net, RecordId};
use crate::record::{ConditionerRow, Delays, HopRow, NodeRow, PortRows, QueueRow, Recorder, Sample, Tally};
use perhop_core::aqm::Aqm as _;
use perhop_core::count::Count;
use perhop_core::packet::Colour;
use perhop_core::port::edge::{ColourMatrix, StageCounts};
use perhop_core::port::{Branch, Fates, Offered, Queue};
use perhop_core::units::Time;
use std::array::from_fn;

/// All counters of the links at one time.
#[derive(Clone, Debug)]
pub struct NetTotals {
    links: Vec<LinkTotals>,
    tallies: Vec<Tally>,
}

/// The counters of one link.
#[derive(Clone, Debug)]
struct LinkTotals {
    /// By class and colour.
    gates: Vec<[Fates; 4]>,
    passed: Vec<[Passed; 4]>,
    /// By class.
    offered: Vec<Offered>,
    /// By class of the scheduler.
    queues: Vec<QueueTotals>,
    /// By conditioner.
    edge: Vec<ColourMatrix>,
}

/// What passed a link.
#[derive(Clone, Copy, Debug)]
struct Passed {
    delivered: Count,
    lost: Count,
}

/// The counters of one queue of a scheduler.
#[derive(Clone, Copy, Debug)]
struct QueueTotals {
    fates: Fates,
    sent: Count,
}

impl Net {
    /// All counters now.
    pub fn totals(&self) -> NetTotals {
        NetTotals { links: self.links.iter().map(|link| self.link_totals(link)).collect(), tallies: self.tallies() }
    }

    fn link_totals(&self, link: &Link) -> LinkTotals {
        let (port, gates, on_link) = (link.port(), link.port().fates(), link.on_link(&self.pool));
        let passed = |class: usize| {
            Colour::ALL.map(|colour| {
                let c = colour.index();
                let (gate, lost) = (&gates[class][c], link.passed()[class][c].lost);
                Passed { delivered: gate.queued - gate.dropped_at_head - lost - on_link[class][c], lost }
            })
        };
        LinkTotals {
            passed: (0..gates.len()).map(passed).collect(),
            offered: port.offered().to_vec(),
            queues: scheduled(link).map(queue_totals).collect(),
            edge: port.edge().counts().map(|of| *of.counts).collect(),
            gates,
        }
    }

    /// Times of waiting and the counts of shapers begin again.
    pub fn clear_waits(&mut self, now: Time) {
        for link in &mut self.links {
            link.clear_waits();
            link.port_mut().begin_count(now);
        }
    }

    /// What the ports did from `base` to `end`, which is `now`.
    pub fn rows(&self, now: Time, end: &NetTotals, base: &NetTotals) -> PortRows {
        let mut rows = PortRows { tallies: tallies_since(&end.tallies, &base.tallies), ..PortRows::default() };
        for (link, (end, base)) in end.links.iter().zip(&base.links).enumerate() {
            for class in 0..end.gates.len() {
                let row = |colour| self.hop_row(Hop { link, class, colour }, end, base);
                rows.hops.extend(Colour::ALL.into_iter().filter_map(row));
            }
            let queues = self.queue_rows(link, end, base);
            rows.nodes.extend(self.node_rows(now, link, &queues));
            rows.queues.extend(queues);
            rows.conditioners.extend(self.conditioner_rows(link, end, base));
        }
        rows
    }

    fn hop_row(&self, hop: Hop, end: &LinkTotals, base: &LinkTotals) -> Option<HopRow> {
        let Hop { link, class, colour } = hop;
        let c = colour.index();
        let fates = end.gates[class][c].since(&base.gates[class][c]);
        let policed = end.offered[class].policed[c] - base.offered[class].policed[c];
        let (now, then) = (end.passed[class][c], base.passed[class][c]);
        let (delivered, lost) = (now.delivered - then.delivered, now.lost - then.lost);
        let any = fates.arrived.packets + policed.packets + delivered.packets + lost.packets > 0;
        let wait = self.links[link].passed()[class][c].waits.among((delivered + lost).packets).quantiles();
        any.then_some(HopRow { link, class, colour, policed, fates, delivered, lost, wait })
    }

    fn queue_rows(&self, link: usize, end: &LinkTotals, base: &LinkTotals) -> Vec<QueueRow> {
        let queues = self.links[link].waits().iter().zip(end.queues.iter().zip(&base.queues));
        let row = |(queue, (waits, (now, then))): (usize, (&Delays, (&QueueTotals, &QueueTotals)))| {
            let (fates, sent, wait) = (now.fates.since(&then.fates), now.sent - then.sent, waits.quantiles());
            QueueRow { link, queue, fates, sent, wait }
        };
        queues.enumerate().map(row).collect()
    }

    /// The nodes of a link's tree, as sums of its queues; none if those say it all.
    fn node_rows(&self, now: Time, link: usize, queues: &[QueueRow]) -> Vec<NodeRow> {
        let (port, waits) = (self.links[link].port(), self.links[link].waits());
        if port.is_flat() {
            return Vec::new();
        }
        let let_go = port.let_go(now);
        let row = |branch: &Branch| {
            let mut wait = Delays::default();
            branch.queues.iter().for_each(|&queue| wait.add(&waits[queue]));
            let below = || branch.queues.iter().map(|&queue| &queues[queue]);
            NodeRow {
                link,
                branch: branch.clone(),
                fates: below().fold(Fates::default(), |sum, row| sum.plus(&row.fates)),
                sent: below().map(|row| row.sent).sum(),
                wait: wait.quantiles(),
                let_go: let_go.iter().find(|of| Some(of.0) == branch.node).map(|of| of.1),
            }
        };
        port.branches().iter().map(row).collect()
    }

    fn conditioner_rows(&self, link: usize, end: &LinkTotals, base: &LinkTotals) -> Vec<ConditionerRow> {
        let stages = self.links[link].port().edge().counts().zip(end.edge.iter().zip(&base.edge));
        let row = |(stage, (now, then)): (StageCounts<'_>, (&ColourMatrix, &ColourMatrix))| {
            let counts = from_fn(|before| from_fn(|after| now[before][after] - then[before][after]));
            ConditionerRow { link, name: stage.name.to_owned(), counts }
        };
        stages.map(row).collect()
    }

    fn tallies(&self) -> Vec<Tally> {
        let mut all = Vec::new();
        for (link, it) in self.links.iter().enumerate() {
            for (i, row) in it.port().rows().enumerate() {
                let queue = it.port().is_scheduled().then_some(i);
                let mut add =
                    |quantity, value| add_tally(&mut all, Tally { link, conditioner: None, queue, quantity, value });
                row.iter().for_each(|of| of.gate().aqm().tallies(&mut add));
            }
            it.port().edge().tallies(&mut |name, quantity, value| {
                all.push(Tally { link, conditioner: Some(name.to_owned()), queue: None, quantity, value });
            });
        }
        all
    }

    /// Samples the queue, its AQM's gauges and its conditioners' gauges, for every requested link.
    pub fn sample(&self, at: Time, asked: Option<&[usize]>, recorder: &mut Recorder) {
        for (i, link) in self.links.iter().enumerate() {
            if asked.is_some_and(|links| !links.contains(&i)) {
                continue;
            }
            let mut add = |of: Sampled<'_>, quantity, value| {
                let (conditioner, queue) = (of.conditioner.map(Into::into), of.queue);
                recorder.sample(Sample { at, link: i as u32, conditioner, queue, quantity, value });
            };
            let all = Sampled::default();
            let backlog = link.port().backlog(at);
            add(all, "queue_packets", f64::from(backlog.packets));
            add(all, "queue_bytes", backlog.bytes as f64);
            if let ([queue], false) = (link.port().queues(), link.port().is_scheduled()) {
                queue.gate().aqm().gauges(at, &mut |quantity, value| add(all, quantity, value));
            }
            for (i, row) in scheduled(link).enumerate() {
                let (of, backlogs) = (Sampled { queue: Some(i), ..all }, row.iter().map(|queue| queue.backlog(at)));
                let (packets, bytes) = backlogs.fold((0, 0), |sum, it| (sum.0 + it.packets, sum.1 + it.bytes));
                add(of, "packets", f64::from(packets));
                add(of, "bytes", bytes as f64);
                if let [queue] = row {
                    queue.gate().aqm().gauges(at, &mut |quantity, value| add(of, quantity, value));
                }
            }
            link.port().edge().gauges(at, &mut |name, quantity, value| {
                add(Sampled { conditioner: Some(name), queue: None }, quantity, value);
            });
        }
    }
}

/// What at a port a sample describes; neither: everything that waits.
#[derive(Clone, Copy, Default)]
struct Sampled<'a> {
    conditioner: Option<&'a str>,
    queue: Option<usize>,
}

/// Which row of the table of hops.
#[derive(Clone, Copy)]
struct Hop {
    link: usize,
    class: usize,
    colour: Colour,
}

/// The queues of a link's tree, the flows of a scheduler together; none without a tree.
fn scheduled(link: &Link) -> impl Iterator<Item = &[Queue<RecordId>]> {
    link.port().rows().filter(|_| link.port().is_scheduled())
}

fn queue_totals(row: &[Queue<RecordId>]) -> QueueTotals {
    let fates = row.iter().flat_map(|queue| queue.gate().fates()).flatten();
    let sent = row.iter().map(Queue::sent).sum();
    QueueTotals { fates: fates.fold(Fates::default(), |sum, fates| sum.plus(fates)), sent }
}

/// Adds to the tally of the same name, or as a new one; those of its link are the last.
fn add_tally(all: &mut Vec<Tally>, tally: Tally) {
    match all.iter_mut().rev().take_while(|it| it.link == tally.link).find(|it| it.same(&tally)) {
        Some(known) => known.value += tally.value,
        None => all.push(tally),
    }
}

/// A tally that had not begun at the end of the warm-up was 0. Both are in the order of links.
fn tallies_since(now: &[Tally], then: &[Tally]) -> Vec<Tally> {
    let before = |tally: &Tally| {
        let of_link = &then[then.partition_point(|t| t.link < tally.link)..];
        of_link.iter().take_while(|t| t.link == tally.link).find(|t| t.same(tally)).map_or(0, |t| t.value)
    };
    now.iter().map(|tally| Tally { value: tally.value - before(tally), ..tally.clone() }).collect()
}
