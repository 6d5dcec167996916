//! The window law: how much may be outstanding, and how each signal from the network changes that.
//!
//! Loss recovery (which segment to repeat, when an episode ends) is not here but in `recovery.rs`;
//! the same law works under each recovery. Adding a law = one file, one variant of [`LawKind`](super::LawKind) and
//! of [`Law`](super::Law). A law keeps its own state; what CUBIC or BBR need beyond it (time, the estimated
//! round trip, delivery rate) travels in [`Signal`], which may grow.

use perhop_core::units::Time;

/// The two variables every law sets, in segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Congestion window; real-valued, its whole part is what may be outstanding. Below 1 only
    /// after an ECN echo at a window of 1 (RFC 3168 section 6.1.2): the sender then waits for its timer.
    pub cwnd: f64,
    /// Slow-start threshold.
    pub ssthresh: f64,
}

/// What has happened, as a law sees it.
#[derive(Clone, Copy, Debug)]
pub struct Signal {
    /// When.
    pub now: Time,
    /// Segments newly acknowledged; 0 unless the signal is an ACK.
    pub acked: u32,
    /// min(cwnd, advertised window), segments.
    pub usable: f64,
}

/// A law of the congestion window.
pub trait CongestionControl {
    /// New data acknowledged outside loss recovery, or by the ACK that ends it; not if the ACK echoes congestion.
    fn on_ack(&mut self, signal: &Signal, window: &mut Window);
    /// A segment is taken as lost (third duplicate ACK). At most once an episode.
    fn on_loss(&mut self, signal: &Signal, window: &mut Window);
    /// The retransmission timer has expired with data outstanding.
    fn on_timeout(&mut self, signal: &Signal, window: &mut Window);
    /// The receiver echoes an ECN mark. At most once a window of data.
    fn on_ecn(&mut self, signal: &Signal, window: &mut Window);
}
