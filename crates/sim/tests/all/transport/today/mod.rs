//! The sender of today beside the texts that it is made from: each rule as plain, quadratic code, clause by clause, fed with
//! the same ACKs and compared after each event: what is sent and in which order, the window of a reduction, the timer, the
//! episode.
//!
//! | file            | text                                                     |
//! |-----------------|----------------------------------------------------------|
//! | `board.rs`      | RFC 6675: scoreboard, SetPipe(), NextSeg()               |
//! | `rack.rs`       | RFC 8985 section 6: RACK                                 |
//! | `timers.rs`     | RFC 8985 section 7, RFC 6298 section 5: the timer        |
//! | `prr.rs`        | RFC 9937                                                 |
//! | `frto.rs`       | RFC 5682 section 3.1                                     |
//! | `trips.rs`      | RFC 6298, RFC 7323: round trips, time stamps             |
//! | `slow.rs`       | these put together                                       |
//! | `departures.rs` | where Linux differs: switches of the slow version        |
//! | `path.rs`       | a path that loses, overtakes and repeats                 |
//!
//! Taken from the fast code, for they have other slow versions: the window while no reduction is in progress, and the
//! threshold.

mod board;
mod departures;
mod frto;
mod path;
mod prr;
mod rack;
mod slow;
mod timers;
mod trips;

use departures::{Departure, Linux};
use path::{Path, Weather};
use perhop_core::units::Span;
use perhop_sim::transport::{Sender, State};

/// What goes on, as the texts tell episodes apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    /// After an ECN echo.
    Reduction,
    Fast,
    Rto,
}

/// What is read of the fast sender.
#[derive(Clone, Copy, Debug)]
struct Seen {
    phase: Phase,
    cwnd: u32,
    ssthresh: u32,
    srtt: Option<Span>,
    min_rtt: Option<Span>,
    rto: Span,
}

impl Seen {
    fn of(sender: &Sender) -> Self {
        let phase = match sender.state().unwrap() {
            State::Open | State::Disorder => Phase::Open,
            State::Reduction => Phase::Reduction,
            State::Recovery => Phase::Fast,
            State::Loss => Phase::Rto,
        };
        let (cwnd, ssthresh) = (sender.cwnd() as u32, sender.ssthresh() as u32);
        Self { phase, cwnd, ssthresh, srtt: sender.srtt(), min_rtt: sender.min_rtt(), rto: sender.rto() }
    }
}

const RUNS: u64 = 1500;

/// What the first difference in so many histories is.
fn difference(linux: Linux) -> Option<String> {
    (0..RUNS).find_map(|seed| Path::new(Weather::of(seed), linux).run().err().map(|e| format!("seed {seed}: {e}")))
}

/// Every event of every history: the same segments, window, timer and episode.
#[test]
fn the_sender_does_what_the_texts_say() {
    assert_eq!(difference(Linux { but: None }), None);
}

/// A departure that made no difference would be none.
#[test]
fn each_departure_shows() {
    for it in Departure::ALL {
        let difference = difference(Linux { but: Some(it) });
        println!("{it:?}: {difference:?}");
        assert!(difference.is_some(), "{it:?} makes no difference");
    }
}
