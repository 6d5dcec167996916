//! CoDel: controlled delay. Drops at the head once packets have waited too long for a whole interval, and then at
//! shorter and shorter intervals until the wait is short again.
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
//! | symbol   | field      | unit | default |
//! |----------|------------|------|---------|
//! | target   | `target`   | s    | 5ms     |
//! | interval | `interval` | s    | 100ms   |
//! | mtu      | `mtu`      | B    | 1500B   |
//!
//! Defaults are those of RFC 8289 sections 4.3 and 4.4; `mtu` is the pseudo-code's maxpacket, which is 512 there and
//! should be
//! the link's MTU. `target` is below `interval`: section 4.4 puts it at 5 to 10 % of it.
//!
//! Deviations: none. Its drops count as `early`. It drops and does not mark, as in section 5.

use crate::Scope;
use crate::aqm::{Aqm, Arrival, Departure};
use crate::needs::Needs;
use crate::packet::Packet;
use crate::params::{ParamError, Params as Declared};
use crate::rng::Rng;
use crate::units::{Bytes, Span, Time};
use crate::verdict::{Reason, Verdict};

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// The wait that is acceptable as a standing delay; below `interval`.
    #[param(default = "5ms")]
    pub target: Span,
    /// How long the wait may stay above `target` before packets are dropped: about the longest round-trip time.
    #[param(default = "100ms")]
    pub interval: Span,
    /// A packet with no more than this behind it is never dropped.
    #[param(default = "1500B")]
    pub mtu: Bytes,
}

/// One queue's CoDel.
#[derive(Clone, Debug)]
pub struct CoDel {
    params: Params,
    /// When the wait will have been above `target` for an interval; `None` while it is below.
    first_above: Option<Time>,
    /// `Some` while dropping.
    dropping: Option<Dropping>,
    /// When the next packet is due to be dropped, or was when dropping ended.
    drop_next: Time,
    /// Drops since dropping began.
    count: u32,
    /// `count` when dropping began.
    last_count: u32,
}

/// What the packet behind a dropped one still decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dropping {
    /// Nothing: `drop_next` is known.
    Scheduled,
    /// Whether `drop_next` moves on.
    Pending,
}

impl Params {
    /// # Errors
    /// E201 for a `target` or `mtu` of 0; E214 unless `target` is below `interval`.
    pub fn build(self, _scope: &Scope) -> Result<CoDel, ParamError> {
        ParamError::above_zero("target", self.target)?;
        ParamError::above_zero("mtu", self.mtu)?;
        if self.target >= self.interval {
            let message = format!("`target` {} is not below `interval` {}", self.target, self.interval);
            return Err(ParamError::new("target", "E214", message)
                .help("RFC 8289 section 4.4: 5 to 10 % of `interval`, which is about the longest round-trip time"));
        }
        let (first_above, dropping) = (None, None);
        Ok(CoDel { params: self, first_above, dropping, drop_next: Time::ZERO, count: 0, last_count: 0 })
    }
}

impl CoDel {
    /// RFC 8289 section 5.6, dodequeue: whether the wait has been long for an interval.
    fn ok_to_drop(&mut self, at: &Departure) -> bool {
        let short = at.now.since(at.arrived) < self.params.target || at.backlog.bytes <= self.params.mtu.get();
        if short {
            self.first_above = None;
            return false;
        }
        let due = *self.first_above.get_or_insert(at.now + self.params.interval);
        // One that has just been set is an interval away.
        at.now >= due
    }

    /// RFC 8289 section 5.6, control law: when to drop after `from`.
    fn control_law(&self, from: Time) -> Time {
        from + Span::from_ns((self.params.interval.ns() as f64 / f64::from(self.count).sqrt()) as u64)
    }

    fn begin(&mut self, now: Time) {
        let delta = self.count - self.last_count;
        let recent = now.since(self.drop_next.min(now)).ns() < 16 * self.params.interval.ns();
        self.count = if delta > 1 && recent { delta } else { 1 };
        self.last_count = self.count;
        self.drop_next = self.control_law(now);
        self.dropping = Some(Dropping::Scheduled);
    }
}

impl Aqm for CoDel {
    type Params = Params;

    #[inline]
    fn on_arrival(&mut self, _at: &Arrival, _packet: &mut Packet, _rng: &mut Rng) -> Verdict {
        Verdict::Pass
    }

    /// RFC 8289 section 5.5: the dequeue routine, packet by packet.
    fn on_departure(&mut self, at: &Departure, _packet: &mut Packet, _rng: &mut Rng) -> Verdict {
        let ok = self.ok_to_drop(at);
        match self.dropping {
            None if ok => self.begin(at.now),
            Some(_) if !ok => {
                self.dropping = None;
                return Verdict::Pass;
            }
            Some(dropping) => {
                if dropping == Dropping::Pending {
                    self.drop_next = self.control_law(self.drop_next);
                    self.dropping = Some(Dropping::Scheduled);
                }
                if at.now < self.drop_next {
                    return Verdict::Pass;
                }
                self.count += 1;
                self.dropping = Some(Dropping::Pending);
            }
            None => return Verdict::Pass,
        }
        Verdict::Drop(Reason::Early)
    }

    fn needs(&self) -> Needs {
        Needs::DEPARTURES
    }

    fn retune(&mut self, _now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        self.params = params.clone().build(scope)?.params;
        Ok(())
    }

    fn gauges(&self, _now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        each("dropping", f64::from(u8::from(self.dropping.is_some())));
        each("drop_count", self.count.into());
    }
}
