//! Counts that the ends of flows and the links keep during the run.

use crate::traffic::Page;
use crate::transport::Counters;
use perhop_core::count::Count;
use perhop_core::units::Time;

/// A flow's counts, end to end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowCounts {
    /// Sent by the source into its first port.
    pub sent: Count,
    /// Arrived at the destination.
    pub delivered: Count,
    /// Dropped or lost along the path.
    pub dropped: Count,
    /// ACKs: sent, delivered, dropped.
    pub acks: [Count; 3],
}

/// A transfer that is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Index of its `[traffic]` table.
    pub table: u32,
    /// Number of its source within the table.
    pub source: u32,
    /// Which of the table's senders sent it.
    pub sender: u32,
    /// The page it is on, if a user requested it.
    pub page: Option<Page>,
    /// When it was requested, or when its connection was opened if there was no request.
    pub opened: Time,
    /// When its first data packet arrived.
    pub first: Time,
    /// When its last byte arrived.
    pub complete: Time,
    /// Its payload.
    pub bytes: u64,
}

/// What the connections of finished transfers did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retired {
    /// Bytes that arrived in order.
    pub goodput_bytes: u64,
    /// The senders' counters.
    pub counters: Counters,
}

impl FlowCounts {
    /// Less those of an earlier time.
    pub fn since(&self, then: &Self) -> Self {
        Self {
            sent: self.sent - then.sent,
            delivered: self.delivered - then.delivered,
            dropped: self.dropped - then.dropped,
            acks: std::array::from_fn(|i| self.acks[i] - then.acks[i]),
        }
    }
}

impl Retired {
    /// With what one more connection did.
    pub fn add(&mut self, other: Self) {
        self.goodput_bytes += other.goodput_bytes;
        self.counters += other.counters;
    }
}

/// A total that an AQM or a conditioner keeps in addition to packets and bytes, such as saturated tags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tally {
    /// Index of the link.
    pub link: usize,
    /// Name of the conditioner; `None` for an AQM.
    pub conditioner: Option<String>,
    /// Index of the scheduler's class whose AQM it is.
    pub queue: Option<usize>,
    /// What.
    pub quantity: &'static str,
    /// How many.
    pub value: u64,
}

impl Tally {
    /// Whether both are of the same quantity.
    pub fn same(&self, other: &Self) -> bool {
        let key = |it: &Self| (it.link, it.queue, it.quantity);
        key(self) == key(other) && self.conditioner == other.conditioner
    }
}
