//! What Linux and tc hold queues to: numbers that readers, writers and rules share.
//!
//! Source: Linux 6.12 and iproute2 6.1, by file and symbol.

use perhop_core::accounting::Accounting;
use perhop_core::units::{Bytes, Span};
use std::ops::RangeInclusive;

/// Ethernet's header, which Linux counts (`ETH_HLEN` of if_ether.h), in bytes.
pub(crate) const HEADER: u32 = Accounting::L2.overhead();
/// The length of an interface's queue, in packets: `DEFAULT_TX_QUEUE_LEN` of pkt_sched.h.
pub(crate) const INTERFACE_QUEUE: u32 = 1000;
/// The largest quantum: `FQ_CODEL_QUANTUM_MAX` of pkt_sched.h, `fq_change` of sch_fq.c, `fq_pie_q_range` of sch_fq_pie.c.
pub(crate) const QUANTUM: Bytes = Bytes::new(1 << 20);
/// The memory of FQ-CoDel where nothing is said: `fq_codel_init` of sch_fq_codel.c.
pub(crate) const FQ_CODEL_MEMORY: Bytes = Bytes::new(32 << 20);
/// The longest queue of a flow of SFQ, in packets: `SFQ_MAX_DEPTH` of sch_sfq.c.
pub(crate) const SFQ_DEPTH: u32 = 127;
/// A tick, in which the kernel gives times to tc: `PSCHED_SHIFT` of pkt_sched.h, 2^6 ns.
pub(crate) const TICK: Span = Span::from_ns(1 << 6);
/// PIE counts `alpha` and `beta` in these: tc-pie(8).
pub(crate) const OF_PIE: f64 = 16.0;
/// The largest packet of a policer where nothing is said: the 255 cells of 8 B of tc's table of rates (`tc_calc_rtable`), up to the
/// end of the next as tc prints it.
pub(crate) const POLICE_MTU: RangeInclusive<u64> = 2040..=2048;
