//! Deficit round robin over some of the children, for all schedulers that use it.

use super::{Head, Pick, share_of};
use crate::arithmetic::Arithmetic;
use crate::count::Count;
use crate::units::{BitRate, Bytes};
use std::collections::VecDeque;

/// Whose turn it is, and what each may still send of its quanta.
#[derive(Clone, Debug)]
pub(super) struct Rounds {
    shares: Vec<Share>,
    order: Order,
}

#[derive(Clone, Copy, Debug)]
struct Share {
    quantum: u64,
    /// DC_i
    deficit: u64,
    /// Whether it is in the list of those that wait.
    listed: bool,
}

#[derive(Clone, Debug)]
enum Order {
    /// That of the file: whose turn it is, and whether it has had its quantum in this visit.
    Fixed { current: usize, visiting: bool },
    /// Those that wait, in the order in which they began to.
    Woken(VecDeque<usize>),
}

impl Rounds {
    /// `arithmetic`: in the order of the file, or Linux's list.
    pub(super) fn new(quanta: impl Iterator<Item = Bytes>, arithmetic: Arithmetic) -> Self {
        let share = |quantum: Bytes| Share { quantum: quantum.get(), deficit: 0, listed: false };
        let shares: Vec<_> = quanta.map(share).collect();
        let order = match arithmetic {
            Arithmetic::Exact => Order::Fixed { current: 0, visiting: false },
            Arithmetic::Linux => Order::Woken(VecDeque::with_capacity(shares.len())),
        };
        Self { shares, order }
    }

    /// What a child gets of a rate while all have packets.
    pub(super) fn share(&self, child: usize, whole: BitRate) -> BitRate {
        share_of(whole, self.shares[child].quantum, self.shares.iter().map(|share| share.quantum).sum())
    }

    /// Bytes that a child may still send in its turn.
    pub(super) fn deficit(&self, child: usize) -> u64 {
        self.shares[child].deficit
    }

    /// Those of `new` hold from the next visit on; the rest stays.
    pub(super) fn take_quanta(&mut self, new: &Self) {
        self.shares.iter_mut().zip(&new.shares).for_each(|(share, new)| share.quantum = new.quantum);
    }

    #[inline]
    pub(super) fn queued(&mut self, child: usize) {
        let (Order::Woken(list), share) = (&mut self.order, &mut self.shares[child]) else { return };
        if !share.listed {
            (share.listed, share.deficit) = (true, share.quantum);
            list.push_back(child);
        }
    }

    pub(super) fn pick(&mut self, heads: &[Head]) -> Pick {
        let Self { shares, order } = self;
        match order {
            Order::Fixed { current, visiting } => in_turn(shares, heads, current, visiting),
            Order::Woken(list) => from_list(shares, heads, list),
        }
    }

    pub(super) fn sent(&mut self, child: usize, bytes: u32, behind: Count) {
        self.shares[child].deficit -= u64::from(bytes);
        if behind.packets == 0 {
            self.emptied(child);
        }
    }

    /// In the order of the file a class that has lost its last packet is noticed when its turn comes.
    pub(super) fn dropped(&mut self, child: usize, behind: Count) {
        if behind.packets == 0 && matches!(self.order, Order::Woken(_)) {
            self.emptied(child);
        }
    }

    fn emptied(&mut self, child: usize) {
        let share = &mut self.shares[child];
        (share.deficit, share.listed) = (0, false);
        if let Order::Woken(list) = &mut self.order {
            list.retain(|&listed| listed != child);
        }
    }
}

fn in_turn(shares: &mut [Share], heads: &[Head], current: &mut usize, visiting: &mut bool) -> Pick {
    if !heads.iter().any(|head| head.is_ready()) {
        return Pick::Nothing;
    }
    loop {
        let share = &mut shares[*current];
        match heads[*current] {
            Head::Bytes(size) => {
                if !*visiting {
                    share.deficit += share.quantum;
                    *visiting = true;
                }
                if u64::from(size) <= share.deficit {
                    return Pick::Child(*current);
                }
            }
            Head::Nothing => share.deficit = 0,
            Head::Held => {}
        }
        (*current, *visiting) = ((*current + 1) % heads.len(), false);
    }
}

fn from_list(shares: &mut [Share], heads: &[Head], list: &mut VecDeque<usize>) -> Pick {
    while let Some(&first) = list.front() {
        let share = &mut shares[first];
        match heads[first] {
            Head::Bytes(size) if u64::from(size) <= share.deficit => return Pick::Child(first),
            Head::Bytes(_) => share.deficit += share.quantum,
            Head::Held | Head::Nothing => return Pick::Nothing,
        }
        list.rotate_left(1);
    }
    Pick::Nothing
}
