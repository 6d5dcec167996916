//! What users and applications got: `traffic`, `transfers`, `sessions`.

use super::Run;
use super::columns::{Columns, Table};
use super::parts::{deviation, jain, mean, ms};
use perhop_core::units::Time;
use perhop_sim::plan::Offered;
use perhop_sim::record::{SessionRow, TableRow, Transfer};
use std::collections::BTreeMap;

/// A `[traffic]` table with all that belongs to it.
struct Used<'a> {
    run: Run<'a>,
    offered: &'a Offered,
    row: &'a TableRow,
    /// Goodputs of its flows, bit/s.
    shares: Vec<f64>,
    transfers: Vec<&'a Transfer>,
    sessions: Vec<&'a SessionRow>,
    /// Of its complete sessions, s.
    durations: Vec<f64>,
}

impl<'a> Used<'a> {
    /// By table.
    fn all(run: Run<'a>) -> Vec<Self> {
        let outcome = run.outcome;
        let none = |(offered, row)| {
            let (shares, durations) = (Vec::new(), Vec::new());
            Self { run, offered, row, shares, transfers: Vec::new(), sessions: Vec::new(), durations }
        };
        let mut all: Vec<_> = run.plan.traffic.iter().zip(&outcome.tables).map(none).collect();
        outcome.flows.iter().for_each(|flow| all[flow.table].shares.push(run.bit_s(flow.goodput_bytes)));
        outcome.transfers.iter().for_each(|transfer| all[transfer.table as usize].transfers.push(transfer));
        for session in &outcome.sessions {
            let used = &mut all[session.table];
            used.durations.extend(duration(session));
            used.sessions.push(session);
        }
        all
    }

    fn mean_of(&self, value: fn(&Transfer) -> f64) -> Option<f64> {
        mean(&self.transfers.iter().map(|t| value(t)).collect::<Vec<_>>())
    }
}

pub(super) fn traffic(run: Run<'_>) -> Table {
    let rows = Used::all(run);
    Columns::of("traffic", &rows)
        .text("class", |r| r.run.class(usize::from(r.offered.class)))
        .text("traffic", |r| r.offered.name.clone())
        .integer("flows", |r| u64::from(r.offered.flows))
        .real("goodput_bit_s", |r| r.run.bit_s(r.row.goodput_bytes))
        .real("goodput_mean_bit_s", |r| mean(&r.shares))
        .real("goodput_std_bit_s", |r| deviation(&r.shares))
        .real("jain", |r| jain(r.shares.iter().copied()))
        .integer("segments", |r| r.row.tcp.map(|tcp| tcp.segments))
        .integer("retransmitted_segments", |r| r.row.tcp.map(|tcp| tcp.retransmitted))
        .integer("timeouts", |r| r.row.tcp.map(|tcp| u64::from(tcp.timeouts)))
        .integer("transfers_complete", |r| u64::from(r.row.complete))
        .integer("transfers_open", |r| u64::from(r.row.open))
        .real("transfer_goodput_mean_bit_s", |r| r.mean_of(transfer_goodput))
        .integer("sessions_complete", |r| r.durations.len() as u64)
        .integer("sessions_open", |r| (r.sessions.len() - r.durations.len()) as u64)
        .real("session_mean_s", |r| mean(&r.durations))
        .real("session_delay_mean_ms", |r| delay_of_all(&r.sessions))
        .real("first_byte_mean_ms", |r| r.mean_of(first_byte))
        .real("last_byte_mean_ms", |r| r.mean_of(last_byte))
        .real("page_mean_s", |r| mean(&pages(&r.transfers)))
        .table()
}

pub(super) fn transfers(run: Run<'_>) -> Table {
    let sender = |it: &Transfer| run.plan.traffic[it.table as usize].from[it.sender as usize];
    Columns::of("transfers", &run.outcome.transfers)
        .text("traffic", |it| run.traffic(it.table as usize))
        .integer("source", |it| u64::from(it.source))
        .real("opened_s", |it| it.opened.seconds())
        .real("complete_s", |it| it.complete.seconds())
        .integer("payload_bytes", |it| it.bytes)
        .real("goodput_bit_s", transfer_goodput)
        .real("first_byte_ms", first_byte)
        .real("last_byte_ms", last_byte)
        .text("sender", |it| run.plan.nodes[sender(it)].name.clone())
        .integer("session", |it| it.page.map(|p| u64::from(p.session)))
        .integer("page", |it| it.page.map(|p| u64::from(p.page)))
        .integer("page_objects", |it| it.page.map(|p| u64::from(p.objects)))
        .table()
}

pub(super) fn sessions(run: Run<'_>) -> Table {
    Columns::of("sessions", &run.rows(&run.outcome.sessions))
        .text("traffic", |r| r.run.traffic(r.it.table))
        .integer("source", |r| u64::from(r.it.source))
        .real("opened_s", |r| r.it.opened.seconds())
        .real("complete_s", |r| r.it.complete.map(Time::seconds))
        .real("duration_s", |r| duration(r.it))
        .integer("written_packets", |r| u64::from(r.it.written))
        .integer("delivered_packets", |r| u64::from(r.it.delivered))
        .quantiles("delay", |r| r.it.delay)
        .table()
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

/// From the request, or the first packet sent if there was none, to the arrival of the first data, ms.
fn first_byte(transfer: &Transfer) -> f64 {
    ms(transfer.first.since(transfer.opened).ns())
}

/// As `first_byte`, to the arrival of the last data, ms.
fn last_byte(transfer: &Transfer) -> f64 {
    ms(transfer.complete.since(transfer.opened).ns())
}

/// Durations of pages whose objects have all arrived, s: from the first request to the last data.
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
