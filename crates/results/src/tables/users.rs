//! What users and applications got: `traffic`, `transfers`, `sessions`.

use super::Run;
use super::column::{Column, Unit, measure, rate, share, total};
use super::columns::Made;
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

/// The step of a unit in which the rates of single flows and transfers are printed.
const KBIT_S: usize = 1;
const SESSIONS: &str = "sessions that began after the warm-up";

fn counted(name: &'static str, doc: &'static str) -> Column {
    total(name, Unit::None, doc)
}

fn at(name: &'static str, doc: &'static str) -> Column {
    measure(name, Unit::S, doc)
}

fn mean_of_transfers(name: &'static str) -> Column {
    measure(name, Unit::Ms, "mean over the transfers")
}

pub(super) fn traffic(run: Run<'_>) -> Made {
    let rows = Used::all(run);
    let tcp = |name: &'static str| counted(name, "sum over the flows; null without TCP");
    let per = |name: &'static str, doc| measure(name, Unit::BitS, doc).step(KBIT_S);
    let jain_index = "Jain's index over the flows, (sum x)^2 / (n sum x^2); null if nothing was delivered";
    let page = "mean time from the first request of a page to its last byte, over complete pages";
    let felt = "mean time from write to delivery, over all packets of all sessions";
    run.columns("traffic", &["traffic"], &rows)
        .text("class", "class of the traffic", |r| r.run.class(usize::from(r.offered.class)))
        .text("traffic", "name of the `[traffic]` table", |r| r.offered.name.clone())
        .integer(counted("flows", "number of sources"), |r| u64::from(r.offered.flows))
        .real(rate("goodput_bit_s", "payload of all flows or transfers / measured time"), |r| {
            r.run.bit_s(r.row.goodput_bytes)
        })
        .real(per("goodput_mean_bit_s", "mean over the flows").printed("goodput per flow"), |r| mean(&r.shares))
        .real(per("goodput_std_bit_s", "population standard deviation over the flows"), |r| deviation(&r.shares))
        .real(share("jain", Unit::None, jain_index).printed("Jain"), |r| jain(r.shares.iter().copied()))
        .integer(tcp("segments"), |r| r.row.tcp.map(|tcp| tcp.segments))
        .integer(tcp("retransmitted_segments"), |r| r.row.tcp.map(|tcp| tcp.retransmitted))
        .integer(tcp("timeouts"), |r| r.row.tcp.map(|tcp| u64::from(tcp.timeouts)))
        .integer(counted("transfers_complete", "transfers completed after the warm-up"), |r| u64::from(r.row.complete))
        .integer(counted("transfers_open", "transfers in progress at the end of the run"), |r| u64::from(r.row.open))
        .real(
            per("transfer_goodput_mean_bit_s", "mean of size / duration over the transfers")
                .printed("goodput per transfer"),
            |r| r.mean_of(transfer_goodput),
        )
        .integer(counted("sessions_complete", SESSIONS), |r| r.durations.len() as u64)
        .integer(counted("sessions_open", SESSIONS), |r| (r.sessions.len() - r.durations.len()) as u64)
        .real(measure("session_mean_s", Unit::S, "mean duration of complete sessions").printed("session"), |r| {
            mean(&r.durations)
        })
        .real(measure("session_delay_mean_ms", Unit::Ms, felt).printed("packet delay"), |r| delay_of_all(&r.sessions))
        .real(mean_of_transfers("first_byte_mean_ms").printed("first byte"), |r| r.mean_of(first_byte))
        .real(mean_of_transfers("last_byte_mean_ms").printed("last byte"), |r| r.mean_of(last_byte))
        .real(measure("page_mean_s", Unit::S, page).printed("page"), |r| mean(&pages(&r.transfers)))
        .made()
}

pub(super) fn transfers(run: Run<'_>) -> Made {
    let sender = |it: &Transfer| run.plan.traffic[it.table as usize].from[it.sender as usize];
    let first = "time from `opened_s` to the arrival of the first data packet, including handshake and request";
    let last = "time from `opened_s` to the arrival of all data, including handshake and request";
    run.columns("transfers", &[], &run.outcome.transfers)
        .text("traffic", "name of the `[traffic]` table", |it| run.traffic(it.table as usize))
        .number("source", "number of the source, or of the web user, within the table", |it| u64::from(it.source))
        .real(at("opened_s", "time at which the connection was opened or the object requested"), |it| {
            it.opened.seconds()
        })
        .real(at("complete_s", "time at which the last byte arrived"), |it| it.complete.seconds())
        .integer(total("payload_bytes", Unit::Bytes, "size of the transfer"), |it| it.bytes)
        .real(
            measure("goodput_bit_s", Unit::BitS, "`payload_bytes` / (`complete_s` - `opened_s`)").step(KBIT_S),
            transfer_goodput,
        )
        .real(measure("first_byte_ms", Unit::Ms, first), first_byte)
        .real(measure("last_byte_ms", Unit::Ms, last), last_byte)
        .text("sender", "node that sent the data", |it| run.plan.nodes[sender(it)].name.clone())
        .number("session", "number of the web user's session, from 0; null for other traffic", |it| {
            it.page.map(|p| u64::from(p.session))
        })
        .number("page", "number of the web user's page, from 0, over all sessions; null for other traffic", |it| {
            it.page.map(|p| u64::from(p.page))
        })
        .integer(measure("page_objects", Unit::None, "number of objects on the page; null for other traffic"), |it| {
            it.page.map(|p| u64::from(p.objects))
        })
        .made()
}

pub(super) fn sessions(run: Run<'_>) -> Made {
    let delay = "time from the write of a packet to its delivery, including handshake, waiting for the window, \
                 queues and retransmissions; over delivered packets";
    let packets = |name: &'static str, doc| total(name, Unit::Packets, doc);
    run.columns("sessions", &[], &run.rows(&run.outcome.sessions))
        .text("traffic", "name of the `[traffic]` table", |r| r.run.traffic(r.it.table))
        .number("source", "number of the source within the table", |r| u64::from(r.it.source))
        .real(at("opened_s", "time of the application's first write"), |r| r.it.opened.seconds())
        .real(at("complete_s", "time of the last delivery; null if the run or `stop` ended the session"), |r| {
            r.it.complete.map(Time::seconds)
        })
        .real(at("duration_s", "`complete_s` - `opened_s`"), |r| duration(r.it))
        .integer(packets("written_packets", "packets that the application wrote"), |r| u64::from(r.it.written))
        .integer(packets("delivered_packets", "packets delivered in order to the peer"), |r| u64::from(r.it.delivered))
        .quantiles("delay", delay, |r| r.it.delay)
        .made()
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
