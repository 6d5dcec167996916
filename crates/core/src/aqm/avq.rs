//! AVQ: adaptive virtual queue. Marks packets that would overflow the queue of a slower virtual link. The rate of the
//! virtual link is adjusted until the load is the target share of the real link's rate.
//!
//! Source: Kunniyur and Srikant, "Analysis and Design of an Adaptive Virtual Queue (AVQ) Algorithm for Active Queue
//! Management", SIGCOMM 2001 (IEEE/ACM Transactions on Networking 12(2), 2004): equation (1) and its pseudo-code.
//!
//! ```text
//! dC'/dt = alpha (gamma C - lambda),  0 <= C' <= C
//!
//! on arrival of a packet of b units, t after the last:
//!   VQ = max(VQ - C' t, 0)
//!   VQ + b > B:  mark or drop
//!   else:        VQ = VQ + b
//!   C' = max(min(C' + alpha gamma C t, C) - alpha b, 0)           the last term only if the packet counts
//! ```
//!
//! | symbol | field         | unit       | default |
//! |--------|---------------|------------|---------|
//! | alpha  | `alpha`       | 1/s        | 0.15    |
//! | gamma  | `gamma`       | -          | 0.98    |
//! | B      | `buffer`      | p, B, s, % | 100%    |
//! | lambda | `counting`    | -          | offered |
//! |        | `mean-packet` | B          | 1000B   |
//! |        | `ecn`         | -          | false   |
//!
//! B is the virtual buffer. With `buffer` in packets, a packet counts by its bytes on the link, where `mean-packet`
//! bytes are one packet. C' starts at C.
//!
//! The paper's lambda is the offered load (`counting = "offered"`). Under unresponsive load C' then falls to 0 and
//! nothing passes the link. The authors' ns-2 code (`Queue/Vq`) counts only packets that it does not drop (`counting
//! = "passed"`). When packets are marked, the two are the same.
//!
//! Deviations: none. (C' starts at C. In ns-2 it starts at 0.8 C, and is bounded by C after a packet's bytes are
//! subtracted. The stability condition of the paper's theorem on alpha is not checked, because it depends on the
//! flows.)

use super::early::level::{Level, Unit, link_rate, most_bytes};
use super::early::same_unit;
use super::virtual_buffer::Counting;
use crate::Scope;
use crate::accounting::Recount;
use crate::aqm::{Aqm, Arrival};
use crate::packet::Packet;
use crate::params::{ParamError, Params as Declared};
use crate::port::turn::Turn;
use crate::rng::Rng;
use crate::units::{Bytes, Length, Probability, Time};
use crate::verdict::{Fate, Reason, Verdict};

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// How fast the virtual rate is adjusted, 1/s.
    #[param(default = 0.15)]
    pub alpha: f64,
    /// Target share of the link's rate for the load.
    #[param(default = 0.98)]
    pub gamma: Probability,
    /// The virtual buffer.
    #[param(default = "100%")]
    pub buffer: Length,
    /// Which packets lower the virtual rate.
    #[param(default = "offered")]
    pub counting: Counting,
    /// If `buffer` is in packets: the bytes that count as one.
    #[param(default = "1000B")]
    pub mean_packet: Bytes,
    /// Whether ECN-capable packets are marked where others are dropped.
    #[param(default = false)]
    pub ecn: bool,
}

/// One queue's AVQ.
#[derive(Clone, Debug)]
pub struct Avq {
    alpha: f64,
    gamma: f64,
    buffer: Level,
    counting: Counting,
    /// C, units a second.
    capacity: f64,
    on_link: Recount,
    /// Bytes of a unit.
    one: f64,
    early: Verdict,
    /// C'.
    rate: f64,
    queue: f64,
    last: Time,
}

impl Params {
    /// # Errors
    /// E201 for `alpha` below 0, or `buffer` or `mean-packet` of 0; E218 without a link rate, or a limit that `buffer` is
    /// a share of.
    pub fn build(self, scope: &Scope) -> Result<Avq, ParamError> {
        ParamError::at_least("alpha", self.alpha, 0.0)?;
        ParamError::above_zero("mean-packet", self.mean_packet)?;
        let buffer = Level::of("buffer", self.buffer, scope)?;
        ParamError::above_zero("buffer", buffer.value)?;
        let one = match buffer.unit {
            Unit::Packets => self.mean_packet.get() as f64,
            Unit::Bytes => 1.0,
        };
        let capacity = link_rate("aqm", scope)?.bytes_s() / one;
        let early = if self.ecn { Verdict::Mark } else { Verdict::Drop(Reason::Early) };
        let (alpha, gamma, counting, on_link) = (self.alpha, self.gamma.get(), self.counting, scope.on_link());
        let (rate, queue, last) = (capacity, 0.0, Time::ZERO);
        Ok(Avq { alpha, gamma, buffer, counting, capacity, on_link, one, early, rate, queue, last })
    }
}

impl Avq {
    fn units(&self, packet: &Packet) -> f64 {
        f64::from(self.on_link.bytes(packet.size)) / self.one
    }

    fn queue_at(&self, now: Time) -> f64 {
        (self.queue - self.rate * now.since(self.last).seconds()).max(0.0)
    }
}

impl Aqm for Avq {
    type Params = Params;

    fn on_arrival(&mut self, at: Turn<&Arrival>, packet: &mut Packet, _rng: &mut Rng) -> Verdict {
        let units = self.units(packet);
        let queue = self.queue_at(at.now);
        let elapsed = at.now.since(self.last).seconds();
        let fits = queue + units <= self.buffer.value;
        self.queue = if fits { queue + units } else { queue };
        self.rate = (self.rate + self.alpha * self.gamma * self.capacity * elapsed).min(self.capacity);
        self.last = at.now;
        if fits { Verdict::Pass } else { self.early }
    }

    fn warnings(&self, scope: &Scope) -> Vec<ParamError> {
        let most = most_bytes(scope).map(|bytes| bytes / self.one);
        let reached = most.is_none_or(|most| self.buffer.value < most + scope.largest_packet.get() as f64 / self.one);
        if self.alpha > 0.0 || reached {
            return Vec::new();
        }
        let message = "`alpha` is 0 and `buffer` more than the queue holds".to_owned();
        let error = ParamError::new("alpha", "W316", message)
            .label("the virtual queue equals the real one, which overflows first");
        vec![error.help("raise `alpha` above 0, or lower `buffer` below the queue's limit")]
    }

    fn on_fate(&mut self, _at: Turn<&Arrival>, packet: &Packet, fate: Fate) {
        if self.counting.counts(fate) {
            self.rate = (self.rate - self.alpha * self.units(packet)).max(0.0);
        }
    }

    /// The virtual rate stays, in proportion to the link's.
    fn retune(&mut self, now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        let new = params.clone().build(scope)?;
        same_unit(self.buffer.unit, new.buffer.unit, "buffer")?;
        let same = (new.alpha, new.gamma, new.capacity) == (self.alpha, self.gamma, self.capacity);
        let state = if same { (self.rate, self.queue, self.last) } else { self.moved(new.capacity, now) };
        *self = new;
        (self.rate, self.queue, self.last) = state;
        Ok(())
    }

    fn gauges(&self, now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        let [of_queue, of_rate] = match self.buffer.unit {
            Unit::Packets => ["virtual_queue_packets", "virtual_rate_packets_s"],
            Unit::Bytes => ["virtual_queue_bytes", "virtual_rate_bytes_s"],
        };
        each(of_queue, self.queue_at(now));
        each(of_rate, self.rate);
    }
}

impl Avq {
    /// Virtual rate, virtual queue and their time, for a link of `capacity` from `now` on.
    fn moved(&self, capacity: f64, now: Time) -> (f64, f64, Time) {
        let elapsed = now.since(self.last).seconds();
        let risen = (self.rate + self.alpha * self.gamma * self.capacity * elapsed).min(self.capacity);
        (risen * capacity / self.capacity, self.queue_at(now), now)
    }
}
