//! A queue behind the conditioners.

use super::printout::{Printout, Rows, bit_rate, joined, ms};
use crate::summary::NONE;
use crate::tables::column::{Unit, measure, name, total};
use crate::tables::columns::{Columns, Made};
use perhop_capture::mark::{QueueClassRow, QueueFlowRow, QueueReport, QueueRow, WaitRow};
use perhop_core::units::counted;

const CAME: &str = "packets that came to the queue";
const SENT: &str = "of these, sent";
const MARKED: &str = "of those sent, marked CE by the queue";
const DROPPED: &str = "packets that the queue dropped";

/// A row for each code point as packets came to the queue.
pub(super) fn code_points(rows: &[&QueueRow]) -> Made {
    kinds("queue_code_points", "code point", rows)
}

/// A row for each colour.
pub(super) fn colours(rows: &[&QueueRow]) -> Made {
    kinds("queue_colours", "colour", rows)
}

fn kinds(table: &'static str, of: &'static str, rows: &[&QueueRow]) -> Made {
    let wait = |of: &'static str, doc| measure(of, Unit::S, doc);
    let of_wait = |value: fn(&WaitRow) -> f64| move |r: &&QueueRow| r.wait.as_ref().map(value);
    let mean = "mean time from arrival to the start of transmission; null if nothing was sent";
    Columns::of(table, &["of"], rows)
        .label(name("of", of).printed("at the queue"), |r| r.of.clone())
        .volume(CAME, |r| r.came)
        .count("sent", SENT, |r| r.sent.into())
        .count("marked", MARKED, |r| r.marked.into())
        .count("dropped", DROPPED, |r| r.dropped.into())
        .real(wait("wait_mean_s", mean).printed("wait ms mean"), of_wait(|it| it.mean_s))
        .real(wait("wait_p50_s", "its median, with two significant digits").printed("p50"), of_wait(|it| it.p50_s))
        .real(wait("wait_p99_s", "its 99 % quantile, as precise").printed("p99"), of_wait(|it| it.p99_s))
        .real(wait("wait_max_s", "the longest").printed("max"), of_wait(|it| it.max_s))
        .made()
}

/// A row for each flow.
pub(super) fn flows(rows: &[&QueueFlowRow]) -> Made {
    let wait = |of: &'static str, doc| measure(of, Unit::S, doc);
    let mean = "mean time from arrival to the start of transmission; null if nothing was sent";
    Columns::of("queue_flows", &["flow"], rows)
        .text("flow", "protocol and ends of the flow", |r| r.flow.clone())
        .volume(CAME, |r| r.came)
        .count("sent", SENT, |r| r.sent.into())
        .count("marked", MARKED, |r| r.marked.into())
        .count("dropped", DROPPED, |r| r.dropped.into())
        .real(wait("mean_wait_s", mean).printed("wait ms mean"), |r| r.mean_wait_s)
        .real(wait("max_wait_s", "the longest").printed("max"), |r| r.max_wait_s)
        .made()
}

/// A row for each class of a template.
pub(super) fn classes(rows: &[&QueueClassRow]) -> Made {
    let class = "name of the class: `customers/10.0.1.7`, by the last address that had it, or `customers/others`";
    Columns::of("queue_classes", &["class"], rows)
        .text("class", class, |r| r.class.clone())
        .integer(total("addresses", Unit::None, "addresses that it has been for"), |r| r.addresses)
        .volume("packets that came to the class", |r| r.came)
        .count("sent", SENT, |r| r.sent.into())
        .count("dropped", DROPPED, |r| r.dropped.into())
        .made()
}

/// With the `most` flows of which most was dropped.
pub(super) fn text(queue: &QueueReport, most: usize) -> String {
    let tables = [kind_text(queue), class_text(queue, most), flow_text(queue, most)];
    joined([summary(queue)].into_iter().chain(tables).chain([queue.note.to_owned()]), "\n\n")
}

fn summary(queue: &QueueReport) -> String {
    let offered = queue.offered_bit_s.map_or(String::new(), |rate| format!(", offered {}", bit_rate(rate)));
    format!(
        "queue `{}` on a line of {}{offered}; at most {} waiting, {} B\n{}",
        queue.name,
        bit_rate(queue.line.link_bit_s as f64),
        counted(queue.longest_packets, ["packet", "packets"]),
        queue.longest_bytes,
        queue.line.link
    )
}

/// All packets, then by code point and by colour: with one of a kind it is all of them.
fn kind_text(queue: &QueueReport) -> String {
    let several = [&queue.code_points, &queue.colours].into_iter().filter(|rows| rows.len() > 1).flatten();
    let rows: Vec<_> = std::iter::once(&queue.all).chain(several).collect();
    let why = |row: &&QueueRow| {
        let reasons: Vec<_> = row.reasons.iter().map(|it| format!("{} {}", it.reason, it.volume.packets)).collect();
        if reasons.is_empty() { NONE.into() } else { reasons.join(", ") }
    };
    let made = code_points(&rows);
    let printout = Printout::of(&made)
        .columns(&["of", "packets", "bytes", "dropped_packets"])
        .share("% of bytes", "dropped_bytes", "bytes")
        .cells("why", rows.iter().map(why))
        .columns(&["marked_packets"]);
    let waits = ["wait_mean_s", "wait_p50_s", "wait_p99_s", "wait_max_s"];
    waits.iter().fold(printout, |all, wait| all.form(wait, ms)).text(1)
}

fn class_text(queue: &QueueReport, most: usize) -> String {
    let rows: Vec<_> = queue.classes.iter().take(most).collect();
    let table = Printout::of(&classes(&rows))
        .columns(&["class", "addresses", "packets", "bytes", "sent_packets", "dropped_packets"])
        .share("% of bytes", "dropped_bytes", "bytes")
        .text(1);
    Rows { all: queue.classes.len(), most }.limited(table, "classes", "classes of addresses: most sent first")
}

fn flow_text(queue: &QueueReport, most: usize) -> String {
    let rows: Vec<_> = queue.flows.iter().take(most).collect();
    let table = Printout::of(&flows(&rows))
        .columns(&["flow", "packets", "dropped_packets"])
        .share("% of bytes", "dropped_bytes", "bytes")
        .columns(&["marked_packets"])
        .form("mean_wait_s", ms)
        .form("max_wait_s", ms)
        .text(1);
    Rows { all: queue.flows.len(), most }.limited(table, "flows", "flows at the queue: most dropped first")
}
