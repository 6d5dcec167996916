//! Queues without management, and what has no queue at all.

use super::limits::INTERFACE_QUEUE;
use super::options::{Assumed, Classes, Discipline, Does, Fixed, Row, Takes, assumed, row};
use crate::model::FRAME;

/// The length of an interface's queue, which these take where nothing is said.
const OF_INTERFACE: &str = "sch_fifo.c: txqueuelen, by default 1000";

const fn fifo(name: &'static str, rows: &'static [Row], assumed: &'static [Assumed]) -> Discipline {
    Discipline { rows, typed: "limit", assumed, ..Discipline::plain(name) }
}

/// One without options, which the kernel does not alter.
const fn fixed(name: &'static str, classes: Classes) -> Discipline {
    Discipline { classes, fixed: true, ..Discipline::plain(name) }
}

/// Counts packets.
pub const PFIFO: Discipline = fifo(
    "pfifo",
    &[row("limit", Takes::SizeInPackets, Does::Sets("limit"))],
    &[assumed("limit", Fixed::Packets(INTERFACE_QUEUE), OF_INTERFACE)],
);

/// Counts bytes.
pub const BFIFO: Discipline = fifo(
    "bfifo",
    &[row("limit", Takes::Size, Does::Sets("limit"))],
    &[assumed(
        "limit",
        Fixed::Bytes(INTERFACE_QUEUE as u64 * FRAME.get()),
        "sch_fifo.c: txqueuelen packets of the interface's MTU and 14 bytes",
    )],
);

/// Counts packets, and drops the one that has waited longest.
pub const HEAD_DROP: Discipline = fifo(
    "pfifo_head_drop",
    &[row("limit", Takes::SizeInPackets, Does::Sets("limit"))],
    &[
        assumed("limit", Fixed::Packets(INTERFACE_QUEUE), OF_INTERFACE),
        assumed("drop", Fixed::Word("head"), "sch_fifo.c"),
    ],
);

/// Filters of packets that come in.
pub const INGRESS: Discipline = fixed("ingress", Classes::None);

/// Filters of packets that come in and go out.
pub const CLSACT: Discipline = fixed("clsact", Classes::None);

/// A queue for each queue of the hardware.
pub const MQ: Discipline = fixed("mq", Classes::Hardware);

/// None.
pub const NOQUEUE: Discipline = fixed("noqueue", Classes::None);

/// Nothing passes.
pub const NOOP: Discipline = Discipline::plain("noop");
