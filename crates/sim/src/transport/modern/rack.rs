//! RACK: a segment is lost once one sent sufficiently later has arrived.
//!
//! Source: RFC 8985 sections 6, 6.2, 6.3 and 8, with Linux's choices (`tcp_recovery.c`): no reordering window while none was seen
//! and the sender is in recovery or DupThresh segments are sacked; the window grows by a quarter of the least round trip with
//! each round trip that brings a D-SACK, and is forgotten after 16 recoveries.
//!
//! | symbol            | field        | unit     |
//! |-------------------|--------------|----------|
//! | RACK.xmit_ts      | `sent_at`    | time     |
//! | RACK.end_seq      | `number`     | number   |
//! | RACK.rtt          | `rtt`        | time     |
//! | RACK.min_RTT      | the sender's | time     |
//! | RACK.reo_wnd_mult | `quarters`   | -        |
//! | RACK.reo_wnd_persist | `persist` | recoveries |

use super::scoreboard::{Scoreboard, Sent};
use perhop_core::units::{Span, Time};

/// Recoveries for which a widened reordering window stays.
const PERSIST: u8 = 16;
/// DupThresh (RFC 6675).
pub(super) const DUP_THRESHOLD: u32 = 3;

/// What the latest deliveries say.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rack {
    sent_at: Time,
    number: u32,
    rtt: Span,
    advanced: bool,
    quarters: u8,
    persist: u8,
    widened_at: u64,
    /// A repeat was needless, and the window has not grown for it yet.
    needless: bool,
    reordering: u32,
    seen: bool,
}

/// What the reordering window depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conditions {
    pub(super) now: Time,
    pub(super) recovering: bool,
    pub(super) min_rtt: Span,
    pub(super) srtt: Span,
}

impl Rack {
    pub(super) fn new() -> Self {
        Self {
            sent_at: Time::ZERO,
            number: 0,
            rtt: Span::ZERO,
            advanced: false,
            quarters: 1,
            persist: 0,
            widened_at: 0,
            needless: false,
            reordering: DUP_THRESHOLD,
            seen: false,
        }
    }

    /// A segment is known to have arrived. A repeat's ACK that comes sooner than any round trip so far is the original's.
    pub(super) fn delivered(&mut self, number: u32, it: &Sent, now: Time, min_rtt: Option<Span>) {
        let rtt = now.since(it.at);
        if it.repeated && min_rtt.is_some_and(|least| rtt < least) {
            return;
        }
        (self.advanced, self.rtt) = (true, rtt);
        if (it.at, number) > (self.sent_at, self.number) {
            (self.sent_at, self.number) = (it.at, number);
        }
    }

    /// A segment arrived `ahead` segments behind a later one: the path reorders.
    pub(super) fn reordered(&mut self, ahead: u32) {
        self.reordering = self.reordering.max(ahead);
        self.seen = true;
    }

    /// How far segments were out of order, DupThresh at least.
    pub(super) fn extent(&self) -> u32 {
        self.reordering
    }

    /// A repeat was needless: if the path reorders, the window was too small.
    pub(super) fn spurious(&mut self) {
        self.needless |= self.seen;
    }

    /// Deliveries have been told of: `delivered` segments so far, `prior` when the newest of these was sent. Once a round trip.
    pub(super) fn adapt(&mut self, prior: u64, delivered: u64) {
        if prior == 0 {
            return;
        }
        self.needless &= prior >= self.widened_at;
        if std::mem::take(&mut self.needless) {
            (self.quarters, self.persist, self.widened_at) = (self.quarters.saturating_add(1), PERSIST, delivered);
        } else if self.persist == 0 {
            self.quarters = 1;
        }
    }

    /// A recovery has ended.
    pub(super) fn recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
    }

    /// It was one for nothing.
    pub(super) fn undone(&mut self) {
        self.persist = PERSIST.min(self.persist + 1);
    }

    /// What is lost may not be: the next ACK tells.
    pub(super) fn look_again(&mut self) {
        self.advanced = true;
    }

    /// A time-out: what was sent longer ago than the latest round trip is lost, and the first segment is.
    pub(super) fn time_out(&self, board: &mut Scoreboard, now: Time) {
        for number in board.una()..board.next() {
            if number == board.una() || board.get(number).at + self.rtt <= now {
                board.lose(number);
            }
        }
    }

    fn window(&self, board: &Scoreboard, at: &Conditions) -> Span {
        if !self.seen && (at.recovering || board.sacked() >= self.reordering) {
            return Span::ZERO;
        }
        Span::from_ns((at.min_rtt.ns() / 4 * u64::from(self.quarters)).min(at.srtt.ns()))
    }

    /// After an ACK: as [`Rack::detect`], if it said anything new.
    pub(super) fn on_ack(&mut self, board: &mut Scoreboard, at: &Conditions) -> Option<Span> {
        if !std::mem::take(&mut self.advanced) {
            return None;
        }
        self.detect(board, at)
    }

    /// Takes as lost what was sent long enough before the latest delivery; how long until the next may be.
    pub(super) fn detect(&mut self, board: &mut Scoreboard, at: &Conditions) -> Option<Span> {
        let window = self.window(board, at);
        let (mut from, mut wait) = (board.una(), None);
        loop {
            let mut lost = None;
            for (number, it) in self.doubtful(board, from) {
                let due = it.at + self.rtt + window;
                if due <= at.now {
                    lost = Some(number);
                    break;
                }
                wait = wait.max(Some(due.since(at.now)));
            }
            let Some(number) = lost else { return wait };
            board.judge(number);
            from = number + 1;
        }
    }

    /// From a number on, what is in question and was sent before the latest delivery. One that is not, and never repeated, ends
    /// the search: all after it were sent later, or again.
    fn doubtful<'a>(&self, board: &'a Scoreboard, from: u32) -> impl Iterator<Item = (u32, &'a Sent)> {
        let latest = (self.sent_at, self.number);
        let is_later = move |(number, it): &(u32, &Sent)| (it.at, *number) >= latest;
        let open = board.in_question(from).take_while(move |segment| segment.1.repeated || !is_later(segment));
        open.filter(move |segment| !is_later(segment))
    }
}
