//! CSFQ: core-stateless fair queueing, plain and weighted. Flows share one FIFO almost as if each had a queue,
//! without per-flow state.
//!
//! Source: Stoica, Shenker and Zhang, "Core-Stateless Fair Queueing: Achieving Approximately Fair Bandwidth Allocations
//! in High Speed Networks", SIGCOMM 1998: section 2.2 with its pseudo-code, two amendments on buffers and relabelling,
//! section 2.3 for weights. Labels come from [`crate::conditioner::rate_labeller`], the fair rate from
//! [`crate::estimate::fair_rate`].
//!
//! A packet's label L = r/w gives its flow's rate per unit of weight. Drops cut each flow to w alpha: a flow above
//! its share gets its share, a flow below gets what it sends. That is max-min fairness by weight, sum min(r_i, w_i
//! alpha) = C.
//!
//! ```text
//! on arrival:  p = max(0, 1 - alpha/L); 0 if alpha is unknown or there is no label
//!              drop with probability p
//!              A, F: arrival and accepted rate, averaged exponentially with K_alpha
//!              congested (A >= C), each K_c:   alpha = alpha C/F
//!              uncongested, each K_c:          alpha = largest label of the window; unknown while q < threshold
//!              unknown:                        once q >= threshold, alpha = largest label seen, C/2w_min if none
//!              L = min(L, alpha)               if p is above 0
//! queue full:  alpha = 0.99 alpha, at most kdec times a window
//! ```
//!
//! | symbol    | field       | unit       | default |
//! |-----------|-------------|------------|---------|
//! | K_alpha   | `k-alpha`   | s          | 200ms   |
//! | K_c       | `k-c`       | s          | 100ms   |
//! | threshold | `threshold` | p, B, s, % | 25%     |
//! | kdec      | `kdec`      | packets    | 29      |
//! | -         | `ecn`       | -          | false   |
//!
//! The labellers apply the weights, so alpha here is the share of one unit of weight. C is the link's rate. K, the
//! averaging constant of the labels, is the labeller's `k` (100 ms in the authors' runs, with a queue of 64 kB).
//!
//! A packet without a label (an ACK, or a flow that no labeller saw) is never dropped here. It counts in A and F,
//! because it uses the link; the labelled flows share the rest. With `ecn`, an ECN-capable packet is marked where any
//! other would be dropped. In F a marked packet counts as dropped, so that alpha stays the fair rate. It keeps its
//! label, because its flow continues at the rate at which it arrived.
//!
//! Deviations: L = min(L, alpha) follows section 2.2.3; the pseudo-code writes alpha even where alpha has just risen
//! above L. The 0.99 and its bound (0.99^29 = 0.75 between two changes of alpha) are the paper's. The start, the
//! unknown alpha and the bound of alpha by C follow two ports of the authors' ns-2 code, where new credits come only
//! when congestion begins. The bound is C/w_min, where w_min is the least weight that a labeller of the file gives;
//! it is the largest label instead if that is larger or if the weights are unknown. A first alpha is at least 1 B/s
//! by the largest weight. A and F count the bytes that the link counts.

use super::early::found;
use super::early::level::{Level, link_rate};
use crate::Scope;
use crate::accounting::Recount;
use crate::aqm::{Aqm, Arrival};
use crate::conditioner::Writes;
use crate::estimate::FairRate;
use crate::estimate::fair_rate::{Ceiling, EPS, Judged, Rules};
use crate::packet::Packet;
use crate::params::{ParamError, Params as Declared};
use crate::port::turn::Turn;
use crate::rng::Rng;
use crate::units::{Length, Span, Time};
use crate::verdict::{Fate, Reason, Verdict};

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// Averaging constant of the arrival and accepted rates.
    #[param(default = "200ms")]
    pub k_alpha: Span,
    /// Window between two changes of the fair rate.
    #[param(default = "100ms")]
    pub k_c: Span,
    /// Queue length below which the link does not count as congested.
    #[param(default = "25%")]
    pub threshold: Length,
    /// Most packets in a window that lower the fair rate by 1 % because they find the queue full.
    #[param(default = 29)]
    pub kdec: u32,
    /// Whether ECN-capable packets are marked where others are dropped.
    #[param(default = false)]
    pub ecn: bool,
}

/// One queue's CSFQ.
#[derive(Clone, Debug)]
pub struct Csfq {
    threshold: Level,
    on_link: Recount,
    ecn: bool,
    fair: FairRate,
}

impl Params {
    /// # Errors
    /// E201 when `k-alpha` or `k-c` is zero; E215 when `threshold` is not below the queue's limit; E218 without a link
    /// rate, or a limit that `threshold` is a share of.
    pub fn build(self, scope: &Scope) -> Result<Csfq, ParamError> {
        let fair = FairRate::new(self.fair(scope)?);
        let threshold = Level::of("threshold", self.threshold, scope)?;
        threshold.below_limit(("threshold", self.threshold), scope)?;
        Ok(Csfq { threshold, on_link: scope.on_link(), ecn: self.ecn, fair })
    }

    fn fair(&self, scope: &Scope) -> Result<Rules, ParamError> {
        ParamError::above_zero("k-alpha", self.k_alpha)?;
        ParamError::above_zero("k-c", self.k_c)?;
        let capacity = link_rate("aqm", scope)?.bytes_s();
        Ok(Rules {
            capacity,
            weights: scope.weights,
            least: capacity.min(EPS),
            ceiling: Ceiling::Labels,
            k_alpha: self.k_alpha,
            k_c: self.k_c,
            kdec: self.kdec,
        })
    }
}

/// A flow's rate per unit of weight; 0 if no labeller has written it.
fn label(packet: &Packet) -> f64 {
    packet.label().filter(|label| *label > 0.0 && label.is_finite()).map_or(0.0, f64::from)
}

impl Csfq {
    #[inline]
    fn count(&mut self, at: &Arrival, packet: &Packet, label: f64, accepted: bool) {
        let spare = || found(at, self.threshold.unit) < self.threshold.value;
        self.fair.count(&Judged { now: at.now, size: self.on_link.bytes(packet.size), label, accepted }, spare);
    }
}

impl Aqm for Csfq {
    type Params = Params;

    #[inline]
    fn on_arrival(&mut self, at: Turn<&Arrival>, packet: &mut Packet, rng: &mut Rng) -> Verdict {
        let label = label(packet);
        let cut = self.fair.cuts(label);
        let refused = self.fair.refuses(label, rng);
        self.count(*at, packet, label, !refused);
        if cut && !(self.ecn && at.backlog.ecn) && self.fair.cuts(label) {
            packet.set_label(self.fair.alpha() as f32);
        }
        match refused {
            false => Verdict::Pass,
            true if self.ecn => Verdict::Mark,
            true => Verdict::Drop(Reason::Early),
        }
    }

    #[inline]
    fn on_fate(&mut self, _at: Turn<&Arrival>, _packet: &Packet, fate: Fate) {
        if fate == Fate::Dropped(Reason::Overflow) {
            self.fair.overflow();
        }
    }

    fn reads(&self) -> Option<Writes> {
        Some(Writes::Rate)
    }

    fn warnings(&self, scope: &Scope) -> Vec<ParamError> {
        self.threshold.out_of_reach("threshold", scope).into_iter().collect()
    }

    fn retune(&mut self, _now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        let mut next = params.clone().build(scope)?;
        std::mem::swap(&mut next.fair, &mut self.fair);
        next.fair.retune(params.fair(scope)?);
        *self = next;
        Ok(())
    }

    fn gauges(&self, _now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        each("alpha_bytes_s", self.fair.alpha());
        each("arrival_rate_bytes_s", self.fair.arriving());
        each("accepted_rate_bytes_s", self.fair.accepted());
    }
}
