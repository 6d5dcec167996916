//! Deficit round robin over some of the children, for all schedulers that use it.

use super::places::Places;
use super::{Head, Heads, Pick, share_of};
use crate::arithmetic::Arithmetic;
use crate::count::Count;
use crate::units::{BitRate, Bytes};
use std::collections::VecDeque;

/// Whose turn it is, and what each may still send of its quanta.
#[derive(Clone, Debug)]
pub(super) struct Rounds {
    /// Children before those that take turns.
    before: usize,
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
    /// That of the file.
    Fixed(Visiting),
    /// Those that wait, in the order in which they began to.
    Woken(VecDeque<usize>),
}

/// Visits in the order of the file.
#[derive(Clone, Debug)]
struct Visiting {
    current: usize,
    /// Whether it has had its quantum in this visit.
    has_quantum: bool,
    /// Those that may have a deficit, which a visit takes if nothing waits.
    credited: Places,
}

impl Rounds {
    /// Over the children from `before` on. `arithmetic`: in the order of the file, or Linux's list.
    pub(super) fn new(before: usize, quanta: impl Iterator<Item = Bytes>, arithmetic: Arithmetic) -> Self {
        let share = |quantum: Bytes| Share { quantum: quantum.get(), deficit: 0, listed: false };
        let shares: Vec<_> = quanta.map(share).collect();
        let order = match arithmetic {
            Arithmetic::Exact => {
                Order::Fixed(Visiting { current: 0, has_quantum: false, credited: Places::new(shares.len()) })
            }
            Arithmetic::Linux => Order::Woken(VecDeque::with_capacity(shares.len())),
        };
        Self { before, shares, order }
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

    pub(super) fn pick(&mut self, heads: &Heads) -> Pick {
        let Self { before, shares, order } = self;
        let found = match order {
            Order::Fixed(visiting) => visiting.in_turn(shares, heads, *before),
            Order::Woken(list) => from_list(shares, &heads[*before..], list),
        };
        found.map_or(Pick::Nothing, |i| Pick::Child(*before + i))
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
        match &mut self.order {
            Order::Fixed(visiting) => visiting.credited.remove(child),
            Order::Woken(list) if list.front() == Some(&child) => _ = list.pop_front(),
            Order::Woken(list) => list.retain(|&listed| listed != child),
        }
    }
}

impl Visiting {
    /// Who sends, of the children from `before` on.
    fn in_turn(&mut self, shares: &mut [Share], heads: &Heads, before: usize) -> Option<usize> {
        heads.first_ready(before)?;
        loop {
            let share = &mut shares[self.current];
            match heads[before + self.current] {
                Head::Bytes(size) => {
                    if !self.has_quantum {
                        share.deficit += share.quantum;
                        self.credited.insert(self.current);
                        self.has_quantum = true;
                    }
                    if u64::from(size) <= share.deficit {
                        return Some(self.current);
                    }
                }
                Head::Nothing => {
                    share.deficit = 0;
                    self.credited.remove(self.current);
                }
                Head::Held => {}
            }
            self.has_quantum = false;
            self.current = self.next(self.current + 1, heads, before).or_else(|| self.next(0, heads, before))?;
        }
    }

    /// The first from a place on that could send or has a deficit to lose.
    fn next(&self, from: usize, heads: &Heads, before: usize) -> Option<usize> {
        let ready = heads.first_ready(before + from).map(|child| child - before);
        ready.into_iter().chain(self.credited.first_from(from)).min()
    }
}

fn from_list(shares: &mut [Share], heads: &[Head], list: &mut VecDeque<usize>) -> Option<usize> {
    while let Some(&first) = list.front() {
        let share = &mut shares[first];
        match heads[first] {
            Head::Bytes(size) if u64::from(size) <= share.deficit => return Some(first),
            Head::Bytes(_) => share.deficit += share.quantum,
            Head::Held | Head::Nothing => return None,
        }
        list.rotate_left(1);
    }
    None
}
