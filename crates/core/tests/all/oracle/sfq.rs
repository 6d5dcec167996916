//! SFQ as tc-sfq(8) describes it and Linux 6.12 behaves: a list of slots in the order of their turns, and for each length a
//! stack of the slots that have it, whose top is whoever came to that length last.

use super::codel::Waiting;
use std::collections::{BTreeMap, VecDeque};

/// What it is told.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub active: usize,
    pub quantum: i64,
    pub packets: usize,
    pub depth: usize,
    pub head_drop: bool,
    pub linux: bool,
}

#[derive(Default)]
struct Slot {
    packets: VecDeque<Waiting>,
    allot: i64,
}

pub struct Sfq {
    limits: Limits,
    /// By the number of the queue; only those with packets.
    slots: BTreeMap<usize, Slot>,
    turns: Vec<usize>,
    /// Of slots, by length.
    stacks: BTreeMap<usize, Vec<usize>>,
    pub dropped: Vec<u32>,
}

impl Sfq {
    pub fn new(limits: Limits) -> Self {
        Self { limits, slots: BTreeMap::new(), turns: Vec::new(), stacks: BTreeMap::new(), dropped: Vec::new() }
    }

    pub fn packets(&self) -> usize {
        self.slots.values().map(|slot| slot.packets.len()).sum()
    }

    /// The slot has come to its present length.
    fn restack(&mut self, i: usize) {
        self.stacks.values_mut().for_each(|stack| stack.retain(|&slot| slot != i));
        self.stacks.retain(|_, stack| !stack.is_empty());
        match self.slots[&i].packets.len() {
            0 => _ = self.slots.remove(&i),
            length => self.stacks.entry(length).or_default().push(i),
        }
    }

    /// `handed` packets have been taken out and are not sent yet.
    pub fn enqueue(&mut self, i: usize, packet: Waiting, handed: usize) {
        if !self.slots.contains_key(&i) && self.slots.len() == self.limits.active {
            return self.dropped.push(packet.id);
        }
        let new = !self.slots.contains_key(&i);
        let slot = self.slots.entry(i).or_default();
        if slot.packets.len() >= self.limits.depth {
            if !self.limits.head_drop {
                return self.dropped.push(packet.id);
            }
            let first = slot.packets.pop_front().expect("depth is above 0");
            self.dropped.push(first.id);
            return slot.packets.push_back(packet);
        }
        slot.packets.push_back(packet);
        if new {
            slot.allot = self.limits.quantum;
            self.turns.push(i);
        }
        self.restack(i);
        if self.packets() + handed > self.limits.packets {
            self.make_room();
        }
    }

    fn make_room(&mut self) {
        let Some((&length, stack)) = self.stacks.last_key_value() else { return };
        let i = if length == 1 {
            self.turns.remove(0)
        } else if self.limits.linux {
            *stack.last().expect("not empty")
        } else {
            *self.turns.iter().find(|slot| stack.contains(slot)).expect("it has its turn")
        };
        let packets = &mut self.slots.get_mut(&i).expect("it is stacked").packets;
        let gone = if self.limits.head_drop { packets.pop_front() } else { packets.pop_back() };
        self.dropped.push(gone.expect("it has packets").id);
        self.restack(i);
    }

    pub fn dequeue(&mut self) -> Option<Waiting> {
        loop {
            let i = *self.turns.first()?;
            let slot = self.slots.get_mut(&i).expect("it has its turn");
            if slot.allot <= 0 {
                slot.allot += self.limits.quantum;
                self.turns.rotate_left(1);
                continue;
            }
            let sent = slot.packets.pop_front().expect("it has its turn");
            if slot.packets.is_empty() {
                self.turns.remove(0);
            } else {
                slot.allot -= sent.bytes as i64;
            }
            self.restack(i);
            return Some(sent);
        }
    }
}
