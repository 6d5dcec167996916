//! Lines about what goes wrong while packets pass: at most one of a kind in ten seconds.

use crate::terminal::show::complain;
use perhop_live::{Counts, Dropped};

/// Between two looks.
const LOOK_NS: u64 = 1_000_000_000;

/// Between two lines of a kind.
const QUIET_NS: u64 = 10_000_000_000;

/// What has been told.
pub(super) struct Log<'a> {
    names: [&'a str; 2],
    looked: u64,
    /// By direction and kind, how many had been told, and when.
    told: [[(u64, u64); KINDS]; 2],
}

const KINDS: usize = 5;

impl<'a> Log<'a> {
    pub(super) fn new(names: [&'a str; 2]) -> Self {
        Self { names, looked: 0, told: Default::default() }
    }

    pub(super) fn is_due(&mut self, now: u64) -> bool {
        let due = now.saturating_sub(self.looked) >= LOOK_NS;
        if due {
            self.looked = now;
        }
        due
    }

    /// Tells what is new.
    pub(super) fn look(&mut self, counts: &[Counts; 2]) {
        for (way, counts) in counts.iter().enumerate() {
            let (from, to) = (self.names[way], self.names[1 - way]);
            let long =
                format!("above the MTU: ethtool -K {from} gro off lro off, and on a veth's other end: tso off gso off");
            let lost = counts.lost(Dropped::Kernel);
            let kinds = [
                (counts.lost(Dropped::TooLong), long),
                (lost, "dropped by the kernel: the ring was full".into()),
                (counts.lost(Dropped::Unsent), format!("lost: {to} takes no more")),
                (counts.errors, format!("refused by {to}: is it up?")),
                (counts.malformed(), "dropped: their headers are malformed (the counts say why)".into()),
            ];
            for (kind, (count, what)) in kinds.into_iter().enumerate() {
                self.tell(way, kind, count, &format!("from {from} {what}"));
            }
        }
    }

    fn tell(&mut self, way: usize, kind: usize, count: u64, what: &str) {
        let (told, when) = &mut self.told[way][kind];
        let new = count - *told;
        if new > 0 && (*when == 0 || self.looked.saturating_sub(*when) >= QUIET_NS) {
            complain!("warning: {new} frames {what}");
            (*told, *when) = (count, self.looked);
        }
    }
}
