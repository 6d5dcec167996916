//! Frames that are not IP, by what they are.

use std::collections::BTreeMap;

use perhop_core::count::Count;
use perhop_edge::Unread;

/// Kinds that have a count each. Whoever sends frames chooses their EtherTypes, so all later ones share a count.
const MOST: usize = 64;

/// Counts of frames that are not IP and passed as they were, by EtherType.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Protocols {
    kinds: BTreeMap<Unread, Count>,
    others: Count,
}

impl Protocols {
    /// A frame of this length.
    pub(crate) fn add(&mut self, kind: Unread, bytes: u32) {
        let known = self.kinds.len() < MOST || self.kinds.contains_key(&kind);
        let count = if known { self.kinds.entry(kind).or_default() } else { &mut self.others };
        count.add(bytes);
    }

    /// What there was, by name; bytes are those of frames.
    pub fn counts(&self) -> impl Iterator<Item = (String, Count)> + '_ {
        let kinds = self.kinds.iter().map(|(kind, count)| (kind.to_string(), *count));
        let others = (self.others.packets > 0).then(|| ("others".to_owned(), self.others));
        kinds.chain(others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All EtherTypes twice: 64 counts, and one for all the others.
    #[test]
    fn kinds_are_bounded() {
        let mut protocols = Protocols::default();
        for kind in (0x0801..=u16::MAX).chain(0x0801..=u16::MAX) {
            protocols.add(Unread::EtherType(kind), 60);
        }
        let counts: Vec<_> = protocols.counts().collect();
        assert_eq!(counts.len(), MOST + 1);
        assert_eq!(counts[0], ("EtherType 0x0801".to_owned(), Count { packets: 2, bytes: 120 }));
        let all: Count = counts.iter().map(|it| it.1).sum();
        assert_eq!(all, Count { packets: 2 * 0xf7ff, bytes: 120 * 0xf7ff });
        assert_eq!(counts[MOST].1.packets, 2 * (0xf7ff - MOST as u64));
    }
}
