//! What counters in a text show.

use crate::model::Way;
use perhop_core::params::Place;
use std::collections::BTreeMap;

/// Counters of one queue, class or policer, as printed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counters {
    /// Whose: `1:10`, `GOLD`.
    pub of: String,
    /// What it is: `htb`, `fq_codel`, `police`.
    pub kind: String,
    /// The interface, where the text says it.
    pub interface: String,
    /// The direction, where the text says it.
    pub way: Option<Way>,
    /// Where they are printed.
    pub place: Place,
    /// By the names that the device prints: `sent_bytes`, `sent_packets`, `dropped`, `overlimits`, `backlog_bytes`, `backlog_packets`,
    /// `tokens`, `ctokens`, `borrowed`, `direct_packets_stat`, ..
    pub counts: BTreeMap<&'static str, i64>,
}

impl Counters {
    /// A counter that is there and not below 0.
    pub fn count(&self, name: &str) -> Option<u64> {
        self.counts.get(name).copied().and_then(|count| u64::try_from(count).ok())
    }
}
