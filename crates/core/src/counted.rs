//! What is counted by class and colour, with room only for those that were seen: of many classes few pass a port.
//!
//! Decision: docs/decisions/021-accounting-is-stated.md

use crate::packet::Colour;
use std::cmp::Ordering;

/// Up to so many are searched one by one.
const FEW: usize = 8;

/// A class and a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Of(u32);

impl Of {
    /// This class and this colour.
    #[inline]
    pub fn new(class: u16, colour: Colour) -> Self {
        Self(u32::from(class) << 2 | colour.index() as u32)
    }

    /// Index of the class.
    pub fn class(self) -> usize {
        (self.0 >> 2) as usize
    }

    /// The colour.
    pub fn colour(self) -> Colour {
        Colour::ALL[(self.0 & 3) as usize]
    }
}

/// A value for each class and colour that was seen.
#[derive(Clone, Debug)]
pub struct Counted<T> {
    /// In the order in which they were first seen.
    seen: Vec<(Of, T)>,
    /// Where in `seen` they are, plus 1, by their hashes, the next place free if that is another's; 0 is nowhere. Empty
    /// while they are few.
    index: Box<[u32]>,
}

impl<T> Default for Counted<T> {
    fn default() -> Self {
        Self { seen: Vec::new(), index: Box::default() }
    }
}

impl<T: Default> Counted<T> {
    /// The value of a class and colour, which is new if it was not seen before.
    #[inline]
    pub fn at(&mut self, class: u16, colour: Colour) -> &mut T {
        let of = Of::new(class, colour);
        // At most ports there is only one.
        let at = if self.seen.first().is_some_and(|first| first.0 == of) { 0 } else { self.place(of) };
        &mut self.seen[at].1
    }

    #[inline(never)]
    fn place(&mut self, of: Of) -> usize {
        self.find(of).unwrap_or_else(|| self.add(of))
    }

    #[cold]
    fn add(&mut self, of: Of) -> usize {
        if self.seen.len() == self.seen.capacity() {
            self.seen.reserve_exact(self.seen.len().max(1));
        }
        self.seen.push((of, T::default()));
        let at = self.seen.len() - 1;
        match self.seen.len().cmp(&FEW) {
            Ordering::Less | Ordering::Equal => {}
            Ordering::Greater if 2 * self.seen.len() > self.index.len() => self.renew_index(),
            Ordering::Greater => self.note(at),
        }
        at
    }
}

impl<T> Counted<T> {
    fn find(&self, of: Of) -> Option<usize> {
        if self.index.is_empty() {
            return self.seen.iter().position(|it| it.0 == of);
        }
        let of_place = |at: usize| (self.index[at] as usize).checked_sub(1);
        let mut at = self.hash(of);
        while let Some(place) = of_place(at) {
            if self.seen[place].0 == of {
                return Some(place);
            }
            at = (at + 1) & (self.index.len() - 1);
        }
        None
    }

    /// Where the search begins: the upper bits of a product (Knuth, The Art of Computer Programming 3, section 6.4).
    fn hash(&self, of: Of) -> usize {
        (of.0.wrapping_mul(0x9e37_79b9) >> (32 - self.index.len().trailing_zeros())) as usize
    }

    fn renew_index(&mut self) {
        self.index = vec![0; (4 * self.seen.len()).next_power_of_two()].into();
        (0..self.seen.len()).for_each(|at| self.note(at));
    }

    fn note(&mut self, place: usize) {
        let mut at = self.hash(self.seen[place].0);
        while self.index[at] != 0 {
            at = (at + 1) & (self.index.len() - 1);
        }
        self.index[at] = place as u32 + 1;
    }

    /// The value of a class and colour, if it was seen.
    pub fn get(&self, of: Of) -> Option<&T> {
        self.find(of).map(|at| &self.seen[at].1)
    }

    /// Whether nothing was seen.
    pub fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// All that were seen, in the order in which they were.
    pub fn iter(&self) -> impl Iterator<Item = (Of, &T)> {
        self.seen.iter().map(|(of, value)| (*of, value))
    }

    /// Their values.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.seen.iter().map(|it| &it.1)
    }

    /// Their values, to be altered.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.seen.iter_mut().map(|it| &mut it.1)
    }

    /// Makes room for the other colours of the classes that were seen, so that none of them has to be allocated later.
    pub fn reserve_colours(&mut self) {
        let mut classes: Vec<_> = self.iter().map(|(of, _)| of.class()).collect();
        classes.sort_unstable();
        classes.dedup();
        self.seen.reserve_exact(Colour::ALL.len() * classes.len() - self.seen.len());
    }
}

impl<T: Clone + Default> Counted<T> {
    /// The value of a class and colour; that of one that was not seen is the default.
    pub fn of(&self, of: Of) -> T {
        self.get(of).cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// Few or many, it is a map.
        #[test]
        fn is_a_map(seen in prop::collection::vec((0u16..200, 0usize..4), 0..600)) {
            let (mut counted, mut map) = (Counted::<u32>::default(), BTreeMap::new());
            for (class, colour) in seen {
                let colour = Colour::ALL[colour];
                *counted.at(class, colour) += 1;
                *map.entry(Of::new(class, colour)).or_insert(0) += 1;
            }
            let mut found: Vec<_> = counted.iter().map(|(of, n)| (of, *n)).collect();
            found.sort_unstable();
            prop_assert_eq!(found, map.iter().map(|(of, n)| (*of, *n)).collect::<Vec<_>>());
            for class in 0..201 {
                for colour in Colour::ALL {
                    let of = Of::new(class, colour);
                    prop_assert_eq!((of.class(), of.colour()), (usize::from(class), colour));
                    prop_assert_eq!(counted.of(of), map.get(&of).copied().unwrap_or(0));
                }
            }
        }
    }

    #[test]
    fn has_room_for_one_and_then_for_every_colour() {
        let mut counted = Counted::<u64>::default();
        *counted.at(7, Colour::Unmarked) += 1;
        assert_eq!(counted.seen.capacity(), 1);
        counted.reserve_colours();
        let room = counted.seen.capacity();
        Colour::ALL.into_iter().for_each(|colour| *counted.at(7, colour) += 1);
        assert_eq!((counted.seen.len(), counted.seen.capacity()), (4, room));
    }
}
