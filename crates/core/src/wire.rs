//! What tc hands to the kernel, as recorded (`lab/records/wire.csv`): for tests of what is made of the same values here.
//!
//! Decision: docs/decisions/068-linux-arithmetic-begins-at-tc.md

use crate::units::{BitRate, Bytes};
use std::collections::BTreeMap;

const TABLE: &str = include_str!("../../../lab/records/wire.csv");

/// A command and the fields of its message; only `refused` where tc sends none.
pub struct Sent {
    /// The words.
    words: Vec<&'static str>,
    fields: BTreeMap<&'static str, i128>,
}

/// All commands with this word.
pub fn sent(kind: &str) -> Vec<Sent> {
    let mut found: Vec<(&str, Sent)> = Vec::new();
    for line in TABLE.lines().skip(1) {
        let [value, field, command] = line.rsplitn(3, ',').collect::<Vec<_>>()[..] else { panic!("{line}") };
        if found.last().is_none_or(|last| last.0 != command) {
            found.push((command, Sent { words: command.split(' ').collect(), fields: BTreeMap::new() }));
        }
        found.last_mut().unwrap().1.fields.insert(field, value.parse().unwrap());
    }
    let of_kind: Vec<_> = found.into_iter().map(|it| it.1).filter(|it| it.words.contains(&kind)).collect();
    assert!(of_kind.len() > 1, "{kind}");
    of_kind
}

impl Sent {
    /// Whether tc took it.
    pub fn taken(&self) -> bool {
        !self.fields.contains_key("refused")
    }

    /// A field of its message.
    pub fn field(&self, name: &str) -> Option<i128> {
        self.fields.get(name).copied()
    }

    /// The word behind another.
    pub fn word(&self, key: &str) -> Option<&'static str> {
        self.words.iter().position(|it| *it == key).map(|at| self.words[at + 1])
    }

    /// A number among its words.
    pub fn number(&self, key: &str) -> Option<f64> {
        self.word(key)?.parse().ok()
    }

    /// A size among its words.
    pub fn bytes(&self, key: &str) -> Option<Bytes> {
        self.word(key)?.parse().ok().map(Bytes::new)
    }

    /// A rate among its words.
    pub fn rate(&self, key: &str) -> Option<BitRate> {
        self.word(key)?.strip_suffix("bit")?.parse().ok().map(BitRate::bps)
    }

    /// A time of whole microseconds among its words.
    pub fn us(&self, key: &str) -> Option<u64> {
        self.word(key)?.strip_suffix("us")?.parse().ok()
    }
}
