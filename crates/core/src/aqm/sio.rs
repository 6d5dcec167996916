//! SIO: SVB with IN and OUT. IN is judged by its own virtual buffer, OUT by the real queue and a threshold that
//! halves whenever an IN packet is dropped.
//!
//! Source: the paper of MSVB and SIO, section 3.3.
//!
//! ```text
//! IN:   dVq/dt  = lambda_in - C while Vq > 0;  dVth/dt = alpha (C - lambda_in),  0 <= Vth <= cap
//!       p_in    = max(0, (Vq - Vth)/Vq), with this packet counted
//! OUT:  p_out   = max(0, (q - Vth_out)/q)                 q: waiting before this packet
//!       Vth_out = Vth_out/2 at every drop of an IN packet
//! ```
//!
//! IN is green; OUT is yellow, red and unmarked.
//!
//! | symbol     | field            | unit       | default |
//! |------------|------------------|------------|---------|
//! | alpha      | `alpha`          | -          | 0.2     |
//! | V0         | `v0`             | p, B, s, % | 30p     |
//! | cap        | `cap`            | p, B, s, % | v0      |
//! | lambda_in  | `counting`       | -          | passed  |
//! | Vth_out(0) | `out-threshold`  | p, B, s, % | 20p     |
//! |            | `halving`        | -          | drops   |
//! |            | `recovery`       | -          | none    |
//! |            | `recovery-after` | s          | 1s      |
//! |            | `overflow-after` | s          | 1s      |
//! |            | `mean-packet`    | B          | 1000B   |
//! |            | `ecn`            | -          | false   |
//!
//! `halving` says what halves Vth_out: any drop of an IN packet (`drops`), only drops because the queue is full
//! (`overflows`), or marks too (`drops-and-marks`). `recovery` says how it rises again: `none` never; `step` by one
//! packet for each `recovery-after` without such a drop; `reset` to its start after one such interval. If the last
//! drop was because the queue was full, the interval is `overflow-after`: then OUT had taken IN's space, whereas a
//! drop by IN's virtual buffer means that IN alone is too much. A threshold never rises above its start.
//! docs/reports/studies/msvb-beyond.md compares these rules; 200ms and 10s do best there.
//!
//! Only drops of OUT protect IN: with `ecn` an OUT packet of an ECN-capable sender is only marked.
//!
//! Deviations: those of SVB, including `cap` (`cap = "none"` is the paper's equation for IN's threshold). The floor
//! of Vq is 0. The paper has no rule by which Vth_out rises again: `recovery` is ours, and so are the other values of
//! `halving`.
//!
//! Decision: docs/decisions/058-sio-has-two-intervals.md

use super::cap::Cap;
use super::virtual_buffer::{Common, Counting, Threshold, VirtualQueue, chance, verdict};
use crate::Scope;
use crate::aqm::early::{Level, Unit, found, same_unit};
use crate::aqm::{Aqm, Arrival};
use crate::packet::{Colour, Packet};
use crate::params::{Choice, ParamError, Params as Declared};
use crate::port::turn::Turn;
use crate::rng::Rng;
use crate::units::{Bytes, Length, Packets, Span, Time};
use crate::verdict::{Fate, Reason, Verdict};

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// How far an IN packet lowers IN's threshold, in packets.
    #[param(default = 0.2)]
    pub alpha: f64,
    /// IN's threshold at the start, and its upper bound unless `cap` says otherwise.
    #[param(default = "30p")]
    pub v0: Length,
    /// How far IN's threshold may rise: no further than its start, without bound, or to a length.
    #[param(default = "v0")]
    pub cap: Cap,
    /// Which IN packets count in virtual queue and threshold.
    #[param(default = "passed")]
    pub counting: Counting,
    /// OUT's threshold at the start, and its upper bound.
    #[param(default = "20p")]
    pub out_threshold: Length,
    /// What halves OUT's threshold.
    #[param(default = "drops")]
    pub halving: Halving,
    /// How OUT's threshold rises again.
    #[param(default = "none")]
    pub recovery: Recovery,
    /// Time without halving before a step of the recovery, after a drop or a mark by the AQM.
    #[param(default = "1s")]
    pub recovery_after: Span,
    /// As `recovery-after`, if the last drop was because the queue was full.
    #[param(default = "1s")]
    pub overflow_after: Span,
    /// If `v0` is in packets: the bytes that count as one; also a step of the recovery in bytes.
    #[param(default = "1000B")]
    pub mean_packet: Bytes,
    /// Whether ECN-capable packets are marked where others are dropped.
    #[param(default = false)]
    pub ecn: bool,
}

/// What halves OUT's threshold.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halving {
    /// Drops of IN packets by the AQM and because the queue is full.
    Drops,
    /// Drops of IN packets because the queue is full.
    Overflows,
    /// Drops and marks of IN packets.
    DropsAndMarks,
}

/// How OUT's threshold rises again.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// Never.
    None,
    /// By one packet for each interval.
    Step,
    /// At once after an interval.
    Reset,
}

/// OUT's threshold.
#[derive(Clone, Debug)]
struct OutThreshold {
    start: Level,
    recovery: Recovery,
    after_drop: Span,
    after_overflow: Span,
    /// Whether the queue was full at the last halving.
    overflow: bool,
    /// A packet.
    step: f64,
    /// At the last halving.
    value: f64,
    halved: Time,
}

impl OutThreshold {
    fn at(&self, now: Time) -> f64 {
        let after = if self.overflow { self.after_overflow } else { self.after_drop };
        let intervals = now.since(self.halved).ns() / after.ns();
        match self.recovery {
            Recovery::Step => (self.value + self.step * intervals as f64).min(self.start.value),
            Recovery::Reset if intervals > 0 => self.start.value,
            Recovery::None | Recovery::Reset => self.value,
        }
    }

    fn halve(&mut self, now: Time, fate: Fate) {
        (self.value, self.halved) = (0.5 * self.at(now), now);
        self.overflow = matches!(fate, Fate::Dropped(Reason::Overflow));
    }

    /// Continues from the state of `other`: what it has recovered by `now` stays, even under another rule.
    fn resume(&mut self, other: &Self, now: Time) {
        let rule =
            |it: &Self| (it.recovery, it.after_drop, it.after_overflow, it.step.to_bits(), it.start.value.to_bits());
        let same = rule(self) == rule(other);
        let (value, halved) = if same { (other.value, other.halved) } else { (other.at(now), now) };
        (self.value, self.halved, self.overflow) = (value.min(self.start.value), halved, other.overflow);
    }
}

/// One queue's SIO.
#[derive(Clone, Debug)]
pub struct Sio {
    queue: VirtualQueue,
    threshold: Threshold,
    out: OutThreshold,
    counting: Counting,
    halving: Halving,
    ecn: bool,
}

impl Params {
    /// # Errors
    /// E201 for a negative `alpha`, a `v0`, `recovery-after`, `overflow-after` or `mean-packet` of 0; E215 when
    /// `out-threshold` is not below the queue's limit; E214 or E219 for a `cap` as [`Cap::value`] has it; E218 without a link rate, or a limit that a threshold is a share of.
    pub fn build(self, scope: &Scope) -> Result<Sio, ParamError> {
        ParamError::at_least("alpha", self.alpha, 0.0)?;
        ParamError::above_zero("recovery-after", self.recovery_after)?;
        ParamError::above_zero("overflow-after", self.overflow_after)?;
        let (queue, v0) = self.common().queue(scope)?;
        let threshold = Threshold::new(self.alpha, queue.capacity(), v0).capped(self.cap.value(self.v0, scope)?);
        let Self { counting, halving, ecn, .. } = self;
        Ok(Sio { queue, threshold, out: self.out(scope)?, counting, halving, ecn })
    }

    fn common(&self) -> Common {
        let Self { v0, counting, mean_packet, ecn, .. } = *self;
        Common { v0, floor: Length::Packets(Packets::new(0)), counting, mean_packet, ecn }
    }

    fn out(&self, scope: &Scope) -> Result<OutThreshold, ParamError> {
        let start = Level::of("out-threshold", self.out_threshold, scope)?;
        start.below_limit(("out-threshold", self.out_threshold), scope)?;
        let step = start.unit.of(1, self.mean_packet.get());
        let (recovery, after_drop, after_overflow) = (self.recovery, self.recovery_after, self.overflow_after);
        let (value, halved, overflow) = (start.value, Time::ZERO, false);
        Ok(OutThreshold { start, recovery, after_drop, after_overflow, overflow, step, value, halved })
    }
}

impl Halving {
    const fn halves(self, fate: Fate) -> bool {
        match self {
            Self::Drops => !fate.stays(),
            Self::Overflows => matches!(fate, Fate::Dropped(Reason::Overflow)),
            Self::DropsAndMarks => !matches!(fate, Fate::Queued),
        }
    }
}

fn is_in(packet: &Packet) -> bool {
    packet.colour == Colour::Green
}

impl Aqm for Sio {
    type Params = Params;

    fn on_arrival(&mut self, at: Turn<&Arrival>, packet: &mut Packet, rng: &mut Rng) -> Verdict {
        let p = if is_in(packet) {
            let units = self.queue.units(packet);
            self.threshold.advance(at.now);
            chance(self.queue.advance(at.now) + units, self.threshold.after(units))
        } else {
            chance(found(*at, self.out.start.unit), self.out.at(at.now))
        };
        verdict(p, self.ecn, *at, rng)
    }

    fn on_fate(&mut self, at: Turn<&Arrival>, packet: &Packet, fate: Fate) {
        if !is_in(packet) {
            return;
        }
        if self.counting.counts(fate) {
            let units = self.queue.units(packet);
            self.queue.add(units);
            self.threshold.take(units);
        }
        if self.halving.halves(fate) {
            self.out.halve(at.now, fate);
        }
    }

    fn warnings(&self, scope: &Scope) -> Vec<ParamError> {
        let late = self.queue.late(&self.threshold, scope);
        let help = "lower the value or raise `limit`";
        let out = self.out.start.out_of_reach("out-threshold", scope);
        late.map(|error| ParamError { help: help.into(), ..error }).into_iter().chain(out).collect()
    }

    fn retune(&mut self, now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        let mut new = params.clone().build(scope)?;
        same_unit(self.queue.unit(), new.queue.unit(), "v0")?;
        same_unit(self.out.start.unit, new.out.start.unit, "out-threshold")?;
        new.queue.resume(&self.queue, now);
        new.threshold.resume(&self.threshold, now);
        new.out.resume(&self.out, now);
        *self = new;
        Ok(())
    }

    fn gauges(&self, now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        let (queue, threshold) = (self.queue.at(now), self.threshold.at(now));
        let [of_queue, of_threshold] = self.queue.gauges();
        each(of_queue, queue);
        each(of_threshold, threshold);
        let of_out = match self.out.start.unit {
            Unit::Packets => "threshold_out_packets",
            Unit::Bytes => "threshold_out_bytes",
        };
        each(of_out, self.out.at(now));
        each("drop_p_in", chance(queue, threshold));
    }
}
