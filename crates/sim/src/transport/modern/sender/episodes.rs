//! Episodes: what begins one, how the window goes down in it, and the time after a time-out.
//!
//! Source: RFC 9937 sections 5, 6.1 and 6.2 (PRR).

use super::{Before, Close, InFlight, Modern, News, RateSample, Reduction, Report, State};
use crate::transport::congestion::{CongestionControl, Law, Signal, Window};
use crate::transport::modern::rack::DUP_THRESHOLD;
use perhop_core::units::Time;

impl Modern {
    pub(super) fn maybe_recover(&mut self, now: Time, news: &News, armed: bool) -> bool {
        if self.board.lost() > 0 {
            self.enter_recovery(now);
        } else {
            self.try_to_open(now, news);
        }
        armed
    }

    pub(super) fn try_to_open(&mut self, now: Time, news: &News) {
        self.forget_repeats();
        if news.echo && self.episode.state < State::Reduction {
            self.episode.undo.marker = 0;
            self.begin_reduction(now, true);
            self.episode.state = State::Reduction;
            self.flow.counters.echo_cuts += 1;
        }
        if self.episode.state != State::Reduction {
            self.keep_open();
        }
    }

    /// Open, or something is out of order.
    pub(super) fn keep_open(&mut self) {
        let calm = self.board.sacked() + self.board.lost() == 0 && !self.has_repeats();
        let state = if calm { State::Open } else { State::Disorder };
        if state != self.episode.state {
            (self.episode.state, self.episode.high) = (state, self.board.next());
        }
    }

    /// A repeat is on its way, or the first segment was one.
    fn has_repeats(&self) -> bool {
        self.board.again() > 0 || self.board.outstanding() > 0 && self.board.get(self.board.una()).repeated
    }

    pub(super) fn forget_repeats(&mut self) {
        if !self.has_repeats() {
            self.episode.undo.first_repeat = None;
        }
    }

    /// Fast recovery begins.
    pub(super) fn enter_recovery(&mut self, now: Time) {
        if self.episode.state == State::Recovery {
            return;
        }
        self.forget_repeats();
        let reduces = self.episode.state == State::Reduction;
        self.begin_undo(!reduces);
        if !reduces {
            self.begin_reduction(now, false);
        } else {
            let (signal, mut window) = (self.signal(now, 0, None), self.window);
            self.law.on_loss_after_echo(&signal, &mut window);
            self.window.ssthresh = window.ssthresh;
        }
        self.episode.state = State::Recovery;
        self.flow.counters.fast_retransmits += 1;
    }

    /// The law sets the threshold; the window goes down to it.
    pub(super) fn begin_reduction(&mut self, now: Time, echo: bool) {
        let signal = self.signal(now, 0, None);
        let mut window = self.window;
        let how: fn(&mut Law, &Signal, &mut Window) = if echo { Law::on_ecn } else { Law::on_loss };
        how(&mut self.law, &signal, &mut window);
        self.window.ssthresh = window.ssthresh;
        (self.episode.high, self.tail.probe) = (self.board.next(), None);
        self.episode.reduction = Reduction { from: self.window.cwnd as u32, delivered: 0, out: 0 };
        self.flow.counters.cuts += 1;
        self.ecn.cwr = self.ecn.agreed && self.ecn.accurate.is_none();
    }

    pub(super) fn end_reduction(&mut self) {
        let reduces = self.episode.state == State::Reduction || self.episode.undo.marker > 0;
        if reduces && !self.law.is_in_control() {
            self.window.cwnd = self.window.ssthresh;
        }
    }

    /// F-RTO (RFC 5682), and the end of slow start after a time-out.
    pub(super) fn after_time_out(&mut self, now: Time, news: &News) {
        let recovered = self.board.una() >= self.episode.high;
        if news.acked > 0 && self.may_undo() {
            return self.undo_time_out(now);
        }
        if self.episode.frto {
            if news.original {
                return self.undo_time_out(now);
            }
            if self.board.next() > self.episode.high {
                if news.selective || news.acked == 0 && !news.dsack {
                    self.episode.frto = false;
                }
            } else if news.acked > 0 && !recovered {
                self.episode.high = self.board.next();
                if self.has_new() {
                    self.episode.new_first = true;
                    return;
                }
                self.episode.frto = false;
            }
        }
        if recovered {
            self.recovered(now);
            self.episode.state = State::Open;
        }
    }

    /// How the window moves.
    pub(super) fn control(&mut self, now: Time, news: &News, newly_lost: bool) {
        if matches!(self.episode.state, State::Reduction | State::Recovery) {
            return self.reduce(news.sacked, news.acked > 0 && !newly_lost);
        }
        // RFC 5681 section 3.1: by new data acknowledged. Linux: sacked too, if the path reorders (`tcp_may_raise_cwnd`).
        let forward = news.acked > 0 || news.selective && self.rack.extent() > DUP_THRESHOLD;
        if forward && self.is_limited() && !news.echo {
            let signal = self.signal(now, news.sacked, news.rtt.map(|rtt| rtt.1));
            self.law.on_ack(&signal, &mut self.window);
        }
    }

    /// How fast the network delivers, by what an ACK says.
    pub(super) fn sample(&mut self, now: Time, news: &News) -> Option<RateSample> {
        let (min_rtt, lost) = (self.rtt.least(), self.board.losses());
        self.flow.rate.sample(now, Close { newest: news.newest, min_rtt, lost })
    }

    /// A law in control moves the window.
    pub(super) fn hand_over(&mut self, now: Time, news: &News, before: Before) {
        let rate = self.sample(now, news);
        self.show_losses(now);
        let signal = self.signal(now, news.sacked, news.rtt.map(|rtt| rtt.1));
        let report = Report {
            lost: (self.board.losses() - before.losses) as u32,
            in_flight: InFlight { now: self.board.in_flight(), before: before.in_flight },
            rate,
            maybe_delayed: self.is_lone(news) && rate.is_some_and(|it| it.delivered == 1),
            ..self.report(now, signal)
        };
        self.law.on_report(&report, &mut self.window);
        if self.law.holds_back() {
            self.flow.rate.limit(self.board.in_flight());
        }
    }

    /// An ACK of nothing but a short segment, which its receiver may have kept back.
    fn is_lone(&self, news: &News) -> bool {
        news.acked == 1 && news.sacked == 1 && self.board.sacked() == 0 && self.board.una() - 1 == self.data.short
    }

    /// PRR (RFC 9937): `delivered` segments have been; `safe`: the ACK advances and tells of no further loss.
    pub(super) fn reduce(&mut self, delivered: u32, safe: bool) {
        if delivered == 0 || self.episode.reduction.from == 0 {
            return;
        }
        self.episode.reduction.delivered += delivered;
        let (flight, target) = (self.board.in_flight(), self.window.ssthresh as u32);
        let Reduction { from, delivered: all, out } = self.episode.reduction;
        let may = if flight > target {
            (u64::from(target) * u64::from(all)).div_ceil(u64::from(from)) as i64 - i64::from(out)
        } else {
            let behind = (i64::from(all) - i64::from(out)).max(i64::from(delivered)) + i64::from(safe);
            behind.min(i64::from(target - flight))
        };
        self.window.cwnd = f64::from(flight) + may.max(i64::from(out == 0)) as f64;
    }
}
