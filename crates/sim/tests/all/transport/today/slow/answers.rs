//! What an ACK leads to.

use super::{Departure, Limits, Phase, Seen, Slow, Undo};
use crate::transport::today::board::{Segment, Update};
use crate::transport::today::frto::Verdict;
use crate::transport::today::prr::Delivery;
use crate::transport::today::trips::stamp;
use perhop_core::units::{Span, Time};
use perhop_sim::transport::AckInfo;

impl Slow {
    fn start_reduction(&mut self, news: &Update) {
        // RFC 9937 section 6.1: what may still be delivered, and what this ACK has brought.
        let outstanding = self.board.segments.values().filter(|it| !it.sacked).count() + news.newly.len();
        self.prr.start(outstanding as u32, self.cwnd as u32, &self.linux);
        (self.point, self.tlp.end_seq) = (self.board.next, None);
    }

    pub(super) fn begin_undo(&mut self) {
        let repeats = self.board.repeats();
        let cwnd = if self.phase == Phase::Reduction { 0 } else { self.cwnd };
        self.undo = Undo { marker: self.board.una, repeats: (repeats > 0).then_some(repeats), cwnd, ..self.undo };
    }

    fn forget_repeats(&mut self) {
        if !self.board.has_repeats() {
            self.undo.first_repeat = None;
        }
    }

    /// RFC 3522 section 3.2: the ACK echoes a time stamp from before the first repeat, if there was any.
    fn is_delayed(&self) -> bool {
        let Some(first) = self.undo.first_repeat else { return true };
        self.undo.echoed > 0 && self.undo.echoed < stamp(first)
    }

    fn may_undo(&self) -> bool {
        self.undo.marker > 0 && (self.undo.repeats == Some(0) || self.is_delayed())
    }

    fn undone(&mut self) {
        self.cwnd = self.cwnd.max(self.undo.cwnd);
        self.undo.marker = 0;
        self.rack.advanced = true;
    }

    /// RFC 6675 section 5 (4), on loss.
    pub(super) fn enter_fast(&mut self, news: &Update) {
        self.forget_repeats();
        self.begin_undo();
        if self.phase != Phase::Reduction {
            self.start_reduction(news);
        }
        self.phase = Phase::Fast;
    }

    pub(super) fn recovering(&self) -> bool {
        matches!(self.phase, Phase::Fast | Phase::Rto)
    }

    /// RFC 8985 section 6.2 step 5: what is lost now, and whether the timer waits for more.
    fn lose(&mut self, now: Time, seen: &Seen) -> bool {
        if !std::mem::take(&mut self.rack.advanced) && self.linux.has(Departure::OnlyIfAdvanced) {
            return false;
        }
        let recovering = self.recovering();
        let (lost, timeout) = self.rack.detect(&mut self.board, recovering, now, seen);
        self.losses |= !lost.is_empty();
        self.check_counting(now);
        if timeout > Span::ZERO {
            self.timer.await_reordering(now, timeout, &self.linux);
        }
        timeout > Span::ZERO
    }

    /// Where no reordering was seen, what RFC 6675 takes as lost by counting, sent once, RACK does too: unless the round trip
    /// that it goes by is that of a segment sent earlier, and longer; or it was lost before, and the recovery undone.
    fn check_counting(&self, now: Time) {
        let passed_over = self.linux.has(Departure::JudgedOnce);
        let left_out = |it: &Segment| it.sacked || it.retransmitted || it.judged && passed_over;
        let mut sent_once = self.board.segments.values().filter(|it| !left_out(it));
        let missed = sent_once.find(|it| !it.lost && self.board.is_lost_by_count(it.number));
        let agrees = missed.is_none() || self.rack.reordering_seen || !self.rack.goes_by_the_latest(now);
        assert!(agrees, "lost by section 4 of RFC 6675, not by RACK: {missed:?}");
    }

    /// An ACK; `before` and `seen` are what the law and the estimator had, and have now.
    pub(in crate::transport::today) fn on_ack(
        &mut self,
        now: Time,
        ack: &AckInfo,
        limits: &Limits,
        [before, seen]: [&Seen; 2],
    ) {
        if ack.next_expected < self.board.una {
            return;
        }
        (self.new_first, self.losses) = (false, false);
        self.undo.echoed = ack.echo;
        if ack.window > 0 {
            // RFC 9293 section 3.10.7.4; a receiver does not take back what it has offered (section 3.8.6).
            self.edge = self.edge.max(Some(ack.next_expected + u32::from(ack.window)));
        }
        let mut news = self.board.update(ack);
        let of_probe = self.take_dsack(ack, &mut news);
        let needless = u32::from(news.dsack.is_some() && self.linux.has(Departure::DsackDelivers));
        let delivered = news.newly.len() as u32 + needless;
        self.board.delivered += u64::from(delivered);
        self.rtos = if news.acked > 0 { 0 } else { self.rtos };
        self.rack.update(&news, now, before.min_rtt, &self.linux);
        self.trips.on_ack(&news, now, &self.board);
        self.rack.adapt(&self.board, &news, of_probe, &self.linux);
        self.cwnd = before.cwnd.into();
        if self.on_probe_answer(ack, &news) {
            self.cwnd = (self.cwnd / 2).max(2); // the law is Reno's
        }
        let calm = self.phase == Phase::Open
            && self.calm
            && news.sacked == 0
            && news.acked > 0
            && news.dsack.is_none()
            && !ack.ece;
        let awaits =
            !(calm && self.linux.has(Departure::OnlyIfAdvanced)) && self.on_news(now, &news, limits, [before, seen]);
        if news.acked > 0 && !awaits {
            let (mut timer, at) = self.moment(now, seen);
            timer.after_ack(&at);
            self.timer = timer;
        }
        if matches!(self.phase, Phase::Fast | Phase::Reduction) {
            let (inflight, ssthresh) = (self.board.pipe(), seen.ssthresh);
            let ack = Delivery { delivered, inflight, ssthresh, safe: news.acked > 0 && !self.losses };
            self.cwnd = self.prr.on_ack(&ack, &self.linux).unwrap_or(self.cwnd);
        }
        self.choose(seen);
    }

    /// Whether a D-SACK is the probe's.
    fn take_dsack(&mut self, ack: &AckInfo, news: &mut Update) -> bool {
        let Some(again) = ack.sacks.dsack(ack.next_expected) else { return false };
        self.dsacks += 1;
        if self.dsacks > self.retransmitted && self.linux.has(Departure::DsackOfReordering) {
            return false;
        }
        news.dsack = Some(again.end);
        if self.undo.marker > 0 && again.end > self.undo.marker {
            self.undo.repeats = self.undo.repeats.map(|repeats| repeats.saturating_sub(1));
        }
        self.tlp.end_seq == Some(again.end)
    }

    /// Ends of episodes, losses, beginnings. `echo`: ECN.
    fn on_news(&mut self, now: Time, news: &Update, limits: &Limits, [before, seen]: [&Seen; 2]) -> bool {
        if news.echo {
            self.undo.cwnd = 0;
        }
        self.end_episode(before);
        let (repeats, was) = (self.board.repeats(), self.phase);
        match self.phase {
            Phase::Fast if news.acked > 0 && self.undo.marker > 0 && self.is_delayed() => {
                self.rack.reordering_seen |= self.board.una - news.acked < self.rack.highest_sacked(&self.board);
                if repeats > 0 {
                    self.new_first = true;
                    return false;
                }
                self.spurious();
            }
            Phase::Fast | Phase::Open if self.undo.marker > 0 && self.undo.repeats == Some(0) => {
                self.rack.reo_wnd_persist = (self.rack.reo_wnd_persist + 1).min(16);
                self.undone();
                self.phase = Phase::Open;
            }
            Phase::Rto => self.after_rto(news, limits),
            _ => {}
        }
        let awaits = self.lose(now, seen);
        let again = self.phase == Phase::Rto && self.board.repeats() < repeats;
        if (again || matches!(self.phase, Phase::Open | Phase::Reduction)) && self.board.any_lost() {
            self.enter_fast(news);
        } else if self.phase == Phase::Open {
            self.forget_repeats();
            if news.echo && was != Phase::Fast {
                self.undo.marker = 0;
                self.start_reduction(news);
                self.phase = Phase::Reduction;
            }
        }
        self.calm = self.phase == Phase::Open && !self.board.has_repeats() && self.board.segs_sacked() == 0;
        awaits
    }

    /// RFC 8985 section 7.4.2, TLP_process_ack(): whether the probe repaired a loss.
    fn on_probe_answer(&mut self, ack: &AckInfo, news: &Update) -> bool {
        let Some(end_seq) = self.tlp.end_seq.filter(|&end| ack.next_expected >= end) else { return false };
        let mut repaired = false;
        if !self.tlp.is_retrans || news.dsack == Some(end_seq) {
            self.tlp.end_seq = None;
        } else if ack.next_expected > end_seq {
            (self.tlp.end_seq, repaired) = (None, true);
            (self.phase, self.point) = (Phase::Open, self.board.next);
        } else if news.acked == 0 && news.sacked == 0 {
            self.tlp.end_seq = None;
        }
        repaired
    }

    /// All that was sent before it began is acknowledged.
    fn end_episode(&mut self, before: &Seen) {
        match self.phase {
            Phase::Open if self.calm => self.undo.first_repeat = None,
            Phase::Fast if self.board.una >= self.point => {
                if !self.may_undo() {
                    self.cwnd = before.ssthresh.into();
                }
                self.recovered();
            }
            // RFC 3168 section 6.1.2: CWR is known to have been heard.
            Phase::Reduction if self.board.una > self.point => {
                (self.phase, self.cwnd) = (Phase::Open, before.ssthresh.into())
            }
            _ => {}
        }
    }

    /// RFC 8985 section 6.2 step 4: "exiting Fast or RTO recovery".
    fn recovered(&mut self) {
        self.phase = Phase::Open;
        if self.may_undo() {
            self.undone();
            if self.linux.has(Departure::UndoneDoesNotCount) {
                return;
            }
        }
        self.rack.reo_wnd_persist -= 1;
    }

    fn spurious(&mut self) {
        self.board.segments.values_mut().for_each(|it| it.lost = false);
        self.forget_repeats();
        self.undone();
        self.phase = Phase::Open;
    }

    fn after_rto(&mut self, news: &Update, limits: &Limits) {
        if news.acked > 0 && self.may_undo() {
            self.rtos = 0;
            return self.spurious();
        }
        match self.frto.on_ack(&self.board, news, self.has_new(limits), &self.linux) {
            Verdict::Spurious => {
                self.rtos = 0;
                self.spurious();
            }
            Verdict::SendNew => self.new_first = true,
            Verdict::Conventional | Verdict::Wait if self.board.una >= self.frto.point => self.recovered(),
            Verdict::Conventional | Verdict::Wait => {}
        }
    }
}
