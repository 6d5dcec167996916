//! Keys of a hash that senders of packets cannot predict.
//!
//! Decision: docs/decisions/079-flows-of-a-capture.md

use ahash::RandomState;
use std::hash::{BuildHasher as _, Hash, RandomState as System};

/// Packets are not trusted: whoever knew the keys could send flows that collide, and the table would be slow.
///
/// The keys come from the system's random numbers, by the standard library. On wasm, which has none, they are always the same.
#[derive(Debug, Clone)]
pub(crate) struct Keys(RandomState);

impl Default for Keys {
    fn default() -> Self {
        let system = System::new();
        let [a, b, c, d] = [0u8, 1, 2, 3].map(|n| system.hash_one(n));
        Self(RandomState::with_seeds(a, b, c, d))
    }
}

impl Keys {
    #[inline(always)]
    pub(crate) fn hash(&self, it: impl Hash) -> u64 {
        self.0.hash_one(it)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two of them agree on a number with a probability of 2^-64.
    #[test]
    fn keys_are_drawn() {
        let [one, other] = [Keys::default(), Keys::default()];
        assert_eq!(one.hash(7), one.clone().hash(7));
        assert_ne!(one.hash(7), other.hash(7));
        assert_ne!(one.hash(7), Keys(RandomState::with_seeds(0, 0, 0, 0)).hash(7));
    }
}
