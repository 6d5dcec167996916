//! Pending events: one-word keys in a 4-ary heap.
//!
//! A key is `time << BITS | index`: the component that acts, and when. Keys order by time and, at equal
//! times, by component; a component has at most one key waiting, so keys never tie. Taking the earliest
//! leaves a hole at the top that the next key fills: most events make exactly one other.

use perhop_core::units::{Span, Time};

/// Bits of a key that name the component.
const BITS: u32 = 18;

/// Components that an index can name.
pub const MAX_COMPONENTS: usize = 1 << BITS;

/// Longest run that a key's time can hold: 19.5 hours.
pub const MAX_DURATION: Span = Span::from_ns((1 << (64 - BITS)) - 1);

/// A component and its time, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key(u64);

impl Key {
    /// Later than every event.
    pub const NEVER: Self = Self(u64::MAX);

    /// The key of component `index` at `time`, which must be at most [`MAX_DURATION`]; a time beyond the longest run
    /// means never.
    #[inline]
    pub fn new(time: Time, index: usize) -> Self {
        debug_assert!(index < MAX_COMPONENTS);
        if time.ns() > MAX_DURATION.ns() {
            return Self::NEVER;
        }
        Self(time.ns() << BITS | index as u64)
    }

    /// When.
    #[inline]
    pub const fn time(self) -> Time {
        Time::from_ns(self.0 >> BITS)
    }

    /// Who.
    #[inline]
    pub const fn index(self) -> usize {
        (self.0 & (MAX_COMPONENTS as u64 - 1)) as usize
    }
}

/// A 4-ary heap of keys, earliest first.
#[derive(Clone, Debug, Default)]
pub struct Heap {
    keys: Vec<Key>,
    hole: bool,
}

const ARITY: usize = 4;

impl Heap {
    /// Adds a key.
    #[inline]
    pub fn push(&mut self, key: Key) {
        if std::mem::replace(&mut self.hole, false) {
            self.sink(key);
        } else {
            self.keys.push(key);
            self.rise(key);
        }
    }

    /// The earliest key.
    #[inline]
    pub fn peek(&mut self) -> Key {
        if std::mem::replace(&mut self.hole, false) {
            match self.keys.pop() {
                Some(last) if !self.keys.is_empty() => self.sink(last),
                _ => {}
            }
        }
        self.keys.first().copied().unwrap_or(Key::NEVER)
    }

    /// Takes the key that [`Heap::peek`] gave, which must be the last call.
    #[inline]
    pub fn take(&mut self) {
        debug_assert!(!self.hole && !self.keys.is_empty());
        self.hole = true;
    }

    /// Keys waiting.
    #[cfg(test)]
    fn len(&self) -> usize {
        self.keys.len() - usize::from(self.hole)
    }

    /// Puts `key` where it belongs on the way down from the top.
    #[inline]
    fn sink(&mut self, key: Key) {
        let (mut at, keys) = (0, self.keys.as_mut_slice());
        loop {
            let first = at * ARITY + 1;
            let Some(children) = keys.get(first..keys.len().min(first + ARITY)).filter(|c| !c.is_empty()) else {
                break;
            };
            let (mut least, mut child) = (children[0], first);
            for (i, &candidate) in children.iter().enumerate().skip(1) {
                if candidate < least {
                    (least, child) = (candidate, first + i);
                }
            }
            if least >= key {
                break;
            }
            keys[at] = least;
            at = child;
        }
        keys[at] = key;
    }

    /// Puts `key`, which is the last one, where it belongs on the way up.
    #[inline]
    fn rise(&mut self, key: Key) {
        let mut at = self.keys.len() - 1;
        while at > 0 {
            let parent = (at - 1) / ARITY;
            if self.keys[parent] <= key {
                break;
            }
            self.keys[at] = self.keys[parent];
            at = parent;
        }
        self.keys[at] = key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Any mix of pushes and takes gives what a sorted list gives.
        #[test]
        fn takes_in_order(steps in prop::collection::vec(prop::option::of((0u64..1000, 0usize..50)), 0..400)) {
            let (mut heap, mut sorted) = (Heap::default(), Vec::new());
            for step in steps {
                match step {
                    Some((time, index)) => {
                        let key = Key::new(Time::from_ns(time), index);
                        heap.push(key);
                        sorted.push(key);
                        sorted.sort_by(|a, b| b.cmp(a));
                    }
                    None => {
                        prop_assert_eq!(heap.peek(), sorted.last().copied().unwrap_or(Key::NEVER));
                        if sorted.pop().is_some() {
                            heap.take();
                        }
                    }
                }
                prop_assert_eq!(heap.len(), sorted.len());
            }
        }
    }

    #[test]
    fn a_key_holds_time_and_component() {
        let key = Key::new(Time::from_ns(MAX_DURATION.ns()), MAX_COMPONENTS - 1);
        assert_eq!((key.time().ns(), key.index()), (MAX_DURATION.ns(), MAX_COMPONENTS - 1));
        assert_eq!(Key::new(Time::from_ns(MAX_DURATION.ns() + 1), 0), Key::NEVER);
    }
}
