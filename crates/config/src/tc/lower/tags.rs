//! Marks of packets that conditioners set, for filters that ask for them.

use std::collections::{BTreeMap, HashMap};

/// Conditioners by the bits that they set.
#[derive(Debug, Default)]
pub(super) struct Tags {
    names: Vec<String>,
    by_mask: BTreeMap<u64, OfMask>,
}

/// Those that set the bits of one mask.
#[derive(Debug, Default)]
struct OfMask {
    all: Vec<(u64, usize)>,
    /// By another mask that was asked for, the conditioners of each mark.
    asked: HashMap<u64, HashMap<u64, Vec<usize>>>,
}

impl Tags {
    /// One that sets the bits under a mask.
    pub(super) fn add(&mut self, mark: u64, mask: u64, name: String) {
        let of = self.by_mask.entry(mask).or_default();
        of.all.push((mark, self.names.len()));
        for (asked, by_mark) in &mut of.asked {
            by_mark.entry(mark & asked).or_default().push(self.names.len());
        }
        self.names.push(name);
    }

    /// The conditioners behind which packets have a mark under a mask, in the order of the port.
    pub(super) fn names(&mut self, mark: u64, mask: u64) -> Vec<String> {
        let mut found: Vec<usize> = Vec::new();
        for (_, of) in self.by_mask.iter_mut().filter(|it| it.0 & mask == mask) {
            let OfMask { all, asked } = of;
            let by_mark = asked.entry(mask).or_insert_with(|| {
                let mut by_mark: HashMap<u64, Vec<usize>> = HashMap::new();
                all.iter().for_each(|(own, place)| by_mark.entry(own & mask).or_default().push(*place));
                by_mark
            });
            found.extend(by_mark.get(&mark).into_iter().flatten());
        }
        found.sort_unstable();
        found.into_iter().map(|place| self.names[place].clone()).collect()
    }
}
