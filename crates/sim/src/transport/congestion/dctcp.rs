//! DCTCP: an echo of congestion cuts the window by half of the fraction of segments that were marked, not by half.
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
//! It needs a receiver that echoes each mark: `ecn-feedback = "dctcp"`, which it has unless the file says otherwise. It asks
//! for ECN unless `ecn = false`; without ECN it is Reno. Everything it sends is ECN-capable, repeats and the SYN too.
//!
//! One flow over a queue that marks everything beyond K packets: W* = the bandwidth-delay product + K, in which the window
//! turns each time alpha rounds; alpha^2 (1 - alpha / 4) = (2 W* + 1) / (W* + 1)^2, about 2 / W*.
//!
//! `arithmetic = "linux"` computes as Linux 6.12 does:
//!
//! - alpha is in 1/1024 and rounded down; below 1/64 with g = 1/16, what it would lose is all of it.
//! - A window of data ends with the ACK of what was sent next, not behind it: an ACK of `end` is enough.
//! - The window is whole: slow start up to the threshold, then one segment for each window of segments, cut to whole ones.
//! - A loss in a window that an echo has cut already halves what is left of it.
//!
//! Deviations: fractions are of segments, not bytes; segments reported by SACK count as they arrive, those that the
//! cumulative number passes later do not count again. Linux's path re-hashing on congestion (PLB) is off there too.

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
    /// Whose numbers: the RFC's or those of Linux.
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
            return refused("g", self.g, "above 0 and at most 1; RFC 8257 has 0.0625");
        }
        if !(0.0..=1.0).contains(&self.initial_alpha) {
            return refused("initial-alpha", self.initial_alpha, "between 0 and 1; RFC 8257 has 1");
        }
        match (self.arithmetic, self.shift()) {
            (Arithmetic::Rfc, _) => Ok(Dctcp::Rfc(rfc::State::new(&self))),
            (Arithmetic::Linux, Some(shift)) => Ok(Dctcp::Linux(linux::State::new(self.initial_alpha, shift))),
            (Arithmetic::Linux, None) => {
                refused("g", self.g, "a half to the power of 0 to 10 with `arithmetic = \"linux\"`")
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
