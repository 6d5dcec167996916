//! Which bytes of a packet count: the `accounting` of meters and queues, the `framing` of a link.
//!
//! Source: IEEE 802.3 clause 3.1.1 (header of 14 B, check sequence of 4 B, preamble and start of 8 B) and clause 4.4.2 (gap of
//! 12 B). Ethernet's padding never counts.
//!
//! Decision: docs/decisions/021-accounting-is-stated.md

use crate::params::Choice;

/// Which bytes count.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Accounting {
    /// The IP packet.
    #[default]
    L3,
    /// With the Ethernet header: 14 B more, in real frames 4 B more for each VLAN tag.
    L2,
    /// With header and check sequence: 4 B more than `l2`.
    #[param(name = "l2+fcs")]
    L2Fcs,
    /// On the wire, with preamble and gap: 24 B more than `l2`.
    L1,
}

impl Accounting {
    /// Bytes a packet counts beyond its IP length.
    pub const fn overhead(self) -> u32 {
        match self {
            Self::L3 => 0,
            Self::L2 => 14,
            Self::L2Fcs => 18,
            Self::L1 => 38,
        }
    }

    /// From the bytes that this one counts of a packet to those that `other` does.
    pub const fn to(self, other: Self) -> Recount {
        Recount(other.overhead() as i32 - self.overhead() as i32)
    }

    /// What is counted, in words: `IP packets (l3)`.
    pub const fn words(self) -> &'static str {
        match self {
            Self::L3 => "IP packets (l3)",
            Self::L2 => "Ethernet frames without check sequence (l2)",
            Self::L2Fcs => "Ethernet frames (l2+fcs)",
            Self::L1 => "Ethernet frames with preamble and gap (l1)",
        }
    }
}

/// The difference between two accountings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recount(i32);

impl Recount {
    /// Bytes that a packet counts more, or fewer if negative.
    pub const fn more(self) -> i32 {
        self.0
    }

    /// The bytes of a packet that counted `size` of them.
    #[inline]
    pub const fn bytes(self, size: u32) -> u32 {
        size.saturating_add_signed(self.0)
    }

    /// The bytes of `packets` packets that counted `bytes` of them.
    pub const fn all(self, packets: u64, bytes: u64) -> u64 {
        bytes.saturating_add_signed((packets as i64).saturating_mul(self.0 as i64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Accounting; 4] = [Accounting::L3, Accounting::L2, Accounting::L2Fcs, Accounting::L1];

    /// IEEE 802.3: the sums of what surrounds a packet.
    #[test]
    fn overheads_are_those_of_ethernet() {
        let (header, check, preamble, gap) = (6 + 6 + 2, 4, 7 + 1, 12);
        let sums = [0, header, header + check, header + check + preamble + gap];
        assert_eq!(ALL.map(Accounting::overhead), sums);
    }

    #[test]
    fn counting_otherwise_and_back_changes_nothing() {
        for (from, to) in ALL.into_iter().flat_map(|from| ALL.map(|to| (from, to))) {
            let counted = 40 + from.overhead();
            assert_eq!(from.to(to).bytes(counted), 40 + to.overhead());
            assert_eq!(to.to(from).bytes(from.to(to).bytes(counted)), counted);
            assert_eq!(from.to(to).all(3, 3 * u64::from(counted)), 3 * u64::from(40 + to.overhead()));
        }
    }
}
