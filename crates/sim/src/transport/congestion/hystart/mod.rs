//! Slow starts that end before loss. They read the round trip of an ACK and say how far the window may grow by that
//! ACK. When slow start is over, they lower the threshold to the window.
//!
//! | `hystart`   | source                           | ends slow start at                                     |
//! |-------------|----------------------------------|--------------------------------------------------------|
//! | `none`      | RFC 5681 section 3.1             | the threshold                                          |
//! | `linux`     | S. Ha, I. Rhee, 2008; Linux 6.12 | ACKs in a row for half a round trip, or a longer delay |
//! | `plus-plus` | RFC 9406                         | a longer delay, after five slower rounds               |

pub mod linux;
pub mod plus_plus;

use super::{Signal, Window};
use perhop_core::params::Choice;

/// How slow start ends.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HyStart {
    /// At the threshold.
    #[default]
    None,
    /// As Linux's: ACKs in a row, or a longer delay.
    Linux,
    /// HyStart++ (RFC 9406).
    PlusPlus,
}

/// A connection's slow start.
#[derive(Clone, Debug)]
pub enum SlowStart {
    /// To the threshold.
    Plain,
    /// Linux's.
    Linux(linux::Hybrid),
    /// HyStart++.
    PlusPlus(plus_plus::PlusPlus),
}

impl SlowStart {
    /// Of a new connection.
    pub fn new(kind: HyStart) -> Self {
        match kind {
            HyStart::None => Self::Plain,
            HyStart::Linux => Self::Linux(linux::Hybrid::default()),
            HyStart::PlusPlus => Self::PlusPlus(plus_plus::PlusPlus::default()),
        }
    }

    /// Takes an ACK below the threshold: the segments by which the window may grow, `own` where the law's own growth is
    /// left alone. Lowers the threshold where slow start ends.
    pub fn on_ack(&mut self, signal: &Signal, own: f64, window: &mut Window) -> f64 {
        match self {
            Self::Plain => own,
            Self::Linux(it) => {
                it.on_ack(signal, window);
                own
            }
            Self::PlusPlus(it) => it.on_ack(signal, own, window),
        }
    }

    /// A loss or an ECN echo.
    pub fn on_congestion(&mut self) {
        if let Self::PlusPlus(it) = self {
            it.stop();
        }
    }

    /// A time-out: slow start begins again.
    pub fn on_timeout(&mut self, signal: &Signal) {
        match self {
            Self::Plain => {}
            Self::Linux(it) => it.restart(signal),
            Self::PlusPlus(it) => it.stop(),
        }
    }
}
