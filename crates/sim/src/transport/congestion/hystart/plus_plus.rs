//! HyStart++ (RFC 9406): once the least round trip of a round is longer than that of the round before, the window
//! grows at a quarter of the pace for up to five rounds. Slow start resumes if the round trip falls again, and is
//! over otherwise.
//!
//! Source: RFC 9406 sections 4.2 and 4.3 (its constants).
//!
//! ```text
//! an ACK of N segments, in the connection's first slow start:
//!   cwnd = cwnd + min(N, L), in the slower rounds a quarter of it
//!   a sample:   current = min(current, sample), count it
//!   8 samples:  slow start: current >= previous + max(4 ms, min(previous / 8, 16 ms)): base = current, slower rounds
//!               slower rounds: current < base: slow start
//!   UNA >= end: the round is over: previous = current; the fifth slower round is over: ssthresh = cwnd
//! ```
//!
//! L is 8, as for a sender without pacing. Later slow starts, after a time-out, are those of the congestion law
//! (section 4.3).
//!
//! Deviations: none. A sender that times one segment per round trip never has eight samples in a round, so only the
//! threshold ends its slow start.

use crate::transport::congestion::{Signal, Window};
use perhop_core::units::Span;

/// L: segments of one ACK that count.
const MOST: u32 = 8;
const SAMPLES: u32 = 8;
/// `CSS_GROWTH_DIVISOR` and `CSS_ROUNDS`.
const DIVISOR: f64 = 4.0;
const ROUNDS: u8 = 5;
/// `MIN_RTT_THRESH` and `MAX_RTT_THRESH`.
const THRESHOLD: (Span, Span) = (Span::from_ms(4), Span::from_ms(16));

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    Fast,
    /// Conservative slow start: the round trip that began it, and how many rounds are over.
    Slower {
        base: Span,
        rounds: u8,
    },
    Over,
}

/// State of a connection.
#[derive(Clone, Debug)]
pub struct PlusPlus {
    phase: Phase,
    end: u32,
    samples: u32,
    current: Option<Span>,
    previous: Option<Span>,
}

impl Default for PlusPlus {
    fn default() -> Self {
        Self { phase: Phase::Fast, end: 1, samples: 0, current: None, previous: None }
    }
}

impl PlusPlus {
    /// The first slow start is over.
    pub(super) fn stop(&mut self) {
        self.phase = Phase::Over;
    }

    /// Takes an ACK in slow start: what the window may grow by.
    pub(super) fn on_ack(&mut self, signal: &Signal, own: f64, window: &mut Window) -> f64 {
        let most = f64::from(signal.acked.min(MOST));
        let growth = match self.phase {
            Phase::Over => return own,
            Phase::Fast => most,
            Phase::Slower { .. } => most / DIVISOR,
        };
        self.look(signal.sample);
        if signal.una >= self.end {
            self.end_round(signal.next);
        }
        if self.phase == Phase::Over {
            window.ssthresh = window.cwnd + growth;
        }
        growth
    }

    fn look(&mut self, sample: Option<Span>) {
        let Some(sample) = sample else { return };
        let current = self.current.map_or(sample, |it| it.min(sample));
        (self.current, self.samples) = (Some(current), self.samples + 1);
        if self.samples < SAMPLES {
            return;
        }
        match (self.phase, self.previous) {
            (Phase::Fast, Some(previous)) if current >= previous + threshold(previous) => {
                self.phase = Phase::Slower { base: current, rounds: 0 };
            }
            (Phase::Slower { base, .. }, _) if current < base => self.phase = Phase::Fast,
            _ => {}
        }
    }

    fn end_round(&mut self, next: u32) {
        (self.previous, self.current, self.samples, self.end) = (self.current, None, 0, next);
        if let Phase::Slower { rounds, .. } = &mut self.phase {
            *rounds += 1;
            if *rounds == ROUNDS {
                self.phase = Phase::Over;
            }
        }
    }
}

fn threshold(previous: Span) -> Span {
    (previous / 8).clamp(THRESHOLD.0, THRESHOLD.1)
}
