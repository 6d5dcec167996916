//! CoDel: controlled delay. Drops at the head of the queue once packets have waited longer than the target for a
//! whole interval, and then at ever shorter intervals until the wait is short again.
//!
//! Source: RFC 8289 section 5 (pseudo-code).
//!
//! ```text
//! packet at the head, which has waited for t, with b bytes behind it:
//!   t < target, or b <= mtu:    its wait is short: first_above = 0
//!   first_above = 0:            first_above = now + interval
//!   now >= first_above:         its wait has been long for an interval: ok to drop
//!
//! not dropping, ok to drop:     drop;  dropping from now on;  delta = count - last_count
//!                               count = delta where delta > 1 and now - drop_next < 16 interval, else 1
//!                               drop_next = now + interval / sqrt(count);  last_count = count
//! dropping, ok to drop:         now >= drop_next: drop;  count = count + 1;
//!                               drop_next = drop_next + interval / sqrt(count) if the next is ok to drop
//! dropping, not ok to drop:     not dropping any longer
//! ```
//!
//! | symbol   | field          | unit | default | tc             |
//! |----------|----------------|------|---------|----------------|
//! | target   | `target`       | s    | 5ms     | `target`       |
//! | interval | `interval`     | s    | 100ms   | `interval`     |
//! | mtu      | `mtu`          | B    | 1500B   | the device's   |
//! |          | `ecn`          | -    | false   | `ecn`          |
//! |          | `ce-threshold` | s    | -       | `ce_threshold` |
//! |          | `arithmetic`   |      | `rfc`   | `linux`        |
//!
//! The defaults are those of RFC 8289 sections 4.3 and 4.4. `mtu` is maxpacket of the pseudo-code, which is 512 there
//! and should be the link's MTU. `target` must be below `interval`; section 4.4 recommends 5 to 10 % of it.
//!
//! With `ecn`, an ECN-capable packet is marked and sent where any other would be dropped. The mark counts as a drop,
//! and drop_next advances whatever waits behind the packet. With `ce-threshold`, ECN-capable packets that have waited
//! longer than this are marked in addition. RFC 8289 has neither; both are as in Linux.
//!
//! `arithmetic = "linux"` computes as Linux 6.12 does: times in whole units of 1024 ns, `now > first_above` for `>=`,
//! and 1 / sqrt(count) in 16 bits by one Newton step a drop. The `mtu` of a Linux device is its MTU plus its header,
//! 1514B with Ethernet, and the backlog includes those 14 bytes. After the first few drops other packets are dropped,
//! but the results barely differ. In `examples/codel.toml` with 20 replications 6.12 % are dropped and the median
//! wait is 17.8 ms; with Linux's arithmetic 6.16 % and 17.7 ms (95 % intervals of 0.07 % and 0.4 ms).
//!
//! Deviations: none. Its drops count as `early`. Linux's clock has 32 bits and wraps around after 4398 s; here it
//! does not.

pub mod law;
pub mod state;

use crate::Scope;
use crate::aqm::arithmetic::Arithmetic;
use crate::aqm::{Aqm, Arrival, Departure};
use crate::counter::{Below, Each};
use crate::needs::Needs;
use crate::packet::Packet;
use crate::params::{ParamError, Params as Declared};
use crate::port::turn::Turn;
use crate::rng::Rng;
use crate::units::{Bytes, Span, Time};
use crate::verdict::{Reason, Verdict};

pub use law::{Control, Law};
pub use state::{Head, State, Stats};

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// The wait that is acceptable as a standing delay; below `interval`.
    #[param(default = "5ms")]
    pub target: Span,
    /// How long the wait may stay above `target` before packets are dropped: about the longest round-trip time.
    #[param(default = "100ms")]
    pub interval: Span,
    /// A packet with no more bytes than this behind it is never dropped.
    #[param(default = "1500B")]
    pub mtu: Bytes,
    /// Whether ECN-capable packets are marked where others are dropped.
    #[param(default = false)]
    pub ecn: bool,
    /// ECN-capable packets that have waited for longer than this are marked, whether it drops or not.
    pub ce_threshold: Option<Span>,
    /// Arithmetic: as the RFC writes it, or as Linux computes.
    #[param(default = "rfc")]
    pub arithmetic: Arithmetic,
}

/// One queue's CoDel.
#[derive(Clone, Debug)]
pub struct CoDel {
    law: Law,
    state: State,
    stats: Stats,
}

impl Params {
    /// # Errors
    /// As [`Control::law`].
    pub fn build(self, _scope: &Scope) -> Result<CoDel, ParamError> {
        let Self { target, interval, mtu, ecn, ce_threshold, arithmetic } = self;
        let law = Control { target, interval, mtu, ecn, ce_threshold, arithmetic }.law()?;
        Ok(CoDel { law, state: State::default(), stats: Stats::default() })
    }
}

impl Aqm for CoDel {
    type Params = Params;

    #[inline]
    fn on_arrival(&mut self, _at: Turn<&Arrival>, _packet: &mut Packet, _rng: &mut Rng) -> Verdict {
        Verdict::Pass
    }

    fn on_departure(&mut self, at: Turn<&Departure>, packet: &mut Packet, _rng: &mut Rng) -> Verdict {
        let (bytes, behind, ecn) = (packet.size, at.backlog.bytes, at.backlog.ecn);
        let head = Head { now: at.now, arrived: at.arrived, bytes, behind, ecn };
        self.state.judge(&self.law, &head, &mut self.stats)
    }

    /// Linux's judges the packet when its parent looks at it.
    fn needs(&self) -> Needs {
        Needs::DEPARTURES | Needs::TAKING.only_if(self.law.arithmetic() == Arithmetic::Linux)
    }

    fn retune(&mut self, _now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        let new = params.clone().build(scope)?.law;
        self.law.arithmetic().stays(new.arithmetic())?;
        self.law = new;
        Ok(())
    }

    fn gauges(&self, _now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        each("dropping", f64::from(u8::from(self.state.is_dropping())));
        each("drop_count", self.state.drop_count().into());
    }

    fn counters(&self, now: Time, below: &Below, each: &mut Each<'_>) {
        self.state.counters(&self.law, now, each);
        self.stats.counters(each);
        each("drop_overlimit", below.dropped_for(Reason::Overflow) as f64);
        each("ldelay", self.law.us(self.stats.wait));
    }
}
