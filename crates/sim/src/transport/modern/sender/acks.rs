//! What an ACK leads to: the scoreboard, RACK, the state.

use super::{Before, Event, Modern, News, SYN, State, TIMER_FLOOR, Timer, UNLIMITED, Undo};
use crate::transport::AckInfo;
use crate::transport::congestion::CongestionControl;
use perhop_core::units::Time;

impl Modern {
    /// An ACK has arrived.
    ///
    /// # Panics
    /// When it acknowledges what was never sent: ACKs of two connections are mixed up.
    pub(in crate::transport) fn on_ack(&mut self, now: Time, ack: AckInfo) {
        let (expects, sent) = (ack.next_expected, self.board.next());
        assert!(expects <= sent, "tcp: ACK expects {expects} but the highest number sent is {}", sent.wrapping_sub(1));
        if expects < self.board.una() {
            return;
        }
        self.episode.new_first = false;
        let (una, flight, again) = (self.board.una(), self.board.in_flight(), self.board.again());
        let (idle, losses) = (self.board.outstanding() == 0, self.board.losses());
        let opens = una == SYN && expects > SYN;
        let news = self.take(now, &ack);
        if opens {
            return self.open(now, &ack, &news);
        }
        self.learn(&news);
        let advanced = news.acked > 0;
        let mut rearm = advanced;
        let lost = self.board.lost();
        if let Some(probe) = self.tail.probe {
            self.on_probe_answer(now, expects, probe, news.dsack);
        }
        if self.is_dubious(&news) {
            rearm &= !self.alert(now, &news);
        }
        if rearm && self.clock.timer != Timer::Reordering && !self.arm_probe(now, true) {
            self.clock.timer = if self.clock.timer == Timer::Probe { Timer::Off } else { self.clock.timer };
            self.rearm(now);
        } else if rearm && self.board.outstanding() == 0 {
            self.rearm(now);
        }
        let newly_lost =
            self.board.lost().saturating_sub(lost) > 0 || self.board.again() < again && flight > self.board.in_flight();
        if !self.law.is_in_control() {
            self.control(now, &news, newly_lost);
        } else if !idle {
            self.hand_over(now, &news, Before { in_flight: flight, losses });
        }
    }

    /// The SYN is acknowledged.
    fn open(&mut self, now: Time, ack: &AckInfo, news: &News) {
        self.ecn.agreed = self.ecn.willing && ack.ece;
        if let Some((first, _)) = news.rtt {
            self.rtt.sample(first, self.board.una(), self.board.next());
        }
        self.window.cwnd = if self.episode.opened_late { 1.0 } else { f64::from(self.data.initial_window) };
        (self.window.ssthresh, self.episode.state, self.episode.high) = (UNLIMITED, State::Open, self.board.una());
        (self.episode.undo, self.episode.frto) = (Undo::default(), false);
        self.rearm(now);
        _ = self.sample(now, news);
        self.tell(Event::Open, now);
    }

    /// Takes what an ACK says into the scoreboard.
    fn take(&mut self, now: Time, ack: &AckInfo) -> News {
        let mut news = News {
            echo: ack.ece && self.ecn.agreed,
            dsack: ack.sacks.dsack(ack.next_expected).is_some(),
            prior_delivered: self.flow.rate.delivered,
            ..News::default()
        };
        let least = self.rtt.least();
        let highest = self.board.highest_sacked();
        let mut sack_rtt = None;
        for block in ack.sacks.iter(ack.next_expected) {
            for number in block.start.max(ack.next_expected)..block.end.min(self.board.next()) {
                let Some(before) = self.board.sack(number) else { continue };
                news.sacked += 1;
                self.flow.rate.delivered(number, before.at, &before.stamp, &mut news.newest);
                self.rack.delivered(number, &before, now, least);
                if !before.repeated {
                    sack_rtt.get_or_insert(now.since(before.at));
                    news.original |= number < self.episode.high;
                    if number + 1 < highest {
                        news.behind = Some(news.behind.map_or(number, |it| it.min(number)));
                    }
                }
            }
        }
        let (mut first, mut last, mut repeated) = (None, None, false);
        while self.board.una() < ack.next_expected {
            let number = self.board.una();
            let Some(it) = self.board.acknowledge() else { break };
            news.acked += 1;
            repeated |= it.repeated;
            if !it.repeated {
                last = Some(now.since(it.at));
                first = first.or(last);
                if !it.sacked {
                    news.original |= number < self.episode.high;
                    if number + 1 < highest {
                        news.behind = Some(news.behind.map_or(number, |other| other.min(number)));
                    }
                }
            }
            if !it.sacked {
                self.flow.rate.delivered(number, it.at, &it.stamp, &mut news.newest);
                news.sacked += 1;
                self.rack.delivered(number, &it, now, least);
            }
        }
        news.rtt = first.zip(last).filter(|_| !repeated).or(sack_rtt.map(|rtt| (rtt, rtt)));
        if repeated {
            news.behind = None;
        }
        if let Some(behind) = news.behind {
            self.rack.reordered(highest - behind);
        }
        news
    }

    /// Round trips, and what a D-SACK says.
    fn learn(&mut self, news: &News) {
        if let Some((first, last)) = news.rtt {
            self.rtt.least_of(last);
            self.rtt.sample(first, self.board.una(), self.board.next());
        } else if news.acked > 0 {
            self.rtt.end_back_off();
        }
        if news.dsack {
            self.rack.spurious(news.prior_delivered, self.flow.rate.delivered);
            if let Some(repeats) = &mut self.episode.undo.repeats {
                *repeats = repeats.saturating_sub(1);
            }
        }
    }

    /// What the ACK of a tail loss probe says: if its repeat filled a hole, a loss has been repaired.
    fn on_probe_answer(&mut self, now: Time, expects: u32, probe: u32, dsack: bool) {
        if expects < probe {
            return;
        }
        if !self.tail.probe_repeats || dsack {
            self.tail.probe = None;
        } else if expects > probe || expects == probe && self.board.outstanding() == 0 {
            self.tail.probe = None;
            self.begin_reduction(now, false);
            self.end_reduction();
            self.episode.state = State::Open;
        }
    }

    fn is_dubious(&self, news: &News) -> bool {
        news.echo || self.episode.state != State::Open || self.board.sacked() > 0 || news.acked == 0 || news.dsack
    }

    /// Which state comes next; whether RACK has set the timer.
    fn alert(&mut self, now: Time, news: &News) -> bool {
        let una = self.board.una();
        if self.episode.state != State::Open && una >= self.episode.high {
            match self.episode.state {
                State::Reduction if una > self.episode.high => {
                    self.end_reduction();
                    self.episode.state = State::Open;
                }
                State::Recovery => {
                    if self.try_undo(now) {
                        self.episode.state = State::Open;
                    } else {
                        self.end_reduction();
                        self.episode.state = State::Open;
                    }
                    self.rack.recovered();
                }
                _ => {}
            }
        }
        match self.episode.state {
            State::Recovery => {
                self.undo_by_dsack(now);
                self.find_lost(now)
            }
            State::Loss => {
                self.after_time_out(now, news);
                let again = self.board.again();
                let armed = self.find_lost(now);
                if self.episode.state == State::Open || self.board.again() < again {
                    return self.maybe_recover(now, news, armed);
                }
                armed
            }
            _ => {
                self.undo_by_dsack(now);
                let armed = self.find_lost(now);
                self.maybe_recover(now, news, armed)
            }
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
