//! What happened at ports: `summary`, `queues`, `nodes`, `conditioners`, `tallies`, `links`, `series`.

use super::column::{Unit, measure, rate, share, total};
use super::columns::Made;
use super::parts::ms;
use super::{NODES, Run, SERIES};
use perhop_core::count::Count;
use perhop_core::packet::Colour;
use perhop_core::port::{Inside, ShaperParams};
use perhop_core::units::NS_PER_S;
use perhop_core::verdict::Reason;
use perhop_sim::plan;
use perhop_sim::record::{ConditionerRow, HopRow, NodeRow};

const WAIT: &str = "time from arrival to the start of transmission, over all packets sent, including those that did not wait; \
                    mean, (population) standard deviation and maximum are exact, the others have two significant digits";
const KIND: &str = "the node's scheduler, or the AQM of its queue; `class` for a class with classes below it";
const SHAPED: &str = "rate of the node's shaper when the run begins; null without a shaper";
const OWNER: &str = "name of the conditioner; null for the queue and its AQM";
/// Of a sample.
pub(super) const TIME: &str = "time since the start of the run";

const DROPPED: &str = "dropped, for any reason; ACKs that `ack-filter` removed are counted here alone";

pub(super) fn summary(run: Run<'_>) -> Made {
    run.columns("summary", &["hop", "class", "colour"], &run.rows(&run.outcome.ports.hops))
        .text("class", "class of the traffic", |r| r.run.class(r.it.class))
        .text("colour", "colour after the port's conditioners", |r| r.it.colour.name().to_owned())
        .text("hop", "the port, `C -> E2`", |r| r.run.hop(r.it.link))
        .count("arrived", "arrived at the port, including packets that its policers drop", |r| {
            r.it.fates.arrived + r.it.policed
        })
        .count("queued", "entered the queue", |r| r.it.fates.queued)
        .count("marked", "of these, marked CE (ECN)", |r| r.it.fates.marked)
        .count("dropped", DROPPED, |r| Reason::ALL.into_iter().map(|reason| lost_by(r.it, reason)).sum())
        .dropped(&Reason::COLUMNS, |r, reason| lost_by(r.it, reason))
        .count("delivered", "reached the other end of the link", |r| r.it.delivered)
        .quantiles("wait", WAIT, |r| r.it.wait)
        .made()
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
pub(super) fn queues(run: Run<'_>) -> Made {
    let of_queues = |reason: &Reason| !matches!(reason, Reason::Policer | Reason::Wire);
    let reasons: Vec<_> = Reason::COLUMNS.into_iter().filter(of_queues).collect();
    run.columns("queues", &["hop", "queue"], &run.rows(&run.outcome.ports.queues))
        .text("hop", "the port", |r| r.run.hop(r.it.link))
        .number("queue", "position of the class in the scheduler's list, from 1", |r| r.it.queue as u64 + 1)
        .count("arrived", "arrived at this queue", |r| r.it.fates.arrived)
        .count("queued", "entered it", |r| r.it.fates.queued)
        .count("marked", "of these, marked CE (ECN)", |r| r.it.fates.marked)
        .count("dropped", DROPPED, |r| r.it.fates.lost())
        .dropped(&reasons, |r, reason| r.it.fates.dropped[reason as usize])
        .count("sent", "transmitted from it", |r| r.it.sent)
        .quantiles("wait", "time from arrival to the start of transmission", |r| r.it.wait)
        .made()
}

/// A node of a tree, with the rate that it has.
struct Noded<'a> {
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

pub(super) fn nodes(run: Run<'_>) -> Made {
    let rows: Vec<_> = run.outcome.ports.nodes.iter().map(|row| Noded::new(run, row)).collect();
    let node = "the node as `explain` names it: `root`, `2` for its second class, `2.1` for the first class of that; a \
                class that has a name goes by it";
    let below = "sum over the queues below the node. Packets that arrived and were neither sent nor dropped still \
                 wait";
    let used = "part of `rate_bit_s` that was used, by the bytes that the shaper counts; null without a shaper";
    let held = "part of the measured time in which packets waited for the shaper's tokens, even if the link was \
                busy; null without a shaper";
    run.columns(NODES, &["hop", "node"], &rows)
        .text("hop", "the port", |r| r.run.hop(r.row.link))
        .text("node", node, |r| r.row.branch.path.clone())
        .text("kind", KIND, |r| r.kind.to_owned())
        .number("queue", "number of the queue in `queues`; null for other nodes", Noded::queue)
        .count("arrived", below, |r| r.row.fates.arrived)
        .count("dropped", below, |r| r.row.fates.lost())
        .count("sent", below, |r| r.row.sent)
        .real(rate("throughput_bit_s", "`sent_bytes` / measured time").printed("sent").accounted(), |r| {
            r.run.bit_s(r.row.sent.bytes)
        })
        .integer(measure("rate_bit_s", Unit::BitS, SHAPED), |r| r.shaper.map(|shaper| shaper.rate.bit_s()))
        .real(share("used", Unit::Part, used).printed("of its rate"), Noded::used)
        .real(share("held", Unit::Part, held), |r| r.row.let_go.map(|it| it.held.seconds() / r.run.seconds))
        .quantiles(
            "wait",
            "time from arrival to the start of transmission, over the packets of all queues below the node",
            |r| r.row.wait,
        )
        .made()
}

/// Packets of one colour that left a conditioner with one colour.
struct Recoloured<'a> {
    run: Run<'a>,
    row: &'a ConditionerRow,
    from: Colour,
    to: &'static str,
    count: Count,
}

pub(super) fn conditioners<'a>(run: Run<'a>) -> Made {
    let outs = ["green", "yellow", "red", "unmarked", "dropped"];
    let of_colour = |row: &'a ConditionerRow, from: Colour| {
        let counts = outs.into_iter().zip(row.counts[from.index()]);
        counts.map(move |(to, count)| Recoloured { run, row, from, to, count })
    };
    let of = |row| Colour::ALL.into_iter().flat_map(move |from| of_colour(row, from));
    let all = run.outcome.ports.conditioners.iter().flat_map(of);
    let rows: Vec<_> = all.filter(|cell| cell.count.packets > 0).collect();
    let count = "arrived and left with these two colours";
    run.columns("conditioners", &["hop", "conditioner", "colour_in", "colour_out"], &rows)
        .text("hop", "the port", |r| r.run.hop(r.row.link))
        .text("conditioner", "name of the conditioner", |r| r.row.name.clone())
        .text("colour_in", "colour on arrival", |r| r.from.name().to_owned())
        .text("colour_out", "colour after the conditioner, or `dropped`", |r| r.to.to_owned())
        .integer(total("packets", Unit::Packets, count), |r| r.count.packets)
        .integer(total("bytes", Unit::Bytes, count).printed("bytes").accounted(), |r| r.count.bytes)
        .made()
}

/// Quantities of one queue of a scheduler have its number before the name.
fn of_queue(queue: Option<usize>, quantity: &str) -> String {
    queue.map_or_else(|| quantity.to_owned(), |i| format!("queue_{}.{quantity}", i + 1))
}

pub(super) fn tallies(run: Run<'_>) -> Made {
    run.columns("tallies", &["hop", "conditioner", "quantity"], &run.rows(&run.outcome.ports.tallies))
        .text("hop", "the port", |r| r.run.hop(r.it.link))
        .text("conditioner", OWNER, |r| r.it.conditioner.as_deref().map(str::to_owned))
        .text("quantity", "name of the count. Under a scheduler the queue's number comes first: `queue_1.`", |r| {
            of_queue(r.it.queue, r.it.quantity)
        })
        .integer(total("value", Unit::None, "sum over the algorithm's instances"), |r| r.it.value)
        .made()
}

/// A direction of a link, with the sums of its hops.
struct Used<'a> {
    link: &'a plan::Link,
    delivered: Count,
    dropped: Count,
    utilisation: f64,
}

pub(super) fn links(run: Run<'_>) -> Made {
    let mut hops = vec![Vec::new(); run.plan.links.len()];
    run.outcome.ports.hops.iter().for_each(|hop| hops[hop.link].push(hop));
    let rows: Vec<_> = hops.iter().enumerate().map(|(link, hops)| used(run, link, hops)).collect();
    let dropped = "dropped at the port, or lost on the wire. Every packet that arrived is delivered, dropped or \
                   still there";
    let busy = "part of the measured time in which the link was sending, including packets that the wire lost";
    run.columns("links", &["hop"], &rows)
        .text("hop", "the direction, `C -> E2`", |r| r.link.name.clone())
        .integer(
            measure(
                "rate_bit_s",
                Unit::BitS,
                "rate of the link, of the bytes that its `framing` says: by default those of IP packets",
            ),
            |r| r.link.rate.bit_s(),
        )
        .real(measure("delay_ms", Unit::Ms, "propagation delay of the link"), |r| ms(r.link.delay.ns()))
        .count("delivered", "reached the other end of the link, as in `summary`", |r| r.delivered)
        .integer(total("dropped_packets", Unit::Packets, dropped), |r| r.dropped.packets)
        .real(share("utilisation", Unit::Part, busy), |r| r.utilisation)
        .made()
}

fn used<'a>(run: Run<'a>, index: usize, hops: &[&HopRow]) -> Used<'a> {
    let link = &run.plan.links[index];
    let sent: Count = hops.iter().map(|h| h.delivered + h.lost).sum();
    let on_link = || run.plan.accounting.to(link.framing).all(sent.packets, sent.bytes);
    let by_bytes = || on_link() as f64 * 8.0 / (link.rate.bit_s() as f64 * run.seconds);
    let retuned = run.outcome.ports.sending.iter().find(|row| row.link == index);
    let utilisation = retuned.map_or_else(by_bytes, |row| row.time.seconds() / run.seconds);
    let delivered = hops.iter().map(|h| h.delivered).sum();
    Used { link, delivered, dropped: hops.iter().map(|h| h.fates.lost() + h.policed + h.lost).sum(), utilisation }
}

pub(super) fn series(run: Run<'_>) -> Made {
    run.columns(SERIES, &[], &run.outcome.series.ports)
        .real(measure("t_s", Unit::S, TIME), |it| it.at.ns() as f64 / NS_PER_S as f64)
        .text("hop", "the port", |it| run.hop(it.link as usize))
        .text("conditioner", OWNER, |it| it.conditioner.clone())
        .text("quantity", "name of the quantity, with its unit: `queue_packets`, `bucket_bytes`", |it| {
            of_queue(it.queue, it.quantity)
        })
        .real(measure("value", Unit::None, "value at that time"), |it| it.value)
        .made()
}
