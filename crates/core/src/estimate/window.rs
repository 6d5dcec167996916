//! The window of a TCP flow, seen from an edge: segments in flight.
//!
//! Source: Habib, Bhargava and Fahmy (2001), section on small windows; the rule of Feroz et al. (IWQoS 2000).
//!
//! ```text
//! window = ceil((front - acked)/MSS), at least 1       this segment included
//! front:  highest number sent since the last time-out;  acked: highest ACK
//! time-out:  the lowest unacknowledged segment comes again, with fewer than 3 duplicate ACKs before it,
//!            or a second time in one recovery:  front = its end
//! ```
//!
//! MSS is the largest payload the flow has had so far. A SYN or a first segment gives 1.
//!
//! Deviations: the paper says that a time-out is detected, but not how. A fast retransmission comes after three duplicate ACKs;
//! those that follow it up to the highest number sent then (RFC 6582) are part of the recovery and no time-outs.

use crate::packet::{Packet, after};

const DUPLICATES: u8 = 3;

/// A fast recovery, seen from outside.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Recovery {
    /// Highest number sent when it began; an ACK of that ends it.
    until: u32,
    /// Start of the segment that came again last.
    repaired: u32,
}

/// What a flow has sent and what has been acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outstanding {
    acked: u32,
    front: u32,
    highest: u32,
    recovery: Option<Recovery>,
    mss: u16,
    duplicates: u8,
    timeouts: u32,
    repeats: u32,
}

impl Outstanding {
    /// A flow at its first segment.
    fn begin(first: &Packet) -> Self {
        let (start, mss) = (first.seq_start(), first.payload.max(1));
        let (recovery, duplicates, timeouts, repeats) = (None, 0, 0, 0);
        Self { acked: start, front: start, highest: start, recovery, mss, duplicates, timeouts, repeats }
    }

    /// A segment on its way to the receiver.
    pub fn on_segment(&mut self, segment: &Packet) {
        if self.mss == 0 {
            *self = Self::begin(segment);
        }
        self.mss = self.mss.max(segment.payload);
        let end = segment.seq_end;
        if after(end, self.highest) {
            self.highest = end;
        } else {
            self.repeats += 1;
            if self.is_lowest(segment) && self.timed_out(segment.seq_start()) {
                self.timeouts += 1;
                (self.front, self.recovery, self.duplicates) = (end, None, 0);
            }
        }
        if after(end, self.front) {
            self.front = end;
        }
    }

    /// Whether it holds the lowest number that is not acknowledged.
    fn is_lowest(&self, segment: &Packet) -> bool {
        !after(segment.seq_start(), self.acked) && after(segment.seq_end, self.acked)
    }

    /// Whether the lowest unacknowledged segment, from `start` on, comes again because of a time-out.
    fn timed_out(&mut self, start: u32) -> bool {
        match &mut self.recovery {
            None if self.duplicates >= DUPLICATES => {
                self.recovery = Some(Recovery { until: self.highest, repaired: start });
                false
            }
            None => true,
            Some(recovery) => std::mem::replace(&mut recovery.repaired, start) == start,
        }
    }

    /// A returning ACK; `bare` if it carries no data.
    pub fn on_ack(&mut self, ack: u32, bare: bool) {
        if after(ack, self.acked) {
            (self.acked, self.duplicates) = (ack, 0);
            self.recovery = self.recovery.filter(|recovery| after(recovery.until, ack));
            if after(ack, self.front) {
                self.front = ack;
            }
        } else if ack == self.acked && bare && after(self.front, ack) {
            self.duplicates = self.duplicates.saturating_add(1);
        }
    }

    /// Segments in flight, the last one included; at least 1.
    pub fn segments(&self) -> u32 {
        self.front.wrapping_sub(self.acked).div_ceil(u32::from(self.mss.max(1))).max(1)
    }

    /// Time-outs seen.
    pub const fn timeouts(&self) -> u32 {
        self.timeouts
    }

    /// Segments seen again, or out of order.
    pub const fn repeats(&self) -> u32 {
        self.repeats
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::flags;

    fn data(n: u32) -> Packet {
        Packet { seq_end: 100 * (n + 1), payload: 100, flags: flags::ACK, ..Packet::default() }
    }

    fn begun(first: &Packet) -> Outstanding {
        let mut it = Outstanding::default();
        it.on_segment(first);
        it
    }

    /// Segments 0 to 9 sent, the first acknowledged.
    fn ten() -> Outstanding {
        let mut it = begun(&data(0));
        (1..10).for_each(|n| it.on_segment(&data(n)));
        it.on_ack(100, true);
        it
    }

    #[test]
    fn segments_under_way() {
        assert_eq!(begun(&data(0)).segments(), 1);
        let syn = Packet { seq_end: 1, flags: flags::SYN, ..Packet::default() };
        let mut it = begun(&syn);
        assert_eq!(it.segments(), 1);
        it.on_ack(1, true);
        it.on_segment(&Packet { seq_end: 101, ..data(0) });
        assert_eq!(it.segments(), 1);
        it.on_segment(&Packet { seq_end: 151, payload: 50, ..data(0) });
        assert_eq!(it.segments(), 2, "a short one counts as one");
        assert_eq!(ten().segments(), 9);
    }

    #[test]
    fn a_timeout_starts_from_one() {
        let mut it = ten();
        it.on_segment(&data(1));
        assert_eq!((it.segments(), it.timeouts()), (1, 1));
        it.on_segment(&data(2));
        assert_eq!(it.segments(), 2, "what is sent again after it counts again");
        it.on_ack(1000, true);
        it.on_segment(&data(10));
        assert_eq!(it.segments(), 1);
    }

    #[test]
    fn a_fast_retransmission_is_no_timeout() {
        let mut it = ten();
        (0..3).for_each(|_| it.on_ack(100, true));
        it.on_segment(&data(1));
        assert_eq!((it.segments(), it.timeouts()), (9, 0));
        it.on_ack(300, true); // a partial ACK: segment 3 is missing too
        it.on_segment(&data(3));
        assert_eq!((it.segments(), it.timeouts(), it.repeats()), (7, 0, 2));
        it.on_segment(&data(3));
        assert_eq!((it.segments(), it.timeouts()), (1, 1), "the same one again: time-out within the recovery");
    }

    #[test]
    fn two_duplicates_are_too_few_and_data_are_none() {
        let mut it = ten();
        (0..2).for_each(|_| it.on_ack(100, true));
        it.on_ack(100, false);
        it.on_segment(&data(1));
        assert_eq!(it.timeouts(), 1);
    }
}
