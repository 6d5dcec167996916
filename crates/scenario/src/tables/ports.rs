//! What happened at ports: `summary`, `queues`, `nodes`, `conditioners`, `tallies`, `links`, `series`.

use super::columns::{Columns, Table};
use super::parts::ms;
use super::{NODES, Run, SERIES};
use perhop_core::count::Count;
use perhop_core::packet::Colour;
use perhop_core::port::{Inside, ShaperParams};
use perhop_core::units::NS_PER_S;
use perhop_core::verdict::Reason;
use perhop_sim::plan;
use perhop_sim::record::{ConditionerRow, HopRow, NodeRow, Sample};

pub(super) fn summary(run: Run<'_>) -> Table {
    Columns::of("summary", &run.rows(&run.outcome.ports.hops))
        .text("class", |r| r.run.class(r.it.class))
        .text("colour", |r| r.it.colour.name().to_owned())
        .text("hop", |r| r.run.hop(r.it.link))
        .count("arrived", |r| r.it.fates.arrived + r.it.policed)
        .count("queued", |r| r.it.fates.queued)
        .count("marked", |r| r.it.fates.marked)
        .count("dropped", |r| Reason::ALL.into_iter().map(|reason| lost_by(r.it, reason)).sum())
        .dropped(&Reason::ALL, |r, reason| lost_by(r.it, reason))
        .count("delivered", |r| r.it.delivered)
        .quantiles("wait", |r| r.it.wait)
        .table()
}

/// Dropped at a hop, by its conditioners, its queue or on its wire.
fn lost_by(hop: &HopRow, reason: Reason) -> Count {
    hop.fates.dropped[reason as usize]
        + match reason {
            Reason::Policer => hop.policed,
            Reason::Wire => hop.lost,
            _ => Count::default(),
        }
}

/// Queues are numbered from 1, in the order of the scheduler's classes.
pub(super) fn queues(run: Run<'_>) -> Table {
    let of_queues = |reason: &Reason| !matches!(reason, Reason::Policer | Reason::Wire);
    let reasons: Vec<_> = Reason::ALL.into_iter().filter(of_queues).collect();
    Columns::of("queues", &run.rows(&run.outcome.ports.queues))
        .text("hop", |r| r.run.hop(r.it.link))
        .integer("queue", |r| r.it.queue as u64 + 1)
        .count("arrived", |r| r.it.fates.arrived)
        .count("queued", |r| r.it.fates.queued)
        .count("marked", |r| r.it.fates.marked)
        .count("dropped", |r| r.it.fates.lost())
        .dropped(&reasons, |r, reason| r.it.fates.dropped[reason as usize])
        .count("sent", |r| r.it.sent)
        .quantiles("wait", |r| r.it.wait)
        .table()
}

/// A node of a tree, with the rate that it has.
pub(super) struct Noded<'a> {
    run: Run<'a>,
    row: &'a NodeRow,
    shaper: Option<&'a ShaperParams>,
    kind: &'static str,
}

impl<'a> Noded<'a> {
    fn new(run: Run<'a>, row: &'a NodeRow) -> Self {
        let (link, node) = (&run.plan.links[row.link], row.branch.node);
        let node = node.map(|node| &link.nodes[node]);
        let kind = match node.map(|node| &node.inside) {
            Some(Inside::Scheduler(params)) => params.name(),
            Some(Inside::Queue(queue)) => link.queues[*queue].aqm.name(),
            None => "class",
        };
        Self { run, row, shaper: node.and_then(|node| node.shaper.as_ref()), kind }
    }

    /// The only queue that it is.
    fn queue(&self) -> Option<u64> {
        let is_queue =
            matches!(self.run.plan.links[self.row.link].nodes[self.row.branch.node?].inside, Inside::Queue(_));
        is_queue.then(|| self.row.branch.queues[0] as u64 + 1)
    }

    /// Share of its rate that was used, by the bytes that it counts.
    fn used(&self) -> Option<f64> {
        Some(self.run.bit_s(self.row.let_go?.bytes) / self.shaper?.rate.bit_s() as f64)
    }
}

pub(super) fn nodes(run: Run<'_>) -> Table {
    nodes_of(&run.outcome.ports.nodes.iter().map(|row| Noded::new(run, row)).collect::<Vec<_>>())
}

pub(super) fn nodes_of(rows: &[Noded<'_>]) -> Table {
    Columns::of(NODES, rows)
        .text("hop", |r| r.run.hop(r.row.link))
        .text("node", |r| r.row.branch.path.clone())
        .text("kind", |r| r.kind.to_owned())
        .integer("queue", Noded::queue)
        .count("arrived", |r| r.row.fates.arrived)
        .count("dropped", |r| r.row.fates.lost())
        .count("sent", |r| r.row.sent)
        .real("throughput_bit_s", |r| r.run.bit_s(r.row.sent.bytes))
        .integer("rate_bit_s", |r| r.shaper.map(|shaper| shaper.rate.bit_s()))
        .real("used", Noded::used)
        .real("held", |r| r.row.let_go.map(|it| it.held.seconds() / r.run.seconds))
        .quantiles("wait", |r| r.row.wait)
        .table()
}

/// Packets of one colour that left a conditioner with one colour.
struct Recoloured<'a> {
    run: Run<'a>,
    row: &'a ConditionerRow,
    from: Colour,
    to: &'static str,
    count: Count,
}

pub(super) fn conditioners<'a>(run: Run<'a>) -> Table {
    let outs = ["green", "yellow", "red", "unmarked", "dropped"];
    let of_colour = |row: &'a ConditionerRow, from: Colour| {
        let counts = outs.into_iter().zip(row.counts[from.index()]);
        counts.map(move |(to, count)| Recoloured { run, row, from, to, count })
    };
    let of = |row| Colour::ALL.into_iter().flat_map(move |from| of_colour(row, from));
    let all = run.outcome.ports.conditioners.iter().flat_map(of);
    let rows: Vec<_> = all.filter(|cell| cell.count.packets > 0).collect();
    Columns::of("conditioners", &rows)
        .text("hop", |r| r.run.hop(r.row.link))
        .text("conditioner", |r| r.row.name.clone())
        .text("colour_in", |r| r.from.name().to_owned())
        .text("colour_out", |r| r.to.to_owned())
        .integer("packets", |r| r.count.packets)
        .integer("bytes", |r| r.count.bytes)
        .table()
}

/// Quantities of one queue of a scheduler have its number before the name.
fn of_queue(queue: Option<usize>, quantity: &str) -> String {
    queue.map_or_else(|| quantity.to_owned(), |i| format!("queue_{}.{quantity}", i + 1))
}

pub(super) fn tallies(run: Run<'_>) -> Table {
    Columns::of("tallies", &run.rows(&run.outcome.ports.tallies))
        .text("hop", |r| r.run.hop(r.it.link))
        .text("conditioner", |r| r.it.conditioner.as_deref().map(str::to_owned))
        .text("quantity", |r| of_queue(r.it.queue, r.it.quantity))
        .integer("value", |r| r.it.value)
        .table()
}

/// A direction of a link, with the sums of its hops.
struct Used<'a> {
    link: &'a plan::Link,
    delivered: Count,
    dropped: Count,
    utilisation: f64,
}

pub(super) fn links(run: Run<'_>) -> Table {
    let mut hops = vec![Vec::new(); run.plan.links.len()];
    run.outcome.ports.hops.iter().for_each(|hop| hops[hop.link].push(hop));
    let rows: Vec<_> = run.plan.links.iter().zip(&hops).map(|(link, hops)| used(run, link, hops)).collect();
    Columns::of("links", &rows)
        .text("hop", |r| r.link.name.clone())
        .integer("rate_bit_s", |r| r.link.rate.bit_s())
        .real("delay_ms", |r| ms(r.link.delay.ns()))
        .integer("delivered_packets", |r| r.delivered.packets)
        .integer("delivered_bytes", |r| r.delivered.bytes)
        .integer("dropped_packets", |r| r.dropped.packets)
        .real("utilisation", |r| r.utilisation)
        .table()
}

fn used<'a>(run: Run<'a>, link: &'a plan::Link, hops: &[&HopRow]) -> Used<'a> {
    let sent: Count = hops.iter().map(|h| h.delivered + h.lost).sum();
    let ip_bytes = sent.bytes.saturating_sub(sent.packets * u64::from(run.plan.overhead));
    let utilisation = ip_bytes as f64 * 8.0 / (link.rate.bit_s() as f64 * run.seconds);
    let delivered = hops.iter().map(|h| h.delivered).sum();
    Used { link, delivered, dropped: hops.iter().map(|h| h.fates.lost() + h.policed + h.lost).sum(), utilisation }
}

pub(super) fn series(run: Run<'_>) -> Table {
    series_of(&run.outcome.series.ports, |link| run.hop(link))
}

pub(super) fn series_of(samples: &[Sample], hop: impl Fn(usize) -> String) -> Table {
    Columns::of(SERIES, samples)
        .real("t_s", |it| it.at.ns() as f64 / NS_PER_S as f64)
        .text("hop", |it| hop(it.link as usize))
        .text("conditioner", |it| it.conditioner.clone())
        .text("quantity", |it| of_queue(it.queue, it.quantity))
        .real("value", |it| it.value)
        .table()
}
