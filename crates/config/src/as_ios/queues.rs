//! Queues with their AQM: `queue-limit`, `random-detect`, `fair-queue`.

use super::wred;
use super::written::{Counts, Written};
use perhop_core::aqm::AqmParams;
use perhop_core::dscp::Dscp;
use perhop_core::params::{Node, Place, Problems, Reader, Table, Tree};
use perhop_core::port::{QueueSpec, Side};
use perhop_core::sched::SchedulerParams;
use perhop_core::units::Length;
use perhop_scenario::resolve::topology::PortQueue;

/// A queue of a class that takes these code points; `None`: any.
pub(super) fn queue(queue: &QueueSpec, stated: &PortQueue, takes: Option<&[Dscp]>) -> Written {
    let mut out = Written::default();
    let counts = limit(queue, stated, &mut out);
    if queue.drop == Side::Head {
        out.refuse("`drop` of head: IOS drops the packet that finds no room");
    }
    match &queue.aqm {
        AqmParams::DropTail(_) => {}
        AqmParams::Wred(params) => wred::wred(params, &queue.scope, &wred::Class { counts, takes }, &mut out),
        AqmParams::Red(params) => wred::red(params, &queue.scope, &wred::Class { counts, takes }, &mut out),
        other => out.refuse(format!("`{}`: IOS has WRED", other.name())),
    }
    out
}

/// The limit in the unit in which it is stated.
fn limit(queue: &QueueSpec, stated: &PortQueue, out: &mut Written) -> Counts {
    let limit = stated.queue.common.limit.value;
    let ms = |ns: u64| (ns > 0 && ns.is_multiple_of(1_000_000)).then_some(ns / 1_000_000);
    match (limit, queue.limit) {
        (Length::Time(span), _) if ms(span.ns()).is_some() => {
            out.note(format!(
                "`limit` in time: IOS takes the rate that it guarantees to the class, perhop {}",
                stated.rate
            ));
            out.say(format!("queue-limit {} ms", ms(span.ns()).unwrap_or_default()));
            Counts::Time(span)
        }
        (_, perhop_core::port::Limit::Packets(n)) => {
            out.say(format!("queue-limit {n} packets"));
            Counts::Packets
        }
        (_, perhop_core::port::Limit::Bytes(n)) => {
            out.say(format!("queue-limit {n} bytes"));
            Counts::Bytes
        }
    }
}

/// A scheduler over flows, which IOS has one of; `None`: it is one over classes.
pub(super) fn flows(params: &SchedulerParams) -> Option<Written> {
    let fair = ["fq-codel", "sfq", "fq", "fq-pie"];
    if params.layout().is_some() {
        return None;
    }
    let (mut out, name) = (Written::default(), params.name());
    if !fair.contains(&name) {
        out.refuse(format!("`{name}`: IOS has flows in `fair-queue` alone"));
        return Some(out);
    }
    out.say("fair-queue");
    let keys = stated(params);
    if let Some(limit) = keys.iter().find(|it| it.0 == "limit").and_then(|it| packets(&it.1)) {
        out.say(format!("queue-limit {limit} packets"));
    }
    let usual = usual(name);
    let own = keys.into_iter().filter(|it| it.0 != "limit" && !usual.contains(it));
    let own: String = own.map(|(key, value)| format!(", nor its `{key}` of {value}")).collect();
    out.note(format!("`{name}` is `fair-queue` in IOS: a queue for each flow, which has no AQM{own}").replace('"', ""));
    Some(out)
}

fn stated(params: &SchedulerParams) -> Vec<(&'static str, Tree)> {
    let mut keys = Vec::new();
    params.show(&mut keys);
    keys
}

/// Its keys where nothing is stated.
fn usual(name: &str) -> Vec<(&'static str, Tree)> {
    let (nothing, place, mut problems) = (Table::default(), Place::default(), Problems::default());
    let read = SchedulerParams::read(name, place, &mut Reader::new(&nothing, place, &mut problems));
    read.map(|params| stated(&params)).unwrap_or_default()
}

fn packets(limit: &Tree) -> Option<u32> {
    match limit {
        Tree::Text(text) => match text.parse() {
            Ok(Length::Packets(n)) => Some(n.get()),
            _ => None,
        },
        _ => None,
    }
}

/// Lines below another: one blank more.
pub(super) fn below(lines: Vec<String>) -> impl Iterator<Item = String> {
    lines.into_iter().map(|line| format!(" {line}"))
}

/// A text of a class's key.
pub(super) fn text(class: &Node, key: &str) -> Option<String> {
    match &perhop_scenario::text::tree::get(class, &[key])?.tree {
        Tree::Text(text) => Some(text.clone()),
        _ => None,
    }
}
