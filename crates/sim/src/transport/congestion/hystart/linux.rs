//! HyStart as in Linux 6.12: slow start ends when an ACK train lasts for half a round trip, or when the least round
//! trip of a round is longer than the least of all.
//!
//! Source: S. Ha, I. Rhee, "Taming the Elephants: New TCP Slow Start", NCSU TR 2008; the behaviour of Linux 6.12.
//!
//! ```text
//! an ACK with a round trip d (us), in slow start:
//!   UNA > end:                          a round begins: start = last = now, end = SND.NXT, no samples
//!   cwnd < 16:                          nothing more
//!   now - last <= 2 ms:                 in a row: last = now; over if now - start > (least + 1 ms) / 2,
//!                                       without the half if the sender is paced (the queue `fq`)
//!   d is one of the round's first 8:    a sample;  a later one: over if the least of the round is above
//!                                       least + min(max(least / 8, 4 ms), 16 ms)
//! over: ssthresh = cwnd, and nothing more until a time-out
//! ```
//!
//! Times are in whole microseconds. `least` is the least round trip since the connection opened or its last time-out.
//!
//! Deviation: the 1 ms stands for the time that four of the largest bursts of a device take at the pacing rate. In
//! Linux it is 1 ms below about 1 Gbit/s, and less above.

use crate::transport::congestion::{Signal, Window};

/// Below this window, segments, nothing ends slow start.
const LOW_WINDOW: f64 = 16.0;
/// ACKs at most this far apart are in a row, us.
const IN_A_ROW: u64 = 2000;
/// What bursts of a host may add to a round trip, us.
const CUSHION: u64 = 1000;
/// Samples of a round before its delay says anything.
const SAMPLES: u8 = 8;
/// Bounds of the delay that ends slow start, us.
const DELAY: (u64, u64) = (4000, 16_000);

/// State of a connection.
#[derive(Clone, Debug)]
pub struct Hybrid {
    /// Slow start is over.
    found: bool,
    samples: u8,
    end: u32,
    /// All in us; `u64::MAX`: none.
    start: u64,
    last: u64,
    round: u64,
    least: u64,
}

impl Default for Hybrid {
    fn default() -> Self {
        Self { found: false, samples: 0, end: 1, start: 0, last: 0, round: u64::MAX, least: u64::MAX }
    }
}

impl Hybrid {
    /// A time-out.
    pub(super) fn restart(&mut self, signal: &Signal) {
        *self = Self::default();
        self.begin(signal);
    }

    fn begin(&mut self, signal: &Signal) {
        let now = signal.now.ns() / 1000;
        (self.start, self.last, self.end, self.round, self.samples) = (now, now, signal.next, u64::MAX, 0);
    }

    /// Takes an ACK in slow start.
    pub(super) fn on_ack(&mut self, signal: &Signal, window: &mut Window) {
        let Some(sample) = signal.sample else { return };
        let delay = (sample.ns() / 1000).max(1);
        self.least = self.least.min(delay);
        if self.found {
            return;
        }
        if signal.una > self.end {
            self.begin(signal);
        }
        if window.cwnd < LOW_WINDOW {
            return;
        }
        self.found = self.is_train(signal) | self.is_late(delay);
        if self.found {
            window.ssthresh = window.cwnd;
        }
    }

    fn is_train(&mut self, signal: &Signal) -> bool {
        let now = signal.now.ns() / 1000;
        if now - self.last > IN_A_ROW {
            return false;
        }
        self.last = now;
        now - self.start > (self.least + CUSHION) >> u32::from(!signal.paced)
    }

    fn is_late(&mut self, delay: u64) -> bool {
        self.round = self.round.min(delay);
        if self.samples < SAMPLES {
            self.samples += 1;
            return false;
        }
        self.round > self.least + (self.least / 8).clamp(DELAY.0, DELAY.1)
    }
}
