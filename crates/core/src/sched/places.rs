//! A set of small numbers that says at once which of them comes first at or after a place, however many there may be: a bit
//! each, and above them a bit for each word that has any.

const BITS: usize = u64::BITS as usize;

/// Places from 0 up to a number that is fixed when the set is made.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    bits: Box<[u64]>,
    /// Which words of `bits` are not 0.
    words: Box<[u64]>,
    len: u32,
}

/// The first bit of a word at or after a place in it.
#[inline]
fn first_in(word: u64, from: usize) -> Option<usize> {
    let left = word >> from << from;
    (left != 0).then_some(left.trailing_zeros() as usize)
}

impl Places {
    /// None yet, of `most`.
    pub(super) fn new(most: usize) -> Self {
        let words = most.div_ceil(BITS);
        Self { bits: vec![0; words].into(), words: vec![0; words.div_ceil(BITS)].into(), len: 0 }
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline]
    pub(super) fn insert(&mut self, place: usize) {
        let (word, bit) = (place / BITS, 1 << (place % BITS));
        if self.bits[word] & bit == 0 {
            self.bits[word] |= bit;
            self.words[word / BITS] |= 1 << (word % BITS);
            self.len += 1;
        }
    }

    #[inline]
    pub(super) fn remove(&mut self, place: usize) {
        let (word, bit) = (place / BITS, 1 << (place % BITS));
        if self.bits[word] & bit != 0 {
            self.bits[word] &= !bit;
            self.len -= 1;
            if self.bits[word] == 0 {
                self.words[word / BITS] &= !(1 << (word % BITS));
            }
        }
    }

    /// The first at or after a place.
    #[inline]
    pub(super) fn first_from(&self, place: usize) -> Option<usize> {
        let word = place / BITS;
        let here = first_in(*self.bits.get(word)?, place % BITS);
        here.map(|bit| word * BITS + bit).or_else(|| self.beyond(word + 1))
    }

    /// The first in a word or those after it.
    fn beyond(&self, word: usize) -> Option<usize> {
        let first = first_in(*self.words.get(word / BITS)?, word % BITS).map(|bit| word / BITS * BITS + bit);
        let later = || (word / BITS + 1..self.words.len()).find(|&i| self.words[i] != 0);
        let found = first.or_else(|| later().map(|i| i * BITS + self.words[i].trailing_zeros() as usize))?;
        Some(found * BITS + self.bits[found].trailing_zeros() as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// Few or many, near or far apart, it is a set.
        #[test]
        fn is_a_set(most in 1usize..10_000, steps in prop::collection::vec((any::<usize>(), any::<bool>(), any::<usize>()), 1..200)) {
            let (mut places, mut set) = (Places::new(most), BTreeSet::new());
            for (place, comes, from) in steps {
                let place = place % most;
                match comes {
                    true => { places.insert(place); set.insert(place); }
                    false => { places.remove(place); set.remove(&place); }
                }
                prop_assert_eq!(places.is_empty(), set.is_empty());
                for from in [from % (most + 2), place, 0, most] {
                    prop_assert_eq!(places.first_from(from), set.range(from..).next().copied());
                }
            }
        }
    }
}
