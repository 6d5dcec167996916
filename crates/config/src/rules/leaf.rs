//! A class of HTB without a qdisc: a FIFO of 1000 packets, whose delay grows as its rate shrinks.
//!
//! Source: Linux `sch_htb.c`: a new class gets pfifo, whose limit is the interface's txqueuelen (`sch_fifo.c`): 1000 on Ethernet
//! (`DEFAULT_TX_QUEUE_LEN`).

use super::Rule;
use super::case::{At, Case, FRAME, finding, is_said, leaves, line_has, most, place, some_of};
use crate::finding::Finding;
use crate::model::{Class, Kind, Port, Queue};
use perhop_core::units::{BitRate, Bytes, Span};

const CODE: &str = "W434";

/// The rule.
pub(super) const RULE: Rule = Rule { code: CODE, dialect: Some("tc"), instead_of: &[], find };

const LIMIT: u64 = 1000;
/// A full queue that waits longer than this is felt in every conversation.
const LONG: Span = Span::from_ms(100);

fn find(case: &Case<'_>) -> Vec<Finding> {
    // Without the qdiscs of the interface, nothing is known of leaves.
    let listed = |at: &At<'_>| line_has(case, place(&at.queue.name), "qdisc");
    let trees = case.queues_of(Kind::Scheduler("htb")).filter(listed).filter_map(of_queue);
    trees.chain(case.read.device.ports.iter().filter_map(|port| of_link(case, port))).collect()
}

/// An HTB of one class is read as the rate of the link.
fn of_link(case: &Case<'_>, port: &Port) -> Option<Finding> {
    let (said, rate) = (port.link.get("rate")?, port.link.rate("rate")?);
    let place = said.origin.place().filter(|place| line_has(case, *place, "htb"))?;
    if !port.queue.as_ref().is_none_or(is_default) || rate.bit_s() == 0 || drain(rate) <= LONG {
        return None;
    }
    let message = format!(
        "the only class of the htb is without a qdisc: a FIFO of {LIMIT} packets, which at {rate} is a delay of {} when it is full",
        rounded(drain(rate))
    );
    Some(finding(CODE, place, message, format!("tc qdisc add dev {} parent CLASS fq_codel", port.interface.is)))
}

fn of_queue(at: At<'_>) -> Option<Finding> {
    let bare: Vec<(usize, BitRate)> = leaves(at.queue)
        .into_iter()
        .filter(|class| is_bare(&at.queue.classes[*class]))
        .filter_map(|class| Some((class, most(at.queue, class)?)))
        .filter(|(_, rate)| rate.bit_s() > 0 && drain(*rate) > LONG)
        .collect();
    let (class, rate) = *bare.iter().min_by_key(|(_, rate)| *rate)?;
    let names: Vec<&str> = bare.iter().map(|(class, _)| at.queue.classes[*class].name.is.as_str()).collect();
    let it = &at.queue.classes[class];
    let message = format!(
        "{} without a qdisc: a FIFO of {LIMIT} packets, which at the ceil of {} ({rate}) is a delay of {} when it is full",
        some_of(&names),
        it.name.is,
        rounded(drain(rate))
    );
    let instead = format!("tc qdisc add dev {} parent {} fq_codel", at.port.interface.is, it.name.is);
    Some(finding(CODE, place(&it.name), message, instead))
}

fn is_bare(class: &Class) -> bool {
    class.queue.as_ref().is_none_or(is_default)
}

fn is_default(queue: &Queue) -> bool {
    let limit = queue.settings.get("limit");
    queue.kind.is_none() && queue.shape.is_empty() && limit.is_none_or(|said| !is_said(said))
}

fn drain(rate: BitRate) -> Span {
    Bytes::new(FRAME.get() * LIMIT) / rate
}

fn rounded(span: Span) -> Span {
    Span::from_ms(span.ns() / 1_000_000)
}
