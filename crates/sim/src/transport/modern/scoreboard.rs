//! The scoreboard: what has become of each segment between the first unacknowledged one and the last sent.
//!
//! Source: RFC 6675 sections 2, 3, 4 and 5 (scoreboard, pipe), RFC 8985 section 5.2 (times of transmissions).
//!
//! | symbol          | method                  | unit     | Linux          |
//! |-----------------|-------------------------|----------|----------------|
//! | SND.UNA         | [`Scoreboard::una`]     | number   | `snd_una`      |
//! | SND.NXT         | [`Scoreboard::next`]    | number   | `snd_nxt`      |
//! | pipe            | [`Scoreboard::in_flight`] | segments | `tcp_packets_in_flight` |
//! | -               | `sacked`, `lost`, `again` | segments | `sacked_out`, `lost_out`, `retrans_out` |
//!
//! A segment that was sent again and is taken as lost again counts as lost and no longer as sent again. Segments live in a
//! ring: after the largest window nothing is allocated.

use super::rate::{Flight, Stamp};
use crate::transport::congestion::LostSegment;
use perhop_core::units::Time;
use std::collections::VecDeque;

/// A segment that is outstanding.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    /// When it was sent last.
    pub(super) at: Time,
    /// What was so when it was sent last.
    pub(super) stamp: Stamp,
    /// The receiver has it, out of order.
    pub(super) sacked: bool,
    /// Taken as lost, and not sent again since.
    pub(super) lost: bool,
    /// Sent again, and neither acknowledged nor taken as lost since.
    pub(super) again: bool,
    /// Ever sent again: its round trip is ambiguous.
    pub(super) repeated: bool,
    /// RACK has taken it as lost, and looks at it again only once it has been sent again.
    pub(super) judged: bool,
}

/// All that is outstanding.
#[derive(Clone, Debug)]
pub(super) struct Scoreboard {
    una: u32,
    ring: VecDeque<Sent>,
    sacked: u32,
    lost: u32,
    again: u32,
    /// One past the highest number sacked.
    highest_sacked: u32,
    /// No lost segment that waits for its repeat is below.
    first_lost: u32,
    /// Taken as lost since the beginning.
    losses: u64,
    /// Those that the law has not seen, if it looks at each.
    fresh: Option<Vec<LostSegment>>,
}

impl Scoreboard {
    /// Nothing sent yet; the first number will be `first`.
    pub(super) fn new(first: u32) -> Self {
        Self {
            una: first,
            ring: VecDeque::new(),
            sacked: 0,
            lost: 0,
            again: 0,
            highest_sacked: first,
            first_lost: first,
            losses: 0,
            fresh: None,
        }
    }

    /// From now on each loss is noted.
    pub(super) fn note_losses(&mut self) {
        self.fresh.get_or_insert_default();
    }

    /// What has been noted, and is now seen.
    pub(super) fn fresh(&mut self) -> impl Iterator<Item = LostSegment> + '_ {
        self.fresh.iter_mut().flat_map(|it| it.drain(..))
    }

    /// The counts.
    #[inline]
    pub(super) fn flight(&self) -> Flight {
        Flight { outstanding: self.outstanding(), in_flight: self.in_flight(), lost: self.losses }
    }

    /// Taken as lost since the beginning; a repeat that is lost counts again.
    #[inline]
    pub(super) fn losses(&self) -> u64 {
        self.losses
    }

    /// The first number not acknowledged.
    #[inline]
    pub(super) fn una(&self) -> u32 {
        self.una
    }

    /// The first number not sent.
    #[inline]
    pub(super) fn next(&self) -> u32 {
        self.una + self.ring.len() as u32
    }

    /// Segments between the two.
    #[inline]
    pub(super) fn outstanding(&self) -> u32 {
        self.ring.len() as u32
    }

    /// Segments in the network, as far as is known: neither sacked nor lost, and those sent again.
    #[inline]
    pub(super) fn in_flight(&self) -> u32 {
        self.outstanding() - self.sacked - self.lost + self.again
    }

    /// Segments that the receiver has out of order.
    #[inline]
    pub(super) fn sacked(&self) -> u32 {
        self.sacked
    }

    /// Segments taken as lost: those that were sent again since count still.
    #[inline]
    pub(super) fn lost(&self) -> u32 {
        self.lost
    }

    /// Segments sent again and not heard of.
    #[inline]
    pub(super) fn again(&self) -> u32 {
        self.again
    }

    /// One past the highest number that the receiver has.
    #[inline]
    pub(super) fn highest_sacked(&self) -> u32 {
        self.highest_sacked.max(self.una)
    }

    /// An outstanding segment.
    #[inline]
    pub(super) fn get(&self, number: u32) -> &Sent {
        &self.ring[(number - self.una) as usize]
    }

    /// From a number on, the segments of which RACK does not know yet whether they have arrived or are lost.
    #[inline]
    pub(super) fn in_question(&self, from: u32) -> impl Iterator<Item = (u32, &Sent)> {
        let open = |(_, it): &(u32, &Sent)| !(it.sacked || it.judged || it.lost && !it.again);
        (from..).zip(self.ring.range((from - self.una) as usize..)).filter(open)
    }

    /// The next number is sent for the first time.
    #[inline]
    pub(super) fn send(&mut self, at: Time, stamp: Stamp) -> u32 {
        let number = self.next();
        let (sacked, lost, again, repeated, judged) = (false, false, false, false, false);
        self.ring.push_back(Sent { at, stamp, sacked, lost, again, repeated, judged });
        number
    }

    /// An outstanding segment is sent again.
    pub(super) fn send_again(&mut self, number: u32, at: Time, stamp: Stamp) {
        let it = &mut self.ring[(number - self.una) as usize];
        self.again += u32::from(!it.again);
        (it.at, it.stamp, it.again, it.repeated, it.judged) = (at, stamp, true, true, false);
    }

    /// The last segment is sent again as a probe, which does not count as sent again.
    pub(super) fn send_probe(&mut self, number: u32, at: Time, stamp: Stamp) {
        let it = &mut self.ring[(number - self.una) as usize];
        (it.at, it.stamp, it.repeated, it.judged) = (at, stamp, true, false);
    }

    /// The first lost segment that has not been sent again.
    pub(super) fn first_lost(&mut self) -> Option<u32> {
        if self.lost == 0 {
            return None;
        }
        let from = self.first_lost.max(self.una);
        let found = (from..self.next()).find(|&number| self.is_to_repeat(number));
        self.first_lost = found.unwrap_or(self.next());
        found
    }

    /// It is lost and has not been sent again.
    pub(super) fn is_to_repeat(&self, number: u32) -> bool {
        let it = self.get(number);
        it.lost && !it.again && !it.sacked
    }

    /// A segment is taken as lost, if it was not already; its repeat may be.
    pub(super) fn lose(&mut self, number: u32) -> bool {
        let it = &mut self.ring[(number - self.una) as usize];
        if it.sacked || it.lost && !it.again {
            return false;
        }
        self.lost += u32::from(!it.lost);
        self.again -= u32::from(it.again);
        (it.lost, it.again) = (true, false);
        let stamp = it.stamp;
        self.note(number, &stamp);
        self.first_lost = self.first_lost.min(number);
        true
    }

    /// RACK takes a segment as lost.
    pub(super) fn judge(&mut self, number: u32) {
        self.lose(number);
        self.ring[(number - self.una) as usize].judged = true;
    }

    fn note(&mut self, number: u32, stamp: &Stamp) {
        self.losses += 1;
        if let Some(fresh) = &mut self.fresh {
            fresh.push(LostSegment {
                number,
                in_flight_then: stamp.in_flight,
                lost: (self.losses as u32).wrapping_sub(stamp.lost),
                app_limited: stamp.app_limited,
            });
        }
    }

    /// Nothing is lost after all.
    pub(super) fn find_all(&mut self) {
        self.ring.iter_mut().for_each(|it| it.lost = false);
        self.lost = 0;
    }

    /// The receiver reports a segment out of order; what it was before, if that is news.
    #[inline]
    pub(super) fn sack(&mut self, number: u32) -> Option<Sent> {
        let it = &mut self.ring[(number - self.una) as usize];
        if it.sacked {
            return None;
        }
        let before = *it;
        self.lost -= u32::from(it.lost);
        self.again -= u32::from(it.again);
        (it.sacked, it.lost, it.again) = (true, false, false);
        self.sacked += 1;
        self.highest_sacked = self.highest_sacked.max(number + 1);
        Some(before)
    }

    /// The receiver has the first segment and all before; what it was.
    #[inline]
    pub(super) fn acknowledge(&mut self) -> Option<Sent> {
        let it = self.ring.pop_front()?;
        self.una += 1;
        self.sacked -= u32::from(it.sacked);
        self.lost -= u32::from(it.lost);
        self.again -= u32::from(it.again);
        Some(it)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What the counters say, counted.
    fn counted(board: &Scoreboard) -> [usize; 3] {
        let count = |what: fn(&Sent) -> bool| board.ring.iter().filter(|it| what(it)).count();
        [count(|it| it.sacked), count(|it| it.lost), count(|it| it.again)]
    }

    proptest! {
        /// The pipe of RFC 6675 sections 3 and 4, by looking at each segment: what is neither sacked nor lost is in the
        /// network, and so is each repeat.
        #[test]
        fn the_counters_are_those_of_the_segments(steps in prop::collection::vec((0u8..6, 0u32..20), 0..200)) {
            let mut board = Scoreboard::new(7);
            for (step, which) in steps {
                let number = board.una() + which;
                let there = number < board.next();
                match step {
                    0 | 1 => _ = board.send(Time::ZERO, Stamp::default()),
                    2 if there => _ = board.sack(number),
                    3 if there => _ = board.lose(number),
                    4 => _ = board.acknowledge(),
                    5 if board.outstanding() > 15 => (board.una()..board.next()).for_each(|number| _ = board.lose(number)),
                    _ => if let Some(lost) = board.first_lost() {
                        board.send_again(lost, Time::ZERO, Stamp::default());
                    },
                }
                let [sacked, lost, again] = counted(&board);
                prop_assert_eq!([sacked, lost, again], [board.sacked, board.lost, board.again].map(|n| n as usize));
                prop_assert_eq!(board.in_flight() as usize + sacked + lost, board.ring.len() + again);
                let waits = board.ring.iter().position(|it| it.lost && !it.again);
                prop_assert_eq!(board.first_lost(), waits.map(|place| board.una() + place as u32));
            }
        }
    }
}
