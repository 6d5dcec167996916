//! A heap of numbers below a bound, each in it at most once, which can be moved and taken out. Nothing is allocated once
//! it is made.

/// Of a number that is not in the heap.
const NOWHERE: u32 = u32::MAX;

/// Numbers by their keys, the smallest key first.
#[derive(Clone, Debug)]
pub(super) struct Heap<K> {
    heap: Vec<(K, u32)>,
    /// The place of each number in `heap`.
    places: Vec<u32>,
}

impl<K: Copy + Ord> Heap<K> {
    /// Empty, for numbers below `bound`.
    pub(super) fn new(bound: usize) -> Self {
        Self { heap: Vec::with_capacity(bound), places: vec![NOWHERE; bound] }
    }

    /// The smallest key and its number.
    #[inline]
    pub(super) fn first(&self) -> Option<(K, usize)> {
        self.heap.first().map(|&(key, number)| (key, number as usize))
    }

    pub(super) fn holds(&self, number: usize) -> bool {
        self.places[number] != NOWHERE
    }

    /// Gives a number this key, whether or not it is in the heap.
    pub(super) fn set(&mut self, number: usize, key: K) {
        if self.holds(number) {
            self.heap[self.places[number] as usize].0 = key;
        } else {
            self.places[number] = self.heap.len() as u32;
            self.heap.push((key, number as u32));
        }
        self.settle(self.places[number] as usize);
    }

    /// Takes a number out, if it is in the heap.
    pub(super) fn remove(&mut self, number: usize) {
        let place = std::mem::replace(&mut self.places[number], NOWHERE);
        if place == NOWHERE {
            return;
        }
        let last = self.heap.pop().expect("it holds the number");
        if last.1 as usize != number {
            self.put(place as usize, last);
            self.settle(place as usize);
        }
    }

    /// What `of` finds in the number of the smallest key in which it finds anything.
    pub(super) fn search<T>(&self, mut of: impl FnMut(usize) -> Option<T>) -> Option<T> {
        self.below(0, &mut of).map(|(_, found)| found)
    }

    fn below<T>(&self, place: usize, of: &mut impl FnMut(usize) -> Option<T>) -> Option<(K, T)> {
        let &(key, number) = self.heap.get(place)?;
        if let Some(found) = of(number as usize) {
            return Some((key, found));
        }
        let [left, right] = [2 * place + 1, 2 * place + 2].map(|child| self.below(child, of));
        match (left, right) {
            (Some(left), Some(right)) => Some(if right.0 < left.0 { right } else { left }),
            (left, right) => left.or(right),
        }
    }

    fn put(&mut self, place: usize, entry: (K, u32)) {
        self.heap[place] = entry;
        self.places[entry.1 as usize] = place as u32;
    }

    /// Moves what is at a place up or down to where its key belongs.
    fn settle(&mut self, mut place: usize) {
        let entry = self.heap[place];
        while place > 0 && entry.0 < self.heap[(place - 1) / 2].0 {
            self.put(place, self.heap[(place - 1) / 2]);
            place = (place - 1) / 2;
        }
        while let Some(child) = self.smaller_child(place).filter(|&child| self.heap[child].0 < entry.0) {
            self.put(place, self.heap[child]);
            place = child;
        }
        self.put(place, entry);
    }

    fn smaller_child(&self, place: usize) -> Option<usize> {
        let (left, right) = (2 * place + 1, 2 * place + 2);
        match (self.heap.get(left)?, self.heap.get(right)) {
            (a, Some(b)) if b.0 < a.0 => Some(right),
            _ => Some(left),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// As a map that is searched from its first key.
        #[test]
        fn it_is_a_sorted_list(steps in prop::collection::vec((0usize..12, prop::option::of(0u32..50), any::<u16>()), 0..80)) {
            let (mut heap, mut list) = (Heap::new(12), BTreeMap::new());
            for (number, key, fits) in steps {
                match key {
                    Some(key) => {
                        heap.set(number, (key, number));
                        list.insert(number, key);
                    }
                    None => {
                        heap.remove(number);
                        list.remove(&number);
                    }
                }
                let mut sorted: Vec<_> = list.iter().map(|(&number, &key)| (key, number)).collect();
                sorted.sort_unstable();
                prop_assert_eq!(heap.first().map(|(key, _)| key), sorted.first().copied());
                let fits = |number: usize| (fits >> number & 1 == 1).then_some(number);
                prop_assert_eq!(heap.search(fits), sorted.iter().find_map(|&(_, number)| fits(number)));
                prop_assert!((0..12).all(|number| heap.holds(number) == list.contains_key(&number)));
            }
        }
    }
}
