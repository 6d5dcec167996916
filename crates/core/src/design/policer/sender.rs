//! The kinds of sender of the table.

/// A kind of sender that the table knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sender {
    /// ns-2's: NewReno without SACK.
    Classic,
    /// Linux's, with CUBIC.
    Linux,
    /// Linux's, with Reno.
    LinuxReno,
    /// Linux's, with BBR v1.
    LinuxBbr,
    /// Linux's, with DCTCP.
    Dctcp,
    /// Prague.
    Prague,
}

impl Sender {
    /// All.
    pub const ALL: [Self; 6] = [Self::Classic, Self::Linux, Self::LinuxReno, Self::LinuxBbr, Self::Dctcp, Self::Prague];

    /// The kind whose part of the table holds for it. A policer that drops marks nothing, and without marks DCTCP is Linux's
    /// Reno with ECN.
    pub const fn measured(self) -> Self {
        match self {
            Self::Dctcp => Self::LinuxReno,
            other => other,
        }
    }

    /// Whether its packets are spread over the round trip.
    pub(super) const fn paces(self) -> bool {
        matches!(self, Self::LinuxBbr | Self::Prague)
    }

    /// The least burst of its part of the table, a power of two. Of a bunch larger than the bucket one bucketful passes in a
    /// round trip, so smaller buckets give less in proportion; paced packets need only a bucket of a few packets.
    pub const fn least(self) -> i32 {
        if self.paces() { -10 } else { -4 }
    }

    /// The stack that it is.
    pub const fn stack(self) -> &'static str {
        match self {
            Self::Classic => "classic",
            Self::Linux => "linux",
            Self::LinuxReno => "linux-reno",
            Self::LinuxBbr => "linux-bbr",
            Self::Dctcp => "dctcp",
            Self::Prague => "prague",
        }
    }
}
