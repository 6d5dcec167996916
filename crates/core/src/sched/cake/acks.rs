//! The ACK filter: which waiting ACK the packet that has come makes redundant.
//!
//! Source: behaviour of Linux 6.12, `cake_ack_filter`, with its comparisons of SACK blocks and time stamps.
//!
//! Looking from the head of the queue, an ACK of the same flow may go if it is pure, acknowledges no more than the newest packet,
//! and its options say nothing that the newest one's do not: no block that is not covered, no later time stamp, nothing else. Of
//! the same number it goes only if the newest one has more blocks. Where ECE or CWR changes, the ACK before the change stays.
//! The filter drops the first such ACK once there is another behind it; the aggressive one also if it is next to the newest
//! packet and has the same ECE and CWR.

use crate::packet::{Options, Packet, after, flags};
use crate::params::Choice;
use std::cmp::Ordering;

/// Whether ACKs are filtered.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckFilter {
    /// No ACK is.
    Off,
    /// All but one redundant ACK of a flow, beside the newest.
    On,
    /// All redundant ACKs of a flow.
    Aggressive,
}

/// A waiting packet and its options.
pub(crate) type Waiting = (Packet, Options);

/// How an ACK echoes marks; where that changes, it has to arrive.
fn echo(packet: &Packet) -> u8 {
    packet.flags & (flags::ECE | flags::CWR)
}

impl AckFilter {
    /// The place of the packet that goes, among those that wait, the newest last.
    pub(crate) fn redundant(self, waiting: impl ExactSizeIterator<Item = Waiting>, newest: &Waiting) -> Option<usize> {
        if newest.0.flags & (flags::ACK | flags::SYN) != flags::ACK {
            return None;
        }
        let (last, mut found, mut first) = (waiting.len().checked_sub(2)?, 0, None);
        for (place, it) in waiting.enumerate().take(last + 1).filter(|(_, it)| it.0.flow == newest.0.flow) {
            if first.is_some_and(|(_, marks)| marks != echo(&it.0)) {
                (first, found) = (None, found - 1);
            }
            if !goes(&it, newest) {
                continue;
            }
            let (place, _) = *first.get_or_insert((place, echo(&it.0)));
            found += 1;
            if found > 1 {
                return Some(place);
            }
        }
        let (place, marks) = first.filter(|_| self == Self::Aggressive)?;
        (place == last && marks == echo(&newest.0)).then_some(place)
    }
}

/// Whether a packet says nothing that the newest one does not.
fn goes((old, of_old): &Waiting, (new, of_new): &Waiting) -> bool {
    let pure = old.payload == 0 && old.flags & (flags::ACK | flags::SYN | flags::FIN | flags::AE) == flags::ACK;
    if !pure || of_old.others || after(old.ack, new.ack) || is_later(of_old, of_new) {
        return false;
    }
    match beside(of_old, of_new) {
        Ordering::Greater => false,
        Ordering::Equal => old.ack != new.ack,
        Ordering::Less => true,
    }
}

/// Whether the time stamps of a packet are later than those of a newer one.
fn is_later(old: &Options, newer: &Options) -> bool {
    let [value, echo] = newer.stamps.unwrap_or_default();
    old.stamps.is_some_and(|own| after(own[0], value) || after(own[1], echo))
}

/// `Greater` if the blocks of a packet say what those of a newer one do not, or that something arrived twice; `Less` if the
/// newer ones say more.
fn beside(old: &Options, newer: &Options) -> Ordering {
    let covered = |block: &[u32; 2]| newer.blocks().any(|it| !after(it[0], block[0]) && !after(block[1], it[1]));
    let again = |block: &[u32; 2]| after(old.expected, block[0]);
    if old.blocks().any(|block| again(&block) || !covered(&block)) {
        return Ordering::Greater;
    }
    if said(newer) > said(old) { Ordering::Less } else { Ordering::Equal }
}

/// How much the blocks hold.
fn said(options: &Options) -> u32 {
    options.blocks().map(|[start, end]| end.wrapping_sub(start)).sum()
}
