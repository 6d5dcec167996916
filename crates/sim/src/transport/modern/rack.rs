//! RACK: a segment is lost once one sent sufficiently later has arrived.
//!
//! Source: RFC 8985 section 6.2, with Linux's choices (`tcp_recovery.c`): no reordering window while none was seen and the
//! sender is in recovery or DupThresh segments are sacked; the window grows by a quarter of the least round trip with each
//! round trip that brings a D-SACK.
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
    pub(super) reordering: u32,
    pub(super) seen: bool,
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

    /// A D-SACK says that a repeat was not needed; `delivered` segments so far. Once a round trip.
    pub(super) fn spurious(&mut self, prior_delivered: u64, delivered: u64) {
        if prior_delivered >= self.widened_at {
            (self.quarters, self.persist, self.widened_at) = (self.quarters.saturating_add(1), PERSIST, delivered);
        }
    }

    /// A recovery has ended.
    pub(super) fn recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.quarters = 1;
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
        let mut wait: Option<Span> = None;
        for number in board.una()..board.next() {
            let it = board.get(number);
            if it.sacked || it.lost && !it.again {
                continue;
            }
            if (it.at, number) >= (self.sent_at, self.number) {
                if !it.repeated {
                    break; // all after it were sent later, or again
                }
                continue;
            }
            let due = it.at + self.rtt + window;
            if due <= at.now {
                board.lose(number);
            } else {
                let left = due.since(at.now);
                wait = Some(wait.map_or(left, |wait| wait.max(left)));
            }
        }
        wait
    }
}
