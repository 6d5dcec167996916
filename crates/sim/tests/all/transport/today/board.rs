//! RFC 6675, in segments: the scoreboard of section 3 and the procedures of section 4.
//!
//! What RFC 8985 replaces (its section 1): `IsLost()` no longer decides what is lost, RACK does, and a repeat can be lost
//! too, which RFC 6675 leaves to the time-out. Rules (3) and (4) of `NextSeg()` are optional, and absent.

use perhop_core::units::Time;
use perhop_sim::transport::AckInfo;
use std::collections::{BTreeMap, BTreeSet};

/// A segment, with the variables of RFC 8985 section 5.2.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    pub(super) number: u32,
    /// When it was sent last.
    pub(super) xmit_ts: Time,
    /// Ever sent again.
    pub(super) retransmitted: bool,
    pub(super) sacked: bool,
    /// Lost, as it was sent first.
    pub(super) lost: bool,
    /// Sent again, and that is not lost.
    pub(super) repeat: bool,
    /// RACK has taken it as lost since it was sent last.
    pub(super) judged: bool,
    /// Segments that had been delivered when it was sent last.
    pub(super) delivered: u64,
}

/// What an ACK has brought.
#[derive(Clone, Debug, Default)]
pub(super) struct Update {
    /// It echoes a congestion mark.
    pub(super) echo: bool,
    /// SND.UNA advances by so many.
    pub(super) acked: u32,
    /// Acknowledged for the first time, selectively and then cumulatively.
    pub(super) newly: Vec<Segment>,
    /// How many of these selectively.
    pub(super) sacked: usize,
    /// Something is acknowledged cumulatively that was ever sent again.
    pub(super) of_repeats: bool,
    /// The time stamp that it echoes; 0: none.
    pub(super) echoed: u32,
    /// One past the segment that is reported to have arrived twice, if that counts.
    pub(super) dsack: Option<u32>,
}

#[derive(Clone, Debug)]
pub(super) struct Board {
    pub(super) una: u32,
    pub(super) next: u32,
    pub(super) segments: BTreeMap<u32, Segment>,
    /// Segments delivered so far (RFC 9937 section 5, DeliveredData, summed up).
    pub(super) delivered: u64,
}

impl Board {
    pub(super) fn new() -> Self {
        Self { una: 1, next: 1, segments: BTreeMap::new(), delivered: 0 }
    }

    /// Section 4, Update().
    pub(super) fn update(&mut self, ack: &AckInfo) -> Update {
        let mut it = Update { echo: ack.ece, echoed: ack.echo, ..Update::default() };
        self.sack(ack, &mut it.newly);
        it.sacked = it.newly.len();
        while self.una < ack.next_expected {
            let segment = self.segments.remove(&self.una).unwrap();
            (self.una, it.acked) = (self.una + 1, it.acked + 1);
            it.of_repeats |= segment.retransmitted;
            if !segment.sacked {
                it.newly.push(segment);
            }
        }
        it
    }

    fn sack(&mut self, ack: &AckInfo, newly: &mut Vec<Segment>) {
        let blocks: BTreeSet<u32> = ack.sacks.iter(ack.next_expected).flatten().collect();
        for number in blocks.into_iter().filter(|&number| number >= ack.next_expected) {
            if let Some(segment) = self.segments.get_mut(&number)
                && !segment.sacked
            {
                newly.push(*segment);
                (segment.sacked, segment.lost, segment.repeat) = (true, false, false);
            }
        }
    }

    /// `counted`: a repeat is in the pipe.
    pub(super) fn send(&mut self, number: u32, now: Time, counted: bool) {
        let delivered = self.delivered;
        if number == self.next {
            self.next += 1;
            let segment = Segment {
                number,
                xmit_ts: now,
                retransmitted: false,
                sacked: false,
                lost: false,
                repeat: false,
                judged: false,
                delivered,
            };
            self.segments.insert(number, segment);
        } else {
            let segment = self.segments.get_mut(&number).expect("a repeat is outstanding");
            (segment.xmit_ts, segment.retransmitted, segment.delivered) = (now, true, delivered);
            segment.repeat |= counted;
            segment.judged = false;
        }
    }

    /// Repeats on their way, as far as is known.
    pub(super) fn repeats(&self) -> u32 {
        self.segments.values().filter(|it| it.repeat).count() as u32
    }

    /// Something was sent again and is not settled.
    pub(super) fn has_repeats(&self) -> bool {
        self.repeats() > 0 || self.segments.get(&self.una).is_some_and(|first| first.retransmitted)
    }

    pub(super) fn any_lost(&self) -> bool {
        self.segments.values().any(|it| it.lost)
    }

    pub(super) fn segs_sacked(&self) -> usize {
        self.segments.values().filter(|it| it.sacked).count()
    }

    /// Section 4, IsLost(): DupThresh segments above have been sacked.
    pub(super) fn is_lost_by_count(&self, number: u32) -> bool {
        self.segments.range(number + 1..).filter(|(_, it)| it.sacked).count() >= 3
    }

    /// Section 4, SetPipe(): (a) what is not lost, (b) what has been sent again; nothing of what is sacked.
    pub(super) fn pipe(&self) -> u32 {
        let mut pipe = 0;
        for it in self.segments.values().filter(|it| !it.sacked) {
            pipe += u32::from(!it.lost);
            pipe += u32::from(it.repeat);
        }
        pipe
    }

    /// Section 4, NextSeg(), rule (1): the first that is lost and was not sent again.
    pub(super) fn next_lost(&self) -> Option<u32> {
        self.segments.values().find(|it| it.lost && !it.repeat).map(|it| it.number)
    }
}
