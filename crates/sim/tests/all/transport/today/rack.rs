//! RFC 8985 section 6: RACK.

use super::board::{Board, Segment, Update};
use super::trips::stamp;
use super::{Departure, Linux, Seen};
use perhop_core::units::{Span, Time};

const DUP_THRESH: usize = 3;

/// The variables of section 5.3.
#[derive(Clone, Debug)]
pub(super) struct Rack {
    xmit_ts: Time,
    end_seq: u32,
    rtt: Span,
    fack: u32,
    pub(super) reordering_seen: bool,
    /// Before the latest ACK.
    seen_before: bool,
    dsack_round: Option<u32>,
    /// As Linux counts a round: segments delivered.
    dsack_round_delivered: u64,
    /// One that no delivery has come with yet.
    dsack_pending: bool,
    reo_wnd_mult: u64,
    pub(super) reo_wnd_persist: i32,
    /// The latest ACK has told of a delivery.
    pub(super) advanced: bool,
    judges_once: bool,
}

/// Section 6.2 step 2.
fn sent_after(t1: Time, seq1: u32, t2: Time, seq2: u32) -> bool {
    t1 > t2 || t1 == t2 && seq1 > seq2
}

impl Rack {
    pub(super) fn new(linux: &Linux) -> Self {
        Self {
            xmit_ts: Time::ZERO,
            end_seq: 0,
            rtt: Span::ZERO,
            fack: 0,
            reordering_seen: false,
            seen_before: false,
            dsack_round: None,
            dsack_round_delivered: 0,
            dsack_pending: false,
            reo_wnd_mult: 1,
            reo_wnd_persist: 0,
            advanced: false,
            judges_once: linux.has(Departure::JudgedOnce),
        }
    }

    /// Section 6.2 steps 2 and 3. In which order step 2 takes segments it leaves open: as Linux does, what is acknowledged
    /// selectively comes first, so that RACK.rtt is that of the last one acknowledged cumulatively. Step 3 goes by number.
    pub(super) fn update(&mut self, news: &Update, now: Time, min_rtt: Option<Span>, linux: &Linux) {
        self.seen_before = self.reordering_seen;
        for (place, segment) in news.newly.iter().enumerate() {
            let looks = place >= news.sacked || !linux.has(Departure::EchoOfCumulative);
            let of_original = looks && news.echoed > 0 && news.echoed < stamp(segment.xmit_ts);
            if !(segment.retransmitted && of_original) {
                self.step_2(segment, now, min_rtt);
            }
        }
        let mut by_number = news.newly.clone();
        by_number.sort_by_key(|segment| segment.number);
        for segment in &by_number {
            if segment.number > self.fack {
                self.fack = segment.number;
            } else if segment.number < self.fack && !segment.retransmitted {
                self.reordering_seen = true;
            }
        }
    }

    /// Condition (1) of a repeat, the time stamp that is echoed, is for the caller; (2): sooner than any round trip.
    fn step_2(&mut self, segment: &Segment, now: Time, min_rtt: Option<Span>) {
        let rtt = now.since(segment.xmit_ts);
        if segment.retransmitted && min_rtt.is_some_and(|least| rtt < least) {
            return;
        }
        self.rtt = rtt;
        self.advanced = true;
        if sent_after(segment.xmit_ts, segment.number, self.xmit_ts, self.end_seq) {
            (self.xmit_ts, self.end_seq) = (segment.xmit_ts, segment.number);
        }
    }

    /// Section 6.2 step 4, RACK_update_reo_wnd(), its first half: D-SACKs. `of_probe`: the probe's.
    pub(super) fn adapt(&mut self, board: &Board, news: &Update, of_probe: bool, linux: &Linux) {
        if self.dsack_round.is_some_and(|round| board.una >= round) {
            self.dsack_round = None;
        }
        let counts = !linux.has(Departure::DsackOfReordering) || self.seen_before && !of_probe;
        self.dsack_pending |= news.dsack.is_some() && counts;
        let Some(latest) = news.newly.iter().max_by_key(|it| (it.xmit_ts, it.number)).filter(|it| it.delivered > 0)
        else {
            return;
        };
        let may_widen = match linux.has(Departure::RoundsByDeliveries) {
            true => latest.delivered >= self.dsack_round_delivered,
            false => self.dsack_round.is_none(),
        };
        if std::mem::take(&mut self.dsack_pending) && may_widen {
            self.dsack_round = Some(board.next);
            self.dsack_round_delivered = board.delivered;
            self.reo_wnd_mult += 1;
            self.reo_wnd_persist = 16;
        } else if self.reo_wnd_persist <= 0 {
            self.reo_wnd_mult = 1;
        }
    }

    /// Its second half.
    fn reo_wnd(&self, board: &Board, recovering: bool, seen: &Seen) -> Span {
        if !self.reordering_seen && (recovering || board.segs_sacked() >= DUP_THRESH) {
            return Span::ZERO;
        }
        let least = seen.min_rtt.unwrap_or_default();
        Span::from_ns((least.ns() / 4 * self.reo_wnd_mult).min(seen.srtt.unwrap_or_default().ns()))
    }

    /// The segment sent last of those that have arrived has done so now.
    pub(super) fn goes_by_the_latest(&self, now: Time) -> bool {
        self.xmit_ts + self.rtt == now
    }

    /// One past the highest number that has arrived.
    pub(super) fn highest_sacked(&self, board: &Board) -> u32 {
        let sacked = board.segments.values().rev().find(|it| it.sacked).map(|it| it.number + 1);
        sacked.unwrap_or(board.una)
    }

    /// Section 6.2 step 5, RACK_detect_loss(): what it takes as lost, and how long until the next may be.
    pub(super) fn detect(&self, board: &mut Board, recovering: bool, now: Time, seen: &Seen) -> (Vec<u32>, Span) {
        let reo_wnd = self.reo_wnd(board, recovering, seen);
        let (mut lost, mut timeout) = (Vec::new(), Span::ZERO);
        for it in board.segments.values_mut() {
            let passed_over = it.judged && self.judges_once;
            if it.sacked
                || passed_over
                || it.lost && !it.repeat
                || !sent_after(self.xmit_ts, self.end_seq, it.xmit_ts, it.number)
            {
                continue;
            }
            let due = it.xmit_ts + self.rtt + reo_wnd;
            if due <= now {
                (it.lost, it.repeat, it.judged) = (true, false, true);
                lost.push(it.number);
            } else {
                timeout = timeout.max(due.since(now));
            }
        }
        (lost, timeout)
    }

    /// Section 6.3, RACK_mark_losses_on_RTO().
    pub(super) fn mark_on_rto(&self, board: &mut Board, now: Time, seen: &Seen, linux: &Linux) {
        let window = match linux.has(Departure::NoWindowAtRto) {
            true => Span::ZERO,
            false => self.reo_wnd(board, false, seen),
        };
        let una = board.una;
        for it in board.segments.values_mut().filter(|it| !it.sacked) {
            if it.number == una || it.xmit_ts + self.rtt + window <= now {
                (it.lost, it.repeat) = (true, false);
            }
        }
    }
}
