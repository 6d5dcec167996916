//! Pending events: one-word keys in a 4-ary heap.
//!
//! A key is `time << bits | index`: the component that acts, and when; a run that is over sooner has more bits for components.
//! Keys order by time and, at equal times, by component; a component has at most one key waiting, so keys never tie. Taking the
//! earliest leaves a hole at the top that the next key fills: most events make exactly one other.
//!
//! Decision: docs/decisions/024-one-word-events.md

use perhop_core::units::{Span, Time};

/// Bits that name the component in the keys of the longest run.
const LEAST_BITS: u32 = 18;

/// More components than memory has room for.
const MOST_BITS: u32 = 32;

/// Longest run that a key's time can hold: 19.5 hours.
pub const MAX_DURATION: Span = Span::from_ns((1 << (64 - LEAST_BITS)) - 2);

/// How many components a run of this length may have.
pub const fn most_components(duration: Span) -> u64 {
    (1 << Split::of(duration).bits) - 1
}

/// How keys are made up.
#[derive(Clone, Copy, Debug)]
struct Split {
    bits: u32,
    /// Which of them name the component.
    mask: u64,
    end: Span,
}

impl Split {
    /// For a run until `end`.
    const fn of(end: Span) -> Self {
        // One time more than the run has: that of the key that is never.
        let bits = (end.ns() + 1).leading_zeros();
        let bits = if bits < MOST_BITS { bits } else { MOST_BITS };
        Self { bits, mask: (1 << bits) - 1, end }
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
pub struct Key(u64);

impl Key {
    /// Later than every event, and its time than every stop.
    pub const NEVER: Self = Self(u64::MAX);
}

const ARITY: usize = 4;

/// The least of four, and which it is.
#[inline(always)]
fn least([a, b, c, d]: [Key; ARITY]) -> (Key, usize) {
    let left = if b < a { (b, 1) } else { (a, 0) };
    let right = if d < c { (d, 3) } else { (c, 2) };
    if right.0 < left.0 { right } else { left }
}

/// A 4-ary heap of keys, earliest first.
#[derive(Clone, Debug)]
pub struct Heap {
    /// The earliest.
    top: Key,
    /// First the four below the top, then those below each of these. Places without a key have [`Key::NEVER`].
    rows: Vec<[Key; ARITY]>,
    /// Keys waiting, the hole among them.
    len: usize,
    /// The earliest has been taken.
    hole: bool,
    split: Split,
}

impl Heap {
    /// Nothing to do until `end`.
    pub fn new(end: Span) -> Self {
        Self { top: Key::NEVER, rows: Vec::new(), len: 0, hole: false, split: Split::of(end) }
    }

    /// Has component `index` act at `at`.
    #[inline]
    pub fn push(&mut self, at: Time, index: usize) {
        let key = self.split.key(at, index);
        if std::mem::replace(&mut self.hole, false) {
            return self.sink(key);
        }
        if self.len > self.rows.len() * ARITY {
            self.rows.push([Key::NEVER; ARITY]);
        }
        self.len += 1;
        self.rise(key);
    }

    /// The key of the component that acts first; [`Key::NEVER`] if there is none.
    #[inline(always)]
    pub fn first(&mut self) -> Key {
        if self.hole {
            self.fill();
        }
        self.top
    }

    /// Takes what [`Heap::first`] gave, which must be the last call.
    #[inline(always)]
    pub fn take(&mut self) {
        debug_assert!(!self.hole && self.len > 0);
        self.hole = true;
    }

    /// Takes what [`Heap::first`] gave, which must be the last call, and has component `index` act at `at`.
    #[inline(always)]
    pub fn replace(&mut self, at: Time, index: usize) {
        debug_assert!(!self.hole && self.len > 0);
        self.sink(self.split.key(at, index));
    }

    /// When the component of a key acts.
    #[inline(always)]
    pub fn time(&self, key: Key) -> Time {
        Time::from_ns(key.0 >> self.split.bits)
    }

    /// The component of a key.
    #[inline(always)]
    pub fn index(&self, key: Key) -> usize {
        (key.0 & self.split.mask) as usize
    }

    /// The last key fills the hole, since none was pushed into it.
    fn fill(&mut self) {
        (self.hole, self.len) = (false, self.len - 1);
        match self.len.checked_sub(1) {
            None => self.top = Key::NEVER,
            Some(last) => {
                let key = std::mem::replace(&mut self.rows[last / ARITY][last % ARITY], Key::NEVER);
                self.sink(key);
            }
        }
    }

    /// Keys waiting.
    #[cfg(test)]
    fn len(&self) -> usize {
        self.len - usize::from(self.hole)
    }

    /// Puts `key` where it belongs on the way down from the top.
    #[inline(always)]
    fn sink(&mut self, key: Key) {
        let rows = self.rows.as_mut_slice();
        let (up, mut column) = rows.first().map_or((Key::NEVER, 0), |&row| least(row));
        if up >= key {
            self.top = key;
            return;
        }
        self.top = up;
        let mut row = 0;
        loop {
            let below = row * ARITY + column + 1;
            let (up, place) = rows.get(below).map_or((Key::NEVER, 0), |&row| least(row));
            if up >= key {
                break;
            }
            rows[row][column] = up;
            (row, column) = (below, place);
        }
        rows[row][column] = key;
    }

    /// Puts `key`, for which there is a place behind all others, where it belongs on the way up.
    #[inline]
    fn rise(&mut self, key: Key) {
        let Some(mut at) = self.len.checked_sub(2) else {
            self.top = key;
            return;
        };
        loop {
            let (row, column) = (at / ARITY, at % ARITY);
            let above = match row.checked_sub(1) {
                None => &mut self.top,
                Some(above) => &mut self.rows[above / ARITY][above % ARITY],
            };
            if *above <= key {
                self.rows[row][column] = key;
                return;
            }
            let down = std::mem::replace(above, key);
            self.rows[row][column] = down;
            let Some(above) = row.checked_sub(1) else { return };
            at = above;
        }
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
                        let next = sorted.pop().map(|(time, index)| (Time::from_ns(time), index));
                        let first = heap.first();
                        prop_assert_eq!((first != Key::NEVER).then(|| (heap.time(first), heap.index(first))), next);
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
            let first = heap.first();
            assert_eq!((heap.time(first), heap.index(first)), (Time::ZERO + end, last), "{end:?}");
            heap.take();
            assert_eq!(heap.first(), Key::NEVER, "{end:?}");
        }
    }

    #[test]
    fn a_shorter_run_may_have_more_components() {
        assert_eq!(most_components(MAX_DURATION), (1 << 18) - 1);
        assert_eq!(most_components(Span::from_s(60)), (1 << 28) - 1);
        assert_eq!(most_components(Span::ZERO), (1 << 32) - 1);
    }
}
