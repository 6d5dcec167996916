//! Queues without management, and what has no queue at all.

use super::options::{Assumed, Discipline, Does, Fixed, Row, Takes, assumed, row};

/// The length of an interface's queue, which these take where nothing is said.
const OF_INTERFACE: &str = "sch_fifo.c: txqueuelen, by default 1000";

const fn plain(name: &'static str, rows: &'static [Row], assumed: &'static [Assumed]) -> Discipline {
    Discipline { name, kind: None, rows, class_rows: &[], assumed, keeps: [false; 2] }
}

/// Counts packets.
pub const PFIFO: Discipline = plain(
    "pfifo",
    &[row("limit", Takes::SizeInPackets, Does::Sets("limit"))],
    &[assumed("limit", Fixed::Packets(1000), OF_INTERFACE)],
);

/// Counts bytes.
pub const BFIFO: Discipline = plain(
    "bfifo",
    &[row("limit", Takes::Size, Does::Sets("limit"))],
    &[assumed("limit", Fixed::Bytes(1_514_000), "sch_fifo.c: txqueuelen packets of the interface's MTU and 14 bytes")],
);

/// Counts packets, and drops the one that has waited longest.
pub const HEAD_DROP: Discipline = plain(
    "pfifo_head_drop",
    &[row("limit", Takes::SizeInPackets, Does::Sets("limit"))],
    &[assumed("limit", Fixed::Packets(1000), OF_INTERFACE), assumed("drop", Fixed::Word("head"), "sch_fifo.c")],
);

/// Filters of packets that come in.
pub const INGRESS: Discipline = plain("ingress", &[], &[]);

/// Filters of packets that come in and go out.
pub const CLSACT: Discipline = plain("clsact", &[], &[]);

/// A queue for each queue of the hardware.
pub const MQ: Discipline = plain("mq", &[], &[]);

/// None.
pub const NOQUEUE: Discipline = plain("noqueue", &[], &[]);

/// Nothing passes.
pub const NOOP: Discipline = plain("noop", &[], &[]);
