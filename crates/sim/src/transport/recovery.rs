//! Loss recovery: what duplicate and partial ACKs lead to.
//!
//! Source: RFC 5681 section 3.2 (Reno), RFC 6582 section 3.2 (NewReno), RFC 3042 section 2 (limited transmit), RFC 3168 section
//! 6.1.2 (ECN); ns-2's `Agent/TCP/Reno` and `Agent/TCP/Newreno` where these leave a choice.
//!
//! - The third duplicate ACK halves the window, repeats the first unacknowledged segment and begins *fast
//!   recovery*: the window is inflated by 3 and by 1 for each further duplicate.
//! - It does so only if everything sent before the last cut has been acknowledged (`recover`): a second loss of
//!   the same window does not cut twice. If that cut answered an ECN echo, the segment is repeated without a cut.
//! - **Reno** leaves at the first new ACK. **NewReno** stays until `recover` is acknowledged; each *partial* ACK
//!   repeats the next hole and deflates the window by what it acknowledged, less one.
//! - **Impatient** NewReno restarts the retransmission timer at the first partial ACK only, **slow-but-steady** at each.
//!
//! | symbol               | field         | unit     | ns-2                                    |
//! |----------------------|---------------|----------|-----------------------------------------|
//! | recover              | `recover`     | number   | `recover_` + 1                          |
//! | duplicate ACKs       | `duplicates`  | -        | `dupacks_` (NewReno keeps it over partial ACKs) |
//! | inflation            | `inflation`   | segments | `dupwnd_`                               |
//! | DupThresh = 3        | `THRESHOLD`   | -        | `numdupacks_`                           |
//! | impatient            | `PartialAckTimer::First` | - | `newreno_changes1_ 1` (default since 2003) |
//! | slow-but-steady      | `PartialAckTimer::Each`  | - | `newreno_changes1_ 0`                |
//!
//! Deviations: NewReno sends at most 2 segments per ACK during recovery (ns-2; RFC 6582 section 3.2 allows a bound).
//! On leaving recovery cwnd is what deflation left of ssthresh, not min(ssthresh, flight + 1) (`exit_recovery_fix_ 0`).

use super::congestion::Window;

/// The recovery algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// Leaves fast recovery at the first new ACK (RFC 5681).
    Reno,
    /// Leaves it when all that was outstanding at the loss is acknowledged (RFC 6582).
    NewReno(PartialAckTimer),
    /// SACK, RACK-TLP, PRR and F-RTO, by a sender of its kind: `modern/`.
    Rack,
}

impl Recovery {
    /// Its name in files.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Reno => "reno",
            Self::NewReno(PartialAckTimer::First) => "newreno",
            Self::NewReno(PartialAckTimer::Each) => "newreno-steady",
            Self::Rack => "rack",
        }
    }
}

/// Which partial ACKs restart NewReno's retransmission timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartialAckTimer {
    /// The first only ("impatient"): many losses in a window end in a time-out and slow start.
    First,
    /// Each ("slow but steady"): one hole a round trip, however many there are.
    Each,
}

/// Duplicate ACKs that signal a loss.
const THRESHOLD: u32 = 3;
/// Segments NewReno sends per ACK while in recovery.
const RECOVERY_BURST: u32 = 2;

/// Why the window was last cut, and whether that episode is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LastCut {
    None,
    /// Fast recovery continues.
    Loss,
    /// Fast recovery has ended.
    LossRepaired,
    Timeout,
    Echo,
}

/// What an ACK of new data means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NewAck {
    Full,
    Partial { restart_timer: bool },
}

/// What a duplicate ACK calls for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Duplicate {
    /// One of the first two; whether it may release a segment.
    Early { limited_transmit: bool },
    /// The loss signal: cut, repeat.
    Loss,
    /// The loss signal for a window that an ECN echo has cut already: repeat only.
    LossAfterEcho,
    /// A further one: the window may have opened.
    Late,
}

/// One connection's state of recovery.
#[derive(Clone, Copy, Debug)]
pub(super) struct Episode {
    kind: Recovery,
    last: LastCut,
    partial_seen: bool,
    limited_transmit: bool,
    duplicates: u32,
    inflation: u32,
    /// One past the highest number sent when the window was last cut.
    recover: u32,
}

impl Episode {
    pub(super) fn new(kind: Recovery, limited_transmit: bool) -> Self {
        let last = LastCut::None;
        Self { kind, last, partial_seen: false, limited_transmit, duplicates: 0, inflation: 0, recover: 0 }
    }

    /// Duplicate ACKs since the last full ACK.
    pub(super) fn duplicates(&self) -> u32 {
        self.duplicates
    }

    /// Segments by which duplicate ACKs have inflated the window.
    #[inline]
    pub(super) fn inflation(&self) -> u32 {
        self.inflation
    }

    /// In fast recovery.
    pub(super) fn recovering(&self) -> bool {
        self.last == LastCut::Loss
    }

    /// Segments that one duplicate or partial ACK may release.
    pub(super) fn burst(&self) -> u32 {
        match self.kind {
            Recovery::Reno => u32::MAX,
            Recovery::NewReno(_) | Recovery::Rack => RECOVERY_BURST,
        }
    }

    /// New data acknowledged, up to below `next_expected`.
    #[inline]
    pub(super) fn on_new_ack(&mut self, next_expected: u32) -> NewAck {
        if self.last == LastCut::Loss {
            if let Recovery::NewReno(timer) = self.kind
                && next_expected < self.recover
            {
                let restart_timer = timer == PartialAckTimer::Each || !self.partial_seen;
                self.partial_seen = true;
                return NewAck::Partial { restart_timer };
            }
            self.last = LastCut::LossRepaired;
        }
        self.inflation = 0;
        self.duplicates = 0;
        NewAck::Full
    }

    /// Partial window deflation (RFC 6582 section 3.2 step 3): out goes what was acknowledged, in the repeated segment.
    pub(super) fn deflate(&mut self, acked: u32, window: &mut Window) {
        if self.inflation > acked {
            self.inflation -= acked - 1;
        } else {
            window.cwnd = f64::max(1.0, window.cwnd - f64::from(acked - self.inflation));
            self.inflation = 1;
        }
    }

    /// An ACK that acknowledges nothing new, of `una`, with data outstanding up to below `sent`.
    pub(super) fn on_duplicate(&mut self, una: u32, sent: u32) -> Duplicate {
        self.duplicates += 1;
        if self.duplicates < THRESHOLD {
            return Duplicate::Early { limited_transmit: self.limited_transmit };
        }
        if self.duplicates > THRESHOLD {
            self.inflation += u32::from(self.last == LastCut::Loss);
            return Duplicate::Late;
        }
        let what = match self.last {
            _ if una > self.recover => Duplicate::Loss,
            LastCut::Echo => Duplicate::LossAfterEcho,
            _ => return Duplicate::Late,
        };
        if what == Duplicate::Loss {
            self.recover = sent;
        }
        self.last = LastCut::Loss;
        self.partial_seen = false;
        self.inflation = THRESHOLD;
        what
    }

    /// An ECN echo: is it the first for this window of data? If so the window is to be cut.
    pub(super) fn on_echo(&mut self, next_expected: u32, sent: u32) -> bool {
        let first = next_expected > self.recover;
        if first {
            self.recover = sent;
            self.last = LastCut::Echo;
        }
        first
    }

    /// The timer expired; says whether an ECN echo has cut the outstanding window already.
    pub(super) fn on_timeout(&mut self, sent: u32) -> bool {
        let cut_already = self.last == LastCut::Echo;
        *self = Self { last: LastCut::Timeout, recover: sent, ..Self::new(self.kind, self.limited_transmit) };
        cut_already
    }
}
