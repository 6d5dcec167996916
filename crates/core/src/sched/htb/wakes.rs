//! When the modes of a level's classes change by themselves: a heap whose entries know their places, so that each class has
//! one entry and nothing is allocated.

use crate::units::Time;

const NOWHERE: u32 = u32::MAX;

/// When, and the order of those that change at once.
pub(super) type Key = (Time, u64);

/// The classes of a level that have a time, the earliest first.
#[derive(Clone, Debug)]
pub(super) struct Wakes {
    heap: Vec<(Key, u32)>,
    /// By class, its place in the heap.
    at: Vec<u32>,
}

impl Wakes {
    /// None of so many classes has a time.
    pub(super) fn new(classes: usize) -> Self {
        Self { heap: Vec::with_capacity(classes), at: vec![NOWHERE; classes] }
    }

    /// The class whose time is first, and when that is.
    pub(super) fn first(&self) -> Option<(Key, u32)> {
        self.heap.first().copied()
    }

    /// A class has this time from now on.
    pub(super) fn set(&mut self, class: u32, key: Key) {
        let at = self.at[class as usize];
        if at == NOWHERE {
            self.heap.push((key, class));
            return self.rise(self.heap.len() - 1);
        }
        self.heap[at as usize].0 = key;
        self.settle(at as usize);
    }

    /// A class has none from now on.
    pub(super) fn clear(&mut self, class: u32) {
        let at = std::mem::replace(&mut self.at[class as usize], NOWHERE);
        if at == NOWHERE {
            return;
        }
        self.heap.swap_remove(at as usize);
        if (at as usize) < self.heap.len() {
            self.settle(at as usize);
        }
    }

    /// An entry has changed.
    fn settle(&mut self, at: usize) {
        self.rise(at);
        self.sink(self.at[self.heap[at].1 as usize] as usize);
    }

    fn put(&mut self, at: usize, entry: (Key, u32)) {
        self.heap[at] = entry;
        self.at[entry.1 as usize] = at as u32;
    }

    fn rise(&mut self, mut at: usize) {
        let entry = self.heap[at];
        while at > 0 && entry < self.heap[(at - 1) / 2] {
            self.put(at, self.heap[(at - 1) / 2]);
            at = (at - 1) / 2;
        }
        self.put(at, entry);
    }

    fn sink(&mut self, mut at: usize) {
        let entry = self.heap[at];
        let first_below = |heap: &[(Key, u32)], at| (2 * at + 1..heap.len().min(2 * at + 3)).min_by_key(|&i| heap[i]);
        while let Some(first) = first_below(&self.heap, at) {
            if entry < self.heap[first] {
                break;
            }
            self.put(at, self.heap[first]);
            at = first;
        }
        self.put(at, entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn is_a_map_sorted_by_time(steps in prop::collection::vec((0u32..20, prop::option::of(0u64..50)), 1..300)) {
            let (mut wakes, mut map) = (Wakes::new(20), BTreeMap::new());
            for (order, (class, time)) in steps.into_iter().enumerate() {
                match time {
                    Some(ns) => {
                        let key = (Time::from_ns(ns), order as u64);
                        wakes.set(class, key);
                        map.insert(class, key);
                    }
                    None => { wakes.clear(class); map.remove(&class); }
                }
                prop_assert_eq!(wakes.first(), map.iter().map(|(class, key)| (*key, *class)).min());
            }
        }
    }
}
