//! Limits in packets that are too large for a rate, or too small for a delay.

use crate::model::{Class, FRAME, ON_THEIR_WAY, Port, Queue};
use crate::rules::case::{At, Case, leaves, line_has, most, place, some_of};
use crate::rules::{Remark, Rule};
use crate::stub;
use crate::tc::limits::INTERFACE_QUEUE;
use crate::value::Value;
use perhop_core::units::{BitRate, Bytes, Packets, Span};

/// Of FIFOs and of netem.
pub(super) const RULES: &[Rule] = &[
    Rule::new("W434", &[], bare_classes),
    Rule::new("W449", &[], |case| case.read.device.ports.iter().filter_map(|port| short_netem(case, port)).collect()),
];

/// A full queue that waits longer than this is felt in every conversation.
const LONG: Span = Span::from_ms(100);

/// W434: a class of HTB without a qdisc: a FIFO of 1000 packets, whose delay grows as its rate shrinks.
///
/// Linux `sch_htb.c`: a new class gets pfifo, whose limit is the interface's txqueuelen (`sch_fifo.c`): 1000 on
/// Ethernet (`DEFAULT_TX_QUEUE_LEN`).
fn bare_classes(case: &Case<'_>) -> Vec<Remark> {
    // Without the qdiscs of the interface, nothing is known of leaves.
    let trees = case.trees().filter(|at| line_has(case, place(&at.queue.name), "qdisc")).filter_map(of_tree);
    trees.chain(case.read.device.ports.iter().filter_map(|port| of_link(case, port))).collect()
}

/// An HTB of one class is read as the rate of the link.
fn of_link(case: &Case<'_>, port: &Port) -> Option<Remark> {
    let (said, rate) = (port.link.get("rate")?, port.link.rate("rate")?);
    let place = said.origin.place().filter(|place| line_has(case, *place, "htb"))?;
    if !port.queue.as_ref().is_none_or(is_default) || !is_slow(rate) {
        return None;
    }
    let delay = full(rate);
    let message = format!(
        "the only class of the htb is without a qdisc: a FIFO of {INTERFACE_QUEUE} packets, which at {rate} {delay}"
    );
    Some(Remark { place, message, instead: format!("tc qdisc add dev {} parent CLASS fq_codel", port.interface.is) })
}

fn of_tree(at: At<'_>) -> Option<Remark> {
    let bare: Vec<(&Class, BitRate)> = leaves(at.queue)
        .into_iter()
        .filter_map(|class| Some((&at.queue.classes[class], most(at.queue, class)?)))
        .filter(|(class, rate)| class.queue.as_ref().is_none_or(is_default) && is_slow(*rate))
        .collect();
    let (it, rate) = *bare.iter().min_by_key(|(_, rate)| *rate)?;
    let (name, interface) = (&it.name.is, &at.port.interface.is);
    let names: Vec<&str> = bare.iter().map(|(class, _)| class.name.is.as_str()).collect();
    let message = format!(
        "{} without a qdisc: a FIFO of {INTERFACE_QUEUE} packets, which at the ceil of {name} ({rate}) {}",
        some_of(&names),
        full(rate)
    );
    let instead = format!("tc qdisc add dev {interface} parent {name} fq_codel");
    Some(Remark { place: place(&it.name), message, instead })
}

fn is_default(queue: &Queue) -> bool {
    queue.kind.is_none() && queue.shape.is_empty() && queue.settings.said("limit").is_none()
}

fn drain(rate: BitRate) -> Span {
    Bytes::new(FRAME.get() * u64::from(INTERFACE_QUEUE)) / rate
}

fn is_slow(rate: BitRate) -> bool {
    rate.bit_s() > 0 && drain(rate) > LONG
}

fn full(rate: BitRate) -> String {
    format!("is a delay of {} when it is full", Span::from_ms(drain(rate).ns() / 1_000_000))
}

/// W449: a `netem` that delays more packets than it holds.
///
/// Linux `sch_netem.c`: a packet that comes while `limit` packets wait for their time is dropped; tc's limit is 1000.
fn short_netem(case: &Case<'_>, port: &Port) -> Option<Remark> {
    let link = stub::link(port, case.given)?;
    let said = port.link.get("delay")?;
    let Value::Time(delay) = said.is else { return None };
    let Value::Packets(limit) = port.link.get(ON_THEIR_WAY)?.is else { return None };
    let most = passes(limit, delay).filter(|most| *most < link)?;
    let message = format!(
        "netem holds at most {limit} at once: with {delay} for each, {most} of packets of 1500 B pass and it drops the rest; perhop's \
         link drops none"
    );
    let enough = (link * delay).get().div_ceil(FRAME.get());
    Some(Remark { place: said.origin.place()?, message, instead: format!("limit {enough} or more, for {link}") })
}

/// The rate of packets of full size; `None`: no bound.
fn passes(limit: Packets, delay: Span) -> Option<BitRate> {
    let bits = 8 * u128::from(limit.get()) * u128::from(FRAME.get()) * 1_000_000_000;
    u64::try_from(bits.checked_div(u128::from(delay.ns()))?).ok().map(BitRate::bps)
}
