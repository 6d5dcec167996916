//! What an ACK leads to: the scoreboard, RACK, the state.

use super::undo::is_before;
use super::{Before, Event, Modern, News, SYN, State, TIMER_FLOOR, Timer, UNLIMITED, Undo};
use crate::transport::accurate::Agreed;
use crate::transport::congestion::{CongestionControl, Signal};
use crate::transport::modern::scoreboard::Sent;
use crate::transport::{AceReport, AckInfo, Decoder, Sacks, stamp};
use perhop_core::units::{Span, Time};
use std::ops::Range;

/// By the time stamp that an ACK echoes, at least 1 ms.
fn round_trip_of(now: Time, echo: u32) -> (Span, Span) {
    let ms = stamp(now).saturating_sub(echo).max(1);
    (Span::from_ms(ms.into()), Span::from_ms(ms.into()))
}

impl Modern {
    /// An ACK has arrived.
    ///
    /// # Panics
    /// When it acknowledges what was never sent: ACKs of two connections are mixed up.
    pub(in crate::transport) fn on_ack(&mut self, now: Time, ack: AckInfo) {
        let (expects, sent) = (ack.next_expected, self.board.next());
        assert!(expects <= sent, "tcp: ACK expects {expects} but the highest number sent is {}", sent.wrapping_sub(1));
        if expects >= self.board.una() {
            self.hear(now, &ack);
            self.learn_rate();
        }
    }

    fn hear(&mut self, now: Time, ack: &AckInfo) {
        let expects = ack.next_expected;
        self.episode.new_first = false;
        self.flow.burst.look_again();
        self.episode.undo.echo = ack.echo;
        if ack.window > 0 {
            self.data.edge = self.data.edge.max(Some(expects + u32::from(ack.window)));
        }
        let (idle, in_flight, losses) = (self.board.outstanding() == 0, self.board.in_flight(), self.board.losses());
        let opens = self.board.una() == SYN && expects > SYN;
        let news = self.take(now, ack);
        if news.acked > 0 {
            self.episode.in_a_row = 0;
        }
        if opens {
            return self.open(now, ack, &news);
        }
        self.learn(&news);
        if self.ecn.agreed {
            let signal = Signal { marked: news.marked, ..self.signal(now, news.sacked, None) };
            self.law.on_feedback(&signal);
        }
        let mut rearm = news.acked > 0;
        if let Some(probe) = self.tail.probe {
            self.on_probe_answer(now, expects, probe, &news);
        }
        if self.is_dubious(&news) {
            rearm &= !self.alert(now, &news);
        }
        if rearm && !self.arm_probe(now, true) {
            self.arm_retransmission(now);
        }
        if !self.law.is_in_control() {
            self.control(now, &news, self.board.losses() > losses);
        } else if !idle {
            self.hand_over(now, &news, Before { in_flight, losses });
        }
    }

    /// The SYN is acknowledged.
    fn open(&mut self, now: Time, ack: &AckInfo, news: &News) {
        self.agree(ack);
        self.flow.answers = true;
        if let Some((first, _)) = news.rtt {
            self.rtt.least_of(first);
            self.rtt.sample(first, self.board.una(), self.board.next());
        }
        self.window.cwnd = if self.episode.opened_late { 1.0 } else { f64::from(self.data.initial_window) };
        (self.window.ssthresh, self.episode.state, self.episode.high) = (UNLIMITED, State::Open, self.board.una());
        (self.episode.undo, self.episode.frto) = (Undo::default(), false);
        self.rearm(now);
        _ = self.sample(now, news);
        self.tell(Event::Open, now);
    }

    /// What the SYN-ACK says of ECN.
    fn agree(&mut self, ack: &AckInfo) {
        let accurate = self.ecn.accurate.take();
        let agreed = match accurate {
            Some(_) => Agreed::by(ack.ace | u8::from(ack.ece)),
            None if ack.ece => Agreed::Rfc3168,
            None => Agreed::Nothing,
        };
        self.ecn.agreed = self.ecn.willing && agreed != Agreed::Nothing;
        if let Agreed::Accurate { marked_syn } = agreed {
            self.ecn.accurate = Some(Decoder::new(self.data.mss, marked_syn));
        }
    }

    /// Takes what an ACK says into the scoreboard.
    fn take(&mut self, now: Time, ack: &AckInfo) -> News {
        let mut news = News::default();
        self.take_dsack(ack, &mut news);
        let highest = self.board.highest_sacked();
        let mut sack_rtt: Option<(Span, Span)> = None;
        for number in self.reported(ack).into_iter().flatten() {
            let Some(before) = self.board.sack(number) else { continue };
            self.count(number, &before, &mut news);
            self.rack.delivered(number, &before, now, self.rtt.least());
            news.selective = true;
            if !before.repeated {
                let rtt = now.since(before.at);
                sack_rtt = Some((sack_rtt.map_or(rtt, |it| it.0), rtt));
                self.arrived_as_sent(number, highest, &mut news);
            }
        }
        let (mut first, mut last, mut repeated) = (None, None, false);
        while self.board.una() < ack.next_expected {
            let number = self.board.una();
            let Some(it) = self.board.acknowledge() else { break };
            news.acked += 1;
            repeated |= it.repeated;
            if !it.repeated && !it.sacked {
                last = Some(now.since(it.at));
                first = first.or(last);
                self.arrived_as_sent(number, highest, &mut news);
            }
            if !it.sacked {
                self.count(number, &it, &mut news);
                if !(it.repeated && is_before(ack.echo, it.at)) {
                    self.rack.delivered(number, &it, now, self.rtt.least());
                }
            }
        }
        news.marked = self.marked(ack, news.sacked);
        news.echo = news.marked > 0 || ack.ece && self.ecn.agreed && self.ecn.accurate.is_none();
        let acked_rtt = first.zip(last).filter(|_| !repeated);
        let echoed = || (news.acked > 0 && ack.echo > 0).then(|| round_trip_of(now, ack.echo));
        news.rtt = match (acked_rtt, sack_rtt) {
            (Some((first, _)), Some((_, last))) => Some((first, last)),
            (acked, sacked) => acked.or(sacked).or_else(echoed),
        };
        if let Some(behind) = news.behind {
            self.rack.reordered(highest - behind);
        }
        news
    }

    /// What the blocks report of what is outstanding, by number.
    fn reported(&self, ack: &AckInfo) -> [Range<u32>; Sacks::MOST] {
        let mut blocks: [Range<u32>; Sacks::MOST] = Default::default();
        if !ack.sacks.is_empty() {
            let next = self.board.next();
            for (place, block) in blocks.iter_mut().zip(ack.sacks.iter(ack.next_expected)) {
                *place = block.start.max(ack.next_expected)..block.end.min(next);
            }
            blocks.sort_unstable_by_key(|block| block.start);
        }
        blocks
    }

    /// A segment has been delivered.
    #[inline]
    fn count(&mut self, number: u32, it: &Sent, news: &mut News) {
        news.sacked += 1;
        self.flow.rate.delivered(number, it.at, &it.stamp, &mut news.newest);
    }

    /// And it was sent once.
    #[inline]
    fn arrived_as_sent(&self, number: u32, highest: u32, news: &mut News) {
        news.original |= number < self.episode.high;
        if number + 1 < highest {
            news.behind = Some(news.behind.map_or(number, |other| other.min(number)));
        }
    }

    /// A D-SACK counts, as a delivery too, if no more have come than segments were sent again. One that tells of the probe
    /// does not tell of reordering.
    fn take_dsack(&mut self, ack: &AckInfo, news: &mut News) {
        let Some(again) = ack.sacks.dsack(ack.next_expected) else { return };
        self.tail.dsacks += 1;
        if self.tail.dsacks > self.flow.counters.retransmitted {
            return;
        }
        (news.dsack, news.dsack_of_probe) = (true, self.tail.probe == Some(again.end));
        news.sacked += 1;
        self.flow.rate.delivered += 1;
        if !news.dsack_of_probe {
            self.rack.spurious();
        }
        let undo = &mut self.episode.undo;
        if undo.marker > 0 && again.end > undo.marker {
            undo.repeats = undo.repeats.map(|repeats| repeats.saturating_sub(1));
        }
    }

    /// Of the segments that an ACK newly acknowledges, those that were marked.
    fn marked(&mut self, ack: &AckInfo, newly: u32) -> u32 {
        match &mut self.ecn.accurate {
            _ if !self.ecn.agreed => 0,
            Some(accurate) => accurate.marked(AceReport { ace: ack.ace, bytes: ack.sacks.marked_bytes(), newly }),
            None if ack.ece => newly,
            None => 0,
        }
    }

    /// Round trips, and the reordering window.
    fn learn(&mut self, news: &News) {
        if let Some((first, last)) = news.rtt {
            self.rtt.least_of(last);
            self.rtt.sample(first, self.board.una(), self.board.next());
        }
        if let Some(newest) = &news.newest {
            self.rack.adapt(self.flow.rate.prior(newest), self.flow.rate.delivered);
        }
    }

    /// What the ACK of a tail loss probe says: if its repeat filled a hole, a loss has been repaired.
    fn on_probe_answer(&mut self, now: Time, expects: u32, probe: u32, news: &News) {
        if expects < probe {
            return;
        }
        let plain_duplicate = news.acked == 0 && !news.selective;
        if !self.tail.probe_repeats || news.dsack_of_probe || expects == probe && plain_duplicate {
            self.tail.probe = None;
        } else if expects > probe {
            self.begin_reduction(now, false);
            self.episode.state = State::Reduction;
            self.end_reduction();
            self.keep_open();
        }
    }

    fn is_dubious(&self, news: &News) -> bool {
        news.echo || self.episode.state != State::Open || news.selective || news.acked == 0 || news.dsack
    }

    /// Which state comes next; whether RACK has set the timer.
    fn alert(&mut self, now: Time, news: &News) -> bool {
        if news.echo {
            (self.episode.undo.cwnd, self.episode.undo.ssthresh) = (0.0, 0.0);
        }
        self.end_episode(now);
        let again = self.board.again();
        match self.episode.state {
            State::Recovery => {
                if news.acked > 0 && self.find_delayed(now, news) {
                    return false;
                }
                if self.undo_by_dsack(now) {
                    self.try_to_open(now, news);
                }
                let armed = self.find_lost(now);
                if self.episode.state != State::Recovery && self.board.lost() > 0 {
                    self.enter_recovery(now);
                }
                armed
            }
            State::Loss => {
                self.after_time_out(now, news);
                let armed = self.find_lost(now);
                if self.episode.state != State::Open && self.board.again() >= again {
                    return armed;
                }
                self.maybe_recover(now, news, armed)
            }
            state => {
                if state <= State::Disorder {
                    self.undo_by_dsack(now);
                }
                let armed = self.find_lost(now);
                self.maybe_recover(now, news, armed)
            }
        }
    }

    /// All that was sent when the episode began has arrived.
    fn end_episode(&mut self, now: Time) {
        let (una, high) = (self.board.una(), self.episode.high);
        match self.episode.state {
            State::Open => self.episode.undo.first_repeat = None,
            State::Reduction if una > high => {
                self.end_reduction();
                self.episode.state = State::Open;
            }
            State::Recovery if una >= high => {
                self.recovered(now);
                self.end_reduction();
                self.episode.state = State::Open;
            }
            _ => {}
        }
    }

    /// RACK: what is lost now, and the timer for what may be.
    fn find_lost(&mut self, now: Time) -> bool {
        let conditions = self.conditions(now);
        let Some(wait) = self.rack.on_ack(&mut self.board, &conditions) else { return false };
        self.arm(now, Timer::Reordering, wait + TIMER_FLOOR);
        true
    }
}
