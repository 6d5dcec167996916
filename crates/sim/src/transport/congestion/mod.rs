//! The window law: how much may be outstanding, and how each signal from the network changes that.
//!
//! Loss recovery (which segment to retransmit, when an episode ends) is in `recovery.rs`; the same law works with
//! each kind of recovery. A law keeps its own state. Time, round trips and all else that it needs are in [`Signal`].
//!
//! To add one: write its file, add its line to the list below. Its parameters are keys of `[tcp.X]`. They implement
//! [`CongestionLaw`], which answers all questions about the law before it runs.
//!
//! Decision: docs/decisions/040-what-a-law-knows.md

use super::EcnFeedback;
use perhop_core::design::policer;
use perhop_core::params::ParamError;
use perhop_core::registry::forward;
use perhop_core::units::{Span, Time};

/// What a law does that has the numbers of its RFC in one variant and those of Linux in the other.
macro_rules! rfc_or_linux {
    ($self:ident, $state:ident => $does:expr) => {
        match $self {
            Self::Rfc($state) => $does,
            Self::Linux($state) => $does,
        }
    };
}

perhop_core::algorithms! {
    $ "congestion law" over () => AnyLaw, LawParams, dispatch;

    /// Slow start, additive increase, halving (RFC 5681).
    "reno" => reno::{Params, Reno},
    /// The window is a cubic function of the time since the last congestion event (RFC 9438).
    "cubic" => cubic/mod::{Params, Cubic},
    /// Paced by a model of the path's rate and minimum round trip; loss alone does not slow it (BBR v1 as in Linux).
    "bbr" => bbr/mod::{Params, Bbr},
    /// BBR with bounds that losses above 2 % set, and probes that keep within them (BBR v3 of the IETF draft).
    "bbr3" => bbr3/mod::{Params, Bbr3},
    /// Cuts the window by half of the fraction of segments that were marked (RFC 8257).
    "dctcp" => dctcp/mod::{Params, Dctcp},
    /// DCTCP for the Internet: paced, no faster for short round trips (draft-briscoe-iccrg-prague-congestion-control).
    "prague" => prague::{Params, Prague},
    _ => foreign::{Params, Foreign},
}

/// Slow starts that end before loss, for any law.
pub mod hystart;
mod dice;
mod report;

pub use report::{Event, InFlight, LostSegment, RateSample, Report, State};

/// A few numbers, copied with a connection's configuration.
impl Copy for LawParams {}

impl Default for LawParams {
    fn default() -> Self {
        Self::Reno(reno::Params::DEFAULT)
    }
}

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
#[derive(Clone, Copy, Debug, Default)]
pub struct Signal {
    /// When.
    pub now: Time,
    /// Segments newly acknowledged; 0 unless the signal is an ACK.
    pub acked: u32,
    /// Those of `acked` that were marked "congestion experienced", as far as the receiver tells.
    pub marked: u32,
    /// min(cwnd, advertised window), segments.
    pub usable: f64,
    /// Smoothed round trip, in whole ticks of the sender's clock; `None` without an estimate.
    pub srtt: Option<Span>,
    /// Least round trip so far, in whole microseconds; `None` before the first sample.
    pub min_rtt: Option<Span>,
    /// Round trip of the newest segment that this ACK acknowledges and that was sent
    /// once, to the ns; `None` where none was timed.
    pub sample: Option<Span>,
    /// The lowest number not acknowledged (SND.UNA), after this ACK.
    pub una: u32,
    /// The number past the highest sent (SND.NXT), before what this ACK releases.
    pub next: u32,
    /// Whether the sender is paced though the law does not pace.
    pub paced: bool,
}

/// A law before it runs: what settings, checks and translations ask of it.
#[forward(LawParams: dispatch)]
pub trait CongestionLaw {
    /// Whether its segments are spread over the round trip; others go when an ACK comes.
    fn paces(&self) -> bool;
    /// Whether it answers to the fraction of marks, so that its receiver has to tell of each of them and everything it sends
    /// is ECN-capable.
    fn is_scalable(&self) -> bool {
        false
    }
    /// Whether it goes to the queues of L4S, by ECT(1) (RFC 9331).
    fn is_l4s(&self) -> bool {
        false
    }
    /// What its receiver has to tell of marks.
    fn feedback(&self) -> EcnFeedback {
        EcnFeedback::Rfc3168
    }
    /// Linux's name of it, if Linux 6.12 has it.
    fn linux(&self) -> Option<&'static str> {
        None
    }
    /// The `stack` of hosts with it, if there is one.
    fn stack(&self) -> Option<&'static str> {
        None
    }
    /// What a policer leaves it, with the recovery of today: the part of the table that was measured for it, if there is one.
    fn policed(&self) -> Option<policer::Sender> {
        None
    }
}

/// A connection's law: the default, which has no state, or another, which has its own elsewhere; so a sender stays small.
#[derive(Clone, Debug)]
pub struct Law(Option<Box<AnyLaw>>);

impl Law {
    /// A law by its parameters.
    ///
    /// # Errors
    /// What the law refuses.
    pub fn new(params: LawParams) -> Result<Self, ParamError> {
        if params == LawParams::default() {
            return Ok(Self(None));
        }
        params.build(&()).map(|law| Self(Some(Box::new(law))))
    }
}

/// What a law does, whichever it is.
macro_rules! either {
    ($law:ident, $it:expr, $x:ident => $does:expr) => {
        match $it {
            $law(None) => {
                let $x = &mut reno::Reno::DEFAULT;
                $does
            }
            $law(Some($x)) => $does,
        }
    };
}

/// A law of the congestion window.
#[forward(AnyLaw: dispatch, Law: either)]
pub trait CongestionControl {
    /// An ACK has told which segments have arrived, and which of them marked; whatever else it leads to, and before that.
    #[inline]
    fn on_feedback(&mut self, _signal: &Signal) {}
    /// New data acknowledged outside loss recovery, or by the ACK that ends it; not if the ACK echoes congestion.
    #[inline]
    fn on_ack(&mut self, signal: &Signal, window: &mut Window);
    /// A segment is taken as lost (third duplicate ACK). At most once an episode.
    fn on_loss(&mut self, signal: &Signal, window: &mut Window);
    /// A segment is taken as lost while the window is on its way down after an echo.
    fn on_loss_after_echo(&mut self, _signal: &Signal, _window: &mut Window) {}
    /// The retransmission timer has expired with data outstanding.
    fn on_timeout(&mut self, signal: &Signal, window: &mut Window);
    /// The receiver echoes an ECN mark. At most once a window of data.
    fn on_ecn(&mut self, signal: &Signal, window: &mut Window);

    /// Whether the law sets the window itself, in [`CongestionControl::on_report`], in every state (Linux's `cong_control`).
    /// Then `on_ack` is not called, what the other calls do to the window is ignored, the window is not reduced in recovery,
    /// nor after a pause.
    #[inline]
    fn is_in_control(&self) -> bool {
        false
    }
    /// An ACK, of a law that is in control.
    fn on_report(&mut self, _report: &Report, _window: &mut Window) {}
    /// Something else, of a law that is in control.
    fn on_event(&mut self, _event: Event, _report: &Report, _window: &mut Window) {}
    /// Whether the law is to see each lost segment.
    fn sees_losses(&self) -> bool {
        false
    }
    /// A segment is taken as lost; before the report or event of the same moment.
    fn on_lost(&mut self, _lost: &LostSegment, _report: &Report, _window: &Window) {}
    /// The law keeps less in flight than the network would bear: rates of now say nothing of it. Asked after each report.
    fn holds_back(&self) -> bool {
        false
    }
    /// Bytes of data a second at which segments go, of full ones with `mss` bytes; `None`: as soon as the window lets them.
    #[inline]
    fn pacing_rate(&self, _mss: u16) -> Option<u64> {
        None
    }
    /// A number that is another for each connection, for laws that draw.
    fn seed(&mut self, _seed: u64) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_on_the_list() {
        assert_eq!((LawParams::default().name(), NAMES[0], LIST[0].page().is_empty()), ("reno", "reno", false));
    }
}
