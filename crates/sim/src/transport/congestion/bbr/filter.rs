//! The greatest recent value, in constant space.
//!
//! Source: Linux's `win_minmax`, after Kathleen Nichols: the three best of successive parts of the window.

/// A value and when it came.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    at: u32,
    value: u32,
}

/// The greatest of a window, and what would be the next ones.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WindowedMax([Entry; 3]);

impl WindowedMax {
    /// The greatest.
    pub(super) fn get(&self) -> u32 {
        self.0[0].value
    }

    /// Another value, at `at`; what is older than `window` no longer counts.
    pub(super) fn add(&mut self, window: u32, at: u32, value: u32) {
        let new = Entry { at, value };
        let old = |it: &Entry| at - it.at > window;
        if value >= self.get() || old(&self.0[2]) {
            self.0 = [new; 3];
            return;
        }
        for rank in 1..3 {
            if value >= self.0[rank].value {
                self.0[rank..].fill(new);
                break;
            }
        }
        if old(&self.0[0]) {
            self.promote(new);
            if old(&self.0[0]) {
                self.promote(new);
            }
            return;
        }
        let age = at - self.0[0].at;
        if self.0[1].at == self.0[0].at && age > window / 4 {
            self.0[1..].fill(new);
        } else if self.0[2].at == self.0[1].at && age > window / 2 {
            self.0[2] = new;
        }
    }

    /// The best is too old.
    fn promote(&mut self, new: Entry) {
        self.0 = [self.0[1], self.0[2], new];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// What is told was seen within the window, and is at least all that was seen since; a rising series is told exactly.
        #[test]
        fn it_is_a_value_of_the_window_and_none_since_was_greater(steps in prop::collection::vec((0u32..4, 0u32..50), 1..200)) {
            let (mut filter, mut seen, mut at) = (WindowedMax::default(), Vec::new(), 0);
            for (later, value) in steps {
                at += later;
                filter.add(10, at, value);
                seen.push((at, value));
                let of_it = seen.iter().rposition(|&(then, it)| it == filter.get() && at - then <= 10);
                prop_assert!(of_it.is_some_and(|place| seen[place..].iter().all(|it| it.1 <= filter.get())));
                prop_assert!(filter.get() >= value);
            }
        }
    }

    /// A value counts for ten rounds; then the best of those after it.
    #[test]
    fn the_best_grows_old() {
        let mut filter = WindowedMax::default();
        let told: Vec<u32> = [90, 10, 10, 50, 10, 10, 10, 20, 10, 10, 10, 10, 10, 10, 10]
            .iter()
            .enumerate()
            .map(|(at, &value)| {
                filter.add(10, at as u32, value);
                filter.get()
            })
            .collect();
        assert_eq!(told, [90, 90, 90, 90, 90, 90, 90, 90, 90, 90, 90, 50, 50, 50, 20]);
    }
}
