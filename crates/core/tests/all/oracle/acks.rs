//! Which waiting ACK may go, from a description of Linux 6.12's ACK filter: sets of numbers in place of blocks' ends.

use perhop_core::packet::{Options, Packet, flags};
use std::collections::BTreeSet;

pub(crate) type Waiting = (Packet, Options);

/// The numbers of each block, as sets.
fn blocks(options: &Options) -> Vec<BTreeSet<u32>> {
    options
        .sacks
        .iter()
        .map(|[start, end]| (*start..*end).collect())
        .filter(|set: &BTreeSet<u32>| !set.is_empty())
        .collect()
}

fn marks(packet: &Packet) -> [bool; 2] {
    [flags::ECE, flags::CWR].map(|flag| packet.flags & flag > 0)
}

/// Whether `old` says nothing that `new` does not. Numbers here are far from wrapping.
fn is_redundant((old, of_old): &Waiting, (new, of_new): &Waiting) -> bool {
    let forbidden = [flags::SYN, flags::FIN, flags::AE].iter().any(|flag| old.flags & flag > 0);
    if old.flags & flags::ACK == 0 || forbidden || old.payload > 0 || of_old.others || old.ack > new.ack {
        return false;
    }
    let newest = of_new.stamps.unwrap_or([0, 0]);
    if of_old.stamps.is_some_and(|[value, echo]| value > newest[0] || echo > newest[1]) {
        return false;
    }
    let (theirs, ours) = (blocks(of_old), blocks(of_new));
    let twice = theirs.iter().any(|block| *block.first().unwrap() < of_old.expected);
    let lost = theirs.iter().any(|block| !ours.iter().any(|other| other.is_superset(block)));
    let says_more = ours.iter().map(BTreeSet::len).sum::<usize>() > theirs.iter().map(BTreeSet::len).sum();
    !twice && !lost && (old.ack < new.ack || says_more)
}

/// Of a queue whose last packet has just come.
pub(crate) fn gone(queue: &[Waiting], aggressive: bool) -> Option<usize> {
    let (newest, before) = queue.split_last()?;
    if newest.0.flags & flags::ACK == 0 || newest.0.flags & flags::SYN > 0 {
        return None;
    }
    let mut held: Vec<usize> = Vec::new();
    for (place, it) in before.iter().enumerate().filter(|(_, it)| it.0.flow == newest.0.flow) {
        if held.first().is_some_and(|&first| marks(&before[first].0) != marks(&it.0)) {
            held.clear();
        }
        if is_redundant(it, newest) {
            held.push(place);
        }
        if held.len() == 2 {
            return Some(held[0]);
        }
    }
    let only = *held.first()?;
    (aggressive && only + 1 == before.len() && marks(&before[only].0) == marks(&newest.0)).then_some(only)
}
