//! A class of HTB without a qdisc: a FIFO of 1000 packets, whose delay grows as its rate shrinks.
//!
//! Source: Linux `sch_htb.c`: a new class gets pfifo, whose limit is the interface's txqueuelen (`sch_fifo.c`): 1000 on Ethernet
//! (`DEFAULT_TX_QUEUE_LEN`).

use super::Rule;
use super::case::{At, Case, FRAME, finding, leaves, most, place, some_of};
use crate::finding::Finding;
use crate::model::{Class, Kind};
use crate::value::Origin;
use perhop_core::units::{BitRate, Bytes, Span};

const CODE: &str = "W434";

/// The rule.
pub(super) const RULE: Rule = Rule { code: CODE, dialect: Some("tc"), instead_of: &[], find };

const LIMIT: u64 = 1000;
/// A full queue that waits longer than this is felt in every conversation.
const LONG: Span = Span::from_ms(100);

fn find(case: &Case<'_>) -> Vec<Finding> {
    // Without the qdiscs of the text, nothing is known of leaves.
    let listed = case.text.lines().any(|line| line.words().iter().any(|word| word.text == "qdisc"));
    case.queues_of(Kind::Scheduler("htb")).filter(|_| listed).filter_map(of_queue).collect()
}

fn of_queue(at: At<'_>) -> Option<Finding> {
    let bare: Vec<(usize, BitRate)> = leaves(at.queue)
        .filter(|class| is_bare(&at.queue.classes[*class]))
        .filter_map(|class| Some((class, most(at.queue, class)?)))
        .filter(|(_, rate)| rate.bit_s() > 0 && drain(*rate) > LONG)
        .collect();
    let (class, rate) = *bare.iter().min_by_key(|(_, rate)| *rate)?;
    let names: Vec<&str> = bare.iter().map(|(class, _)| at.queue.classes[*class].name.is.as_str()).collect();
    let it = &at.queue.classes[class];
    let message = format!(
        "{} without a qdisc: a FIFO of {LIMIT} packets, which at the ceil of {} ({rate}) is a delay of {} once TCP has filled it",
        some_of(&names),
        it.name.is,
        rounded(drain(rate))
    );
    let instead = format!("tc qdisc add dev {} parent {} fq_codel", at.port.interface.is, it.name.is);
    Some(finding(CODE, place(&it.name), message, instead))
}

fn is_bare(class: &Class) -> bool {
    let default = |queue: &crate::model::Queue| {
        let limit = queue.settings.get("limit");
        queue.kind.is_none() && limit.is_none_or(|said| matches!(said.origin, Origin::Assumed(_)))
    };
    class.queue.as_ref().is_none_or(default)
}

fn drain(rate: BitRate) -> Span {
    Bytes::new(FRAME.get() * LIMIT) / rate
}

fn rounded(span: Span) -> Span {
    Span::from_ms(span.ns() / 1_000_000)
}
