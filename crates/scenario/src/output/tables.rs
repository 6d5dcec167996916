//! From a replication's outcome to its tables.
//!
//! | table          | one row for each                               |
//! |----------------|------------------------------------------------|
//! | `summary`      | class x colour x hop                           |
//! | `arrivals`     | class x colour at its destination              |
//! | `flows`        | flow (those of transfers left out)             |
//! | `traffic`      | `[traffic]` table                              |
//! | `transfers`    | transfer complete, opened after the warm-up    |
//! | `sessions`     | session that began after the warm-up           |
//! | `queues`       | queue of a link's scheduler                    |
//! | `conditioners` | conditioner x colour in x colour out           |
//! | `tallies`      | total that an AQM or a conditioner keeps       |
//! | `links`        | direction of a link                            |
//! | `series`       | time x hop x quantity, if asked for            |
//! | `flow_series`  | time x flow, if asked for                      |

use super::columns::{Cell, Table};
use perhop_core::count::Count;
use perhop_core::packet::Colour;
use perhop_core::units::{NS_PER_S, Time};
use perhop_core::verdict::Reason;
use perhop_sim::plan::Plan;
use perhop_sim::record::Quantiles;
use perhop_sim::record::Transfer;
use perhop_sim::record::{FlowRow, HopRow, Outcome, SessionRow};
use std::collections::BTreeMap;

const INTEGER: Cell = Cell::Integer(None);
const REAL: Cell = Cell::Real(None);
const TEXT: Cell = Cell::Text(None);

/// All tables of a replication.
pub fn tables(plan: &Plan, outcome: &Outcome) -> Vec<Table> {
    let seconds = outcome.measured.seconds();
    vec![
        summary(plan, outcome),
        arrivals(plan, outcome, seconds),
        flows(plan, outcome, seconds),
        traffic(plan, outcome, seconds),
        transfers(plan, outcome),
        sessions(plan, outcome),
        queues(plan, outcome),
        conditioners(plan, outcome),
        tallies(plan, outcome),
        links(plan, outcome, seconds),
        series(plan, outcome),
        flow_series(plan, outcome),
    ]
}

/// Jain's fairness index `(sum x)^2 / (n sum x^2)`; `None` when nothing was shared.
pub fn jain(shares: impl Iterator<Item = f64> + Clone) -> Option<f64> {
    let n = shares.clone().count() as f64;
    let sum: f64 = shares.clone().sum();
    let squares: f64 = shares.map(|x| x * x).sum();
    (squares > 0.0).then(|| sum * sum / (n * squares))
}

fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}

fn quantiles(q: Option<&Quantiles>) -> [Cell; 6] {
    [
        q.map(|q| q.mean / 1e6).into(),
        q.map(|q| q.sd / 1e6).into(),
        q.map(|q| ms(q.p50)).into(),
        q.map(|q| ms(q.p99)).into(),
        q.map(|q| ms(q.p999)).into(),
        q.map(|q| ms(q.max)).into(),
    ]
}

fn count(c: Count) -> [Cell; 2] {
    [c.packets.into(), c.bytes.into()]
}

fn rate(bytes: u64, seconds: f64) -> Cell {
    (bytes as f64 * 8.0 / seconds).into()
}

fn summary(plan: &Plan, outcome: &Outcome) -> Table {
    let mut table = Table::new("summary", SUMMARY);
    for row in &outcome.ports.hops {
        table.push(hop(plan, row));
    }
    table
}

const SUMMARY: &[(&str, Cell)] = &[
    ("class", TEXT),
    ("colour", TEXT),
    ("hop", TEXT),
    ("arrived_packets", INTEGER),
    ("arrived_bytes", INTEGER),
    ("queued_packets", INTEGER),
    ("queued_bytes", INTEGER),
    ("marked_packets", INTEGER),
    ("marked_bytes", INTEGER),
    ("dropped_packets", INTEGER),
    ("dropped_bytes", INTEGER),
    ("dropped_policer_packets", INTEGER),
    ("dropped_early_packets", INTEGER),
    ("dropped_forced_packets", INTEGER),
    ("dropped_overflow_packets", INTEGER),
    ("dropped_wire_packets", INTEGER),
    ("delivered_packets", INTEGER),
    ("delivered_bytes", INTEGER),
    ("wait_mean_ms", REAL),
    ("wait_sd_ms", REAL),
    ("wait_p50_ms", REAL),
    ("wait_p99_ms", REAL),
    ("wait_p999_ms", REAL),
    ("wait_max_ms", REAL),
];

fn hop(plan: &Plan, row: &HopRow) -> Vec<Cell> {
    let mut by_reason = row.fates.dropped;
    by_reason[Reason::Policer as usize] += row.policed;
    by_reason[Reason::Wire as usize] += row.lost;
    let mut cells: Vec<Cell> = vec![
        plan.classes[row.class].as_str().into(),
        row.colour.name().into(),
        plan.links[row.link].name.as_str().into(),
    ];
    cells.extend(count(row.fates.arrived + row.policed));
    cells.extend(count(row.fates.queued));
    cells.extend(count(row.fates.marked));
    cells.extend(count(by_reason.iter().copied().sum()));
    cells.extend(by_reason.iter().map(|c| Cell::from(c.packets)));
    cells.extend(count(row.delivered));
    cells.extend(quantiles(row.wait.as_ref()));
    cells
}

fn arrivals(plan: &Plan, outcome: &Outcome, seconds: f64) -> Table {
    let mut table = Table::new("arrivals", ARRIVALS);
    for row in &outcome.arrivals {
        let mut cells: Vec<Cell> = vec![plan.classes[row.class].as_str().into(), row.colour.name().into()];
        cells.extend(count(row.delivered));
        cells.push(rate(row.delivered.bytes, seconds));
        cells.extend(quantiles(row.delay.as_ref()));
        cells.extend(quantiles(row.jitter.as_ref()));
        table.push(cells);
    }
    table
}

const ARRIVALS: &[(&str, Cell)] = &[
    ("class", TEXT),
    ("colour", TEXT),
    ("delivered_packets", INTEGER),
    ("delivered_bytes", INTEGER),
    ("throughput_bit_s", REAL),
    ("delay_mean_ms", REAL),
    ("delay_sd_ms", REAL),
    ("delay_p50_ms", REAL),
    ("delay_p99_ms", REAL),
    ("delay_p999_ms", REAL),
    ("delay_max_ms", REAL),
    ("jitter_mean_ms", REAL),
    ("jitter_sd_ms", REAL),
    ("jitter_p50_ms", REAL),
    ("jitter_p99_ms", REAL),
    ("jitter_p999_ms", REAL),
    ("jitter_max_ms", REAL),
];

const FLOWS: &[(&str, Cell)] = &[
    ("class", TEXT),
    ("traffic", TEXT),
    ("flow", INTEGER),
    ("sent_packets", INTEGER),
    ("sent_bytes", INTEGER),
    ("delivered_packets", INTEGER),
    ("delivered_bytes", INTEGER),
    ("dropped_packets", INTEGER),
    ("dropped_bytes", INTEGER),
    ("throughput_bit_s", REAL),
    ("goodput_bit_s", REAL),
    ("segments", INTEGER),
    ("retransmitted_segments", INTEGER),
    ("timeouts", INTEGER),
    ("fast_retransmits", INTEGER),
    ("window_cuts", INTEGER),
    ("delay_mean_ms", REAL),
    ("delay_sd_ms", REAL),
    ("delay_p50_ms", REAL),
    ("delay_p99_ms", REAL),
    ("delay_p999_ms", REAL),
    ("delay_max_ms", REAL),
    ("jitter_mean_ms", REAL),
    ("jitter_sd_ms", REAL),
    ("jitter_p50_ms", REAL),
    ("jitter_p99_ms", REAL),
    ("jitter_p999_ms", REAL),
    ("jitter_max_ms", REAL),
];

fn flow(plan: &Plan, row: &FlowRow, seconds: f64) -> Vec<Cell> {
    let offered = &plan.traffic[row.table];
    let mut cells: Vec<Cell> = vec![
        plan.classes[usize::from(offered.class)].as_str().into(),
        offered.name.as_str().into(),
        u64::from(row.number).into(),
    ];
    cells.extend(count(row.counts.sent));
    cells.extend(count(row.counts.delivered));
    cells.extend(count(row.counts.dropped));
    cells.push(rate(row.counts.delivered.bytes, seconds));
    cells.push(rate(row.goodput_bytes, seconds));
    cells.extend([
        Cell::from(row.tcp.map(|t| t.segments)),
        row.tcp.map(|t| t.retransmitted).into(),
        row.tcp.map(|t| u64::from(t.timeouts)).into(),
        row.tcp.map(|t| u64::from(t.fast_retransmits)).into(),
        row.tcp.map(|t| u64::from(t.cuts)).into(),
    ]);
    cells.extend(quantiles(row.delay.as_ref()));
    cells.extend(quantiles(row.jitter.as_ref()));
    cells
}

fn flows(plan: &Plan, outcome: &Outcome, seconds: f64) -> Table {
    let mut table = Table::new("flows", FLOWS);
    for row in &outcome.flows {
        table.push(flow(plan, row, seconds));
    }
    table
}

const TRAFFIC: &[(&str, Cell)] = &[
    ("class", TEXT),
    ("traffic", TEXT),
    ("flows", INTEGER),
    ("goodput_bit_s", REAL),
    ("goodput_mean_bit_s", REAL),
    ("goodput_std_bit_s", REAL),
    ("jain", REAL),
    ("segments", INTEGER),
    ("retransmitted_segments", INTEGER),
    ("timeouts", INTEGER),
    ("transfers_complete", INTEGER),
    ("transfers_open", INTEGER),
    ("transfer_goodput_mean_bit_s", REAL),
    ("sessions_complete", INTEGER),
    ("sessions_open", INTEGER),
    ("session_mean_s", REAL),
    ("session_delay_mean_ms", REAL),
    ("first_byte_mean_ms", REAL),
    ("last_byte_mean_ms", REAL),
    ("page_mean_s", REAL),
];

fn traffic(plan: &Plan, outcome: &Outcome, seconds: f64) -> Table {
    let mut table = Table::new("traffic", TRAFFIC);
    for (i, (offered, row)) in plan.traffic.iter().zip(&outcome.tables).enumerate() {
        let shares: Vec<f64> =
            outcome.flows.iter().filter(|f| f.table == i).map(|f| f.goodput_bytes as f64 * 8.0 / seconds).collect();
        let transfers: Vec<_> = outcome.transfers.iter().filter(|t| usize::from(t.table) == i).collect();
        let each: Vec<_> = transfers.iter().map(|t| transfer_goodput(t)).collect();
        let sessions: Vec<_> = outcome.sessions.iter().filter(|s| s.table == i).collect();
        let durations: Vec<_> = sessions.iter().filter_map(|s| duration(s)).collect();
        table.push(vec![
            plan.classes[usize::from(offered.class)].as_str().into(),
            offered.name.as_str().into(),
            u64::from(offered.flows).into(),
            rate(row.goodput_bytes, seconds),
            mean(&shares).into(),
            deviation(&shares).into(),
            jain(shares.iter().copied()).into(),
            row.tcp.segments.into(),
            row.tcp.retransmitted.into(),
            u64::from(row.tcp.timeouts).into(),
            u64::from(row.complete).into(),
            u64::from(row.open).into(),
            mean(&each).into(),
            (durations.len() as u64).into(),
            ((sessions.len() - durations.len()) as u64).into(),
            mean(&durations).into(),
            delay_of_all(&sessions).into(),
            mean(&transfers.iter().map(|t| first_byte(t)).collect::<Vec<_>>()).into(),
            mean(&transfers.iter().map(|t| last_byte(t)).collect::<Vec<_>>()).into(),
            mean(&pages(&transfers)).into(),
        ]);
    }
    table
}

/// From the first write to the last delivery, s.
fn duration(session: &SessionRow) -> Option<f64> {
    Some(session.complete?.since(session.opened).seconds())
}

/// Mean over all packets of all sessions, ms.
fn delay_of_all(sessions: &[&SessionRow]) -> Option<f64> {
    let packets: f64 = sessions.iter().map(|s| f64::from(s.delivered)).sum();
    let sum: f64 = sessions.iter().filter_map(|s| Some(s.delay?.mean * f64::from(s.delivered))).sum();
    (packets > 0.0).then(|| sum / packets / 1e6)
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Population standard deviation over flows.
fn deviation(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    Some((values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / values.len() as f64).sqrt())
}

/// From the request, or the first packet sent where nobody asked, to the arrival of the first data, ms.
fn first_byte(transfer: &Transfer) -> f64 {
    ms(transfer.first.since(transfer.opened).ns())
}

/// As `first_byte`, to the arrival of the last data, ms.
fn last_byte(transfer: &Transfer) -> f64 {
    ms(transfer.complete.since(transfer.opened).ns())
}

/// Durations of pages all of whose objects are there, s: from the first request to the last data.
fn pages(transfers: &[&Transfer]) -> Vec<f64> {
    let mut pages: BTreeMap<(u32, u32), Vec<&Transfer>> = BTreeMap::new();
    for transfer in transfers {
        if let Some(page) = transfer.page {
            pages.entry((transfer.source, page.page)).or_default().push(transfer);
        }
    }
    let whole = |objects: &Vec<&Transfer>| {
        let (first, last) = (objects.iter().map(|t| t.opened).min()?, objects.iter().map(|t| t.complete).max()?);
        (objects.len() == objects[0].page?.objects as usize).then(|| last.since(first).seconds())
    };
    pages.values().filter_map(whole).collect()
}

/// Bit/s from the first packet sent to the last byte received.
fn transfer_goodput(transfer: &Transfer) -> f64 {
    transfer.bytes as f64 * 8.0 / transfer.complete.since(transfer.opened).seconds()
}

const TRANSFERS: &[(&str, Cell)] = &[
    ("traffic", TEXT),
    ("source", INTEGER),
    ("opened_s", REAL),
    ("complete_s", REAL),
    ("payload_bytes", INTEGER),
    ("goodput_bit_s", REAL),
    ("first_byte_ms", REAL),
    ("last_byte_ms", REAL),
    ("sender", TEXT),
    ("session", INTEGER),
    ("page", INTEGER),
    ("page_objects", INTEGER),
];

fn transfers(plan: &Plan, outcome: &Outcome) -> Table {
    let mut table = Table::new("transfers", TRANSFERS);
    for row in &outcome.transfers {
        let offered = &plan.traffic[usize::from(row.table)];
        table.push(vec![
            offered.name.as_str().into(),
            u64::from(row.source).into(),
            row.opened.seconds().into(),
            row.complete.seconds().into(),
            row.bytes.into(),
            transfer_goodput(row).into(),
            first_byte(row).into(),
            last_byte(row).into(),
            plan.nodes[offered.from[row.sender as usize]].name.as_str().into(),
            row.page.map(|p| u64::from(p.session)).into(),
            row.page.map(|p| u64::from(p.page)).into(),
            row.page.map(|p| u64::from(p.objects)).into(),
        ]);
    }
    table
}

const SESSIONS: &[(&str, Cell)] = &[
    ("traffic", TEXT),
    ("source", INTEGER),
    ("opened_s", REAL),
    ("complete_s", REAL),
    ("duration_s", REAL),
    ("written_packets", INTEGER),
    ("delivered_packets", INTEGER),
    ("delay_mean_ms", REAL),
    ("delay_sd_ms", REAL),
    ("delay_p50_ms", REAL),
    ("delay_p99_ms", REAL),
    ("delay_p999_ms", REAL),
    ("delay_max_ms", REAL),
];

fn sessions(plan: &Plan, outcome: &Outcome) -> Table {
    let mut table = Table::new("sessions", SESSIONS);
    for row in &outcome.sessions {
        let mut cells = vec![
            plan.traffic[row.table].name.as_str().into(),
            u64::from(row.source).into(),
            row.opened.seconds().into(),
            row.complete.map(Time::seconds).into(),
            duration(row).into(),
            u64::from(row.written).into(),
            u64::from(row.delivered).into(),
        ];
        cells.extend(quantiles(row.delay.as_ref()));
        table.push(cells);
    }
    table
}

const QUEUES: &[(&str, Cell)] = &[
    ("hop", TEXT),
    ("queue", INTEGER),
    ("arrived_packets", INTEGER),
    ("arrived_bytes", INTEGER),
    ("queued_packets", INTEGER),
    ("queued_bytes", INTEGER),
    ("marked_packets", INTEGER),
    ("marked_bytes", INTEGER),
    ("dropped_packets", INTEGER),
    ("dropped_bytes", INTEGER),
    ("dropped_early_packets", INTEGER),
    ("dropped_forced_packets", INTEGER),
    ("dropped_overflow_packets", INTEGER),
    ("sent_packets", INTEGER),
    ("sent_bytes", INTEGER),
    ("wait_mean_ms", REAL),
    ("wait_sd_ms", REAL),
    ("wait_p50_ms", REAL),
    ("wait_p99_ms", REAL),
    ("wait_p999_ms", REAL),
    ("wait_max_ms", REAL),
];

/// Queues are numbered from 1, in the order of the scheduler's classes.
fn queues(plan: &Plan, outcome: &Outcome) -> Table {
    let mut table = Table::new("queues", QUEUES);
    for row in &outcome.ports.queues {
        let mut cells: Vec<Cell> = vec![plan.links[row.link].name.as_str().into(), (row.queue as u64 + 1).into()];
        cells.extend([row.fates.arrived, row.fates.queued, row.fates.marked, row.fates.lost()].map(count).concat());
        let reasons = [Reason::Early, Reason::Forced, Reason::Overflow];
        cells.extend(reasons.map(|reason| Cell::from(row.fates.dropped[reason as usize].packets)));
        cells.extend(count(row.sent));
        cells.extend(quantiles(row.wait.as_ref()));
        table.push(cells);
    }
    table
}

const CONDITIONERS: &[(&str, Cell)] = &[
    ("hop", TEXT),
    ("conditioner", TEXT),
    ("colour_in", TEXT),
    ("colour_out", TEXT),
    ("packets", INTEGER),
    ("bytes", INTEGER),
];

fn conditioners(plan: &Plan, outcome: &Outcome) -> Table {
    let mut table = Table::new("conditioners", CONDITIONERS);
    let outs = ["green", "yellow", "red", "unmarked", "dropped"];
    for row in &outcome.ports.conditioners {
        for colour in Colour::ALL {
            for (out, counted) in outs.into_iter().zip(row.counts[colour.index()]) {
                if counted.packets > 0 {
                    let hop = plan.links[row.link].name.as_str();
                    let mut cells: Vec<Cell> =
                        vec![hop.into(), row.name.as_str().into(), colour.name().into(), out.into()];
                    cells.extend(count(counted));
                    table.push(cells);
                }
            }
        }
    }
    table
}

/// What is measured of one queue of a scheduler has its number before the name.
fn of_queue(queue: Option<usize>, quantity: &str) -> String {
    queue.map_or_else(|| quantity.to_owned(), |i| format!("queue_{}.{quantity}", i + 1))
}

const TALLIES: &[(&str, Cell)] = &[("hop", TEXT), ("conditioner", TEXT), ("quantity", TEXT), ("value", INTEGER)];

fn tallies(plan: &Plan, outcome: &Outcome) -> Table {
    let mut table = Table::new("tallies", TALLIES);
    for tally in &outcome.ports.tallies {
        let hop = plan.links[tally.link].name.as_str();
        let quantity = of_queue(tally.queue, tally.quantity);
        table.push(vec![hop.into(), tally.conditioner.as_deref().into(), quantity.as_str().into(), tally.value.into()]);
    }
    table
}

const LINKS: &[(&str, Cell)] = &[
    ("hop", TEXT),
    ("rate_bit_s", INTEGER),
    ("delay_ms", REAL),
    ("delivered_packets", INTEGER),
    ("delivered_bytes", INTEGER),
    ("dropped_packets", INTEGER),
    ("utilisation", REAL),
];

fn links(plan: &Plan, outcome: &Outcome, seconds: f64) -> Table {
    let mut table = Table::new("links", LINKS);
    for (i, link) in plan.links.iter().enumerate() {
        let rows = || outcome.ports.hops.iter().filter(move |h| h.link == i);
        let delivered: Count = rows().map(|h| h.delivered + h.lost).sum();
        let dropped: Count = rows().map(|h| h.fates.lost() + h.policed + h.lost).sum();
        let wire_bytes = delivered.bytes.saturating_sub(delivered.packets * u64::from(plan.overhead));
        let used = wire_bytes as f64 * 8.0 / (link.rate.bit_s() as f64 * seconds);
        table.push(vec![
            link.name.as_str().into(),
            link.rate.bit_s().into(),
            ms(link.delay.ns()).into(),
            delivered.packets.into(),
            delivered.bytes.into(),
            dropped.packets.into(),
            used.into(),
        ]);
    }
    table
}

const SERIES: &[(&str, Cell)] =
    &[("t_s", REAL), ("hop", TEXT), ("conditioner", TEXT), ("quantity", TEXT), ("value", REAL)];

fn series(plan: &Plan, outcome: &Outcome) -> Table {
    let mut table = Table::new("series", SERIES);
    for sample in &outcome.series.ports {
        table.push(vec![
            (sample.at.ns() as f64 / NS_PER_S as f64).into(),
            plan.links[sample.link as usize].name.as_str().into(),
            sample.conditioner.as_deref().into(),
            of_queue(sample.queue, sample.quantity).as_str().into(),
            sample.value.into(),
        ]);
    }
    table
}

const FLOW_SERIES: &[(&str, Cell)] = &[
    ("t_s", REAL),
    ("traffic", TEXT),
    ("flow", INTEGER),
    ("delivered_bytes", INTEGER),
    ("goodput_bytes", INTEGER),
    ("cwnd_segments", REAL),
];

fn flow_series(plan: &Plan, outcome: &Outcome) -> Table {
    let mut table = Table::new("flow_series", FLOW_SERIES);
    for sample in &outcome.series.flows {
        table.push(vec![
            sample.at.seconds().into(),
            plan.traffic[usize::from(sample.table)].name.as_str().into(),
            u64::from(sample.number).into(),
            sample.delivered_bytes.into(),
            sample.goodput_bytes.into(),
            sample.cwnd.into(),
        ]);
    }
    table
}
