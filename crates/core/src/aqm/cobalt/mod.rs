//! COBALT: CoDel, combined with BLUE for traffic that does not respond to CoDel.
//!
//! Source: Palmei et al., "Design and Evaluation of COBALT Queue Discipline", IEEE LANMAN 2019. The constants and the
//! arithmetic are those of Linux 6.12, where COBALT is the AQM of CAKE's queues.
//!
//! ```text
//! packet at the head, which has waited for t:
//!   t > target and t > 4 mtu / C:     its wait is long
//!   long, the one before was not:     next = now + interval / sqrt(count);  count >= 1
//!   long, count > 0 and now >= next (before this packet):
//!                                     signal;  count = count + 1;  next = next + interval / sqrt(count)
//!   not long, now >= next:            count = count - 1;  next = next + interval / sqrt(count);  again
//!   a signal:                         mark if ECN-capable, else drop
//!   besides, with probability p:      drop, ECN-capable or not
//!   the last packet in the queue:     is not dropped
//! the queue is full:                  p = p + 1/256,    count >= 1, next = now
//! the queue has become empty:         p = p - 1/4096;   count = count - 1 if now >= next
//! p changes at most once in `target`
//! ```
//!
//! After a calm period CoDel starts its count afresh. COBALT counts down instead, as fast as it counted up. BLUE's p
//! is 0 until the queue overflows; then it settles at the loss that unresponsive flows need.
//!
//! | symbol   | field      | unit | default | tc                         |
//! |----------|------------|------|---------|----------------------------|
//! | target   | `target`   | s    | 5ms     | CAKE's: `rtt` / 20         |
//! | interval | `interval` | s    | 100ms   | CAKE's: `rtt`              |
//! | mtu      | `mtu`      | B    | 1514B   | the device's               |
//! |          | `ecn`      | -    | true    | CAKE's: always             |
//!
//! C is the rate of the link.
//!
//! The first signal comes early. As in Linux, 1 / sqrt(count) is 0 before the first count, so the second packet of a
//! queue that has waited too long is signalled at once and not after an `interval`. Later signals follow the rules
//! above.
//!
//! Deviations: Linux has COBALT only inside CAKE. On its own, COBALT notices that the queue became empty when the
//! next packet arrives and finds it so, and takes the time at which the last packet was sent. Its drops count as
//! `early`, at most 256 in a row.

pub mod state;

use crate::Scope;
use crate::aqm::{Aqm, Arrival, Departure};
use crate::needs::Needs;
use crate::packet::Packet;
use crate::params::{ParamError, Params as Declared};
use crate::port::turn::Turn;
use crate::rng::Rng;
use crate::units::{Bytes, NS_PER_S, Span, Time};
use crate::verdict::{Fate, Reason, Verdict};

pub use state::{Head, Law, Signal, State};

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// The wait that is acceptable as a standing delay; below `interval`.
    #[param(default = "5ms")]
    pub target: Span,
    /// How long the wait may stay above `target` before signals follow: about the longest round-trip time.
    #[param(default = "100ms")]
    pub interval: Span,
    /// A packet is spared if it has waited no longer than four packets of this size take at the link's rate.
    #[param(default = "1514B")]
    pub mtu: Bytes,
    /// Whether ECN-capable packets are marked where CoDel drops others.
    #[param(default = true)]
    pub ecn: bool,
}

/// One queue's COBALT.
#[derive(Clone, Debug)]
pub struct Cobalt {
    law: Law,
    ecn: bool,
    state: State,
}

impl Params {
    /// # Errors
    /// E201 for a `target` of 0; E214 unless `target` is below `interval`.
    pub fn build(self, scope: &Scope) -> Result<Cobalt, ParamError> {
        ParamError::above_zero("target", self.target)?;
        if self.target >= self.interval {
            let message = format!("`target` {} is not below `interval` {}", self.target, self.interval);
            let help = "write about 5 % of `interval`, which is about the longest round-trip time";
            return Err(ParamError::new("target", "E214", message).help(help));
        }
        let packets = u128::from(4 * self.mtu.get()) * u128::from(8 * NS_PER_S);
        let spared = scope.link_rate.map_or(0, |rate| packets / u128::from(rate.bit_s().max(1)));
        let spared = Span::from_ns(u64::try_from(spared).unwrap_or(u64::MAX));
        let law = Law { target: self.target, interval: self.interval, spared };
        Ok(Cobalt { law, ecn: self.ecn, state: State::default() })
    }
}

impl Aqm for Cobalt {
    type Params = Params;

    fn on_arrival(&mut self, at: Turn<&Arrival>, _packet: &mut Packet, _rng: &mut Rng) -> Verdict {
        if let Some(since) = at.backlog.idle_since {
            self.state.emptied(&self.law, since);
        }
        Verdict::Pass
    }

    fn on_fate(&mut self, at: Turn<&Arrival>, _packet: &Packet, fate: Fate) {
        if fate == Fate::Dropped(Reason::Overflow) {
            self.state.overflowed(&self.law, at.now);
        }
    }

    fn on_departure(&mut self, at: Turn<&Departure>, _packet: &mut Packet, rng: &mut Rng) -> Verdict {
        let backlog = at.backlog;
        let (wait, last) = (at.now.since(at.arrived), backlog.packets == 0);
        let head = Head { now: at.now, wait, ecn: self.ecn && backlog.ecn, last };
        self.state.judge(&self.law, &head, rng).verdict()
    }

    fn needs(&self) -> Needs {
        Needs::DEPARTURES
    }

    fn retune(&mut self, _now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        let new = params.clone().build(scope)?;
        (self.law, self.ecn) = (new.law, new.ecn);
        Ok(())
    }

    fn gauges(&self, _now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        each("signal_count", self.state.count().into());
        each("blue_p", self.state.probability());
    }
}
