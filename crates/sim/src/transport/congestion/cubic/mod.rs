//! CUBIC: above the threshold the window is a cubic function of the time since the last congestion event. It is
//! concave up to the window at which that event occurred, convex beyond it, and never below Reno's window.
//!
//! Source: RFC 9438 section 4 (its average window: RFC 9438 section 5.1); `arithmetic = "linux"`: the behaviour of Linux
//! 6.12.
//!
//! ```text
//! W_cubic(t) = C (t - K)^3 + W_max,  K = cbrt((W_max - cwnd_epoch) / C),  t: since congestion avoidance began, at cwnd_epoch
//! W_est:       at first cwnd_epoch; an ACK of N adds alpha N / cwnd
//! alpha        = 3 (1 - beta) / (1 + beta), and 1 once W_est has reached cwnd_prior
//!
//! ACK, cwnd < ssthresh:               slow start, cwnd = cwnd + 1; or as `hystart` says
//! ACK, W_cubic(t) < W_est:            cwnd = W_est
//! ACK, otherwise:                     cwnd = cwnd + (target - cwnd) / cwnd,  target = W_cubic(t + RTT), from cwnd to 1.5 cwnd
//! loss, echo or time-out, window W:   W_max = (1 + beta) W / 2 if W < W_max (fast convergence), else W;  cwnd_prior = W
//! loss:                               cwnd = ssthresh = max(beta W, 2)
//! ECN echo:                           cwnd = max(beta W, 1), ssthresh = max(beta W, 2); at W = 1, cwnd = beta W
//! time-out:                           cwnd = 1, ssthresh = max(beta W, 2); in the next epoch K = 0, W_max = cwnd_epoch
//! ```
//!
//! | symbol   | field              | unit        | default | Linux                        |
//! |----------|--------------------|-------------|---------|------------------------------|
//! | C        | `c`                | segments/s³ | 0.4     | `bic_scale` = 102.4 C        |
//! | beta     | `beta`             | -           | 0.7     | `beta` = 1024 beta           |
//! |          | `fast-convergence` | -           | true    | `fast_convergence`           |
//! |          | `reno-friendly`    | -           | true    | `tcp_friendliness`           |
//! |          | `hystart`          |             | `none`  | `hystart`; Linux has `linux` |
//! |          | `abe`              | -           | false   | -                            |
//! |          | `arithmetic`       |             | `rfc`   | `linux`                      |
//! | RTT      | `Signal::srtt`     | s           | -       | the least round trip         |
//! | W        | `Signal::usable`   | segments    | -       | cwnd                         |
//!
//! `hystart = "linux"` ends slow start when an ACK train lasts for half a round trip or when delay grows;
//! `"plus-plus"` ends slow start as RFC 9406 does. With `abe` (RFC 8511) an ECN echo leaves 0.85 of the window.
//!
//! `arithmetic = "linux"` computes as Linux 6.12 does with a clock of 1 ms:
//!
//! - The window is a whole number. It grows by one for each `cnt` segments acknowledged. `cnt` is cwnd / (target -
//!   cwnd), or 100 cwnd if the target is not above the window; it is at least 2, and at most 20 until the first
//!   congestion event.
//! - `cnt` is computed once a millisecond, or once in 32 ms while the window does not change.
//! - Time is in 1/1024 s. K is a cube root by a table and one Newton step, accurate to 1 %. C is rounded to 1/1024 of
//!   a tenth: 0.4004.
//! - t is ahead by the least round trip, which ignores samples in the first second of an epoch.
//! - W_est grows by 1 for each cwnd x floor(8/3 (1 + beta) / (1 - beta)) / 8 segments acknowledged; its growth never
//!   speeds up.
//! - beta is 717/1024, and the window is cut to whole segments, at least 2, on an ECN echo too.
//! - A time-out forgets W_max.
//! - An ACK in slow start adds all that it acknowledges, up to the threshold; the rest counts towards `cnt`.
//!
//! Deviations from the RFC: t includes times in which the application or the advertised window limits the sender. W
//! is min(cwnd, advertised), not FlightSize. A spurious congestion event is not undone (section 4.9) unless the
//! sender does so. A time-out in a window that a loss has already cut does not change W_max. Deviations from Linux:
//! round trips measured during a recovery do not count, and the time of an idle connection does.

mod linux;
mod rfc;

use super::hystart::{HyStart, SlowStart};
use super::{CongestionControl, CongestionLaw, Signal, Window};
use perhop_core::aqm::arithmetic::Arithmetic;
use perhop_core::design::policer::Sender;
use perhop_core::params::{ParamError, Params as Declared};

/// What a scenario states.
#[derive(Declared, Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// How steep the cubic is, segments/s³.
    #[param(default = 0.4)]
    pub c: f64,
    /// What congestion leaves of the window; from 0.5 to 0.999, with `abe` to 0.85.
    #[param(default = 0.7)]
    pub beta: f64,
    /// Whether a flow gives up more when congestion comes at a smaller window than last time.
    #[param(default = true)]
    pub fast_convergence: bool,
    /// Whether the window is at least Reno's.
    #[param(default = true)]
    pub reno_friendly: bool,
    /// What else than the threshold ends slow start: nothing, Linux's HyStart, or HyStart++ (RFC 9406).
    #[param(default = "none")]
    pub hystart: HyStart,
    /// Whether an ECN echo cuts the window less than a loss does (RFC 8511): to 0.8 of it with "reno", 0.85 with "cubic".
    #[param(default = false)]
    pub abe: bool,
    /// Arithmetic: as the RFC writes it, or as Linux computes.
    #[param(default = "rfc")]
    pub arithmetic: Arithmetic,
}

/// Bounds of `c` and `beta`: what Linux's numbers can hold, and where its W_est still grows.
const C: (f64, f64) = (0.01, 100.0);
const BETA: (f64, f64) = (0.5, 0.999);
/// After an ECN echo with `abe` (RFC 8511 section 3.1).
const BETA_ECN: f64 = 0.85;

fn within(field: &'static str, value: f64, (least, most): (f64, f64), why: &str) -> Result<(), ParamError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    let help = format!("must be between {least} and {most}{why}");
    Err(ParamError::new(field, "E201", format!("`{field}` is {value}")).help(help))
}

impl Params {
    /// # Errors
    /// `c` or `beta` out of bounds; with `abe`, `beta` is at most what an echo leaves.
    pub fn build(self, (): &()) -> Result<Cubic, ParamError> {
        within("c", self.c, C, "")?;
        match self.abe {
            true => within("beta", self.beta, (BETA.0, BETA_ECN), ", what `abe` leaves at an ECN echo")?,
            false => within("beta", self.beta, BETA, "")?,
        }
        Ok(match self.arithmetic {
            Arithmetic::Rfc => Cubic::Rfc(rfc::State::new(&self)),
            Arithmetic::Linux => Cubic::Linux(linux::State::new(&self)),
        })
    }

    fn slow_start(&self) -> SlowStart {
        SlowStart::new(self.hystart)
    }

    /// What an ECN echo leaves of the window.
    fn beta_ecn(&self) -> f64 {
        if self.abe { BETA_ECN } else { self.beta }
    }
}

/// A connection's CUBIC.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)]
pub enum Cubic {
    /// The RFC's.
    Rfc(rfc::State),
    /// Linux's.
    Linux(linux::State),
}

impl CongestionLaw for Params {
    fn paces(&self) -> bool {
        false
    }

    fn linux(&self) -> Option<&'static str> {
        Some("cubic")
    }

    fn stack(&self) -> Option<&'static str> {
        Some("linux")
    }

    fn policed(&self) -> Option<Sender> {
        Some(Sender::Linux)
    }
}

impl CongestionControl for Cubic {
    fn on_ack(&mut self, signal: &Signal, window: &mut Window) {
        rfc_or_linux!(self, state => state.on_ack(signal, window));
    }

    fn on_loss(&mut self, signal: &Signal, window: &mut Window) {
        rfc_or_linux!(self, state => state.on_loss(signal, window));
    }

    fn on_timeout(&mut self, signal: &Signal, window: &mut Window) {
        rfc_or_linux!(self, state => state.on_timeout(signal, window));
    }

    fn on_ecn(&mut self, signal: &Signal, window: &mut Window) {
        rfc_or_linux!(self, state => state.on_ecn(signal, window));
    }
}
