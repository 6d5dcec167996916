//! The sending half of a connection: the classic one of ns-2, or the one that hosts have today.

use super::classic::Classic;
use super::config::Config;
use super::congestion::State;
use super::error::ConfigError;
use super::modern::{self, Modern};
use super::recovery::Recovery;
use super::rto::RtoEstimator;
use super::supply::{Extent, Supply};
use super::{AckInfo, Counters, Segment};
use perhop_core::units::{Span, Time};

/// What a connection knows of its round trip, for another that goes the same way.
#[derive(Clone, Copy, Debug)]
pub enum Estimate {
    /// With the phase of the host's clock.
    Classic(RtoEstimator),
    /// As Linux keeps it.
    Modern(modern::Rtt),
}

impl Estimate {
    /// Smoothed round trip; `None` before the first sample.
    pub fn srtt(&self) -> Option<Span> {
        match self {
            Self::Classic(it) => it.srtt(),
            Self::Modern(it) => it.srtt(),
        }
    }
}

/// One connection's sender.
#[derive(Clone, Debug)]
pub enum Sender {
    /// Reno or NewReno without SACK, as ns-2 has them.
    Classic(Classic),
    /// SACK, RACK-TLP, PRR.
    Modern(Box<Modern>),
}

/// The same call of either.
macro_rules! either {
    ($self:ident, $it:ident => $call:expr) => {
        match $self {
            Sender::Classic($it) => $call,
            Sender::Modern($it) => $call,
        }
    };
}

impl Sender {
    /// A closed connection; nothing is sent before [`Sender::start`].
    ///
    /// # Errors
    /// What [`Config::validate`] refuses, or a supply of more than 2^32 - 2 segments.
    pub fn new(config: &Config, supply: Supply) -> Result<Self, ConfigError> {
        config.validate()?;
        let extent = Extent::of(supply, config.mss)?;
        Ok(match config.recovery {
            Recovery::Rack => Self::Modern(Box::new(Modern::new(config, extent)?)),
            Recovery::Reno | Recovery::NewReno(_) => Self::Classic(Classic::new(config, extent)?),
        })
    }

    /// Sets the phase of the host's clock within its tick at time zero (ns-2 `boot_time_`, drawn per connection). Round
    /// trips are counted in ticks passed, so connections of equal phase would make the same errors. Modern hosts have no ticks.
    pub fn with_clock_phase(self, phase: Span) -> Self {
        match self {
            Self::Classic(it) => Self::Classic(it.with_clock_phase(phase)),
            modern @ Self::Modern(_) => modern,
        }
    }

    /// Sets what the law draws from, another number for each connection.
    pub fn with_seed(self, seed: u64) -> Self {
        match self {
            Self::Modern(it) => Self::Modern(Box::new(it.with_seed(seed))),
            classic @ Self::Classic(_) => classic,
        }
    }

    /// With the clock and the round trip that the connection's handshake has measured.
    pub fn with_estimate(self, estimate: Estimate) -> Self {
        match (self, estimate) {
            (Self::Classic(it), Estimate::Classic(estimate)) => Self::Classic(it.with_estimate(estimate)),
            (Self::Modern(it), Estimate::Modern(rtt)) => Self::Modern(Box::new(it.with_estimate(rtt))),
            (it, _) => it,
        }
    }

    /// Its clock and its estimate of the round trip.
    pub fn estimate(&self) -> Estimate {
        match self {
            Self::Classic(it) => Estimate::Classic(it.estimate()),
            Self::Modern(it) => Estimate::Modern(it.estimate()),
        }
    }

    /// Opens the connection: the SYN, or the initial window, may now be taken.
    pub fn start(&mut self) {
        either!(self, it => it.start());
    }

    /// The application has `segments` more full segments to send.
    ///
    /// # Panics
    /// Unless the supply is [`Supply::Offered`], or beyond 2^32 - 2 segments in all: the host's mistake.
    pub fn offer(&mut self, segments: u32) {
        either!(self, it => it.offer(segments));
    }

    /// The application will have nothing more at some time; before [`Sender::start`]'s first ACK.
    pub fn will_close(&mut self) {
        if let Self::Modern(it) = self {
            it.will_close();
        }
    }

    /// The application has nothing more: an unlimited supply ends with what was sent so far, of a sender of today with what
    /// its buffer holds. What was offered is sent.
    pub fn close(&mut self) {
        either!(self, it => it.close());
    }

    /// An ACK has arrived.
    ///
    /// # Panics
    /// When it acknowledges what was never sent: ACKs of two connections are mixed up.
    #[inline]
    pub fn on_ack(&mut self, now: Time, ack: AckInfo) {
        either!(self, it => it.on_ack(now, ack));
    }

    /// Bytes of options that the segments of a handshake have beyond those of others:
    /// largest segment, SACK permitted, window scale.
    pub fn handshake_options(&self) -> u16 {
        match self {
            Self::Classic(_) => 0,
            Self::Modern(_) => 8,
        }
    }

    /// The next segment to put on the wire; call until `None` after every other call that takes a time or an offer.
    #[inline]
    pub fn next_segment(&mut self, now: Time) -> Option<Segment> {
        either!(self, it => it.next_segment(now))
    }

    /// When to call [`Sender::on_timer`]. Most calls move it later, so a host may keep one pending wake-up and re-arm
    /// it on expiry; but the first round-trip sample and the end of a back-off move it earlier: then wake earlier.
    #[inline]
    pub fn timer_at(&self) -> Option<Time> {
        either!(self, it => it.timer_at())
    }

    /// A segment of data has left the queue of the host's port: it begins to be sent, or was dropped there. Needed with
    /// [`super::Reaction::small_queues`] only; call [`Sender::timer_at`] afterwards.
    pub fn segment_left(&mut self, now: Time) {
        if let Self::Modern(it) = self {
            it.segment_left(now);
        }
    }

    /// The timer may have expired; harmless when early.
    pub fn on_timer(&mut self, now: Time) {
        either!(self, sender => sender.on_timer(now));
    }

    /// Whether a pause between segments ends at this very moment. Linux sends what waited for that, at the rate of before,
    /// and then takes an ACK that arrives at the same moment: while BBR starts, that is every second one.
    #[inline]
    pub fn goes_first(&self, now: Time) -> bool {
        match self {
            Self::Classic(_) => false,
            Self::Modern(it) => it.pause_ends() == Some(now),
        }
    }

    /// Whether what is due at [`Sender::timer_at`] is no timer but the end of a pause that the law makes between segments.
    #[inline]
    pub fn only_pauses(&self, now: Time) -> bool {
        match self {
            Self::Classic(_) => false,
            Self::Modern(it) => it.only_pauses(now),
        }
    }

    /// Everything supplied so far has been acknowledged (for [`Supply::Offered`]: everything offered so far).
    pub fn finished(&self) -> bool {
        either!(self, it => it.finished())
    }

    /// Congestion window, segments, without the inflation of fast recovery.
    pub fn cwnd(&self) -> f64 {
        either!(self, it => it.cwnd())
    }

    /// Slow-start threshold, segments.
    pub fn ssthresh(&self) -> f64 {
        either!(self, it => it.ssthresh())
    }

    /// Smoothed round trip; `None` without an estimate.
    pub fn srtt(&self) -> Option<Span> {
        either!(self, it => it.srtt())
    }

    /// Least round trip so far, in whole microseconds; `None` before the first sample.
    pub fn min_rtt(&self) -> Option<Span> {
        either!(self, it => it.min_rtt())
    }

    /// Retransmission time-out, back-off included.
    pub fn rto(&self) -> Span {
        either!(self, it => it.rto())
    }

    /// Segments sent and not acknowledged, the SYN included.
    pub fn in_flight(&self) -> u32 {
        either!(self, it => it.in_flight())
    }

    /// The lowest number not acknowledged.
    pub fn first_unacknowledged(&self) -> u32 {
        either!(self, it => it.first_unacknowledged())
    }

    /// In fast recovery.
    pub fn recovering(&self) -> bool {
        either!(self, it => it.recovering())
    }

    /// What is going on with a modern sender; `None` for a classic one.
    pub fn state(&self) -> Option<State> {
        match self {
            Self::Classic(_) => None,
            Self::Modern(it) => Some(it.state()),
        }
    }

    /// What has been done so far.
    pub fn counters(&self) -> &Counters {
        either!(self, it => it.counters())
    }
}
