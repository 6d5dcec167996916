//! Pending events: one-word keys in a 4-ary heap.
//!
//! A key is `time << bits | index`: the component that acts, and when; a run that is over sooner has more bits for components.
//! Keys order by time and, at equal times, by component; a component has at most one key waiting, so keys never tie. Taking the
//! earliest leaves a hole at the top that the next key fills: most events make exactly one other.

use perhop_core::units::{Span, Time};

/// Bits that name the component in the keys of the longest run.
const LEAST_BITS: u32 = 18;

/// More components than memory has room for.
const MOST_BITS: u32 = 32;

/// Longest run that a key's time can hold: 19.5 hours.
pub const MAX_DURATION: Span = Span::from_ns((1 << (64 - LEAST_BITS)) - 1);

/// How many components a run of this length may have.
pub const fn most_components(duration: Span) -> u64 {
    (1 << Split::of(duration).bits) - 1
}

/// How keys are made up.
#[derive(Clone, Copy, Debug)]
struct Split {
    bits: u32,
    end: Span,
}

impl Split {
    /// For a run until `end`.
    const fn of(end: Span) -> Self {
        let bits = end.ns().leading_zeros();
        Self { bits: if bits < MOST_BITS { bits } else { MOST_BITS }, end }
    }

    /// The key of component `index`, fewer than [`most_components`], at `time`; after the end means never.
    #[inline]
    fn key(self, time: Time, index: usize) -> Key {
        debug_assert!((index as u64) < most_components(self.end));
        if time.ns() > self.end.ns() {
            return Key::NEVER;
        }
        Key(time.ns() << self.bits | index as u64)
    }
}

/// A component and its time, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key(u64);

impl Key {
    /// Later than every event.
    const NEVER: Self = Self(u64::MAX);
}

/// Who acts next, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Next {
    /// When; [`Time::MAX`] is never.
    pub at: Time,
    /// Which component.
    pub index: usize,
}

const ARITY: usize = 4;

/// A 4-ary heap of keys, earliest first.
#[derive(Clone, Debug)]
pub struct Heap {
    /// The earliest, then rows of the four below each. Rows are whole: places without a key have [`Key::NEVER`].
    keys: Vec<Key>,
    /// Keys waiting, the hole among them.
    len: usize,
    hole: bool,
    split: Split,
}

impl Heap {
    /// Nothing to do until `end`.
    pub fn new(end: Span) -> Self {
        Self { keys: vec![Key::NEVER], len: 0, hole: false, split: Split::of(end) }
    }

    /// Has component `index` act at `at`.
    #[inline]
    pub fn push(&mut self, at: Time, index: usize) {
        let key = self.split.key(at, index);
        if std::mem::replace(&mut self.hole, false) {
            return self.sink(key);
        }
        if self.len == self.keys.len() {
            self.keys.extend([Key::NEVER; ARITY]);
        }
        self.len += 1;
        self.rise(key);
    }

    /// Who acts first.
    #[inline]
    pub fn peek(&mut self) -> Next {
        if std::mem::replace(&mut self.hole, false) {
            self.len -= 1;
            let last = std::mem::replace(&mut self.keys[self.len], Key::NEVER);
            if self.len > 0 {
                self.sink(last);
            }
        }
        let Key(first) = self.keys[0];
        if first == u64::MAX {
            return Next { at: Time::MAX, index: 0 };
        }
        let bits = self.split.bits;
        Next { at: Time::from_ns(first >> bits), index: (first & ((1 << bits) - 1)) as usize }
    }

    /// Takes what [`Heap::peek`] gave, which must be the last call.
    #[inline]
    pub fn take(&mut self) {
        debug_assert!(!self.hole && self.len > 0);
        self.hole = true;
    }

    /// Keys waiting.
    #[cfg(test)]
    fn len(&self) -> usize {
        self.len - usize::from(self.hole)
    }

    /// Puts `key` where it belongs on the way down from the top.
    #[inline]
    fn sink(&mut self, key: Key) {
        let (mut at, keys) = (0, self.keys.as_mut_slice());
        loop {
            let first = at * ARITY + 1;
            let Some(&[a, b, c, d]) = keys.get(first..).and_then(|below| below.first_chunk()) else { break };
            let left = if b < a { (b, 1) } else { (a, 0) };
            let right = if d < c { (d, 3) } else { (c, 2) };
            let (least, child) = if right.0 < left.0 { right } else { left };
            if least >= key {
                break;
            }
            keys[at] = least;
            at = first + child;
        }
        keys[at] = key;
    }

    /// Puts `key`, for which there is a place behind all others, where it belongs on the way up.
    #[inline]
    fn rise(&mut self, key: Key) {
        let mut at = self.len - 1;
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
            let (mut heap, mut sorted) = (Heap::new(Span::from_ns(999)), Vec::new());
            for step in steps {
                match step {
                    Some((time, index)) => {
                        heap.push(Time::from_ns(time), index);
                        sorted.push((time, index));
                        sorted.sort_by(|a, b| b.cmp(a));
                    }
                    None => {
                        let next = sorted.pop().map(|(time, index)| Next { at: Time::from_ns(time), index });
                        prop_assert_eq!(heap.peek(), next.unwrap_or(Next { at: Time::MAX, index: 0 }));
                        if next.is_some() {
                            heap.take();
                        }
                    }
                }
                prop_assert_eq!(heap.len(), sorted.len());
            }
        }
    }

    /// Of every length of run: the last component at its last nanosecond is no other, and never comes after it.
    #[test]
    fn a_key_holds_time_and_component() {
        let lengths = (0..46).flat_map(|bits| [1 << bits, (1 << bits) - 1]).chain([MAX_DURATION.ns()]);
        for end in lengths.map(Span::from_ns) {
            let (mut heap, last) = (Heap::new(end), most_components(end) as usize - 1);
            heap.push(Time::ZERO + end + Span::from_ns(1), last);
            heap.push(Time::ZERO + end, last);
            assert_eq!(heap.peek(), Next { at: Time::ZERO + end, index: last }, "{end:?}");
            heap.take();
            assert_eq!(heap.peek().at, Time::MAX, "{end:?}");
        }
    }

    #[test]
    fn a_shorter_run_may_have_more_components() {
        assert_eq!(most_components(MAX_DURATION), (1 << 18) - 1);
        assert_eq!(most_components(Span::from_s(60)), (1 << 28) - 1);
        assert_eq!(most_components(Span::ZERO), (1 << 32) - 1);
    }
}
