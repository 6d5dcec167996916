//! Who has which class of a template: a slot for each source, destination or pair, first come, first served.
//!
//! Slots are made once. An address gets one with its first flow, and keeps it. Beyond the last slot, the slot idle for
//! longest is given again: nothing waits in it, and no flow of its address is registered. An address that finds none
//! shares one class with all such addresses, and asks again with its next flow once none of its flows is registered.
//!
//! Decision: docs/decisions/111-a-class-for-each-address.md

use crate::packet::FlowId;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::net::IpAddr;

/// Whom a class is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Address {
    /// Of a source or a destination.
    One(IpAddr),
    /// Of a source and a destination.
    Pair(IpAddr, IpAddr),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(address) => write!(f, "{address}"),
            Self::Pair(source, destination) => write!(f, "{source}-{destination}"),
        }
    }
}

/// What an address has.
#[derive(Clone, Copy, Debug)]
struct Holding {
    /// `None`: it shares the class of all that found none.
    slot: Option<u32>,
    /// Its registered flows.
    flows: u32,
}

/// The slots of a template, numbered from 0: those of the first plan, of the second, and so on.
#[derive(Clone, Debug)]
pub struct Slots {
    /// Addresses that hold a slot or were refused one.
    holdings: BTreeMap<Address, Holding>,
    /// By slot, who holds it, or was the last to.
    holders: Vec<Option<Address>>,
    /// By slot, how many addresses have had it.
    served: Vec<u64>,
    /// By slot, its plan.
    plans: Vec<usize>,
    /// By plan, slots that no address holds, in the order in which they became free.
    free: Vec<VecDeque<u32>>,
    /// Held slots whose holders have no flow: since when, by a count of such moments, and the slot.
    idle: BTreeSet<(u64, u32)>,
    /// By slot, since when it is idle.
    since: Vec<u64>,
    /// Most slots that are held at a time.
    most: usize,
    held: usize,
    moments: u64,
    refused: u64,
    /// By flow, the address that it is registered with.
    by_flow: Vec<Option<Address>>,
}

/// What a class of a template is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// No address has had it yet.
    Free,
    /// Of this address, or it was the last to have it.
    By(Address),
    /// Of all addresses without a class: so many so far.
    Others(u64),
}

impl Slots {
    /// At most `most` of these at a time: so many of each plan.
    pub fn new(most: usize, plans: &[usize]) -> Self {
        let by_slot: Vec<_> = plans.iter().enumerate().flat_map(|(plan, &n)| std::iter::repeat_n(plan, n)).collect();
        let mut free = vec![VecDeque::new(); plans.len()];
        by_slot.iter().enumerate().for_each(|(slot, &plan)| free[plan].push_back(slot as u32));
        Self {
            holdings: BTreeMap::new(),
            holders: vec![None; by_slot.len()],
            served: vec![0; by_slot.len()],
            since: vec![0; by_slot.len()],
            plans: by_slot,
            free,
            idle: BTreeSet::new(),
            most,
            held: 0,
            moments: 0,
            refused: 0,
            by_flow: Vec::new(),
        }
    }

    /// A flow of an address under a plan is registered: its slot, or none. `waits` says whether anything waits in one.
    pub fn register(&mut self, flow: FlowId, of: (Address, usize), waits: impl Fn(u32) -> bool) -> Option<u32> {
        let (address, plan) = of;
        if self.of_flow(flow) == Some(address) {
            return self.holdings[&address].slot;
        }
        self.forget(flow);
        let number = flow.0 as usize;
        self.by_flow.resize(self.by_flow.len().max(number + 1), None);
        self.by_flow[number] = Some(address);
        if let Some(holding) = self.holdings.get_mut(&address)
            && (holding.slot.is_some() || holding.flows > 0)
        {
            holding.flows += 1;
            if let (Some(slot), 1) = (holding.slot, holding.flows) {
                self.idle.remove(&(self.since[slot as usize], slot));
            }
            return holding.slot;
        }
        let slot = self.take((address, plan), waits);
        match slot {
            Some(slot) => self.give(slot, address),
            None if !self.holdings.contains_key(&address) => self.refused += 1,
            None => {}
        }
        self.holdings.insert(address, Holding { slot, flows: 1 });
        slot
    }

    #[cfg(test)]
    fn holding(&self, address: Address) -> Option<u32> {
        self.holdings.get(&address)?.slot
    }

    fn of_flow(&self, flow: FlowId) -> Option<Address> {
        self.by_flow.get(flow.0 as usize).copied().flatten()
    }

    /// A slot is of an address from now on.
    fn give(&mut self, slot: u32, address: Address) {
        let slot = slot as usize;
        if self.holders[slot] != Some(address) {
            self.holders[slot] = Some(address);
            self.served[slot] += 1;
        }
    }

    /// A slot of a plan for an address: the one that it had, if that is free, else one that no address has had, else the one idle
    /// for longest.
    fn take(&mut self, (address, plan): (Address, usize), waits: impl Fn(u32) -> bool) -> Option<u32> {
        let full = |it: &Self| it.held == it.most || it.free[plan].is_empty();
        if full(self) {
            let helps =
                |slot: u32| self.held == self.most && !self.free[plan].is_empty() || self.plans[slot as usize] == plan;
            let idle = self.idle.iter().copied().find(|&(_, slot)| helps(slot) && !waits(slot))?;
            self.release(idle);
        }
        self.held += 1;
        let free = &mut self.free[plan];
        let own = free.iter().position(|&slot| self.holders[slot as usize] == Some(address));
        free.remove(own.unwrap_or(0))
    }

    /// An idle slot is free again.
    fn release(&mut self, idle: (u64, u32)) {
        let slot = idle.1;
        self.idle.remove(&idle);
        if let Some(holder) = self.holders[slot as usize] {
            self.holdings.remove(&holder);
        }
        self.free[self.plans[slot as usize]].push_back(slot);
        self.held -= 1;
    }

    /// A flow is not registered any longer.
    pub fn forget(&mut self, flow: FlowId) {
        let Some(address) = self.of_flow(flow) else { return };
        self.by_flow[flow.0 as usize] = None;
        let Some(holding) = self.holdings.get_mut(&address) else { return };
        holding.flows -= 1;
        if let (Some(slot), 0) = (holding.slot, holding.flows) {
            self.moments += 1;
            self.since[slot as usize] = self.moments;
            self.idle.insert((self.moments, slot));
        }
    }

    /// How many there are of all plans.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.holders.len()
    }

    /// How many addresses a slot has had; behind the last, how many found none.
    pub fn served(&self, slot: usize) -> u64 {
        self.served.get(slot).copied().unwrap_or(self.refused)
    }

    /// What a slot is now; behind the last, what all have that found none.
    pub fn held(&self, slot: usize) -> Held {
        self.holders.get(slot).map_or(Held::Others(self.refused), |holder| holder.map_or(Held::Free, Held::By))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn address(n: u8) -> Address {
        Address::One(IpAddr::from([10, 0, 0, n]))
    }

    /// The same as lists: who holds a slot, of which plan, with how many flows, and since when without.
    #[derive(Default)]
    struct Plain {
        held: Vec<(Address, usize, u32, u64)>,
        others: Vec<(Address, u32)>,
        moment: u64,
    }

    impl Plain {
        /// Whether the address gets a slot, and which address loses one for that.
        fn register(
            &mut self,
            address: Address,
            plan: usize,
            [most, own]: [usize; 2],
            waits: &dyn Fn(Address) -> bool,
        ) -> (bool, Option<Address>) {
            if let Some(held) = self.held.iter_mut().find(|it| it.0 == address) {
                held.2 += 1;
                return (true, None);
            }
            if let Some(other) = self.others.iter_mut().find(|it| it.0 == address && it.1 > 0) {
                other.1 += 1;
                return (false, None);
            }
            let full = self.held.len() == most || self.held.iter().filter(|it| it.1 == plan).count() == own;
            let mut loser = None;
            if full {
                let whole = self.held.iter().filter(|it| it.1 == plan).count() == own;
                let idle = self.held.iter().filter(|it| it.2 == 0 && !waits(it.0) && (!whole || it.1 == plan));
                let Some(first) = idle.min_by_key(|it| it.3).map(|it| it.0) else {
                    match self.others.iter_mut().find(|it| it.0 == address) {
                        Some(other) => other.1 += 1,
                        None => self.others.push((address, 1)),
                    }
                    return (false, None);
                };
                self.held.retain(|it| it.0 != first);
                loser = Some(first);
            }
            self.others.retain(|it| it.0 != address);
            self.held.push((address, plan, 1, 0));
            (true, loser)
        }

        fn forget(&mut self, address: Address) {
            self.moment += 1;
            match self.held.iter_mut().find(|it| it.0 == address) {
                Some(held) => (held.2, held.3) = (held.2 - 1, self.moment),
                None => self.others.iter_mut().filter(|it| it.0 == address).for_each(|it| it.1 -= 1),
            }
        }
    }

    proptest! {
        /// Addresses of two plans come and go; some slots have packets waiting.
        #[test]
        fn as_plain_lists(
            most in 1usize..6,
            first in 1usize..6,
            steps in prop::collection::vec((0u8..12, any::<bool>(), 0u8..12), 1..150),
        ) {
            let plans = [first.min(most), most];
            let (mut slots, mut plain) = (Slots::new(most, &plans), Plain::default());
            let mut registered: Vec<(FlowId, Address)> = Vec::new();
            for (flow, (n, comes, waiting)) in (0..).map(FlowId).zip(steps) {
                let it = address(n);
                if comes {
                    let plan = usize::from(n % 2);
                    let before = slots.holders.clone();
                    let has_waiting = |slot: u32| before[slot as usize] == Some(address(waiting));
                    let slot = slots.register(flow, (it, plan), has_waiting);
                    let (own, loser) = plain.register(it, plan, [most, plans[plan]], &|who| who == address(waiting));
                    prop_assert_eq!(slot.is_some(), own);
                    if let Some(slot) = slot {
                        prop_assert_eq!(slots.held(slot as usize), Held::By(it));
                        prop_assert_eq!(slots.plans[slot as usize], plan);
                    }
                    if let Some(loser) = loser {
                        prop_assert!(before.contains(&Some(loser)) && slots.holding(loser).is_none());
                    }
                    registered.push((flow, it));
                } else if let Some(at) = registered.iter().position(|known| known.1 == it) {
                    let (flow, _) = registered.remove(at);
                    slots.forget(flow);
                    plain.forget(it);
                }
                let held = |it: &(&Address, &Holding)| it.1.slot.is_some();
                let holders: Vec<_> = slots.holdings.iter().filter(held).map(|it| *it.0).collect();
                let mut held: Vec<_> = plain.held.iter().map(|it| it.0).collect();
                held.sort_unstable();
                prop_assert_eq!(&holders, &held);
                prop_assert!(held.len() == slots.held && held.len() <= most);
            }
        }
    }

    #[test]
    fn slots_are_given_in_the_order_of_arrival_and_again_when_idle() {
        let mut slots = Slots::new(3, &[2, 3]);
        let of = |slots: &mut Slots, flow, n, plan| slots.register(FlowId(flow), (address(n), plan), |_| false);
        let first = [(0, 7, 1), (1, 3, 0), (2, 9, 1), (3, 7, 1)].map(|(flow, n, plan)| of(&mut slots, flow, n, plan));
        assert_eq!(first, [Some(2), Some(0), Some(3), Some(2)]);
        assert_eq!((of(&mut slots, 4, 1, 0), slots.held(5)), (None, Held::Others(1)), "all three are held");
        slots.forget(FlowId(2));
        assert_eq!(of(&mut slots, 5, 1, 0), None, "it shares as long as it has a flow that does");
        slots.forget(FlowId(4));
        slots.forget(FlowId(5));
        assert_eq!((of(&mut slots, 6, 1, 0), slots.holding(address(9))), (Some(1), None), "it has to leave");
        assert_eq!((of(&mut slots, 7, 9, 1), slots.held(5)), (None, Held::Others(2)));
        assert_eq!(of(&mut slots, 6, 1, 0), Some(1), "announced once more, it keeps its slot");
        assert_eq!(of(&mut slots, 6, 7, 1), Some(2), "its number is given to a flow of another address");
        assert_eq!((of(&mut slots, 8, 4, 1), slots.held(4)), (Some(4), Held::By(address(4))), "one that none has had");
        assert_eq!([0, 1, 2, 3, 4].map(|slot| slots.served(slot)), [1, 1, 1, 1, 1]);
    }
}
