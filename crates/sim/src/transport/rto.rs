//! Retransmission time-out: estimating the round trip, back-off.
//!
//! Source: RFC 6298, in the integer form of V. Jacobson, "Congestion Avoidance and Control" (1988), Appendix A.
//!
//! ```text
//! first sample R:  SRTT = R, RTTVAR = R/2
//! later:           RTTVAR = 3/4 RTTVAR + 1/4 |SRTT - R|,  SRTT = 7/8 SRTT + 1/8 R       (RFC 6298 sections 2.2, 2.3)
//! RTO = max(SRTT + 4 RTTVAR, minimum) * 2^backoff, at most maximum                       (RFC 6298 sections 2.4, 2.5, 5.5)
//! ```
//! R is counted in ticks of a clock with the given granularity: the ticks that passed between sending and ACK.
//! SRTT is kept in eighths, RTTVAR in quarters of a tick. RTTVAR never falls below a quarter tick, which makes
//! 4 RTTVAR at least the granularity G, as RFC 6298 section 2.3 requires. Karn's algorithm (RFC 6298 section 3): no sample from
//! a segment sent twice (the sender sees to that), and the back-off stays until a sample is taken (RFC 6298 section 5).
//!
//! | symbol | field         | unit | `ns2-2.35` | `era`  | `modern` | ns-2 option    |
//! |--------|---------------|------|------------|--------|----------|----------------|
//! | G      | `granularity` | time | 10 ms      | 100 ms | 1 ms     | `tcpTick_`     |
//! | -      | `minimum`     | time | 200 ms     | 1 s    | 200 ms   | `minrto_`      |
//! | -      | `maximum`     | time | 60 s       | 64 s   | 120 s    | `maxrto_`      |
//! | -      | `initial`     | time | 3 s        | 3 s    | 1 s      | `rtxcur_init_` |
//!
//! `modern` is RFC 6298 with Linux's minimum and maximum. `era` has the tick and the minimum that ns-2 had from May 2001 to March
//! 2002, and a later initial value. Dated ones, from the notes in ns-2.35's own files:
//!
//! | field         | `ns2-2.1b7` | `ns2-2.1b8` | `ns2-2.26` | changed in ns-2                                                                                     |
//! |---------------|-------------|-------------|------------|-----------------------------------------------------------------------------------------------------|
//! | `granularity` | 100 ms      | 100 ms      | 10 ms      | 2002-03-07 (ns-default.tcl line 952, CHANGES.html line 1346)                                        |
//! | `minimum`     | 200 ms      | 1 s         | 1 s        | added with 1 s in May 2001 (CHANGES.html line 1735), 200 ms on 2004-10-14 (ns-default.tcl line 956) |
//! | `maximum`     | 64 s        | 64 s        | 64 s       | 60 s on 2007-03-28 (ns-default.tcl line 954; 64 s: doc/tcp.tex line 180)                            |
//! | `initial`     | 6 s         | 6 s         | 6 s        | 3 s on 2006-01-21 (ns-default.tcl line 961, CHANGES.html line 357)                                  |
//!
//! Before May 2001 the minimum is that of `TcpAgent::rtt_timeout`, two ticks (tcp/tcp.cc line 549). Assumed: that 6 s were the
//! initial value in all three, of which CHANGES.html has no other change.
//!
//! Deviations: the minimum is 200 ms in two presets where RFC 6298 section 2.4 says 1 s. Back-off doubles until the RTO
//! reaches the maximum, as in ns-2.35 (`rfc2988_ true`); older ns-2 stopped at a factor of 64, here 64 s. Before March 2002
//! ns-2 applied the minimum to what back-off had made of the estimate (`rfc2988_ false`), here always before: with `ns2-2.1b8`
//! and an estimate below 1 s a row of time-outs grows sooner here. After the
//! fourth doubling SRTT is forgotten and the next sample is taken as a first one (RFC 6298 section 5, last note; ns-2).
//! Linux bounds 4 RTTVAR by its minimum, `modern` bounds the sum.

use super::error::{ConfigError, check};
use perhop_core::units::{Span, Time};

/// Parameters of the retransmission timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtoConfig {
    /// Tick of the clock that measures round trips.
    pub granularity: Span,
    /// Smallest time-out; at least two ticks.
    pub minimum: Span,
    /// Largest time-out, back-off included.
    pub maximum: Span,
    /// Time-out before the first sample.
    pub initial: Span,
}

impl RtoConfig {
    /// ns-2.35's defaults.
    pub const NS2_2_35: Self = Self {
        granularity: Span::from_ms(10),
        minimum: Span::from_ms(200),
        maximum: Span::from_s(60),
        initial: Span::from_s(3),
    };
    /// The coarse timer of about 2000.
    pub const ERA: Self = Self {
        granularity: Span::from_ms(100),
        minimum: Span::from_s(1),
        maximum: Span::from_s(64),
        initial: Span::from_s(3),
    };
    /// ns-2.1b7's defaults, of October 2000.
    pub const NS2_2_1B7: Self = Self {
        granularity: Span::from_ms(100),
        minimum: Span::from_ms(200),
        maximum: Span::from_s(64),
        initial: Span::from_s(6),
    };
    /// ns-2.1b8's, of June 2001.
    pub const NS2_2_1B8: Self = Self { minimum: Span::from_s(1), ..Self::NS2_2_1B7 };
    /// ns-2.26's, of February 2003.
    pub const NS2_2_26: Self = Self { granularity: Span::from_ms(10), ..Self::NS2_2_1B8 };
    /// RFC 6298 with the bounds of Linux.
    pub const MODERN: Self = Self {
        granularity: Span::from_ms(1),
        minimum: Span::from_ms(200),
        maximum: Span::from_s(120),
        initial: Span::from_s(1),
    };

    /// # Errors
    /// A granularity of zero or above 1 s, a minimum below two ticks (a timer of one tick may expire at
    /// once), a maximum beyond an hour, or an initial value outside minimum and maximum.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let Self { granularity, minimum, maximum, initial } = *self;
        let good = granularity > Span::ZERO && granularity <= Span::from_s(1);
        check(good, "rto.granularity", granularity, "must be above 0s and at most 1s")?;
        let bound = format_args!("must be at least two ticks, {}", granularity * 2);
        check(minimum >= granularity * 2, "rto.minimum", minimum, bound)?;
        let good = maximum >= minimum && maximum <= Span::from_s(3600);
        check(good, "rto.maximum", maximum, format_args!("must be between rto.minimum, {minimum}, and 3600s"))?;
        let good = initial >= minimum && initial <= maximum;
        check(
            good,
            "rto.initial",
            initial,
            format_args!("must be between rto.minimum, {minimum}, and rto.maximum, {maximum}"),
        )
    }
}

/// Doublings after which the smoothed round trip is no longer trusted.
const FORGET_AFTER: u8 = 4;
/// RFC 6298 section 5.7: the time-out once a connection opens whose SYN was lost.
const AFTER_LOST_SYN: Span = Span::from_s(3);

/// One connection's estimator.
#[derive(Clone, Copy, Debug)]
pub struct RtoEstimator {
    granularity: Span,
    minimum: Span,
    maximum: Span,
    /// max(SRTT + 4 RTTVAR, minimum), or the initial time-out.
    base: Span,
    /// SRTT in eighths of a tick; 0 when there is no estimate.
    srtt8: u64,
    /// RTTVAR in quarters of a tick.
    rttvar4: u64,
    /// This host's clock phase within its tick at time zero, ns; a tick is at most 1 s.
    phase: u32,
    /// How many times the time-out has been doubled.
    backoff: u8,
    /// The initial time-out is below that of RFC 6298 section 5.7.
    quick: bool,
    /// The last ECN echo came at a window of 1.
    echo_at_one: bool,
}

impl RtoEstimator {
    /// No sample yet. `phase` is the phase of the host's clock within its tick at time zero; whole ticks make no
    /// difference.
    pub fn new(config: RtoConfig, phase: Span) -> Self {
        let RtoConfig { granularity, minimum, maximum, initial } = config;
        let quick = initial < AFTER_LOST_SYN;
        let mut new = Self {
            granularity,
            minimum,
            maximum,
            base: initial,
            srtt8: 0,
            rttvar4: 0,
            phase: 0,
            backoff: 0,
            quick,
            echo_at_one: false,
        };
        new.set_phase(phase);
        new
    }

    /// Resets the clock's phase; before the first sample.
    pub(super) fn set_phase(&mut self, phase: Span) {
        self.phase = (phase.ns() % self.granularity.ns()) as u32;
    }

    fn tick(&self, at: Time) -> u64 {
        (at.ns() + u64::from(self.phase)) / self.granularity.ns()
    }

    /// A segment sent once, at `sent`, is acknowledged at `now`.
    pub fn sample(&mut self, sent: Time, now: Time) {
        self.update((self.tick(now) - self.tick(sent)).max(1));
    }

    /// Takes a round trip of this many ticks, at least 1.
    fn update(&mut self, ticks: u64) {
        if self.srtt8 == 0 {
            self.srtt8 = ticks << 3;
            self.rttvar4 = ticks << 1;
        } else {
            let deviation = ticks.abs_diff(self.srtt8 >> 3);
            self.srtt8 = (self.srtt8 + ticks - (self.srtt8 >> 3)).max(1);
            self.rttvar4 = (self.rttvar4 + deviation - (self.rttvar4 >> 2)).max(1);
        }
        let ticks = (self.rttvar4 * 8 + self.srtt8) >> 3;
        self.base = (self.granularity * ticks).clamp(self.minimum, self.maximum);
    }

    /// Doubles the time-out, up to the maximum (RFC 6298 section 5.5).
    pub fn back_off(&mut self) {
        if self.rto() < self.maximum {
            self.backoff += 1;
        }
        if self.backoff >= FORGET_AFTER {
            self.srtt8 = 0;
        }
    }

    /// A sample was possible again: the time-out is the estimate's.
    pub fn end_back_off(&mut self) {
        self.backoff = 0;
    }

    /// As [`RtoEstimator::end_back_off`]; but the back-off stays while echoes keep coming at a window of 1.
    pub(super) fn end_back_off_unless(&mut self, echo: bool) {
        if !(echo && self.echo_at_one) {
            self.backoff = 0;
            self.echo_at_one = false;
        }
    }

    /// An ECN echo came, at a window of 1 or not: there, each in a row doubles the time-out.
    #[inline]
    pub(super) fn echoed(&mut self, at_one: bool) {
        if at_one && self.echo_at_one {
            self.back_off();
        }
        self.echo_at_one = at_one;
    }

    /// The connection opens after its SYN was repeated (RFC 6298 section 5.7).
    pub fn after_lost_syn(&mut self) {
        if self.quick {
            self.base = AFTER_LOST_SYN.min(self.maximum);
            self.backoff = 0;
        }
    }

    /// The time-out now, back-off included.
    #[inline]
    pub fn rto(&self) -> Span {
        Span::from_ns(self.base.ns().saturating_mul(1 << self.backoff)).min(self.maximum)
    }

    /// The smoothed round trip; `None` before the first sample and after a long back-off.
    pub fn srtt(&self) -> Option<Span> {
        (self.srtt8 > 0).then(|| self.granularity * self.srtt8 / 8)
    }
}
