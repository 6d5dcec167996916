//! DCTCP: an ECN echo cuts the window by half of the fraction of segments that were marked, instead of by half.
//!
//! Source: RFC 8257 sections 3.3 to 3.5; `arithmetic = "linux"` the behaviour of Linux 6.12 (`tcp_dctcp.c`).
//! Background: Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010.
//!
//! ```text
//! ACK:         acked = acked + N;  marked = marked + N if it echoes a mark
//!   beyond end:    M = marked / acked;  alpha = (1 - g) alpha + g M;  end = SND.NXT, acked = marked = 0
//! ACK, cwnd < ssthresh:  cwnd = cwnd + N          ACK, otherwise:  cwnd = cwnd + N / cwnd
//! ECN echo:    cwnd = ssthresh = max((1 - alpha / 2) W, 2), once a window of data
//! loss:        cwnd = ssthresh = max(W / 2, 2)
//! time-out:    cwnd = 1, ssthresh = max(W / 2, 2)
//! ```
//!
//! | symbol | field             | unit     | default | Linux                 |
//! |--------|-------------------|----------|---------|-----------------------|
//! | g      | `g`               | -        | 0.0625  | `dctcp_shift_g` = -log2 g |
//! | alpha  | `initial-alpha`   | -        | 1.0     | `dctcp_alpha_on_init` = 1024 alpha |
//! |        | `arithmetic`      |          | `rfc`   | `linux`               |
//! | W      | `Signal::usable`  | segments | -       | cwnd                  |
//! | N      | `Signal::acked`   | segments | -       | -                     |
//!
//! DCTCP needs a receiver that echoes each mark: `ecn-feedback = "dctcp"`, which is its default. It negotiates ECN
//! unless `ecn = false`; without ECN it behaves as Reno. All packets are ECN-capable, including retransmissions and
//! the SYN.
//!
//! For one flow over a queue that marks every packet beyond K, let W* be the bandwidth-delay product + K, the window
//! at which marking starts. Then alpha^2 (1 - alpha / 4) = (2 W* + 1) / (W* + 1)^2, about 2 / W*.
//!
//! `arithmetic = "linux"` computes as Linux 6.12 does:
//!
//! - alpha is in 1/1024 and rounded down. With g = 1/16, an alpha below 1/64 falls to 0 before the new marks are
//!   added.
//! - A window of data ends with the ACK of `end`, not with one beyond it.
//! - The window is a whole number: slow start up to the threshold, then one segment for each window of segments.
//! - A loss in a window that an echo has already cut halves what is left of it.
//!
//! Deviations: fractions are of segments, not bytes. Segments reported by SACK count when they are reported, and not
//! again when the cumulative ACK passes them. Path re-hashing on congestion (PLB) is absent; it is off by default in
//! Linux.

mod linux;
mod rfc;

use super::{CongestionControl, CongestionLaw, EcnFeedback, Signal, Window};
use perhop_core::aqm::arithmetic::Arithmetic;
use perhop_core::design::policer::Sender;
use perhop_core::params::{ParamError, Params as Declared};

/// What a scenario states.
#[derive(Declared, Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Weight of the newest window of data in the fraction of marks; above 0, at most 1.
    #[param(default = 0.0625)]
    pub g: f64,
    /// The fraction of marks that is assumed before any was measured; from 0 to 1.
    #[param(default = 1.0)]
    pub initial_alpha: f64,
    /// Arithmetic: as the RFC writes it, or as Linux computes.
    #[param(default = "rfc")]
    pub arithmetic: Arithmetic,
}

/// Linux's shift of g is at most so much.
const LARGEST_SHIFT: u32 = 10;

impl Params {
    /// # Errors
    /// E201 for `g` or `initial-alpha` out of bounds, or a `g` that Linux's numbers cannot hold.
    pub fn build(self, (): &()) -> Result<Dctcp, ParamError> {
        let refused = |field, value: f64, help: &str| {
            Err(ParamError::new(field, "E201", format!("`{field}` is {value}")).help(help.to_owned()))
        };
        if !(self.g > 0.0 && self.g <= 1.0) {
            return refused("g", self.g, "must be above 0 and at most 1; RFC 8257 has 0.0625");
        }
        if !(0.0..=1.0).contains(&self.initial_alpha) {
            return refused("initial-alpha", self.initial_alpha, "must be between 0 and 1; RFC 8257 has 1");
        }
        match (self.arithmetic, self.shift()) {
            (Arithmetic::Rfc, _) => Ok(Dctcp::Rfc(rfc::State::new(&self))),
            (Arithmetic::Linux, Some(shift)) => Ok(Dctcp::Linux(linux::State::new(self.initial_alpha, shift))),
            (Arithmetic::Linux, None) => {
                refused("g", self.g, "must be 2^-n with n from 0 to 10, as `arithmetic` is \"linux\"")
            }
        }
    }

    /// n of g = 2^-n, if it is one of Linux's.
    fn shift(&self) -> Option<u32> {
        (0..=LARGEST_SHIFT).find(|&n| self.g * f64::from(1 << n) == 1.0)
    }
}

/// A connection's DCTCP.
#[derive(Clone, Debug)]
pub enum Dctcp {
    /// The RFC's.
    Rfc(rfc::State),
    /// Linux's.
    Linux(linux::State),
}

impl CongestionLaw for Params {
    fn paces(&self) -> bool {
        false
    }

    fn is_scalable(&self) -> bool {
        true
    }

    fn feedback(&self) -> EcnFeedback {
        EcnFeedback::Dctcp
    }

    fn linux(&self) -> Option<&'static str> {
        Some("dctcp")
    }

    fn stack(&self) -> Option<&'static str> {
        Some("dctcp")
    }

    fn policed(&self) -> Option<Sender> {
        Some(Sender::Dctcp)
    }
}

impl CongestionControl for Dctcp {
    fn on_feedback(&mut self, signal: &Signal) {
        rfc_or_linux!(self, state => state.on_feedback(signal));
    }

    fn on_ack(&mut self, signal: &Signal, window: &mut Window) {
        rfc_or_linux!(self, state => state.on_ack(signal, window));
    }

    fn on_loss(&mut self, signal: &Signal, window: &mut Window) {
        rfc_or_linux!(self, state => state.on_loss(signal, window));
    }

    fn on_loss_after_echo(&mut self, signal: &Signal, window: &mut Window) {
        rfc_or_linux!(self, state => state.on_loss_after_echo(signal, window));
    }

    fn on_timeout(&mut self, signal: &Signal, window: &mut Window) {
        rfc_or_linux!(self, state => state.on_timeout(signal, window));
    }

    fn on_ecn(&mut self, signal: &Signal, window: &mut Window) {
        rfc_or_linux!(self, state => state.on_ecn(signal, window));
    }
}
