//! What links counted, and what series show of them.

use super::{Link, Net, RecordId};
use crate::record::{
    ConditionerRow, CounterRow, Delays, HopRow, NodeRow, PortRows, Quantiles, QueueRow, Recorder, Sample, Sending,
    Tally,
};
use perhop_core::aqm::Aqm as _;
use perhop_core::count::Count;
use perhop_core::counted::{Counted, Of};
use perhop_core::port::edge::{ColourMatrix, StageCounts};
use perhop_core::port::{Branch, Fates, Offered, Queue};
use perhop_core::units::{Span, Time};
use std::array::from_fn;
use std::collections::{BTreeMap, BTreeSet};
use std::iter;

/// All counters of the links at one time.
#[derive(Clone, Debug)]
pub struct NetTotals {
    /// None of a link that nothing has come to.
    links: Vec<Option<Box<LinkTotals>>>,
    tallies: Vec<Tally>,
}

/// All counters of one link at one time, for what is asked of it alone.
#[derive(Clone, Debug, Default)]
pub struct PortTotals {
    link: LinkTotals,
    tallies: Vec<Tally>,
}

/// The counters of one link.
#[derive(Clone, Debug, Default)]
struct LinkTotals {
    gates: Counted<Fates>,
    offered: Counted<Offered>,
    /// After the gate.
    lost: BTreeMap<Of, Count>,
    on_link: Counted<Count>,
    /// For how long it was sending, see [`Link::busy`].
    busy: Span,
    /// By class of the scheduler.
    queues: Vec<QueueTotals>,
    /// By conditioner.
    edge: Vec<ColourMatrix>,
}

/// The counters of one queue of a scheduler.
#[derive(Clone, Copy, Debug, Default)]
struct QueueTotals {
    fates: Fates,
    sent: Count,
}

impl Net {
    /// All counters now.
    pub fn totals(&self, now: Time) -> NetTotals {
        let link = |link: &Link| {
            let totals = self.link_totals(now, link);
            (!totals.gates.is_empty() || !totals.offered.is_empty()).then(|| Box::new(totals))
        };
        NetTotals { links: self.links.iter().map(link).collect(), tallies: self.tallies() }
    }

    fn link_totals(&self, now: Time, link: &Link) -> LinkTotals {
        let port = link.port();
        LinkTotals {
            gates: link.fates(),
            offered: port.offered().clone(),
            lost: link.passed().iter().map(|(of, passed)| (of, passed.lost)).collect(),
            on_link: link.on_link(&self.pool),
            busy: link.busy(now),
            queues: scheduled(link).iter().map(|row| queue_totals(row)).collect(),
            edge: port.edge().counts().map(|of| *of.counts).collect(),
        }
    }

    /// Times of waiting and the counts of shapers begin again.
    pub fn clear_waits(&mut self, now: Time) {
        for link in &mut self.links {
            link.clear_waits();
            link.port_mut().begin_count(now);
        }
    }

    /// What the ports did from `base` until `now`.
    pub fn rows(&self, now: Time, base: &NetTotals) -> PortRows {
        let mut rows = PortRows { tallies: tallies_since(self.tallies(), &base.tallies), ..PortRows::default() };
        let nothing = LinkTotals::default();
        for (link, base) in base.links.iter().enumerate() {
            self.add_rows(now, (link, Waits::Told), base.as_deref().unwrap_or(&nothing), &mut rows);
        }
        rows
    }

    /// Adds what one port did from `base` until `now`, except its tallies.
    fn add_rows(&self, now: Time, (link, told): (usize, Waits), base: &LinkTotals, rows: &mut PortRows) {
        let end = self.link_totals(now, &self.links[link]);
        let sending = self.links[link].sending(now).map(|busy| Sending { link, time: busy - base.busy });
        rows.sending.extend(sending);
        let hop = |of| self.hop_row((link, told), of, &end, base);
        rows.hops.extend(end.seen().into_iter().filter_map(hop));
        let (queues, branches) = (self.queue_rows((link, told), &end, base), self.links[link].port().branches());
        rows.nodes.extend(self.node_rows(now, (link, told), (&queues, &branches)));
        rows.tallies.extend(branches.iter().filter_map(|branch| addresses(link, branch)));
        // A slot that no address has had is below no branch.
        let used: BTreeSet<_> = branches.iter().flat_map(|branch| branch.queues.iter().copied()).collect();
        rows.queues.extend(queues.into_iter().filter(|row| used.contains(&row.queue)));
        rows.conditioners.extend(self.conditioner_rows(link, &end, base));
    }

    /// All counters of one link now.
    pub fn port_totals(&self, now: Time, link: usize) -> PortTotals {
        let mut tallies = Vec::new();
        self.add_tallies(link, &mut tallies);
        PortTotals { link: self.link_totals(now, &self.links[link]), tallies }
    }

    /// What one port did from `base` until `now`, times of waiting left out.
    pub fn port_rows(&self, now: Time, link: usize, base: &PortTotals) -> PortRows {
        let mut tallies = Vec::new();
        self.add_tallies(link, &mut tallies);
        let mut rows = PortRows { tallies: tallies_since(tallies, &base.tallies), ..PortRows::default() };
        self.add_rows(now, (link, Waits::Omitted), &base.link, &mut rows);
        rows
    }

    fn hop_row(&self, (link, told): (usize, Waits), of: Of, end: &LinkTotals, base: &LinkTotals) -> Option<HopRow> {
        let fates = end.gates.of(of).since(&base.gates.of(of));
        let policed = end.offered.of(of).policed - base.offered.of(of).policed;
        let (delivered, lost) = (end.delivered(of) - base.delivered(of), end.lost(of) - base.lost(of));
        let any = fates.arrived.packets + policed.packets + delivered.packets + lost.packets > 0;
        let waits = self.links[link].passed().get(of).map(|passed| &passed.waits);
        let wait = told.then(|| waits.unwrap_or(&Delays::default()).among((delivered + lost).packets).quantiles());
        let (class, colour) = (of.class(), of.colour());
        any.then_some(HopRow { link, class, colour, policed, fates, delivered, lost, wait })
    }

    fn queue_rows(&self, (link, told): (usize, Waits), end: &LinkTotals, base: &LinkTotals) -> Vec<QueueRow> {
        let before = base.queues.iter().copied().chain(iter::repeat(QueueTotals::default()));
        let queues = self.links[link].waits().iter().zip(end.queues.iter().zip(before));
        let row = |(queue, (waits, (now, then))): (usize, (&Delays, (&QueueTotals, QueueTotals)))| {
            let (fates, sent) = (now.fates.since(&then.fates), now.sent - then.sent);
            let wait = told.then(|| waits.quantiles());
            QueueRow { link, queue, fates, sent, wait }
        };
        queues.enumerate().map(row).collect()
    }

    /// The nodes of a link's tree, as sums of its queues; none if those say it all.
    fn node_rows(
        &self,
        now: Time,
        (link, told): (usize, Waits),
        (queues, branches): (&[QueueRow], &[Branch]),
    ) -> Vec<NodeRow> {
        let (port, waits) = (self.links[link].port(), self.links[link].waits());
        if port.is_flat() {
            return Vec::new();
        }
        let let_go = port.let_go(now);
        let row = |branch: &Branch| {
            let wait = || {
                let mut wait = Delays::default();
                branch.queues.iter().for_each(|&queue| wait.add(&waits[queue]));
                wait.quantiles()
            };
            let below = || branch.queues.iter().map(|&queue| &queues[queue]);
            NodeRow {
                link,
                branch: branch.clone(),
                fates: below().fold(Fates::default(), |sum, row| sum.plus(&row.fates)),
                sent: below().map(|row| row.sent).sum(),
                wait: told.then(wait),
                let_go: let_go.iter().find(|of| Some(of.0) == branch.node).map(|of| of.1),
            }
        };
        branches.iter().map(row).collect()
    }

    fn conditioner_rows(&self, link: usize, end: &LinkTotals, base: &LinkTotals) -> Vec<ConditionerRow> {
        let before = base.edge.iter().copied().chain(iter::repeat(ColourMatrix::default()));
        let stages = self.links[link].port().edge().counts().zip(end.edge.iter().zip(before));
        let row = |(stage, (now, then)): (StageCounts<'_>, (&ColourMatrix, ColourMatrix))| {
            let counts = from_fn(|before| from_fn(|after| now[before][after] - then[before][after]));
            ConditionerRow { link, name: stage.name.to_owned(), counts }
        };
        stages.map(row).collect()
    }

    fn tallies(&self) -> Vec<Tally> {
        let mut all = Vec::new();
        (0..self.links.len()).for_each(|link| self.add_tallies(link, &mut all));
        all
    }

    /// Adds the tallies of one link.
    fn add_tallies(&self, link: usize, all: &mut Vec<Tally>) {
        let port = self.links[link].port();
        for (i, row) in port.rows().into_iter().enumerate() {
            let queue = port.is_scheduled().then_some(i);
            let mut add = |quantity, value| add_tally(all, Tally { link, conditioner: None, queue, quantity, value });
            row.iter().for_each(|of| of.gate().aqm().tallies(&mut add));
        }
        port.edge().tallies(&mut |name, quantity, value| {
            all.push(Tally { link, conditioner: Some(name.to_owned()), queue: None, quantity, value });
        });
    }

    /// What `tc -s` would show now.
    pub fn counters(&self, now: Time) -> Vec<CounterRow> {
        let mut rows = Vec::new();
        for (link, it) in self.links.iter().enumerate() {
            it.port().counters(now, &mut |node, part, counter, value| {
                rows.push(CounterRow { link, node, part, counter, value });
            });
        }
        rows
    }

    /// Samples every requested link, see [`Net::sample_port`].
    pub fn sample(&self, at: Time, asked: Option<&[usize]>, recorder: &mut Recorder) {
        for link in 0..self.links.len() {
            if asked.is_none_or(|links| links.binary_search(&link).is_ok()) {
                self.sample_port(at, link, &mut |sample| recorder.sample(sample));
            }
        }
    }

    /// Samples the queue of a link, its AQM's gauges and its conditioners' gauges.
    pub fn sample_port(&self, at: Time, index: usize, each: &mut impl FnMut(Sample)) {
        let link = &self.links[index];
        let mut add = |of: Sampled<'_>, quantity, value| {
            let (conditioner, queue) = (of.conditioner.map(Into::into), of.queue);
            each(Sample { at, link: index as u32, conditioner, queue, quantity, value });
        };
        let all = Sampled::default();
        let backlog = link.port().backlog(at);
        add(all, "queue_packets", f64::from(backlog.packets));
        add(all, "queue_bytes", backlog.bytes as f64);
        if let ([queue], false) = (link.port().queues(), link.port().is_scheduled()) {
            queue.gate().aqm().gauges(at, &mut |quantity, value| add(all, quantity, value));
        }
        for (i, row) in scheduled(link).into_iter().enumerate() {
            let (of, backlogs) = (Sampled { queue: Some(i), ..all }, row.iter().map(|queue| queue.backlog(at)));
            let (packets, bytes) = backlogs.fold((0, 0), |sum, it| (sum.0 + it.packets, sum.1 + it.bytes));
            add(of, "packets", f64::from(packets));
            add(of, "bytes", bytes as f64);
            if let [queue] = row[..] {
                queue.gate().aqm().gauges(at, &mut |quantity, value| add(of, quantity, value));
            }
        }
        link.port().edge().gauges(at, &mut |name, quantity, value| {
            add(Sampled { conditioner: Some(name), queue: None }, quantity, value);
        });
    }
}

/// Whether rows tell how long packets waited.
#[derive(Clone, Copy, PartialEq)]
enum Waits {
    Told,
    Omitted,
}

impl Waits {
    /// What is known of them, if it is told.
    fn then(self, known: impl FnOnce() -> Option<Quantiles>) -> Option<Quantiles> {
        if self == Self::Told { known() } else { None }
    }
}

/// What at a port a sample describes; neither: everything that waits.
#[derive(Clone, Copy, Default)]
struct Sampled<'a> {
    conditioner: Option<&'a str>,
    queue: Option<usize>,
}

impl LinkTotals {
    /// The classes and colours that were seen, in their order.
    fn seen(&self) -> Vec<Of> {
        let gates = self.gates.iter().map(|it| it.0);
        let mut seen: Vec<_> = gates.chain(self.offered.iter().map(|it| it.0)).collect();
        seen.sort_unstable();
        seen.dedup();
        seen
    }

    fn lost(&self, of: Of) -> Count {
        self.lost.get(&of).copied().unwrap_or_default()
    }

    /// What was let in and has left.
    fn delivered(&self, of: Of) -> Count {
        let gate = self.gates.of(of);
        gate.queued - gate.dropped_at_head - self.lost(of) - self.on_link.of(of)
    }
}

/// Addresses that shared the class of a template, since the start.
fn addresses(link: usize, branch: &Branch) -> Option<Tally> {
    let value = branch.addresses.filter(|addresses| *addresses > 1 || branch.is_of_others() && *addresses > 0)?;
    Some(Tally { link, conditioner: None, queue: branch.queues.first().copied(), quantity: "addresses", value })
}

/// The queues of a link's tree, the flows of a scheduler together; none without a tree.
fn scheduled(link: &Link) -> Vec<Vec<&Queue<RecordId>>> {
    if link.port().is_scheduled() { link.port().rows() } else { Vec::new() }
}

fn queue_totals(row: &[&Queue<RecordId>]) -> QueueTotals {
    let fates = row.iter().flat_map(|queue| queue.gate().fates().values());
    let sent = row.iter().map(|queue| queue.sent()).sum();
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
fn tallies_since(now: Vec<Tally>, then: &[Tally]) -> Vec<Tally> {
    let before = |tally: &Tally| {
        let of_link = &then[then.partition_point(|t| t.link < tally.link)..];
        of_link.iter().take_while(|t| t.link == tally.link).find(|t| t.same(tally)).map_or(0, |t| t.value)
    };
    now.into_iter().map(|tally| Tally { value: tally.value - before(&tally), ..tally }).collect()
}
